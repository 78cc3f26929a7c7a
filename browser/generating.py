"""Filters from a few parameters and a seed: the very ones that the jobs generate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

import posetlib as pl
from browser.sources import Source, SourceError
from posetlib.generating import (
    KINDS,
    GeneratedFilters,
    Parameters,
    generated_filters,
    generated_notifications,
    interface_names,
    operation_slots,
)
from posetlib.tables import Operation

__all__ = ["FIELDS", "KINDS", "Field", "generate", "parameters_from"]


class Field(NamedTuple):
    """One number of the generator, as the page asks for it."""

    name: str
    label: str
    default: float
    low: float
    high: float
    #: Shown only when asked for.
    advanced: bool = False
    whole: bool = True


FIELDS: Final = (
    Field("filters", "Filters", 24, 1, 100_000),
    Field("dims", "Attributes", 2, 1, 6),
    Field("interfaces", "Interfaces", 4, 1, 100_000),
    Field("seed", "Seed", 7, 0, 2**31 - 1),
    Field("operations", "Replacements after", 0, 0, 10_000, advanced=True),
    Field("schemas", "Event types", 1, 1, 100, advanced=True),
    Field("decimals", "Decimals", 0, 0, 6, advanced=True),
    Field("width", "Mean width (narrow, zipf)", 5, 0.1, 100, advanced=True, whole=False),
    Field("skew", "Skew of places (zipf)", 1, 0, 5, advanced=True, whole=False),
    Field("interface_skew", "Skew of interfaces", 0, 0, 5, advanced=True, whole=False),
)


def parameters_from(values: Mapping[str, str]) -> Parameters:
    """Return the parameters that texts, such as those of an address, name; SourceError if bad.

    >>> parameters_from({"filters": "30"}).filters
    30
    """
    made: dict[str, Any] = {"kind": values.get("kind", KINDS[0])}
    for field in FIELDS:
        text = values.get(field.name, "")
        try:
            value = float(text) if text else field.default
        except ValueError:
            raise SourceError(f"{field.label} is a number, not «{text[:40]}»") from None
        if not field.low <= value <= field.high:
            raise SourceError(f"{field.label} is between {field.low:,} and {field.high:,}")
        if field.whole and value != int(value):
            raise SourceError(f"{field.label} is a whole number, not {text[:40]}")
        made[field.name] = int(value) if field.whole else value
    try:
        return Parameters(**made)
    except ValueError as error:
        raise SourceError(str(error)) from None


def generate(p: Parameters) -> Source:
    """Return filters that come one by one, then replacements: a removal and an add each."""
    rows = np.arange(p.filters + p.operations)
    columns = generated_filters(p, rows)
    filters = _filters(columns)
    names = interface_names(columns.interfaces)
    held = list(range(p.filters))
    operations = [Operation("add", filters[i], names[i]) for i in held]
    slots = operation_slots(p, np.arange(p.operations)).tolist()
    for row, slot in enumerate(slots, p.filters):
        gone = held[slot]
        operations.append(Operation("remove", filters[gone], names[gone]))
        operations.append(Operation("add", filters[row], names[row]))
        held[slot] = row
    notifications = generated_notifications(p, np.arange(200)).texts()
    title = f"{p.filters:,} {p.kind} filters, seed {p.seed}"
    return Source(title, tuple(operations), notifications=tuple(notifications))


def _filters(columns: GeneratedFilters) -> list[pl.Filter]:
    ranges = columns.ranges
    closed = all(not (r.low_open.any() or r.high_open.any()) for r in ranges.values())
    if ranges and columns.types is None and closed and columns.plain.all():
        # Without parsing, which for thousands is most of the wait.
        ends = {name: (r.low, r.high) for name, r in ranges.items()}
        if all(np.isfinite(each).all() for pair in ends.values() for each in pair):
            return pl.filters_from_columns(ends)
    return [pl.parse_filter(text) for text in columns.texts()]
