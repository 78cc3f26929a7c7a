"""The same filters and notifications in every data model, and filters that only one model has.

A condition is a text with ``{}`` for the name of what it is about, so that it can be written about
an attribute, a field of a tuple, an attribute of an element and a property of an object. A suite
for records is run in the other models, too: the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import posetlib as pl

Conditions = Mapping[str, str]


class Model(NamedTuple):
    """How a data model writes conditions as a filter, and values as a notification."""

    name: str
    #: From conditions by attribute, and the attributes of all notifications in order.
    filter: Callable[[Conditions, Sequence[str]], pl.Filter]
    notification: Callable[[Mapping[str, Any]], Any]


def about(name: str, condition: str) -> str:
    return f"({condition.replace('{}', name)})"


def _record_filter(conditions: Conditions, _: Sequence[str]) -> pl.Filter:
    texts = [about(name, text) for name, text in conditions.items()]
    return pl.parse_filter(" and ".join(texts) or "true")


def _template(conditions: Conditions, names: Sequence[str]) -> pl.Filter:
    fields = []
    for i, name in enumerate(names):
        text = conditions.get(name)
        fields.append("*" if text is None else about(f"_{i}", text)[1:-1].removeprefix(f"_{i} "))
    return pl.parse_template(f"({', '.join(fields)})")


def _path(conditions: Conditions, _: Sequence[str]) -> pl.Filter:
    texts = [about(name, text) for name, text in conditions.items()]
    asked = f"[{' and '.join(texts)}]".replace('"', "'") if texts else ""
    return pl.Filter({"doc": pl.DocumentPath(f"/event/body{asked}")})


class Event(SimpleNamespace):
    """An object with whatever it is made of."""


def _readers(names: Sequence[str]) -> pl.Readers:
    return pl.Readers({f"event.{name}": _reader(name) for name in names})


def _reader(name: str) -> Callable[[Any], Any]:
    return lambda event: getattr(event, name)


def _property_filter(conditions: Conditions, names: Sequence[str]) -> pl.Filter:
    return _record_filter({f"event.{name}": text for name, text in conditions.items()}, names)


# Functions with names, since tables with such a model are pickled.


def _tuple(record: Mapping[str, Any]) -> Any:
    return pl.tuple_record(list(record.values()))


def _document(record: Mapping[str, Any]) -> Any:
    return {"doc": {"event": {"body": dict(record)}}}


def _object(record: Mapping[str, Any]) -> Any:
    return _readers(list(record)).view(Event(**record))


RECORDS = Model("records", _record_filter, dict)
TUPLES = Model("tuples", _template, _tuple)
DOCUMENTS = Model("documents", _path, _document)
OBJECTS = Model("objects", _property_filter, _object)
MODELS = {model.name: model for model in (RECORDS, TUPLES, DOCUMENTS, OBJECTS)}


# -- filters that only one model has ---------------------------------------------------------------

#: Templates of several lengths, open and closed.
TEMPLATES = [
    pl.parse_template(text)
    for text in (
        "()",
        "(...)",
        "(*, ...)",
        "(*)",
        "(*, *)",
        "(*, *, ...)",
        "(0)",
        "(1)",
        "(in [0, 2])",
        "(in [0, 2], ...)",
        "(in [0, 2], *)",
        "(1, *, ...)",
        "(1, 1)",
        "(*, 1)",
        "(*, in {0, 1})",
        "(is number, is number)",
        '("a", ...)',
        '(prefix "a", ...)',
        '(prefix "a", in [0, 2])',
        '("ab", 1)',
        "(has 1)",
        "(superset {1, 2})",
    )
]
TUPLE_NOTIFICATIONS = [
    pl.tuple_record(each)
    for each in [
        (), (0,), (1,), (1.5,), ("a",), ("ab",), ([1, 2],), (1, 1), (0, 1), (2, 0), (3, 1),
        ("ab", 1), ("ab", 1.5), ("a", "b"), (1, 1, 1), ("a", 0, 0),
    ]
]  # fmt: skip

#: Paths alone, beside a type, several of them, one of several; two that are equivalent, not equal.
PATHS = [
    pl.parse_filter(text)
    for text in (
        "exists d",
        'd path "//*"',
        'd path "//a"',
        'd path "/a"',
        'd path "//b"',
        'd path "/a/b"',
        'd path "/a//b"',
        'd path "//a/b"',
        'd path "/*/b"',
        'd path "//a[x >= 1]"',
        'd path "/a[x = 1]"',
        'd path "/a[x in [0, 2]]"',
        'd path "/a[x in [0, 1]]/b"',
        'd path "/a[./b]/c"',
        'd path "/a[./b[x = 1]]/c"',
        'd path "//a[./b][.//c]"',
        'd path "/*[./b]/c"',
        'd path "//a" and d path "//b"',
        'd path "/a[x = 1]" and d path "//c"',
        'd path "/a" or d path "//c[x = 1]"',
        'type = "T" and d path "//a"',
        'type = "T" and d path "/a/b"',
        'type = "T"',
    )
]
PATH_NOTIFICATIONS = [
    {**kind, "d": document}
    for kind in ({}, {"type": "T"})
    for document in (
        "text",
        {},
        {"a": {}},
        {"a": {"x": 1}},
        {"a": {"x": 2, "b": {"x": 1}, "c": {}}},
        {"a": [{"x": 1}, {"b": {}}], "c": {"x": 1}},
        {"b": {"a": {"b": {"x": 3}, "c": 5}}},
        pl.read_xml("<a x='1'><b x='1'/><c/></a>"),
        pl.read_xml("<c><a x='1.5'><z><b/></z></a></c>"),
    )
] + [{"type": "T"}, {}]  # fmt: skip


class Quote:
    """Something with a price, and perhaps a name."""

    def __init__(self, price: Any, name: str | None = None) -> None:
        self.price = price
        if name is not None:
            self.name = name


class Stock(Quote):
    """A quote of a stock."""


class Bond(Quote):
    """A quote of a bond."""


READERS = pl.Readers(
    {"quote.price": lambda quote: quote.price, "quote.name": lambda quote: quote.name},
    classes=[Quote, Stock, Bond],
)
PROPERTIES = [
    pl.parse_filter(text, types=READERS.hierarchy())
    for text in (
        "true",
        "exists type",
        "type isa Quote",
        "type isa Stock",
        "type isa Bond",
        'type = "Stock"',
        "exists quote.name",
        'quote.name prefix "I"',
        'quote.name = "IBM"',
        "quote.price in [0, 5]",
        "quote.price in [0, 2]",
        "quote.price >= 1",
        "type isa Quote and quote.price in [0, 5]",
        "type isa Stock and quote.price in [0, 2]",
        'type isa Stock and quote.name = "IBM"',
        'type isa Quote and quote.name prefix "I" and quote.price in [0, 5]',
    )
]
OBJECT_NOTIFICATIONS = [
    READERS.view(each)
    for each in [
        *(kind(price) for kind in (Quote, Stock, Bond) for price in (0, 2, 5, 9, "?")),
        Stock(1, "IBM"), Bond(3, "INTC"), Quote(4, "HAL"), object(),
    ]
]  # fmt: skip
