"""Many paths at once: one automaton for their steps, read along each way down a document.

Of each path one way from its root to a leaf, its *trunk*, is entered into a tree of steps that all
paths share. A node of a document is in a *state*: the steps that hold at it, going by names alone,
and the steps after which something may follow at any depth. States are made when a document needs
them, and kept up to a number; past it they are worked out each time.

The conditions of the last steps in a state are asked together. What a trunk leaves out is looked at
only where a document has the trunk: conditions on other steps along the way up from its end, other
branches in the whole document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from posetlib.bits import places_in
from posetlib.constraints.base import Constraint, register_index
from posetlib.filters.filter import Filter
from posetlib.matching.bitmap import BitmapMatcher
from posetlib.models.documents import Document
from posetlib.models.path_patterns import Edge
from posetlib.models.paths import DocumentPath

__all__ = ["PathIndex"]

# The most states that are kept. A state has some hundred bytes, and a bit for each path.
_MAX_STATES: Final = 4_096
# From this number on the conditions of a state get a matcher, once they were asked this often.
_MANY_CONDITIONS: Final = 16
_OFTEN: Final = 8


class _Step:
    """A step that paths share: what may follow it, and the paths whose trunk ends here."""

    __slots__ = ("conditions", "next_child", "next_descendant", "plain")

    def __init__(self) -> None:
        #: The steps that follow at a child, and at any depth, by name; None for any name.
        self.next_child: dict[str | None, _Step] = {}
        self.next_descendant: dict[str | None, _Step] = {}
        #: The paths that end here without a condition, as bits, and those with each condition.
        self.plain = 0
        self.conditions: dict[Filter, int] = {}


class _Conditions:
    """The conditions of the last steps of a state, each with the paths that end with it."""

    def __init__(self, steps: Iterable[_Step]) -> None:
        together: dict[Filter, int] = {}
        for step in steps:
            for condition, paths in step.conditions.items():
                together[condition] = together.get(condition, 0) | paths
        self._conditions = list(together.items())
        self._asked = 0
        self._matcher: BitmapMatcher | None = None

    def __bool__(self) -> bool:
        return bool(self._conditions)

    def met(self, record: Mapping[str, Any]) -> int:
        """Return the paths whose condition a record meets."""
        found = 0
        if self._matcher is None:
            self._asked += 1
            if self._asked > _OFTEN and len(self._conditions) > _MANY_CONDITIONS:
                # The interface that holds a condition is the set of its paths.
                self._matcher = BitmapMatcher(self._conditions)
            else:
                for condition, paths in self._conditions:
                    if condition.matches(record):
                        found |= paths
                return found
        for interface in self._matcher.match(record):
            found |= interface  # type: ignore[operator]
        return found


class _State:
    """What is known of a node by the names above it."""

    __slots__ = ("_open", "conditions", "here", "is_guarded", "next", "plain")

    def __init__(self, here: Iterable[_Step], open_steps: dict[_Step, None], guarded: int) -> None:
        self.here = tuple(here)
        #: Steps at this node or above it after which something may follow at any depth.
        self._open = open_steps
        self.next: dict[str, _State] = {}
        self.plain = 0
        for step in self.here:
            self.plain |= step.plain
        self.is_guarded = bool(self.plain & guarded)
        self.conditions = _Conditions(self.here)

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
        #: As bits, the paths without branches that have conditions on other steps than the last,
        #: and the paths with branches.
        self._guarded = 0
        self._branched = 0
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
        bit = 1 << number
        steps, condition = _trunk(path)
        step = self._first
        for is_child, name in steps:
            following = step.next_child if is_child else step.next_descendant
            step = following.setdefault(name, _Step())
        if condition is None:
            step.plain |= bit
        else:
            step.conditions[condition] = step.conditions.get(condition, 0) | bit
        nodes = [path.root, *(node for node, _, _ in path.root.below)]
        if any(len(node.edges) > 1 for node in nodes):
            self._branched |= bit
        elif any(node.condition is not None and node.edges for node in nodes):
            self._guarded |= bit
        self._forget_states()

    def remove(self, path: Constraint) -> None:
        """Remove a path; KeyError if it is not there."""
        if not isinstance(path, DocumentPath) or path not in self._numbers:
            raise KeyError(path)
        number = self._numbers.pop(path)
        self._paths[number] = None
        self._free.append(number)
        bit = 1 << number
        self._guarded &= ~bit
        self._branched &= ~bit
        steps, condition = _trunk(path)
        way: list[tuple[dict[str | None, _Step], str | None, _Step]] = []
        step = self._first
        for is_child, name in steps:
            following = step.next_child if is_child else step.next_descendant
            step = following[name]
            way.append((following, name, step))
        if condition is None:
            step.plain &= ~bit
        else:
            step.conditions[condition] &= ~bit
            if not step.conditions[condition]:
                del step.conditions[condition]
        for following, name, last in reversed(way):
            if last.plain or last.conditions or last.next_child or last.next_descendant:
                break
            del following[name]
        self._forget_states()

    def _forget_states(self) -> None:
        first = self._first
        self._start = _State(
            (first,), {first: None} if first.next_descendant else {}, self._guarded
        )
        self._states: dict[tuple[frozenset[_Step], frozenset[_Step]], _State] = {}

    # -- asking ------------------------------------------------------------------------------------

    def satisfied(self, value: Any) -> list[DocumentPath]:
        """Return the paths that a document matches, in the order of their numbers."""
        if not isinstance(value, Document | Mapping):
            return []
        document = Document.of(value)
        found = self._with_trunk(document)
        paths = self._paths
        for number in places_in(found & self._branched):
            if not self._path(number).matcher.matches(document):
                found ^= 1 << number
        # No bit is set at a number that is free.
        return list(map(paths.__getitem__, places_in(found)))  # type: ignore[arg-type]

    def _path(self, number: int) -> DocumentPath:
        path = self._paths[number]
        assert path is not None
        return path

    def _with_trunk(self, document: Document) -> int:
        """Return the paths whose trunk a document has, with its conditions, as bits."""
        found = 0
        guarded = self._guarded
        states: list[_State] = []
        seen: set[_State] = set()
        records = document.records
        for node, (name, parent) in enumerate(zip(document.names, document.parents, strict=True)):
            before = self._start if parent < 0 else states[parent]
            state = before.next.get(name)
            if state is None:
                state = self._state_below(before, name)
            states.append(state)
            here = 0
            # Without a guard, what ends in a state ends there wherever the state comes again.
            if state not in seen or state.is_guarded:
                seen.add(state)
                here = state.plain
            if state.conditions and records[node]:
                here |= state.conditions.met(records[node])
            unsure = here & guarded
            if unsure:
                for number in places_in(unsure & ~found):
                    if not self._path(number).matcher.matches_above(document, node):
                        unsure ^= 1 << number
                here = (here & ~guarded) | unsure
            found |= here
        return found

    def _state_below(self, before: _State, name: str) -> _State:
        here, open_steps = before.below(name)
        key = (frozenset(here), frozenset(open_steps))
        state = self._states.get(key)
        if state is None:
            state = _State(here, open_steps, self._guarded)
            if len(self._states) >= _MAX_STATES:
                return state
            self._states[key] = state
        before.next[name] = state
        return state


def _trunk(path: DocumentPath) -> tuple[list[tuple[bool, str | None]], Filter | None]:
    """Return the steps of a path's trunk, axis and name of each, and its last condition.

    The trunk follows the edge that leads deepest: longer ways are met by fewer documents.
    """
    steps: list[tuple[bool, str | None]] = []
    condition: Filter | None = None
    edges: tuple[Edge, ...] = path.root.edges
    while edges:
        edge = max(edges, key=_rank)
        names = [None] * (edge.gap - 1) + [None if edge.node is None else edge.node.name]
        steps.append((edge.exact, names[0]))
        steps += [(True, name) for name in names[1:]]
        condition = None if edge.node is None else edge.node.condition
        edges = () if edge.node is None else edge.node.edges
    return steps, condition


def _rank(edge: Edge) -> tuple[int, bool]:
    return edge.height, edge.node is not None


register_index(DocumentPath.kind, PathIndex)
