"""Pruning: make an expression smaller and wider by removing a child of an AND.

What is pruned covers what it was, so a router that prunes entries of its neighbours forwards more
notifications, never fewer, and finds them with less memory and time. Entries of local clients are
never pruned. Which removal comes first is a matter of *ratings*; the *original* of an entry is what
it was before it was first pruned.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from posetlib.expressions.expression import Expression
from posetlib.expressions.measures import p_min
from posetlib.expressions.removals import Annotated, Occurrences, Option
from posetlib.expressions.selectivity import LeafShare, Selectivity, selectivity
from posetlib.expressions.tree import Leaf, Node, joined, leaves_of

__all__ = [
    "RATINGS",
    "Occurrences",
    "PrunedEntries",
    "Pruning",
    "Ratings",
    "half",
    "merge_by_pruning",
    "once",
    "prunings",
]

# What the original expression of an entry comes to: its selectivity and p_min.
_First: TypeAlias = tuple[Selectivity, int]
#: The orders in which prunings are done.
RATINGS: Final = ("accuracy", "efficiency", "memory", "accuracy+occurrence")


class Ratings(NamedTuple):
    """What a pruning changes. Of accuracy, efficiency and accuracy+occurrence less is better."""

    #: How much the selectivity grows, against the original: the greatest growth of its three parts.
    accuracy: float
    #: How much p_min falls, against the original.
    efficiency: int
    #: How many bytes of the encoded tree are saved, against the present one; more is better.
    memory: int
    #: The accuracy, times the share of occurrences that the leaves of the present tree have had.
    occurrence: float
    #: Whether no smaller pruning lies within the part that is removed: the rule for memory.
    innermost: bool
    #: The part of the tree that is removed.
    removed: Node

    def key(self, rating: str) -> tuple[float, ...]:
        """Return what prunings are sorted by: the rating, then two others that break ties."""
        if rating == "accuracy":
            return self.accuracy, self.efficiency, -self.memory
        if rating == "efficiency":
            return self.efficiency, self.accuracy, -self.memory
        if rating == "memory":
            return -self.memory, self.accuracy, self.efficiency
        if rating == "accuracy+occurrence":
            return self.occurrence, self.accuracy, self.efficiency
        raise ValueError(f"a rating is one of {', '.join(RATINGS)}, not {rating!r}")


class Pruning(NamedTuple):
    """One legal pruning."""

    #: What is left.
    expression: Expression
    ratings: Ratings

    @property
    def removed(self) -> Expression:
        """What is removed."""
        return Expression.of_tree(self.ratings.removed)


def half(_: Leaf) -> float:
    """Say that a leaf is satisfied by half of the notifications: nothing is known of it."""
    return 0.5


def once(_: Leaf) -> int:
    """Say that a leaf occurs once."""
    return 1


def prunings(
    expression: Expression,
    share: LeafShare = half,
    occurrences: Occurrences = once,
    original: Expression | None = None,
) -> tuple[Pruning, ...]:
    """Return the legal prunings of an expression, each with its ratings.

    ``share`` says how many notifications satisfy a leaf (see ``learned`` and ``seen_shares``),
    ``occurrences`` how many leaves of the table have its constraint, and ``original`` what the
    expression was at first, if it has been pruned before. An OR alone has none.

    >>> from posetlib import parse_expression
    >>> for pruning in prunings(parse_expression("a = 1 and (b = 1 or c = 1)")):
    ...     print(pruning.expression, pruning.ratings.memory)
    b = 1 or c = 1 7
    a = 1 14
    """
    found = []
    first = _first_of(original or expression, share)
    for option, ratings in _options(expression, share, occurrences, first):
        left = Expression.of_tree(option.tree())
        found.append(Pruning(left, ratings))
    return tuple(found)


def _first_of(original: Expression, share: LeafShare) -> _First:
    return selectivity(original.root, share), p_min(original.root)


def _options(
    expression: Expression, share: LeafShare, occurrences: Occurrences, first: _First
) -> Iterator[tuple[Option, Ratings]]:
    """Yield every legal pruning with its ratings, before any tree is made.

    ``first`` is what the original expression comes to.
    """
    before, least = first
    annotated = Annotated(expression.root, share, occurrences)
    for option in annotated.options():
        after = option.after
        accuracy = max(
            after.selectivity.least - before.least,
            after.selectivity.average - before.average,
            after.selectivity.most - before.most,
        )
        yield (
            option,
            Ratings(
                accuracy,
                least - after.p_min,
                annotated.whole.size - after.size,
                annotated.whole.occurrences / max(after.occurrences, 1) * accuracy,
                option.innermost,
                option.removed,
            ),
        )


def _best_option(
    expression: Expression,
    rating: str,
    share: LeafShare,
    occurrences: Occurrences,
    first: _First,
) -> tuple[tuple[float, ...], Option] | None:
    """Return the pruning that a rating puts first, with what it is sorted by; None if none is."""
    best: tuple[tuple[float, ...], Option] | None = None
    for option, ratings in _options(expression, share, occurrences, first):
        if rating == "memory" and not ratings.innermost:
            continue
        key = ratings.key(rating)
        if best is None or key < best[0]:
            best = (key, option)
    return best


class _Entry:
    """An entry of a routing table: what it was, and what it is."""

    __slots__ = ("current", "first", "original", "steps")

    def __init__(self, expression: Expression, share: LeafShare) -> None:
        self.original = self.current = expression
        self.first = _first_of(expression, share)
        self.steps = 0


class PrunedEntries:
    """The entries of neighbours, pruned one step at a time: those first that a rating prefers.

    Ratings wait in a heap. A rating may be out of date when its turn comes, as occurrences change
    with every pruning. So it is worked out again, and if it has become worse than the next one, it
    waits again: no pruning is done by a rating that is out of date. An entry whose rating has
    become better meanwhile is found when its old rating has its turn.

    >>> from posetlib import parse_expression
    >>> entries = PrunedEntries("efficiency")
    >>> entries.add("s1", parse_expression("a = 1 and (b = 1 or c = 1 and d = 1)"))
    >>> entries.prune(1), str(entries.current("s1"))
    (1, 'a = 1 and (b = 1 or d = 1)')
    """

    def __init__(self, rating: str = "accuracy+occurrence", share: LeafShare = half) -> None:
        if rating not in RATINGS:
            raise ValueError(f"a rating is one of {', '.join(RATINGS)}, not {rating!r}")
        self.rating: Final = rating
        self._share = lru_cache(maxsize=1 << 20)(share)
        self._entries: dict[Hashable, _Entry] = {}
        self._occurrences: dict[Leaf, int] = {}
        self._serials: dict[Hashable, int] = {}
        self._heap: list[tuple[tuple[float, ...], int, int, Hashable]] = []
        self._next_serial = 0
        #: Called with name, expression before and after each pruning.
        self.observers: list[Callable[[Hashable, Expression, Expression], None]] = []

    # -- entries -----------------------------------------------------------------------------------

    def add(self, name: Hashable, expression: Expression) -> None:
        """Add an entry; ValueError if there is one of this name."""
        if name in self._entries:
            raise ValueError(f"there is an entry {name!r} already")
        self._entries[name] = _Entry(expression, self._share)
        self._serials[name] = self._next_serial
        self._next_serial += 1
        self._count(expression, 1)
        self._push(name)

    def remove(self, name: Hashable) -> Expression:
        """Remove an entry by its name, however it was pruned, and return what it was at last."""
        entry = self._entries.pop(name)
        del self._serials[name]
        self._count(entry.current, -1)
        return entry.current

    def current(self, name: Hashable) -> Expression:
        """Return what an entry is now."""
        return self._entries[name].current

    def original(self, name: Hashable) -> Expression:
        """Return what an entry was at first."""
        return self._entries[name].original

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._entries)

    @property
    def associations(self) -> int:
        """How many leaves all entries have now."""
        return sum(self._occurrences.values())

    def _count(self, expression: Expression, by: int) -> None:
        for leaf in leaves_of(expression.root):
            plain = leaf._replace(negated=False)
            count = self._occurrences.get(plain, 0) + by
            if count:
                self._occurrences[plain] = count
            else:
                del self._occurrences[plain]

    def occurrences(self, leaf: Leaf) -> int:
        """Return how many leaves of the entries have this constraint."""
        return self._occurrences.get(leaf._replace(negated=False), 0)

    # -- pruning -----------------------------------------------------------------------------------

    def _best(self, name: Hashable) -> tuple[tuple[float, ...], Option] | None:
        entry = self._entries[name]
        return _best_option(entry.current, self.rating, self._share, self.occurrences, entry.first)

    def _push(self, name: Hashable) -> None:
        best = self._best(name)
        if best is not None:
            item = (best[0], self._serials[name], self._entries[name].steps, name)
            heapq.heappush(self._heap, item)

    def prune(self, steps: int | None = None) -> int:
        """Do some prunings, or all that there are; returns how many were done."""
        done = 0
        while self._heap and (steps is None or done < steps):
            key, serial, entry_steps, name = heapq.heappop(self._heap)
            entry = self._entries.get(name)
            if entry is None or self._serials[name] != serial or entry.steps != entry_steps:
                continue  # the entry is gone
            best = self._best(name)
            if best is None:
                continue
            now, option = best
            if now > key and self._heap and now > self._heap[0][0]:
                heapq.heappush(self._heap, (now, serial, entry_steps, name))
                continue
            before = entry.current
            self._count(before, -1)
            entry.current = Expression.of_tree(option.tree())
            entry.steps += 1
            self._count(entry.current, 1)
            for observer in self.observers:
                observer(name, before, entry.current)
            self._push(name)
            done += 1
        return done


def merge_by_pruning(
    expressions: Iterable[Expression],
    steps: int,
    rating: str = "accuracy",
    share: LeafShare = half,
) -> Expression:
    """Return one expression that covers all: their OR, pruned some times.

    Without a step it is their perfect merger; each step makes it smaller and less perfect.

    >>> from posetlib import parse_expression
    >>> some = [parse_expression("a = 1 and b = 1"), parse_expression("a = 2 and b = 1")]
    >>> merge_by_pruning(some, 0), merge_by_pruning(some, 2)
    (Expression('a = 1 and b = 1 or a = 2 and b = 1'), Expression('b = 1'))
    """
    merged = Expression.of_tree(joined(False, [each.root for each in expressions]))
    entries = PrunedEntries(rating, share)
    entries.add(0, merged)
    entries.prune(steps)
    return entries.current(0)
