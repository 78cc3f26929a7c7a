"""The tables of the auction workload: its laws and its classes, read from the files of the package.

The figures are those of S. Bittner, General Boolean Expressions in Publish-Subscribe Systems, PhD
thesis, University of Waikato, 2008 (see ``auction_data/SOURCE.md``).
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import numpy as np

from posetlib.array_types import FloatArray, IntArray

__all__ = ["CATEGORIES", "AuctionClass", "Bins", "Predicate", "Tables", "classes", "tables"]

#: How many categories there are; they are numbered from 1.
CATEGORIES: Final = 22
_FOLDER: Final = "auction_data"


@dataclass(frozen=True)
class Bins:
    """For each category, the probabilities of bins of whole numbers, added up."""

    low: IntArray
    high: IntArray
    #: Category (from 0) -> bin -> the probability of this bin and those before it.
    cumulative: FloatArray


@dataclass(frozen=True)
class Tables:
    """The laws of events."""

    #: The cells of (category, format, special, condition), and their probabilities added up.
    cells: tuple[tuple[int, str, str, str], ...]
    cell_cumulative: FloatArray
    #: Category (from 0) -> the probability of "buy it now".
    buy_it_now: FloatArray
    bids: Bins
    price: Bins
    #: Category (from 0) -> its items.
    items: IntArray


@dataclass(frozen=True)
class Predicate:
    """A predicate of a class: its operand is fixed, or drawn from a domain."""

    attribute: str
    operator: str
    #: The operand that is fixed, None if it is drawn.
    operand: int | str | None
    #: "titles", "authors", or None for the whole numbers from low to high.
    domain: str | None
    low: int
    high: int


@dataclass(frozen=True)
class AuctionClass:
    """A class of subscriptions or advertisements."""

    name: str
    predicates: dict[str, Predicate]
    #: Names of predicates under {"and": [...]} and {"or": [...]}.
    tree: Any
    #: The figures that the thesis prints of it.
    published: dict[str, float]


def _text(name: str) -> str:
    return (files("posetlib.generating") / _FOLDER / name).read_text(encoding="utf-8")


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(_text(name).splitlines()))


def _summed(probabilities: FloatArray) -> FloatArray:
    summed = np.cumsum(probabilities, axis=-1)
    return np.asarray(summed / summed[..., -1:])


def _bins(name: str, low: str, high: str) -> Bins:
    rows = _rows(name)
    shape = (CATEGORIES, len(rows) // CATEGORIES)
    first = rows[: shape[1]]
    probabilities = np.array([float(row["probability"]) for row in rows]).reshape(shape)
    return Bins(
        np.array([int(row[low]) for row in first]),
        np.array([int(row[high]) for row in first]),
        _summed(probabilities),
    )


@lru_cache(maxsize=1)
def tables() -> Tables:
    """Return the laws of events."""
    joint = _rows("joint.csv")
    bought = {int(r["category"]): r for r in _rows("buy_it_now.csv") if r["buy_it_now"] == "yes"}
    return Tables(
        tuple((int(r["category"]), r["format"], r["special"], r["condition"]) for r in joint),
        _summed(np.array([float(row["probability"]) for row in joint])),
        np.array([float(bought[i + 1]["probability"]) for i in range(CATEGORIES)]),
        _bins("bids.csv", "bids_low", "bids_high"),
        _bins("price.csv", "price_low_cents", "price_high_cents"),
        np.array([int(row["items"]) for row in _rows("items.csv")]),
    )


@lru_cache(maxsize=2)
def classes(of: str) -> tuple[AuctionClass, ...]:
    """Return the classes of subscriptions or of advertisements."""
    data = json.loads(_text(f"{of[:-1]}_classes.json"))
    return tuple(
        AuctionClass(
            each["id"],
            {name: _predicate(made) for name, made in each["predicates"].items()},
            each["tree"],
            each["published"],
        )
        for each in data["classes"]
    )


def _predicate(made: dict[str, Any]) -> Predicate:
    named = made.get("domain") if made.get("domain") in {"titles", "authors"} else None
    return Predicate(
        made["attribute"],
        made["op"],
        made.get("operand"),
        named,
        made.get("low", 0),
        made.get("high", 0),
    )
