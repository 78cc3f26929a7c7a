"""`DoubleForest`: profiles and queries in two forests, and which of them match [T 6–7]."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from collections.abc import Set as AbstractSet
from threading import RLock
from typing import Any, Final, Generic

import numpy as np

from posetlib.array_types import FloatArray, IntArray
from posetlib.errors import InvariantError, UnknownEntryError
from posetlib.graph.counters import Counters
from posetlib.graph.nodes import Node
from posetlib.profiles.mapping_data import FORMAT
from posetlib.profiles.node_tests import Guards, covered_by, covering, overlapping
from posetlib.profiles.result_walks import closed_downwards, closed_upwards
from posetlib.profiles.sides import PLACEHOLDER, Member, Side, numbers_of
from posetlib.search.probe import Probe
from posetlib.search.relation import Relation
from posetlib.tables.filter_relation import FILTERS
from posetlib.tables.item_type import ItemT

__all__ = ["COVER", "OVERLAP", "DoubleForest", "check_mappings"]

#: A query matches the profiles that it covers.
COVER: Final = "cover"
#: A query matches the profiles that it overlaps.
OVERLAP: Final = "overlap"

# With an index, up to this number of candidates are compared one by one: a sweep is slower.
_FEW: Final = 24
_NO_NUMBERS: Final[IntArray] = np.empty(0, dtype=np.intp)
_all: Final = np.logical_and.reduce


def filters_overlap(one: Any, other: Any) -> bool:
    """Return whether some notification may match both filters."""
    return one.overlaps(other)  # type: ignore[no-any-return]


class DoubleForest(Generic[ItemT]):
    """Profiles and queries, each with identifiers, and both mappings between them.

    With ``semantics="cover"`` a query matches the profiles that it covers; with ``"overlap"`` those
    that it overlaps. ``lower`` and ``upper`` say whether the results of a new filter's parent and
    children bound its own [T, Table 6.1], and ``results`` whether its own result bounds, in turn,
    what may be its parent and its children (with "cover"); without any of them the structure is the
    unoptimised one of the thesis. With ``index=False`` all is found by counted tests along the
    links. The answers are the same in all cases. Items of another language come with their
    ``relation``, and for overlap with ``overlaps``, which must be symmetric and hold for whatever
    covers two that overlap.

    >>> from posetlib import parse_filter
    >>> d = DoubleForest()
    >>> d.add_query(parse_filter("x in [0, 50]"), "amy")
    frozenset()
    >>> d.add_profile(parse_filter("x in [10, 20]"), "photo")
    frozenset({Filter('x in [0, 50]')})
    >>> d.profiles_of(parse_filter("x in [0, 50]"))
    frozenset({Filter('x in [10, 20]')})
    """

    def __init__(
        self,
        semantics: str = COVER,
        *,
        lower: bool = True,
        upper: bool = True,
        results: bool = True,
        index: bool | None = None,
        relation: Relation[ItemT] | None = None,
        overlaps: Callable[[ItemT, ItemT], bool] | None = None,
    ) -> None:
        if semantics not in {COVER, OVERLAP}:
            raise ValueError(f'semantics is "cover" or "overlap", not {semantics!r}')
        if relation not in (None, FILTERS) and overlaps is None and semantics == OVERLAP:
            raise TypeError("items of another language overlap as overlaps= says: give it")
        chosen: Any = FILTERS if relation is None else relation
        #: Covering tests so far; with "overlap", the tests for overlap are among them.
        self.counters = Counters()
        self._semantics = semantics
        self._lower = lower
        self._upper = upper
        self._results = results
        self._overlaps: Callable[[Any, Any], bool] = overlaps or filters_overlap
        # Boxes tell that filters overlap; what an overlap of the caller's own means they do not.
        self._asks_boxes = overlaps is None
        self._profiles: Side[ItemT] = Side("profile", relation=chosen, index=index)
        self._queries: Side[ItemT] = Side("query", relation=chosen, index=index)
        self._profiles.other, self._queries.other = self._queries, self._profiles
        forests = (self._profiles.forest, self._queries.forest)
        # One reader of boxes, so that those of both forests compare, and one counter.
        reader = forests[0]._box_reader
        forests[1]._box_reader = reader
        forests[0].counters = forests[1].counters = self.counters
        sweeps = semantics == COVER or self._asks_boxes
        self._read: Callable[[ItemT], Any] | None = (
            reader.read if reader is not None and sweeps else None
        )
        # Several threads may read at once, and a read may have to finish what adds put off.
        self._settling = RLock()

    @property
    def semantics(self) -> str:
        """Which queries match a profile: "cover" or "overlap"."""
        return self._semantics

    # -- changing ----------------------------------------------------------------------------------

    def add_profile(self, profile: ItemT, id: Hashable) -> frozenset[ItemT]:  # noqa: A002
        """Let an identifier have a profile; returns the queries that match it.

        The cost is that of an add to a `PosetForest`, and tests of the queries between the bounds:
        none if the profile is there already or was preloaded.
        """
        return self._add(self._profiles, profile, id)

    def add_query(self, query: ItemT, id: Hashable) -> frozenset[ItemT]:  # noqa: A002
        """Let an identifier have a query; returns the profiles that match it."""
        return self._add(self._queries, query, id)

    def remove_profile(self, profile: ItemT, id: Hashable) -> frozenset[ItemT]:  # noqa: A002
        """Take a profile from an identifier; returns the queries that match it.

        No query is tested. UnknownEntryError if the identifier does not have the profile.
        """
        return self._remove(self._profiles, profile, id)

    def remove_query(self, query: ItemT, id: Hashable) -> frozenset[ItemT]:  # noqa: A002
        """Take a query from an identifier; returns the profiles that match it."""
        return self._remove(self._queries, query, id)

    def preload(self, profiles: Iterable[ItemT] = (), queries: Iterable[ItemT] = ()) -> None:
        """Work out the mappings of filters that may come: to add them later costs no test.

        Nobody sees a preloaded filter until it is added; it stays preloaded when it is removed.
        The filters are taken one after the other, as by an add.

        >>> from posetlib import parse_filter
        >>> d, later = DoubleForest(), parse_filter("x in [10, 20]")
        >>> d.preload(profiles=[later])
        >>> d.add_query(parse_filter("x in [0, 50]"), "amy")
        frozenset()
        >>> d.counters.reset()
        >>> d.add_profile(later, "photo"), d.counters.covering_tests
        (frozenset({Filter('x in [0, 50]')}), 0)
        """
        for side, items in ((self._profiles, profiles), (self._queries, queries)):
            for item in items:
                self._add(side, item, PLACEHOLDER)

    def unload(self, profiles: Iterable[ItemT] = (), queries: Iterable[ItemT] = ()) -> None:
        """Forget that filters were preloaded: those that nobody has go; others are ignored."""
        for side, items in ((self._profiles, profiles), (self._queries, queries)):
            for item in items:
                member = side.find(item)
                if member is not None and PLACEHOLDER in member.ids:
                    side.release(member, PLACEHOLDER)

    def _add(self, own: Side[ItemT], item: ItemT, identifier: Hashable) -> frozenset[ItemT]:
        """Let an identifier have an item, and map it if it is new; all or nothing."""
        member = own.members.get(item)
        other = own.other
        if member is None:
            ends = None if self._read is None else own.ends_of(self._read(item))
            if ends is not None and (own.shape is other.shape or not other.members):
                found = self._swept(own, ends)
                own.admit(item, found, ends, identifier)
                return other.active_items(found)
            member = own.find(item)
            if member is None:
                hash(identifier)  # refused before anything is done
                member = self._enter(own, item, identifier)
        own.hold(member, identifier)
        return own.matched_items(member)

    def _swept(self, own: Side[ItemT], ends: FloatArray) -> IntArray:
        """Return the numbers of what matches a box, of the shape that all of the other side have.

        O(filters of the other side), by numpy. A box contains another one if none of its ends, the
        low ones and the negated high ones, is greater.
        """
        other = own.other
        if not other.used:
            return _NO_NUMBERS
        theirs = other.ends[:, : other.used]
        if self._semantics == OVERLAP:
            # Low ends against high ones, and negated high ones against negated low ones.
            good = theirs <= -ends.reshape(-1, 2)[:, ::-1].reshape(-1, 1)
        elif own is self._profiles:
            good = theirs <= ends[:, None]
        else:
            good = theirs >= ends[:, None]
        return _all(good).nonzero()[0]  # type: ignore[no-any-return]

    def _enter(self, own: Side[ItemT], item: ItemT, identifier: Hashable) -> Member:
        """Bring in an item that boxes do not tell enough of, along the links of the forests."""
        own.place()
        own.other.place()
        guards, result = None, None
        if self._results and self._semantics == COVER:
            traits = own.forest._traits(item)
            box = traits[2]
            if box is None or box.is_late or not box.shape.exact:
                # Most is found by tests.
                result = _Result(
                    self, own, Probe(own.forest._relation, self.counters, item, traits)
                )
                guards = result.guards()

        def result_of(node: Node) -> set[Node]:
            if result is not None and result.found is not None:
                return result.found
            return self._result_of(own, node)

        return own.place_new(item, identifier, guards, result_of)

    def _remove(self, own: Side[ItemT], item: ItemT, identifier: Hashable) -> frozenset[ItemT]:
        member = own.find(item)
        if member is None or identifier not in member.ids or identifier is PLACEHOLDER:
            raise UnknownEntryError(f"{identifier!r} does not have {item}")
        matched = own.matched_items(member)
        own.release(member, identifier)
        return matched

    # -- the result of one item --------------------------------------------------------------------

    def _result_of(self, own: Side[ItemT], node: Node) -> set[Node]:
        """Return the nodes of the other forest that match a new node, from its place in its own."""
        parent = node.parents[0]
        above = None if parent is own.forest._links.top else own.matched_nodes(parent)
        below = [own.matched_nodes(child) for child in node.children]
        lower: AbstractSet[Node] = frozenset()
        upper: AbstractSet[Node] | None = None
        if own is self._profiles and self._semantics == COVER:
            # Whatever covers the parent covers the profile, and whatever covers the profile covers
            # each child: the intersection is tighter than the union of [T, Table 6.1].
            if self._lower and above is not None:
                lower = above
            if self._upper and below:
                upper = frozenset.intersection(frozenset(below[0]), *below[1:])
        else:
            if self._lower and below:
                lower = frozenset().union(*below)
            if self._upper and above is not None:
                upper = above
        return self._find_matches(own, node, lower, upper)

    def _find_matches(
        self,
        own: Side[ItemT],
        item: Node | Probe,
        lower: AbstractSet[Node] = frozenset(),
        upper: AbstractSet[Node] | None = None,
    ) -> set[Node]:
        """Return the nodes of the other forest that match an item, between bounds."""
        if upper is not None and len(upper) == len(lower):
            return set(lower)
        other = own.other.forest
        probe = Probe(other._relation, self.counters, item.item, item.traits)
        search, top = other._search, other._links.top
        sweeps = probe.box is not None and (upper is None or len(upper) - len(lower) > _FEW)
        if self._semantics == OVERLAP:
            swept = search.overlapping(probe) if sweeps and self._asks_boxes else None
            if swept is not None:
                return set(swept)
            test = overlapping(probe, self._overlaps, self.counters, by_boxes=self._asks_boxes)
            return closed_upwards(
                top, lambda node: list(search.meeting(probe, node)), test, lower, upper
            )
        is_profile = own is self._profiles
        if sweeps:
            return set(search.above(probe) if is_profile else search.covered(probe))
        walk, test = (
            (closed_upwards, covering(probe))
            if is_profile
            else (closed_downwards, covered_by(probe))
        )
        return walk(top, lambda node: search.below(node, probe.part), test, lower, upper)

    # -- reading -----------------------------------------------------------------------------------

    def queries_of(self, profile: ItemT) -> frozenset[ItemT]:
        """Return the queries that match a profile; O(1) for each, and no test.

        UnknownEntryError if nobody has the profile.
        """
        return self._matches_of(self._profiles, profile)

    def profiles_of(self, query: ItemT) -> frozenset[ItemT]:
        """Return the profiles that match a query; O(1) for each, and no test."""
        return self._matches_of(self._queries, query)

    def find_queries(self, profile: ItemT) -> frozenset[ItemT]:
        """Return the queries that match a profile, which need not be there; nothing is kept."""
        return self._one_shot(self._profiles, profile)

    def find_profiles(self, query: ItemT) -> frozenset[ItemT]:
        """Return the profiles that match a query, which need not be there; nothing is kept.

        >>> from posetlib import parse_filter
        >>> d = DoubleForest("overlap")
        >>> _ = d.add_profile(parse_filter("x in [10, 20]"), "photo")
        >>> d.find_profiles(parse_filter("x in [15, 30]"))
        frozenset({Filter('x in [10, 20]')})
        """
        return self._one_shot(self._queries, query)

    def profiles(self) -> tuple[ItemT, ...]:
        """Return the profiles that somebody has, in order of insertion."""
        return _active(self._profiles.members.values())

    def queries(self) -> tuple[ItemT, ...]:
        """Return the queries that somebody has, in order of insertion."""
        return _active(self._queries.members.values())

    def profiles_held(self, id: Hashable) -> tuple[ItemT, ...]:  # noqa: A002
        """Return the profiles that an identifier has, in order of insertion; O(1) for each."""
        return _held(self._profiles, id)

    def queries_held(self, id: Hashable) -> tuple[ItemT, ...]:  # noqa: A002
        """Return the queries that an identifier has, in order of insertion; O(1) for each."""
        return _held(self._queries, id)

    def profile_ids(self, profile: ItemT) -> frozenset[Hashable]:
        """Return who has a profile; UnknownEntryError if nobody has."""
        return _ids_of(self._active_member(self._profiles, profile))

    def query_ids(self, query: ItemT) -> frozenset[Hashable]:
        """Return who has a query; UnknownEntryError if nobody has."""
        return _ids_of(self._active_member(self._queries, query))

    def has_profile(self, profile: ItemT, id: Hashable) -> bool:  # noqa: A002
        """Return whether an identifier has a profile, or its equivalent."""
        member = self._profiles.find(profile)
        return member is not None and id in member.ids

    def has_query(self, query: ItemT, id: Hashable) -> bool:  # noqa: A002
        """Return whether an identifier has a query, or its equivalent."""
        member = self._queries.find(query)
        return member is not None and id in member.ids

    def to_dict(self) -> dict[str, Any]:
        """Return both forests and the mapping as plain data, to be drawn or written as JSON.

        Both mappings are there as pairs of a profile's number and a query's. Preloaded filters that
        nobody has are there, too, without an identifier. Identifiers are written as text.
        """
        self.settle()
        numbers: dict[Member, int] = {}
        sides = {}
        for name, side in (("profiles", self._profiles), ("queries", self._queries)):
            links, write = side.forest._links, side.forest._relation.write
            numbers |= {member: i for i, member in enumerate(side.members.values())}
            sides[name] = {
                "nodes": [
                    {
                        "id": numbers[member],
                        "filter": write(member.item),
                        "ids": [str(each) for each in member.ids if each is not PLACEHOLDER],
                        "preloaded": PLACEHOLDER in member.ids,
                    }
                    for member in side.members.values()
                ],
                "edges": [
                    [numbers[parent.extra], numbers[child.extra]] for parent, child in links.edges()
                ],
            }
        pairs = {
            "queries_of": self._pairs(self._profiles),
            "profiles_of": [(p, q) for q, p in self._pairs(self._queries)],
        }
        items = [*self._profiles.members, *self._queries.members]
        return {
            "format": FORMAT,
            "version": 1,
            "semantics": self._semantics,
            **self._profiles.forest._relation.context_of(items),
            **sides,
            **{
                name: sorted([numbers[profile], numbers[query]] for profile, query in some)
                for name, some in pairs.items()
            },
        }

    def _active_member(self, side: Side[ItemT], item: ItemT) -> Member:
        with self._settling:
            member = side.find(item)
        if member is None or not member.is_active:
            raise UnknownEntryError(f"nobody has the {side.name} {item}")
        return member

    def _matches_of(self, side: Side[ItemT], item: ItemT) -> frozenset[ItemT]:
        member = self._active_member(side, item)
        with self._settling:
            return side.matched_items(member)

    def _one_shot(self, side: Side[ItemT], item: ItemT) -> frozenset[ItemT]:
        with self._settling:
            member = side.find(item)
            if member is not None:
                return side.matched_items(member)
            ends = None if self._read is None else side.ends_of(self._read(item))
            if ends is not None and side.shape is side.other.shape:
                return side.other.active_items(self._swept(side, ends))
            side.other.place()
            found = self._find_matches(side, side.forest._probe(item))
            return side.other.active_items(numbers_of(found))

    def _pairs(self, side: Side[ItemT]) -> list[tuple[Member, Member]]:
        """Return every member of a side with each member of the other side that it is mapped to."""
        with self._settling:
            return [
                (member, side.other.member(number))
                for member in side.members.values()
                for number in side.matched(member)
            ]

    # -- as a whole --------------------------------------------------------------------------------

    def settle(self) -> None:
        """Finish what adds put off: places in both forests, and both mappings.

        Reading them does the same. Call it to choose when that time is spent.
        """
        with self._settling:
            for side in (self._profiles, self._queries):
                side.place()
                side.spread()

    def check(self) -> None:
        """Raise InvariantError unless both forests and both mappings are as promised.

        ``double-forest-agrees``: the mappings are what a test of every pair says; not counted.
        """
        self.settle()
        covers, overlaps = self._profiles.forest._relation.covers, self._overlaps
        mapped: list[dict[ItemT, set[ItemT]]] = []
        for side in (self._profiles, self._queries):
            side.forest.check()
            mapped.append({item: set() for item in side.members})
            for member, other in self._pairs(side):
                mapped[-1][member.item].add(other.item)
        holds = overlaps if self._semantics == OVERLAP else lambda p, q: covers(q, p)
        check_mappings(mapped[0], mapped[1], holds)

    def copy(self) -> DoubleForest[ItemT]:
        """Return one of the same shape, with counters at zero; O(filters + matches), no test."""
        make, about = self.__reduce__()
        return make(*about)  # type: ignore[no-any-return]

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> DoubleForest[ItemT]:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        # Flat, so that no depth of a forest is too deep for the pickle.
        self.settle()
        numbers = {member: i for i, member in enumerate(self._queries.members.values())}
        found: dict[Member, list[int]] = {each: [] for each in self._profiles.members.values()}
        for profile, query in self._pairs(self._profiles):
            found[profile].append(numbers[query])
        options = {
            "lower": self._lower,
            "upper": self._upper,
            "results": self._results,
            "index": self._profiles.forest._uses_index,
            "relation": self._profiles.forest._relation,
            "overlaps": None if self._asks_boxes else self._overlaps,
        }
        contents = [side.contents() for side in (self._profiles, self._queries)]
        return _restored, (self._semantics, options, contents, list(found.values()))

    def __len__(self) -> int:
        """How many profiles and queries somebody has."""
        return len(self.profiles()) + len(self.queries())

    def __repr__(self) -> str:
        return (
            f"<DoubleForest, {self._semantics}: {len(self.profiles())} profiles, "
            f"{len(self.queries())} queries>"
        )


class _Result:
    """The result of a new filter, which rules out what may cover it and what it may cover.

    Whatever covers a profile has no more queries, and whatever covers a query has no fewer
    profiles. So the queries of a new profile are found first, and those of its profiles and of a
    node's compared before these are; and the profiles of a new query once its parent is known.
    """

    def __init__(self, forest: DoubleForest[Any], own: Side[Any], probe: Probe) -> None:
        self.found: set[Node] | None = None
        self._forest = forest
        self._own = own
        self._probe = probe
        self._numbers: set[int] = set()

    def guards(self) -> Guards:
        """Return what this rules out."""
        if self._own is self._forest._profiles:
            self._find(None)
            return Guards(
                lambda node: self._own.matched(node.extra) <= self._numbers,
                lambda node, _: self._numbers <= self._own.matched(node.extra),
            )
        return Guards(lambda node: True, self._may_cover)

    def _may_cover(self, node: Node, has_parent: bool) -> bool:
        """Return whether a query may cover a node; finds its profiles when it is first asked."""
        if self.found is None:
            self._find(node.parents[0] if has_parent else None)
        return self._own.matched(node.extra) <= self._numbers

    def _find(self, parent: Node | None) -> None:
        bounded = parent is not None and self._forest._upper
        upper = self._own.matched_nodes(parent) if parent is not None and bounded else None
        self.found = self._forest._find_matches(self._own, self._probe, upper=upper)
        self._numbers = {node.extra.number for node in self.found}


def _restored(
    semantics: str,
    options: dict[str, Any],
    contents: list[Any],
    mapped: list[list[int]],
) -> DoubleForest[Any]:
    """Return a DoubleForest of a shape that another one had; nothing is compared."""
    made: DoubleForest[Any] = DoubleForest(semantics, **options)
    made._queries.restore(contents[1], [[] for _ in contents[1].ids])
    made._profiles.restore(contents[0], mapped)
    return made


def check_mappings(
    queries_of: dict[ItemT, set[ItemT]],
    profiles_of: dict[ItemT, set[ItemT]],
    holds: Callable[[ItemT, ItemT], bool],
) -> None:
    """Raise InvariantError unless two mappings are what ``holds(profile, query)`` says.

    Every pair is tested: the set-based computation that a `DoubleForest` must equal.

    >>> check_mappings({6: {2, 3}, 5: set()}, {2: {6}, 3: {6}}, lambda p, q: p % q == 0)
    >>> check_mappings({6: {2}}, {2: {6}, 3: set()}, lambda p, q: p % q == 0)
    Traceback (most recent call last):
    posetlib.errors.InvariantError: double-forest-agrees: the query 3 matches the profile 6, ...
    """
    for profile, mapped in queries_of.items():
        for query, back in profiles_of.items():
            good = bool(holds(profile, query))
            for kept, where in ((query in mapped, "queries_of"), (profile in back, "profiles_of")):
                if kept is not good:
                    raise InvariantError(
                        "double-forest-agrees",
                        (profile, query),
                        f"the query {query} {'matches' if good else 'does not match'} "
                        f"the profile {profile}, but {where} says otherwise",
                    )
    for mapping, known in ((queries_of, profiles_of), (profiles_of, queries_of)):
        for item, mapped in mapping.items():
            strange = [each for each in mapped if each not in known]
            if strange:
                raise InvariantError(
                    "double-forest-agrees", (item, strange[0]), "mapped to what is not there"
                )


def _active(members: Iterable[Member]) -> tuple[Any, ...]:
    return tuple(member.item for member in members if member.is_active)


def _held(side: Side[Any], identifier: Hashable) -> tuple[Any, ...]:
    held = sorted(side.holders.get(identifier, ()), key=lambda member: member.number)
    return tuple(member.item for member in held)


def _ids_of(member: Member) -> frozenset[Hashable]:
    return frozenset(each for each in member.ids if each is not PLACEHOLDER)
