"""The steps that many paths share, as a tree; and as arrays, all steps against a whole document.

The arrays have a line for each node of a document and a place for each step. They take the same
time whatever the document, so they serve documents for which the index has no states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np

from posetlib.array_types import BoolArray, IntArray
from posetlib.models.documents import Document
from posetlib.models.step_conditions import StepConditions

__all__ = ["Asked", "Step", "StepArrays"]

# The most places that the arrays of one document may have, a byte each.
_MAX_PLACES: Final = 1 << 25


class Asked(NamedTuple):
    """What the end of a trunk leaves to be asked of a document.

    The condition of a number is asked of the node some levels above the end, at the end itself for
    0; None asks nothing. A guarded path has further conditions on the way up, or one whose place
    the end does not tell.
    """

    condition: int | None
    above: int
    is_guarded: bool


class Step:
    """A step that paths share: what may follow it, and the paths whose trunk ends here."""

    __slots__ = ("next_child", "next_descendant", "paths")

    def __init__(self) -> None:
        #: The steps that follow at a child, and at any depth, by name; None for any name.
        self.next_child: dict[str | None, Step] = {}
        self.next_descendant: dict[str | None, Step] = {}
        #: The numbers of the paths that end here, by what they ask.
        self.paths: dict[Asked, dict[int, None]] = {}


class _Segment(NamedTuple):
    """Steps of one name and axis, which lie side by side: from ``start`` to before ``stop``."""

    start: int
    stop: int
    is_child: bool
    #: The place of the step before each of them.
    before: IntArray


class _Ends(NamedTuple):
    """Paths that end with a condition some levels above: place of the step, condition, path."""

    steps: IntArray
    conditions: IntArray
    paths: IntArray
    are_guarded: BoolArray


class StepArrays:
    """A tree of steps as arrays."""

    def __init__(self, first: Step) -> None:
        steps, groups = _grouped(first)
        place = {first: 0}
        for group in groups.values():
            for _, step in group:
                place[step] = len(place)
        self._size: Final = len(place)
        by_name: dict[str | None, list[_Segment]] = {}
        start = 1
        for (name, is_child), group in groups.items():
            stop = start + len(group)
            before = np.array([place[each] for each, _ in group], dtype=np.intp)
            by_name.setdefault(name, []).append(_Segment(start, stop, is_child, before))
            start = stop
        #: The segments for nodes of a name, those of any name among them; and for other names.
        self._any_name: Final = by_name.pop(None, [])
        self._by_name: Final = {name: some + self._any_name for name, some in by_name.items()}
        plain: list[tuple[int, int, int, bool]] = []
        asked: dict[int, list[tuple[int, int, int, bool]]] = {}
        for step in steps:
            for (condition, above, is_guarded), paths in step.paths.items():
                some = plain if condition is None else asked.setdefault(above, [])
                some += [(place[step], condition or 0, path, is_guarded) for path in paths]
        self._plain: Final = _ends(plain)
        self._asked: Final = {above: _ends(some) for above, some in asked.items()}

    def is_small_for(self, document: Document) -> bool:
        """Return whether the arrays of a document take little memory."""
        return (len(document) + 1) * self._size <= _MAX_PLACES

    def found(
        self,
        document: Document,
        conditions: StepConditions,
        guarded: Callable[[int, Iterable[int]], None],
    ) -> list[IntArray]:
        """Return the paths that surely end in a document; guarded ones go to a function.

        It is called with the number of a path and the nodes where its trunk ends.
        """
        here = self._places(document)
        ever: BoolArray = np.logical_or.reduce(here, axis=0)
        held = ever[self._plain.steps]
        found = [self._plain.paths[held & ~self._plain.are_guarded]]
        for at in (held & self._plain.are_guarded).nonzero()[0].tolist():
            nodes = here[:, self._plain.steps[at]].nonzero()[0]
            guarded(int(self._plain.paths[at]), nodes.tolist())
        if not self._asked:
            return found
        met = np.array([*map(conditions.met, document.records), conditions.met({})])
        parents = np.array([*document.parents, -1])
        for above, ends in self._asked.items():
            # The last line is that of no node, which is where the way up from a node leads.
            nodes = np.arange(len(document))
            for _ in range(above):
                nodes = parents[nodes]
            some = ever[ends.steps].nonzero()[0]
            both = here[:, ends.steps[some]] & met[nodes][:, ends.conditions[some]]
            hit: BoolArray = np.logical_or.reduce(both, axis=0)
            are_guarded = ends.are_guarded[some]
            found.append(ends.paths[some[hit & ~are_guarded]])
            for at in (hit & are_guarded).nonzero()[0].tolist():
                guarded(int(ends.paths[some[at]]), both[:, at].nonzero()[0].tolist())
        return found

    def _places(self, document: Document) -> BoolArray:
        """Return for each node the steps that hold there, by names alone."""
        # The first line is that of the root. The second array has what holds at a node or above.
        shape = (len(document) + 1, self._size)
        here, open_steps = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
        here[0, 0] = open_steps[0, 0] = True
        by_name, any_name = self._by_name, self._any_name
        for node, (name, parent) in enumerate(
            zip(document.names, document.parents, strict=True), start=1
        ):
            line, above, open_above = here[node], here[parent + 1], open_steps[parent + 1]
            for start, stop, is_child, before in by_name.get(name, any_name):
                source = above if is_child else open_above
                source.take(before, out=line[start:stop], mode="clip")
            np.logical_or(open_above, line, out=open_steps[node])
        return here[1:]


def _grouped(
    first: Step,
) -> tuple[list[Step], dict[tuple[str | None, bool], list[tuple[Step, Step]]]]:
    """Return all steps, and those after the first by name and axis, each after the one before."""
    steps = [first]
    groups: dict[tuple[str | None, bool], list[tuple[Step, Step]]] = {}
    for step in steps:
        for is_child, following in ((True, step.next_child), (False, step.next_descendant)):
            for name, after in following.items():
                groups.setdefault((name, is_child), []).append((step, after))
                steps.append(after)
    return steps, groups


def _ends(rows: list[tuple[int, int, int, bool]]) -> _Ends:
    steps, conditions, paths, are_guarded = zip(*rows, strict=True) if rows else ((), (), (), ())
    return _Ends(
        np.array(steps, dtype=np.intp),
        np.array(conditions, dtype=np.intp),
        np.array(paths, dtype=np.intp),
        np.array(are_guarded, dtype=np.bool_),
    )
