"""Parse the text of an expression: the grammar of filters, with ``not`` and any ``or``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from lark import Lark, Token, v_args

from posetlib.constraints.types import TypeHierarchy
from posetlib.expressions.expression import Expression
from posetlib.expressions.tree import (
    FALSE,
    TRUE,
    Leaf,
    Negation,
    RawJunction,
    RawNode,
)
from posetlib.filters.parsing import (
    GRAMMAR,
    ConditionBuilder,
    ParsedConditions,
    Unsatisfiable,
    make_parser,
    parsed,
)

__all__ = ["parse_expression"]

# In a filter, "not" stands before parentheses with one attribute, and there is no "false".
_NEGATION: Final = 'K_NOT "(" disjunction ")"                      -> complement'
_GRAMMAR: Final = GRAMMAR.replace(_NEGATION, "K_NOT factor -> negation\n    | K_FALSE -> nothing")


@v_args(inline=True)
class _TreeBuilder(ConditionBuilder):
    """Builds the tree of an expression; each condition of the filter language becomes a leaf."""

    def nothing(self, token: Token) -> RawNode:
        return FALSE

    def negation(self, token: Token, part: RawNode | ParsedConditions) -> RawNode:
        return Negation(_node(part))

    def conjunction(self, *parts: RawNode | ParsedConditions) -> RawNode:  # type: ignore[override]
        return RawJunction(True, [_node(part) for part in parts])

    def disjunction(self, *parts: RawNode | ParsedConditions) -> RawNode:  # type: ignore[override]
        return RawJunction(False, [_node(part) for part in parts])


def _node(part: Any) -> RawNode:
    """Return a parsed part as a tree. A condition is parsed as one attribute with one item."""
    if not isinstance(part, dict):
        return part  # type: ignore[no-any-return]
    for name, conditions in part.items():
        constraint = conditions.joined(name)
        return FALSE if isinstance(constraint, Unsatisfiable) else Leaf(name, constraint)
    return TRUE


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return make_parser(_GRAMMAR, _TreeBuilder())


def parse_expression(text: str, types: TypeHierarchy | None = None) -> Expression:
    """Return the expression that a text describes; ``isa`` needs the type hierarchy ``types``.

    The text of every filter is the text of an expression that matches the same. ``not`` is the
    complement: it also holds where an attribute is absent. Raises FilterSyntaxError, with the
    position, if the text does not follow the grammar, and FilterError if the expression is too
    large.

    >>> parse_expression('(a = 1 or b > 2) and not (c prefix "x" and exists d)')
    Expression('(a = 1 or b > 2) and (not (c prefix "x") or not (exists d))')
    """
    return parsed(_parser, text, types, lambda part: Expression(_node(part)), "an expression")
