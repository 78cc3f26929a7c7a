"""A sixth structure, made outside the package: what any other package could bring."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import posetlib as pl
from posetlib.graph.nodes import Node
from posetlib.search.probe import Probe
from posetlib.tables import Forest
from posetlib.tables import structures as registry


class LeanForest(Forest[Any]):
    """The pairs of the non-redundant forest, without an interface index and a forwards mechanism.

    It is registered by the tests that use it, and not when it is imported: other tests list all
    structures that there are.
    """

    structure = "lean"
    promises = pl.Promises("Lean forest", pl.Shape.FOREST, pl.Elimination.EVERYWHERE)

    def _is_redundant(self, probe: Probe, node: Node | None, interface: Hashable) -> bool:
        return self._search.is_held_above(probe, interface)

    def _made_redundant(self, probe: Probe, node: Node, interface: Hashable) -> list[Node]:
        return self._search.held_below(probe, interface, node)


@contextmanager
def structures_as_before() -> Iterator[None]:
    """Forget in the end what was registered meanwhile."""
    known = dict(registry._STRUCTURES)
    try:
        yield
    finally:
        registry._STRUCTURES.clear()
        registry._STRUCTURES.update(known)


@contextmanager
def lean_forest() -> Iterator[type[LeanForest]]:
    """Let the lean forest be known for a while."""
    with structures_as_before():
        yield pl.register_structure(LeanForest)
