"""Why a filter is where it is: sentences about one filter in one structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import posetlib as pl
from browser.story import FILE, Frame, Story, promises_of

__all__ = ["Detail", "detail"]

#: Filters that are compared one by one to find a reason; a table may hold thousands.
_LOOKED_AT = 400


@dataclass(frozen=True, slots=True)
class Detail:
    """One filter in one structure."""

    present: bool
    parents: tuple[int, ...] = ()
    children: tuple[int, ...] = ()
    interfaces: tuple[str, ...] = ()
    depth: int | None = None
    forwards: tuple[str, ...] = ()
    #: Sentences, the first of which says the most.
    why: tuple[str, ...] = field(default_factory=tuple)


def detail(story: Story, frame: Frame, number: int, neighbours: Sequence[str]) -> Detail:
    """Return where a filter is in a structure at a step, and why there."""
    item = story.filters.get(number)
    if item is None:
        return Detail(present=False, why=(f"There is no filter #{number}.",))
    graph = frame.graph
    if number not in graph.nodes:
        return Detail(present=False, why=_why_absent(story, frame, item))
    forwards = pl.forwards_sets(frame.shared_table, neighbours, of=[item]).get(item, frozenset())
    parents = tuple(graph.parents[number])
    return Detail(
        present=True,
        parents=parents,
        children=tuple(graph.children[number]),
        interfaces=graph.nodes[number].interfaces,
        depth=graph.depths.get(number),
        forwards=tuple(each for each in neighbours if each in forwards),
        why=_why_here(story, frame, number, item, parents),
    )


def _why_absent(story: Story, frame: Frame, item: pl.Filter) -> tuple[str, ...]:
    if frame.structure == FILE:
        return ("Not in the file.",)
    added: dict[str, int] = {}
    gone: dict[str, str] = {}
    for step, operation in enumerate(story.trace, 1):
        if step > frame.step:
            break
        name, other = str(operation.interface), operation.item
        if other == item and operation.name == "add":
            added[name] = step
            gone.pop(name, None)
        elif name not in added or name in gone:
            continue
        elif operation.name == "drop_interface":
            gone[name] = f"{name} was dropped at step {step}, with all that it held."
        elif other is not None and operation.name == "remove_covered" and other.covers(item):
            number = story.number[other]
            gone[name] = f"{name} took back all that #{number} covers at step {step}, this too."
        elif other == item:
            gone[name] = f"{name} took it back at step {step}."
        elif operation.name == "add" and other is not None and other.covers(item):
            gone[name] = _pruned(name, added[name], story.number[other], step)
    if not added:
        return (f"Not here: no operation up to step {frame.step} has added it.",)
    reasons = []
    for name, step in added.items():
        above = [
            other
            for other, held in graph_items(story, frame)
            if name in held and story.filters[other].covers(item)
        ]
        if above:
            reasons.append(
                f"{name} added it at step {step}, and holds {_list(above)}, which "
                f"{_verb(above)} it: "
                "a filter of the same interface below its coverer would change nothing."
            )
        else:
            reasons.append(gone.get(name) or _refused(story, name, item, step))
    return tuple(reasons)


def _pruned(name: str, added: int, other: int, step: int) -> str:
    return (
        f"{name} added it at step {added}, and at step {step} #{other}, which covers it: it was "
        f"pruned, and does not come back when #{other} goes."
    )


def _refused(story: Story, name: str, item: pl.Filter, step: int) -> str:
    """Say what the interface held already when it added a filter that covers nothing new."""
    held: dict[pl.Filter, None] = {}
    for operation in list(story.trace)[: step - 1]:
        if str(operation.interface) != name:
            continue
        if operation.name == "drop_interface":
            held.clear()
        elif operation.name == "add" and operation.item is not None:
            held[operation.item] = None
        elif operation.item is not None:
            held.pop(operation.item, None)
    above = [story.number[other] for other in held if other.covers(item)]
    if not above:
        return f"{name} added it at step {step}, and it was eliminated since."
    return (
        f"{name} added it at step {step}, when it held {_list(above)}, which {_verb(above)} it: "
        "it was not taken in, and does not come back later."
    )


def graph_items(story: Story, frame: Frame) -> list[tuple[int, tuple[str, ...]]]:
    """Return the filters of a frame with their interfaces, as many as are looked at."""
    nodes = list(frame.graph.nodes.values())[: _LOOKED_AT * 5]
    return [(node.number, node.interfaces) for node in nodes if node.number in story.filters]


def _why_here(
    story: Story, frame: Frame, number: int, item: pl.Filter, parents: Sequence[int]
) -> tuple[str, ...]:
    graph = frame.graph
    others = [each for each in list(graph.nodes)[: _LOOKED_AT * 5] if each != number]
    coverers = [each for each in others if story.filters[each].covers(item)]
    sentences: list[str] = []
    if not parents:
        if coverers:
            sentences.append(
                f"It is a root, although {_list(coverers)} {_verb(coverers)} it: the table is "
                "not as it should be."
            )
        else:
            sentences.append("It is a root: no other filter of the table covers it.")
            sentences.extend(_nearest_miss(story, graph.roots, number, item))
    else:
        wrong = [each for each in parents if each not in coverers and each in others]
        if wrong:
            sentences.append(f"It hangs from {_list(wrong)}, which does not cover it.")
        elif promises_of(frame.snapshot.structure).shape is pl.Shape.ORDER:
            sentences.append(
                f"It is below {_list(parents)}: of all that cover it, these are the least general, "
                "with nothing in between."
            )
        else:
            sentences.append(
                f"It is below {_list(parents)}, which covers it, and no other child of "
                f"{_list(parents)} covers it."
            )
            beside = [
                each
                for each in coverers
                if each not in parents and not _is_above(graph.parents, each, number)
            ]
            if beside:
                sentences.append(
                    f"{_list(beside)} {_verb(beside)} it as well, in another branch: a forest "
                    "keeps one parent, the first that was found on the way down."
                )
    children = graph.children[number]
    if children:
        sentences.append(f"It covers {_list(children)} directly below it.")
    return tuple(sentences)


def _is_above(parents: dict[int, list[int]], one: int, other: int) -> bool:
    seen = {other}
    queue = [other]
    for node in queue:
        for parent in parents[node]:
            if parent == one:
                return True
            if parent not in seen:
                seen.add(parent)
                queue.append(parent)
    return False


def _nearest_miss(story: Story, roots: Sequence[int], number: int, item: pl.Filter) -> list[str]:
    """Say for one other root why it does not cover the filter: the one that fails by least."""
    best: tuple[int, int, str] | None = None
    for other in roots[:_LOOKED_AT]:
        if other == number:
            continue
        candidate = story.filters[other]
        missing = sum(
            name not in item.constraints or not mine.covers(item.constraints[name])
            for name, mine in candidate.constraints.items()
        )
        if best is None or missing < best[0]:
            obstacle = candidate.why_not_covers(item)
            if obstacle is not None:
                best = (missing, other, str(obstacle))
    if best is None:
        return []
    return [f"The nearest other root, #{best[1]}, does not: {best[2]}."]


def _verb(numbers: Sequence[int]) -> str:
    return "covers" if len(numbers) == 1 else "cover"


def _list(numbers: Sequence[int], limit: int = 5) -> str:
    shown = [f"#{number}" for number in numbers[:limit]]
    if len(numbers) > limit:
        shown.append(f"{len(numbers) - limit:,} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
