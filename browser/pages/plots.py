"""Figures of Plotly: their place on a page, their data, and the script that gives them colours."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, dcc, html

from browser import ids
from browser.pages.attributes import aria, clientside

__all__ = ["Figure", "figure", "plot", "register_plot"]

Component = Any
Figure = dict[str, Any]


def plot(page: str, part: str, title: str) -> Component:
    """Return the place of a figure, and the store of its data."""
    return html.Section(
        [
            dcc.Store(id=ids.at(page, ids.data_of(part))),
            dcc.Graph(
                id=ids.at(page, part),
                figure={},
                responsive=True,
                # Only what stays in the page: nothing is sent anywhere.
                config={
                    "displaylogo": False,
                    "modeBarButtons": [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
                },
                style={"height": "18rem"},
            ),
        ],
        className="card",
        **aria(label=title),
    )


def figure(title: str, across: str, traces: list[dict[str, Any]], **more: Any) -> Figure:
    """Return a figure without colours: its title, what its x axis is, and its traces."""
    axes = {"xaxis": {"title": {"text": across}}, "yaxis": {"rangemode": "tozero"}}
    return {"data": traces, "layout": {"title": {"text": title}, **axes}, **more}


def register_plot(app: Dash, page: str, part: str) -> None:
    """Let the script draw a figure from its data, in the colours of the theme."""
    clientside(
        app,
        "figure",
        Output(ids.at(page, part), "figure"),
        Input(ids.at(page, ids.data_of(part)), "data"),
        Input(ids.THEME, "n_clicks"),
    )
