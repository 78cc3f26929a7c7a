"""Profiles, queries and collections for the page: the text of a run, and every moment of it."""
