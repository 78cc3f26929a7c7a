"""Merging: one filter that stands for several, exactly or with a bounded loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from operator import mul
from typing import Any

from posetlib.constraints.base import Constraint, EmptyConstraintError
from posetlib.constraints.numbers import Numbers
from posetlib.filters import Filter
from posetlib.values import check_number

__all__ = ["Merger", "merge"]


class Merger(Filter):
    """A filter that covers its components; equal to any filter that means the same.

    `loss` estimates which share of its matches no component wants: 0.0 for a perfect merger, None
    where it is unknown.
    """

    __slots__ = ("components", "loss")

    loss: float | None
    components: tuple[Filter, ...]

    def __init__(
        self,
        constraints: Mapping[str, Constraint],
        components: tuple[Filter, ...],
        loss: float | None,
    ) -> None:
        super().__init__(constraints)
        self.components = components
        self.loss = loss

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Merger, (dict(self.constraints), self.components, self.loss))


def merge(
    f: Filter,
    g: Filter,
    *,
    perfect: bool = True,
    domains: Mapping[str, Any] | None = None,
    max_loss: float | None = None,
) -> Merger | None:
    """Return one filter for two, or None.

    A perfect merger matches exactly what the two match: one covers the other, or they differ in one
    attribute whose constraints have an exact union. An imperfect one matches more: both constrain
    the same attributes, and each constraint is replaced by one that covers both. `domains` says
    what values attributes take, as a pair (low, high) or a collection; from it the loss is
    estimated, and a merger that loses more than `max_loss`, or an unknown share, is refused.

    >>> from posetlib.parsing import parse_filter
    >>> f, g = parse_filter("x in [0, 20] and y = 1"), parse_filter("x in [30, 40] and y = 1")
    >>> str(merge(f, g))
    '(x in [0, 20] or x in [30, 40]) and y = 1'
    >>> m = merge(f, g, perfect=False, domains={"x": (0, 100)})
    >>> str(m), m.loss
    ('x in [0, 40] and y = 1', 0.25)
    """
    if max_loss is not None and not 0 <= max_loss <= 1:
        raise ValueError(f"max_loss is a share between 0 and 1, not {max_loss!r}")
    if f.covers(g):
        return Merger(f.constraints, (f, g), 0.0)
    if g.covers(f):
        return Merger(g.constraints, (f, g), 0.0)
    if f.attributes != g.attributes:
        return None
    return _exact_union(f, g) if perfect else _hull(f, g, domains or {}, max_loss)


def _exact_union(f: Filter, g: Filter) -> Merger | None:
    theirs = g.constraints
    differing = [name for name, mine in f.constraints.items() if mine != theirs[name]]
    if len(differing) != 1:
        return None
    name = differing[0]
    union = f.constraints[name].merge(theirs[name])
    return None if union is None else Merger({**f.constraints, name: union}, (f, g), 0.0)


def _hull(
    f: Filter, g: Filter, domains: Mapping[str, Any], max_loss: float | None
) -> Merger | None:
    theirs = g.constraints
    hulls: dict[str, Constraint] = {}
    for name, mine in f.constraints.items():
        hull = mine if mine == theirs[name] else mine.hull(theirs[name])
        if hull is None:
            return None
        hulls[name] = hull
    loss = _loss(hulls, f, g, domains)
    if max_loss is not None and (loss is None or loss > max_loss):
        return None
    return Merger(hulls, (f, g), loss)


def _loss(
    hulls: Mapping[str, Constraint], f: Filter, g: Filter, domains: Mapping[str, Any]
) -> float | None:
    """Return the share of the hull's matches that neither filter wants, None if unknown.

    Values are taken to be spread evenly and independently over their domains; attributes that both
    constrain alike cancel out.
    """
    whole = one = other = shared = Fraction(1)
    for name, hull in hulls.items():
        mine, theirs = f.constraints[name], g.constraints[name]
        if mine == theirs:
            continue
        if name not in domains:
            return None
        domain = _measured(domains[name], hull, mine, theirs)
        shares = [c.share(domain) for c in (hull, mine, theirs)]
        shares.append(_common_share(mine, theirs, domain))
        known = [share for share in shares if share is not None]
        if len(known) < len(shares):
            return None
        whole, one, other, shared = map(mul, (whole, one, other, shared), known)
    if not whole:
        return None
    return float(1 - (one + other - shared) / whole)


def _measured(domain: Any, *constraints: Constraint) -> Any:
    """Return a pair (low, high) as its integers, if the constraints are about integers only."""
    if not isinstance(domain, tuple) or len(domain) != 2:
        return domain
    if all(isinstance(c, Numbers) and not c.intervals for c in constraints):
        low, high = map(check_number, domain)
        return range(math.ceil(low), math.floor(high) + 1)
    return domain


def _common_share(a: Constraint, b: Constraint, domain: Any) -> Fraction | None:
    try:
        common = a.intersect(b)
    except EmptyConstraintError:
        return Fraction(0)
    return None if common is None else common.share(domain)
