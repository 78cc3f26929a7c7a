"""The names of attributes and types: which are valid, and how the text of a filter writes them."""

from __future__ import annotations

import re
from typing import Final

from posetlib.errors import FilterError
from posetlib.values import is_text

__all__ = ["KEYWORDS", "NAME_PATTERN", "check_name", "name_text"]

#: The words of the filter language, in lower case. An attribute with such a name needs backticks.
KEYWORDS: Final = frozenset(
    "absent and bool contains disjoint exists false has in int is isa lacks not number or overlaps "
    "prefix set string subset suffix superset true".split()
)
#: A regular expression for names that need no backticks. Dots join the parts of a nested name.
NAME_PATTERN: Final = r"[^\W\d]\w*(?:\.\w+)*"
_PLAIN_NAME: Final = re.compile(NAME_PATTERN)
# The longest name of an attribute, in characters. It bounds the memory that a bad input can take.
_MAX_LENGTH: Final = 10_000


def check_name(name: object) -> str:
    """Return the name of an attribute or type, or raise FilterError if it is not valid.

    >>> check_name("price")
    'price'
    """
    if not isinstance(name, str) or not name:
        raise FilterError(f"an attribute's name is a string that is not empty, not {name!r}")
    if len(name) > _MAX_LENGTH:
        raise FilterError(f"an attribute's name has at most {_MAX_LENGTH} characters")
    if not is_text(name):
        raise FilterError("an attribute's name is valid Unicode: half a surrogate pair was given")
    return str(name)


def name_text(name: str) -> str:
    """Return a name as the text of a filter writes it, in backticks if it needs them.

    >>> name_text("pos.x"), name_text("in"), name_text("a b")
    ('pos.x', '`in`', '`a b`')
    """
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return "`" + name.replace("`", "``") + "`"
