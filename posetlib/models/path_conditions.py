"""The conditions of a step on its record: as a path writes them, and as filters.

A path stands in double quotes inside a filter's text, so its own strings are in single quotes. "@"
before a name may be left out, and is. A condition on numbers is a condition on the number that a
value reads as, beside the condition that the value is there.
"""

from __future__ import annotations

import json
import re
from typing import Final

from posetlib.constraints import EXISTS, Booleans, Constraint, Exists, MultiValues, Numbers, Strings
from posetlib.errors import FilterError
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter
from posetlib.models.documents import NUMBER_MARK, OWN_TEXT, name_of, record_name
from posetlib.names import check_name, name_text

__all__ = ["STEP_NAME", "condition_text", "parse_condition", "step_name_text"]

#: A name that a step may have without backticks.
STEP_NAME: Final = re.compile(r"[^\W\d][\w-]*")
# The pieces of a condition: a string, a name in backticks, "@", a name or number with its dots, a
# dot by itself, anything else.
_PIECE: Final = re.compile(
    r"""(?P<single>'(?:[^'\\]|\\.)*')
    |(?P<double>"(?:[^"\\]|\\.)*")
    |(?P<quoted>`(?:[^`]|``)+`)
    |(?P<at>@)
    |(?P<word>[\w]+(?:\.\w+)*\.?|\.\d[\w]*)
    |(?P<dot>\.)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
# In a string in single quotes: an escape, or a double quote, which JSON escapes.
_ESCAPE: Final = re.compile(r"""\\(?P<escaped>.)|\"""", re.DOTALL)
# The kinds of constraints that a condition may have. Placeholders would look at another record, and
# a hierarchy of types, or a kind from elsewhere, does not travel inside the text of a path.
_ALLOWED: Final = (Numbers, Strings, Booleans, MultiValues, Exists)


def parse_condition(text: str) -> Filter | None:
    """Return the condition that a step has in brackets, None if it says nothing.

    >>> parse_condition("@clock >= 700 and maker = 'AMD'")
    Filter('`#clock` >= 700 and exists clock and maker = "AMD"')
    """
    parsed = parse_filter("".join(_as_filter_text(text)))
    constraints: dict[str, Constraint] = {}
    for name, constraint in parsed.constraints.items():
        key = record_name(name)
        if not isinstance(constraint, _ALLOWED):
            raise FilterError(
                f"a path has no condition of the kind that {name_text(name)} has here; it has "
                "conditions on numbers, strings, booleans and sets, and exists"
            )
        if isinstance(constraint, Numbers):
            constraints[NUMBER_MARK + key] = constraint
            constraints[key] = EXISTS
        else:
            constraints[key] = constraint
    return Filter(constraints) if constraints else None


def _as_filter_text(text: str) -> list[str]:
    """Return the pieces of a condition as the language of filters writes them."""
    pieces = []
    for piece in _PIECE.finditer(text):
        kind, found = piece.lastgroup, piece.group()
        if kind == "single":
            pieces.append('"' + _ESCAPE.sub(_in_json, found[1:-1]) + '"')
        elif kind == "dot":
            pieces.append(f"`{OWN_TEXT}`")
        elif kind != "at":
            pieces.append(found)
    return pieces


def _in_json(found: re.Match[str]) -> str:
    if found["escaped"] is None:
        return '\\"'
    return "'" if found["escaped"] == "'" else found.group()


def condition_text(condition: Filter) -> str:
    """Return a condition as a path writes it.

    >>> condition_text(parse_condition("@clock >= 700 and maker = 'AMD'"))
    "clock >= 700 and maker = 'AMD'"
    """
    constraints = condition.constraints
    parts = [
        constraints.get(NUMBER_MARK + key, constraint).clauses(
            OWN_TEXT if key == OWN_TEXT else name_text(name_of(key))
        )
        for key, constraint in constraints.items()
        if not key.startswith(NUMBER_MARK)
    ]
    texts = [
        f"({' or '.join(clauses)})" if len(clauses) > 1 < len(parts) else " or ".join(clauses)
        for clauses in parts
    ]
    return "".join(_in_single_quotes(" and ".join(texts)))


def _in_single_quotes(text: str) -> list[str]:
    pieces = []
    for piece in _PIECE.finditer(text):
        found = piece.group()
        if piece.lastgroup == "double":
            inner = json.dumps(json.loads(found), ensure_ascii=False)[1:-1]
            pieces.append("'" + inner.replace('\\"', '"').replace("'", "\\'") + "'")
        else:
            pieces.append(found)
    return pieces


def step_name_text(name: str | None) -> str:
    """Return the name of a step as a path writes it; None is any name."""
    if name is None:
        return "*"
    return name if STEP_NAME.fullmatch(name) else "`" + check_name(name).replace("`", "``") + "`"
