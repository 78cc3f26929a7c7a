"""What a structure promises of its links and its pairs: read wherever structures differ.

``check()``, snapshots, forwards sets, the jobs and the browser ask the promises of a structure and
never its name, so that a structure from elsewhere is treated like those of the library.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Elimination", "Promises", "Shape"]


class Shape(Enum):
    """Which links a structure keeps."""

    #: At most one parent for each node.
    FOREST = "forest"
    #: The full order, as its Hasse diagram.
    ORDER = "order"
    #: A plain list; its links are worked out from the definition, and promise nothing.
    LIST = "list"


class Elimination(Enum):
    """Where an interface may not hold two filters of which one covers the other."""

    #: In the whole table.
    EVERYWHERE = "everywhere"
    #: Along a path; filters of one interface may cover one another in different branches.
    ALONG_PATHS = "along paths"


# What every table promises, in the order of the documentation.
_ALWAYS = (
    "edge-covers",
    "sibling-pure",
    "roots-minimal-cover",
    "reachable-acyclic",
    "interfaces-nonempty",
    "match-agrees",
)


@dataclass(frozen=True, slots=True)
class Promises:
    """What a structure promises; a class attribute of its table.

    >>> forest = Promises("A forest", Shape.FOREST, Elimination.ALONG_PATHS)
    >>> "single-parent" in forest.invariants(), "complete-order" in forest.invariants()
    (True, False)
    """

    #: The name that people read.
    title: str
    shape: Shape
    elimination: Elimination
    #: Whether each node lists the interfaces found among its descendants.
    interface_index: bool = False
    #: The mechanism for forwards sets that is its own: "poset" or "forest"; None if it has none.
    forwards: str | None = None
    #: Whether it may be made with ``local=True``, which eliminates nothing.
    may_be_local: bool = False

    def invariants(self, *, local: bool = False) -> frozenset[str]:
        """Return the names of the invariants that a table of this structure keeps."""
        kept = {*_ALWAYS}
        if self.shape is Shape.FOREST:
            kept.add("single-parent")
        if self.shape is Shape.ORDER:
            kept.add("complete-order")
        if self.shape is not Shape.LIST and not local:
            kept.add("minimum-interface")
            if self.elimination is Elimination.EVERYWHERE:
                kept.add("no-redundant-pair")
        if self.interface_index:
            kept.add("interface-index")
        if self.forwards is not None:
            kept.add("forwards-agree")
        return frozenset(kept)
