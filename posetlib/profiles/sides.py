"""One side of a `DoubleForest`: its filters by number, their boxes in columns, and their forest.

What matches a filter is kept as numbers of filters of the other side. Where all filters of a side
have exact boxes of one shape, these are columns of an array, and one sweep over them finds what
matches. Nothing else is asked of the forest then, so a filter gets its place there when somebody
wants to know it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any, Final, Generic, NamedTuple

import numpy as np

from posetlib.array_types import FloatArray, IntArray
from posetlib.errors import InvariantError
from posetlib.graph.nodes import Node
from posetlib.profiles.node_tests import GuardedProbe, Guards
from posetlib.search.boxes import Box, Shape
from posetlib.search.probe import Probe
from posetlib.tables.item_type import ItemT
from posetlib.tables.operation import Operation
from posetlib.tables.poset_forest import PosetForest

__all__ = ["PLACEHOLDER", "Contents", "Member", "Side", "numbers_of"]

# Numbers for which a new side has room, and free ones beyond twice those in use that are kept.
_ROOM: Final = 64
# From this many matches on that the other side was not told of, numpy sorts them by their filters.
_MANY: Final = 512
# Numbers below this one are 16 bits long.
_SHORT: Final = 1 << 16
# The interface that holds all nodes of a forest: who has a filter is not known there.
_HELD: Final = "held"
_NO_NUMBERS: Final[IntArray] = np.empty(0, dtype=np.intp)


class _Placeholder:
    """The identifier under which a filter is preloaded; there is one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<placeholder>"

    def __reduce__(self) -> str:
        return "PLACEHOLDER"


PLACEHOLDER: Final = _Placeholder()


class Member:
    """A profile or a query: who has it, its node, and the numbers of what matches it.

    The numbers are in ``found`` (those that were there when it came) and ``later`` until somebody
    reads them; from then on they are in ``known``.
    """

    __slots__ = ("found", "ids", "item", "known", "later", "node", "number")

    def __init__(self, item: Any, number: int, found: IntArray, ids: dict[Hashable, None]) -> None:
        self.item = item
        self.number = number
        #: Who has it, in order of coming; the placeholder if it is preloaded.
        self.ids = ids
        self.found = found
        self.later: list[IntArray] | None = None
        self.known: set[int] | None = None
        #: Its node in the forest, None until it has its place there.
        self.node: Node | None = None

    def numbers(self) -> set[int]:
        """Return the numbers of what matches it, of those that it was told of; not a copy."""
        if self.known is None:
            self.known = set(self.found.tolist())
            for some in self.later or ():
                self.known.update(some.tolist())
            self.found, self.later = _NO_NUMBERS, None
        return self.known

    def as_array(self) -> IntArray:
        """Return the same numbers as an array, which may be this member's own."""
        if self.known is not None:
            return np.fromiter(self.known, np.intp, len(self.known))
        return np.concatenate([self.found, *self.later]) if self.later else self.found

    def learn(self, numbers: IntArray) -> None:
        """Be told of matches that came later."""
        if self.known is not None:
            self.known.update(numbers.tolist())
        elif self.later is None:
            self.later = [numbers]
        else:
            self.later.append(numbers)

    @property
    def is_active(self) -> bool:
        """Whether somebody has it, preloaded or not."""
        return len(self.ids) > (PLACEHOLDER in self.ids)


def numbers_of(nodes: Collection[Node]) -> IntArray:
    """Return the numbers of the members that have these nodes."""
    return np.fromiter((node.extra.number for node in nodes), np.intp, len(nodes))


class Contents(NamedTuple):
    """A side as plain data: its forest, the items equivalent to others, and who has each member."""

    rows: list[Any]
    edges: list[tuple[int, int]]
    aliases: list[tuple[int, Any]]
    ids: list[list[Hashable]]


class _SideForest(PosetForest[ItemT]):
    """A forest in which results may rule out that an item covers another one, before a test."""

    #: For the item that is added next, if anything is known of it.
    guards: Guards | None = None

    def _probe(self, item: ItemT) -> Probe:
        if self.guards is None:
            return super()._probe(item)
        return GuardedProbe(self._relation, self.counters, item, self._traits(item), self.guards)


class Side(Generic[ItemT]):
    """The profiles of a `DoubleForest`, or its queries."""

    __slots__ = (
        "_objects", "_unplaced", "_unspread", "aliases", "ends", "forest", "holders", "idle",
        "items", "members", "name", "other", "shape", "used",
    )  # fmt: skip

    #: The other side.
    other: Side[ItemT]

    def __init__(self, name: str, **options: Any) -> None:
        self.name = name
        self.forest: _SideForest[ItemT] = _SideForest(local=True, **options)
        #: By item, in order of insertion; and by items that are equivalent and not equal.
        self.members: dict[ItemT, Member] = {}
        self.aliases: dict[ItemT, Member] = {}
        #: Identifier -> what it has.
        self.holders: dict[Hashable, dict[Member, None]] = {}
        #: How many members are preloaded, and nobody has them.
        self.idle = 0
        #: The exact shape of all boxes, whose ends are then in columns by number, NaN where nobody
        #: has the number. None for a side whose boxes have several shapes.
        self.shape: Shape | None = None
        self.ends: FloatArray = np.empty((0, _ROOM))
        #: By number, the members and their items; None where nobody has the number.
        self._objects = np.empty(_ROOM, dtype=object)
        self.items = np.empty(_ROOM, dtype=object)
        self.used = 0
        #: Members without a node, in order of insertion.
        self._unplaced: dict[Member, None] = {}
        #: The matches of the last members, by number, that were not told of them yet.
        self._unspread: list[IntArray] = []

    # -- members -----------------------------------------------------------------------------------

    def ends_of(self, box: Box | None) -> FloatArray | None:
        """Return the ends of a box that fits the columns: it has their shape, or is the first."""
        if box is None or box.is_late:
            return None
        shape = box.shape
        if shape is not self.shape:
            if self.members or not shape.exact or shape.open_ends or not shape.axes:
                return None
            self.shape = shape
            self.ends = np.full((2 * len(shape.axes), len(self.items)), np.nan)
        return np.array(box.ends())

    def admit(
        self, item: ItemT, found: IntArray, ends: FloatArray | None, identifier: Hashable
    ) -> Member:
        """Give a new item the next number, to be placed in the forest later.

        ``found``: the numbers of what matches it; ``ends``: those of its box, None if it does not
        fit the columns.
        """
        number = self.used
        if number == len(self.items):
            self._resize(2 * number)
        if ends is None:
            self.shape = None
        else:
            self.ends[:, number] = ends
        member = Member(item, number, found, {identifier: None})
        held = self.holders.get(identifier)
        if held is None:
            self.holders[identifier] = {member: None}
        else:
            held[member] = None
        self.members[item] = member
        self._objects[number] = member
        self.items[number] = item
        self.used = number + 1
        self._unplaced[member] = None
        self._unspread.append(found)
        if identifier is PLACEHOLDER:
            self.idle += 1
        return member

    def _dismiss(self, member: Member) -> None:
        """Forget a member that nobody has any more; what matches it is told."""
        self.other.spread()
        self.spread()
        number = member.number
        for each in member.numbers():
            self.other.member(each).numbers().discard(number)
        del self.members[member.item]
        for alias in () if member.node is None else member.node.aliases:
            del self.aliases[alias]
        self._objects[number] = self.items[number] = None
        if self.shape is not None:
            self.ends[:, number] = np.nan
        if not self.members:
            self.shape, self.used = None, 0
        elif self.used > 2 * len(self.members) + _ROOM:
            self._renumber()

    def hold(self, member: Member, identifier: Hashable) -> None:
        """Let an identifier have a member."""
        ids = member.ids
        if identifier not in ids:
            if identifier is not PLACEHOLDER and PLACEHOLDER in ids and len(ids) == 1:
                self.idle -= 1
            ids[identifier] = None
            self.holders.setdefault(identifier, {})[member] = None

    def release(self, member: Member, identifier: Hashable) -> None:
        """Take a member from an identifier that has it; it goes if nobody is left.

        All or nothing: the forest, whose tests may raise, comes first.
        """
        if len(member.ids) == 1:
            if member.node is None:
                del self._unplaced[member]
            else:
                self.forest._run(Operation("remove", member.item, _HELD))
        del member.ids[identifier]
        held = self.holders[identifier]
        del held[member]
        if not held:
            del self.holders[identifier]
        if not member.ids:
            self._dismiss(member)
            self.idle -= identifier is PLACEHOLDER
        elif not member.is_active:
            self.idle += 1

    def member(self, number: int) -> Member:
        """Return the member of a number."""
        return self._objects[number]  # type: ignore[no-any-return]

    def find(self, item: ItemT) -> Member | None:
        """Return the member of an item or of its equivalent: by hash, and if need be by search."""
        member = self.members.get(item)
        if member is not None or not self.members:
            return member
        member = self.aliases.get(item) if self.aliases else None
        if member is None:
            probe = self.forest._probe(item)
            if self.shape is not None and probe.canonical:
                return None  # all are canonical, so an equivalent one would be equal
            self.place()
            node = self.forest._twin(probe)
            member = None if node is None else node.extra
        return member

    def _resize(self, size: int) -> None:
        used = self.used
        for name in ("_objects", "items"):
            longer = np.empty(size, dtype=object)
            longer[:used] = getattr(self, name)[:used]
            setattr(self, name, longer)
        ends = np.full((len(self.ends), size), np.nan)
        ends[:, :used] = self.ends[:, :used]
        self.ends = ends

    def _renumber(self) -> None:
        """Give the members the numbers from 0 on, in the same order; O(members + matches)."""
        old = [member.number for member in self.members.values()]
        new = np.full(self.used, -1, dtype=np.intp)
        new[old] = np.arange(len(old))
        numbers: list[int] = new.tolist()
        for member in self.other.members.values():
            member.known = {numbers[each] for each in member.numbers()}
        ends, self.ends = self.ends[:, old], np.full_like(self.ends, np.nan)
        self.ends[:, : len(old)] = ends
        self.items[:] = self._objects[:] = None
        for number, member in enumerate(self.members.values()):
            member.number = number
            self._objects[number] = member
            self.items[number] = member.item
        self.used = len(old)

    # -- what matches ------------------------------------------------------------------------------

    def spread(self) -> None:
        """Tell the other side's members of the matches that they do not know; O(matches)."""
        some, self._unspread = self._unspread, []
        if not some:
            return
        member, first = self.other.member, self.used - len(some)
        theirs = np.concatenate(some)
        if len(theirs) < _MANY:
            for number, found in enumerate(some, first):
                for each in found.tolist():
                    member(each).numbers().add(number)
            return
        mine = np.repeat(np.arange(first, self.used), [len(found) for found in some])
        if self.other.used <= _SHORT:
            theirs = theirs.astype(np.uint16)  # sorted by digits, which is several times as fast
        order = theirs.argsort(kind="stable")
        theirs = theirs[order]
        starts = np.flatnonzero(np.concatenate(([True], theirs[1:] != theirs[:-1])))
        told = self.other._objects[theirs[starts]].tolist()
        numbers = mine[order]
        stops = [*starts[1:].tolist(), len(numbers)]
        for each, start, stop in zip(told, starts.tolist(), stops, strict=True):
            each.learn(numbers[start:stop])

    def matched(self, member: Member) -> set[int]:
        """Return the numbers of what matches a member of this side; not a copy."""
        if self.other._unspread:
            self.other.spread()
        return member.numbers()

    def matched_nodes(self, node: Node) -> set[Node]:
        """Return the other side's nodes that match a node; all have their places."""
        objects = self.other._objects
        return {objects[each].node for each in self.matched(node.extra)}

    def matched_items(self, member: Member) -> frozenset[ItemT]:
        """Return what matches a member of this side, and somebody has."""
        if self.other._unspread:
            self.other.spread()
        return self.other.active_items(member.as_array())

    def active_items(self, numbers: IntArray) -> frozenset[ItemT]:
        """Return the items of those members that somebody has."""
        if self.idle:
            return frozenset([m.item for m in self._objects[numbers].tolist() if m.is_active])
        return frozenset(self.items[numbers].tolist())

    # -- the forest --------------------------------------------------------------------------------

    def place(self) -> None:
        """Give every member its place in the forest; that of an exact box takes no test."""
        while self._unplaced:
            member = next(iter(self._unplaced))
            self.forest._run(Operation("add", member.item, _HELD))
            self._attach(member)
            del self._unplaced[member]

    def _attach(self, member: Member) -> None:
        node = self.forest._links.find(member.item)
        if node is None:  # pragma: no cover - the forest is local, so it holds what it was given
            raise InvariantError("double-forest-agrees", member.item, "the forest lost an item")
        member.node, node.extra = node, member

    def place_new(
        self,
        item: ItemT,
        identifier: Hashable,
        guards: Guards | None,
        result: Callable[[Node], set[Node]],
    ) -> Member:
        """Give an item its place in the forest and then a number; all or nothing.

        An identifier has it then. If there is an equivalent item, its member is found by both from
        now on. ``guards`` rule out tests; ``result`` finds the nodes that match the new node.
        """
        forest = self.forest
        forest.guards = guards
        try:
            _, journal = forest._run(Operation("add", item, _HELD))
        finally:
            forest.guards = None
        node: Any = forest._links.find(item)
        if node.extra is not None:
            self.aliases[item] = node.extra
            self.hold(node.extra, identifier)
            return node.extra  # type: ignore[no-any-return]
        try:
            found = result(node)
        except BaseException:
            forest._links.undo(journal)
            raise
        return self._admit_placed(node, numbers_of(found), identifier)

    def _admit_placed(self, node: Node, found: IntArray, identifier: Hashable) -> Member:
        """Give the item of a node a number."""
        member = self.admit(node.item, found, self.ends_of(node.box), identifier)
        del self._unplaced[member]
        self._attach(member)
        return member

    # -- as plain data -----------------------------------------------------------------------------

    def contents(self) -> Contents:
        """Return everything but the mapping, in order of insertion; all have their places."""
        rows, edges, aliases = self.forest._state()[3:6]
        return Contents(rows, edges, aliases, [list(each.ids) for each in self.members.values()])

    def restore(self, contents: Contents, mapped: list[list[int]]) -> None:
        """Fill an empty side; ``mapped``: the numbers of what matches each, on the other side."""
        nodes = self.forest._load(contents.rows, contents.edges)
        for node, ids, found in zip(nodes, contents.ids, mapped, strict=True):
            member = self._admit_placed(node, np.array(found, dtype=np.intp), ids[0])
            for each in ids[1:]:
                self.hold(member, each)
        for number, item in contents.aliases:
            nodes[number].aliases += (item,)
            self.forest._links.aliases[item] = nodes[number]
            self.aliases[item] = nodes[number].extra
