"""A network that goes through a script: one operation or one delivery at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, cast

import posetlib as pl
from browser.network.script import Action, Script
from browser.sources import SourceError
from posetlib.errors import TooComplexError
from posetlib.routing import Update
from posetlib.routing.mobility import DirectMessage, OnTheWay
from posetlib.simulation import NETWORK_ALGORITHMS, PROTOCOLS

__all__ = [
    "AS_WRITTEN",
    "TABLES",
    "Happening",
    "Link",
    "Message",
    "Player",
    "Settings",
    "defined",
    "settings_from",
]

#: The structures that a router's table can be, with their names.
TABLES: Final = {"fp": "FP", "nrf": "NRF"}
_MOST_SEED: Final = 999_999
#: The choice of a protocol that leaves it to the lines of the script.
AS_WRITTEN: Final = "as written"
#: Source and target; a message beside the tree has "direct" as a third.
Link = tuple[str, ...]
Message = Update | pl.Publication | OnTheWay | DirectMessage


@dataclass(frozen=True, slots=True)
class Settings:
    """How the network of a script works."""

    algorithm: str = "covering"
    advertisements: bool = False
    table: str = "fp"
    seed: int = 0
    #: The protocol of all moves, or ``AS_WRITTEN``.
    protocol: str = AS_WRITTEN


def settings_from(
    algorithm: Any, advertisements: Any, table: Any, seed: Any, protocol: Any = AS_WRITTEN
) -> Settings:
    """Return settings as the page or an address has them; SourceError for what is none."""
    if algorithm not in NETWORK_ALGORITHMS:
        raise SourceError(f"the algorithm is one of {', '.join(NETWORK_ALGORITHMS)}")
    if table not in TABLES:
        raise SourceError(f"the table is one of {', '.join(TABLES)}")
    if protocol not in (AS_WRITTEN, *PROTOCOLS):
        raise SourceError(f"the protocol is one of {', '.join((AS_WRITTEN, *PROTOCOLS))}")
    if isinstance(seed, str) and seed.isascii() and seed.isdigit() and len(seed) < 9:
        seed = int(seed)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= _MOST_SEED:
        raise SourceError(f"the seed is a whole number from 0 to {_MOST_SEED:,}")
    return Settings(algorithm, bool(advertisements), table, seed, protocol)


def _network(script: Script, settings: Settings, *, tracing: bool) -> pl.Network:
    return pl.Network(
        script.graph(),
        settings.algorithm,
        settings.advertisements,
        settings.seed,
        table=settings.table,
        master=script.master,
        rendezvous=script.rendezvous or None,
        tracing=tracing,
    )


def defined(script: Script, settings: Settings) -> tuple[Settings, str]:
    """Return settings that go together, the given ones if they do, and why others do not."""
    try:
        _network(script, settings, tracing=False)
    except ValueError as error:
        if not settings.advertisements:
            raise SourceError(str(error)) from None
        without = replace(settings, advertisements=False)
        return without, f"This is without advertisements, since {error}."
    return settings, ""


@dataclass(frozen=True, slots=True)
class Happening:
    """An operation or a delivery, and the messages that it put on links."""

    #: The line that it comes from: the operation's own, or the one that says to deliver.
    line: int
    action: Action | None
    event: pl.Event | None
    sent: tuple[tuple[Link, Message], ...]
    publication: pl.Publication | None = None
    #: Where the client is that acts, or was when it left; "" if none does.
    broker: str = ""


class Player:
    """Goes through a script from the start; ``forward`` is one happening.

    Clients come when their line is reached, which is no happening of its own. What is under way at
    the end is delivered.
    """

    def __init__(self, script: Script, settings: Settings, *, tracing: bool = True) -> None:
        self.network = _network(script, settings, tracing=tracing)
        self.position = 0
        self._actions = script.actions
        self._protocol = settings.protocol
        self._next = 0
        #: Deliveries that are still to be made before the next line; None for all there are.
        self._deliveries: int | None = 0
        self._link: Link | None = None
        self._line = 0
        self._ended = False
        self._attach()

    def _attach(self) -> None:
        while self._next < len(self._actions) and self._actions[self._next].name == "attach":
            self._do(self._actions[self._next])
            self._next += 1

    def _do(self, action: Action) -> Any:
        try:
            return getattr(self.network, action.name)(*self._arguments(action))
        except (LookupError, ValueError, TypeError, OverflowError, TooComplexError) as error:
            raise SourceError(f"line {action.line}: {error}") from None

    def _arguments(self, action: Action) -> tuple[Any, ...]:
        """Return the arguments for the network: those of a move with the protocol that holds."""
        if action.name not in ("move", "leave", "arrive"):
            return action.arguments
        client, broker, written = action.arguments
        protocol = written if self._protocol == AS_WRITTEN else self._protocol
        if action.name == "move":
            return client, broker, protocol or "update"
        if action.name == "arrive":
            return client, broker, protocol or None
        # A broker that is not told where the client goes need not know how.
        return (client, protocol or "update", broker) if broker else (client,)

    def forward(self) -> Happening | None:
        """Do what is next; None at the end."""
        made = self._forward()
        if made is not None:
            self.position += 1
            self._attach()
        return made

    def _forward(self) -> Happening | None:
        while True:
            before = self._under_way()
            event = self._delivery()
            if event is not None:
                taken: Link = (str(event.source), str(event.target))
                if isinstance(event.message, DirectMessage):
                    taken = (*taken, "direct")
                before[taken] = before.get(taken, 1) - 1
                return Happening(self._line, None, event, self._sent_since(before))
            if self._next == len(self._actions):
                if self._ended:
                    return None
                self._ended, self._deliveries, self._link = True, None, None
                continue
            action = self._actions[self._next]
            self._next += 1
            self._line = action.line
            if action.name in ("run", "step"):
                self._prepare(action)
            elif self.network.options["advertisements"] or "advertise" not in action.name:
                return self._operation(action)

    def _prepare(self, action: Action) -> None:
        self._link = None
        if action.name == "run":
            self._deliveries = None
        elif len(action.arguments) == 1:
            (self._deliveries,) = action.arguments
        else:
            self._deliveries, self._link = 1, action.arguments

    def _delivery(self) -> pl.Event | None:
        if self._deliveries == 0:
            return None
        event = self.network.step(self._link)
        if event is None:
            self._deliveries = 0
        elif self._deliveries is not None:
            self._deliveries -= 1
        return event

    def _operation(self, action: Action) -> Happening:
        before = self._under_way()
        broker = str(self.network.clients.get(action.arguments[0], ""))
        made = self._do(action)
        sent = self._sent_since(before)
        publication = made if isinstance(made, pl.Publication) else None
        return Happening(action.line, action, None, sent, publication, broker)

    def _in_flight(self) -> dict[Link, tuple[Message, ...]]:
        # All names in a script are texts.
        return cast("dict[Link, tuple[Message, ...]]", self.network.in_flight)

    def _under_way(self) -> dict[Link, int]:
        """Return how many messages are under way on each link that has some."""
        return {link: len(queue) for link, queue in self._in_flight().items()}

    def _sent_since(self, before: dict[Link, int]) -> tuple[tuple[Link, Message], ...]:
        """Return the messages behind those that were there before."""
        return tuple(
            (link, message)
            for link, queue in self._in_flight().items()
            for message in queue[before.get(link, 0) :]
        )
