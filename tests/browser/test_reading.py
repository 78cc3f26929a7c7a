"""What the pages tell of tables: matches, differences, messages, reasons, reports; as data."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import posetlib as pl
from browser.config import Config, Limits
from browser.detail import detail
from browser.diffing import compare
from browser.directories import (
    is_report,
    neighbourhood,
    numbers_of,
    read_report,
    read_workload,
    reports,
    snapshot_of,
)
from browser.filter_list import numbers_listed, rows_of
from browser.forwards import (
    MECHANISMS,
    Message,
    mechanisms,
    messages,
    network,
    step_messages,
    what_if,
)
from browser.matching import match, random_notification, read_notification, why
from browser.pages.runs import witness_drawing
from browser.pages.tables import edited
from browser.sources import SourceError, read_line
from browser.state import Library
from browser.story import STRUCTURES, Story

from .files import PAIRS, report, table, write_rows, write_run, write_snapshot, write_workload

NEAR = ["I1", "I2", "I3"]


def story(text: str = "", **recipe: str) -> Story:
    return Library(Config()).story({"from": "text", "text": text} if text else recipe)


EXAMPLE = {"from": "example", "example": "forwards"}


class TestMatching:
    def test_every_filter_has_a_mark_and_the_answer_is_right(self) -> None:
        told = story(filters="60", operations="10", seed="5")
        for draw in range(20):
            text = random_notification(told, draw)
            notification = read_notification(text)
            for each in STRUCTURES:
                frame = told.frame(each, len(told))
                found = match(told, frame, notification)
                entries = frame.snapshot.entries()
                expected = {i for f, i in entries if f.matches(notification)}
                assert set(found.interfaces) == expected
                assert set(found.marks) == set(frame.graph.nodes)
                for number, marks in found.marks.items():
                    item = told.filters[number]
                    if "matched" in marks:
                        assert item.matches(notification)
                    if "failed" in marks:
                        assert not item.matches(notification)
                    assert why(told, frame.graph, found, notification, number)

    def test_a_notification_of_a_filter_matches_it(self) -> None:
        told = story('I1: x > 3 and s prefix "a"\nI2: t has 3 and b = true')
        for draw in range(10):
            notification = read_notification(random_notification(told, draw))
            assert any(item.matches(notification) for item in told.filters.values())

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "line 1, column 1"),
            ("5", "a JSON object, a tuple, or a document in XML"),
            ("<a>", "not well-formed XML"),
            ("(1, 2", "a tuple ends with"),
            ('{"x": 1,\n y}', "line 2, column 2"),
            ("[" * 5_000, "cannot be read"),
            ('{"x": "' + "a" * 30_000 + '"}', "too long"),
            ('{"x": ' + "9" * 9_000 + "}", "cannot be read"),
        ],
    )
    def test_what_is_no_notification_is_told(self, text: str, words: str) -> None:
        with pytest.raises(SourceError, match=words):
            read_notification(text)

    def test_strange_values_match_nothing_and_break_nothing(self) -> None:
        told = story(**EXAMPLE)
        for value in ("null", "NaN", "Infinity", '{"a": 1}', "[1, 2]", '"text"', "true", "1e400"):
            notification = read_notification(f'{{"x": {value}}}')
            found = match(told, told.frame("fp", 5), notification)
            assert found.interfaces == ()


class TestDiffing:
    def test_marks_and_counts_agree_with_the_diff(self) -> None:
        told = story(filters="80", operations="10")
        a, b = told.frame("fp", 60).snapshot, told.frame("pf", 90).snapshot
        found = compare(a, b, told.number)
        diff = pl.diff(a, b)
        assert found.counts["added"] == len(diff.nodes_added) > 0
        assert found.counts["removed"] == len(diff.nodes_removed)
        assert found.counts["moved"] + found.counts["relinked"] == len(diff.moved) > 0
        kinds = [each.kind for each in found.listed()]
        assert kinds.count("moved") == found.counts["moved"] > 0
        assert kinds.count("relinked") == found.counts["relinked"] > 0
        document = json.loads(found.to_json("a", "b"))
        assert document["diff"] == diff.to_dict()
        assert document["counts"] == found.counts

    def test_the_overlay_has_both(self) -> None:
        one = table("fp").snapshot()
        two = table("nrf", [*PAIRS[1:], ("y = 1", "I4")]).snapshot()
        found = compare(one, two)
        assert len(found.overlay.nodes) == 6
        assert set(found.edge_marks.values()) <= {"added", "removed"}
        assert set(found.overlay.edges) == set(found.before.edges) | set(found.after.edges)

    def test_equal_tables_do_not_differ(self) -> None:
        found = compare(table("fp").snapshot(), table("fp").snapshot())
        assert found.marks == {}
        assert found.listed() == []
        assert not any(found.counts.values())


class TestForwards:
    def test_the_worked_example(self) -> None:
        told = story(**EXAMPLE)
        rows = {row.number: row for row in mechanisms(told, 5, NEAR).rows}
        sets = {number: row.sets["poset"] for number, row in rows.items()}
        assert sets == {1: ("I2", "I3"), 2: ("I2", "I3"), 3: ("I1",), 4: ("I1",)}
        assert not any(row.differs for row in rows.values())
        sent = {m.to: (m.unsubscribe, m.subscribe) for m in step_messages(told, 6, NEAR)}
        assert sent == {"I2": ((1,), (5,)), "I3": ((1,), (3,))}

    def test_the_second_example(self) -> None:
        told = story(**{"from": "example", "example": "orders"})
        rows = {row.number: row.sets for row in mechanisms(told, 4, ["a", "b", "c"]).rows}
        assert rows[3]["poset"] == rows[3]["forest"] == ("c",)
        assert 4 not in rows
        for mechanism in ("naive", "poset", "forest"):
            sent = step_messages(told, 5, ["a", "b", "c"], mechanism)
            assert [(m.to, m.unsubscribe, m.subscribe) for m in sent] == [("c", (3,), (4,))]

    def test_neighbours_that_follow_the_messages_know_what_they_should(self) -> None:
        # Whoever applies every message holds what covers all that others hold.
        told = story(filters="30", operations="20", interfaces="3", seed="11")
        held: dict[str, set[int]] = {name: set() for name in NEAR}
        for step in range(1, len(told) + 1):
            for message in step_messages(told, step, NEAR):
                mine = held[message.to]
                assert set(message.unsubscribe) <= mine
                mine -= set(message.unsubscribe)
                for new in message.subscribe:
                    covered = {n for n in mine if told.filters[new].covers(told.filters[n])}
                    mine -= covered
                    mine.add(new)
            entries = told.frame("fp", step).snapshot.entries()
            for name, mine in held.items():
                filters = [told.filters[number] for number in mine]
                wanted = [item for item, holder in entries if holder != name]
                assert pl.set_covers(filters, wanted)
                assert pl.set_covers(wanted, filters)

    def test_what_if_is_what_the_step_does(self) -> None:
        told = story(filters="25", operations="10", interfaces="3", seed="2")
        for step in range(len(told)):
            operation = told.trace[step]
            frame = told.frame("fp", step)
            if operation.name == "remove" and (
                (operation.item, operation.interface) not in frame.snapshot.entries()
            ):
                with pytest.raises(SourceError, match="does not hold"):
                    what_if(told, step, operation, NEAR, "poset")
                continue
            sent, _ = what_if(told, step, operation, NEAR, "poset")
            assert sent == step_messages(told, step + 1, NEAR)

    def test_a_local_client_is_nobody_to_send_to(self) -> None:
        told = story(**EXAMPLE)
        rows = {row.number: row.sets["naive"] for row in mechanisms(told, 5, ["I2", "I3"]).rows}
        assert rows == {1: ("I2", "I3"), 2: ("I2", "I3")}

    def test_the_approximate_mechanism_differs_where_it_should(self) -> None:
        told = story(**{"from": "example", "example": "approximate"})
        (row,) = [each for each in mechanisms(told, 3, NEAR).rows if each.differs]
        assert row.sets["approximate"] == ("I1",)
        assert row.sets["forest"] == row.sets["naive"] == ()
        assert set(row.sets) == set(MECHANISMS)

    def test_nothing_sent_is_no_message(self) -> None:
        assert messages({}, {}, NEAR, {}) == []

    def test_the_network_shows_who_asks_and_who_is_told(self) -> None:
        told = story(**EXAMPLE)
        made = network(told.trace[5], step_messages(told, 6, NEAR), NEAR, told.number)
        labels = {e["data"]["id"]: e["data"].get("label") for e in made["elements"]}
        assert labels["at I1>router"] == "unsubscribe #1"
        assert labels["router>at I3"] == "− #1\n+ #3"
        many = [f"I{i}" for i in range(100)]
        assert network(None, [], many, {})["nodes"] <= 25

    def test_of_hundreds_of_neighbours_those_that_take_part_are_drawn(self) -> None:
        told = story(**EXAMPLE)
        many = [f"I{i}" for i in range(300)]
        made = network(told.trace[5], step_messages(told, 6, NEAR), many, told.number)
        drawn = {e["data"]["id"] for e in made["elements"] if "position" in e}
        assert drawn == {"router", "at I1", "at I2", "at I3"}
        assert made["note"] == "297 neighbours are sent nothing and are not drawn."
        to_all = [Message(each, (), (1,)) for each in many]
        made = network(told.trace[5], to_all, many, told.number)
        assert made["nodes"] == 25
        assert made["note"] == "276 neighbours are not drawn; 276 are sent to."


class TestReasons:
    def test_a_root_and_a_child(self) -> None:
        told = story(**EXAMPLE)
        root = detail(told, told.frame("fp", 5), 1, NEAR)
        assert root.parents == ()
        assert root.forwards == ("I2", "I3")
        assert "no other filter of the table covers it" in root.why[0]
        assert "#2, does not" in root.why[1]
        child = detail(told, told.frame("nrf", 5), 5, NEAR)
        assert child.parents == (3,)
        assert child.why[0].startswith("It is below #3, which covers it")

    def test_a_forest_keeps_one_parent(self) -> None:
        told = story(**{"from": "example", "example": "orders"})
        assert "#2 covers it as well" in " ".join(detail(told, told.frame("pf", 3), 3, []).why)
        assert detail(told, told.frame("fp", 3), 3, []).parents == (1, 2)

    def test_why_it_is_not_there(self) -> None:
        told = story("I1: x > 1\nI1: x > 5\n- I1: x > 1")
        frame = told.frame("fp", 2)
        assert "holds #1, which covers it" in detail(told, frame, 2, []).why[0]
        assert "no operation up to step 0" in detail(told, told.frame("fp", 0), 1, []).why[0]
        assert "took it back at step 3" in detail(told, told.frame("fp", 3), 1, []).why[0]
        assert "There is no filter #99" in detail(told, frame, 99, []).why[0]

    def test_every_filter_of_a_random_table_has_a_reason(self) -> None:
        told = story(filters="50", operations="10")
        for each in STRUCTURES:
            frame = told.frame(each, len(told))
            for number in told.filters:
                found = detail(told, frame, number, told.interfaces)
                assert found.why
                assert found.present == (number in frame.graph.nodes)
                assert "not as it should" not in " ".join(found.why)


class TestTheList:
    def test_windows_and_search(self) -> None:
        told = story(filters="60", interfaces="60")
        frames = {each: told.frame(each, 60) for each in ("fp", "pf")}
        listed = numbers_listed(told, frames)
        made = rows_of("tables", told, frames, listed, size=25, first=50, picked=55)
        # The last window is as large as any.
        assert [row[0]["text"] for row in made["rows"]] == [f"#{n}" for n in range(36, 61)]
        assert (made["first"], made["total"], made["ask"]) == (35, 60, "tables-rows_first")
        assert made["caption"] == "60 filters"
        assert made["classes"].count("picked") == 1
        assert "ask" not in rows_of("tables", told, frames, listed, size=60)
        found = rows_of("tables", told, frames, numbers_listed(told, frames, "#7 "))
        assert [row[0]["text"] for row in found["rows"]] == ["#7"]
        nothing = rows_of("tables", told, frames, numbers_listed(told, frames, "no such thing"))
        assert nothing["rows"] == []

    def test_an_edit_by_hand(self) -> None:
        library = Library(Config())
        recipe, number = edited(library, EXAMPLE, 5, "I9", "y  =  1", removing=False)
        assert number == 6
        assert str(library.story(recipe).trace[5]) == "add y = 1 (I9)"
        for interface, text, words in (
            ("", "x = 1", "a name without"),
            ("a b", "x = 1", "a name without"),
            ("I1", "", "no filter"),
            ("I1", "x >", "line 1, column"),
        ):
            with pytest.raises(SourceError, match=words):
                edited(library, EXAMPLE, 5, interface, text, removing=False)
        with pytest.raises(SourceError, match="does not hold"):
            edited(library, EXAMPLE, 5, "I3", "x in [0, 50]", removing=True)

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("x:int > 3", "add x:int >= 4 (I7)"),
            ("+ I1: x > 3", "add x > 3 (I1)"),
            ("-I1: x > 3", "remove x > 3 (I1)"),
            ("drop I1", "drop interface I1"),
            ("  I1:   x > 3  ", "add x > 3 (I1)"),
        ],
    )
    def test_a_line(self, line: str, told: str) -> None:
        assert str(read_line(line, Limits(), unnamed=7)) == told


class TestDirectories:
    def test_a_workload(self, tmp_path: Path) -> None:
        source = read_workload(write_workload(tmp_path / "w"), Limits())
        assert [str(each.item) for each in source.operations] == [text for text, _ in PAIRS]
        assert source.notifications == ('{"x": 25}', '{"x": 55}')
        assert source.note == ""

    def test_the_first_of_many(self, tmp_path: Path) -> None:
        pairs = [(f"x = {i}", "I1") for i in range(50)]
        random.Random(1).shuffle(pairs)
        folder = write_workload(tmp_path / "w", pairs, first=1_000, parts=3)
        source = read_workload(folder, Limits(workload_filters=10))
        assert [str(each.item) for each in source.operations] == [text for text, _ in pairs[:10]]
        assert source.note == "The first 10 of the workload's 50 filters."

    def test_operations_and_types(self, tmp_path: Path) -> None:
        folder = write_workload(tmp_path / "w")
        write_rows(
            folder / "operations",
            {
                "sequence": [1, 0],
                "operation": ["remove", "add"],
                "filter": ["t isa B", "t isa B"],
                "interface": ["I1", "I1"],
            },
        )
        (folder / "workload.json").write_text(json.dumps({"types": {"B": ["A"]}}))
        source = read_workload(folder, Limits())
        assert [each.name for each in source.operations] == ["add", "remove"]
        assert source.operations[0].item is not None
        assert source.operations[0].item.matches({"t": "B"})

    def test_what_is_no_workload_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="no directory filters"):
            read_workload(tmp_path, Limits())
        write_rows(tmp_path / "filters", {"id": [1]})
        with pytest.raises(SourceError, match="no column filter and no column interface"):
            read_workload(tmp_path, Limits())
        bad = write_workload(tmp_path / "bad", [("x >", "I1")])
        with pytest.raises(SourceError, match="row 0: "):
            read_workload(bad, Limits())
        (bad / "filters" / "part-00000.parquet").write_bytes(b"PAR1....PAR1")
        with pytest.raises(SourceError, match="cannot be read"):
            read_workload(bad, Limits())

    def test_reports_and_the_tables_they_are_about(self, tmp_path: Path) -> None:
        write_run(tmp_path)
        for config in (Config(runs=tmp_path), Config(workload=tmp_path / "workload")):
            found = reports(config)
            assert [each.name for each in found] == ["bad.json", "good.json"]
            assert [each.ok for each in found] == [False, True]
            there = snapshot_of(config, found[0])
            assert there is not None
            assert there[1] == tmp_path / "fp"
        with pytest.raises(SourceError, match="there is no report"):
            read_report(Config(runs=tmp_path), "../bad.json")
        assert reports(Config()) == []

    def test_a_report_that_names_its_table(self, tmp_path: Path) -> None:
        write_run(tmp_path)
        write_snapshot(tmp_path / "other", table("fp").snapshot())
        content = report() | {"snapshot": str(tmp_path / "other")}
        (tmp_path / "bad.json").write_text(json.dumps(content))
        config = Config(runs=tmp_path)
        there = snapshot_of(config, read_report(config, "bad.json"))
        assert there is not None
        assert there[0] == "other"

    def test_of_two_tables_of_one_size_the_one_with_as_many_edges(self, tmp_path: Path) -> None:
        """A corrupted copy lies beside its original: only the edges tell them apart."""
        write_run(tmp_path)
        snapshot = table("fp").snapshot()
        broken = pl.Snapshot(snapshot.structure, snapshot.nodes, snapshot.edges[:-1])
        write_snapshot(tmp_path / "zz", broken)
        config = Config(runs=tmp_path)
        for edges, wanted in ((3, "fp"), (2, "zz")):
            (tmp_path / "bad.json").write_text(json.dumps(report() | {"edges": edges}))
            there = snapshot_of(config, read_report(config, "bad.json"))
            assert there is not None
            assert there[0] == wanted
        (tmp_path / "bad.json").write_text(json.dumps(report() | {"edges": 77}))
        assert snapshot_of(config, read_report(config, "bad.json")) is None

    def test_a_run_that_has_moved(self, tmp_path: Path) -> None:
        write_run(tmp_path)
        write_snapshot(tmp_path / "also", table("fp").snapshot())
        write_snapshot(tmp_path / "later", table("fp").snapshot())
        content = report() | {"snapshot": "/where/it/was/made/later"}
        (tmp_path / "bad.json").write_text(json.dumps(content))
        config = Config(runs=tmp_path)
        there = snapshot_of(config, read_report(config, "bad.json"))
        assert there is not None
        assert there[0] == "later"

    def test_a_witness_by_the_texts_of_its_filters(self, tmp_path: Path) -> None:
        folder = write_snapshot(tmp_path / "fp", table("fp").snapshot())
        assert numbers_of(folder, ["x in [10, 40]", "x = 7", "x in [0, 50]"]) == [2, 0]
        where = ("fp", folder)
        made = witness_drawing(where, "same-roots", {"root": "x in [10, 40]", "ids": []}, Limits())
        assert made is not None
        assert made["nodes"] == 3
        assert witness_drawing(where, "same-roots", {"root": "x = 7"}, Limits()) is None

    def test_the_neighbourhood_of_a_witness(self, tmp_path: Path) -> None:
        folder = write_snapshot(tmp_path / "fp", table("fp").snapshot())
        graph, found = neighbourhood(folder, [2, 77], Limits())
        assert set(graph.nodes) == {0, 2, 4}
        assert graph.edges == ((0, 2), (2, 4))
        assert found == (2,)
        with pytest.raises(SourceError, match="cannot be read"):
            neighbourhood(tmp_path, [1], Limits())

    @pytest.mark.parametrize(
        "content",
        [None, [], {}, {"ok": True}, {"ok": 1, "invariants": []}, {"ok": True, "invariants": [1]}],
    )
    def test_what_is_no_report(self, content: object) -> None:
        assert not is_report(content)
