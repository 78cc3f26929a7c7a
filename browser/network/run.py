"""A run of a network: every moment of it, what is under way then, and what a broker holds."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final, TypeVar

import posetlib as pl
from browser.config import Limits
from browser.elements import counted
from browser.network.moving import Stay, message_text, queued, sent_on, stays, told, why_carried
from browser.network.player import (
    AS_WRITTEN,
    Happening,
    Link,
    Message,
    Player,
    Settings,
    defined,
)
from browser.network.reasons import notified, tables_of, why_notified, why_updated
from browser.network.script import Action, Script
from browser.sources import SourceError
from posetlib.routing import Update
from posetlib.routing.mobility import DirectMessage, protocol_named

__all__ = ["Flight", "Held", "Moment", "Run", "held"]

Value = TypeVar("Value")
_VERBS: Final = {
    "subscribe": "subscribes to {1}",
    "unsubscribe": "unsubscribes from {1}",
    "replace": "replaces {1} by {2}",
    "advertise": "advertises {1}",
    "unadvertise": "no longer advertises {1}",
    "publish": "publishes",
    "detach": "leaves for good",
    "move": "moves to {1}",
    "leave": "leaves",
    "arrive": "arrives at {1}",
    "break_link": "The link between {0} and {1} breaks",
    "heal_link": "The link between {0} and {1} heals",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """One operation or one delivery: what happened, why, and what came of it."""

    number: int
    text: str
    #: The line of the script that said so.
    line: int
    #: The moment of the operation that all this follows from; its own number if it is one.
    origin: int
    #: The brokers that sent and received, None for an operation.
    link: Link | None
    #: Where it happened: a broker, or both ends of a link that broke or healed.
    brokers: tuple[str, ...]
    message: Message | None
    #: The clients that were notified, and the one that acted.
    clients: tuple[str, ...]
    actor: str
    reasons: tuple[str, ...]
    audit: pl.Audit
    #: Notifications that wait in queues of sessions.
    queued: int = 0
    #: The comment that stands above the line.
    caption: str = ""


@dataclass(slots=True, eq=False)
class Flight:
    """A message on a link: the moments at which it was put there and taken."""

    link: Link
    message: Message
    sent: int
    #: None while it is under way; what a broken link loses is taken by that.
    taken: int | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A filter at a broker: from which neighbours and clients, and to whom it was sent."""

    filter: pl.Filter
    sources: tuple[str, ...]
    sent_to: tuple[str, ...]


class Run:
    """A script that was gone through; immutable but for a second network that follows the slider.

    Moments count from 0, when clients are there and nothing has happened.
    """

    def __init__(self, script: Script, settings: Settings, limits: Limits) -> None:
        self.script = script
        self.settings, note = defined(script, settings)
        self.notes = tuple(_notes(script, self.settings, note))
        player = Player(script, self.settings)
        #: The network at the end.
        self.network = player.network
        self.flights: list[Flight] = []
        self._on_links: dict[Link, deque[Flight]] = {}
        start = Moment(
            0,
            "Nothing has happened yet",
            0,
            0,
            None,
            (),
            None,
            (),
            "",
            (),
            player.network.audit(),
            caption=script.about,
        )
        self._captions = {each.line: each.caption for each in script.actions}
        self.moments: list[Moment] = [start]
        #: By broker, how many filters its table has from a moment on.
        self._sizes: dict[str, list[tuple[int, int]]] = {each: [(0, 0)] for each in script.brokers}
        #: The links that are broken from a moment on.
        self._broken: list[tuple[int, frozenset[Link]]] = [(0, frozenset())]
        #: Where the clients are from a moment on.
        self._places = [(0, _names(player.network.clients))]
        #: The sessions of the clients from a moment on; without moves nobody asks.
        self._movers = script.movers
        self._stays = [(0, stays(player.network, self._movers))]
        #: The last moment at which each client moved, and the broker that it left.
        self._moved: dict[str, int] = {}
        self._left: dict[str, str] = {}
        while True:
            happening = player.forward()
            if happening is None:
                break
            if player.network.steps > limits.deliveries:
                raise SourceError(
                    f"line {happening.line}: more than {limits.deliveries:,} messages over links; "
                    "fewer brokers or operations are needed, or another algorithm"
                )
            self.moments.append(self._moment(player.network, happening))
        self._add_captions()
        self._lock = threading.Lock()
        #: A network of its own that follows the slider, where somebody looks into a table.
        self._cursor: Player | None = None

    def __len__(self) -> int:
        """How many operations and deliveries there are."""
        return len(self.moments) - 1

    def _add_captions(self) -> None:
        """Add the captions of lines at which nothing happened, and the last words of the script."""
        lines = [each.line for each in self.moments]
        silent = [each for each in self.script.actions if each.caption and each.line not in lines]
        for line, words in [(each.line, each.caption) for each in silent]:
            self._say(bisect_right(lines, line) - 1, words)
        if self.script.moral:
            self._say(len(self), self.script.moral)

    def _say(self, number: int, words: str) -> None:
        moment = self.moments[number]
        self.moments[number] = replace(moment, caption=f"{moment.caption} {words}".strip())

    # -- going through it --------------------------------------------------------------------------

    def _moment(self, network: pl.Network, happening: Happening) -> Moment:
        number = len(self.moments)
        made = (
            self._delivered(network, happening, number)
            if happening.event is not None
            else self._operated(network, happening, number)
        )
        for link, message in happening.sent:
            flight = Flight(link, message, number)
            self.flights.append(flight)
            self._on_links.setdefault(link, deque()).append(flight)
        for broker in made.brokers:
            self._sizes[broker].append((number, len(network.routers[broker].table)))
        places = _names(network.clients)
        if places != self._places[-1][1]:
            self._places.append((number, places))
        waiting = 0
        if self._movers:
            here = stays(network, self._movers)
            if here != self._stays[-1][1]:
                self._stays.append((number, here))
            waiting = queued(network)
        return replace(made, queued=waiting, caption=self._captions.get(happening.line, ""))

    def _delivered(self, network: pl.Network, happening: Happening, number: int) -> Moment:
        event = happening.event
        assert event is not None
        message = event.message
        link: Link = (str(event.source), str(event.target))
        if isinstance(message, DirectMessage):
            link = (*link, "direct")
        flight = self._taken(link, message, number)
        if isinstance(message, Update):
            sent = [each for _, each in event.sent if isinstance(each, Update)]
            reasons = why_updated(network, event.target, event.source, message, sent)
        elif isinstance(message, pl.Publication):
            reasons = why_notified(network, network.trace(message)[-1], message)
        else:
            reasons = why_carried(message, happening.sent)
        return Moment(
            number,
            f"{link[0]} to {link[1]}: {told(message)}",
            happening.line,
            self.moments[flight.sent].origin,
            link,
            (link[1],),
            message,
            tuple(map(str, event.clients)),
            "",
            tuple(reasons),
            network.audit(),
        )

    def _taken(self, link: Link, message: Message, number: int) -> Flight:
        """Return the flight of a message that is delivered now; direct ones are in any order."""
        flights = self._on_links.get(link, deque())
        for flight in flights:
            if flight.message is message:
                flights.remove(flight)
                flight.taken = number
                return flight
        # A ping that is repeated when nothing else is under way: it was sent just now.
        flight = Flight(link, message, self._moved.get(str(getattr(message, "client", "")), 0))
        flight.taken = flight.sent
        return flight

    def _operated(self, network: pl.Network, happening: Happening, number: int) -> Moment:
        action = happening.action
        assert action is not None
        text = _VERBS[action.name].format(*map(str, action.arguments))
        brokers: tuple[str, ...]
        publication = happening.publication
        clients: tuple[str, ...] = ()
        actor = ""
        if action.name.endswith("_link"):
            brokers = action.arguments
            reasons = _why_told(action, happening.sent)
            one, other = brokers
            ends = [(one, other), (other, one)]
            broken = self._broken[-1][1].difference(ends)
            if action.name == "break_link":
                broken = broken.union(ends)
            self._broken.append((number, broken))
            for link in ends:
                for flight in self._on_links.pop(link, ()):
                    flight.taken = number
        else:
            actor = str(action.arguments[0])
            home = happening.broker
            brokers = (home,)
            text = f"{actor} {text}"
            if action.name in ("move", "leave", "arrive"):
                self._moved[actor] = number
                if action.name == "arrive":
                    # An announced client counts as one of the broker that it goes to.
                    home = self._left.get(actor, home)
                self._left[actor] = home
                brokers = tuple(dict.fromkeys(each for each in (home, action.arguments[1]) if each))
                reasons = _why_moved(network, action, home, happening.sent)
            elif publication is None:
                sent = [each for _, each in happening.sent if isinstance(each, Update)]
                reasons = why_updated(network, home, actor, action, sent)
            else:
                text += f" {publication.text}"
                hops = network.trace(publication)
                if hops:
                    reasons = why_notified(network, hops[0], publication)
                    clients = notified(network, hops[0])
                else:
                    reasons = [f"It waits in the outbox of {actor} until the handover is over."]
            if action.name != "move":
                text += f" at {home}" if action.name != "arrive" else f", from {home}"
        return Moment(
            number,
            text,
            happening.line,
            number,
            None,
            brokers,
            publication,
            clients,
            actor,
            tuple(reasons),
            network.audit(),
        )

    # -- at a moment -------------------------------------------------------------------------------

    def clamp(self, number: Any) -> int:
        """Return a moment that there is, near a number."""
        return min(max(number, 0), len(self)) if isinstance(number, int) else len(self)

    def queues(self, number: int) -> dict[Link, list[Flight]]:
        """Return what is under way on each link after a moment, the next one first."""
        found: dict[Link, list[Flight]] = {}
        for each in self.flights:
            if each.sent <= number and (each.taken is None or each.taken > number):
                found.setdefault(each.link, []).append(each)
        return found

    def origins(self) -> list[Moment]:
        """Return the operations, in order."""
        return [each for each in self.moments[1:] if each.link is None]

    def followed(self, line: int) -> list[Moment]:
        """Return an operation by its line, and all deliveries that follow from it."""
        origin = next((each.number for each in self.origins() if each.line == line), None)
        return [each for each in self.moments[1:] if each.origin == origin]

    def sizes(self, number: int) -> dict[str, int]:
        """Return how many filters each broker has in its table after a moment."""
        return {broker: _latest(history, number) for broker, history in self._sizes.items()}

    def clients(self, number: int) -> dict[str, str]:
        """Return the broker of each client that is there after a moment."""
        return _latest(self._places, number)

    def stays(self, number: int) -> tuple[Stay, ...]:
        """Return the sessions of the clients after a moment, if any of them ever moves."""
        return _latest(self._stays, number)

    def broken(self, number: int) -> frozenset[Link]:
        """Return the links that are broken after a moment, in both directions."""
        return _latest(self._broken, number)

    @contextmanager
    def network_at(self, number: int) -> Iterator[pl.Network]:
        """Yield the network as it is after a moment, to be read; one thread at a time.

        Going forward costs what happens in between, going back all from the start.
        """
        with self._lock:
            cursor = self._cursor
            if cursor is None or cursor.position > number:
                cursor = self._cursor = Player(self.script, self.settings, tracing=False)
            while cursor.position < number and cursor.forward() is not None:
                pass
            yield cursor.network

    def held(self, broker: str, number: int, part: str = "subscribe") -> list[Held]:
        """Return what a broker holds after a moment; ``part`` is "subscribe" or "advertise"."""
        with self.network_at(number) as network:
            return held(network.routers[broker], part)


def held(router: pl.Router, part: str = "subscribe") -> list[Held]:
    """Return what a router holds, in order: filters of its tables, then mergers that it sent."""
    table, local = tables_of(router, part)
    sent = {near: getattr(router.sent(near), part) for near in router.neighbours}
    filters: dict[pl.Filter, None] = dict.fromkeys([*table, *local])
    for some in sent.values():
        filters.update(dict.fromkeys(some))
    rows = []
    for item in filters:
        near = table.interfaces(item) if item in table else ()
        at_home = local.interfaces(item) if item in local else ()
        sources = [
            *(each for each in router.neighbours if each in near),
            *(each for each in router.clients if each in at_home),
        ]
        to = [each for each, some in sent.items() if item in some]
        rows.append(Held(item, tuple(map(str, sources)), tuple(map(str, to))))
    return rows


def _notes(script: Script, settings: Settings, note: str) -> Iterable[str]:
    """Yield what a reader should know about settings and script together."""
    if note:
        yield note
    silent = script.count("advertise", "unadvertise")
    if silent and not settings.advertisements:
        yield f"Without advertisements, {counted(silent, 'line')} about them have no effect."
    if settings.protocol != AS_WRITTEN:
        if not script.movers:
            yield f"No client moves in this run: {settings.protocol} has no effect."
        elif any(each != settings.protocol for each in script.protocols):
            written = " and ".join(script.protocols)
            yield (
                f"All moves are by {settings.protocol} here. The run and its captions were written "
                f"for {written}: what they tell may not happen."
            )
    if settings.advertisements and not script.count("advertise"):
        yield "With advertisements, what nobody advertised goes nowhere; no line advertises."


def _latest(history: Sequence[tuple[int, Value]], number: int) -> Value:
    """Return what holds at a moment, of what holds from some moments on."""
    return history[bisect_right(history, number, key=itemgetter(0)) - 1][1]


def _names(clients: Mapping[Any, Any]) -> dict[str, str]:
    return {str(client): str(broker) for client, broker in clients.items()}


def _why_told(action: Action, sent: Sequence[tuple[Link, Message]]) -> list[str]:
    """Return what the ends of a link do when it breaks or heals."""
    if action.name == "heal_link":
        return ["Each end tells the other all that it must know."]
    told = ["What was under way on it is lost, and both ends forget what they had from there."]
    for (broker, to), message in sent:
        told.append(f"{broker} to {to}: {message_text(message)}")
    return told


def _why_moved(
    network: pl.Network, action: Action, home: str, sent: Sequence[tuple[Link, Message]]
) -> list[str]:
    """Return what brokers do when a client leaves or arrives."""
    client, broker, _ = action.arguments
    if action.name == "leave":
        reasons = [f"{home} keeps the session of {client}, and queues for it."]
    elif broker == home:
        reasons = [f"{client} is at {broker} again."]
    else:
        by = network.handovers[-1].protocol if network.handovers else "update"
        reasons = [f"By {by}: {protocol_named(by).summary}"]
    return reasons + sent_on(sent)
