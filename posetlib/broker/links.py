"""Links to neighbours: one for each, whoever called whom; kept up, and healed when they break."""

from __future__ import annotations

import asyncio
import logging
import random
import ssl
import uuid
from collections.abc import Hashable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from posetlib.broker.connection import Connection
from posetlib.broker.handover import BYTES_PER_LINE, OPS, lines_of
from posetlib.broker.lines import encode
from posetlib.broker.protocol import PING, VERSION, RefusedError, filter_of, message, read_name
from posetlib.broker.roles import Talk, check_version
from posetlib.broker.settings import RESERVED_NAMES
from posetlib.errors import MessageError
from posetlib.routing import Update
from posetlib.routing.messages import PARTS

if TYPE_CHECKING:
    from posetlib.broker.server import Broker

__all__ = ["Links"]

_log: Final = logging.getLogger(__name__)


class Link(Talk):
    """A neighbour, and the one connection to it."""

    source: str

    def __init__(
        self, broker: Broker, connection: Connection, name: str, peer: str, *, called: bool
    ) -> None:
        super().__init__(broker)
        self.marked = broker.settings.moves
        self.connection = connection
        #: The name of the neighbour at this broker.
        self.source = name
        #: What tells the running broker at the other end from every other one.
        self.peer = peer
        #: Whether this end called.
        self.called = called
        self.ended = asyncio.Event()
        #: The parts of an update that has not arrived as a whole.
        self._parts: dict[str, list[Any]] = {}

    def gone(self, connection: Connection) -> None:
        """Drop all that the neighbour sent."""
        self.broker.links.drop(self)

    def silent(self, connection: Connection, seconds: float) -> bytes | None:
        """Give a sign of life, however much is heard.

        The neighbour may be reading nothing for a while, and so never answer.
        """
        return PING

    def act(self, connection: Connection, op: object, data: dict[str, Any]) -> None:
        """Apply an update, when all of it is there."""
        if op == "error":
            _log.warning("the neighbour %s says: %s", self.source, data.get("text"))
            return
        if op in OPS and self.broker.moves is not None:
            parts, self._parts = self._parts, {}
            try:
                self.broker.moves.receive(self.source, data, parts)
            except (MessageError, ValueError) as error:
                raise RefusedError("update", str(error)) from None
            return
        if op != "update":
            raise RefusedError("op", f"a neighbour sends no {op!r}")
        for part, texts in data.items():
            if part in PARTS and isinstance(texts, list):
                self._parts.setdefault(part, []).extend(texts)
            elif part not in {"op", "more"}:
                raise RefusedError("update", f"an update has no list {part!r}")
        if data.get("more"):
            return
        parts, self._parts = self._parts, {}
        try:
            update = Update.from_dict(parts, self.source, read=filter_of)
            self.broker.post_updates(self.broker.router.receive(update, self.source))
        except (MessageError, ValueError) as error:
            raise RefusedError("update", str(error)) from None

    def line_of(self, line: bytes, data: dict[str, Any]) -> bytes:
        """Return what is sent on for a publication, with its mark if it has to have one."""
        if not self.marked:
            return super().line_of(line, data)
        if not isinstance(data.get("mark"), str):
            raise RefusedError("field", "where clients move, a neighbour sends 'mark' with 'n'")
        fields = ("op", "n", "mark")
        return line if len(data) == 3 else encode({each: data[each] for each in fields})

    def refuse_document(self, connection: Connection, refusal: RefusedError) -> None:
        """Leave the notification out: the link goes on, for all others."""
        _log.warning("a notification from %s is left out: %s", self.source, refusal.text)
        self.broker.metrics.refused += 1

    def refuse(
        self, connection: Connection, refusal: RefusedError, data: dict[str, Any] | None
    ) -> None:
        """End the link: without one of its messages the tables of both ends would differ.

        They agree again when the link heals.
        """
        _log.warning("the link to %s ends: %s", self.source, refusal.text)
        refusal.fatal = True
        super().refuse(connection, refusal, data)


class _Called(Talk):
    """A connection to a neighbour that has not answered yet."""

    may_publish = False

    def __init__(self, broker: Broker, name: str, result: asyncio.Future[Link]) -> None:
        super().__init__(broker)
        self._name = name
        self._result = result

    def act(self, connection: Connection, op: object, data: dict[str, Any]) -> None:
        """Take the answer."""
        if op == "welcome":
            check_version(data)
            link = self.broker.links.answered(connection, data, self._name)
            if not self._result.done():
                self._result.set_result(link)
            if link.connection is not connection:
                connection.end("linked", "there is a link already")
        elif op == "error":
            text = data.get("text")
            raise RefusedError("refused", f"it refuses the link: {text}", fatal=True)
        else:
            raise RefusedError("hello", "the answer to hello is welcome", fatal=True)

    def refuse(
        self, connection: Connection, refusal: RefusedError, data: dict[str, Any] | None
    ) -> None:
        """Give up this attempt."""
        if not self._result.done():
            self._result.set_exception(ConnectionError(refusal.text))
        connection.end(refusal.code, refusal.text)

    def gone(self, connection: Connection) -> None:
        """Give up this attempt."""
        if not self._result.done():
            self._result.set_exception(ConnectionError("it hung up without an answer"))


class Links:
    """All links of a broker.

    Each running broker has an identity, drawn when it starts. If two call each other at the same
    time there are two connections for a moment; both ends keep the one that the smaller identity
    called, and end the other.
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.identity = uuid.uuid4().hex
        self._tls = broker.settings.tls.for_dialling()
        self._by_name: dict[Hashable, Link] = {}
        #: The identity that each neighbour of the settings had when it last answered.
        self._identities: dict[str, str] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.attempts = 0

    def __iter__(self) -> Iterator[Link]:
        return iter(list(self._by_name.values()))

    def __len__(self) -> int:
        return len(self._by_name)

    def connection_to(self, name: Hashable) -> Connection | None:
        """Return the connection to a neighbour, None if it is gone."""
        link = self._by_name.get(name)
        return None if link is None else link.connection

    # -- saying who is who -------------------------------------------------------------------------

    def greet(self, connection: Connection, data: dict[str, Any]) -> None:
        """Answer the hello of a neighbour that called."""
        name, peer = self._who(data)
        for known, identity in self._identities.items():
            if identity == peer:
                name = known
        link = Link(self._broker, connection, name, peer, called=False)
        # Before a refusal, too: who calls learns whom it is linked to.
        self._broker.post(connection, self._introduction("welcome"))
        self._check_only_link(link)
        self._establish(link)

    def answered(self, connection: Connection, data: dict[str, Any], name: str) -> Link:
        """Take the answer of a neighbour that was called; return its link, this one or another."""
        _, peer = self._who(data)
        self._identities[name] = peer
        link = Link(self._broker, connection, name, peer, called=True)
        try:
            self._check_only_link(link)
        except RefusedError:
            return next(each for each in self if each.peer == peer)
        self._establish(link)
        return link

    def _introduction(self, op: str, **fields: Any) -> bytes:
        options = self._broker.settings.router
        return message(
            op,
            version=VERSION,
            broker=self._broker.name,
            identity=self.identity,
            algorithm=options.algorithm,
            advertisements=options.advertisements,
            # Left out if not: older brokers have never heard of it.
            moves=self._broker.settings.moves or None,
            **fields,
        )

    def _who(self, data: dict[str, Any]) -> tuple[str, str]:
        """Return name and identity of a neighbour, if it works as this broker does."""
        name, peer = read_name(data, "broker"), read_name(data, "identity")
        if name is None or peer is None:
            raise RefusedError("field", "a broker says its name and its identity", fatal=True)
        if name in RESERVED_NAMES:
            raise RefusedError("field", f"no broker can be called {name!r}", fatal=True)
        if peer == self.identity:
            raise RefusedError("self", "a broker cannot be its own neighbour", fatal=True)
        options = self._broker.settings.router
        for option, own in (
            ("algorithm", options.algorithm),
            ("advertisements", options.advertisements),
            ("moves", self._broker.settings.moves),
        ):
            if data.get(option, False) != own:
                raise RefusedError(
                    "options",
                    f"all brokers of a network need the same --{option}: {name} has "
                    f"{data.get(option, False)}, {self._broker.name} has {own}",
                    fatal=True,
                )
        return name, peer

    def _check_only_link(self, link: Link) -> None:
        """End every other link to the same neighbour, or refuse this one."""
        for other in self:
            # Who calls has no link, as far as it knows. So a second call from the same end means
            # that the first connection is dead.
            if other.peer == link.peer and other.called != link.called:
                caller = self.identity if link.called else link.peer
                if caller != min(self.identity, link.peer):
                    raise RefusedError("linked", "there is a link already", fatal=True)
        for other in self:
            if other.peer == link.peer or other.source == link.source:
                other.connection.end("replaced", "another connection took the place of this link")

    # -- coming and going --------------------------------------------------------------------------

    def _establish(self, link: Link) -> None:
        """Tell the neighbour all that it must know."""
        broker, connection = self._broker, link.connection
        limits = broker.settings.limits
        connection.role = link
        connection.queue_limit = limits.link_queue
        # A filter's canonical text may be longer than what its client wrote.
        connection.reader.limit = 2 * limits.line + BYTES_PER_LINE
        self._by_name[link.source] = link
        _log.info("linked to %s at %s", link.source, connection.peer)
        broker.post_updates(broker.router.add_neighbour(link.source))
        if link.source == broker.settings.router.master:
            broker.post_updates(broker.router.set_master(link.source))
        if broker.moves is not None:
            broker.moves.linked(link.source)

    def drop(self, link: Link) -> None:
        """Forget a neighbour and all that it sent, and tell the others."""
        link.ended.set()
        if self._by_name.get(link.source) is not link:
            return
        del self._by_name[link.source]
        broker = self._broker
        _log.info("the link to %s is gone", link.source)
        broker.relieved(link.connection)
        if link.source == broker.router.options["master"]:
            broker.post_updates(broker.router.set_master(None))
        broker.post_updates(broker.router.drop_neighbour(link.source))
        if broker.moves is not None:
            broker.moves.unlinked(link.source)

    def post(self, update: Update) -> None:
        """Send an update to the neighbour that it is for, if it is there."""
        connection = self.connection_to(update.to)
        if connection is not None:
            for line in lines_of(update):
                self._broker.post(connection, line)

    # -- calling -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Call every neighbour of the settings, and go on doing so."""
        for name, address in self._broker.settings.neighbours.items():
            self._tasks.append(asyncio.create_task(self._keep_up(name, *address)))

    async def stop(self) -> None:
        """Call nobody any more."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()

    def _serving(self, name: str) -> Link | None:
        """Return the link to a neighbour of the settings, also if it was the one that called."""
        identity = self._identities.get(name)
        for link in self:
            if link.source == name or link.peer == identity:
                return link
        return None

    async def _keep_up(self, name: str, host: str, port: int) -> None:
        settings, loop = self._broker.settings, self._broker.loop
        delay = settings.retry_first
        problem = ""
        while True:
            link = self._serving(name)
            if link is None:
                try:
                    link = await self._call(name, host, port)
                except (TimeoutError, OSError, ssl.SSLError) as error:
                    # Say it once, not every few seconds.
                    if str(error) != problem:
                        problem = str(error)
                        _log.warning(
                            "the neighbour %s at %s:%s cannot be reached, and is tried again: %s",
                            *(name, host, port, problem or type(error).__name__),
                        )
            if link is not None:
                problem = ""
                since = loop.time()
                await link.ended.wait()
                if loop.time() - since > delay:
                    delay = settings.retry_first
            # Brokers that lost each other at one moment do not call at one moment.
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))
            delay = min(2 * delay, settings.retry_most)

    async def _call(self, name: str, host: str, port: int) -> Link:
        broker = self._broker
        self.attempts += 1
        answer: asyncio.Future[Link] = broker.loop.create_future()
        patience = 2 * broker.settings.keepalive
        _, connection = await asyncio.wait_for(
            broker.loop.create_connection(
                lambda: Connection(broker, _Called(broker, name, answer)),
                host,
                port,
                ssl=self._tls,
            ),
            patience,
        )
        connection.write(self._introduction("hello", token=broker.settings.token) + b"\n")
        try:
            return await asyncio.wait_for(answer, patience)
        except TimeoutError:
            raise ConnectionError("it does not answer hello") from None
        finally:
            if not answer.done() or answer.cancelled() or answer.exception() is not None:
                connection.end()
