"""Whether the routers of a network at rest hold what they must, from one another and from clients.

These are the conditions of monotone valid routing [C 2.7]: with them at every broker, whatever is
published reaches whoever subscribes to it. They are decided by covering, which is exact: a broker
that holds a filter from elsewhere is known at its neighbour by one filter that covers it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from posetlib.errors import InvariantError
from posetlib.filters.filter import Filter
from posetlib.routing import Router
from posetlib.routing.mobility import Station
from posetlib.simulation.clients import Client, Holding
from posetlib.tables import Table

__all__ = ["advertisement_goes_to", "check_network", "check_sessions", "residue_between"]


def check_network(
    routers: Mapping[Hashable, Router],
    links: Iterable[tuple[Hashable, Hashable]],
    clients: Mapping[Hashable, Client],
    stations: Mapping[Hashable, Station],
) -> None:
    """Raise InvariantError for the first broker that does not hold what it must."""
    for router in routers.values():
        router.check()
    _check_clients(routers, clients, stations)
    for one, other in links:
        for near, far in ((one, other), (other, one)):
            _check_subscriptions(near, far, routers)
            if routers[near].options["advertisements"]:
                _check_advertisements(near, far, routers)


def _check_clients(
    routers: Mapping[Hashable, Router],
    clients: Mapping[Hashable, Client],
    stations: Mapping[Hashable, Station],
) -> None:
    """Local validity: each broker holds for its clients what they asked for, and nothing else."""
    for client in clients.values():
        router = routers[client.broker]
        session = stations[client.broker].find(client.name, client.epoch)
        name = client.name if session is None else session.name
        _check_same(client, router, router.subscriptions(name), client.subscriptions)
        if router.options["advertisements"]:
            held = router.advertisements(name)
            _check_same(client, router, held, client.advertisements)
    for broker, router in routers.items():
        station = stations[broker]
        for name in router.clients:
            if name not in station.sessions and name not in station.proxies:
                raise InvariantError(
                    "local-validity", name, f"{broker} has filters of {name}, who is not there"
                )


def check_sessions(
    stations: Mapping[Hashable, Station], clients: Mapping[Hashable, Client]
) -> None:
    """Raise InvariantError unless each client has one session, where it is, and no more is kept.

    That is, nothing is pinned, and no proxy waits for a signal.

    For a network at rest in which every link is whole.
    """
    for broker, station in stations.items():
        for session in station.sessions.values():
            client = clients.get(session.client)
            if client is None or (client.broker, client.epoch) != (broker, session.epoch):
                raise InvariantError(
                    "one-session", str(session), f"{broker} still has a session of somebody gone"
                )
            if not session.is_finished or session.legs_open:
                raise InvariantError(
                    "one-session", str(session), f"the session at {broker} was never handed over"
                )
        for name, session in station.proxies.items():
            # A client that is on its way may have one at the broker that waits for it.
            if session.connected or session not in station.sessions.values():
                raise InvariantError(
                    "no-proxies", str(name), f"{broker} still waits for a signal that cannot come"
                )
        if len(station.router.pins):
            raise InvariantError(
                "no-pins",
                [str(item) for item, _, _ in station.router.pins],
                f"pins are at {broker}",
            )
    for client in clients.values():
        if stations[client.broker].find(client.name, client.epoch) is None:
            raise InvariantError(
                "one-session", client.name, f"{client.broker} has no session of {client.name}"
            )


def residue_between(
    routers: Mapping[Hashable, Router], fresh: Mapping[Hashable, Router]
) -> list[str]:
    """Return what routers hold of their neighbours that fresh ones do not, and the reverse."""
    found = []
    for broker, router in routers.items():
        kinds = [(Router.subscriptions, "subscription")]
        if router.options["advertisements"]:
            kinds.append((Router.advertisements, "advertisement"))
        for neighbour in router.neighbours:
            for held_by, kind in kinds:
                mine, other = held_by(router, neighbour), held_by(fresh[broker], neighbour)
                for some, others, what in ((mine, other, "too much"), (other, mine, "missing")):
                    found += [
                        f"{broker} from {neighbour}, {kind} {what}: {each}"
                        for each in _without(some, others, router)
                    ]
    return found


def _check_same(
    client: Client, router: Router, held: Iterable[Filter], asked: Iterable[Filter]
) -> None:
    held, asked = tuple(held), tuple(asked)
    different = [*_without(held, asked, router), *_without(asked, held, router)]
    if different:
        raise InvariantError(
            "local-validity",
            sorted(map(str, different)),
            f"{client.broker} does not hold for {client.name} what {client.name} asked for",
        )


def _without(some: Iterable[Filter], others: Iterable[Filter], router: Router) -> list[Filter]:
    """Return the filters that are not among others, as the router tells filters apart.

    With covering, equivalent filters share an entry, in the form of the one that came first.
    """
    if router.options["algorithm"] != "covering":
        known = set(others)
        return [each for each in some if each not in known]
    holding = Holding()
    for each in others:
        holding.add(each)
    return [each for each in some if holding.find(each) is None]


def _check_subscriptions(near: Hashable, far: Hashable, routers: Mapping[Hashable, Router]) -> None:
    router = routers[near]
    held = routers[far].subscriptions(near)
    _check_sent(near, far, held, router.sent(far).subscribe, router)
    if near in routers[far].always():
        return
    asked = _from_elsewhere(router.table, far)
    if router.options["advertisements"]:
        types = router.options["rendezvous"].get(far, ())
        announced = (*types, *router.advertisements(far))
        asked = [each for each in asked if any(each.overlaps(one) for one in announced)]
    _check_known(near, far, asked, held, router)


def _check_advertisements(
    near: Hashable, far: Hashable, routers: Mapping[Hashable, Router]
) -> None:
    router = routers[near]
    held = routers[far].advertisements(near)
    _check_sent(near, far, held, router.sent(far).advertise, router)
    asked = _from_elsewhere(router.advertisement_table, far)
    asked = [each for each in asked if advertisement_goes_to(router, each, far)]
    _check_known(near, far, asked, held, router)


def advertisement_goes_to(router: Router, advertisement: Filter, neighbour: Hashable) -> bool:
    """Return whether an advertisement goes to a neighbour: to all, or towards rendezvous points."""
    points = router.options["rendezvous"]
    types = [each for some in points.values() for each in some]
    if not any(each.covers(advertisement) for each in types):
        return True
    return any(each.overlaps(advertisement) for each in points.get(neighbour, ()))


def _from_elsewhere(table: Table[Filter], neighbour: Hashable) -> list[Filter]:
    """Return what is held by a client, or by a neighbour other than this one."""
    return [each for each in table if set(table.interfaces(each)) - {neighbour}]


def _check_known(
    near: Hashable,
    far: Hashable,
    asked: Iterable[Filter],
    held: Iterable[Filter],
    router: Router,
) -> None:
    """Remote validity: the far broker holds from the near one something that covers each filter."""
    held = tuple(held)
    by_covering = router.options["algorithm"] == "covering"
    for each in asked:
        known = any(one.covers(each) for one in held) if by_covering else each in held
        if not known:
            raise InvariantError(
                "remote-validity", str(each), f"{far} does not know that {near} needs it"
            )


def _check_sent(
    near: Hashable,
    far: Hashable,
    held: Iterable[Filter],
    sent: Iterable[Filter],
    router: Router,
) -> None:
    """Nothing is left behind: the far broker holds from the near one only what it was sent."""
    left = _without(held, sent, router)
    if left:
        raise InvariantError(
            "nothing-left-behind",
            sorted(map(str, left)),
            f"{far} holds what {near} has taken back, or never sent",
        )
