"""Profiles that last and queries that stay: which match, and the collections that they define."""

from posetlib.profiles.collection_notes import (
    CollectionNote,
    CollectionView,
    Description,
    SyncPlan,
)
from posetlib.profiles.collection_service import CollectionService
from posetlib.profiles.double_forest import DoubleForest

__all__ = [
    "CollectionNote",
    "CollectionService",
    "CollectionView",
    "Description",
    "DoubleForest",
    "SyncPlan",
]
