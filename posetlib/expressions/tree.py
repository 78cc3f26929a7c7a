"""The trees of expressions: leaves, AND and OR; and the normal form into which every tree is put.

A tree has no NOT inside: De Morgan's laws push every negation down to a leaf, which says whether it
is negated. An AND has no AND among its children, and an OR no OR. All work on trees goes through
loops with a stack of their own, so that no nesting can exhaust Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias, TypeVar

from posetlib.constraints.base import Constraint, text_of
from posetlib.constraints.mixtures import conjunction, disjunction
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.names import name_text

__all__ = [
    "FALSE",
    "MAX_DEPTH",
    "MAX_LEAVES",
    "TRUE",
    "Junction",
    "Leaf",
    "Negation",
    "Node",
    "RawJunction",
    "RawNode",
    "depth_of",
    "fold",
    "joined",
    "leaf_text",
    "leaves_of",
    "normalised",
    "text_of_tree",
]

#: The most leaves of an expression, and the most levels of AND and OR that alternate.
MAX_LEAVES: Final = 4_096
MAX_DEPTH: Final = 100

ValueT = TypeVar("ValueT")


class Leaf(NamedTuple):
    """A constraint on an attribute, or its complement.

    A negated leaf holds wherever the constraint does not: for values that do not satisfy it, and
    where the attribute is absent.
    """

    attribute: str
    constraint: Constraint
    negated: bool = False


class Junction(NamedTuple):
    """An AND or an OR of its children."""

    #: Whether all children must hold, and not just one of them.
    conjunctive: bool
    children: tuple[Node, ...]


#: A node of a tree in normal form.
Node: TypeAlias = "Leaf | Junction"


class Negation(NamedTuple):
    """A NOT, as it is parsed; trees in normal form have none."""

    child: RawNode


class RawJunction(NamedTuple):
    """An AND or OR whose children are not in normal form yet."""

    conjunctive: bool
    children: Sequence[RawNode]


#: A node of a tree that is not in normal form yet.
RawNode: TypeAlias = "Leaf | Junction | RawJunction | Negation"

#: An AND of nothing always holds, and an OR of nothing never does.
TRUE: Final = Junction(True, ())
FALSE: Final = Junction(False, ())


# -- walking ---------------------------------------------------------------------------------------


def fold(
    root: Node,
    of_leaf: Callable[[Leaf], ValueT],
    of_junction: Callable[[Junction, list[ValueT]], ValueT],
) -> ValueT:
    """Return what a tree amounts to: a value for each leaf, and one for each node from below.

    >>> from posetlib.constraints import EXISTS
    >>> tree = Junction(True, (Leaf("x", EXISTS), Leaf("y", EXISTS)))
    >>> fold(tree, lambda leaf: 1, lambda junction, values: sum(values))
    2
    """
    values: list[ValueT] = []
    # Nodes to do; a junction comes a second time, as a pair with True, once its children are done.
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, children_are_done = waiting.pop()
        if isinstance(node, Leaf):
            values.append(of_leaf(node))
        elif children_are_done:
            first = len(values) - len(node.children)
            parts = values[first:]
            del values[first:]
            values.append(of_junction(node, parts))
        else:
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(node.children)]
    return values[0]


def leaves_of(root: Node) -> Iterator[Leaf]:
    """Yield the leaves from left to right."""
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Leaf):
            yield node
        else:
            waiting += reversed(node.children)


def depth_of(root: Node) -> int:
    """Return the number of junctions on the longest way from the root to a leaf."""
    return fold(root, lambda _: 0, lambda _, depths: 1 + max(depths, default=0))


# -- the normal form -------------------------------------------------------------------------------


def normalised(raw: RawNode) -> Node:
    """Return the normal form of a tree; FilterError if it is too large or too deep.

    >>> from posetlib.constraints import EXISTS
    >>> x, y = Leaf("x", EXISTS), Leaf("y", EXISTS)
    >>> text_of_tree(normalised(Negation(RawJunction(True, [x, Negation(y)]))))
    'not (exists x) or exists y'
    """
    # The junctions on the way down: AND or OR, and the parts in normal form so far. The first is
    # an AND around everything, and costs one level.
    open_junctions: list[tuple[bool, list[Node]]] = [(True, [])]
    # What is still to do in reverse order: a node and whether it is negated, or None where a
    # junction is complete.
    waiting: list[tuple[RawNode, bool] | None] = [(raw, False)]
    while waiting:
        item = waiting.pop()
        if item is None:
            conjunctive, parts = open_junctions.pop()
            open_junctions[-1][1].append(joined(conjunctive, parts))
            continue
        node, negated = item
        while not isinstance(node, Leaf):
            if isinstance(node, Negation):
                node, negated = node.child, not negated
            elif len(node.children) == 1:
                node = node.children[0]
            else:
                break
        if isinstance(node, Leaf):
            if negated:
                node = node._replace(negated=not node.negated)
            atoms = _atoms(node)
            if isinstance(atoms, Leaf):
                open_junctions[-1][1].append(atoms)
                continue
            node, negated = atoms, False
        conjunctive = node.conjunctive is not negated
        if conjunctive is not open_junctions[-1][0]:
            open_junctions.append((conjunctive, []))
            waiting.append(None)
            if len(open_junctions) > MAX_DEPTH + 1:
                raise FilterError(
                    f'too deep: "and" and "or" alternate more than {MAX_DEPTH} levels deep'
                )
        waiting += [(child, negated) for child in reversed(node.children)]
    root = joined(*open_junctions[0])
    count = sum(1 for _ in leaves_of(root))
    if count > MAX_LEAVES:
        raise FilterError(f"too large: {count:,} conditions; at most {MAX_LEAVES:,}")
    return root


def _atoms(leaf: Leaf) -> Leaf | RawJunction | Junction:
    """Return a leaf as it is, or as a tree where its constraint says no more than a tree does."""
    name, constraint, negated = leaf
    if constraint.contradicts_itself(name):
        return TRUE if negated else FALSE
    denied = constraint.denied()
    if denied is not None:
        return Leaf(name, denied, not negated)
    alternatives = constraint.alternatives()
    if alternatives is None:
        return leaf
    # A mixture of kinds: an OR of ANDs, or the opposite if it is negated.
    terms = [
        RawJunction(not negated, [Leaf(name, atom, negated) for atom in sorted(term, key=_order)])
        for term in alternatives
    ]
    return RawJunction(negated, terms)


def _order(constraint: Constraint) -> str:
    return text_of(constraint, "x")


def joined(conjunctive: bool, parts: Iterable[Node]) -> Node:
    """Return an AND or OR of trees in normal form, itself in normal form.

    Leaves on one attribute become one leaf where one constraint says the same.
    """
    leaves: dict[tuple[str, bool], list[Constraint]] = {}
    others: dict[Node, None] = {}
    waiting = list(reversed(list(parts)))
    while waiting:
        part = waiting.pop()
        if isinstance(part, Leaf):
            leaves.setdefault((part.attribute, part.negated), []).append(part.constraint)
        elif part.conjunctive is conjunctive:
            waiting += reversed(part.children)
        elif not part.children:
            return part  # FALSE in an AND, TRUE in an OR
        else:
            others[part] = None
    children: list[Node] = []
    for (name, negated), constraints in leaves.items():
        try:
            fewer = _one_for_all(constraints, both=conjunctive is not negated)
        except EmptyConstraintError:
            return TRUE if negated else FALSE
        children += [Leaf(name, constraint, negated) for constraint in fewer]
    children += others
    if len(children) == 1:
        return children[0]
    children.sort(key=_place)
    return Junction(conjunctive, tuple(children))


def _place(child: Node) -> tuple[object, ...]:
    """Return what children are sorted by: leaves come first, by attribute."""
    text = text_of_tree(child)
    return (0, child.attribute, child.negated, text) if isinstance(child, Leaf) else (1, text)


def _one_for_all(constraints: list[Constraint], *, both: bool) -> list[Constraint]:
    """Return fewer constraints for the intersection (``both``), or for the union.

    Those of one kind become one, unless that would be too complex or of another kind.
    Raises EmptyConstraintError if no value satisfies all constraints of one kind.
    """
    if len(constraints) == 1:
        return constraints
    by_kind: dict[type[Constraint], list[Constraint]] = {}
    for constraint in dict.fromkeys(constraints):
        by_kind.setdefault(type(constraint), []).append(constraint)
    join = conjunction if both else disjunction
    result: list[Constraint] = []
    for members in by_kind.values():
        try:
            fewer = _kept(join(members), both=both) if len(members) > 1 else None
        except EmptyConstraintError:
            raise
        except FilterError:
            fewer = None  # too complex for one constraint: they stay several
        result += fewer or members
    return result


def _kept(constraint: Constraint, *, both: bool) -> list[Constraint] | None:
    """Return the constraints that a joined one consists of; None if these are more than a list."""
    terms = constraint.alternatives()
    if terms is None:
        return [constraint]
    if both:
        return sorted(terms[0], key=_order) if len(terms) == 1 else None
    if all(len(term) == 1 for term in terms):
        return [next(iter(term)) for term in terms]
    return None


# -- text ------------------------------------------------------------------------------------------


def leaf_text(leaf: Leaf) -> str:
    """Return the text of a leaf alone."""
    return _written(leaf)[0]


@lru_cache(maxsize=1 << 14)
def _written(leaf: Leaf) -> tuple[str, bool]:
    """Return the text of a leaf, and whether it needs parentheses next to "and"."""
    clauses = leaf.constraint.clauses(name_text(leaf.attribute))
    text = " or ".join(clauses)
    return (f"not ({text})", False) if leaf.negated else (text, len(clauses) > 1)


def text_of_tree(root: Node, *, bound: bool = False) -> str:
    """Return the text of a tree; in parentheses where it needs them next to ``and`` (``bound``)."""

    # Texts come with whether parentheses are needed next to "and".
    def of_junction(node: Junction, parts: list[tuple[str, bool]]) -> tuple[str, bool]:
        if not parts:
            return ("true" if node.conjunctive else "false"), False
        if node.conjunctive:
            return " and ".join(f"({text})" if loose else text for text, loose in parts), False
        return " or ".join(text for text, _ in parts), True

    text, loose = fold(root, _written, of_junction)
    return f"({text})" if bound and loose else text
