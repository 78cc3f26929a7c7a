"""Many filters at once, as numpy arrays: which cover which, whole tables, matching, and links."""

from posetlib.arrays.batch_matching import Audience, interfaces_of
from posetlib.arrays.building import (
    BuiltTable,
    build_forest,
    build_order,
    surviving_pairs,
    whole_forest,
    whole_order,
)
from posetlib.arrays.covering import (
    Block,
    covered_rows,
    covering_pairs,
    covers_rowwise,
    minimal,
    minimal_by_group,
)
from posetlib.arrays.edges import Outline
from posetlib.arrays.positions import (
    Points,
    Vocabulary,
    encode_notifications,
    encode_ranges,
    positions,
)
from posetlib.arrays.ranges import FilterRanges, Ranges, encode_filters, joined

__all__ = [
    "Audience",
    "Block",
    "BuiltTable",
    "FilterRanges",
    "Outline",
    "Points",
    "Ranges",
    "Vocabulary",
    "build_forest",
    "build_order",
    "covered_rows",
    "covering_pairs",
    "covers_rowwise",
    "encode_filters",
    "encode_notifications",
    "encode_ranges",
    "interfaces_of",
    "joined",
    "minimal",
    "minimal_by_group",
    "positions",
    "surviving_pairs",
    "whole_forest",
    "whole_order",
]
