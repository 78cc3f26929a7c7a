"""`CollectionService`: collections of objects, defined by queries over the objects' profiles.

The service of the thesis' chapter 9, with the operations of its Table 9.1. It does no input or
output: notes are handed to functions, or kept until they are pulled.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from posetlib.errors import NotAllowedError, UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.profiles.collection_notes import (
    ADDED,
    CHANGED,
    REMOVED,
    CollectionNote,
    Description,
    SyncPlan,
)
from posetlib.profiles.double_forest import COVER, DoubleForest
from posetlib.tables.poset_forest import PosetForest

__all__ = ["CollectionService"]

_LOG: Final = logging.getLogger(__name__)
#: The holder of access rules that are good for every client.
_EVERYBODY: Final = ("everybody", object)


@dataclass(slots=True)
class _Object:
    """An object that somebody described."""

    owner: Hashable
    serial: int
    description: Description


@dataclass(slots=True)
class _Collection:
    """A collection that a client opened."""

    client: Hashable
    serial: int
    notify: Callable[[CollectionNote], object] | None
    #: URI -> how many pairs of one of its profiles and one of the queries match; never zero.
    members: dict[str, int] = field(default_factory=dict)
    #: The number of the last note.
    number: int = 0
    #: Notes that were not delivered yet.
    waiting: deque[CollectionNote] = field(default_factory=deque)
    #: URI -> the description that was synchronised last.
    synchronised: dict[str, Description] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Step:
    """One change of the DoubleForest: a profile of an object, or a query of a collection."""

    adds: bool
    is_profile: bool
    item: Filter
    id: Hashable

    def opposite(self) -> _Step:
        return _Step(not self.adds, self.is_profile, self.item, self.id)


class CollectionService:
    """Objects with profiles, collections with queries, and a note for every change of a collection.

    An object is in a collection when one of its profiles matches one of the collection's queries:
    with ``semantics="cover"`` the query covers the profile, with ``"overlap"`` they overlap.

    A client that opens a collection with ``notify`` is told of each change when it happens (push);
    one without asks for them (``pull``). Only the owner changes an object, and only its client a
    collection. Unless the service is ``open_to_all``, a query must be covered by an access rule
    (``allow``). ``synchroniser`` is called by ``sync`` with what there is to do.

    >>> from posetlib import parse_filter
    >>> service = CollectionService()
    >>> service.open_collection("trip", "amy")
    >>> service.add_query("trip", parse_filter("day in [3, 9]"), "amy")
    >>> service.add_profile(Description("photos/1.jpg"), parse_filter("day = 5"), "bob")
    >>> [(note.number, note.kind, note.description.uri) for note in service.pull("trip", "amy")]
    [(1, 'added', 'photos/1.jpg')]
    """

    def __init__(
        self,
        semantics: str = COVER,
        *,
        synchroniser: Callable[[SyncPlan], object] | None = None,
        open_to_all: bool = True,
        **options: Any,
    ) -> None:
        #: The profiles under the URIs of their objects, the queries under their collections.
        self.forest: DoubleForest[Filter] = DoubleForest(semantics, **options)
        self._synchroniser = synchroniser
        self._open_to_all = open_to_all
        self._rules: PosetForest[Filter] = PosetForest(local=True)
        self._objects: dict[str, _Object] = {}
        self._collections: dict[Hashable, _Collection] = {}
        self._serial = 0
        # Collections that have notes for their clients; in use as long as one is being told.
        self._due: dict[Hashable, None] = {}
        self._telling = False

    # -- objects -----------------------------------------------------------------------------------

    def add_profile(self, description: Description, profile: Filter, owner: Hashable) -> None:
        """Add a profile to an object. Table 9.1: add(O_D, F_D).

        The first one who describes an object owns it. NotAllowedError for somebody else's object,
        ValueError if it is known by another description (see ``change_description``).
        """
        if not isinstance(description, Description):
            raise TypeError(f"an object has a Description, not {type(description).__name__}")
        known = self._objects.get(description.uri)
        if known is not None:
            self._must_own(description.uri, known, owner)
            if known.description != description:
                raise ValueError(
                    f"{description.uri} has another description: use change_description()"
                )
        self._apply([_Step(True, True, profile, description.uri)], (description, owner))

    def remove_profile(self, uri: str, profile: Filter, owner: Hashable) -> None:
        """Take a profile from an object. Table 9.1: del(O_D, F_D).

        An object without a profile is forgotten. UnknownEntryError if it does not have the profile.
        """
        self._owned(uri, owner)
        if not self.forest.has_profile(profile, uri):
            raise UnknownEntryError(f"{uri} does not have the profile {profile}")
        self._apply([_Step(False, True, profile, uri)])

    def set_profiles(self, uri: str, profiles: Iterable[Filter], owner: Hashable) -> None:
        """Give an object these profiles and no others, as one change: its context has moved.

        A collection that it stays in is told nothing. Without profiles the object is forgotten.
        """
        self._owned(uri, owner)
        wanted = list(profiles)
        forest = self.forest
        # A profile that is equivalent to one that the object has is that one.
        found = [forest._profiles.find(each) for each in wanted]
        kept = {member.item for member in found if member is not None}
        gone = [each for each in forest.profiles_held(uri) if each not in kept]
        steps = [_Step(True, True, each, uri) for each in wanted]
        self._apply([*steps, *(_Step(False, True, each, uri) for each in gone)])

    def change_description(self, description: Description, owner: Hashable) -> None:
        """Let an object have another description; the collections that it is in are told."""
        known = self._owned(description.uri, owner)
        if known.description == description:
            return
        known.description = description
        for name, collection in self._collections.items():
            if description.uri in collection.members:
                self._note(name, collection, CHANGED, description)
        self._tell()

    def remove_object(self, uri: str, owner: Hashable) -> None:
        """Forget an object with all its profiles."""
        self.set_profiles(uri, (), owner)

    def profiles(self, uri: str) -> tuple[Filter, ...]:
        """Return the profiles of an object, none if it is not known."""
        return self.forest.profiles_held(uri)

    # -- collections -------------------------------------------------------------------------------

    def open_collection(
        self,
        name: Hashable,
        client: Hashable,
        notify: Callable[[CollectionNote], object] | None = None,
    ) -> None:
        """Open an empty collection; ``notify`` is called with each note, in order (push).

        If ``notify`` raises, the error is logged, the note is kept, and it is told again with the
        next one, or pulled. ValueError if there is a collection of this name.
        """
        if notify is not None and not callable(notify):
            raise TypeError(f"notify is a function, not {type(notify).__name__}")
        if name in self._collections:
            raise ValueError(f"there is a collection {name!r} already")
        self._collections[name] = _Collection(client, self._next(), notify)

    def close_collection(self, name: Hashable, client: Hashable) -> None:
        """Forget a collection, with its queries and the notes that nobody pulled."""
        collection = self._opened(name, client)
        collection.notify = None
        self._apply([_Step(False, False, q, name) for q in self.forest.queries_held(name)])
        self._due.pop(name, None)
        del self._collections[name]

    def add_query(self, collection: Hashable, query: Filter, client: Hashable) -> None:
        """Add a query to a collection. Table 9.1: add(C, F).

        Only objects that are new to the collection are sent. NotAllowedError for somebody else's
        collection, and for a query that no access rule covers.
        """
        self._opened(collection, client)
        self._must_be_allowed(query, client)
        self._apply([_Step(True, False, query, collection)])

    def remove_query(self, collection: Hashable, query: Filter, client: Hashable) -> None:
        """Take a query from a collection. Table 9.1: del(C, F)."""
        self._opened(collection, client)
        if not self.forest.has_query(query, collection):
            raise UnknownEntryError(f"the collection {collection!r} does not have {query}")
        self._apply([_Step(False, False, query, collection)])

    def queries(self, collection: Hashable) -> tuple[Filter, ...]:
        """Return the queries of a collection, none if it is not known."""
        return self.forest.queries_held(collection)

    def members(self, collection: Hashable, client: Hashable) -> tuple[Description, ...]:
        """Return what is in a collection now, the objects that are known longest first."""
        return self._described(self._opened(collection, client).members)

    def pull(self, collection: Hashable, client: Hashable) -> tuple[CollectionNote, ...]:
        """Return the notes that were not delivered yet, in order; they count as delivered."""
        waiting = self._opened(collection, client).waiting
        notes = tuple(waiting)
        waiting.clear()
        return notes

    def get(self, query: Filter, client: Hashable = None) -> tuple[Description, ...]:
        """Return the objects that match a query now; nothing is kept [T, Table 9.1]."""
        self._must_be_allowed(query, client)
        return self._described(self._matching(query))

    def sync(self, collection: Hashable, client: Hashable, only: Filter | None = None) -> SyncPlan:
        """Let the synchroniser bring its copies up to date [T, Table 9.1].

        Returns what it was told: copies to create, update and remove, since the last time.
        ``only``: create and update no more than the objects that match this filter. If the
        synchroniser raises, nothing counts as done, and the next plan has it again.
        """
        if self._synchroniser is None:
            raise TypeError("the service has no synchroniser: give it synchroniser=")
        opened = self._opened(collection, client)
        chosen = set(opened.members)
        if only is not None:
            chosen &= self._matching(only)
        done = opened.synchronised
        now = self._described(chosen)
        plan = SyncPlan(
            collection,
            create=tuple(each for each in now if each.uri not in done),
            update=tuple(each for each in now if done.get(each.uri, each) != each),
            remove=tuple(each for uri, each in done.items() if uri not in opened.members),
        )
        if plan:
            self._synchroniser(plan)
            for gone in plan.remove:
                done.pop(gone.uri, None)
            done.update((each.uri, each) for each in (*plan.create, *plan.update))
        return plan

    # -- access ------------------------------------------------------------------------------------

    def allow(self, rule: Filter, client: Hashable = _EVERYBODY) -> None:
        """Let a client, or everybody, ask queries that a rule covers."""
        self._rules.add(rule, client)

    def forbid(self, rule: Filter, client: Hashable = _EVERYBODY) -> None:
        """Take a rule back, and with it the queries that no other rule covers.

        UnknownEntryError if there is no such rule.
        """
        self._rules.remove(rule, client)
        steps = [
            _Step(False, False, query, name)
            for name, collection in self._collections.items()
            for query in self.forest.queries_held(name)
            if not self._is_allowed(query, collection.client)
        ]
        self._apply(steps)

    def preload(self, profiles: Iterable[Filter] = (), queries: Iterable[Filter] = ()) -> None:
        """Work out beforehand what filters that may come will match (see ``DoubleForest``)."""
        self.forest.preload(profiles, queries)

    def to_dict(self) -> dict[str, Any]:
        """Return objects and collections as plain data, to be drawn; names are written as text.

        The filters and their mappings are in ``forest.to_dict()``.
        """
        return {
            "objects": [
                {
                    "uri": uri,
                    "owner": str(known.owner),
                    "about": dict(known.description.about),
                    "profiles": [str(each) for each in self.profiles(uri)],
                }
                for uri, known in self._objects.items()
            ],
            "collections": [
                {
                    "name": str(name),
                    "client": str(collection.client),
                    "queries": [str(each) for each in self.queries(name)],
                    "members": [each.uri for each in self._described(collection.members)],
                    "notes": collection.number,
                    "waiting": len(collection.waiting),
                }
                for name, collection in self._collections.items()
            ],
        }

    # -- who may do what ---------------------------------------------------------------------------

    def _is_allowed(self, query: Filter, client: Hashable) -> bool:
        if self._open_to_all:
            return True
        rules = self._rules
        probe = rules._probe(query)
        return any(rules._search.is_held_above(probe, each) for each in (client, _EVERYBODY))

    def _must_be_allowed(self, query: Filter, client: Hashable) -> None:
        if not self._is_allowed(query, client):
            raise NotAllowedError(f"no access rule of {client!r} covers {query}")

    def _must_own(self, uri: str, known: _Object, owner: Hashable) -> None:
        if known.owner != owner:
            raise NotAllowedError(f"{uri} belongs to {known.owner!r}, not to {owner!r}")

    def _owned(self, uri: str, owner: Hashable) -> _Object:
        known = self._objects.get(uri)
        if known is None:
            raise UnknownEntryError(f"there is no object {uri}")
        self._must_own(uri, known, owner)
        return known

    def _opened(self, name: Hashable, client: Hashable) -> _Collection:
        collection = self._collections.get(name)
        if collection is None:
            raise UnknownEntryError(f"there is no collection {name!r}")
        if collection.client != client:
            raise NotAllowedError(f"the collection {name!r} was not opened by {client!r}")
        return collection

    # -- changes -----------------------------------------------------------------------------------

    def _apply(
        self, steps: list[_Step], described: tuple[Description, Hashable] | None = None
    ) -> None:
        """Do all steps or none, and note what they change together.

        ``described``: the description and the owner of an object that may be new.
        """
        done: list[tuple[_Step, list[tuple[Hashable, str]]]] = []
        try:
            for step in steps:
                if step.adds is not self._is_done(step):
                    done.append((step, self._change(step)))  # noqa: PERF401 - undone if one raises
        except BaseException:
            for step, _ in reversed(done):
                self._change(step.opposite())
            raise
        if described is not None and described[0].uri not in self._objects:
            description, owner = described
            self._objects[description.uri] = _Object(owner, self._next(), description)
        before: dict[tuple[Hashable, str], int] = {}
        for step, pairs in done:
            for name, uri in pairs:
                members = self._collections[name].members
                count = members.get(uri, 0)
                before.setdefault((name, uri), count)
                members[uri] = count + (1 if step.adds else -1)
        self._note_net_effect(before)
        for step, _ in done:
            if step.is_profile and not self.forest.profiles_held(step.id):
                self._objects.pop(str(step.id), None)
        self._tell()

    def _is_done(self, step: _Step) -> bool:
        has = self.forest.has_profile if step.is_profile else self.forest.has_query
        return has(step.item, step.id)

    def _change(self, step: _Step) -> list[tuple[Hashable, str]]:
        """Do a step; return a (collection, URI) pair for each match that comes or goes by it."""
        forest = self.forest
        if step.is_profile:
            queries = (forest.add_profile if step.adds else forest.remove_profile)(
                step.item, step.id
            )
            uri: Any = step.id
            return [(name, uri) for query in queries for name in forest.query_ids(query)]
        profiles = (forest.add_query if step.adds else forest.remove_query)(step.item, step.id)
        return [(step.id, uri) for profile in profiles for uri in self._uris(profile)]

    def _note_net_effect(self, before: dict[tuple[Hashable, str], int]) -> None:
        """Write notes for the objects that came to a collection or left it; in a fixed order."""
        collections, objects = self._collections, self._objects
        changed = sorted(
            before, key=lambda pair: (collections[pair[0]].serial, objects[pair[1]].serial)
        )
        for name, uri in changed:
            collection = collections[name]
            count = collection.members[uri]
            if not count:
                del collection.members[uri]
            if bool(count) is not bool(before[name, uri]):
                kind = ADDED if count else REMOVED
                self._note(name, collection, kind, objects[uri].description)

    def _note(
        self, name: Hashable, collection: _Collection, kind: str, description: Description
    ) -> None:
        collection.number += 1
        collection.waiting.append(CollectionNote(name, collection.number, kind, description))
        self._due[name] = None

    def _tell(self) -> None:
        """Push the notes that wait, each collection's in order.

        A client that changes something while it is told is told of that after what waits already.
        """
        if self._telling:
            return
        self._telling = True
        try:
            while self._due:
                name = next(iter(self._due))
                del self._due[name]
                collection = self._collections[name]
                while collection.waiting and collection.notify is not None:
                    note = collection.waiting.popleft()
                    try:
                        collection.notify(note)
                    except BaseException as error:
                        collection.waiting.appendleft(note)
                        if not isinstance(error, Exception):
                            raise  # somebody interrupts the program
                        # One client's fault is not the others'.
                        _LOG.exception("note %s of collection %r waits", note.number, name)
                        break
        finally:
            self._telling = False

    # -- finding -----------------------------------------------------------------------------------

    def _uris(self, profile: Filter) -> frozenset[Any]:
        """Return the URIs of the objects that have a profile."""
        return self.forest.profile_ids(profile)

    def _matching(self, query: Filter) -> set[str]:
        """Return the URIs of the objects that match a query."""
        found = self.forest.find_profiles(query)
        return {uri for profile in found for uri in self._uris(profile)}

    def _described(self, uris: Iterable[str]) -> tuple[Description, ...]:
        some = sorted((self._objects[uri] for uri in uris), key=lambda known: known.serial)
        return tuple(known.description for known in some)

    def _next(self) -> int:
        self._serial += 1
        return self._serial
