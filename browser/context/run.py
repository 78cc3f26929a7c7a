"""A `CollectionService` after every change: both forests, the mappings, and the collections."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

import posetlib as pl
from browser.cache import Cache
from browser.config import Limits
from browser.context.script import PROFILES, QUERIES, Change
from browser.elements import counted
from browser.folds import Folds
from browser.graph import NO_FOLDS, Graph, Node
from browser.picture import chips, graph_drawing
from browser.sources import SourceError

__all__ = ["SEMANTICS", "ContextRun", "Moment", "Shelf", "drawings"]

#: When a query matches a profile.
SEMANTICS: Final = {"cover": "The query covers the profile", "overlap": "They overlap"}
#: Who owns all objects and collections here: the page is about which match, not about whose.
_EVERYBODY: Final = "page"
_KEPT: Final = 64
_MARKS: Final = {"added": "+ added", "mapped": "⇄ mapped"}


@dataclass(frozen=True, slots=True)
class Shelf:
    """A collection as a client has it who knows its notes alone."""

    name: str
    members: tuple[str, ...]
    #: The notes of the last change, and how many there were in all.
    added: tuple[str, ...]
    removed: tuple[str, ...]
    notes: int
    is_open: bool = True


@dataclass(frozen=True)
class Moment:
    """All that there is after so many changes; filters of both forests by number."""

    step: int
    semantics: str
    graphs: Mapping[str, Graph]
    #: Pairs of a profile and a query that match, as both mappings have them.
    queries_of: frozenset[tuple[int, int]]
    profiles_of: frozenset[tuple[int, int]]
    #: The same by comparing all pairs of filters, which is what must come out.
    expected: frozenset[tuple[int, int]]
    shelves: tuple[Shelf, ...]
    covering_tests: int
    last_tests: int
    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()

    @cached_property
    def side_of(self) -> dict[int, str]:
        """The forest of each filter that is there."""
        return {number: side for side, graph in self.graphs.items() for number in graph.nodes}

    def mapped(self, number: int | None) -> tuple[int, ...]:
        """Return what a filter is mapped to in the other forest, in order of numbers."""
        side = None if number is None else self.side_of.get(number)
        if side == PROFILES:
            return tuple(sorted(query for profile, query in self.queries_of if profile == number))
        return tuple(sorted(profile for profile, query in self.profiles_of if query == number))

    @property
    def differences(self) -> int:
        """How many pairs a mapping has wrong; 0 in a structure that is as it should be."""
        return len((self.queries_of ^ self.expected) | (self.profiles_of ^ self.expected))


class ContextRun:
    """Changes that are applied to a service one by one; SourceError for one that cannot be.

    A profile and a query have numbers, in the order in which they first appear, over both forests.
    """

    def __init__(self, changes: Sequence[Change], semantics: str) -> None:
        if semantics not in SEMANTICS:
            raise SourceError(f"a query covers or overlaps, not {semantics[:40]!r}")
        self.changes = tuple(changes)
        self.semantics = semantics
        self.number: dict[tuple[str, str], int] = {}
        self.filters: dict[int, pl.Filter] = {}
        for each in changes:
            if each.item is not None:
                number = self.number.setdefault((each.side, str(each.item)), len(self.number) + 1)
                self.filters.setdefault(number, each.item)
        #: The colour of each object and collection.
        self.palette = {who: i for i, who in enumerate(dict.fromkeys(each.who for each in changes))}
        self._lock = threading.Lock()
        self._kept: Cache[Moment] = Cache(_KEPT)
        self._play(len(self.changes))

    def __len__(self) -> int:
        return len(self.changes)

    def clamp(self, step: int) -> int:
        """Return the nearest step that there is."""
        return min(max(step, 0), len(self))

    def at(self, step: int) -> Moment:
        """Return the moment after so many changes; costs all changes up to there."""
        step = self.clamp(step)
        with self._lock:
            return self._kept.made(step, lambda: self._made(step))

    def _play(self, step: int) -> _Played:
        played = _Played(self.semantics)
        for change in self.changes[:step]:
            try:
                played.apply(change)
            except (pl.UnknownEntryError, ValueError) as error:
                words = str(error).removesuffix(".")
                raise SourceError(f"line {change.line}: {words}") from None
        return played

    def _made(self, step: int) -> Moment:
        played = self._play(step)
        before = self._play(step - 1) if step else played
        found, numbers = self._graphs(played)
        pairs = {
            name: frozenset(
                (numbers[PROFILES][profile], numbers[QUERIES][query])
                for profile, query in played.data[name]
            )
            for name in ("queries_of", "profiles_of")
        }
        tests = played.tests
        was = (
            {number for graph in self._graphs(before)[0].values() for number in graph.nodes}
            if step
            else set[int]()
        )
        now = {number for graph in found.values() for number in graph.nodes}
        return Moment(
            step,
            self.semantics,
            found,
            pairs["queries_of"],
            pairs["profiles_of"],
            self._expected(found),
            played.shelves(before),
            tests,
            tests - before.tests,
            tuple(sorted(now - was)),
            tuple(sorted(was - now)),
        )

    def _graphs(self, played: _Played) -> tuple[dict[str, Graph], dict[str, dict[int, int]]]:
        graphs: dict[str, Graph] = {}
        numbers: dict[str, dict[int, int]] = {}
        for side in (PROFILES, QUERIES):
            rows = played.data[side]["nodes"]
            of = {row["id"]: self.number[side, row["filter"]] for row in rows}
            nodes = {
                of[row["id"]]: Node(of[row["id"]], row["filter"], tuple(sorted(row["ids"])))
                for row in rows
            }
            edges = tuple((of[parent], of[child]) for parent, child in played.data[side]["edges"])
            graphs[side], numbers[side] = Graph(nodes, edges), of
        return graphs, numbers

    def _expected(self, graphs: Mapping[str, Graph]) -> frozenset[tuple[int, int]]:
        filters = self.filters
        matches = pl.Filter.covers if self.semantics == "cover" else pl.Filter.overlaps
        return frozenset(
            (profile, query)
            for query in graphs[QUERIES].nodes
            for profile in graphs[PROFILES].nodes
            if matches(filters[query], filters[profile])
        )


class _Played:
    """A service after some changes, and a view of each collection, made from its notes."""

    def __init__(self, semantics: str) -> None:
        # Without an index every covering test is made and counted, as the literature counts them.
        self._service = pl.CollectionService(semantics, index=False)
        self._views: dict[str, pl.CollectionView] = {}
        self._open: dict[str, bool] = {}

    def apply(self, change: Change) -> None:
        service, who, item = self._service, change.who, change.item
        if change.name == "forget":
            if not service.profiles(who):
                raise ValueError(f"there is no object {who}")
            service.remove_object(who, _EVERYBODY)
        elif change.name == "close":
            if not self._open.get(who):
                raise ValueError(f"there is no collection {who}")
            # Its queries first, so that its client is told what leaves it.
            for query in service.queries(who):
                service.remove_query(who, query, _EVERYBODY)
            service.close_collection(who, _EVERYBODY)
            self._open[who] = False
        elif change.side == PROFILES:
            assert item is not None
            if change.name == "add":
                service.add_profile(pl.Description(who), item, _EVERYBODY)
            elif item in service.profiles(who):
                service.remove_profile(who, item, _EVERYBODY)
            else:
                raise ValueError(f"{who} does not have {item}")
        else:
            assert item is not None
            self._change_query(change.name, who, item)

    def _change_query(self, name: str, who: str, item: pl.Filter) -> None:
        if name == "add":
            if not self._open.get(who):
                view = self._views[who] = pl.CollectionView()
                self._service.open_collection(who, _EVERYBODY, lambda note: view.apply([note]))
                self._open[who] = True
            self._service.add_query(who, item, _EVERYBODY)
        elif item in self._service.queries(who):
            self._service.remove_query(who, item, _EVERYBODY)
        else:
            raise ValueError(f"{who} does not have {item}")

    @cached_property
    def data(self) -> dict[str, Any]:
        return self._service.forest.to_dict()

    @property
    def tests(self) -> int:
        return self._service.forest.counters.covering_tests

    def members(self, name: str) -> list[str]:
        return [each.uri for each in self._views.get(name, ())]

    def shelves(self, before: _Played) -> tuple[Shelf, ...]:
        made = []
        for name, view in self._views.items():
            had, has = set(before.members(name)), self.members(name)
            made.append(
                Shelf(
                    name,
                    tuple(has),
                    tuple(each for each in has if each not in had),
                    tuple(each for each in before.members(name) if each not in has),
                    view.number,
                    self._open[name],
                )
            )
        return tuple(made)


def drawings(
    run: ContextRun,
    moment: Moment,
    chosen: int | None,
    limits: Limits,
    folds: Mapping[str, Folds] = MappingProxyType({}),
) -> dict[str, dict[str, Any]]:
    """Return both forests as drawings; what is mapped to the chosen filter is marked."""
    marks: dict[int, list[str]] = {number: ["added"] for number in moment.added}
    for number in moment.mapped(chosen):
        marks.setdefault(number, []).append("mapped")
    made = {}
    for side, graph in moment.graphs.items():
        here = {number: some for number, some in marks.items() if number in graph.nodes}
        drawn = graph_drawing(
            graph, limits, folds.get(side, NO_FOLDS), palette=run.palette, marks=here, ratio=0.95
        )
        mapped = {pair[side == QUERIES] for pair in moment.queries_of}
        drawn["title"] = "Queries" if side == QUERIES else "Profiles"
        drawn["stats"] = (
            f"{counted(len(graph.nodes), 'filter')} · {counted(len(graph.roots), 'root')} · "
            f"{len(mapped):,} with a match"
        )
        drawn["chips"] = chips(here, _MARKS)
        drawn["step"] = moment.step
        made[side] = drawn
    return made
