"""Time things next to their baseline, and keep the figures as tables.

A machine that is busy with something else makes every figure wrong by some ten per cent, and by
another amount an hour later. What survives is the *ratio* of cases that took turns within one run,
so that is what a comparison shows, and what a promise is best made about.

A benchmark is a module ``bench/bench_<subject>.py`` with a function ``run(bench)``:

>>> def run(bench):
...     as_list = list(range(1_000))
...     as_set = set(as_list)
...     with bench.comparison("Is 999 among 1,000 values?") as comparison:
...         comparison.case("list", lambda: 999 in as_list)
...         comparison.case("set", lambda: 999 in as_set, at_most=0.5)
>>> bench = Bench(quick=True, show=lambda text: None)
>>> run(bench)
>>> bench.tables[0].columns
('case', 'µs each', 'per second', 'ratio', 'promised')
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Bench", "Case", "Comparison", "Promise", "Table", "text_of"]

Cell = str | int | float | None
Clock = Callable[[], float]


@dataclass(frozen=True)
class Promise:
    """A bound on a figure, and the figure that this run found."""

    what: str
    measured: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the figure is within its bounds."""
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        return low <= self.measured <= high

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(
            f"{word} {text_of(bound)}" for word, bound in bounds if bound is not None
        )

    def __str__(self) -> str:
        verdict = "kept" if self.kept else "BROKEN"
        return f"{verdict}: {self.what}: {text_of(self.measured)}, promised {self.bounds}"


@dataclass(frozen=True)
class Table:
    """Figures in rows under a title: what is printed, and what goes into the JSON."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def as_text(self) -> str:
        """Return the table as aligned text: words to the left, figures to the right.

        >>> print(Table("Fruit", ("name", "grams"), (("apple", 1_180), ("fig", 50.5))).as_text())
        Fruit
          name   grams
          apple  1,180
          fig     50.5
        """
        lines = [self.columns, *(tuple(text_of(cell) for cell in row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        words = [all(isinstance(row[i], str) for row in self.rows) for i in range(len(widths))]
        text = [self.title]
        for line in lines:
            cells = (
                cell.ljust(width) if is_words else cell.rjust(width)
                for cell, width, is_words in zip(line, widths, words, strict=True)
            )
            text.append("  " + "  ".join(cells).rstrip())
        if self.note:
            text.append(f"  {self.note}")
        return "\n".join(text)


def text_of(cell: Cell) -> str:
    """Return a figure with three digits that mean something, and its thousands apart."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if cell == 0 or not math.isfinite(cell):
        return f"{cell:g}"
    decimals = max(0, 2 - math.floor(math.log10(abs(cell))))
    text = f"{cell:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass
class Case:
    """One way to do a job: a call that does it ``operations`` times, and how long that took."""

    name: str
    call: Callable[..., object]
    operations: int
    setup: Callable[[], Any] | None
    at_most: float | None
    at_least: float | None
    calls: int = 1
    seconds: list[float] = field(default_factory=list)

    def measure(self, clock: Clock) -> float:
        """Return the seconds that one round takes; a setup is not part of it."""
        call = self.call
        if self.setup is not None:
            subject = self.setup()
            start = clock()
            call(subject)
            return clock() - start
        start = clock()
        for _ in range(self.calls):
            call()
        return clock() - start

    def calibrate(self, clock: Clock, seconds: float) -> None:
        """Double the calls of a round until it lasts long enough to be timed; warms up as well."""
        while self.measure(clock) < seconds and self.setup is None and self.calls < 1 << 24:
            self.calls *= 2

    @property
    def best(self) -> float:
        """Seconds per operation, in the round that was disturbed least."""
        return min(self.seconds) / (self.calls * self.operations)


class Comparison:
    """Cases that do the same job and are timed in turns; the first is the baseline."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def case(
        self,
        name: str,
        call: Callable[..., object],
        *,
        operations: int = 1,
        setup: Callable[[], Any] | None = None,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> None:
        """Add a way to do the job.

        ``call`` does it ``operations`` times. A call that uses something up, such as a table that
        it fills, is given it by ``setup``: made anew for each round, and not timed. The promise is
        ``at_most`` a multiple of the baseline's time, or ``at_least`` a number of operations a
        second.
        """
        self.cases.append(Case(name, call, operations, setup, at_most, at_least))

    def time(self, clock: Clock, rounds: int, seconds: float) -> None:
        """Time each case ``rounds`` times, in turns, with the garbage collector out of the way."""
        for case in self.cases:
            case.calibrate(clock, seconds)
        collecting = gc.isenabled()
        gc.disable()
        try:
            for _ in range(rounds):
                gc.collect()
                for case in self.cases:
                    case.seconds.append(case.measure(clock))
        finally:
            if collecting:
                gc.enable()


class Bench:
    """What a benchmark is given: it compares, it tabulates, and it keeps what was found.

    With ``quick``, each case is timed once and briefly: enough to see that a benchmark runs, which
    is what the tests ask, and not enough to believe its figures.
    """

    def __init__(
        self,
        *,
        quick: bool = False,
        show: Callable[[str], None] = print,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.quick = quick
        self.tables: list[Table] = []
        self.promises: list[Promise] = []
        self._show = show
        self._clock = clock

    def size(self, full: int, quick: int) -> int:
        """Return how large a load to take: the first, or when it has to be quick, the second."""
        return quick if self.quick else full

    def table(
        self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], note: str = ""
    ) -> None:
        """Keep and show figures that were found in some other way, such as counts."""
        table = Table(title, tuple(columns), tuple(map(tuple, rows)), note)
        self.tables.append(table)
        self._show(table.as_text() + "\n")

    def promise(
        self,
        what: str,
        measured: float,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> None:
        """Hold a figure against its bounds; the run ends with how many were kept."""
        self.promises.append(Promise(what, measured, at_most, at_least))

    @contextmanager
    def comparison(self, title: str, note: str = "") -> Iterator[Comparison]:
        """Collect cases, the baseline first; time and show them when the block ends."""
        comparison = Comparison()
        yield comparison
        comparison.time(self._clock, *((1, 0.0005) if self.quick else (7, 0.05)))
        rows = []
        for case in comparison.cases:
            ratio = case.best / comparison.cases[0].best
            promised = []
            if case.at_most is not None:
                self.promise(f"{title}: {case.name}, ratio", ratio, at_most=case.at_most)
                promised.append(f"ratio ≤ {text_of(case.at_most)}")
            if case.at_least is not None:
                rate = 1 / case.best
                self.promise(f"{title}: {case.name}, per second", rate, at_least=case.at_least)
                promised.append(f"≥ {text_of(case.at_least)} per second")
            rows.append((case.name, case.best * 1e6, 1 / case.best, ratio, ", ".join(promised)))
        self.table(title, ("case", "µs each", "per second", "ratio", "promised"), rows, note)
