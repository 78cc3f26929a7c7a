"""Profiles that last and queries that stay: which match, and the collections that they define."""

from posetlib.profiles.double_forest import DoubleForest

__all__ = ["DoubleForest"]
