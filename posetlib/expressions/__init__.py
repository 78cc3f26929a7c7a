"""Expressions: AND, OR and NOT over the constraints of the filter language."""

from posetlib.expressions.explaining import ExpressionExplanation, LeafOutcome
from posetlib.expressions.expression import Expression
from posetlib.expressions.matcher import ExpressionMatcher, MatchCounts
from posetlib.expressions.memory import MemoryModel
from posetlib.expressions.overlapping import (
    OverlapIndex,
    PrunedAdvertisements,
    advertisement_prunings,
)
from posetlib.expressions.parsing import parse_expression
from posetlib.expressions.pruning import (
    RATINGS,
    PrunedEntries,
    Pruning,
    Ratings,
    merge_by_pruning,
    prunings,
)
from posetlib.expressions.relation import EXPRESSIONS
from posetlib.expressions.selectivity import Selectivity, learned, seen_shares, selectivity
from posetlib.expressions.tree import Junction, Leaf

__all__ = [
    "EXPRESSIONS",
    "RATINGS",
    "Expression",
    "ExpressionExplanation",
    "ExpressionMatcher",
    "Junction",
    "Leaf",
    "LeafOutcome",
    "MatchCounts",
    "MemoryModel",
    "OverlapIndex",
    "PrunedAdvertisements",
    "PrunedEntries",
    "Pruning",
    "Ratings",
    "Selectivity",
    "advertisement_prunings",
    "learned",
    "merge_by_pruning",
    "parse_expression",
    "prunings",
    "seen_shares",
    "selectivity",
]
