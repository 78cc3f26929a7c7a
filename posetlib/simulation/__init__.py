"""Broker networks in one process: routers, links and clients, one delivery at a time."""

from posetlib.simulation.audit import Audit
from posetlib.simulation.events import Event, Hop, Publication
from posetlib.simulation.network import NETWORK_ALGORITHMS, Network, TableSizes

__all__ = [
    "NETWORK_ALGORITHMS",
    "Audit",
    "Event",
    "Hop",
    "Network",
    "Publication",
    "TableSizes",
]
