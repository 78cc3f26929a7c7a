"""What a person has folded and unfolded, by graph, as a short text that fits into an address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["Folds", "folded", "read_folds"]

#: What can be asked for, in the order of the fields.
_ACTS = ("fold", "unfold", "reveal")
#: Numbers that are kept of each kind, the latest; an address has no room for thousands.
_KEPT = 200


class Folds(NamedTuple):
    """What was done by hand in one graph, as numbers of filters."""

    #: Folded: nothing below is drawn.
    closed: tuple[int, ...] = ()
    #: Unfolded, where there was too much to draw.
    opened: tuple[int, ...] = ()
    #: Chosen from a list while hidden: drawn with a path from a root.
    revealed: tuple[int, ...] = ()


def read_folds(text: str | None) -> dict[str, Folds]:
    """Return the folds of each graph; what cannot be read was written by hand, and is left out.

    >>> read_folds("fp_3.5_7*nrf_2*fp?")
    {'fp': Folds(closed=(3, 5), opened=(7,), revealed=()), 'nrf': Folds(closed=(2,), opened=(), \
revealed=())}
    """
    found = {}
    for part in (text or "").split("*"):
        name, *lists = part.split("_")
        if name.isalnum() and len(lists) <= len(Folds._fields):
            found[name] = Folds(*(_numbers(each) for each in lists))
    return found


def _numbers(text: str) -> tuple[int, ...]:
    parts = text.split(".")[-_KEPT:]
    return tuple(int(each) for each in parts if each.isascii() and each.isdigit() and len(each) < 9)


def _written(folds: Mapping[str, Folds]) -> str:
    parts = []
    for name, each in folds.items():
        lists = [".".join(map(str, numbers[-_KEPT:])) for numbers in each]
        if any(lists):
            parts.append("_".join((name, *lists)).rstrip("_"))
    return "*".join(parts)


def folded(text: str | None, request: Mapping[str, Any]) -> str:
    """Return the folds after one more request: to ``fold``, ``unfold`` or ``reveal`` a filter.

    >>> folded("", {"names": ["fp"], "number": 3, "act": "fold"})
    'fp_3'
    >>> folded("fp_3", {"names": ["fp", "nrf"], "number": 3, "act": "unfold"})
    'fp__3*nrf__3'
    """
    folds = read_folds(text)
    number = request["number"]
    for name in request["names"]:
        # Another request about the same filter takes the place of the one before.
        lists = [
            [each for each in numbers if each != number] for numbers in folds.get(name, Folds())
        ]
        lists[_ACTS.index(request["act"])].append(number)
        folds[name] = Folds(*map(tuple, lists))
    return _written(folds)
