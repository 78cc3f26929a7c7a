"""validate holds clean tables to be clean, and names what is wrong with spoilt ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from posetlib import parse_filter
from posetlib.generating import (
    Parameters,
    generated_filters,
    generated_notifications,
    interface_names,
)
from posetlib.tables import make_table
from posetlib.tables.forwards import forwards_sets
from posetlib.tables.snapshot import Snapshot
from tests.workloads.files import (
    write_filters,
    write_notifications,
    write_rows,
    write_snapshot,
)
from tests.workloads.oracle import violations
from workloads.blocks import Filters
from workloads.errors import InputError
from workloads.files import Place
from workloads.validate import INVARIANTS, validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")

Rows = list[dict[str, Any]]

#: The worked example of the forwards sets, and a filter that meets two of its branches.
PAIRS = [
    ("x in [0, 50]", "I1"),
    ("x in [60, 100]", "I1"),
    ("x in [10, 40]", "I2"),
    ("x in [70, 90]", "I2"),
    ("x in [20, 30]", "I3"),
    ("x in [15, 60]", "I4"),
]
A, B, C, D, E, G = range(6)
NOTIFICATIONS = [{"x": value} for value in range(0, 101, 5)]


def table(structure: str, pairs: list[tuple[str, str]] = PAIRS, **options: Any) -> Snapshot:
    made = make_table(structure, **options)
    for text, interface in pairs:
        made.add(parse_filter(text), interface)
    return made.snapshot()


def report_on(
    spark: SparkSession, snapshot: Path, workload: Path | None = None, **options: Any
) -> dict[str, Any]:
    where = None if workload is None else Place(str(workload))
    return validate(spark, Place(str(snapshot)), where, **options)


def violated(report: dict[str, Any]) -> set[str]:
    assert report["ok"] == all(each["verdict"] != "violated" for each in report["invariants"])
    assert [each["name"] for each in report["invariants"]] == list(INVARIANTS)
    return {each["name"] for each in report["invariants"] if each["verdict"] == "violated"}


def entry(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in report["invariants"] if each["name"] == name)


# -- clean tables ----------------------------------------------------------------------------------

CLEAN = [
    ("fp", "uniform", {}),
    ("nrf", "uniform", {}),
    ("pf", "uniform", {}),
    ("pf", "uniform", {"local": True}),
    ("bf", "variable", {}),
    ("linear", "uniform", {}),
    ("fp", "mixed", {}),
    ("nrf", "strings", {}),
]


@pytest.mark.parametrize(("structure", "kind", "options"), CLEAN)
def test_clean_tables_pass(
    spark: SparkSession, tmp_path: Path, structure: str, kind: str, options: dict[str, Any]
) -> None:
    p = Parameters(filters=200, kind=kind, seed=5, interfaces=6, schemas=2, decimals=0)
    made = generated_filters(p, np.arange(200))
    pairs = list(zip(made.texts(), interface_names(made.interfaces), strict=True))
    workload = write_filters(tmp_path / "w", pairs, 3)
    write_notifications(workload, generated_notifications(p, np.arange(60)).mappings)
    snapshot = write_snapshot(tmp_path / "s", table(structure, pairs, **options))
    report = report_on(spark, snapshot, workload)
    assert violated(report) == set()
    applies = {e["name"] for e in report["invariants"] if e["verdict"] != "not applicable"}
    forest = structure in ("pf", "bf", "nrf")
    assert ("single-parent" in applies) == forest
    assert ("complete-order" in applies) == (structure == "fp")
    local = bool(options) or structure == "linear"
    assert ("minimum-interface" in applies) == (not local)
    assert ("no-redundant-pair" in applies) == (structure in ("fp", "nrf"))
    assert ("forwards-agree" in applies) == (structure in ("fp", "nrf"))
    assert ("interface-index" in applies) == (structure in ("bf", "nrf"))
    assert {"same-roots", "match-agrees", "sibling-pure"} <= applies
    assert {"entries-served", "entries-asked", "distinct-filters"} <= applies
    assert entry(report, "match-agrees")["checked"] == 60


def test_an_empty_table_passes(spark: SparkSession, tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path / "s", make_table("nrf").snapshot())
    assert violated(report_on(spark, snapshot)) == set()


# -- spoilt tables ---------------------------------------------------------------------------------

Spoil = Callable[[Rows, Rows], None]


def edge(parent: int, child: int) -> dict[str, int]:
    return {"parent": parent, "child": child}


def false_edge(_nodes: Rows, edges: Rows) -> None:
    edges.remove(edge(C, E))
    edges.append(edge(D, E))


def equal_edge(nodes: Rows, edges: Rows) -> None:
    nodes.append({"id": 6, "filter": "x >= 20 and x <= 30", "interfaces": ["I5"], "index": None})
    edges.append(edge(E, 6))


def covered_sibling(_nodes: Rows, edges: Rows) -> None:
    edges.remove(edge(C, E))
    edges.append(edge(A, E))


def redundant_edge(_nodes: Rows, edges: Rows) -> None:
    edges.append(edge(A, E))


def covered_root(_nodes: Rows, edges: Rows) -> None:
    edges.remove(edge(A, C))


def hidden_root(_nodes: Rows, edges: Rows) -> None:
    edges.append(edge(A, G))


def cycle(_nodes: Rows, edges: Rows) -> None:
    edges.remove(edge(A, C))
    edges.append(edge(E, C))


def two_parents(_nodes: Rows, edges: Rows) -> None:
    edges.append(edge(G, E))


def two_parents_and_index(nodes: Rows, edges: Rows) -> None:
    edges.append(edge(G, E))
    nodes[G]["index"] = ["I3"]


def lost_edge(_nodes: Rows, edges: Rows) -> None:
    edges.remove(edge(G, E))


def nobody(nodes: Rows, _edges: Rows) -> None:
    nodes[B]["interfaces"] = []


def twice_on_a_path(nodes: Rows, _edges: Rows) -> None:
    nodes[E]["interfaces"] = ["I3", "I1"]


def twice_on_a_path_and_index(nodes: Rows, edges: Rows) -> None:
    twice_on_a_path(nodes, edges)
    for each in (A, C):
        nodes[each]["index"] = sorted({*nodes[each]["index"], "I1"})


def redundant_pair(nodes: Rows, _edges: Rows) -> None:
    # Elsewhere in the forest an interface holds something that covers what it holds here.
    nodes[G]["interfaces"] = ["I3"]


def index_lacks(nodes: Rows, _edges: Rows) -> None:
    nodes[A]["index"] = ["I2"]


def no_index_there(nodes: Rows, edges: Rows) -> None:
    # Where it is left out, it says nothing; where it is wrong, it is wrong.
    nodes[A]["index"] = None
    index_lies(nodes, edges)


def no_list(nodes: Rows, _edges: Rows) -> None:
    nodes[B]["interfaces"] = None


def index_lies(nodes: Rows, _edges: Rows) -> None:
    nodes[D]["index"] = ["I1"]


def self_loop(_nodes: Rows, edges: Rows) -> None:
    edges.append(edge(B, B))


def equivalent_below_a_root(nodes: Rows, edges: Rows) -> None:
    nodes.append({"id": 6, "filter": "x >= 60 and x <= 100", "interfaces": ["I5"], "index": None})
    edges.append(edge(B, 6))


def equivalent_cycle(nodes: Rows, edges: Rows) -> None:
    equivalent_below_a_root(nodes, edges)
    edges.append(edge(6, B))


def equal_filters(nodes: Rows, edges: Rows) -> None:
    nodes.append({"id": 6, "filter": PAIRS[E][0], "interfaces": ["I6"], "index": None})
    edges += [edge(each["parent"], 6) for each in list(edges) if each["child"] == E]


def equivalent_strings(nodes: Rows, _edges: Rows) -> None:
    texts = ('s suffix "a" or s suffix "b"', 's suffix "b" or s suffix "a" or s suffix "ca"')
    for id_, text in zip((6, 7), texts, strict=True):
        nodes.append({"id": id_, "filter": text, "interfaces": ["I6"], "index": None})


def leaf_lost(nodes: Rows, edges: Rows) -> None:
    nodes[:] = [node for node in nodes if node["id"] != E]
    edges[:] = [each for each in edges if each["child"] != E]
    for node in nodes:
        if node["index"] is not None:
            node["index"] = [name for name in node["index"] if name != "I3"]


def swapped(nodes: Rows, _edges: Rows) -> None:
    nodes[C]["interfaces"], nodes[G]["interfaces"] = ["I4"], ["I2"]


def one_more(nodes: Rows, _edges: Rows) -> None:
    nodes[B]["interfaces"] = ["I1", "I7"]


def leaf_to_root(_nodes: Rows, edges: Rows) -> None:
    edges.append(edge(E, A))


#: The structure, what is done to it, and what must be named. What else is violated, and how often,
#: the oracle tells.
SPOILT: list[tuple[str, Spoil, str]] = [
    ("pf", false_edge, "edge-covers"),
    ("fp", false_edge, "edge-covers"),
    ("pf", equal_edge, "edge-covers"),
    ("pf", covered_sibling, "sibling-pure"),
    ("bf", covered_sibling, "sibling-pure"),
    ("fp", redundant_edge, "sibling-pure"),
    ("linear", redundant_edge, "sibling-pure"),
    ("pf", covered_root, "roots-minimal-cover"),
    ("pf", hidden_root, "roots-minimal-cover"),
    ("pf", self_loop, "roots-minimal-cover"),
    ("fp", self_loop, "complete-order"),
    ("nrf", equivalent_below_a_root, "roots-minimal-cover"),
    ("fp", equivalent_below_a_root, "complete-order"),
    ("fp", equivalent_cycle, "reachable-acyclic"),
    ("pf", cycle, "reachable-acyclic"),
    ("fp", cycle, "reachable-acyclic"),
    ("bf", leaf_to_root, "reachable-acyclic"),
    ("pf", two_parents, "single-parent"),
    ("nrf", two_parents_and_index, "single-parent"),
    ("fp", lost_edge, "complete-order"),
    ("pf", nobody, "interfaces-nonempty"),
    ("fp", nobody, "interfaces-nonempty"),
    ("pf", twice_on_a_path, "minimum-interface"),
    ("fp", twice_on_a_path, "minimum-interface"),
    ("nrf", twice_on_a_path_and_index, "minimum-interface"),
    ("nrf", redundant_pair, "no-redundant-pair"),
    ("fp", redundant_pair, "no-redundant-pair"),
    ("linear", redundant_pair, "entries-served"),
    ("nrf", index_lacks, "interface-index"),
    ("bf", index_lacks, "interface-index"),
    ("bf", no_index_there, "interface-index"),
    ("pf", no_list, "interfaces-nonempty"),
    ("nrf", index_lies, "interface-index"),
    ("pf", leaf_lost, "entries-served"),
    ("nrf", leaf_lost, "entries-served"),
    ("pf", swapped, "entries-served"),
    ("pf", swapped, "entries-asked"),
    ("fp", one_more, "entries-asked"),
    ("fp", equal_filters, "distinct-filters"),
    ("pf", equivalent_strings, "distinct-filters"),
]
COMPOSED: dict[str, list[Spoil]] = {
    "fp": [false_edge, equal_edge, self_loop, twice_on_a_path, one_more],
    "nrf": [leaf_to_root, equivalent_below_a_root, index_lies, redundant_pair, nobody],
}


def spoilt(structure: str, spoils: list[Spoil]) -> tuple[dict[str, Any], Rows, Rows]:
    snapshot = table(structure)
    nodes, edges = snapshot.node_rows(), snapshot.edge_rows()
    for each in spoils:
        each(nodes, edges)
    return snapshot.header(), nodes, edges


def write_pairs(folder: Path) -> Path:
    workload = write_filters(folder, list(PAIRS))
    write_notifications(workload, NOTIFICATIONS)
    return workload


def assert_as_told_by_the_oracle(
    report: dict[str, Any], rows: tuple[dict[str, Any], Rows, Rows]
) -> None:
    expected = violations(*rows, PAIRS, NOTIFICATIONS)
    found = {e["name"]: e["violations"] for e in report["invariants"] if e["name"] in expected}
    assert all(entry(report, name)["verdict"] != "not applicable" for name in expected)
    assert found == expected
    for each in report["invariants"]:
        assert each["violations"] >= len(each["witnesses"])
        assert (
            (each["verdict"] == "violated") == bool(each["witnesses"]) == bool(each["violations"])
        )
        for witness in each["witnesses"]:
            assert_true(each["name"], witness, *rows[1:])


@pytest.mark.parametrize(
    ("structure", "spoil", "named"),
    SPOILT,
    ids=[f"{structure}-{spoil.__name__}-{named}" for structure, spoil, named in SPOILT],
)
def test_spoilt_tables_are_told(
    spark: SparkSession, tmp_path: Path, structure: str, spoil: Spoil, named: str
) -> None:
    rows = spoilt(structure, [spoil])
    folder = write_rows(tmp_path / "s", *rows)
    report = report_on(spark, folder, write_pairs(tmp_path / "w"))
    assert named in violated(report)
    assert_as_told_by_the_oracle(report, rows)


def reports_on_all_paths(
    spark: SparkSession, folder: Path, workload: Path, monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    """Return the reports of the driver, of work that is shared out, and of joined blocks."""
    begun: list[Any] = []
    real = type(spark.sparkContext).parallelize
    with monkeypatch.context() as patch:
        patch.setattr(
            type(spark.sparkContext), "parallelize", lambda *a: [begun.append(a), real(*a)][1]
        )
        reports = [report_on(spark, folder, workload)]
        assert begun == []
        # Blocks of a few filters each, so that there is work to share out.
        patch.setattr(Filters, "size", 3)
        reports.append(report_on(spark, folder, workload))
        assert begun
        reports.append(report_on(spark, folder, workload, broadcast_limit=0))
    for report in reports:
        for name in ("seconds", "started", "finished", "parameters"):
            report.pop(name)
        for each in report["invariants"]:
            each.pop("seconds")
    return reports


@pytest.mark.parametrize("structure", sorted(COMPOSED))
def test_the_report_is_the_same_on_every_path(
    spark: SparkSession, tmp_path: Path, structure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spoilt(structure, COMPOSED[structure])
    folder = write_rows(tmp_path / "s", *rows)
    reports = reports_on_all_paths(spark, folder, write_pairs(tmp_path / "w"), monkeypatch)
    assert reports[0] == reports[1] == reports[2]
    assert_as_told_by_the_oracle(reports[2], rows)
    assert len(violated(reports[0])) > 8


def assert_true(name: str, witness: dict[str, Any], nodes: Rows, edges: Rows) -> None:
    """A witness is what it says it is, by the rows of the snapshot alone."""
    by_text = {node["filter"]: node for node in nodes}
    if "ids" in witness and name not in ("match-agrees", "reachable-acyclic", "single-parent"):
        by_id = {node["id"]: node for node in nodes}
        texts = {value for value in witness.values() if isinstance(value, str)}
        assert all(by_id[each]["filter"] in texts for each in witness["ids"])

    def covers(one: str, other: str) -> bool:
        return parse_filter(one).covers(parse_filter(other))

    def linked(one: str, other: str) -> bool:
        return edge(by_text[one]["id"], by_text[other]["id"]) in edges

    def below(one: str) -> set[int]:
        found: set[int] = set()
        stack = [by_text[one]["id"]]
        while stack:
            above = stack.pop()
            for each in edges:
                if each["parent"] == above and each["child"] not in found:
                    found.add(each["child"])
                    stack.append(each["child"])
        return found

    parentless = {node["id"] for node in nodes} - {each["child"] for each in edges}
    if name == "edge-covers":
        assert linked(witness["parent"], witness["child"])
        assert not covers(witness["parent"], witness["child"]) or covers(
            witness["child"], witness["parent"]
        )
    elif name == "sibling-pure":
        assert covers(witness["covers"], witness["covered"])
        if witness["parent"] == "(both are roots)":
            assert {by_text[witness[each]]["id"] for each in ("covers", "covered")} <= parentless
        else:
            assert linked(witness["parent"], witness["covers"])
            assert linked(witness["parent"], witness["covered"])
    elif name == "roots-minimal-cover":
        if "root" in witness:
            assert by_text[witness["root"]]["id"] in parentless
            assert covers(witness["covered by"], witness["root"])
        else:
            assert by_text[witness["filter"]]["id"] not in parentless
            assert not any(
                covers(other, witness["filter"]) for other in by_text if other != witness["filter"]
            )
    elif name == "reachable-acyclic":
        circle = witness["cycle"]
        for one, other in zip(circle, circle[1:] + circle[:1], strict=True):
            assert linked(one, other)
    elif name == "single-parent":
        assert len(witness["parents"]) > 1
        assert all(linked(parent, witness["child"]) for parent in witness["parents"])
    elif name == "complete-order":
        path = by_text[witness["other"]]["id"] in below(witness["one"])
        strictly = covers(witness["one"], witness["other"]) and not covers(
            witness["other"], witness["one"]
        )
        assert path != strictly
    elif name == "interfaces-nonempty":
        assert not by_text[witness["filter"]]["interfaces"]
    elif name == "minimum-interface":
        assert by_text[witness["below"]]["id"] in below(witness["above"])
        for each in ("above", "below"):
            assert witness["interface"] in by_text[witness[each]]["interfaces"]
    elif name == "no-redundant-pair":
        assert covers(witness["covers"], witness["covered"])
        for each in ("covers", "covered"):
            assert witness["interface"] in by_text[witness[each]]["interfaces"]
    elif name == "interface-index":
        node = by_text[witness["filter"]]
        held = {
            name
            for each in nodes
            if each["id"] in below(witness["filter"])
            for name in each["interfaces"] or []
        }
        assert (witness["interface"] in (node["index"] or [])) != (witness["interface"] in held)
    elif name == "match-agrees":
        notification = json.loads(witness["notification"])
        node = by_text[witness["filter"]]
        assert parse_filter(node["filter"]).matches(notification)
        assert set(node["interfaces"]) & set(witness["missed"])
    elif name == "same-roots":
        assert (witness["root"] in {text for text, _ in PAIRS}) or "ids" in witness
    elif name == "distinct-filters":
        one, other = witness["ids"]
        assert one != other
        assert covers(witness["one"], witness["other"])
        assert covers(witness["other"], witness["one"])
    elif name == "entries-asked":
        assert not any(
            interface == witness["interface"]
            and covers(text, witness["filter"])
            and covers(witness["filter"], text)
            for text, interface in PAIRS
        )
    elif name == "entries-served":
        others = [
            node["filter"]
            for node in nodes
            if witness["interface"] in (node["interfaces"] or ())
            and witness.get("ids") != [node["id"]]
        ]
        served = any(covers(each, witness["filter"]) for each in others)
        assert served == ("ids" in witness)
    elif name == "forwards-agree":
        # Sent to n: someone other than n holds it, and nothing that covers it and is wanted there.
        def wanted(text: str, n: str) -> bool:
            return bool(set(by_text[text]["interfaces"]) - {n})

        text = witness["filter"]
        above = [
            each
            for each in by_text
            if each != text
            and covers(each, text)
            and (not covers(text, each) or by_text[each]["id"] < by_text[text]["id"])
        ]
        everyone = {interface for node in nodes for interface in node["interfaces"]}
        naive = {
            n for n in everyone if wanted(text, n) and not any(wanted(each, n) for each in above)
        }
        assert set(witness["naive"]) == naive
        assert witness["naive"] != witness.get("poset", witness.get("forest"))
    else:
        raise AssertionError(f"no test of a witness for {name}")


def test_forwards_that_differ_are_told(spark: SparkSession, tmp_path: Path) -> None:
    # [T, Ex. 3.2] with F4 hung under F1 alone: by the links it would go to c.
    pairs = [
        ("x in [0, 60]", "c"),
        ("x in [10, 70]", "c"),
        ("x in [20, 50]", "a"),
        ("x in [30, 40]", "b"),
    ]
    clean = table("fp", pairs)
    assert violated(report_on(spark, write_snapshot(tmp_path / "clean", clean))) == set()
    nodes, edges = clean.node_rows(), clean.edge_rows()
    edges.remove(edge(2, 3))
    edges.append(edge(0, 3))
    folder = write_rows(tmp_path / "s", clean.header(), nodes, edges)
    report = report_on(spark, folder)
    assert violated(report) == {"forwards-agree", "complete-order", "sibling-pure"}
    found = entry(report, "forwards-agree")
    assert found["violations"] == 1
    witness = found["witnesses"][0]
    assert witness["filter"] == "x in [30, 40]"
    assert (witness["naive"], witness["poset"]) == ([], ["c"])


def test_roots_that_differ_from_the_workloads_are_told(spark: SparkSession, tmp_path: Path) -> None:
    workload = write_filters(tmp_path / "w", PAIRS)
    without = [pair for pair in PAIRS if pair != PAIRS[B]]
    snapshot = write_snapshot(tmp_path / "s", table("pf", without))
    report = report_on(spark, snapshot, workload)
    assert violated(report) == {"same-roots", "entries-served"}
    found = entry(report, "same-roots")
    assert found["violations"] == 2
    assert {each["root"] for each in found["witnesses"]} == {PAIRS[B][0], PAIRS[D][0]}
    against = write_snapshot(tmp_path / "o", table("nrf"))
    report = report_on(spark, snapshot, against=Place(str(against)))
    assert violated(report) == {"same-roots"}


def test_a_workload_that_has_nothing_to_do_with_the_table_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    snapshot = write_snapshot(tmp_path / "s", table("pf"))
    other = write_filters(tmp_path / "v", [("z = 1", "I1")])
    for only in (None, ["edge-covers"]):
        with pytest.raises(InputError, match="has none of the table's filters"):
            report_on(spark, snapshot, other, only=only)


def test_a_workload_in_other_words_is_the_tables(spark: SparkSession, tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path / "s", table("pf"))
    words = [
        (f"x >= {text.split('[')[1].split(',')[0]} and x <= {text.split(', ')[1][:-1]}", interface)
        for text, interface in PAIRS
    ]
    assert not {text for text, _ in words} & {text for text, _ in PAIRS}
    other = write_filters(tmp_path / "v", list(words))
    for only in (None, ["edge-covers"]):
        assert report_on(spark, snapshot, other, only=only)["ok"]


@pytest.mark.parametrize("structure", ["fp", "nrf"])
@pytest.mark.parametrize("given", [None, ["I1", "I2"], ["I1"], ["elsewhere", "I3", "I5"]])
def test_the_mechanisms_are_those_of_the_library(
    spark: SparkSession, tmp_path: Path, structure: str, given: list[str] | None
) -> None:
    from workloads.checks_forwards import _as_set, _naive, _own, _sole_holders
    from workloads.context import Asked
    from workloads.datasets import read_snapshot
    from workloads.near import NearContext
    from workloads.opening import open_context

    p = Parameters(filters=150, seed=8, interfaces=5, decimals=0)
    columns = generated_filters(p, np.arange(150))
    pairs = list(zip(columns.texts(), interface_names(columns.interfaces), strict=True))
    # Some filters are held by two, so that nobody alone holds them.
    pairs += [(text, "I5") for text, _ in pairs[:20]]
    snapshot = table(structure, pairs)
    folder = write_snapshot(tmp_path / "s", snapshot)
    restored = snapshot.restore()
    read = read_snapshot(spark, Place(str(folder)))
    with open_context(spark, read, Asked(neighbours=given, notifications=1)) as context:
        assert isinstance(context, NearContext)
        everyone = context.names if given is None else given
        holders = _sole_holders(context, frozenset(everyone))
        made = ((_naive(context, holders), "naive"), (_own(context, holders), None))
    for found, mechanism in made:
        sets = {
            str(node.item): _as_set(found[node.id], context.names, everyone)
            for node in snapshot.nodes
        }
        expected = forwards_sets(restored, everyone, mechanism)
        assert {text: each for text, each in sets.items() if each} == {
            str(item): each for item, each in expected.items()
        }


# -- what is no snapshot ---------------------------------------------------------------------------


def broken(change: Callable[[dict[str, Any], Rows, Rows], None], folder: Path) -> Place:
    snapshot = table("nrf")
    header, nodes, edges = snapshot.header(), snapshot.node_rows(), snapshot.edge_rows()
    change(header, nodes, edges)
    return Place(str(write_rows(folder, header, nodes, edges)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda h, n, e: h.update(format="x"), "the format is 'x'"),
        (lambda h, n, e: h.update(version=2), "the version is 2"),
        (lambda h, n, e: h.update(structure="tree"), "unknown structure 'tree'"),
        (lambda h, n, e: h.update(types={"A": ["B"], "B": ["A"]}), '"types" in snapshot.json'),
        (lambda h, n, e: n.append(copy.deepcopy(n[0])), "two nodes have the id 0"),
        (lambda h, n, e: e.append(edge(0, 77)), r"edge \[0, 77\] refers to node 77"),
        (lambda h, n, e: e.append(copy.deepcopy(e[0])), "is there twice"),
        (lambda h, n, e: n[1].update(interfaces=["I1", "I1"]), "node 1: interfaces is"),
        (lambda h, n, e: n[1].update(interfaces=[None]), r"node 1: interfaces is \[None\]"),
        (lambda h, n, e: n[1].update(index=["I2", "I2"]), "node 1: index is"),
        (lambda h, n, e: n[1].update(filter="x in"), "1 row has text that is no filter"),
    ],
)
def test_what_is_no_snapshot_is_refused(
    spark: SparkSession,
    tmp_path: Path,
    change: Callable[[dict[str, Any], Rows, Rows], None],
    sentence: str,
) -> None:
    with pytest.raises(InputError, match=sentence):
        validate(spark, broken(change, tmp_path / "s"))


def test_an_index_that_is_left_out_is_not_checked(spark: SparkSession, tmp_path: Path) -> None:
    snapshot = table("nrf")
    nodes = [row | {"index": None} for row in snapshot.node_rows()]
    folder = write_rows(tmp_path / "s", snapshot.header(), nodes, snapshot.edge_rows())
    report = report_on(spark, folder)
    assert violated(report) == set()
    assert entry(report, "interface-index")["verdict"] == "not applicable"


def test_unreadable_rows_are_left_out_when_asked(spark: SparkSession, tmp_path: Path) -> None:
    place = broken(lambda h, n, e: n[E].update(filter="x in ["), tmp_path / "s")
    report = validate(spark, place, skip_bad=True)
    assert report["bad_rows"]["count"] == 1
    assert report["bad_rows"]["samples"][0]["id"] == E
    assert report["nodes"] == len(PAIRS) - 1
    # The index still speaks of what is gone.
    assert violated(report) == {"interface-index"}
