"""Covering of single paths by automata: an oracle that knows nothing of homomorphisms.

A document without branches is a word of names, and a path without conditions and branches is an
automaton that reads it: it matches if it accepts a prefix. One path covers another iff every word
that the other accepts has a prefix that the first one accepts. Three letters are enough: the two
names that paths have, and one that no path has.
"""

from __future__ import annotations

from posetlib.models.path_patterns import Step
from posetlib.models.path_text import read_path

LETTERS = "abz"


def steps_of(text: str) -> list[Step]:
    step, found = read_path(text), []
    while True:
        found.append(step)
        if not step.branches:
            return found
        (step,) = step.branches


def moved(steps: list[Step], at: frozenset[int], letter: str) -> frozenset[int]:
    """Return the numbers of steps that may have been taken after one more letter."""
    found = set()
    for place in at:
        if place == len(steps):
            found.add(place)  # what is accepted stays accepted
            continue
        step = steps[place]
        if step.name in (None, letter):
            found.add(place + 1)
        if not step.is_child:
            found.add(place)
    return frozenset(found)


def covers_as_automata(one: str, other: str) -> bool:
    """Return whether every word that the other accepts is accepted by the first one."""
    mine, theirs = steps_of(one), steps_of(other)
    start = (frozenset((0,)), frozenset((0,)))
    todo, seen = [start], {start}
    while todo:
        ours, others = todo.pop()
        if len(theirs) in others and len(mine) not in ours:
            return False
        for letter in LETTERS:
            after = (moved(mine, ours, letter), moved(theirs, others, letter))
            if after[1] and after not in seen:
                seen.add(after)
                todo.append(after)
    return True
