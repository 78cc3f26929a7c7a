"""Forwards sets: which neighbours a filter must be sent to [T 3.2.1, Eq. 3.1].

A filter is *wanted* at a neighbour n when n is one of its neighbours and an interface other than n
holds it. It is sent to n when it is wanted there and no filter that strictly covers it is wanted
there. That is Equation 3.1 without its recursion: if a wanted filter covers f, then so does the
most general such filter, which is sent.

With one set of neighbours for all filters, and no interface twice on a path, two nodes of a path
are never both unwanted at n; so nothing below the second level is sent anywhere (Theorem 3.4).
Where the neighbours depend on the filter, that holds if more general filters have more neighbours,
as with advertisements; since a function may do otherwise, all levels are then looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any, Final

from posetlib.graph.change import Item
from posetlib.graph.nodes import Node

__all__ = ["disagreement", "forwards_excess", "forwards_sets"]

Interfaces = frozenset[Hashable]
Covers = Callable[[Item, Item], bool]
_NOWHERE: Final[Interfaces] = frozenset()
#: By a structure's own mechanism, all that fit it; "naive" fits every table.
_FITTING: Final[dict[str | None, tuple[str, ...]]] = {
    "poset": ("poset", "naive"),
    "forest": ("forest", "approximate", "naive"),
    None: ("naive",),
}


def forwards_sets(
    table: Any,
    neighbours: Collection[Hashable] | Callable[[Item], Collection[Hashable]],
    mechanism: str | None = None,
    *,
    of: Iterable[Item] | None = None,
) -> dict[Item, Interfaces]:
    """Return the neighbours that each filter must be sent to; only filters with any are there.

    ``mechanism``: "poset" (fp), "forest" or "approximate" (nrf), "naive" (any table), or None for
    the table's own; ValueError for one that does not fit. "naive" follows the definition, with up
    to n² covering tests; "poset" needs none; "forest" tests the first two levels of the whole
    forest; "approximate" needs none, and may name more than needed and never less. ``of`` asks for
    the sets of some filters alone, and costs as much less; what is not in the table has none.

    >>> from posetlib import FiltersPoset
    >>> t = FiltersPoset(covers=frozenset.issuperset)
    >>> _ = t.add(frozenset("ab"), "I1"), t.add(frozenset("a"), "I2")
    >>> [sorted(each) for each in forwards_sets(t, ["I1", "I2", "I3"]).values()]
    [['I2', 'I3'], ['I1']]
    """
    mechanism = _checked(table, mechanism)
    nodes = list(table._links.nodes.values())
    asked = nodes if of is None else [n for n in map(table._links.nodes.get, of) if n is not None]
    sets = _computed(
        mechanism, asked, nodes, table._links.top, table._counted_covers, _wanted(neighbours)
    )
    return {node.item: found for node, found in sets if found}


def forwards_excess(
    table: Any, neighbours: Collection[Hashable] | Callable[[Item], Collection[Hashable]]
) -> dict[Item, Interfaces]:
    """Return what the approximate mechanism names and the exact one does not.

    >>> from posetlib import NonRedundantForest
    >>> t = NonRedundantForest(covers=frozenset.issuperset)
    >>> for letters, interface in (("abx", "I1"), ("aby", "I2"), ("a", "I3")):
    ...     _ = t.add(frozenset(letters), interface)
    >>> forwards_excess(t, ["I1", "I2", "I3"]) == {frozenset("a"): frozenset({"I1"})}
    True
    """
    exact = forwards_sets(table, neighbours, "forest")
    approximate = forwards_sets(table, neighbours, "approximate")
    excess = {item: each - exact.get(item, frozenset()) for item, each in approximate.items()}
    return {item: each for item, each in excess.items() if each}


def _checked(table: Any, mechanism: str | None) -> str:
    fitting = _FITTING[table.promises.forwards]
    if mechanism is None:
        return fitting[0]
    if mechanism not in {"naive", "poset", "forest", "approximate"}:
        raise ValueError(f"unknown mechanism {mechanism!r}")
    if mechanism not in fitting:
        raise ValueError(
            f"the mechanism {mechanism!r} does not fit a table of structure {table.structure!r}"
        )
    return mechanism


class _Wanted:
    """Where filters are wanted: at their neighbours, without the interface that alone holds them.

    With one set of neighbours for all filters, two such sets differ in two interfaces at most. So
    the rest that one filter leaves of another's set is computed from the holders alone. A whole
    set, which has as many members as there are neighbours, is made only for a filter that keeps it.
    """

    def __init__(
        self, neighbours_of_all: Interfaces | None, of: Callable[[Item], Interfaces]
    ) -> None:
        #: The neighbours of all filters, None when they depend on the filter.
        self.neighbours_of_all = neighbours_of_all
        self._of = of
        self._known: dict[Hashable, Interfaces] = {}

    def at(self, node: Node) -> Interfaces:
        """Return where a filter is wanted."""
        if self.neighbours_of_all is None:
            return self._made(node.item, lambda: self._of(node.item) - _only_holder(node))
        # One set for each holder, not one for each filter.
        holder = _only_holder(node)
        return self._made(holder, lambda: self._of(node.item) - holder)

    def _made(self, key: Hashable, make: Callable[[], Interfaces]) -> Interfaces:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = make()
        return found

    def left(self, node: Node, left: Interfaces | None, other: Node) -> Interfaces:
        """Return the rest of a filter's set after another filter's; None is the whole set."""
        if self.neighbours_of_all is None:
            return (self.at(node) if left is None else left) - self.at(other)
        # The other filter takes off all neighbours but its only holder.
        spared = _only_holder(other)
        if left is None:
            return (spared & self.neighbours_of_all) - _only_holder(node)
        return left & spared


def _only_holder(node: Node) -> Interfaces:
    return frozenset(node.interfaces) if len(node.interfaces) == 1 else _NOWHERE


def _wanted(neighbours: Collection[Hashable] | Callable[[Item], Collection[Hashable]]) -> _Wanted:
    if callable(neighbours):
        function = neighbours
        return _Wanted(None, lambda item: frozenset(function(item)))
    if isinstance(neighbours, str):
        raise TypeError("neighbours is a collection of interfaces, not one string")
    neighbours_of_all = frozenset(neighbours)
    return _Wanted(neighbours_of_all, lambda item: neighbours_of_all)


Sets = Iterator[tuple[Node, Interfaces]]


def _computed(
    mechanism: str, asked: list[Node], nodes: list[Node], top: Node, covers: Covers, wanted: _Wanted
) -> Sets:
    """Yield the sets of the nodes that are asked for, out of all."""
    if mechanism == "naive":
        return _naive(asked, nodes, covers, wanted)
    if mechanism == "poset":
        return _poset(asked, top, wanted)
    return _forest(asked, nodes, top, covers if mechanism == "forest" else None, wanted)


def _naive(asked: list[Node], nodes: list[Node], covers: Covers, wanted: _Wanted) -> Sets:
    """By the definition, from items and holders alone."""
    for node in asked:
        yield node, _uncovered(node, None, nodes, covers, wanted)


def _uncovered(
    node: Node, left: Interfaces | None, others: Iterable[Node], covers: Covers, wanted: _Wanted
) -> Interfaces:
    """Return the rest of a filter's set that no wanted coverer takes off (None: its whole set)."""
    for other in others:
        if left is not None and not left:
            break
        if other is not node:
            less = wanted.left(node, left, other)
            # A filter that would take nothing off is not compared.
            if (left is None or less != left) and covers(other.item, node.item):
                left = less
    return wanted.at(node) if left is None else left


def _poset(nodes: list[Node], top: Node, wanted: _Wanted) -> Sets:
    """By the links of the full order."""
    if wanted.neighbours_of_all is None:
        yield from _all_levels(nodes, top, wanted)
        return
    for node in nodes:
        left: Interfaces | None = None
        for parent in node.parents:
            if parent is not top:
                # Theorem 3.4: a parent that is no root and the filter above it have no holder in
                # common, so one of the two goes to every neighbour, and nothing is left.
                is_root = parent.parents[0] is top
                left = wanted.left(node, left, parent) if is_root else _NOWHERE
        yield node, wanted.at(node) if left is None else left


def _all_levels(nodes: list[Node], top: Node, wanted: _Wanted) -> Sets:
    """By the links, parents before children: the union of the sets above is passed down."""
    above: dict[Node, Interfaces] = {top: frozenset()}
    stack = list(reversed(nodes))
    while stack:
        node = stack[-1]
        if node in above:
            stack.pop()
            continue
        missing = [parent for parent in node.parents if parent not in above]
        if missing:
            stack.extend(missing)
            continue
        above[node] = frozenset().union(
            *(above[each] | wanted.at(each) for each in node.parents if each is not top)
        )
        stack.pop()
    for node in nodes:
        yield node, wanted.at(node) - above[node]


def _forest(
    asked: list[Node], nodes: list[Node], top: Node, covers: Covers | None, wanted: _Wanted
) -> Sets:
    """By the links of a forest, and by covering tests for the orders that a forest forgets.

    Without ``covers`` the answer is the approximate one.
    """
    if wanted.neighbours_of_all is None:
        by_links = _all_levels(asked, top, wanted)
        others = nodes
    else:
        by_links = _poset(asked, top, wanted)
        others = [*top.children, *(child for root in top.children for child in root.children)]
    for node, left in by_links:
        parent = node.parents[0]
        if covers is None or parent is top or not left:
            yield node, left
        else:
            # Siblings are incomparable, and the sets of ancestors are taken off already.
            elsewhere = (
                each for each in others if each is not parent and each.parents[0] is not parent
            )
            yield node, _uncovered(node, left, elsewhere, covers, wanted)


def disagreement(nodes: list[Node], top: Node, covers: Covers, mechanism: str) -> object | None:
    """Return where a table's own mechanism differs from the naive one, None if they agree.

    All its interfaces are taken as neighbours. Returns (filter, naive set, own set).
    """
    wanted = _wanted({interface for node in nodes for interface in node.interfaces})
    own = _computed(mechanism, nodes, nodes, top, covers, wanted)
    naively = _naive(nodes, nodes, covers, wanted)
    for (node, naive), (_, found) in zip(naively, own, strict=True):
        if naive != found:
            return node.item, naive, found
    return None
