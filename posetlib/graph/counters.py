"""How much work a table has done, in units that no machine changes."""

from __future__ import annotations

__all__ = ["Counters"]


class Counters:
    """The tests that a table has made since it was built, or since ``reset()``.

    A covering test is one call of the relation, the cost that [T 4.2] compares structures by; a
    match test is one filter held against one notification.

    >>> counters = Counters()
    >>> counters.covering_tests += 2
    >>> counters
    Counters(covering_tests=2, match_tests=0)
    >>> counters.reset()
    >>> counters
    Counters(covering_tests=0, match_tests=0)
    """

    __slots__ = ("covering_tests", "match_tests")

    def __init__(self, covering_tests: int = 0, match_tests: int = 0) -> None:
        self.covering_tests = covering_tests
        self.match_tests = match_tests

    def reset(self) -> None:
        """Start counting from zero."""
        self.covering_tests = 0
        self.match_tests = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counters):
            return NotImplemented
        return (self.covering_tests, self.match_tests) == (other.covering_tests, other.match_tests)

    __hash__ = None  # type: ignore[assignment]  # a counter that counts on is no key

    def __repr__(self) -> str:
        return f"Counters(covering_tests={self.covering_tests}, match_tests={self.match_tests})"
