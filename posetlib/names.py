"""How attributes and types are named in the text of a filter."""

from __future__ import annotations

import re
from typing import Final

from posetlib.errors import FilterError
from posetlib.values import is_text

__all__ = ["KEYWORDS", "NAME_PATTERN", "check_name", "name_text"]

KEYWORDS: Final = frozenset(
    "and bool contains disjoint exists false has in int is isa lacks not number or overlaps "
    "prefix set string subset suffix superset true".split()
)
#: A name that needs no backticks; dots join the parts of nested ones.
NAME_PATTERN: Final = r"[^\W\d]\w*(?:\.\w+)*"
_PLAIN: Final = re.compile(NAME_PATTERN)
_MAX_LENGTH: Final = 10_000


def check_name(name: object) -> str:
    """Return an attribute's name, or raise FilterError."""
    if not isinstance(name, str) or not name:
        raise FilterError(f"an attribute's name is a string that is not empty, not {name!r}")
    if len(name) > _MAX_LENGTH:
        raise FilterError(f"an attribute's name has at most {_MAX_LENGTH} characters")
    if not is_text(name):
        raise FilterError("an attribute's name is valid Unicode: half a surrogate pair was given")
    return str(name)


def name_text(name: str) -> str:
    """Return a name as it is written in a filter, in backticks where it must be.

    >>> name_text("pos.x"), name_text("in"), name_text("a b")
    ('pos.x', '`in`', '`a b`')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return "`" + name.replace("`", "``") + "`"
