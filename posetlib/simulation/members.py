"""What clients do in a network: they come and go, ask, announce, publish and move."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from posetlib.errors import UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.routing import TOP
from posetlib.routing.exchange import LOCAL
from posetlib.routing.languages import LANGUAGES
from posetlib.routing.mobility import Action, Direct, Session, protocol_named
from posetlib.routing.mobility.messages import Forget
from posetlib.simulation.clients import Client, Holding
from posetlib.simulation.completeness import is_complete
from posetlib.simulation.engine import Engine
from posetlib.simulation.events import Publication
from posetlib.simulation.handovers import Handover

__all__ = ["Members", "as_item"]


class Members(Engine):
    """An engine with clients: each call is one act of one client, done at once at its broker."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._publications = 0
        #: The last epoch of each client that was here.
        self._epochs: dict[Hashable, int] = {}

    @property
    def publications(self) -> int:
        """How many notifications were published."""
        return self._publications

    # -- clients -----------------------------------------------------------------------------------

    def attach(self, client: Hashable, broker: Hashable) -> None:
        """Let a client come to a broker; ValueError if it is at one already."""
        self._check_broker(broker)
        if client in self._clients:
            raise ValueError(
                f"{client!r} is at {self._clients[client].broker!r} already: detach() it first"
            )
        if client in self.routers:
            raise ValueError(f"{client!r} is a broker: a client needs a name of its own")
        if client is None or client in {LOCAL, TOP}:
            raise ValueError(f"{client!r} cannot be the name of a client")
        # Sessions of an earlier visit may still be handed over, or announced: no epoch comes twice.
        epoch = self._epochs[client] + 2 if client in self._epochs else 0
        self._clients[client] = Client(client, broker, epoch)
        self._epochs[client] = epoch
        self.stations[broker].attach(client, epoch)
        self._delivered.setdefault(client, [])
        self._rank.setdefault(client, len(self._rank))
        self._record.add("attach", client, broker)

    def detach(self, client: Hashable) -> None:
        """Let a client go, with all that it asked for; what is under way to it is lost to it."""
        who = self._client(client)
        del self._clients[client]
        self._epochs[client] = who.epoch
        if self._ledger is not None:
            self._ledger.left(who)
        self._standing.forget(who)
        self._handovers.abandon(client)
        broker, epoch = who.broker, who.epoch
        if who.is_announced:
            broker, epoch = who.announced_by, who.epoch - 1
            forget = Forget("update", client, who.epoch)
            self._act(broker, [Direct(who.broker, forget)])
        self._act(broker, self.stations[broker].detach(client, epoch))
        self._record.add("detach", client)

    def subscribe(self, client: Hashable, filter: Filter | str) -> None:
        """Let a client subscribe; once for the same filter."""
        who, session = self._connected(client)
        new = as_item(filter, self.options["language"])
        updates = self.routers[who.broker].subscribe(_known(who.subscriptions, new), session.name)
        who.subscriptions.add(new)
        self._send_updates(who.broker, updates)
        self._record.add("subscribe", client, new)

    def unsubscribe(self, client: Hashable, filter: Filter | str) -> None:
        """Let a client end a subscription; UnknownEntryError if it does not have it."""
        who, session = self._connected(client)
        old = as_item(filter, self.options["language"])
        held = _known(who.subscriptions, old)
        updates = self.routers[who.broker].unsubscribe(held, session.name)
        who.subscriptions.remove(held)
        self._stopped(who, held)
        self._send_updates(who.broker, updates)
        self._record.add("unsubscribe", client, old)

    def replace(self, client: Hashable, old: Filter | str, new: Filter | str) -> None:
        """Let a client have one subscription instead of another, without a gap between them."""
        who, session = self._connected(client)
        gone, come = as_item(old, self.options["language"]), as_item(new, self.options["language"])
        held, known = _known(who.subscriptions, gone), _known(who.subscriptions, come)
        # An equivalent filter that stays is held in its own form; the one that goes is not.
        updates = self.routers[who.broker].replace(
            held, come if known == held else known, session.name
        )
        who.subscriptions.remove(held)
        who.subscriptions.add(come)
        self._stopped(who, held)
        self._send_updates(who.broker, updates)
        self._record.add("replace", client, gone, come)

    def _stopped(self, client: Client, filter: Filter) -> None:
        if self._ledger is not None:
            self._ledger.stopped(client)
            if self._is_unsettled:
                self._standing.unsubscribed(client, filter)

    def advertise(self, client: Hashable, filter: Filter | str) -> None:
        """Let a client announce what it will publish; ValueError without advertisements."""
        who, session = self._connected(client)
        new = as_item(filter, self.options["language"])
        router = self.routers[who.broker]
        updates = router.advertise(_known(who.advertisements, new), session.name)
        who.advertisements.add(new)
        self._send_updates(who.broker, updates)
        self._record.add("advertise", client, new)

    def unadvertise(self, client: Hashable, filter: Filter | str) -> None:
        """Let a client withdraw an announcement; UnknownEntryError if it did not make it."""
        who, session = self._connected(client)
        old = as_item(filter, self.options["language"])
        held = _known(who.advertisements, old)
        updates = self.routers[who.broker].unadvertise(held, session.name)
        who.advertisements.remove(held)
        if self._ledger is not None:
            self._ledger.withdrew(who)
            if self._is_unsettled:
                self._standing.unadvertised(who, held)
        self._send_updates(who.broker, updates)
        self._record.add("unadvertise", client, old)

    def publish(self, client: Hashable, notification: Mapping[str, Any]) -> Publication:
        """Let a client publish; clients at its own broker have it at once.

        With advertisements, what it did not announce goes nowhere. What a client publishes on its
        way, or before its handover allows it, waits in its outbox until then.
        """
        who = self._client(client)
        publication = Publication(
            self._publications + 1, client, who.broker, dict(notification), self._steps
        )
        self._publications += 1
        self._record.add("publish", client, publication.notification)
        announced = self._is_announced(who, publication.notification)
        if self._ledger is not None:
            self._settle_if_at_rest()
            due = self._due(who, publication.notification) if announced else ()
            self._ledger.published(publication, who, announced, due)
        session = self.stations[who.broker].find(client, who.epoch)
        if who.connected and (session is None or session.released):
            name = client if session is None else session.name
            self._handle(publication, who.broker, name)
        elif announced:
            who.outbox.append(publication)
        else:
            # Its broker would refuse it now, whatever the client announces until it could see it.
            self.routers[who.broker].dropped += 1
            if self._ledger is not None:
                self._ledger.handled(publication, who.broker)
        return publication

    def settled(
        self, publisher: Hashable, client: Hashable, notification: Mapping[str, Any]
    ) -> bool:
        """Return whether a client is sure to get a notification if it is published now.

        So it is once it was so, wherever both move, until the client unsubscribes or the publisher
        withdraws.
        """
        sender, receiver = self._client(publisher), self._client(client)
        return (
            receiver.subscriptions.match(notification)
            and self._is_announced(sender, notification)
            and self._has_settled(sender, receiver, notification)
        )

    def complete(self, client: Hashable, filter: Filter | str) -> bool:
        """Return whether a subscription or an advertisement of a client is known where it must be.

        A subscription is complete when every edge on the way to each broker with an overlapping
        advertiser, or without advertisements to every broker, is active for all that both match; an
        advertisement is when every broker that it goes to holds something from its direction that
        covers it. UnknownEntryError for a filter that the client does not have.
        """
        who, item = self._client(client), as_item(filter, self.options["language"])
        subscribed, advertised = who.subscriptions.find(item), who.advertisements.find(item)
        if subscribed is None and advertised is None:
            raise UnknownEntryError(f"{client!r} neither subscribes to {item} nor advertises it")
        return is_complete(who.broker, subscribed, advertised, self._tree, self.routers)

    def _client(self, client: Hashable) -> Client:
        found = self._clients.get(client)
        if found is None:
            raise UnknownEntryError(f"there is no client {client!r}: attach() it to a broker")
        return found

    def _connected(self, client: Hashable) -> tuple[Client, Session]:
        """Return a client and its session; ValueError for one that cannot ask for anything now."""
        who = self._client(client)
        session = self.stations[who.broker].find(client, who.epoch)
        if not who.connected:
            raise ValueError(f"{client!r} is on its way: let it arrive() first")
        if session is None:
            raise ValueError(f"an unsafe protocol has closed the session of {client!r}")
        return who, session

    # -- clients that move -------------------------------------------------------------------------

    def move(self, client: Hashable, broker: Hashable, protocol: str = "update") -> None:
        """Let a client go from its broker to another one, with all that it asked for.

        The same as ``leave`` and ``arrive`` at once. ``protocol`` is one of
        ``posetlib.simulation.PROTOCOLS``, and the handover takes as many deliveries as it needs.

        >>> import networkx as nx
        >>> from posetlib import Network
        >>> net = Network(nx.path_graph(["B1", "B2", "B3"]))
        >>> net.attach("alice", "B1")
        >>> net.attach("bob", "B2")
        >>> net.subscribe("alice", "x > 3")
        >>> net.run()
        2
        >>> publication = net.publish("bob", {"x": 5})
        >>> net.move("alice", "B3")
        >>> net.run()
        6
        >>> net.delivered("alice")
        ({'x': 5},)
        >>> net.messages["relocate"], net.messages["done"], net.messages["direct"]
        (2, 2, 1)
        """
        protocol_named(protocol)
        self._check_broker(broker)
        self.leave(client, protocol, broker)
        self.arrive(client, broker, protocol)

    def leave(
        self, client: Hashable, protocol: str | None = None, target: Hashable | None = None
    ) -> None:
        """Let a client disconnect, to arrive somewhere later; its broker queues for it.

        A broker that is told the ``protocol`` may act on it now, and those that make before they
        break ("prepared", "path-update") need the ``target`` as well.
        """
        who = self._client(client)
        if not who.connected:
            raise ValueError(f"{client!r} is on its way already")
        announces = False
        if protocol is not None:
            known = protocol_named(protocol)
            if target is not None:
                self._check_broker(target)
            announces = known.announces and target not in {None, who.broker}
            if known.needs_target and target is None:
                raise ValueError(f"{protocol} needs to know the target when the client leaves")
        if not who.has_moved:
            who.has_moved = True
            for each in self._delivered[client]:
                who.accept(each.number)
        self._is_unsettled = True
        if self._ledger is not None:
            self._ledger.has_queues = True
        station = self.stations[who.broker]
        # Nobody need be told of one that comes back, or whose session an unsafe protocol closed.
        told = protocol
        if target == who.broker or station.find(client, who.epoch) is None:
            told, announces = None, False
        source = who.broker
        actions: list[Action] = []
        if station.find(client, who.epoch) is not None:
            actions = station.leave(client, who.epoch, told, target)
        who.leave(told)
        if announces:
            who.announce(target)
            who.places[target] = None
            self._begin(who, source, protocol)
        self._act(source, actions)
        self._record.add("leave", client, protocol, target)

    def arrive(self, client: Hashable, broker: Hashable, protocol: str | None = None) -> None:
        """Let a client that left connect to a broker: another one, or its own again.

        ``protocol`` is that of ``leave``, if its broker was told one there; otherwise any, and
        "update" if you do not say.
        """
        who = self._client(client)
        self._check_broker(broker)
        if who.connected:
            raise ValueError(f"{client!r} is at {who.broker!r}: let it leave() first")
        chosen = protocol or who.expected or "update"
        if who.expected not in {None, chosen}:
            raise ValueError(f"{client!r} left by {who.expected}, and cannot arrive by {chosen}")
        protocol_named(chosen)
        self._is_unsettled = True
        station = self.stations[broker]
        was_announced = who.is_announced and broker == who.broker
        if broker == who.broker and station.find(client, who.epoch) is not None:
            who.stay(broker)
            actions = station.come_back(client, who.epoch)
        else:
            if broker == who.broker and not who.is_announced:
                chosen = "resubscribe"  # there is no session here to be handed over
            source = who.broker
            journey = who.journey(broker, tuple(who.subscriptions), tuple(who.advertisements))
            who.places[broker] = None
            self._epochs[client] = who.epoch
            if not was_announced:
                self._begin(who, source, chosen)
            actions = station.arrive(journey, chosen)
        if was_announced:
            self._handovers.arrived(client, who.epoch, self.time)
        self._act(broker, actions)
        self._record.add("arrive", client, broker, protocol)

    def _begin(self, who: Client, source: Hashable, protocol: str | None) -> None:
        arrived = self.time if who.connected else None
        self._handovers.begin(
            Handover(
                who.name,
                who.epoch,
                source,
                who.broker,
                str(protocol),
                self._steps,
                self.time,
                arrived,
            )
        )


def as_item(item: Filter | str, language: str) -> Filter:
    """Return a filter or expression, read from its text if it is one."""
    return LANGUAGES[language].relation.reader_for({})(item) if isinstance(item, str) else item


def _known(held: Holding, filter: Filter) -> Filter:
    """Return the filter as the client holds it, or as it is."""
    return held.find(filter) or filter
