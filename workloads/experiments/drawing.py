"""A figure as SVG, and all figures of an experiment as one page: plain text, no package needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

__all__ = ["line_chart", "page", "ticks"]

_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 190, 24, 52
#: Colours of Okabe and Ito, which people see apart whatever their eyes.
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#666666")
_STYLE: Final = (
    "svg{background:#fff;color:#1f2328;font:13px sans-serif}"
    "@media(prefers-color-scheme:dark){svg{background:#0d1117;color:#e6edf3}}"
)


def ticks(highest: float, about: int = 5) -> list[float]:
    """Return round numbers from 0 to a number, about as many as asked for.

    >>> ticks(473), ticks(0.9)
    ([0.0, 100.0, 200.0, 300.0, 400.0, 500.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    """
    if not highest > 0:
        return [0.0, 1.0]
    step = 10.0 ** math.floor(math.log10(highest / about))
    step *= next(each for each in (1, 2, 5, 10) if highest / (step * each) <= about)
    return [round(i * step, 12) for i in range(math.ceil(highest / step) + 1)]


def line_chart(figure: Mapping[str, Any]) -> str:
    """Return a figure of ``experiment.json`` as SVG: a line for each series, from 0 up."""
    lines: Mapping[str, Sequence[Sequence[float]]] = figure["lines"]
    points = [point for line in lines.values() for point in line]
    across = ticks(max(point[0] for point in points))
    up = ticks(max(point[1] for point in points))

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * x / across[-1], 1),
            round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * y / up[-1], 1),
        )

    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
    title = f"<title>{escape(figure['title'])}</title><style>{_STYLE}</style>"
    made = [f'{start} fill="currentColor">{title}']
    for y in up:
        left, level = at(0, y)
        made.append(
            f'<path d="M{left} {level}H{_WIDTH - _RIGHT}" stroke="currentColor" opacity=".15"/>'
            f'<text x="{left - 8}" y="{level + 4}" text-anchor="end">{y:,g}</text>'
        )
    for x in across:
        place, level = at(x, 0)
        made.append(f'<text x="{place}" y="{level + 18}" text-anchor="middle">{x:,g}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    made.append(
        f'<text x="{middle}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(figure["x"])}</text>'
        f'<text transform="translate(16 {_HEIGHT / 2 - 14}) rotate(-90)" text-anchor="middle">'
        f"{escape(figure['y'])}</text>"
    )
    for i, (series, line) in enumerate(lines.items()):
        colour = _COLOURS[i % len(_COLOURS)]
        dashes = "" if i < len(_COLOURS) else ' stroke-dasharray="5 4"'
        places = [at(point[0], point[1]) for point in line]
        path = "L".join(f"{x} {y}" for x, y in places)
        made.append(
            f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'
            + "".join(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x, y in places)
        )
        level = _TOP + 12 + 20 * i
        left = _WIDTH - _RIGHT + 16
        made.append(
            f'<path d="M{left} {level - 4}h22" stroke="{colour}" stroke-width="3"{dashes}/>'
            f'<text x="{left + 28}" y="{level}">{escape(series)}</text>'
        )
    made.append("</svg>")
    return "\n".join(made) + "\n"


def page(experiment: Mapping[str, Any]) -> str:
    """Return an experiment as a page: its figures, and what the thesis says beside each."""
    style = (
        "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "figure{margin:2rem 0}svg{width:100%}.no{color:#b3261e}.yes{color:#1b7f4d}"
        "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}"
        ".no{color:#ff8a80}.yes{color:#6fdd8b}}"
    )
    title = escape(experiment["title"])
    told = (
        f"Seed {experiment['seed']}, {experiment['replications']} replications, sizes times "
        f"{experiment['scale']:g}. A line has the means of the replications."
    )
    made = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        f"<title>{title}</title><style>{style}</style><h1>{title}</h1>",
        f"<p>{told}</p>",
    ]
    for figure in experiment["figures"]:
        sign, name = ("✓ as the thesis says", "yes") if figure["agrees"] else ("✗ differs", "no")
        made.append(
            f"<figure><h2>{escape(figure['title'])}</h2>{line_chart(figure)}<figcaption>"
            f'<strong class="{name}">{sign}</strong>: {escape(figure["says"])}. '
            f"The thesis: {escape(figure['statement'])}.</figcaption></figure>"
        )
    return "\n".join([*made, "</html>\n"])
