"""Root sets before and after merging, at every step of a story [T 8.5]."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import posetlib as pl
from browser.cache import Cache
from browser.config import Limits
from browser.elements import counted
from browser.folds import Folds
from browser.graph import NO_FOLDS, Graph, Node
from browser.picture import graph_drawing
from browser.sources import SourceError
from browser.story import Story, first_structure
from posetlib.constraints import Numbers
from posetlib.tables import Player

__all__ = [
    "Follower",
    "Group",
    "Merged",
    "Merging",
    "before_and_after",
    "domains_of",
    "marks_for",
    "merging_from",
    "percent",
    "shown_as",
    "unwanted",
]

#: Loss in percent up to which filters are merged where nothing else is asked for.
DEFAULT_LOSS: Final = 30.0
# Steps of one follower whose results are kept, so that a step back is quick.
_KEPT: Final = 64
# Steps before the one asked for that are kept when all is worked out anew.
_BACK: Final = 16


class Merging(NamedTuple):
    """How roots are merged: the settings of the page."""

    perfect: bool = True
    #: The largest share of what a merger matches that nobody wants; of imperfect merging alone.
    max_loss: float = 0.0
    #: Whether filters are left out that others cover together.
    subsume: bool = False


def merging_from(kind: Any, loss: Any, subsume: Any) -> Merging:
    """Return the settings that the controls, or an address, name; SourceError if they are bad.

    >>> merging_from("imperfect", "25", [])
    Merging(perfect=False, max_loss=0.25, subsume=False)
    """
    if kind not in {"perfect", "imperfect"}:
        raise SourceError(f"merging is perfect or imperfect, not {str(kind)[:40]!r}")
    try:
        share = float(DEFAULT_LOSS if loss in (None, "") else loss) / 100
    except (TypeError, ValueError):
        raise SourceError(f"the largest loss is a number, not {str(loss)[:40]!r}") from None
    if not 0 <= share <= 1:
        raise SourceError("the largest loss is between 0 and 100 percent")
    if kind == "perfect":
        return Merging(True, 0.0, bool(subsume))
    return Merging(False, share, bool(subsume))


@dataclass(frozen=True, slots=True)
class Group:
    """A filter that is sent instead of some roots; all by their numbers."""

    number: int
    filter: pl.Filter
    #: The roots that the filter is made of: itself, if it is not merged.
    components: tuple[int, ...]
    #: Further roots, which it covers without being made of them.
    covered: tuple[int, ...]
    #: The estimated share of what it matches that no component does; None if unknown.
    loss: float | None
    #: The filters that together cover this one, which is left out; empty if it is sent.
    supporters: tuple[int, ...] = ()

    @property
    def is_merger(self) -> bool:
        """Whether the filter is made of other filters."""
        return self.components != (self.number,)


@dataclass(frozen=True)
class Merged:
    """A root set after so many operations, and what is sent instead."""

    step: int
    #: The roots, by number.
    roots: tuple[int, ...]
    groups: tuple[Group, ...]
    #: Every filter that there is, by number: those of the story, and mergers.
    filters: Mapping[int, pl.Filter]
    #: What the last operation added to what is sent, and took away.
    added: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()

    @cached_property
    def sent(self) -> tuple[Group, ...]:
        """The groups whose filters are sent."""
        return tuple(each for each in self.groups if not each.supporters)

    @cached_property
    def _group_of(self) -> dict[int, Group]:
        found = {
            member: group for group in self.groups for member in group.components + group.covered
        }
        return {**found, **{group.number: group for group in self.groups}}

    def group_of(self, number: int | None) -> Group | None:
        """Return the group of a merged filter or of a root; None for anything else."""
        return None if number is None else self._group_of.get(number)

    @property
    def worst_loss(self) -> float | None:
        """The largest loss of a filter that is sent; None if one is not known."""
        losses = [each.loss for each in self.sent]
        known = [each for each in losses if each is not None]
        return None if len(known) < len(losses) else max(known, default=0.0)


def domains_of(filters: Sequence[pl.Filter]) -> dict[str, tuple[float, float]]:
    """Return the range that the bounds on each attribute with numbers span.

    It is what the loss is estimated by: values are taken to be spread evenly over it.

    >>> domains_of([pl.parse_filter("x in [0, 5]"), pl.parse_filter("x > 9 and y = 3")])
    {'x': (0.0, 9.0), 'y': (2.0, 4.0)}
    """
    ends: dict[str, list[float]] = {}
    for item in filters:
        for name, constraint in item.constraints.items():
            if isinstance(constraint, Numbers):
                both = (float(constraint.low), float(constraint.high))
                ends.setdefault(name, []).extend(each for each in both if math.isfinite(each))
    found = {}
    for name, values in ends.items():
        if values:
            low, high = min(values), max(values)
            found[name] = (low, high) if low < high else (low - 1, high + 1)
    return found


class Follower:
    """A root set that is merged while the operations of a story go by, as a router does it.

    What is sent depends on the order of the operations, not only on the roots that there are. So
    it is always worked out from the start: the answer for a step is the same whoever asks, and
    mergers have the same numbers, those after the numbers of the story's filters.
    """

    def __init__(self, story: Story, settings: Merging) -> None:
        self.story = story
        self.settings = settings
        self._lock = threading.Lock()
        self._number = dict(story.number)
        self._kept: Cache[Merged] = Cache(_KEPT)
        self._restart()

    def _restart(self) -> None:
        self._player = Player(self.story.trace, pl.make_table(shown_as()))
        perfect, max_loss, subsume = self.settings
        bounds: dict[str, Any] = {}
        if not perfect:
            bounds = {"domains": domains_of(tuple(self.story.number)), "max_loss": max_loss}
        self._merger = pl.RootMerger(self._player.table, perfect, subsume=subsume, **bounds)
        self._news: tuple[list[pl.Filter], list[pl.Filter]] = ([], [])
        self._merger.listen(self._told)

    def _told(self, added: list[pl.Filter], gone: list[pl.Filter]) -> None:
        self._news = (added, gone)

    def at(self, step: int) -> Merged:
        """Return what is sent after so many operations; costs those since the last question."""
        step = min(max(step, 0), len(self.story))
        with self._lock:
            return self._kept.made(step, lambda: self._made(step))

    def _made(self, step: int) -> Merged:
        if self._player.position > step:
            self._restart()
            # Who goes one step back often goes further: those steps are kept on the way.
            for earlier in range(max(step - _BACK, 0), step):
                self._kept.put(earlier, self._advanced(earlier))
        return self._advanced(step)

    def _advanced(self, step: int) -> Merged:
        while self._player.position < step:
            self._news = ([], [])
            self._player.forward()
            for item in (*self._news[0], *self._merger.left_out()):
                self._number.setdefault(item, len(self._number) + 1)
        added, gone = self._news
        return Merged(
            step,
            tuple(sorted(self._number[each] for each in self._player.table.roots())),
            self._groups(),
            {number: item for item, number in self._number.items()},
            tuple(sorted(self._number[each] for each in added)),
            tuple(sorted(self._number[each] for each in gone)),
        )

    def _groups(self) -> tuple[Group, ...]:
        left_out = self._merger.left_out()
        number = self._number
        found = [
            Group(
                number[item],
                item,
                tuple(sorted(number[each] for each in self._merger.components(item))),
                tuple(sorted(number[each] for each in self._merger.covered(item))),
                self._merger.loss(item),
                tuple(sorted(number[each] for each in left_out.get(item, ()))),
            )
            for item in (*self._merger.merged(), *left_out)
        ]
        # What stands for many roots comes first: that is what merging is about.
        return tuple(
            sorted(found, key=lambda each: (-len(each.components + each.covered), each.number))
        )


def unwanted(merged: Merged, group: Group) -> dict[str, Any] | None:
    """Return a notification that a merger matches and no root of its group; None if none is known.

    The loss is an estimate; this shows one case of it.
    """
    members = [merged.filters[each] for each in group.components + group.covered]
    return pl.union_covers(members, group.filter).witness


def percent(loss: float | None) -> str:
    """Return a loss in words.

    >>> percent(0.0), percent(0.001), percent(0.256), percent(None)
    ('0 %', 'below 1 %', '26 %', 'unknown')
    """
    if loss is None:
        return "unknown"
    return "below 1 %" if 0 < loss < 0.01 else f"{round(100 * loss)} %"


# -- as graphs -------------------------------------------------------------------------------------


def marks_for(merged: Merged, chosen: int | None) -> dict[int, list[str]]:
    """Return what each filter is to the chosen one: its merger, a component, or covered by it."""
    group = merged.group_of(chosen)
    if group is None:
        return {}
    marks: dict[int, list[str]] = {}
    if group.is_merger:
        marks[group.number] = ["merger"]
        marks.update((each, ["component"]) for each in group.components)
    marks.update((each, ["covered"]) for each in group.covered)
    return marks


def before_and_after(
    story: Story,
    merged: Merged,
    chosen: int | None,
    limits: Limits,
    folds: Folds = NO_FOLDS,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the roots, and what is sent with the roots that it is made of, as drawings."""
    table = story.frame(shown_as(), merged.step).graph
    marks = marks_for(merged, chosen)

    def node(number: int) -> Node:
        held = table.nodes.get(number)
        return Node(number, str(merged.filters[number]), held.interfaces if held else ())

    roots = Graph({each: node(each) for each in merged.roots}, ())
    edges = tuple(
        (group.number, each)
        for group in merged.sent
        for each in group.components + group.covered
        if each != group.number
    )
    shown = dict.fromkeys(
        (*(group.number for group in merged.sent), *(child for _, child in edges))
    )
    sent = Graph({each: node(each) for each in shown}, edges)
    notes = {
        group.number: f"loss {percent(group.loss)}" for group in merged.sent if group.is_merger
    }
    before = graph_drawing(roots, limits, NO_FOLDS, palette=story.palette, marks=marks, ratio=0.95)
    after = graph_drawing(
        sent, limits, folds, palette=story.palette, marks=marks, notes=notes, ratio=0.95
    )
    return told(merged, before, after)


def told(
    merged: Merged, before: dict[str, Any], after: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two drawings with what is said above them."""
    left_out = len(merged.groups) - len(merged.sent)
    stats = [
        counted(len(merged.sent), "filter"),
        counted(sum(each.is_merger for each in merged.sent), "merger"),
        f"largest loss {percent(merged.worst_loss)}",
    ]
    if left_out:
        stats.insert(1, f"{left_out:,} left out")
    chips = [
        (mark, f"{sign} {', '.join(f'#{each}' for each in some[:6])}{' …' if some[6:] else ''}")
        for mark, sign, some in (("added", "+", merged.added), ("removed", "−", merged.gone))
        if some
    ]
    before = {
        **before,
        "title": "Roots before",
        "stats": counted(len(merged.roots), "root"),
        "step": merged.step,
    }
    return before, {
        **after,
        "title": "Sent after merging",
        "stats": " · ".join(stats),
        "chips": chips,
        "step": merged.step,
    }


def shown_as() -> str:
    """Return the structure whose roots are merged: a forest, as a router has it."""
    return first_structure(lambda promises: promises.forwards == "forest")
