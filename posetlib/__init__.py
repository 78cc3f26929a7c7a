"""Routing tables for content-based publish/subscribe."""

__version__ = "0.1.0"
