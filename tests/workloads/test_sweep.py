"""Hundreds of tables, spoilt in every way, on every path, against the definitions alone."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from posetlib import parse_filter
from posetlib.tables import make_table
from tests.workloads.oracle import Rows
from tests.workloads.side_by_side import Case, expected, found_by_case, write_cases
from tests.workloads.test_validate import NOTIFICATIONS, PAIRS, SPOILT, spoilt
from workloads.blocks import Filters
from workloads.files import Place
from workloads.validate import validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")

#: Bytes that may be sent to all, and rows of a block: in the driver, shared out, joined.
PATHS = {"driver": (1 << 28, 8192), "shared": (1 << 28, 32), "joined": (0, 32)}
#: Of these a run tells one witness, whatever the number of violations.
TOLD_ONCE = {"reachable-acyclic"}


# -- random tables ---------------------------------------------------------------------------------


def random_filter(rng: random.Random) -> str:
    """Return a filter of few values, so that many of them cover one another."""
    low = rng.randint(0, 8)
    high = low + rng.randint(0, 6)
    x = rng.choice(
        [f"x in [{low}, {high}]"] * 4
        + [f"x in ({low}, {high + 1})", f"x:int in [{low}, {high}]", f"x >= {low}", f"x != {low}",
           f"x in {{{low}, {high}}}", f"x < {low} or x > {high}", "exists x", "x is number"]
    )  # fmt: skip
    word = "".join(rng.choice("ab") for _ in range(rng.randint(1, 2)))
    s = rng.choice([f's prefix "{word}"', f's suffix "{word}"', f's contains "{word}"',
                    f's = "{word}"', f's suffix "a" or s suffix "{word}"'])  # fmt: skip
    return rng.choice([x, x, x, f"({x}) and y <= {high}", s, f"({x}) and ({s})"])


def random_pairs(rng: random.Random) -> list[tuple[str, str]]:
    return [(random_filter(rng), f"I{rng.randint(1, 4)}") for _ in range(rng.randint(4, 9))]


def random_notification(rng: random.Random) -> dict[str, Any]:
    word = "".join(rng.choice("ab") for _ in range(rng.randint(1, 3)))
    every = {"x": rng.choice([rng.randint(0, 15), rng.random() * 15]), "y": rng.randint(0, 15)}
    every["s"] = word
    return {name: value for name, value in every.items() if rng.random() < 0.9}


# -- what is done to them --------------------------------------------------------------------------

Spoil = Callable[[random.Random, Rows, Rows], None]


def _edge(parent: int, child: int) -> dict[str, int]:
    return {"parent": parent, "child": child}


def _link(edges: Rows, parent: int, child: int) -> None:
    if _edge(parent, child) not in edges:
        edges.append(_edge(parent, child))


def _new(nodes: Rows, text: str, names: list[str]) -> int:
    number = max(node["id"] for node in nodes) + 1
    index = [] if nodes[0]["index"] is not None else None
    nodes.append({"id": number, "filter": text, "interfaces": names, "index": index})
    return number


def _some(rng: random.Random, nodes: Rows) -> dict[str, Any]:
    return rng.choice(nodes)


def lose_an_edge(rng: random.Random, _nodes: Rows, edges: Rows) -> None:
    edges.remove(rng.choice(edges))


def lose_all_edges(_rng: random.Random, _nodes: Rows, edges: Rows) -> None:
    edges.remove(edges[0])
    edges.clear()


def any_edge(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    _link(edges, _some(rng, nodes)["id"], _some(rng, nodes)["id"])


def three_edges(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    for _ in range(3):
        any_edge(rng, nodes, edges)


def turn_an_edge(rng: random.Random, _nodes: Rows, edges: Rows) -> None:
    each = rng.choice(edges)
    edges.remove(each)
    _link(edges, each["child"], each["parent"])


def double_an_edge_back(rng: random.Random, _nodes: Rows, edges: Rows) -> None:
    each = rng.choice(edges)
    _link(edges, each["child"], each["parent"])


def loop(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    one = _some(rng, nodes)["id"]
    _link(edges, one, one)


def other_parent(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    each = rng.choice(edges)
    edges.remove(each)
    _link(edges, _some(rng, nodes)["id"], each["child"])


def other_child(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    each = rng.choice(edges)
    edges.remove(each)
    _link(edges, each["parent"], _some(rng, nodes)["id"])


def past_a_parent(rng: random.Random, _nodes: Rows, edges: Rows) -> None:
    ways = [(a["parent"], b["child"]) for a in edges for b in edges if a["child"] == b["parent"]]
    _link(edges, *rng.choice(ways))


def nobody(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    _some(rng, nodes)["interfaces"] = rng.choice([[], None])


def nobody_anywhere(_rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    for node in nodes:
        node["interfaces"] = []


def stranger(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    node = _some(rng, nodes)
    node["interfaces"] = [*node["interfaces"], "I9"]


def one_more_interface(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    node = _some(rng, nodes)
    node["interfaces"] = sorted({*node["interfaces"], f"I{rng.randint(1, 4)}"})


def one_interface_less(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    node = rng.choice([node for node in nodes if len(node["interfaces"]) > 1])
    node["interfaces"] = node["interfaces"][1:]


def swap_interfaces(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    one, other = rng.sample(nodes, 2)
    one["interfaces"], other["interfaces"] = other["interfaces"], one["interfaces"]


def as_the_parent(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    each = rng.choice(edges)
    by_id = {node["id"]: node for node in nodes}
    by_id[each["child"]]["interfaces"] = by_id[each["parent"]]["interfaces"]


def swap_filters(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    one, other = rng.sample(nodes, 2)
    one["filter"], other["filter"] = other["filter"], one["filter"]


def other_filter(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    _some(rng, nodes)["filter"] = random_filter(rng)


def matches_all_of_it(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    _some(rng, nodes)["filter"] = "true"


def same_filter_twice(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    node = _some(rng, nodes)
    number = _new(nodes, node["filter"], ["I5"])
    for each in [each for each in edges if each["child"] == node["id"]]:
        _link(edges, each["parent"], number)


def same_filter_below(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    node = _some(rng, nodes)
    _link(edges, node["id"], _new(nodes, f"({node['filter']})", ["I5"]))


def same_filters_in_a_circle(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    node = _some(rng, nodes)
    number = _new(nodes, node["filter"], node["interfaces"])
    _link(edges, node["id"], number)
    _link(edges, number, node["id"])


def same_meaning_twice(_rng: random.Random, nodes: Rows, edges: Rows) -> None:
    one = _new(nodes, 's suffix "a" or s suffix "b"', ["I5"])
    other = _new(nodes, 's suffix "b" or s suffix "a" or s suffix "ca"', ["I6"])
    _link(edges, one, other)


def unasked_node(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    _new(nodes, random_filter(rng), [f"I{rng.randint(1, 5)}"])


def lose_a_node(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    node = _some(rng, nodes)
    nodes.remove(node)
    nodes[0]["id"]  # one is left
    edges[:] = [each for each in edges if node["id"] not in each.values()]


def lose_a_leaf(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    parents = {each["parent"] for each in edges}
    node = rng.choice([node for node in nodes if node["id"] not in parents])
    nodes.remove(node)
    nodes[0]["id"]
    edges[:] = [each for each in edges if each["child"] != node["id"]]


def index_lacks(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    node = rng.choice([node for node in nodes if node["index"]])
    node["index"] = node["index"][1:]


def index_lies(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    node = rng.choice([node for node in nodes if node["index"] is not None])
    node["index"] = sorted({*node["index"], rng.choice(["I1", "I2", "I8"])})


def no_index_there(rng: random.Random, nodes: Rows, _edges: Rows) -> None:
    rng.choice([node for node in nodes if node["index"] is not None])["index"] = None


def no_index_and_a_lie(rng: random.Random, nodes: Rows, edges: Rows) -> None:
    index_lies(rng, nodes, edges)
    no_index_there(rng, nodes, edges)


SPOILS: list[Spoil] = [
    lose_an_edge, lose_all_edges, any_edge, three_edges, turn_an_edge, double_an_edge_back, loop,
    other_parent, other_child, past_a_parent, nobody, nobody_anywhere, stranger,
    one_more_interface, one_interface_less, swap_interfaces, as_the_parent, swap_filters,
    other_filter, matches_all_of_it, same_filter_twice, same_filter_below,
    same_filters_in_a_circle, same_meaning_twice, unasked_node, lose_a_node, lose_a_leaf,
    index_lacks, index_lies, no_index_there, no_index_and_a_lie,
]  # fmt: skip


def random_case(name: str, structure: str, options: dict[str, Any], spoils: Sequence[Spoil],
                seed: int) -> Case | None:  # fmt: skip
    """Return a table that is spoilt, or None where there is nothing to spoil in this way."""
    rng = random.Random(f"{name} {seed}")
    pairs = random_pairs(rng)
    made = make_table(structure, **options)
    for text, interface in pairs:
        made.add(parse_filter(text), interface)
    snapshot = made.snapshot()
    nodes, edges = snapshot.node_rows(), snapshot.edge_rows()
    try:
        for each in spoils:
            each(rng, nodes, edges)
    except (ValueError, IndexError, TypeError, KeyError):
        return None
    return Case(name, nodes, edges, pairs, [random_notification(rng) for _ in range(4)])


def random_cases(structure: str, options: dict[str, Any], seeds: range) -> list[Case]:
    """Return clean tables, tables that are spoilt in each way, and some in two ways."""
    found = []
    for seed in seeds:
        rng = random.Random(seed)
        ways: list[list[Spoil]] = [[], *([each] for each in SPOILS)]
        ways += [rng.sample(SPOILS, 2) for _ in range(len(SPOILS) // 2)]
        for at, spoils in enumerate(ways):
            told = "+".join(each.__name__ for each in spoils) or "clean"
            # Not every table can be spoilt in every way: a few are tried.
            tries = (
                random_case(f"{told} {seed}.{at}", structure, options, spoils, attempt)
                for attempt in range(5)
            )
            found += [case for case in tries if case is not None][:1]
    return found


# -- the comparison --------------------------------------------------------------------------------


def judge(
    spark: SparkSession,
    folder: Path,
    structure: str,
    options: dict[str, Any],
    cases: Sequence[Case],
    paths: Sequence[str],
) -> int:
    """Hold every path to the definitions; return how many verdicts were compared."""
    header = make_table(structure, **options).snapshot().header()
    snapshot, workload = write_cases(folder, header, cases)
    right = expected(header, cases)
    reports = []
    for path in paths:
        limit, size = PATHS[path]
        out = folder / f"violations-{path}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Filters, "size", size)
            report = validate(
                spark, Place(str(snapshot)), Place(str(workload)), broadcast_limit=limit,
                notifications=100_000, violations=Place(str(out)),
            )  # fmt: skip
        found = found_by_case(pq.read_table(out).to_pylist(), cases)
        for entry in report["invariants"]:
            name = entry["name"]
            if name not in right:
                continue
            assert entry["verdict"] == ("violated" if right[name] else "holds"), (path, name)
            assert entry["violations"] == sum(right[name].values()), (path, name)
            if name not in TOLD_ONCE:
                assert dict(found.get(name, {})) == right[name], (path, name)
            entry.pop("seconds")
        reports.append(json.dumps([{k: v for k, v in e.items() if k != "seconds"}
                                   for e in report["invariants"]]))  # fmt: skip
    assert len(set(reports)) == 1
    return len(cases) * len(right) * len(paths)


VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("fp", {}), ("pf", {}), ("bf", {}), ("nrf", {}), ("linear", {}), ("pf", {"local": True}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("structure", "seed", "paths"), [("fp", 1, ["driver"]), ("nrf", 2, ["driver", "joined"])]
)
def test_spoilt_tables_are_judged_by_the_definitions(
    spark: SparkSession, tmp_path: Path, structure: str, seed: int, paths: list[str]
) -> None:
    cases = random_cases(structure, {}, range(seed, seed + 1))
    assert len(cases) > 30
    assert judge(spark, tmp_path, structure, {}, cases, paths) > 400


@pytest.mark.slow
@pytest.mark.parametrize(("structure", "options"), VARIANTS)
def test_many_spoilt_tables_are_judged_by_the_definitions_on_every_path(
    spark: SparkSession, tmp_path: Path, structure: str, options: dict[str, Any]
) -> None:
    cases = random_cases(structure, options, range(100, 104))
    assert judge(spark, tmp_path, structure, options, cases, list(PATHS)) > 4000


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["fp", "pf", "bf", "nrf", "linear"])
def test_every_table_spoilt_in_every_way_on_every_path(
    spark: SparkSession, tmp_path: Path, structure: str
) -> None:
    cases = []
    for spoil in dict.fromkeys(spoil for _, spoil, _ in SPOILT):
        try:
            header, nodes, edges = copy.deepcopy(spoilt(structure, [spoil]))
        except (ValueError, TypeError):
            continue  # the table has no such edge, or no index
        if len({(each["parent"], each["child"]) for each in edges}) < len(edges):
            continue  # the edge that it adds is there, and twice it is no table at all
        assert header["structure"] == structure
        cases.append(Case(spoil.__name__, nodes, edges, PAIRS, NOTIFICATIONS))
    assert len(cases) > 20
    judge(spark, tmp_path, structure, {}, cases, list(PATHS))
