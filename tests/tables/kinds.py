"""The tables under test, and small worlds of items to fill them with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, product
from typing import Any

import pytest

from posetlib.constraints.types import TypeHierarchy
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter
from posetlib.search import box_matrix, sieve
from posetlib.search import indexed as indexed_search
from posetlib.tables import (
    BalancedForest,
    FiltersPoset,
    LinearTable,
    NonRedundantForest,
    PosetForest,
    Table,
)
from tests.models import worlds as models

#: Name -> class and options, local ones included.
KINDS: dict[str, tuple[type[Table], dict[str, Any]]] = {
    "fp": (FiltersPoset, {}),
    "pf": (PosetForest, {}),
    "bf": (BalancedForest, {}),
    "nrf": (NonRedundantForest, {}),
    "linear": (LinearTable, {}),
    "pf-local": (PosetForest, {"local": True}),
    "linear-local": (LinearTable, {"local": True}),
}
FORESTS = ("pf", "bf", "nrf", "pf-local")
#: Those that eliminate by interface everywhere, and so agree in everything.
EXACT = ("fp", "nrf", "linear")


@dataclass(frozen=True)
class World:
    """Items, an order of them, and notifications that tell them apart."""

    name: str
    items: Sequence[Any]
    covers: Callable[[Any, Any], bool] | None
    matches: Callable[[Any, Any], bool] | None
    notifications: Sequence[Any]
    options: dict[str, Any] = field(default_factory=dict)
    #: The item for a set of letters, where items are such; for the contract, which speaks of these.
    of_letters: Callable[[Iterable[str]], Any] = frozenset

    def make(self, kind: str, **more: Any) -> Table:
        cls, options = KINDS[kind]
        return cls(covers=self.covers, matches=self.matches, **self.options, **options, **more)

    def build(self, kind: str, pairs: Any) -> Table:
        cls, options = KINDS[kind]
        return cls.build(pairs, covers=self.covers, matches=self.matches, **self.options, **options)


def contains(item: frozenset[str], letter: str) -> bool:
    return letter in item


def subsets(letters: str) -> list[frozenset[str]]:
    return [
        frozenset(chosen)
        for size in range(len(letters) + 1)
        for chosen in combinations(letters, size)
    ]


def box_covers(one: Any, other: Any) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(one, other, strict=True))


def box_matches(box: Any, point: Any) -> bool:
    return all(low <= x <= high for (low, high), x in zip(box, point, strict=True))


def same_size_covers(one: str, other: str) -> bool:
    """A preorder with many equivalent items: words are compared by their sets of letters."""
    return set(one.lower()) >= set(other.lower())


def word_matches(word: str, letter: str) -> bool:
    return letter in word.lower()


SETS = World("sets", subsets("abcd"), frozenset.issuperset, contains, "abcd", {"canonical": True})
_RANGES = [(low, high) for low in range(4) for high in range(low, 4)]
BOXES = World(
    "boxes",
    list(product(_RANGES, repeat=2)),
    box_covers,
    box_matches,
    list(product(range(4), repeat=2)),
)
#: Each class of equivalent words in several spellings.
WORDS = World(
    "words",
    ["".join(s) or "-" for s in subsets("abc")]
    + ["aA", "Bb", "ba", "BA", "cab", "ABC", "AC", "cb", "C", "-", "--"],
    same_size_covers,
    word_matches,
    "abc",
)
_TYPES = TypeHierarchy({"Quote": ["Event"], "Stock": ["Quote", "Tradable"], "Bond": ["Tradable"]})
#: Filters of the language: numbers, strings, sets, types with and without a kind of their own.
FILTERS = World(
    "filters",
    [
        parse_filter(text, types=_TYPES)
        for text in (
            "true",
            "exists type",
            "type isa Event",
            "type isa Quote",
            "type isa Stock",
            "type isa Tradable",
            'type = "Stock"',
            'type = "Stock" and x in [0, 2]',
            'type = "Stock" and x >= 1',
            'type = "Bond"',
            'type = "Bond" and x in [0, 2]',
            'type = "Bond" and x = 1',
            'type in {"Bond", "Stock"}',
            'type in {"Bond", "Stock"} and x in [0, 3]',
            "x in [0, 3]",
            "x in [0, 2]",
            "x:int in [0, 2]",
            "x in {0, 1, 2}",
            "x = 1",
            "x < 1 or x > 2",
            's prefix "a"',
            's prefix "ab"',
            's = "ab"',
            's contains "b" and x in [0, 2]',
            's contains "b"',
            # These two are equivalent, and not equal.
            's >= "a" and s not contains "a"',
            's >= "b" and s not contains "a"',
            "t superset {1, 2}",
            "t has 1",
            "t has 1 and x = 1",
            "x < $y",
        )
    ],
    None,
    None,
    [
        {**kind, **number, **text}
        for kind in ({}, {"type": "Stock"}, {"type": "Bond"}, {"type": ["Stock"]}, {"type": "?"})
        for number in ({}, {"x": 1}, {"x": 1.5, "y": 2}, {"x": 3, "t": [1, 2]})
        for text in ({}, {"s": "ab"}, {"s": "b"})
    ],
)


def letters_filter(letters: Iterable[str], model: models.Model = models.RECORDS) -> Filter:
    """A filter for a set of letters: one covers another as the sets do."""
    held = set(letters)
    asked = {each: f"{{}} in [0, {int(each in held)}]" for each in "abcd"}
    return model.filter(asked, "abcd")


def letter_matches(filter: Filter, letter: str, model: models.Model = models.RECORDS) -> bool:
    return filter.matches(model.notification({each: int(each == letter) for each in "abcd"}))


class OneKind:
    """No partition: everything may be comparable with everything."""

    def of(self, item: Any) -> None:
        return None

    def of_notification(self, notification: Any) -> None:
        return None


def letters_in(name: str, model: models.Model) -> World:
    """Sets of letters as filters of a data model."""
    of_letters = partial(letters_filter, model=model)
    return World(
        name,
        [of_letters(item) for item in SETS.items],
        None,
        partial(letter_matches, model=model),
        "abcd",
        {"partition": OneKind()},
        of_letters,
    )


#: Closed ranges, which an index reads as they are; and the same in the other data models.
RANGES = letters_in("ranges", models.RECORDS)
LETTERS_IN_MODELS = [
    letters_in(f"letters in {model.name}", model)
    for model in (models.TUPLES, models.DOCUMENTS, models.OBJECTS)
]
TUPLES = World("tuples", models.TEMPLATES, None, None, models.TUPLE_NOTIFICATIONS)
DOCUMENTS = World("documents", models.PATHS, None, None, models.PATH_NOTIFICATIONS)
OBJECTS = World("objects", models.PROPERTIES, None, None, models.OBJECT_NOTIFICATIONS)


def without_index(world: World) -> World:
    options = {**world.options, "index": False}
    return replace(world, name=f"{world.name} without index", options=options)


WORLDS = {
    world.name: world
    for world in (
        SETS,
        BOXES,
        WORDS,
        FILTERS,
        RANGES,
        TUPLES,
        DOCUMENTS,
        OBJECTS,
        without_index(FILTERS),
        without_index(RANGES),
        without_index(DOCUMENTS),
    )
}


def index_short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an index have sieves of short lists, and columns of few nodes, too."""
    monkeypatch.setattr(indexed_search, "_LONG", 3)
    monkeypatch.setattr(indexed_search, "_LONG_FOR_LATE", 3)
    monkeypatch.setattr(indexed_search, "_SHORT", 2)
    monkeypatch.setattr(indexed_search, "_FEW_LEFT", 2)
    monkeypatch.setattr(box_matrix, "_NARROW", 1)
    monkeypatch.setattr(box_matrix, "_LONG_SWEEP", 3)
    monkeypatch.setattr(indexed_search, "_FEW", 3)
    monkeypatch.setattr(sieve, "_SIDE", 2)
    monkeypatch.setattr(sieve, "_MAX_AXES", 3)
    monkeypatch.setattr(sieve, "_ROOM", 2)
    monkeypatch.setattr(sieve, "_PIECE", 5)
    monkeypatch.setattr(sieve, "_PIECE_MASK", 31)
    monkeypatch.setattr(box_matrix, "_PIVOTS", 2)
