"""What clients may ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from posetlib.broker.lines import encode
from posetlib.broker.protocol import (
    VERSION,
    RefusedError,
    message,
    ok,
    read_filter,
    read_name,
    read_notification,
    read_ttl,
    same_token,
)
from posetlib.broker.roles import Talk, check_version, id_of
from posetlib.errors import DocumentError

if TYPE_CHECKING:
    from posetlib.broker.connection import Connection
    from posetlib.broker.moves import Arrival
    from posetlib.broker.server import Broker
    from posetlib.broker.sessions import Session
    from posetlib.routing.mobility import Action

__all__ = ["Client", "Newcomer"]


class Newcomer(Talk):
    """A connection that has not said yet who it is.

    Where no token is asked for, it need not: it is a client without a name then.
    """

    may_publish = False

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._since = broker.loop.time()

    def lines(self, connection: Connection, lines: list[bytes], *, flat: bool) -> None:
        """Read the first line, and let the role that it gives read the others."""
        if self.broker.settings.token is None:
            try:
                said_hello = self._decode(lines[0]).get("op") == "hello"
            except RefusedError:
                said_hello = False
            if not said_hello:
                session = self.broker.sessions.enter(None, connection)
                connection.role = Client(self.broker, session)
                connection.role.lines(connection, lines, flat=flat)
                return
        self._one_by_one(connection, lines)

    def act(self, connection: Connection, op: object, data: dict[str, Any]) -> None:
        """Take a hello, and nothing else."""
        if op != "hello":
            raise RefusedError("hello", "say hello first, with the token", fatal=True)
        check_version(data)
        token = self.broker.settings.token
        if token is not None and not same_token(data.get("token"), token):
            raise RefusedError("token", "the token is missing, or is not the right one", fatal=True)
        if "broker" in data:
            try:
                self.broker.links.greet(connection, data)
            except RefusedError as refusal:
                refusal.fatal = True  # it calls again
                raise
            return
        name = read_name(data, "client")
        if data.get("session") is None:
            session = self.broker.sessions.enter(name, connection)
            about: dict[str, Any] = {"client": name}
            actions: list[Action] = []
        else:
            session, about, actions = self._moved(connection, data)
        connection.role = Client(self.broker, session)
        self.broker.post(
            connection,
            message(
                "welcome",
                version=VERSION,
                broker=self.broker.name,
                held=len(session.held),
                id=id_of(data),
                **about,
            ),
        )
        if self.broker.moves is not None:
            self.broker.moves.do(actions)

    def _moved(self, connection: Connection, data: dict[str, Any]) -> Arrival:
        if self.broker.moves is None:
            raise RefusedError(
                "option",
                "clients of this network do not move: all its brokers need --moves",
                fatal=True,
            )
        if data.get("client") is not None:
            raise RefusedError("field", "a hello has 'client' or 'session', not both", fatal=True)
        try:
            return self.broker.moves.enter(connection, data)
        except RefusedError as refusal:
            refusal.fatal = True  # there is no session that it could go on with
            raise

    def gone(self, connection: Connection) -> None:
        """Do nothing: nobody knew of it yet."""

    def silent(self, connection: Connection, seconds: float) -> bytes | None:
        """Do not wait for a hello for ever."""
        if self.broker.loop.time() - self._since > 2 * self.broker.settings.keepalive:
            connection.end("hello", "nobody said hello")
        return None


class Client(Talk):
    """A client, and its session."""

    source: Session

    def __init__(self, broker: Broker, session: Session) -> None:
        super().__init__(broker)
        self.source = session
        #: Where its session is one of a client that moves, None otherwise.
        self._moves = None if session.epoch is None else broker.moves

    def gone(self, connection: Connection) -> None:
        """Let the session go, or wait for the client to return."""
        (self._moves or self.broker.sessions).leave(self.source, connection)

    def act(self, connection: Connection, op: object, data: dict[str, Any]) -> None:
        """Do what a client asks for, and confirm it if it gave an id."""
        if data.get("id") is not None and id_of(data) is None:
            # Without an answer the client would wait for one.
            raise RefusedError("field", "'id' is a text or a whole number")
        action = _ACTIONS.get(op) if isinstance(op, str) else None
        if action is None:
            raise RefusedError("op", f"there is no {op!r}; there are {', '.join(sorted(_ACTIONS))}")
        answer = action(self, data)
        request = id_of(data)
        if request is not None:
            self.broker.post(connection, ok(request, **(answer or {})))
        if op == "bye":
            # All that it sent was read before: it is on its way, and so is the answer.
            self.broker.flush()
            connection.end()

    def _subscribe(self, data: dict[str, Any]) -> None:
        self._hold("subscribe", data)

    def _advertise(self, data: dict[str, Any]) -> None:
        self._hold("advertise", data)

    def _hold(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "advertise":
            self._check_advertisements()
        ttl = self._ttl(data)
        self.broker.sessions.hold(self.source, kind, read_filter(data), ttl)
        if ttl is not None:
            self.broker.watch_leases()

    def _ttl(self, data: dict[str, Any]) -> float | None:
        ttl = read_ttl(data)
        if self._moves is not None:
            if ttl is not None:
                raise RefusedError("option", "a client that moves holds its filters without 'ttl'")
            self._moves.remember(self.source)
        return ttl

    def _unsubscribe(self, data: dict[str, Any]) -> None:
        self.broker.sessions.release(self.source, "subscribe", read_filter(data))

    def _check_advertisements(self) -> None:
        if not self.broker.settings.router.advertisements:
            raise RefusedError(
                "option",
                "this network works without advertisements: all its brokers need --advertisements",
            )

    def _unadvertise(self, data: dict[str, Any]) -> None:
        self._check_advertisements()
        self.broker.sessions.release(self.source, "advertise", read_filter(data))

    def _replace(self, data: dict[str, Any]) -> None:
        ttl = self._ttl(data)
        old, new = read_filter(data, "old"), read_filter(data)
        self.broker.sessions.replace(self.source, old, new, ttl)
        if ttl is not None:
            self.broker.watch_leases()

    def _publish(self, data: dict[str, Any]) -> None:
        found = read_notification(data)
        try:
            self.broker.publish(self.source, [encode({"op": "publish", "n": data["n"]})], [found])
        except DocumentError as error:
            raise RefusedError("document", str(error)) from None

    def _forget(self, _data: dict[str, Any]) -> None:
        (self._moves or self.broker.sessions).forget(self.source)

    def _list(self, data: dict[str, Any]) -> dict[str, Any]:
        if id_of(data) is None:
            raise RefusedError("field", "list needs an 'id', for the answer")
        return {
            "subscriptions": [str(each) for each in self.source.filters("subscribe")],
            "advertisements": [str(each) for each in self.source.filters("advertise")],
        }

    def _hello(self, _data: dict[str, Any]) -> None:
        raise RefusedError("hello", "a connection says hello once, in its first line")

    def _bye(self, _data: dict[str, Any]) -> None:
        pass


_ACTIONS: Final[dict[str, Callable[[Client, dict[str, Any]], dict[str, Any] | None]]] = {
    "advertise": Client._advertise,
    "bye": Client._bye,
    "forget": Client._forget,
    "hello": Client._hello,
    "list": Client._list,
    "publish": Client._publish,
    "replace": Client._replace,
    "subscribe": Client._subscribe,
    "unadvertise": Client._unadvertise,
    "unsubscribe": Client._unsubscribe,
}
