"""Competitors that take turns step by step, where each step changes what the next one finds.

A comparison of the harness repeats a call; a table that grows cannot be asked the same thing twice.
Here every competitor has the same number of steps, such as adding the next hundred filters, and the
steps are taken in turns: all have the same size when they are timed, and the same disturbances.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Step", "each_row", "steps", "take_turns"]

Step = Callable[[], object]


def each_row(do: Callable[..., object], rows: Iterable[Sequence[Any]]) -> None:
    """Do something with each of some rows."""
    for row in rows:
        do(*row)


def steps(do: Callable[..., object], rows: Sequence[Sequence[Any]], size: int) -> list[Step]:
    """Return steps that do something with all rows, so many at a time.

    >>> seen = []
    >>> for step in steps(lambda row: seen.append(row), [(1,), (2,), (3,)], size=2):
    ...     step()
    ...     print(seen)
    [1, 2]
    [1, 2, 3]
    """
    return [
        partial(each_row, do, rows[start : start + size]) for start in range(0, len(rows), size)
    ]


def take_turns(
    entrants: Mapping[str, Callable[[], Sequence[Step]]], rounds: int
) -> dict[str, NDArray[np.float64]]:
    """Return the processor seconds that each step took, in the round where it was disturbed least.

    Each entrant is a function that makes it anew, for each round, and returns its steps.
    """
    taken: dict[str, list[list[float]]] = {name: [] for name in entrants}
    collecting = gc.isenabled()
    for _ in range(rounds):
        ready = {name: list(make()) for name, make in entrants.items()}
        gc.collect()
        gc.disable()
        try:
            seconds: dict[str, list[float]] = {name: [] for name in ready}
            for number in range(max(map(len, ready.values()))):
                for name, waiting in ready.items():
                    if number < len(waiting):
                        start = time.process_time()
                        waiting[number]()
                        seconds[name].append(time.process_time() - start)
        finally:
            if collecting:
                gc.enable()
        for name in ready:
            taken[name].append(seconds[name])
    return {name: np.min(np.array(each), axis=0) for name, each in taken.items()}
