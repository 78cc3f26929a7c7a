"""The options of a router: their values, and which of them go together."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, Final

from posetlib.filters.filter import Filter
from posetlib.routing.languages import FILTER_LANGUAGE, LANGUAGES
from posetlib.tables import structure_named

__all__ = ["ALGORITHMS", "TOP", "check_options", "types_by_direction"]

#: What is sent to whom; the other two of the literature, merging perfectly and imperfectly, are
#: covering with ``merging=``.
ALGORITHMS: Final = ("covering", "identity", "simple", "flooding")
#: As ``master``: this router is the top of a hierarchy, and all its neighbours lie below it.
TOP: Final = "(top)"


def check_options(options: Mapping[str, Any], neighbours: Collection[Hashable]) -> None:
    """Raise ValueError for options that do not go together, or name no neighbour."""
    if options["language"] not in LANGUAGES:
        raise ValueError(f"language is one of {[*LANGUAGES]}, not {options['language']!r}")
    if options["language"] != FILTER_LANGUAGE.name and options["merging"] is not None:
        raise ValueError("merging= goes with filters: expressions are pruned, not merged")
    if structure_named(options["table"]).promises.forwards is None:
        raise ValueError(f"a router's table is 'fp' or 'nrf', not {options['table']!r}")
    if options["merging"] not in {None, "perfect", "imperfect"}:
        raise ValueError(f"merging is None, 'perfect' or 'imperfect', not {options['merging']!r}")
    if options["forwards"] not in {"exact", "approximate"}:
        raise ValueError(f"forwards is 'exact' or 'approximate', not {options['forwards']!r}")
    if options["algorithm"] not in ALGORITHMS:
        raise ValueError(f"algorithm is one of {ALGORITHMS}, not {options['algorithm']!r}")
    if options["algorithm"] != "covering" and options["merging"] is not None:
        raise ValueError(f"{options['algorithm']} does not merge: merging= goes with 'covering'")
    if options["merging"] != "imperfect" and (options["domains"] or options["max_loss"]):
        raise ValueError("domains= and max_loss= bound imperfect merging, and nothing else")
    if options["advertisements"] and options["algorithm"] == "flooding":
        raise ValueError(
            "flooding sends every notification everywhere: it has no use for advertisements"
        )
    master = options["master"]
    if master is not None:
        if master != TOP and master not in neighbours:
            raise ValueError(f"the master {master!r} is not one of the neighbours")
        if options["advertisements"]:
            raise ValueError(
                "a router with a master sends every subscription and every "
                "notification there: it has no use for advertisements"
            )
    if options["rendezvous"]:
        if not options["advertisements"]:
            raise ValueError(
                "a rendezvous point gathers advertisements: rendezvous= needs advertisements=True"
            )
        for each in options["rendezvous"]:
            if each is not None and each not in neighbours:
                raise ValueError(f"the rendezvous direction {each!r} is not a neighbour")


def types_by_direction(
    rendezvous: Mapping[Hashable, Filter | Iterable[Filter]] | None,
) -> dict[Hashable, tuple[Filter, ...]]:
    """Return the event types that meet in each direction, always as a tuple."""
    return {
        to: tuple(types) if isinstance(types, Iterable) else (types,)
        for to, types in (rendezvous or {}).items()
    }
