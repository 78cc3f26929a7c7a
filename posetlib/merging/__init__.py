"""Filters as fewer filters: merging, and covering by several filters together."""

from posetlib.merging.union_covering import UnionCover, union_covers

__all__ = ["UnionCover", "union_covers"]
