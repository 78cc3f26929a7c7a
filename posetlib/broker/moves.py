"""Clients that move: the handover of ``posetlib.routing.mobility`` around the broker's connections.

The protocol is ``update``, and does no I/O: a ``Station`` is told what happens, and what it returns
is done here. docs/mobility.md says why it loses nothing.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from posetlib.broker.addresses import Addresses
from posetlib.broker.handover import (
    lines_of_handover,
    queue_lines,
    read_epoch,
    read_handover,
    read_names,
    read_texts,
)
from posetlib.broker.lines import decode_marked, encode, with_mark
from posetlib.broker.protocol import RefusedError, message, read_name
from posetlib.broker.sessions import Session
from posetlib.broker.state import State, StayRow
from posetlib.errors import DocumentError, MessageError, StateFileError
from posetlib.models import read_documents
from posetlib.routing import Update
from posetlib.routing.mobility import Action, Deliver, Direct, Journey, Note, Release, Send, Station
from posetlib.routing.mobility import Session as Stay
from posetlib.routing.mobility.messages import Done, Relocate, Transfer

if TYPE_CHECKING:
    from posetlib.broker.connection import Connection
    from posetlib.broker.server import Broker

__all__ = ["Arrival", "Inbox", "Moves"]

_log: Final = logging.getLogger(__name__)
# Handed-over stays that are remembered, for brokers that ask again.
_HANDED: Final = 10_000


class Arrival(NamedTuple):
    """A client that came: its session, what to tell it, and what is then to be done."""

    session: Session
    welcome: dict[str, Any]
    actions: list[Action]


class Inbox:
    """Where notifications are put for a session that cannot be given them now."""

    def __init__(self, moves: Moves, session: Session) -> None:
        self._moves = moves
        self._session = session

    def append(self, line: bytes) -> None:
        """Let a notification wait."""
        self._moves.keep(self._session, line)


class Moves:
    """The clients of a broker that move, and what it does for those that are handed over."""

    def __init__(self, broker: Broker, state: State | None) -> None:
        self._broker = broker
        self._state = state
        self.addresses: Final = Addresses(broker.name)
        #: The sessions that are open, by name and epoch; to the router each is a client.
        self._sessions: dict[tuple[Hashable, int], Session] = {}
        self.station: Final = Station(
            broker.name,
            broker.router,
            self.addresses.next_hop,
            name=self._session_of,
            on_close=self._closing,
        )
        self._connected: dict[Hashable, Session] = {}
        #: When each session that is away was left; the earliest first.
        self._left: dict[Session, float] = {}
        #: Sessions that are to end when their client leaves.
        self._forgotten: set[Session] = set()
        #: When each session that waits for its last broker gives up waiting.
        self._patience: dict[Session, float] = {}
        #: What is queued of each session, in bytes, and how many notifications found no room.
        self._bytes: dict[Session, int] = {}
        self._missed: dict[Session, int] = {}
        #: The broker that each stay was handed to.
        self._handed: dict[tuple[Hashable, int], Hashable] = {}
        #: The newest stay of each client that was here.
        self._newest: dict[str, int] = {}
        #: Parts of queues that have not come as a whole.
        self._parts: dict[tuple[str, int], list[Note]] = {}
        #: Queues for brokers that cannot be reached now.
        self._undelivered: dict[str, list[bytes]] = {}
        #: Connections whose session went on elsewhere.
        self._to_end: list[tuple[Connection, str]] = []
        self._marks: Iterator[str] = (
            f"{broker.links.identity} {number}" for number in itertools.count()
        )
        if state is not None:
            self._restore(state)

    def _restore(self, state: State) -> None:
        restored = self._broker.sessions.restored
        for row in state.stays():
            session = self._sessions[row.name, row.epoch] = restored[row.key]
            self._newest[row.name] = row.epoch
            self._left[session] = time.monotonic()
            if row.settled or row.source is None:
                self.station.attach(row.name, row.epoch).connected = False
            else:
                self._start(session, row.source)
                self.station.leave(row.name, row.epoch)

    def _start(self, session: Session, source: str) -> list[Action]:
        """Open a session, and ask the last broker of its client for the one before."""
        journey = Journey(
            *session.stay,
            source,
            tuple(session.filters("subscribe")),
            tuple(session.filters("advertise")),
        )
        self._patience[session] = self._broker.loop.time() + self._broker.settings.handover
        self.addresses.known.add(source)
        return self.station.arrive(journey, "update")

    def _session_of(self, client: Hashable, epoch: int) -> Session:
        key = client, epoch
        if key not in self._sessions:
            self._sessions[key] = Session(str(client), epoch)
        return self._sessions[key]

    @property
    def count(self) -> int:
        """The sessions that are open."""
        return len(self._sessions)

    @property
    def unsettled(self) -> int:
        """The sessions that their last broker has not handed over."""
        return sum(not each.is_finished for each in self.station.sessions.values())

    def _stay(self, session: Session) -> Stay:
        return self.station.sessions[session]

    # -- clients -----------------------------------------------------------------------------------

    def enter(self, connection: Connection, data: dict[str, Any]) -> Arrival:
        """Let a client come that has a session: its first, one that is here, or one elsewhere.

        RefusedError, and nothing is changed, for what cannot be so.
        """
        (name,) = read_names(data, "session")
        last = read_name(data, "last")
        epoch = None if data.get("epoch") is None else read_epoch(data)
        if epoch is None:
            if last is not None:
                raise RefusedError("field", "'last' goes with 'epoch', the stay there")
            return self._come_anew(connection, name)
        if last is None or last == self._broker.name:
            stay = self.station.find(name, epoch)
            if stay is None:
                raise RefusedError(
                    "epoch", f"there is no stay {epoch} of the session {name!r} here", fatal=True
                )
            return self._come_back(connection, stay)
        stay = self.station.find(name, epoch + 1)
        if stay is not None and stay.source == last:
            return self._come_back(connection, stay)  # the answer to its first hello was lost
        newest = self._newest.get(name, -1)
        if newest > epoch:
            raise RefusedError(
                "epoch",
                f"the session {name!r} was here in its stay {newest}: one that follows stay "
                f"{epoch} is out of date",
                fatal=True,
            )
        if last not in self.addresses.known:
            raise RefusedError(
                "unknown-broker",
                f"no broker {last!r} is known here: the session {name!r} stays where it is",
                fatal=True,
            )
        return self._arrive(connection, data, Session(name, epoch + 1), last)

    def _come_anew(self, connection: Connection, name: str) -> Arrival:
        stays = self.station.of_client(name)
        if not stays:
            # Later than every stay that the same name ever had anywhere.
            epoch = max(time.time_ns() // 1_000_000, self._newest.get(name, -1) + 1)
            self._newest[name] = epoch
            self.station.attach(name, epoch)
            session = self._sessions[name, epoch]
            self._write(session, None, settled=True)
            self._take(session, connection)
            return Arrival(session, self._welcome(session), [Release(name, epoch)])
        if stays[-1].connected:
            raise RefusedError(
                "held",
                f"another connection has the session {name!r}, in its stay {stays[-1].epoch}",
                fatal=True,
            )
        return self._come_back(connection, stays[-1])

    def _come_back(self, connection: Connection, stay: Stay) -> Arrival:
        session = self._sessions[stay.client, stay.epoch]
        self._take(session, connection)
        return Arrival(
            session, self._welcome(session), self.station.come_back(stay.client, stay.epoch)
        )

    def _arrive(
        self, connection: Connection, data: dict[str, Any], session: Session, last: str
    ) -> Arrival:
        update = Update(
            None,
            subscribe=read_texts(data, "subscriptions"),
            advertise=read_texts(data, "advertisements"),
        )
        settings = self._broker.settings
        if len(update) > settings.limits.subscriptions:
            raise RefusedError(
                "limit", f"a client may hold {settings.limits.subscriptions} filters", fatal=True
            )
        if update.advertise and not settings.router.advertisements:
            raise RefusedError("option", "this network works without advertisements", fatal=True)
        name, epoch = session.stay
        self._sessions[name, epoch] = session
        session.held = dict.fromkeys(
            [("subscribe", each) for each in update.subscribe]
            + [("advertise", each) for each in update.advertise]
        )
        try:
            actions = self._start(session, last)
        except ValueError as error:
            self.station.detach(name, epoch)
            raise RefusedError("option", str(error), fatal=True) from None
        self._newest[name] = epoch
        self._write(session, last, settled=False)
        session.held.clear()
        try:
            # In the form in which the router holds them.
            self._broker.sessions.hold_all(session, update)
        except StateFileError as error:
            _log.error("%s", error)
        self._take(session, connection)
        return Arrival(session, self._welcome(session), actions)

    def _take(self, session: Session, connection: Connection) -> None:
        """Let a connection have a session, in the place of an older one that may have died."""
        name, _ = session.stay
        self._left.pop(session, None)
        for each in (session, self._connected.get(name)):
            older = None if each is None else each.connection
            if each is not None and older is not None:
                self._broker.flush()
                older.end("replaced", f"the session {session.name!r} connected once more")
                self._left.pop(session, None)
        session.connection = connection
        self._connected[name] = session

    def _welcome(self, session: Session) -> dict[str, Any]:
        return {"session": session.name, "epoch": session.epoch}

    def leave(self, session: Session, connection: Connection) -> None:
        """Let a client go: what comes for it waits, until it comes back or is asked for."""
        if session.connection is not connection:
            return  # another connection took its place, or the session went on
        session.connection = None
        self._connected.pop(session.name, None)
        if session in self._forgotten:
            self._give_up(session)
            return
        self.do(self.station.leave(*session.stay))
        self._left[session] = time.monotonic()
        if len(self._left) > self._broker.settings.limits.absent:
            self._give_up(next(iter(self._left)))

    def forget(self, session: Session) -> None:
        """Release all filters, and let the session end when its client leaves."""
        self._forgotten.add(session)
        for kind, each in list(session.held):
            self._broker.sessions.release(session, kind, each)

    def remember(self, session: Session) -> None:
        """Let a session stay after all: its client asks for something."""
        self._forgotten.discard(session)

    def _give_up(self, session: Session) -> None:
        self.do(self.station.detach(*session.stay))
        self._missed.pop(session, None)

    def _closing(self, stay: Stay) -> None:
        """Forget a session that the station closes."""
        session = self._sessions.pop((stay.client, stay.epoch))
        target = next((each.target for each in stay.relocates.values()), None)
        if target is not None:
            self._handed[stay.client, stay.epoch] = target
            if len(self._handed) > _HANDED:
                del self._handed[next(iter(self._handed))]
        connection, session.connection = session.connection, None
        if connection is not None:
            self._connected.pop(stay.client, None)
            self._to_end.append((connection, f"the session {stay.client!r} went on to {target}"))
        for kept in (self._left, self._patience, self._bytes):
            kept.pop(session, None)
        self._forgotten.discard(session)
        self.station.forget_seen(stay.client, stay.epoch)
        if self._state is not None and session.key is not None:
            try:
                self._state.end_stay(session.key)
            except StateFileError as error:
                _log.error("%s", error)

    def _write(self, session: Session, source: str | None, *, settled: bool) -> None:
        if self._state is None:
            return
        assert session.key is not None
        try:
            self._state.write_stay(StayRow(session.key, *session.stay, source, settled))
        except StateFileError as error:
            _log.error("%s", error)

    # -- notifications -----------------------------------------------------------------------------

    def marked(self, lines: list[bytes]) -> list[bytes]:
        """Give each publication of a client a mark, by which it is known wherever it comes."""
        return [with_mark(line, mark) for line, mark in zip(lines, self._marks, strict=False)]

    def inbox(self, session: Session) -> Inbox | None:
        """Return where notifications for a session wait, None if it may be given them now."""
        stay = self._stay(session)
        return None if stay.connected and stay.ready else Inbox(self, session)

    def keep(self, session: Session, line: bytes) -> None:
        """Let a notification wait for a session; there is room for ``--max-queue`` bytes."""
        stay = self._stay(session)
        queued = self._bytes.get(session, 0) if stay.queue else 0
        metrics = self._broker.metrics
        metrics.sent -= 1
        if queued + len(line) > self._broker.settings.limits.queue:
            if not self._missed.get(session):
                _log.warning("the queue of the session %r is full", session.name)
            self._missed[session] = self._missed.get(session, 0) + 1
            return
        self._bytes[session] = queued + len(line)
        metrics.queued += 1
        self.do(self.station.notify(session, _note(line)))

    # -- neighbours --------------------------------------------------------------------------------

    def linked(self, neighbour: str) -> None:
        """Tell a new neighbour of the brokers that are on this side."""
        self._post(neighbour, [message("brokers", add=self.addresses.beside(neighbour))])

    def unlinked(self, neighbour: str) -> None:
        """Tell the others that the brokers behind a neighbour cannot be reached."""
        self._tell_others(neighbour, [], self.addresses.drop(neighbour))

    def _tell_others(self, neighbour: str, added: list[str], removed: list[str]) -> None:
        if added or removed:
            line = message("brokers", add=added or None, remove=removed or None)
            for link in self._broker.links:
                if link.source != neighbour:
                    self._post(link.source, [line])

    def receive(self, source: str, data: dict[str, Any], parts: dict[str, list[Any]]) -> None:
        """Act upon a line of a neighbour; ``parts`` are those of an update that came ahead."""
        op = data["op"]
        if op == "brokers":
            self._learn(source, data)
        elif op == "session":
            self._queue_came(data)
        else:
            each = read_handover(data, parts, source)
            if isinstance(each, Relocate):
                self._relocate_came(source, each)
            else:
                self._done_came(source, each)

    def _learn(self, source: str, data: dict[str, Any]) -> None:
        lists = [data.get("add", []), data.get("remove", [])]
        if not all(isinstance(each, list) for each in lists):
            raise RefusedError("field", "'add' and 'remove' are lists of names")
        added, removed = ([read_names({"name": one}, "name")[0] for one in each] for each in lists)
        new, gone = self.addresses.learn(source, added, removed)
        self._tell_others(source, new, gone)
        for each in new:
            self._send_on(each, self._undelivered.pop(each, []))
        if new:
            # What was asked of them, or answered, may have been lost.
            self.do(self.station.retry())

    def _relocate_came(self, source: str, each: Relocate) -> None:
        stay = each.client, each.epoch - 1
        is_here = each.source == self._broker.name
        found = self.station.find(*stay) is not None or self._handed.get(stay) == each.target
        actions = self.station.receive(each, source)
        if is_here and not found:
            # Ahead of Done, which clears the way that was made for nothing.
            actions = [each for each in actions if not isinstance(each, Direct)]
            self._send_on(
                str(each.target),
                queue_lines(str(each.client), each.epoch, str(each.target), (), found=False),
            )
        self.do(actions)

    def _done_came(self, source: str, each: Done) -> None:
        stay = self.station.find(each.client, each.epoch)
        if each.target == self._broker.name and stay is not None and not stay.ready:
            # The queue went ahead of Done, on the same links: what did not come was lost.
            self._ready(str(each.client), each.epoch)
        self.do(self.station.receive(each, source))

    def _queue_came(self, data: dict[str, Any]) -> None:
        client, target = read_names(data, "session", "target")
        epoch, notes = read_epoch(data), data.get("notes")
        if target != self._broker.name:
            self._send_on(target, [encode(data)])
            return
        if not isinstance(notes, list) or not all(isinstance(each, str) for each in notes):
            raise RefusedError("field", "'notes' is a list of lines")
        stay = self.station.find(client, epoch)
        if stay is None:
            return  # the client is gone for good
        try:
            self._parts.setdefault((client, epoch), []).extend(_note(n.encode()) for n in notes)
        except MessageError as error:
            raise RefusedError("field", str(error)) from None
        if data.get("more"):
            return
        session = self._sessions[client, epoch]
        missed = data.get("missed")
        if isinstance(missed, int):
            self._missed[session] = self._missed.get(session, 0) + missed
        if data.get("found") is False and not stay.ready:
            self._refuse(session, stay)
        else:
            self._ready(client, epoch)

    def _ready(self, client: str, epoch: int) -> None:
        notes = self._parts.pop((client, epoch), [])
        session = self._sessions[client, epoch]
        self._bytes[session] = self._bytes.get(session, 0) + sum(len(n.content) for n in notes)
        self.do(self.station.receive_direct(Transfer("update", client, epoch, tuple(notes))))

    def _refuse(self, session: Session, stay: Stay) -> None:
        """End a session that its client had no right to: there is none before it."""
        text = f"{stay.source} has no stay {stay.epoch - 1} of the session {stay.client!r}"
        self._parts.pop((str(stay.client), stay.epoch), None)
        connection, session.connection = session.connection, None
        self._connected.pop(stay.client, None)
        self._give_up(session)
        if connection is not None:
            self._broker.flush()
            connection.end("epoch", text)

    # -- doing -------------------------------------------------------------------------------------

    def do(self, actions: Iterable[Action]) -> None:
        """Do what the station says, in its order."""
        for action in actions:
            if isinstance(action, Send):
                self._send(action)
            elif isinstance(action, Direct):
                self._hand_over(action)
            elif isinstance(action, Deliver):
                self._deliver(action)
            elif isinstance(action, Release):
                self._settle(action)
        ending, self._to_end = self._to_end, []
        for connection, text in ending:
            self._broker.flush()
            connection.end("moved", text)

    def _send(self, action: Send) -> None:
        if isinstance(action.message, Update):
            self._broker.links.post(action.message)
        elif isinstance(action.message, Relocate | Done):
            self._post(str(action.to), lines_of_handover(action.message))

    def _post(self, neighbour: str, lines: Iterable[bytes]) -> None:
        connection = self._broker.links.connection_to(neighbour)
        if connection is not None:
            for line in lines:
                self._broker.post(connection, line)

    def _send_on(self, target: str, lines: Iterable[bytes]) -> None:
        """Send lines towards a broker; if it cannot be reached they wait until it can."""
        hop = self.addresses.next_hop(target)
        if hop is not None:
            self._post(str(hop), lines)
            return
        waiting = self._undelivered.setdefault(target, [])
        waiting.extend(lines)
        if sum(map(len, waiting)) > self._broker.settings.limits.link_queue:
            _log.warning("queues for %s are given up: it has not been reached for long", target)
            del self._undelivered[target]

    def _hand_over(self, action: Direct) -> None:
        each = action.message
        if not isinstance(each, Transfer):
            return  # of a session that ends: the one before it is asked for, and ends by that
        if action.to == self._broker.name:
            self.do(self.station.receive_direct(each))
            return
        client, target = str(each.client), str(action.to)
        missed = self._missed_of(client, each.epoch - 1)
        notes = (note.content for note in each.notes)
        self._send_on(target, queue_lines(client, each.epoch, target, notes, missed=missed))

    def _missed_of(self, client: str, epoch: int) -> int | None:
        for session in list(self._missed):
            if session.stay == (client, epoch):
                return self._missed.pop(session)
        return None

    def _deliver(self, action: Deliver) -> None:
        session = self._connected.get(action.client)
        if session is not None and session.connection is not None:
            self._broker.metrics.sent += 1
            self._broker.post(session.connection, action.note.content)

    def _settle(self, action: Release) -> None:
        session = self._sessions.get((action.client, action.epoch))
        if session is None:
            return  # it was handed on at once
        stay = self._stay(session)
        without = stay.source if stay.legs_open else None
        self._patience.pop(session, None)
        if without is None:
            self._write(session, None, settled=True)
        if session.connection is not None:
            missed = self._missed.pop(session, None)
            self._broker.post(
                session.connection,
                message("settled", epoch=action.epoch, missed=missed, without=without),
            )

    # -- time --------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Go on without brokers that have not handed over, and without clients that stay away."""
        now = self._broker.loop.time()
        for session, until in list(self._patience.items()):
            if until <= now:
                del self._patience[session]
                _log.warning("the session %r goes on without its last broker", session.name)
                self.do(self.station.go_on_without(*session.stay))
        before = time.monotonic() - self._broker.settings.keep
        for session, left in list(self._left.items()):
            if left > before:
                break
            self._give_up(session)


def _note(line: bytes) -> Note:
    mark, notification = decode_marked(line)
    try:
        return Note(mark, read_documents(notification), line)
    except DocumentError as wrong:
        raise MessageError(str(wrong)) from None
