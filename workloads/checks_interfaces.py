"""The invariants about interfaces: on nodes, along paths, in the index, and without redundancy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.edges import Outline
from posetlib.arrays.nesting import held_bits, repeated_on_paths
from posetlib.bits import bit_pairs
from posetlib.tables import Elimination, Shape
from workloads.blocks import Sent
from workloads.checks_entries import redundant_pairs
from workloads.checks_order import bad_edges
from workloads.near import Holdings, NearContext
from workloads.opening import Opened, by_place
from workloads.pairs import Found
from workloads.reports import Outcome, not_applicable
from workloads.spread import Arrived, SpreadContext, found_rows, kept_rows, outline_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "interface_index",
    "interfaces_nonempty",
    "minimum_interface",
    "no_redundant_pair",
]

#: Interfaces that travel along the paths together, in as many bits.
_LANES: Final = 256
_MISSING: Final = 0
_EXTRA: Final = 1
_FOUND: Final = "total long, one long, other long, label long"


def interfaces_nonempty(context: Opened) -> Outcome:
    """Every node has an interface."""
    if isinstance(context, NearContext):
        count = np.bincount(context.held.nodes, minlength=context.node_count)
        empty = np.flatnonzero(count == 0)
        total, first = len(empty), empty[: context.shown].tolist()
    else:
        total, first = _spread_empty(context)
    texts = context.texts(first)
    witnesses = [
        {"filter": text, "why": "no interface", "ids": context.ids([each])}
        for each, text in texts.items()
    ]
    return Outcome(context.node_count, total, witnesses)


def _spread_empty(context: SpreadContext) -> tuple[int, list[int]]:
    empty = context.rows.where("interfaces is null or size(interfaces) = 0").select("number")
    total = empty.count()
    first = empty.orderBy("number").limit(context.shown).collect() if total else []
    return total, [row["number"] for row in first]


def no_redundant_pair(context: Opened) -> Outcome:
    """For no pair of a filter and an interface, another of the same interface covers the filter."""
    if "no-redundant-pair" not in context.kept:
        return not_applicable("only fp and nrf eliminate by interface everywhere")
    found = redundant_pairs(context)
    texts = context.texts(each for one, other, _ in found.pairs for each in (one, other))
    names = context.interface_names(interface for _, _, interface in found.pairs)
    witnesses = [
        {
            "covers": texts[one],
            "covered": texts[other],
            "interface": names[interface],
            "why": "one interface holds both",
            "ids": context.ids([one, other]),
        }
        for one, other, interface in found.pairs
    ]
    held = by_place(context, lambda near: len(near.held.nodes), lambda far: far.held.count())
    return Outcome(held, found.total, witnesses)


# -- along the paths -------------------------------------------------------------------------------


def minimum_interface(context: Opened) -> Outcome:
    """No interface twice on a path."""
    if context.promises.shape is Shape.LIST:
        return not_applicable("a list has no paths of its own")
    if "minimum-interface" not in context.kept:
        return not_applicable("a local table eliminates nothing")
    found = by_place(context, _near_repeated, _spread_repeated)
    texts = context.texts(each for below, _, above in found.pairs for each in (below, above))
    names = context.interface_names(interface for _, interface, _ in found.pairs)
    witnesses = [
        {
            "above": texts[above],
            "below": texts[below],
            "interface": names[interface],
            "why": "an interface twice on a path",
            "ids": context.ids([above, below]),
        }
        for below, interface, above in found.pairs
    ]
    return Outcome(context.node_count, found.total, witnesses)


def _edges_repeat_nothing(context: Opened) -> bool:
    """Return whether paths of edges that strictly cover repeat no interface.

    They do not, if no interface holds two filters of which one covers the other. In forests this is
    seen from the links at once, and need not be asked.
    """
    return (
        context.promises.shape is not Shape.FOREST
        and context.promises.elimination is Elimination.EVERYWHERE
        and not redundant_pairs(context).total
    )


def _near_repeated(context: NearContext) -> Found:
    harmless = None
    if _edges_repeat_nothing(context):
        parents, children, _ = bad_edges(context).rows
        harmless = _unlike(context.outline, parents, children)
    held = context.held
    return _repeated(context.outline, held.nodes, held.interfaces, harmless, context.shown)


def _unlike(outline: Outline, parents: IntArray, children: IntArray) -> BoolArray:
    """Return which edges are none of some others."""
    return ~np.isin(
        outline.parents * outline.count + outline.children, parents * outline.count + children
    )


def _repeated(
    outline: Outline,
    nodes: IntArray,
    interfaces: IntArray,
    harmless: BoolArray | None,
    shown: int,
) -> Found:
    """Return the nodes below another one of the same interface, with the nearest such one."""
    found = repeated_on_paths(outline, nodes, interfaces, harmless=harmless)
    first = found[np.lexsort((interfaces[found], nodes[found]))][:shown]
    order = np.argsort(interfaces, kind="stable")
    ordered = interfaces[order]
    pairs = []
    for node, interface in zip(nodes[first].tolist(), interfaces[first].tolist(), strict=True):
        begin, end = (np.searchsorted(ordered, interface, side) for side in ("left", "right"))
        holders = set(nodes[order[begin:end]].tolist())
        above = next(each for each in outline.ancestors(node) if each in holders)
        pairs.append((node, interface, above))
    return Found(len(found), pairs)


def _spread_repeated(context: SpreadContext) -> Found:
    """Return what ``_near_repeated`` does: tasks have all links, and some interfaces each."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    shared = {}
    if _edges_repeat_nothing(context):
        bad = bad_edges(context)
        if not bad.total:
            return Found(0, [])
        shared["bad"] = bad.rows.select("parent", "child")
    # What one node alone holds is twice on no path.
    several = context.held.groupBy("lane").agg(f.count("number").alias("holders"))
    held = context.held.join(several.where("holders > 1").select("lane"), "lane")
    work = partial(_repeated_in_task, shown=context.shown)
    found = context.in_tasks(
        work, _FOUND, context.parts, shared=shared, divided={"held": (held, "lane")}
    )
    return context.sum_of(found)


def _repeated_in_task(arrived: Arrived, _task: int, shown: int) -> pa.Table:
    if "held" not in arrived:
        return _found_table(Found(0, []))
    nodes, lanes = (np.asarray(arrived["held"].column(name)) for name in ("number", "lane"))
    outline = outline_of(arrived, nodes)
    harmless = None
    if "bad" in arrived:
        ends = (np.asarray(arrived["bad"].column(name)) for name in ("parent", "child"))
        harmless = _unlike(outline, *(np.searchsorted(outline.ids, each) for each in ends))
    found = _repeated(outline, np.searchsorted(outline.ids, nodes), lanes, harmless, shown)
    ids = outline.ids
    found.pairs = [(int(ids[a]), lane, int(ids[b])) for a, lane, b in found.pairs]
    return _found_table(found)


def _found_table(found: Found) -> pa.Table:
    return pa.table(found_rows(found), ["total", "one", "other", "label"])


# -- the index -------------------------------------------------------------------------------------


def interface_index(context: Opened) -> Outcome:
    """The index equals the interfaces of the descendants."""
    if "interface-index" not in context.kept:
        return not_applicable("only bf and nrf have an index")
    says = by_place(context, lambda near: int(near.says.sum()), _spread_says)
    if context.node_count and not says:
        return not_applicable("the snapshot leaves the index out")
    found = by_place(context, _near_index, _spread_index)
    texts = context.texts(number for number, _, _ in found.pairs)
    names = context.interface_names(interface for _, interface, _ in found.pairs)
    reasons = {
        _MISSING: "a descendant holds it and the index does not say so",
        _EXTRA: "the index says so and no descendant holds it",
    }
    witnesses = [
        {
            "filter": texts[number],
            "interface": names[interface],
            "why": reasons[kind],
            "ids": context.ids([number]),
        }
        for number, interface, kind in found.pairs
    ]
    return Outcome(says, found.total, witnesses)


def _near_index(context: NearContext) -> Found:
    interfaces = np.arange(len(context.names))
    size = max(64, min(_LANES, -(-len(interfaces) // context.filters.parts)))
    work = [interfaces[at : at + size] for at in range(0, len(interfaces), size)]
    if not work:
        return Found(0, [])
    held, listed = (
        _by_interface(each.nodes, each.interfaces) for each in (context.held, context.listed)
    )
    sides = (context.outline, context.says, held, listed)
    find = partial(_each_lanes, shown=context.shown)
    return Found.sum(context.filters.worked(find, work, sides), context.shown)


def _each_lanes(
    work: Iterator[IntArray],
    sides: Sent[tuple[Outline, BoolArray, Holdings, Holdings]],
    shown: int,
) -> Iterator[Found]:
    outline, says, held, listed = sides.value
    for interfaces in work:
        yield _index_faults(outline, says, held, listed, interfaces, shown)


def _index_faults(
    outline: Outline,
    says: BoolArray,
    held: Holdings,
    listed: Holdings,
    interfaces: IntArray,
    shown: int,
) -> Found:
    """Return what is wrong with the index at some interfaces.

    Both holdings are in order of their interfaces.
    """
    own, told = (_bits(each, interfaces, outline.count) for each in (held, listed))
    below = outline.without_self(outline.gathered_below(own), own, above=False)
    # A node without an index says nothing, in a file as in a snapshot of the library's.
    missing = np.where(says[:, None], below & ~told, np.uint64(0))
    total = 0
    pairs: list[tuple[int, int, int]] = []
    for kind, bits in ((_MISSING, missing), (_EXTRA, told & ~below)):
        nodes, which = bit_pairs(bits)
        total += len(nodes)
        lanes = interfaces[which[:shown]].tolist()
        pairs += [
            (node, lane, kind) for node, lane in zip(nodes[:shown].tolist(), lanes, strict=True)
        ]
    return Found(total, sorted(pairs)[:shown])


def _by_interface(nodes: IntArray, interfaces: IntArray) -> Holdings:
    order = np.argsort(interfaces, kind="stable")
    return Holdings(nodes[order], interfaces[order])


def _bits(holdings: Holdings, interfaces: IntArray, count: int) -> Words:
    """Return for each node which of some interfaces it has."""
    begin = np.searchsorted(holdings.interfaces, interfaces[0])
    end = np.searchsorted(holdings.interfaces, interfaces[-1], side="right")
    some = holdings.nodes[begin:end], holdings.interfaces[begin:end]
    return held_bits(*some, interfaces, count)


def _spread_says(context: SpreadContext) -> int:
    if "index" not in context.rows.columns:
        return 0
    return context.rows.where("index is not null").count()


def _spread_index(context: SpreadContext) -> Found:
    """Return what ``_near_index`` does: tasks have all links, and some interfaces each."""
    silent: DataFrame = context.rows.where("index is null").select("number")
    divided = {"held": (context.held, "lane"), "listed": (context.listed(), "lane")}
    work = partial(_index_in_task, shown=context.shown)
    with kept_rows(silent) as rows:
        found = context.in_tasks(
            work, _FOUND, context.parts, shared={"silent": rows}, divided=divided
        )
        return context.sum_of(found)


def _index_in_task(arrived: Arrived, _task: int, shown: int) -> pa.Table:
    nothing: Any = np.zeros(0, np.int64)
    sides = []
    for name in ("held", "listed"):
        columns = [nothing, nothing]
        if name in arrived:
            columns = [np.asarray(arrived[name].column(each)) for each in ("number", "lane")]
        sides.append(columns)
    silent = np.asarray(arrived["silent"].column("number")) if "silent" in arrived else nothing
    outline = outline_of(arrived, *(side[0] for side in sides), silent)
    says = ~np.isin(outline.ids, silent)
    held, listed = (
        _by_interface(np.searchsorted(outline.ids, nodes), lanes) for nodes, lanes in sides
    )
    every = np.unique(np.concatenate([held.interfaces, listed.interfaces]))
    parts = [
        _index_faults(outline, says, held, listed, every[at : at + _LANES], shown)
        for at in range(0, len(every), _LANES)
    ]
    found = Found.sum(parts, shown)
    found.pairs = [(int(outline.ids[node]), lane, kind) for node, lane, kind in found.pairs]
    return _found_table(found)
