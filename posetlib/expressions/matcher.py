"""The matcher of expressions: predicates are evaluated once for all, then the trees.

Notifications come in blocks of 64, and each is a bit. Trees of a common shape are evaluated in
columns (see ``shape_rows``). Trees of a rare shape are evaluated one by one, and only if at least
p_min of their leaves are hit.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from threading import RLock
from typing import Any, Final, NamedTuple

import numpy as np

from posetlib.array_types import FloatArray, IntArray, Words
from posetlib.expressions.attribute_predicates import AttributePredicates
from posetlib.expressions.expression import Expression
from posetlib.expressions.measures import p_min
from posetlib.expressions.shape_rows import Places, ShapeRows, arranged
from posetlib.expressions.tree import Leaf, Node, leaves_of
from posetlib.filters.filter import check_notification
from posetlib.graph.change import Pair
from posetlib.matching.matcher import Matcher, Notification
from posetlib.values import MISSING, lookup

__all__ = ["ExpressionMatcher", "MatchCounts"]

# Notifications of one block: the bits of a word.
_BLOCK: Final = 64
# A shape with as many pairs is evaluated in columns.
_COMMON: Final = 24
# If an interface holds as many pairs on average, those of a complete one are left out.
_MANY_PAIRS: Final = 64
# The order of children is looked at again after this many blocks, then twice as many, and so on.
_FIRST_REORDER: Final = 1


class MatchCounts(NamedTuple):
    """What matching a notification comes to: how many are left after each step."""

    #: Predicates that the notification satisfies, of all that are indexed.
    satisfied: int
    predicates: int
    #: Expressions with p_min hits or more, and those among them that match; of how many.
    candidates: int
    matches: int
    expressions: int


class _Rare(NamedTuple):
    """A pair whose expression is evaluated alone."""

    expression: Expression
    predicates: dict[Leaf, int]
    p_min: int
    interface: int


class ExpressionMatcher(Matcher[Expression]):
    """Matches notifications with expressions; the same calls as on other matchers.

    Each distinct predicate is indexed once. An add or remove takes time for the leaves of the
    expression alone. Several threads may use a matcher at once: each call is made as a whole.

    >>> from posetlib import parse_expression
    >>> matcher = ExpressionMatcher()
    >>> _ = matcher.add(parse_expression("x > 3 or not (exists y)"), "I1")
    >>> _ = matcher.add(parse_expression("x > 3 and y = 1"), "I2")
    >>> sorted(matcher.match({"x": 5})), sorted(matcher.match({"x": 5, "y": 1}))
    (['I1'], ['I1', 'I2'])
    """

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        self._lock = RLock()
        self._attributes: dict[str, AttributePredicates] = {}
        # Predicate -> its number; number -> how many leaves have it; numbers that are free.
        self._numbers: dict[tuple[str, Any], int] = {}
        self._uses: list[int] = []
        self._free: list[int] = []
        # How many notifications satisfied each predicate, of how many since it was added.
        self._satisfied: IntArray = np.zeros(0, np.int64)
        self._seen_before: IntArray = np.zeros(0, np.int64)
        self._seen = 0
        # Interface -> its number, and how many pairs it has; number -> interface.
        self._interfaces: dict[Hashable, int] = {}
        self._interface_names: list[Hashable] = []
        self._interface_pairs: list[int] = []
        self._free_interfaces: list[int] = []
        # Shape -> the pairs of it: in columns, or if there are few, by their places.
        self._shapes: dict[str, ShapeRows | dict[int, _Rare]] = {}
        self._places = Places()
        # Place -> the shape of its pair; each shape is one string, however many have it.
        self._place_shapes: list[str] = []
        self._pair_count = 0
        # For rare shapes: the places by predicate, as often as they have it; and those that no
        # hit is needed for.
        self._postings: dict[int, dict[int, int]] = {}
        self._unhit: dict[int, None] = {}
        self._blocks = 0
        self._next_reorder = _FIRST_REORDER
        super().__init__(pairs)

    def _check(self, item: object) -> None:
        if not isinstance(item, Expression) or type(item).matches is not Expression.matches:
            raise TypeError(f"the matcher holds expressions, not {type(item).__name__}")

    def add(self, filter: Expression, interface: Hashable) -> Any:
        """Let an interface hold an expression; the change is empty if it does already."""
        with self._lock:
            return super().add(filter, interface)

    def discard(self, filter: Expression, interface: Hashable) -> Any:
        """Let an interface release an expression; the change is empty if it does not hold it."""
        with self._lock:
            return super().discard(filter, interface)

    # -- changing ----------------------------------------------------------------------------------

    def _enter(self, filter: Expression, interface: Hashable) -> int:
        shape, tree = arranged(filter.root)
        shape = sys.intern(shape)
        numbers: list[int] = []
        leaves = list(leaves_of(tree))
        try:
            for leaf in leaves:
                numbers.append(self._use(leaf))  # noqa: PERF401 - those so far are given back
        except BaseException:
            for leaf in leaves[: len(numbers)]:
                self._release(leaf)
            raise
        held_by = self._use_interface(interface)
        place = self._places.take()
        if place == len(self._place_shapes):
            self._place_shapes.append("")
        self._place_shapes[place] = shape
        self._pair_count += 1
        pairs = self._shapes.setdefault(shape, {})
        if isinstance(pairs, ShapeRows):
            self._places.add_to(pairs, place, numbers, held_by)
        else:
            self._enter_rare(pairs, place, filter, held_by)
            if len(pairs) >= _COMMON:
                self._shapes[shape] = self._in_columns(pairs, tree)
        return place

    def _enter_rare(
        self, pairs: dict[int, _Rare], place: int, expression: Expression, interface: int
    ) -> None:
        predicates = {
            leaf: self._numbers[leaf.attribute, leaf.constraint]
            for leaf in leaves_of(expression.root)
        }
        pairs[place] = rare = _Rare(expression, predicates, p_min(expression.root), interface)
        if not rare.p_min:
            self._unhit[place] = None
        for leaf in leaves_of(expression.root):
            posted = self._postings.setdefault(predicates[leaf], {})
            posted[place] = posted.get(place, 0) + (not leaf.negated)

    def _leave_rare(self, pairs: dict[int, _Rare], place: int) -> _Rare:
        rare = pairs.pop(place)
        self._unhit.pop(place, None)
        for number in set(rare.predicates.values()):
            posted = self._postings[number]
            del posted[place]
            if not posted:
                del self._postings[number]
        return rare

    def _in_columns(self, pairs: dict[int, _Rare], tree: Node) -> ShapeRows:
        """Return the pairs of a shape that has become common, as rows."""
        rows = ShapeRows(tree)
        for place in list(pairs):
            rare = self._leave_rare(pairs, place)
            leaves = leaves_of(arranged(rare.expression.root).tree)
            numbers = [rare.predicates[leaf] for leaf in leaves]
            self._places.add_to(rows, place, numbers, rare.interface)
        rows.reorder(self._shares())
        return rows

    def _leave(self, filter: Expression, interface: Hashable, place: int) -> None:
        shape, self._place_shapes[place] = self._place_shapes[place], ""
        pairs = self._shapes[shape]
        if isinstance(pairs, ShapeRows):
            self._places.remove_from(pairs, place)
        else:
            self._leave_rare(pairs, place)
        self._places.release(place)
        self._pair_count -= 1
        if not len(pairs):
            del self._shapes[shape]
        for leaf in leaves_of(filter.root):
            self._release(leaf)
        self._release_interface(interface)

    def _use(self, leaf: Leaf) -> int:
        """Return the number of a leaf's predicate, which has one use more."""
        key = (leaf.attribute, leaf.constraint)
        number = self._numbers.get(key)
        if number is None:
            attribute = self._attributes.get(leaf.attribute)
            if attribute is None:
                attribute = self._attributes[leaf.attribute] = AttributePredicates()
            number = self._free[-1] if self._free else len(self._uses)
            try:
                attribute.add(leaf.constraint, number)
            finally:
                if not len(attribute):
                    del self._attributes[leaf.attribute]
            if self._free:
                self._free.pop()
            self._numbers[key] = number
            if number == len(self._uses):
                self._uses.append(0)
                if number == len(self._satisfied):
                    more = np.zeros(max(64, number), np.int64)
                    self._satisfied = np.concatenate((self._satisfied, more))
                    self._seen_before = np.concatenate((self._seen_before, more))
            self._satisfied[number] = 0
            self._seen_before[number] = self._seen
        self._uses[number] += 1
        return number

    def _release(self, leaf: Leaf) -> None:
        key = (leaf.attribute, leaf.constraint)
        number = self._numbers[key]
        self._uses[number] -= 1
        if self._uses[number]:
            return
        del self._numbers[key]
        self._free.append(number)
        attribute = self._attributes[leaf.attribute]
        attribute.remove(leaf.constraint, number)
        if not len(attribute):
            del self._attributes[leaf.attribute]

    def _use_interface(self, interface: Hashable) -> int:
        number = self._interfaces.get(interface)
        if number is None:
            if self._free_interfaces:
                number = self._free_interfaces.pop()
                self._interface_names[number] = interface
            else:
                number = len(self._interface_names)
                self._interface_names.append(interface)
                self._interface_pairs.append(0)
            self._interfaces[interface] = number
        self._interface_pairs[number] += 1
        return number

    def _release_interface(self, interface: Hashable) -> None:
        number = self._interfaces[interface]
        self._interface_pairs[number] -= 1
        if not self._interface_pairs[number]:
            del self._interfaces[interface]
            self._free_interfaces.append(number)

    # -- matching ----------------------------------------------------------------------------------

    def match(self, notification: Notification) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching expression."""
        check_notification(notification)
        with self._lock:
            return self._match_block([notification])[0]

    def match_many(self, notifications: Iterable[Notification]) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each notification."""
        asked = list(notifications)
        for each in asked:
            check_notification(each)
        with self._lock:
            blocks = (asked[at : at + _BLOCK] for at in range(0, len(asked), _BLOCK))
            return [answer for block in blocks for answer in self._match_block(block)]

    def _match_block(self, block: Sequence[Notification]) -> list[frozenset[Hashable]]:
        words = self._words(block)
        self._learn(words, len(block))
        all_bits = np.uint64((1 << len(block)) - 1)
        found: Words = np.zeros(len(self._interface_names), np.uint64)
        few = len(self._interfaces) * _MANY_PAIRS < self._pair_count
        tests = 0
        for pairs in self._shapes.values():
            if isinstance(pairs, ShapeRows):
                tests += pairs.match(words, all_bits, found, few=few) * len(block)
        if len(self._postings) or self._unhit:
            tests += self._match_rare(words, block, found)
        self.counters.match_tests += tests
        hit = np.flatnonzero(found)
        answers = found[hit]
        names = self._interface_names
        return [
            frozenset(
                [names[i] for i in hit[(answers >> np.uint64(at)) & np.uint64(1) != 0].tolist()]
            )
            for at in range(len(block))
        ]

    def _words(self, block: Sequence[Notification]) -> Words:
        """Return the word of each predicate: the notifications of the block that satisfy it."""
        words: Words = np.zeros(len(self._uses), np.uint64)
        for name, predicates in self._attributes.items():
            values = [each.get(name, MISSING) for each in block]
            if MISSING in values:
                values = [
                    lookup(each, name) if value is MISSING else value
                    for value, each in zip(values, block, strict=True)
                ]
            predicates.satisfied(values, block, words)
        return words

    def _match_rare(self, words: Words, block: Sequence[Notification], found: Words) -> int:
        """Evaluate the candidates among the pairs of rare shapes, one by one."""
        posted = np.fromiter(self._postings, np.int64, len(self._postings))
        posted_words = words[posted]
        interfaces: list[tuple[int, int]] = []
        tests = 0
        rare: dict[int, _Rare] = {}
        for pairs in self._shapes.values():
            if not isinstance(pairs, ShapeRows):
                rare.update(pairs)
        for at in range(len(block)):
            held = posted[(posted_words >> np.uint64(at)) & np.uint64(1) != 0].tolist()
            hits: Counter[int] = Counter()
            for number in held:
                hits.update(self._postings[number])
            holding = set(held)
            complete: set[int] = set()
            for place in chain(self._unhit, hits):
                pair = rare[place]
                if hits[place] < pair.p_min or pair.interface in complete:
                    continue
                tests += 1
                if pair.expression.holds_with(pair.predicates, holding):
                    complete.add(pair.interface)
            interfaces += [(number, at) for number in complete]
        for number, at in interfaces:
            found[number] |= np.uint64(1 << at)
        return tests

    # -- selectivities -----------------------------------------------------------------------------

    def _learn(self, words: Words, notifications: int) -> None:
        """Count who satisfied which predicate, and reorder children now and then."""
        self._satisfied[: len(words)] += np.bitwise_count(words)
        self._seen += notifications
        self._blocks += 1
        if self._blocks >= self._next_reorder:
            self._next_reorder = 2 * self._blocks
            shares = self._shares()
            for pairs in self._shapes.values():
                if isinstance(pairs, ShapeRows):
                    pairs.reorder(shares)

    def _shares(self) -> FloatArray:
        """Return the share of notifications that satisfied each predicate; 1/2 if none was seen."""
        seen = self._seen - self._seen_before
        return np.asarray((self._satisfied + 0.5) / (seen + 1.0))

    def selectivity(self, leaf: Leaf) -> tuple[int, int]:
        """Return how many notifications satisfied a leaf's constraint, and how many were seen.

        Only those count that were matched while the predicate was held; (0, 0) if it is not held.
        """
        with self._lock:
            number = self._numbers.get((leaf.attribute, leaf.constraint))
            if number is None:
                return 0, 0
            return int(self._satisfied[number]), int(self._seen - self._seen_before[number])

    def occurrences(self, leaf: Leaf) -> int:
        """Return how many leaves of the pairs that are held have this leaf's constraint."""
        number = self._numbers.get((leaf.attribute, leaf.constraint))
        return 0 if number is None else self._uses[number]

    # -- accounts ----------------------------------------------------------------------------------

    def account(self, notification: Mapping[str, Any]) -> MatchCounts:
        """Return how many predicates, candidates and matches a notification has; O(all leaves)."""
        check_notification(notification)
        with self._lock:
            words = self._words([notification])
            holding = set(np.flatnonzero(words).tolist())
            candidates = matches = 0
            for expression in self._pairs:
                numbers = {
                    leaf: self._numbers[leaf.attribute, leaf.constraint]
                    for leaf in leaves_of(expression.root)
                }
                hits = sum(
                    numbers[leaf] in holding
                    for leaf in leaves_of(expression.root)
                    if not leaf.negated
                )
                if hits >= p_min(expression.root):
                    candidates += 1
                    matches += expression.holds_with(numbers, holding)
            return MatchCounts(
                len(holding), len(self._numbers), candidates, matches, len(self._pairs)
            )

    @property
    def nbytes(self) -> int:
        """The bytes of the columns in use, without Python's objects."""
        rows = sum(each.nbytes for each in self._shapes.values() if isinstance(each, ShapeRows))
        return rows + len(self._uses) * 16
