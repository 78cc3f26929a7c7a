"""The places of filters at the end of a stretch of steps, which they keep on the way there."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from browser.graph import Graph
from browser.layout import Cell, Edges, Placed, Stay, arranged, settled, with_guests

__all__ = ["Plan"]

#: Filters up to which text is to be read, so that room counts more than places that stay.
_SMALL: Final = 80
#: A drawing of less than this part of a plan is better off by itself: most is folded, or gone.
_PART: Final = 0.2


class Plan:
    """A graph that a table comes to, laid out once for each size of boxes and shape of screen."""

    def __init__(self, graph: Graph, rooted: Mapping[int, tuple[int, int]] | None = None) -> None:
        self.graph = graph
        #: The place of each filter in what ``placed`` returns, by number.
        self.places = {number: i for i, number in enumerate(graph.nodes)}
        # The first and the last step in which each filter is a root.
        self._rooted = rooted or {}
        self._placed: dict[Cell, tuple[Placed, dict[int, int]]] = {}
        self._lock = threading.Lock()

    @property
    def is_large(self) -> bool:
        """Whether places that stay are worth more than room for text."""
        return len(self.places) > _SMALL

    def suits(self, count: int) -> bool:
        """Return whether so many filters are better off in these places than by themselves."""
        return count >= _PART * len(self.places)

    def placed(self, cell: Cell) -> Placed:
        """Return where everything is, for cells of a size."""
        return self._with_guests(cell)[0]

    def _with_guests(self, cell: Cell) -> tuple[Placed, dict[int, int]]:
        with self._lock:
            if cell not in self._placed:
                edges = [(self.places[a], self.places[b]) for a, b in self.graph.edges]
                stays = {
                    number: Stay(first, last, self.places[number])
                    for number, (first, last) in self._rooted.items()
                }
                self._placed[cell] = with_guests(arranged(len(self.places), edges, cell), stays)
            return self._placed[cell]

    def settled(self, numbers: Sequence[int], edges: Edges, cell: Cell) -> Placed:
        """Return places for the filters of a step: their own, as far as possible."""
        placed, guests = self._with_guests(cell)
        return settled(numbers, edges, placed, self.places, guests)

    def across(self, numbers: Iterable[int], cell: Cell) -> list[float | None]:
        """Return where each of some filters is across; None for one that is not in the plan."""
        x = self.placed(cell).x
        places = (self.places.get(number) for number in numbers)
        return [None if place is None else float(x[place]) for place in places]
