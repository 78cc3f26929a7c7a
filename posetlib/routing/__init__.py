"""Routers without I/O: messages in, messages out."""

from posetlib.routing.messages import Update, updates_between
from posetlib.routing.router import ALGORITHMS, TOP, Router

__all__ = ["ALGORITHMS", "TOP", "Router", "Update", "updates_between"]
