"""Malformed, contradictory and absurd input: a clear error, or a result, and nothing else."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import posetlib as pl

# --- malformed text, and where ----------------------------------------------------------------

END = "end"
POSITIONS: list[tuple[str, int, int | str]] = [
    ("", 1, END),
    ("x", 1, END),
    ("x @ 5", 1, 3),
    ("x = = 5", 1, 5),
    ("x 5", 1, 3),
    ("and x = 5", 1, 1),
    ("x = 5 and", 1, END),
    ("x = 5 or", 1, END),
    ("x = 5 and and y = 1", 1, 11),
    ("(x = 5", 1, END),
    ("((x = 5)", 1, END),
    ("x = 5)", 1, 6),
    ("()", 1, 2),
    ("x in [1, 2", 1, END),
    ("x in [1 2]", 1, 9),
    ("x in [1, 2, 3]", 1, 11),
    ("x in [1]", 1, 8),
    ("x in {1 2}", 1, 9),
    ("x in {1, 2", 1, END),
    ("x in 5", 1, 6),
    ("x not 5", 1, 7),
    ("x not = 5", 1, 7),
    ("x = 5 y = 6", 1, 7),
    ("exists", 1, END),
    ("exists 5", 1, 8),
    ("x is foo", 1, 6),
    ("x is", 1, END),
    ("x = 'a'", 1, 5),
    ("x < > 5", 1, 5),
    ("x < 5 > 3", 1, 7),
    ("5 < x", 1, 1),
    ("true false", 1, 6),
    ("x = 5 and true true", 1, 16),
    ("t has", 1, END),
    ("t subset 5", 1, 10),
    ("x:float = 3", 1, 2),
    ("x = 1\nand y ! 3", 2, 7),
    ("x = 1\n  and y = 2\n  and z ? 3", 3, 9),
    ("x = 1 and\n\n\n   )", 4, 4),
    ("x = 1\r\nand ?", 2, 5),
    ('s = "éé" ?', 1, 10),
    ("\tx\t=\t?", 1, 6),
    ("x = 1 and\n(y = 2 or\n y = )", 3, 6),
    ("x = 5 # comment", 1, 7),
    ("x = 5;", 1, 6),
    ("x && y", 1, 3),
]


@pytest.mark.parametrize(("text", "line", "column"), POSITIONS)
def test_position_of_a_syntax_error(text: str, line: int, column: int | str) -> None:
    """Line and column, from one, of the first thing that cannot stand where it stands."""
    with pytest.raises(pl.FilterSyntaxError) as caught:
        pl.parse_filter(text)
    error = caught.value
    expected = len(text.rpartition("\n")[2]) + 1 if column == END else column
    assert (error.line, error.column) == (line, expected), error
    assert str(error.line) in str(error)
    assert isinstance(error, pl.FilterError)
    assert isinstance(error, ValueError)
    assert isinstance(error.expected, tuple)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ('x = "abc', range(5, 10)),  # never closed: at the quote, or where the text ends
        ('x = "a\\q"', range(5, 10)),  # no such escape
        ('x = "\\u12"', range(5, 12)),
        ('x = "a\nb"', range(1, 8)),  # JSON has no raw newline in a string
        ("`x = 5", range(1, 8)),
        ("`` = 5", range(1, 3)),
        ("x = 1.2.3", range(5, 10)),
        ("x = 1e", range(5, 8)),
        ("x = $", range(5, 7)),
        ("x = $5", range(5, 7)),
        ("x = 0x10", range(5, 9)),
        ("x = 1_000", range(5, 10)),
        ("x = --5", range(5, 8)),
        ("x. = 5", range(1, 4)),
        (".x = 5", range(1, 3)),
        ("x = .", range(5, 7)),
        ("x = ١", range(5, 7)),
        ("x ≤ 5", range(3, 5)),
        ("x = 5\x00", range(5, 8)),
        ("x = \ud800", range(5, 7)),
    ],
)
def test_broken_tokens(text: str, columns: range) -> None:
    with pytest.raises(pl.FilterSyntaxError) as caught:
        pl.parse_filter(text)
    assert caught.value.line in (1, 2)
    assert caught.value.column in columns


def test_the_error_says_what_was_expected() -> None:
    with pytest.raises(pl.FilterSyntaxError) as caught:
        pl.parse_filter("x in [1 2]")
    assert any("," in word for word in caught.value.expected)
    with pytest.raises(pl.FilterSyntaxError) as caught:
        pl.parse_filter("x = 5 y = 6")
    assert {"and", "or"} <= {word.strip("'\"`").lower() for word in caught.value.expected}


# --- lawful text that is no filter ------------------------------------------------------------

REFUSED = [
    # NaN and infinity
    "x = NaN",
    "x = nan",
    "x in [0, nan]",
    "x = inf",
    "x < Infinity",
    "x > -inf",
    "x = 1e400",
    "x > -1e400",
    "x in [0, 1e999]",
    "x in {1, 1e400}",
    "t has 1e400",
    "x = 1/0",
    "x = 0/0",
    # nothing satisfies it
    "x < 3 and x > 7",
    "x < 3 and x > 3",
    "x < 3 and x >= 3",
    "x = 5 and x != 5",
    "x = 5 and x = 6",
    "x in [5, 2]",
    "x in (5, 5)",
    "x in (5, 5]",
    "x in [5, 5)",
    "x in {}",
    "x:int in (1, 2)",
    "x:int = 4.5",
    "x:int > 3 and x:int < 4",
    "x:int in {0.5, 1/3}",
    "x:int in [0.1, 0.9]",
    "x in [0, 1] and x in (1, 2]",
    "x = true and x = false",
    "x not in {true, false}",
    "x != true and x != false",
    's < ""',
    's = "a" and s = "b"',
    's prefix "a" and s prefix "b"',
    's prefix "ab" and s < "ab"',
    's > "a" and s < "a\\u0000"',
    's not prefix ""',
    's not contains ""',
    's not suffix ""',
    's contains "ab" and s not contains "a"',
    's suffix "a" and s suffix "b"',
    's = "abc" and s contains "x"',
    's prefix "a" and s not contains "a"',
    "t overlaps {}",
    "t has 1 and t lacks 1",
    "t subset {1} and t has 2",
    "t superset {1, 2} and t disjoint {2, 3}",
    "t subset {} and t overlaps {1}",
    "type isa A and type isa B",
    "x < $x",
    "x > $x",
    "x != $x",
    "x:int < $x",
    "x <= $x and x != $x",
    "x < $x or x > $x",
    "x < $x and x > 5",
    "`a b` != $`a b`",
    "pos.x < $pos.x and y = 1",
    # of two minds
    'x = 5 or x = "a"',
    'x in {1, "a"}',
    'x not in {1, "a"}',
    "x in {1, true}",
    'x in [1, "b"]',
    "x is number or x is string",
    "x = 1 or x = true",
    "x = 1 or x has 1",
    'x > 3 and x = "a"',
    "x is number and x is string",
    "x = true and x = 1",
    "x has 1 and x = 1",
    "x is set and x is bool",
    # operands of a wrong type
    "x < true",
    "x >= false",
    "x in [true, false]",
    "x in [false, true]",
    "s prefix 5",
    "s suffix true",
    "s contains 5",
    "s not contains {}",
    "t has {1}",
    "t lacks {}",
    "t subset [1, 2]",
    't overlaps "a"',
    'x:int = "a"',
    "x:int = true",
    'x:int prefix "a"',
    "x:int has 1",
    "x:int is string",
    'x:int in {"a"}',
    "type isa 5",
    "x in {{1}}",
    "x = {1}",
    "x < [1, 2]",
    # over several attributes
    "x < 3 or y > 7",
    "(x < 3 and y = 1) or x > 7",
    "exists x or exists y",
    "(x = 1 or y = 1) and z = 1",
]


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    """A FilterError with a message; nothing else, and no filter."""
    with pytest.raises(pl.FilterError) as caught:
        pl.parse_filter(text)
    assert str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "x < 3 and x > 7",
        "x = true and x = false",
        's = "a" and s = "b"',
        "t has 1 and t lacks 1",
        "x in [5, 2]",
    ],
)
def test_a_contradiction_names_the_attribute(text: str) -> None:
    """It is well written, so it is no syntax error, and the attribute is in the message."""
    with pytest.raises(pl.FilterError) as caught:
        pl.parse_filter("good = 1 and " + text)
    assert not isinstance(caught.value, pl.FilterSyntaxError)
    name = text[0]
    assert any(
        f"{quote}{name}{quote}" in str(caught.value) for quote in ("'", '"', "`", " ")
    ) or str(caught.value).startswith(name)


def test_a_disjunction_over_different_attributes_says_so() -> None:
    for text in ("x < 3 or y > 7", "(x < 3 and y = 1) or x > 7"):
        with pytest.raises(pl.FilterError, match=r"(?i)different attributes") as caught:
            pl.parse_filter(text)
        assert "x" in str(caught.value)
        assert "y" in str(caught.value)


@pytest.mark.parametrize("bad", [None, 5, b"x = 5", ["x = 5"], {"x": 5}, object(), True])
def test_text_that_is_no_text(bad: Any) -> None:
    with pytest.raises((TypeError, pl.FilterError)):
        pl.parse_filter(bad)


@pytest.mark.parametrize("bad", [5, {"x": 5}, {"x": None}, {5: 5}, "x = 5", [("x", 5)], None])
def test_the_constructor_checks(bad: Any) -> None:
    with pytest.raises((TypeError, pl.FilterError)):
        pl.Filter(bad)


# --- absurd sizes -----------------------------------------------------------------------------

MANY = 10_000


def joined(word: str, template: str, count: int = MANY) -> str:
    return f" {word} ".join(template.replace("%", str(i)) for i in range(count))


def nested(left: str, core: str, right: str, depth: int = MANY) -> str:
    return left * depth + core + right * depth


def patterns(word: str, length: int, count: int = 8) -> str:
    """Alternating wanted and unwanted substrings of noise: large automata from little text."""
    random = Random(4)
    texts = ["".join(random.choice("abcd") for _ in range(length)) for _ in range(count)]
    return f" {word} ".join(
        f's {"not " if i % 2 else ""}contains "{text}"' for i, text in enumerate(texts)
    )


ABSURD: dict[str, str] = {
    "pattern alternatives": patterns("or", 100),
    "pattern alternatives short": patterns("or", 20),
    "patterns beside a prefix": 's prefix "' + "abdc" * 12 + '" and ' + patterns("and", 60),
    "megabyte of text": "x = 1 or " * 120_000 + "x = 2",
    "megabyte of blanks": " " * 1_000_000,
    "megabyte of noise": "?" * 1_000_000,
    "megabyte in a string": 's = "' + "a" * 1_000_000 + '"',
    "megabyte name": "x" * 1_000_000 + " = 1",
    "numbers =": joined("or", "x = %"),
    "numbers !=": joined("and", "x != %"),
    "numbers halves": joined("or", "x = %.5"),
    "numbers <": joined("or", "x < %"),
    "numbers > and": joined("and", "x > %"),
    "integers": joined("or", "x:int > %"),
    "ranges": " or ".join(f"x in ({2 * i},{2 * i + 1})" for i in range(7000)),
    "not ranges": " and ".join(f"x not in ({2 * i},{2 * i + 1})" for i in range(6000)),
    "strings =": joined("or", 's = "%"'),
    "strings !=": joined("and", 's != "%"'),
    "strings <": joined("or", 's < "%"'),
    "prefixes": joined("or", 's prefix "%"', 9000),
    "not prefixes": joined("and", 's not prefix "%"', 7000),
    "suffixes": joined("or", 's suffix "%"', 9000),
    "suffixes few": joined("or", 's suffix "%"', 300),
    "contains": joined("or", 's contains "%"', 8000),
    "contains few": joined("or", 's contains "%"', 300),
    "contains and": joined("and", 's contains "%"', 8000),
    "contains and few": " and ".join(f's contains "{chr(97 + i) * 3}"' for i in range(26)),
    "not contains": joined("and", 's not contains "q%"', 6000),
    "bools": " or ".join(["x = true"] * MANY),
    "has": joined("or", "t has %"),
    "has and": joined("and", "t has %"),
    "lacks": joined("and", "t lacks %"),
    "lacks or": joined("or", "t lacks %"),
    "subset": joined("or", "t subset {%}"),
    "superset": joined("or", "t superset {%}"),
    "overlaps": joined("and", "t overlaps {%}", 8000),
    "disjoint": joined("or", "t disjoint {%}", 8000),
    "isa": joined("or", "n isa T%"),
    "isa and": joined("and", "n isa T%"),
    "placeholders": joined("or", "x < $y%"),
    "placeholders and": joined("and", "x < $y%"),
    "exists": " or ".join(["exists x"] * MANY),
    "true": " or ".join(["true"] * MANY),
    "true and": " and ".join(["true"] * MANY),
    "attributes": joined("and", "x% = %"),
    "attributes or": joined("or", "x% = %"),
    "bdd crossed": " and ".join(f"(t has {i} or t has {i + 60})" for i in range(60)),
    "bdd crossed or": " or ".join(f"(t has {i} and t has {i + 60})" for i in range(60)),
    "bdd sets": " and ".join(f"t overlaps {{{i}, {i + 500}}}" for i in range(500)),
    "bdd subsets": " or ".join(
        f"t subset {{{', '.join(str((i * j) % 97) for j in range(20))}}}" for i in range(300)
    ),
    "parentheses": nested("(", "x = 1", ")"),
    "parentheses open": nested("(", "x = 1", ""),
    "parentheses closed": nested("", "x = 1", ")"),
    "parentheses empty": nested("(", "", ")"),
    "nested or": nested("(x = 1 or ", "x = 2", ")"),
    "nested and": nested("(x != 1 and ", "x != 2", ")"),
    "nested both": nested("(x != 1 and (x = 2 or ", "x = 3", "))", 5000),
    "nested left": "(" * 8000 + "x = 1" + " or x = 2)" * 8000,
    "nested strings": nested('(s contains "a" and (s suffix "b" or ', 's = "b"', "))", 2000),
    "nested attributes": nested("(x = 1 and (y = 1 or ", "y = 2", "))", 3000),
    "many brackets": "[" * 100_000,
    "many braces": "x in " + "{" * 100_000,
    "big set": "x in {" + ", ".join(map(str, range(MANY))) + "}",
    "big odd set": "x in {" + ", ".join(str(2 * i) for i in range(MANY)) + "}",
    "big negated set": "x not in {" + ", ".join(map(str, range(MANY))) + "}",
    "big string set": "s in {" + ", ".join(f'"{i}"' for i in range(MANY)) + "}",
    "big subset": "t subset {" + ", ".join(map(str, range(MANY))) + "}",
    "big superset": "t superset {" + ", ".join(map(str, range(MANY))) + "}",
    "big overlaps": "t overlaps {" + ", ".join(map(str, range(MANY))) + "}",
    "big disjoint": "t disjoint {" + ", ".join(map(str, range(MANY))) + "}",
    "big mixed": "t has 1 and t subset {" + ", ".join(f'"{i}", {i}' for i in range(8000)) + "}",
    "not in towers": joined("and", "x not in {%, 1.%}", 7000),
    "string not in towers": " and ".join(f's not in {{"{i}", "a{i}"}}' for i in range(5000)),
    "long string =": 's = "' + "a" * 100_000 + '"',
    "long string <": 's < "' + "ab" * 50_000 + '"',
    "long prefix": 's prefix "' + "ab" * 50_000 + '"',
    "long suffix": 's suffix "' + "ab" * 50_000 + '"',
    "long contains": 's contains "' + "ab" * 50_000 + '"',
    "long not contains": 's not contains "' + "ab" * 50_000 + '"',
    "long mixed": 's contains "' + "ab" * 40_000 + '" and s suffix "' + "ba" * 40_000 + '"',
    "long prefix contains": 's prefix "' + "a" * 90_000 + '" and s contains "' + "ab" * 900 + '"',
    "long escapes": 's = "' + "\\u0041" * 30_000 + '"',
    "long name": "x" * 100_000 + " = 1",
    "long quoted name": "`" + "x y" * 30_000 + "` = 1",
    "long dotted name": "x" + ".x" * 50_000 + " = 1",
    "many dots": "x" + "." * 100_000 + " = 1",
    "long placeholder": "x < $" + "y" * 100_000,
    "long type": "n isa " + "T" * 100_000,
    "huge integer": "x = " + "9" * 5_000,
    "larger integer": "x = " + "9" * 190_000,
    "huge negative": "x > -" + "9" * 100_000,
    "huge range": "x:int in [" + "-" + "9" * 4_000 + ", " + "9" * 4_000 + "]",
    "huge run": "x:int in [0, 1000000000000000000]",
    "huge runs": "x:int in [0, 1000000000000000000] or x in {2000000000000000000, 0.5}",
    "huge decimal": "x = 0." + "3" * 100_000,
    "huge zeros": "x = 1" + "0" * 100_000 + "e-100000",
    "huge exponent": "x = 1e999999999",
    "tiny exponent": "x = 1e-999999999",
    "tinier exponent": "x = 1e-99999999999999999999",
    "zero exponent": "x = 0e999999999",
    "huge fraction": "x = 1/" + "3" * 4_000,
    "larger fraction": "x = " + "7" * 90_000 + "/" + "3" * 90_000,
    "leading zeros": "x = " + "0" * 100_000 + "1",
    "minus signs": "x = " + "-" * 100_000 + "1",
    "commas": "x in {" + "," * 100_000 + "}",
    "spaces between": (" " * 30_000).join(["x", "=", "1", "or", "x"]) + "=2",
    "newlines": "\n" * 100_000 + "x = 1",
    "keywords": "and or not in " * 10_000,
    "one keyword": "not " * 40_000,
    "quotes": '"' * 150_000,
    "backticks": "`" * 150_000,
    "backslashes": 's = "' + "\\" * 150_000,
    "dollars": "x < " + "$" * 150_000,
}


@pytest.mark.parametrize("name", ABSURD)
def test_absurd_sizes(name: str) -> None:
    """A filter or a FilterError: no RecursionError, no MemoryError, no other exception."""
    text = ABSURD[name]
    refusal = ""
    try:
        f = pl.parse_filter(text)
    except pl.FilterError as error:
        refusal = str(error)
    if refusal:
        assert len(refusal) < 2_000, "an error message is for reading"
        return
    assert len({f, f}) == 1
    assert f.covers(f)
    assert f.overlaps(f)
    assert pl.merge(f, f) == f
    assert f.why_not_covers(f) is None
    for value in (1, "a" * 1000, True, {1, 2}, 10**40, 0.5):
        notification = {"x": value, "s": value, "t": value, "n": value}
        assert bool(f.explain(notification)) is f.matches(notification)
        str(f.explain(notification))
    printed = str(f)
    if len(printed) <= 200_000:
        assert pl.parse_filter(printed) == f
    json.dumps(f.to_dict())
    assert pl.Filter.from_dict(f.to_dict()) == f
    repr(f)


def test_text_over_the_limit_is_refused() -> None:
    with pytest.raises(pl.FilterSyntaxError, match=r"(?i)long|200.?000|limit|character"):
        pl.parse_filter("x = 1" + " " * 200_000)


COSTLY_PAIRS = [
    (
        " and ".join(f's contains "{a}a"' for a in "abcdefghijkl"),
        " and ".join(f's contains "{a}b"' for a in "abcdefghijkl"),
    ),
    (
        " or ".join(f's suffix "{a}{b}"' for a in "abcdef" for b in "abcdef"),
        " or ".join(f's contains "{a}{b}{a}"' for a in "abcdef" for b in "abcdef"),
    ),
    (
        's contains "' + "ab" * 3000 + 'b"',
        's suffix "' + "ba" * 3000 + '" and s contains "' + "b" * 3000 + '"',
    ),
    (
        's not contains "' + "a" * 50_000 + '"',
        's suffix "' + "ab" * 40_000 + '"',
    ),
    (
        "s in {" + ", ".join(f'"{i:040d}"' for i in range(3000)) + "}",
        's suffix "7" or s suffix "3"',
    ),
    (
        "s in {" + ", ".join(f'"{i:040d}"' for i in range(3000)) + "}",
        "s in {" + ", ".join(f'"{i:040d}x"' for i in range(3000)) + "}",
    ),
    (
        " and ".join(f"(t has {i} or t lacks {i + 1})" for i in range(200)),
        " and ".join(f"(t has {i} or t lacks {i + 7})" for i in range(14)),
    ),
    (
        " or ".join(f"(t has {i} and t has {i + 10})" for i in range(10)),
        " and ".join(f"(t has {i} or t lacks {19 - i})" for i in range(10)),
    ),
]


@pytest.mark.parametrize("index", range(len(COSTLY_PAIRS)))
def test_costly_pairs(index: int) -> None:
    """Whatever is accepted can be compared, in both directions, with itself and with others."""
    built = []
    for text in COSTLY_PAIRS[index]:
        try:
            built.append(pl.parse_filter(text))
        except pl.FilterError:
            continue
    for f in built:
        assert f.covers(f)
        for g in built:
            assert f.overlaps(g) is g.overlaps(f)
            if f.covers(g):
                assert f.why_not_covers(g) is None
            else:
                why = f.why_not_covers(g)
                assert why is not None
                if why.witness is not None:
                    assert g.matches(why.witness)
                    assert not f.matches(why.witness)
            merged = pl.merge(f, g)
            if merged is not None:
                assert merged.covers(f)
                assert merged.covers(g)


# --- dicts ------------------------------------------------------------------------------------

BAD_DICTS: list[Any] = [
    None,
    5,
    "x = 5",
    [],
    [1],
    {"x": 5},
    {"x": None},
    {"x": {}},
    {"x": []},
    {"x": {"kind": "nonsense"}},
    {"x": {"op": "nonsense", "value": 3}},
    {"filter": 5},
    {"filter": "x ="},
    {"constraints": 5},
    {"constraints": {"x": 5}},
    {"constraints": {"x": {}}},
    {"constraints": [[]]},
    {5: {}},
    {"": {}},
]


@pytest.mark.parametrize("bad", BAD_DICTS, ids=repr)
def test_bad_dicts(bad: Any) -> None:
    with pytest.raises(pl.FilterError):
        pl.Filter.from_dict(bad)


# --- notifications ----------------------------------------------------------------------------


class Awkward:
    """Raises at every question."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __lt__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __bool__(self) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        raise RuntimeError("no")


WEIRD: list[Any] = [
    None,
    object(),
    b"bytes",
    bytearray(b"x"),
    1j,
    Awkward(),
    [Awkward()],
    lambda: 3,
    int,
    (i for i in range(3)),
    range(3),
    {"nested": {"more": 1}},
    {},
    [[1], [2]],
    [{"a": 1}],
    {frozenset({1})},
    [None],
    [math.nan, math.nan],
    {math.nan},
    [math.inf],
    [1j],
    [b"x"],
    Decimal("NaN"),
    Decimal("sNaN"),
    [Decimal("sNaN")],
    Decimal("Infinity"),
    Decimal("-Infinity"),
    Decimal("1e999999"),
    Decimal("1e-999999"),
    [Decimal("1e999999")],
    Fraction(1, 3),
    10**5000,
    [10**5000],
    "\ud800",
    "a" * 100_000,
    np.nan,
    np.float32("nan"),
    np.inf,
    np.array([1, 2, 3]),
    np.array([[1, 2], [3, 4]]),
    np.array(5),
    np.array([], dtype=float),
    np.datetime64("2020-01-01"),
    np.complex128(1),
    np.str_("a"),
    np.bytes_(b"a"),
    np.bool_(True),
    memoryview(b"x"),
    Ellipsis,
    NotImplemented,
]

PROBES = [
    "x = 5",
    "x != 5",
    "x in [0, 10]",
    "x:int > 3",
    "x not in {1, 2}",
    "x is number",
    "x = true",
    "x != true",
    'x = "a"',
    'x prefix "a"',
    'x not contains "a"',
    'x < "b"',
    "x has 1",
    "x lacks 1",
    "x subset {1, 2}",
    "x disjoint {true}",
    "x isa T",
    "x < $y",
    "x != $y",
    "x = $x",
    "exists x",
    "x.nested = 1",
    "x.nested.more = 1",
]


@pytest.mark.parametrize("probe", PROBES)
def test_weird_values_never_raise(probe: str) -> None:
    f = pl.parse_filter(probe)
    for value in WEIRD:
        for notification in ({"x": value, "y": 1}, {"x": 1, "y": value}, {"x": value}):
            answer = f.matches(notification)
            assert answer is True or answer is False, (probe, type(value))
            explanation = f.explain(notification)
            assert bool(explanation) is answer
            assert isinstance(str(explanation), str)


def test_weird_values_belong_to_no_domain() -> None:
    """They exist, and that is all that can be said of them."""
    strangers = [object(), b"bytes", 1j, math.nan, np.nan, Decimal("NaN"), Decimal("sNaN")]
    typed = [pl.parse_filter(f"x is {name}") for name in ("number", "string", "bool", "set")]
    for value in strangers:
        assert pl.parse_filter("exists x").matches({"x": value})
        assert not any(f.matches({"x": value}) for f in typed), value


def test_lone_surrogates() -> None:
    """A Python string may hold half a character; it does not begin with what it does not hold."""
    for text in ('s prefix "\ud7ff"', 's not contains "\ud7ff"', 's suffix "\ue000"'):
        f = pl.parse_filter(text)
        for value in ("\ud800x", "\udfff", "a\ud800", "\ud800\ue000"):
            if f.matches({"s": value}):
                words = text.split()
                constant = words[-1].strip('"')
                assert "prefix" not in words or value.startswith(constant)
                assert "suffix" not in words or value.endswith(constant)


@pytest.mark.parametrize("bad", [None, 5, "x", [("x", 5)], {"x"}, ("x", 5), object()])
def test_a_notification_is_a_mapping(bad: Any) -> None:
    for text in ("x = 5", "true", "x = 5 and y = 6"):
        f = pl.parse_filter(text)
        with pytest.raises(TypeError, match=r"(?i)mapping"):
            f.matches(bad)
        with pytest.raises(TypeError, match=r"(?i)mapping"):
            f.explain(bad)


def test_odd_mappings() -> None:
    f = pl.parse_filter("x = 5 and a.b = 1")
    assert f.matches({"x": 5, "a": {"b": 1}, 3: 4, None: 5, ("a", "b"): 6})
    assert f.matches({"x": 5, "a.b": 1, "a": 7})
    assert not f.matches({"x": 5, "a": 7})
    assert not f.matches({"x": 5, "a": {"c": 1}})
    assert not f.matches({"x": 5, "a": None})
    assert not f.matches({"x": 5, "a": "b"})
    assert not f.matches({"x": 5, "a": ["b"]})
