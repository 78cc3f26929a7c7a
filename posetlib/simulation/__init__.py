"""Broker networks in one process: routers, links and clients, one delivery at a time."""

from posetlib.routing.mobility import protocol_names
from posetlib.simulation.audit import Audit
from posetlib.simulation.events import Event, Hop, Publication
from posetlib.simulation.handovers import Handover
from posetlib.simulation.network import NETWORK_ALGORITHMS, Network, TableSizes

#: The protocols by which clients move; those that never lose a notification.
PROTOCOLS = protocol_names()
SAFE_PROTOCOLS = protocol_names(safe=True)

__all__ = [
    "NETWORK_ALGORITHMS",
    "PROTOCOLS",
    "SAFE_PROTOCOLS",
    "Audit",
    "Event",
    "Handover",
    "Hop",
    "Network",
    "Publication",
    "TableSizes",
]
