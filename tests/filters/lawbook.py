"""From the oracle's expressions to filters, and the laws that any set of filters must obey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

import posetlib as pl

from . import oracle
from .strategies import SUPERTYPES

TYPES = pl.TypeHierarchy(SUPERTYPES)


def build(meaning: Mapping[str, oracle.Expr], seed: int = 0) -> pl.Filter | None:
    """The filter; None where it means nothing, once the library has said so too."""
    text = oracle.spell(meaning, seed)
    if oracle.means_nothing(meaning):
        with pytest.raises(pl.FilterError):
            pl.parse_filter(text, types=TYPES)
        return None
    return pl.parse_filter(text, types=TYPES)


def one(expr: oracle.Expr, seed: int = 0) -> pl.Filter | None:
    """The filter with this expression on the attribute ``x``."""
    return build({"x": expr}, seed)


def domains(expr: oracle.Expr) -> frozenset[str]:
    """The domains that an expression speaks of; ``isa`` counts as one of its own."""
    if expr[0] in ("and", "or"):
        return frozenset().union(*(domains(part) for part in expr[1:]))
    return {
        "exists": lambda: frozenset({"any"}),
        "is": lambda: frozenset({expr[2]}),
        "isa": lambda: frozenset({"isa"}),
        "text": lambda: frozenset({"string"}),
        "multi": lambda: frozenset({"set"}),
        "cmp": lambda: frozenset({str(oracle.domain(expr[3]))}),
        "range": lambda: frozenset({str(oracle.domain(expr[3]))}),
        "in": lambda: frozenset({str(oracle.domain(expr[3][0]))}),
    }[expr[0]]()


def covers_exactly(f: Mapping[str, oracle.Expr], g: Mapping[str, oracle.Expr]) -> bool | None:
    """What covering must answer; None where a string and an ``isa`` have the same names.

    There the library may say no, so that no two unequal filters cover each other.
    """
    if not oracle.covers(f, g):
        return False
    for name in f.keys() & g.keys():
        kinds = {domains(f[name]), domains(g[name])}
        if kinds == {frozenset({"isa"}), frozenset({"string"})} and (
            oracle.mask(f[name]) == oracle.mask(g[name])
        ):
            return None
    return True


def check_laws(filters: Sequence[pl.Filter], *, antisymmetric: bool = True) -> None:
    """Every law of covering and overlapping, for every pair and triple of the filters."""
    square = (len(filters), len(filters))
    covers = np.array([f.covers(g) for f in filters for g in filters], bool).reshape(square)
    overlaps = np.array([f.overlaps(g) for f in filters for g in filters], bool).reshape(square)
    equal = np.array([f == g for f in filters for g in filters], bool).reshape(square)

    def broken(violations: np.ndarray) -> list[tuple[str, str]]:
        return [(str(filters[i]), str(filters[j])) for i, j in np.argwhere(violations)[:3]]

    def reaches(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return first.astype(np.float32) @ second.astype(np.float32) > 0

    assert covers.diagonal().all(), "covers is reflexive"
    assert not broken(reaches(covers, covers) & ~covers), "covers is transitive"
    assert not broken(equal & ~covers), "equal filters cover each other"
    if antisymmetric:
        assert not broken(covers & covers.T & ~equal), "covers is antisymmetric up to equality"
    assert not broken(covers & ~overlaps), "covering implies overlapping"
    assert not broken(overlaps & ~overlaps.T), "overlaps is symmetric"
    assert not broken(reaches(covers, overlaps) & ~overlaps), "overlaps is monotone"
    for i, f in enumerate(filters):
        for j in np.flatnonzero(equal[i]):
            assert hash(f) == hash(filters[j])
            assert str(f) == str(filters[j]), "equal filters have the same text"
