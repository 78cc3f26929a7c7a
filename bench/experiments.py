"""The figures of an experiment as tables of a benchmark: the same measurements, in one process."""

from __future__ import annotations

from bench.harness import Bench
from workloads.experiments.experiment import Experiment, Lines, lines_of, rows_of

__all__ = ["show_experiment"]


def show_experiment(bench: Bench, experiment: Experiment) -> dict[str, Lines]:
    """Measure an experiment and show its figures: a column to plot against, one for each line."""
    replications = bench.size(experiment.replications, 1)
    lines = lines_of(rows_of(experiment, 0, replications, 0.02 if bench.quick else 1.0))
    for figure in experiment.figures:
        found = lines[figure.key]
        first = next(iter(found.values()))
        rows = [[mean.x, *(line[i].y for line in found.values())] for i, mean in enumerate(first)]
        agrees, says = figure.judge(found)
        note = f"The thesis: {figure.statement}. {'So it is' if agrees else 'It differs'}: {says}."
        bench.table(f"{figure.title}: {figure.y}", (figure.x, *found), rows, note)
    return lines
