"""Every error that posetlib raises on purpose, named for its condition."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "FilterError",
    "FilterSyntaxError",
    "InvariantError",
    "SnapshotError",
    "UnknownEntryError",
]


class FilterError(ValueError):
    """A filter that cannot be: it matches nothing, or mixes what cannot be mixed."""


class FilterSyntaxError(FilterError):
    """Text that is not a filter; ``line`` and ``column`` count from 1."""

    def __init__(
        self, message: str, *, line: int = 1, column: int = 1, expected: Iterable[str] = ()
    ) -> None:
        self.message = message
        self.line = line
        self.column = column
        self.expected = tuple(expected)
        text = f"line {line}, column {column}: {message}"
        if self.expected:
            text += "; expected " + _either(self.expected)
        super().__init__(text)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_syntax_error, (self.message, self.line, self.column, self.expected))


def _rebuild_syntax_error(
    message: str, line: int, column: int, expected: tuple[str, ...]
) -> FilterSyntaxError:
    return FilterSyntaxError(message, line=line, column=column, expected=expected)


def _either(words: tuple[str, ...]) -> str:
    if len(words) == 1:
        return words[0]
    return ", ".join(words[:-1]) + " or " + words[-1]


class UnknownEntryError(KeyError):
    """An entry, or an item, that the table does not hold."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument; people are better served by the sentence.
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class InvariantError(AssertionError):
    """A structure is not what it promises; ``invariant`` names which, ``witness`` shows where."""

    def __init__(self, invariant: str, witness: object, message: str = "") -> None:
        self.invariant = invariant
        self.witness = witness
        super().__init__(f"{invariant}: {message or 'violated'} (witness: {witness!r})")

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_invariant_error, (self.invariant, self.witness, str(self)))


def _rebuild_invariant_error(invariant: str, witness: object, text: str) -> InvariantError:
    error = InvariantError(invariant, witness)
    error.args = (text,)
    return error


class SnapshotError(ValueError):
    """A snapshot that cannot be read: another format or version, or a broken reference."""
