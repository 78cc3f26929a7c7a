"""Where to draw the nodes: a band for each level, the roots in the first, the general on top.

A band has as many rows as let the whole be seen largest. Within a band the order avoids crossings
(means of neighbours, in sweeps), and each node is as near to its neighbours as the order allows. A
graph that is one step of many is ``settled`` into the places of a later one, so that from step to
step only those nodes move whose band changes.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Band",
    "Cell",
    "Edges",
    "Placed",
    "Stay",
    "arranged",
    "layers",
    "positions",
    "ratio_of",
    "settled",
    "with_guests",
]

Points = NDArray[np.float64]
Ints = NDArray[np.int64]
Edges = Sequence[tuple[int, int]]


def ratio_of(width: float, height: float) -> float:
    """Return the shape of a room that layouts are made for; a little change changes nothing.

    >>> ratio_of(700, 500), ratio_of(9000, 80)
    (1.4, 4.0)
    """
    return round(min(max(width / height, 0.4), 4.0), 1)


@dataclass(frozen=True, slots=True)
class Cell:
    """The room that a box takes, and the shape of the screen."""

    #: From centre to centre: beside each other, and from row to row of a band.
    across: float
    row: float
    #: What is added between two bands, where edges are seen.
    gap: float
    #: The width aimed at is this many times the height.
    ratio: float

    @classmethod
    def of(cls, width: float, height: float, ratio: float, *, sideways: bool = False) -> Cell:
        """Return the cell of boxes of a size; ``sideways`` bands stand beside each other."""
        if sideways:
            return cls(height + 12, width + 16, 56, 1 / ratio)
        return cls(width + 10, height + 8, 28, ratio)


class Band(NamedTuple):
    """The level that a band is for, and where its rows begin and end, as centres of boxes."""

    level: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Placed:
    """Nodes in their bands: where each is across, its band, and its row in the band."""

    x: Points
    #: The level that the band is for; and the node's own, which may be less than that of its band.
    level: Ints
    depth: Ints
    row: Ints
    #: How many rows there are, by level; a level without nodes may have some, too.
    rows: Mapping[int, int]
    cell: Cell

    def bands(self) -> list[Band]:
        """Return the bands from above, those without nodes too; level 0 begins at zero."""
        above = [rows for level, rows in self.rows.items() if level < 0]
        found, top = [], -sum(rows * self.cell.row + self.cell.gap for rows in above)
        for level in sorted(self.rows):
            bottom = top + (self.rows[level] - 1) * self.cell.row
            found.append(Band(level, top, bottom))
            top = bottom + self.cell.row + self.cell.gap
        return found

    def edges_of(self, band: Band) -> tuple[float, float]:
        """Return where a band begins and ends, with its part of the gaps beside it.

        The gap between two bands is for the lower one, most of it: its name stands there.
        """
        half = self.cell.row / 2
        return band.start - half - 0.75 * self.cell.gap, band.end + half + 0.25 * self.cell.gap

    def box(self, above: int = 1, below: int = 1) -> tuple[float, float, float, float]:
        """Return the least x and y of all, bands without nodes too, and the greatest x and y.

        There is room for further bands ``above`` and ``below``, so that neither changes the view: a
        filter that is added by hand can be above all, and one of a forest lower than in the plan.
        """
        half, bands, spare = self.cell.across / 2, self.bands(), self.cell.row + self.cell.gap
        return (
            float(self.x.min()) - half,
            self.edges_of(bands[0])[0] - above * spare,
            float(self.x.max()) + half,
            self.edges_of(bands[-1])[1] + below * spare,
        )

    def columns(self) -> int:
        """Return how many boxes a row has room for."""
        return int(float(np.ptp(self.x)) // self.cell.across) + 1 if len(self.x) else 0

    def size(self) -> float:
        """Return how high a screen must be to show all, at the ratio of the cell."""
        if not len(self.x):
            return 0.0
        across = float(np.ptp(self.x)) + self.cell.across
        return max(across / self.cell.ratio, self.bands()[-1].end + self.cell.row)

    def points(self) -> Points:
        """Return one row (x, y) for each node."""
        starts = {band.level: band.start for band in self.bands()}
        tops = np.array([starts[each] for each in self.level.tolist()], dtype=np.float64)
        return np.column_stack([self.x, tops + self.row * self.cell.row])


def positions(
    count: int,
    edges: Edges,
    *,
    width: float = 180,
    height: float = 64,
    ratio: float = 1.5,
    sideways: bool = False,
) -> Points:
    """Return one row (x, y) for each of ``count`` nodes of a size; O(sweeps × (nodes + edges)).

    Edges are (parent, child). Cycles are drawn, too, as far as levels can be. ``sideways`` puts the
    general to the left.

    >>> positions(3, [(0, 1), (0, 2)], width=90, height=44).tolist()
    [[50.0, 0.0], [0.0, 80.0], [100.0, 80.0]]
    """
    points = arranged(count, edges, Cell.of(width, height, ratio, sideways=sideways)).points()
    return points[:, ::-1].copy() if sideways else points


def layers(children: list[list[int]], parents: list[list[int]]) -> list[int]:
    """Return the longest path from above to each node; a cycle is cut where it is met first.

    >>> layers([[1, 2], [2], []], [[], [0], [0, 1]])
    [0, 1, 2]
    """
    waiting = [len(each) for each in parents]
    layer = [0] * len(parents)
    done = [False] * len(parents)
    queue = deque(node for node, left in enumerate(waiting) if not left)
    rest = iter(range(len(parents)))
    while True:
        while queue:
            node = queue.popleft()
            if done[node]:
                continue
            done[node] = True
            for child in children[node]:
                if not done[child]:
                    layer[child] = max(layer[child], layer[node] + 1)
                    waiting[child] -= 1
                    if not waiting[child]:
                        queue.append(child)
        cut = next((node for node in rest if not done[node]), None)
        if cut is None:
            return layer
        queue.append(cut)


def _links(count: int, edges: Edges) -> tuple[list[list[int]], list[list[int]]]:
    """Return the children and the parents of each node, without loops."""
    children: list[list[int]] = [[] for _ in range(count)]
    parents: list[list[int]] = [[] for _ in range(count)]
    for parent, child in edges:
        if parent != child:
            children[parent].append(child)
            parents[child].append(parent)
    return children, parents


# -- a graph by itself -----------------------------------------------------------------------------

#: Levels up to which there are many sweeps; a long chain has few nodes to a level.
_DEEP: Final = 60


def arranged(
    count: int,
    edges: Edges,
    cell: Cell,
    *,
    levels: Sequence[int] | None = None,
    before: Sequence[float | None] | None = None,
) -> Placed:
    """Return places for a graph by itself; O(sweeps × (nodes + edges)).

    ``levels`` are those of the graph that this one is a part of. ``before`` is where each node was,
    across, as far as it is known: the sweeps start from that order.
    """
    if not count:
        none = np.zeros(0, np.int64)
        return Placed(np.zeros(0), none, none, none, {}, cell)
    children, parents = _links(count, edges)
    level = np.array(layers(children, parents) if levels is None else levels, dtype=np.int64)
    names, band = np.unique(level, return_inverse=True)
    bands = [np.flatnonzero(band == each) for each in range(len(names))]
    ends = np.array(
        [(parent, child) for parent, child in edges if parent != child], dtype=np.int64
    ).reshape(-1, 2)
    above = [ends[band[ends[:, 1]] == each] for each in range(len(names))]
    below = [ends[band[ends[:, 0]] == each] for each in range(len(names))]
    rows, columns = _rows([len(each) for each in bands], cell)

    first = _first_order(children, parents, before)
    alone = np.array([not up and not down for up, down in zip(parents, children, strict=True)])
    x = np.zeros(count)

    def spread(place: int) -> None:
        """Give the nodes of a band even distances, in their order."""
        members = bands[place]
        x[members] = (np.arange(len(members)) - (len(members) - 1) / 2) / rows[place]

    for place, members in enumerate(bands):
        bands[place] = members[np.argsort(first[members], kind="stable")]
        spread(place)
    for sweep in range(10 if len(names) <= _DEEP else 3):
        down = sweep % 2 == 0
        for place in range(len(names)) if down else range(len(names) - 1, -1, -1):
            members = bands[place]
            near = above[place] if down else below[place][:, ::-1]
            wish = _means(x, members, near)
            single = np.flatnonzero(alone[members])
            wish[single] = _evenly(len(single), len(members) / rows[place])
            bands[place] = members[np.argsort(wish, kind="stable")]
            spread(place)

    x *= cell.across
    busy = np.array([bool(each) for each in children])
    row = np.zeros(count, dtype=np.int64)
    for place, ordered in enumerate(bands):
        # Who has children is in the lower rows: fewer edges pass behind boxes.
        group, rank = np.divmod(np.arange(len(ordered)), rows[place])
        zigzag = _zigzag(rows[place])[rank]
        by_row = np.lexsort((zigzag, group))
        members = np.empty_like(ordered)
        members[by_row] = ordered[np.lexsort((busy[ordered], group))]
        bands[place], x[members], row[members] = members, x[ordered], zigzag
    # As wide as the choice of rows has reckoned with: half a box more than there are columns.
    side = max((columns - 0.5) * cell.across / 2, float(abs(x).max()))
    for sweep in range(4 if len(names) <= _DEEP else 1):
        for place, members in enumerate(bands):
            near = np.concatenate([above[place], below[place][:, ::-1]]) if sweep else above[place]
            wish = _means(x, members, near)
            x[members] = _apart(wish, cell.across / rows[place], side)
    x -= x.min()
    by_level = {int(name): count for name, count in zip(names, rows, strict=True)}
    return Placed(x, level, level, row, by_level, cell)


def _first_order(
    children: list[list[int]], parents: list[list[int]], before: Sequence[float | None] | None
) -> Points:
    """Return the order that sweeps start from: as it was before, or each below its parent."""
    count = len(parents)
    order = np.zeros(count)
    seen = [False] * count
    stack = [node for node in range(count - 1, -1, -1) if not parents[node]]
    place = 0
    rest = iter(range(count))
    while True:
        while stack:
            node = stack.pop()
            if seen[node]:
                continue
            seen[node] = True
            order[node] = place
            place += 1
            stack.extend(each for each in reversed(children[node]) if not seen[each])
        left = next((node for node in rest if not seen[node]), None)
        if left is None:
            break
        stack.append(left)
    if before is None:
        return order
    known = np.array([math.nan if each is None else each for each in before])
    # Who was not there comes beside the one that it would follow.
    by_order = np.argsort(order)
    last = 0.0
    for node in by_order.tolist():
        if math.isnan(known[node]):
            known[node] = last
        else:
            last = float(known[node])
    return known


def _rows(counts: list[int], cell: Cell) -> tuple[list[int], int]:
    """Return in how many rows to draw each band, so that all is seen largest; and the columns."""
    best: tuple[float, list[int], int] | None = None
    most = max(counts)
    for rows_of_widest in range(1, max(13, 2 * math.isqrt(most))):
        columns = math.ceil(most / rows_of_widest)
        rows = [math.ceil(count / columns) for count in counts]
        across = (columns + (0.5 if max(rows) > 1 else 0)) * cell.across
        down = sum(rows) * cell.row + (len(rows) - 1) * cell.gap
        size = max(across / cell.ratio, down)
        if best is None or size < _WORTH[most <= _SHORT] * best[0]:
            best = size, rows, columns
    assert best is not None
    return best[1], best[2]


#: Further rows are for a drawing that is seen this much larger; where the longest band is short,
#: they must gain more, since edges pass behind the boxes of lower rows.
_WORTH: Final = (0.92, 0.65)
_SHORT: Final = 6


def _zigzag(rows: int) -> Ints:
    """Return the rows of neighbours in a band, one after the other: every other row, to and fro.

    >>> _zigzag(5).tolist()
    [0, 2, 4, 1, 3]
    """
    return np.concatenate([np.arange(0, rows, 2), np.arange(1, rows, 2)])


def _evenly(count: int, width: float) -> Points:
    """Return places at even distances around zero."""
    return ((np.arange(count) + 0.5) / max(count, 1) - 0.5) * width


def _means(values: Points, members: Ints, ends: Ints) -> Points:
    """Return the mean over the neighbours of each member, its own value without any.

    ``ends`` are pairs of a neighbour and a member.
    """
    near, node = ends[:, 0], ends[:, 1]
    total = np.bincount(node, weights=values[near], minlength=len(values))[members]
    count = np.bincount(node, minlength=len(values))[members]
    return np.where(count > 0, total / np.maximum(count, 1), values[members])


def _apart(wish: Points, distance: float, side: float) -> Points:
    """Return places in the given order, as near to the wishes as a distance apart allows.

    None is farther than ``side`` from the middle, if there is room.
    """
    step = np.arange(len(wish)) * distance
    right = np.maximum.accumulate(wish - step) + step
    left = np.minimum.accumulate((wish - step)[::-1])[::-1] + step
    # Both keep the distance, so their mean does; and it favours neither side.
    mean: Points = (left + right) / 2
    over = max(0.0, (step[-1] - 2 * side) / 2)
    within: Points = np.clip(mean, step - side - over, step - step[-1] + side + over)
    return within


# -- a graph in the places of a later one ----------------------------------------------------------


class Stay(NamedTuple):
    """A node that is a root for a while: its first step as a root, its last, and its place after.

    What is a root to the end has its place in the root band.
    """

    first: int
    last: int
    place: int


def with_guests(
    plan: Placed, stays: Mapping[int, Stay], *, spare: bool = False
) -> tuple[Placed, dict[int, int]]:
    """Return a plan with a place in the root band for each node that is a root for a while.

    The second result says which place is whose, by number. Nodes share a place one after the other,
    each as near as can be to where it goes later; rows are added below for those that find none
    free. So a node that stops being a root moves, and no other root does. A ``spare`` row is for
    the roots of a next plan.
    O(nodes that stay × places of the root band).

    >>> plan = arranged(3, [(0, 1), (0, 2)], Cell.of(88, 40, 1.5))
    >>> more, guests = with_guests(plan, {7: Stay(1, 3, 0), 8: Stay(1, 2, 1), 9: Stay(3, 3, 1)})
    >>> guests, more.rows
    ({8: 3, 9: 3}, {0: 2, 1: 1})
    """
    roots = np.flatnonzero(plan.level == 0).tolist()
    owned = {stay.place: stay for stay in stays.values() if plan.level[stay.place] == 0}
    # Where places are, and the steps in which each is taken.
    taken = {place: [owned[place]] if place in owned else [] for place in roots}
    x, row = plan.x.tolist(), plan.row.tolist()
    rows = plan.rows.get(0, 0)
    columns = plan.columns()
    guests: dict[int, int] = {}

    def add_row() -> list[int]:
        nonlocal rows
        added = list(range(len(x), len(x) + columns))
        x.extend(column * plan.cell.across for column in range(columns))
        row.extend([rows] * columns)
        rows += 1
        return added

    waiting = [number for number, stay in stays.items() if plan.level[stay.place] != 0]
    for number in sorted(waiting, key=lambda each: (stays[each].first, each)):
        stay = stays[number]
        free = [
            place
            for place, others in taken.items()
            if all(stay.last < each.first or each.last < stay.first for each in others)
        ]
        if not free:
            free = add_row()
            taken.update((place, []) for place in free)
        wish = float(plan.x[stay.place])
        best = min(free, key=lambda place: (abs(x[place] - wish), place))
        taken[best].append(stay)
        guests[number] = best
    if spare:
        add_row()
    more = np.zeros(len(x) - len(plan.x), dtype=np.int64)
    level, depth = (np.concatenate([each, more]) for each in (plan.level, plan.depth))
    by_level = {**plan.rows, 0: rows} if rows else plan.rows
    wider = Placed(np.array(x), level, depth, np.array(row, np.int64), by_level, plan.cell)
    return wider, guests


NO_GUESTS: Final[Mapping[int, int]] = {}


def _settled_levels(
    by_plan: Sequence[int | None],
    parents: list[list[int]],
    true: list[int],
    plan: Placed,
    *,
    above: bool,
) -> list[int]:
    """Return the band of each node: roots in the first, and as many others as can be at home.

    ``by_plan`` are the places that a plan has for nodes, and ``true`` their own levels. The first
    band may be a new one ``above``.
    """
    count = len(by_plan)
    own = [0 if place is None else int(plan.level[place]) for place in by_plan]
    # The band that each is in without those that are not in the plan: what hangs from these alone
    # would be a root.
    home = [
        own[node] if any(by_plan[each] is not None for each in parents[node]) else 0
        for node in range(count)
    ]
    order = sorted(range(count), key=true.__getitem__)

    def levels_from(top: int, least: Sequence[int]) -> list[int]:
        """Return the levels when that of roots is ``top``, and the others have a least one."""
        found = [top] * count
        for node in order:
            if parents[node]:
                above = [found[each] + 1 for each in parents[node] if true[each] < true[node]]
                found[node] = max(*above, top + 1, least[node])
        return found

    def displaced(found: Sequence[int]) -> int:
        return sum(
            place is not None and found[node] != home[node] for node, place in enumerate(by_plan)
        )

    level = levels_from(0, own)
    if None not in by_plan or not above:
        return level
    raised = levels_from(-1, home)
    return raised if displaced(raised) < displaced(level) else level


class _Room:
    """The places of a plan that nobody has taken, by level, and further ones where a band is full.

    A band that is full gets longer rows. If it ``grows``, it gets another row where that moves few,
    since nearly all is above it, or where its rows would be much longer than any.
    """

    def __init__(self, plan: Placed, *, grows: bool) -> None:
        self._grows = grows
        self._across = plan.cell.across
        self._columns = plan.columns()
        self._longest = float(plan.x.max()) if len(plan.x) else 0.0
        self._longest += _LONGER * self._across
        self.rows = dict(plan.rows)
        #: Where each place is across, and its row.
        self.at = list(zip(plan.x.tolist(), plan.row.tolist(), strict=True))
        self.free: dict[int, dict[int, None]] = {}
        self._ends: dict[tuple[int, int], float] = {}
        by_level = np.sort(plan.level)
        #: The level that all but a few places are above, or in.
        self._low = by_level[int((1 - _FEW_BELOW) * len(by_level))] if len(by_level) else 0
        for place, level in enumerate(plan.level.tolist()):
            self.free.setdefault(level, {})[place] = None
            across, row = self.at[place]
            self._ends[level, row] = max(self._ends.get((level, row), 0.0), across)

    def has(self, place: int, level: int) -> bool:
        """Return whether a place is in the band of a level, and nobody has it."""
        return place in self.free.get(level, ())

    def take(self, place: int, level: int) -> tuple[float, int]:
        """Take a place; return where it is across, and its row."""
        del self.free[level][place]
        return self.at[place]

    def nearest(self, level: int, wish: float) -> tuple[float, int]:
        """Take the place of a band that is nearest to a wish; make one, if there is none."""
        here = self.free.get(level) or self._added_row(level)
        if here:
            best = min(here, key=lambda each: (abs(self.at[each][0] - wish), each))
            return self.take(best, level)
        line = self._shortest(level)
        end = self._ends.get(line)
        self._ends[line] = wish if end is None else max(end + self._across, 0.0)
        return self._ends[line], line[1]

    def _shortest(self, level: int) -> tuple[int, int]:
        lines = ((level, each) for each in range(self.rows.setdefault(level, 1)))
        return min(lines, key=lambda each: self._ends.get(each, -1.0))

    def _added_row(self, level: int) -> dict[int, None]:
        """Return the places of a further row; none where the rows that there are may be longer."""
        row = self.rows.get(level, 0)
        if not self._grows:
            return {}
        if row and level < self._low:
            end = self._ends.get(self._shortest(level), 0.0)
            if end + self._across <= self._longest:
                return {}
        first = len(self.at)
        self.at += ((column * self._across, row) for column in range(self._columns))
        self.rows[level] = row + 1
        self._ends[level, row] = (self._columns - 1) * self._across
        self.free[level] = dict.fromkeys(range(first, len(self.at)))
        return self.free[level]


#: By how many boxes a row may get longer before there is another one: the middle of the view, and
#: with it all that is seen, moves by half of it. And the part of the places that are few.
_LONGER: Final = 1.5
_FEW_BELOW: Final = 0.05


def settled(
    numbers: Sequence[int],
    edges: Edges,
    plan: Placed,
    planned: Mapping[int, int],
    guests: Mapping[int, int] = NO_GUESTS,
    *,
    grows: bool = False,
) -> Placed:
    """Return places for the nodes of one step, as far as possible those that a plan has for them.

    ``planned`` says which place of the plan is whose, by number, and ``guests`` which place of the
    root band a node has while it is a root. A node is in the band that the plan has for it; a root
    is in the first, and no child is above a parent. One that is in another band than planned, or
    not in the plan, takes the nearest place there that nobody else needs now. When a root that is
    not in the plan covers most of the others, the roots have a new band above, of level -1, and
    what they cover stays. O(nodes × places of a band) at worst.

    A plan that ``grows`` is the next plan: without a band above, with further rows where one is
    full, and after the places of its nodes it keeps those that are free.

    >>> plan = arranged(3, [(0, 1), (1, 2)], Cell.of(88, 40, 1.5))
    >>> settled([7, 9], [(0, 1)], plan, {7: 0, 8: 1, 9: 2}).level.tolist()
    [0, 2]
    """
    count = len(numbers)
    children, parents = _links(count, edges)
    true = layers(children, parents)
    by_plan = [planned.get(number) for number in numbers]
    level = _settled_levels(by_plan, parents, true, plan, above=not grows)
    room = _Room(plan, grows=grows)
    x, row = np.zeros(count), np.zeros(count, dtype=np.int64)
    done = [False] * count
    # Who is where it is planned comes first: edits by hand can make a guest stay for longer.
    for places in (planned, guests):
        for node, number in enumerate(numbers):
            mine = places.get(number)
            if not done[node] and mine is not None and room.has(mine, level[node]):
                x[node], row[node] = room.take(mine, level[node])
                done[node] = True

    def wish_of(node: int) -> float:
        """Return where a node would best be across: as planned, or beside its neighbours."""
        place = guests.get(numbers[node], by_plan[node])
        if place is not None:
            return float(plan.x[place])
        near = [x[each] for each in (*parents[node], *children[node]) if done[each]]
        return float(np.mean(near)) if near else 0.0

    raised = [node for node in range(count) if level[node] < 0]
    if raised:
        room.rows[-1] = 1
        wishes = np.array([wish_of(node) for node in raised])
        by_wish = np.argsort(wishes, kind="stable")
        x[np.array(raised)[by_wish]] = _apart(wishes[by_wish], plan.cell.across, math.inf)
        for node in raised:
            done[node] = True
    others = [node for node in range(count) if not done[node]]
    for node in sorted(others, key=numbers.__getitem__):
        x[node], row[node] = room.nearest(level[node], wish_of(node))
        done[node] = True
    left = [(each, room.at[place]) for each in room.free for place in room.free[each]]
    left = left if grows else []
    levels, depth = (
        np.array([*own, *(each for each, _ in left)], dtype=np.int64) for own in (level, true)
    )
    x = np.array([*x, *(at for _, (at, _) in left)], dtype=np.float64)
    row = np.array([*row, *(line for _, (_, line) in left)], dtype=np.int64)
    return Placed(x, levels, depth, row, room.rows, plan.cell)
