"""Constraints are open: IP networks and circles, made outside the package, obey every law."""

from __future__ import annotations

import copy
import ipaddress
import itertools
import json
import pickle
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import posetlib as pl

from .lawbook import check_laws


class Network(pl.Constraint):
    """The addresses of one IP network, as strings."""

    domain = "string"
    kind = "test-network"

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise pl.FilterError(f"a network is a string, not {text!r}")
        try:
            self.network = ipaddress.ip_network(text)
        except ValueError as error:
            raise pl.FilterError(str(error)) from None

    def matches(self, value: Any) -> bool:
        if not isinstance(value, str):
            return False
        try:
            return ipaddress.ip_address(value) in self.network
        except ValueError:
            return False

    def covers(self, other: pl.Constraint) -> bool:
        if not isinstance(other, Network):
            return super().covers(other)
        if other.network.version != self.network.version:
            return False
        return other.network.subnet_of(self.network)  # type: ignore[arg-type]

    def overlaps(self, other: pl.Constraint) -> bool:
        if not isinstance(other, Network):
            return super().overlaps(other)
        return self.covers(other) or other.covers(self)

    def merge(self, other: pl.Constraint) -> pl.Constraint | None:
        if isinstance(other, Network) and not self.overlaps(other):
            mine, theirs = self.network.supernet(), other.network.supernet()
            return Network(str(mine)) if mine == theirs else None
        return super().merge(other)

    def hull(self, other: pl.Constraint) -> pl.Constraint | None:
        if not isinstance(other, Network) or other.network.version != self.network.version:
            return None
        whole: pl.Constraint = self
        while not whole.covers(other):
            assert isinstance(whole, Network)
            whole = Network(str(whole.network.supernet()))
        return whole

    def example(self) -> str:
        return str(self.network[0])

    def clauses(self, name: str) -> tuple[str, ...]:
        return (f'{name} within "{self.network}"',)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "network": str(self.network)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Network:
        return cls(data["network"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self.network == other.network

    def __hash__(self) -> int:
        return hash((Network, self.network))


class Circle(pl.Constraint):
    """Points (x, y) within a distance of a centre; whole numbers, so that all is exact."""

    kind = "test-circle"

    def __init__(self, operand: tuple[int, int, int]) -> None:
        if not isinstance(operand, tuple) or len(operand) != 3 or operand[2] < 0:
            raise pl.FilterError("a circle is (x, y, radius)")
        self.x, self.y, self.radius = operand

    def _distance(self, x: Any, y: Any) -> Any:
        return (self.x - x) ** 2 + (self.y - y) ** 2

    def matches(self, value: Any) -> bool:
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            return False
        if not all(isinstance(part, (int, float)) for part in value):
            return False
        return bool(self._distance(*value) <= self.radius**2)

    def covers(self, other: pl.Constraint) -> bool:
        if not isinstance(other, Circle):
            return super().covers(other)
        room = self.radius - other.radius
        return room >= 0 and self._distance(other.x, other.y) <= room**2

    def overlaps(self, other: pl.Constraint) -> bool:
        if not isinstance(other, Circle):
            return super().overlaps(other)
        return bool(self._distance(other.x, other.y) <= (self.radius + other.radius) ** 2)

    def merge(self, other: pl.Constraint) -> pl.Constraint | None:
        return super().merge(other)

    def example(self) -> tuple[int, int]:
        return (self.x, self.y)

    def example_outside(self, other: pl.Constraint) -> Any:
        r = self.radius
        edge = [(self.x + dx, self.y + dy) for dx, dy in ((0, 0), (r, 0), (-r, 0), (0, r), (0, -r))]
        return next((p for p in edge if not other.matches(p)), super().example_outside(other))

    def clauses(self, name: str) -> tuple[str, ...]:
        return (f"{name} near ({self.x}, {self.y}, {self.radius})",)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "circle": [self.x, self.y, self.radius]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Circle:
        return cls(tuple(data["circle"]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Circle) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((Circle, self.x, self.y, self.radius))


@pytest.fixture(autouse=True, scope="module")
def _registered() -> Iterator[None]:
    """The two operators, for this module only."""
    pl.register_constraint("within", Network)
    pl.register_constraint("near", Circle)
    yield
    pl.unregister_constraint("within")
    pl.unregister_constraint("near")


# Every network within 10.0.0.0/29, down to single addresses: the universe is eight addresses.
ADDRESSES = [f"10.0.0.{i}" for i in range(8)]
NETWORKS = [
    str(net)
    for length in range(29, 33)
    for net in ipaddress.ip_network("10.0.0.0/29").subnets(new_prefix=length)
]
CENTRES = list(itertools.product(range(0, 7, 3), repeat=2))
CIRCLES = [(x, y, r) for x, y in CENTRES for r in (0, 1, 3, 5)]
POINTS = list(itertools.product(range(-6, 14), repeat=2))


def network(text: str) -> pl.Filter:
    return pl.parse_filter(f'a within "{text}"')


def circle(operand: tuple[int, int, int]) -> pl.Filter:
    return pl.parse_filter(f"p near {operand}")


def test_networks_against_enumeration() -> None:
    built = [network(text) for text in NETWORKS]
    inside = [{a for a in ADDRESSES if f.matches({"a": a})} for f in built]
    for (f, in_f), (g, in_g) in itertools.product(zip(built, inside, strict=True), repeat=2):
        assert f.covers(g) is (in_f >= in_g)
        assert f.overlaps(g) is bool(in_f & in_g)
        assert (f == g) is (in_f == in_g)
        merged = pl.merge(f, g)
        if merged is not None:
            assert {a for a in ADDRESSES if merged.matches({"a": a})} == in_f | in_g
            assert merged.covers(f)
            assert merged.covers(g)
        loose = pl.merge(f, g, perfect=False)
        assert loose is not None
        assert loose.covers(f)
        assert loose.covers(g)
    check_laws([*built, pl.parse_filter("exists a"), pl.parse_filter("a is string")])


def test_circles_against_enumeration() -> None:
    """Sound both ways on a grid; the laws hold exactly."""
    built = [circle(operand) for operand in CIRCLES]
    inside = [{p for p in POINTS if f.matches({"p": p})} for f in built]
    for (f, in_f), (g, in_g) in itertools.product(zip(built, inside, strict=True), repeat=2):
        if f.covers(g):
            assert in_f >= in_g
        else:
            why = f.why_not_covers(g)
            assert why is not None
            assert why.attribute == "p"
            if why.witness is not None:
                assert g.matches(why.witness)
                assert not f.matches(why.witness)
        if not f.overlaps(g):
            assert not in_f & in_g
    check_laws([*built, pl.parse_filter("exists p"), pl.parse_filter("true")])


def check_round_trips(f: pl.Filter) -> None:
    assert pl.parse_filter(str(f)) == f
    assert str(pl.parse_filter(str(f))) == str(f)
    assert pl.Filter.from_dict(json.loads(json.dumps(f.to_dict()))) == f
    assert copy.deepcopy(f) == f
    assert copy.copy(f) == f
    assert pickle.loads(pickle.dumps(f)) == f


TEXTS = [
    'a within "10.0.0.0/29"',
    'a within "10.0.0.0/31" or a within "10.0.0.4/30"',
    'a within "10.0.0.0/30" and a != "10.0.0.1"',
    'a within "10.0.0.0/30" and a prefix "10.0.0."',
    'a within "10.0.0.0/30" or a = "10.0.0.7"',
    'a within "10.0.0.0/30" and (a = "10.0.0.1" or a = "10.0.0.2")',
    'a within "10.0.0.0/30" and a is string',
    'a within "10.0.0.0/30" or a is string',
    'a within "10.0.0.0/30" and exists a',
    'a within "10.0.0.0/30" or exists a',
    '(a within "10.0.0.0/31" or a within "10.0.0.6/31") and a suffix "6"',
    'a in {"10.0.0.1", "10.0.0.9"}',
    'a = "10.0.0.1"',
    'a prefix "10.0.0."',
    "a is string",
    "exists a",
    "a = 5",
    'a within "2001:db8::/32"',
    'a within "10.0.0.0/30" and a <= $b',
]
VALUES: list[Any] = [*ADDRESSES, "10.0.0.9", "2001:db8::1", "x", "", 5, True, None, ("10.0.0.1",)]


def means(text: str, value: Any) -> bool:
    """The few operators of TEXTS, written down once more."""

    def within(net: str) -> bool:
        try:
            return isinstance(value, str) and ipaddress.ip_address(value) in ipaddress.ip_network(
                net
            )
        except ValueError:
            return False

    python = text.replace("exists a", "True").replace("a is string", "string")
    for word in ("within", "prefix", "suffix"):
        python = python.replace(f"a {word} ", f"{word} @ ")
    python = python.replace("{", "(").replace("}", ")").replace("a <= $b", "string")

    class Operator:
        def __init__(self, ask: Any) -> None:
            self.ask = ask

        def __matmul__(self, operand: str) -> bool:
            return bool(self.ask(operand))

    string = isinstance(value, str)
    names = {
        "string": string,
        "within": Operator(within),
        "prefix": Operator(lambda p: string and value.startswith(p)),
        "suffix": Operator(lambda p: string and value.endswith(p)),
        "a": value,
    }
    if not string and "!=" in python:
        return False
    return bool(eval(python.replace(" = ", " == "), {"__builtins__": {}}, names))


def test_combined_with_built_in_constraints() -> None:
    """On one attribute, with and and or: matching is exact, comparing sound and lawful."""
    built = [pl.parse_filter(text) for text in TEXTS]
    matched = []
    for text, f in zip(TEXTS, built, strict=True):
        row = [f.matches({"a": value, "b": "~"}) for value in VALUES]
        assert row == [means(text, value) for value in VALUES], text
        matched.append(row)
        check_round_trips(f)
    check_laws(built, antisymmetric=False)
    for (f, in_f), (g, in_g) in itertools.product(zip(built, matched, strict=True), repeat=2):
        if f.covers(g):
            assert all(mine or not other for mine, other in zip(in_f, in_g, strict=True))
        if not f.overlaps(g):
            assert not any(mine and other for mine, other in zip(in_f, in_g, strict=True))
        merged = pl.merge(f, g)
        if merged is not None:
            row = [merged.matches({"a": value, "b": "~"}) for value in VALUES]
            assert row == [mine or other for mine, other in zip(in_f, in_g, strict=True)]


def test_folding_of_combinations() -> None:
    assert pl.parse_filter('a within "10.0.0.0/30" and a within "10.0.0.0/31"') == (
        network("10.0.0.0/31")
    )
    assert pl.parse_filter('a within "10.0.0.0/31" or a within "10.0.0.2/31"') == (
        network("10.0.0.0/30")
    )
    assert pl.parse_filter('a within "10.0.0.0/30" and a is string') == network("10.0.0.0/30")
    assert pl.parse_filter('a within "10.0.0.0/30" or a is string') == (
        pl.parse_filter("a is string")
    )
    with pytest.raises(pl.FilterError):
        pl.parse_filter('a within "10.0.0.0/31" and a within "10.0.0.2/31"')
    with pytest.raises(pl.FilterError):
        pl.parse_filter('a within "10.0.0.0/31" and a = 5')
    with pytest.raises(pl.FilterError):
        pl.parse_filter('a within "10.0.0.0/31" or a = 5')
    tight = pl.parse_filter('a within "10.0.0.0/30" and a prefix "10"')
    assert network("10.0.0.0/29").covers(tight)
    assert pl.parse_filter('a prefix "1"').covers(tight)
    assert not tight.covers(network("10.0.0.0/30"))


operators = st.sampled_from(["and", "or"])
atoms = st.sampled_from(
    [f'a within "{text}"' for text in NETWORKS[:9]]
    + ['a = "10.0.0.1"', 'a != "10.0.0.1"', 'a prefix "10.0"', 'a > "10.0.0.2"', "a is string"]
)


@given(st.lists(st.tuples(operators, atoms), min_size=1, max_size=4), atoms)
def test_any_combination_is_sound(rest: list[tuple[str, str]], first: str) -> None:
    text = first
    truth = [means_atom(first, value) for value in VALUES]
    for word, atom in rest:
        text = f"({text}) {word} ({atom})"
        other = [means_atom(atom, value) for value in VALUES]
        truth = [
            (a and b) if word == "and" else (a or b) for a, b in zip(truth, other, strict=True)
        ]
    try:
        f = pl.parse_filter(text)
    except pl.FilterError:
        assert not any(truth)
        return
    assert [f.matches({"a": value}) for value in VALUES] == truth
    check_round_trips(f)
    check_laws([f, pl.parse_filter(first), pl.parse_filter("exists a")], antisymmetric=False)


def means_atom(text: str, value: Any) -> bool:
    if " > " in text:
        return isinstance(value, str) and value > text.split('"')[1]
    return means(text, value)


def test_filters_of_several_attributes() -> None:
    f = pl.parse_filter('a within "10.0.0.0/29" and p near (0, 0, 5) and n > 3')
    g = pl.parse_filter('a within "10.0.0.4/30" and p near (1, 1, 2) and n = 4 and z = true')
    assert f.covers(g)
    assert not g.covers(f)
    assert f.matches({"a": "10.0.0.5", "p": (3, 4), "n": 4})
    assert not f.matches({"a": "10.0.0.5", "p": (4, 4), "n": 4})
    explanation = f.explain({"a": "10.0.0.9", "p": (9, 9), "n": 4})
    assert {failure.attribute for failure in explanation.failures} == {"a", "p"}
    check_round_trips(f)
    check_round_trips(g)


def test_the_operator_in_any_case_and_its_operands() -> None:
    assert pl.parse_filter('a WITHIN "10.0.0.0/29"') == network("10.0.0.0/29")
    assert pl.parse_filter("p near [0, 0, 5]") == circle((0, 0, 5))
    for text in ('a within "nonsense"', "a within 5", "p near 5", "p near (1, 2)", "p near {1}"):
        with pytest.raises(pl.FilterError):
            pl.parse_filter(text)
    for text in ("a within", "a within within", "a nearby 5"):
        with pytest.raises(pl.FilterSyntaxError):
            pl.parse_filter(text)
    assert pl.parse_filter("within = 1").matches({"within": 1}), "an operator is no reserved name"


@pytest.mark.parametrize("operator", ["in", "and", "TRUE", "a b", "", "<", "a.b", "1x"])
def test_operators_that_cannot_be_registered(operator: str) -> None:
    with pytest.raises(ValueError, match=r"(?i)operator"):
        pl.register_constraint(operator, Network)


def test_a_clumsy_factory_becomes_a_filter_error() -> None:
    """What a factory raises as ValueError is the user's mistake, and comes out as FilterError."""

    def clumsy(operand: Any) -> pl.Constraint:
        raise ValueError(f"cannot do {operand}")

    pl.register_constraint("clumsy", clumsy)
    try:
        with pytest.raises(pl.FilterError, match="cannot do 5"):
            pl.parse_filter("x clumsy 5")
    finally:
        pl.unregister_constraint("clumsy")
    with pytest.raises(pl.FilterSyntaxError):
        pl.parse_filter("x clumsy 5")


def test_new_kinds_in_a_table() -> None:
    """The structures need no change."""
    table = pl.FiltersPoset()
    table.add(network("10.0.0.0/29"), "I1")
    table.add(network("10.0.0.0/30"), "I2")
    assert table.match({"a": "10.0.0.1"}) == {"I1", "I2"}
    assert table.match({"a": "10.0.0.7"}) == {"I1"}
    assert table.roots() == (network("10.0.0.0/29"),)


# -- canonical kinds -------------------------------------------------------------------------------


class CanonicalNetwork(Network):
    """Networks with the same addresses are equal, and a table may rely on it."""

    kind = "test-canonical-network"

    def is_canonical(self) -> bool:
        return True


def fifty_networks(kind: type[Network]) -> list[pl.Filter]:
    """Networks in each other, those of all lengths in turns, and many beside one another."""
    drawn = random.Random(5)
    texts = [f"10.{drawn.randrange(4)}.{drawn.randrange(256)}.0" for _ in range(50)]
    lengths = itertools.cycle((16, 24, 20, 22, 23))
    return [
        pl.Filter({"a": kind(str(ipaddress.ip_network((text, length), strict=False)))})
        for text, length in zip(texts, lengths, strict=False)
    ]


def test_a_kind_of_ones_own_that_says_is_canonical_spares_the_search_for_equivalents() -> None:
    tables = {}
    for kind in (Network, CanonicalNetwork):
        table: pl.PosetForest[pl.Filter] = pl.PosetForest(index=False)
        for i, each in enumerate(fifty_networks(kind)):
            table.add(each, f"I{i}")
        table.check()
        tables[kind] = table
    searching, sparing = tables[Network], tables[CanonicalNetwork]
    assert searching == sparing
    assert len(sparing) > 30
    assert sparing.counters.covering_tests < searching.counters.covering_tests


@pytest.mark.parametrize("structure", ["fp", "pf", "bf", "nrf"])
@pytest.mark.parametrize("index", [False, True])
def test_an_absent_filter_of_a_canonical_kind_is_known_to_be_absent(
    structure: str, index: bool
) -> None:
    for kind in (Network, CanonicalNetwork):
        table = pl.make_table(structure, index=index)
        for i, each in enumerate(fifty_networks(kind)):
            table.add(each, f"I{i}")
        table.counters.reset()
        absent = pl.Filter({"a": kind("10.0.0.0/30")})
        assert absent not in table
        assert not table.discard(absent, "I3")
        with pytest.raises(pl.UnknownEntryError):
            table.remove(absent, "I3")
        assert (table.counters.covering_tests == 0) == (kind is CanonicalNetwork)
        # One filter that is not canonical may be the equivalent of any other.
        table.add(pl.Filter({"a": Network("192.168.0.0/16")}), "I0")
        table.counters.reset()
        assert absent not in table
        assert table.counters.covering_tests > 0


def test_an_isa_is_not_canonical_and_its_equivalent_of_another_hierarchy_is_found() -> None:
    down = pl.TypeHierarchy({"B": ["A"], "C": ["B"]})
    up = pl.TypeHierarchy({"C": ["A"], "B": ["C"]})
    one = pl.parse_filter("type isa B", types=down)
    other = pl.parse_filter("type isa C", types=up)
    assert one != other
    assert one.covers(other)
    assert other.covers(one)
    assert not any(each.constraints["type"].is_canonical() for each in (one, other))
    assert pl.parse_filter("x > 3").constraints["x"].is_canonical()
    assert not Network("10.0.0.0/8").is_canonical()
    for structure, index in itertools.product(["fp", "pf", "bf", "nrf", "linear"], [False, True]):
        table = pl.make_table(structure, index=index)
        table.add(pl.parse_filter("x > 3"), "I0")
        table.add(one, "I1")
        table.add(other, "I2")
        assert list(table) == [pl.parse_filter("x > 3"), one], structure
        assert table.interfaces(other) == {"I1", "I2"}, structure
        assert other in table
        table.remove(other, "I1")
        table.remove(one, "I2")
        assert one not in table
        table.check()
