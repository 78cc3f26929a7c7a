"""What the words on the pages mean, a sentence each; the keys; and the guide for a first visit."""

from __future__ import annotations

from typing import Final, NamedTuple

import posetlib as pl
from browser.story import FILE, promises_of

__all__ = ["GUIDE", "KEYS", "WORDS", "Stop", "about_structure"]

#: A sentence for each word that the pages use without explaining it.
WORDS: Final = {
    "filter": "A condition on notifications: a conjunction of constraints, one per attribute.",
    "covers": "One filter covers another when it matches everything that the other matches.",
    "interface": "Where a filter came from, and notifications go to: a neighbour or a client.",
    "root": "A filter that no other filter of the table covers.",
    "edge": "Leads from a filter to one that it covers, with nothing in between.",
    "level": "How many filters there are on the longest path from a root down.",
    "covering test": "One comparison of two filters: what updates of a table cost.",
    "pruned": "Dropped because the same interface holds a filter that covers it.",
    "forwards set": "The neighbours that must be sent a filter.",
    "notification": "A set of named values; it goes to the interfaces whose filters match it.",
    "snapshot": "A picture of a table at one moment, as a file.",
    "trace": "The operations one after the other, as a file.",
    "witness": "The filters that show that a table breaks one of its promises.",
    "merger": "One filter that matches exactly what two filters match together.",
}

_STRUCTURES: Final = {
    pl.Shape.ORDER: "The full order: every filter is linked to all that cover it directly.",
    pl.Shape.FOREST: "A forest: every filter hangs from one filter that covers it.",
}

#: The keys that the pages know.
KEYS: Final = {
    "/": "go to the search",
    "?": "these keys",
    "↑ ↓ ← →": "in a graph: to a parent, a child, the filter to the left or right; in a list: to "
    "the next line",
    "Shift and an arrow": "move the graph",
    "+ and −": "zoom",
    "F": "fit the whole graph",
    "P": "present: graphs and steps alone, on the whole screen",
    "Enter": "fold or unfold what is below the chosen filter",
    "Esc": "close what is open",
}


class Stop(NamedTuple):
    """One step of the guide: a heading, some words, and what on the page it is about."""

    heading: str
    words: str
    about: str


GUIDE: Final = (
    Stop(
        "Where filters come from",
        "On the left: generate filters, type them, upload a file, or open an example. Examples "
        "begin with an empty table, and tell at each step what there is to see.",
        "#sources",
    ),
    Stop(
        "Tables side by side",
        "The same filters in several structures: the general above the special. An edge leads from "
        "a filter to what it covers. Tick the structures that you want to compare.",
        "#tables-show",
    ),
    Stop(
        "Step by step",
        "The slider goes through the operations. What a step added, removed or moved is marked; a "
        "click on a mark shows these filters alone.",
        ".transport",
    ),
    Stop(
        "Why is it there?",
        "Click a filter: beside the graphs stands what is above and below it, why it is where it "
        "is, and who is sent it. Filters that are absent are in the list, and say why.",
        ".inspector",
    ),
    Stop(
        "Further pages",
        "Plane draws filters as rectangles, Match follows a notification, Diff compares two "
        "tables, Forwards says who is told, Statistics counts, Network runs many routers, and Runs "
        "shows what the jobs found. Save at each graph takes things along.",
        ".nav",
    ),
)


def about_structure(name: str) -> str:
    """Return a sentence about a structure, from what it promises.

    >>> about_structure("nrf")
    'A forest: every filter hangs from one filter that covers it. Each filter knows the interfaces \
below it. No interface holds two filters of which one covers the other.'
    """
    if name == FILE:
        return "The table of the uploaded file, just as it is there: nothing is repaired."
    promises = promises_of(name)
    sentences = [_STRUCTURES.get(promises.shape, "A list of filters, without an order.")]
    if promises.interface_index:
        sentences.append("Each filter knows the interfaces below it.")
    if promises.elimination is pl.Elimination.EVERYWHERE:
        sentences.append("No interface holds two filters of which one covers the other.")
    elif promises.elimination is pl.Elimination.ALONG_PATHS:
        sentences.append("No interface stands twice on one path; in other branches it may.")
    return " ".join(sentences)
