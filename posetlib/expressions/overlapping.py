"""Which of many expressions overlap another one: advertisements against subscriptions.

The other expression is taken clause by clause (up to 64, each a bit). For each clause, a leaf is
possible unless the clause excludes it; an expression whose tree holds with all possible leaves may
overlap the clause. A clause is tested on its own: to add up what several exclude would lose
overlaps. An overlap that exists is always found; what is found need not exist where an expression
asks for contradictory things, or for "not equal".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from posetlib.array_types import BoolArray, FloatArray, IntArray, Words
from posetlib.constraints.base import Constraint
from posetlib.expressions.attribute_predicates import float_holds
from posetlib.expressions.clauses import Clause, conditions_of
from posetlib.expressions.comparing import form_of
from posetlib.expressions.expression import Expression
from posetlib.expressions.pruning import PrunedEntries, half, once, prunings
from posetlib.expressions.removals import Annotated, Option
from posetlib.expressions.satisfiable import possible
from posetlib.expressions.shape_rows import Places, ShapeRows, arranged
from posetlib.expressions.tree import Junction, Leaf, Node, fold, leaves_of

__all__ = [
    "OverlapIndex",
    "OverlapRating",
    "PrunedAdvertisements",
    "advertisement_prunings",
    "disjoint_sets",
    "overlap_rating",
]

_FIRST_LEAVES: Final = 16
_NO_RANGE: Final = (math.nan,) * 4


class _Leaves:
    """The distinct leaves on one attribute, negated ones apart."""

    def __init__(self) -> None:
        self.leaves: dict[Leaf, int] = {}
        # For each leaf in order of its row: its number, and its range as four columns, which are
        # the numbers and the sides of its two cuts; NaN for a leaf that is no range.
        self.numbers: IntArray = np.empty(_FIRST_LEAVES, np.int64)
        self._cuts: FloatArray = np.empty((4, _FIRST_LEAVES))
        self._rows: list[Leaf] = []

    def add(self, leaf: Leaf, number: int) -> None:
        """Add a leaf with its number."""
        row = len(self._rows)
        if row == len(self.numbers):
            self.numbers = np.concatenate((self.numbers, np.empty_like(self.numbers)))
            self._cuts = np.concatenate((self._cuts, np.empty_like(self._cuts)), axis=1)
        self.leaves[leaf] = row
        self._rows.append(leaf)
        self.numbers[row] = number
        self._cuts[:, row] = (None if leaf.negated else _range_of(leaf.constraint)) or _NO_RANGE

    def remove(self, leaf: Leaf) -> int:
        """Remove a leaf, and return its number; the last one takes its row."""
        row = self.leaves.pop(leaf)
        number = int(self.numbers[row])
        last = self._rows.pop()
        if last != leaf:
            end = len(self._rows)
            self._rows[row] = last
            self.leaves[last] = row
            self.numbers[row] = self.numbers[end]
            self._cuts[:, row] = self._cuts[:, end]
        return number

    def leaf(self, row: int) -> Leaf:
        """Return the leaf of a row."""
        return self._rows[row]

    def excluded(self, held: tuple[Constraint, ...], avoided: tuple[Constraint, ...]) -> IntArray:
        """Return the rows of the leaves that cannot hold beside the conditions of a clause."""
        count = len(self._rows)
        ends = _range_of(held[0]) if len(held) == 1 and not avoided else None
        low, after_low, high, after_high = self._cuts[:, :count]
        if ends is None:
            excluded: BoolArray = np.zeros(count, np.bool_)
            asked = np.arange(count)
        else:
            # One range ends before the other begins, at the same cut at the latest.
            first, after_first, last, after_last = ends
            excluded = (low > last) | ((low == last) & (after_low >= after_last))
            excluded |= (high < first) | ((high == first) & (after_high <= after_first))
            asked = np.flatnonzero(np.isnan(low))
        for row in asked.tolist():
            excluded[row] = not _can_hold(self._rows[row], held, avoided)
        return np.flatnonzero(excluded)


def _can_hold(leaf: Leaf, held: tuple[Constraint, ...], avoided: tuple[Constraint, ...]) -> bool:
    if leaf.negated:
        return possible(held, (*avoided, leaf.constraint))
    return possible((*held, leaf.constraint), avoided)


def _range_of(constraint: Constraint) -> tuple[float, float, float, float] | None:
    """Return the two cuts of a range of numbers: number and side of each; None if it is no range.

    Ends that floats do not hold make no range here.
    """
    extent = constraint.extent()
    if not extent.is_sure or extent.others or any(extent.booleans) or extent.strings:
        return None
    if len(extent.numbers) != 1:
        return None
    (low, after_low), (high, after_high) = extent.numbers[0][:2]
    if not float_holds(low) or not float_holds(high):
        return None
    return float(low), float(after_low), float(high), float(after_high)


#: How many notifications have satisfied a leaf.
Satisfied: TypeAlias = Callable[[Leaf], float]


def _never(_: Leaf) -> float:
    return 0.0


class OverlapIndex:
    """Many expressions, and which of them another one overlaps.

    It holds the subscriptions, and is asked for an advertisement, or the other way round. *All* of
    them are needed when an advertisement goes; whether there is *any* when a subscription comes.

    >>> from posetlib import parse_expression
    >>> index = OverlapIndex()
    >>> index.add("s1", parse_expression("x > 3 and y = 1"))
    >>> index.add("s2", parse_expression("x < 2"))
    >>> sorted(index.overlapping(parse_expression("x > 5 or z = 1 and x = 0")))
    ['s1', 's2']
    >>> index.overlaps_any(parse_expression("x = 2 and z = 3"))
    False
    """

    def __init__(self, items: Iterable[tuple[Hashable, Expression]] = ()) -> None:
        self._attributes: dict[str, _Leaves] = {}
        self._uses: list[int] = []
        self._free: list[int] = []
        self._shapes: dict[str, ShapeRows] = {}
        # Name -> its place, and its expression; place -> the name.
        self._named: dict[Hashable, tuple[int, Expression]] = {}
        self._names: list[Hashable] = []
        self._places = Places()
        for name, expression in items:
            self.add(name, expression)

    def __len__(self) -> int:
        return len(self._named)

    def add(self, name: Hashable, expression: Expression) -> None:
        """Add an expression under a name; ValueError if there is one."""
        if name in self._named:
            raise ValueError(f"there is an expression {name!r} already")
        shape, tree = arranged(expression.root)
        numbers = [self._use(leaf) for leaf in leaves_of(tree)]
        place = self._places.take()
        if place == len(self._names):
            self._names.append(name)
        else:
            self._names[place] = name
        self._named[name] = (place, expression)
        rows = self._shapes.get(shape)
        if rows is None:
            # A negated leaf has a number of its own, so the rows have nothing to negate.
            rows = self._shapes[shape] = ShapeRows(_without_negations(tree))
        self._places.add_to(rows, place, numbers, place)

    def remove(self, name: Hashable) -> Expression:
        """Remove the expression of a name and return it; KeyError if there is none."""
        place, expression = self._named.pop(name)
        shape = arranged(expression.root).shape
        self._places.remove_from(self._shapes[shape], place)
        if not len(self._shapes[shape]):
            del self._shapes[shape]
        self._places.release(place)
        for leaf in leaves_of(expression.root):
            self._release(leaf)
        return expression

    def _use(self, leaf: Leaf) -> int:
        leaves = self._attributes.setdefault(leaf.attribute, _Leaves())
        row = leaves.leaves.get(leaf)
        if row is None:
            number = self._free.pop() if self._free else len(self._uses)
            if number == len(self._uses):
                self._uses.append(0)
            leaves.add(leaf, number)
        else:
            number = int(leaves.numbers[row])
        self._uses[number] += 1
        return number

    def _release(self, leaf: Leaf) -> None:
        leaves = self._attributes[leaf.attribute]
        number = int(leaves.numbers[leaves.leaves[leaf]])
        self._uses[number] -= 1
        if not self._uses[number]:
            self._free.append(leaves.remove(leaf))
            if not leaves.leaves:
                del self._attributes[leaf.attribute]

    # -- asking ------------------------------------------------------------------------------------

    def overlapping(self, other: Expression) -> frozenset[Hashable]:
        """Return the names of all expressions that overlap another one: the function problem."""
        words, all_bits = self._possible(other)
        found: Words = np.zeros(len(self._names), np.uint64)
        if all_bits:
            for rows in self._shapes.values():
                rows.match(words, all_bits, found, few=False)
        return frozenset(self._names[i] for i in np.flatnonzero(found).tolist())

    def overlaps_any(self, other: Expression) -> bool:
        """Return whether any expression overlaps another one: the decision problem."""
        words, all_bits = self._possible(other)
        return bool(all_bits) and any(rows.any(words, all_bits) for rows in self._shapes.values())

    def _possible(self, other: Expression) -> tuple[Words, np.uint64]:
        """Return for each leaf the clauses beside which it can hold, and the bits of all."""
        clauses, _ = form_of(other.root)
        all_bits = np.uint64((1 << len(clauses)) - 1)
        words: Words = np.full(len(self._uses), all_bits, np.uint64)
        known: dict[tuple[object, ...], IntArray] = {}
        for at, clause in enumerate(clauses):
            for name, (held, avoided) in conditions_of(clause).items():
                leaves = self._attributes.get(name)
                if leaves is None:
                    continue
                key = (name, held, avoided)
                if key not in known:  # clauses of one expression share conditions
                    known[key] = leaves.numbers[leaves.excluded(held, avoided)]
                words[known[key]] &= ~np.uint64(1 << at)
        return words, all_bits

    def weight(self, leaf: Leaf, satisfied: Satisfied = _never) -> float:
        """Return how much of the table a leaf of an advertisement excludes, from 0 to 1.

        That is the share of leaves in the table that are disjoint with it. Of these, one that
        notifications satisfy often counts less: ``satisfied`` says how many have.
        """
        leaves = self._attributes.get(leaf.attribute)
        total = sum(self._uses)
        if leaves is None or not total:
            return 0.0
        held = () if leaf.negated else (leaf.constraint,)
        avoided = (leaf.constraint,) if leaf.negated else ()
        excluded = sum(
            self._uses[int(leaves.numbers[row])] / math.sqrt(satisfied(leaves.leaf(row)) + 1)
            for row in leaves.excluded(held, avoided).tolist()
        )
        return excluded / total


def _without_negations(tree: Node) -> Node:
    def of_leaf(leaf: Leaf) -> Node:
        return leaf._replace(negated=False)

    def of_junction(node: Junction, parts: list[Node]) -> Node:
        return Junction(node.conjunctive, tuple(parts))

    return fold(tree, of_leaf, of_junction)


def disjoint_sets(
    subscription: Expression, advertisement: Expression
) -> tuple[tuple[Clause, frozenset[Leaf]], ...]:
    """Return each clause of an advertisement, with the leaves of a subscription that it excludes.

    >>> from posetlib import parse_expression
    >>> s, a = parse_expression("x > 3 and y = 1"), parse_expression("x < 2 or y = 1")
    >>> [sorted(leaf.attribute for leaf in each) for _, each in disjoint_sets(s, a)]
    [['x'], []]
    """
    found = []
    for clause in advertisement.clauses():
        conditions = conditions_of(clause)
        excluded = frozenset(
            leaf
            for leaf in leaves_of(subscription.root)
            if leaf.attribute in conditions and not _can_hold(leaf, *conditions[leaf.attribute])
        )
        found.append((clause, excluded))
    return tuple(found)


# -- pruning advertisements ------------------------------------------------------------------------


class OverlapRating(NamedTuple):
    """How much of the table an advertisement does not overlap: at least, on average, at most."""

    least: float
    average: float
    most: float


def overlap_rating(root: Node, index: OverlapIndex, satisfied: Satisfied = _never) -> OverlapRating:
    """Return how much of a table of subscriptions an advertisement does not overlap.

    An AND excludes what any child excludes, an OR only what all of them do. ``satisfied`` says how
    many notifications have satisfied a leaf of the table.
    """

    def of_leaf(leaf: Leaf) -> OverlapRating:
        weight = index.weight(leaf, satisfied)
        return OverlapRating(weight, weight, weight)

    return fold(root, of_leaf, _joined_rating)


def _joined_rating(node: Junction, parts: list[OverlapRating]) -> OverlapRating:
    least = [part.least for part in parts]
    return OverlapRating(
        (max if node.conjunctive else min)(least, default=0.0),
        1 - math.prod(1 - part.average for part in parts),
        min(1.0, sum(part.most for part in parts)),
    )


def _loss(before: OverlapRating, after: OverlapRating) -> float:
    """Return the greatest relative fall of the three parts of a rating."""
    return max((a - b) / a if a else 0.0 for a, b in zip(before, after, strict=True))


def advertisement_prunings(
    advertisement: Expression,
    index: OverlapIndex,
    original: Expression | None = None,
    satisfied: Satisfied = _never,
) -> tuple[tuple[float, Expression], ...]:
    """Return the legal prunings of an advertisement, with how much each loses; the least first.

    The loss is the greatest relative fall of the three parts of the rating, against the original.
    """
    before = overlap_rating((original or advertisement).root, index, satisfied)
    found = []
    for pruning in prunings(advertisement):
        after = overlap_rating(pruning.expression.root, index, satisfied)
        found.append((_loss(before, after), pruning.expression))
    return tuple(sorted(found, key=lambda each: each[0]))


class PrunedAdvertisements(PrunedEntries):
    """The advertisements of neighbours, pruned one step at a time: those first that lose least.

    ``index`` has the subscriptions, and ``satisfied`` says how many notifications have satisfied a
    leaf of these. A pruned advertisement covers what it was, so no overlap is lost.

    >>> from posetlib import parse_expression
    >>> index = OverlapIndex([("s1", parse_expression("x < 3 and y = 1"))])
    >>> entries = PrunedAdvertisements(index)
    >>> entries.add("a1", parse_expression("x > 5 and z = 1"))
    >>> entries.prune(1), str(entries.current("a1"))
    (1, 'x > 5')
    """

    def __init__(self, index: OverlapIndex, satisfied: Satisfied = _never) -> None:
        super().__init__("accuracy")
        self._index = index
        self._satisfied = satisfied

    def _best(self, name: Hashable) -> tuple[tuple[float, ...], Option] | None:
        entry = self._entries[name]
        before = overlap_rating(entry.original.root, self._index, self._satisfied)
        rated = []
        for at, option in enumerate(Annotated(entry.current.root, half, once).options()):
            after = overlap_rating(option.tree(), self._index, self._satisfied)
            rated.append(((_loss(before, after), at), option))
        return min(rated, key=lambda each: each[0], default=None)
