"""Sessions: what each client holds, whether it is connected or away for a while."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from posetlib.broker.protocol import RefusedError, filter_of
from posetlib.broker.settings import Limits
from posetlib.broker.state import Row, State
from posetlib.errors import StateFileError, UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.routing import Router, Update

if TYPE_CHECKING:
    from posetlib.broker.connection import Connection

__all__ = ["Session", "Sessions"]

_log: Final = logging.getLogger(__name__)
#: "subscribe" or "advertise", and the filter.
Held: TypeAlias = tuple[str, Filter]


class Session:
    """What one client holds; to the router it is the client.

    Without a name it ends with its connection. With an ``epoch`` it is one stay of a client that
    moves from broker to broker.
    """

    __slots__ = ("connection", "epoch", "held", "name")

    def __init__(self, name: str | None = None, epoch: int | None = None) -> None:
        self.name = name
        self.epoch = epoch
        self.connection: Connection | None = None
        #: All that it holds, in order, in the form in which the router holds it.
        self.held: dict[Held, None] = {}

    @property
    def key(self) -> str | None:
        """What the state file has it by; no name has the end of a line in it."""
        return self.name if self.epoch is None else f"{self.name}\n{self.epoch}"

    @property
    def stay(self) -> tuple[str, int]:
        """Name and epoch, of a client that moves."""
        assert self.name is not None
        assert self.epoch is not None
        return self.name, self.epoch

    def filters(self, kind: str) -> list[Filter]:
        """Return the filters of one kind, in order."""
        return [each for of, each in self.held if of == kind]

    def __repr__(self) -> str:
        return f"<Session {self.name or 'without a name'}: {len(self.held)} filters>"


class Sessions:
    """All sessions of a broker; ``post`` is given what each change means for the neighbours."""

    def __init__(
        self,
        router: Router,
        post: Callable[[list[Update]], None],
        limits: Limits,
        state: State | None = None,
    ) -> None:
        self._router = router
        self._post = post
        self._limits = limits
        self._state = state
        self._named: dict[str, Session] = {}
        #: When each session that is away left; the earliest first.
        self._left: dict[Session, float] = {}
        #: The stays of clients that move which the state file has, by key.
        self.restored: dict[str, Session] = {}
        if state is not None:
            self._restore(state)

    def __len__(self) -> int:
        """The sessions with a name."""
        return len(self._named)

    @property
    def absent(self) -> int:
        """The sessions whose clients are away."""
        return len(self._left)

    def _restore(self, state: State) -> None:
        now = time.time()
        removed, added = [], []
        self.restored = {each.key: Session(each.name, each.epoch) for each in state.stays()}
        for row in state.rows():
            if row.ends is not None and row.ends <= now:
                removed.append(row)
                continue
            session = self.restored.get(row.client)
            if session is None:
                session = self._named.setdefault(row.client, Session(row.client))
                self._left[session] = time.monotonic()
            try:
                update = Update(None, **{row.kind: (filter_of(row.filter),)})
                ttl = None if row.ends is None else row.ends - now
                _, ((_, item),) = self._apply(session, update, ttl)
            except (ValueError, RefusedError) as error:
                raise StateFileError(
                    f"the state file cannot be used: {row.client!r} holds {row.filter!r} "
                    f"to {row.kind}: {error}"
                ) from None
            if str(item) != row.filter:
                # The form of an equivalent that another client held first, from now on.
                removed.append(row)
                added.append(row._replace(filter=str(item)))
        state.change(removed, added)

    # -- coming and going --------------------------------------------------------------------------

    def enter(self, name: str | None, connection: Connection) -> Session:
        """Return the session of a client that came, with all it held when it left.

        If it is still connected elsewhere, that connection ends: it may be one that died unseen.
        """
        session = Session() if name is None else self._named.get(name) or Session(name)
        if session.name is not None:
            self._named[session.name] = session
        self._left.pop(session, None)
        older, session.connection = session.connection, connection
        if older is not None:
            older.end("replaced", f"the client {name!r} connected once more, from elsewhere")
        return session

    def leave(self, session: Session, connection: Connection) -> None:
        """Let a client go away; without a name, or with nothing to remember, it is forgotten."""
        if session.connection is not connection:
            return  # another connection took its place
        session.connection = None
        if session.name is None or not session.held:
            self.forget(session)
            return
        self._left[session] = time.monotonic()
        if len(self._left) > self._limits.absent:
            self.forget(next(iter(self._left)))

    def forget(self, session: Session) -> None:
        """Forget all that a session holds, and the session too if nobody is connected."""
        held = bool(session.held)
        session.held.clear()
        self._left.pop(session, None)
        if session.name is not None and session.connection is None:
            self._named.pop(session.name, None)
        if held:
            self._post(self._router.drop_client(session))
            if self._state is not None and session.name is not None:
                try:
                    self._state.forget(session.name)
                except StateFileError as error:
                    _log.error("%s", error)

    def forget_long_absent(self, seconds: float) -> None:
        """Forget the sessions that have been away for longer than this."""
        before = time.monotonic() - seconds
        for session, left in list(self._left.items()):
            if left > before:
                break
            self.forget(session)

    # -- holding -----------------------------------------------------------------------------------

    def hold(self, session: Session, kind: str, item: Filter, ttl: float | None = None) -> None:
        """Let a session hold a filter, or hold it for longer."""
        if (kind, item) not in session.held and len(session.held) >= self._limits.subscriptions:
            raise RefusedError(
                "limit",
                f"a client may hold {self._limits.subscriptions} filters: release some first",
            )
        self._change(session, Update(None, **{kind: (item,)}), ttl)

    def release(self, session: Session, kind: str, item: Filter) -> None:
        """Let a session release a filter."""
        self._change(session, Update(None, **{f"un{kind}": (item,)}))

    def replace(self, session: Session, old: Filter, new: Filter, ttl: float | None = None) -> None:
        """Let a session hold one subscription instead of another, without a gap."""
        self._change(session, Update(None, unsubscribe=(old,), subscribe=(new,)), ttl)

    def hold_all(self, session: Session, update: Update) -> None:
        """Note that a session holds what the router was given for it."""
        added = self._held_of(session, update, "subscribe", "advertise")
        session.held.update(dict.fromkeys(added))
        self._write(session, [], added)

    def _change(self, session: Session, update: Update, ttl: float | None = None) -> None:
        removed, added = self._apply(session, update, ttl)
        try:
            self._write(session, removed, added, ttl)
        except StateFileError as error:
            _log.error("%s", error)
            raise RefusedError(
                "state", f"done, but it will not outlast a restart of the broker: {error}"
            ) from None

    def _apply(
        self, session: Session, update: Update, ttl: float | None
    ) -> tuple[list[Held], list[Held]]:
        """Tell the router, and the neighbours; return what went and what came."""
        try:
            # While it is held: afterwards the router does not know its form any more.
            removed = self._held_of(session, update, "unsubscribe", "unadvertise")
            self._post(self._router.receive(update, session, ttl=ttl))
        except UnknownEntryError:
            item = (*update.unsubscribe, *update.unadvertise)[0]
            raise RefusedError("not-held", f"the client does not hold {item}") from None
        except ValueError as error:
            raise RefusedError("option", str(error)) from None
        added = self._held_of(session, update, "subscribe", "advertise")
        for key in removed:
            del session.held[key]
        session.held.update(dict.fromkeys(added))
        return removed, added

    def _held_of(self, session: Session, update: Update, *parts: str) -> list[Held]:
        """Return the filters of some parts of an update, in the form in which they are held."""
        found = []
        for part in parts:
            for item in getattr(update, part):
                kind = part.removeprefix("un")
                found.append((kind, self._router.as_held(item, session, kind)))
        return found

    def _write(
        self, session: Session, removed: list[Held], added: list[Held], ttl: float | None = None
    ) -> None:
        name = session.key
        if self._state is None or name is None:
            return
        ends = None if ttl is None else time.time() + ttl
        self._state.change(
            [Row(name, kind, str(item)) for kind, item in removed],
            [Row(name, kind, str(item), ends) for kind, item in added],
        )

    def expire(self) -> None:
        """Release what has ended by itself."""
        ended = self._router.leases.expired()
        self._post(self._router.release(ended))
        for kind, item, session in ended:
            # Neighbours of a broker have no leases, nor have clients that move.
            assert isinstance(session, Session)
            session.held.pop((kind, item), None)
            try:
                self._write(session, [(kind, item)], [])
            except StateFileError as error:
                _log.error("%s", error)
            if not session.held and session.connection is None:
                self.forget(session)
