"""A recorded sequence of operations, to be replayed into any table, forwards and backwards."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, Generic

from posetlib.errors import SnapshotError
from posetlib.graph.change import Change
from posetlib.graph.journal import Journal
from posetlib.search.relation import Relation
from posetlib.tables.filter_relation import FILTERS
from posetlib.tables.item_type import ItemT
from posetlib.tables.operation import OPERATIONS, Operation
from posetlib.tables.table import Table

__all__ = ["Player", "Trace"]

FORMAT: Final = "posetlib-trace"
VERSION: Final = 1
#: What a file says of a trace in every language; the rest is the relation's.
_COMMON: Final = frozenset({"format", "version", "steps"})


class Trace(Generic[ItemT]):
    """Operations in order; written by hand, by ``follow``, or read from JSON.

    >>> from posetlib import PosetForest
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

    def __init__(
        self, operations: Iterable[Operation] = (), relation: Relation[ItemT] | None = None
    ) -> None:
        self.operations: list[Operation] = [Operation(*each) for each in operations]
        #: The language of the items: that of filters if none is given.
        self.relation: Relation[Any] = FILTERS if relation is None else relation

    # -- recording ---------------------------------------------------------------------------------

    def add(self, item: ItemT, interface: Hashable) -> None:
        """Record an add."""
        self.operations.append(Operation("add", item, interface))

    def remove(self, item: ItemT, interface: Hashable) -> None:
        """Record a removal; replayed, it takes the pair if it is there."""
        self.operations.append(Operation("remove", item, interface))

    def discard(self, item: ItemT, interface: Hashable) -> None:
        """Record a removal of what may not be there."""
        self.operations.append(Operation("discard", item, interface))

    def remove_covered(self, item: ItemT, interface: Hashable) -> None:
        """Record the removal of all that an item covers."""
        self.operations.append(Operation("remove_covered", item, interface))

    def drop_interface(self, interface: Hashable) -> None:
        """Record the end of an interface."""
        self.operations.append(Operation("drop_interface", None, interface))

    @classmethod
    def follow(cls, table: Table[ItemT]) -> tuple[Trace[ItemT], Callable[[], None]]:
        """Record every operation on a table from now on; returns the trace and a stop function."""
        trace = cls(relation=table._relation)

        def observe(operation: Operation, undone: bool, _change: Change[Any]) -> None:
            recorded = operation.single()
            if not undone:
                trace.operations += recorded
            elif recorded:
                del trace.operations[-len(recorded) :]

        return trace, table._observe(observe)

    # -- replaying ---------------------------------------------------------------------------------

    def replay(self, table: Table[ItemT]) -> list[Change[ItemT]]:
        """Do all operations on a table; returns the change of each."""
        return [_run(table, operation)[0] for operation in self.operations]

    def player(self, table: Table[ItemT]) -> Player[ItemT]:
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

    def to_json(self, encode: Callable[[ItemT], str] | None = None) -> str:
        """Return the trace as JSON; ``encode`` writes items otherwise than their relation."""
        encode = encode or self.relation.write
        items = (each.item for each in self.operations if each.item is not None)
        data = {"format": FORMAT, "version": VERSION, **self.relation.context_of(items)}
        steps = []
        for name, item, interface in self.operations:
            if not isinstance(interface, str):
                raise SnapshotError(f"interfaces in a file are strings, not {interface!r}")
            text = {} if name == "drop_interface" else {"filter": encode(item)}
            steps.append({"operation": name, **text, "interface": interface})
        return json.dumps(data | {"steps": steps}, ensure_ascii=False)

    def to_csv(self, encode: Callable[[ItemT], str] | None = None) -> str:
        r"""Return a row for each operation: operation, filter, interface.

        >>> trace = Trace()
        >>> trace.drop_interface("I1")
        >>> trace.to_csv()
        'operation,filter,interface\r\ndrop_interface,,I1\r\n'
        """
        encode = encode or self.relation.write
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow(["operation", "filter", "interface"])
        for name, item, interface in self.operations:
            text = "" if name == "drop_interface" else encode(item)
            writer.writerow([name, text, interface])
        return out.getvalue()

    @classmethod
    def from_json(
        cls,
        text: str | bytes,
        decode: Callable[[str], Any] | None = None,
        *,
        relation: Relation[Any] = FILTERS,
    ) -> Trace[Any]:
        """Read what ``to_json`` wrote; SnapshotError says what is wrong with anything else.

        ``relation`` is the language of the items, ``decode`` reads them otherwise than it does.
        """
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
        steps = data.get("steps")
        if not isinstance(steps, list):
            raise SnapshotError('a trace has a list of "steps"')
        if decode is None:
            context = {key: value for key, value in data.items() if key not in _COMMON}
            decode = relation.reader_for(context)
        known: dict[str, Any] = {}
        read = [_read_step(i, step, decode, known) for i, step in enumerate(steps)]
        return cls(read, relation=relation)


def _read_step(
    number: int, step: object, decode: Callable[[str], Any], known: dict[str, Any]
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


def _run(table: Table[Any], operation: Operation) -> tuple[Change[Any], Journal]:
    """Do one operation; a removal of a pair that is not there is ignored.

    Tables eliminate differently, so what one of them holds may be absent in another one.
    """
    if operation.name == "remove":
        operation = operation._replace(name="discard")
    return table._run(operation)


class Player(Generic[ItemT]):
    """Steps through a trace on a table, forwards and backwards.

    Going back undoes: the table is then what it was, order and shape included, and no test is made.
    For that the steps of each operation are kept, so memory grows with all that was changed.
    Nobody else may change the table meanwhile: RuntimeError.
    """

    def __init__(self, trace: Trace[ItemT], table: Table[ItemT]) -> None:
        self.trace = trace
        self.table = table
        self._done: list[tuple[Operation, Change[ItemT], Journal]] = []
        self._version = table._version

    @property
    def position(self) -> int:
        """How many operations have been done."""
        return len(self._done)

    def forward(self) -> Change[ItemT]:
        """Do the next operation; IndexError at the end."""
        self._look()
        operation = self.trace.operations[len(self._done)]
        change, journal = _run(self.table, operation)
        self._done.append((operation, change, journal))
        self._version = self.table._version
        return change

    def back(self) -> Change[ItemT]:
        """Take the last operation back, and return that as a change; IndexError at the start."""
        self._look()
        operation, change, journal = self._done.pop()
        inverse = self.table._undo(operation, change, journal)
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

    def change(self, position: int) -> Change[ItemT]:
        """Return the change of an operation that has been done, by its number from 0."""
        return self._done[position][1]

    def __iter__(self) -> Iterator[Change[ItemT]]:
        while self.position < len(self.trace):
            yield self.forward()

    def _look(self) -> None:
        if self.table._version != self._version:
            raise RuntimeError("the table was changed by someone else than its player")

    def __repr__(self) -> str:
        return f"<Player: {self.position} of {len(self.trace)} operations on {self.table!r}>"
