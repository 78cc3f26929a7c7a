"""CollectionService: every view, rebuilt from its notes alone, is the query's true result."""

from __future__ import annotations

import logging
from collections.abc import Hashable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import posetlib as pl
from posetlib.filters import Filter, parse_filter
from tests.profiles.worlds import MIXED, RANGES

FILTERS = [parse_filter(text) for text in (*RANGES[::3], *MIXED)]
URIS = ["1.jpg", "2.jpg", "3.jpg"]
CLIENTS = ["amy", "bob"]
#: Collection -> its client, and whether notes are pushed.
COLLECTIONS = {"a": ("amy", True), "b": ("amy", False), "c": ("bob", True)}
filters = st.sampled_from(FILTERS)


class Service(RuleBasedStateMachine):
    """A service beside a model of plain sets."""

    @initialize(
        semantics=st.sampled_from(["cover", "overlap"]),
        preloaded=st.lists(filters, max_size=8),
        open_to_all=st.booleans(),
    )
    def start(self, semantics: str, preloaded: list[Filter], open_to_all: bool) -> None:
        self.semantics = semantics
        self.service = pl.CollectionService(semantics, open_to_all=open_to_all)
        self.service.preload(preloaded[::2], preloaded[1::2])
        self.open_to_all = open_to_all
        self.owners: dict[str, str] = {}
        self.about: dict[str, int] = {}
        self.profiles: dict[str, list[Filter]] = {}
        self.queries: dict[str, list[Filter]] = {name: [] for name in COLLECTIONS}
        self.rules: set[tuple[Filter, Any]] = set()
        self.views: dict[str, dict[str, Any]] = {name: {} for name in COLLECTIONS}
        self.numbers = dict.fromkeys(COLLECTIONS, 0)
        for name, (client, push) in COLLECTIONS.items():
            self.service.open_collection(name, client, self.receive if push else None)

    def receive(self, note: pl.CollectionNote) -> None:
        """Apply a note to the view, which knows nothing else."""
        view = self.views[note.collection]  # type: ignore[index]
        assert note.number == self.numbers[note.collection] + 1  # type: ignore[index]
        self.numbers[note.collection] = note.number  # type: ignore[index]
        uri = note.description.uri
        assert (uri in view) is (note.kind != "added"), "only what is new is sent"
        if note.kind == "removed":
            del view[uri]
        else:
            view[uri] = dict(note.description.about)

    # -- the model ---------------------------------------------------------------------------------

    def match(self, profile: Filter, query: Filter) -> bool:
        return query.overlaps(profile) if self.semantics == "overlap" else query.covers(profile)

    def truth(self, queries: list[Filter]) -> dict[str, Any]:
        return {
            uri: {"version": self.about[uri]}
            for uri, profiles in self.profiles.items()
            if any(self.match(p, q) for p in profiles for q in queries)
        }

    def allowed(self, query: Filter, client: str) -> bool:
        return self.open_to_all or any(
            rule.covers(query) for rule, holder in self.rules if holder in {client, None}
        )

    @staticmethod
    def same(one: Filter, other: Filter) -> bool:
        return one.covers(other) and other.covers(one)

    def without(self, some: list[Filter], item: Filter) -> list[Filter]:
        return [each for each in some if not self.same(each, item)]

    def describe(self, uri: str) -> pl.Description:
        return pl.Description(uri, {"version": self.about.get(uri, 0)})

    def has(self, some: list[Filter], item: Filter) -> bool:
        return any(self.same(each, item) for each in some)

    def set_model(self, uri: str, profiles: list[Filter]) -> None:
        if profiles:
            self.profiles[uri] = profiles
        else:
            for each in (self.profiles, self.owners, self.about):
                each.pop(uri, None)  # type: ignore[attr-defined]

    # -- the operations ----------------------------------------------------------------------------

    @rule(uri=st.sampled_from(URIS), profile=filters, owner=st.sampled_from(CLIENTS))
    def add_profile(self, uri: str, profile: Filter, owner: str) -> None:
        if self.owners.get(uri, owner) != owner:
            with pytest.raises(pl.NotAllowedError, match="belongs to"):
                self.service.add_profile(self.describe(uri), profile, owner)
            return
        self.service.add_profile(self.describe(uri), profile, owner)
        self.owners[uri] = owner
        self.about.setdefault(uri, 0)
        held = self.profiles.setdefault(uri, [])
        if not self.has(held, profile):
            held.append(profile)

    @rule(uri=st.sampled_from(URIS), data=st.data(), client=st.sampled_from(CLIENTS))
    def remove_profile(self, uri: str, data: st.DataObject, client: str) -> None:
        if uri not in self.profiles:
            with pytest.raises(pl.UnknownEntryError):
                self.service.remove_profile(uri, FILTERS[0], client)
        elif self.owners[uri] != client:
            with pytest.raises(pl.NotAllowedError):
                self.service.remove_profile(uri, self.profiles[uri][0], client)
        else:
            profile = data.draw(st.sampled_from([*self.profiles[uri], FILTERS[0]]))
            if not self.has(self.profiles[uri], profile):
                with pytest.raises(pl.UnknownEntryError):
                    self.service.remove_profile(uri, profile, client)
                return
            self.service.remove_profile(uri, profile, client)
            self.set_model(uri, self.without(self.profiles[uri], profile))

    @rule(uri=st.sampled_from(URIS), profiles=st.lists(filters, max_size=3))
    def set_profiles(self, uri: str, profiles: list[Filter]) -> None:
        if uri not in self.profiles:
            return
        self.service.set_profiles(uri, profiles, self.owners[uri])
        self.set_model(uri, profiles)

    @rule(uri=st.sampled_from(URIS))
    def change_description(self, uri: str) -> None:
        if uri not in self.profiles:
            return
        self.about[uri] += 1
        self.service.change_description(self.describe(uri), self.owners[uri])

    @rule(name=st.sampled_from(list(COLLECTIONS)), query=filters)
    def add_query(self, name: str, query: Filter) -> None:
        client, _ = COLLECTIONS[name]
        if not self.allowed(query, client):
            with pytest.raises(pl.NotAllowedError, match="no access rule"):
                self.service.add_query(name, query, client)
            return
        self.service.add_query(name, query, client)
        if not self.has(self.queries[name], query):
            self.queries[name].append(query)

    @rule(name=st.sampled_from(list(COLLECTIONS)), data=st.data())
    def remove_query(self, name: str, data: st.DataObject) -> None:
        client, _ = COLLECTIONS[name]
        if not self.queries[name]:
            with pytest.raises(pl.UnknownEntryError):
                self.service.remove_query(name, FILTERS[0], client)
            return
        query = data.draw(st.sampled_from(self.queries[name]))
        self.service.remove_query(name, query, client)
        self.queries[name] = self.without(self.queries[name], query)

    @rule(granted=filters, client=st.sampled_from([*CLIENTS, None]))
    def allow(self, granted: Filter, client: str | None) -> None:
        if any(self.same(granted, each) and holder == client for each, holder in self.rules):
            return
        self.service.allow(granted, *([client] if client else []))
        self.rules.add((granted, client))

    @rule(data=st.data())
    def forbid(self, data: st.DataObject) -> None:
        if not self.rules:
            return
        granted, client = data.draw(st.sampled_from(sorted(self.rules, key=str)))
        self.service.forbid(granted, *([client] if client else []))
        self.rules.remove((granted, client))
        for name, (holder, _) in COLLECTIONS.items():
            self.queries[name] = [q for q in self.queries[name] if self.allowed(q, holder)]

    @rule(query=filters, client=st.sampled_from(CLIENTS))
    def get(self, query: Filter, client: str) -> None:
        if not self.allowed(query, client):
            with pytest.raises(pl.NotAllowedError):
                self.service.get(query, client)
            return
        got = {each.uri: dict(each.about) for each in self.service.get(query, client)}
        assert got == self.truth([query])

    @invariant()
    def every_view_is_the_true_result(self) -> None:
        for note in self.service.pull("b", "amy"):
            self.receive(note)
        for name, (client, _) in COLLECTIONS.items():
            true = self.truth(self.queries[name])
            assert self.views[name] == true
            members = {d.uri: dict(d.about) for d in self.service.members(name, client)}
            assert members == true

    @invariant()
    def the_forest_agrees(self) -> None:
        self.service.forest.check()


TestService = Service.TestCase
TestService.settings = settings(max_examples=150, stateful_step_count=25)


@pytest.fixture
def service() -> pl.CollectionService:
    made = pl.CollectionService()
    made.open_collection("trip", "amy")
    return made


DAY = parse_filter("day in [3, 9]")
FIFTH = parse_filter("day = 5")


def uris(notes: Any) -> list[tuple[str, str]]:
    return [(note.kind, note.description.uri) for note in notes]


def test_an_object_that_moves_within_a_collection_is_not_sent_again(
    service: pl.CollectionService,
) -> None:
    service.add_query("trip", DAY, "amy")
    service.add_profile(pl.Description("1.jpg"), FIFTH, "bob")
    assert uris(service.pull("trip", "amy")) == [("added", "1.jpg")]
    service.set_profiles("1.jpg", [parse_filter("day = 6")], "bob")
    assert service.pull("trip", "amy") == ()
    service.set_profiles("1.jpg", [parse_filter("day = 60")], "bob")
    assert uris(service.pull("trip", "amy")) == [("removed", "1.jpg")]


def test_a_second_query_sends_only_what_is_new(service: pl.CollectionService) -> None:
    for day in (4, 5, 12):
        service.add_profile(pl.Description(f"{day}.jpg"), parse_filter(f"day = {day}"), "bob")
    service.add_query("trip", DAY, "amy")
    assert uris(service.pull("trip", "amy")) == [("added", "4.jpg"), ("added", "5.jpg")]
    service.add_query("trip", parse_filter("day in [5, 20]"), "amy")
    assert uris(service.pull("trip", "amy")) == [("added", "12.jpg")]
    service.remove_query("trip", DAY, "amy")
    assert uris(service.pull("trip", "amy")) == [("removed", "4.jpg")]


def test_a_context_that_cannot_be_set_changes_nothing(service: pl.CollectionService) -> None:
    service.add_query("trip", DAY, "amy")
    service.add_profile(pl.Description("1.jpg"), FIFTH, "bob")
    service.pull("trip", "amy")
    before = service.forest.to_dict()
    with pytest.raises(TypeError):
        service.set_profiles("1.jpg", [parse_filter("day = 60"), "no filter"], "bob")  # type: ignore[list-item]
    assert service.profiles("1.jpg") == (FIFTH,)
    after = service.forest.to_dict()
    assert after["queries_of"] == before["queries_of"]
    assert service.pull("trip", "amy") == ()


def test_a_client_that_fails_is_told_again_and_does_not_hold_up_the_others(
    service: pl.CollectionService, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[tuple[Hashable, int]] = []
    broken = [True]

    def notify(note: pl.CollectionNote) -> None:
        if broken[0] and note.collection == "first":
            raise ZeroDivisionError
        heard.append((note.collection, note.number))

    for name in ("first", "second"):
        service.open_collection(name, "bob", notify)
        service.add_query(name, DAY, "bob")
    with caplog.at_level(logging.ERROR):
        service.add_profile(pl.Description("1.jpg"), FIFTH, "bob")
    assert heard == [("second", 1)]
    assert "note 1 of collection 'first' waits" in caplog.text
    broken[0] = False
    service.add_profile(pl.Description("2.jpg"), FIFTH, "bob")
    assert heard == [("second", 1), ("first", 1), ("first", 2), ("second", 2)]


def test_a_note_waits_when_the_program_is_interrupted(service: pl.CollectionService) -> None:
    heard: list[int] = []

    def notify(note: pl.CollectionNote) -> None:
        if not heard:
            heard.append(0)
            raise KeyboardInterrupt
        heard.append(note.number)

    service.open_collection("low", "amy", notify=notify)
    service.add_query("low", parse_filter("x < 5"), "amy")
    with pytest.raises(KeyboardInterrupt):
        service.add_profile(pl.Description("a"), parse_filter("x = 1"), "bob")
    service.add_profile(pl.Description("b"), parse_filter("x = 2"), "bob")
    assert heard == [0, 1, 2]


def test_a_client_may_change_something_while_it_is_told(service: pl.CollectionService) -> None:
    heard = []

    def notify(note: pl.CollectionNote) -> None:
        heard.append((note.number, note.kind, note.description.uri))
        if note.kind == "added" and note.description.uri == "1.jpg":
            service.remove_object("2.jpg", "bob")

    service.add_profile(pl.Description("1.jpg"), FIFTH, "bob")
    service.add_profile(pl.Description("2.jpg"), FIFTH, "bob")
    service.open_collection("mine", "bob", notify)
    service.add_query("mine", DAY, "bob")
    assert heard == [(1, "added", "1.jpg"), (2, "added", "2.jpg"), (3, "removed", "2.jpg")]


class TestSync:
    def made(self) -> tuple[pl.CollectionService, list[pl.SyncPlan]]:
        plans: list[pl.SyncPlan] = []
        service = pl.CollectionService(synchroniser=plans.append)
        service.open_collection("trip", "amy")
        service.add_query("trip", DAY, "amy")
        for day in (4, 5):
            service.add_profile(pl.Description(f"{day}.jpg"), parse_filter(f"day = {day}"), "bob")
        return service, plans

    def test_it_creates_updates_and_removes(self) -> None:
        service, plans = self.made()
        service.sync("trip", "amy")
        assert [d.uri for d in plans[0].create] == ["4.jpg", "5.jpg"]
        assert not service.sync("trip", "amy")
        service.change_description(pl.Description("4.jpg", {"size": 2}), "bob")
        service.remove_object("5.jpg", "bob")
        plan = service.sync("trip", "amy")
        assert (plan.create, plan.update) == ((), (pl.Description("4.jpg", {"size": 2}),))
        assert [d.uri for d in plan.remove] == ["5.jpg"]
        assert len(plans) == 2

    def test_a_part_of_the_collection_can_be_synchronised(self) -> None:
        service, _ = self.made()
        plan = service.sync("trip", "amy", only=parse_filter("day in [5, 9]"))
        assert [d.uri for d in plan.create] == ["5.jpg"]
        # What is outside the part stays as it is; what left the collection goes.
        service.remove_object("5.jpg", "bob")
        plan = service.sync("trip", "amy", only=parse_filter("day in [7, 9]"))
        assert plan == pl.SyncPlan("trip", remove=(pl.Description("5.jpg"),))

    def test_a_synchroniser_that_fails_is_asked_again(self) -> None:
        service, plans = self.made()

        def fails(plan: pl.SyncPlan) -> None:
            plans.append(plan)
            if len(plans) == 1:
                raise OSError

        service._synchroniser = fails
        with pytest.raises(OSError):  # noqa: PT011 - the synchroniser's own, without a message
            service.sync("trip", "amy")
        service.sync("trip", "amy")
        assert plans[0] == plans[1]
        assert not service.sync("trip", "amy")

    def test_without_a_synchroniser_it_is_refused(self, service: pl.CollectionService) -> None:
        with pytest.raises(TypeError, match="synchroniser="):
            service.sync("trip", "amy")


def test_what_belongs_to_others_is_refused(service: pl.CollectionService) -> None:
    service.add_profile(pl.Description("1.jpg"), FIFTH, "bob")
    for call in (
        lambda: service.change_description(pl.Description("1.jpg", {"a": 1}), "amy"),
        lambda: service.remove_object("1.jpg", "amy"),
        lambda: service.set_profiles("1.jpg", [DAY], "amy"),
        lambda: service.add_query("trip", DAY, "bob"),
        lambda: service.pull("trip", "bob"),
        lambda: service.members("trip", "bob"),
        lambda: service.close_collection("trip", "bob"),
    ):
        with pytest.raises(pl.NotAllowedError):
            call()
    with pytest.raises(ValueError, match="use change_description"):
        service.add_profile(pl.Description("1.jpg", {"a": 1}), DAY, "bob")
    with pytest.raises(ValueError, match="already"):
        service.open_collection("trip", "bob")
    assert service.profiles("1.jpg") == (FIFTH,)


def test_a_rule_that_is_taken_back_takes_its_queries_with_it() -> None:
    service = pl.CollectionService(open_to_all=False)
    service.open_collection("trip", "amy")
    service.allow(parse_filter("day in [0, 9]"), "amy")
    service.allow(parse_filter("day in [8, 20]"))
    service.add_query("trip", DAY, "amy")
    service.add_query("trip", parse_filter("day = 9"), "amy")
    for day in (5, 9):
        service.add_profile(pl.Description(f"{day}.jpg"), parse_filter(f"day = {day}"), "bob")
    service.pull("trip", "amy")
    service.forbid(parse_filter("day in [0, 9]"), "amy")
    # The second query is covered by the rule for everybody, and keeps its photo.
    assert uris(service.pull("trip", "amy")) == [("removed", "5.jpg")]
    assert service.queries("trip") == (parse_filter("day = 9"),)
    with pytest.raises(pl.UnknownEntryError):
        service.forbid(parse_filter("day in [0, 9]"), "amy")


def test_a_closed_collection_leaves_nothing_behind(service: pl.CollectionService) -> None:
    service.add_query("trip", DAY, "amy")
    service.add_profile(pl.Description("1.jpg"), FIFTH, "bob")
    service.close_collection("trip", "amy")
    assert service.forest.queries() == ()
    with pytest.raises(pl.UnknownEntryError):
        service.pull("trip", "amy")
    service.open_collection("trip", "bob")
    assert service.members("trip", "bob") == ()


def test_a_view_refuses_notes_out_of_order() -> None:
    view = pl.CollectionView()
    note = pl.CollectionNote("trip", 1, "added", pl.Description("1.jpg"))
    view.apply([note])
    with pytest.raises(ValueError, match="note 1 does not follow note 1"):
        view.apply([note])
    with pytest.raises(ValueError, match="cannot be added now"):
        view.apply([pl.CollectionNote("trip", 2, "added", pl.Description("1.jpg"))])
    with pytest.raises(ValueError, match="cannot be removed now"):
        view.apply([pl.CollectionNote("trip", 2, "removed", pl.Description("2.jpg"))])
    view.apply([pl.CollectionNote("trip", 2, "removed", pl.Description("1.jpg"))])
    assert (len(view), view.number, "1.jpg" in view) == (0, 2, False)


def test_the_plain_data_has_objects_and_collections(service: pl.CollectionService) -> None:
    service.add_query("trip", DAY, "amy")
    service.add_profile(pl.Description("1.jpg", {"size": 2}), FIFTH, "bob")
    service.add_profile(pl.Description("2.jpg"), parse_filter("day = 60"), "bob")
    assert service.to_dict() == {
        "objects": [
            {"uri": "1.jpg", "owner": "bob", "about": {"size": 2}, "profiles": ["day = 5"]},
            {"uri": "2.jpg", "owner": "bob", "about": {}, "profiles": ["day = 60"]},
        ],
        "collections": [
            {
                "name": "trip",
                "client": "amy",
                "queries": ["day in [3, 9]"],
                "members": ["1.jpg"],
                "notes": 1,
                "waiting": 1,
            }
        ],
    }


def test_what_is_no_description_or_no_function_is_refused_at_once() -> None:
    """A URI that is no text was never forgotten: its object stayed when its profiles were gone."""
    service = pl.CollectionService()
    with pytest.raises(TypeError, match="a URI is text, not int"):
        pl.Description(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a Description, not str"):
        service.add_profile("1.jpg", FILTERS[0], "bob")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="notify is a function, not int"):
        service.open_collection("a", "amy", 5)  # type: ignore[arg-type]
    assert service.to_dict() == {"objects": [], "collections": []}
