"""Event patterns of AWS EventBridge and event-ruler, read into expressions.

A pattern is an object. Each field has either a nested object, or a list of alternatives: plain
values and objects with one operator. All fields must hold; ``$or`` has a list of objects of which
one must. A field whose value is a list satisfies an alternative if one of its elements does. If an
event has lists of objects, the fields of a nested object must hold for one and the same element.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from posetlib.constraints.addresses import Addresses
from posetlib.constraints.base import Constraint
from posetlib.constraints.booleans import ALL_BOOLEANS
from posetlib.constraints.comparisons import compared, one_of
from posetlib.constraints.complements import complement_of
from posetlib.constraints.elements import Some
from posetlib.constraints.mixtures import conjunction, disjunction
from posetlib.constraints.multivalues import MultiValues
from posetlib.constraints.nulls import NULL
from posetlib.constraints.numbers import ALL_NUMBERS
from posetlib.constraints.strings import ALL_STRINGS, Strings
from posetlib.errors import FilterError
from posetlib.expressions.expression import Expression
from posetlib.expressions.tree import Leaf, RawJunction, RawNode
from posetlib.rules.records import Holds
from posetlib.values import describe, shortened

__all__ = ["read_eventbridge"]

_OR: Final = "$or"
# The plain values of JSON.
_DOMAINS: Final = (ALL_NUMBERS, ALL_STRINGS, ALL_BOOLEANS, NULL)
# The most combinations of ``$or`` with fields that must hold for one element.
_MAX_COMBINATIONS: Final = 1_000
# How deep objects may nest, and the longest text of a pattern.
_MAX_DEPTH: Final = 64
_MAX_TEXT: Final = 200_000


def read_eventbridge(
    pattern: Mapping[str, Any] | str, *, lists_of_objects: bool = True
) -> Expression:
    """Return an event pattern, a dictionary or JSON text, as an expression.

    With ``lists_of_objects=False`` nested fields become dotted names. Such expressions are indexed
    and compared better, and match the same events as long as no list in these has objects.

    Raises FilterError, with the field, for what is no pattern.

    >>> e = read_eventbridge({"source": ["aws.ec2"], "detail": {"c": [{"numeric": [">", 5]}]}})
    >>> e.matches({"source": "aws.ec2", "detail": {"c": 7}})
    True
    >>> print(read_eventbridge('{"a": {"b": ["x"]}}', lists_of_objects=False))
    a.b = "x" or a.b has "x"
    """
    return Expression(_Reader(lists_of_objects).object(_read_json(pattern), ""))


def _read_json(pattern: Any) -> Any:
    if isinstance(pattern, str):
        if len(pattern) > _MAX_TEXT:
            raise FilterError(f"a pattern has at most {_MAX_TEXT:,} characters")
        try:
            pattern = json.loads(pattern)
        except RecursionError:
            raise FilterError("the pattern nests too deep") from None
        except ValueError as error:
            raise FilterError(f"the pattern is no JSON: {error}") from None
    if not isinstance(pattern, Mapping):
        raise FilterError(f"an event pattern is an object, not {describe(pattern)}")
    return pattern


class _Reader:
    def __init__(self, lists_of_objects: bool) -> None:
        self._lists_of_objects = lists_of_objects
        # What was read of a nested object, by its id and name, with the object, which keeps the id.
        self._known: dict[tuple[int, str], tuple[object, RawNode]] = {}

    def object(self, pattern: Any, place: str, prefix: str = "", depth: int = 0) -> RawNode:
        """Return what an object asks for. ``place`` is its own path, for messages."""
        if not isinstance(pattern, Mapping) or not pattern:
            raise _error(place, f"an object with fields is needed, not {shortened(pattern)}")
        if depth > _MAX_DEPTH:
            raise FilterError(f"objects nest more than {_MAX_DEPTH} deep, or in a circle")
        return RawJunction(
            False,
            [
                RawJunction(
                    True,
                    [self._field(key, each, place, prefix, depth) for key, each in combined],
                )
                for combined in self._combinations(pattern, place, depth)
            ],
        )

    def _combinations(
        self, pattern: Mapping[str, Any], place: str, depth: int
    ) -> list[list[tuple[str, Any]]]:
        """Return the object without ``$or``: for each choice of alternatives, all fields.

        The nested objects of one field become one object, since they must hold for one element.
        """
        fields = [(key, each) for key, each in pattern.items() if key != _OR or not _is_or(each)]
        if len(fields) == len(pattern):
            return [fields]
        choices = []
        for each in pattern[_OR]:
            if not each:
                raise _error(f"{place}.{_OR}", "an alternative without fields")
            if depth > _MAX_DEPTH:
                raise FilterError(f"objects nest more than {_MAX_DEPTH} deep, or in a circle")
            choices += self._combinations(each, f"{place}.{_OR}", depth + 1)
            if len(choices) > _MAX_COMBINATIONS:
                raise _error(place, f"more than {_MAX_COMBINATIONS:,} combinations of {_OR}")
        return [_merged([*fields, *choice]) for choice in choices]

    def _field(self, key: Any, value: Any, place: str, prefix: str, depth: int) -> RawNode:
        here = f"{place}.{key}" if place else key
        if not isinstance(key, str) or not key:
            raise _error(place, f"a field has a name, not {key!r}")
        name = prefix + key
        if isinstance(value, Mapping):
            known = self._known.get((id(value), name))
            if known is None:
                read = self._nested(name, value, here, depth)
                known = self._known[id(value), name] = (value, read)
            return known[1]
        if not isinstance(value, list | tuple):
            raise _error(here, f"a field has a list of values or an object, not {shortened(value)}")
        if not value:
            raise _error(here, "a field has at least one value")
        return RawJunction(False, [_alternative(name, each, here) for each in value])

    def _nested(self, name: str, value: Mapping[str, Any], place: str, depth: int) -> RawNode:
        """Return that a nested object, or one in a list, has the fields of a pattern.

        A pattern that asks for absent fields only, which an empty object has, also holds where
        there is no object at all. It must then hold for all objects of a list: a field that one
        of them has is not absent.
        """
        if not self._lists_of_objects:
            return self.object(value, place, f"{name}.", depth + 1)
        inner = Expression(self.object(value, place, "", depth + 1))
        if not inner.matches({}):
            return Leaf(name, Holds(inner))
        return Leaf(name, Holds(~inner), True)


def _is_or(value: Any) -> bool:
    """Return whether ``$or`` has alternatives; if not, it is a field of that name."""
    return (
        isinstance(value, list | tuple)
        and len(value) > 1
        and all(isinstance(each, Mapping) and _RESERVED.isdisjoint(each) for each in value)
    )


def _merged(fields: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the fields, the nested objects of one name as one object."""
    found: list[tuple[str, Any]] = []
    objects: dict[str, int] = {}
    for key, value in fields:
        if not isinstance(value, Mapping):
            found.append((key, value))
        elif key not in objects:
            objects[key] = len(found)
            found.append((key, _Fields(value.items())))
        else:
            both = found[objects[key]][1]
            found[objects[key]] = (key, _Fields([*both.items(), *value.items()]))
    return found


class _Fields(Mapping[str, Any]):
    """An object in which a field may come several times: all of them must hold."""

    def __init__(self, items: Iterable[tuple[str, Any]]) -> None:
        self._items = _merged(items)

    def items(self) -> Any:
        return self._items

    def __getitem__(self, key: str) -> Any:
        return next(value for name, value in self._items if name == key)

    def __iter__(self) -> Any:
        return (name for name, _ in self._items)

    def __len__(self) -> int:
        return len(self._items)


# -- alternatives of a field -----------------------------------------------------------------------


def _alternative(name: str, value: Any, place: str) -> RawNode:
    if not isinstance(value, Mapping):
        return _one_or_element(name, _plain(value, place))
    if len(value) != 1:
        raise _error(place, f"an operator is the only field of its object, not {shortened(value)}")
    ((operator, operand),) = value.items()
    if operator == "exists":
        return _exists(name, operand, place)
    make = _OPERATORS.get(operator)
    if make is None:
        known = ", ".join(sorted(_OPERATORS))
        raise _error(place, f"unknown operator {operator!r}; known are {known}")
    try:
        return _one_or_element(name, make(operand))
    except FilterError as error:
        raise _error(place, f"{operator}: {error}") from None


def _one_or_element(name: str, constraint: Constraint) -> RawNode:
    """Return that a value, or an element of a list, satisfies a constraint."""
    values: list[Any] | None = None
    if constraint.denied() is None and isinstance(constraint, Strings):
        values = constraint.listed(1)
    element = MultiValues.superset(values) if values else Some(constraint)
    alone: RawNode = Leaf(name, constraint)
    denied = constraint.denied()
    if denied is not None:
        # A plain value that is something else: not a list, and not an object.
        alone = RawJunction(True, [_plain_value(name), alone])
    return RawJunction(False, [alone, Leaf(name, element)])


def _plain_value(name: str) -> RawNode:
    return RawJunction(False, [Leaf(name, domain) for domain in _DOMAINS])


def _exists(name: str, wanted: Any, place: str) -> RawNode:
    """Return that there is a plain value, alone or in a list; or that there is none."""
    if not isinstance(wanted, bool):
        raise _error(place, f"exists is true or false, not {shortened(wanted)}")
    some = [Leaf(name, Some(domain)) for domain in _DOMAINS]
    there = Expression(RawJunction(False, [_plain_value(name), *some]))
    return there.root if wanted else (~there).root


def _plain(value: Any, place: str) -> Constraint:
    if value is None:
        return NULL
    try:
        return one_of([value])
    except FilterError as error:
        raise _error(place, str(error)) from None


def _text(operand: Any) -> str:
    if not isinstance(operand, str):
        raise FilterError(f"a string is needed, not {shortened(operand)}")
    return operand


def _ignoring_case(text: str) -> Strings:
    return Strings.like(_escaped(text), ignoring_case=True)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("*", "\\*").replace("?", "\\?")


def _either_case(plain: Callable[[str], Strings], pattern: str) -> Callable[[Any], Constraint]:
    """Return the reader of prefix or suffix, whose operand may ask to ignore case."""

    def make(operand: Any) -> Constraint:
        if isinstance(operand, Mapping) and set(operand) == {"equals-ignore-case"}:
            text = _escaped(_text(operand["equals-ignore-case"]))
            return Strings.like(pattern.format(text), ignoring_case=True)
        return plain(_text(operand))

    return make


def _equals_ignore_case(operand: Any) -> Constraint:
    return _ignoring_case(_text(operand))


def _wildcard(operand: Any) -> Constraint:
    r"""Return what a text with stars stands for; ``\`` stands before a plain star or ``\``."""
    written: list[str] = []
    characters = iter(_text(operand))
    for each in characters:
        if each == "\\":
            escaped = next(characters, "")
            if escaped not in ("*", "\\"):
                raise FilterError(r"\ stands before * or \ only")
            written.append(each + escaped)
        elif each == "*" and written and written[-1] == "*":
            raise FilterError("two stars in a row")
        else:  # a question mark has no meaning of its own there
            written.append("\\?" if each == "?" else each)
    return Strings.like("".join(written))


def _numeric(operand: Any) -> Constraint:
    if not isinstance(operand, list | tuple) or not operand or len(operand) % 2:
        raise FilterError(f'pairs such as [">", 0, "<=", 5] are needed, not {shortened(operand)}')
    if len(operand) > 4:
        raise FilterError("at most two comparisons")
    conditions = []
    for operator, number in zip(operand[::2], operand[1::2], strict=True):
        if operator not in ("=", "<", "<=", ">", ">="):
            raise FilterError(f"a comparison is = < <= > or >=, not {shortened(operator)}")
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise FilterError(f"a number is needed, not {shortened(number)}")
        conditions.append(compared(operator, number))
    return conjunction(conditions)


def _cidr(operand: Any) -> Constraint:
    return Addresses.network(_text(operand))


def _anything_but(operand: Any) -> Constraint:
    """Return that a value is there, and is none of those given."""
    if isinstance(operand, Mapping):
        if len(operand) != 1:
            raise FilterError(f"one operator is needed, not {shortened(operand)}")
        ((operator, inner),) = operand.items()
        make = _DENIED.get(operator)
        if make is None:
            known = ", ".join(sorted(_DENIED))
            raise FilterError(f"unknown operator {operator!r}; known are {known}")
        listed = inner if isinstance(inner, list | tuple) else [inner]
        if not listed:
            raise FilterError("an empty list")
        return complement_of(disjunction([make(each) for each in listed]))
    listed = operand if isinstance(operand, list | tuple) else [operand]
    if not listed:
        raise FilterError("an empty list")
    if any(each is None or isinstance(each, bool | Mapping | list) for each in listed):
        raise FilterError(f"strings or numbers are needed, not {shortened(operand)}")
    return complement_of(one_of(listed))


_PREFIX: Final = _either_case(Strings.prefix, "{}*")
_SUFFIX: Final = _either_case(Strings.suffix, "*{}")
# What may stand in "anything-but".
_DENIED: Final[dict[str, Callable[[Any], Constraint]]] = {
    "prefix": _PREFIX,
    "suffix": _SUFFIX,
    "equals-ignore-case": _equals_ignore_case,
    "wildcard": _wildcard,
}
_OPERATORS: Final[dict[str, Callable[[Any], Constraint]]] = {
    **_DENIED,
    "numeric": _numeric,
    "cidr": _cidr,
    "anything-but": _anything_but,
    "exists": lambda _: NULL,  # read apart, see _exists
}
# Names that no field of an alternative of ``$or`` has.
_RESERVED: Final = frozenset((*_OPERATORS, "exactly", "=", "<", "<=", ">", ">="))


def _error(place: str, message: str) -> FilterError:
    return FilterError(f"{place or 'the pattern'}: {message}")
