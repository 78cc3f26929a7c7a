"""Filters on ranges of two attributes as rectangles in the plane."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import posetlib as pl
from browser.elements import MARKS, counted
from browser.merging import Group, Merged, domains_of, marks_for, percent, told
from posetlib.constraints import Numbers

__all__ = ["Plane", "Rectangle", "before_and_after", "plane_of"]

#: The plane in a drawing, in pixels at zoom 1, and the least size of what is drawn in it: a point
#: is seen, too, and can be hit.
WIDTH: Final = 460
HEIGHT: Final = 390
_LEAST: Final = 7
#: Up to so many filters each has its number on it.
_LABELLED: Final = 80
#: A filter of more rectangles than this is only in the list.
_PIECES: Final = 64


class Rectangle(NamedTuple):
    """A part of the plane, in values of its attributes; an end without a bound is infinite."""

    left: float
    right: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Plane:
    """Two attributes, and the range of each that is shown."""

    x: str
    y: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def rectangles(self, item: pl.Filter) -> list[Rectangle]:
        """Return a filter as rectangles; none if it is about anything else than the two ranges.

        >>> plane = Plane("x", "y", (0, 9), (0, 9))
        >>> plane.rectangles(pl.parse_filter("(x in [0, 1] or x in [3, 4]) and y > 5"))
        [Rectangle(left=0.0, right=1.0, low=5.0, high=inf), \
Rectangle(left=3.0, right=4.0, low=5.0, high=inf)]
        >>> plane.rectangles(pl.parse_filter("x > 3 and z = 1"))
        []
        """
        if not item.attributes or not {self.x, self.y}.issuperset(item.attributes):
            return []
        across, along = (_pieces(item.get(name)) for name in (self.x, self.y))
        if len(across) * len(along) > _PIECES:
            return []
        return [Rectangle(*one, *other) for one in across for other in along]

    def box(self, rectangle: Rectangle) -> tuple[float, float, float, float]:
        """Return the middle of a rectangle in a drawing, its width and its height.

        What lies outside of the range shown ends a little beyond it.
        """
        x1, x2 = (_share(value, self.x_range) * WIDTH for value in rectangle[:2])
        y1, y2 = ((1 - _share(value, self.y_range)) * HEIGHT for value in rectangle[2:])
        return (
            round((x1 + x2) / 2, 1),
            round((y1 + y2) / 2, 1),
            round(max(_LEAST, x2 - x1), 1),
            round(max(_LEAST, y1 - y2), 1),
        )


def _share(value: float, shown: tuple[float, float]) -> float:
    low, high = shown
    return min(max((value - low) / (high - low), -0.03), 1.03)


def _pieces(constraint: Any) -> list[tuple[float, float]]:
    if constraint is None:
        return [(-math.inf, math.inf)]
    if not isinstance(constraint, Numbers):
        return []
    found = [(float(low[0]), float(high[0])) for low, high in constraint.intervals]
    # A run of whole numbers is drawn from its first to its last.
    found += [(float(first), float(end) - 1) for first, end in constraint.runs]
    return sorted(found)


def plane_of(filters: Iterable[pl.Filter]) -> Plane | None:
    """Return the plane that most of the filters lie in; None if no two attributes have numbers.

    >>> plane_of([pl.parse_filter("x in [0, 5] and y in [2, 3]")])
    Plane(x='x', y='y', x_range=(0.0, 5.0), y_range=(2.0, 3.0))
    >>> plane_of([pl.parse_filter("x in [0, 5]")]) is None
    True
    """
    filters = list(filters)
    counts: Counter[tuple[str, ...]] = Counter()
    for item in filters:
        numeric = [n for n, each in item.constraints.items() if isinstance(each, Numbers)]
        if len(item.attributes) == len(numeric) == 2:
            counts[tuple(sorted(numeric))] += 1
    domains = domains_of(filters)
    fitting = [names for names in counts if all(name in domains for name in names)]
    if not fitting:
        return None
    x, y = min(fitting, key=lambda names: (-counts[names], names))
    return Plane(x, y, domains[x], domains[y])


# -- as drawings -----------------------------------------------------------------------------------


def before_and_after(
    plane: Plane, merged: Merged, chosen: int | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the roots, and what is sent with what it is made of, as drawings in the plane.

    A merger is an outline around its roots: the part of it that is empty is its loss.
    """
    marks = marks_for(merged, chosen)
    before = _drawing(plane, merged.filters, merged.roots, marks, {})
    losses = {
        each.number: f"#{each.number} · {percent(each.loss)}"
        for each in merged.sent
        if each.is_merger
    }
    after = _drawing(
        plane,
        merged.filters,
        [each.number for each in merged.sent],
        marks,
        losses,
        inside=_inside(merged.sent),
    )
    return told(merged, before, after)


def _inside(groups: Sequence[Group]) -> list[int]:
    return [
        each
        for group in groups
        for each in group.components + group.covered
        if each != group.number
    ]


def _drawing(
    plane: Plane,
    filters: Mapping[int, pl.Filter],
    numbers: Sequence[int],
    marks: Mapping[int, Sequence[str]],
    labels: Mapping[int, str],
    inside: Sequence[int] = (),
) -> dict[str, Any]:
    elements = _axes(plane)
    found = {number: plane.rectangles(filters[number]) for number in (*numbers, *inside)}
    # The smaller, the higher: what lies within something else can be seen and hit.
    order = sorted(
        (number for number in numbers if found[number]),
        key=lambda number: (-_area(plane, found[number]), number),
    )
    # Where many lie one above the other, each is fainter, so that all are seen.
    faint = round(min(0.25, 2.5 / max(1, len(order), len(inside))), 3)
    for number in inside:
        elements += _elements(plane, filters, number, found[number], (), "", "rect inside", 1)
    for height, number in enumerate(order, 2):
        label = labels.get(number, f"#{number}") if len(order) <= _LABELLED else ""
        kind = "rect merger-box" if number in labels else "rect"
        some = tuple(marks.get(number, ()))
        elements += _elements(plane, filters, number, found[number], some, label, kind, height)
    for each in elements[1:]:
        each["data"]["faint"] = faint
    missing = len(numbers) - len(order)
    return {
        "elements": elements,
        "width": 40,
        "height": 30,
        "text": False,
        # Below this zoom the letters are larger.
        "far": 0.7,
        "nodes": len(order),
        "edges": 0,
        "whole": True,
        "note": f"{counted(missing, 'filter')} not drawn: not about ranges of {plane.x} and "
        f"{plane.y} alone. The list has all of them."
        if missing
        else "",
        "about": f"{counted(len(order), 'filter')} as rectangles in the plane of {plane.x} and "
        f"{plane.y}. Arrow keys move it, plus and minus zoom, F fits. The list has all filters.",
    }


def _area(plane: Plane, rectangles: Sequence[Rectangle]) -> float:
    return sum(width * height for _, _, width, height in map(plane.box, rectangles))


def _elements(
    plane: Plane,
    filters: Mapping[int, pl.Filter],
    number: int,
    rectangles: Sequence[Rectangle],
    marks: Sequence[str],
    label: str,
    kind: str,
    height: int,
) -> list[dict[str, Any]]:
    """Return the rectangles of one filter; the first has its label, all lead to its number."""
    made = []
    for place, rectangle in enumerate(rectangles):
        x, y, wide, high = plane.box(rectangle)
        name = str(number) if kind != "rect inside" else f"in {number}"
        signs = "".join(MARKS[mark][0] for mark in marks)
        shown = f"{signs} {label}".strip() if not place else ""
        data: dict[str, Any] = {
            "id": name if not place else f"{name} part {place}",
            "number": number,
            "label": shown,
            "head": shown,
            "filter": str(filters[number]),
            "tip": f"#{number} {filters[number]}",
            "w": wide,
            "h": high,
            "z": height,
        }
        if marks:
            data["marks"] = [MARKS[mark][1] for mark in marks]
        made.append(
            {"data": data, "position": {"x": x, "y": y}, "classes": " ".join((kind, *marks))}
        )
    return made


def _axes(plane: Plane) -> list[dict[str, Any]]:
    """Return the frame of the plane, with the ends of both ranges and the names."""

    def text(name: str, label: str, x: float, y: float) -> dict[str, Any]:
        return {
            "data": {"id": name, "label": label, "head": label},
            "position": {"x": x, "y": y},
            "classes": "tick",
        }

    (x1, x2), (y1, y2) = plane.x_range, plane.y_range
    frame = {
        "data": {
            "id": "frame",
            "label": "",
            "head": "",
            "w": WIDTH,
            "h": HEIGHT,
            "z": 0,
            "faint": 1,
        },
        "position": {"x": WIDTH / 2, "y": HEIGHT / 2},
        "classes": "rect frame",
    }
    below, beside = HEIGHT + 22, -30
    return [
        frame,
        text("x low", f"{x1:g}", 0, below),
        text("x name", plane.x, WIDTH / 2, below),
        text("x high", f"{x2:g}", WIDTH, below),
        text("y low", f"{y1:g}", beside, HEIGHT),
        text("y name", plane.y, beside, HEIGHT / 2),
        text("y high", f"{y2:g}", beside, 0),
        # A corner that only makes room.
        text("corner", "", WIDTH, -10),
    ]
