"""The invariant of a DoubleForest: both mappings say what a test of every pair says."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from posetlib.errors import SnapshotError
from posetlib.profiles.mapping_data import MappingData, MappingFault, read_mapping_data
from workloads.errors import InputError
from workloads.files import Place, read_json
from workloads.reports import WITNESSES, Outcome
from workloads.shares import worked_apart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["double_forest_agrees"]

# Profiles that one task tests with all queries.
_PROFILES_PER_TASK = 256


def double_forest_agrees(session: SparkSession, place: Place, shown: int = WITNESSES) -> Outcome:
    """Both mappings equal the set-based computation; tasks take some profiles each."""
    try:
        data = read_mapping_data(read_json(place, "the DoubleForest"))
    except SnapshotError as error:
        raise InputError(f"the DoubleForest: {place.path}: {error}") from None
    checked = len(data.profiles) * len(data.queries)
    ids = list(data.profiles)
    parts = [ids[i : i + _PROFILES_PER_TASK] for i in range(0, len(ids), _PROFILES_PER_TASK)]
    if len(parts) <= 1:
        # The driver does little work itself.
        counts = [_faults(data, shown, part) for part in parts]
    else:
        counts = worked_apart(session, parts, partial(_faults, data, shown))
    first = [fault for _, some in counts for fault in some][:shown]
    return Outcome(checked, sum(count for count, _ in counts), [_witness(data, f) for f in first])


def _faults(data: MappingData, shown: int, profiles: list[int]) -> tuple[int, list[MappingFault]]:
    """Return how many faults some profiles have, and the first of them."""
    count = 0
    first: list[MappingFault] = []
    for fault in data.faults(profiles):
        count += 1
        if len(first) < shown:
            first.append(fault)
    return count, first


def _witness(data: MappingData, fault: MappingFault) -> dict[str, Any]:
    says = "match, and the mapping does not say so"
    if not fault.match:
        says = "do not match, and the mapping says that they do"
    return {
        "profile": str(data.profiles[fault.profile]),
        "query": str(data.queries[fault.query]),
        "mapping": fault.mapping,
        "why": f"they {says}",
        "ids": [fault.profile, fault.query],
    }
