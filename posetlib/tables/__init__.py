"""The routing tables: one interface, five structures, their snapshots, traces and forwards sets."""

from posetlib.tables.structures import (
    make_table,
    register_structure,
    structure_named,
    structure_names,
)

# The order of these imports is the order in which the structures are listed.
from posetlib.tables.filters_poset import FiltersPoset  # isort: skip
from posetlib.tables.poset_forest import PosetForest  # isort: skip
from posetlib.tables.balanced_forest import BalancedForest  # isort: skip
from posetlib.tables.non_redundant_forest import NonRedundantForest  # isort: skip
from posetlib.tables.linear_table import LinearTable  # isort: skip
from posetlib.tables.diff import Diff, diff
from posetlib.tables.filter_relation import FILTERS, ByAttribute
from posetlib.tables.forest import Forest
from posetlib.tables.forwards import forwards_excess, forwards_sets
from posetlib.tables.operation import Operation
from posetlib.tables.promises import Elimination, Promises, Shape
from posetlib.tables.snapshot import Snapshot, SnapshotNode
from posetlib.tables.table import Table
from posetlib.tables.trace import Player, Trace

__all__ = [
    "FILTERS",
    "BalancedForest",
    "ByAttribute",
    "Diff",
    "Elimination",
    "FiltersPoset",
    "Forest",
    "LinearTable",
    "NonRedundantForest",
    "Operation",
    "Player",
    "PosetForest",
    "Promises",
    "Shape",
    "Snapshot",
    "SnapshotNode",
    "Table",
    "Trace",
    "diff",
    "forwards_excess",
    "forwards_sets",
    "make_table",
    "register_structure",
    "structure_named",
    "structure_names",
]
