"""Figures of cost against size: log–log, one panel for each load, readable by day and by night.

A structure has a colour and a marker. With its index its line is drawn through, without it is
dashed and its markers are hollow; baselines are dotted, in the colour of the text. The colours are
those of Okabe and Ito, which people see apart whatever their eyes. Colours of the paper and of the
text follow the reader's preference, by a style sheet inside the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from bench.harness import Table

__all__ = ["log_log"]

INK, FAINT, PAPER = "#1f2328", "#d1d9e0", "#fffffe"
#: What each colour becomes where the reader prefers the dark; all else is seen on both papers.
DARK = {
    INK: "#e6edf3",
    FAINT: "#3d444d",
    PAPER: "#0d1117",
    "#0072b2": "#56b4e9",
    "#d55e00": "#f08a3c",
    "#009e73": "#2fcf9f",
    "#aa3377": "#e58abf",
    "#8a6d00": "#e6c300",
}
#: Series -> colour and marker.
MARKS = {
    "FP": ("#0072b2", "o"),
    "PF": ("#d55e00", "s"),
    "BF": ("#009e73", "^"),
    "NRF": ("#aa3377", "D"),
    "linear": ("#8a6d00", "v"),
    "numpy scan": (INK, "x"),
    "rtree": (INK, "+"),
    "STRtree": (INK, "*"),
    "uniform": ("#0072b2", "P"),
    "antichain": ("#d55e00", "X"),
}
BASELINES = ("numpy scan", "rtree", "STRtree")


def log_log(
    path: Path, title: str, panels: Mapping[str, Table], unit: str = "microseconds"
) -> Path:
    """Write a figure with a panel for each table: its first column against each of the others."""
    settings = {
        # Text stays text: it can be read aloud, found and selected.
        "svg.fonttype": "none",
        "svg.hashsalt": "posetlib",
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.facecolor": PAPER,
        "figure.facecolor": PAPER,
        "savefig.facecolor": PAPER,
    }
    with mpl.rc_context(settings):
        figure = Figure(figsize=(10.5, 4.6), layout="constrained")
        FigureCanvasSVG(figure)
        figure.suptitle(title, fontsize=12)
        axes = figure.subplots(1, len(panels), sharey=True)
        lines: dict[str, Any] = {}
        for axis, (name, table) in zip(axes, panels.items(), strict=True):
            axis.set(xscale="log", yscale="log", xlabel="filters", title=name)
            axis.grid(color=FAINT, linewidth=0.6)
            axis.tick_params(which="both", length=0)
            for each in (axis.xaxis, axis.yaxis):
                each.set_major_formatter(FuncFormatter(_in_full))
                each.set_minor_formatter(NullFormatter())
            axis.spines[["top", "right"]].set_visible(False)
            lines |= _draw(axis, table)
        axes[0].set_ylabel(unit)
        figure.legend(
            lines.values(),
            lines.keys(),
            loc="outside right center",
            frameon=False,
            handlelength=3.5,
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})
    path.write_text(_with_style(path.read_text(encoding="utf-8"), title), encoding="utf-8")
    return path


def _in_full(value: float, _: int) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _draw(axis: Any, table: Table) -> dict[str, Any]:
    sizes, *columns = zip(*table.rows, strict=True)
    lines = {}
    for series, values in zip(table.columns[1:], columns, strict=True):
        points = [(n, value) for n, value in zip(sizes, values, strict=True) if value is not None]
        name, _, walking = series.partition(", ")
        colour, marker = MARKS[name]
        style = ":" if name in BASELINES else "--" if walking else "-"
        (lines[series],) = axis.plot(
            *zip(*points, strict=True),
            color=colour,
            linestyle=style,
            linewidth=1.3 if walking else 1.8,
            marker=marker,
            markersize=6,
            markerfacecolor=PAPER if walking else colour,
            label=series,
        )
    return lines


def _with_style(text: str, title: str) -> str:
    """Return an SVG that has its name for who cannot see it, and changes its colours at night."""
    rules = "".join(
        f'[style*="{part}: {day}"]{{{part}:{night}!important}}'
        for day, night in DARK.items()
        for part in ("fill", "stroke")
    )
    style = f"<style>@media(prefers-color-scheme:dark){{{rules}}}</style>"
    start = text.index("<svg")
    end = text.index(">", start)
    return f'{text[:end]} role="img"><title>{title}</title>{style}{text[end + 1 :]}'
