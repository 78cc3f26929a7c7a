"""Merge two filters into one that matches all that they match, exactly or with a bounded loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from operator import mul
from typing import Any

from posetlib.constraints.base import Constraint
from posetlib.errors import EmptyConstraintError
from posetlib.filters.filter import Filter
from posetlib.values import check_number

__all__ = ["Merger", "check_max_loss", "merge", "merge_again"]


class Merger(Filter):
    """A filter that covers the filters it was made from; equal to a Filter of the same constraints.

    `components` are the merged filters. `loss` is the estimated share (0 to 1) of the notifications
    it matches that no component matches: 0.0 for a perfect merger, None if unknown.
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
    """Return one filter that replaces two filters, None if there is none.

    If one filter covers the other, the merger is the wider filter. Otherwise both must constrain
    the same attributes. A perfect merger matches exactly the notifications that f or g matches: the
    filters must differ in one attribute only, whose constraints have an exact union. An imperfect
    merger (perfect=False) may match more: each constraint is replaced by one that covers both.

    `domains` gives the values that an attribute may have, as a pair (low, high) or a collection.
    The loss is estimated from it. With `max_loss`, the result is None if the loss of an imperfect
    merger is larger or unknown.

    >>> from posetlib.filters.parsing import parse_filter
    >>> f, g = parse_filter("x in [0, 20] and y = 1"), parse_filter("x in [30, 40] and y = 1")
    >>> str(merge(f, g))
    '(x in [0, 20] or x in [30, 40]) and y = 1'
    >>> m = merge(f, g, perfect=False, domains={"x": (0, 100)})
    >>> str(m), m.loss
    ('x in [0, 40] and y = 1', 0.25)
    """
    check_max_loss(max_loss)
    if f.covers(g):
        return Merger(f.constraints, (f, g), 0.0)
    if g.covers(f):
        return Merger(g.constraints, (f, g), 0.0)
    return merge_again(f, g, perfect=perfect, domains=domains or {}, max_loss=max_loss)


def check_max_loss(max_loss: float | None) -> None:
    """Raise ValueError for a largest loss that is no share."""
    if max_loss is not None and not 0 <= max_loss <= 1:
        raise ValueError(f"max_loss is a share between 0 and 1, not {max_loss!r}")


def merge_again(
    f: Filter,
    g: Filter,
    *,
    perfect: bool,
    domains: Mapping[str, Any],
    max_loss: float | None,
    losses: tuple[float | None, float | None] = (0.0, 0.0),
) -> Merger | None:
    """Merge two filters of which neither covers the other, and which may be mergers themselves.

    `losses` are the losses of f and g. The loss of the result is then a bound from above: what the
    components of f and g want of the overlap of f and g is counted once at most.
    """
    if f.attributes != g.attributes:
        return None
    return _exact_union(f, g) if perfect else _hull(f, g, domains, max_loss, losses)


def _exact_union(f: Filter, g: Filter) -> Merger | None:
    """Return the perfect merger of filters that differ in one attribute, or None."""
    theirs = g.constraints
    differing = [name for name, mine in f.constraints.items() if mine != theirs[name]]
    if len(differing) != 1:
        return None
    name = differing[0]
    union = f.constraints[name].merge(theirs[name])
    return None if union is None else Merger({**f.constraints, name: union}, (f, g), 0.0)


def _hull(
    f: Filter,
    g: Filter,
    domains: Mapping[str, Any],
    max_loss: float | None,
    losses: tuple[float | None, float | None],
) -> Merger | None:
    """Return the imperfect merger, None if its loss is too large or a hull is not known."""
    theirs = g.constraints
    hulls: dict[str, Constraint] = {}
    for name, mine in f.constraints.items():
        hull = mine if mine == theirs[name] else mine.hull(theirs[name])
        if hull is None:
            return None
        hulls[name] = hull
    loss = _loss(hulls, f, g, domains, losses)
    if max_loss is not None and (loss is None or loss > max_loss):
        return None
    return Merger(hulls, (f, g), loss)


def _loss(
    hulls: Mapping[str, Constraint],
    f: Filter,
    g: Filter,
    domains: Mapping[str, Any],
    losses: tuple[float | None, float | None],
) -> float | None:
    """Return the share of notifications in the hull that neither filter matches, None if unknown.

    The values are assumed to be evenly distributed in their domains and independent. An attribute
    with equal constraints in both filters does not change the share.
    """
    lost_of_f, lost_of_g = losses
    if lost_of_f is None or lost_of_g is None:
        return None
    # The shares of all notifications that match the hull, f, g, and both f and g.
    in_hull = in_f = in_g = in_both = Fraction(1)
    for name, hull in hulls.items():
        mine, theirs = f.constraints[name], g.constraints[name]
        if mine == theirs:
            continue
        if name not in domains:
            return None
        domain = _countable_domain(domains[name], hull, mine, theirs)
        shares = [c.share(domain) for c in (hull, mine, theirs)]
        shares.append(_common_share(mine, theirs, domain))
        known = [share for share in shares if share is not None]
        if len(known) < len(shares):
            return None
        in_hull, in_f, in_g, in_both = map(mul, (in_hull, in_f, in_g, in_both), known)
    if not in_hull:
        return None
    if not lost_of_f and not lost_of_g:
        return float(1 - (in_f + in_g - in_both) / in_hull)
    wanted_of_f = in_f * (1 - Fraction(lost_of_f))
    wanted_of_g = in_g * (1 - Fraction(lost_of_g))
    wanted = max(wanted_of_f + wanted_of_g - in_both, wanted_of_f, wanted_of_g)
    return float(1 - wanted / in_hull)


def _countable_domain(domain: Any, *constraints: Constraint) -> Any:
    """Return the domain, a pair (low, high) as a range if all constraints hold integers only.

    Integers have no length, so they are counted instead of measured.
    """
    if not isinstance(domain, tuple) or len(domain) != 2:
        return domain
    if all(constraint.is_integral() for constraint in constraints):
        low, high = map(check_number, domain)
        return range(math.ceil(low), math.floor(high) + 1)
    return domain


def _common_share(a: Constraint, b: Constraint, domain: Any) -> Fraction | None:
    """Return the share of the domain that satisfies both constraints, None if unknown."""
    try:
        common = a.intersect(b)
    except EmptyConstraintError:
        return Fraction(0)
    return None if common is None else common.share(domain)
