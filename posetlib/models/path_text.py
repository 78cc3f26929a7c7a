"""The text of a path, read into steps."""

from __future__ import annotations

import re
from typing import Final

from posetlib.errors import FilterError, FilterSyntaxError
from posetlib.filters.filter import Filter
from posetlib.models.path_conditions import STEP_NAME, parse_condition
from posetlib.models.path_patterns import Step

__all__ = ["MAX_STEPS", "read_path"]

#: The most steps of a path, those of its branches and every ``*`` counted.
MAX_STEPS: Final = 32
# The longest text, in characters.
_MAX_LENGTH: Final = 20_000

_QUOTED: Final = re.compile(r"`((?:[^`]|``)+)`")
# What a condition may hold as a whole: brackets inside it do not end it.
_SKIPPED: Final = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)+`|[^]['"`()]+""", re.DOTALL
)


def read_path(text: str) -> Step:
    """Return the first step of a path, with all that follows it; FilterError says what is wrong.

    >>> read_path("//item/board").branches[0].name
    'board'
    """
    if not isinstance(text, str):
        raise FilterError(f"a path is a string, not {type(text).__name__}")
    if len(text) > _MAX_LENGTH:
        raise FilterError(f"a path has at most {_MAX_LENGTH:,} characters")
    reader = _Reader(text.strip())
    step = reader.path()
    reader.expect_end()
    return step


class _Reader:
    """Reads steps from left to right. Branches nest no deeper than a path has steps."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._steps = 0

    def path(self) -> Step:
        """Read the steps of a path or of a branch."""
        steps = [self._step()]
        while self._text.startswith("/", self._at):
            steps.append(self._step())
        whole = steps.pop()
        while steps:
            before = steps.pop()
            whole = before._replace(branches=(*before.branches, whole))
        return whole

    def expect_end(self) -> None:
        """Raise FilterError if there is more text."""
        if self._at < len(self._text):
            raise self._error("a step begins with / or //")

    def _step(self) -> Step:
        is_child = not self._take("//")
        if is_child and not self._take("/"):
            raise self._error("a path begins with / or //")
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise FilterError(f"a path has at most {MAX_STEPS} steps")
        name = self._name()
        conditions: list[str] = []
        branches: list[Step] = []
        while self._take("["):
            if self._text.startswith("./", self._at):
                self._at += 1
                branches.append(self.path())
                if not self._take("]"):
                    raise self._error("a branch ends with ]")
            else:
                conditions.append(self._condition())
        condition = None
        if conditions:
            together = " and ".join(f"({each})" for each in conditions)
            condition = _parsed(together if len(conditions) > 1 else conditions[0])
        return Step(is_child, name, condition, tuple(branches))

    def _take(self, token: str) -> bool:
        found = self._text.startswith(token, self._at)
        if found:
            self._at += len(token)
        return found

    def _name(self) -> str | None:
        if self._take("*"):
            return None
        quoted = _QUOTED.match(self._text, self._at)
        if quoted is not None:
            self._at = quoted.end()
            return quoted[1].replace("``", "`")
        plain = STEP_NAME.match(self._text, self._at)
        if plain is None:
            raise self._error("a step has a name, * for any name, or a name in backticks")
        self._at = plain.end()
        return plain.group()

    def _condition(self) -> str:
        """Read up to the bracket that ends a condition; its ranges and sets have brackets, too."""
        start, depth = self._at, 0
        while self._at < len(self._text):
            skipped = _SKIPPED.match(self._text, self._at)
            if skipped is not None:
                self._at = skipped.end()
                continue
            sign = self._text[self._at]
            self._at += 1
            if sign in "[(":
                depth += 1
            elif sign == "]" and not depth:
                return self._text[start : self._at - 1]
            elif sign in "])":
                depth -= 1
        self._at = start
        raise self._error("a condition that is not closed by ]")

    def _error(self, message: str) -> FilterError:
        rest = self._text[self._at : self._at + 20]
        where = f"at character {self._at + 1}, {rest!r}" if rest else "at the end"
        return FilterError(f"not a path: {message} ({where})")


def _parsed(text: str) -> Filter | None:
    try:
        return parse_condition(text)
    except FilterSyntaxError as error:
        raise FilterError(f"not a path: in the condition [{text}]: {error}") from None
