"""Many paths at once: one automaton for their steps, read along each way down a document.

Of each path one way from its root to a leaf, its *trunk*, is entered into a tree of steps that all
paths share. A node of a document is in a *state*: the steps that hold at it, going by names alone,
and the steps after which something may follow at any depth. States are made when a document needs
them, and kept up to a number. A document that needs many that are not there is held against all
steps at once (see ``step_trees``).

The conditions of all paths are asked of a record together (see ``step_conditions``). What a trunk
leaves out is looked at only where a document has the trunk: conditions on other steps along the way
up from its end, other branches in the whole document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from posetlib.array_types import BoolArray, IntArray
from posetlib.constraints.base import Constraint, register_index
from posetlib.filters.filter import Filter
from posetlib.models.documents import Document
from posetlib.models.path_patterns import Edge
from posetlib.models.paths import DocumentPath
from posetlib.models.step_conditions import StepConditions
from posetlib.models.step_trees import Asked, Step, StepArrays

__all__ = ["PathIndex"]

# The most states that are kept.
_MAX_STATES: Final = 4_096
# How many states are made for one document, and how many once there is no room to keep them. A
# document that needs more is held against all steps at once.
_NEW_STATES: Final = 32
_PASSING_STATES: Final = 4
# How many ends of its trunk a guarded path is asked for, before it is asked of the whole document.
_MAX_ENDS: Final = 8


class _Ends(NamedTuple):
    """Paths that end in a state if a condition holds some levels above: conditions and paths."""

    above: int
    conditions: IntArray
    paths: IntArray
    #: The same for guarded paths, None if there are none.
    guarded: tuple[IntArray, IntArray] | None


class _State:
    """What is known of a node by the names above it."""

    __slots__ = ("_open", "asked", "guarded", "here", "next", "sure")

    def __init__(self, here: Iterable[Step], open_steps: dict[Step, None]) -> None:
        self.here = tuple(here)
        #: Steps at this node or above it after which something may follow at any depth.
        self._open = open_steps
        self.next: dict[str, _State] = {}
        sure: list[int] = []
        guarded: list[int] = []
        # Level -> conditions and paths, and those of guarded paths.
        asked: dict[int, tuple[list[int], list[int], list[int], list[int]]] = {}
        for step in self.here:
            for (condition, above, is_guarded), paths in step.paths.items():
                if condition is None:
                    (guarded if is_guarded else sure).extend(paths)
                    continue
                at = asked.get(above)
                if at is None:
                    at = asked[above] = ([], [], [], [])
                at[2 * is_guarded].extend([condition] * len(paths))
                at[2 * is_guarded + 1].extend(paths)
        #: The paths that end here without a condition, and those of them that are guarded.
        self.sure: IntArray = np.array(sure, dtype=np.intp)
        self.guarded = tuple(guarded)
        #: The paths that end here with a condition, by its level.
        self.asked = tuple(
            _Ends(
                above,
                np.array(at[0], dtype=np.intp),
                np.array(at[1], dtype=np.intp),
                (np.array(at[2], dtype=np.intp), np.array(at[3], dtype=np.intp)) if at[2] else None,
            )
            for above, at in asked.items()
        )

    def below(self, name: str) -> tuple[dict[Step, None], dict[Step, None]]:
        """Return the steps that hold at a child of this name, and those that are open there."""
        here: dict[Step, None] = {}
        for step in self.here:
            _follow(step.next_child, name, here)
        for step in self._open:
            _follow(step.next_descendant, name, here)
        more = [step for step in here if step.next_descendant and step not in self._open]
        return here, ({**self._open, **dict.fromkeys(more)} if more else self._open)


def _follow(steps: dict[str | None, Step], name: str, found: dict[Step, None]) -> None:
    for key in (name, None):
        step = steps.get(key)
        if step is not None:
            found[step] = None


class _GuardedPaths:
    """Paths whose trunk ends at nodes of a document, asked for their conditions on the way there.

    A trunk may end at very many nodes. So no path is asked more often than a few times and then
    once of the whole document.
    """

    __slots__ = ("_document", "_paths", "_settled", "_tried", "found")

    def __init__(self, paths: list[DocumentPath | None], document: Document) -> None:
        self._paths = paths
        self._document = document
        #: The paths that the document matches.
        self.found: set[int] = set()
        #: For each path that was asked in vain, how often; one more than the most if it is refused.
        self._tried: dict[int, int] = {}
        #: Groups of paths about which nothing is left to be asked, by identity.
        self._settled: dict[int, tuple[int, ...]] = {}

    def end_at(self, node: int, paths: tuple[int, ...]) -> None:
        """Find those of the paths whose conditions hold on the way to a node, or anywhere."""
        if id(paths) not in self._settled:
            settled = [self._is_settled(path, node) for path in paths]
            if all(settled):
                self._settled[id(paths)] = paths

    def ends_at(self, path: int, nodes: Iterable[int]) -> None:
        """Find out whether the conditions of a path hold on the way to one of some nodes."""
        for node in nodes:
            if self._is_settled(path, node):
                return

    def _is_settled(self, number: int, node: int) -> bool:
        """Ask a path at a node; return whether its answer for the document is known."""
        tried = self._tried.get(number, 0)
        if number in self.found or tried > _MAX_ENDS:
            return True
        path = self._paths[number]
        assert path is not None, "a number that is free is not among those of a step"
        if tried < _MAX_ENDS:
            holds = path.matcher.matches_above(self._document, node)
        else:
            holds = path.matcher.matches(self._document)
        if holds:
            self.found.add(number)
        else:
            self._tried[number] = tried + 1
        return holds or tried == _MAX_ENDS


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
        self._first = Step()
        self._conditions = StepConditions()
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
        steps, condition, asked, is_branched = _trunk(path)
        if condition is not None:
            asked = asked._replace(condition=self._conditions.enter(condition))
        step = self._first
        for is_child, name in steps:
            following = step.next_child if is_child else step.next_descendant
            step = following.setdefault(name, Step())
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
        steps, condition, asked, _ = _trunk(path)
        if condition is not None:
            asked = asked._replace(condition=self._conditions.leave(condition))
        way: list[tuple[dict[str | None, Step], str | None, Step]] = []
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
        opened = {first: None} if first.next_descendant else {}
        self._start = _State((first,), opened)
        self._states: dict[tuple[frozenset[Step], frozenset[Step]], _State] = {}
        #: All steps as arrays; made when a document needs them.
        self._arrays: StepArrays | None = None

    # -- asking ------------------------------------------------------------------------------------

    def satisfied(self, value: Any) -> list[DocumentPath]:
        """Return the paths that a document matches, each once."""
        if not isinstance(value, Document | Mapping):
            return []
        document = Document.of(value)
        numbers = self._with_trunk(document)
        if self._branched:
            numbers = [
                number
                for number in numbers
                if number not in self._branched or self._path(number).matcher.matches(document)
            ]
        # No number that is free is among those of a step.
        return list(map(self._paths.__getitem__, numbers))  # type: ignore[arg-type]

    def _path(self, number: int) -> DocumentPath:
        path = self._paths[number]
        assert path is not None
        return path

    def _with_trunk(self, document: Document) -> list[int]:
        """Return the paths whose trunk a document has, with its conditions; each once."""
        guarded_paths = _GuardedPaths(self._paths, document)
        found = self._by_states(document, guarded_paths)
        if found is None:
            assert self._arrays is not None, "it was made when states were too few"
            found = self._arrays.found(document, self._conditions, guarded_paths.ends_at)
        is_found = np.zeros(len(self._paths), dtype=np.bool_)
        is_found[list(guarded_paths.found)] = True
        if found:
            is_found[np.concatenate(found)] = True
        numbers: list[int] = is_found.nonzero()[0].tolist()
        return numbers

    def _by_states(self, document: Document, guarded_paths: _GuardedPaths) -> list[IntArray] | None:
        """Return the paths that surely end in a document, None if it needs too many new states."""
        found: list[IntArray] = []
        states: list[_State] = []
        seen: set[_State] = set()
        # The answers about records, those that are needed; and what is to be looked up in them.
        met: dict[int, BoolArray] = {}
        asked: list[_Ends] = []
        asked_of: list[int] = []
        left = _NEW_STATES if len(self._states) < _MAX_STATES else _PASSING_STATES
        parents = document.parents
        for node, (name, parent) in enumerate(zip(document.names, parents, strict=True)):
            before = self._start if parent < 0 else states[parent]
            state = before.next.get(name)
            if state is None:
                left -= 1
                if left < 0:
                    arrays = self._arrays
                    if arrays is None:
                        arrays = self._arrays = StepArrays(self._first)
                    if arrays.is_small_for(document):
                        return None
                state = self._state_below(before, name)
            states.append(state)
            # Without a guard, what ends in a state ends there wherever the state comes again.
            if state not in seen:
                seen.add(state)
                if state.sure.size:
                    found.append(state.sure)
            if state.guarded:
                guarded_paths.end_at(node, state.guarded)
            for ends in state.asked:
                at = node
                for _ in range(ends.above):
                    at = parents[at]
                if at not in met:
                    met[at] = self._conditions.met(document.records[at])
                asked.append(ends)
                asked_of.append(at)
                if ends.guarded is not None:
                    conditions, paths = ends.guarded
                    for path in paths[met[at][conditions]].tolist():
                        guarded_paths.ends_at(path, (node,))
        if asked:
            found.append(_holding(asked, asked_of, met))
        return found

    def _state_below(self, before: _State, name: str) -> _State:
        here, open_steps = before.below(name)
        key = (frozenset(here), frozenset(open_steps))
        state = self._states.get(key)
        if state is None:
            state = _State(here, open_steps)
            if len(self._states) >= _MAX_STATES:
                return state
            self._states[key] = state
        before.next[name] = state
        return state


def _holding(asked: list[_Ends], asked_of: list[int], met: dict[int, BoolArray]) -> IntArray:
    """Return the paths whose condition is met, from what is asked of which node."""
    line = {node: number for number, node in enumerate(met)}
    lines = np.repeat([line[node] for node in asked_of], [ends.paths.size for ends in asked])
    conditions = np.concatenate([ends.conditions for ends in asked])
    answers = np.array(list(met.values()))
    paths = np.concatenate([ends.paths for ends in asked])
    holding: IntArray = paths[answers[lines, conditions]]
    return holding


def _trunk(
    path: DocumentPath,
) -> tuple[list[tuple[bool, str | None]], Filter | None, Asked, bool]:
    """Return the steps of a path's trunk, axis and name of each, and what is left to be asked.

    That is a condition, if it is clear which node must meet it, and where; the condition has no
    number yet. The last value is whether the path has branches beside its trunk. The trunk follows
    the edge that leads deepest: longer ways are met by fewer documents.
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
    condition, above, is_guarded = None, 0, bool(conditions)
    if conditions:
        length, last = conditions[-1]
        # Where only steps to children follow, the end tells which node is meant.
        if all(is_child for is_child, _ in steps[length:]):
            condition, above, is_guarded = last, len(steps) - length, len(conditions) > 1
    # What has branches is looked at as a whole.
    return steps, condition, Asked(None, above, is_guarded and not is_branched), is_branched


def _rank(edge: Edge) -> tuple[int, bool]:
    return edge.height, edge.node is not None


register_index(DocumentPath.kind, PathIndex)
