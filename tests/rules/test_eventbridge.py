"""Event patterns: each documented operator, and random patterns against a plain matcher."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator
from operator import eq, ge, gt, le, lt
from random import Random
from typing import Any

import pytest

import posetlib as pl

EVENT = {
    "version": "0",
    "source": "aws.ec2",
    "account": "111122223333",
    "region": "us-east-1",
    "resources": ["arn:aws:ec2:us-east-1:111122223333:instance/i-012"],
    "detail": {
        "instance-id": "i-0123",
        "state": "terminated",
        "c-count": 5,
        "d-count": 3,
        "x-limit": 3.018e2,
        "source-ip": "10.0.0.33",
        "nothing": None,
        "empty": [],
        "ok": True,
        "names": ["Anna", "Bo"],
        "FileName": "Image.PNG",
        "path": "C:\\x",
        "stars": "a*b",
        "LastName": "",
    },
}

# (pattern of "detail", whether it matches the event): the operators as they are documented.
CASES: list[tuple[dict[str, Any], bool]] = [
    ({"state": ["terminated"]}, True),
    ({"state": ["running", "terminated"]}, True),
    ({"state": ["running"]}, False),
    ({"ok": [True]}, True),
    ({"ok": ["true"]}, False),
    ({"c-count": [5]}, True),
    ({"c-count": ["5"]}, False),
    ({"nothing": [None]}, True),
    ({"state": [None]}, False),
    ({"names": ["Bo", "Cy"]}, True),
    ({"names": ["Cy"]}, False),
    ({"instance-id": [{"prefix": "i-"}]}, True),
    ({"instance-id": [{"prefix": "j-"}]}, False),
    ({"FileName": [{"suffix": ".png"}]}, False),
    ({"FileName": [{"suffix": {"equals-ignore-case": ".png"}}]}, True),
    ({"FileName": [{"prefix": {"equals-ignore-case": "IMAGE"}}]}, True),
    ({"FileName": [{"equals-ignore-case": "image.png"}]}, True),
    ({"FileName": [{"wildcard": "I*e.*"}]}, True),
    ({"FileName": [{"wildcard": "I*x.*"}]}, False),
    ({"FileName": [{"wildcard": "I?age.PNG"}]}, False),
    ({"FileName": [{"wildcard": "Image\\*PNG"}]}, False),
    ({"path": [{"wildcard": "C:*\\\\*"}]}, True),  # a star on both sides of a backslash
    ({"path": [{"wildcard": "*\\**"}]}, False),  # and of a plain star
    ({"stars": [{"wildcard": "*\\**"}]}, True),
    ({"LastName": [""]}, True),
    ({"state": [{"anything-but": "initializing"}]}, True),
    ({"state": [{"anything-but": ["terminated", "stopped"]}]}, False),
    ({"x-limit": [{"anything-but": 123}]}, True),
    ({"x-limit": [{"anything-but": [301.8, 300]}]}, False),
    ({"c-count": [{"anything-but": "5"}]}, True),
    ({"state": [{"anything-but": {"prefix": "term"}}]}, False),
    ({"state": [{"anything-but": {"prefix": ["init", "run"]}}]}, True),
    ({"FileName": [{"anything-but": {"suffix": ".txt"}}]}, True),
    ({"FileName": [{"anything-but": {"equals-ignore-case": ["image.png"]}}]}, False),
    ({"FileName": [{"anything-but": {"wildcard": "*.P*"}}]}, False),
    ({"absent": [{"anything-but": "x"}]}, False),
    ({"names": [{"anything-but": "Anna"}]}, True),  # Bo is another name
    ({"names": [{"anything-but": ["Anna", "Bo"]}]}, False),
    ({"c-count": [{"numeric": [">", 0, "<=", 5]}]}, True),
    ({"d-count": [{"numeric": ["<", 10]}]}, True),
    ({"x-limit": [{"numeric": ["=", 3.018e2]}]}, True),
    ({"x-limit": [{"numeric": ["=", 301.8]}]}, True),
    ({"c-count": [{"numeric": [">", 5]}]}, False),
    ({"source-ip": [{"cidr": "10.0.0.0/24"}]}, True),
    ({"source-ip": [{"cidr": "10.0.1.0/24"}]}, False),
    ({"source-ip": [{"cidr": "::/0"}]}, False),
    ({"state": [{"exists": True}]}, True),
    ({"absent": [{"exists": True}]}, False),
    ({"absent": [{"exists": False}]}, True),
    ({"state": [{"exists": False}]}, False),
    ({"nothing": [{"exists": True}]}, True),
    ({"empty": [{"exists": True}]}, False),
    ({"empty": [{"exists": False}]}, True),
    ({"absent": [{"exists": False}], "state": [{"prefix": "t"}]}, True),
    ({"absent": ["x", {"exists": False}]}, True),
    ({"$or": [{"c-count": [{"numeric": [">", 9]}]}, {"d-count": [3]}]}, True),
    ({"$or": [{"c-count": [6]}, {"d-count": [4]}], "state": ["terminated"]}, False),
    ({"state": ["terminated"], "c-count": [6]}, False),
]


@pytest.mark.parametrize(("detail", "wanted"), CASES, ids=lambda case: json.dumps(case)[:60])
@pytest.mark.parametrize("lists_of_objects", [True, False])
def test_each_documented_operator(
    detail: dict[str, Any], wanted: bool, lists_of_objects: bool
) -> None:
    pattern = {"source": ["aws.ec2"], "detail": detail}
    expression = pl.read_eventbridge(pattern, lists_of_objects=lists_of_objects)
    assert expression.matches(EVENT) is wanted
    assert pl.read_eventbridge(json.dumps(pattern)).matches(EVENT) is wanted
    assert pl.parse_expression(str(expression)).matches(EVENT) is wanted
    assert pl.Expression.from_dict(expression.to_dict()) == expression


STAFF = {"employees": [
    {"firstName": "Anna", "lastName": "Smith", "ids": [1, 2]},
    {"firstName": "Bo", "lastName": "Jones", "ids": [3], "team": {"site": "x"}},
    [{"firstName": "Cy", "lastName": "Lee"}],
]}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"firstName": ["Anna"]}, True),
        ({"firstName": ["Anna"], "lastName": ["Smith"]}, True),
        # The rule of the documentation: not the first name of one, and the last of another.
        ({"firstName": ["Anna"], "lastName": ["Jones"]}, False),
        ({"firstName": ["Cy"], "lastName": ["Lee"]}, True),
        ({"ids": [3], "team": {"site": ["x"]}}, True),
        ({"ids": [1], "team": {"site": ["x"]}}, False),
        ({"lastName": ["Jones"], "$or": [{"firstName": ["Anna"]}, {"firstName": ["Bo"]}]}, True),
        ({"lastName": ["Jones"], "$or": [{"firstName": ["Anna"]}, {"ids": [9]}]}, False),
        ({"age": [{"exists": False}]}, True),
        ({"ids": [{"exists": False}]}, False),
        ({"firstName": ["Bo"], "age": [{"exists": False}]}, True),
    ],
)
def test_lists_of_objects(fields: dict[str, Any], wanted: bool) -> None:
    assert pl.read_eventbridge({"employees": fields}).matches(STAFF) is wanted


def test_or_beside_a_nested_object_speaks_of_the_same_element() -> None:
    pattern = {
        "employees": {"firstName": ["Anna"]},
        "$or": [{"employees": {"lastName": ["Jones"]}}, {"site": ["x"]}],
    }
    expression = pl.read_eventbridge(pattern)
    assert not expression.matches(STAFF)
    assert expression.matches({**STAFF, "site": "x"})
    assert expression.matches({"employees": [{"firstName": "Anna", "lastName": "Jones"}]})


# -- the same rules, by a plain matcher on random patterns -----------------------------------------


COMPARISONS = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


def flattened(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for each in value:
            yield from flattened(each)
    else:
        yield value


def plain_object(pattern: dict[str, Any], event: dict[str, Any]) -> bool:
    return all(plain_field(key, each, event) for key, each in pattern.items())


def plain_field(key: str, wanted: Any, event: dict[str, Any]) -> bool:
    found = list(flattened(event[key])) if key in event else []
    if isinstance(wanted, dict):
        objects = [each for each in found if isinstance(each, dict)]
        return any(plain_object(wanted, each) for each in objects)
    leaves = [each for each in found if not isinstance(each, dict)]
    return any(plain_test(test, leaves) for test in wanted)


def plain_test(test: Any, leaves: list[Any]) -> bool:
    if not isinstance(test, dict):
        return any(type(each) is type(test) and each == test for each in leaves)
    ((operator, operand),) = test.items()
    if operator == "exists":
        return bool(leaves) is operand
    return any(plain_leaf(operator, operand, each) for each in leaves)


def plain_leaf(operator: str, operand: Any, value: Any) -> bool:
    if operator == "anything-but":
        if isinstance(operand, dict):
            ((inner, texts),) = operand.items()
            return not any(plain_leaf(inner, text, value) for text in texts)
        return not any(type(value) is type(each) and value == each for each in operand)
    if operator == "numeric":
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        pairs = zip(operand[::2], operand[1::2], strict=True)
        return all(COMPARISONS[comparison](value, number) for comparison, number in pairs)
    if not isinstance(value, str):
        return False
    if operator == "cidr":
        try:
            return ipaddress.ip_address(value) in ipaddress.ip_network(operand)
        except ValueError:
            return False
    if operator in ("prefix", "suffix"):
        texts = (value, operand)
        if isinstance(operand, dict):
            texts = (value.lower(), operand["equals-ignore-case"].lower())
        return (
            texts[0].startswith(texts[1]) if operator == "prefix" else texts[0].endswith(texts[1])
        )
    if operator == "equals-ignore-case":
        return value.lower() == operand.lower()
    assert operator == "wildcard"
    return re.fullmatch(".*".join(map(re.escape, operand.split("*"))), value) is not None


TEXTS = ("a", "ab", "AB", "b", "10.0.0.1", "10.0.1.1", "")


def random_test(random: Random) -> Any:
    text, other = random.choice(TEXTS[:4]), random.choice(TEXTS)
    return random.choice([
        text, other, random.randrange(4), True, {"prefix": text}, {"suffix": text},
        {"prefix": {"equals-ignore-case": text}}, {"suffix": {"equals-ignore-case": text}},
        {"equals-ignore-case": text}, {"wildcard": f"{text}*b"}, {"wildcard": f"*{text}*"},
        {"cidr": "10.0.0.0/24"}, {"numeric": [">", random.randrange(4)]},
        {"numeric": [">=", 1, "<", 3]}, {"exists": True}, {"anything-but": [text, other]},
        {"anything-but": [1, 2]}, {"anything-but": {"prefix": [text]}},
        {"anything-but": {"wildcard": ["a*b", text]}}, {"anything-but": {"suffix": [text]}},
    ])  # fmt: skip


def random_pattern(random: Random, depth: int = 0) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key in random.sample("xyz", random.randint(1, 2)):
        if depth < 2 and random.random() < 0.3:
            fields[key] = random_pattern(random, depth + 1)
        else:
            fields[key] = [random_test(random) for _ in range(random.randint(1, 2))]
    return fields


def random_event(random: Random, depth: int = 0) -> dict[str, Any]:
    def value(*, in_list: bool = False) -> Any:
        form = random.random()
        if form < 0.25 and not in_list:
            return [value(in_list=True) for _ in range(random.randrange(4))]
        if form < 0.45 and depth < 3:
            return random_event(random, depth + 1)
        return random.choice([*TEXTS, 0, 1, 2, 3, True, None])

    return {key: value() for key in "xyz" if random.random() < 0.8}


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_and_events(seed: int) -> None:
    random = Random(seed)
    matched = 0
    for _ in range(300):
        pattern = random_pattern(random)
        expression = pl.read_eventbridge(pattern)
        for _ in range(12):
            event = random_event(random)
            wanted = plain_object(pattern, event)
            matched += wanted
            assert expression.matches(event) is wanted, (seed, pattern, event)
    assert 300 < matched < 3_300


# -- what is no pattern ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("[1]", "an object"),
        ("{", "no JSON"),
        ({}, "an object with fields"),
        ({"a": {}}, "a: an object with fields"),
        ({"a": 5}, "a: a field has a list"),
        ({"a": []}, "a: a field has at least one value"),
        ({"a": {"b": [{"prefix": 5}]}}, "a.b: prefix: a string is needed"),
        ({"a": [{"near": 5}]}, "a: unknown operator 'near'"),
        ({"a": [{"prefix": "x", "suffix": "y"}]}, "the only field"),
        ({"a": [{"numeric": [">"]}]}, "a: numeric: pairs"),
        ({"a": [{"numeric": ["!", 5]}]}, "a comparison is"),
        ({"a": [{"numeric": [">", "5"]}]}, "a number is needed"),
        ({"a": [{"numeric": ["<", 1, ">", 2]}]}, "a: numeric"),
        ({"a": [{"exists": "yes"}]}, "exists is true or false"),
        ({"a": [{"cidr": "10.0.0.0/99"}]}, "a: cidr"),
        ({"a": [{"wildcard": "a**b"}]}, "two stars"),
        ({"a": [{"wildcard": "a\\?b"}]}, "stands before * or"),
        ({"a": [{"wildcard": "a\\"}]}, "stands before * or"),
        # With a reserved name among its fields, "$or" is a field of that name.
        ({"$or": [{"a": [1], "prefix": ["b"]}, {"c": [1]}]}, "$or: an operator is the only field"),
        ({"a": [{"anything-but": []}]}, "an empty list"),
        ({"a": [{"anything-but": [1, "a"]}]}, "mixed types"),
        ({"a": [{"anything-but": {"near": "a"}}]}, "unknown operator"),
        ({"a": [[1]]}, "a: the set"),
        ({"a": [float("nan")]}, "a: "),
        ({"": [1]}, "a field has a name"),
        ({5: [1]}, "a field has a name"),
    ],
)
def test_bad_patterns_are_named(pattern: Any, message: str) -> None:
    with pytest.raises(pl.FilterError, match=re.escape(message)):
        pl.read_eventbridge(pattern)


def test_hostile_patterns_end_at_once() -> None:
    circle: dict[str, Any] = {}
    circle["a"] = circle
    with pytest.raises(pl.FilterError, match="deep"):
        pl.read_eventbridge(circle)
    with pytest.raises(pl.FilterError, match="deep"):
        pl.read_eventbridge('{"a":' * 30_000 + "1" + "}" * 30_000)
    many = {"$or": [{"$or": [{f"x{i}{j}": [1]} for j in range(40)]} for i in range(40)]}
    with pytest.raises(pl.FilterError, match="combinations"):
        pl.read_eventbridge(many)
    slow = pl.read_eventbridge({"a": [{"wildcard": "*a" * 60 + "b"}]})
    assert not slow.matches({"a": "a" * 20_000})
