"""Hypothesis strategies for expressions over the oracle's constants, one per kind of constraint."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from .oracle import (
    ELEMENT_CONSTANTS,
    NUMBER_CONSTANTS,
    STRING_CONSTANTS,
    Expr,
)

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
FLAGS = (False, True)

# A type hierarchy with multiple inheritance; its names are constants of the string universe.
#        aa
#       /  \
#      a    b      ba (apart)
#       \  /
#        ab  -> bb below it
SUPERTYPES = {"a": ["aa"], "b": ["aa"], "ab": ["a", "b"], "bb": ["ab"], "ba": []}
SUBTYPES = {
    "aa": ("aa", "a", "b", "ab", "bb"),
    "a": ("a", "ab", "bb"),
    "b": ("b", "ab", "bb"),
    "ab": ("ab", "bb"),
    "bb": ("bb",),
    "ba": ("ba",),
}


def number_pool(constants: tuple[Any, ...] = (0, 1, 2)) -> list[Expr]:
    """Every number atom over a few constants, ranges open and closed, sets, negations, integers."""
    pool: list[Expr] = [("is", flag, "number") for flag in FLAGS]
    pool += [("cmp", i, op, c) for i in FLAGS for op in COMPARISONS for c in constants]
    pool += [
        ("range", i, negated, low, low_closed, high, high_closed)
        for i in FLAGS
        for negated in FLAGS
        for low, high in itertools.combinations_with_replacement(constants, 2)
        for low_closed in FLAGS
        for high_closed in FLAGS
    ]
    pool += [
        ("in", i, negated, chosen)
        for i in FLAGS
        for negated in FLAGS
        for size in (1, 2, len(constants))
        for chosen in itertools.combinations(constants, size)
        if chosen
    ]
    return pool


def bool_pool() -> list[Expr]:
    """Every atom about booleans."""
    pool: list[Expr] = [("is", False, "bool")]
    pool += [("cmp", False, op, c) for op in ("=", "!=") for c in (True, False)]
    pool += [("in", False, n, c) for n in FLAGS for c in ((True,), (False,), (True, False))]
    return pool


def ordered_string_pool(constants: tuple[str, ...] = STRING_CONSTANTS) -> list[Expr]:
    """Atoms of order, equality, prefix and sets: the strings whose canonical form is exact."""
    pool: list[Expr] = [("is", False, "string")]
    pool += [("cmp", False, op, c) for op in COMPARISONS for c in constants]
    pool += [("text", "prefix", negated, c) for negated in FLAGS for c in constants]
    pool += [
        ("range", False, negated, low, low_closed, high, high_closed)
        for negated in FLAGS
        for low, high in itertools.combinations(sorted(constants)[1:5], 2)
        for low_closed in FLAGS
        for high_closed in FLAGS
    ]
    pool += [
        ("in", False, negated, chosen)
        for negated in FLAGS
        for chosen in (constants[:2], constants[1:3], constants[2:5], constants[-2:])
    ]
    return pool


def inner_string_pool(constants: tuple[str, ...] = STRING_CONSTANTS) -> list[Expr]:
    """Atoms of suffix and substring, and their negations."""
    return [
        ("text", op, negated, c)
        for op in ("suffix", "contains")
        for negated in FLAGS
        for c in constants
    ]


def multi_pool(constants: tuple[Any, ...] = ELEMENT_CONSTANTS) -> list[Expr]:
    """Every atom about multi-values over the constants, the empty set included."""
    subsets = [
        chosen
        for size in range(len(constants) + 1)
        for chosen in itertools.combinations(constants, size)
    ]
    pool: list[Expr] = [("is", False, "set")]
    pool += [
        ("multi", op, chosen)
        for op in ("subset", "superset", "overlaps", "disjoint")
        for chosen in subsets
    ]
    pool += [("multi", op, (c,)) for op in ("has", "lacks") for c in constants]
    return pool


def isa_pool() -> list[Expr]:
    """Every type of the hierarchy."""
    return [("isa", name, names) for name, names in SUBTYPES.items()]


def combined(atoms: st.SearchStrategy[Expr], max_leaves: int = 5) -> st.SearchStrategy[Expr]:
    """Atoms under any nesting of and, or."""

    def nest(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        parts = st.lists(inner, min_size=2, max_size=3)
        return st.builds(lambda word, p: (word, *p), st.sampled_from(["and", "or", "or"]), parts)

    return st.recursive(atoms, nest, max_leaves=max_leaves)


@dataclass(frozen=True, repr=False)
class Kind:
    """A kind of constraint: its atoms, and what is claimed of it."""

    name: str
    pool: tuple[Expr, ...]
    canonical: bool = True  # equal exactly when the meaning is the same

    @property
    def atoms(self) -> st.SearchStrategy[Expr]:
        return st.sampled_from(self.pool)

    @property
    def exprs(self) -> st.SearchStrategy[Expr]:
        return combined(self.atoms)

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


NUMBER = Kind(
    "number",
    # All numbers and all integers more than once: they are two among hundreds of atoms.
    tuple(number_pool(NUMBER_CONSTANTS) + 20 * number_pool(())[:2]),
)
BOOL = Kind("bool", tuple(bool_pool()))
ORDERED_STRING = Kind("ordered-string", tuple(ordered_string_pool()))
STRING = Kind(
    "string",
    # Substring and suffix more than once, so that mixtures are the rule and not the exception.
    tuple(ordered_string_pool() + 2 * inner_string_pool()),
    canonical=False,
)
MULTI = Kind("multi", tuple(multi_pool()))
ISA = Kind("isa", tuple(isa_pool()))
EXISTS = Kind("exists", (("exists",),))

PLAIN_KINDS = (NUMBER, BOOL, ORDERED_STRING, STRING, MULTI, ISA)


@st.composite
def related(draw: Callable[..., Any], kind: Kind) -> tuple[Expr, Expr]:
    """Two expressions, as a rule comparable: one is often the other, tightened or loosened."""
    first = draw(kind.exprs)
    how = draw(st.sampled_from(["apart", "tighter", "looser", "both"]))
    if how == "apart":
        return first, draw(kind.exprs)
    other = draw(kind.exprs if how == "both" else kind.atoms)
    if how == "tighter":
        return first, ("and", first, other)
    if how == "looser":
        return first, ("or", other, first)
    return ("or", first, other), ("and", first, other)


any_expr: st.SearchStrategy[Expr] = st.one_of(*(kind.exprs for kind in (*PLAIN_KINDS, EXISTS)))
seeds = st.integers(0, 2**20)


def filters(
    names: tuple[str, ...] = ("x", "y", "pos.x"),
    exprs: st.SearchStrategy[Expr] = any_expr,
    min_size: int = 0,
) -> st.SearchStrategy[dict[str, Expr]]:
    """Filters over a few attributes, each of any kind, or absent."""
    return st.dictionaries(st.sampled_from(names), exprs, min_size=min_size, max_size=len(names))


@st.composite
def related_filters(draw: Callable[..., Any]) -> tuple[dict[str, Expr], dict[str, Expr]]:
    """Two filters that share most of their attributes, with related expressions there."""
    first: dict[str, Expr] = {}
    second: dict[str, Expr] = {}
    for name in ("x", "y", "pos.x"):
        how = draw(st.sampled_from(["none", "same", "same", "related", "related", "one", "other"]))
        if how == "none":
            continue
        kind = draw(st.sampled_from([*PLAIN_KINDS, EXISTS]))
        a, b = draw(related(kind))
        if how == "same":
            first[name] = second[name] = a
        elif how == "related":
            first[name], second[name] = a, b
        elif how == "one":
            first[name] = a
        else:
            second[name] = b
    return first, second
