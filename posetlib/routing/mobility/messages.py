"""What brokers tell one another of clients that move, and what a broker does about it.

Messages *on the way* use the links of the tree, behind all that was sent there before; each may
carry the update that its sender has for the same neighbour, so that both arrive as one. *Direct*
messages pass beside the tree, in any order. The epoch of a message is that of the new session; the
old one has the epoch before.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from posetlib.filters.filter import Filter
from posetlib.routing.messages import Update

__all__ = [
    "Action",
    "Close",
    "Deliver",
    "Direct",
    "DirectMessage",
    "Done",
    "Expect",
    "Forget",
    "Journey",
    "Late",
    "Note",
    "OnTheWay",
    "PathUpdate",
    "Prepare",
    "Ready",
    "Release",
    "Relocate",
    "Request",
    "Send",
    "Signal",
    "Transfer",
    "Wake",
]

Broker: TypeAlias = Hashable
Filters: TypeAlias = tuple[Filter, ...]


class Note(NamedTuple):
    """A notification that waits for a client; ``content`` is whatever the broker delivers."""

    id: Hashable
    notification: Mapping[str, Any]
    content: Any = None


@dataclass(frozen=True, slots=True)
class Journey:
    """What a client tells the broker that it comes to.

    ``source`` is the broker that has its last session, the one of the epoch before. ``announced``:
    that session may itself not be open yet, since the client was announced there and never came.
    ``expected``: the source was told of the protocol when the client left.
    """

    client: Hashable
    epoch: int
    source: Broker
    subscriptions: Filters = ()
    advertisements: Filters = ()
    announced: bool = False
    expected: bool = False


# -- on the way ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Relocate:
    """From the new broker (``target``) to the old one (``source``): hand over the session.

    ``via`` are the brokers that are still to be visited before the source, ``leg`` is the number of
    this message among the ``legs`` that the source waits for.
    """

    protocol: str
    client: Hashable
    epoch: int
    source: Broker
    target: Broker
    subscriptions: Filters = ()
    advertisements: Filters = ()
    announced: bool = False
    route: tuple[Broker, ...] = ()
    via: tuple[Broker, ...] = ()
    leg: int = 0
    legs: int = 1
    update: Update | None = None

    @property
    def kind(self) -> str:
        """What it counts as."""
        return "relocate"

    def __str__(self) -> str:
        return f"relocate {self.client} (stay {self.epoch}) from {self.source} to {self.target}"


@dataclass(frozen=True, slots=True)
class Done:
    """From the old broker back to the new one: the old session is closed.

    It clears pins, and what the client has to publish may go out behind it. ``late`` is the number
    of notifications that were sent after the queue. ``is_for_publisher`` is whether the client
    advertises, or has nothing else.
    """

    protocol: str
    client: Hashable
    epoch: int
    source: Broker
    target: Broker
    late: int = 0
    is_for_publisher: bool = False
    via: tuple[Broker, ...] = ()
    leg: int = 0
    update: Update | None = None

    @property
    def kind(self) -> str:
        """What it counts as."""
        return "ready" if self.is_for_publisher else "done"

    def __str__(self) -> str:
        return f"{self.kind} {self.client} (stay {self.epoch}) from {self.source} to {self.target}"


@dataclass(frozen=True, slots=True)
class PathUpdate:
    """From the old broker to the new one, before the client goes: make the way."""

    protocol: str
    client: Hashable
    epoch: int
    source: Broker
    target: Broker
    subscriptions: Filters = ()
    advertisements: Filters = ()
    update: Update | None = None

    @property
    def kind(self) -> str:
        """What it counts as."""
        return "relocate"

    def __str__(self) -> str:
        return f"path update for {self.client} (stay {self.epoch}) to {self.target}"


@dataclass(frozen=True, slots=True)
class Signal:
    """A ping or a pong: a notification that only brokers read, routed like any other."""

    protocol: str
    name: str
    client: Hashable
    epoch: int
    notification: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """What it counts as."""
        return "notify"

    @property
    def update(self) -> Update | None:
        """None: it carries no filters."""
        return None

    def __str__(self) -> str:
        return f"{self.name} of {self.client} (stay {self.epoch})"


OnTheWay: TypeAlias = Relocate | Done | PathUpdate | Signal


# -- direct ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _AboutStay:
    protocol: str
    client: Hashable
    epoch: int

    def __str__(self) -> str:
        return f"{type(self).__name__.lower()} {self.client} (stay {self.epoch})"


@dataclass(frozen=True, slots=True)
class Transfer(_AboutStay):
    """The queue of the old session."""

    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        return f"transfer {len(self.notes)} for {self.client} (stay {self.epoch})"


@dataclass(frozen=True, slots=True)
class Late(_AboutStay):
    """A notification that came to the old session after its queue was sent."""

    note: Note

    def __str__(self) -> str:
        return f"late notification for {self.client} (stay {self.epoch})"


@dataclass(frozen=True, slots=True)
class Request(_AboutStay):
    """The new broker (``target``) wants the queue of the old session."""

    target: Broker


@dataclass(frozen=True, slots=True)
class Prepare(_AboutStay):
    """The old broker (``source``) announces a client that is to come."""

    source: Broker
    subscriptions: Filters = ()
    advertisements: Filters = ()


@dataclass(frozen=True, slots=True)
class Expect(_AboutStay):
    """The old session is to wait for a ping."""


@dataclass(frozen=True, slots=True)
class Close(_AboutStay):
    """The old session is over; nobody wants its queue."""


@dataclass(frozen=True, slots=True)
class Forget(_AboutStay):
    """An announced client is gone for good; its session is over, or is not to be opened."""


@dataclass(frozen=True, slots=True)
class Ready(_AboutStay):
    """What the client publishes may go out; only an unsafe protocol says so directly."""


DirectMessage: TypeAlias = Transfer | Late | Request | Prepare | Expect | Close | Forget | Ready


# -- what a broker does ----------------------------------------------------------------------------


class Send(NamedTuple):
    """Put a message on the link to a neighbour."""

    to: Hashable
    message: Update | OnTheWay


class Direct(NamedTuple):
    """Send a message to a broker beside the tree."""

    to: Broker
    message: DirectMessage


class Deliver(NamedTuple):
    """Hand a notification to a client that is connected; the client drops what it has seen."""

    client: Hashable
    note: Note


class Release(NamedTuple):
    """Tell a client that its publications may go out from here."""

    client: Hashable
    epoch: int


class Wake(NamedTuple):
    """Call ``Station.wake`` in a while: a ping may have been lost."""

    client: Hashable
    epoch: int


Action: TypeAlias = Send | Direct | Deliver | Release | Wake
