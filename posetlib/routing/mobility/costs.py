"""What a handover costs in messages: the tables of the thesis [T 5.1-5.5], and exact counts.

The tables count brokers strictly between source and target, ``between``, or all others,
``brokers - 2``; ``points`` is K, the number of rendezvous points to be told, ``reach`` the longest
way to one, and ``pings`` P, the pings that had to be repeated: 0 where brokers have addresses. The
exact functions count hops: ``distance`` edges lie between the two brokers.

Faults of the tables, which the functions keep: Table 5.1 leaves out the subscriptions to ping and
pong under advertisements. A lower bound of 0 stands for the covering optimisation, which is unsafe:
every safe protocol here needs a hop for each edge. The rendezvous rows leave out the way from the
point to the old broker. "Acyclic RP is never dearer than the tree" does not hold for an incomplete
path: 2(n - 2) > n - 2.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

__all__ = [
    "GENERIC_PHASES",
    "LATENCIES",
    "OPTIMISATIONS",
    "Bounds",
    "complete_bounds",
    "generic_cost",
    "incomplete_bounds",
    "ping_pong_messages",
    "update_messages",
]


class Bounds(NamedTuple):
    """The most and the fewest brokers between that a handover updates."""

    upper: int
    lower: int


#: Table 5.1: for each phase what it costs with subscription and with advertisement semantics, as
#: (factor of N, factor of n): N all brokers, n those on the way. None: it is not needed.
GENERIC_PHASES: Final[dict[str, tuple[tuple[int, int] | None, tuple[int, int] | None]]] = {
    "source subscribes ping": ((1, 0), None),
    "target subscribes pong": ((1, 0), None),
    "target publishes ping": ((0, 1), (1, 0)),
    "source publishes pong": ((0, 1), (1, 0)),
    "source unsubscribes ping": ((1, 0), (0, 1)),
    "target unsubscribes pong": ((1, 0), (0, 1)),
    "target unadvertises ping": (None, (1, 0)),
    "source unadvertises pong": (None, (1, 0)),
}

#: Table 5.4: latency of a handover in milliseconds, mean and deviation.
LATENCIES: Final[dict[str, tuple[int, int]]] = {
    "ping-pong": (170, 26),
    "ping-pong RP": (168, 22),
    "incomplete acyclic": (49, 16),
    "incomplete acyclic RP": (48, 17),
    "complete acyclic": (39, 17),
    "complete acyclic RP": (39, 17),
}

#: Table 5.5: what makes a handover cheaper, by how it works. It ranks cost, and not safety.
OPTIMISATIONS: Final[dict[str, str]] = {
    "none": "update messages are flooded",
    "overlay addresses": "no flooding of update messages",
    "rendezvous points": "completeness is checked up to the rendezvous point",
    "covering": "nothing is sent if an update came (make before break), or the path is complete",
}


def generic_cost(
    brokers: int, on_path: int, *, advertisements: bool, filters: int = 0, pings: int = 0
) -> int:
    """Table 5.1: the brokers that the phases of ping/pong update; ``filters`` is 0 to ``brokers``.

    ``pings`` more pings are published along the path, with subscription semantics.

    >>> generic_cost(100, 7, advertisements=False), generic_cost(100, 7, advertisements=True)
    (414, 414)
    """
    if not 0 <= filters <= brokers or not 0 < on_path <= brokers:
        raise ValueError("filters is between 0 and brokers, on_path between 1 and brokers")
    cost = filters + (0 if advertisements else pings * on_path)
    for phase in GENERIC_PHASES.values():
        factors = phase[advertisements]
        if factors is not None:
            cost += factors[0] * brokers + factors[1] * on_path
    return cost


def complete_bounds(
    protocol: str,
    brokers: int,
    between: int,
    *,
    publisher: bool = False,
    reach: int = 0,
    points: int = 1,
    pings: int = 0,
) -> Bounds:
    """Table 5.2: the bounds for a path that is complete.

    ``protocol`` is "generic", "generic RP", "acyclic", "cyclic RP" or "acyclic RP".

    >>> complete_bounds("generic", 100, 5)
    Bounds(upper=588, lower=216)
    """
    others, there_and_back = brokers - 2, 2 if publisher else 1
    if protocol == "generic":
        return Bounds(4 * others + (pings + 2) * others, 2 * others + 4 * between)
    if protocol == "generic RP":
        return Bounds(2 * reach + (pings + 4) * others, 2 * reach + 4 * between)
    if protocol == "acyclic":
        return Bounds(there_and_back * others, 0)
    cyclic = there_and_back * points * reach
    return Bounds(_of_points(protocol, cyclic, there_and_back * others), 0)


def incomplete_bounds(
    protocol: str,
    brokers: int,
    between: int,
    *,
    publisher: bool = False,
    reach: int = 0,
    points: int = 1,
    pings: int = 0,
) -> Bounds:
    """Table 5.3: the bounds for a path that may be incomplete; arguments as ``complete_bounds``.

    >>> incomplete_bounds("acyclic", 100, 5), incomplete_bounds("acyclic", 100, 5, publisher=True)
    (Bounds(upper=98, lower=5), Bounds(upper=196, lower=10))
    """
    others = brokers - 2
    if protocol.startswith("generic"):
        return complete_bounds(protocol, brokers, between, reach=reach, pings=pings)
    if protocol == "acyclic":
        if publisher:
            return Bounds(2 * others, 2 * between)
        return Bounds((pings + 1) * others, between)
    ways = 3 if publisher else 2
    return Bounds(_of_points(protocol, ways * points * reach, ways * others), 0)


def _of_points(protocol: str, cyclic: int, tree: int) -> int:
    if protocol == "cyclic RP":
        return cyclic
    if protocol == "acyclic RP":
        return min(cyclic, tree)
    raise ValueError(
        "the tables have 'generic', 'generic RP', 'acyclic', 'cyclic RP' and 'acyclic RP', "
        f"not {protocol!r}"
    )


# -- exact -----------------------------------------------------------------------------------------


def update_messages(distance: int, *, publisher: bool = False) -> Counter[str]:
    """Return what ``update`` sends besides filters, exactly: a hop for each edge, there and back.

    >>> sorted(update_messages(3).items())
    [('direct', 1), ('done', 3), ('relocate', 3)]
    """
    back = "ready" if publisher else "done"
    return Counter({"relocate": distance, back: distance, "direct": 1})


def ping_pong_messages(brokers: int, distance: int, *, advertisements: bool) -> Counter[str]:
    """Return what ping/pong sends for its signals, exactly, if the first ping arrives.

    With advertisements both signals are announced everywhere and subscribed to along the way;
    without, both are subscribed to everywhere. All of it is withdrawn again. Two direct messages
    fetch the queue; the filters of the client come on top.

    >>> ping_pong_messages(10, 3, advertisements=True)["advertise"]
    18
    """
    everywhere, along = 2 * (brokers - 1), 2 * distance
    found = Counter({"notify": along, "direct": 2})
    if advertisements:
        found.update(advertise=everywhere, unadvertise=everywhere)
        found.update(subscribe=along, unsubscribe=along)
    else:
        found.update(subscribe=everywhere, unsubscribe=everywhere)
    return found
