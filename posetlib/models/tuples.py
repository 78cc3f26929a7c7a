"""Tuples: a tuple is read as a record, and a template is a filter over that record.

The record of ``("Foo", 3)`` is ``{"_len": 2, "_0": "Foo", "_1": 3}``. A template always says how
long its tuples are: a condition on the second field implies that there are two, and covering only
sees what is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from posetlib.constraints import Constraint, Numbers
from posetlib.constraints.base import text_of
from posetlib.errors import FilterError, FilterSyntaxError
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter

__all__ = ["parse_template", "template_text", "tuple_record"]

#: The attribute that has the length of a tuple.
_LENGTH: Final = "_len"
_FIELD: Final = re.compile(r"_(0|[1-9][0-9]*)")
# The names of the length and the first fields: to make them takes longer than to look them up.
_NAMES: Final = (_LENGTH, *(f"_{i}" for i in range(63)))
# The longest text of a template, in characters.
_MAX_LENGTH: Final = 100_000
# The most fields of a template.
_MAX_FIELDS: Final = 1_000
# A piece of a template: a string or a quoted name as a whole, or one other character.
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|`(?:[^`]|``)+`|.', re.DOTALL)
# A field that is a value: what follows is its whole text.
_VALUE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[+-]?[.\d][\w.+/-]*|true|false', re.IGNORECASE)


def tuple_record(values: Sequence[Any]) -> dict[str, Any]:
    """Return the record that a tuple is read as.

    >>> tuple_record(("StockQuote", 45))
    {'_len': 2, '_0': 'StockQuote', '_1': 45}
    """
    if type(values) not in (tuple, list) and (
        isinstance(values, str | bytes) or not isinstance(values, Sequence)
    ):
        raise TypeError(f"a tuple is a sequence of values, not {type(values).__name__}")
    if len(values) < len(_NAMES):
        return dict(zip(_NAMES, (len(values), *values)))  # noqa: B905 - a word less is faster
    return {_LENGTH: len(values), **{f"_{i}": value for i, value in enumerate(values)}}


def parse_template(text: str) -> Filter:
    """Return the filter of a template: ``*``, a value, or a condition for each field.

    A last ``...`` stands for any number of further fields.

    >>> template = parse_template('("StockQuote", *, >= 3)')
    >>> template
    Filter('_0 = "StockQuote" and _2 >= 3 and _len = 3')
    >>> template.matches(tuple_record(("StockQuote", "Foo Inc", 5)))
    True
    """
    if not isinstance(text, str):
        raise TypeError(f"the text of a template is a string, not {type(text).__name__}")
    if len(text) > _MAX_LENGTH:
        raise FilterError(f"a template has at most {_MAX_LENGTH:,} characters")
    fields = _fields_of(text)
    is_open = bool(fields) and fields[-1][0] == "..."
    if is_open:
        fields.pop()
    if len(fields) > _MAX_FIELDS:
        raise FilterError(f"a template has at most {_MAX_FIELDS:,} fields")
    length = Numbers.points([len(fields)])
    if is_open:
        length = _at_least(len(fields))
    constraints: dict[str, Constraint] = {_LENGTH: length}
    for i, (field, column) in enumerate(fields):
        if field != "*":
            constraints[f"_{i}"] = _constraint_of(field, i, column)
    return Filter(constraints)


def _at_least(length: int) -> Numbers:
    found = parse_filter(f"{_LENGTH}:int >= {length}").get(_LENGTH)
    assert isinstance(found, Numbers)
    return found


def _fields_of(text: str) -> list[tuple[str, int]]:
    """Return the fields as they are written, and the columns where they begin."""
    stripped = text.strip()
    if not (stripped.startswith("(") and stripped.endswith(")")) or len(stripped) < 2:
        raise _error(text, 0, "a template is a list of fields in parentheses")
    start = text.index("(") + 1
    end = start + len(stripped) - 2
    fields, depth, begin = [], 0, start
    for piece in _PIECE.finditer(text, start, end):
        sign = piece.group()
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth <= 0:
            fields.append((begin, piece.start()))
            begin = piece.end()
    if fields or text[start:end].strip():
        fields.append((begin, end))
    found = []
    for first, last in fields:
        field = text[first:last].strip()
        column = first + len(text[first:last]) - len(text[first:last].lstrip())
        if not field:
            raise _error(text, column, "a field is *, a value or a condition, not empty")
        if field == "..." and last != end:
            raise _error(text, column, "... is the last field")
        found.append((field, column))
    return found


def _constraint_of(field: str, number: int, column: int) -> Constraint:
    """Return the constraint of a field, written as a value or as a condition without its name."""
    name = f"_{number}"
    written = f"{name} = {field}" if _VALUE.fullmatch(field) else f"{name} {field}"
    if field.lower().startswith("exists"):
        raise FilterError(f"field {number}: * stands for any value")
    try:
        parsed = parse_filter(written)
    except FilterSyntaxError as error:
        raise FilterError(f"field {number}, {field!r} (column {column + 1}): {error}") from None
    found = parsed.get(name)
    if found is None or len(parsed.attributes) != 1:
        raise FilterError(f"field {number}, {field!r}: a condition is about its own field alone")
    return found


def template_text(template: Filter) -> str:
    """Return a filter over tuples as a template; FilterError if it is not one.

    >>> template_text(parse_template('("a", *, in [1, 5], ...)'))
    '("a", *, in [1, 5], ...)'
    """
    length = template.get(_LENGTH)
    if length is None:
        raise FilterError(f"not a template: it does not say how long a tuple is ({_LENGTH})")
    fields: dict[int, str] = {}
    for name, constraint in template.constraints.items():
        if name != _LENGTH:
            place = _FIELD.fullmatch(name)
            if place is None:
                raise FilterError(f"not a template: {name} is no field of a tuple")
            fields[int(place[1])] = _field_text(constraint, name)
    for count in range(max(fields, default=-1) + 1, _MAX_FIELDS + 1):
        if length == Numbers.points([count]):
            return f"({', '.join(fields.get(i, '*') for i in range(count))})"
        if length == _at_least(count):
            return f"({', '.join([*(fields.get(i, '*') for i in range(count)), '...'])})"
    raise FilterError(f"not a template: {text_of(length, _LENGTH)} is no length of a template")


def _field_text(constraint: Constraint, name: str) -> str:
    clauses = constraint.clauses(name)
    if len(clauses) > 1 or clauses[0].startswith(("exists", "(")) or " and " in clauses[0]:
        # Several conditions: the others name the field themselves.
        joined = " or ".join(clauses)
        if not joined.startswith(name + " "):
            raise FilterError(f"not a template: {joined} is no condition of one field")
        return joined.removeprefix(name + " ")
    condition = clauses[0].removeprefix(name).strip()
    value = condition.removeprefix("= ")
    return value if condition.startswith("= ") and _VALUE.fullmatch(value) else condition


def _error(text: str, position: int, message: str) -> FilterSyntaxError:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return FilterSyntaxError(message, line=line, column=column)
