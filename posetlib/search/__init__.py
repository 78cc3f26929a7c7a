"""Where an item belongs in a table: knows an order and its boxes, and no language."""

from posetlib.search.boxes import AxisInterval, Box, BoxReader, Shape, Shapes
from posetlib.search.match_walk import MatchAccount
from posetlib.search.relation import NO_PART, Matcher, Partition, Relation

__all__ = [
    "NO_PART",
    "AxisInterval",
    "Box",
    "BoxReader",
    "MatchAccount",
    "Matcher",
    "Partition",
    "Relation",
    "Shape",
    "Shapes",
]
