"""Routers without I/O: messages in, messages out."""

from posetlib.routing.messages import Update, updates_between
from posetlib.routing.rates import Rate, RateControl, split_limit
from posetlib.routing.router import ALGORITHMS, TOP, Router

__all__ = [
    "ALGORITHMS",
    "TOP",
    "Rate",
    "RateControl",
    "Router",
    "Update",
    "split_limit",
    "updates_between",
]
