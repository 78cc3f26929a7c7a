"""Rules of other systems, read into expressions."""

from posetlib.rules.eventbridge import read_eventbridge
from posetlib.rules.records import Holds
from posetlib.rules.selectors import read_selector

__all__ = ["Holds", "read_eventbridge", "read_selector"]
