"""The auction workload: its laws, its catalogue, and rows that depend on their numbers alone."""

import math
from collections import Counter

import numpy as np
import pytest

import posetlib as pl
from posetlib.generating.auction import (
    LAWS,
    AuctionParameters,
    _catalogue_of,
    generated_advertisements,
    generated_events,
    generated_subscriptions,
)
from posetlib.generating.auction_tables import classes, tables


def test_the_tables_are_whole():
    laws = tables()
    assert len(laws.cells) == 528
    assert laws.items.sum() == 141_602
    for cumulative in (laws.cell_cumulative, laws.bids.cumulative, laws.price.cumulative):
        assert np.allclose(cumulative[..., -1], 1)
        assert (np.diff(cumulative) >= 0).all()
    assert laws.price.high.max() == 100_000
    assert laws.bids.high.max() == 60
    assert [kind.name for kind in classes("subscriptions")] == ["S1", "S2", "S3"]
    assert [kind.name for kind in classes("advertisements")] == [f"A{i}" for i in range(1, 9)]


def test_rows_depend_on_their_numbers_alone():
    parameters = AuctionParameters(seed=5)
    whole = generated_events(parameters, range(100)).notifications()
    assert generated_events(parameters, [70, 3, 70]).notifications() == [
        whole[70], whole[3], whole[70],
    ]  # fmt: skip
    for make in (generated_subscriptions, generated_advertisements):
        texts = make(parameters, range(60)).texts()
        some = make(parameters, [41, 2, 59])
        assert some.texts() == [texts[41], texts[2], texts[59]]
        assert some.interfaces.tolist() == [1, 2, 9]
        assert make(AuctionParameters(seed=6), range(60)).texts() != texts
    assert generated_events(AuctionParameters(seed=6), range(100)).notifications() != whole


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("make", [generated_subscriptions, generated_advertisements])
def test_texts_are_canonical_and_say_what_the_expressions_are(law, make):
    made = make(AuctionParameters(seed=7, law=law), range(80))
    for text, expression in zip(made.texts(), made.expressions(), strict=True):
        assert str(expression) == text
        assert pl.parse_expression(text) == expression
    count = len(made.kinds)
    assert made.names() == [made.kinds[i % count].name for i in range(80)]


def test_events_follow_their_laws():
    size = 40_000
    events = generated_events(AuctionParameters(seed=8), range(size))
    laws = tables()
    columns = events.columns
    cells = zip(
        columns["category"].tolist(), columns["format"], columns["special"], columns["condition"],
        strict=True,
    )  # fmt: skip
    counted = Counter(cells)
    shares = np.diff(laws.cell_cumulative, prepend=0)
    for cell, share in zip(laws.cells, shares.tolist(), strict=True):
        # Five deviations of the number of items in a cell.
        assert abs(counted[cell] - size * share) <= 5 * math.sqrt(size * share) + 1, cell
    for category in (3, 19):
        chosen = columns["category"] == category
        bought = np.mean(columns["buy_it_now"][chosen] == "yes")
        expected = laws.buy_it_now[category - 1]
        assert abs(bought - expected) < 5 * math.sqrt(expected / chosen.sum())
        for name, bins in (("price_cents", laws.price), ("bids", laws.bids)):
            below = np.searchsorted(np.sort(columns[name][chosen]), bins.high, side="right")
            found = below / chosen.sum()
            assert np.abs(found - bins.cumulative[category - 1]).max() < 0.03
    minutes = columns["ending_within_minutes"]
    assert (minutes.min() >= 1, minutes.max() <= 14_400) == (True, True)
    assert abs(minutes.mean() - 7_200) < 150
    assert set(columns["buy_it_now"]) == {"yes", "no"}


def test_labels_can_be_swapped():
    printed = generated_events(AuctionParameters(seed=1), range(5_000)).columns["special"]
    swapped = generated_events(AuctionParameters(seed=1, swap_labels=True), range(5_000))
    assert ((printed == "signed") == (swapped.columns["special"] == "first_edition")).all()
    assert (printed == "signed").mean() > 0.1
    assert 0 < (swapped.columns["special"] == "signed").mean() < 0.05


@pytest.mark.parametrize("books", [1.0, 100.0, 10_000.0])
def test_the_catalogue_has_as_many_books_and_authors_as_it_should(books):
    parameters = AuctionParameters(seed=2, books=books)
    catalogue = _catalogue_of(parameters)
    expected = np.maximum(1, np.rint(tables().items / books)).sum()
    assert catalogue.first_book[-1] == expected
    assert catalogue.author_count == max(1, round(expected / 5))
    assert (np.diff(catalogue.first_author) >= 1).all()  # somebody writes in every category
    events = generated_events(parameters, range(3_000)).columns
    assert events["title"].max() < expected
    assert events["author"].max() < catalogue.author_count
    # A book has one author and one title, whichever auction sells it.
    if books == 100:
        writing = np.bincount(catalogue.authors, minlength=catalogue.author_count)
        assert 0.02 < (writing > 1).mean() < 0.2


def test_operands_follow_their_laws():
    found = {}
    for law in LAWS:
        made = generated_subscriptions(AuctionParameters(seed=9, law=law), range(30_000))
        found[law] = made.drawn["S1"][1]["p4"]
        assert found[law].min() >= 500
        assert found[law].max() <= 1_000
    count = 501
    assert abs(found["uniform"].mean() - 750) < 10
    # Half of a normal law with a deviation of a quarter of the range.
    assert abs(np.mean(found["half-normal"] < 500 + count / 4) - 0.683) < 0.02
    harmonic = sum(1 / k for k in range(1, count + 1))
    assert abs(np.mean(found["zipf"] == 500) - 1 / harmonic) < 0.02
    assert abs(np.mean(found["reversed-zipf"] == 1_000) - 1 / harmonic) < 0.02
    assert abs(np.mean(found["reversed-half-normal"] > 1_000 - count / 4) - 0.683) < 0.02


def test_fewer_books_make_more_covering():
    shares = []
    for books in (1.0, 100_000.0):
        made = generated_subscriptions(AuctionParameters(seed=3, books=books), range(0, 600, 3))
        table = pl.FiltersPoset.build(
            [(each, "I") for each in made.expressions()], relation=pl.EXPRESSIONS
        )
        shares.append(1 - len(table.roots()) / len(made.rows))
    assert shares[0] < 0.2
    assert shares[1] > 0.4


@pytest.mark.parametrize(
    "wrong",
    [
        {"law": "normal"}, {"books": 0}, {"authors": -1}, {"interfaces": 0}, {"events": -1},
        {"subscriptions": 1.5}, {"more_categories": 1}, {"same_title": 2},
    ],
)  # fmt: skip
def test_parameters_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AuctionParameters(**wrong)


def test_parameters_are_written_and_read():
    parameters = AuctionParameters(subscriptions=5, law="zipf", books=10, seed=3)
    assert AuctionParameters.from_dict({**parameters.to_dict(), "unknown": 1}) == parameters
