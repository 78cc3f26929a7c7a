"""Workloads of expressions: their texts read without trust, and matching them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from posetlib.array_types import IntArray
from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import FilterError
from posetlib.expressions import Expression, ExpressionMatcher, parse_expression
from workloads.datasets import BadRows
from workloads.rows import unreadable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ExpressionsOfTask", "expressions_of_task", "read_expression", "readable_expressions"]

#: Bad rows that are shown.
_SAMPLES = 5


def read_expression(text: str | None, types: TypeHierarchy | None) -> Expression:
    """Return the expression of a row; the error tells the text that is none."""
    try:
        if text is None:
            raise FilterError("there is no text")
        return parse_expression(text, types=types)
    except FilterError as error:
        raise unreadable(text, error) from None


def readable_expressions(
    rows: DataFrame, types: TypeHierarchy | None, *, skip_bad: bool
) -> tuple[DataFrame, BadRows]:
    """Return id, text and interface of expressions; with ``skip_bad`` without those that are none.

    Otherwise a text that is none fails whoever comes to it.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    chosen = rows.select("id", "filter", "interface")
    if not skip_bad:
        return chosen, BadRows()
    schema = "id long, filter string, interface string, error string"
    marked = chosen.mapInArrow(partial(_marked, types=types), schema)
    wrong = marked.where(f.col("error").isNotNull())
    bad = BadRows(wrong.count())
    if bad.count:
        samples = wrong.orderBy("id").limit(_SAMPLES).collect()
        bad.samples = [{name: row[name] for name in ("id", "filter", "error")} for row in samples]
    return marked.where(f.col("error").isNull()).drop("error"), bad


def _marked(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        errors: list[str | None] = []
        for text in batch.column("filter").to_pylist():
            try:
                parse_expression(text or "", types=types)
            except FilterError as error:
                errors.append(" ".join(str(error).split()))
            else:
                errors.append(None)
        yield batch.append_column("error", pa.array(errors, pa.string()))


@dataclass(frozen=True)
class ExpressionsOfTask:
    """The expressions of a task, in a matcher."""

    matcher: ExpressionMatcher
    #: The names of interfaces by number.
    names: pa.StringArray

    def wanted(self, notifications: list[dict[str, Any]]) -> tuple[IntArray, IntArray]:
        """Return the numbers of notifications and of interfaces that want them, in order."""
        found: Any = self.matcher.match_many(notifications)
        pairs = [(at, each) for at, wanted in enumerate(found) for each in sorted(wanted)]
        both = np.array(pairs, np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]


def expressions_of_task(blocks: list[pa.Table], types: TypeHierarchy | None) -> ExpressionsOfTask:
    """Return the expressions of some blocks of rows."""
    rows = pa.concat_tables(blocks).combine_chunks()
    blocks.clear()
    names = rows.column("interface").combine_chunks().dictionary_encode()
    expressions = [read_expression(text, types) for text in rows.column("filter").to_pylist()]
    pairs = zip(expressions, np.asarray(names.indices).tolist(), strict=True)
    return ExpressionsOfTask(ExpressionMatcher(dict.fromkeys(pairs)), names.dictionary)
