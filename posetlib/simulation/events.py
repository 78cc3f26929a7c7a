"""What happens in a network: publications, deliveries over links, hops of a notification."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from posetlib.filters.filter import Filter
from posetlib.routing import Update
from posetlib.routing.mobility import DirectMessage, OnTheWay
from posetlib.values import value_text

__all__ = ["Event", "Hop", "Message", "Publication", "notification_text"]


def notification_text(notification: Mapping[str, Any]) -> str:
    """Return a notification as a person writes it.

    >>> notification_text({"x": 5, "name": "Foo"})
    '{x: 5, name: "Foo"}'
    """
    return "{" + ", ".join(f"{name}: {_text(value)}" for name, value in notification.items()) + "}"


def _text(value: object) -> str:
    return notification_text(value) if isinstance(value, Mapping) else value_text(value)


@dataclass(frozen=True, slots=True)
class Publication:
    """One notification on its way: the same content may be published many times.

    ``number`` counts all publications of a network from 1; ``step`` is how many deliveries over
    links had been made when it was published.
    """

    number: int
    publisher: Hashable
    broker: Hashable
    notification: Mapping[str, Any]
    step: int

    def __str__(self) -> str:
        return f"publication {self.number} of {self.publisher}: {self.text}"

    @property
    def text(self) -> str:
        """The notification as a person writes it."""
        return notification_text(self.notification)


#: What travels on a link: a batch of changes, a notification, or word of a client that moves.
Message: TypeAlias = Update | Publication | OnTheWay


@dataclass(frozen=True, slots=True)
class Event:
    """One delivery over a link, or of a direct message, and all that the broker did at once.

    ``sent`` are the messages that it put on links, or sent directly, with the broker each goes to;
    ``clients`` are those that it notified. ``time`` is simulated time, 0 without delays.
    """

    step: int
    source: Hashable
    target: Hashable
    message: Message | DirectMessage
    sent: tuple[tuple[Hashable, Message | DirectMessage], ...] = ()
    clients: tuple[Hashable, ...] = ()
    time: float = 0.0

    @property
    def kind(self) -> str:
        """What it was: "update", "notify", "relocate", "done", "ready" or "direct"."""
        if isinstance(self.message, Update):
            return "update"
        if isinstance(self.message, Publication):
            return "notify"
        return self.message.kind if isinstance(self.message, OnTheWay) else "direct"

    def __str__(self) -> str:
        text = f"step {self.step}: {self.source} to {self.target}: "
        if isinstance(self.message, Update):
            text += str(self.message).partition(": ")[2]
        elif isinstance(self.message, Publication):
            text += f"notify {self.message.text}"
        elif isinstance(self.message, OnTheWay):
            text += str(self.message)
            if self.message.update is not None:
                text += f", with {str(self.message.update).partition(': ')[2]}"
        else:
            text += f"directly, {self.message}"
        if self.sent:
            text += f"; goes on to {', '.join(str(to) for to, _ in self.sent)}"
        if self.clients:
            text += f"; delivered to {', '.join(map(str, self.clients))}"
        return text


@dataclass(frozen=True, slots=True)
class Hop:
    """A publication at one broker: where it came from, where it went, and why.

    ``reasons`` has for each destination, brokers before clients, the subscriptions that asked for
    it. A destination without any gets everything: by flooding, or as the master. A broker without
    destinations is where this way ends.
    """

    step: int
    broker: Hashable
    source: Hashable
    reasons: Mapping[Hashable, tuple[Filter, ...]]

    @property
    def destinations(self) -> tuple[Hashable, ...]:
        """Where it went from here."""
        return tuple(self.reasons)

    def __str__(self) -> str:
        where = (
            f"to {to} for {', '.join(map(str, asked)) or 'everything goes there'}"
            for to, asked in self.reasons.items()
        )
        went = "; ".join(where) or "nowhere: nobody else asked for it"
        return f"step {self.step}: at {self.broker} from {self.source}: {went}"
