"""The state of a router as JSON, and back; read with no trust in what is read.

The tables are written as snapshots, so that a restored router has tables of the same shape, and
goes on exactly as the one that was saved. What neighbours were sent follows from the tables; only
mergers and counts, which depend on the order of the updates, are written beside them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from posetlib.errors import SnapshotError
from posetlib.filters.filter import Filter
from posetlib.routing.exchange import LOCAL, Exchange, SimpleExchange
from posetlib.routing.languages import FILTER_LANGUAGE, LANGUAGES
from posetlib.routing.outgoing_merging import Row
from posetlib.search.relation import Relation
from posetlib.tables import Snapshot, Table

if TYPE_CHECKING:
    from posetlib.routing.router import Router

__all__ = ["RouterState", "read_state", "write_state"]

FORMAT: Final = "posetlib-router"
VERSION: Final = 1

#: Writes a filter as text, and reads it.
_Read = Callable[[str], Filter]


# -- writing ---------------------------------------------------------------------------------------


def write_state(router: Router, exchanges: Mapping[str, Exchange]) -> str:
    """Return all that a router knows, as JSON; SnapshotError if a name in it is no string."""
    options = dict(router.options)
    options["rendezvous"] = [
        [to, [str(each) for each in types]] for to, types in options["rendezvous"].items()
    ]
    options["domains"] = _domains_as_json(options["domains"])
    for name in router.neighbours:
        _check_name(name)
    items = [item for each in exchanges.values() for item in _items(each)]
    items += [each for types in router.options["rendezvous"].values() for each in types]
    # A neighbour's filter may be leased and not be held: another one of its own covers it.
    leased = router.leases.remaining()
    items += [item for _, item, _ in leased]
    items += [item for item, _, _ in router.pins]
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "options": options,
            "neighbours": list(router.neighbours),
            "dropped": router.dropped,
            **router.language.relation.context_of(items),
            "exchanges": {name: _write_exchange(each) for name, each in exchanges.items()},
            "leases": [
                [kind, str(item), source, left] for (kind, item, source), left in leased.items()
            ],
            "pins": [[str(item), to, _key_as_json(key)] for item, to, key in router.pins],
        },
        ensure_ascii=False,
    )


def _items(exchange: Exchange) -> list[Filter]:
    merged = [each for merger in exchange.mergers.values() for each in merger.merged()]
    return [*exchange.local, *exchange.table, *merged]


def _write_exchange(exchange: Exchange) -> dict[str, Any]:
    data: dict[str, Any] = {
        "local": exchange.local.snapshot().to_dict(),
        "table": exchange.table.snapshot().to_dict(),
    }
    if exchange.mergers:
        data["mergers"] = {
            neighbour: [
                [str(one), list(map(str, components)), list(map(str, covered)), loss]
                for one, components, covered, loss in merger.rows()
            ]
            for neighbour, merger in exchange.mergers.items()
        }
    if isinstance(exchange, SimpleExchange):
        data["counts"] = [
            [str(item), neighbour, count] for item, neighbour, count in exchange.counts()
        ]
    return data


def _check_name(name: Hashable) -> None:
    if not isinstance(name, str):
        raise SnapshotError(f"names in a file are strings, not {name!r} ({type(name).__name__})")


def _key_as_json(key: Hashable) -> Any:
    """Return the key of a pin as JSON: a string or a number, or a tuple of these as a list."""
    if isinstance(key, tuple):
        return [_key_as_json(each) for each in key]
    if isinstance(key, str | int):
        return key
    raise SnapshotError(f"the key of a pin in a file is text, number or tuple, not {key!r}")


def _domains_as_json(domains: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return domains with pairs of ends as lists, and collections of values in an object."""
    if domains is None:
        return None
    return {
        name: list(each) if isinstance(each, tuple) else {"values": sorted(each, key=repr)}
        for name, each in domains.items()
    }


# -- reading ---------------------------------------------------------------------------------------


class RouterState:
    """What a file says of a router, checked as far as it can be without the router."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        options = dict(_part(data, "options", dict))
        # A file from before there were several languages names none.
        language = LANGUAGES.get(options.get("language", FILTER_LANGUAGE.name))
        if language is None:
            raise SnapshotError(f"the language {options['language']!r} is not known")
        read = language.relation.reader_for(data)
        self._read: _Read = lambda text: _filter(text, read)
        options["rendezvous"] = {
            to: tuple(map(self._read, types)) for to, types in _pairs(options, "rendezvous")
        }
        domains = options.get("domains")
        if domains is not None:
            options["domains"] = {
                name: set(each["values"]) if isinstance(each, dict) else tuple(each)
                for name, each in _part(options, "domains", dict).items()
            }
        self.options: Final[dict[str, Any]] = options
        self.neighbours: Final[list[str]] = _part(data, "neighbours", list)
        self.dropped: Final[int] = data.get("dropped", 0)

    def tables(self, relation: Relation[Filter]) -> dict[str, tuple[Table[Filter], Table[Filter]]]:
        """Return the local and the external table of each exchange."""
        found = {}
        for name, each in _part(self._data, "exchanges", dict).items():
            pair = []
            for which in ("local", "table"):
                snapshot = Snapshot.from_dict(_part(each, which, dict), relation=relation)
                pair.append(snapshot.restore())
            found[name] = (pair[0], pair[1])
        return found

    def fill(self, name: str, exchange: Exchange) -> None:
        """Give an exchange what does not follow from its tables."""
        self._check_holders(name, exchange)
        data = self._data["exchanges"][name]
        for neighbour, rows in data.get("mergers", {}).items():
            try:
                exchange.merger(neighbour).restore([self._row(row) for row in rows])
            except (TypeError, ValueError) as error:
                raise SnapshotError(f"{name}: the mergers for {neighbour!r}: {error}") from None
        if isinstance(exchange, SimpleExchange):
            exchange.restore_counts(
                (self._read(text), neighbour, count)
                for text, neighbour, count in _part(data, "counts", list)
            )

    def _row(self, row: list[Any]) -> Row:
        """Return a group of merged filters; a file of two columns has no covered ones, no loss."""
        one, components, covered, loss = row if len(row) == 4 else (*row, [], None)
        read = self._read
        return read(one), tuple(map(read, components)), tuple(map(read, covered)), loss

    def _check_holders(self, name: str, exchange: Exchange) -> None:
        known = {*self.neighbours, LOCAL}
        for holder in exchange.table._links.holders:
            if holder not in known:
                raise SnapshotError(
                    f"{name}: the table has filters of {holder!r}, which is not a neighbour"
                )
        for holder in exchange.local._links.holders:
            if holder in known:
                raise SnapshotError(f"{name}: {holder!r} is a neighbour and a local client")

    def pins(self) -> Iterable[tuple[Filter, str, Hashable]]:
        """Yield filter, neighbour and key of each pin; a file from before there were any has none.

        SnapshotError for a pin at somebody who is not a neighbour.
        """
        for text, neighbour, key in self._data.get("pins", ()):
            if neighbour not in self.neighbours:
                raise SnapshotError(f"a filter is pinned for {neighbour!r}, which is no neighbour")
            yield self._read(text), neighbour, _key_from_json(key)

    def leases(self) -> Iterable[tuple[str, Filter, str, float]]:
        """Yield kind, filter, source and the seconds left of each lease."""
        for kind, text, source, left in _part(self._data, "leases", list):
            yield kind, self._read(text), source, left


def _key_from_json(key: Any) -> Hashable:
    return tuple(map(_key_from_json, key)) if isinstance(key, list) else key


def read_state(text: str | bytes) -> RouterState:
    """Read what ``write_state`` wrote; SnapshotError says what is wrong with anything else."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise SnapshotError(f"not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SnapshotError(f"not a router: the format is not {FORMAT!r}")
    if data.get("version") != VERSION:
        raise SnapshotError(
            f"the version is {data.get('version')!r}; this library reads version {VERSION}"
        )
    return RouterState(data)


def _part(data: Mapping[str, Any], key: str, kind: type) -> Any:
    value = data.get(key)
    if not isinstance(value, kind):
        raise SnapshotError(f'"{key}" is missing, or is not of the JSON type of a {kind.__name__}')
    return value


def _pairs(data: Mapping[str, Any], key: str) -> list[Any]:
    pairs: list[Any] = _part(data, key, list)
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[1], list):
            raise SnapshotError(f'"{key}" has {pair!r}, which is no [name, list of filters]')
    return pairs


def _filter(text: object, read: _Read) -> Filter:
    if not isinstance(text, str):
        raise SnapshotError(f"a filter is text, not {type(text).__name__}")
    try:
        return read(text)
    except ValueError as error:
        raise SnapshotError(f"cannot read the filter {text!r}: {error}") from error
