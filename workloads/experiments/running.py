"""experiment: a sweep on Spark, a task for each point and replication; rows, plots and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from workloads.errors import InputError
from workloads.experiments import experiment_named
from workloads.experiments.drawing import line_chart, page
from workloads.experiments.experiment import Row, lines_of
from workloads.files import Place, new_output, write_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EXPERIMENT_FORMAT", "run_experiment", "summary"]

EXPERIMENT_FORMAT: Final = "posetlib-experiment"
_SCHEMA: Final = (
    "task long, replication long, seed string, figure string, series string, x double, y double"
)
_NAMES: Final = [each.split()[0] for each in _SCHEMA.split(", ")]


def run_experiment(
    session: SparkSession,
    name: str,
    out: Place,
    *,
    seed: int = 0,
    replications: int | None = None,
    scale: float = 1.0,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Measure all points of an experiment, and write rows, ``experiment.json``, SVG and a page.

    The same seed gives the same rows, those of times apart, whatever the number of cores.
    """
    chosen = experiment_named(name)
    count = chosen.replications if replications is None else replications
    if count < 1:
        raise InputError(f"--replications is at least 1, not {count}")
    if not 0 < scale <= 100:
        raise InputError(f"--scale is above 0 and at most 100, not {scale}")
    tasks = count * len(chosen.points(scale))
    with new_output(out, overwrite=overwrite) as place:
        rows = place.child("rows").path
        measured = session.range(0, tasks, 1, tasks).mapInArrow(
            partial(_measured, name, seed, scale), _SCHEMA
        )
        # In one file and one order: a file for each task would be hundreds of tiny ones.
        measured.repartition(1).sortWithinPartitions("task").write.parquet(rows)
        found = [
            Row(row.figure, row.series, row.x, row.y)
            for row in session.read.parquet(rows).orderBy("task").collect()
        ]
        lines = lines_of(found)
        made: dict[str, Any] = {
            "format": EXPERIMENT_FORMAT,
            "version": 1,
            "name": name,
            "title": chosen.title,
            "seed": seed,
            "replications": count,
            "scale": scale,
            "rows": len(found),
            "figures": [
                {
                    "key": figure.key,
                    "title": figure.title,
                    "x": figure.x,
                    "y": figure.y,
                    "is_time": figure.is_time,
                    "statement": figure.statement,
                    **figure.judge(lines[figure.key])._asdict(),
                    "lines": {
                        series: [list(mean) for mean in line]
                        for series, line in lines[figure.key].items()
                    },
                }
                for figure in chosen.figures
            ],
        }
        write_json(place.child("experiment.json"), made)
        for figure in made["figures"]:
            place.child(f"figure-{figure['key']}.svg").write_text(line_chart(figure))
        place.child("index.html").write_text(page(made))
    return made


def _measured(
    name: str, seed: int, scale: float, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Measure the points of some tasks; in a worker."""
    chosen = experiment_named(name)
    points = chosen.points(scale)
    for batch in batches:
        for task in batch.column(0).to_pylist():
            replication, number = divmod(task, len(points))
            own = f"{seed}-{replication}"
            rows = [
                (task, replication, own, row.figure, row.series, float(row.x), float(row.y))
                for row in chosen.measure(points[number], own)
            ]
            columns = [pa.array(column) for column in zip(*rows, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, names=_NAMES)


def summary(made: dict[str, Any]) -> list[str]:
    """Return a line for each figure: whether it is as the thesis says, and by which numbers."""
    return [
        f"{'as said ' if figure['agrees'] else 'DIFFERS '} {figure['title']} ({figure['y']}): "
        f"{figure['says']}"
        for figure in made["figures"]
    ]
