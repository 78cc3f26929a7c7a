"""Expressions for the page of that name: their trees, their prunings, and a run of prunings."""
