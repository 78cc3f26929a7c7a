"""Matchers: from notifications to the interfaces that hold a matching filter, without an order."""

from posetlib.matching.bitmap import BitmapMatcher

__all__ = ["BitmapMatcher"]
