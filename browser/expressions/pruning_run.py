"""A set of expressions pruned to the end: how much goes, what it costs, what it saves."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, NamedTuple

import posetlib as pl
from browser.expressions.script import ExpressionSet
from browser.sources import SourceError
from browser.statistics import steps_shown
from posetlib.expressions import RATINGS

__all__ = ["Point", "PruningRun", "pruning_run"]

#: Measured points of a run, and how often each time is taken: the least counts.
_POINTS: Final = 17
_REPEATS: Final = 3


class Point(NamedTuple):
    """A set after some prunings."""

    prunings: int
    #: M: the share of conditions that are gone.
    removed: float
    #: N: the share of interfaces that an event is sent to, on average.
    load: float
    #: Microseconds of processor time to match an event.
    micros: float
    #: Pairs of event and interface that matched before any pruning, and do not now.
    lost: int


@dataclass(frozen=True)
class PruningRun:
    """A set that is pruned step by step in the order of a rating."""

    rating: str
    points: tuple[Point, ...]

    @property
    def lost(self) -> int:
        """Pairs of event and interface that some point has lost: none, if pruning is right."""
        return sum(each.lost for each in self.points)


def pruning_run(among: ExpressionSet, rating: str) -> PruningRun:
    """Prune all entries as far as it goes, and measure on the way."""
    if rating not in RATINGS:
        raise SourceError(f"a rating is one of {', '.join(RATINGS)}, not {str(rating)[:40]!r}")
    if not among.events:
        raise SourceError('a run of prunings needs events: lines such as {"x": 3}')
    entries = pl.PrunedEntries(rating, among.share)
    done: list[tuple[int, pl.Expression]] = []

    def note(name: Hashable, _before: pl.Expression, after: pl.Expression) -> None:
        assert isinstance(name, int)
        done.append((name, after))

    entries.observers.append(note)
    for place, entry in enumerate(among.entries):
        entries.add(place, entry.expression)
    entries.prune()
    now = [entry.expression for entry in among.entries]
    total = sum(len(each.leaves()) for each in now) or 1
    first: list[frozenset[Hashable]] = []
    points = []
    at = 0
    for step in steps_shown(len(done), _POINTS):
        for name, after in done[at:step]:
            now[name] = after
        at = step
        found, micros = _matched(among, now)
        first = first or found
        left = sum(len(each.leaves()) for each in now)
        points.append(
            Point(
                step,
                1 - left / total,
                sum(map(len, found)) / (len(found) * len(among.interfaces)),
                micros,
                sum(len(had - has) for had, has in zip(first, found, strict=True)),
            )
        )
    return PruningRun(rating, tuple(points))


def _matched(
    among: ExpressionSet, now: list[pl.Expression]
) -> tuple[list[frozenset[Hashable]], float]:
    """Return the interfaces that each event is sent to, and the microseconds for an event."""
    pairs = [(each, entry.interface) for each, entry in zip(now, among.entries, strict=True)]
    matcher = pl.ExpressionMatcher(dict.fromkeys(pairs))
    events = list(among.events)
    found: list[frozenset[Hashable]] = []
    times = []
    for _ in range(_REPEATS):
        start = time.process_time()
        found = [frozenset(each) for each in matcher.match_many(events)]
        times.append(time.process_time() - start)
    return found, 1e6 * min(times) / len(events)
