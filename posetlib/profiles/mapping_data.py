"""A `DoubleForest` as plain data, read without trust, and where its mappings are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from posetlib.errors import FilterError, SnapshotError
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter
from posetlib.tables.filter_relation import read_types

__all__ = ["FORMAT", "MappingData", "MappingFault", "read_mapping_data"]

FORMAT: Final = "posetlib-double-forest"
#: The two mappings, each as pairs of a profile's id and a query's id.
MAPPINGS: Final = ("queries_of", "profiles_of")


@dataclass(frozen=True, slots=True)
class MappingFault:
    """A pair of which a mapping says what the filters do not."""

    profile: int
    query: int
    #: "queries_of" or "profiles_of".
    mapping: str
    #: Whether the two match; the mapping says the opposite.
    match: bool


@dataclass(frozen=True, slots=True)
class MappingData:
    """Profiles and queries by their ids, and both mappings."""

    semantics: str
    profiles: dict[int, Filter]
    queries: dict[int, Filter]
    mappings: dict[str, frozenset[tuple[int, int]]]

    def faults(self, profiles: list[int] | None = None) -> Iterator[MappingFault]:
        """Yield what is wrong with some profiles, or all: every query is tested with each."""
        overlap = self.semantics == "overlap"
        for number in self.profiles if profiles is None else profiles:
            profile = self.profiles[number]
            for other, query in self.queries.items():
                match = query.overlaps(profile) if overlap else query.covers(profile)
                for name in MAPPINGS:
                    if ((number, other) in self.mappings[name]) is not match:
                        yield MappingFault(number, other, name, match)


def read_mapping_data(data: Mapping[str, Any]) -> MappingData:
    """Read what `DoubleForest.to_dict` returns; SnapshotError says what is wrong.

    >>> from posetlib import DoubleForest, parse_filter
    >>> d = DoubleForest()
    >>> _ = d.add_query(parse_filter("x > 3"), "q"), d.add_profile(parse_filter("x > 5"), "p")
    >>> data = d.to_dict()
    >>> list(read_mapping_data(data).faults())
    []
    >>> data["profiles_of"] = []
    >>> list(read_mapping_data(data).faults())
    [MappingFault(profile=0, query=0, mapping='profiles_of', match=True)]
    """
    if data.get("format") != FORMAT:
        raise SnapshotError(f"the format is {data.get('format')!r}, not {FORMAT!r}")
    if data.get("version") != 1 or isinstance(data.get("version"), bool):
        raise SnapshotError(f"the version is {data.get('version')!r}; version 1 can be read")
    semantics = data.get("semantics")
    if semantics not in {"cover", "overlap"}:
        raise SnapshotError(f'the semantics is "cover" or "overlap", not {semantics!r}')
    types = read_types(data)
    profiles, queries = (
        _filters(data, side, lambda text: parse_filter(text, types=types))
        for side in ("profiles", "queries")
    )
    return MappingData(
        semantics,
        profiles,
        queries,
        {name: _pairs(data.get(name), name, profiles, queries) for name in MAPPINGS},
    )


def _filters(
    data: Mapping[str, Any], side: str, parse: Callable[[str], Filter]
) -> dict[int, Filter]:
    found: dict[int, Filter] = {}
    about = data.get(side)
    nodes = about.get("nodes") if isinstance(about, Mapping) else None
    if not isinstance(nodes, list):
        raise SnapshotError(f'"{side}" has a list of nodes')
    for node in nodes:
        number = node.get("id") if isinstance(node, Mapping) else None
        if not isinstance(number, int) or isinstance(number, bool) or number in found:
            raise SnapshotError(f"{side}: each node has an id of its own, a number; not {number!r}")
        try:
            found[number] = parse(node["filter"])
        except (KeyError, TypeError, FilterError) as error:
            raise SnapshotError(f"{side}: node {number} has no filter: {error}") from None
    return found


def _pairs(
    rows: Any, name: str, profiles: dict[int, Filter], queries: dict[int, Filter]
) -> frozenset[tuple[int, int]]:
    if not isinstance(rows, list):
        raise SnapshotError(f'"{name}" is a list of pairs of ids')
    for row in rows:
        if not (
            isinstance(row, list)
            and len(row) == 2
            and all(isinstance(each, int) for each in row)
            and row[0] in profiles
            and row[1] in queries
        ):
            raise SnapshotError(
                f"{name}: a pair is the id of a profile and that of a query; this is none: {row!r}"
            )
    return frozenset((row[0], row[1]) for row in rows)
