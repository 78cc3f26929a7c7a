"""IP networks, of which one covers another if it has all of its addresses; IPv4 beside IPv6.

A network is all addresses that begin with some bits. So it is an interval of addresses, and for
IPv4 the interval is its box. An address of IPv6 has 128 bits, more than a float64 holds. It is cut
into words, with an axis for each: a network is a single value in the words before its last bit, an
interval in the word with its last bit, and everything in those behind. One network has all
addresses of another just if its box contains the other's, so that the boxes are exact.
"""

from __future__ import annotations

from collections.abc import Hashable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_network,
)
from typing import Any, Final, TypeAlias, TypeGuard

from posetlib.orders.lookups import LookupMatcher
from posetlib.search.boxes import AxisInterval, Box, Shapes
from posetlib.search.relation import Relation

__all__ = ["IP_NETWORKS", "NetworkBoxes", "NetworkMatcher", "covers"]

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address

# The words of an address, in bits, by the version of the protocol. All integers of up to 53 bits
# are float64 numbers.
_WORDS: Final = {4: (32,), 6: (52, 52, 24)}


def covers(one: Network, other: Network) -> bool:
    """Return whether every address of the second network is one of the first.

    >>> covers(ip_network("10.0.0.0/8"), ip_network("10.1.0.0/16"))
    True
    >>> covers(ip_network("::/0"), ip_network("10.0.0.0/8"))
    False
    """
    return one.version == other.version and other.subnet_of(one)  # type: ignore[arg-type]


def _matches(network: Network, address: Address) -> bool:
    return address in network


class _ByVersion:
    """No network of IPv4 has anything to do with one of IPv6."""

    def of(self, item: Network) -> Hashable:
        return item.version

    def of_notification(self, notification: Address) -> Hashable:
        return notification.version


class NetworkBoxes:
    """Makes the boxes of networks.

    >>> NetworkBoxes().read(ip_network("0.0.1.0/24"))
    <Box {(4, 0): (256.0, 511.0)}>
    >>> NetworkBoxes().read(ip_network("::/104"))
    <Box {(6, 0): (0.0, 0.0), (6, 1): (0.0, 0.0), (6, 2): (0.0, 16777215.0)}>
    """

    __slots__ = ("_shapes",)

    def __init__(self) -> None:
        self._shapes = Shapes()

    def read(self, item: object) -> Box | None:
        """Return the box of a network, None for anything else; O(1).

        All boxes of a version are on the same axes, so that any two compare by their ends alone.
        """
        if not _is_network(item):
            return None
        first, last = int(item.network_address), int(item.broadcast_address)
        left: int = item.max_prefixlen
        intervals = []
        for number, width in enumerate(_WORDS[item.version]):
            left -= width
            word = (1 << width) - 1
            low, high = first >> left & word, last >> left & word
            intervals.append(AxisInterval((item.version, number), float(low), float(high)))
        return self._shapes.box(intervals, exact=True)


def _is_network(item: object) -> TypeGuard[Network]:
    """Return whether an item is a network without a scope, whose addresses a box can tell."""
    if isinstance(item, IPv6Network):
        return item.network_address.scope_id is None
    return isinstance(item, IPv4Network)


def _check(item: object) -> None:
    if not _is_network(item):
        raise TypeError(f"the table holds IP networks without a scope, not {item!r}")


class NetworkMatcher(LookupMatcher):
    """Finds the networks that an address is in: one look for each length of prefix.

    >>> matcher = NetworkMatcher([(ip_network("10.0.0.0/8"), "I1")])
    >>> matcher.match(IPv4Address("10.1.2.3"))
    frozenset({'I1'})
    """

    def _place(self, item: Network) -> tuple[Hashable, Hashable]:
        shift = item.max_prefixlen - item.prefixlen
        return (item.version, shift), int(item.network_address) >> shift

    def _key(self, notification: Address, group: Any) -> Hashable:
        version, shift = group
        return int(notification) >> shift if notification.version == version else None


#: Networks of both versions, and addresses as notifications.
IP_NETWORKS: Final[Relation[Network]] = Relation(
    covers=covers,
    matches=_matches,
    canonical=True,
    partition=_ByVersion(),
    boxes=NetworkBoxes,
    matcher=NetworkMatcher,
    read=ip_network,
    check=_check,
)
