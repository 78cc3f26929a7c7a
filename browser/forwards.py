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
    "PAIRWISE",
    "Compared",
    "Message",
    "Row",
    "chosen_names",
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


def mechanisms(
    story: Story, step: int, neighbours: Sequence[str], limit: int | None = None
) -> Compared:
    """Return the filters that any mechanism sends anywhere: those that differ first, by number.

    Of more than ``limit`` the rest is only counted. In a large table the mechanisms that compare
    filters pair by pair are left out.
    """
    graph = story.frame(structure_for("poset"), step).graph
    used = [each for each in MECHANISMS if len(graph.nodes) <= PAIRWISE or each not in _BY_PAIRS]
    found = {each: sets(story, step, neighbours, each) for each in used}
    items = {item for each in found.values() for item in each}
    none: frozenset[Any] = frozenset()
    differing = {i for i in items if len({each.get(i, none) for each in found.values()}) > 1}
    ordered = sorted(items, key=lambda item: (item not in differing, story.number[item]))
    rows = []
    for item in ordered[:limit]:
        number = story.number[item]
        mine = {
            name: tuple(n for n in neighbours if n in each.get(item, none))
            for name, each in found.items()
        }
        node = graph.nodes.get(number)
        rows.append(Row(number, node.interfaces if node else (), mine, item in differing))
    return Compared(rows, len(items), len(differing), tuple(used))


class Compared(NamedTuple):
    """Forwards sets by several mechanisms: some rows, and how many there are and differ in all."""

    rows: list[Row]
    total: int
    differing: int
    mechanisms: tuple[str, ...]


#: Filters up to which every two of them may be compared.
PAIRWISE: Final = 2_000
_BY_PAIRS: Final = frozenset({"naive", "forest"})


def chosen_names(text: str, everybody: Sequence[str]) -> list[str]:
    """Return the names that a text chooses, in their order; SourceError for one that is not there.

    ``all``; names with commas; ``I3 .. I8``, all from one to another; ``not`` takes off the rest of
    the line.

    >>> names = [f"I{i}" for i in range(1, 7)]
    >>> chosen_names("I2 .. I4, I6", names), chosen_names("not I1, I3 .. I5", names)
    (['I2', 'I3', 'I4', 'I6'], ['I2', 'I6'])
    """
    taken, _, left_out = f" {text} ".partition(" not ")
    place = {name: i for i, name in enumerate(everybody)}

    def places(part: str) -> set[int]:
        found: set[int] = set()
        for each in filter(None, (word.strip() for word in part.split(","))):
            if each.lower() == "all":
                found.update(place.values())
                continue
            first, dots, last = (word.strip() for word in each.partition(".."))
            for name in (first, last) if dots else (first,):
                if name not in place:
                    raise SourceError(f"there is no interface {name[:60]!r}")
            found.update(range(place[first], place[last if dots else first] + 1))
        return found

    chosen = places(taken) if taken.strip() else set(place.values())
    return [everybody[i] for i in sorted(chosen - places(left_out))]


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


#: Neighbours that are drawn around the router.
_DRAWN: Final = 24


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
    to = {message.to: message for message in sent}
    kept = set(everyone)
    if len(everyone) > _DRAWN:
        # Of many, only those that take part in this step: so their names are large.
        parts = [name for name in everyone if name == source or name in to]
        kept = set(sorted(parts, key=lambda name: name != source)[:_DRAWN])
    left = [name for name in everyone if name not in kept]
    everyone = [name for name in everyone if name in kept]
    radius = max(230.0, 42.0 * len(everyone))
    elements: list[dict[str, Any]] = [
        {
            "data": {"id": "router", "label": "router"},
            "position": {"x": 0, "y": 0},
            "classes": "broker here",
        }
    ]
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
        "note": _told_left(left, to),
        "stats": _told(sent),
        "title": "Router and neighbours",
    }


def _told_left(left: Sequence[str], to: Mapping[str, Message]) -> str:
    """Return how many neighbours are not drawn, and whether something is sent to them.

    >>> _told_left(["I1"], {}), _told_left(["I1", "I2"], {"I2": Message("I2", (), (3,))})
    ('1 neighbour is sent nothing and is not drawn.', '2 neighbours are not drawn; 1 is sent to.')
    """
    sent_to = sum(name in to for name in left)
    if not left:
        return ""
    who = f"{counted(len(left), 'neighbour')} {'is' if len(left) == 1 else 'are'}"
    if not sent_to:
        return f"{who} sent nothing and {'is' if len(left) == 1 else 'are'} not drawn."
    return f"{who} not drawn; {sent_to:,} {'is' if sent_to == 1 else 'are'} sent to."


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
