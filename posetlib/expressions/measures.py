"""Numbers that are read off a tree: its predicates and operators, p_min, and its encoded size."""

from __future__ import annotations

from typing import Final

from posetlib.errors import FilterError
from posetlib.expressions.tree import Junction, Leaf, Node, fold, leaves_of

__all__ = ["decode", "encode", "encoded_size", "operators_of", "p_min", "predicates_of"]

# The bytes that begin the code of a node. An AND at the root over leaves alone has a byte of its
# own: whoever has as many hits as it has children matches.
_AND: Final = 1
_OR: Final = 2
_LEAF: Final = 4
_PLAIN_AND: Final = 3
_NEGATED_LEAF: Final = 5
# Bytes of a predicate's number.
_NUMBER_BYTES: Final = 4
# The most children of a node: their number is one byte.
_MAX_CHILDREN: Final = 255


def p_min(root: Node) -> int:
    """Return the least number of leaves that hold whenever the tree holds.

    A leaf counts 1, an OR the least of its children, an AND their sum. A negated leaf counts 0: it
    holds when its predicate is not hit.

    >>> from posetlib import parse_expression
    >>> p_min(parse_expression("a = 1 and (b = 1 or c = 1 and d = 1)").root)
    2
    """

    def of_junction(node: Junction, counts: list[int]) -> int:
        return sum(counts) if node.conjunctive else min(counts, default=0)

    return fold(root, lambda leaf: 0 if leaf.negated else 1, of_junction)


def predicates_of(root: Node) -> int:
    """Return the number of leaves, one that occurs twice counted twice: |p|."""
    return sum(1 for _ in leaves_of(root))


def operators_of(root: Node) -> int:
    """Return the number of ANDs and ORs: |op|."""
    return fold(root, lambda _: 0, lambda _, counts: 1 + sum(counts))


def encoded_size(root: Node) -> int:
    """Return the number of bytes that ``encode`` takes: 5 |p| + 2 |op|.

    >>> from posetlib import parse_expression
    >>> encoded_size(parse_expression("a = 1 and (b = 1 or c = 1)").root)
    19
    """
    return (1 + _NUMBER_BYTES) * predicates_of(root) + 2 * operators_of(root)


def encode(root: Node, numbers: dict[Leaf, int]) -> bytes:
    """Return a tree as bytes; ``numbers`` has the number of each predicate, as a leaf not negated.

    A leaf is a byte and four bytes of its number, a junction a byte, the number of its children in
    another one, and the children. FilterError for a node with more than 255 children.
    """
    plain = isinstance(root, Junction) and root.conjunctive
    plain = plain and all(isinstance(child, Leaf) for child in root.children)  # type: ignore[union-attr]

    def of_leaf(leaf: Leaf) -> bytes:
        number = numbers[leaf._replace(negated=False)]
        kind = _NEGATED_LEAF if leaf.negated else _LEAF
        return bytes((kind,)) + number.to_bytes(_NUMBER_BYTES, "big")

    def of_junction(node: Junction, parts: list[bytes]) -> bytes:
        if len(parts) > _MAX_CHILDREN:
            raise FilterError(
                f"a node has {len(parts)} children; at most {_MAX_CHILDREN} have code"
            )
        kind = _PLAIN_AND if plain else _AND if node.conjunctive else _OR
        return bytes((kind, len(parts))) + b"".join(parts)

    return fold(root, of_leaf, of_junction)


def decode(code: bytes, leaves: dict[int, Leaf]) -> Node:
    """Return the tree that ``encode`` wrote; ``leaves`` has the predicate of each number."""
    at = 0
    # The junctions that are not complete: AND or OR, how many children they have, and these so far.
    around: list[tuple[bool, int, list[Node]]] = []
    while True:
        kind, at = code[at], at + 1
        node: Node
        if kind in (_LEAF, _NEGATED_LEAF):
            number = int.from_bytes(code[at : at + _NUMBER_BYTES], "big")
            node, at = leaves[number]._replace(negated=kind == _NEGATED_LEAF), at + _NUMBER_BYTES
        else:
            around.append((kind != _OR, code[at], []))
            at += 1
            if around[-1][1]:
                continue
            node = Junction(around.pop()[0], ())
        while around:
            conjunctive, count, children = around[-1]
            children.append(node)
            if len(children) < count:
                break
            around.pop()
            node = Junction(conjunctive, tuple(children))
        else:
            return node
