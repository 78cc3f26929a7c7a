"""The places of filters at the end of a stretch of steps, which they keep on the way there."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from browser.graph import Graph
from browser.layout import Cell, Edges, Placed, Stay, arranged, settled, with_guests

__all__ = ["Plan"]

#: Filters up to which text is to be read, so that room counts more than places that stay.
_SMALL: Final = 80
#: A drawing of less than this part of a plan is better off by itself: most is folded, or gone.
_PART: Final = 0.2


#: How many times the room of a fresh layout a plan may take for the sake of the places before it.
_WIDER: Final = 1.4
#: How many times the filters of the plan before it a plan may have, and keep those places.
_MORE: Final = 1.5


Box = tuple[float, float, float, float]


class _LaidOut(NamedTuple):
    """Where everything is, the places of those that are roots for a while, and the whole view."""

    placed: Placed
    guests: dict[int, int]
    box: Box


def _around(one: Box, other: Box) -> Box:
    """Return the least box that holds two.

    >>> _around((0, 0, 5, 5), (-1, 2, 3, 9))
    (-1, 0, 5, 9)
    """
    left, top = min(one[0], other[0]), min(one[1], other[1])
    return left, top, max(one[2], other[2]), max(one[3], other[3])


class Plan:
    """A graph that a table comes to, laid out once for each size of boxes and shape of screen.

    With the plan of the stretch ``before``, filters of both have the places that they had there. A
    plan that is not the ``last`` has some room for the filters of the next.
    """

    def __init__(
        self,
        graph: Graph,
        rooted: Mapping[int, tuple[int, int]] | None = None,
        before: Plan | None = None,
        *,
        last: bool = True,
    ) -> None:
        self.graph = graph
        self._last = last
        #: The place of each filter in what ``placed`` returns, by number.
        self.places: dict[int, int] = {number: i for i, number in enumerate(graph.nodes)}
        # Far more filters want a layout of their own.
        if before is not None and len(graph.nodes) > _MORE * len(before.places):
            before = None
        self._before = before
        # The first and the last step in which each filter is a root.
        self._rooted = rooted or {}
        self._placed: dict[Cell, _LaidOut] = {}
        self._lock = threading.Lock()

    @property
    def most(self) -> int:
        """How many filters this plan has, or one before it whose places it keeps."""
        return max(len(self.places), self._before.most if self._before is not None else 0)

    @property
    def is_large(self) -> bool:
        """Whether places that stay are worth more than room for text."""
        return len(self.places) > _SMALL

    def suits(self, count: int) -> bool:
        """Return whether so many filters are better off in these places than by themselves."""
        return count >= _PART * len(self.places)

    def placed(self, cell: Cell) -> Placed:
        """Return where everything is, for cells of a size."""
        return self._laid_out(cell).placed

    def box(self, cell: Cell) -> Box:
        """Return what a view is fitted to: all places, those of the plans before included."""
        return self._laid_out(cell).box

    def _laid_out(self, cell: Cell) -> _LaidOut:
        waiting: list[Plan] = []
        plan: Plan | None = self
        while plan is not None and cell not in plan._placed:
            waiting.append(plan)
            plan = plan._before
        for each in reversed(waiting):
            each._lay_out(cell)
        return self._placed[cell]

    def _lay_out(self, cell: Cell) -> None:
        """Note where everything is; the plan before has its places by now."""
        with self._lock:
            if cell in self._placed:
                return
            edges = [(self.places[a], self.places[b]) for a, b in self.graph.edges]
            stays = {
                number: Stay(first, last, self.places[number])
                for number, (first, last) in self._rooted.items()
            }
            placed, guests = with_guests(
                arranged(len(self.places), edges, cell), stays, spare=not self._last
            )
            box = placed.box(1, 1 if self._last else 2)
            if self._before is not None:
                was, their_guests, their_box = self._before._placed[cell]
                numbers, their_places = list(self.places), self._before.places
                as_before = settled(numbers, edges, was, their_places, their_guests, grows=True)
                kept, kept_guests = with_guests(as_before, stays)
                if kept.size() <= _WIDER * placed.size():
                    # The view stays as long as all is in it.
                    box = _around(their_box, kept.box(0, 0))
                    placed, guests = kept, kept_guests
            self._placed[cell] = _LaidOut(placed, guests, box)

    def settled(self, numbers: Sequence[int], edges: Edges, cell: Cell) -> Placed:
        """Return places for the filters of a step: their own, as far as possible."""
        found = self._laid_out(cell)
        return settled(numbers, edges, found.placed, self.places, found.guests)

    def across(self, numbers: Iterable[int], cell: Cell) -> list[float | None]:
        """Return where each of some filters is across; None for one that is not in the plan."""
        x = self.placed(cell).x
        places = (self.places.get(number) for number in numbers)
        return [None if place is None else float(x[place]) for place in places]
