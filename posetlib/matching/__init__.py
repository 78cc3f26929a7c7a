"""Matchers: from notifications to the interfaces that hold a matching filter, without an order."""

from posetlib.matching.base import Matcher
from posetlib.matching.bitmap import BitmapMatcher
from posetlib.matching.counting import CountingMatcher
from posetlib.matching.following import Following

__all__ = ["BitmapMatcher", "CountingMatcher", "Following", "Matcher"]
