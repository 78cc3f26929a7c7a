"""The filter language: covering, equality, hashing, matching, parsing, and filters from columns."""

from __future__ import annotations

import numpy as np

import posetlib as pl
from bench.harness import Bench

_WIDE = "x in [10, 90] and y in [20, 80]"
_NARROW = "x in [30, 40] and y in [30, 40]"

Box = tuple[float, float, float, float]


def _box_covers(a: Box, b: Box) -> bool:
    return a[0] <= b[0] and b[1] <= a[1] and a[2] <= b[2] and b[3] <= a[3]


def run(bench: Bench) -> None:
    """Hold the language against what one would write by hand for the same four numbers."""
    wide, narrow = pl.parse_filter(_WIDE), pl.parse_filter(_NARROW)
    again = pl.parse_filter(_WIDE)
    box, inner = (10, 90, 20, 80), (30, 40, 30, 40)
    nested, nested_again = (("x", "y"), (10, 90), (20, 80)), (("x", "y"), (10, 90), (20, 80))
    assert wide.covers(narrow) == _box_covers(box, inner)

    with bench.comparison("Two filters of two ranges: covers", note="The bar is 6 times.") as timed:
        timed.case("four numbers in tuples, by hand", lambda: _box_covers(box, inner))
        timed.case("f.covers(g), it does", lambda: wide.covers(narrow), at_most=6)
        timed.case("g.covers(f), it does not", lambda: narrow.covers(wide), at_most=6)

    with bench.comparison("Two filters of two ranges: equality and hash") as timed:
        timed.case("two small tuples ==", lambda: nested == nested_again)
        timed.case("f == g, equal", lambda: wide == again)
        timed.case("f == g, not equal", lambda: wide == narrow)
        timed.case("hash of the tuple", lambda: hash(nested))
        timed.case("hash(f)", lambda: hash(wide))

    event = {"x": 35, "y": 35}
    with bench.comparison("A filter of two ranges: matches") as timed:
        timed.case("by hand", lambda: box[0] <= event["x"] <= box[1] and box[2] <= event["y"])
        timed.case("f.matches(n)", lambda: wide.matches(event))

    size = bench.size(1_000, 10)
    random = np.random.default_rng(1)
    low = random.uniform(0, 50, (2, size))
    columns = {name: (low[i], low[i] + random.uniform(0, 50, size)) for i, name in enumerate("xy")}
    with bench.comparison("Making filters of two ranges") as timed:
        timed.case("parse_filter", lambda: pl.parse_filter(_WIDE), at_least=3_000)
        timed.case("from_dict", lambda: pl.Filter.from_dict(wide.to_dict()))
        timed.case(
            "filters_from_columns", lambda: pl.filters_from_columns(columns), operations=size
        )

    strings = [
        pl.parse_filter(text)
        for text in (
            's prefix "Fo"',
            's suffix "bar"',
            's contains "o"',
            's prefix "Fo" and s suffix "bar"',
        )
    ]
    with bench.comparison("Strings: covers, pairs of mixed kinds once decided") as timed:
        timed.case("prefix and prefix", lambda: strings[0].covers(strings[0]))
        timed.case("contains and suffix", lambda: strings[2].covers(strings[1]))
        timed.case("contains and both", lambda: strings[2].covers(strings[3]))
