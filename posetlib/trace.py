"""A recorded sequence of operations, to be replayed into any table, forwards and backwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from posetlib.change import Change, Item
from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import FilterError, SnapshotError
from posetlib.filter_relation import hierarchy_of
from posetlib.journal import Journal
from posetlib.parsing import parse_filter
from posetlib.structures.base import Table

__all__ = ["Operation", "Player", "Trace"]

FORMAT: Final = "posetlib-trace"
VERSION: Final = 1
#: The operations that a trace may hold: methods of tables.
OPERATIONS: Final = ("add", "remove", "discard", "remove_covered", "drop_interface")


class Operation(NamedTuple):
    """One step of a trace; ``item`` is None for ``drop_interface``."""

    name: str
    item: Item | None
    interface: Hashable

    def __str__(self) -> str:
        if self.name == "drop_interface":
            return f"drop interface {self.interface}"
        return f"{self.name.replace('_', ' ')} {self.item} ({self.interface})"


class Trace:
    """Operations in order; written by hand, by ``follow``, or read from JSON.

    >>> from posetlib.structures import PosetForest
    >>> trace = Trace()
    >>> trace.add(frozenset("ab"), "I1")
    >>> trace.add(frozenset("abc"), "I2")
    >>> player = trace.player(PosetForest(covers=frozenset.issuperset))
    >>> for change in player:
    ...     print(len(change.roots_added), len(change.roots_removed))
    1 0
    1 1
    >>> len(player.back().roots_removed), len(player.table)
    (1, 1)
    """

    def __init__(self, operations: Iterable[Operation] = ()) -> None:
        self.operations: list[Operation] = [Operation(*each) for each in operations]

    # -- recording ---------------------------------------------------------------------------------

    def add(self, item: Item, interface: Hashable) -> None:
        """Record an add."""
        self.operations.append(Operation("add", item, interface))

    def remove(self, item: Item, interface: Hashable) -> None:
        """Record a removal; replayed, it takes the pair if it is there."""
        self.operations.append(Operation("remove", item, interface))

    def discard(self, item: Item, interface: Hashable) -> None:
        """Record a removal of what may not be there."""
        self.operations.append(Operation("discard", item, interface))

    def remove_covered(self, item: Item, interface: Hashable) -> None:
        """Record the removal of all that an item covers."""
        self.operations.append(Operation("remove_covered", item, interface))

    def drop_interface(self, interface: Hashable) -> None:
        """Record the end of an interface."""
        self.operations.append(Operation("drop_interface", None, interface))

    @classmethod
    def follow(cls, table: Table) -> tuple[Trace, Callable[[], None]]:
        """Record every operation on a table from now on; returns the trace, and what stops it."""
        trace = cls()

        def observe(operation: tuple[str, tuple[Any, ...]], _change: Change) -> None:
            name, arguments = operation
            if name == "undo":
                trace.operations.pop()
            elif name == "drop_interface":
                trace.drop_interface(*arguments)
            else:
                trace.operations.append(Operation(name, *arguments))

        return trace, table._observe(observe)

    # -- replaying ---------------------------------------------------------------------------------

    def replay(self, table: Table) -> list[Change]:
        """Do all operations on a table; returns the change of each."""
        return [_run(table, operation)[0] for operation in self.operations]

    def player(self, table: Table) -> Player:
        """Return what steps through the operations on a table, which it then has for itself."""
        return Player(self, table)

    def __len__(self) -> int:
        return len(self.operations)

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    def __getitem__(self, position: int) -> Operation:
        return self.operations[position]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        return self.operations == other.operations

    __hash__ = None  # type: ignore[assignment]  # a trace grows

    def __repr__(self) -> str:
        return f"<Trace: {len(self.operations)} operations>"

    # -- text --------------------------------------------------------------------------------------

    def to_json(self, encode: Callable[[Item], str] = str) -> str:
        """Return the trace as JSON; ``encode`` writes items that are not filters."""
        data: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        try:
            types = hierarchy_of(each.item for each in self.operations)
        except FilterError as error:
            raise SnapshotError(f"filters of two hierarchies: {error}") from None
        if types is not None:
            data["types"] = types.to_dict()
        steps = []
        for name, item, interface in self.operations:
            if not isinstance(interface, str):
                raise SnapshotError(f"interfaces in a file are strings, not {interface!r}")
            text = {} if name == "drop_interface" else {"filter": encode(item)}
            steps.append({"operation": name, **text, "interface": interface})
        return json.dumps(data | {"steps": steps}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, decode: Callable[[str], Item] | None = None) -> Trace:
        """Read what ``to_json`` wrote; SnapshotError says what is wrong with anything else."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise SnapshotError(f"not JSON: {error}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise SnapshotError(f"no trace: the format is not {FORMAT!r}")
        if data.get("version") != VERSION or isinstance(data.get("version"), bool):
            raise SnapshotError(
                f"the version is {data.get('version')!r}; this library reads version {VERSION}"
            )
        types = None
        if "types" in data:
            try:
                types = TypeHierarchy(data["types"])
            except (FilterError, TypeError, AttributeError) as error:
                raise SnapshotError(f'"types" is no hierarchy: {error}') from None
        steps = data.get("steps")
        if not isinstance(steps, list):
            raise SnapshotError('a trace has a list of "steps"')
        if decode is None:

            def decode(text: str) -> Item:
                return parse_filter(text, types=types)

        known: dict[str, Item] = {}
        return cls([_read_step(i, step, decode, known) for i, step in enumerate(steps)])


def _read_step(
    number: int, step: object, decode: Callable[[str], Item], known: dict[str, Item]
) -> Operation:
    if not isinstance(step, dict):
        raise SnapshotError(f"step {number} is no object")
    name, text, interface = step.get("operation"), step.get("filter"), step.get("interface")
    if name not in OPERATIONS:
        raise SnapshotError(f"step {number}: unknown operation {name!r}")
    if not isinstance(interface, str):
        raise SnapshotError(f"step {number}: the interface is a string, not {interface!r}")
    if name == "drop_interface":
        return Operation(name, None, interface)
    if not isinstance(text, str):
        raise SnapshotError(f"step {number}: the filter is text, not {text!r}")
    if text not in known:
        # The same filter comes at least twice if it is removed: read it once.
        try:
            known[text] = decode(text)
        except (ValueError, KeyError) as error:
            raise SnapshotError(
                f"step {number}: cannot read the filter {text!r}: {error}"
            ) from error
    return Operation(name, known[text], interface)


def _run(table: Table, operation: Operation) -> tuple[Change, Journal]:
    """Do one operation. A removal is of what may not be there: tables eliminate differently."""
    name, item, interface = operation
    if name == "drop_interface":
        return table._run((name, (interface,)))
    return table._run(("discard" if name == "remove" else name, (item, interface)))


class Player:
    """Steps through a trace on a table, forwards and backwards.

    Going back undoes: the table is then what it was, order and shape included, and no test is made.
    For that the steps of each operation are kept, so memory grows with all that was changed.
    Nobody else may change the table meanwhile: RuntimeError.
    """

    def __init__(self, trace: Trace, table: Table) -> None:
        self.trace = trace
        self.table = table
        self._done: list[tuple[Operation, Change, Journal]] = []
        self._version = table._version

    @property
    def position(self) -> int:
        """How many operations have been done."""
        return len(self._done)

    def forward(self) -> Change:
        """Do the next operation; IndexError at the end."""
        self._look()
        operation = self.trace.operations[len(self._done)]
        change, journal = _run(self.table, operation)
        self._done.append((operation, change, journal))
        self._version = self.table._version
        return change

    def back(self) -> Change:
        """Take the last operation back, and return that as a change; IndexError at the start."""
        self._look()
        operation, change, journal = self._done.pop()
        inverse = self.table._undo((operation.name, tuple(operation[1:])), change, journal)
        self._version = self.table._version
        return inverse

    def seek(self, position: int) -> None:
        """Go to a position: 0 is the start, ``len(trace)`` the end."""
        if not 0 <= position <= len(self.trace):
            raise IndexError(f"position {position} is not within 0..{len(self.trace)}")
        while self.position < position:
            self.forward()
        while self.position > position:
            self.back()

    def change(self, position: int) -> Change:
        """Return the change of an operation that has been done, by its number from 0."""
        return self._done[position][1]

    def __iter__(self) -> Iterator[Change]:
        while self.position < len(self.trace):
            yield self.forward()

    def _look(self) -> None:
        if self.table._version != self._version:
            raise RuntimeError("the table was changed by someone else than its player")

    def __repr__(self) -> str:
        return f"<Player: {self.position} of {len(self.trace)} operations on {self.table!r}>"
