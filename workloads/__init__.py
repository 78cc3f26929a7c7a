"""Spark jobs on workloads of filters and on tables of them; as functions in ``library``."""

from workloads.library import BuiltRows, GeneratedRows, build, cover, generate, match, validate

__all__ = ["BuiltRows", "GeneratedRows", "build", "cover", "generate", "match", "validate"]
