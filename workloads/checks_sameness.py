"""distinct-filters: which nodes hold equal or equivalent filters, found without all pairs.

Equal filters have equal keys. Equivalent filters that are not equal are both of kinds for which
equality does not tell (`Constraint.is_canonical`): only these are compared, and of them only those
that ask for the same attributes and match the same few examples. Of a table that is spread out,
filters go to tasks by their keys, or by what they match of the examples.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.covering import covering_pairs, covers_rowwise
from posetlib.arrays.positions import EVERYTHING, Vocabulary, is_one_string
from posetlib.arrays.ranges import GROUP, FilterRanges
from posetlib.constraints.types import TypeHierarchy
from posetlib.filters.filter import Filter
from posetlib.values import MISSING
from workloads.blocks import Selection, parts_of
from workloads.datasets import ddl
from workloads.near import NearContext
from workloads.opening import Opened, by_place
from workloads.pairs import equivalent_pairs, equivalent_rows, same_labels
from workloads.reports import Outcome
from workloads.rows import columns_of
from workloads.spread import Arrived, SpreadContext, in_tasks
from workloads.texts import read_filter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "class_rows",
    "distinct_filters",
    "equal_pairs",
    "equivalence_classes",
    "equivalent_across",
    "examples_of",
    "filter_keys",
    "matched_by_keys",
    "unsure_of",
]

#: How many examples are matched, to tell apart filters that are surely not equivalent.
_EXAMPLES: Final = 64


def distinct_filters(context: Opened) -> Outcome:
    """No two nodes hold equal or equivalent filters."""
    count, twins = by_place(context, _near_twins, _spread_twins)
    texts = context.texts(each for pair in twins for each in pair)
    witnesses = [
        {
            "one": texts[first],
            "other": texts[twin],
            "why": "two nodes hold the same filter"
            if texts[first] == texts[twin]
            else "two nodes hold filters that match the same",
            "ids": context.ids([first, twin]),
        }
        for twin, first in twins
    ]
    return Outcome(context.node_count, count, witnesses)


def _near_twins(context: NearContext) -> tuple[int, list[tuple[int, int]]]:
    """Return how many nodes are not the first with their filter, and some with that one."""
    first = equivalence_classes(context)
    twins = np.flatnonzero(first != np.arange(context.node_count))
    return len(twins), [(twin, int(first[twin])) for twin in twins[: context.shown].tolist()]


def _spread_twins(context: SpreadContext) -> tuple[int, list[tuple[int, int]]]:
    rows = class_rows(context)
    if rows is None:
        return 0, []
    first = rows.orderBy("number").limit(context.shown).collect()
    return rows.count(), [(row["number"], row["first"]) for row in first]


def equivalence_classes(context: NearContext) -> IntArray:
    """Return for each node the first node with an equal or equivalent filter: most often itself."""
    if "classes" not in context.facts:
        context.facts["classes"] = _classes(context)
    classes: IntArray = context.facts["classes"]
    return classes


def _classes(context: NearContext) -> IntArray:
    every = np.arange(context.node_count)
    keys = np.zeros(context.node_count, np.uint64)
    unsure = np.zeros(context.node_count, np.bool_)
    for numbers, some, doubtful in context.filters.by_rows((every,), _keyed):
        keys[numbers], unsure[numbers] = some, doubtful
    first = every.copy()
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    # Two keys may be equal by chance: the filters themselves decide.
    for one, other in context.filters.by_rows((order[same], order[same + 1]), equivalent_rows):
        _unite(first, one, other)
    if unsure.any():
        for one, other in _equivalent_forms(context, np.flatnonzero(unsure)):
            _unite(first, one, other)
    for each in np.flatnonzero(first != every).tolist():
        first[each] = _leader(first, each)
    return first


def _unite(first: IntArray, ones: IntArray, others: IntArray) -> None:
    for one, other in zip(ones.tolist(), others.tolist(), strict=True):
        a, b = _leader(first, one), _leader(first, other)
        first[max(a, b)] = min(a, b)


def _leader(first: IntArray, node: int) -> int:
    while first[node] != node:
        first[node] = first[first[node]]
        node = int(first[node])
    return node


# -- keys ------------------------------------------------------------------------------------------


def _keyed(filters: FilterRanges, numbers: IntArray) -> tuple[IntArray, Words, BoolArray]:
    return numbers, filter_keys(filters), unsure_of(filters)


def unsure_of(filters: FilterRanges) -> BoolArray:
    """Return which filters may be equivalent to one that is not equal."""
    unsure = np.zeros(len(filters), np.bool_)
    for row, one in filters.filters.items():
        unsure[row] = not all(constraint.is_canonical() for constraint in one.terms)
    return unsure


def filter_keys(filters: FilterRanges) -> Words:
    """Return a number for each filter: the same one for equal filters, in every process.

    >>> from posetlib.arrays import Vocabulary, encode_filters
    >>> from posetlib.filters import parse_filter
    >>> some = ["x in [1, 2] and y = 3", "y = 3 and x >= 1 and x <= 2", "x in [1, 2]"]
    >>> made = encode_filters([parse_filter(each) for each in some], Vocabulary())
    >>> one, other, third = filter_keys(made).tolist()
    >>> one == other, one == third
    (True, False)
    """
    total: Words = np.zeros(len(filters), np.uint64)
    for name, low in filters.lows.items():
        if name == GROUP:
            continue
        high = filters.highs[name]
        ends = _mixed(low.view(np.uint64)) ^ _mixed(_mixed(high.view(np.uint64)))
        words = is_one_string(low, high)
        if words.any():
            # Positions of strings are those of one process: their texts are the same in all.
            texts, which = np.unique(low[words], return_inverse=True)
            known = [_number(filters.vocabulary.string(int(each))) for each in texts]
            ends[words] = np.array(known, np.uint64)[which]
        total += np.where(low == EVERYTHING[0], np.uint64(0), _mixed(ends ^ _number(name)))
    for row, one in filters.filters.items():
        total[row] = _number(str(one))
    return total


def _number(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))


def _mixed(values: Words) -> Words:
    """Return numbers that differ wherever the given ones do, without any pattern: splitmix64."""
    mixed: Words = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


# -- filters that may be equivalent without being equal --------------------------------------------


def _equivalent_forms(context: NearContext, numbers: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return pairs of equivalent filters, among those of which equality does not tell."""
    filters = context.filters
    chosen = numbers[:: max(1, len(numbers) // _EXAMPLES)][:_EXAMPLES]
    made = [each for part in filters.by_rows((chosen,), examples_of) for each in part]
    examples = [example for _, example in sorted(made, key=lambda each: each[0])]
    found = filters.by_rows((numbers,), partial(_marked, examples=examples))
    groups = np.zeros(context.node_count, np.int64)
    for part, marks in found:
        groups[part] = marks
    rows = Selection.of(numbers, groups[numbers])
    return [pair for pair in filters.compared(rows, rows, equivalent_pairs) if len(pair[0])]


def examples_of(filters: FilterRanges, numbers: IntArray) -> list[tuple[int, dict[str, Any]]]:
    """Return, for each filter, its number and a notification that it matches, as far as known."""
    return [(number, _example(filters.filter(row))) for row, number in enumerate(numbers.tolist())]


def _example(one: Filter) -> dict[str, Any]:
    values = {name: each.example() for name, each in one.constraints.items()}
    return {name: each for name, each in values.items() if each is not MISSING}


def _marked(
    filters: FilterRanges, numbers: IntArray, examples: list[dict[str, Any]]
) -> tuple[IntArray, IntArray]:
    """Return a number for each filter that equivalent filters share."""
    marks = np.zeros(len(filters), np.int64)
    for row in range(len(filters)):
        one = filters.filter(row)
        matched = "".join("01"[one.matches(example)] for example in examples)
        told = _number(f"{sorted(one.attributes)} {matched}")
        marks[row] = int(told) >> 1
    return numbers, marks


# -- between two sides -----------------------------------------------------------------------------


def equal_pairs(
    ours: FilterRanges, theirs: FilterRanges, mine: IntArray, others: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the rows of equal or equivalent filters of the same group.

    ``mine`` and ``others`` are the groups, which both sides have as an axis, too, if they matter.
    """
    keys = [
        filter_keys(side).view(np.int64) ^ (group * np.int64(0x9E3779B97F4A7C1))
        for side, group in ((ours, mine), (theirs, others))
    ]
    one, other = same_labels(*keys)
    unsure, doubtful = np.flatnonzero(unsure_of(ours)), np.flatnonzero(unsure_of(theirs))
    if len(unsure) and len(doubtful):
        # Of these, equality does not tell which are equivalent.
        for f, g in covering_pairs(
            ours.take(unsure),
            theirs.take(doubtful),
            np.full(len(unsure), -1),
            np.full(len(doubtful), -2),
        ):
            one = np.concatenate([one, unsure[f]])
            other = np.concatenate([other, doubtful[g]])
    # Keys may be equal by chance: the filters decide. Groups are an axis of theirs.
    some, rest = ours.take(one), theirs.take(other)
    same = covers_rowwise(some, rest) & covers_rowwise(rest, some)
    return one[same], other[same]


def equivalent_across(
    filters: FilterRanges, numbers: IntArray, expected: pa.Table, types: TypeHierarchy | None
) -> tuple[IntArray, IntArray]:
    """Return the numbers of filters that are equivalent to an expected one, and its id."""
    theirs = columns_of(expected, filters.vocabulary, types)
    alike = np.zeros(len(filters), np.int64), np.zeros(len(theirs), np.int64)
    one, other = equal_pairs(filters, theirs, *alike)
    return numbers[one], np.asarray(expected.column("id")).astype(np.int64)[other]


# -- of rows that stay with the workers ------------------------------------------------------------


def class_rows(context: SpreadContext) -> DataFrame | None:
    """Return number and first for the nodes that are not the first with their filter.

    None if there is no such node.
    """
    if "classes" not in context.facts:
        filters = context.filters.withColumnRenamed("number", "id")
        pairs = context.keep(_twin_pairs(filters, context.types))
        found = None
        if not pairs.isEmpty():
            united = in_tasks(_united, "number long, first long", 1, shared={"pairs": pairs})
            found = context.keep(united)
        context.facts["classes"] = found
    rows: DataFrame | None = context.facts["classes"]
    return rows


def _twin_pairs(rows: DataFrame, types: TypeHierarchy | None) -> DataFrame:
    routed = _routed(rows, types, _some_examples(rows, types))
    work = partial(_twins_of_task, types=types)
    count = parts_of(rows.sparkSession)
    return in_tasks(work, "one long, other long", count, divided={"rows": (routed, "route")})


def matched_by_keys(
    ours: DataFrame,
    theirs: DataFrame,
    own_types: TypeHierarchy | None,
    other_types: TypeHierarchy | None,
) -> DataFrame:
    """Return the ids of equivalent filters: ``one`` of ours, ``other`` of theirs."""
    examples = _some_examples(ours, own_types)
    divided = {
        "ours": (_routed(ours, own_types, examples), "route"),
        "theirs": (_routed(theirs, other_types, examples), "route"),
    }
    work = partial(_matched_in_task, own_types=own_types, other_types=other_types)
    count = parts_of(ours.sparkSession)
    return in_tasks(work, "one long, other long", count, divided=divided)


def _some_examples(rows: DataFrame, types: TypeHierarchy | None) -> list[dict[str, Any]]:
    """Return notifications that some of the filters match of which equality does not tell."""
    unsure = rows.mapInArrow(partial(_first_unsure, types=types), "id long, filter string")
    texts = [row["filter"] for row in unsure.orderBy("id").limit(_EXAMPLES).collect()]
    return [_example(read_filter(text, types)) for text in texts]


def _first_unsure(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = np.flatnonzero(unsure_of(columns_of(batch, Vocabulary(), types)))[:_EXAMPLES]
        yield batch.select(["id", "filter"]).take(pa.array(rows))


def _routed(
    rows: DataFrame, types: TypeHierarchy | None, examples: list[dict[str, Any]]
) -> DataFrame:
    """Return rows with a number that equivalent filters share."""
    work = partial(_with_routes, types=types, examples=examples)
    return rows.mapInArrow(work, f"{ddl(rows)}, route long")


def _with_routes(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None, examples: list[dict[str, Any]]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns = columns_of(batch, Vocabulary(), types)
        routes = filter_keys(columns).view(np.int64).copy()
        unsure = np.flatnonzero(unsure_of(columns))
        if len(unsure):
            routes[unsure] = _marked(columns.take(unsure), unsure, examples)[1]
        made = [*batch.columns, pa.array(routes)]
        yield pa.RecordBatch.from_arrays(made, [*batch.schema.names, "route"])


def _of_task(
    rows: pa.Table, vocabulary: Vocabulary, types: TypeHierarchy | None
) -> tuple[FilterRanges, IntArray, IntArray]:
    """Return the filters of rows with their routes as groups, these, and the ids."""
    routes, ids = (np.asarray(rows.column(name)).astype(np.int64) for name in ("route", "id"))
    # The least number of all stands for no group.
    groups = np.maximum(routes, EVERYTHING[0] + 1)
    return columns_of(rows, vocabulary, types).with_group(groups), groups, ids


def _twins_of_task(arrived: Arrived, _task: int, types: TypeHierarchy | None) -> pa.Table:
    """Return pairs of equivalent filters: enough of them to tell which are alike."""
    if "rows" not in arrived:
        return _id_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
    filters, routes, ids = _of_task(arrived["rows"], Vocabulary(), types)
    order = np.lexsort((ids, routes))
    same = np.flatnonzero(np.diff(routes[order]) == 0)
    one, other = order[same], order[same + 1]
    found = [equivalent_rows(filters.take(one), filters.take(other), ids[one], ids[other])]
    unsure = np.flatnonzero(unsure_of(filters))
    if len(unsure):
        some, own = filters.take(unsure), ids[unsure]
        for f, g in covering_pairs(some, some, own, own):
            found.append(equivalent_rows(some.take(f), some.take(g), own[f], own[g]))
    return _id_pairs(*(np.concatenate(side) for side in zip(*found, strict=True)))


def _matched_in_task(
    arrived: Arrived,
    _task: int,
    own_types: TypeHierarchy | None,
    other_types: TypeHierarchy | None,
) -> pa.Table:
    if len(arrived) < 2:
        return _id_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
    vocabulary = Vocabulary()
    ours, mine, ids = _of_task(arrived["ours"], vocabulary, own_types)
    theirs, others, other_ids = _of_task(arrived["theirs"], vocabulary, other_types)
    one, other = equal_pairs(ours, theirs, mine, others)
    return _id_pairs(ids[one], other_ids[other])


def _id_pairs(one: IntArray, other: IntArray) -> pa.Table:
    return pa.table({"one": pa.array(one, pa.int64()), "other": pa.array(other, pa.int64())})


def _united(arrived: Arrived, _task: int) -> pa.Table:
    """Return, for pairs of equivalent nodes, the first that each node is equivalent to."""
    one, other = (np.asarray(arrived["pairs"].column(name)) for name in ("one", "other"))
    numbers, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    first = np.arange(len(numbers))
    _unite(first, places[: len(one)], places[len(one) :])
    for each in range(len(first)):
        first[each] = _leader(first, each)
    twins = np.flatnonzero(first != np.arange(len(first)))
    return pa.table({"number": numbers[twins], "first": numbers[first[twins]]})
