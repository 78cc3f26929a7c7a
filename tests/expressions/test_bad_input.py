"""Bad input: a clear error, or an answer at once."""

import pickle

import pytest

import posetlib as pl
from posetlib.expressions.tree import MAX_DEPTH, MAX_LEAVES

DEEP = 10_000


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("(" * DEEP + "x = 1" + ")" * DEEP, "x = 1"),
        ("not " * DEEP + "x = 1", "x = 1"),
        ("not " * (DEEP + 1) + "x = 1", "not (x = 1)"),
        ("not (" * DEEP + "x = 1" + ")" * DEEP, "x = 1"),
        ("x = 1 and (" * DEEP + "y = 1" + ")" * DEEP, "x = 1 and y = 1"),
        ("x = 1 and not (y = 1 or not (" * 2_000 + "y = 2" + "))" * 2_000, None),
    ],
)
def test_deep_nesting_that_says_little_is_read(text, same):
    expression = pl.parse_expression(text)
    if same is not None:
        assert str(expression) == same
    assert pl.parse_expression(str(expression)) == expression


@pytest.mark.parametrize(
    "text",
    [
        "x = 1 and (y = 1 or " * 8_000 + "z = 1" + ")" * 8_000,
        "not (x = 1 and (y = 1 or " * 6_000 + "z = 1" + "))" * 6_000,
        "(x = 1 or (y = 1 and " * 5_000 + "z = 1" + "))" * 5_000,
    ],
)
def test_deep_alternation_is_refused(text):
    with pytest.raises(pl.FilterError, match=f"more than {MAX_DEPTH} levels"):
        pl.parse_expression(text)


def test_the_deepest_expression_works_everywhere():
    depth = MAX_DEPTH // 2 - 1
    text = "x{0} = 1 and (y{0} = 1 or "
    text = "".join(text.format(i) for i in range(depth)) + "z = 1" + ")" * depth
    expression = pl.parse_expression(text)
    assert expression.depth == 2 * depth
    assert pl.parse_expression(str(expression)) == expression
    assert pl.Expression.from_dict(expression.to_dict()) == expression
    assert pickle.loads(pickle.dumps(expression)) == expression
    assert ~~expression == expression
    assert expression.covers(expression)
    assert not expression.matches({})
    assert expression.matches({"x0": 1, "y0": 1})


def test_too_many_conditions_are_refused():
    text = " or ".join(f"a{i} = {i}" for i in range(MAX_LEAVES + 1))
    with pytest.raises(pl.FilterError, match="too large"):
        pl.parse_expression(text)
    # Those on one attribute are one condition.
    assert len(pl.parse_expression(" or ".join(f"a = {i}" for i in range(9_000))).leaves()) == 1


def test_an_exploding_disjunctive_form_is_refused():
    expression = pl.parse_expression(
        " and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(30))
    )  # 2**30 conjunctions
    with pytest.raises(pl.FilterError, match="more than 1,000 conjunctions"):
        expression.dnf()
    with pytest.raises(pl.FilterError, match="more than 20,000 conjunctions"):
        expression.dnf(20_000)
    with pytest.raises(pl.FilterError, match="more than 1,000,000,000 conjunctions"):
        expression.dnf(10**9)
    assert expression.covers(expression)
    assert pl.parse_expression("true").covers(expression)
    assert pl.parse_expression("a0 = 1 or b0 = 1").covers(expression)
    assert not expression.covers(pl.parse_expression("true"))
    assert expression.overlaps(pl.parse_expression("c = 1"))
    assert not expression.overlaps(pl.parse_expression("a0 = 2 and b0 = 2"))
    assert expression.simplify() == expression
    assert (
        len(pl.parse_expression(" and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(3))).dnf(8))
        == 8
    )
    with pytest.raises(ValueError, match="at least 1"):
        expression.dnf(0)


def test_a_disjunctive_form_that_shares_an_attribute_is_refused():
    # How many conjunctions there are is known only when they have been multiplied out.
    text = " and ".join(f"(not (a = {i}) or b{i} = 1)" for i in range(8))
    expression = pl.parse_expression(text)  # 2**8 conjunctions
    with pytest.raises(pl.FilterError, match="more than 100 conjunctions"):
        expression.dnf(100)
    assert len(expression.dnf(256)) == 256


def test_a_dictionary_that_contains_itself_is_refused():
    around: dict = {"and": []}
    around["and"].append(around)
    with pytest.raises(pl.FilterError, match="contains itself"):
        pl.Expression.from_dict(around)
    first: dict = {"not": None}
    second = {"or": [{"attribute": "x", "constraint": {"kind": "exists"}}, first]}
    first["not"] = second
    with pytest.raises(pl.FilterError, match="contains itself"):
        pl.Expression.from_dict(first)


@pytest.mark.parametrize("kind", ["not", "holds", "some"])
@pytest.mark.parametrize("circle", [True, False])
def test_a_constraint_that_contains_itself_or_nests_too_deep_is_refused(kind, circle):
    def around(inner: dict) -> dict:
        if kind == "holds":
            return {"kind": kind, "expression": {"attribute": "x", "constraint": inner}}
        return {"kind": kind, {"not": "denied", "some": "element"}[kind]: inner}

    constraint: dict = around({"kind": "exists"})
    if circle:
        for inner in (constraint, constraint.get("expression")):
            for name, value in (inner or {}).items():
                if isinstance(value, dict) and value.get("kind") == "exists":
                    inner[name] = constraint
    else:
        for _ in range(DEEP):
            constraint = around(constraint)
    data = {"attribute": "x", "constraint": constraint}
    with pytest.raises(pl.FilterError, match="too deep, or contains itself") as caught:
        pl.Expression.from_dict(data)
    assert len(str(caught.value)) < 100


def test_a_dictionary_that_shares_parts_without_end_is_refused():
    shared: dict = {"attribute": "x", "constraint": {"kind": "exists"}}
    for _ in range(60):
        shared = {"and": [shared, shared]}
    with pytest.raises(pl.FilterError, match="too large"):
        pl.Expression.from_dict(shared)


def test_a_deep_dictionary_is_read_or_refused():
    data: dict = {"attribute": "x", "constraint": {"kind": "exists"}}
    for _ in range(DEEP):
        data = {"not": data}
    assert str(pl.Expression.from_dict(data)) == "exists x"
    for _ in range(DEEP):
        data = {"and": [{"or": [data]}]}
    assert str(pl.Expression.from_dict(data)) == "exists x"
    other = {"attribute": "y", "constraint": {"kind": "exists"}}
    for _ in range(DEEP):
        data = {"and": [other, {"or": [data, other]}]}
    with pytest.raises(pl.FilterError, match="levels deep"):
        pl.Expression.from_dict(data)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "x = 1",
        {},
        {"and": None},
        {"and": [None]},
        {"and": [], "or": []},
        {"not": []},
        {"xor": []},
        {"attribute": "x"},
        {"attribute": "", "constraint": {"kind": "exists"}},
        {"attribute": "x", "constraint": {"kind": "no such kind"}},
        {"attribute": "x", "constraint": None},
        {1: 2},
    ],
)
def test_other_dictionaries_are_refused(data):
    with pytest.raises(pl.FilterError):
        pl.Expression.from_dict(data)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("not", 4),
        ("x = 1 or", 9),
        ("not not", 8),
        ("x not", 6),
        ("(x = 1", 7),
        ("x = 1)", 6),
    ],
)
def test_syntax_errors_have_their_place(text, column):
    with pytest.raises(pl.FilterSyntaxError) as caught:
        pl.parse_expression(text)
    assert caught.value.column == column
    if not text:
        assert "no expression in empty text" in str(caught.value)


def test_other_types_are_refused():
    expression = pl.parse_expression("x = 1")
    with pytest.raises(TypeError, match="parsed from a string"):
        pl.parse_expression(b"x = 1")
    for call in (expression.covers, expression.overlaps):
        with pytest.raises(TypeError, match="compares with expressions"):
            call(pl.parse_filter("x = 1"))
    for call in (expression.matches, expression.explain):
        with pytest.raises(TypeError, match="mapping"):
            call([("x", 1)])
    with pytest.raises(TypeError):
        expression & pl.parse_filter("x = 1")
    with pytest.raises(pl.FilterError, match="mixed types"):
        pl.parse_expression('x in {1, "a"}')
