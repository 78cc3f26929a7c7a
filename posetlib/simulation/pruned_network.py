"""Brokers that prune the entries of their neighbours: what is forwarded, and what that saves.

Clients' own entries are never altered, so deliveries are exact; what pruning costs is notifications
that go further than they are wanted. This is a model for experiments: links deliver at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from posetlib.errors import UnknownEntryError
from posetlib.expressions import Expression, ExpressionMatcher, PrunedEntries
from posetlib.expressions.selectivity import LeafShare
from posetlib.simulation.topology import Tree

__all__ = ["VARIANTS", "PrunedNetwork", "Routed"]

#: Where entries are pruned: by the broker that holds them, by the one that forwards them, or by
#: both.
VARIANTS: Final = ("post", "pre", "combined")

#: A link in one direction: who forwards, and who holds what was forwarded.
_Link: TypeAlias = tuple[Hashable, Hashable]


class Routed(NamedTuple):
    """What became of a notification."""

    #: The subscriptions that it was delivered for.
    delivered: frozenset[Hashable]
    #: The brokers that it was sent to, each over one link.
    reached: frozenset[Hashable]


class PrunedNetwork:
    """A tree of brokers with subscriptions by name, whose remote entries are pruned.

    >>> import networkx as nx
    >>> from posetlib import parse_expression
    >>> network = PrunedNetwork(nx.path_graph(["B1", "B2", "B3"]))
    >>> network.subscribe("s", parse_expression("x = 1 and y = 1"), "B1")
    >>> network.route({"x": 1, "y": 2}, "B3").reached
    frozenset()
    >>> network.prune()
    2
    >>> sorted(network.route({"x": 2, "y": 1}, "B3").reached)
    ['B1', 'B2']
    """

    def __init__(
        self,
        graph: Any,
        variant: str = "post",
        rating: str = "accuracy+occurrence",
        share: LeafShare | None = None,
    ) -> None:
        if variant not in VARIANTS:
            raise ValueError(f"a variant is one of {', '.join(VARIANTS)}, not {variant!r}")
        self.variant: Final = variant
        self._tree = Tree(graph)
        make = (
            partial(PrunedEntries, rating)
            if share is None
            else partial(PrunedEntries, rating, share)
        )
        self._matchers = {each: ExpressionMatcher() for each in self._tree.brokers}
        # How often a broker holds an expression for a neighbour; the matcher holds it once.
        self._held: dict[Hashable, Counter[tuple[Expression, Hashable]]] = {
            each: Counter() for each in self._tree.brokers
        }
        self._home: dict[Hashable, tuple[Hashable, Expression]] = {}
        # What is sent over each link, pruned by the sender; and what each broker makes of it.
        self._sent: dict[_Link, PrunedEntries] = {}
        self._kept: dict[Hashable, PrunedEntries] = {}
        for broker in self._tree.brokers:
            self._kept[broker] = make()
            self._kept[broker].observers.append(partial(self._kept_changed, broker))
            for neighbour in self._tree.neighbours[broker]:
                link = (broker, neighbour)
                self._sent[link] = make()
                self._sent[link].observers.append(partial(self._sent_changed, link))

    # -- subscriptions -----------------------------------------------------------------------------

    def subscribe(self, name: Hashable, expression: Expression, broker: Hashable) -> None:
        """Let a client of a broker subscribe; ValueError if the name is in use."""
        if name in self._home:
            raise ValueError(f"there is a subscription {name!r} already")
        self._home[name] = (broker, expression)
        self._matchers[broker].add(expression, ("client", name))
        self._forward(name, expression, broker, None)

    def unsubscribe(self, name: Hashable) -> None:
        """Take a subscription back, at every broker; UnknownEntryError if there is none."""
        if name not in self._home:
            raise UnknownEntryError(f"there is no subscription {name!r}")
        broker, expression = self._home.pop(name)
        self._matchers[broker].remove(expression, ("client", name))
        self._withdraw(name, broker, None)

    def _links_from(self, broker: Hashable, source: Hashable) -> list[_Link]:
        """Return the links along which a broker passes on what a neighbour sent, or a client."""
        return [(broker, each) for each in self._tree.neighbours[broker] if each != source]

    def _forward(
        self, name: Hashable, expression: Expression, broker: Hashable, source: Hashable
    ) -> None:
        """Send an entry from a broker to all others that lie behind it."""
        waiting = self._links_from(broker, source)
        while waiting:
            link = waiting.pop()
            sender, receiver = link
            self._sent[link].add(name, expression)
            self._kept[receiver].add((sender, name), expression)
            self._hold(receiver, expression, sender)
            waiting += self._links_from(receiver, sender)

    def _withdraw(self, name: Hashable, broker: Hashable, source: Hashable) -> None:
        waiting = self._links_from(broker, source)
        while waiting:
            link = waiting.pop()
            sender, receiver = link
            self._sent[link].remove(name)
            self._release(receiver, self._kept[receiver].remove((sender, name)), sender)
            waiting += self._links_from(receiver, sender)

    def _hold(self, broker: Hashable, expression: Expression, neighbour: Hashable) -> None:
        held = self._held[broker]
        held[expression, neighbour] += 1
        if held[expression, neighbour] == 1:
            self._matchers[broker].add(expression, ("broker", neighbour))

    def _release(self, broker: Hashable, expression: Expression, neighbour: Hashable) -> None:
        held = self._held[broker]
        held[expression, neighbour] -= 1
        if not held[expression, neighbour]:
            del held[expression, neighbour]
            self._matchers[broker].remove(expression, ("broker", neighbour))

    # -- pruning -----------------------------------------------------------------------------------

    def prune(self, steps: int | None = None) -> int:
        """Let every queue do some prunings, or all that there are; returns how many were done."""
        done = 0
        if self.variant in {"pre", "combined"}:
            for link in self._sent:
                done += self._sent[link].prune(steps)
        if self.variant in {"post", "combined"}:
            for broker in self._kept:
                done += self._kept[broker].prune(steps)
        return done

    def _kept_changed(
        self, broker: Hashable, name: Any, before: Expression, after: Expression
    ) -> None:
        sender = name[0]
        self._release(broker, before, sender)
        self._hold(broker, after, sender)

    def _sent_changed(
        self, link: _Link, name: Hashable, before: Expression, after: Expression
    ) -> None:
        """Let the receiver hold what it is sent now, and pass it on to those behind it."""
        waiting = [link]
        while waiting:
            sender, receiver = each = waiting.pop()
            if each != link:
                self._sent[each].remove(name)
                self._sent[each].add(name, after)
            kept, key = self._kept[receiver], (sender, name)
            # What the receiver has pruned further stays: it covers the subscription as well.
            if len(kept.current(key).leaves()) > len(after.leaves()):
                self._release(receiver, kept.remove(key), sender)
                kept.add(key, after)
                self._hold(receiver, after, sender)
            waiting += self._links_from(receiver, sender)

    # -- notifications -----------------------------------------------------------------------------

    def route(self, notification: Mapping[str, Any], broker: Hashable) -> Routed:
        """Return whom a notification is delivered to, and which brokers it is sent to."""
        delivered: set[Hashable] = set()
        reached: set[Hashable] = set()
        waiting: list[tuple[Hashable, Hashable]] = [(broker, None)]
        while waiting:
            here, source = waiting.pop()
            found: Any = self._matchers[here].match(notification)
            for kind, name in found:
                if kind == "client":
                    delivered.add(name)
                elif name != source:
                    reached.add(name)
                    waiting.append((name, here))
        return Routed(frozenset(delivered), frozenset(reached))

    @property
    def associations(self) -> int:
        """How many predicates the entries of neighbours have, at all brokers together."""
        return sum(entries.associations for entries in self._kept.values())

    def entry(self, name: Hashable, broker: Hashable) -> Expression:
        """Return a subscription as a broker holds it: at its own broker as its client gave it."""
        home, expression = self._home[name]
        if broker == home:
            return expression
        towards = self._tree.next_hop(broker, home)
        return self._kept[broker].current((towards, name))
