"""The client's side of a move: which stay this is, what it holds, publishes and has seen."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from typing import Any, Final

from posetlib.errors import BrokerError

__all__ = ["Travel"]

#: Marks that are remembered; what comes twice comes with the queue of the last broker, or soon.
_REMEMBERED: Final = 1 << 17


class Travel:
    """What a client carries from broker to broker.

    >>> bob = Travel("bob")
    >>> bob.hello()
    {'session': 'bob'}
    >>> bob.welcomed({"epoch": 7, "broker": "north"})
    >>> bob.hello()
    {'session': 'bob', 'epoch': 7, 'last': 'north'}
    >>> bob.accept("id 5"), bob.accept("id 5")
    (True, False)
    """

    def __init__(self, name: str) -> None:
        self.name: Final = name
        #: The number of its stay, and the broker that has it; None before the first.
        self.epoch: int | None = None
        self.broker: str | None = None
        #: What the broker says when nothing is left with the last one.
        self.settled: Future[dict[str, Any]] = Future()
        self._held: dict[tuple[str, str], None] = {}
        self._outbox: list[bytes] = []
        self._news: dict[str, Any] | None = None
        self._is_away = True
        self._lock = threading.Lock()
        self._seen: set[str] = set()
        self._order: deque[str] = deque()

    # -- coming and going --------------------------------------------------------------------------

    def hello(self) -> dict[str, Any]:
        """Return what a broker is told that the client comes to."""
        about = {
            "session": self.name,
            "epoch": self.epoch,
            "last": self.broker,
            "subscriptions": self._filters("subscribe"),
            "advertisements": self._filters("advertise"),
        }
        return {name: each for name, each in about.items() if each is not None and each != []}

    def _filters(self, kind: str) -> list[str]:
        return [text for of, text in self._held if of == kind]

    def leave(self) -> None:
        """Go away: what is published from now on waits."""
        with self._lock:
            self.settled, self._news = Future(), None
            self._is_away = True

    def welcomed(self, answer: dict[str, Any]) -> None:
        """Be at a broker."""
        self.epoch, self.broker = answer["epoch"], answer["broker"]
        self._is_away = False

    def hold(self, op: str, fields: dict[str, Any]) -> None:
        """Note what a broker granted."""
        if op in {"unsubscribe", "unadvertise"}:
            self._held.pop((op.removeprefix("un"), fields["filter"]), None)
        elif op in {"subscribe", "advertise"}:
            self._held[op, fields["filter"]] = None
        elif op == "replace":
            self._held.pop(("subscribe", fields["old"]), None)
            self._held["subscribe", fields["filter"]] = None
        elif op == "forget":
            self._held.clear()

    # -- notifications -----------------------------------------------------------------------------

    def accept(self, mark: str | None) -> bool:
        """Return whether a notification is new; no broker knows what the last one delivered."""
        if mark is None:
            return True
        if mark in self._seen:
            return False
        self._seen.add(mark)
        self._order.append(mark)
        if len(self._order) > _REMEMBERED:
            self._seen.discard(self._order.popleft())
        return True

    def outgoing(self, data: bytes) -> bytes:
        """Return what is to be sent now of what is published; the rest waits."""
        with self._lock:
            if self.settled.done():
                return data
            self._outbox.append(data)
            return b""

    def settle(self, news: dict[str, Any]) -> None:
        """Be told that what waits may go out; ``drain`` has it."""
        with self._lock:
            # A broker that was told good bye reads nothing any more.
            if not self._is_away:
                self._news = {"missed": news.get("missed", 0), "without": news.get("without")}

    def drain(self) -> bytes:
        """Return what waits and may go out; when there is no more the stay is settled."""
        with self._lock:
            if self._news is None or self.settled.done():
                return b""
            waiting, self._outbox = self._outbox, []
            if not waiting:
                self.settled.set_result(self._news)
            return b"".join(waiting)

    def broken(self, error: BrokerError) -> None:
        """Let whoever waits know that the connection is gone."""
        with self._lock:
            if not self.settled.done():
                self.settled.set_exception(error)
                self.settled.exception()
