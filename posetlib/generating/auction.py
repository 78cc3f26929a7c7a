"""The auction workload: events of an auction site for books, and expressions about them.

Subscriptions are of three classes and advertisements of eight, with operands by one of five laws.
As in the other loads, a row depends on the seed and its number alone. The figures are those of
S. Bittner's thesis (see ``auction_data/SOURCE.md``).

``books`` (B_prop there) is how many auctions there are for one book. With fewer auctions for each
there are more titles, so fewer subscriptions ask for the same one, and fewer cover each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import FloatArray, IntArray
from posetlib.constraints.comparisons import compared
from posetlib.expressions import Expression, Junction, Leaf
from posetlib.expressions.tree import Node, RawJunction, RawNode, fold
from posetlib.generating.auction_tables import (
    CATEGORIES,
    AuctionClass,
    Bins,
    Predicate,
    classes,
    tables,
)
from posetlib.generating.draws import Draw
from posetlib.generating.loads import Rows

__all__ = [
    "LAWS",
    "AuctionParameters",
    "GeneratedEvents",
    "GeneratedExpressions",
    "generated_advertisements",
    "generated_events",
    "generated_subscriptions",
]

#: How operands are drawn: all alike, or some far more often than others, from either end.
LAWS: Final = ("uniform", "half-normal", "zipf", "reversed-half-normal", "reversed-zipf")
#: The purposes of draws; beyond those of the other loads (see ``loads``).
_CELL, _BOUGHT, _BIDS, _PRICE, _ENDING, _BOOK, _TITLE, _AUTHOR, _OPERAND, _CATEGORY, _MORE = range(
    32, 43
)
#: Zipf's law over more ranks than this is drawn from its continuous form.
_MAX_RANKS: Final = 1 << 22
_MINUTES: Final = 14_400
_EULER: Final = 0.5772156649015329


@dataclass(frozen=True)
class AuctionParameters:
    """The parameters of an auction workload; equal parameters give the same workload.

    >>> AuctionParameters(law="normal")
    Traceback (most recent call last):
    ValueError: law is one of uniform, half-normal, zipf, reversed-half-normal, reversed-zipf, ...
    """

    subscriptions: int = 0
    advertisements: int = 0
    events: int = 0
    seed: int = 0
    interfaces: int = 10
    #: One of LAWS.
    law: str = "uniform"
    #: Auctions for each book (B_prop), and books by each author (A_prop).
    books: float = 100.0
    authors: float = 5.0
    #: The chance that an author also writes in a further category, and that a title is used again.
    more_categories: float = 0.1
    same_title: float = 0.01
    #: Whether the labels "signed" and "first edition" change places. As printed, 15.5 % of items
    #: are signed; the thesis says elsewhere that about 1 % are.
    swap_labels: bool = False

    def __post_init__(self) -> None:
        for name in ("subscriptions", "advertisements", "events", "interfaces"):
            value = getattr(self, name)
            least = 1 if name == "interfaces" else 0
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is a whole number of at least {least}, not {value!r}")
        if self.law not in LAWS:
            raise ValueError(f"law is one of {', '.join(LAWS)}, not {self.law!r}")
        if not 0.001 <= self.books <= 1e6 or not 0.1 <= self.authors <= 1e6:
            raise ValueError(
                "books is between 0.001 and 1,000,000, and authors between 0.1 and 1,000,000, "
                f"not {self.books!r} and {self.authors!r}"
            )
        if not 0 <= self.more_categories < 1 or not 0 <= self.same_title <= 1:
            raise ValueError("more_categories is at least 0 and below 1, and same_title 0 to 1")

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as a dictionary for a JSON file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AuctionParameters:
        """Return the parameters that ``to_dict`` wrote; names that are not known are ignored."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})


# -- the catalogue of books ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Catalogue:
    """Which books there are: each is a number, with a category, a title and an author."""

    #: Category (from 0) -> its first book; and the number of all books at the end.
    first_book: IntArray
    #: Authors by category, and where each category's begin; a last number for the end.
    authors: IntArray
    first_author: IntArray
    author_count: int


@lru_cache(maxsize=2)
def _catalogue(seed: int, books: float, authors: float, more_categories: float) -> _Catalogue:
    counts = np.maximum(1, np.rint(tables().items / books)).astype(np.int64)
    first_book = np.concatenate(([0], np.cumsum(counts)))
    author_count = max(1, round(int(first_book[-1]) / authors))
    draw = Draw(seed, np.arange(author_count))
    found_categories, found_authors = [], []
    writing = np.arange(author_count)
    # P(at least n categories) = p ** (n - 1): everybody writes in one, and goes on with chance p.
    for at in range(CATEGORIES):
        found_categories.append(draw.below(CATEGORIES, _CATEGORY, at)[writing])
        found_authors.append(writing)
        writing = writing[draw.unit(_MORE, at)[writing] < more_categories]
        if not len(writing):
            break
    categories, numbers = np.concatenate(found_categories), np.concatenate(found_authors)
    pairs = np.unique(categories * author_count + numbers)
    present = np.unique(pairs // author_count)
    missing = np.setdiff1d(np.arange(CATEGORIES), present)
    # A category that nobody chose, which few authors leave, gets one.
    pairs = np.sort(np.concatenate((pairs, missing * author_count + missing % author_count)))
    first_author = np.searchsorted(pairs // author_count, np.arange(CATEGORIES + 1))
    return _Catalogue(first_book, pairs % author_count, first_author, author_count)


def _catalogue_of(parameters: AuctionParameters) -> _Catalogue:
    return _catalogue(
        parameters.seed, parameters.books, parameters.authors, parameters.more_categories
    )


# -- events ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GeneratedEvents:
    """Generated events as columns, one row for each; money in cents, time in minutes."""

    rows: IntArray
    columns: dict[str, NDArray[Any]]

    def notifications(self) -> list[dict[str, Any]]:
        """Return the events as notifications."""
        names = list(self.columns)
        values = zip(*(column.tolist() for column in self.columns.values()), strict=True)
        return [dict(zip(names, row, strict=True)) for row in values]

    def texts(self) -> list[str]:
        """Return the events as JSON."""
        return [json.dumps(each) for each in self.notifications()]


def generated_events(parameters: AuctionParameters, rows: Rows) -> GeneratedEvents:
    """Return the events of some rows.

    >>> generated_events(AuctionParameters(seed=1), [0]).notifications()[0]["condition"]
    'used'
    """
    at = np.asarray(rows, np.int64)
    draw = Draw(parameters.seed, at)
    laws = tables()
    cell = np.searchsorted(laws.cell_cumulative, draw.unit(_CELL), side="right")
    cell = np.minimum(cell, len(laws.cells) - 1)
    columns = [np.array(column, object)[cell] for column in zip(*laws.cells, strict=True)]
    if parameters.swap_labels:
        signed, first = columns[2] == "signed", columns[2] == "first_edition"
        columns[2][signed], columns[2][first] = "first_edition", "signed"
    category = columns[0].astype(np.int64) - 1
    catalogue = _catalogue_of(parameters)
    counts = np.diff(catalogue.first_book)[category]
    book = catalogue.first_book[category] + (draw.unit(_BOOK) * counts).astype(np.int64)
    bought = np.where(draw.unit(_BOUGHT) < laws.buy_it_now[category], "yes", "no")
    return GeneratedEvents(
        at,
        {
            "author": _author_of(parameters, book, category),
            "bids": _binned(draw, _BIDS, laws.bids, category),
            "buy_it_now": bought.astype(object),
            "category": category + 1,
            "condition": columns[3],
            "ending_within_minutes": 1 + draw.below(_MINUTES, _ENDING),
            "format": columns[1],
            "price_cents": _binned(draw, _PRICE, laws.price, category),
            "special": columns[2],
            "title": _title_of(parameters, book),
        },
    )


def _binned(draw: Draw, purpose: int, bins: Bins, category: IntArray) -> IntArray:
    """Return whole numbers by the bins of a category, all alike within a bin."""
    shares = draw.unit(purpose)
    # One long ladder: category c takes the steps from c to c + 1.
    ladder = (bins.cumulative + np.arange(CATEGORIES)[:, None]).ravel()
    found = np.searchsorted(ladder, shares + category, side="right") - category * len(bins.low)
    at = np.clip(found, 0, len(bins.low) - 1)
    width = bins.high[at] - bins.low[at] + 1
    return np.asarray(bins.low[at] + (draw.unit(purpose, 1) * width).astype(np.int64))


def _title_of(parameters: AuctionParameters, book: IntArray) -> IntArray:
    """Return the title of a book: its own number, or that of another book whose title it reuses."""
    draw = Draw(parameters.seed, book)
    count = int(_catalogue_of(parameters).first_book[-1])
    other = draw.below(count, _TITLE, 1)
    return np.where(draw.unit(_TITLE) < parameters.same_title, other, book)


def _author_of(parameters: AuctionParameters, book: IntArray, category: IntArray) -> IntArray:
    """Return the author of a book: one of those who write in its category."""
    catalogue = _catalogue_of(parameters)
    first, end = catalogue.first_author[category], catalogue.first_author[category + 1]
    share = Draw(parameters.seed, book).unit(_AUTHOR)
    return np.asarray(catalogue.authors[first + (share * (end - first)).astype(np.int64)])


# -- expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class GeneratedExpressions:
    """Generated expressions: the class of each row, and the operands that are drawn for it."""

    rows: IntArray
    #: The interface of each row, from 0: rows get them in turn.
    interfaces: IntArray
    kinds: tuple[AuctionClass, ...]
    #: The name of each class -> the rows of it (places in ``rows``), and their operands by name.
    drawn: dict[str, tuple[IntArray, dict[str, IntArray]]]

    def expressions(self) -> list[Expression]:
        """Return the expressions, made from one tree for each class."""
        return self._made(_Template.expression)

    def texts(self) -> list[str]:
        """Return the expressions in canonical text."""
        return self._made(_Template.text)

    def names(self) -> list[str]:
        """Return the name of each row's class."""
        found = [""] * len(self.rows)
        for name, (places, _) in self.drawn.items():
            for place in places.tolist():
                found[place] = name
        return found

    def _made(self, make: Callable[[_Template, tuple[int, ...]], Any]) -> list[Any]:
        found: list[Any] = [None] * len(self.rows)
        for kind in self.kinds:
            places, operands = self.drawn[kind.name]
            template = _template_of(kind.name)
            columns = [operands[name].tolist() for name in template.names]
            for place, row in zip(places.tolist(), zip(*columns, strict=True), strict=True):
                found[place] = make(template, row)
        return found


def generated_subscriptions(parameters: AuctionParameters, rows: Rows) -> GeneratedExpressions:
    """Return the subscriptions of some rows; the three classes take turns.

    >>> made = generated_subscriptions(AuctionParameters(seed=1), [2])
    >>> [text.startswith("(author = ") for text in made.texts()]
    [True]
    """
    return _generated(parameters, rows, classes("subscriptions"), 0)


def generated_advertisements(parameters: AuctionParameters, rows: Rows) -> GeneratedExpressions:
    """Return the advertisements of some rows; the eight classes take turns."""
    return _generated(parameters, rows, classes("advertisements"), 64)


def _generated(
    parameters: AuctionParameters, rows: Rows, kinds: tuple[AuctionClass, ...], part: int
) -> GeneratedExpressions:
    at = np.asarray(rows, np.int64)
    drawn = {}
    for number, kind in enumerate(kinds):
        places = np.flatnonzero(at % len(kinds) == number)
        draw = Draw(parameters.seed, at[places])
        operands = {}
        for i, (name, predicate) in enumerate(kind.predicates.items()):
            if predicate.operand is None:
                low, count = _domain(parameters, predicate)
                ranks = _ranks(draw, count, parameters.law, part + i)
                operands[name] = low + ranks
        drawn[kind.name] = (places, operands)
    return GeneratedExpressions(at, at % parameters.interfaces, kinds, drawn)


def _domain(parameters: AuctionParameters, predicate: Predicate) -> tuple[int, int]:
    """Return the least operand of a predicate, and how many there are."""
    if predicate.domain == "titles":
        return 0, int(_catalogue_of(parameters).first_book[-1])
    if predicate.domain == "authors":
        return 0, _catalogue_of(parameters).author_count
    return predicate.low, predicate.high - predicate.low + 1


def _ranks(draw: Draw, count: int, law: str, part: int) -> IntArray:
    """Return places from 0 to count - 1, by one of LAWS."""
    if law == "uniform":
        return draw.below(count, _OPERAND, part)
    if law.endswith("half-normal"):
        # |z| of a normal law with a deviation of a quarter of the places, cut off at the last one.
        shares, deviations = _half_normal()
        found = np.interp(draw.unit(_OPERAND, part), shares, deviations) * count / 4
        ranks = np.minimum(found.astype(np.int64), count - 1)
    elif count <= _MAX_RANKS:
        ranks = draw.ranked(count, 1.0, _OPERAND, part)
    else:
        # The sum of 1/k up to n is close to log(n) + 0.577.
        found = np.exp(draw.unit(_OPERAND, part) * (math.log(count) + _EULER) - _EULER)
        ranks = np.clip(found.astype(np.int64), 0, count - 1)
    return count - 1 - ranks if law.startswith("reversed") else ranks


@lru_cache(maxsize=1)
def _half_normal() -> tuple[FloatArray, FloatArray]:
    """Return the chance that |z| is below some deviations, from 0 to 4; and these."""
    deviations = np.linspace(0, 4, 1 << 14)
    shares = np.array([math.erf(each / math.sqrt(2)) for each in deviations.tolist()])
    return shares / shares[-1], deviations


class _Template:
    """The tree of a class in normal form, with a place for each operand that is drawn.

    The order of children does not depend on the operands of these classes: each child begins with
    an attribute, or with a fixed operand, that no other child has.
    """

    def __init__(self, kind: AuctionClass) -> None:
        self._kind = kind
        #: The names of the predicates whose operands are drawn.
        self.names = [name for name, each in kind.predicates.items() if each.operand is None]
        # Each operand is marked by a number that nothing else has.
        self._marks = {name: 10**12 + at for at, name in enumerate(self.names)}
        marked = {
            name: _leaf(predicate, self._marks.get(name, predicate.operand))
            for name, predicate in kind.predicates.items()
        }
        self._root = Expression(_raw(kind.tree, marked)).root
        text = str(Expression.of_tree(self._root)).replace("{", "{{").replace("}", "}}")
        for at, name in enumerate(self.names):
            text = text.replace(str(self._marks[name]), f"{{{at}}}")
        self._text = text
        self._places = {marked[name]: at for at, name in enumerate(self.names)}

    def text(self, operands: tuple[int, ...]) -> str:
        """Return the canonical text for some operands."""
        return self._text.format(*operands)

    def expression(self, operands: tuple[int, ...]) -> Expression:
        """Return the expression for some operands."""
        predicates = self._kind.predicates

        def of_leaf(leaf: Leaf) -> Node:
            at = self._places.get(leaf)
            return leaf if at is None else _leaf(predicates[self.names[at]], operands[at])

        def of_junction(node: Junction, parts: list[Node]) -> Node:
            return Junction(node.conjunctive, tuple(parts))

        return Expression.of_tree(fold(self._root, of_leaf, of_junction))


@lru_cache(maxsize=32)
def _template_of(name: str) -> _Template:
    of = "subscriptions" if name.startswith("S") else "advertisements"
    return next(_Template(kind) for kind in classes(of) if kind.name == name)


@lru_cache(maxsize=1 << 16)
def _leaf_for(attribute: str, operator: str, operand: int | str) -> Leaf:
    return Leaf(attribute, compared(operator, operand))


def _leaf(predicate: Predicate, operand: int | str | None) -> Leaf:
    assert operand is not None, "a fixed operand, or one that was drawn"
    return _leaf_for(predicate.attribute, predicate.operator, operand)


def _raw(tree: Any, leaves: Mapping[str, Leaf]) -> RawNode:
    """Return the tree of a class; the files of the package are at most six levels deep."""
    if isinstance(tree, str):
        return leaves[tree]
    ((word, parts),) = tree.items()
    return RawJunction(word == "and", [_raw(part, leaves) for part in parts])
