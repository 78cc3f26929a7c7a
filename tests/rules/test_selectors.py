"""Message selectors of JMS, held against three-valued logic on random selectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import posetlib as pl

Truth = bool | None  # None: unknown
Meaning = Callable[[dict[str, Any]], Truth]

NAMES = ("a", "b", "c")
VALUES: tuple[Any, ...] = (0, 1, 2, 2.5, "x", "xy", "y", "a_b", True, False, None)


def kind(value: Any) -> str:
    return "bool" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def compare(left: Any, operator: str, right: Any) -> Truth:
    """A comparison: unknown with null, false for unlike types; only numbers have an order."""
    if left is None or right is None:
        return None
    if kind(left) != kind(right) or (operator not in ("=", "<>") and kind(left) != "number"):
        return False
    return {
        "=": left == right, "<>": left != right, "<": left < right, "<=": left <= right,
        ">": left > right, ">=": left >= right,
    }[operator]  # fmt: skip


def text_test(name: str, test: Callable[[str], bool]) -> Meaning:
    def meaning(message: dict[str, Any]) -> Truth:
        value = message.get(name)
        return None if value is None else isinstance(value, str) and test(value)

    return meaning


def random_condition(random: Random) -> tuple[str, Meaning]:
    name, other = random.sample(NAMES, 2)
    number = random.choice([0, 1, 2, 2.5])
    form = random.randrange(10)
    operator = random.choice(["=", "<>", "<", "<=", ">", ">="])
    if form == 0:
        return f"{name} {operator} {number}", lambda m: compare(m.get(name), operator, number)
    if form == 1:
        return f"{number} {operator} {name}", lambda m: compare(number, operator, m.get(name))
    if form == 2:
        sign = random.choice(["=", "<>"])
        return f"{name} {sign} 'x'", lambda m: compare(m.get(name), sign, "x")
    if form == 3:
        negated = random.random() < 0.5

        def inside(message: dict[str, Any]) -> Truth:
            value = message.get(name)
            if value is None:
                return None
            return kind(value) == "number" and (1 <= value <= 2) is not negated

        return f"{name} {'NOT ' * negated}between 1 AND 2", inside
    if form == 4:
        negated = random.random() < 0.5
        text = f"{name} {'NOT ' * negated}IN ('x', 'y')"
        return text, text_test(name, lambda v: (v in ("x", "y")) is not negated)
    if form == 5:
        negated = random.random() < 0.5
        text = f"{name} {'not ' * negated}LIKE 'x%'"
        return text, text_test(name, lambda v: v.startswith("x") is not negated)
    if form == 6:
        text = f"{name} LIKE 'a!__' ESCAPE '!'"
        return text, text_test(name, lambda v: re.fullmatch("a_.", v) is not None)
    if form == 7:
        negated = random.random() < 0.5
        return f"{name} IS {'NOT ' * negated}NULL", lambda m: (m.get(name) is None) is not negated
    if form == 8:

        def between(message: dict[str, Any]) -> Truth:
            return both(
                compare(message.get(name), ">=", message.get(other)),
                compare(message.get(name), "<=", 2),
            )

        return f"({name}) BETWEEN {other} AND 2", between
    return f"{name} {operator} {other}", lambda m: compare(m.get(name), operator, m.get(other))


def both(one: Truth, other: Truth) -> Truth:
    return False if False in (one, other) else None if None in (one, other) else True


def random_selector(random: Random, depth: int = 0) -> tuple[str, Meaning]:
    if depth == 3 or random.random() < 0.3:
        return random_condition(random)
    if random.random() < 0.3:
        text, inner = random_selector(random, depth + 1)
        return f"NOT ({text})", lambda m: None if inner(m) is None else not inner(m)
    parts = [random_selector(random, depth + 1) for _ in range(2)]
    word = random.choice(["AND", "or"])

    def joined(message: dict[str, Any]) -> Truth:
        found = [part(message) for _, part in parts]
        settled = word == "or"
        if settled in found:
            return settled
        return None if None in found else not settled

    return f" {word} ".join(f"({text})" for text, _ in parts), joined


@pytest.mark.parametrize("seed", range(4))
def test_random_selectors_against_three_valued_logic(seed: int) -> None:
    random = Random(seed)
    selected = 0
    for _ in range(300):
        text, meaning = random_selector(random)
        expression = pl.read_selector(text)
        for _ in range(12):
            message = {name: random.choice(VALUES) for name in NAMES if random.random() < 0.8}
            wanted = meaning(message) is True
            selected += wanted
            assert expression.matches(message) is wanted, (seed, text, message)
    assert 300 < selected < 3_300


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("", "true"),
        ("   ", "true"),
        ("age >= 5", "age >= 5"),
        ("price = 1.5e2 AND n = 62L AND h = 0x1F", "h = 31 and n = 62 and price = 150"),
        ("x = -7", "x = -7"),
        ("name = 'it''s'", 'name = "it\'s"'),
        ("flag", "flag = true"),
        ("NOT flag", "flag = false"),
        ("TRUE", "true"),
        ("1 > 2", "false"),
        ("'a' <> 1", "false"),
        ("JMSType = 'car' And color = 'blue'", 'JMSType = "car" and color = "blue"'),
        ("phone LIKE '12%3'", 'phone like "12*3"'),
        ("word LIKE 'l_se'", 'word like "l?se"'),
        (r"u LIKE '\_%' ESCAPE '\'", 'u prefix "_"'),
        ("$a = 1 AND b$ = 2", "`$a` = 1 and `b$` = 2"),
        ("a = 017 AND b = 0 AND c = 00 AND d = 017.5", "a = 15 and b = 0 and c = 0 and d = 17.5"),
        ("(a) >= (5)", "a >= 5"),
        ("a < b", "a < $b and a is number"),
        ("5 BETWEEN 1 AND 9", "true"),
    ],
)
def test_examples(selector: str, text: str) -> None:
    assert str(pl.read_selector(selector)) == text


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("a + 1 > 3", "arithmetic"),
        ("a * 2 = 4", "arithmetic"),
        ("a - b > 0", "arithmetic"),
        ("-a = 5", "line 1, column 1: arithmetic"),
        ("(a / 2) = 5", "line 1, column 4: arithmetic"),
        ("a = NULL", "unexpected 'NULL'"),
        ("a <> null", "unexpected 'null'"),
        ("and = 1", "unexpected 'and'"),
        ("NOT NULL", "unexpected 'NULL'"),
        ("(a = 1) = TRUE", "not compared"),
        ("a = 08", "base 8"),
        ("a BETWEEN TRUE AND 5", "properties and numbers"),
        ("a >", "ends too early"),
        ("a = = 3", "unexpected '='"),
        ("(a = 1", "ends too early"),
        ("a = 1)", "unexpected"),
        ("a > 'x'", "compare by = and <> only"),
        ("a IN (1, 2)", "unexpected '1'"),
        ("a BETWEEN 'x' AND 'y'", "properties and numbers"),
        ("a LIKE 'x' ESCAPE 'yy'", "one character"),
        ("a LIKE 'x!' ESCAPE '!'", "nothing follows"),
        ("5", "a condition is needed"),
        ("a = 'x", "unexpected"),
    ],
)
def test_bad_selectors_are_refused(selector: str, message: str) -> None:
    with pytest.raises(pl.FilterError, match=message):
        pl.read_selector(selector)


def test_deep_selectors_take_no_time() -> None:
    deep = pl.read_selector("(" * 10_000 + "a = 1" + ")" * 10_000)
    assert str(deep) == "a = 1"
    assert pl.read_selector("NOT " * 10_001 + "a = 1").matches({"a": 2})
