"""Routing tables for content-based publish/subscribe."""

import logging

from posetlib.change import Change
from posetlib.constraints.base import Constraint, EmptyConstraintError
from posetlib.constraints.types import TypeHierarchy
from posetlib.counters import Counters
from posetlib.diff import Diff, diff
from posetlib.errors import (
    FilterError,
    FilterSyntaxError,
    InvariantError,
    SnapshotError,
    UnknownEntryError,
)
from posetlib.filter_relation import ByAttribute
from posetlib.filters import Explanation, Filter, NotCovered, filters_from_columns, set_covers
from posetlib.forwards import forwards_excess, forwards_sets
from posetlib.matching import BitmapMatcher, CountingMatcher
from posetlib.merging import Merger, merge
from posetlib.parsing import parse_filter, register_constraint, unregister_constraint
from posetlib.snapshot import Snapshot
from posetlib.structures import (
    BalancedForest,
    FiltersPoset,
    LinearTable,
    NonRedundantForest,
    PosetForest,
    Table,
    make_table,
)
from posetlib.trace import Player, Trace
from posetlib.walk import MatchAccount

__version__ = "0.1.0"

__all__ = [
    "BalancedForest",
    "BitmapMatcher",
    "ByAttribute",
    "Change",
    "Constraint",
    "Counters",
    "CountingMatcher",
    "Diff",
    "EmptyConstraintError",
    "Explanation",
    "Filter",
    "FilterError",
    "FilterSyntaxError",
    "FiltersPoset",
    "InvariantError",
    "LinearTable",
    "MatchAccount",
    "Merger",
    "NonRedundantForest",
    "NotCovered",
    "Player",
    "PosetForest",
    "Snapshot",
    "SnapshotError",
    "Table",
    "Trace",
    "TypeHierarchy",
    "UnknownEntryError",
    "__version__",
    "diff",
    "filters_from_columns",
    "forwards_excess",
    "forwards_sets",
    "make_table",
    "merge",
    "parse_filter",
    "register_constraint",
    "set_covers",
    "unregister_constraint",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())
