"""Mergers: perfect ones by name, imperfect ones with their loss checked by counting."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl

from . import oracle
from .lawbook import build
from .strategies import NUMBER, ORDERED_STRING, PLAIN_KINDS, Kind, filters, related

GRID = range(-3, 8)  # a discrete domain for numbers
WORDS = ("", "a", "ab", "b", "ba", "bb", "c", "zz")  # and one for strings


def counted_loss(
    merged: pl.Filter, f: pl.Filter, g: pl.Filter, domains: Mapping[str, object]
) -> float | None:
    """The share of what the merger matches that neither component wants, counted."""
    names = sorted(merged.constraints)
    matched = unwanted = 0
    for values in itertools.product(*(list(domains[name]) for name in names)):  # type: ignore[call-overload]
        notification = dict(zip(names, values, strict=True))
        if merged.matches(notification):
            matched += 1
            unwanted += not (f.matches(notification) or g.matches(notification))
    return unwanted / matched if matched else None


PERFECT = [
    # (components, merger); None: there is no perfect merger
    ("x in [0, 20]", "x in [30, 40]", "x in [0, 20] or x in [30, 40]"),  # [T, A.7]
    ("x in [2, 4]", "x in [3, 5]", "x in [2, 5]"),
    ("x < 4", "x > 7", "x not in [4, 7]"),
    ("x = 5", "x != 5", "x is number"),
    ("x > 1 and y = 1", "x > 2 and y = 1", "x > 1 and y = 1"),
    ("x > 1 and y = 1", "x > 1 and y = 2", "x > 1 and y in {1, 2}"),
    ("x > 1 and y = 1", "x > 2 and y = 2", None),
    ("x > 1", "y > 1", None),
    ("x > 1", "x > 0 and y = 1", None),
    ("x > 1", "x > 1 and y = 1", "x > 1"),
    ("true", "x > 1", "true"),
    ("x = true", "x = false", "x is bool"),
    ("x = 5", 'x = "a"', None),
    ("x = 1", "x = true", None),
    ("x = 1", "x has 1", None),
    ("x is number", "x is string", None),
    ("exists x", "x = 5", "exists x"),
    ("x = 5", "exists x", "exists x"),
    ('s = "a"', 's = "b"', 's in {"a", "b"}'),
    ('s prefix "a"', 's prefix "b"', 's >= "a" and s < "c"'),
    ("t overlaps {1}", "t overlaps {2}", "t overlaps {1, 2}"),
    ("t disjoint {1}", "t disjoint {2}", "t lacks 1 or t lacks 2"),
    ("t subset {1}", "t superset {1}", "t subset {1} or t superset {1}"),
    ("x:int > 3", "x:int <= 3", "x:int is number"),
    ("x:int is number", "x in (0, 1)", "x:int is number or x in (0, 1)"),
]


@pytest.mark.parametrize(("left", "right", "expected"), PERFECT)
def test_perfect_mergers(left: str, right: str, expected: str | None) -> None:
    f, g = pl.parse_filter(left), pl.parse_filter(right)
    for merged in (pl.merge(f, g), pl.merge(g, f)):
        if expected is None:
            assert merged is None
        else:
            assert merged == pl.parse_filter(expected)
    assert pl.merge(f, f) == f


@pytest.mark.parametrize("kind", PLAIN_KINDS, ids=str)
@settings(max_examples=max(50, settings().max_examples // 2))
@given(data=st.data())
def test_imperfect_merger_covers_both(kind: Kind, data: st.DataObject) -> None:
    a, b = data.draw(related(kind))
    c, d = data.draw(related(kind))
    f, g = build({"x": a, "y": c}), build({"x": b, "y": d})
    if f is None or g is None:
        return
    merged = pl.merge(f, g, perfect=False)
    if merged is None:
        return
    assert merged.covers(f)
    assert merged.covers(g)
    assert set(merged.constraints) <= {"x", "y"}
    if pl.merge(f, g) is None:
        assert merged.loss is None, "without domains the loss is unknown"
        assert pl.merge(f, g, perfect=False, max_loss=0.99) is None


@given(a=related(NUMBER), b=related(NUMBER), c=related(ORDERED_STRING), words=st.booleans())
def test_loss_on_discrete_domains(
    a: tuple[oracle.Expr, oracle.Expr],
    b: tuple[oracle.Expr, oracle.Expr],
    c: tuple[oracle.Expr, oracle.Expr],
    words: bool,
) -> None:
    """The estimate over listed values is the share one counts."""
    other = c if words else b
    f, g = build({"x": a[0], "y": other[0]}), build({"x": a[1], "y": other[1]})
    if f is None or g is None:
        return
    domains: dict[str, object] = {"x": GRID, "y": list(WORDS) if words else GRID}
    merged = pl.merge(f, g, perfect=False, domains=domains)
    assert merged is not None, "two filters over the same attributes of the same domains"
    assert merged.covers(f)
    assert merged.covers(g)
    expected = counted_loss(merged, f, g, domains)
    if expected is None:  # nothing of the domain is matched: any estimate is as good
        return
    assert merged.loss == pytest.approx(expected, abs=1e-9)
    if expected > 1e-6:
        assert pl.merge(f, g, perfect=False, domains=domains, max_loss=expected * 0.99) is None
    within = pl.merge(f, g, perfect=False, domains=domains, max_loss=min(1.0, expected + 1e-6))
    assert within == merged


ends = st.integers(0, 10)


@given(corners=st.lists(st.tuples(ends, ends), min_size=4, max_size=4), point=st.booleans())
def test_loss_on_intervals(corners: list[tuple[int, int]], point: bool) -> None:
    """Boxes with whole corners in (0, 10): the share of unit cells is the share of the area."""
    boxes = [(min(c), max(c) + 1) for c in corners]
    (x1, y1, x2, y2) = boxes
    f = pl.parse_filter(f"x in [{x1[0]}, {x1[1]}] and y in [{y1[0]}, {y1[1]}]")
    g = pl.parse_filter(f"x in [{x2[0]}, {x2[1]}] and y in ({y2[0]}, {y2[1]})")
    domains = {"x": (0, 11), "y": (0, 11)}
    merged = pl.merge(f, g, perfect=False, domains=domains)
    assert merged is not None
    assert merged.covers(f)
    assert merged.covers(g)
    cells = [k + 0.5 for k in range(11)]
    expected = counted_loss(merged, f, g, {"x": cells, "y": cells})
    assert merged.loss == pytest.approx(expected, abs=1e-9)
    if point:
        assert pl.merge(f, g, perfect=False, domains=domains, max_loss=1.0) == merged


def test_two_boxes() -> None:
    """The hull of two corner boxes: half of it is wanted by neither."""
    f = pl.parse_filter("x in [0, 10] and y in [0, 10]")
    g = pl.parse_filter("x in [10, 20] and y in [10, 20]")
    assert pl.merge(f, g) is None
    merged = pl.merge(f, g, perfect=False, domains={"x": (0, 100), "y": (0, 100)})
    assert merged == pl.parse_filter("x in [0, 20] and y in [0, 20]")
    assert merged.loss == pytest.approx(0.5)
    assert (
        pl.merge(f, g, perfect=False, domains={"x": (0, 100), "y": (0, 100)}, max_loss=0.4) is None
    )
    assert pl.merge(f, g, perfect=False, domains={"x": (0, 100), "y": (0, 100)}, max_loss=0.6)


def test_loss_is_not_part_of_the_filter() -> None:
    """A merger equals the filter that one would write, whatever its loss."""
    f = pl.parse_filter("x in [0, 10] and y in [0, 10]")
    g = pl.parse_filter("x in [10, 20] and y in [10, 20]")
    merged = pl.merge(f, g, perfect=False)
    assert merged is not None
    assert merged.loss is None
    plain = pl.parse_filter(str(merged))
    assert merged == plain
    assert plain == merged
    assert hash(merged) == hash(plain)
    assert pickle.loads(pickle.dumps(merged)) == merged


def test_a_domain_for_some_attributes_only() -> None:
    """One unknown domain among those that differ leaves the loss unknown, never zero."""
    f = pl.parse_filter("x in [0, 10] and y in [0, 10]")
    g = pl.parse_filter("x in [10, 20] and y in [10, 20]")
    merged = pl.merge(f, g, perfect=False, domains={"x": (0, 100)})
    assert merged is not None
    assert merged.loss is None or merged.loss > 0
    assert pl.merge(f, g, perfect=False, max_loss=0.5) is None


def test_perfect_where_possible_loses_nothing() -> None:
    f, g = pl.parse_filter("x in [0, 10]"), pl.parse_filter("x in [10, 20]")
    merged = pl.merge(f, g, perfect=False, domains={"x": (0, 100)}, max_loss=0.0)
    assert merged == pl.parse_filter("x in [0, 20]")
    assert merged.loss == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("left", "right"),
    [("x > 1", "y > 1"), ("x > 1 and y = 1", "x < 0"), ("x = 1 and y = 1", 'x = 2 and y = "a"')],
)
def test_no_imperfect_merger(left: str, right: str) -> None:
    """Other attributes, or other domains, do not merge."""
    f, g = pl.parse_filter(left), pl.parse_filter(right)
    assert pl.merge(f, g, perfect=False) is None
    assert pl.merge(g, f, perfect=False) is None


@given(a=filters(("x", "y")), b=filters(("x", "y")))
def test_mergers_of_any_two_filters(a: dict[str, oracle.Expr], b: dict[str, oracle.Expr]) -> None:
    f, g = build(a), build(b)
    if f is None or g is None:
        return
    for merged in (pl.merge(f, g), pl.merge(f, g, perfect=False)):
        if merged is not None:
            assert merged.covers(f)
            assert merged.covers(g)


LARGE = {
    "strings": (" or ".join(f's suffix "{i:03d}"' for i in range(128)), 's suffix "zzz"'),
    "sets": (" or ".join(f"t lacks {i}" for i in range(64)), "t lacks 99"),
    "placeholders": (" or ".join(f"x < $y{i}" for i in range(64)), "x < $z"),
    "placeholders and more": (" or ".join(f"x < $y{i}" for i in range(63)), "x < $z and x > 3"),
    "crossed sets": (
        " and ".join(f"t overlaps {{{i}, {i + 5}}}" for i in range(5)),
        " and ".join(f"t overlaps {{{i + 50}, {i + 55}}}" for i in range(5)),
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_is_too_large_to_merge_does_not_merge(name: str) -> None:
    """Two lawful filters always have an answer: a merger or None, no error."""
    f, g = map(pl.parse_filter, LARGE[name])
    for first, second in ((f, g), (g, f)):
        for perfect in (True, False):
            merged = pl.merge(first, second, perfect=perfect)
            if merged is not None:
                assert merged.covers(f)
                assert merged.covers(g)
