"""From text to filters: the grammar, and folding what it recognises into one constraint each."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedToken, v_args
from lark.exceptions import VisitError

from posetlib.constraints.base import (
    EXISTS,
    Constraint,
    EmptyConstraintError,
    conjunction,
    disjunction,
    register_kind,
)
from posetlib.constraints.booleans import ALL_BOOLEANS
from posetlib.constraints.building import between, compared, negated, not_between, one_of
from posetlib.constraints.multivalues import ALL_SETS, MultiValues
from posetlib.constraints.numbers import ALL_INTEGERS, ALL_NUMBERS, Numbers
from posetlib.constraints.placeholders import Placeholder
from posetlib.constraints.strings import ALL_STRINGS, Strings
from posetlib.constraints.types import Isa, TypeHierarchy
from posetlib.errors import FilterError, FilterSyntaxError
from posetlib.filters import Filter
from posetlib.names import KEYWORDS, NAME_PATTERN, name_text
from posetlib.values import check_number, check_string

__all__ = ["GRAMMAR", "parse_filter", "register_constraint", "unregister_constraint"]

_MAX_LENGTH: Final = 200_000
_MAX_ALTERNATIONS: Final = 64
_MAX_DIGITS: Final = 1_200

_KEYWORD_TERMINALS: Final = {word: f"K_{word.upper()}" for word in sorted(KEYWORDS)}
_KEYWORD_TERMINALS.update({"and": "_AND", "or": "_OR"})  # an underscore: not handed to the folder

GRAMMAR: Final = rf"""
?start: disjunction
?disjunction: conjunction (_OR conjunction)*
?conjunction: factor (_AND factor)*
?factor: "(" disjunction ")"
    | K_TRUE                                         -> everything
    | K_EXISTS attribute                             -> exists
    | attribute COMPARISON literal                   -> compare
    | attribute COMPARISON PLACEHOLDER               -> compare_with
    | attribute K_IN range                           -> inside
    | attribute K_NOT K_IN range                     -> outside
    | attribute K_IN set                             -> member
    | attribute K_NOT K_IN set                       -> no_member
    | attribute (K_PREFIX | K_SUFFIX | K_CONTAINS) text        -> has_text
    | attribute K_NOT (K_PREFIX | K_SUFFIX | K_CONTAINS) text  -> lacks_text
    | attribute K_IS (K_NUMBER | K_STRING | K_BOOL | K_SET)    -> is_domain
    | attribute (K_SUBSET | K_SUPERSET | K_OVERLAPS | K_DISJOINT) set -> sets
    | attribute (K_HAS | K_LACKS) literal            -> element
    | attribute K_ISA type                           -> isa
    | attribute NAME operand                         -> custom

attribute: (NAME | QUOTED) INTEGERS?
range: (LSQB | LPAR) literal "," literal (RSQB | RPAR)
set: "{{" [literal ("," literal)*] "}}"
tuple: ("[" | "(") literal ("," literal)* ("]" | ")")
?operand: literal | set | tuple
?literal: number | text | boolean
number: NUMBER
text: STRING
boolean: K_TRUE | K_FALSE
type: NAME | STRING

NAME: /{NAME_PATTERN}/
QUOTED: /`(?:[^`]|``)+`/
STRING: /"(?:[^"\\\x00-\x1f]|\\.)*"/
NUMBER: /[+-]?(?:[0-9]+\/[0-9]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)/
PLACEHOLDER: /\$(?:{NAME_PATTERN}|`(?:[^`]|``)+`)/
INTEGERS: /:\s*int\b/i
COMPARISON: "=" | "!=" | "<=" | ">=" | "<" | ">"
LSQB: "["
RSQB: "]"
LPAR: "("
RPAR: ")"
WHITESPACE: /\s+/
%ignore WHITESPACE
%declare {" ".join(_KEYWORD_TERMINALS.values())}
"""


class _Nothing:
    """A part of a filter that no value satisfies, and why; the whole may have others."""

    __slots__ = ("why",)

    def __init__(self, why: str) -> None:
        self.why = why


class _Part:
    """What is asked of one attribute so far: constraints that all, or any, must hold.

    Folded only when the operation changes or the text ends, so that long chains are folded in one
    go, however they are parenthesised.
    """

    __slots__ = ("depth", "items", "operation")

    def __init__(self, constraint: Constraint | _Nothing) -> None:
        self.items = [constraint]
        self.operation: _Fold | None = None
        self.depth = 0

    def folded(self, name: str) -> Constraint | _Nothing:
        """Return the one constraint that the items amount to."""
        nothing = [item for item in self.items if isinstance(item, _Nothing)]
        if nothing and (self.operation is conjunction or len(nothing) == len(self.items)):
            return nothing[0]
        if self.operation is None:
            return self.items[0]
        try:
            return self.operation([i for i in self.items if not isinstance(i, _Nothing)])
        except EmptyConstraintError as error:
            return _Nothing(f"{name_text(name)}: {error}")
        except FilterError as error:
            raise FilterError(f"{name_text(name)}: {error}") from None

    def constraint(self, name: str) -> Constraint:
        """Return the same, or raise if no value satisfies it."""
        folded = self.folded(name)
        if isinstance(folded, _Nothing):
            raise EmptyConstraintError(folded.why)
        return folded

    def add(self, operation: _Fold, other: _Part, name: str) -> None:
        """Join another part to this one by the operation."""
        for part in (self, other):
            if part.operation not in (None, operation):
                part.items = [part.folded(name)]
                part.operation = None
                part.depth += 1
        if len(other.items) > len(self.items):
            self.items, other.items = other.items, self.items
        self.items += other.items
        self.operation = operation
        self.depth = max(self.depth, other.depth)
        if self.depth > _MAX_ALTERNATIONS:
            raise FilterError(
                f'{name_text(name)}: "and" and "or" alternate more than '
                f"{_MAX_ALTERNATIONS} levels deep"
            )


_Fold: TypeAlias = Callable[[Iterable[Constraint]], Constraint]
# The expression for a conjunction: what it asks of each attribute.
_Expression: TypeAlias = dict[str, _Part]
# An attribute as written: its name, and whether it is to be an integer.
_Attribute: TypeAlias = tuple[str, bool]
# A range as written: its ends, and whether they are open.
_Range: TypeAlias = tuple[Any, Any, dict[str, bool]]

_DOMAINS: Final[dict[str, Constraint]] = {
    "number": ALL_NUMBERS,
    "string": ALL_STRINGS,
    "bool": ALL_BOOLEANS,
    "set": ALL_SETS,
}
_TEXT: Final[dict[str, Callable[[str], Strings]]] = {
    "prefix": Strings.prefix,
    "suffix": Strings.suffix,
    "contains": Strings.containing,
}
_SETS: Final[dict[str, Callable[[Iterable[Any]], MultiValues]]] = {
    "subset": MultiValues.subset,
    "superset": MultiValues.superset,
    "overlaps": MultiValues.overlapping,
    "disjoint": MultiValues.disjoint,
    "has": MultiValues.superset,
    "lacks": MultiValues.disjoint,
}
_OPERATORS: Final[dict[str, Callable[[Any], Constraint]]] = {}


# The hierarchy of the filter that is being parsed.
_types: ContextVar[TypeHierarchy | None] = ContextVar("posetlib_types", default=None)


@v_args(inline=True)
class _Folder(Transformer[Token, _Expression]):
    """Turns what the parser recognises into expressions, from the leaves up."""

    # -- leaves ------------------------------------------------------------------------------------

    def number(self, token: Token) -> int | float | Fraction:
        try:
            return check_number(_number(token))
        except FilterError as error:
            raise _at(token, str(error)) from None

    def text(self, token: Token) -> str:
        return _string(token)

    def boolean(self, token: Token) -> bool:
        return token.lower() == "true"

    def type(self, token: Token) -> str:
        return _string(token) if token.type == "STRING" else str(token)

    def attribute(self, token: Token, integers: Token | None = None) -> _Attribute:
        return _name(token), integers is not None

    def set(self, *values: Any) -> list[Any]:
        return list(values)

    def tuple(self, *values: Any) -> tuple[Any, ...]:
        return values

    def range(self, left: Token, low: Any, high: Any, right: Token) -> _Range:
        return low, high, {"low_open": left == "(", "high_open": right == ")"}

    # -- predicates --------------------------------------------------------------------------------

    def everything(self, token: Token) -> _Expression:
        return {}

    def exists(self, token: Token, attribute: _Attribute) -> _Expression:
        return _of(attribute, ALL_NUMBERS if attribute[1] else EXISTS)

    def compare(self, attribute: _Attribute, operator: Token, value: Any) -> _Expression:
        return _of(attribute, lambda: compared(str(operator), value))

    def compare_with(self, attribute: _Attribute, operator: Token, other: Token) -> _Expression:
        constraint: Constraint = Placeholder(_name(other[1:]), str(operator))
        if attribute[1]:
            constraint = conjunction([constraint, ALL_INTEGERS])
        return {attribute[0]: _Part(constraint)}

    def inside(self, attribute: _Attribute, _: Token, ends: _Range) -> _Expression:
        return _of(attribute, lambda: between(ends[0], ends[1], **ends[2]))

    def outside(self, attribute: _Attribute, _: Token, __: Token, ends: _Range) -> _Expression:
        return _of(attribute, lambda: not_between(ends[0], ends[1], **ends[2]))

    def member(self, attribute: _Attribute, _: Token, values: list[Any]) -> _Expression:
        return _of(attribute, lambda: one_of(values))

    def no_member(self, attribute: _Attribute, _: Token, __: Token, values: Any) -> _Expression:
        return _of(attribute, lambda: negated(one_of(values)))

    def has_text(self, attribute: _Attribute, operator: Token, text: str) -> _Expression:
        return _of(attribute, lambda: _TEXT[operator.lower()](text))

    def lacks_text(
        self, attribute: _Attribute, _: Token, operator: Token, text: str
    ) -> _Expression:
        return _of(attribute, lambda: negated(_TEXT[operator.lower()](text)))

    def is_domain(self, attribute: _Attribute, _: Token, domain: Token) -> _Expression:
        return _of(attribute, _DOMAINS[domain.lower()])

    def sets(self, attribute: _Attribute, operator: Token, elements: list[Any]) -> _Expression:
        return _of(attribute, lambda: _SETS[operator.lower()](elements))

    def element(self, attribute: _Attribute, operator: Token, element: Any) -> _Expression:
        return _of(attribute, lambda: _SETS[operator.lower()]([element]))

    def isa(self, attribute: _Attribute, _: Token, name: str) -> _Expression:
        return _of(attribute, lambda: Isa.of(name, _types.get()))

    def custom(self, attribute: _Attribute, operator: Token, operand: Any) -> _Expression:
        make = _OPERATORS.get(operator.lower())
        if make is None:
            raise _at(operator, f"unknown operator {operator}", expected=_known_operators())
        return _of(attribute, lambda: make(operand))

    # -- joining -----------------------------------------------------------------------------------

    def conjunction(self, *parts: _Expression) -> _Expression:
        # The largest takes in the others: nothing is copied again and again in nested text.
        joined = max(parts, key=len)
        for expression in parts:
            if expression is not joined:
                for name, part in expression.items():
                    if name in joined:
                        joined[name].add(conjunction, part, name)
                    else:
                        joined[name] = part
        return joined

    def disjunction(self, *parts: _Expression) -> _Expression:
        if {} in parts:
            return {}
        names = sorted({name for expression in parts for name in expression})
        if len(names) > 1:
            listed = ", ".join(map(name_text, names[:5])) + (", ..." if len(names) > 5 else "")
            raise FilterError(
                f'"or" joins conditions on one attribute only, not on different attributes '
                f"({listed}); use one filter for each alternative"
            )
        first, *rest = parts
        for expression in rest:
            first[names[0]].add(disjunction, expression[names[0]], names[0])
        return first


def _of(attribute: _Attribute, constraint: Constraint | Callable[[], Constraint]) -> _Expression:
    """Return the expression for one condition; errors name the attribute."""
    name, integers = attribute
    try:
        made = constraint if isinstance(constraint, Constraint) else constraint()
        if integers:
            if not isinstance(made, Numbers):
                raise FilterError("mixed types: an integer (:int) compares with numbers only")
            made = conjunction([made, ALL_INTEGERS])
    except EmptyConstraintError as error:
        return {name: _Part(_Nothing(f"{name_text(name)}: {error}"))}
    except FilterSyntaxError:
        raise
    except ValueError as error:  # a factory of somebody else's raises what it likes
        raise FilterError(f"{name_text(name)}: {error}") from None
    return {name: _Part(made)}


def _name(text: str) -> str:
    return text[1:-1].replace("``", "`") if text.startswith("`") else str(text)


def _string(token: Token) -> str:
    try:
        value: str = json.loads(token)
        check_string(value)
    except json.JSONDecodeError as error:
        raise _at(token, f"bad escape in a string: {error.msg}", offset=error.pos) from None
    except FilterError as error:
        raise _at(token, str(error)) from None
    return value


def _number(token: Token) -> int | float | Fraction:
    if len(token) > _MAX_DIGITS:
        raise FilterError(f"a number has at most {_MAX_DIGITS} digits")
    if "/" in token:
        numerator, _, denominator = token.partition("/")
        if not int(denominator):
            raise FilterError("a fraction with the denominator 0 is no number")
        return Fraction(int(numerator), int(denominator))
    if token.lstrip("+-").isdigit():
        return int(token)
    value = float(token)
    if math.isinf(value):
        raise FilterError(f"{token} is too large for a floating point number")
    return value


def _at(
    token: Token, message: str, *, expected: Iterable[str] = (), offset: int = 0
) -> FilterSyntaxError:
    line, column = token.line or 1, (token.column or 1) + offset
    return FilterSyntaxError(message, line=line, column=column, expected=expected)


def _keyword(token: Token) -> Token:
    """Tell keywords, in any case, from names."""
    kind = _KEYWORD_TERMINALS.get(token.lower())
    return token if kind is None else token.update(type=kind)


@lru_cache(maxsize=1)
def _parser() -> Lark:
    """Return the parser, made at first use: making it takes longer than importing all the rest."""
    return Lark(
        GRAMMAR,
        parser="lalr",
        lexer="basic",
        lexer_callbacks={"NAME": _keyword},
        maybe_placeholders=False,
        transformer=_Folder(),
    )


def parse_filter(text: str, types: TypeHierarchy | None = None) -> Filter:
    """Return the filter that a text describes; `types` gives meaning to `isa`.

    FilterSyntaxError, with the position, for text that is no filter; FilterError for one that
    matches nothing or mixes what cannot be mixed.

    >>> parse_filter('price in [20, 30] and name prefix "Fo"')
    Filter('name prefix "Fo" and price in [20, 30]')
    """
    if not isinstance(text, str):
        raise TypeError(f"a filter is parsed from a string, not {type(text).__name__}")
    if len(text) > _MAX_LENGTH:
        raise FilterSyntaxError(
            f"a filter's text has at most {_MAX_LENGTH:,} characters, not {len(text):,}"
        )
    token = _types.set(types)
    try:
        expression: Any = _parser().parse(text)
        return Filter({name: part.constraint(name) for name, part in expression.items()})
    except UnexpectedToken as error:
        raise _unexpected(error, text) from None
    except UnexpectedCharacters as error:
        raise _unreadable(error, text) from None
    except VisitError as error:
        raise error.orig_exc from None
    finally:
        _types.reset(token)


# -- saying what was wrong ------------------------------------------------------------------------

_WORDS: Final = {
    "NAME": "a name",
    "QUOTED": "a name",
    "STRING": "a string",
    "NUMBER": "a number",
    "PLACEHOLDER": "$name",
    "INTEGERS": ":int",
    "COMPARISON": "a comparison",
    "LSQB": "[",
    "RSQB": "]",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "COMMA": ",",
    "$END": "the end",
}
_WORDS_OF_KEYWORDS: Final = {kind: word for word, kind in _KEYWORD_TERMINALS.items()}
_OPERATOR_WORDS: Final = frozenset(
    "in is isa not prefix suffix contains subset superset overlaps disjoint has lacks".split()
)


def _unexpected(error: UnexpectedToken, text: str) -> FilterSyntaxError:
    found = error.token
    names = error.accepts or error.expected
    words = {_WORDS.get(name) or _WORDS_OF_KEYWORDS.get(name, name) for name in names}
    if words >= _OPERATOR_WORDS:
        words = (words - _OPERATOR_WORDS - {"a name"}) | {"an operator such as in, is or prefix"}
    if found.type == "$END":
        line, column = _end(text)
        return FilterSyntaxError(
            "the text ends too early" if text.strip() else "there is no filter in empty text",
            line=line,
            column=column,
            expected=sorted(words),
        )
    message = f"unexpected {_shortened(str(found))}"
    if found.lower() in ("nan", "inf", "infinity"):
        message += " (NaN and infinity cannot stand in a filter)"
    elif found.type in _WORDS_OF_KEYWORDS and "a name" in words:
        message += f" (a keyword: an attribute of that name is written `{found}`)"
    return _at(found, message, expected=sorted(words))


def _unreadable(error: UnexpectedCharacters, text: str) -> FilterSyntaxError:
    position: int = error.pos_in_stream  # type: ignore[assignment]
    character = text[position]
    if character == '"':
        message = "a string that is not closed, or has a line break or control character in it"
    elif character == "`":
        message = "a name in backticks that is empty or not closed"
    else:
        message = f"unexpected character {_shortened(character)}"
    return FilterSyntaxError(message, line=error.line, column=error.column)


def _end(text: str) -> tuple[int, int]:
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


# -- new kinds of constraints ---------------------------------------------------------------------


def _known_operators() -> list[str]:
    return sorted(_OPERATOR_WORDS | set(_OPERATORS))


def register_constraint(operator: str, factory: Callable[[Any], Constraint]) -> None:
    """Let filters say ``attribute operator operand`` with a constraint of a new kind.

    `factory` is called with the operand: a number, string or boolean, a list for ``{...}``, a tuple
    for ``(...)`` or ``[...]``. If it is a subclass of Constraint with a `kind` and a `from_dict`,
    filters with it are read from dictionaries too.
    """
    word = operator.lower()
    if name_text(word) != word or "." in word:
        raise ValueError(f"an operator is a plain word that is no keyword, not {operator!r}")
    _OPERATORS[word] = factory
    kind, read = getattr(factory, "kind", ""), getattr(factory, "from_dict", None)
    if kind and read is not None:
        register_kind(kind, read)


def unregister_constraint(operator: str) -> None:
    """Forget an operator that was registered; KeyError if it was not."""
    del _OPERATORS[operator.lower()]
