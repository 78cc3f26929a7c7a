"""All errors that posetlib raises on purpose. Each is named for the condition it reports."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "BrokerError",
    "EmptyConstraintError",
    "FilterError",
    "FilterSyntaxError",
    "InvariantError",
    "MessageError",
    "NotAllowedError",
    "SnapshotError",
    "StateFileError",
    "TooComplexError",
    "UnknownEntryError",
    "UnknownNeighbourError",
]


class FilterError(ValueError):
    """The filter is invalid: it matches nothing, is too complex, or mixes types that do not mix."""


class EmptyConstraintError(FilterError):
    """No value satisfies the constraint, so its filter would match no notification."""


class TooComplexError(Exception):
    """A search stopped because it reached its limit of states or steps.

    Internal: users see a FilterError instead, raised when they build a too complex constraint.
    """


class FilterSyntaxError(FilterError):
    """The text is not a filter.

    ``line`` and ``column`` say where the problem is and count from 1; ``expected`` lists the words
    or symbols that could stand there.

    >>> print(FilterSyntaxError("unexpected ')'", column=7, expected=["a name", "a number"]))
    line 1, column 7: unexpected ')'; expected a name or a number
    """

    def __init__(
        self, message: str, *, line: int = 1, column: int = 1, expected: Iterable[str] = ()
    ) -> None:
        self.message = message
        self.line = line
        self.column = column
        self.expected = tuple(expected)
        text = f"line {line}, column {column}: {message}"
        if self.expected:
            text += "; expected " + _joined_by_or(self.expected)
        super().__init__(text)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_syntax_error, (self.message, self.line, self.column, self.expected))


def _rebuild_syntax_error(
    message: str, line: int, column: int, expected: tuple[str, ...]
) -> FilterSyntaxError:
    return FilterSyntaxError(message, line=line, column=column, expected=expected)


def _joined_by_or(words: tuple[str, ...]) -> str:
    if len(words) == 1:
        return words[0]
    return ", ".join(words[:-1]) + " or " + words[-1]


class UnknownEntryError(KeyError):
    """The table does not hold this entry or item."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, with quotes; show the message itself instead.
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class UnknownNeighbourError(UnknownEntryError):
    """The router has no neighbour of this name."""


class NotAllowedError(PermissionError):
    """Who asks may not do this: it belongs to somebody else, or no access rule covers it."""


class MessageError(ValueError):
    """The message cannot be read: a part that is unknown, or no filter where one belongs."""


class InvariantError(AssertionError):
    """A structure breaks a promise: ``invariant`` names the promise, ``witness`` shows where."""

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
    """The snapshot cannot be read: wrong format or version, or a reference to a missing part."""


class BrokerError(Exception):
    """The broker refused a request, or the connection to it is gone.

    ``code`` is the code of its error line, None if it said nothing.
    """

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message, code)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class StateFileError(ValueError):
    """The state file of a broker cannot be used: damaged, or of something else."""
