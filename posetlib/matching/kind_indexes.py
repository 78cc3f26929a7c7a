"""The constraints of one attribute whose kind brings an index: asked together, not one by one.

A mixture is asked through the indexes of its atoms, if each of them is of such a kind: two paths on
one attribute are a mixture. ``IndexedSlots`` has the answers as bits, for the bitmap matcher.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from posetlib.array_types import Words
from posetlib.bits import WORD, packed
from posetlib.constraints.base import Constraint, ConstraintIndex, make_index
from posetlib.constraints.extents import Answer
from posetlib.filters.filter import Filter

__all__ = ["IndexedSlots", "KindIndexes", "has_index"]


class KindIndexes:
    """Constraints, each once, and which of them a value satisfies, by the indexes of their kinds.

    Several threads may ask at once, as long as none adds or removes.
    """

    def __init__(self) -> None:
        # Kind -> its index, None for a kind without one.
        self._indexes: dict[str, ConstraintIndex | None] = {}
        # The constraints that were added, mixtures included.
        self._known: dict[Constraint, None] = {}
        # Atom -> how often it was added, by itself and in mixtures; and the mixtures that it is in.
        self._uses: Counter[Constraint] = Counter()
        self._mixtures: dict[Constraint, dict[Constraint, None]] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def takes(self, constraint: Constraint) -> bool:
        """Return whether a constraint is asked here: its values are not found in another way."""
        for atom in _atoms(constraint):
            if self._index(atom.kind) is None:
                return False
        extent = constraint.extent()
        return extent.others is not Answer.NO or not extent.is_sure

    def _index(self, kind: str) -> ConstraintIndex | None:
        if kind not in self._indexes:
            self._indexes[kind] = make_index(kind)
        return self._indexes[kind]

    def add(self, constraint: Constraint) -> None:
        """Add a constraint that is not there, and that ``takes`` agreed to."""
        self._known[constraint] = None
        for atom in _atoms(constraint):
            if not self._uses[atom]:
                index = self._index(atom.kind)
                assert index is not None, "only what has an index is added"
                index.add(atom)
            self._uses[atom] += 1
            if atom is not constraint:
                self._mixtures.setdefault(atom, {})[constraint] = None

    def remove(self, constraint: Constraint) -> None:
        """Remove a constraint; KeyError if it is not there."""
        del self._known[constraint]
        for atom in _atoms(constraint):
            if atom is not constraint:
                del self._mixtures[atom][constraint]
                if not self._mixtures[atom]:
                    del self._mixtures[atom]
            self._uses[atom] -= 1
            if not self._uses[atom]:
                del self._uses[atom]
                index = self._index(atom.kind)
                assert index is not None, "it was added"
                index.remove(atom)

    def satisfied(self, value: Any) -> list[Constraint]:
        """Return the constraints that a value satisfies, each once."""
        found: list[Constraint] = []
        for index in self._indexes.values():
            if index is not None:
                found += index.satisfied(value)
        if not self._mixtures:
            return found
        held = set(found)
        mixtures = dict.fromkeys(each for atom in found for each in self._mixtures.get(atom, ()))
        found = [atom for atom in found if atom in self._known]
        return found + [each for each in mixtures if _holds(each, held)]


def _holds(mixture: Constraint, satisfied: set[Constraint]) -> bool:
    return any(term <= satisfied for term in mixture.alternatives() or ())


def _atoms(constraint: Constraint) -> Iterable[Constraint]:
    """Return the atoms of a mixture, each once; a constraint of one kind is its own atom."""
    terms = constraint.alternatives()
    if not terms:
        return (constraint,)
    return dict.fromkeys(atom for term in terms for atom in term)


def has_index(filter: Filter) -> bool:
    """Return whether a filter has a constraint that matchers ask through an index of its kind."""
    return any(map(KindIndexes().takes, filter.terms))


class IndexedSlots:
    """The slots of a bitmap whose constraint on one attribute is asked through an index."""

    def __init__(self, words: int) -> None:
        self._indexes = KindIndexes()
        self._constraints: dict[int, Constraint] = {}
        self._slots: dict[Constraint, dict[int, None]] = {}
        #: The bits of these slots.
        self._bits: Words = np.zeros(words, dtype=np.uint64)

    def __bool__(self) -> bool:
        return bool(self._constraints)

    def __contains__(self, slot: int) -> bool:
        return slot in self._constraints

    def write(self, slot: int, constraint: Constraint | None) -> None:
        """Note the constraint of a slot, if it is one that an index is asked for."""
        if constraint is None or not self._indexes.takes(constraint):
            return
        slots = self._slots.setdefault(constraint, {})
        if not slots:
            self._indexes.add(constraint)
        slots[slot] = None
        self._constraints[slot] = constraint
        self._bits[slot // WORD] ^= _bit(slot)

    def erase(self, slot: int) -> None:
        """Forget the constraint of a slot, if there is one."""
        constraint = self._constraints.pop(slot, None)
        if constraint is None:
            return
        slots = self._slots[constraint]
        del slots[slot]
        if not slots:
            del self._slots[constraint]
            self._indexes.remove(constraint)
        self._bits[slot // WORD] ^= _bit(slot)

    def settle(self, lines: Words, value: Any) -> None:
        """Set, in lines of bits, those of these slots whose constraint a value does not satisfy.

        The bits of the others are cleared: a slot of these is never in doubt.
        """
        unsatisfied = np.ones(self._bits.size * WORD, dtype=np.bool_)
        found = self._indexes.satisfied(value)
        unsatisfied[list(chain.from_iterable(map(self._slots.__getitem__, found)))] = False
        lines &= ~self._bits
        lines |= self._bits & packed(unsatisfied)


def _bit(slot: int) -> np.uint64:
    return np.uint64(1 << slot % WORD)
