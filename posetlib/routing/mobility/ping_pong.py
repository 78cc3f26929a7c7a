"""``ping-pong``: the handover of Siena, by nothing but subscriptions and notifications.

Proxies of both sessions subscribe and advertise for the signals. b publishes a ping, again and
again until a pong comes; a answers once its session is finished. The ping follows the filters of
the client to a, so the pong says that they are there; then b asks a for the queue directly, and a
closes. Advertising floods the network, whatever the distance is.

One hole: an advertisement that comes to a during the handover can let a's subscription reach its
publisher before that of b, and a closes while b's is still under way. Pins would be needed there.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final, NamedTuple

from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter
from posetlib.routing.messages import Update
from posetlib.routing.mobility.messages import (
    DirectMessage,
    Expect,
    Journey,
    Request,
    Signal,
    Transfer,
)
from posetlib.routing.mobility.protocol import Protocol, register
from posetlib.routing.mobility.sessions import Session

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["PingPong", "Proxy"]

_PING: Final = "ping"
_PONG: Final = "pong"


class Proxy(NamedTuple):
    """The name by which a router knows who waits for a signal of a stay."""

    client: Hashable
    epoch: int
    signal: str

    def __str__(self) -> str:
        return f"{self.signal} of {self.client} (stay {self.epoch})"


def _content(signal: str, client: Hashable, epoch: int) -> dict[str, str]:
    return {f"mobility.{signal}": f"{client!r}/{epoch}"}


def _filter(signal: str, client: Hashable, epoch: int) -> Filter:
    ((name, value),) = _content(signal, client, epoch).items()
    return parse_filter(f"{name} = {_quoted(value)}")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@register
class PingPong(Protocol):
    """The generic protocol: a ping behind the subscription, a pong back, then the queue."""

    name = "ping-pong"
    is_safe = True
    keeps_order = True
    summary = "A ping published behind the subscription, a pong back, then the queue directly."

    def leaving(self, station: Station, session: Session, target: Hashable) -> None:
        """Wait for a ping from wherever the client goes."""
        self._wait_for(station, session, _PING, session.epoch + 1, announces=_PONG)

    def arriving(self, station: Station, journey: Journey) -> None:
        """Subscribe, and ping the old broker."""
        session = self.opened(station, journey)
        with station.router.together() as updates:
            station.enter(session, journey)
            self._enter_proxy(station, session, _PONG, session.epoch, announces=_PING)
        station.send(updates)
        if not journey.expected:
            station.direct(journey.source, Expect(self.name, journey.client, journey.epoch))
        self._ping(station, session)

    def came_back(self, station: Station, session: Session) -> None:
        """Stop waiting for a ping."""
        name = Proxy(session.client, session.epoch + 1, _PING)
        if name in station.proxies:
            station.send(station.drop_proxy(name))

    def _wait_for(
        self, station: Station, session: Session, signal: str, epoch: int, *, announces: str
    ) -> None:
        with station.router.together() as updates:
            self._enter_proxy(station, session, signal, epoch, announces=announces)
        station.send(updates)

    def _enter_proxy(
        self, station: Station, session: Session, signal: str, epoch: int, *, announces: str
    ) -> None:
        name = Proxy(session.client, epoch, signal)
        station.proxies[name] = session
        advertised = station.router.options["advertisements"]
        station.router.receive(
            Update(
                None,
                subscribe=(_filter(signal, session.client, epoch),),
                advertise=(_filter(announces, session.client, epoch),) if advertised else (),
            ),
            name,
        )

    def _publish(self, station: Station, signal: str, proxy: Proxy) -> None:
        content = _content(signal, proxy.client, proxy.epoch)
        message = Signal(self.name, signal, proxy.client, proxy.epoch, content)
        station.signal(message, proxy)

    def _ping(self, station: Station, session: Session) -> None:
        self._publish(station, _PING, Proxy(session.client, session.epoch, _PONG))
        station.wait(session)

    def woken(self, station: Station, session: Session) -> None:
        """Ping again, if no pong has come."""
        if Proxy(session.client, session.epoch, _PONG) in station.proxies and not session.released:
            self._ping(station, session)

    def signal_came(self, station: Station, session: Session, message: Signal) -> None:
        """Answer a ping once the session is finished; ask for the queue after the first pong."""
        if message.name == _PING:
            session.is_pinged = True
            self.answer(station, session)
        elif not session.released:
            station.release(session)
            station.direct(
                session.source, Request(self.name, session.client, session.epoch, station.broker)
            )

    def answer(self, station: Station, session: Session) -> None:
        """Send a pong, if the session is finished; else it is sent then."""
        if session.is_pinged and session.is_finished:
            session.is_pinged = False
            self._publish(station, _PONG, Proxy(session.client, session.epoch + 1, _PING))

    def direct_came(self, station: Station, message: DirectMessage) -> None:
        """Wait for a ping that nobody spoke of before."""
        if not isinstance(message, Expect):
            super().direct_came(station, message)
            return
        session = station.find(message.client, message.epoch - 1)
        if session is not None:
            self._wait_for(station, session, _PING, message.epoch, announces=_PONG)

    def transfer_came(self, station: Station, message: Transfer) -> None:
        """Take the queue, and stop waiting for signals."""
        name = Proxy(message.client, message.epoch, _PONG)
        if name in station.proxies:
            station.send(station.drop_proxy(name))
        super().transfer_came(station, message)
