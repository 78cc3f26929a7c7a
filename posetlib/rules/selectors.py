"""Message selectors of JMS, conditions in SQL-92, read into expressions.

A selector has three truth values: a comparison with a property that is absent or null is unknown,
and so is its negation. A message is selected if the selector is true. So each condition is read
twice: when it is true, and when it is false; NOT exchanges the two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from lark import Lark, Token, Transformer, UnexpectedInput, v_args
from lark.exceptions import VisitError

from posetlib.constraints.base import EXISTS, Constraint
from posetlib.constraints.booleans import Booleans
from posetlib.constraints.comparisons import compared, one_of
from posetlib.constraints.nulls import NULL
from posetlib.constraints.numbers import ALL_NUMBERS
from posetlib.constraints.placeholders import Placeholder
from posetlib.constraints.strings import Strings
from posetlib.errors import EmptyConstraintError, FilterError, FilterSyntaxError
from posetlib.expressions.expression import Expression
from posetlib.expressions.tree import FALSE, TRUE, Leaf, Negation, RawJunction, RawNode

__all__ = ["read_selector"]

# The longest text of a selector.
_MAX_TEXT: Final = 200_000

_GRAMMAR: Final = r"""
?start: disjunction
?disjunction: conjunction ("OR"i conjunction)*
?conjunction: negation ("AND"i negation)*
?negation: "NOT"i negation                                   -> opposite
    | condition
?condition: operand COMPARISON operand                       -> compare
    | operand "BETWEEN"i operand "AND"i operand              -> inside
    | operand "NOT"i "BETWEEN"i operand "AND"i operand       -> outside
    | operand "IN"i "(" STRING ("," STRING)* ")"                -> member
    | operand "NOT"i "IN"i "(" STRING ("," STRING)* ")"         -> no_member
    | operand "LIKE"i STRING ["ESCAPE"i STRING]                 -> like
    | operand "NOT"i "LIKE"i STRING ["ESCAPE"i STRING]          -> not_like
    | operand "IS"i "NULL"i                                   -> is_null
    | operand "IS"i "NOT"i "NULL"i                            -> is_not_null
    | operand
?operand: NUMBER                                             -> number
    | SIGN operand                                           -> signed
    | STRING                                                 -> text
    | "TRUE"i                                                -> true
    | "FALSE"i                                               -> false
    | NAME                                                   -> name
    | operand ARITHMETIC operand                             -> arithmetic
    | operand SIGN operand                                   -> arithmetic
    | "(" disjunction ")"

COMPARISON: "=" | "<>" | "<=" | ">=" | "<" | ">"
ARITHMETIC: "*" | "/"
SIGN: "+" | "-"
NUMBER: /(0[xX][0-9a-fA-F]+|[0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?)[lLfFdD]?/
STRING: /'(?:[^']|'')*'/
NAME.-1: /(?:[^\W\d]|\$)[\w$.]*/
%ignore /\s+/
"""


class _Truth(NamedTuple):
    """When a condition is true, and when it is false; it may be neither."""

    true: RawNode
    false: RawNode


class _Property(NamedTuple):
    """The name of a property."""

    name: str


# Words that are no names, as the standard says.
_RESERVED: Final = frozenset("NULL TRUE FALSE NOT AND OR BETWEEN LIKE IN IS ESCAPE".split())
_FLIPPED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _all(*parts: RawNode) -> RawNode:
    return RawJunction(True, parts)


def _any(*parts: RawNode) -> RawNode:
    return RawJunction(False, parts)


def _known(name: str) -> RawNode:
    """Return that a property is there and not null."""
    return _all(Leaf(name, EXISTS), Leaf(name, NULL, True))


def _about(name: str, make: Callable[[], Constraint], *others: str) -> _Truth:
    """Return a condition on one property: false for all values that do not satisfy it."""
    try:
        leaf = Leaf(name, make())
    except EmptyConstraintError:
        return _Truth(FALSE, _known(name))
    known = [_known(each) for each in (name, *others)]
    return _Truth(leaf, _all(*known, leaf._replace(negated=True)))


def _ordered(name: str, sign: str, other: str) -> _Truth:
    """Return a comparison of two properties by order, which is for numbers alone."""
    numbers = _all(Leaf(name, ALL_NUMBERS), Leaf(name, Placeholder(other, sign)))
    return _Truth(numbers, _all(_known(name), _known(other), Negation(numbers)))


def _constant(value: bool) -> _Truth:
    return _Truth(TRUE, FALSE) if value else _Truth(FALSE, TRUE)


@v_args(inline=True)
class _Reader(Transformer[Token, Any]):
    """Makes the two readings of each part while the text is parsed."""

    # -- operands ----------------------------------------------------------------------------------

    def number(self, token: Token) -> Any:
        if token[:2].lower() == "0x":
            return int(token.rstrip("lL"), 16)
        text = token.rstrip("lLfFdD")
        if not text.isdigit() or text != token.rstrip("lL"):
            return float(text)
        if text[0] == "0" and text.strip("0"):  # as in Java, a zero at the front says base 8
            try:
                return int(text, 8)
            except ValueError:
                message = f"a whole number that begins with 0 is in base 8, and {text} is not"
                raise _syntax_error(message, token) from None
        return int(text)

    def signed(self, sign: Token, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self.arithmetic(0, sign, value)
        return -value if sign == "-" else value

    def text(self, token: Token) -> str:
        return token[1:-1].replace("''", "'")

    def true(self) -> bool:
        return True

    def false(self) -> bool:
        return False

    def name(self, token: Token) -> _Property:
        if token.upper() in _RESERVED:
            raise _syntax_error(f"unexpected {str(token)!r}", token)
        return _Property(str(token))

    def arithmetic(self, left: Any, operator: Token, right: Any) -> Any:
        raise _syntax_error(
            f"arithmetic ({operator}) is not supported: compare a property with a literal", operator
        )

    # -- conditions --------------------------------------------------------------------------------

    def compare(self, left: Any, operator: Token, right: Any) -> _Truth:
        return self._compared(left, str(operator), right)

    def _compared(self, left: Any, how: str, right: Any) -> _Truth:
        if isinstance(left, _Truth) or isinstance(right, _Truth):
            raise FilterError("a condition is true or false alone, and not compared")
        if not isinstance(left, _Property):
            if not isinstance(right, _Property):
                return _constant(_compare_literals(left, how, right))
            left, how, right = right, _FLIPPED[how], left
        sign = "!=" if how == "<>" else how
        if isinstance(right, _Property):
            other = right.name
            if how not in ("=", "<>"):
                return _ordered(left.name, sign, other)
            return _about(left.name, lambda: Placeholder(other, sign), other)
        if isinstance(right, str | bool) and how not in ("=", "<>"):
            raise FilterError(f"{left.name}: strings and booleans compare by = and <> only")
        return _about(left.name, lambda: compared(sign, right))

    def inside(self, value: Any, low: Any, high: Any) -> _Truth:
        _check_numbers("BETWEEN", value, low, high)
        return self.conjunction(self._compared(value, ">=", low), self._compared(value, "<=", high))

    def outside(self, value: Any, low: Any, high: Any) -> _Truth:
        _check_numbers("BETWEEN", value, low, high)
        return self.disjunction(self._compared(value, "<", low), self._compared(value, ">", high))

    def member(self, operand: Any, *values: Token) -> _Truth:
        return _about(_named("IN", operand), lambda: one_of(list(map(self.text, values))))

    def no_member(self, operand: Any, *values: Token) -> _Truth:
        name = _named("IN", operand)
        return _about(name, lambda: one_of(list(map(self.text, values))).complement())

    def like(self, operand: Any, pattern: Token, escape: Token | None = None) -> _Truth:
        text = _wildcards(self, pattern, escape)
        return _about(_named("LIKE", operand), lambda: Strings.like(text))

    def not_like(self, operand: Any, pattern: Token, escape: Token | None = None) -> _Truth:
        text = _wildcards(self, pattern, escape)
        return _about(_named("LIKE", operand), lambda: Strings.like(text).complement())

    def is_null(self, operand: Any) -> _Truth:
        name = _named("IS NULL", operand)
        return _Truth(_any(Leaf(name, EXISTS, True), Leaf(name, NULL)), _known(name))

    def is_not_null(self, operand: Any) -> _Truth:
        return self.opposite(self.is_null(operand))

    # -- joining -----------------------------------------------------------------------------------

    def opposite(self, part: Any) -> _Truth:
        truth = _truth(part)
        return _Truth(truth.false, truth.true)

    def conjunction(self, *parts: Any) -> _Truth:
        found = list(map(_truth, parts))
        return _Truth(_all(*(p.true for p in found)), _any(*(p.false for p in found)))

    def disjunction(self, *parts: Any) -> _Truth:
        found = list(map(_truth, parts))
        return _Truth(_any(*(p.true for p in found)), _all(*(p.false for p in found)))


def _truth(part: Any) -> _Truth:
    """Return a condition; a property or a boolean alone is one, too."""
    if isinstance(part, _Truth):
        return part
    if isinstance(part, _Property):
        name = part.name
        return _Truth(Leaf(name, Booleans([True])), Leaf(name, Booleans([False])))
    if isinstance(part, bool):
        return _constant(part)
    raise FilterError(f"a condition is needed, not the value {part!r} alone")


def _syntax_error(message: str, token: Token) -> FilterSyntaxError:
    return FilterSyntaxError(message, line=token.line or 1, column=token.column or 1)


def _compare_literals(left: Any, how: str, right: Any) -> bool:
    """Return the truth of a comparison of two literals; of unlike types it is false."""
    kinds = {("text" if isinstance(v, str) else "bool" if isinstance(v, bool) else "number")
             for v in (left, right)}  # fmt: skip
    if len(kinds) > 1:
        return False
    return bool(
        {
            "=": left == right,
            "<>": left != right,
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
        }[how]
    )


def _named(operator: str, operand: Any) -> str:
    """Return the name of a property, or raise FilterError for another operand."""
    if not isinstance(operand, _Property):
        raise FilterError(f"{operator} needs the name of a property, not {operand!r}")
    return operand.name


def _check_numbers(operator: str, *operands: Any) -> None:
    """Raise FilterError for an operand that is neither a property nor a number."""
    for each in operands:
        if isinstance(each, bool | str | _Truth):
            shown = "a condition" if isinstance(each, _Truth) else repr(each)
            raise FilterError(f"{operator} needs properties and numbers, not {shown}")


def _wildcards(reader: _Reader, pattern: Token, escape: Token | None) -> str:
    """Return a pattern with % and _ as a text with the wildcards of the filter language."""
    character = None if escape is None else reader.text(escape)
    if character is not None and len(character) != 1:
        raise FilterError(f"ESCAPE needs one character, not {character!r}")
    written = []
    escaped = False
    for each in reader.text(pattern):
        if not escaped and each == character:
            escaped = True
            continue
        if escaped and each not in ("%", "_", character):
            raise FilterError(f"{character} stands before %, _ or {character} only")
        plain = escaped or each not in ("%", "_")
        written.append(
            ("\\" + each if each in "*?\\" else each) if plain else "*" if each == "%" else "?"
        )
        escaped = False
    if escaped:
        raise FilterError(f"nothing follows {character} in {pattern}")
    return "".join(written)


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", maybe_placeholders=False, transformer=_Reader())


def read_selector(text: str) -> Expression:
    """Return a message selector as an expression that matches the messages it selects.

    Raises FilterSyntaxError, with the position, for what is no selector, and for arithmetic.

    >>> e = read_selector("type = 'car' AND NOT (weight > 2500)")
    >>> e.matches({"type": "car", "weight": 900}), e.matches({"type": "car"})
    (True, False)
    >>> read_selector("name LIKE 'a%' OR age IS NULL")
    Expression('age is null or not (exists age) or name prefix "a"')
    """
    if not isinstance(text, str):
        raise TypeError(f"a selector is a string, not {type(text).__name__}")
    if len(text) > _MAX_TEXT:
        raise FilterSyntaxError(f"a selector has at most {_MAX_TEXT:,} characters")
    if not text.strip():
        return Expression(TRUE)
    try:
        truth: Any = _parser().parse(text)
    except UnexpectedInput as error:
        token = getattr(error, "token", None)
        found = text[getattr(error, "pos_in_stream", 0) :][:1] if token is None else str(token)
        ended = token is not None and token.type == "$END"
        message = "the selector ends too early" if ended else f"unexpected {found!r}"
        raise FilterSyntaxError(
            message, line=max(error.line, 1), column=max(error.column, 1)
        ) from None
    except VisitError as error:
        raise error.orig_exc from None
    return Expression(_truth(truth).true)
