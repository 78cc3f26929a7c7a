"""Filters as fewer filters: merging, and covering by several filters together."""

from posetlib.merging.checking import MergeViolation, merge_violations
from posetlib.merging.merged_set import MergedSet
from posetlib.merging.root_merger import RootMerger, merge_all
from posetlib.merging.union_covering import UnionCover, union_covers

__all__ = [
    "MergeViolation",
    "MergedSet",
    "RootMerger",
    "UnionCover",
    "merge_all",
    "merge_violations",
    "union_covers",
]
