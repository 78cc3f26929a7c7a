"""Absence, null, wildcards, case, IP networks and elements of lists: what rules of others need."""

from __future__ import annotations

import ipaddress
import itertools
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import posetlib as pl
from posetlib.constraints import (
    ABSENT,
    EXISTS,
    NULL,
    Addresses,
    Booleans,
    Complement,
    Constraint,
    Isa,
    MultiValues,
    Numbers,
    Placeholder,
    Some,
    Strings,
    complement_of,
    conjunction,
    disjunction,
)
from posetlib.values import MISSING

from .lawbook import check_laws

SEED = 5
NETWORK = Addresses.network

PATTERNS = [Strings.like(text) for text in ("a*b", "a?b", "?", "*a?", "a*b*", "?*", "aa*a", "b*?")]
PATTERNS += [Strings.like(t, ignoring_case=True) for t in ("a", "ab", "a*", "*B", "a?b", "*a*")]
TEXTS = [Strings.points(["a"]), Strings.points(["A", "a"]), Strings.prefix("a"),
         Strings.suffix("b"), Strings.containing("ab"), Strings.interval("a", "b"),
         Strings.interval(), Isa.of("a")]  # fmt: skip
NUMBERS = [Numbers.interval(0, 5), Numbers.interval(3), Numbers.points([1, 4]), Numbers.integers(0)]
SETS = [MultiValues.superset([1]), MultiValues.overlapping([1, 4]), MultiValues.subset([1, 4]),
        MultiValues.disjoint([4]), MultiValues.subset([]), MultiValues.superset(["a"])]  # fmt: skip
SOME = [
    Some(each)
    for each in (
        *NUMBERS, *TEXTS[:3], PATTERNS[1], Booleans([True]), NULL, NETWORK("10.0.0.0/8"),
        complement_of(NUMBERS[0]), complement_of(TEXTS[0]), complement_of(NULL),
    )
]  # fmt: skip
ADDRESSES = [NETWORK(text) for text in ("10.0.0.0/8", "10.1.2.0/24", "10.1.2.3", "::1", "::/64")]
ADDRESSES += [Strings.points(["10.1.2.3"]), Strings.prefix("10.1.2.")]
OTHERS = [EXISTS, NULL, Placeholder("y", "<"), Placeholder("y", "<="), Booleans([True])]

WORDS = ["".join(w) for n in range(5) for w in itertools.product("abA-", repeat=n)]
VALUES: list[Any] = [
    MISSING, None, float("nan"), True, False, 0, 1, 2.5, 3, 4, 5.5, -1, *WORDS, "B", "aB-ab",
    "10.1.2.3", "10.1.2.4", "10.9.9.9", "11.0.0.1", "::1", "0:0:0:0:0:0:0:1", "::2", "1.2.3",
    [], [1], [4], [1, 4], [1, 9], ["a"], ["ab"], ["a-b"], [True], [2.5], [4, "a"], {"x": 1}, [None],
    ["10.2.2.2"], [None, 3],
]  # fmt: skip
CONTEXTS: list[dict[str, Any]] = [{}, {"y": 3}, {"y": "b"}]


def pool() -> list[Constraint]:
    """Constraints of all kinds, their complements, and what "and" and "or" make of pairs."""
    random = Random(SEED)
    found = dict.fromkeys([*PATTERNS, *TEXTS, *NUMBERS, *SETS, *SOME, *ADDRESSES, *OTHERS])
    found |= dict.fromkeys(map(complement_of, found))
    listed = list(found)
    for _ in range(90):
        pair = random.sample(listed, 2)
        for join in (conjunction, disjunction):
            try:
                found[join(pair)] = None
            except pl.FilterError:
                continue
    return list(found)


POOL = pool()


def satisfies(constraint: Constraint, value: Any, context: dict[str, Any]) -> bool:
    notification = context if value is MISSING else {**context, "x": value}
    return pl.Filter({"x": constraint}).matches(notification)


def meaning(constraint: Constraint) -> frozenset[int]:
    cases = itertools.product(VALUES, CONTEXTS)
    return frozenset(i for i, case in enumerate(cases) if satisfies(constraint, *case))


MEANINGS = {constraint: meaning(constraint) for constraint in POOL}


def test_no_answer_is_wrong() -> None:
    for one, other in itertools.product(POOL, POOL):
        if one.covers(other):
            assert MEANINGS[other] <= MEANINGS[one], (one, other)
        if not one.overlaps(other):
            assert not MEANINGS[other] & MEANINGS[one], (one, other)


def test_laws_of_all_kinds_together() -> None:
    check_laws([*(pl.Filter({"x": each}) for each in POOL), pl.Filter()], antisymmetric=False)


def test_complements_are_complements() -> None:
    everything = frozenset(range(len(VALUES) * len(CONTEXTS)))
    refused = 0
    for one in POOL:
        try:
            other = complement_of(one)
        except pl.FilterError:
            # It would be alternatives of two domains, or nothing at all.
            assert one.alternatives() is not None
            refused += 1
        else:
            assert meaning(other) == everything - MEANINGS[one], (one, other)
    assert refused < len(POOL) / 4


@pytest.mark.parametrize("join", [conjunction, disjunction])
def test_joining_is_exact(join: Any) -> None:
    random = Random(SEED)
    refused = 0
    for _ in range(400):
        a, b = random.sample(POOL, 2)
        wanted = MEANINGS[a] & MEANINGS[b] if join is conjunction else MEANINGS[a] | MEANINGS[b]
        try:
            made = join([a, b])
        except pl.EmptyConstraintError:
            assert not wanted, (a, b)
        except pl.FilterError:
            refused += 1  # of two domains, or too complex
        else:
            assert meaning(made) == wanted, (a, b)
    assert refused < 200


def test_texts_and_dictionaries_are_read_back() -> None:
    for constraint in POOL:
        made = pl.Filter({"x": constraint})
        assert pl.parse_filter(str(made)) == made
        assert pl.Filter.from_dict(made.to_dict()) == made


def test_examples_and_witnesses() -> None:
    for one, other in itertools.product(POOL[::3], POOL[::4]):
        f, g = pl.Filter({"x": one}), pl.Filter({"x": other})
        why = f.why_not_covers(g)
        assert (why is None) is f.covers(g)
        if why is not None and why.witness is not None:
            assert g.matches(why.witness)
            assert not f.matches(why.witness)


# -- absence ---------------------------------------------------------------------------------------


def test_absence_and_complement() -> None:
    absent, small = pl.parse_filter("absent x"), pl.parse_filter("not (x > 3)")
    for notification, is_absent, is_small in (
        ({}, True, True), ({"x": 3}, False, True), ({"x": 4}, False, False),
        ({"x": "a"}, False, True), ({"x": None}, False, True), ({"y": 5}, True, True),
    ):  # fmt: skip
        assert absent.matches(notification) is is_absent
        assert small.matches(notification) is is_small
    assert small.covers(absent)
    assert small.covers(pl.parse_filter("x <= 3"))
    assert not pl.parse_filter("x <= 3").covers(small)
    assert not pl.parse_filter("exists x").covers(absent)
    assert not pl.parse_filter("exists x").overlaps(absent)
    assert pl.parse_filter("true").covers(absent)
    assert not absent.covers(pl.parse_filter("true"))
    assert str(pl.parse_filter("not (x > 3) and x is number")) == "x <= 3"
    assert str(pl.parse_filter("not (exists x)")) == "absent x"
    assert str(absent.explain({"x": 1})) == "x is 1, but the filter wants absent x"


def test_a_complement_of_nothing_and_of_everything() -> None:
    with pytest.raises(pl.FilterError, match="nothing satisfies"):
        pl.parse_filter("not (true)")
    assert pl.parse_filter("not (x < $x)") == pl.parse_filter("true")
    with pytest.raises(pl.FilterError, match="different attributes"):
        pl.parse_filter("not (x > 3 and y > 3)")
    with pytest.raises(pl.FilterError, match="complement_of"):
        Complement(ABSENT)


def test_words_of_conditions_are_names_of_attributes_too() -> None:
    text = 'case = 1 and ignoring = 2 and like like "a*b" and null is null and some some > 3'
    made = pl.parse_filter(text)
    assert made.attributes == ("case", "ignoring", "like", "null", "some")
    assert pl.parse_filter(str(made)) == made
    assert str(pl.parse_filter("`absent` = 1")) == "`absent` = 1"


# -- wildcards -------------------------------------------------------------------------------------

ELEMENTS = ("a", "b", "?", "*")
ALL_TEXTS = ["".join(w) for n in range(5) for w in itertools.product(ELEMENTS, repeat=n)]
STRINGS = ["".join(w) for n in range(8) for w in itertools.product("ab-", repeat=n)]


def naive(pattern: str, text: str) -> bool:
    """Wildcards by their definition, one character at a time."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(naive(pattern[1:], text[i:]) for i in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and naive(pattern[1:], text[1:])


@given(
    pattern=st.text("ab?*", max_size=8), text=st.text("abc", max_size=10), ignoring=st.booleans()
)
def test_wildcards_match_as_defined(pattern: str, text: str, ignoring: bool) -> None:
    made = Strings.like(pattern, ignoring_case=ignoring)
    assert made.matches(text) is naive(pattern, text)
    assert made.matches(text.upper()) is naive(pattern, text if ignoring else text.upper())


def test_wildcards_cover_exactly() -> None:
    """Texts of up to four elements: strings of up to seven characters tell any two apart."""
    random = Random(SEED)
    chosen = random.sample(ALL_TEXTS, 70)
    sets = {t: frozenset(s for s in STRINGS if naive(t, s)) for t in chosen}
    for one, other in itertools.product(chosen, chosen):
        mine, theirs = Strings.like(one), Strings.like(other)
        assert mine.covers(theirs) is (sets[other] <= sets[one]), (one, other)
        assert mine.overlaps(theirs) is bool(sets[other] & sets[one]), (one, other)
        if not mine.is_whole_domain():
            assert mine.complement().covers(theirs) is not bool(sets[other] & sets[one])


def test_equal_wildcards_have_one_text() -> None:
    for group in (("a*?b", "a?*b", "a*?*b", "a?**b"), ("?*", "*?"), ("**", "*")):
        assert len({str(Strings.like(text)) for text in group}) == 1
    assert Strings.like("a*") == Strings.prefix("a")
    assert Strings.like("*a*") == Strings.containing("a")
    assert Strings.like("?*") == Strings.interval("", None, low_open=True)
    assert Strings.like(r"\*\?\\") == Strings.points([r"*?\\"[:3]])
    assert Strings.like("12*", ignoring_case=True) == Strings.prefix("12")


def test_case_is_folded_character_by_character() -> None:
    like = Strings.like("straße", ignoring_case=True)
    assert like.matches("STRAßE")
    assert like.matches("STRAẞE")
    assert not like.matches("STRASSE")
    assert Strings.like("k", ignoring_case=True).matches("\u212a")  # the sign of Kelvin
    assert Strings.like("σ*", ignoring_case=True).covers(Strings.prefix("ς"))
    assert Strings.like("ab*", ignoring_case=True).covers(Strings.like("aBc", ignoring_case=True))


def test_hostile_wildcards_take_no_time() -> None:
    """Each takes an exponential number of steps if it is tried by backtracking."""
    text = "a" * 20_000
    assert not Strings.like("*a" * 60 + "b").matches(text)
    assert not Strings.like("*a?" * 40 + "b").matches(text)
    assert Strings.like("*a*" * 40).matches(text)
    with pytest.raises(pl.FilterError, match="too complex"):
        Strings.like("*a" + "?" * 40)
    with pytest.raises(pl.FilterError, match="at most 128"):
        Strings.like("a" * 129)
    with pytest.raises(pl.FilterError, match="stands before"):
        Strings.like("a\\b")


# -- addresses -------------------------------------------------------------------------------------


def test_addresses_against_the_standard_library() -> None:
    random = Random(SEED)
    bits = [random.getrandbits(32) for _ in range(60)]
    networks = [
        ipaddress.ip_network((number >> 6 << 6, random.choice([4, 8, 16, 24, 26])), strict=False)
        for number in bits
    ]
    networks += [n.supernet() for n in networks[:20]] + [next(n.subnets()) for n in networks[:20]]
    for one, other in itertools.product(networks, networks):
        mine, theirs = NETWORK(str(one)), NETWORK(str(other))
        assert mine.covers(theirs) is other.subnet_of(one)  # type: ignore[arg-type]
        assert mine.overlaps(theirs) is one.overlaps(other)
        inside = str(other[random.randrange(other.num_addresses)])
        assert theirs.matches(inside)
        assert mine.matches(inside) is (ipaddress.ip_address(inside) in one)


def test_addresses_and_their_texts() -> None:
    assert NETWORK("2001:db8::/32").matches("2001:0DB8:0:0::1")
    for text in ("10.1", "10.0.0.256", "010.0.0.1", "10.0.0.1/8", "", "fe80::1%eth0", "a" * 99):
        assert not NETWORK("0.0.0.0/0").matches(text)
        assert not NETWORK("::/0").matches(text)
    assert not NETWORK("10.0.0.0/8").matches(167772161)
    assert str(pl.parse_filter('x in "10.0.0.0/9" or x in "10.128.0.0/9"')) == 'x in "10.0.0.0/8"'
    assert str(pl.parse_filter('x not in "10.0.0.0/8"')) == 'x not in "10.0.0.0/8"'
    assert Strings.prefix("10.1.2.").covers(NETWORK("10.1.2.0/24"))
    with pytest.raises(pl.FilterError, match="no IP address"):
        pl.parse_filter('x in "10.0.0.0/33"')
    with pytest.raises(pl.FilterError):
        pl.parse_filter('x in "10.0.0.0/8" and x = "11.0.0.1"')


# -- elements --------------------------------------------------------------------------------------


def test_some_element() -> None:
    large = pl.parse_filter("t some > 3")
    assert large.matches({"t": [1, 5]})
    assert large.matches({"t": (4,)})
    assert large.matches({"t": {9}})
    assert not large.matches({"t": 5})
    assert not large.matches({"t": []})
    assert not large.matches({"t": ["5", True]})
    assert large.covers(pl.parse_filter("t has 5"))
    assert large.covers(pl.parse_filter("t overlaps {5, 6}"))
    assert not large.covers(pl.parse_filter("t overlaps {1, 6}"))
    assert large.covers(pl.parse_filter("t some in [4, 9]"))
    assert pl.parse_filter("t overlaps {1, 2, 3}").covers(pl.parse_filter("t some in {1, 2}"))
    assert str(pl.parse_filter("t some > 3 or t some < 1")) == "t some < 1 or t some > 3"
    # Two elements, or one that does both.
    both = pl.parse_filter("t some > 3 and t some < 1")
    assert both.matches({"t": [0, 4]})
    assert not both.matches({"t": [0, 2]})
    with pytest.raises(pl.FilterError):
        pl.parse_filter("t some > 3 and t subset {1, 2}")
    with pytest.raises(pl.FilterError, match="a number, a string, a boolean or null"):
        pl.parse_filter("t some has 3")
