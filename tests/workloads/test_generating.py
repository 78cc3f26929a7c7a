"""The generator: rows that depend on their number alone, and loads that are what they claim."""

from __future__ import annotations

import numpy as np
import pytest

from posetlib import parse_filter
from posetlib.generating import (
    KINDS,
    Parameters,
    generated_filters,
    generated_notifications,
    interface_names,
    interfaces_of,
)
from posetlib.generating.scenarios import operations_of


@pytest.mark.parametrize("schemas", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_canonical_and_say_what_the_columns_say(kind: str, schemas: int) -> None:
    p = Parameters(filters=200, kind=kind, seed=4, schemas=schemas, dims=3)
    made = generated_filters(p, np.arange(200))
    for row, text in enumerate(made.texts()):
        one = parse_filter(text)
        assert str(one) == text
        if made.plain[row]:
            for name, ranges in made.ranges.items():
                constraint = one.constraints.get(name)
                if constraint is None:
                    assert np.isnan(ranges.low[row])
                else:
                    low, high = ranges.low[row], ranges.high[row]
                    assert (constraint.low, constraint.high) == (low, high)  # type: ignore[attr-defined]
                    for end, is_open in ((low, ranges.low_open), (high, ranges.high_open)):
                        if np.isfinite(end):
                            assert constraint.matches(float(end)) == (not is_open[row])


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_the_same_in_any_company(kind: str) -> None:
    p = Parameters(filters=1000, kind=kind, seed=9, schemas=2, interface_skew=1.1)
    every = generated_filters(p, np.arange(1000))
    some = generated_filters(p, [998, 3, 500])
    texts = every.texts()
    assert some.texts() == [texts[998], texts[3], texts[500]]
    assert some.interfaces.tolist() == every.interfaces[[998, 3, 500]].tolist()
    told = generated_notifications(p, np.arange(50)).texts()
    assert generated_notifications(p, [49, 0]).texts() == [told[49], told[0]]


def test_another_seed_is_another_workload() -> None:
    texts = {
        generated_filters(Parameters(filters=3, seed=seed), [0, 1, 2]).texts()[1]
        for seed in range(-5, 50)
    }
    assert len(texts) == 55


def test_the_loads_are_what_they_are_called() -> None:
    rows = np.arange(20_000)
    uniform = generated_filters(Parameters(filters=20_000), rows).ranges["x"]
    # The smaller and the larger of two uniform numbers.
    assert abs(uniform.low.mean() - 100 / 3) < 1
    assert abs(uniform.high.mean() - 200 / 3) < 1
    narrow = generated_filters(Parameters(filters=20_000, kind="narrow"), rows).ranges["x"]
    assert 4.5 < (narrow.high - narrow.low).mean() < 5.1
    assert abs((narrow.low + narrow.high).mean() / 2 - 50) < 1
    zipf = generated_filters(Parameters(filters=20_000, kind="zipf"), rows).ranges["x"]
    centres = np.round((zipf.low + zipf.high) / 2)
    assert np.bincount(centres.astype(int)).max() > 5 * 20_000 / 100
    variable = generated_filters(Parameters(filters=20_000, kind="variable"), rows).ranges
    counts = sum((~np.isnan(each.low)).astype(int) for each in variable.values())
    assert sorted(np.unique(counts).tolist()) == [1, 2, 3]
    assert np.bincount(counts)[1:].min() > 6000
    mixed = generated_filters(Parameters(filters=20_000, kind="mixed", dims=1), rows).texts()
    signs = {text.split()[1] for text in mixed}
    assert signs == {"<", ">", "<=", ">=", "=", "!=", "in"}


def test_interfaces_in_turns_or_skewed() -> None:
    rows = np.arange(10_000)
    turns = interfaces_of(Parameters(filters=10_000, interfaces=7), rows)
    assert turns[:8].tolist() == [0, 1, 2, 3, 4, 5, 6, 0]
    skewed = interfaces_of(Parameters(filters=10_000, interfaces=7, interface_skew=1.5), rows)
    shares = np.bincount(skewed, minlength=7)
    assert shares[0] > 3 * shares[3] > 0
    assert interface_names(turns[:2]) == ["I1", "I2"]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"filters": -1}, "filters is between 0"),
        ({"dims": 0}, "dims is between 1 and 8"),
        ({"interfaces": 0}, "interfaces is between 1"),
        ({"kind": "x"}, "kind is one of"),
        ({"low": 5, "high": 5}, "low is less than high"),
        ({"operations": 1}, "operations need filters"),
        ({"seed": 1.5}, "seed is a whole number"),
        ({"skew": float("nan")}, "skew is between"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Parameters(**wrong)  # type: ignore[arg-type]


def replayed(p: Parameters) -> list[tuple[str, str, str]]:
    """All operations in order, as what is done, the filter and the interface."""
    rows = []
    for interface in range(p.interfaces):
        made = operations_of(p, interface)
        texts = generated_filters(p, made.rows).texts()
        name = interface_names(np.array([interface]))[0]
        rows += [
            (int(at), "+" if add else "-", text, name)
            for at, add, text in zip(made.sequence, made.adds, texts, strict=True)
        ]
    assert len({row[0] for row in rows}) == len(rows)
    return [row[1:] for row in sorted(rows)]


@pytest.mark.parametrize("kind", ["uniform", "mixed", "variable"])
def test_adds_and_removals_take_turns(kind: str) -> None:
    p = Parameters(filters=30, operations=200, interfaces=4, seed=5, kind=kind)
    done = replayed(p)
    assert [what for what, _, _ in done] == ["+"] * 30 + ["-", "+"] * 200
    held: list[tuple[str, str]] = []
    for at, (what, text, interface) in enumerate(done):
        if what == "+":
            held.append((text, interface))
            if at >= 30:
                # The new one is for the interface whose filter went.
                assert interface == done[at - 1][2]
        else:
            held.remove((text, interface))
    assert len(held) == 30


@pytest.mark.parametrize("kind", ["uniform", "mixed", "variable", "strings"])
@pytest.mark.parametrize("schemas", [1, 2])
def test_the_distributed_scenario_adds_nothing_that_is_covered(kind: str, schemas: int) -> None:
    p = Parameters(
        filters=60, operations=150, interfaces=3, seed=6, kind=kind, schemas=schemas,
        scenario="distributed", decimals=0,
    )  # fmt: skip
    full = replayed(Parameters.from_dict(p.to_dict() | {"scenario": "add-remove"}))
    done = replayed(p)
    held: list[tuple[str, str]] = []
    dropped = 0
    expected = []
    absent: list[tuple[str, str]] = []
    for what, text, interface in full:
        if what == "-":
            if (text, interface) in absent:
                absent.remove((text, interface))
                continue
            held.remove((text, interface))
        else:
            one = parse_filter(text)
            if any(i == interface and parse_filter(each).covers(one) for each, i in held):
                absent.append((text, interface))
                dropped += 1
                continue
            held.append((text, interface))
        expected.append((what, text, interface))
    assert done == expected
    assert dropped > 0
