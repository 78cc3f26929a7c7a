"""Sequences of adds and removals: the scenarios of [T 4.2] and [T 4.4], for one interface each.

First every filter is added. Then each operation removes a filter and adds a new one for the same
interface. A *slot* is the row of one of the first filters: an operation chooses a slot and replaces
the filter that is in it. The *distributed* scenario leaves out an add if the interface holds a
filter that covers the new one, since a neighbour would not have sent it; such a filter is not
removed later either. The operations of an interface do not depend on other interfaces, so each
interface can be made by itself.

>>> from posetlib.generating import Parameters
>>> p = Parameters(filters=4, operations=2, interfaces=2, seed=1)
>>> made = [operations_of(p, interface) for interface in range(2)]
>>> pairs = [pair for each in made for pair in zip(*each)]
>>> " ".join(f"{'+' if add else '-'}{row}" for _, add, row in sorted(pairs))
'+0 +1 +2 +3 -3 +4 -1 +5'
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posetlib.array_types import BoolArray, FloatArray, IntArray
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter
from posetlib.generating.loads import (
    GeneratedFilters,
    generated_filters,
    interfaces_of,
    operation_slots,
)
from posetlib.generating.parameters import Parameters

__all__ = ["Operations", "operations_of"]


class Operations(NamedTuple):
    """The adds and removals of one interface, in order."""

    #: The number of each step in the sequence of all interfaces.
    sequence: IntArray
    #: Whether the step adds a filter; otherwise it removes one.
    adds: BoolArray
    #: The row of the filter (see ``generated_filters``).
    rows: IntArray


def operations_of(p: Parameters, interface: int) -> Operations:
    """Return the adds and removals of one interface.

    O(filters + operations), with a sort, in the scenario "add-remove". In the scenario
    "distributed", each add is also compared with all filters that the interface holds, by numpy.
    Every call draws the slots of all operations, 8 bytes for each.
    """
    every = np.arange(p.filters, dtype=np.int64)
    first = every[interfaces_of(p, every) == interface]
    slots = (
        operation_slots(p, np.arange(p.operations, dtype=np.int64)) if p.operations else every[:0]
    )
    later = np.flatnonzero(np.isin(slots, first))
    chosen = slots[later]
    if p.scenario == "distributed":
        return _without_covered(p, first, later, chosen)
    # An operation removes the filter that the operation before it on the same slot added. The first
    # operation on a slot removes the first filter.
    order = np.argsort(chosen, kind="stable")
    removed = np.empty(len(later), np.int64)
    same = np.concatenate([[False], chosen[order][1:] == chosen[order][:-1]])[: len(order)]
    before = np.concatenate([[0], later[order][:-1] + p.filters])[: len(order)]
    removed[order] = np.where(same, before, chosen[order])
    sequence = np.concatenate([first, p.filters + 2 * later, p.filters + 2 * later + 1])
    rows = np.concatenate([first, removed, p.filters + later])
    adds = np.ones(len(rows), np.bool_)
    adds[len(first) : len(first) + len(later)] = False
    order = np.argsort(sequence, kind="stable")
    return Operations(sequence[order], adds[order], rows[order])


def _without_covered(
    p: Parameters, first: IntArray, later: IntArray, chosen: IntArray
) -> Operations:
    """Return the operations of the distributed scenario.

    ``first`` are the rows of the first filters, ``later`` the numbers of the operations, and
    ``chosen`` the slots of these operations.
    """
    rows = np.concatenate([first, p.filters + later])
    held = _Held(generated_filters(p, rows))
    sequence: list[int] = []
    adds: list[bool] = []
    done: list[int] = []
    # Row -> its index in `held`.
    at = {row: place for place, row in enumerate(rows.tolist())}
    # Slot -> the row of its filter, None if that was covered and not added.
    occupant: dict[int, int | None] = {}

    def add(step: int, row: int, slot: int) -> None:
        occupant[slot] = None
        if not held.covers(at[row]):
            held.add(at[row])
            occupant[slot] = row
            sequence.append(step)
            adds.append(True)
            done.append(row)

    for row in first.tolist():
        add(row, row, row)
    for operation, slot in zip(later.tolist(), chosen.tolist(), strict=True):
        gone = occupant[slot]
        step = p.filters + 2 * operation
        if gone is not None:
            held.remove(at[gone])
            sequence.append(step)
            adds.append(False)
            done.append(gone)
        add(step + 1, p.filters + operation, slot)
    return Operations(
        np.array(sequence, np.int64), np.array(adds, np.bool_), np.array(done, np.int64)
    )


class _Held:
    """The filters that an interface holds at a moment, as indexes to some generated filters.

    If all are closed ranges, ends are compared by numpy; otherwise the filters are parsed.
    """

    def __init__(self, columns: GeneratedFilters) -> None:
        self._present = np.zeros(len(columns.rows), np.bool_)
        self._types = columns.types
        # None if ends are compared.
        self._filters: list[Filter] | None = None
        if columns.plain.all() and not any(
            each.low_open.any() or each.high_open.any() for each in columns.ranges.values()
        ):
            self._lows = np.stack([_ends(each.low, -np.inf) for each in columns.ranges.values()])
            self._highs = np.stack([_ends(each.high, np.inf) for each in columns.ranges.values()])
            # Whether a filter constrains an attribute.
            self._constrains = np.stack([~np.isnan(each.low) for each in columns.ranges.values()])
        else:
            self._filters = [parse_filter(text) for text in columns.texts()]

    def covers(self, at: int) -> bool:
        """Return whether a filter that is held covers the filter at an index."""
        present = np.flatnonzero(self._present)
        if self._filters is not None:
            one = self._filters[at]
            return any(self._filters[each].covers(one) for each in present.tolist())
        found = (self._lows[:, present] <= self._lows[:, at, None]) & (
            self._highs[:, present] >= self._highs[:, at, None]
        )
        # A range of all numbers does not cover a filter without a constraint on the attribute.
        found &= ~self._constrains[:, present] | self._constrains[:, at, None]
        every = found.all(axis=0)
        if self._types is not None:
            every &= self._types[present] == self._types[at]
        return bool(every.any())

    def add(self, at: int) -> None:
        self._present[at] = True

    def remove(self, at: int) -> None:
        self._present[at] = False


def _ends(values: FloatArray, otherwise: float) -> FloatArray:
    """Return ends with another value instead of NaN."""
    return np.where(np.isnan(values), otherwise, values)
