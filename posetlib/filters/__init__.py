"""Filters: how they are made, written, parsed, compared, explained and merged."""

from posetlib.filters.explaining import Explanation, Failure, NotCovered
from posetlib.filters.filter import Filter, set_covers
from posetlib.filters.from_columns import filters_from_columns
from posetlib.filters.merging import Merger, merge
from posetlib.filters.parsing import parse_filter, register_constraint, unregister_constraint

__all__ = [
    "Explanation",
    "Failure",
    "Filter",
    "Merger",
    "NotCovered",
    "filters_from_columns",
    "merge",
    "parse_filter",
    "register_constraint",
    "set_covers",
    "unregister_constraint",
]
