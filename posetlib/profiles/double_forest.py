"""`DoubleForest`: profiles and queries in two forests, and which of them match [T 6–7]."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from collections.abc import Set as AbstractSet
from typing import Any, Final, Generic

from posetlib.errors import InvariantError, UnknownEntryError
from posetlib.graph.counters import Counters
from posetlib.graph.nodes import Node
from posetlib.profiles.mapping_data import FORMAT
from posetlib.profiles.node_tests import covered_by, covering, overlapping
from posetlib.profiles.result_walks import closed_downwards, closed_upwards
from posetlib.search.probe import Probe
from posetlib.search.relation import Relation
from posetlib.tables.filter_relation import FILTERS
from posetlib.tables.item_type import ItemT
from posetlib.tables.operation import Operation
from posetlib.tables.poset_forest import PosetForest

__all__ = ["COVER", "OVERLAP", "DoubleForest", "check_mappings"]

#: A query matches the profiles that it covers.
COVER: Final = "cover"
#: A query matches the profiles that it overlaps.
OVERLAP: Final = "overlap"

# With an index, up to this number of candidates are compared one by one: a sweep is slower.
_FEW: Final = 24


class _Placeholder:
    """The identifier under which a filter is preloaded; there is one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<placeholder>"

    def __reduce__(self) -> str:
        return "_PLACEHOLDER"


_PLACEHOLDER: Final = _Placeholder()


def filters_overlap(one: Any, other: Any) -> bool:
    """Return whether some notification may match both filters."""
    return one.overlaps(other)  # type: ignore[no-any-return]


class DoubleForest(Generic[ItemT]):
    """Profiles and queries, each with identifiers, and both mappings between them.

    With ``semantics="cover"`` a query matches the profiles that it covers; with ``"overlap"`` those
    that it overlaps. ``lower`` and ``upper`` say whether the results of a new filter's parent and
    children bound its own [T, Table 6.1]; without either the structure is the unoptimised one of
    the thesis. With ``index=False`` all is found by counted tests along the links. The answers are
    the same in all cases. Items of another language come with their ``relation``, and for overlap
    with ``overlaps``, which must be symmetric and hold for whatever covers two that overlap.

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
        self._overlaps: Callable[[Any, Any], bool] = overlaps or filters_overlap
        # Boxes tell that filters overlap; what an overlap of the caller's own means they do not.
        self._asks_boxes = overlaps is None
        self._profiles: PosetForest[ItemT] = PosetForest(relation=chosen, local=True, index=index)
        self._queries: PosetForest[ItemT] = PosetForest(relation=chosen, local=True, index=index)
        # One reader of boxes, so that those of both forests compare, and one counter.
        self._queries._box_reader = self._profiles._box_reader
        self._profiles.counters = self._queries.counters = self.counters

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
        for profile in profiles:
            self._enter(self._profiles, profile, _PLACEHOLDER)
        for query in queries:
            self._enter(self._queries, query, _PLACEHOLDER)

    def unload(self, profiles: Iterable[ItemT] = (), queries: Iterable[ItemT] = ()) -> None:
        """Forget that filters were preloaded: those that nobody has go; others are ignored."""
        for forest, items in ((self._profiles, profiles), (self._queries, queries)):
            for item in items:
                node = forest._find(item)
                if node is not None and _PLACEHOLDER in node.interfaces:
                    self._withdraw(forest, node, _PLACEHOLDER)

    def _add(self, forest: PosetForest[ItemT], item: ItemT, identifier: Hashable) -> frozenset[Any]:
        return _active_items(self._enter(forest, item, identifier).extra)

    def _enter(self, forest: PosetForest[ItemT], item: ItemT, identifier: Hashable) -> Node:
        """Let an identifier have an item, and map it if it is new; all or nothing."""
        _, journal = forest._run(Operation("add", item, identifier))
        node = forest._links.find(item)
        if node is None:  # pragma: no cover - the forest is local, so it holds what it was given
            raise InvariantError("double-forest-agrees", item, "the forest lost an item")
        if node.extra is None:
            try:
                found = self._result_of(forest, node)
            except BaseException:
                forest._links.undo(journal)
                raise
            for other in found:
                other.extra.add(node)
            node.extra = found
        return node

    def _remove(
        self, forest: PosetForest[ItemT], item: ItemT, identifier: Hashable
    ) -> frozenset[Any]:
        node = forest._find(item)
        if node is None or identifier not in node.interfaces:
            raise UnknownEntryError(f"{identifier!r} does not have {item}")
        matched = _active_items(node.extra)
        self._withdraw(forest, node, identifier)
        return matched

    def _withdraw(self, forest: PosetForest[ItemT], node: Node, identifier: Hashable) -> None:
        forest._run(Operation("remove", node.item, identifier))
        if not node.interfaces:
            for other in node.extra:
                other.extra.remove(node)

    # -- the result of one item --------------------------------------------------------------------

    def _result_of(self, forest: PosetForest[ItemT], node: Node) -> set[Node]:
        """Return the nodes of the other forest that match a new node, from its place in its own."""
        parent = node.parents[0]
        above = None if parent is forest._links.top else parent.extra
        below = [child.extra for child in node.children]
        lower: AbstractSet[Node] = frozenset()
        upper: AbstractSet[Node] | None = None
        if forest is self._profiles and self._semantics == COVER:
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
        return self._find_matches(forest, node, lower, upper)

    def _find_matches(
        self,
        forest: PosetForest[ItemT],
        item: Node | Probe,
        lower: AbstractSet[Node] = frozenset(),
        upper: AbstractSet[Node] | None = None,
    ) -> set[Node]:
        """Return the nodes that match an item of a forest, between bounds."""
        if upper is not None and len(upper) == len(lower):
            return set(lower)
        other = self._queries if forest is self._profiles else self._profiles
        probe = Probe(other._relation, self.counters, item.item, item.traits)
        search, top = other._search, other._links.top
        sweeps = probe.box is not None and (upper is None or len(upper) - len(lower) > _FEW)
        if self._semantics == OVERLAP:
            swept = search.overlapping(probe) if sweeps and self._asks_boxes else None
            if swept is not None:
                return set(swept)
            test = overlapping(probe, self._overlaps, self.counters, by_boxes=self._asks_boxes)
            return closed_upwards(top, lambda node: search.meeting(probe, node), test, lower, upper)
        is_profile = forest is self._profiles
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
        return _active_items(self._active_node(self._profiles, profile, "profile").extra)

    def profiles_of(self, query: ItemT) -> frozenset[ItemT]:
        """Return the profiles that match a query; O(1) for each, and no test."""
        return _active_items(self._active_node(self._queries, query, "query").extra)

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
        return tuple(node.item for node in self._profiles._links.nodes.values() if _is_active(node))

    def queries(self) -> tuple[ItemT, ...]:
        """Return the queries that somebody has, in order of insertion."""
        return tuple(node.item for node in self._queries._links.nodes.values() if _is_active(node))

    def profiles_held(self, id: Hashable) -> tuple[ItemT, ...]:  # noqa: A002
        """Return the profiles that an identifier has, in order of insertion; O(1) for each."""
        return tuple(node.item for node in self._profiles._links.holding(id))

    def queries_held(self, id: Hashable) -> tuple[ItemT, ...]:  # noqa: A002
        """Return the queries that an identifier has, in order of insertion; O(1) for each."""
        return tuple(node.item for node in self._queries._links.holding(id))

    def profile_ids(self, profile: ItemT) -> frozenset[Hashable]:
        """Return who has a profile; UnknownEntryError if nobody has."""
        return _ids_of(self._active_node(self._profiles, profile, "profile"))

    def query_ids(self, query: ItemT) -> frozenset[Hashable]:
        """Return who has a query; UnknownEntryError if nobody has."""
        return _ids_of(self._active_node(self._queries, query, "query"))

    def has_profile(self, profile: ItemT, id: Hashable) -> bool:  # noqa: A002
        """Return whether an identifier has a profile, or its equivalent."""
        node = self._profiles._find(profile)
        return node is not None and id in node.interfaces

    def has_query(self, query: ItemT, id: Hashable) -> bool:  # noqa: A002
        """Return whether an identifier has a query, or its equivalent."""
        node = self._queries._find(query)
        return node is not None and id in node.interfaces

    def to_dict(self) -> dict[str, Any]:
        """Return both forests and the mapping as plain data, to be drawn or written as JSON.

        Both mappings are there as pairs of a profile's number and a query's. Preloaded filters that
        nobody has are there, too, without an identifier. Identifiers are written as text.
        """
        numbers: dict[Node, int] = {}
        sides = {}
        for name, forest in (("profiles", self._profiles), ("queries", self._queries)):
            links, write = forest._links, forest._relation.write
            numbers |= {node: i for i, node in enumerate(links.nodes.values())}
            sides[name] = {
                "nodes": [
                    {
                        "id": numbers[node],
                        "filter": write(node.item),
                        "ids": [str(each) for each in node.interfaces if each is not _PLACEHOLDER],
                        "preloaded": _PLACEHOLDER in node.interfaces,
                    }
                    for node in links.nodes.values()
                ],
                "edges": [[numbers[parent], numbers[child]] for parent, child in links.edges()],
            }
        pairs = {
            "queries_of": [(p, q) for p in self._profiles._links.nodes.values() for q in p.extra],
            "profiles_of": [(p, q) for q in self._queries._links.nodes.values() for p in q.extra],
        }
        items = [*self._profiles._links.nodes, *self._queries._links.nodes]
        return {
            "format": FORMAT,
            "version": 1,
            "semantics": self._semantics,
            **self._profiles._relation.context_of(items),
            **sides,
            **{
                name: sorted([numbers[profile], numbers[query]] for profile, query in some)
                for name, some in pairs.items()
            },
        }

    def _active_node(self, forest: PosetForest[ItemT], item: ItemT, what: str) -> Node:
        node = forest._find(item)
        if node is None or not _is_active(node):
            raise UnknownEntryError(f"nobody has the {what} {item}")
        return node

    def _one_shot(self, forest: PosetForest[ItemT], item: ItemT) -> frozenset[Any]:
        node = forest._find(item)
        if node is not None:
            return _active_items(node.extra)
        return _active_items(self._find_matches(forest, forest._probe(item)))

    # -- as a whole --------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise InvariantError unless both forests and both mappings are as promised.

        ``double-forest-agrees``: the mappings are what a test of every pair says; not counted.
        """
        self._profiles.check()
        self._queries.check()
        covers, overlaps = self._profiles._relation.covers, self._overlaps
        mapped = {
            name: {node.item: {o.item for o in node.extra} for node in forest._links.nodes.values()}
            for name, forest in (("profiles", self._profiles), ("queries", self._queries))
        }
        holds = overlaps if self._semantics == OVERLAP else lambda p, q: covers(q, p)
        check_mappings(mapped["profiles"], mapped["queries"], holds)

    def copy(self) -> DoubleForest[ItemT]:
        """Return one of the same shape, with counters at zero; O(filters + matches), no test."""
        make, about = self.__reduce__()
        return make(*about)  # type: ignore[no-any-return]

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> DoubleForest[ItemT]:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        # Flat, so that no depth of a forest is too deep for the pickle.
        numbers = {node: i for i, node in enumerate(self._queries._links.nodes.values())}
        mapped = [[numbers[q] for q in p.extra] for p in self._profiles._links.nodes.values()]
        options = {
            "lower": self._lower,
            "upper": self._upper,
            "index": self._profiles._uses_index,
            "relation": self._profiles._relation,
            "overlaps": None if self._asks_boxes else self._overlaps,
        }
        contents = [forest._state()[3:6] for forest in (self._profiles, self._queries)]
        return _restored, (self._semantics, options, contents, mapped)

    def __len__(self) -> int:
        """How many profiles and queries somebody has."""
        return len(self.profiles()) + len(self.queries())

    def __repr__(self) -> str:
        return (
            f"<DoubleForest, {self._semantics}: {len(self.profiles())} profiles, "
            f"{len(self.queries())} queries>"
        )


def _restored(
    semantics: str,
    options: dict[str, Any],
    contents: list[tuple[list[Any], list[Any], list[Any]]],
    mapped: list[list[int]],
) -> DoubleForest[Any]:
    """Return a DoubleForest of a shape that another one had; nothing is compared."""
    made: DoubleForest[Any] = DoubleForest(semantics, **options)
    sides = []
    for forest, (rows, edges, aliases) in zip(
        (made._profiles, made._queries), contents, strict=True
    ):
        nodes = forest._load(rows, edges)
        for number, item in aliases:
            nodes[number].aliases += (item,)
            forest._links.aliases[item] = nodes[number]
        for node in nodes:
            node.extra = set()
        sides.append(nodes)
    profiles, queries = sides
    for profile, numbers in zip(profiles, mapped, strict=True):
        profile.extra.update(queries[number] for number in numbers)
        for query in profile.extra:
            query.extra.add(profile)
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


def _is_active(node: Node) -> bool:
    """Return whether somebody has the item of a node, which may be preloaded as well."""
    return len(node.interfaces) > (_PLACEHOLDER in node.interfaces)


def _ids_of(node: Node) -> frozenset[Hashable]:
    return frozenset(each for each in node.interfaces if each is not _PLACEHOLDER)


def _active_items(nodes: Iterable[Node]) -> frozenset[Any]:
    """Return the items of those nodes that ``_is_active`` holds for, written out for speed."""
    return frozenset(
        [
            node.item
            for node in nodes
            if len(node.interfaces) > 1 or _PLACEHOLDER not in node.interfaces
        ]
    )
