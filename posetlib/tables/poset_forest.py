"""The poset-derived forest [T 3.3.1, Def. 3.5]."""

from __future__ import annotations

from posetlib.tables.forest import Forest
from posetlib.tables.item_type import ItemT
from posetlib.tables.promises import Elimination, Promises, Shape
from posetlib.tables.structures import register_structure

__all__ = ["PosetForest"]


@register_structure
class PosetForest(Forest[ItemT]):
    """The plain forest: filters of one interface may cover one another along different branches.

    Along one branch an interface appears once [T, Def. 3.10]; with ``local=True`` there is no
    elimination at all, so that every pair that was added is there to be removed. An add costs about
    one covering test for each sibling on the way down to its place, and as many again where it
    stays.

    >>> t = PosetForest(covers=frozenset.issuperset)
    >>> for letters in ("ab", "bc", "abcd", "b"):
    ...     _ = t.add(frozenset(letters), "I1" if letters == "b" else "I2")
    >>> ["".join(sorted(root)) for root in t.roots()]
    ['abcd']
    """

    structure = "pf"
    promises = Promises(
        "Poset-derived forest", Shape.FOREST, Elimination.ALONG_PATHS, may_be_local=True
    )
