"""The engine of a network: routers and stations at the nodes, and one delivery at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Final

from posetlib.errors import UnknownEntryError
from posetlib.routing import Router, Update
from posetlib.routing.messages import PARTS
from posetlib.routing.mobility import (
    Action,
    Deliver,
    Direct,
    Note,
    Release,
    Send,
    Session,
    Station,
    Stay,
)
from posetlib.routing.mobility.messages import Late, Signal, Transfer
from posetlib.simulation.audit import Ledger
from posetlib.simulation.clients import Client
from posetlib.simulation.events import Event, Hop, Message, Publication
from posetlib.simulation.handovers import HandoverLog
from posetlib.simulation.links import Clock, DirectPost, Link, Links
from posetlib.simulation.record import Recorder
from posetlib.simulation.settling import End, Standing, way_between
from posetlib.simulation.topology import Tree

__all__ = ["Engine"]

#: Seconds between two pings, where there is a clock [T 5.8].
_PING_INTERVAL: Final = 0.1


class Engine:
    """Brokers on a tree, what lies on their links, and the account of it; clients act elsewhere."""

    def __init__(
        self,
        tree: Tree,
        routers: Mapping[Hashable, Router],
        options: dict[str, Any],
        *,
        delays: Mapping[tuple[Hashable, Hashable], float] | None,
        tracing: bool,
        auditing: bool,
    ) -> None:
        self._tree = tree
        #: What the network was made with, but for the graph.
        self.options: Final = options
        #: The router of each broker, to be read.
        self.routers: Final = dict(routers)
        #: What each broker keeps for the clients that are at it, or were, to be read.
        self.stations: Final = {
            each: Station(
                each,
                router,
                partial(tree.next_hop, each),
                options["rendezvous"],
                on_close=partial(self._is_closing, each),
            )
            for each, router in self.routers.items()
        }
        #: What was sent between brokers: filters by what is done with them, notifications as
        #: "notify", messages of handovers by hops as "relocate", "done" and "ready", and "direct".
        self.messages: Final[Counter[str]] = Counter()
        self._clock = None if delays is None else Clock(delays, options["processing"])
        self._links = Links(options["seed"], self._clock)
        for one, other in tree.edges:
            self._links.add(one, other)
        self._clients: dict[Hashable, Client] = {}
        self._delivered: dict[Hashable, list[Publication]] = {}
        #: The order of brokers and clients, by which destinations are served.
        self._rank: dict[Hashable, int] = dict(tree.number)
        self._steps = 0
        #: Deliveries that were not pings or pongs, and how many there were at the last waking.
        self._progress = 0
        self._progress_at_waking = -1
        self._timers: list[tuple[Hashable, Hashable, int]] = []
        self._handovers = HandoverLog()
        self._record = Recorder()
        self._events: list[Event] | None = [] if tracing else None
        self._hops: dict[int, list[Hop]] = {}
        self._ledger = Ledger(tree, self._waiting) if auditing else None
        self._standing = Standing()
        #: Whether a client moved since all was at rest.
        self._is_unsettled = False

    # -- deliveries --------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time in seconds; 0 without ``delays``."""
        return 0.0 if self._clock is None else self._clock.now

    def step(self, link: tuple[Hashable, ...] | None = None) -> Event | None:
        """Deliver one message: the next by time or by the seed, or the first on this link.

        ``link`` is (source, target), or (source, target, "direct") for a direct message. Returns
        what happened, None if nothing is under way (there).
        """
        if link is not None:
            return self._step_on(link)
        chosen = self._next()
        if chosen is None:
            return None
        self._record.step()
        return self._deliver(chosen)

    def _step_on(self, link: tuple[Hashable, ...]) -> Event | None:
        source, target, *kind = link
        if kind:
            if kind != ["direct"]:
                raise ValueError(f"{link!r} is neither a link nor (source, target, 'direct')")
            self._check_broker(source)
            self._check_broker(target)
            for post in self._links.direct():
                if (post.source, post.target) == (source, target):
                    self._record.add("deliver_direct", source, target)
                    return self._deliver(post)
            return None
        self._check_edge(source, target)
        ends = (source, target)
        if ends not in self._links or not self._links[ends].queue:
            return None
        self._record.add("deliver", source, target)
        return self._deliver(self._links[ends])

    def _next(self) -> Link | DirectPost | None:
        """Return what is delivered next; those that wait to be woken are woken on the way."""
        if self._clock is None:
            if self._links.are_empty and self._timers and self._has_progressed():
                timers, self._timers = self._timers, []
                for timer in timers:
                    self._wake(*timer)
            return None if self._links.are_empty else self._links.choose()
        return self._next_by_time(self._clock)

    def _next_by_time(self, clock: Clock) -> Link | DirectPost | None:
        if self._timers and self._has_progressed():
            timers, self._timers = self._timers, []
            for timer in timers:
                clock.note(clock.now, timer)
        while len(clock):
            moment, number, what = clock.pop()
            if isinstance(what, tuple):
                if self._links.are_empty and not self._has_progressed():
                    # Nothing has changed since the last ping: the next one would fare no better.
                    self._timers.append(what)
                else:
                    clock.now = max(clock.now, moment)
                    self._wake(*what)
            elif self._links.is_next(number, what):
                clock.now = max(clock.now, moment)
                return what
        return None

    def _has_progressed(self) -> bool:
        """Return whether another ping may fare better than the last one at rest did."""
        before, self._progress_at_waking = self._progress_at_waking, self._progress
        return before != self._progress

    def _wake(self, broker: Hashable, client: Hashable, epoch: int) -> None:
        self._act(broker, self.stations[broker].wake(client, epoch))

    def _deliver(self, chosen: Link | DirectPost) -> Event:
        self._steps += 1
        broker = chosen.target
        self._settle_if_at_rest()
        message: Any
        sent: Iterable[tuple[Hashable, Any]]
        clients: tuple[Hashable, ...] = ()
        if isinstance(chosen, DirectPost):
            message = self._links.take_direct(chosen)
            self._progress += 1
            sent, clients = self._act(broker, self.stations[broker].receive_direct(message))
        else:
            message = self._links.take(chosen)
            if isinstance(message, Publication):
                self._progress += 1
                brokers, clients = self._handle(message, broker, chosen.source)
                sent = ((each, message) for each in brokers)
            elif isinstance(message, Update):
                self._progress += 1
                updates = self.routers[broker].receive(message, chosen.source)
                self._send_updates(broker, updates)
                sent = ((each.to, each) for each in updates)
            else:
                self._progress += not isinstance(message, Signal)
                actions = self.stations[broker].receive(message, chosen.source)
                sent, clients = self._act(broker, actions)
        event = Event(self._steps, chosen.source, broker, message, tuple(sent), clients, self.time)
        if self._events is not None:
            self._events.append(event)
        return event

    def run(self, limit: int | None = None, *, until: float | None = None) -> int:
        """Deliver until nothing is under way, or so many messages; returns how many it were.

        With ``delays`` also ``until`` a moment of simulated time, which it is then.
        """
        done = 0
        clock = None if until is None else self._clock
        while limit is None or done < limit:
            if clock is not None and until is not None:
                moment = clock.next_moment()
                if moment is not None and moment > until:
                    break
            if self.step() is None:
                break
            done += 1
        if until is not None and done != limit:
            self._wait(until)
        return done

    def _wait(self, until: float) -> None:
        if self._clock is not None:
            self._clock.now = max(self._clock.now, until)
            self._record.add("wait", until)

    def _handle(
        self, publication: Publication, broker: Hashable, source: Hashable
    ) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
        """Let a broker route a notification; returns the brokers and the clients it went to."""
        router, station = self.routers[broker], self.stations[broker]
        found = router.route(publication.notification, source)
        destinations = self._in_order(found)
        if self._events is not None:
            reasons = router.explain(publication.notification, source, found)
            self._hops.setdefault(publication.number, []).append(
                Hop(self._steps, broker, source, {to: reasons.get(to, ()) for to in destinations})
            )
        brokers: list[Hashable] = []
        clients: list[Hashable] = []
        for to in destinations:
            session = station.sessions.get(to)
            if (broker, to) in self._links:
                self._send(broker, to, publication)
                brokers.append(to)
            elif session is not None:
                note = Note(publication.number, publication.notification, publication)
                _, reached = self._act(broker, station.notify(to, note))
                clients += reached
            elif to not in station.proxies and self._ledger is not None:
                self._ledger.strayed(publication, broker, to)
        if self._ledger is not None:
            self._ledger.handled(publication, broker)
        return tuple(brokers), tuple(clients)

    def _in_order(self, destinations: Iterable[Hashable]) -> list[Hashable]:
        return sorted(destinations, key=self._order)

    def _order(self, name: Hashable) -> tuple[int, int]:
        if isinstance(name, Stay):
            return self._rank.get(name.client, -1), name.epoch
        return self._rank.get(name, -1), -1

    # -- what stations want done -------------------------------------------------------------------

    def _act(
        self, broker: Hashable, actions: Iterable[Action]
    ) -> tuple[list[tuple[Hashable, Any]], tuple[Hashable, ...]]:
        """Do what a station says; returns the messages that were sent, and the clients notified."""
        sent: list[tuple[Hashable, Any]] = []
        clients: list[Hashable] = []
        for action in actions:
            if isinstance(action, Send):
                if (broker, action.to) in self._links:
                    self._send(broker, action.to, action.message)
                    sent.append((action.to, action.message))
            elif isinstance(action, Direct):
                self._send_direct(broker, action)
                sent.append((action.to, action.message))
            elif isinstance(action, Deliver):
                if self._notify(action.client, action.note.content):
                    clients.append(action.client)
            elif isinstance(action, Release):
                self._empty_outbox(action.client, action.epoch, broker)
            elif self._clock is None:
                self._timers.append((broker, action.client, action.epoch))
            else:
                moment = self._clock.now + _PING_INTERVAL
                self._clock.note(moment, (broker, action.client, action.epoch))
        if self._handovers:
            for over in self._handovers.look(self.stations[broker], self._steps, self.time):
                who = self._clients.get(over.client)
                if who is not None and not self._handovers.has_open(who.name):
                    who.is_disturbed = False
        return sent, tuple(clients)

    def _notify(self, name: Hashable, publication: Publication) -> bool:
        """Hand a notification to a client, which drops what it has seen in an earlier stay."""
        client = self._clients.get(name)
        if client is None or (client.has_moved and not client.accept(publication.number)):
            return False
        self._delivered[name].append(publication)
        if self._ledger is not None:
            self._ledger.delivered(publication, client)
        return True

    def _empty_outbox(self, name: Hashable, epoch: int, broker: Hashable) -> None:
        client = self._clients.get(name)
        if client is None or client.epoch != epoch or not client.connected:
            return
        session = self.stations[broker].find(name, epoch)
        while client.outbox and session is not None:
            publication = replace(client.outbox.pop(0), broker=broker)
            if self._ledger is not None:
                self._ledger.released(publication)
            self._handle(publication, broker, session.name)

    def _send_updates(self, broker: Hashable, updates: Iterable[Update]) -> None:
        for update in updates:
            self._send(broker, update.to, update)

    def _send(self, broker: Hashable, to: Hashable, message: Message) -> None:
        if isinstance(message, Publication):
            self.messages["notify"] += 1
            if self._ledger is not None:
                self._ledger.sent(message)
        else:
            update: Update | None
            if isinstance(message, Update):
                update = message
            else:
                update = message.update
                self.messages[message.kind] += 1
            if update is not None:
                for part in PARTS:
                    filters = getattr(update, part)
                    if filters:
                        self.messages[part] += len(filters)
        self._links.send(broker, to, message)

    def _send_direct(self, broker: Hashable, action: Direct) -> None:
        self.messages["direct"] += 1
        delay = 0.0
        if self._clock is not None:
            path = self._tree.path(broker, action.to)
            delay = sum(self._clock.delays[ends] for ends in pairwise(path))
            delay += self._clock.processing
        self._links.send_direct(DirectPost(broker, action.to, action.message), delay)

    # -- what is due -------------------------------------------------------------------------------

    def _settle_if_at_rest(self) -> None:
        """Let claims go once all is at rest, and everybody has a session to speak for them.

        Who went without one, by an unsafe protocol, keeps the claims of the last.
        """
        if (
            self._is_unsettled
            and self._is_at_rest()
            and all(map(self._has_session, self._clients.values()))
        ):
            self._is_unsettled = False
            self._standing.clear()
            for client in self._clients.values():
                client.is_disturbed = False
                if len(client.places) > 1:
                    client.places = {client.broker: None}

    def _is_at_rest(self) -> bool:
        """Return whether no message but notifications is under way, and no handover is open."""
        return not self._links.signalling_under_way and not self._handovers

    def _waiting(self) -> set[int]:
        """Return the numbers of the publications that wait in queues, or travel with them."""
        found: set[Any] = set()
        for station in self.stations.values():
            for session in station.sessions.values():
                found.update(session.queue)
        for post in self._links.direct():
            if isinstance(post.message, Transfer):
                found.update(each.id for each in post.message.notes)
            elif isinstance(post.message, Late):
                found.add(post.message.note.id)
        return found

    def _has_session(self, client: Client) -> bool:
        return self.stations[client.broker].find(client.name, client.epoch) is not None

    def _is_announced(self, client: Client, notification: Mapping[str, Any]) -> bool:
        return not self.options["advertisements"] or client.advertisements.match(notification)

    def _due(self, publisher: Client, notification: Mapping[str, Any]) -> list[Client]:
        """Return the clients that a notification must reach if it is published now."""
        wanting = [
            client for client in self._clients.values() if client.subscriptions.match(notification)
        ]
        # At rest all that the sessions of clients asked for is known where it must be.
        is_known = self._is_at_rest() and self._has_session(publisher)
        return [
            each
            for each in wanting
            if (
                self._are_joined(each.broker, publisher.broker)
                if is_known and self._has_session(each)
                else self._has_settled(publisher, each, notification)
            )
        ]

    def _are_joined(self, one: Hashable, other: Hashable) -> bool:
        return all(ends in self._links for ends in pairwise(self._tree.path(one, other)))

    def _has_settled(
        self, publisher: Client, client: Client, notification: Mapping[str, Any]
    ) -> bool:
        """Return whether a notification is sure to come, by sessions that are open or were."""
        for sender in self._ends(publisher, publishing=True):
            for receiver in self._ends(client, publishing=False):
                if self._standing.are_open(sender, receiver, notification):
                    path = self._tree.path(receiver.broker, sender.broker)
                    way = way_between(path, self.routers, self._links)
                    if way is not None and way.carries(notification):
                        return True
        return self._standing.hold(publisher, client, notification)

    def _ends(self, client: Client, *, publishing: bool) -> Iterator[End]:
        """Yield the sessions that a client has."""
        for place in client.places:
            station = self.stations[place]
            for session in station.of_client(client.name):
                if session.epoch >= (client.epoch if client.is_disturbed else client.first_epoch):
                    yield self._end(client, station, session, publishing=publishing)

    def _end(self, client: Client, station: Station, session: Session, *, publishing: bool) -> End:
        filters = None
        if not publishing:
            filters = station.subscriptions(session)
        elif self.options["advertisements"]:
            filters = station.advertisements(session)
        return End(client, session.epoch, station.broker, filters)

    def _disturb(self, link: tuple[Hashable, Hashable]) -> None:
        """Take back what was promised to clients whose handover had to take a link that broke.

        Until that is over, what an old session has settled for them does not count: the entries
        towards the new one are gone, and a message may be past them.
        """
        for client in self._clients.values():
            if any(self._tree.crosses(each, client.broker, link) for each in client.places):
                client.is_disturbed = True
                self._standing.forget(client)
                if self._ledger is not None:
                    self._ledger.disturbed(client)

    def _is_closing(self, broker: Hashable, session: Session) -> None:
        """Keep what has settled for a session that is about to be closed."""
        client = self._clients.get(session.client)
        if self._ledger is None or client is None or session.epoch < client.first_epoch:
            return
        if client.is_disturbed:
            return
        station = self.stations[broker]
        as_sender = self._end(client, station, session, publishing=True)
        as_receiver = self._end(client, station, session, publishing=False)
        for other in self._clients.values():
            if as_receiver.filters:
                for sender in self._ends(other, publishing=True):
                    self._claim(sender, as_receiver)
            if as_sender.filters is None or as_sender.filters:
                for receiver in self._ends(other, publishing=False):
                    self._claim(as_sender, receiver)

    def _claim(self, sender: End, receiver: End) -> None:
        if receiver.filters and (sender.filters is None or sender.filters):
            path = self._tree.path(receiver.broker, sender.broker)
            way = way_between(path, self.routers, self._links)
            if way is not None:
                self._standing.add(sender, receiver, way)

    # -- names -------------------------------------------------------------------------------------

    def _check_broker(self, broker: Hashable) -> None:
        if broker not in self._tree.number:
            raise UnknownEntryError(f"there is no broker {broker!r} in the graph")

    def _check_edge(self, one: Hashable, other: Hashable) -> None:
        self._check_broker(one)
        if other not in self._tree.neighbours[one]:
            raise UnknownEntryError(f"there is no link between {one!r} and {other!r} in the graph")
