"""A run as plain data: what was done, in order, and how many deliveries were made in between."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from typing import Any, Final

from posetlib.errors import SnapshotError
from posetlib.models import Document, read_documents, xml_value
from posetlib.routing.languages import FILTER_LANGUAGE, LANGUAGES
from posetlib.simulation.topology import Tree
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
    "leave": ("name", "word", "place"),
    "arrive": ("name", "name", "word"),
    "deliver": ("name", "name"),
    "deliver_direct": ("name", "name"),
    "wait": ("moment",),
    "steps": ("count",),
}
_OPTIONS: Final = ("algorithm", "advertisements", "seed", "table", "forwards", "master", "max_loss")
#: The option that names the language; a run from before there were several has none.
_LANGUAGE: Final = "language"
#: The attribute that edges have in a network made from a record.
_DELAY: Final = "delay"


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

    def as_data(
        self,
        tree: Tree,
        options: Mapping[str, Any],
        delays: Mapping[tuple[Hashable, Hashable], float] | None = None,
    ) -> dict[str, Any]:
        """Return the run as data for JSON."""
        timed = {}
        if delays is not None:
            timed = {
                "delays": [delays[each] for each in tree.edges],
                "processing": options["processing"],
            }
        language = LANGUAGES[options[_LANGUAGE]]
        filters = [
            each for row in self._operations for each in row if isinstance(each, language.item)
        ]
        points = options["rendezvous"]
        filters += [each for types in points.values() for each in types]
        return {
            "format": FORMAT,
            "version": VERSION,
            **language.relation.context_of(filters),
            "brokers": [_name(each) for each in tree.brokers],
            "links": [[_name(one), _name(other)] for one, other in tree.edges],
            **timed,
            "options": {
                **{each: options[each] for each in (*_OPTIONS, _LANGUAGE)},
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
        "word": _same,
        "place": lambda place: place if place is None else _name(place),
        "moment": float,
    }
    kinds = _ARGUMENTS[name]
    return [name, *(write[kind](each) for kind, each in zip(kinds, arguments, strict=True))]


def _same(value: Any) -> Any:
    return value


def _name(name: Hashable) -> str | int:
    if isinstance(name, str) or type(name) is int:
        return name
    raise ValueError(
        f"{name!r} cannot be recorded: the names of brokers and clients must be strings or integers"
    )


def _plain(value: Any) -> Any:
    """Return a value of a notification as JSON has it; a set as a sorted list, which means it."""
    if isinstance(value, Document):
        return xml_value(value)
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
    import networkx as nx  # noqa: PLC0415 - a tenth of a second that most callers never need

    read = _reader_for(record)
    try:
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(record["brokers"])
        graph.add_edges_from(record["links"])
        if "delays" in record:
            for (one, other), delay in zip(record["links"], record["delays"], strict=True):
                graph.edges[one, other][_DELAY] = delay
        given = record["options"]
        options = {each: given[each] for each in _OPTIONS}
        options[_LANGUAGE] = given.get(_LANGUAGE, FILTER_LANGUAGE.name)
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
        if "delays" in record:
            options.update(delays=_DELAY, processing=record["processing"])
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotError(f"the run does not say which network it is of: {error!r}") from error
    return graph, options


def _reader_for(record: Mapping[str, Any]) -> Callable[[str], Any]:
    options = record.get("options")
    name = options.get(_LANGUAGE) if isinstance(options, Mapping) else None
    language = LANGUAGES.get(name or FILTER_LANGUAGE.name)
    if language is None:
        raise SnapshotError(f"the language {name!r} is not known")
    return language.relation.reader_for(record)


def operations_of(record: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the operations of a recorded run, by name, with filters read."""
    read = _reader_for(record)
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
                    read(each) if kind == "filter" else _read(kind, each)
                    for kind, each in zip(kinds, row[1:], strict=True)
                ],
            )
        except (TypeError, ValueError) as error:
            raise SnapshotError(f"operations[{i}]: {error}") from error


def _read(kind: str, value: Any) -> Any:
    return read_documents(value) if kind == "notification" and isinstance(value, dict) else value
