"""The text of a run, one operation a line, read without any trust into a tree and its actions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import networkx as nx

import posetlib as pl
from browser.config import Limits
from browser.matching import read_notification
from browser.sources import SourceError, read_filter, read_types_text
from posetlib.simulation import PROTOCOLS

__all__ = ["Action", "Script", "read_script"]

_NAME: Final = re.compile(r"[\w.-]{1,24}")
_KEYWORDS: Final = frozenset(
    "broker link master client break heal step run subscribe unsubscribe replace advertise "
    "unadvertise publish move leave arrive detach rendezvous".split()
)
#: What stands between the two filters of a replacement.
_BY: Final = " => "
#: The lines about a client that moves: with a broker, and by a protocol if the line says so.
_MOVES: Final = ("move", "leave", "arrive")


class Action(NamedTuple):
    """What one line does: a method of ``pl.Network`` with its arguments, or "step" or "run".

    The arguments of "step" are how many deliveries, or the two brokers of the link that delivers,
    with "direct" as a third for a message beside the tree. Those of "move", "leave" and "arrive"
    are client, broker and protocol, each of the last two "" if the line does not say.
    """

    line: int
    name: str
    arguments: tuple[Any, ...]
    text: str
    #: The comment above the line.
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """A tree of brokers, and what is done there in order."""

    brokers: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    actions: tuple[Action, ...]
    #: The broker at the top of a hierarchy, None where all are equal.
    master: str | None = None
    #: The broker of each client, where it came first.
    clients: dict[str, str] = field(default_factory=dict)
    #: The hierarchy of types as JSON, "" without one.
    types: str = ""
    #: The event types that meet at a broker, by broker.
    rendezvous: dict[str, tuple[pl.Filter, ...]] = field(default_factory=dict)
    #: The comments above the tree, and those below the last line.
    about: str = ""
    moral: str = ""

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols that lines name, each once."""
        named = (each.arguments[2] for each in self.actions if each.name in _MOVES)
        return tuple(dict.fromkeys(each for each in named if each))

    @property
    def movers(self) -> frozenset[str]:
        """The clients that move."""
        return frozenset(each.arguments[0] for each in self.actions if each.name in _MOVES)

    def graph(self) -> Any:
        """Return the tree as ``pl.Network`` takes it."""
        made: nx.Graph[str] = nx.Graph()
        made.add_nodes_from(self.brokers)
        made.add_edges_from(self.links)
        return made

    def count(self, *names: str) -> int:
        """Return how many actions have one of these names."""
        return sum(each.name in names for each in self.actions)


def read_script(text: str, limits: Limits) -> Script:
    r"""Read a run; SourceError names the line of what is wrong.

    ``link B1 B2`` joins two brokers, ``broker B1`` is one alone, ``master B1`` makes it the top of
    a hierarchy, ``client alice B1`` attaches a client. Clients subscribe, unsubscribe, advertise,
    unadvertise, replace (``alice replace x > 3 => x > 5``), publish, detach, and move: ``alice move
    B2 by linger`` is ``alice leave B2 by linger`` and ``alice arrive B2 by linger`` at once.
    ``break B1 B2`` and ``heal B1 B2`` are about links; ``step``, ``step 3``, ``step B1 B2``, ``step
    B1 B3 direct`` and ``run`` deliver. ``rendezvous B1 x > 0`` lets an event type meet at a broker.
    ``#`` begins a comment, which is the caption of the line below it, and ``types: {"B": ["A"]}``
    gives the hierarchy for ``isa``.

    >>> script = read_script("link B1 B2\nclient alice B1\nalice subscribe x > 3", Limits())
    >>> script.links, [each.name for each in script.actions]
    ((('B1', 'B2'),), ['attach', 'subscribe'])
    """
    if len(text) > limits.script_chars:
        raise SourceError(
            f"a run of {len(text):,} characters is longer than the {limits.script_chars:,} that "
            "the page takes"
        )
    reader = _Reader(limits)
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("#"):
            reader.note(stripped.lstrip("# "))
        elif stripped:
            reader.read(number, line)
    return reader.script()


class _Reader:
    """What was read up to now: each line is held against it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._graph: nx.Graph[str] = nx.Graph()
        self._links: list[tuple[str, str]] = []
        self._actions: list[Action] = []
        self._operations = 0
        self._master: tuple[int, str] | None = None
        #: The broker of each client that is there, and the first one of all that ever were.
        self._present: dict[str, str] = {}
        self._clients: dict[str, str] = {}
        #: Where each client and broker that is named must have been named before.
        self._named: list[tuple[int, str]] = []
        self._types: pl.TypeHierarchy | None = None
        self._types_text = ""
        self._rendezvous: dict[str, tuple[pl.Filter, ...]] = {}
        #: The comments since the last operation, and those that are about the start.
        self._notes: list[str] = []
        self._about: list[str] = []

    def note(self, comment: str) -> None:
        """Take in a comment."""
        self._notes.append(comment)

    def script(self) -> Script:
        """Return the whole; SourceError if it is no tree."""
        graph = self._graph
        if not graph:
            raise SourceError("there is no broker in this text: link B1 B2 joins two of them")
        for line, name in self._named:
            if name not in graph:
                raise SourceError(f"line {line}: there is no broker {name}: no link names it")
        groups = list(nx.connected_components(graph))
        if len(groups) > 1:
            first = next(iter(graph))
            apart = next(each for each in graph if each not in groups[0])
            raise SourceError(
                f"the brokers are not all joined: no links lead from {first} to {apart}"
            )
        return Script(
            tuple(graph),
            tuple(self._links),
            tuple(self._actions),
            self._master[1] if self._master else None,
            dict(self._clients),
            self._types_text,
            self._rendezvous,
            " ".join(self._about),
            " ".join(self._notes),
        )

    def read(self, line: int, text: str) -> None:
        """Take in one line."""
        where = f"line {line}"
        if text.lstrip().startswith("types:"):
            self._types_text = text.strip().removeprefix("types:").strip()
            self._types = read_types_text(self._types_text, line, self._limits)
            return
        first, _, rest = text.strip().partition(" ")
        words = rest.split()
        if first in ("link", "break", "heal"):
            one, other = self._two(where, first, words)
            if first == "link":
                self._join(where, one, other)
            else:
                self._check_link(where, one, other)
                self._act(line, f"{first}_link", (one, other), text)
        elif first in ("broker", "master"):
            if len(words) != 1:
                raise SourceError(f"{where}: {first} takes one name: {first} B1")
            name = _name(where, words[0])
            if first == "broker":
                self._add_broker(where, name)
            elif self._master is not None:
                raise SourceError(
                    f"{where}: {self._master[1]} is the master already, by line {self._master[0]}"
                )
            else:
                self._master = (line, name)
                self._named.append((line, name))
        elif first == "client":
            client, broker = self._two(where, first, words)
            self._attach(line, client, broker, text)
        elif first == "run":
            if words:
                raise SourceError(f"{where}: run takes nothing: it delivers all; step 3 delivers 3")
            self._act(line, "run", (), text)
        elif first == "step":
            self._act(line, "step", self._deliveries(line, words), text)
        elif first == "rendezvous":
            self._meet(line, text)
        elif first in _KEYWORDS:
            raise SourceError(f"{where}: who does that? {first} follows the name of a client")
        else:
            self._client_acts(line, text)

    def _two(self, where: str, keyword: str, words: list[str]) -> tuple[str, str]:
        if len(words) != 2:
            example = "client alice B1" if keyword == "client" else f"{keyword} B1 B2"
            raise SourceError(f"{where}: {keyword} takes two names: {example}")
        return _name(where, words[0]), _name(where, words[1])

    def _act(self, line: int, name: str, arguments: tuple[Any, ...], text: str) -> None:
        caption = ""
        if name != "attach":
            self._operations += 1
            if self._operations > self._limits.operations:
                raise SourceError(f"line {line}: more than {self._limits.operations:,} operations")
            caption = " ".join(self._notes)
            self._notes = []
        else:
            self._set_the_scene()
        self._actions.append(Action(line, name, arguments, " ".join(text.split()), caption))

    def _set_the_scene(self) -> None:
        """Let the comments before any operation be about the start; later ones wait for a line."""
        if not self._operations:
            self._about += self._notes
            self._notes = []

    # -- the tree ----------------------------------------------------------------------------------

    def _add_broker(self, where: str, name: str) -> None:
        self._set_the_scene()
        if name in self._clients:
            raise SourceError(f"{where}: {name} is a client: a broker needs a name of its own")
        self._graph.add_node(name)
        if len(self._graph) > self._limits.brokers:
            raise SourceError(f"{where}: more than {self._limits.brokers:,} brokers")

    def _join(self, where: str, one: str, other: str) -> None:
        self._add_broker(where, one)
        self._add_broker(where, other)
        if one == other:
            raise SourceError(f"{where}: a link joins two brokers, and {one} is one")
        if nx.has_path(self._graph, one, other):
            raise SourceError(
                f"{where}: {one} and {other} are joined already: the brokers are a tree, with one "
                "way between any two"
            )
        self._graph.add_edge(one, other)
        self._links.append((one, other))

    def _check_link(self, where: str, one: str, other: str) -> None:
        if not self._graph.has_edge(one, other):
            raise SourceError(f"{where}: there is no link between {one} and {other}")

    def _deliveries(self, line: int, words: list[str]) -> tuple[Any, ...]:
        where = f"line {line}"
        if not words:
            return (1,)
        if len(words) == 1 and words[0].isascii() and words[0].isdigit() and len(words[0]) < 7:
            return (int(words[0]),)
        if len(words) == 2:
            one, other = self._two(where, "step", words)
            self._check_link(where, one, other)
            return (one, other)
        if len(words) == 3 and words[2] == "direct":
            one, other = self._two(where, "step", words[:2])
            self._named += [(line, one), (line, other)]
            return (one, other, "direct")
        raise SourceError(
            f"{where}: step takes nothing, a number, or two brokers: step B1 B2, and step B1 B3 "
            "direct for a message beside the tree"
        )

    def _meet(self, line: int, text: str) -> None:
        """Read the event type that meets at a broker."""
        where = f"line {line}"
        found = re.match(r"\s*\S+\s+(\S+)\s+", text)
        if found is None:
            raise SourceError(
                f"{where}: rendezvous takes a broker and a filter: rendezvous B1 x > 0"
            )
        broker = _name(where, found[1])
        item = read_filter(
            text[found.end() :].rstrip(), self._limits, self._types, where, column=found.end()
        )
        self._set_the_scene()
        self._named.append((line, broker))
        self._rendezvous[broker] = (*self._rendezvous.get(broker, ()), item)

    # -- clients -----------------------------------------------------------------------------------

    def _attach(self, line: int, client: str, broker: str, text: str) -> None:
        where = f"line {line}"
        if client in _KEYWORDS:
            raise SourceError(f"{where}: {client} is a word of this text, and names no client")
        if client in self._graph:
            raise SourceError(f"{where}: {client} is a broker: a client needs a name of its own")
        if client in self._present:
            raise SourceError(
                f"{where}: {client} is at {self._present[client]} already: {client} detach"
            )
        self._named.append((line, broker))
        self._present[client] = broker
        self._clients.setdefault(client, broker)
        if len(self._clients) > self._limits.clients:
            raise SourceError(f"{where}: more than {self._limits.clients:,} clients")
        self._act(line, "attach", (client, broker), text)

    def _client_acts(self, line: int, text: str) -> None:
        where = f"line {line}"
        found = re.match(r"\s*(\S+)\s*(\S*)\s*", text)
        assert found is not None  # a line that is empty does not come here
        client, verb, start = found[1], found[2], found.end()
        rest = text[start:].rstrip()
        if client not in self._present:
            gone = client in self._clients
            known = f"{client} is gone" if gone else f"there is no client {_shown(client)}"
            raise SourceError(f"{where}: {known}: client {_shown(client)} B1 attaches one")
        if verb in ("subscribe", "unsubscribe", "advertise", "unadvertise"):
            item = read_filter(rest, self._limits, self._types, where, column=start)
            self._act(line, verb, (client, item), text)
        elif verb == "replace":
            old, by, new = rest.partition(_BY)
            if not by:
                raise SourceError(f"{where}: replace takes two filters: x > 3{_BY}x > 5")
            gone_ = read_filter(old, self._limits, self._types, where, column=start)
            at = start + len(old) + len(by)
            come = read_filter(new, self._limits, self._types, where, column=at)
            self._act(line, verb, (client, gone_, come), text)
        elif verb == "publish":
            notification = read_notification(rest, where, column=start)
            self._act(line, verb, (client, notification), text)
        elif verb == "detach" and not rest:
            del self._present[client]
            self._act(line, verb, (client,), text)
        elif verb in _MOVES:
            self._act(line, verb, (client, *self._journey(line, verb, rest.split())), text)
        else:
            raise SourceError(
                f"{where}: {client} can subscribe, unsubscribe, replace, advertise, unadvertise, "
                f"publish, move, leave, arrive and detach, not {_shown(verb) or 'nothing'}"
            )

    def _journey(self, line: int, verb: str, words: list[str]) -> tuple[str, str]:
        """Read where a client goes, and by which protocol; "" for what is not said."""
        where = f"line {line}"
        protocol = ""
        if len(words) >= 2 and words[-2] == "by":
            protocol = words[-1]
            words = words[:-2]
            if protocol not in PROTOCOLS:
                known = ", ".join(PROTOCOLS)
                raise SourceError(
                    f"{where}: the protocol is one of {known}, not {_shown(protocol)}"
                )
        if len(words) > 1 or (not words and verb != "leave"):
            raise SourceError(f"{where}: {verb} takes a broker: ann {verb} B2, or B2 by update")
        if not words:
            return "", protocol
        broker = _name(where, words[0])
        self._named.append((line, broker))
        return broker, protocol


def _name(where: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SourceError(
            f"{where}: {_shown(name)} is no name: up to 24 letters, digits, dots, hyphens and "
            "underscores are"
        )
    return name


def _shown(word: str) -> str:
    return word if len(word) <= 24 else word[:23] + "…"
