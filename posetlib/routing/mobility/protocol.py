"""What a protocol is: the answers of a station to what happens to a client that moves."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from posetlib.routing.mobility.messages import (
    Close,
    DirectMessage,
    Done,
    Forget,
    Journey,
    Late,
    PathUpdate,
    Relocate,
    Request,
    Signal,
    Transfer,
)
from posetlib.routing.mobility.sessions import Session

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["Protocol", "protocol_named", "protocol_names", "register"]


class Protocol:
    """How a client is handed over; it keeps nothing itself, all state is in stations and sessions.

    The methods here are what all protocols share: a queue that arrives, a client that is gone.
    Sessions of different protocols may follow one another, since a session is handed on only when
    its own handover is over.
    """

    name: ClassVar[str]
    #: Whether no handover loses a notification; the others are kept for study.
    is_safe: ClassVar[bool] = False
    #: Whether each client also gets the notifications of a publisher in their order.
    keeps_order: ClassVar[bool] = False
    #: Whether the old broker announces a client where it goes, and whether it must know that.
    announces: ClassVar[bool] = False
    needs_target: ClassVar[bool] = False
    #: One sentence: how it works, and for the unsafe ones why it fails.
    summary: ClassVar[str] = ""

    # -- clients -----------------------------------------------------------------------------------

    def leaving(self, station: Station, session: Session, target: Hashable) -> None:
        """A client left, and its broker knows by which protocol, and perhaps to where."""

    def arriving(self, station: Station, journey: Journey) -> None:
        """A client came, with what it knows of its last session."""
        raise NotImplementedError

    def came_back(self, station: Station, session: Session) -> None:
        """A client came back to the session that it had left, which nobody has asked for."""

    def opened(self, station: Station, journey: Journey, *, connected: bool = True) -> Session:
        """Open the session of a journey, without filters yet."""
        session = station.open(journey.client, journey.epoch, journey.source)
        session.connected = connected
        return session

    # -- messages on the way -----------------------------------------------------------------------

    def relocate_came(self, station: Station, message: Relocate, source: Hashable) -> None:
        """A Relocate came over a link."""
        raise NotImplementedError

    def done_came(self, station: Station, message: Done, source: Hashable) -> None:
        """A Done came over a link."""
        raise NotImplementedError

    def path_update_came(self, station: Station, message: PathUpdate, source: Hashable) -> None:
        """A path update came over a link."""
        raise NotImplementedError

    def signal_came(self, station: Station, session: Session, message: Signal) -> None:
        """A ping or a pong came for a session."""
        raise NotImplementedError

    # -- direct messages ---------------------------------------------------------------------------

    def direct_came(self, station: Station, message: DirectMessage) -> None:
        """A message came beside the tree."""
        if isinstance(message, Transfer):
            self.transfer_came(station, message)
        elif isinstance(message, Late):
            session = station.find(message.client, message.epoch)
            if session is not None:
                session.late_got += 1
                if session.forward_to is not None or station.is_wanted(session, message.note):
                    station.take(session, message.note)
                self.hand_on(station, session)
        elif isinstance(message, Request):
            session = station.find(message.client, message.epoch - 1)
            if session is not None:
                session.request = message
                self.hand_on(station, session)
        elif isinstance(message, Close | Forget):
            station.mark_seen(message.client, message.epoch)
            session = station.find(message.client, message.epoch)
            if session is not None:
                station.give_up(session)

    def transfer_came(self, station: Station, message: Transfer) -> None:
        """The queue of the old session came: the new one is ready."""
        session = station.find(message.client, message.epoch)
        if session is None:
            return  # the client is gone for good
        session.take_over(message.notes)
        session.ready = True
        station.flush(session)
        self.hand_on(station, session)

    # -- handing on --------------------------------------------------------------------------------

    def hand_on(self, station: Station, session: Session) -> None:
        """Serve whoever waits for a session, if its own handover is over."""
        if session.is_pinged:
            protocol_named("ping-pong").answer(station, session)
        for wanted in (*session.relocates.values(), session.request):
            if wanted is not None:
                protocol_named(wanted.protocol).serve(station, session)
                return

    def answer(self, station: Station, session: Session) -> None:
        """Answer a ping, if the session is finished."""

    def serve(self, station: Station, session: Session) -> None:
        """Hand a session to the broker that wants it, or go on waiting."""
        if session.is_finished and session.request is not None:
            self.transfer(station, session, session.request.target)
            station.send(station.close(session))

    def transfer(self, station: Station, session: Session, target: Hashable) -> None:
        """Send the queue of a session to the broker that wants it."""
        notes = tuple(session.queue.values())
        session.queue = {}
        station.direct(target, Transfer(self.name, session.client, session.epoch + 1, notes))

    # -- trying again ------------------------------------------------------------------------------

    def woken(self, station: Station, session: Session) -> None:
        """The time of a Wake is over."""

    def ask_again(self, station: Station, session: Session, message: Relocate) -> None:
        """Send a Relocate again, which may have been lost."""


_PROTOCOLS: Final[dict[str, Protocol]] = {}
_ProtocolT = TypeVar("_ProtocolT", bound=type[Protocol])


def register(protocol: _ProtocolT) -> _ProtocolT:
    """Make a protocol known by its name."""
    _PROTOCOLS[protocol.name] = protocol()
    return protocol


def protocol_named(name: str) -> Protocol:
    """Return a protocol; ValueError for a name that there is not."""
    try:
        return _PROTOCOLS[name]
    except KeyError:
        known = ", ".join(_PROTOCOLS)
        raise ValueError(f"the protocol is one of {known}, not {name!r}") from None


def protocol_names(*, safe: bool | None = None) -> tuple[str, ...]:
    """Return the names of all protocols, or of the safe or the unsafe ones."""
    return tuple(name for name, each in _PROTOCOLS.items() if safe is None or each.is_safe == safe)
