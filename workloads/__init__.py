"""Spark jobs on workloads of filters and on tables of them; as functions in ``library``."""

from importlib.util import find_spec

__all__ = [
    "BuiltRows",
    "GeneratedRows",
    "WorkloadRows",
    "build",
    "cover",
    "generate",
    "match",
    "validate",
]

# Without the extra packages the commands still explain themselves, and say what is missing. With
# them the functions are made here at once: a name such as ``build`` is a module's, too, and
# whoever comes last has it.
if find_spec("pyarrow") is not None:
    from workloads.library import (
        BuiltRows,
        GeneratedRows,
        WorkloadRows,
        build,
        cover,
        generate,
        match,
        validate,
    )
