"""The tree of an expression, part by part: p_min, selectivities, what holds, what can be pruned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import posetlib as pl
from browser.config import Limits
from browser.elements import counted
from browser.expressions.script import Entry, ExpressionSet
from browser.folds import Folds
from browser.graph import NO_FOLDS, Graph, Node
from browser.picture import graph_drawing
from browser.sources import SourceError
from posetlib.expressions import RATINGS, Junction, Leaf, Pruning, Selectivity, selectivity
from posetlib.expressions.explaining import leaf_holds
from posetlib.expressions.measures import encoded_size, p_min
from posetlib.expressions.tree import leaf_text
from posetlib.values import lookup

__all__ = ["Cut", "Part", "Reach", "Tree", "ranked", "reached", "share_text", "tree_drawing"]


#: Pixels between two boxes side by side, and between two levels.
_GAP: Final = (14, 44)


class Cut(NamedTuple):
    """A legal pruning of a tree: what it leaves, and what that comes to."""

    pruning: Pruning
    #: The least number of conditions that must be hit, and the bytes of the code, afterwards.
    p_min: int
    size: int
    #: Estimates of the share of events that match afterwards.
    selectivity: Selectivity
    #: How many of the events match then, and did not before.
    let_in: int


class Part(NamedTuple):
    """A node of a tree."""

    number: int
    #: The number of the node that it is a child of; None for the root.
    above: int | None
    node: Leaf | Junction
    p_min: int
    selectivity: Selectivity
    #: Whether it holds for the event; None without one.
    holds: bool | None
    #: What the tree becomes without it; None where it cannot be pruned.
    cut: Cut | None

    @property
    def text(self) -> str:
        """A condition as it is written; of others AND or OR."""
        if isinstance(self.node, Leaf):
            return leaf_text(self.node)
        if not self.node.children:
            return "true" if self.node.conjunctive else "false"
        return "AND" if self.node.conjunctive else "OR"

    @property
    def expression(self) -> pl.Expression:
        """The part as an expression of its own."""
        return pl.Expression.of_tree(self.node)


class Tree:
    """An entry of a set as a tree; its parts are numbered level by level, the root is 1."""

    def __init__(
        self, entry: Entry, among: ExpressionSet, event: Mapping[str, Any] | None = None
    ) -> None:
        self.entry = entry
        self.event = event
        self.events = len(among.events)
        self.size = encoded_size(entry.expression.root)
        nodes: list[tuple[int | None, Leaf | Junction]] = [(None, entry.expression.root)]
        for number, (_, node) in enumerate(nodes, 1):
            if isinstance(node, Junction):
                nodes += [(number, child) for child in node.children]
        cuts = iter(_cuts(entry.expression, among))
        self.parts: dict[int, Part] = {}
        for number, (above, node) in enumerate(nodes, 1):
            # Prunings come in the order of the parts: each child of an AND has one.
            around = None if above is None else self.parts[above].node
            can_go = isinstance(around, Junction) and around.conjunctive
            self.parts[number] = Part(
                number,
                above,
                node,
                p_min(node),
                selectivity(node, among.share),
                None if event is None else pl.Expression.of_tree(node).matches(event),
                next(cuts) if can_go else None,
            )
        assert next(cuts, None) is None

    @property
    def root(self) -> Part:
        """The whole tree."""
        return self.parts[1]


def _cuts(expression: pl.Expression, among: ExpressionSet) -> list[Cut]:
    found = pl.prunings(expression, among.share, among.occurrences)
    # One matcher holds what each of them leaves, so that every event is asked once.
    matcher = pl.ExpressionMatcher([(expression, None)])
    for place, each in enumerate(found):
        matcher.add(each.expression, place)
    answers = matcher.match_many(list(among.events))
    let_in = Counter(place for each in answers if None not in each for place in each)
    return [
        Cut(
            each,
            p_min(each.expression.root),
            encoded_size(each.expression.root),
            selectivity(each.expression.root, among.share),
            let_in[place],
        )
        for place, each in enumerate(found)
    ]


def ranked(tree: Tree, rating: str) -> list[tuple[Part, bool]]:
    """Return the parts that can be pruned, the best first, and whether the rating allows each.

    Memory allows only parts within which nothing else can be pruned; the others come last.
    """
    if rating not in RATINGS:
        raise SourceError(f"a rating is one of {', '.join(RATINGS)}, not {str(rating)[:40]!r}")

    def place(part: Part) -> tuple[bool, tuple[float, ...]]:
        assert part.cut is not None
        ratings = part.cut.pruning.ratings
        return rating == "memory" and not ratings.innermost, ratings.key(rating)

    parts = sorted((part for part in tree.parts.values() if part.cut is not None), key=place)
    return [(part, not place(part)[0]) for part in parts]


class Reach(NamedTuple):
    """How far an event comes with one entry of a set."""

    number: int
    entry: Entry
    #: The conditions that the event hits, and how many of them are needed at least.
    hits: int
    p_min: int
    matches: bool

    @property
    def is_candidate(self) -> bool:
        """Whether the tree has to be evaluated."""
        return self.hits >= self.p_min


def reached(among: ExpressionSet, event: Mapping[str, Any]) -> list[Reach]:
    """Return for every entry whether an event makes it a candidate, and whether it matches."""
    found = []
    for number, entry in enumerate(among.entries, 1):
        hits = sum(
            leaf_holds(leaf, lookup(event, leaf.attribute), event)
            for leaf in entry.expression.leaves()
            if not leaf.negated
        )
        needed = p_min(entry.expression.root)
        found.append(Reach(number, entry, hits, needed, entry.expression.matches(event)))
    return found


def share_text(share: float) -> str:
    """Return a share in percent, with two digits that count.

    >>> share_text(0.5), share_text(0.00123), share_text(0.0), share_text(1.0)
    ('50 %', '0.12 %', '0 %', '100 %')
    """
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"


def tree_drawing(tree: Tree, limits: Limits, folds: Folds = NO_FOLDS) -> dict[str, Any]:
    """Return a tree as a drawing, with p_min and selectivity, and what holds marked."""
    nodes = {each.number: Node(each.number, each.text, ()) for each in tree.parts.values()}
    edges = tuple(
        (each.above, each.number) for each in tree.parts.values() if each.above is not None
    )
    marks = {
        each.number: ["matched" if each.holds else "failed"]
        for each in tree.parts.values()
        if each.holds is not None
    }
    notes = {
        each.number: f"p_min {each.p_min} · {share_text(each.selectivity.average)}"
        for each in tree.parts.values()
    }
    made = graph_drawing(Graph(nodes, edges), limits, folds, palette={}, marks=marks, notes=notes)
    _put_in_order(made)
    conditions = sum(isinstance(each.node, Leaf) for each in tree.parts.values())
    made["stats"] = (
        f"{counted(conditions, 'condition')} · "
        f"{counted(len(tree.parts) - conditions, 'operator')} · "
        f"p_min {tree.root.p_min} · {tree.size} bytes"
    )
    made["step"] = 0
    return made


def _put_in_order(made: dict[str, Any]) -> None:
    """Place the nodes of a drawing as a tree: conditions in a row, others amid their children."""
    boxes = {each["data"]["id"]: each for each in made["elements"] if "position" in each}
    children: dict[str, list[str]] = {each: [] for each in boxes}
    above: dict[str, str] = {}
    for each in made["elements"]:
        if "source" in each["data"]:
            children[each["data"]["source"]].append(each["data"]["target"])
            above[each["data"]["target"]] = each["data"]["source"]
    wide, high = made["width"] + _GAP[0], made["height"] + _GAP[1]
    places: dict[str, float] = {}
    taken = 0
    waiting = [(each, False) for each in boxes if each not in above]
    while waiting:
        node, is_done = waiting.pop()
        below = children[node]
        if not below:
            places[node] = taken * wide
            taken += 1
        elif is_done:
            places[node] = (places[below[0]] + places[below[-1]]) / 2
        else:
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(below)]
    levels: dict[str, int] = {}
    for node, box in boxes.items():  # those above come before those below
        levels[node] = levels[above[node]] + 1 if node in above else 0
        box["position"] = {"x": places[node], "y": levels[node] * high}
