"""The conditions with which paths end in one state of the index: which of them a record meets.

The values of an attribute fall into cells between the ends of the conditions on it, so records in
the same cells meet the same conditions. Answers are kept by cells. A record in new cells is asked
of a matcher, or of each condition while these are few or new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from posetlib.constraints.base import EXISTS, Constraint
from posetlib.filters.filter import Filter
from posetlib.matching.bitmap import BitmapMatcher
from posetlib.matching.cells import UNKNOWN, Cells
from posetlib.models.documents import NUMBER_MARK
from posetlib.values import MISSING

__all__ = ["NOTHING", "Ending", "Room", "StepConditions"]

# From this number on the conditions of a state get a matcher, once they were asked this often.
_MANY_CONDITIONS: Final = 16
_OFTEN: Final = 8
# From this asking on, answers are kept by cells: to cut cells costs about as much as to ask twice.
_CELLS_FROM: Final = 2
# The most cells of an attribute. With more ends than that, answers are not kept.
_MAX_CELLS: Final = 4_096


class Ending(NamedTuple):
    """The numbers of paths that end at a node: surely, and if conditions above it hold."""

    sure: tuple[int, ...]
    guarded: tuple[int, ...]


NOTHING: Final = Ending((), ())


class Room:
    """How many answers all states together may still keep."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class StepConditions:
    """Conditions, and the paths that end with each.

    Several threads may ask at once; at worst an answer is worked out twice.
    """

    __slots__ = ("_answers", "_asked", "_cells", "_conditions", "_matcher", "_room")

    def __init__(self, conditions: Mapping[Filter, Ending], room: Room) -> None:
        self._conditions = list(conditions.items())
        self._room = room
        self._asked = 0
        self._matcher: BitmapMatcher | None = None
        #: The cells of the attributes; None if they do not decide. Made when first asked.
        self._cells: list[tuple[str, Cells]] | None = None
        self._answers: dict[Any, Ending] = {}

    def met(self, record: Mapping[str, Any]) -> Ending:
        """Return the paths whose condition a record meets."""
        if len(self._conditions) == 1:
            ((condition, ending),) = self._conditions
            return ending if condition.matches(record) else NOTHING
        self._asked += 1
        if self._asked == _CELLS_FROM:
            self._cells = _deciding_cells([condition for condition, _ in self._conditions])
        if self._cells is None:
            return self._ask(record)
        key = tuple([cells.row(record.get(name, MISSING)) for name, cells in self._cells])
        found = self._answers.get(key)
        if found is None:
            found = self._ask(record)
            if self._room.left > 0 and UNKNOWN not in key:
                self._room.left -= 1
                self._answers[key] = found
        return found

    def _ask(self, record: Mapping[str, Any]) -> Ending:
        if self._matcher is None:
            if self._asked <= _OFTEN or len(self._conditions) <= _MANY_CONDITIONS:
                return _joined(
                    ending for condition, ending in self._conditions if condition.matches(record)
                )
            self._matcher = BitmapMatcher(
                (condition, number) for number, (condition, _) in enumerate(self._conditions)
            )
        numbers: Iterable[Any] = self._matcher.match(record)
        return _joined(self._conditions[number][1] for number in numbers)


def _joined(endings: Iterable[Ending]) -> Ending:
    sure: list[int] = []
    guarded: list[int] = []
    for ending in endings:
        sure += ending.sure
        guarded += ending.guarded
    return Ending(tuple(sure), tuple(guarded)) if sure or guarded else NOTHING


def _deciding_cells(conditions: Sequence[Filter]) -> list[tuple[str, Cells]] | None:
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
