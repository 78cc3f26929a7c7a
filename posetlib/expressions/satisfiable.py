"""Whether an attribute can have a value that satisfies some constraints and none of others.

That is exact for numbers, booleans, strings, types, networks, sets and their elements. Other kinds
are compared two at a time. A doubt counts as satisfied, so that an answer "nothing satisfies it" is
always right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from posetlib.constraints.addresses import Addresses
from posetlib.constraints.base import EXISTS, Constraint, Exists
from posetlib.constraints.booleans import ALL_BOOLEANS, Booleans
from posetlib.constraints.comparisons import one_of
from posetlib.constraints.elements import Some
from posetlib.constraints.mixtures import conjunction, disjunction
from posetlib.constraints.multivalues import ALL_SETS, MultiValues
from posetlib.constraints.numbers import ALL_NUMBERS, Numbers
from posetlib.constraints.strings import ALL_STRINGS, Strings
from posetlib.errors import EmptyConstraintError, FilterError, TooComplexError
from posetlib.values import domain_of, element_value

__all__ = ["possible"]

# The kinds whose values are compared exactly, several constraints at once.
_EXACT: Final = (Numbers, Strings, Booleans, MultiValues, Addresses, Some)
_WHOLE: Final[Mapping[str, Constraint]] = {
    "number": ALL_NUMBERS,
    "string": ALL_STRINGS,
    "bool": ALL_BOOLEANS,
    "set": ALL_SETS,
}
# The most strings that are compared with networks one by one.
_MAX_LISTED: Final = 1_000


def possible(held: Sequence[Constraint], avoided: Sequence[Constraint]) -> bool:
    """Return whether an attribute can satisfy all of some constraints and none of others.

    It can also be absent, if nothing is held. True if that is not decided.

    >>> from posetlib.constraints import Numbers
    >>> low, high = Numbers.interval(0, 5), Numbers.interval(5, 9)
    >>> (
    ...     possible([low], [high]),
    ...     possible([Numbers.interval(1, 8)], [low, high]),
    ...     possible([], [low]),
    ... )
    (True, False, True)
    """
    if not held:
        return True
    wanted = [_plain(each) for each in held if not isinstance(each, Exists)]
    if not wanted:
        # NaN exists, and satisfies no other constraint.
        return not any(each.covers(EXISTS) for each in avoided)
    if any(isinstance(each, Exists) for each in avoided):
        return False
    domains = {each.domain for each in wanted if each.domain is not None}
    if len(domains) > 1:
        return False
    unwanted = [
        _plain(each)
        for each in avoided
        if not domains or each.domain is None or each.domain in domains
    ]
    exact: list[Constraint] = [each for each in wanted if isinstance(each, _EXACT)]
    others = [each for each in wanted if not isinstance(each, _EXACT)]
    if others:
        for index, one in enumerate(others):
            if not all(one.overlaps(other) for other in others[index + 1 :]):
                return False
        if any(each.covers(one) for each in _united(unwanted) for one in others):
            return False
        # Constraints of other kinds are compared with one another and with whole domains alone:
        # to compare them with some numbers, and not with all, would not be transitive.
        exact = exact or [_WHOLE[name] for name in domains if name in _WHOLE]
    if not exact:
        return True
    excluding = [each for each in unwanted if isinstance(each, _EXACT)]
    domain = exact[0].domain
    if domain == "string" and any(isinstance(e, Addresses) for e in (*exact, *excluding)):
        return _text_remains(exact, excluding)
    if domain == "set" and any(isinstance(e, Some) for e in (*exact, *excluding)):
        return _set_remains(exact, excluding)
    return _remains(exact, excluding)


def _united(constraints: Sequence[Constraint]) -> Iterator[Constraint]:
    """Yield one constraint for all of a kind that is not exact, and each where none says that."""
    by_kind: dict[type[Constraint], list[Constraint]] = {}
    for each in constraints:
        if not isinstance(each, _EXACT):
            by_kind.setdefault(type(each), []).append(each)
    for members in by_kind.values():
        yield from members
        if len(members) > 1:
            with suppress(FilterError):  # too complex, or a mixture of kinds
                yield disjunction(members)


def _plain(constraint: Constraint) -> Constraint:
    """Return a constraint on the names of types as one on strings, which compares with others."""
    names = None if isinstance(constraint, Addresses) else constraint.finite_strings()
    return constraint if names is None else Strings.points(names)


def _text_remains(held: Sequence[Constraint], avoided: Sequence[Constraint]) -> bool:
    """Return whether some text satisfies constraints on strings and networks, and none of others.

    If the strings or the addresses in question are few, each is tried. If they are many, there
    are some unless the strings exclude one another, or the networks do.
    """
    networks = [each for each in held if isinstance(each, Addresses)]
    strings = [each for each in held if not isinstance(each, Addresses)] or [ALL_STRINGS]
    for wanted in (networks, strings) if networks else (strings,):
        unwanted = [e for e in avoided if isinstance(e, Addresses) is (wanted is networks)]
        if not _remains(wanted, unwanted):
            return False
        texts = _few_texts(wanted, unwanted)
        if texts is not None:
            return any(
                all(each.matches(text) for each in held)
                and not any(each.matches(text) for each in avoided)
                for text in texts
            )
    return True


def _few_texts(held: Sequence[Constraint], avoided: Sequence[Constraint]) -> Iterable[str] | None:
    """Return the texts that satisfy constraints of one kind and none of others; None if many do."""
    try:
        left = conjunction(
            [*held, *(e.complement() for e in avoided if isinstance(e, Strings | Addresses))]
        )
    except EmptyConstraintError:
        return ()
    except FilterError:
        return None  # too complex
    return left.listed(_MAX_LISTED) if isinstance(left, Strings) else left.finite_strings()


def _remains(held: Sequence[Constraint], avoided: Sequence[Constraint]) -> bool:
    """Return whether some value satisfies constraints of one exact kind, and none of others."""
    try:
        inner = held[0] if len(held) == 1 else conjunction(held)
    except EmptyConstraintError:
        return False
    except FilterError:
        return True  # too complex
    if not avoided:
        return True
    if any(each.covers(inner) for each in avoided):
        return False
    try:
        return len(avoided) == 1 or not disjunction(avoided).covers(inner)
    except FilterError:
        return True  # too complex


def _set_remains(held: Sequence[Constraint], avoided: Sequence[Constraint]) -> bool:
    """Return whether some set satisfies constraints on sets and elements, and none of others.

    Of the elements that a condition names, it is known which may be there. An element that none
    names may always be there: a record, for example, is no number and no string.
    """
    sets = [each for each in held if isinstance(each, MultiValues)]
    no_sets = [each for each in avoided if isinstance(each, MultiValues)]
    no_elements = [each.element for each in avoided if isinstance(each, Some)]
    named = {
        key: element_value(key) for key in frozenset().union(*(e.named for e in sets + no_sets))
    }
    gone = {key for key, each in named.items() if any(e.matches(each) for e in no_elements)}
    left: MultiValues | None = ALL_SETS
    try:
        for each in (*sets, MultiValues.disjoint(map(element_value, gone))):
            left = left and left.split(each)[0]
        for each in no_sets:
            left = left and left.split(each)[1]
        for some in held:
            if isinstance(some, Some):
                found = {key for key in named.keys() - gone if some.element.matches(named[key])}
                if _element_remains(some.element, no_elements, named.values()):
                    others = MultiValues.subset(named[key] for key in named.keys() - found)
                    left = left and left.split(others)[1]  # it is found, or is not named
                else:
                    chosen = MultiValues.overlapping(map(element_value, found)) if found else None
                    left = left and chosen and left.split(chosen)[0]
    except (TooComplexError, FilterError):
        return True
    return left is not None


def _element_remains(
    element: Constraint, avoided: Iterable[Constraint], named: Iterable[Any]
) -> bool:
    """Return whether some element satisfies a constraint and none of others, and is not named."""
    held: list[Constraint] = []
    excluded = _points(named)
    for each, is_held in ((element, True), *((each, False) for each in avoided)):
        denied = each.denied()
        (held if is_held is (denied is None) else excluded).append(denied or each)
    return possible(held or [EXISTS], excluded)


def _points(values: Iterable[Any]) -> list[Constraint]:
    """Return constraints that together are satisfied by these values alone."""
    by_domain: dict[str, list[Any]] = {}
    for each in values:
        by_domain.setdefault(domain_of(each) or "", []).append(each)
    return [one_of(members) for members in by_domain.values()]
