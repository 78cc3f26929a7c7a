"""Constraints on one attribute: a set of values each, with exact comparison where it is claimed."""
