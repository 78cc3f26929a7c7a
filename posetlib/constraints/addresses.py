"""Constraints on strings that are IP addresses: ``ip in "10.0.0.0/8"``.

A constraint is a set of addresses of both versions, as runs of whole numbers, so that covering,
overlap, union, intersection and difference of such sets are exact. Compared with other constraints
on strings, an address is its text; IPv6 has several texts for one address, and all of them satisfy
the constraint.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, final

from posetlib.constraints import intervals
from posetlib.constraints.base import Constraint, register_kind
from posetlib.constraints.extents import Extent, Piece
from posetlib.constraints.intervals import Pairs
from posetlib.constraints.strings import Strings
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.values import MISSING, is_text, shortened, value_text

__all__ = ["Addresses"]

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# The addresses of each version are the numbers below this; runs end before their second number.
_ENDS: Final = {4: 1 << 32, 6: 1 << 128}
# Up to this many IPv4 addresses, or strings, are compared one by one.
_MAX_LISTED: Final = 1_000
# An address begins with a colon or a digit, of base 16 for IPv6, in either case.
_AROUND: Final = Strings.interval("0", "g", high_open=True)
# The longest text of an address: IPv6 with eight groups, an IPv4 tail and a zone is shorter.
_MAX_TEXT: Final = 64


@final
class Addresses(Constraint):
    """The texts of IP addresses that lie in some networks.

    Exact among themselves. Against other constraints on strings they are compared one by one, if
    either the addresses, of IPv4, or the strings are at most 1,000; if not, ``covers`` says no, and
    ``overlaps`` yes for strings that begin as an address may.

    >>> private = Addresses.network("10.0.0.0/8")
    >>> private.matches("10.1.2.3"), private.matches("11.0.0.1"), private.matches("10.1")
    (True, False, False)
    >>> private.covers(Addresses.network("10.128.0.0/9"))
    True
    """

    __slots__ = ("_hash", "runs")
    domain = "string"
    kind = "addresses"
    knows_domain = True

    #: For each version, 4 and 6, the numbers of the addresses as sorted pairs (first, end).
    runs: tuple[Pairs, Pairs]

    def __init__(self, runs: Iterable[Iterable[tuple[int, int]]]) -> None:
        four, six = (intervals.normal((a, b) for a, b in each) for each in runs)
        for version, pairs in ((4, four), (6, six)):
            for first, end in pairs:
                if not 0 <= first < end <= _ENDS[version]:
                    raise FilterError(f"no addresses of IPv{version}: {first} to {end}")
        if not four and not six:
            raise EmptyConstraintError("no address satisfies the constraint")
        self.runs = (four, six)
        self._hash = hash((Addresses, self.runs))

    @classmethod
    def network(cls, text: str) -> Addresses:
        """Return the addresses of a network, or a single one.

        >>> Addresses.network("::1") == Addresses.network("::1/128")
        True
        """
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            raise FilterError(
                f"{value_text(text)} is no IP address, and no network such as 10.0.0.0/8"
            ) from None
        first = int(network.network_address)
        pair = (first, first + network.num_addresses)
        return cls(((pair,), ()) if network.version == 4 else ((), (pair,)))

    @classmethod
    def union(cls, members: Iterable[Addresses]) -> Addresses:
        """Return the addresses of at least one member: O(n log n)."""
        listed = list(members)
        return cls([pair for each in listed for pair in each.runs[at]] for at in (0, 1))

    # -- meaning -----------------------------------------------------------------------------------

    def matches(self, value: Any) -> bool:
        if not isinstance(value, str) or len(value) > _MAX_TEXT or not is_text(value):
            return False
        found = _address(str(value))
        return found is not None and intervals.contains(self.runs[found[0]], found[1])

    def covers(self, other: Constraint) -> bool:
        if isinstance(other, Addresses):
            return all(map(intervals.covers, self.runs, other.runs))
        texts = _texts_of(other)
        if texts is not None:
            return all(map(self.matches, texts))
        return Constraint.covers(self, other)

    def overlaps(self, other: Constraint) -> bool:
        if isinstance(other, Addresses):
            return any(map(intervals.overlaps, self.runs, other.runs))
        texts = _texts_of(other)
        if texts is not None:
            return any(map(self.matches, texts))
        listed = self.finite_strings()
        if isinstance(other, Strings):
            if listed is not None:
                return any(map(other.matches, listed))
            return other.overlaps(_AROUND)
        return Constraint.overlaps(self, other)

    def finite_strings(self) -> frozenset[str] | None:
        """Return all texts, None if they are too many to list or have several forms."""
        four, six = self.runs
        if six or sum(end - first for first, end in four) > _MAX_LISTED:
            return None
        return _texts_between(four)

    def merge(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Addresses):
            return Addresses.union((self, other))
        return Constraint.merge(self, other)

    def intersect(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Addresses):
            return Addresses(map(intervals.intersection, self.runs, other.runs))
        texts = _texts_of(other)
        if texts is not None:
            return Strings.points(filter(self.matches, texts))
        return Constraint.intersect(self, other)

    def complement(self) -> Addresses:
        """Return all other addresses; not the strings that are no address."""
        return Addresses(
            intervals.complement(pairs, 0, _ENDS[version])
            for version, pairs in zip((4, 6), self.runs, strict=True)
        )

    def hull(self, other: Constraint) -> Constraint | None:
        if not isinstance(other, Addresses):
            return Constraint.hull(self, other)
        both = Addresses.union((self, other)).runs
        return Addresses([(pairs[0][0], pairs[-1][1])] if pairs else [] for pairs in both)

    # -- facts for indexes and examples ------------------------------------------------------------

    def extent(self) -> Extent:
        ((low, high),) = _AROUND.terms[0].pairs
        return Extent(strings=(Piece(low, high, False),))

    def example(self) -> Any:
        return next(self._examples())

    def example_outside(self, other: Constraint) -> Any:
        if isinstance(other, Addresses):
            try:
                return Addresses(
                    map(_difference, self.runs, other.runs, (_ENDS[4], _ENDS[6]))
                ).example()
            except EmptyConstraintError:
                return MISSING
        for text in sorted(self.finite_strings() or self._examples()):
            if not other.matches(text):
                return text
        return Constraint.example_outside(self, other)

    def _examples(self) -> Iterator[str]:
        """Yield the first and the last address of each run, as texts."""
        for version, pairs in zip((4, 6), self.runs, strict=True):
            for first, end in pairs:
                yield str(_made(version, first))
                yield str(_made(version, end - 1))

    # -- text and dictionaries ---------------------------------------------------------------------

    def networks(self) -> list[_Network]:
        """Return the fewest networks that have exactly these addresses, IPv4 first."""
        return [
            network
            for version, pairs in zip((4, 6), self.runs, strict=True)
            for first, end in pairs
            for network in ipaddress.summarize_address_range(
                _made(version, first),
                _made(version, end - 1),
            )
        ]

    def clauses(self, name: str) -> tuple[str, ...]:
        try:
            outside = self.complement().networks()
        except EmptyConstraintError:
            outside = []
        if len(outside) == 1:
            return (f'{name} not in "{outside[0]}"',)
        return tuple(f'{name} in "{network}"' for network in self.networks())

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "networks": [str(network) for network in self.networks()]}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Addresses) and self.runs == other.runs

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Addresses, (self.runs,))


def _made(version: int, number: int) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.IPv4Address(number) if version == 4 else ipaddress.IPv6Address(number)


@lru_cache(maxsize=1 << 12)
def _address(text: str) -> tuple[int, int] | None:
    """Return the version (0 for IPv4, 1 for IPv6) and the number of an address, None for no one."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if getattr(address, "scope_id", None) is not None:
        return None  # an address with a zone is of one machine only
    return (0 if address.version == 4 else 1, int(address))


@lru_cache(maxsize=256)
def _texts_between(runs: Pairs) -> frozenset[str]:
    return frozenset(str(_made(4, number)) for first, end in runs for number in range(first, end))


def _texts_of(constraint: Constraint) -> Collection[str] | None:
    """Return the strings of a constraint that has finitely many, None for any other."""
    if isinstance(constraint, Strings):
        return constraint.listed(_MAX_LISTED)
    return constraint.finite_strings()


def _difference(mine: Pairs, theirs: Pairs, end: int) -> Pairs:
    return intervals.intersection(mine, intervals.complement(theirs, 0, end))


def _read(data: dict[str, Any]) -> Constraint:
    networks = data["networks"]
    if not isinstance(networks, list) or not all(isinstance(each, str) for each in networks):
        raise FilterError(f"networks are a list of texts, not {shortened(networks)}")
    if not networks:
        raise EmptyConstraintError("no address satisfies the constraint")
    return Addresses.union(map(Addresses.network, networks))


register_kind(Addresses.kind, _read)
