"""Whether several filters together cover another one, which no comparison of two can see.

The values of each attribute of the covered filter are divided into cells (see ``cells``). A choice
of one cell for each attribute is a small box, and the filter is covered if every box is accepted by
one of the filters. Sets of filters are bits, so a box is an AND of integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from posetlib.constraints.base import Constraint
from posetlib.filters.filter import Filter
from posetlib.merging.cells import Cell, cells_of
from posetlib.merging.meeting import meeting
from posetlib.values import MISSING

__all__ = ["DEFAULT_LIMIT", "UnionCover", "union_covers"]

#: Boxes that are looked at before the question is given up.
DEFAULT_LIMIT: Final = 200_000
#: Cells of the first attributes: the last one, and those before it; None if there are none.
_Chosen: TypeAlias = "tuple[Cell, _Chosen] | None"


@dataclass(frozen=True, slots=True)
class UnionCover:
    """Whether some filters together cover another one; true if they do."""

    covered: bool
    #: Filters among those given that together cover it; empty if they do not. As few as were met.
    coverers: tuple[Filter, ...] = ()
    #: A notification that the filter matches and none of the others; None if none is known.
    witness: dict[str, Any] | None = None
    #: Whether the answer is False because the limit was reached, and not because it was found.
    exhausted: bool = False

    def __bool__(self) -> bool:
        return self.covered


def union_covers(filters: Iterable[Filter], f: Filter, *, limit: int = DEFAULT_LIMIT) -> UnionCover:
    """Return whether every notification that f matches is matched by one of the filters.

    The answer True is always right. False is right if there is a ``witness``. It is exact for
    constraints on numbers, booleans and sets, for type names, and for order, prefixes and sets of
    strings; other constraints count for an attribute only if they cover f's whole constraint.
    After ``limit`` boxes the answer is False with ``exhausted`` set. A table is asked by its index,
    and a long list that was asked before by columns of its numbers.

    O(filters) to leave out those that do not meet f; then, for k filters that do, up to (2k)^d
    boxes for d attributes, and one AND for each.

    >>> from posetlib import parse_filter
    >>> left, right = parse_filter("x in [0, 5] and y > 0"), parse_filter("x in (5, 9]")
    >>> bool(union_covers([left, right], parse_filter("x in [3, 7] and y in [1, 2]")))
    True
    >>> union_covers([left, right], parse_filter("x in [3, 7] and y in [0, 2]")).witness
    {'x': 4, 'y': 0}
    """
    if not isinstance(f, Filter):
        raise TypeError(f"a filter is covered by filters, not {type(f).__name__}")
    if limit < 1:
        raise ValueError(f"limit is at least 1, not {limit!r}")
    if isinstance(filters, Filter):
        raise TypeError("give a list of filters, or a table; two filters compare with covers()")
    found = meeting(filters, f)
    for one in found:
        if one.covers(f):
            return UnionCover(True, (one,))
    return _Search(found, f, limit).run()


class _Search:
    """Goes through the boxes, attribute by attribute, until one is found that nobody accepts."""

    def __init__(self, filters: list[Filter], f: Filter, limit: int) -> None:
        self._filters = filters
        self._f = f
        self._left = limit
        self._used = 0
        # The cells of a box that nobody accepts, as far as attributes were looked at.
        self._witness: _Chosen = None

    def run(self) -> UnionCover:
        f, count = self._f, len(self._filters)
        everyone = (1 << count) - 1
        asking: dict[str, list[tuple[int, Constraint]]] = {name: [] for name in f.attributes}
        for i, one in enumerate(self._filters):
            for name, each in zip(one.attributes, one.terms, strict=True):
                asking[name].append((1 << i, each))
        divided = []
        for name, own in zip(f.attributes, f.terms, strict=True):
            others = asking[name]
            free = everyone & ~sum(bit for bit, _ in others)
            found = cells_of(own, others, free)
            if found.exhausted:
                return UnionCover(False, exhausted=True)
            divided.append((name, found.kept))
        # Attributes with few cells first; in each, cells that few filters accept: a box that nobody
        # accepts is then found early.
        divided.sort(key=lambda each: len(each[1]))
        self._names = [name for name, _ in divided]
        self._cells = [sorted(kept, key=_accepted_by) for _, kept in divided]
        # For each attribute, the filters that accept all cells of it and of those after it.
        self._sure = [everyone] * (len(divided) + 1)
        for at in range(len(divided) - 1, -1, -1):
            sure = self._sure[at + 1]
            for cell in self._cells[at]:
                sure &= cell.accepting
            self._sure[at] = sure
        try:
            covered = self._covers_all(everyone)
        except _LimitReachedError:
            return UnionCover(False, exhausted=True)
        if covered:
            used = [one for i, one in enumerate(self._filters) if self._used >> i & 1]
            return UnionCover(True, tuple(used))
        return UnionCover(False, witness=self._example())

    def _covers_all(self, everyone: int) -> bool:
        """Return whether every box is accepted by a filter; otherwise one is kept as witness.

        A loop, and no recursion: a filter may have more attributes than Python has frames. The
        first box that nobody accepts ends it, so what was begun once need not be looked at again.
        """
        last = len(self._cells) - 1
        begun: set[tuple[int, int]] = set()
        # How many attributes have their cells, the filters alive, and the cells, the last first.
        stack: list[tuple[int, int, _Chosen]] = [(0, everyone, None)]
        while stack:
            at, alive, chosen = stack.pop()
            sure = alive & self._sure[at]
            if sure:
                if not sure & self._used:
                    self._used |= sure & -sure
                continue
            if not alive or at > last:
                self._witness = chosen
                return False
            if (at, alive) in begun:
                continue
            begun.add((at, alive))
            cells = self._cells[at]
            self._left -= len(cells)
            if self._left < 0:
                raise _LimitReachedError
            if at < last:
                stack.extend(
                    (at + 1, alive & cell.accepting, (cell, chosen)) for cell in reversed(cells)
                )
                continue
            used = self._used
            for cell in cells:
                accepting = cell.accepting & alive
                if not accepting:
                    self._witness = (cell, chosen)
                    return False
                if not accepting & used:
                    used |= accepting & -accepting
            self._used = used
        return True

    def _example(self) -> dict[str, Any] | None:
        """Return a notification in the box that nobody accepts, if it is one indeed."""
        found: list[Cell] = []
        chosen = self._witness
        while chosen is not None:
            cell, chosen = chosen
            found.append(cell)
        found.reverse()
        found += [cells[0] for cells in self._cells[len(found) :]]
        values = {name: cell.example() for name, cell in zip(self._names, found, strict=True)}
        if MISSING in values.values():
            return None
        made = {name: values[name] for name in self._f.attributes}
        # Constraints that are not divided exactly may accept what their bits do not say, and dotted
        # names may get into each other's way.
        if not self._f.matches(made) or any(one.matches(made) for one in self._filters):
            return None
        return made


class _LimitReachedError(Exception):
    """The boxes looked at are as many as the limit allows."""


def _accepted_by(cell: Cell) -> int:
    return cell.accepting.bit_count()
