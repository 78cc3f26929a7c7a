"""Routing tables for content-based publish/subscribe."""

import logging

from posetlib.constraints import Constraint, TypeHierarchy
from posetlib.errors import (
    BrokerError,
    EmptyConstraintError,
    FilterError,
    FilterSyntaxError,
    InvariantError,
    MessageError,
    SnapshotError,
    StateFileError,
    UnknownEntryError,
    UnknownNeighbourError,
)
from posetlib.filters import (
    Explanation,
    Filter,
    Merger,
    NotCovered,
    filters_from_columns,
    merge,
    parse_filter,
    register_constraint,
    set_covers,
    unregister_constraint,
)
from posetlib.graph import Change, Counters
from posetlib.matching import BitmapMatcher, CountingMatcher
from posetlib.profiles import DoubleForest
from posetlib.routing import Router, Update
from posetlib.search import MatchAccount, Relation
from posetlib.simulation import Audit, Event, Hop, Network, Publication
from posetlib.tables import (
    BalancedForest,
    ByAttribute,
    Diff,
    Elimination,
    FiltersPoset,
    LinearTable,
    NonRedundantForest,
    Player,
    PosetForest,
    Promises,
    Shape,
    Snapshot,
    Table,
    Trace,
    diff,
    forwards_excess,
    forwards_sets,
    make_table,
    register_structure,
    structure_named,
    structure_names,
)

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "BalancedForest",
    "BitmapMatcher",
    "BrokerError",
    "ByAttribute",
    "Change",
    "Constraint",
    "Counters",
    "CountingMatcher",
    "Diff",
    "DoubleForest",
    "Elimination",
    "EmptyConstraintError",
    "Event",
    "Explanation",
    "Filter",
    "FilterError",
    "FilterSyntaxError",
    "FiltersPoset",
    "Hop",
    "InvariantError",
    "LinearTable",
    "MatchAccount",
    "Merger",
    "MessageError",
    "Network",
    "NonRedundantForest",
    "NotCovered",
    "Player",
    "PosetForest",
    "Promises",
    "Publication",
    "Relation",
    "Router",
    "Shape",
    "Snapshot",
    "SnapshotError",
    "StateFileError",
    "Table",
    "Trace",
    "TypeHierarchy",
    "UnknownEntryError",
    "UnknownNeighbourError",
    "Update",
    "__version__",
    "diff",
    "filters_from_columns",
    "forwards_excess",
    "forwards_sets",
    "make_table",
    "merge",
    "parse_filter",
    "register_constraint",
    "register_structure",
    "set_covers",
    "structure_named",
    "structure_names",
    "unregister_constraint",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())
