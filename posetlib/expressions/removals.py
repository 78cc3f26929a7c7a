"""The legal prunings of a tree, with what each comes to, before any new tree is made.

What a removal changes lies on the way from the removed node to the root. So each node is annotated
once, and only the nodes on that way are worked out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from posetlib.expressions.measures import encoded_size, p_min
from posetlib.expressions.selectivity import LeafShare, Selectivity, joined_selectivity, selectivity
from posetlib.expressions.tree import Junction, Leaf, Node, joined, leaves_of

__all__ = ["Annotated", "Occurrences", "Option", "Worth"]

#: How often a leaf's constraint occurs in the whole table.
Occurrences: TypeAlias = Callable[[Leaf], int]


class Worth(NamedTuple):
    """What a tree comes to."""

    selectivity: Selectivity
    p_min: int
    #: Bytes of its code.
    size: int
    #: How often the constraints of its leaves occur in the table, added up.
    occurrences: int


class _Place:
    """A node in its tree."""

    __slots__ = ("around", "at", "below", "node", "worth")

    def __init__(self, node: Node, around: _Place | None, at: int) -> None:
        self.node = node
        self.around = around
        self.at = at
        self.below: list[_Place] = []
        self.worth: Worth


class Annotated:
    """A tree with the worth of each node."""

    def __init__(self, root: Node, share: LeafShare, occurrences: Occurrences) -> None:
        self._share = share
        self._occurrences = occurrences
        top = _Place(root, None, 0)
        order = [top]
        for place in order:
            if isinstance(place.node, Junction):
                place.below = [
                    _Place(child, place, at) for at, child in enumerate(place.node.children)
                ]
                order += place.below
        for place in reversed(order):
            node = place.node
            if isinstance(node, Leaf):
                part = 1 - share(node) if node.negated else share(node)
                place.worth = Worth(
                    Selectivity(part, part, part), 0 if node.negated else 1, 5, occurrences(node)
                )
            else:
                place.worth = _worth(node.conjunctive, [each.worth for each in place.below])
        self._order = order
        self.whole = top.worth

    def options(self) -> Iterator[Option]:
        """Yield the legal prunings: every child of an AND may go."""
        for place in self._order:
            around = place.around
            if around is not None and around.node.conjunctive:  # type: ignore[union-attr]
                yield Option(self, place, around)

    def worth_of(self, root: Node) -> Worth:
        """Return the worth of another tree."""
        leaves = leaves_of(root)
        return Worth(
            selectivity(root, self._share),
            p_min(root),
            encoded_size(root),
            sum(map(self._occurrences, leaves)),
        )


def _worth(conjunctive: bool, parts: list[Worth]) -> Worth:
    counts = [part.p_min for part in parts]
    return Worth(
        joined_selectivity(conjunctive, [part.selectivity for part in parts]),
        sum(counts) if conjunctive else min(counts, default=0),
        2 + sum(part.size for part in parts),
        sum(part.occurrences for part in parts),
    )


class Option:
    """One legal pruning: the removal of a child of an AND."""

    def __init__(self, annotated: Annotated, place: _Place, around: _Place) -> None:
        self._place = place
        self._around = around
        self.removed = place.node
        #: What the tree comes to without it.
        self.after = self._after() if self._stays_apart() else annotated.worth_of(self.tree())

    @property
    def innermost(self) -> bool:
        """Whether no other pruning is possible within the removed part."""
        waiting = [self._place]
        while waiting:
            place = waiting.pop()
            if isinstance(place.node, Junction):
                if place.node.conjunctive:
                    return False
                waiting += place.below
        return True

    def _left(self) -> list[_Place]:
        return [each for each in self._around.below if each is not self._place]

    def _stays_apart(self) -> bool:
        """Return whether no leaf comes beside another one of its attribute, to be one with it.

        That happens only where an AND is left with one child, which takes its place in an OR.
        """
        left, above = self._left(), self._around.around
        if len(left) > 1 or above is None:
            return True
        (only,) = left
        coming = [only] if isinstance(only.node, Leaf) else only.below
        names = {each.node.attribute for each in coming if isinstance(each.node, Leaf)}
        return not any(
            isinstance(each.node, Leaf) and each.node.attribute in names for each in above.below
        )

    def _after(self) -> Worth:
        left, above = self._left(), self._around.around
        if len(left) > 1:
            worth = _worth(True, [each.worth for each in left])
        else:
            worth = left[0].worth
            if above is not None and isinstance(left[0].node, Junction):
                worth = worth._replace(size=worth.size - 2)  # an OR in an OR is one with it
        place = self._around
        while above is not None:
            parts = [worth if each is place else each.worth for each in above.below]
            worth = _worth(above.node.conjunctive, parts)  # type: ignore[union-attr]
            place, above = above, above.around
        return worth

    def tree(self) -> Node:
        """Return the tree without what is removed, in normal form."""
        node = joined(True, [each.node for each in self._left()])
        place, above = self._around, self._around.around
        while above is not None:
            others = [node if each is place else each.node for each in above.below]
            node = joined(above.node.conjunctive, others)  # type: ignore[union-attr]
            place, above = above, above.around
        return node
