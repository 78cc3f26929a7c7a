"""Nodes and the links between them, with a journal of every step; nothing here compares items."""

from posetlib.graph.change import NO_CHANGE, Change, Item, ItemT, Pair
from posetlib.graph.counters import Counters
from posetlib.graph.interface_index import InterfaceIndex
from posetlib.graph.links import Links, LinksObserver
from posetlib.graph.nodes import Node, Nodes

__all__ = [
    "NO_CHANGE",
    "Change",
    "Counters",
    "InterfaceIndex",
    "Item",
    "ItemT",
    "Links",
    "LinksObserver",
    "Node",
    "Nodes",
    "Pair",
]
