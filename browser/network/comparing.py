"""The same run by every algorithm: what goes over the links, and what the tables hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import posetlib as pl
from browser.listing import Cell, listing
from browser.network.player import Player, Settings, defined
from browser.network.script import Script
from posetlib.routing.messages import PARTS
from posetlib.simulation import NETWORK_ALGORITHMS

__all__ = ["MEASURES", "Counts", "bars", "comparison", "counts_of"]

#: What is drawn as bars, with its words.
MEASURES: Final = {
    "control": "Filters in control messages",
    "notifications": "Notifications over links",
    "held": "Pairs of a filter and an interface in all tables",
}
#: What counts as a message of a handover.
_HANDOVER: Final = ("relocate", "done", "ready", "direct")


class Counts(NamedTuple):
    """What a whole run costs with one algorithm, and what came of it."""

    algorithm: str
    #: Filters over links, by the parts of an update.
    parts: tuple[int, ...]
    notifications: int
    #: Pairs of a filter and an interface in the tables of all brokers, and of the largest one.
    held: int
    most_held: int
    delivered: int
    faults: int
    #: Messages of handovers, over links and beside them.
    handover: int = 0
    note: str = ""

    @property
    def control(self) -> int:
        """Filters over links in all."""
        return sum(self.parts)


def counts_of(script: Script, settings: Settings) -> list[Counts]:
    """Return the counts of a script for every algorithm, with the other settings as they are."""
    found = []
    for algorithm in NETWORK_ALGORITHMS:
        used, note = defined(script, replace(settings, algorithm=algorithm))
        player = Player(script, used, tracing=False)
        while player.forward() is not None:
            pass
        found.append(counts(player.network, note))
    return found


def counts(network: pl.Network, note: str = "") -> Counts:
    """Return the counts of a network as it is."""
    sizes = [sum(each) for each in network.table_sizes().values()]
    audit = network.audit()
    return Counts(
        network.options["algorithm"],
        tuple(network.messages[part] for part in PARTS),
        network.messages["notify"],
        sum(sizes),
        max(sizes),
        audit.delivered,
        audit.faults,
        sum(network.messages[each] for each in _HANDOVER),
        note,
    )


def comparison(found: Sequence[Counts], chosen: str) -> dict[str, Any]:
    """Return the counts as a list, a row to an algorithm; the chosen one stands out."""
    # Parts that no algorithm uses are left out: advertisements, for the most part.
    used = [i for i in range(len(PARTS)) if any(each.parts[i] for each in found)]
    moves = any(each.handover for each in found)
    rows: list[list[Cell]] = [
        [
            f"{each.algorithm} *" if each.note else each.algorithm,
            *(f"{each.parts[i]:,}" for i in used),
            f"{each.control:,}",
            *((f"{each.handover:,}",) if moves else ()),
            f"{each.notifications:,}",
            f"{each.held:,}",
            f"{each.most_held:,}",
            f"{each.delivered:,}",
            f"{each.faults:,}",
        ]
        for each in found
    ]
    noted = dict.fromkeys(each.note for each in found if each.note)
    return listing(
        [
            "Algorithm",
            *(PARTS[i] for i in used),
            "control filters",
            *(("handover messages",) if moves else ()),
            "notifications",
            "in tables",
            "at most in one",
            "delivered",
            "faults",
        ],
        rows,
        classes=["picked" if each.algorithm == chosen else "" for each in found],
        note=" ".join(f"* {note}" for note in noted),
    )


def bars(found: Sequence[Counts], measure: str) -> list[tuple[str, int, float]]:
    """Return the bars of a measure: name, count, and length as a part of the longest."""
    values = [int(getattr(each, measure)) for each in found]
    longest = max(values, default=0) or 1
    return [
        (each.algorithm, value, value / longest) for each, value in zip(found, values, strict=True)
    ]
