"""The conditions on the steps of many paths, each once: which of them a record meets.

The values of an attribute fall into cells between the ends of the conditions on it, so records in
the same cells meet the same conditions. Answers are kept by cells. A record in new cells is asked
of a matcher.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from posetlib.array_types import BoolArray
from posetlib.constraints.base import EXISTS, Constraint
from posetlib.filters.filter import Filter
from posetlib.matching.bitmap import BitmapMatcher
from posetlib.matching.cells import UNKNOWN, Cells
from posetlib.models.documents import NUMBER_MARK
from posetlib.values import MISSING

__all__ = ["StepConditions"]

# After so many questions since the last change, answers are kept by cells: a few documents that
# come between two changes are not worth it.
_CELLS_FROM: Final = 200
# The most cells of an attribute. With more ends than that, answers are not kept.
_MAX_CELLS: Final = 4_096
# The memory that kept answers take at most, in bytes.
_MAX_ANSWERS: Final = 1 << 24


class StepConditions:
    """Conditions by number, and which of them a record meets.

    Several threads may ask at once, as long as none enters a condition or takes one out; at worst
    an answer is worked out twice.
    """

    def __init__(self) -> None:
        self._numbers: dict[Filter, int] = {}
        #: How many paths have a condition, by its number.
        self._uses: list[int] = []
        self._free: list[int] = []
        self._matcher: BitmapMatcher = BitmapMatcher()
        self._forget_answers()

    def __len__(self) -> int:
        return len(self._numbers)

    def enter(self, condition: Filter) -> int:
        """Note that one more path has a condition; return the condition's number."""
        number = self._numbers.get(condition)
        if number is None:
            number = self._free.pop() if self._free else len(self._uses)
            if number == len(self._uses):
                self._uses.append(0)
            self._numbers[condition] = number
            self._matcher.add(condition, number)
            self._forget_answers()
        self._uses[number] += 1
        return number

    def leave(self, condition: Filter) -> int:
        """Note that a path is gone that had a condition; return the condition's number."""
        number = self._numbers[condition]
        self._uses[number] -= 1
        if not self._uses[number]:
            del self._numbers[condition]
            self._free.append(number)
            self._matcher.remove(condition, number)
            self._forget_answers()
        return number

    def _forget_answers(self) -> None:
        self._asked = 0
        #: The cells of the attributes; None if they do not decide, or not yet.
        self._cells: list[tuple[str, Cells]] | None = None
        self._answers: dict[Any, BoolArray] = {}
        #: The answer for a record that meets nothing.
        self._nothing: BoolArray = np.zeros(len(self._uses), dtype=np.bool_)

    def met(self, record: Mapping[str, Any]) -> BoolArray:
        """Return for each number whether the record meets that condition; not to be changed."""
        if not record:
            return self._nothing
        self._asked += 1
        if self._asked == _CELLS_FROM:
            self._cells = _deciding_cells(self._numbers)
        if self._cells is None:
            return self._ask(record)
        key = tuple([cells.row(record.get(name, MISSING)) for name, cells in self._cells])
        found = self._answers.get(key)
        if found is None:
            found = self._ask(record)
            if UNKNOWN not in key and (len(self._answers) + 1) * found.size <= _MAX_ANSWERS:
                self._answers[key] = found
        return found

    def _ask(self, record: Mapping[str, Any]) -> BoolArray:
        numbers: Iterable[Any] = self._matcher.match(record)
        if not numbers:
            return self._nothing
        answer = np.zeros_like(self._nothing)
        answer[list(numbers)] = True
        return answer


def _deciding_cells(conditions: Iterable[Filter]) -> list[tuple[str, Cells]] | None:
    """Return the cells of each attribute, None if a condition is not decided by them."""
    constraints: dict[str, dict[Constraint, None]] = {}
    counts: dict[str, int] = {}
    for condition in conditions:
        for name, constraint in condition.constraints.items():
            constraints.setdefault(name, {})[constraint] = None
            counts[name] = counts.get(name, 0) + 1
    made = []
    for name, some in constraints.items():
        # Where a number is, there is a value: it need not be asked whether there is one.
        if list(some) == [EXISTS] and counts.get(NUMBER_MARK + name) == counts[name]:
            continue
        cells = Cells(list(some), limit=_MAX_CELLS)
        if not all(cells.reach(each).exact for each in some):
            return None
        made.append((name, cells))
    return made
