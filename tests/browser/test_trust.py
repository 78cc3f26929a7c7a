"""Nothing that misleads: broken files look broken, changes are told apart, witnesses say why."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import posetlib as pl
from browser.checking import MEANINGS, check_file, fault_marks, why_witness
from browser.config import Config, Limits
from browser.detail import detail
from browser.diffing import compare
from browser.directories import read_report, snapshot_of
from browser.filter_list import numbers_listed, rows_of
from browser.matching import match
from browser.pages.diff import chosen_side
from browser.pages.runs import report_table, shown_of, witness_drawing
from browser.picture import change_marks, file_drawing
from browser.state import Library
from browser.story import FILE, Story

from .files import snapshot_json, write_run, write_snapshot, write_workload

TYPED = {"from": "text"}


def uploaded(document: dict[str, Any]) -> Story:
    library = Library(Config())
    key = library.keep([("table.json", json.dumps(document).encode())])
    return library.story({"from": "document", "doc": key})


def broken(change: str) -> dict[str, Any]:
    """Return a file of the worked example with one fault."""
    structure = "bf" if change == "index" else "fp"
    document: dict[str, Any] = json.loads(snapshot_json(structure))
    if change == "edge":
        document["edges"].append([1, 4])  # [60, 100] above [20, 30]
    elif change == "cycle":
        document["edges"].append([4, 0])
    elif change == "holder":
        document["nodes"][4]["interfaces"] = []
    elif change == "missing":
        document["edges"].remove([2, 4])
    elif change == "index":
        document["nodes"][0]["index"] = ["I9"]
    return document


class TestFiles:
    def test_a_healthy_file_is_shown_beside_its_twin_and_holds(self) -> None:
        told = uploaded(json.loads(snapshot_json("nrf")))
        assert told.first_shown == (FILE, "nrf")
        assert told.title("nrf").endswith("rebuilt from the file's pairs")
        verdict = check_file(told)
        assert verdict is not None
        assert verdict.ok is True
        assert fault_marks(verdict) == ({}, {})

    @pytest.mark.parametrize(
        ("change", "invariant", "numbers", "words"),
        [
            ("edge", "edge-covers", (2, 5), "does not cover"),
            ("cycle", "reachable-acyclic", {1, 3, 5}, "a cycle: #"),
            ("holder", "interfaces-nonempty", (5,), "no interface"),
            ("missing", "roots-minimal-cover", None, "covered"),
            ("index", "interface-index", (1,), "index"),
        ],
    )
    def test_a_broken_file_says_so_and_is_drawn_as_it_is(
        self, change: str, invariant: str, numbers: Any, words: str
    ) -> None:
        document = broken(change)
        told = uploaded(document)
        verdict = check_file(told)
        assert verdict is not None
        assert verdict.ok is False
        assert verdict.invariant == invariant
        fault = verdict.faults[0]
        assert words in fault.what
        if numbers is not None:
            assert (set(fault.numbers) if isinstance(numbers, set) else fault.numbers) == numbers
        frame = told.frame(FILE, 0)
        made = file_drawing(told, frame, Limits())
        assert made["nodes"] == len(document["nodes"])
        assert made["edges"] == len(document["edges"])
        assert invariant in made["note"]
        marked = {e["data"]["id"] for e in made["elements"] if "witness" in e.get("classes", "")}
        assert {str(each) for each in fault.numbers} <= marked
        # Whatever is wrong with it, it can be looked at.
        for number in told.filters:
            assert detail(told, frame, number, told.interfaces).why
        match(told, frame, {"x": 25})

    def test_a_cycle_is_named_in_its_order(self) -> None:
        verdict = check_file(uploaded(broken("cycle")))
        assert verdict is not None
        fault = verdict.faults[0]
        assert fault.cycle
        names = fault.what.removeprefix("a cycle: ").split(" → ")
        assert names[0] == names[-1]
        edges = {(f"#{a + 1}", f"#{b + 1}") for a, b in broken("cycle")["edges"]}
        assert set(pairwise(names)) <= edges

    def test_every_bad_edge_is_a_witness_with_its_reason(self) -> None:
        document = broken("edge")
        document["edges"].append([0, 3])
        verdict = check_file(uploaded(document))
        assert verdict is not None
        assert {each.numbers for each in verdict.faults} == {(2, 5), (1, 4)}
        assert verdict.total == 2
        for each in verdict.faults:
            assert "Attribute x" in each.why[0]
            notification = json.loads(each.why[1].split("notification ")[1].split(" matches")[0])
            story = uploaded(document)
            above, below = (story.filters[number] for number in each.numbers)
            assert below.matches(notification)
            assert not above.matches(notification)

    def test_a_diff_is_of_the_file_and_its_twin_by_default(self) -> None:
        library = Library(Config())
        key = library.keep([("t.json", json.dumps(broken("edge")).encode())])
        recipe = {"from": "document", "doc": key}
        story = library.story(recipe)
        one, other = (chosen_side(library, recipe, "", each, None) for each in story.first_shown)
        assert one.structure == FILE
        assert "rebuilt" in other.name
        found = compare(
            one.story.frame(FILE, 0).snapshot,
            other.story.frame(other.structure, other.step).snapshot,
            story.number,
        )
        assert found.edge_marks == {(2, 5): "removed"}

    def test_a_local_table_has_a_local_twin(self) -> None:
        table = pl.PosetForest(local=True)
        for text in ("x > 1", "x > 5"):
            table.add(pl.parse_filter(text), "I1")
        told = uploaded(json.loads(table.snapshot().to_json()))
        twin = told.frame("pf", len(told)).snapshot
        assert {str(item) for item, _ in twin.entries()} == {"x > 1", "x > 5"}
        assert twin.restore() == table

    def test_a_large_file_is_checked_when_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("browser.checking.CHECKED", 3)
        told = uploaded(broken("edge"))
        unasked = check_file(told)
        assert unasked is not None
        assert unasked.ok is None
        asked = check_file(told, asked=True)
        assert asked is not None
        assert asked.ok is False
        assert check_file(told) is asked


class TestMoves:
    def test_moved_means_that_no_parent_is_kept(self) -> None:
        told = Library(Config()).story({"filters": "400", "operations": "100", "seed": "4"})
        one, other = (told.frame(each, len(told)).snapshot for each in ("fp", "nrf"))
        found = compare(one, other, told.number)
        before, after = found.before.parents, found.after.parents
        for number, marks in found.marks.items():
            if "moved" in marks:
                assert not set(before[number]) & set(after[number])
            if "relinked" in marks:
                assert set(before[number]) & set(after[number])
        # A forest keeps one parent of several: nothing has gone elsewhere.
        assert found.counts["moved"] <= found.counts["edges added"]
        assert found.counts["relinked"] > 20 * max(1, found.counts["moved"])

    def test_a_step_tells_the_same_apart(self) -> None:
        # #3 hangs from #1, and from #2 as well once that is there.
        text = "I1: x > 1\nI2: x > 5 and y > 5\nI3: y > 1"
        told = Library(Config()).story({**TYPED, "text": text})
        frame = told.frame("fp", 3)
        assert frame.relinked == {2}
        assert frame.added_edges == {(3, 2)}
        assert change_marks(told, frame) == {2: ["relinked"], 3: ["added"]}

    def test_changes_only_has_what_differs_and_its_ends(self) -> None:
        told = Library(Config()).story({"filters": "60", "operations": "10"})
        one, other = told.frame("fp", 50).snapshot, told.frame("fp", 60).snapshot
        found = compare(one, other, told.number)
        ends = {end for edge in found.edge_marks for end in edge}
        assert set(found.changes.nodes) == {*found.marks, *ends}
        assert set(found.edge_marks) <= set(found.changes.edges)
        assert set(found.changes.edges) <= set(found.overlay.edges)


class TestNumbers:
    def test_a_filter_has_one_number_on_every_page(self, tmp_path: Path) -> None:
        config = Config(write_run(tmp_path) / "workload")
        library = Library(config)
        story = library.story({"from": "workload"})
        report = read_report(config, "bad.json")
        found = snapshot_of(config, report)
        assert found is not None
        witness = report.content["invariants"][0]["witnesses"][0]
        made = witness_drawing(found, "edge-covers", witness, Limits(), story)
        assert made is not None
        for each in made["elements"]:
            if "filter" in each["data"]:
                number = story.number[pl.parse_filter(each["data"]["filter"])]
                assert each["data"]["id"] == str(number)
                assert f"#{number}" in each["data"]["label"]

    def test_what_the_source_has_not_shows_its_id(self, tmp_path: Path) -> None:
        folder = write_snapshot(tmp_path / "fp", pl.Snapshot.from_json(snapshot_json()))
        story = Library(Config()).story({**TYPED, "text": "I1: x in [10, 40]"})
        made = witness_drawing(("fp", folder), "edge-covers", {"ids": [0, 2]}, Limits(), story)
        assert made is not None
        heads = {each["data"].get("head") for each in made["elements"]} - {None}
        assert heads == {"! id 0", "! #1", "id 4"}


class TestWitnesses:
    def test_every_invariant_is_explained(self) -> None:
        named = {name for each in pl.structure_names() for name in _kept(each)}
        assert named <= set(MEANINGS)
        assert all(text.endswith(".") for text in MEANINGS.values())

    def test_how_many_are_shown_of_how_many(self, tmp_path: Path) -> None:
        assert shown_of({"violations": 5, "witnesses": [{}] * 5}) == ""
        write_workload(tmp_path / "workload")
        entry = {
            "name": "edge-covers",
            "verdict": "violated",
            "checked": 20,
            "violations": 12,
            "witnesses": [{"parent": "x > 5", "child": "x > 3"}] * 5,
        }
        (tmp_path / "r.json").write_text(json.dumps({"ok": False, "invariants": [entry]}))
        report = read_report(Config(tmp_path / "workload"), "r.json")
        told = str(report_table(report, {}))
        assert "5 of 12 violations shown" in told
        assert MEANINGS["edge-covers"] in told

    @pytest.mark.parametrize(
        "witness",
        [
            {"parent": "x in [0, 5]", "child": "x in [3, 8]"},
            {"root": "x in [3, 4]", "covered by": "x in [0, 5]"},
            {"covers": "x in [0, 5]", "covered": "x in [1, 2]", "interface": "I1"},
            {"above": "x > 1", "below": "x > 4"},
            {"one": "x > 1", "other": "x > 4"},
            {"filter": "x > 1"},
            {"cycle": ["x > 1", "x > 2"]},
            {"filter": "x > 1", "notification": '{"x": 3}'},
        ],
    )
    def test_a_witness_says_why(self, witness: dict[str, Any]) -> None:
        told = " ".join(why_witness(witness))
        assert told
        if "cycle" not in witness:
            assert "notification {" in told
        if len(witness) > 1 and "notification" not in witness and "cycle" not in witness:
            assert " x" in told

    @pytest.mark.parametrize("witness", [None, 3, [], {}, {"filter": "x >"}, {"parent": 3}])
    def test_what_cannot_be_read_says_nothing(self, witness: object) -> None:
        assert why_witness(witness) == ()


def _kept(structure: str) -> frozenset[str]:
    return pl.structure_named(structure).promises.invariants()


class TestAbsence:
    TEXT = """\
I1: x in [0, 50]
I1: x in [10, 40]
I2: x in [20, 30]
I2: x in [0, 90]
I3: y = 1
- I3: y = 1
I4: z = 1
drop I4
- I2: x in [0, 90]
"""

    def test_who_is_absent_can_be_found_and_says_why(self) -> None:
        told = Library(Config()).story({**TYPED, "text": self.TEXT})
        frames = {"fp": told.frame("fp", len(told))}
        made = rows_of("tables", told, frames, numbers_listed(told, frames))
        rows = {row[0]["text"]: str(row[1]) for row in made["rows"]}
        assert set(rows) == {f"#{number}" for number in told.filters}
        assert "'absent'" not in rows["#1"]
        absent = {number for number in told.filters if number not in frames["fp"].graph.nodes}
        assert absent == {2, 3, 4, 5, 6}
        assert all("'absent'" in rows[f"#{number}"] for number in absent)
        assert made["caption"].endswith("5 of them absent")
        reasons = {n: detail(told, frames["fp"], n, ["I1"]).why[0] for n in absent}
        assert "holds #1, which covers it" in reasons[2]
        assert "at step 4 #4, which covers it: it was pruned" in reasons[3]
        assert reasons[4] == "I2 took it back at step 9."
        assert reasons[5] == "I3 took it back at step 6."
        assert "was dropped at step 8" in reasons[6]
        found = rows_of("tables", told, frames, numbers_listed(told, frames, "y = 1"))
        assert [row[0]["text"] for row in found["rows"]] == ["#5"]

    def test_what_was_not_taken_in_and_lost_its_coverer_says_so(self) -> None:
        told = Library(Config()).story(
            {**TYPED, "text": "I1: x > 1\nI1: x > 5\n- I1: x > 1\nI1: y = 1"}
        )
        frame = told.frame("fp", 4)
        assert 2 not in frame.graph.nodes
        assert "when it held #1, which covers it" in detail(told, frame, 2, ["I1"]).why[0]

    def test_what_was_not_yet_added_is_not_listed(self) -> None:
        told = Library(Config()).story({**TYPED, "text": self.TEXT})
        frames = {"fp": told.frame("fp", 2)}
        made = rows_of("tables", told, frames, numbers_listed(told, frames))
        assert len(made["rows"]) == 2
