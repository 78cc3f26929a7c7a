"""The pages that there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from browser.pages import (
    context,
    diff,
    expressions,
    forwards,
    match,
    merging,
    network,
    plane,
    runs,
    statistics,
    tables,
)
from browser.state import Library

__all__ = ["PAGES", "Page"]


class Page(NamedTuple):
    """A page: where it is, what the bar calls it, and what is on it."""

    path: str
    title: str
    layout: Callable[[Library, dict[str, str], dict[str, str]], Any]
    register: Callable[[Any, Library], None]


PAGES: Final = (
    Page("/", "Tables", tables.layout, tables.register),
    Page("/plane", "Plane", plane.layout, plane.register),
    Page("/match", "Match", match.layout, match.register),
    Page("/diff", "Diff", diff.layout, diff.register),
    Page("/forwards", "Forwards", forwards.layout, forwards.register),
    Page("/statistics", "Statistics", statistics.layout, statistics.register),
    Page("/merging", "Merging", merging.layout, merging.register),
    Page("/context", "Context", context.layout, context.register),
    Page("/expressions", "Expressions", expressions.layout, expressions.register),
    Page("/network", "Network", network.layout, network.register),
    Page("/runs", "Runs", runs.layout, runs.register),
)
