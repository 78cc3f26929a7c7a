"""The handovers of a network: who moved from where to where, and when it was over."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from posetlib.routing.mobility import Station

__all__ = ["Handover", "HandoverLog"]


@dataclass(slots=True)
class Handover:
    """One move of a client. Steps count deliveries, times are simulated; None until it is so.

    ``ready``: the new session has the queue of the old one. ``finished``: the old session is
    closed, no message of the handover is left, and what the client publishes goes out.
    """

    client: Hashable
    epoch: int
    source: Hashable
    target: Hashable
    protocol: str
    #: When the client came, or was announced.
    begun: int
    begun_at: float
    #: When the client was there; not before it was announced.
    arrived_at: float | None = None
    ready: int | None = None
    ready_at: float | None = None
    finished: int | None = None
    finished_at: float | None = None
    #: Whether the client was gone for good before it was over.
    abandoned: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing is to come any more."""
        return self.finished is not None or self.abandoned

    @property
    def latency(self) -> float | None:
        """Simulated seconds from the arrival of the client until its session was ready.

        0 if that was ready before; None as long as one of the two is not so.
        """
        if self.ready_at is None or self.arrived_at is None:
            return None
        return max(0.0, self.ready_at - self.arrived_at)

    def __str__(self) -> str:
        state = "over" if self.is_over else "not over" if self.ready is None else "ready, not over"
        return (
            f"{self.client} moves from {self.source} to {self.target} by {self.protocol} since "
            f"step {self.begun}: {state}"
        )


class HandoverLog:
    """All handovers in order; the open ones by the broker that the client comes to."""

    def __init__(self) -> None:
        self.all: list[Handover] = []
        self._open: dict[Hashable, list[Handover]] = {}

    def begin(self, handover: Handover) -> None:
        """Note a handover that has begun."""
        self.all.append(handover)
        self._open.setdefault(handover.target, []).append(handover)

    def has_open(self, client: Hashable) -> bool:
        """Return whether a handover of a client is not over."""
        return any(each.client == client for each in self.open())

    def open(self) -> Iterator[Handover]:
        """Yield the handovers that are not over."""
        for some in self._open.values():
            yield from some

    def __bool__(self) -> bool:
        """Whether one is not over."""
        return bool(self._open)

    def arrived(self, client: Hashable, epoch: int, time: float) -> None:
        """Note that an announced client is there."""
        for each in reversed(self.all):
            if (each.client, each.epoch) == (client, epoch):
                each.arrived_at = time
                return

    def abandon(self, client: Hashable) -> None:
        """Note that a client is gone for good."""
        for each in list(self.open()):
            if each.client == client:
                each.abandoned = True
                self._end(each)

    def look(self, station: Station, step: int, time: float) -> list[Handover]:
        """Note how far the handovers to a broker are; returns those that are over now."""
        before = list(self._open.get(station.broker, ()))
        for each in before:
            session = station.find(each.client, each.epoch)
            # One that was here and is not any more was handed on as soon as it was finished.
            is_gone = session is None and station.has_seen(each.client, each.epoch)
            if each.ready is None and (is_gone or (session is not None and session.ready)):
                each.ready, each.ready_at = step, time
            if is_gone or (session is not None and session.is_finished and not session.legs_open):
                each.finished, each.finished_at = step, time
                self._end(each)
        return [each for each in before if each.is_over]

    def _end(self, handover: Handover) -> None:
        some = self._open[handover.target]
        some.remove(handover)
        if not some:
            del self._open[handover.target]
