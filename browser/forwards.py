"""Forwards sets by every mechanism, and the messages that an operation sends [T 3.2.1]."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import posetlib as pl
from browser.elements import counted
from browser.shortening import short
from browser.sources import SourceError
from browser.story import Story, first_structure
from posetlib.routing import updates_between
from posetlib.tables import Operation

__all__ = [
    "MECHANISMS",
    "Message",
    "Row",
    "mechanisms",
    "messages",
    "network",
    "sets",
    "structure_for",
    "what_if",
]

Sets = Mapping[pl.Filter, frozenset[Any]]

#: Each mechanism with what a structure promises on which it is shown, and what it is.
MECHANISMS: Final = {
    "naive": ("poset", "by definition: the minimal cover for each neighbour"),
    "poset": ("poset", "by the links of the full order, over two levels"),
    "forest": ("forest", "by the links of the forest, with covering tests over two levels"),
    "approximate": ("forest", "by the links of the forest alone: may send more, never less"),
}


class Row(NamedTuple):
    """One filter with its forwards set by each mechanism, names in order."""

    number: int
    interfaces: tuple[str, ...]
    sets: Mapping[str, tuple[str, ...]]
    differs: bool


@dataclass(frozen=True, slots=True)
class Message:
    """What one neighbour is sent, by numbers of filters: removals first, then additions."""

    to: str
    unsubscribe: tuple[int, ...]
    subscribe: tuple[int, ...]


def structure_for(mechanism: str) -> str:
    """Return the first structure that promises what a mechanism needs.

    >>> structure_for("poset"), structure_for("approximate")
    ('fp', 'nrf')
    """
    promised, _ = MECHANISMS[mechanism]
    return first_structure(lambda promises: promises.forwards == promised)


def sets(story: Story, step: int, neighbours: Sequence[str], mechanism: str) -> Sets:
    """Return the forwards sets after a step, by one mechanism."""
    structure = structure_for(mechanism)
    return pl.forwards_sets(story.frame(structure, step).table(), neighbours, mechanism)


def mechanisms(story: Story, step: int, neighbours: Sequence[str]) -> list[Row]:
    """Return every filter that any mechanism sends anywhere, in order of numbers."""
    found = {each: sets(story, step, neighbours, each) for each in MECHANISMS}
    graph = story.frame(structure_for("poset"), step).graph
    items = {item for each in found.values() for item in each}
    none: frozenset[Any] = frozenset()
    rows = []
    for number in sorted(story.number[item] for item in items):
        item = story.filters[number]
        mine = {
            name: tuple(n for n in neighbours if n in each.get(item, none))
            for name, each in found.items()
        }
        node = graph.nodes.get(number)
        rows.append(Row(number, node.interfaces if node else (), mine, len(set(mine.values())) > 1))
    return rows


def messages(
    before: Sets, after: Sets, neighbours: Sequence[str], number: Mapping[pl.Filter, int]
) -> list[Message]:
    """Return what each neighbour is sent when the sets change, by numbers of filters."""
    return [
        Message(
            str(update.to),
            tuple(sorted(number[item] for item in update.unsubscribe)),
            tuple(sorted(number[item] for item in update.subscribe)),
        )
        for update in updates_between(before, after, neighbours)
    ]


def step_messages(
    story: Story, step: int, neighbours: Sequence[str], mechanism: str = "poset"
) -> list[Message]:
    """Return what the operation of a step made the router send."""
    if not step:
        return []
    before = sets(story, step - 1, neighbours, mechanism)
    after = sets(story, step, neighbours, mechanism)
    return messages(before, after, neighbours, story.number)


def what_if(
    story: Story, step: int, operation: Operation, neighbours: Sequence[str], mechanism: str
) -> tuple[list[Message], dict[pl.Filter, int]]:
    """Return what an operation after a step would send, and the numbers of the filters.

    A subscription or an unsubscription; what its source does not hold cannot be unsubscribed.
    """
    structure = structure_for(mechanism)
    table = story.frame(structure, step).table()
    number = dict(story.number)
    assert operation.item is not None  # only adds and removals come here
    number.setdefault(operation.item, len(number) + 1)
    before = pl.forwards_sets(table, neighbours, mechanism)
    if operation.name == "add":
        table.add(operation.item, operation.interface)
    else:
        try:
            table.remove(operation.item, operation.interface)
        except pl.UnknownEntryError as error:
            raise SourceError(f"{error} at step {step}") from None
    after = pl.forwards_sets(table, neighbours, mechanism)
    return messages(before, after, neighbours, number), number


def network(
    operation: Operation | None,
    sent: Sequence[Message],
    neighbours: Sequence[str],
    number: Mapping[pl.Filter, int],
) -> dict[str, Any]:
    """Return a router among its neighbours, with what comes in and what goes out, as a drawing."""
    everyone = list(neighbours)
    source = str(operation.interface) if operation is not None else None
    if source is not None and source not in everyone:
        everyone.append(source)
    everyone = everyone[:24] if source in everyone[:24] else [*everyone[:23], *everyone[-1:]]
    radius = max(230.0, 42.0 * len(everyone))
    elements: list[dict[str, Any]] = [
        {
            "data": {"id": "router", "label": "router"},
            "position": {"x": 0, "y": 0},
            "classes": "broker here",
        }
    ]
    to = {message.to: message for message in sent}
    for i, name in enumerate(everyone):
        angle = math.tau * i / len(everyone) - math.pi / 2
        # Wider than high: what is said stands on the arrow, and text is wide.
        place = {
            "x": round(1.5 * radius * math.cos(angle), 1),
            "y": round(radius * math.sin(angle), 1),
        }
        label = short(name, 14) + ("" if name in neighbours else "\n(local)")
        node = {
            "data": {"id": f"at {name}", "label": label},
            "position": place,
            "classes": "broker",
        }
        elements.append(node)
        if name == source and operation is not None:
            elements.append(_arrow(f"at {name}", "router", _asked(operation, number), "incoming"))
        message = to.get(name)
        if message is not None:
            kind = "removed" if message.unsubscribe and not message.subscribe else "added"
            elements.append(_arrow("router", f"at {name}", _sent(message), kind))
        elif name != source:
            elements.append(
                {
                    "data": {"id": f"to {name}", "source": "router", "target": f"at {name}"},
                    "classes": "quiet",
                }
            )
    return {
        "elements": elements,
        "width": 110,
        "height": 60,
        "text": True,
        "nodes": len(everyone) + 1,
        "edges": len(sent) + (source is not None),
        "whole": True,
        "note": "",
        "stats": _told(sent),
        "title": "Router and neighbours",
    }


def _arrow(source: str, target: str, label: str, kind: str) -> dict[str, Any]:
    return {
        "data": {"id": f"{source}>{target}", "source": source, "target": target, "label": label},
        "classes": f"message {kind}",
    }


def _asked(operation: Operation, number: Mapping[pl.Filter, int]) -> str:
    if operation.item is None:
        return "leaves"
    verb = "subscribe" if operation.name == "add" else "unsubscribe"
    return f"{verb} #{number[operation.item]}"


def _sent(message: Message) -> str:
    lines = []
    if message.unsubscribe:
        lines.append("− " + _numbers(message.unsubscribe))
    if message.subscribe:
        lines.append("+ " + _numbers(message.subscribe))
    return "\n".join(lines)


def _numbers(numbers: Sequence[int]) -> str:
    more = f" +{len(numbers) - 4}" if len(numbers) > 4 else ""
    return ", ".join(f"#{each}" for each in numbers[:4]) + more


def _told(sent: Sequence[Message]) -> str:
    if not sent:
        return "Nothing is sent."
    filters = sum(len(each.subscribe) + len(each.unsubscribe) for each in sent)
    return f"{counted(len(sent), 'message')} with {counted(filters, 'filter')}"
