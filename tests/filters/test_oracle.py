"""The oracle itself: its universe tells apart whatever its expressions can tell apart."""

from __future__ import annotations

import itertools

from . import oracle
from .strategies import MULTI, NUMBER, ORDERED_STRING, STRING


def test_string_universe_is_complete() -> None:
    """Every string of up to five characters behaves like a member of the universe."""
    atoms = sorted(set(STRING.pool))
    universe = {tuple(oracle.holds(atom, s) for atom in atoms) for s in oracle.STRINGS}
    for length in range(6):
        for characters in itertools.product("A!ab~\x00", repeat=length):
            if length < 5 or "!" not in characters:
                text = "".join(characters)
                assert tuple(oracle.holds(atom, text) for atom in atoms) in universe, text


def test_number_universe_is_complete() -> None:
    atoms = NUMBER.pool
    universe = {tuple(oracle.holds(atom, n) for atom in atoms) for n in oracle.NUMBERS}
    for numerator in range(-60, 120):
        number = oracle.Fraction(numerator, 12)
        assert tuple(oracle.holds(atom, number) for atom in atoms) in universe, number


def test_multi_universe_is_complete() -> None:
    universe = {tuple(oracle.holds(atom, s) for atom in MULTI.pool) for s in oracle.SETS}
    elements = [1, 2, "a", True, 7, "q"]
    for size in range(len(elements) + 1):
        for chosen in itertools.combinations(elements, size):
            assert tuple(oracle.holds(atom, chosen) for atom in MULTI.pool) in universe, chosen


def test_the_universe_keeps_bool_and_one_apart() -> None:
    assert not oracle.holds(("cmp", False, "=", 1), True)
    assert not oracle.holds(("cmp", False, "=", True), 1)
    assert oracle.mask(("cmp", False, "=", 1)) != oracle.mask(("cmp", False, "=", True))
    assert oracle.holds(("multi", "has", (1,)), [1.0])
    assert not oracle.holds(("multi", "has", (1,)), [True])


def test_known_orders() -> None:
    """A few facts that were worked out by hand, so that the oracle is not its own witness."""
    atom = {"x": ("text", "prefix", False, "a")}
    assert oracle.covers({"x": ("cmp", False, ">=", "a")}, atom)
    assert not oracle.covers({"x": ("cmp", False, "<=", "ab")}, atom)
    assert oracle.covers({"x": ("text", "contains", False, "b")}, {"x": ("cmp", False, "=", "ab")})
    whole = ("range", False, False, 0, True, 4, True)
    halves = (
        "or",
        ("range", False, False, 0, True, 1, True),
        ("range", False, False, 1, False, 4, True),
    )
    assert oracle.mask(whole) == oracle.mask(halves)
    integers = ("range", True, False, 0, True, 2, True)
    assert oracle.mask(integers) == oracle.mask(("in", False, False, (0, 1, 2)))
    assert len(ORDERED_STRING.pool) > 100
