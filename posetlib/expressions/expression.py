"""The class Expression: AND, OR and NOT over the constraints of the filter language."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final

from posetlib.constraints.base import Constraint
from posetlib.errors import FilterError
from posetlib.expressions import comparing
from posetlib.expressions.clauses import Clause, filters_of, forms_within
from posetlib.expressions.dictionaries import tree_from_dict, tree_to_dict
from posetlib.expressions.explaining import ExpressionExplanation, explanation
from posetlib.expressions.simplifying import simplified
from posetlib.expressions.tree import (
    TRUE,
    Junction,
    Leaf,
    Negation,
    Node,
    RawJunction,
    RawNode,
    depth_of,
    fold,
    leaves_of,
    normalised,
    text_of_tree,
)
from posetlib.filters.filter import Filter, check_notification
from posetlib.values import MISSING, lookup

__all__ = ["DEFAULT_CLAUSES", "Expression"]

#: The most filters that ``dnf`` makes unless it is told otherwise.
DEFAULT_CLAUSES: Final = 1_000
# Where the evaluation of a tree ends.
_HOLDS: Final = -1
_FAILS: Final = -2


class Expression:
    """A Boolean expression over constraints on attributes; immutable and hashable.

    ``&``, ``|`` and ``~`` make new ones. NOT is the complement: ``~e`` matches exactly the
    notifications that ``e`` does not match, those without the attribute among them.

    >>> from posetlib import parse_expression
    >>> e = parse_expression("not (x > 3) or y = 1")
    >>> e.matches({"z": 0}), e.matches({"x": 5}), e.matches({"x": 5, "y": 1})
    (True, False, True)
    >>> ~e
    Expression('x > 3 and not (y = 1)')
    """

    __slots__ = ("_bounds", "_code", "_hash", "root")

    #: The tree in normal form (see ``posetlib.expressions.tree``).
    root: Node
    _hash: int
    # The steps of ``matches``, and what ``covers`` compares; missing until they are first needed.
    _code: tuple[tuple[str, Constraint, int, int], ...]
    _bounds: comparing.Bounds

    def __init__(self, tree: RawNode = TRUE) -> None:
        self.root = normalised(tree)
        self._hash = hash(self.root)

    @classmethod
    def of(cls, filter: Filter) -> Expression:
        """Return the expression that matches what a filter matches.

        >>> from posetlib import parse_filter
        >>> Expression.of(parse_filter("x in [0, 5] and y > 2"))
        Expression('x in [0, 5] and y > 2')
        """
        if not isinstance(filter, Filter):
            raise TypeError(f"a filter is needed, not {type(filter).__name__}")
        named = zip(filter.attributes, filter.terms, strict=True)
        return cls(RawJunction(True, [Leaf(name, constraint) for name, constraint in named]))

    @classmethod
    def of_tree(cls, root: Node) -> Expression:
        """Return the expression of a tree that is in normal form already."""
        made = cls.__new__(cls)
        made.root = root
        made._hash = hash(root)
        return made

    # -- reading -----------------------------------------------------------------------------------

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of all attributes in the expression, sorted."""
        return tuple(sorted({leaf.attribute for leaf in leaves_of(self.root)}))

    def leaves(self) -> tuple[Leaf, ...]:
        """Return the conditions from left to right, as (attribute, constraint, negated)."""
        return tuple(leaves_of(self.root))

    @property
    def depth(self) -> int:
        """How many levels of AND and OR the tree has."""
        return depth_of(self.root)

    # -- joining -----------------------------------------------------------------------------------

    def __and__(self, other: Expression) -> Expression:
        if not isinstance(other, Expression):
            return NotImplemented
        return Expression(RawJunction(True, (self.root, other.root)))

    def __or__(self, other: Expression) -> Expression:
        if not isinstance(other, Expression):
            return NotImplemented
        return Expression(RawJunction(False, (self.root, other.root)))

    def __invert__(self) -> Expression:
        return Expression(Negation(self.root))

    # -- matching ----------------------------------------------------------------------------------

    def matches(self, notification: Mapping[str, Any]) -> bool:
        """Return whether the notification satisfies the expression; it stops when that is known."""
        check_notification(notification)
        try:
            code = self._code
        except AttributeError:
            code = self._code = _code_of(self.root)
        step = _HOLDS if self.root == TRUE else 0 if code else _FAILS
        while step >= 0:
            name, constraint, if_so, if_not = code[step]
            value = lookup(notification, name)
            holds = value is not MISSING and constraint.matches_in(value, notification)
            step = if_so if holds else if_not
        return step == _HOLDS

    def holds_with(self, predicates: Mapping[Leaf, int], held: Container[int]) -> bool:
        """Return whether the tree holds if only some predicates hold.

        ``predicates`` has the number of each leaf's constraint, and ``held`` those that hold.
        """

        def of_leaf(leaf: Leaf) -> bool:
            return (predicates[leaf] in held) is not leaf.negated

        return fold(self.root, of_leaf, _all_or_any)

    def explain(self, notification: Mapping[str, Any]) -> ExpressionExplanation:
        """Return which conditions decide whether the notification matches, with reasons.

        >>> from posetlib import parse_expression
        >>> print(parse_expression("x > 3 and (y = 1 or z = 1)").explain({"x": 5, "y": 2}))
        y is 2, but the expression wants y = 1; z is absent, but the expression wants z = 1
        """
        check_notification(notification)
        return explanation(self, notification)

    # -- comparing ---------------------------------------------------------------------------------

    def covers(self, other: Expression) -> bool:
        """Return whether this expression matches every notification that ``other`` matches.

        The answer True is always right, and the relation is reflexive and transitive. See
        docs/expressions.md for where the answer False is exact.

        >>> from posetlib import parse_expression
        >>> parse_expression("not (x > 3)").covers(parse_expression("x <= 3"))
        True
        >>> parse_expression("x <= 3").covers(parse_expression("not (x > 3)"))
        False
        """
        _check_expression(other)
        return self.root == other.root or comparing.covers(self._limits(), other._limits())

    def overlaps(self, other: Expression) -> bool:
        """Return whether both expressions match some notification; True if that is not decided.

        >>> from posetlib import parse_expression
        >>> one = parse_expression("x > 3 or y = 1")
        >>> one.overlaps(parse_expression("x < 2 and y = 2"))
        False
        """
        _check_expression(other)
        return comparing.overlaps(self._limits(), other._limits())

    def _limits(self) -> comparing.Bounds:
        try:
            return self._bounds
        except AttributeError:
            self._bounds = comparing.bounds_of(self.root)
            return self._bounds

    def dnf(self, limit: int = DEFAULT_CLAUSES) -> tuple[Filter, ...]:
        """Return filters that together match what the expression matches; () if nothing does.

        Raises FilterError if there are more than ``limit``, before they are made.

        >>> from posetlib import parse_expression
        >>> parse_expression("x = 1 and (y = 2 or z = 3)").dnf()
        (Filter('x = 1 and y = 2'), Filter('x = 1 and z = 3'))
        """
        return filters_of(self.clauses(limit))

    def clauses(self, limit: int = DEFAULT_CLAUSES) -> tuple[Clause, ...]:
        """Return the disjunctive form: each clause has the leaves of one conjunction.

        Clauses that nothing satisfies, and those that another one makes superfluous, are left out.
        Raises FilterError if there are more than ``limit``.
        """
        if limit < 1:
            raise ValueError(f"limit is at least 1, not {limit!r}")
        found = forms_within(self.root, limit)
        if found is None:
            raise FilterError(f"the disjunctive form has more than {limit:,} conjunctions")
        return found

    def simplify(self) -> Expression:
        """Return an expression for the same notifications without what makes no difference.

        >>> from posetlib import parse_expression
        >>> parse_expression("x > 3 and (x > 2 or y = 1)").simplify()
        Expression('x > 3')
        """
        return Expression.of_tree(simplified(self.root))

    # -- text, dictionaries, equality --------------------------------------------------------------

    def __str__(self) -> str:
        return text_of_tree(self.root)

    def __repr__(self) -> str:
        return f"Expression({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        return self._hash == other._hash and self.root == other.root

    def __hash__(self) -> int:
        return self._hash

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of JSON values: "and", "or", "not", or an attribute's constraint.

        >>> from posetlib import parse_expression
        >>> parse_expression("not (exists x)").to_dict()
        {'not': {'attribute': 'x', 'constraint': {'kind': 'exists'}}}
        """
        return tree_to_dict(self.root)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Expression:
        """Return the expression that ``to_dict`` wrote, or raise FilterError.

        >>> Expression.from_dict({"or": []})
        Expression('false')
        """
        return cls(tree_from_dict(data))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Expression.of_tree, (self.root,))


def _all_or_any(node: Junction, parts: list[bool]) -> bool:
    return all(parts) if node.conjunctive else any(parts)


def _check_expression(other: object) -> None:
    if not isinstance(other, Expression):
        raise TypeError(f"an expression compares with expressions, not {type(other).__name__}")


def _code_of(root: Node) -> tuple[tuple[str, Constraint, int, int], ...]:
    """Return the leaves in order, each with the leaf to go on with if it holds, and if it fails.

    The two ways out are ``_HOLDS`` and ``_FAILS``.
    """
    sizes: dict[int, int] = {}  # id of a junction -> its number of leaves

    def of_junction(node: Junction, parts: list[int]) -> int:
        sizes[id(node)] = sum(parts)
        return sizes[id(node)]

    fold(root, lambda _: 1, of_junction)
    code: list[tuple[str, Constraint, int, int]] = []
    # A node, and where to go on if it holds and if it fails; its first leaf is the next in order.
    waiting: list[tuple[Node, int, int]] = [(root, _HOLDS, _FAILS)]
    while waiting:
        node, if_so, if_not = waiting.pop()
        if isinstance(node, Leaf):
            if node.negated:
                if_so, if_not = if_not, if_so
            code.append((node.attribute, node.constraint, if_so, if_not))
            continue
        after = len(code)
        steps: list[tuple[Node, int, int]] = []
        for child in node.children[:-1]:
            after += 1 if isinstance(child, Leaf) else sizes[id(child)]
            steps.append((child, after, if_not) if node.conjunctive else (child, if_so, after))
        steps += [(child, if_so, if_not) for child in node.children[-1:]]
        waiting += reversed(steps)
    return tuple(code)
