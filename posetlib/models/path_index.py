"""Many paths at once: one automaton for their steps, read along each way down a document.

Of each path one way from its root to a leaf, its *trunk*, is entered into a tree of steps that all
paths share. A node of a document is in a *state*: the steps that hold at it, going by names alone,
and the steps after which something may follow at any depth. States are made when a document needs
them, and kept up to a number; past it they are worked out each time.

The conditions of the last steps in a state are asked together (see ``step_conditions``). What a
trunk leaves out is looked at only where a document has the trunk: conditions on other steps along
the way up from its end, other branches in the whole document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from posetlib.constraints.base import Constraint, register_index
from posetlib.filters.filter import Filter
from posetlib.models.documents import Document
from posetlib.models.path_patterns import Edge
from posetlib.models.paths import DocumentPath
from posetlib.models.step_conditions import Ending, Room, StepConditions

__all__ = ["PathIndex"]

# The most states that are kept.
_MAX_STATES: Final = 4_096
# The most answers about conditions that all states together keep.
_MAX_ANSWERS: Final = 1 << 16
# How many ends of its trunk a guarded path is asked for, before it is asked of the whole document.
_MAX_ENDS: Final = 8


class _Asked(NamedTuple):
    """What the end of a trunk leaves to be asked of a document.

    One condition is asked of the node some levels above the end, at the end itself for 0. A
    guarded path has further conditions on the way up, or one whose place the end does not tell.
    """

    condition: Filter | None
    above: int
    is_guarded: bool


class _Step:
    """A step that paths share: what may follow it, and the paths whose trunk ends here."""

    __slots__ = ("next_child", "next_descendant", "paths")

    def __init__(self) -> None:
        #: The steps that follow at a child, and at any depth, by name; None for any name.
        self.next_child: dict[str | None, _Step] = {}
        self.next_descendant: dict[str | None, _Step] = {}
        #: The numbers of the paths that end here, by what they ask.
        self.paths: dict[_Asked, dict[int, None]] = {}


class _State:
    """What is known of a node by the names above it."""

    __slots__ = ("_open", "asked", "here", "next", "plain")

    def __init__(self, here: Iterable[_Step], open_steps: dict[_Step, None], room: Room) -> None:
        self.here = tuple(here)
        #: Steps at this node or above it after which something may follow at any depth.
        self._open = open_steps
        self.next: dict[str, _State] = {}
        # Level -> condition -> the numbers of sure paths, and of guarded ones.
        found: dict[int, dict[Filter, tuple[list[int], list[int]]]] = {}
        plain: tuple[list[int], list[int]] = ([], [])
        for step in self.here:
            for (condition, above, is_guarded), paths in step.paths.items():
                if condition is None:
                    plain[is_guarded].extend(paths)
                    continue
                at = found.setdefault(above, {})
                both = at.get(condition)
                if both is None:
                    both = at[condition] = ([], [])
                both[is_guarded].extend(paths)
        #: The paths that end here without a condition, and those with one, by its level.
        self.plain = Ending(tuple(plain[0]), tuple(plain[1]))
        self.asked = tuple(
            (
                above,
                StepConditions(
                    {each: Ending(*map(tuple, both)) for each, both in at.items()}, room
                ),
            )
            for above, at in found.items()
        )

    def below(self, name: str) -> tuple[dict[_Step, None], dict[_Step, None]]:
        """Return the steps that hold at a child of this name, and those that are open there."""
        here: dict[_Step, None] = {}
        for step in self.here:
            _follow(step.next_child, name, here)
        for step in self._open:
            _follow(step.next_descendant, name, here)
        more = [step for step in here if step.next_descendant and step not in self._open]
        return here, ({**self._open, **dict.fromkeys(more)} if more else self._open)


def _follow(steps: dict[str | None, _Step], name: str, found: dict[_Step, None]) -> None:
    for key in (name, None):
        step = steps.get(key)
        if step is not None:
            found[step] = None


class _GuardedPaths:
    """Paths whose trunk ends at nodes of a document, asked for their conditions on the way there.

    A trunk may end at very many nodes. So no path is asked more often than a few times and then
    once of the whole document.
    """

    __slots__ = ("_document", "_found", "_paths", "_settled", "_tried")

    def __init__(
        self, paths: list[DocumentPath | None], document: Document, found: set[int]
    ) -> None:
        self._paths = paths
        self._document = document
        #: The paths that the document matches; shared with who asks.
        self._found = found
        #: For each path that was asked in vain, how often; the most for one that does not match.
        self._tried: dict[int, int] = {}
        #: Groups of paths about which nothing is left to be asked, by identity.
        self._settled: dict[int, tuple[int, ...]] = {}

    def end_at(self, node: int, paths: tuple[int, ...]) -> None:
        """Add those of the paths whose conditions hold on the way to a node, or anywhere."""
        if id(paths) in self._settled:
            return
        found, tried = self._found, self._tried
        is_settled = True
        for number in paths:
            if number in found:
                continue
            count = tried.get(number, 0)
            if count > _MAX_ENDS:
                continue
            path = self._paths[number]
            assert path is not None, "a number that is free is not among those of a step"
            if (
                path.matcher.matches_above(self._document, node)
                if count < _MAX_ENDS
                else path.matcher.matches(self._document)
            ):
                found.add(number)
            else:
                tried[number] = count + 1
                is_settled &= count == _MAX_ENDS
        if is_settled:
            self._settled[id(paths)] = paths


class PathIndex:
    """Paths, and which of them a document matches: all at once.

    Adding and removing a path costs its length; the first documents after it cost more than those
    that follow.

    >>> index = PathIndex()
    >>> for text in ("//cpu", "/item/board", "//cpu[clock >= 700]"):
    ...     index.add(DocumentPath(text))
    >>> [path.text for path in index.satisfied({"item": {"cpu": {"clock": 500}}})]
    ['//cpu']
    """

    def __init__(self, paths: Iterable[DocumentPath] = ()) -> None:
        self._first = _Step()
        self._numbers: dict[DocumentPath, int] = {}
        self._paths: list[DocumentPath | None] = []
        self._free: list[int] = []
        #: The paths with branches.
        self._branched: set[int] = set()
        self._forget_states()
        for path in paths:
            self.add(path)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, path: object) -> bool:
        return path in self._numbers

    def __iter__(self) -> Iterator[DocumentPath]:
        return iter(self._numbers)

    # -- changing ----------------------------------------------------------------------------------

    def add(self, path: Constraint) -> None:
        """Add a path; nothing changes if it is there."""
        if not isinstance(path, DocumentPath):
            raise TypeError(f"a path index holds paths, not {type(path).__name__}")
        if path in self._numbers:
            return
        number = self._free.pop() if self._free else len(self._paths)
        if number == len(self._paths):
            self._paths.append(None)
        self._paths[number] = path
        self._numbers[path] = number
        steps, asked, is_branched = _trunk(path)
        step = self._first
        for is_child, name in steps:
            following = step.next_child if is_child else step.next_descendant
            step = following.setdefault(name, _Step())
        step.paths.setdefault(asked, {})[number] = None
        if is_branched:
            self._branched.add(number)
        self._forget_states()

    def remove(self, path: Constraint) -> None:
        """Remove a path; KeyError if it is not there."""
        if not isinstance(path, DocumentPath) or path not in self._numbers:
            raise KeyError(path)
        number = self._numbers.pop(path)
        self._paths[number] = None
        self._free.append(number)
        self._branched.discard(number)
        steps, asked, _ = _trunk(path)
        way: list[tuple[dict[str | None, _Step], str | None, _Step]] = []
        step = self._first
        for is_child, name in steps:
            following = step.next_child if is_child else step.next_descendant
            step = following[name]
            way.append((following, name, step))
        del step.paths[asked][number]
        if not step.paths[asked]:
            del step.paths[asked]
        for following, name, last in reversed(way):
            if last.paths or last.next_child or last.next_descendant:
                break
            del following[name]
        self._forget_states()

    def _forget_states(self) -> None:
        first = self._first
        self._room = Room(_MAX_ANSWERS)
        opened = {first: None} if first.next_descendant else {}
        self._start = _State((first,), opened, self._room)
        self._states: dict[tuple[frozenset[_Step], frozenset[_Step]], _State] = {}

    # -- asking ------------------------------------------------------------------------------------

    def satisfied(self, value: Any) -> list[DocumentPath]:
        """Return the paths that a document matches, each once."""
        if not isinstance(value, Document | Mapping):
            return []
        document = Document.of(value)
        found = self._with_trunk(document)
        paths = self._paths
        for number in found & self._branched:
            if not self._path(number).matcher.matches(document):
                found.discard(number)
        # No number that is free is among those of a step.
        return list(map(paths.__getitem__, found))  # type: ignore[arg-type]

    def _path(self, number: int) -> DocumentPath:
        path = self._paths[number]
        assert path is not None
        return path

    def _with_trunk(self, document: Document) -> set[int]:
        """Return the paths whose trunk a document has, with its conditions."""
        found: set[int] = set()
        guarded_paths = _GuardedPaths(self._paths, document, found)
        states: list[_State] = []
        seen: set[_State] = set()
        parents, records = document.parents, document.records
        for node, (name, parent) in enumerate(zip(document.names, parents, strict=True)):
            before = self._start if parent < 0 else states[parent]
            state = before.next.get(name)
            if state is None:
                state = self._state_below(before, name)
            states.append(state)
            # Without a guard, what ends in a state ends there wherever the state comes again.
            if state not in seen:
                seen.add(state)
                found.update(state.plain.sure)
            if state.plain.guarded:
                guarded_paths.end_at(node, state.plain.guarded)
            for above, conditions in state.asked:
                at = node
                for _ in range(above):
                    at = parents[at]
                if records[at]:
                    sure, guarded = conditions.met(records[at])
                    found.update(sure)
                    if guarded:
                        guarded_paths.end_at(node, guarded)
        return found

    def _state_below(self, before: _State, name: str) -> _State:
        here, open_steps = before.below(name)
        key = (frozenset(here), frozenset(open_steps))
        state = self._states.get(key)
        if state is None:
            state = _State(here, open_steps, self._room)
            if len(self._states) >= _MAX_STATES:
                return state
            self._states[key] = state
        before.next[name] = state
        return state


def _trunk(path: DocumentPath) -> tuple[list[tuple[bool, str | None]], _Asked, bool]:
    """Return the steps of a path's trunk, axis and name of each, and what is left to be asked.

    The third value is whether the path has branches beside its trunk. The trunk follows the edge
    that leads deepest: longer ways are met by fewer documents.
    """
    steps: list[tuple[bool, str | None]] = []
    # The conditions on the trunk, each with how many steps lead to it.
    conditions: list[tuple[int, Filter]] = []
    is_branched = False
    edges: tuple[Edge, ...] = path.root.edges
    while edges:
        is_branched |= len(edges) > 1
        edge = max(edges, key=_rank)
        names = [None] * (edge.gap - 1) + [None if edge.node is None else edge.node.name]
        steps.append((edge.exact, names[0]))
        steps += [(True, name) for name in names[1:]]
        edges = ()
        if edge.node is not None:
            edges = edge.node.edges
            if edge.node.condition is not None:
                conditions.append((len(steps), edge.node.condition))
    if not conditions:
        return steps, _Asked(None, 0, is_guarded=False), is_branched
    length, condition = conditions[-1]
    # Where only steps to children follow, the end tells which node is meant.
    if all(is_child for is_child, _ in steps[length:]):
        asked = _Asked(condition, len(steps) - length, is_guarded=len(conditions) > 1)
    else:
        asked = _Asked(None, 0, is_guarded=True)
    # What has branches is looked at as a whole.
    return steps, asked._replace(is_guarded=asked.is_guarded and not is_branched), is_branched


def _rank(edge: Edge) -> tuple[int, bool]:
    return edge.height, edge.node is not None


register_index(DocumentPath.kind, PathIndex)
