"""distinct-filters: which nodes hold equal or equivalent filters, found without all pairs.

Equal filters have equal keys. Equivalent filters that are not equal are both of kinds for which
equality does not tell (`Constraint.is_canonical`): only these are compared, and of them only those
that ask for the same attributes and match the same few examples.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any, Final

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.covering import bit_pairs, covers_rowwise
from posetlib.arrays.positions import EVERYTHING, is_one_string
from posetlib.arrays.ranges import GROUP, FilterRanges
from posetlib.values import MISSING
from workloads.blocks import BlockRows, Selection, without_self
from workloads.context import Context
from workloads.reports import Outcome

__all__ = [
    "distinct_filters",
    "equivalence_classes",
    "examples_of",
    "filter_keys",
    "unsure_of",
]

#: How many examples are matched, to tell apart filters that are surely not equivalent.
_EXAMPLES: Final = 64


def distinct_filters(context: Context) -> Outcome:
    """No two nodes hold equal or equivalent filters."""
    first = equivalence_classes(context)
    twins = np.flatnonzero(first != np.arange(context.node_count))
    texts = context.texts(each for twin in twins[:context.shown].tolist()
                          for each in (twin, int(first[twin])))  # fmt: skip
    witnesses = [
        {
            "one": texts[int(first[twin])],
            "other": texts[twin],
            "why": "two nodes hold the same filter"
            if texts[int(first[twin])] == texts[twin]
            else "two nodes hold filters that match the same",
            "ids": context.ids([first[twin], twin]),
        }
        for twin in twins[: context.shown].tolist()
    ]
    return Outcome(context.node_count, len(twins), witnesses)


def equivalence_classes(context: Context) -> IntArray:
    """Return for each node the first node with an equal or equivalent filter: most often itself."""
    if "classes" not in context.facts:
        context.facts["classes"] = _classes(context)
    classes: IntArray = context.facts["classes"]
    return classes


def _classes(context: Context) -> IntArray:
    every = np.arange(context.node_count)
    keys = np.zeros(context.node_count, np.uint64)
    unsure = np.zeros(context.node_count, np.bool_)
    for numbers, some, doubtful in context.filters.by_rows((every,), _keyed):
        keys[numbers], unsure[numbers] = some, doubtful
    first = every.copy()
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    # Two keys may be equal by chance: the filters themselves decide.
    for one, other in context.filters.by_rows((order[same], order[same + 1]), _equivalent_rows):
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


def _equivalent_rows(
    one: FilterRanges, other: FilterRanges, ones: IntArray, others: IntArray
) -> tuple[IntArray, IntArray]:
    both = np.flatnonzero(covers_rowwise(one, other) & covers_rowwise(other, one))
    return ones[both], others[both]


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


def _equivalent_forms(context: Context, numbers: IntArray) -> list[tuple[IntArray, IntArray]]:
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
    return [pair for pair in filters.compared(rows, rows, _equivalent_pairs) if len(pair[0])]


def examples_of(filters: FilterRanges, numbers: IntArray) -> list[tuple[int, dict[str, Any]]]:
    """Return, for each filter, its number and a notification that it matches, as far as known."""
    made = []
    for row, number in enumerate(numbers.tolist()):
        values = {name: each.example() for name, each in filters.filter(row).constraints.items()}
        made.append((number, {name: each for name, each in values.items() if each is not MISSING}))
    return made


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


def _equivalent_pairs(one: BlockRows, other: BlockRows) -> tuple[IntArray, IntArray]:
    rows, which = bit_pairs(without_self(one, other))
    once = one.numbers[rows] < other.numbers[which]
    rows, which = rows[once], which[once]
    back = covers_rowwise(other.columns.take(which), one.columns.take(rows))
    return one.numbers[rows[back]], other.numbers[which[back]]
