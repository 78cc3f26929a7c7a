"""The experiments of the jobs on the page Runs: each figure plotted, with its verdict beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html

from browser import ids
from browser.elements import counted
from browser.pages import parts

__all__ = ["experiment_cards", "figure_of"]

Component = Any
#: Colours of Okabe and Ito, which people see apart whatever their eyes.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#666666")
_MOST = 64


def experiment_cards(found: Sequence[Mapping[str, Any]]) -> list[Component]:
    """Return a card with the figures of all experiments, folded; nothing if there are none."""
    if not found:
        return []
    folded = [html.Details([html.Summary(_summary(each)), *_figures(each)]) for each in found]
    return [parts.card("Experiments", html.Div(folded, id=ids.at("runs", ids.EXPERIMENTS)))]


def _summary(experiment: Mapping[str, Any]) -> str:
    figures = experiment["figures"]
    agreeing = sum(figure["agrees"] for figure in figures)
    return (
        f"{experiment['title'][:200]} ({str(experiment['folder'])[:100]}): "
        f"{agreeing} of {counted(len(figures), 'figure')} as the thesis says"
    )


def _figures(experiment: Mapping[str, Any]) -> list[Component]:
    made: list[Component] = []
    for figure in experiment["figures"][:_MOST]:
        sign, name = (
            ("✓ as the thesis says", "badge holds")
            if figure["agrees"]
            else ("✗ differs", "badge violated")
        )
        made += [
            html.H3(figure["title"][:200]),
            dcc.Graph(
                figure=figure_of(figure),
                config={"displayModeBar": False},
                style={"height": "18rem"},
            ),
            html.P([html.Span(sign, className=name), f" {figure['says'][:500]}."]),
            html.P(f"The thesis: {figure['statement'][:500]}.", className="muted"),
        ]
    return made


def figure_of(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Return a figure of ``experiment.json`` for Plotly: a line for each series, with spreads."""
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            # What a file says is text, and no markup.
            "name": str(series)[:80].replace("<", "&lt;"),
            "x": [point[0] for point in line],
            "y": [point[1] for point in line],
            "error_y": {"type": "data", "array": [point[2] for point in line], "thickness": 1},
            "line": {"color": _COLOURS[i % len(_COLOURS)]},
        }
        for i, (series, line) in enumerate(figure["lines"].items())
    ]
    return {
        "data": traces,
        "layout": {
            "margin": {"l": 60, "r": 15, "t": 10, "b": 40},
            "xaxis": {"title": {"text": figure["x"][:80].replace("<", "&lt;")}},
            "yaxis": {
                "title": {"text": figure["y"][:80].replace("<", "&lt;")},
                "rangemode": "tozero",
            },
            "legend": {"orientation": "h", "y": 1.2},
        },
    }
