"""Loads of the other data models: templates and tuples, paths and documents.

Documents are orders of a shop that nest five levels deep: each level has four names, so that a path
along all levels is one of 1,024. An innermost element has the numbers. Half of the documents are
XML, half are nested JSON objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from posetlib.array_types import BoolArray, IntArray
from posetlib.generating.draws import Draw, Grid
from posetlib.models import xml_value
from posetlib.models.documents import Document, set_text

__all__ = ["documents", "path_clauses", "template_clauses", "tuples"]

#: The names of elements on each level.
_LEVELS: Final = tuple(
    names.split()
    for names in (
        "order offer return quote",
        "item parcel invoice customer",
        "board case disk screen",
        "cpu fan lamp plug",
        "chip core pin wire",
    )
)
#: The words of subjects, the first fields of tuples.
_SUBJECTS: Final = tuple("gold fuel news rain sport trade".split())
#: How many ways down a document has.
_WAYS: Final = 8

#: The purposes for which a number is drawn (see ``Draw``); other modules have those below 32.
_NAME, _FORM, _ONE, _OTHER, _HAS, _OPEN, _SUBJECT, _VALUE, _FORMAT = range(32, 41)


# -- tuples ----------------------------------------------------------------------------------------


def template_clauses(
    draw: Draw, grid: Grid, dims: int, skew: float, types: IntArray | None
) -> dict[str, list[str]]:
    """Return the constraints of templates by attribute.

    The fields are the event type, if there are types, a subject, and ``dims`` numbers.
    """
    start = 0 if types is None else 1
    clauses = {} if types is None else {"_0": [f'_0 = "T{each}"' for each in types.tolist()]}
    first, second = _subjects(draw, skew)
    clauses[f"_{start}"] = [
        (f'_{start} = "{one}.{two}"', f'_{start} prefix "{one}."', "")[form]
        for form, one, two in zip(draw.below(3, _FORM).tolist(), first, second, strict=True)
    ]
    fields = np.full(len(draw.rows), start + 1)
    for part in range(start + 1, start + dims + 1):
        asked = draw.below(4, _HAS, part) > 0
        texts = _range_texts(draw, grid, f"_{part}", part)
        clauses[f"_{part}"] = _where(asked, texts)
        fields = np.where(asked, part + 1, fields)
    is_open = draw.below(4, _OPEN) == 0
    clauses["_len"] = [
        f"_len:int >= {least}" if more else f"_len = {start + dims + 1}"
        for more, least in zip(is_open.tolist(), fields.tolist(), strict=True)
    ]
    return clauses


def tuples(
    draw: Draw, grid: Grid, dims: int, skew: float, types: IntArray | None
) -> list[list[Any]]:
    """Return tuples with the fields of the templates, and in one of eight a further number."""
    first, second = _subjects(draw, skew)
    columns = [] if types is None else [[f"T{each}" for each in types.tolist()]]
    columns.append([f"{one}.{two}" for one, two in zip(first, second, strict=True)])
    columns += [
        grid.values(draw.below(grid.size, _VALUE, part)).tolist() for part in range(1, dims + 2)
    ]
    is_longer = (draw.below(8, _OPEN) == 0).tolist()
    return [
        [*row] if longer else [*row[:-1]]
        for longer, row in zip(is_longer, zip(*columns, strict=True), strict=True)
    ]


def _subjects(draw: Draw, skew: float) -> list[list[str]]:
    return [
        [_SUBJECTS[each] for each in draw.ranked(len(_SUBJECTS), skew, _SUBJECT, part).tolist()]
        for part in range(2)
    ]


# -- documents -------------------------------------------------------------------------------------


def path_clauses(draw: Draw, grid: Grid, names: Sequence[str], skew: float) -> dict[str, list[str]]:
    """Return paths in their canonical text: along the levels, with gaps, ``*``, a branch, ranges.

    The last step asks for numbers between two ends, in three of four paths.
    """
    ways = _names(draw, skew, 0)
    ranges = [_range_texts(draw, grid, name, part) for part, name in enumerate(names)]
    conditions = [f"[{' and '.join(row)}]" for row in zip(*ranges, strict=True)]
    conditions = _where(draw.below(4, _HAS) > 0, conditions)
    # A second name on the third level, for a branch.
    beside = [
        _LEVELS[2][each] for each in draw.ranked(len(_LEVELS[2]), skew, _NAME, 1 << 8).tolist()
    ]
    made = []
    for form, way, condition, other in zip(
        draw.below(7, _FORM).tolist(), ways, conditions, beside, strict=True
    ):
        made.append(f'doc path "{_path(form, way, condition, other)}"')
    return {"doc": made}


def _path(form: int, way: Sequence[str], condition: str, beside: str) -> str:
    one, two, three, four, five = way
    if form == 0:
        return f"/{one}/{two}/{three}/{four}/{five}{condition}"
    if form == 1:
        return f"//{four}/{five}{condition}"
    if form == 2:
        return f"/{one}//{four}/{five}{condition}"
    if form == 3:
        return f"//{three}//{five}{condition}"
    if form == 4:
        return f"/{one}/*/{three}/*/{five}{condition}"
    if form == 5:
        return f"//{five}{condition}"
    if beside == three:
        return f"/{one}/{two}/{three}"
    # Branches are in the order of their texts, and the last one goes on as the path.
    branch, last = sorted((f"/{beside}", f"/{three}//{five}{condition}"))
    return f"/{one}/{two}[.{branch}]{last}"


def documents(draw: Draw, grid: Grid, names: Sequence[str], skew: float) -> list[dict[str, Any]]:
    """Return documents as a notification in JSON has them: nested objects, or XML."""
    ways = [_names(draw, skew, 1 + way) for way in range(_WAYS)]
    values = [
        [
            grid.values(draw.below(grid.size, _VALUE, way << 8 | part)).tolist()
            for part in range(len(names))
        ]
        for way in range(_WAYS)
    ]
    as_xml = (draw.below(2, _FORMAT) == 0).tolist()
    made = []
    for row, is_xml in enumerate(as_xml):
        body: dict[str, Any] = {}
        for way, numbers in zip(ways, values, strict=True):
            inner = body
            # XML has one outermost element: all ways begin with that of the first.
            for name in (ways[0][row][0], *way[row][1:]):
                inner = inner.setdefault(name, {})
            inner.update({name: each[row] for name, each in zip(names, numbers, strict=True)})
        made.append(xml_value(_elements(body, names)) if is_xml else body)
    return made


def _elements(body: Mapping[str, Any], numbers: Sequence[str]) -> Document:
    """Return nested objects as elements, with the numbers as attributes."""
    names: list[str] = []
    parents: list[int] = []
    records: list[dict[str, Any]] = []
    todo: list[tuple[str, Mapping[str, Any], int]] = [
        (name, each, -1) for name, each in body.items()
    ]
    while todo:
        name, inner, parent = todo.pop()
        names.append(name)
        parents.append(parent)
        record: dict[str, Any] = {}
        for each in numbers:
            if each in inner:
                set_text(record, each, repr(inner[each]))
        records.append(record)
        todo += [
            (each, value, len(names) - 1)
            for each, value in reversed(list(inner.items()))
            if each not in numbers
        ]
    return Document(names, parents, records)


def _names(draw: Draw, skew: float, way: int) -> list[tuple[str, ...]]:
    """Return a name of each level for each row."""
    chosen = [
        draw.ranked(len(names), skew, _NAME, way << 4 | level).tolist()
        for level, names in enumerate(_LEVELS)
    ]
    return [
        tuple(names[each] for names, each in zip(_LEVELS, row, strict=True))
        for row in zip(*chosen, strict=True)
    ]


def _range_texts(draw: Draw, grid: Grid, name: str, part: int) -> list[str]:
    """Return a range between two uniform numbers for each row."""
    one, other = (draw.below(grid.size, purpose, part) for purpose in (_ONE, _OTHER))
    lows: IntArray = np.minimum(one, other)
    highs: IntArray = np.maximum(one, other)
    return [
        f"{name} = {low}" if low == high else f"{name} in [{low}, {high}]"
        for low, high in zip(grid.texts(lows), grid.texts(highs), strict=True)
    ]


def _where(asked: BoolArray, texts: list[str]) -> list[str]:
    """Return the texts of some rows, and an empty one for each other row."""
    return [text if is_asked else "" for is_asked, text in zip(asked.tolist(), texts, strict=True)]
