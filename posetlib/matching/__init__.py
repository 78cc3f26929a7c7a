"""Matchers: find the interfaces that hold a filter matching a notification.

Unlike a table, a matcher keeps no order among its filters.
"""

from posetlib.matching.bitmap import BitmapMatcher
from posetlib.matching.counting import CountingMatcher
from posetlib.matching.kind_indexes import has_index
from posetlib.matching.matcher import Matcher
from posetlib.matching.table_matcher import TableMatcher

__all__ = ["BitmapMatcher", "CountingMatcher", "Matcher", "TableMatcher", "has_index"]
