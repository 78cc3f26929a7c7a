"""Routing tables for content-based publish/subscribe."""

import logging

from posetlib.constraints.base import Constraint
from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import (
    FilterError,
    FilterSyntaxError,
    InvariantError,
    SnapshotError,
    UnknownEntryError,
)
from posetlib.filters import Explanation, Filter, NotCovered, filters_from_columns, set_covers
from posetlib.merging import Merger, merge
from posetlib.parsing import parse_filter, register_constraint, unregister_constraint

__version__ = "0.1.0"

__all__ = [
    "Constraint",
    "Explanation",
    "Filter",
    "FilterError",
    "FilterSyntaxError",
    "InvariantError",
    "Merger",
    "NotCovered",
    "SnapshotError",
    "TypeHierarchy",
    "UnknownEntryError",
    "__version__",
    "filters_from_columns",
    "merge",
    "parse_filter",
    "register_constraint",
    "set_covers",
    "unregister_constraint",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())
