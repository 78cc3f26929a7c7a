"""Adds and removals in sequence: the scenarios of [T 4.2] and [T 4.4], one interface at a time.

First every filter is added. Then each operation removes a filter and adds a new one for the same
interface in its place. The *distributed* scenario drops an add that a filter of the same interface
covers at that moment, since a neighbour would not have sent it; what was not added is not removed.
What one interface does depends on no other, so that interfaces can be made apart.

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

from posetlib.filters import Filter
from posetlib.generating import (
    Booleans,
    FilterColumns,
    Floats,
    Integers,
    Parameters,
    filter_columns,
    interfaces_of,
    operation_slots,
)
from posetlib.parsing import parse_filter

__all__ = ["Operations", "operations_of"]


class Operations(NamedTuple):
    """Operations in order: the place in the whole sequence, whether it adds, and the filter's row.

    The rows of the filters that operations add follow those of the filters.
    """

    sequence: Integers
    adds: Booleans
    rows: Integers


def operations_of(p: Parameters, interface: int) -> Operations:
    """Return what one interface does: O(n) without drops, else one comparison by columns for each.

    Every call draws the places of all operations, 8 bytes for each.
    """
    every = np.arange(p.filters, dtype=np.int64)
    first = every[interfaces_of(p, every) == interface]
    slots = (
        operation_slots(p, np.arange(p.operations, dtype=np.int64)) if p.operations else every[:0]
    )
    later = np.flatnonzero(np.isin(slots, first))
    whose = slots[later]
    if p.scenario == "distributed":
        return _without_covered(p, first, later, whose)
    # Whose filter an operation finds: that of the operation before it in the same place.
    order = np.argsort(whose, kind="stable")
    found = np.empty(len(later), np.int64)
    same = np.concatenate([[False], whose[order][1:] == whose[order][:-1]])[: len(order)]
    before = np.concatenate([[0], later[order][:-1] + p.filters])[: len(order)]
    found[order] = np.where(same, before, whose[order])
    sequence = np.concatenate([first, p.filters + 2 * later, p.filters + 2 * later + 1])
    rows = np.concatenate([first, found, p.filters + later])
    adds = np.ones(len(rows), np.bool_)
    adds[len(first) : len(first) + len(later)] = False
    order = np.argsort(sequence, kind="stable")
    return Operations(sequence[order], adds[order], rows[order])


def _without_covered(
    p: Parameters, first: Integers, later: Integers, whose: Integers
) -> Operations:
    rows = np.concatenate([first, p.filters + later])
    held = _Held(filter_columns(p, rows))
    sequence: list[int] = []
    adds: list[bool] = []
    done: list[int] = []
    at = {row: place for place, row in enumerate(rows.tolist())}
    occupant: dict[int, int | None] = {}

    def add(place: int, row: int, slot: int) -> None:
        occupant[slot] = None
        if not held.covers(at[row]):
            held.add(at[row])
            occupant[slot] = row
            sequence.append(place)
            adds.append(True)
            done.append(row)

    for row in first.tolist():
        add(row, row, row)
    for operation, slot in zip(later.tolist(), whose.tolist(), strict=True):
        gone = occupant[slot]
        place = p.filters + 2 * operation
        if gone is not None:
            held.remove(at[gone])
            sequence.append(place)
            adds.append(False)
            done.append(gone)
        add(place + 1, p.filters + operation, slot)
    return Operations(
        np.array(sequence, np.int64), np.array(adds, np.bool_), np.array(done, np.int64)
    )


class _Held:
    """The filters that an interface holds at a moment, and whether they cover another one."""

    def __init__(self, columns: FilterColumns) -> None:
        self._present = np.zeros(len(columns.rows), np.bool_)
        self._types = columns.types
        self._filters: list[Filter] | None = None
        if columns.plain.all() and not any(
            each.low_open.any() or each.high_open.any() for each in columns.ranges.values()
        ):
            self._lows = np.stack([_ends(each.low, -np.inf) for each in columns.ranges.values()])
            self._highs = np.stack([_ends(each.high, np.inf) for each in columns.ranges.values()])
            self._asks = np.stack([~np.isnan(each.low) for each in columns.ranges.values()])
        else:
            self._filters = [parse_filter(text) for text in columns.texts()]

    def covers(self, at: int) -> bool:
        present = np.flatnonzero(self._present)
        if self._filters is not None:
            one = self._filters[at]
            return any(self._filters[each].covers(one) for each in present.tolist())
        found = (self._lows[:, present] <= self._lows[:, at, None]) & (
            self._highs[:, present] >= self._highs[:, at, None]
        )
        # A range that takes in all numbers still asks for a number.
        found &= ~self._asks[:, present] | self._asks[:, at, None]
        every = found.all(axis=0)
        if self._types is not None:
            every &= self._types[present] == self._types[at]
        return bool(every.any())

    def add(self, at: int) -> None:
        self._present[at] = True

    def remove(self, at: int) -> None:
        self._present[at] = False


def _ends(values: Floats, otherwise: float) -> Floats:
    return np.where(np.isnan(values), otherwise, values)
