"""The tables and examples of the papers, cell by cell, each re-derived by enumeration.

[T] is the Helsinki thesis, [M] filter similarities, [G] generic constraints, [C] the course
addendum. A printed condition is kept beside the truth: where it is exact the test says so, where it
is only sufficient or plainly wrong the test shows a case, and the library must always be right.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import posetlib as pl

from . import oracle

CONSTANTS = (0, 1, 2, 3)
VALUES = [*oracle.number_values(CONSTANTS), "a", "", True, float("nan"), frozenset({1})]

Operand = int | tuple[int, int]
RANGES = list(itertools.combinations_with_replacement(CONSTANTS, 2))


def number_atom(predicate: str, operand: Operand, int_only: bool) -> tuple[str, oracle.Expr]:
    """The text and the meaning of a predicate of [T, Table A.1]."""
    name = "x:int" if int_only else "x"
    if predicate == "Exists":
        if int_only:
            return "x:int is number", ("is", True, "number")
        return "exists x", ("exists",)
    if predicate == "Rng":
        assert isinstance(operand, tuple)
        low, high = operand
        return f"{name} in [{low}, {high}]", ("range", int_only, False, low, True, high, True)
    op = {"Equ": "=", "Neq": "!=", "Gr": ">", "Lt": "<", "Gre": ">=", "Lte": "<="}[predicate]
    return f"{name} {op} {operand}", ("cmp", int_only, op, operand)


def operands(predicate: str) -> Iterable[Operand]:
    return {"Rng": RANGES, "Exists": [0]}.get(predicate, list(CONSTANTS))


def values_of(expr: oracle.Expr) -> set[int]:
    return {i for i, value in enumerate(VALUES) if oracle.holds(expr, value)}


PREDICATES = ("Equ", "Neq", "Gr", "Lt", "Gre", "Lte", "Rng", "Exists")
Condition = Callable[[Any, Any], bool]

# [T, Figure A.1] as printed: the row covers the column under the condition; blank: never.
FIGURE_A1: dict[tuple[str, str], Condition] = {
    ("Equ", "Equ"): lambda a, b: a == b,
    ("Neq", "Equ"): lambda a, b: a != b,
    ("Neq", "Neq"): lambda a, b: a == b,
    ("Neq", "Gr"): lambda a, b: a <= b,
    ("Neq", "Lt"): lambda a, b: a >= b,
    ("Neq", "Gre"): lambda a, b: a < b,
    ("Neq", "Lte"): lambda a, b: a > b,
    ("Neq", "Rng"): lambda a, b: not b[0] <= a <= b[1],
    ("Gr", "Equ"): lambda a, b: a < b,
    ("Gr", "Gr"): lambda a, b: a <= b,
    ("Gr", "Gre"): lambda a, b: a < b,
    ("Gr", "Rng"): lambda a, b: a < b[0],
    ("Lt", "Equ"): lambda a, b: a > b,
    ("Lt", "Lt"): lambda a, b: a >= b,
    ("Lt", "Lte"): lambda a, b: a > b,
    ("Lt", "Rng"): lambda a, b: a > b[1],
    ("Gre", "Equ"): lambda a, b: a <= b,
    ("Gre", "Gr"): lambda a, b: a <= b,
    ("Gre", "Gre"): lambda a, b: a <= b,
    ("Gre", "Rng"): lambda a, b: a <= b[0],
    ("Lte", "Equ"): lambda a, b: a >= b,
    ("Lte", "Lt"): lambda a, b: a >= b,
    ("Lte", "Lte"): lambda a, b: a >= b,
    ("Lte", "Rng"): lambda a, b: a >= b[1],
    ("Rng", "Equ"): lambda a, b: a[0] <= b <= a[1],
    ("Rng", "Rng"): lambda a, b: b[0] >= a[0] and b[1] <= a[1],
    **{("Exists", column): lambda _a, _b: True for column in PREDICATES},
}

# Cells where the print is sufficient and not necessary.
ONLY_SUFFICIENT = {
    False: {("Equ", "Rng")},  # blank, but x = 2 covers x in [2, 2]
    # The figure is headed "integer predicates"; over integers x > 2 is x >= 3, so x >= 3 covers it.
    True: {("Equ", "Rng"), ("Gre", "Gr"), ("Lte", "Lt")},
}


@pytest.mark.parametrize("int_only", [False, True], ids=["numbers", "integers"])
@pytest.mark.parametrize(("row", "column"), list(itertools.product(PREDICATES, repeat=2)))
def test_figure_a1(row: str, column: str, int_only: bool) -> None:
    """[T, Figure A.1]: the library is exact; the print is exact but for the cells named above."""
    printed = FIGURE_A1.get((row, column), lambda _a, _b: False)
    wrong = []
    for a, b in itertools.product(operands(row), operands(column)):
        text_f, mean_f = number_atom(row, a, int_only)
        text_g, mean_g = number_atom(column, b, int_only)
        truth = values_of(mean_f) >= values_of(mean_g)
        f, g = pl.parse_filter(text_f), pl.parse_filter(text_g)
        assert f.covers(g) is truth, (text_f, text_g)
        assert f.overlaps(g) is bool(values_of(mean_f) & values_of(mean_g)), (text_f, text_g)
        if printed(a, b) != truth:
            wrong.append((a, b))
            assert truth, "the print is never unsound"
    assert bool(wrong) is ((row, column) in ONLY_SUFFICIENT[int_only]), wrong


# [T, Table A.2] as printed: the union of the two is an existence test under the condition.
TABLE_A2: list[tuple[str, str, Condition]] = [
    ("Equ", "Neq", lambda a, b: a == b),
    ("Neq", "Equ", lambda a, b: a == b),
    ("Lt", "Gr", lambda a, b: a > b),
    ("Lt", "Gre", lambda a, b: a >= b),
    ("Lte", "Gr", lambda a, b: a >= b),
    ("Lte", "Gre", lambda a, b: a >= b),
    ("Gr", "Lt", lambda a, b: a < b),
    ("Gr", "Lte", lambda a, b: a <= b),
    ("Gre", "Lt", lambda a, b: a <= b),
    ("Gre", "Lte", lambda a, b: a <= b),
    ("Neq", "Neq", lambda a, b: a != b),
    ("Neq", "Gr", lambda a, b: a > b),
    ("Neq", "Gre", lambda a, b: a >= b),
    ("Neq", "Lte", lambda a, b: a <= b),
    ("Neq", "Lt", lambda a, b: a < b),
    ("Gr", "Neq", lambda a, b: a < b),
    ("Gre", "Neq", lambda a, b: a <= b),
    ("Lt", "Neq", lambda a, b: a > b),
    ("Lte", "Neq", lambda a, b: a >= b),
    ("Neq", "Rng", lambda a, b: b[0] <= a <= b[1]),
    ("Rng", "Neq", lambda a, b: a[0] <= b <= a[1]),
]


@pytest.mark.parametrize("int_only", [False, True], ids=["numbers", "integers"])
@pytest.mark.parametrize(("first", "second", "printed"), TABLE_A2)
def test_table_a2(first: str, second: str, printed: Condition, int_only: bool) -> None:
    """[T, Table A.2] with its conclusion corrected: the union is *all numbers*, not existence.

    ``exists x`` is strictly more, since a string exists too. Over the integers the rule for ≤ and ≥
    is only sufficient: x <= 1 and x >= 2 leave no integer out.
    """
    name = "x:int is number" if int_only else "x is number"
    everything = pl.parse_filter(name)
    exists = pl.parse_filter("exists x")
    all_numbers = values_of(("is", int_only, "number"))
    differs = False
    for a, b in itertools.product(operands(first), operands(second)):
        text_f, mean_f = number_atom(first, a, int_only)
        text_g, mean_g = number_atom(second, b, int_only)
        truth = values_of(mean_f) | values_of(mean_g) == all_numbers
        merged = pl.merge(pl.parse_filter(text_f), pl.parse_filter(text_g))
        assert merged is not None
        assert (merged == everything) is truth, (text_f, text_g)
        assert merged == pl.parse_filter(f"{text_f} or {text_g}")
        assert exists.covers(merged)
        assert not merged.covers(exists)
        if printed(a, b) != truth:
            differs = True
            assert truth
    assert differs is (int_only and {first, second} == {"Lte", "Gre"})


def test_the_example_below_table_a2() -> None:
    """[T, A.4]: x < 10 and x != 7 leave out nothing; 10 or more for the second leaves it out."""
    f = pl.parse_filter("x < 10")
    assert pl.merge(f, pl.parse_filter("x != 7")) == pl.parse_filter("x is number")
    assert pl.merge(f, pl.parse_filter("x != 10")) == pl.parse_filter("x != 10")


def test_theorem_a1_is_only_sufficient() -> None:
    """[T, Thm A.1] looks for one disjunct over one disjunct, and misses this."""
    f = pl.parse_filter("x in [0, 5] or x in (5, 10]")
    g = pl.parse_filter("x in [0, 10]")
    assert f.covers(g)
    assert f == g


def test_covering_of_filters_a2() -> None:
    """[T, Eq. A.1]: every attribute filter of A covers one of B."""
    a = pl.parse_filter("x > 1 and y > 1")
    assert a.covers(pl.parse_filter("x > 2 and y > 1 and z = 1"))
    assert not a.covers(pl.parse_filter("x > 2"))
    assert not a.covers(pl.parse_filter("x > 2 and y > 0"))


def test_perfect_merging_a5() -> None:
    """[T, Def. A.2 and A.7]: all but one conjunct equal; the ranges that one clause cannot hold."""
    f = pl.parse_filter("a = 1 and b in [0, 20]")
    g = pl.parse_filter("a = 1 and b in [30, 40]")
    assert pl.merge(f, g) == pl.parse_filter("a = 1 and (b in [0, 20] or b in [30, 40])")
    assert pl.merge(f, pl.parse_filter("a = 2 and b in [30, 40]")) is None


def test_string_predicates_of_table_a1() -> None:
    """[T, Table A.1]: each string predicate matches what it says."""
    cases = {
        's = "abc"': {"abc"},
        's != "abc"': {"", "ab", "xabcx", "bc", "abcd"},
        's contains "bc"': {"abc", "xabcx", "bc", "abcd"},
        's not contains "bc"': {"", "ab"},
        's prefix "ab"': {"abc", "ab", "abcd"},
        's suffix "bc"': {"abc", "bc"},
        "exists s": {"", "ab", "abc", "xabcx", "bc", "abcd"},
    }
    values = {"", "ab", "abc", "xabcx", "bc", "abcd"}
    for text, expected in cases.items():
        f = pl.parse_filter(text)
        assert {value for value in values if f.matches({"s": value})} == expected


def test_example_2_1() -> None:
    """[T, Example 2.1], over integers as there, and over all numbers."""
    for name in ("x:int", "x"):
        f1 = pl.parse_filter(f"{name} < 10")
        f2 = pl.parse_filter(f"{name} in [5, 9]")
        f3 = pl.parse_filter(f"{name} in [8, 15]")
        assert f1.covers(f2)
        assert not f1.covers(f3)
        assert not f2.covers(f3)
        assert not f3.covers(f2)
        assert f1.overlaps(f2)
        assert f1.overlaps(f3)
        assert f2.overlaps(f3)


def test_a_set_of_filters_may_cover_together_2_4() -> None:
    """[T, 2.4] takes the union of a set; [T, A.2], which is what we offer, wants one coverer."""
    union = [pl.parse_filter("x < 5"), pl.parse_filter("x >= 5")]
    target = pl.parse_filter("x in [0, 10]")
    assert not pl.set_covers(union, [target])
    merged = pl.merge(*union)
    assert merged is not None
    assert merged.covers(target)


# --- [C, 4.3] -------------------------------------------------------------------------------------


def test_identity_overlap_covering_4_3_3() -> None:
    """[C, 4.3.3]. The identity holds for integers; over numbers [20, 25] is more than the six."""
    six = pl.parse_filter("price in {20, 21, 22, 23, 24, 25}")
    assert six == pl.parse_filter("price:int in [20, 25]")
    assert six != pl.parse_filter("price in [20, 25]")
    assert pl.parse_filter("price in [20, 25]").covers(six)
    assert pl.parse_filter("price > 25").overlaps(pl.parse_filter("price in [20, 30]"))
    assert pl.parse_filter("price > 10").covers(pl.parse_filter("price in [20, 30]"))
    assert not pl.parse_filter("price < 10").overlaps(pl.parse_filter("price > 20"))


def test_identity_and_covering_of_filters_4_3_4() -> None:
    """[C, 4.3.4 and 4.3.5]."""
    f1 = pl.parse_filter("x = 4 and y > 5")
    f2 = pl.parse_filter("x = 4 and y > 5 and z in [3, 5]")
    assert f1 != f2
    assert f1.covers(f2)
    assert not f2.covers(f1)
    f3 = pl.parse_filter("x >= 2 and y > 5")
    f4 = pl.parse_filter("x = 4 and y = 7 and z in [3, 5]")
    assert f3.covers(f4)


def test_types_and_comparison_4_3_6() -> None:
    """[C, 4.3.6]: supertypes; x != c1 over x < c2; x > c1 over x > c2. Exact as printed."""
    types = pl.TypeHierarchy({"B": ["A"], "C": ["A"], "D": ["B", "C"], "E": []})
    over = {"A": set("ABCD"), "B": set("BD"), "C": set("CD"), "D": {"D"}, "E": {"E"}}
    for first, second in itertools.product(over, repeat=2):
        f = pl.parse_filter(f"n isa {first}", types=types)
        g = pl.parse_filter(f"n isa {second}", types=types)
        assert f.covers(g) is (second in over[first])
    for a, b in itertools.product(CONSTANTS, repeat=2):
        assert pl.parse_filter(f"x != {a}").covers(pl.parse_filter(f"x < {b}")) is (a >= b)
        assert pl.parse_filter(f"x > {a}").covers(pl.parse_filter(f"x > {b}")) is (a <= b)
    assert pl.parse_filter("x != 15").covers(pl.parse_filter("x < 10"))
    assert pl.parse_filter("x > 10").covers(pl.parse_filter("x > 20"))


INTERVALS = [
    (low, low_closed, high, high_closed)
    for low, high in RANGES
    for low_closed in (True, False)
    for high_closed in (True, False)
    if low < high or (low_closed and high_closed)
]


def interval_text(interval: tuple[int, bool, int, bool]) -> str:
    low, low_closed, high, high_closed = interval
    return f"{'[' if low_closed else '('}{low}, {high}{']' if high_closed else ')'}"


def test_intervals_4_3_7() -> None:
    """[C, 4.3.7]: in I1 ⊒ in I2 iff I1 ⊇ I2, and the other way round for not in. Exact."""
    inside = {i: values_of(("range", False, False, *i)) for i in INTERVALS}
    for i, j in itertools.product(INTERVALS, repeat=2):
        f, g = (
            pl.parse_filter(f"x in {interval_text(i)}"),
            pl.parse_filter(f"x in {interval_text(j)}"),
        )
        assert f.covers(g) is (inside[i] >= inside[j])
        f = pl.parse_filter(f"x not in {interval_text(i)}")
        g = pl.parse_filter(f"x not in {interval_text(j)}")
        assert f.covers(g) is (inside[i] <= inside[j])
    assert pl.parse_filter("x in [3, 10]").covers(pl.parse_filter("x in [4, 6]"))


WORDS = ["".join(w) for n in range(4) for w in itertools.product("ab", repeat=n)]


def test_strings_4_3_7() -> None:
    """[C, 4.3.7]: prefix, postfix and substring compare as their constants do. Exact."""
    for a, b in itertools.product(WORDS, repeat=2):
        for op, printed in (
            ("prefix", b.startswith(a)),
            ("suffix", b.endswith(a)),
            ("contains", a in b),
        ):
            f, g = pl.parse_filter(f's {op} "{a}"'), pl.parse_filter(f's {op} "{b}"')
            assert f.covers(g) is printed, (op, a, b)
    assert pl.parse_filter('s prefix "abc"').covers(pl.parse_filter('s prefix "abcd"'))


def test_string_pairs_that_the_table_leaves_out() -> None:
    """Mixed pairs, each worked out by hand."""
    yes = [
        ('s contains "b"', 's prefix "ab"'),
        ('s contains "b"', 's suffix "ab"'),
        ('s contains "b"', 's = "abc"'),
        ('s not contains "b"', 's = "aca"'),
        ('s not contains "bb"', 's not contains "b"'),
        ('s != "x"', 's prefix "a"'),
        ('s != "x"', 's suffix "a"'),
        ('s != "x"', 's not contains "x"'),
        ('s >= "bc"', 's prefix "bc"'),
        ('s < "bd"', 's prefix "bc"'),
        ('s prefix "b"', 's in {"b", "bcd"}'),
        ('s suffix "a" or s not suffix "a"', 's contains "q"'),
        ('s contains "a"', 's > "a" and s < "aa"'),
        ('s prefix "a" or s contains "b"', 's prefix "a" and s suffix "c"'),
    ]
    no = [
        ('s <= "ab"', 's prefix "a"'),
        ('s prefix "ab"', 's contains "ab"'),
        ('s suffix "b"', 's prefix "ab"'),
        ('s not contains "b"', 's prefix "a"'),
        ('s != "a"', 's prefix "a"'),
        ('s > "bc"', 's prefix "bc"'),
        ('s not contains "b"', 's not contains "bb"'),
        ('s <= "b"', 's prefix "b"'),
    ]
    for first, second in yes:
        assert pl.parse_filter(first).covers(pl.parse_filter(second)), (first, second)
    for first, second in no:
        assert not pl.parse_filter(first).covers(pl.parse_filter(second)), (first, second)


ELEMENTS = (1, 2, 3)
SUBSETS = [c for n in range(4) for c in itertools.combinations(ELEMENTS, n)]


def braces(chosen: Iterable[object]) -> str:
    return "{" + ", ".join(map(str, chosen)) + "}"


def test_sets_of_simple_values_4_3_8() -> None:
    """[C, 4.3.8]: in M1 ⊒ in M2 iff M1 ⊇ M2, and the other way round for not in. Exact."""
    for m1, m2 in itertools.product(SUBSETS[1:], repeat=2):
        f, g = pl.parse_filter(f"x in {braces(m1)}"), pl.parse_filter(f"x in {braces(m2)}")
        assert f.covers(g) is (set(m1) >= set(m2))
        f, g = pl.parse_filter(f"x not in {braces(m1)}"), pl.parse_filter(f"x not in {braces(m2)}")
        assert f.covers(g) is (set(m1) <= set(m2))


def test_multi_values_4_3_8() -> None:
    """[C, 4.3.8], all six rows; ``overlaps {}`` matches nothing and is refused. Exact."""
    for m1, m2 in itertools.product(SUBSETS, repeat=2):
        a, b = set(m1), set(m2)
        rows = [("subset", "subset", a >= b), ("superset", "superset", a <= b)]
        rows += [("disjoint", "disjoint", a <= b)]
        if a and b:
            rows.append(("overlaps", "overlaps", a >= b))
        for first, second, printed in rows:
            f = pl.parse_filter(f"t {first} {braces(m1)}")
            g = pl.parse_filter(f"t {second} {braces(m2)}")
            assert f.covers(g) is printed, (first, m1, second, m2)
        for element in ELEMENTS:
            has, lacks = pl.parse_filter(f"t has {element}"), pl.parse_filter(f"t lacks {element}")
            assert has.covers(pl.parse_filter(f"t superset {braces(m2)}")) is (element in b)
            assert lacks.covers(pl.parse_filter(f"t disjoint {braces(m2)}")) is (element in b)
    with pytest.raises(pl.FilterError):
        pl.parse_filter("t overlaps {}")


def test_overlapping_4_3_9() -> None:
    """[C, 4.3.9]."""
    f1 = pl.parse_filter("x >= 2 and y > 5")
    assert not f1.overlaps(pl.parse_filter("x < 1 and y < 7"))
    assert f1.overlaps(pl.parse_filter("x < 5 and y < 7"))


def test_merging_examples_4_3_10() -> None:
    """[C, 4.3.10] and [M, 3.6]: the first example holds, the second loses the x that must be."""
    f1 = pl.parse_filter("x = 5 and y in {2, 3}")
    f2 = pl.parse_filter("x = 5 and y in {4, 5}")
    assert pl.merge(f1, f2) == pl.parse_filter("x = 5 and y in {2, 3, 4, 5}")
    merged = pl.merge(pl.parse_filter("y = 3 and x = 5"), pl.parse_filter("y = 3 and x != 5"))
    assert merged == pl.parse_filter("y = 3 and x is number")
    printed = pl.parse_filter("y = 3")
    assert printed.covers(merged)
    assert merged != printed, (
        "a notification without x is matched by y = 3 and by neither component"
    )
    assert not merged.matches({"y": 3})


def test_merging_rules_4_3_10() -> None:
    """[C, 4.3.10]: in, overlaps as printed; not in gives all numbers; disjunct is wrong."""
    for m1, m2 in itertools.product(SUBSETS[1:], repeat=2):
        union, common = sorted({*m1, *m2}), sorted({*m1} & {*m2})

        def merged(op: str, m1: tuple[int, ...] = m1, m2: tuple[int, ...] = m2) -> pl.Filter | None:
            return pl.merge(
                pl.parse_filter(f"x {op} {braces(m1)}"), pl.parse_filter(f"x {op} {braces(m2)}")
            )

        assert merged("in") == pl.parse_filter(f"x in {braces(union)}")
        assert merged("not in") == pl.parse_filter(
            f"x not in {braces(common)}" if common else "x is number"
        )
        assert merged("overlaps") == pl.parse_filter(f"x overlaps {braces(union)}")
        disjoint = merged("disjoint")
        if disjoint is not None:
            # {a, b} meets both M1 ∋ a and M2 ∋ b, so not everything is matched even where they are
            # disjoint: the printed condition for existence never holds.
            assert not disjoint.matches({"x": set(union)})
            assert disjoint != pl.parse_filter("x is set")
            assert disjoint != pl.parse_filter("exists x")
            for size in range(4):
                for chosen in itertools.combinations(ELEMENTS, size):
                    truth = not (set(chosen) & set(m1)) or not (set(chosen) & set(m2))
                    assert disjoint.matches({"x": set(chosen)}) is truth


# --- [M] and [G] ----------------------------------------------------------------------------------


def test_examples_of_filter_similarities() -> None:
    """[M, 3.1–3.3]: the stock quote, the excluded price range, the covering price."""
    quote = {"type": "StockQuote", "name": "Foo Inc.", "price": 45.0}
    f = pl.parse_filter('type isa StockQuote and name = "Foo Inc." and price not in [30, 40]')
    assert f.matches(quote)
    assert not f.matches({**quote, "price": 35})
    assert pl.parse_filter("price > 10").covers(pl.parse_filter("price in [20, 30]"))
    assert pl.parse_filter("true").matches(quote)
    assert not pl.parse_filter("volume > 0").matches(quote)


def test_subtypes_match_too() -> None:
    """[M, 3.3]: the filter on StockQuote matches its subtypes."""
    types = pl.TypeHierarchy({"StockQuote": ["Quote"], "OptionQuote": ["StockQuote"]})
    f = pl.parse_filter("type isa StockQuote", types=types)
    assert f.matches({"type": "OptionQuote"})
    assert not f.matches({"type": "Quote"})


def test_proposition_2_needs_one_constraint_per_attribute() -> None:
    """[M, Fig. 2]: with several constraints on one attribute, pairwise covering is not enough.

    Folding them into one constraint makes it so.
    """
    assert pl.parse_filter("x in [0, 10]").covers(pl.parse_filter("x > 1 and x < 9"))
    assert pl.parse_filter("x != 5").covers(pl.parse_filter("x in [0, 10] and x not in [4, 6]"))
    assert pl.parse_filter("x = 5").covers(pl.parse_filter("x >= 5 and x <= 5"))


def test_merging_examples_of_filter_similarities() -> None:
    """[M, 3.6]."""
    assert pl.merge(pl.parse_filter("x in [2, 4]"), pl.parse_filter("x in [3, 5]")) == (
        pl.parse_filter("x in [2, 5]")
    )
    assert pl.merge(pl.parse_filter("x < 4"), pl.parse_filter("x > 7")) == (
        pl.parse_filter("x not in [4, 7]")
    )


def test_equality_rows_of_generic_constraints() -> None:
    """[G, Table 1]: equality and inequality of simple values, for numbers, strings and booleans."""
    for constants in (("0", "1", "2.5"), ('"a"', '"b"', '""'), ("true", "false")):
        for a, b in itertools.product(constants, repeat=2):
            equal, other = pl.parse_filter(f"x = {a}"), pl.parse_filter(f"x = {b}")
            unequal, different = pl.parse_filter(f"x != {a}"), pl.parse_filter(f"x != {b}")
            assert equal.covers(other) is (a == b)
            assert unequal.covers(other) is (a != b)
            assert unequal.covers(different) is (a == b)
            # Of booleans there are two, so to be not one is to be the other.
            assert equal.covers(different) is (constants[0] == "true" and a != b)


def test_exists_covers_every_constraint_on_its_attribute() -> None:
    """[G, 3.1]."""
    exists = pl.parse_filter("exists x")
    for text in ("x = 1", 'x prefix "a"', "x = true", "x has 1", "x isa T", "x < $y", "exists x"):
        assert exists.covers(pl.parse_filter(text))
    assert not exists.covers(pl.parse_filter("y = 1"))


# --- faults of the peers -------------------------------------------------------------------------


def test_covering_that_a_peer_gets_wrong() -> None:
    assert not pl.parse_filter('x <= "ab"').covers(pl.parse_filter('x prefix "a"'))
    assert pl.parse_filter('x <= "ab"').overlaps(pl.parse_filter('x prefix "a"'))
    f = pl.parse_filter("x in [0, 10]")
    assert f.covers(pl.parse_filter("x in [2, 5]"))
    assert f.covers(f)
    assert f.covers(pl.parse_filter("x in [0, 10]"))


def test_numbers_beyond_double_precision() -> None:
    """2**53 + 1 is no double; ranges and points tell it from its neighbours."""
    big = 2**53
    f = pl.parse_filter(f"x = {big + 1}")
    assert f.matches({"x": big + 1})
    assert not f.matches({"x": big})
    assert not f.matches({"x": big + 2})
    assert not f.matches({"x": float(big)})
    assert pl.parse_filter(f"x > {big}").covers(f)
    assert not pl.parse_filter(f"x > {big}").matches({"x": big})
    assert not pl.parse_filter(f"x > {big + 1}").covers(f)
    assert not f.overlaps(pl.parse_filter(f"x = {big}"))
    assert pl.parse_filter(f"x:int in ({big}, {big + 2})") == f
    assert str(big + 1) in str(f)
    huge = pl.parse_filter(f"x < {10**40 + 1}")
    assert huge.matches({"x": 10**40})
    assert not huge.matches({"x": 10**40 + 1})


def test_numbers_that_a_peer_confuses() -> None:
    """Decimal fractions are told apart to the last digit, and zero has one sign."""
    f = pl.parse_filter("x = 0.1")
    assert f.matches({"x": 0.1})
    assert not f.matches({"x": 0.1 + 2**-56})
    assert pl.parse_filter("x = -0.0") == pl.parse_filter("x = 0")
    assert pl.parse_filter("x >= 0").matches({"x": -0.0})
    assert not pl.parse_filter("x < 0").matches({"x": -0.0})
    assert hash(pl.parse_filter("x = -0.0")) == hash(pl.parse_filter("x = 0.0"))
    assert pl.parse_filter("x = 5e-324").matches({"x": 5e-324})
    assert not pl.parse_filter("x = 5e-324").matches({"x": 0})
    assert pl.parse_filter("x = 300000.0") == pl.parse_filter("x = 3e5")


def test_many_terms_do_not_explode() -> None:
    """Forty terms in conjunctive form: a simplifier of a peer exploded near twenty."""
    text = " and ".join(f"(x != {i} or x = {i + 0.5})" for i in range(40))
    f = pl.parse_filter(text)
    assert f.matches({"x": 100})
    assert not f.matches({"x": 3})
    words = " and ".join(f'(s = "a{i}" or s != "b{i}")' for i in range(40))
    assert pl.parse_filter(words).matches({"s": "a1"})
    sets = " and ".join(f"(t has {i} or t lacks {i + 1})" for i in range(24))
    g = pl.parse_filter(sets)
    assert g.matches({"t": []})
    assert not g.matches({"t": [5]})
