"""A station: the sessions of one broker, and how they are handed from broker to broker; no I/O.

It is told what happens, and returns what to do: messages on links and beside them, deliveries to
clients. What a message means is the business of the protocols; what they share is here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from posetlib.filters.filter import Filter
from posetlib.routing.messages import Update
from posetlib.routing.mobility.messages import (
    Action,
    Close,
    Deliver,
    Direct,
    DirectMessage,
    Done,
    Journey,
    Late,
    Note,
    OnTheWay,
    PathUpdate,
    Release,
    Relocate,
    Send,
    Signal,
    Wake,
)
from posetlib.routing.mobility.protocol import protocol_named
from posetlib.routing.mobility.sessions import Session, Stay
from posetlib.routing.router import Router

__all__ = ["Station"]

Broker = Hashable


class Station:
    """The sessions of one broker, beside its router.

    ``next_hop`` returns the neighbour in the direction of another broker: its address in the tree.
    ``points`` has the rendezvous points, with their event types. ``name`` makes the name by which
    the router knows a session; without it that is the client, or a ``Stay`` if the client has an
    older session here. ``on_close`` is called before a session is closed.

    Every call returns a list of actions, in the order in which they must be done.
    """

    def __init__(
        self,
        broker: Broker,
        router: Router,
        next_hop: Callable[[Broker], Hashable],
        points: Mapping[Broker, tuple[Filter, ...]] | None = None,
        name: Callable[[Hashable, int], Hashable] | None = None,
        on_close: Callable[[Session], None] | None = None,
    ) -> None:
        self.broker: Final = broker
        self.router: Final = router
        self.next_hop: Final = next_hop
        self.points: Final[Mapping[Broker, tuple[Filter, ...]]] = points or {}
        self._name = name or self._free_name
        self._on_close = on_close
        #: The sessions by the names that the router has for them.
        self.sessions: Final[dict[Hashable, Session]] = {}
        self._by_stay: dict[tuple[Hashable, int], Session] = {}
        #: The epochs of each client that were here: their announcements are out of date. A later
        #: one says nothing of an earlier one, as announcements overtake one another.
        self._seen: dict[Hashable, set[int]] = {}
        #: Relocate messages for sessions that are announced, and not open yet.
        self._early: dict[tuple[Hashable, int], list[Relocate]] = {}
        #: Names in the router that belong to a session, and are no session: see ``ping_pong``.
        self.proxies: Final[dict[Hashable, Session]] = {}
        self._actions: list[Action] = []

    # -- what there is -----------------------------------------------------------------------------

    def find(self, client: Hashable, epoch: int) -> Session | None:
        """Return the session of one stay, None if it is not here."""
        return self._by_stay.get((client, epoch))

    def of_client(self, client: Hashable) -> list[Session]:
        """Return all sessions of a client, the oldest first."""
        return [each for each in self.sessions.values() if each.client == client]

    def has_seen(self, client: Hashable, epoch: int) -> bool:
        """Return whether a session of this epoch was ever open here, or is not to be."""
        return epoch in self._seen.get(client, ())

    def subscriptions(self, session: Session) -> tuple[Filter, ...]:
        """Return what a session subscribes to."""
        return self.router.subscriptions(session.name)

    def advertisements(self, session: Session) -> tuple[Filter, ...]:
        """Return what a session advertises."""
        if not self.router.options["advertisements"]:
            return ()
        return self.router.advertisements(session.name)

    def __repr__(self) -> str:
        return f"<Station {self.broker}: {len(self.sessions)} sessions>"

    # -- what clients do ---------------------------------------------------------------------------

    def attach(self, client: Hashable, epoch: int = 0) -> Session:
        """Open the first session of a client, with nothing to hand over."""
        session = self.open(client, epoch, None)
        session.connected = session.ready = session.released = True
        return session

    def detach(self, client: Hashable, epoch: int) -> list[Action]:
        """End a session, as its client is gone for good."""
        with self._acting() as actions:
            session = self.find(client, epoch)
            if session is not None:
                self.give_up(session)
        return actions

    def leave(
        self, client: Hashable, epoch: int, protocol: str | None = None, target: Broker = None
    ) -> list[Action]:
        """Let a client disconnect: its session stays and queues, until it is asked for.

        With a ``protocol`` the broker knows what is to come, and with a ``target`` also where: the
        make-before-break protocols act on that.
        """
        with self._acting() as actions:
            session = self._by_stay[client, epoch]
            session.connected = False
            if protocol is not None:
                protocol_named(protocol).leaving(self, session, target)
        return actions

    def arrive(self, journey: Journey, protocol: str) -> list[Action]:
        """Let a client connect that was elsewhere before; its session here is of a new epoch."""
        with self._acting() as actions:
            protocol_named(protocol).arriving(self, journey)
        return actions

    def come_back(self, client: Hashable, epoch: int) -> list[Action]:
        """Let a client connect to the session that it has here."""
        with self._acting() as actions:
            session = self._by_stay[client, epoch]
            protocol_named("ping-pong").came_back(self, session)
            self.connect(session)
        return actions

    # -- what arrives ------------------------------------------------------------------------------

    def receive(self, message: OnTheWay, source: Hashable) -> list[Action]:
        """Be told of a message that came over the link from a neighbour."""
        with self._acting() as actions:
            protocol = protocol_named(message.protocol)
            if isinstance(message, Relocate):
                protocol.relocate_came(self, message, source)
            elif isinstance(message, Done):
                protocol.done_came(self, message, source)
            elif isinstance(message, PathUpdate):
                protocol.path_update_came(self, message, source)
            else:
                self.signal(message, source)
        return actions

    def receive_direct(self, message: DirectMessage) -> list[Action]:
        """Be told of a message that came beside the tree."""
        with self._acting() as actions:
            protocol_named(message.protocol).direct_came(self, message)
        return actions

    def notify(self, name: Hashable, note: Note) -> list[Action]:
        """Be told of a notification that the router has for a session."""
        with self._acting() as actions:
            self.take(self.sessions[name], note)
        return actions

    def wake(self, client: Hashable, epoch: int) -> list[Action]:
        """Be told that the time of a ``Wake`` is over."""
        with self._acting() as actions:
            session = self.find(client, epoch)
            if session is not None:
                protocol_named("ping-pong").woken(self, session)
        return actions

    def retry(self) -> list[Action]:
        """Ask again for the sessions whose handover is not over: a link on the way was broken.

        A session that was handed over already is answered again, so asking too often is harmless.
        """
        with self._acting() as actions:
            for session in list(self.sessions.values()):
                if not session.ready or session.legs_open:
                    for message in session.asked:
                        protocol_named(message.protocol).ask_again(self, session, message)
        return actions

    def go_on_without(self, client: Hashable, epoch: int) -> list[Action]:
        """Let a session go on without the queue of the one before, which has not come for long.

        It is asked for all the same: if it does come, it is delivered late.
        """
        with self._acting() as actions:
            session = self.find(client, epoch)
            if session is not None:
                session.ready = True
                self.flush(session)
                if not session.released:
                    self.release(session)
                protocol_named("update").hand_on(self, session)
        return actions

    def forget_seen(self, client: Hashable, before: int) -> None:
        """Forget that a client was here in early epochs: announcements of them cannot come."""
        seen = self._seen.get(client)
        if seen is not None:
            self._seen[client] = {each for each in seen if each >= before}

    @contextmanager
    def _acting(self) -> Iterator[list[Action]]:
        actions: list[Action] = []
        self._actions, before = actions, self._actions
        try:
            yield actions
        finally:
            self._actions = before

    # -- for the protocols -------------------------------------------------------------------------

    def open(self, client: Hashable, epoch: int, source: Broker) -> Session:
        """Open a session; it has no filters yet, and nobody is connected to it."""
        name = self._name(client, epoch)
        session = Session(client, epoch, name, source)
        self.sessions[name] = self._by_stay[client, epoch] = session
        self.mark_seen(client, epoch)
        for message in self._early.pop((client, epoch), ()):
            session.relocates[message.leg] = message
        return session

    def _free_name(self, client: Hashable, epoch: int) -> Hashable:
        return client if client not in self.sessions else Stay(client, epoch)

    def enter(self, session: Session, journey: Journey | Relocate | PathUpdate) -> None:
        """Let the router hold for a session what its client asked for."""
        self.router.receive(
            Update(None, subscribe=journey.subscriptions, advertise=journey.advertisements),
            session.name,
        )

    def close(self, session: Session) -> list[Update]:
        """End a session; returns the updates to send. What waits in its queue is given up."""
        if self._on_close is not None:
            self._on_close(session)
        del self.sessions[session.name]
        del self._by_stay[session.client, session.epoch]
        with self.router.together() as updates:
            self.router.drop_client(session.name)
            for name, each in list(self.proxies.items()):
                if each is session:
                    self.drop_proxy(name)
        return updates

    def give_up(self, session: Session) -> None:
        """End a session whose client is gone for good, and with it those before it.

        A Relocate that is under way ends the session before by itself.
        """
        self.send(self.close(session))
        if not session.ready and not session.asked and session.source is not None:
            self.direct(session.source, Close("resubscribe", session.client, session.epoch - 1))

    def drop_proxy(self, name: Hashable) -> list[Update]:
        """Let the router forget a proxy."""
        del self.proxies[name]
        return self.router.drop_client(name)

    def remember(self, message: Relocate) -> None:
        """Keep a Relocate for a session that is still to be opened."""
        self._early.setdefault((message.client, message.epoch - 1), []).append(message)

    def mark_seen(self, client: Hashable, epoch: int) -> None:
        """Let an announcement of this epoch be out of date."""
        self._seen.setdefault(client, set()).add(epoch)

    def connect(self, session: Session) -> None:
        """Let a client be connected to its session; what waits is delivered if it is ready."""
        session.connected = True
        if session.released:
            self.act(Release(session.client, session.epoch))
        self.flush(session)

    def release(self, session: Session) -> None:
        """Let what the client publishes go out from here."""
        session.released = True
        self.act(Release(session.client, session.epoch))

    def flush(self, session: Session) -> None:
        """Deliver what waits, if the client is there and the session ready.

        Filters are asked again: the client may have dropped one while notifications waited.
        """
        if session.connected and session.ready and session.queue:
            waiting, session.queue = session.queue, {}
            for note in waiting.values():
                if self.is_wanted(session, note):
                    self.act(Deliver(session.client, note))

    def is_wanted(self, session: Session, note: Note) -> bool:
        """Return whether the client still subscribes to a notification."""
        return any(each.matches(note.notification) for each in self.subscriptions(session))

    def take(self, session: Session, note: Note) -> None:
        """Deliver a notification, or let it wait, or send it after the queue."""
        if session.forward_to is not None:
            session.late_sent += 1
            self.direct(session.forward_to, Late("linger", session.client, session.epoch + 1, note))
        elif session.connected and session.ready:
            self.act(Deliver(session.client, note))
        else:
            session.queue.setdefault(note.id, note)

    def act(self, action: Action) -> None:
        """Note what is to be done."""
        self._actions.append(action)

    def direct(self, to: Broker, message: DirectMessage) -> None:
        """Send a message beside the tree."""
        self.act(Direct(to, message))

    def send(
        self,
        updates: Iterable[Update],
        message: Relocate | Done | PathUpdate | None = None,
        hop: Hashable = None,
    ) -> None:
        """Send updates, and a message to a neighbour as one with the update for it."""
        mine = None
        for update in updates:
            if message is not None and update.to == hop:
                mine = update
            else:
                self.act(Send(update.to, update))
        if message is not None and hop in self.router.neighbours:
            self.act(Send(hop, replace(message, update=mine)))

    def pin(self, filters: Iterable[Filter], hop: Hashable, key: Hashable) -> None:
        """Let filters go to a neighbour whatever it advertises; not over a broken link."""
        if hop in self.router.neighbours:
            for each in filters:
                self.router.pin(each, hop, key)

    def signal(self, message: Signal, source: Hashable) -> None:
        """Route a ping or a pong, to neighbours and to the proxies that wait for it here."""
        found = self.router.route(message.notification, source)
        for neighbour in self.router.neighbours:
            if neighbour in found:
                self.act(Send(neighbour, message))
        for name, session in list(self.proxies.items()):
            if name in found:
                protocol_named(message.protocol).signal_came(self, session, message)

    def wait(self, session: Session) -> None:
        """Ask to be woken."""
        self.act(Wake(session.client, session.epoch))
