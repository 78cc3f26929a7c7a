"""Recipes: short runs in which an unsafe protocol loses a notification, step by step.

Each is deterministic: every delivery is from a link that the recipe names, until at the end the
rest is delivered. Played with ``update`` instead, the same steps lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from posetlib.simulation.network import Network

__all__ = ["RECIPES", "Act", "Recipe", "play", "recipe_named"]


@dataclass(frozen=True)
class Act:
    """One act: the name of a method of a network, its arguments, and what a reader should see.

    ``move`` and ``leave`` are without their protocol, which the recipe puts in.
    """

    name: str
    arguments: tuple[Any, ...]
    caption: str


@dataclass(frozen=True)
class Recipe:
    """A run that breaks ``protocol``; ``network`` makes what it is played on."""

    name: str
    title: str
    protocol: str
    edges: tuple[tuple[str, str], ...]
    options: dict[str, Any]
    acts: tuple[Act, ...]
    #: What was lost, and why.
    moral: str

    def network(self, **options: Any) -> Network:
        """Return the network at its beginning, with nobody in it."""
        import networkx as nx  # noqa: PLC0415 - a tenth of a second that most callers never need

        return Network(nx.Graph(list(self.edges)), **{**self.options, **options})


_LINE: Final = (("P", "b"), ("b", "a"))
_STAR: Final = (("M", "P"), ("M", "a"), ("M", "b"))
_ADVERTISED: Final[dict[str, Any]] = {"advertisements": True}


def _deliver(source: str, target: str, caption: str, *kind: str) -> Act:
    return Act("step", ((source, target, *kind),), caption)


def _subscriber_at_a(publisher: str = "P") -> tuple[Act, ...]:
    return (
        Act("attach", ("pat", publisher), f"pat, a publisher, is at {publisher}."),
        Act("attach", ("sue", "a"), "sue is at a; she will move."),
        Act("advertise", ("pat", "x > 0"), "pat announces x > 0."),
        Act("subscribe", ("sue", "x > 0"), "sue subscribes to x > 0."),
        Act("run", (), "All of that becomes known everywhere: the start is complete."),
    )


_REST: Final = Act("run", (), "The rest is delivered.")

RECIPES: Final = (
    Recipe(
        "cover",
        "Covering: what passed b before is lost",
        "cover",
        _LINE,
        _ADVERTISED,
        (
            *_subscriber_at_a(),
            Act("publish", ("pat", {"x": 1}), "pat publishes x = 1."),
            _deliver("P", "b", "It passes b, and is on its way to a."),
            Act("move", ("sue", "b"), "sue moves to b, which has subscribed for her already."),
            _deliver("b", "a", "So b asks a directly for the queue.", "direct"),
            _deliver("a", "b", "The queue is empty; a has closed the session.", "direct"),
            _REST,
        ),
        "x = 1 comes to a after the session is closed there, and never came to sue's at b.",
    ),
    Recipe(
        "junction",
        "The fork tells a: what is between them is lost",
        "junction",
        _STAR,
        _ADVERTISED,
        (
            *_subscriber_at_a(),
            Act("publish", ("pat", {"x": 1}), "pat publishes x = 1."),
            _deliver("P", "M", "At M it goes on to a, where sue is."),
            Act("move", ("sue", "b"), "sue moves to b."),
            _deliver("b", "M", "b's message comes to M, where the flow forks to a and b."),
            _deliver("M", "a", "M tells a directly, and a closes.", "direct"),
            _deliver("a", "b", "The queue comes to b. It is empty.", "direct"),
            _REST,
        ),
        "x = 1 was between M and a: the direct message overtook it.",
    ),
    Recipe(
        "pins",
        "No pins: the filters stay behind",
        "update-without-pins",
        _STAR,
        _ADVERTISED,
        (
            Act("attach", ("pat", "P"), "pat, a publisher, is at P."),
            Act("attach", ("sue", "a"), "sue is at a; she will move."),
            Act("advertise", ("pat", "x > 0"), "pat announces x > 0."),
            _deliver("P", "M", "The advertisement comes to M,"),
            _deliver("M", "a", "and to a. It is still on its way to b."),
            Act("subscribe", ("sue", "x > 0"), "sue subscribes to x > 0."),
            _deliver("a", "M", "The subscription comes to M,"),
            _deliver("M", "P", "and to P: from now on sue gets what pat publishes."),
            Act("move", ("sue", "b"), "sue moves to b, which knows of no advertisement."),
            _deliver("b", "M", "b's message comes to M. Without pins it brings no filter."),
            _deliver("M", "a", "It comes to a, which closes and unsubscribes."),
            _deliver("a", "M", "M hears of that. Nobody else wants x > 0, as far as M knows,"),
            _deliver("M", "P", "and P hears of it."),
            Act("publish", ("pat", {"x": 1}), "pat publishes x = 1: P sends it nowhere."),
            _REST,
        ),
        "b could subscribe only when the advertisement came, after a had let go.",
    ),
    Recipe(
        "epochs",
        "No epochs: a client meets its own message",
        "update-without-epochs",
        _STAR,
        _ADVERTISED,
        (
            *_subscriber_at_a(),
            Act("move", ("sue", "b"), "sue moves to b,"),
            Act("move", ("sue", "a"), "and at once back to a."),
            _deliver("b", "M", "b's message is on its way to a,"),
            _deliver("M", "a", "and closes the session at a: the one in which sue is again."),
            _REST,
            Act("publish", ("pat", {"x": 1}), "pat publishes x = 1."),
            Act("run", (), "It goes nowhere: nobody has a session for sue."),
        ),
        "The message meant her first stay at a, and ended the second.",
    ),
    Recipe(
        "ready",
        "Ready sent directly: it overtakes the subscriptions",
        "update-ready-direct",
        _STAR,
        _ADVERTISED,
        (
            Act("attach", ("pat", "a"), "pat, a publisher, is at a, and will move."),
            Act("attach", ("sue", "P"), "sue is at the third leaf, P."),
            Act("advertise", ("pat", "x > 0"), "pat announces x > 0."),
            Act("subscribe", ("sue", "x > 0"), "sue subscribes to x > 0."),
            Act("run", (), "All of that becomes known everywhere: the start is complete."),
            Act("move", ("pat", "b"), "pat moves to b, which advertises x > 0."),
            Act("publish", ("pat", {"x": 1}), "pat publishes x = 1; it waits in his outbox."),
            _deliver("b", "M", "b's message comes to M. M subscribes at b, for sue."),
            _deliver("M", "a", "The message comes to a, which closes."),
            _deliver("a", "b", "a's word that all is ready comes directly to b.", "direct"),
            _REST,
        ),
        "The outbox was emptied before M's subscription came to b.",
    ),
    Recipe(
        "path-update",
        "Make before break: nothing flushes the way to a",
        "path-update",
        _STAR,
        _ADVERTISED,
        (
            *_subscriber_at_a(),
            Act("publish", ("pat", {"x": 1}), "pat publishes x = 1."),
            _deliver("P", "M", "At M it goes on to a, where sue is."),
            Act("leave", ("sue", "b"), "sue leaves for b; a makes the way there."),
            _deliver("a", "M", "M has an entry towards b now,"),
            _deliver("M", "b", "and b opens a session, and asks a directly for the queue."),
            _deliver("b", "a", "a sends it, and closes.", "direct"),
            _deliver("a", "b", "The queue is empty.", "direct"),
            Act("arrive", ("sue", "b"), "sue comes to b."),
            _REST,
        ),
        "x = 1 was between M and a when the way to b was made, and a closed before it came.",
    ),
)


def recipe_named(name: str) -> Recipe:
    """Return a recipe; ValueError for a name that there is not."""
    for each in RECIPES:
        if each.name == name:
            return each
    raise ValueError(f"there is no recipe {name!r}: {', '.join(each.name for each in RECIPES)}")


def play(recipe: Recipe, network: Network, protocol: str | None = None) -> Iterator[Act]:
    """Do the acts of a recipe one after the other, by its own protocol or by another one.

    Each is yielded once it is done. Another protocol sends other messages, so a link that a recipe
    names may have nothing to deliver then.
    """
    chosen = protocol or recipe.protocol
    for act in recipe.acts:
        arguments = act.arguments
        if act.name == "move":
            arguments = (*arguments, chosen)
        elif act.name == "leave":
            arguments = (arguments[0], chosen, arguments[1])
        getattr(network, act.name)(*arguments)
        yield act
