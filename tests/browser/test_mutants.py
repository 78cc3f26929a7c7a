"""Planted faults of what the browser shows, each killed by a test that needs no Chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browser import (
    checking,
    diffing,
    elements,
    exports,
    finding,
    layout,
    nearby,
    picture,
    security,
    shortening,
)
from browser.config import Config
from browser.layout import Cell, Stay, arranged, with_guests
from browser.plan import Plan
from browser.state import Library
from browser.story import _Replay
from tests.planting import found, kills

from . import (
    test_bands,
    test_elements,
    test_finding,
    test_saving,
    test_server,
    test_shortening,
    test_trust,
)

Kill = Callable[[], None]


def library() -> Library:
    return Library(Config())


def shown_in_the_order_of_what_is_meant() -> None:
    test_shortening.test_what_is_shown_is_in_the_same_order_as_what_is_meant()


def strings_stay_as_they_are() -> None:
    test_shortening.test_a_string_is_never_shortened_as_a_number()


def bidi_is_seen() -> None:
    test_shortening.test_what_turns_the_text_around_it_is_seen()


def roots_are_in_the_root_band() -> None:
    tests = test_bands.TestBands()
    tests.test_at_every_step_all_roots_and_nobody_else_are_in_the_root_band(library(), "fp")


def what_is_gone_is_not_counted() -> None:
    tests = test_bands.TestBands()
    tests.test_what_a_step_removed_is_drawn_and_not_counted(library(), test_bands.LIMITS)


def adds_move_few() -> None:
    test_bands.TestStability().test_adds(library(), "fp", "uniform")


def places_stay_for_hundreds_of_steps() -> None:
    tests = test_bands.TestStability()
    tests.test_places_stay_when_hundreds_have_come_and_gone(library(), "fp")


def roots_for_a_while_have_places() -> None:
    plan = arranged(3, [(0, 1), (0, 2)], Cell.of(88, 40, 1.5))
    stays = {8: Stay(1, 3, 1), 9: Stay(2, 4, 2)}
    assert len(set(with_guests(plan, stays)[1].values())) == 2


def default_filters_are_read() -> None:
    test_bands.TestReadable().test_the_default_filters(library(), "fp", (421, 380))


def what_matters_most_is_near() -> None:
    test_bands.TestNear().test_where_there_is_little_room_what_matters_most_is_left()


def what_is_near_is_read() -> None:
    tests = test_bands.TestNear()
    for room in ((422, 449), (562, 315)):
        tests.test_whatever_the_room_what_is_drawn_in_it_is_read(library(), room, sideways=False)


def a_way_up_is_a_shortest() -> None:
    test_bands.TestNear().test_of_many_ways_up_a_shortest()


def moved_is_apart_from_other_parents() -> None:
    test_trust.TestMoves().test_moved_means_that_no_parent_is_kept()


def a_step_tells_them_apart() -> None:
    test_trust.TestMoves().test_a_step_tells_the_same_apart()


def changes_have_both_ends() -> None:
    test_trust.TestMoves().test_changes_only_has_what_differs_and_its_ends()


def a_cycle_is_named() -> None:
    test_trust.TestFiles().test_a_cycle_is_named_in_its_order()


def bad_edges_are_witnesses() -> None:
    test_trust.TestFiles().test_every_bad_edge_is_a_witness_with_its_reason()


def a_file_has_its_twin() -> None:
    test_trust.TestFiles().test_a_local_table_has_a_local_twin()


def near_counts_edges() -> None:
    test_finding.TestAgainstBruteForce().test_near_counts_edges()


def expressions_find_what_they_say() -> None:
    for seed in range(6):
        test_finding.TestAgainstBruteForce().test_what_is_found_is_what_each_node_says(seed)


def found_is_marked_alone_or_hidden() -> None:
    test_finding.TestDrawings().test_marked_alone_or_hidden()


def exports_are_read_back() -> None:
    for structure in ("fp", "nrf"):
        test_saving.TestExports().test_every_format_is_read_back(structure)


def a_file_is_saved_as_it_is() -> None:
    test_saving.TestExports().test_an_uploaded_file_is_saved_as_it_is()


def foreign_hosts_are_refused() -> None:
    for host in ("127.0.0.1.evil.example", "evil.example", "a@127.0.0.1", "127.0.0.1/x"):
        test_server.TestHosts().test_what_is_no_host_is_refused(host)


def what_a_step_did_is_marked() -> None:
    test_elements.TestStory().test_what_a_step_did_is_marked(library())


FAULTS: dict[str, tuple[Any, str, str, Kill]] = {
    "ends are rounded inwards": (
        shortening._number,
        '_down if role == "low" else _up',
        '_up if role == "low" else _down',
        shown_in_the_order_of_what_is_meant,
    ),
    "two places are enough for all": (
        shortening.number_places,
        "places[loose] += 1",
        "break",
        shown_in_the_order_of_what_is_meant,
    ),
    "a cut has no mark": (
        shortening._number,
        'f"{CUT}{rounded:f}"',
        'f"{rounded:f}"',
        shown_in_the_order_of_what_is_meant,
    ),
    "numbers in strings are cut": (
        shortening.shortened,
        'if token["number"] else token[0]',
        'if token["number"] else token[0][:6]',
        strings_stay_as_they_are,
    ),
    "bidi controls are passed on": (
        shortening.visible,
        '_HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)',
        "text",
        bidi_is_seen,
    ),
    "roots stay in the band that the plan has for them": (
        layout._settled_levels,
        "found = [top] * count",
        "found = list(least)",
        roots_are_in_the_root_band,
    ),
    "who is gone is counted": (
        elements.named_bands,
        "lost.get(level, 0) + (node in gone)",
        "0",
        what_is_gone_is_not_counted,
    ),
    "every step is laid out by itself": (
        elements.placed_nodes,
        "if plan.is_large:",
        "if False:",
        adds_move_few,
    ),
    "a plan forgets the one before": (
        Plan._lay_out,
        "if self._before is not None:",
        "if False:",
        places_stay_for_hundreds_of_steps,
    ),
    "two roots for a while have one place": (
        layout.with_guests,
        "taken[best].append(stay)",
        "pass",
        roots_for_a_while_have_places,
    ),
    "as many rows as are needed are not tried": (
        layout._rows,
        "range(1, max(13, 2 * math.isqrt(most)))",
        "range(1, 2)",
        default_filters_are_read,
    ),
    "children come before what a step has changed": (
        nearby.ranked,
        "dict.fromkeys([centre, *also, *way])",
        "dict.fromkeys([centre, *way, *also])",
        what_matters_most_is_near,
    ),
    "what is left out is not told": (
        nearby.Ranked.first,
        'note if left else ""',
        '""',
        what_matters_most_is_near,
    ),
    "the small map takes no room": (
        picture.rooms_of,
        "max(width - _MAP[0], _LEAST_ROOM)",
        "width",
        what_is_near_is_read,
    ),
    "a neighbourhood has as many as there may be": (
        picture._near_drawing,
        "zoom >= READABLE or",
        "True or",
        what_is_near_is_read,
    ),
    "any root ends the way up": (
        nearby.ways_up,
        "root is None and not graph.parents[each]",
        "not graph.parents[each]",
        a_way_up_is_a_shortest,
    ),
    "one parent that is lost is a move": (
        diffing.Comparison.marks.func,
        '"relinked" if kept else "moved"',
        '"moved"',
        moved_is_apart_from_other_parents,
    ),
    "a step takes every new parent for a move": (
        picture.change_marks,
        'name == "moved" and number[item] in frame.relinked',
        "False",
        a_step_tells_them_apart,
    ),
    "changes only has no unchanged ends": (
        diffing.Comparison.changes.func,
        "{*self.marks, *(end for edge in self.edge_marks for end in edge)}",
        "set(self.marks)",
        changes_have_both_ends,
    ),
    "a cycle is named from the end": (
        checking._fault,
        "[*names, names[0]]",
        "[*reversed(names), names[-1]]",
        a_cycle_is_named,
    ),
    "the check stops at the first bad edge": (
        checking._faults,
        'if error.invariant != "edge-covers":',
        "if True:",
        bad_edges_are_witnesses,
    ),
    "a twin is never local": (
        _Replay.__init__,
        'options = {"local": True} if local else {}',
        "options = {}",
        a_file_has_its_twin,
    ),
    "or binds as and does": (
        finding._Reader._either,
        "frozenset().union(*(each(asked) for each in parts))",
        "frozenset.intersection(*(each(asked) for each in parts))",
        expressions_find_what_they_say,
    ),
    "near counts a step too many": (
        finding._reached,
        "far - 1",
        "far - 0.5",
        near_counts_edges,
    ),
    "hide and only are the same": (
        finding.Where.narrowed,
        "(n in found) != hiding",
        "n in found",
        found_is_marked_alone_or_hidden,
    ),
    "an export has one operation too many": (
        exports.exported,
        "list(story.trace)[:step]",
        "list(story.trace)[: step + 1]",
        exports_are_read_back,
    ),
    "an export is of the last step": (
        exports.exported,
        "step = min(step, len(story))",
        "step = len(story)",
        exports_are_read_back,
    ),
    "a file is saved as it should have been": (
        exports.exported,
        "if structure != FILE:",
        "if True:",
        a_file_is_saved_as_it_is,
    ),
    "a name that begins as an address does is let in": (
        security.host_is_allowed,
        "re.fullmatch(",
        "re.match(",
        foreign_hosts_are_refused,
    ),
    "what came and what went are mixed up": (
        picture.change_marks,
        '("added", change.added)',
        '("added", change.removed)',
        what_a_step_did_is_marked,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, FAULTS[name], KeyError, ValueError)


@pytest.mark.parametrize("kill", kills(FAULTS), ids=lambda kill: kill.__name__)
def test_without_a_fault_nothing_is_found(kill: Kill) -> None:
    kill()
