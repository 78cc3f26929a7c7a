"""The edges of a table on disk, read once and kept sorted, so that neighbours are found at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from browser.cache import Cache

__all__ = ["EdgeIndex", "edge_index"]

Numbers = NDArray[np.int64]
#: Edges of all tables whose indexes are kept, of 32 bytes each.
_KEPT: Final = 40_000_000


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Edges in the order of one of their ends."""

    here: Numbers
    there: Numbers

    def of(self, numbers: Sequence[int]) -> tuple[Numbers, Numbers]:
        """Return both ends of the edges that begin at some nodes; O(log n) for each."""
        wanted = np.unique(np.asarray(numbers, dtype=np.int64))
        low, high = (np.searchsorted(self.here, wanted, side=s) for s in ("left", "right"))
        spans = [np.arange(a, b) for a, b in zip(low, high, strict=True)]
        places = np.concatenate([np.zeros(0, dtype=np.int64), *spans])
        return self.here[places], self.there[places]


class EdgeIndex:
    """Who is next to whom among the nodes of a table, by their ids.

    >>> index = EdgeIndex(np.array([1, 1, 2]), np.array([2, 3, 3]))
    >>> index.children([1]), index.parents([3]), index.among([1, 3])
    ([2, 3], [1, 2], [(1, 3)])
    """

    def __init__(self, parents: Numbers, children: Numbers) -> None:
        by_parent, by_child = np.lexsort((children, parents)), np.lexsort((parents, children))
        self._down = _Sorted(parents[by_parent], children[by_parent])
        self._up = _Sorted(children[by_child], parents[by_child])

    def __len__(self) -> int:
        return len(self._down.here)

    def children(self, numbers: Sequence[int]) -> list[int]:
        """Return the children of some nodes, in order, each once."""
        found: list[int] = np.unique(self._down.of(numbers)[1]).tolist()
        return found

    def parents(self, numbers: Sequence[int]) -> list[int]:
        """Return the parents of some nodes, in order, each once."""
        found: list[int] = np.unique(self._up.of(numbers)[1]).tolist()
        return found

    def among(self, numbers: Sequence[int]) -> list[tuple[int, int]]:
        """Return the edges both of whose ends are among some nodes."""
        parents, children = self._down.of(numbers)
        inside = np.isin(children, np.asarray(numbers, dtype=np.int64))
        return list(zip(parents[inside].tolist(), children[inside].tolist(), strict=True))

    def leaving(self, numbers: Sequence[int]) -> tuple[int, int]:
        """Return how many of some nodes have a parent, and a child, that is not among them.

        >>> EdgeIndex(np.array([1, 2, 2]), np.array([2, 3, 4])).leaving([2, 3])
        (1, 1)
        """
        known = np.asarray(numbers, dtype=np.int64)
        up, down = (
            len(np.unique(here[~np.isin(there, known)]))
            for here, there in (self._up.of(numbers), self._down.of(numbers))
        )
        return up, down


_indexes: Cache[EdgeIndex] = Cache(_KEPT, lambda index: max(1, len(index)))


def edge_index(folder: Path) -> EdgeIndex:
    """Return the index of a table's edges, made anew when its files have changed."""
    parts = sorted(each for each in (folder / "edges").iterdir() if each.is_file())
    state = tuple((each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in parts)
    return _indexes.made((str(folder.resolve()), state), lambda: _read(folder))


def _read(folder: Path) -> EdgeIndex:
    import pyarrow.dataset as ds  # noqa: PLC0415 - heavy, and only some need it

    rows: Any = ds.dataset(folder / "edges", format="parquet").to_table(columns=["parent", "child"])
    ends = (rows.column(each).to_numpy().astype(np.int64) for each in ("parent", "child"))
    return EdgeIndex(*ends)
