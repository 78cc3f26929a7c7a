"""Expressions of one shape in columns: a column of predicates for each leaf, a row for each pair.

The trees of one shape are evaluated together. A leaf is the words of its predicates, a bit for each
notification of a block; AND and OR are those of words. Rows that are decided are not looked at
again, so children that decide most rows come first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import FloatArray, IntArray, Words
from posetlib.expressions.tree import Junction, Leaf, Node, fold, leaves_of

__all__ = ["Arranged", "Column", "Places", "Plan", "ShapeRows", "arranged", "plan_of"]

Numbers32: TypeAlias = NDArray[np.int32]

# The first rows of a shape; their number doubles when they are full.
_FIRST_ROWS: Final = 32
# Rows whose predicates are looked at to learn how selective a column is.
_SAMPLE: Final = 512
# If fewer rows than this share are left, only these are evaluated.
_FEW: Final = 0.75
# Rows that are evaluated before it is asked again which interfaces are complete.
_SHORTCUT_ROWS: Final = 8_192
# The rows that are looked at first for any that matches; each further block has four times as many.
_FIRST_BLOCK: Final = 256


class Column(NamedTuple):
    """A leaf of a plan: the column of its predicates."""

    number: int
    negated: bool


class Plan(NamedTuple):
    """A junction of a plan, with its children in the order in which they are evaluated."""

    conjunctive: bool
    children: list[Column | Plan]


class Arranged(NamedTuple):
    """A tree with its children in an order that all trees of its shape share."""

    #: Says which trees have one shape: the same operators over leaves on the same attributes.
    shape: str
    tree: Node


def arranged(root: Node) -> Arranged:
    """Return a tree in the order of its shape.

    >>> from posetlib import parse_expression
    >>> arranged(parse_expression("b = 1 and (c = 1 or not (a = 1))").root).shape
    "&('b',|('a'!,'c'))"
    """

    def of_leaf(leaf: Leaf) -> Arranged:
        return Arranged(f"{leaf.attribute!r}{'!' if leaf.negated else ''}", leaf)

    def of_junction(node: Junction, parts: list[Arranged]) -> Arranged:
        parts.sort(key=_shape_of)
        inside = ",".join(part.shape for part in parts)
        tree = Junction(node.conjunctive, tuple(part.tree for part in parts))
        return Arranged(f"{'&' if node.conjunctive else '|'}({inside})", tree)

    return fold(root, of_leaf, of_junction)


def _shape_of(part: Arranged) -> str:
    return part.shape


def plan_of(tree: Node) -> Column | Plan:
    """Return the plan of an arranged tree; its columns are its leaves from left to right."""
    numbers = count()

    def of_leaf(leaf: Leaf) -> Column | Plan:
        return Column(next(numbers), leaf.negated)

    def of_junction(node: Junction, parts: list[Column | Plan]) -> Column | Plan:
        return Plan(node.conjunctive, parts)

    return fold(tree, of_leaf, of_junction)


class Places:
    """Numbers for the members of all shapes, each with its row in the shape that it belongs to."""

    def __init__(self) -> None:
        self._rows: Numbers32 = np.zeros(_FIRST_ROWS, np.int32)
        self._count = 0
        self._free: list[int] = []

    def take(self) -> int:
        """Return a number that no member has."""
        if self._free:
            return self._free.pop()
        place, self._count = self._count, self._count + 1
        if place == len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros_like(self._rows)))
        return place

    def release(self, place: int) -> None:
        """Let the number of a member be taken again."""
        self._free.append(place)

    def add_to(
        self, shape: ShapeRows, place: int, predicates: Sequence[int], interface: int
    ) -> None:
        """Give a member a row of its shape."""
        self._rows[place] = shape.add(place, predicates, interface)

    def remove_from(self, shape: ShapeRows, place: int) -> None:
        """Take the row of a member out of its shape."""
        row = int(self._rows[place])
        moved = shape.remove(row)
        self._rows[moved] = row


class ShapeRows:
    """The pairs whose expressions have one shape, as rows; each row knows the place of its pair."""

    def __init__(self, tree: Node) -> None:
        self._plan = plan_of(tree)
        self._columns = sum(1 for _ in leaves_of(tree))
        self._predicates: Numbers32 = np.zeros((self._columns, _FIRST_ROWS), np.int32)
        self._interfaces: Numbers32 = np.zeros(_FIRST_ROWS, np.int32)
        self._places: Numbers32 = np.zeros(_FIRST_ROWS, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """The bytes of the columns that are in use."""
        return len(self) * (self._columns + 2) * self._predicates.itemsize

    def add(self, place: int, predicates: Sequence[int], interface: int) -> int:
        """Add a row, and return its number."""
        row = self._count
        if row == len(self._interfaces):
            self._predicates = np.concatenate(
                (self._predicates, np.zeros_like(self._predicates)), axis=1
            )
            self._interfaces = np.concatenate((self._interfaces, np.zeros_like(self._interfaces)))
            self._places = np.concatenate((self._places, np.zeros_like(self._places)))
        self._predicates[:, row] = predicates
        self._interfaces[row] = interface
        self._places[row] = place
        self._count += 1
        return row

    def remove(self, row: int) -> int:
        """Remove a row; the last one takes its number. Returns whose row has that number now."""
        self._count -= 1
        end = self._count
        self._predicates[:, row] = self._predicates[:, end]
        self._interfaces[row] = self._interfaces[end]
        self._places[row] = self._places[end]
        return int(self._places[row])

    # -- evaluating --------------------------------------------------------------------------------

    def match(self, words: Words, all_bits: np.uint64, found: Words, *, few: bool) -> int:
        """Set the bits of matched notifications in the word of each interface in ``found``.

        ``words`` has the word of each predicate. If the interfaces are ``few``, rows whose
        interface has all bits already are left out, block by block. Returns the rows evaluated.
        """
        evaluated = 0
        step = _SHORTCUT_ROWS if few else max(len(self), 1)
        for first in range(0, len(self), step):
            end = min(first + step, len(self))
            interfaces = self._interfaces[first:end]
            rows: IntArray | None = None
            if few:
                open_rows = np.flatnonzero(found[interfaces] != all_bits)
                if not len(open_rows):
                    continue
                if len(open_rows) < _FEW * (end - first):
                    rows, interfaces = open_rows, interfaces[open_rows]
            block = _Block(self._predicates[:, first:end], words, all_bits)
            matched = block.evaluate(self._plan, rows)
            evaluated += len(matched)
            hit = np.flatnonzero(matched)
            np.bitwise_or.at(found, interfaces[hit], matched[hit])
        return evaluated

    def any(self, words: Words, all_bits: np.uint64) -> bool:
        """Return whether any row matches any notification; stops when one is found."""
        first, step = 0, _FIRST_BLOCK
        while first < len(self):
            end = min(first + step, len(self))
            block = _Block(self._predicates[:, first:end], words, all_bits)
            if block.evaluate(self._plan, None).any():
                return True
            first, step = end, 4 * step
        return False

    def reorder(self, selectivities: FloatArray) -> None:
        """Put the children of each node in order by the shares of notifications that satisfy them.

        Of an AND the child that is satisfied least comes first, of an OR the one that is most.
        """
        every = max(1, len(self) // _SAMPLE)
        sample = self._predicates[:, : len(self) : every]
        shares = selectivities[sample].mean(axis=1) if len(self) else np.ones(self._columns)
        self._plan = _ordered(self._plan, shares)[0]


class _Block:
    """Some rows, with the words of all predicates."""

    def __init__(self, predicates: Numbers32, words: Words, all_bits: np.uint64) -> None:
        self._predicates = predicates
        self._words = words
        self._all = all_bits

    def evaluate(self, plan: Column | Plan, rows: IntArray | None) -> Words:
        """Return the word of each row, or of the given rows.

        This calls itself once for each level of the plan, of which a tree has at most MAX_DEPTH.
        """
        if isinstance(plan, Column):
            column = self._predicates[plan.number]
            found: Words = self._words[column if rows is None else column[rows]]
            return found ^ self._all if plan.negated else found
        if not plan.children:
            length = self._predicates.shape[1] if rows is None else len(rows)
            return np.full(length, self._all if plan.conjunctive else 0, np.uint64)
        result = self.evaluate(plan.children[0], rows)
        decided = np.uint64(0) if plan.conjunctive else self._all
        join = np.bitwise_and if plan.conjunctive else np.bitwise_or
        for child in plan.children[1:]:
            left = np.flatnonzero(result != decided)
            if not len(left):
                break
            if len(left) < _FEW * len(result):
                values = self.evaluate(child, left if rows is None else rows[left])
                result[left] = join(result[left], values)
            else:
                join(result, self.evaluate(child, rows), out=result)
        return result


def _ordered(plan: Column | Plan, shares: FloatArray) -> tuple[Column | Plan, float]:
    """Return a plan in order, and the share of notifications that satisfy it."""
    if isinstance(plan, Column):
        share = float(shares[plan.number])
        return plan, 1 - share if plan.negated else share
    children = [_ordered(child, shares) for child in plan.children]
    children.sort(key=lambda each: each[1], reverse=not plan.conjunctive)
    if plan.conjunctive:
        share = math.prod(each for _, each in children)
    else:
        share = 1 - math.prod(1 - each for _, each in children)
    return Plan(plan.conjunctive, [child for child, _ in children]), share
