"""Clients that move from broker to broker, without I/O: sessions, messages, protocols."""

# Each protocol makes itself known as its module is imported, in this order; safe ones first.
# ruff: noqa: F401, I001
from posetlib.routing.mobility import (
    update,
    linger,
    prepared,
    rendezvous,
    ping_pong,
    resubscribe,
    transfer,
    cover,
    flood,
    path_update,
    variants,
)
from posetlib.routing.mobility.messages import (
    Action,
    Deliver,
    Direct,
    DirectMessage,
    Journey,
    Note,
    OnTheWay,
    Release,
    Send,
    Wake,
)
from posetlib.routing.mobility.protocol import Protocol, protocol_named, protocol_names
from posetlib.routing.mobility.sessions import Session, Stay
from posetlib.routing.mobility.station import Station
from posetlib.routing.mobility.traveller import Traveller

__all__ = [
    "Action",
    "Deliver",
    "Direct",
    "DirectMessage",
    "Journey",
    "Note",
    "OnTheWay",
    "Protocol",
    "Release",
    "Send",
    "Session",
    "Station",
    "Stay",
    "Traveller",
    "Wake",
    "protocol_named",
    "protocol_names",
]
