"""A source as something to step through: every structure, after any number of operations."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import posetlib as pl
from browser.graph import Graph, graph_of
from browser.plan import Plan
from browser.sources import Source, SourceError
from posetlib.graph.change import NO_CHANGE
from posetlib.tables import Operation, Player

__all__ = [
    "COUNTED",
    "FILE",
    "QUICK",
    "STRUCTURES",
    "Frame",
    "Story",
    "Structures",
    "default_pair",
    "first_structure",
    "promises_of",
]

#: Up to this number of operations are done unasked.
QUICK: Final = 12_000
#: Up to this number of operations, tables find their way by covering tests alone, as the
#: literature counts them; beyond that an index saves most tests, and seconds.
COUNTED: Final = 1_000
#: Filters at which a stretch of steps ends that share one plan of places. Small tables have short
#: stretches, since a plan for more filters than there are leaves less room for text; in large ones
#: all filters of the stretch are counted, those that went, too.
_SMALL_STRETCHES: Final = (12, 18, 27, 40, 60, 80)
_LARGE_STRETCHES: Final = (400, 1_600)
#: Stretches one after the other that keep their places; the next begins afresh, so that a step far
#: away needs no plan of all stretches before it.
_CHAINED: Final = 16
#: The table that an uploaded snapshot holds, just as it is there.
FILE: Final = "file"


class Structures(Mapping[str, str]):
    """The structures to choose from: short names with titles, those of other packages included.

    All that are registered but plain lists; read anew each time, so that a structure which is
    registered later is there too. ``file`` is the title of an uploaded snapshot, which comes first.
    """

    def __init__(self, file: str | None = None) -> None:
        self._file = file

    def __getitem__(self, name: str) -> str:
        if name == FILE and self._file is not None:
            return self._file
        try:
            promises = promises_of(name)
        except ValueError:
            raise KeyError(name) from None
        if promises.shape is pl.Shape.LIST:
            raise KeyError(name)
        return promises.title

    def __iter__(self) -> Iterator[str]:
        if self._file is not None:
            yield FILE
        for name in pl.structure_names():
            if promises_of(name).shape is not pl.Shape.LIST:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


#: The structures to choose from where no snapshot was uploaded.
STRUCTURES: Final = Structures()


def promises_of(structure: str) -> pl.Promises:
    """Return what a structure promises; ValueError for a name that is not known."""
    return pl.structure_named(structure).promises


def first_structure(fits: Callable[[pl.Promises], bool]) -> str:
    """Return the first of the structures to choose from whose promises fit.

    >>> first_structure(lambda promises: promises.interface_index)
    'bf'
    """
    return next(name for name in STRUCTURES if fits(promises_of(name)))


def default_pair() -> tuple[str, str]:
    """Return the two structures that are shown unasked: a full order, and a forest beside it.

    >>> default_pair()
    ('fp', 'nrf')
    """
    return (
        first_structure(lambda promises: promises.shape is pl.Shape.ORDER),
        first_structure(lambda promises: promises.forwards == "forest"),
    )


@dataclass(frozen=True)
class Frame:
    """One structure after a number of operations; immutable, so all users may share it."""

    structure: str
    step: int
    snapshot: pl.Snapshot[Any]
    graph: Graph
    #: The graph with the filters that the last operation took away, where they were, and the edges
    #: that went with them.
    with_removed: Graph
    removed_edges: frozenset[tuple[int, int]]
    change: pl.Change[Any]
    #: Covering tests so far, and those of the last operation; None for a file.
    covering_tests: int | None
    last_tests: int = 0
    #: Whether an index has saved tests.
    indexed: bool = False
    #: Of the filters that the last operation moved, those that kept some of their parents; and the
    #: edges that are new.
    relinked: frozenset[int] = frozenset()
    added_edges: frozenset[tuple[int, int]] = frozenset()

    @cached_property
    def shared_table(self) -> pl.Table[Any]:
        """The same for everybody who only reads."""
        return self.table()

    def table(self) -> pl.Table[Any]:
        """Return a table of its own of this content; nothing is tested or repaired."""
        restored: pl.Table[Any] = self.snapshot.restore()
        return restored


class Story:
    """A source with its filters numbered, and its structures replayed as far as anybody asked.

    Numbers count filters in the order in which they first appear, and are the same everywhere.
    """

    def __init__(self, source: Source, edits: Sequence[tuple[int, Operation]] = ()) -> None:
        self.source = source
        self._edited = bool(edits)
        #: What there is to see at each step; a step by hand makes another trace of it.
        self.captions = () if edits else source.captions
        operations = list(source.operations)
        for at, operation in edits:
            if not 0 <= at <= len(operations):
                raise SourceError(f"there is no step {at} to edit at")
            operations.insert(at, operation)
        self.trace = pl.Trace(operations)
        self.number: dict[pl.Filter, int] = {}
        # A file may hold a filter that no interface holds, which no operation adds.
        for node in source.snapshot.nodes if source.snapshot is not None else ():
            self.number.setdefault(node.item, len(self.number) + 1)
        for operation in (*source.operations, *(each for _, each in edits)):
            if operation.item is not None:
                self.number.setdefault(operation.item, len(self.number) + 1)
        self.filters = {number: item for item, number in self.number.items()}
        names = {str(each.interface) for each in self.trace}
        self.interfaces = sorted(names, key=_natural)
        self.palette = {name: i for i, name in enumerate(self.interfaces)}
        #: The texts of filters, as far as anybody has seen them.
        self.texts: dict[int, str] = {}
        self._replays: dict[str, _Replay] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.trace)

    @property
    def structures(self) -> Mapping[str, str]:
        """The structures that can be shown, with their names; first the one to begin with."""
        snapshot = self.source.snapshot
        return Structures(None if snapshot is None else f"The file ({snapshot.structure})")

    def title(self, structure: str) -> str:
        """Return what a structure is called; beside a file, that it was built anew."""
        name = self.structures[structure]
        if structure == FILE:
            return name
        rebuilt = "" if self.source.snapshot is None else ", rebuilt from the file's pairs"
        return f"{structure.upper()} · {name}{rebuilt}"

    def frame(self, structure: str, step: int) -> Frame:
        """Return a structure after a number of operations, out of 0 … len(story).

        The first time costs the operations up to there, after that those in between.
        """
        if structure == FILE and self.source.snapshot is not None:
            return self._file
        return self._replay(structure).frame(min(max(step, 0), len(self)))

    def _replay(self, structure: str) -> _Replay:
        if structure not in STRUCTURES:
            raise SourceError(f"there is no structure {structure!r}")
        with self._lock:
            return self._replays.setdefault(structure, _Replay(self, structure))

    def plan(self, structure: str, step: int) -> Plan | None:
        """Return where filters are drawn in a stretch of steps.

        Of a small table, as they are when it is fullest; of a large one, as they would be if none
        of the stretch were ever removed, so that no step needs a place for which there is no room.
        Edits by hand have no part in it, so that they leave everything else where it is. None for a
        file, and where a table is too large.
        """
        if structure == FILE:
            return None
        if self._edited:
            return self._unedited.plan(structure, min(step, len(self._unedited)))
        return self._replay(structure).plan(step)

    @cached_property
    def _unedited(self) -> Story:
        return Story(self.source)

    @property
    def first_shown(self) -> tuple[str, ...]:
        """The structures that are shown unasked: a file beside its twin, built anew."""
        snapshot = self.source.snapshot
        if snapshot is None:
            return default_pair()
        twin = snapshot.structure if snapshot.structure in STRUCTURES else default_pair()[0]
        return (FILE, twin)

    @cached_property
    def _file(self) -> Frame:
        snapshot = self.source.snapshot
        assert snapshot is not None
        graph = graph_of(snapshot, self.number, self.texts)
        return Frame(FILE, len(self), snapshot, graph, graph, frozenset(), NO_CHANGE, None)


def _large_stretch(size: int) -> int | None:
    """Return how many filters a stretch may hold, by how many it begins with; None: no stretch."""
    return next((each for each in _LARGE_STRETCHES if size <= 0.75 * each), None)


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Sort I2 before I10."""
    parts = re.split(r"(\d{1,9})", name)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts if part]


def _parents_of(
    snapshot: pl.Snapshot[Any], items: set[pl.Filter], number: Mapping[pl.Filter, int]
) -> dict[int, set[int]]:
    """Return the parents of some filters, all by number."""
    if not items:
        return {}
    of = {node.id: node.item for node in snapshot.nodes}
    found: dict[int, set[int]] = {number[item]: set() for item in items}
    for parent, child in snapshot.edges:
        if of[child] in items:
            found[number[of[child]]].add(number[of[parent]])
    return found


class _Replay:
    """One table that goes to and fro; one thread at a time, and what comes out is immutable."""

    def __init__(self, story: Story, structure: str) -> None:
        self._story = story
        self._structure = structure
        self._indexed = len(story) > COUNTED
        snapshot = story.source.snapshot
        # The twin of a local table eliminates nothing, either.
        local = snapshot is not None and snapshot.local and snapshot.structure == structure
        options = {"local": True} if local else {}
        table = pl.make_table(structure, index=self._indexed, **options)
        self._player = Player(story.trace, table)
        #: Covering tests after each number of operations.
        self._tests = [0]
        #: Filters in the table, and filters that came into it, after each number of operations.
        self._sizes = [0]
        self._arrivals = [0]
        #: The last steps of stretches, as far as anybody asked, and their plans.
        self._ends: list[int] = []
        self._plans: dict[int, Plan | None] = {}
        self._lock = threading.Lock()
        self._last: Frame | None = None

    def frame(self, step: int) -> Frame:
        with self._lock:
            if self._last is None or self._last.step != step:
                self._last = self._made(step)
            return self._last

    def _made(self, step: int) -> Frame:
        self._seek(max(step - 1, 0))
        number = self._story.number
        before: Graph | None = None
        change = NO_CHANGE
        old_parents: dict[int, set[int]] = {}
        if step:
            was = self._player.table.snapshot(index=False)
            self._seek(step)
            change = self._player.change(step - 1)
            old_parents = _parents_of(was, {*change.moved}, number)
            if change.removed:
                before = graph_of(was, number, self._story.texts)
        snapshot = self._player.table.snapshot(index=False)
        graph = graph_of(snapshot, number, self._story.texts)
        both, lost = graph, frozenset[tuple[int, int]]()
        if before is not None:
            gone = {number[each]: before.nodes[number[each]] for each in change.removed}
            nodes = {**graph.nodes, **gone}
            lost = frozenset(
                edge
                for edge in before.edges
                if (edge[0] in gone or edge[1] in gone) and edge[0] in nodes and edge[1] in nodes
            )
            both = Graph(nodes, (*graph.edges, *(each for each in before.edges if each in lost)))
        moved = {number[item] for item in change.moved}
        new = {number[item] for item in change.added}
        relinked = {each for each in moved if old_parents[each] & set(graph.parents[each])}
        fresh = {
            (parent, child)
            for child in moved
            for parent in graph.parents[child]
            if parent not in old_parents[child]
        }
        fresh |= {edge for edge in graph.edges if edge[1] in new} if new else set()
        tests = self._tests[step]
        return Frame(
            self._structure,
            step,
            snapshot,
            graph,
            both,
            lost,
            change,
            tests,
            tests - self._tests[step - 1] if step else 0,
            self._indexed,
            frozenset(relinked),
            frozenset(fresh),
        )

    def plan(self, step: int) -> Plan | None:
        with self._lock:
            here = self._player.position
            while not self._ends or self._ends[-1] < step:
                self._ends.append(self._next_end())
            place = bisect_left(self._ends, step)
            for each in range(place - place % _CHAINED, place + 1):
                if each not in self._plans:
                    start = self._ends[each - 1] + 1 if each else 0
                    before = self._plans.get(each - 1) if each % _CHAINED else None
                    self._plans[each] = self._planned(start, self._ends[each], before)
            self._seek(here)
            return self._plans[place]

    def _next_end(self) -> int:
        """Return the last step of the stretch after those that are known, and replay to it."""
        end = self._ends[-1] if self._ends else 0
        size, arrived = self._sizes[end], self._arrivals[end]
        small = next((each for each in _SMALL_STRETCHES if size < each), None)
        large = _large_stretch(size)
        if small is None and large is None:
            return len(self._story)
        while end < len(self._story):
            end += 1
            if end >= len(self._sizes):
                self._seek(end)
            came = self._arrivals[end] - arrived
            if small is not None and (self._sizes[end] >= small or came >= small):
                break
            if small is None and large is not None and size + came >= large:
                break
        return end

    def _planned(self, start: int, end: int, before: Plan | None) -> Plan | None:
        """Return the plan of a stretch; None where there are too many filters for one.

        In the plan of a large table, places are those of the plan ``before``, if that is one, too.
        """
        number, texts = self._story.number, self._story.texts
        size = self._sizes[max(start - 1, 0)]
        if size < _SMALL_STRETCHES[-1]:
            fullest = max(range(start, end + 1), key=lambda each: (self._sizes[each], each))
            self._seek(fullest)
            return Plan(graph_of(self._player.table.snapshot(index=False), number, texts))
        if _large_stretch(size) is None:
            return None
        self._seek(max(start - 1, 0))
        items = [node.item for node in self._player.table.snapshot(index=False).nodes]
        first = {number[item]: start for item in self._player.table.roots()}
        last = dict.fromkeys(first, end)
        for step in range(start, end + 1):
            self._seek(step)
            if not step:
                continue
            change = self._player.change(step - 1)
            items += change.added
            for item in change.roots_added:
                first.setdefault(number[item], step)
                last[number[item]] = end
            removed = set(change.removed)
            for item in change.roots_removed:
                # One that is removed is drawn once more, where it was.
                last[number[item]] = step if item in removed else step - 1
        table = pl.make_table(self._structure, index=True)
        for item in dict.fromkeys(items):
            # An interface for each, so that none is dropped for the sake of another.
            table.add(item, number[item])
        rooted = {each: (first[each], last[each]) for each in first}
        before = before if before is not None and before.is_large else None
        return Plan(
            graph_of(table.snapshot(index=False), number, texts),
            rooted,
            before,
            last=end == len(self._story),
        )

    def _seek(self, step: int) -> None:
        player = self._player
        while player.position < step:
            counted = player.table.counters.covering_tests
            player.forward()
            if player.position == len(self._tests):
                made = player.table.counters.covering_tests - counted
                self._tests.append(self._tests[-1] + made)
                self._sizes.append(len(player.table))
                came = len(player.change(player.position - 1).added)
                self._arrivals.append(self._arrivals[-1] + came)
        while player.position > step:
            player.back()
