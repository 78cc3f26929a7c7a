"""The relation of tables of expressions: all that a table must know about their language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from posetlib.errors import FilterError, SnapshotError
from posetlib.expressions.expression import Expression
from posetlib.expressions.matcher import ExpressionMatcher
from posetlib.expressions.parsing import parse_expression
from posetlib.search.relation import Relation
from posetlib.tables.filter_relation import hierarchy_in, read_types

__all__ = ["EXPRESSIONS"]


def _covers(one: Expression, other: Expression) -> bool:
    return one.covers(other)


def _matches(one: Expression, notification: Mapping[str, Any]) -> bool:
    return one.matches(notification)


def _check(item: object) -> None:
    if not isinstance(item, Expression):
        raise TypeError(f"the table holds expressions, not {type(item).__name__}")


def _context(items: Iterable[Expression]) -> dict[str, Any]:
    try:
        types = hierarchy_in(leaf.constraint for item in items for leaf in item.leaves())
    except FilterError as error:
        raise SnapshotError(f"expressions of two hierarchies: {error}") from None
    return {} if types is None else {"types": types.to_dict()}


def _reader(context: Mapping[str, Any]) -> Callable[[str], Expression]:
    types = read_types(context)
    return lambda text: parse_expression(text, types=types)


#: For every table: ``pl.FiltersPoset(relation=pl.EXPRESSIONS)``. Expressions are written as text.
EXPRESSIONS: Final[Relation[Expression]] = Relation(
    covers=_covers,
    matches=_matches,
    matcher=ExpressionMatcher,
    context=_context,
    reader=_reader,
    check=_check,
)
