"""A run as plain data: what was done, in order, and how many deliveries were made in between."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from typing import Any, Final

import networkx as nx

from posetlib.errors import SnapshotError
from posetlib.filters.filter import Filter
from posetlib.simulation.topology import Tree
from posetlib.tables import FILTERS
from posetlib.values import element_key

__all__ = ["Recorder", "operations_of", "options_of"]

FORMAT: Final = "posetlib-run"
VERSION: Final = 1

#: The arguments of each operation: names of clients and brokers, filters, notifications, counts.
_ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "attach": ("name", "name"),
    "detach": ("name",),
    "subscribe": ("name", "filter"),
    "unsubscribe": ("name", "filter"),
    "replace": ("name", "filter", "filter"),
    "advertise": ("name", "filter"),
    "unadvertise": ("name", "filter"),
    "publish": ("name", "notification"),
    "break_link": ("name", "name"),
    "heal_link": ("name", "name"),
    "deliver": ("name", "name"),
    "steps": ("count",),
}
_OPTIONS: Final = ("algorithm", "advertisements", "seed", "table", "forwards", "master", "max_loss")


class Recorder:
    """Collects the operations of a run; O(1) each."""

    def __init__(self) -> None:
        self._operations: list[tuple[Any, ...]] = []

    def add(self, name: str, *arguments: Any) -> None:
        """Note an operation that was done."""
        self._operations.append((name, *arguments))

    def step(self) -> None:
        """Note a delivery that the seed chose."""
        last = self._operations[-1] if self._operations else None
        if last is not None and last[0] == "steps":
            self._operations[-1] = ("steps", last[1] + 1)
        else:
            self._operations.append(("steps", 1))

    def as_data(self, tree: Tree, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the run as data for JSON."""
        filters = [each for row in self._operations for each in row if isinstance(each, Filter)]
        points = options["rendezvous"]
        filters += [each for types in points.values() for each in types]
        return {
            "format": FORMAT,
            "version": VERSION,
            **FILTERS.context_of(filters),
            "brokers": [_name(each) for each in tree.brokers],
            "links": [[_name(one), _name(other)] for one, other in tree.edges],
            "options": {
                **{each: options[each] for each in _OPTIONS},
                "rendezvous": [
                    [_name(point), [str(each) for each in types]] for point, types in points.items()
                ],
                "domains": _domains(options["domains"]),
            },
            "operations": [_row(each) for each in self._operations],
        }


def _row(operation: tuple[Any, ...]) -> list[Any]:
    name, *arguments = operation
    write: dict[str, Callable[[Any], Any]] = {
        "name": _name,
        "filter": str,
        "notification": _plain,
        "count": int,
    }
    kinds = _ARGUMENTS[name]
    return [name, *(write[kind](each) for kind, each in zip(kinds, arguments, strict=True))]


def _name(name: Hashable) -> str | int:
    if isinstance(name, str) or type(name) is int:
        return name
    raise ValueError(
        f"{name!r} cannot be recorded: the names of brokers and clients must be strings or integers"
    )


def _plain(value: Any) -> Any:
    """Return a value of a notification as JSON has it; a set as a sorted list, which means it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Set):
        return [_plain(each) for each in sorted(value, key=element_key)]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{value!r} cannot be recorded: JSON has no such value")


def _domains(domains: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if domains is None:
        return None
    return {
        name: list(each) if isinstance(each, tuple) else {"values": _plain(set(each))}
        for name, each in domains.items()
    }


# -- reading ---------------------------------------------------------------------------------------


def options_of(record: Any) -> tuple[Any, dict[str, Any]]:
    """Return the graph of a recorded run, and the options of its network."""
    if not isinstance(record, Mapping) or record.get("format") != FORMAT:
        raise SnapshotError(f"not a run: the format is not {FORMAT!r}")
    if record.get("version") != VERSION:
        raise SnapshotError(
            f"the version is {record.get('version')!r}; this library reads version {VERSION}"
        )
    read = FILTERS.reader_for(record)
    try:
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(record["brokers"])
        graph.add_edges_from(record["links"])
        given = record["options"]
        options = {each: given[each] for each in _OPTIONS}
        options["rendezvous"] = {
            point: tuple(map(read, types)) for point, types in given["rendezvous"]
        }
        domains = given["domains"]
        if domains is not None:
            domains = {
                name: set(each["values"]) if isinstance(each, dict) else tuple(each)
                for name, each in domains.items()
            }
        options["domains"] = domains
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotError(f"the run does not say which network it is of: {error!r}") from error
    return graph, options


def operations_of(record: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the operations of a recorded run, by name, with filters read."""
    read = FILTERS.reader_for(record)
    operations = record.get("operations")
    if not isinstance(operations, list):
        raise SnapshotError('"operations" is missing, or is not a list')
    for i, row in enumerate(operations):
        kinds = _ARGUMENTS.get(row[0]) if isinstance(row, list) and row else None
        if kinds is None or len(row) != len(kinds) + 1:
            raise SnapshotError(f"operations[{i}]: {row!r} is no operation of a network")
        try:
            yield (
                row[0],
                [
                    read(each) if kind == "filter" else each
                    for kind, each in zip(kinds, row[1:], strict=True)
                ],
            )
        except (TypeError, ValueError) as error:
            raise SnapshotError(f"operations[{i}]: {error}") from error
