"""Whether a table is what it promises, in words: invariants, and why a witness is one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import posetlib as pl
from browser.matching import example_of, json_value
from browser.story import FILE, Frame, Story

__all__ = ["CHECKED", "MEANINGS", "Fault", "Verdict", "check_file", "fault_marks", "why_witness"]

#: Filters up to which a file is checked unasked: every two of them may have to be compared.
CHECKED: Final = 2_000
#: Witnesses of one fault that are looked for.
_WITNESSES: Final = 20

#: What each invariant says, in a sentence.
MEANINGS: Final = {
    "edge-covers": "Every parent covers its child, and is not covered by it.",
    "sibling-pure": "No child of a filter covers another child of it: no edge can be left out.",
    "roots-minimal-cover": "The roots are exactly the filters that no other filter covers.",
    "reachable-acyclic": "Every filter is reached from a root, and no path leads back.",
    "single-parent": "In a forest, a filter has at most one parent.",
    "complete-order": "One filter covers another exactly where a path leads down to it.",
    "interfaces-nonempty": "Every filter is held by at least one interface.",
    "minimum-interface": "No interface stands twice on one path from a root.",
    "no-redundant-pair": "No interface holds two filters of which one covers the other.",
    "interface-index": "The index at a filter names exactly the interfaces below it.",
    "forwards-agree": "All mechanisms send every filter to the same neighbours.",
    "match-agrees": "A walk from the roots finds the same as a look at every filter.",
    "same-roots": "Two tables with the same pairs have the same roots.",
    "entries-served": "Whatever was asked for is held, or covered by what the interface holds.",
    "entries-asked": "Whatever is held was asked for.",
    "distinct-filters": "No two nodes hold the same filter, or two that mean the same.",
    "columns-agree": "The columns of numbers say what the filter's text says.",
    "merge-covers": "The merged filters cover all roots.",
    "merge-perfect": "The merged filters match nothing that no root matches.",
    "double-forest-agrees": "Both mappings are what comparing every two filters gives.",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One witness: the filters that show that something is wrong, and why."""

    invariant: str
    #: The filters by number, and in words what is wrong with them.
    numbers: tuple[int, ...]
    what: str
    why: tuple[str, ...] = ()
    #: The filters go round: the last is above the first.
    cycle: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a file is what its structure promises; None: it was not checked."""

    ok: bool | None
    structure: str
    invariant: str = ""
    faults: tuple[Fault, ...] = ()
    #: How many there are, of which those above are the first.
    total: int = 0


def check_file(story: Story, *, asked: bool = False) -> Verdict | None:
    """Check the table of an uploaded snapshot, just as it is; None if there is none, or a part.

    A large one is checked only when that is asked for.
    """
    snapshot = story.source.snapshot
    if snapshot is None or story.source.part:
        return None
    if story in _known:
        return _known[story]
    if len(snapshot) > CHECKED and not asked:
        return Verdict(None, snapshot.structure)
    _known[story] = verdict = _checked(story, snapshot)
    return verdict


#: Stories that were checked; a story and its file never change.
_known: WeakKeyDictionary[Story, Verdict] = WeakKeyDictionary()


def _checked(story: Story, snapshot: pl.Snapshot[Any]) -> Verdict:
    frame = story.frame(FILE, len(story))
    try:
        frame.table().check()
    except pl.InvariantError as error:
        faults = _faults(story, frame, error)
        shown = faults[:_WITNESSES]
        return Verdict(False, snapshot.structure, error.invariant, shown, len(faults))
    return Verdict(True, snapshot.structure)


def _faults(story: Story, frame: Frame, error: pl.InvariantError) -> tuple[Fault, ...]:
    first = _fault(story, error)
    if error.invariant != "edge-covers":
        return (first,)
    # The check stops at the first; edges are quickly looked at one by one.
    found = [first]
    for parent, child in frame.graph.edges:
        above, below = story.filters[parent], story.filters[child]
        if (parent, child) == first.numbers:
            continue
        if not above.covers(below):
            why = why_not(above, below)
            found.append(
                Fault("edge-covers", (parent, child), f"#{parent} does not cover #{child}", why)
            )
        elif below.covers(above):
            found.append(
                Fault("edge-covers", (parent, child), f"#{child} covers its parent #{parent}")
            )
    return tuple(found)


def _fault(story: Story, error: pl.InvariantError) -> Fault:
    """Return what check() found: its witness by numbers, and why it is one."""
    items = [each for each in _flat(error.witness) if isinstance(each, pl.Filter)]
    items = list(dict.fromkeys(item for item in items if item in story.number))
    numbers = tuple(story.number[item] for item in items)
    names = [f"#{number}" for number in numbers]
    others = [
        str(each)
        for each in (error.witness if isinstance(error.witness, tuple) else ())
        if isinstance(each, str)
    ]
    message = str(error).partition(": ")[2].rpartition(" (witness")[0] or "violated"
    if message == "a cycle":
        way = " → ".join([*names, names[0]])
        return Fault(
            error.invariant,
            numbers,
            f"a cycle: {way}",
            ("Each of these is said to be below the one before, and the first below the last.",),
            cycle=True,
        )
    what = f"{message}: {', '.join([*names, *others])}"
    why: tuple[str, ...] = ()
    if len(items) >= 2:
        one, other = items[0], items[-1]
        why = why_covers(one, other) if one.covers(other) else why_not(one, other)
    return Fault(error.invariant, numbers, what, why)


def _flat(witness: object) -> list[object]:
    if isinstance(witness, tuple | list | frozenset):
        return [each for part in witness for each in _flat(part)]
    return [witness]


# -- why -------------------------------------------------------------------------------------------


def why_not(one: pl.Filter, other: pl.Filter) -> tuple[str, ...]:
    """Say why a filter does not cover another, by the attribute and a notification.

    >>> why_not(pl.parse_filter("x in [0, 5]"), pl.parse_filter("x in [3, 8]"))[-1]
    'The notification {"x": 8} matches the second and not the first.'
    """
    obstacle = one.why_not_covers(other)
    if obstacle is None:
        return ()
    sentences = [f"Attribute {obstacle.attribute}: {obstacle.reason}."]
    if obstacle.witness is not None:
        text = _notification(obstacle.witness)
        sentences.append(f"The notification {text} matches the second and not the first.")
    return tuple(sentences)


def why_covers(one: pl.Filter, other: pl.Filter) -> tuple[str, ...]:
    """Say why a filter covers another, by its attributes and a notification.

    >>> why_covers(pl.parse_filter("x in [0, 9]"), pl.parse_filter("x in [3, 8]"))[0]
    'The first covers the second: in x it allows all that the second allows.'
    """
    names = list(one.constraints)
    allowed = (
        f"in {' and '.join(names)} it allows all that the second allows"
        if names
        else "it asks for nothing at all"
    )
    sentences = [f"The first covers the second: {allowed}."]
    example = example_of(other)
    if example and one.matches(example) and other.matches(example):
        sentences.append(f"The notification {_notification(example)} matches both.")
    return tuple(sentences)


def _notification(values: Mapping[str, Any]) -> str:
    return json.dumps(
        {name: json_value(value) for name, value in values.items()}, ensure_ascii=False
    )


#: Members of a report's witness that are two filters, the more general first.
_PAIRS: Final = (
    ("parent", "child"),
    ("covered by", "root"),
    ("covers", "covered"),
    ("above", "below"),
    ("one", "other"),
)


def why_witness(witness: object, types: pl.TypeHierarchy | None = None) -> tuple[str, ...]:
    """Say why a witness of a report is one: by the attribute, and a notification.

    Filters that cannot be read here say nothing.

    >>> why_witness({"parent": "x > 5", "child": "x > 3"})[0]
    'Attribute x: x > 5 does not cover x > 3.'
    """
    if not isinstance(witness, Mapping):
        return ()
    for first, second in _PAIRS:
        one, other = (_read(witness.get(name), types) for name in (first, second))
        if one is not None and other is not None:
            return why_covers(one, other) if one.covers(other) else why_not(one, other)
    cycle = witness.get("cycle")
    if isinstance(cycle, list) and cycle:
        return ("Each of these is said to be below the one before, the first below the last.",)
    item = _read(witness.get("filter") or witness.get("root"), types)
    if item is None:
        return ()
    said = witness.get("notification")
    if isinstance(said, str):
        return (f"The notification {said[:500]} matches it.",)
    example = example_of(item)
    return (f"The notification {_notification(example)} matches it.",) if example else ()


def _read(text: object, types: pl.TypeHierarchy | None) -> pl.Filter | None:
    if not isinstance(text, str) or len(text) > 20_000:
        return None
    try:
        return pl.parse_filter(text, types=types)
    except (pl.FilterError, RecursionError):
        return None


def fault_marks(
    verdict: Verdict | None,
) -> tuple[dict[int, Sequence[str]], dict[tuple[int, int], str]]:
    """Return the marks of the filters and edges that show what is wrong with a file."""
    nodes: dict[int, Sequence[str]] = {}
    edges: dict[tuple[int, int], str] = {}
    for fault in verdict.faults if verdict else ():
        nodes.update(dict.fromkeys(fault.numbers, ("witness",)))
        following = (*fault.numbers[1:], fault.numbers[0]) if fault.cycle else fault.numbers[1:]
        for pair in zip(fault.numbers, following, strict=False):
            edges[pair] = "witness"
    return nodes, edges
