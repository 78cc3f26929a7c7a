"""Objects: only registered names are read, each once, and what cannot be read is absent."""

from __future__ import annotations

import pytest

import posetlib as pl


class Quote:
    def __init__(self, symbol: str, price: float) -> None:
        self.symbol, self.price = symbol, price
        self.reads = 0

    def id(self) -> str:
        self.reads += 1
        return self.symbol


class RealTime:
    pass


class StockQuote(Quote, RealTime):
    pass


READERS = pl.Readers(
    {
        "quote.id": lambda quote: quote.id(),
        "quote.price": lambda quote: quote.price,
        "quote.volume": lambda quote: quote.volume,
        "quote.isRealTime": lambda quote: isinstance(quote, RealTime),
    },
    classes=[Quote, StockQuote],
)


def test_the_example_of_the_course() -> None:
    f = pl.parse_filter('quote.id = "IBM" and quote.isRealTime = true and quote.price >= 45')
    assert f.matches(READERS.view(StockQuote("IBM", 45)))
    assert not f.matches(READERS.view(Quote("IBM", 45)))
    assert not f.matches(READERS.view(StockQuote("HAL", 45)))


def test_each_property_is_read_once_and_only_when_asked_for() -> None:
    quote = Quote("IBM", 45)
    view = READERS.view(quote)
    assert quote.reads == 0
    for _ in range(3):
        assert view["quote.id"] == "IBM"
    assert quote.reads == 1


def test_what_raises_is_absent() -> None:
    view = READERS.view(Quote("IBM", 45))
    assert "quote.volume" not in view
    assert sorted(view) == ["quote.id", "quote.isRealTime", "quote.price", "type"]
    assert len(view) == 4
    with pytest.raises(KeyError):
        view["quote.volume"]
    assert not pl.parse_filter("exists quote.volume").matches(view)


def test_nothing_but_registered_names() -> None:
    view = READERS.view(Quote("IBM", 45))
    for name in ("price", "symbol", "__class__", "quote", "quote.reads", "id"):
        assert view.get(name) is None
        assert not pl.parse_filter(f"exists `{name}`").matches(view)


def test_isa_follows_the_classes() -> None:
    types = READERS.hierarchy()
    f = pl.parse_filter("type isa Quote", types=types)
    assert f.matches(READERS.view(StockQuote("IBM", 45)))
    assert not pl.parse_filter("type isa StockQuote", types=types).matches(
        READERS.view(Quote("a", 1))
    )


def test_an_unknown_class_is_its_nearest_registered_ancestor() -> None:
    class Option(StockQuote):
        pass

    assert READERS.view(Option("IBM", 45))["type"] == "StockQuote"
    assert "type" not in READERS.view(RealTime())
    both = pl.Readers({}, classes=[Quote, RealTime])
    with pytest.raises(pl.FilterError, match="StockQuote is Quote and RealTime: register it"):
        both.view(StockQuote("IBM", 45))["type"]


def test_bad_readers() -> None:
    with pytest.raises(TypeError, match="the reader of x is a function, not int"):
        pl.Readers({"x": 5})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="type is the name of the class"):
        pl.Readers({"type": str}, classes=[Quote])


@pytest.mark.parametrize("structure", ["fp", "pf", "bf", "nrf", "linear"])
def test_tables_and_matchers_take_views(structure: str) -> None:
    table = pl.make_table(structure)
    for i in range(30):
        table.add(pl.parse_filter(f"quote.price in [{i}, {i + 9}]"), f"I{i % 4}")
    views = [READERS.view(Quote("IBM", price)) for price in range(40)]
    assert table.match_many(views) == [table.match(dict(view)) for view in views]


def test_cyclic_objects_are_read_by_name_and_never_walked() -> None:
    quote = Quote("IBM", 45)
    quote.self = quote  # type: ignore[attr-defined]
    readers = pl.Readers({"me": lambda q: q.self})
    assert not pl.parse_filter("me = 5").matches(readers.view(quote))
    assert pl.parse_filter("exists me").matches(readers.view(quote))
