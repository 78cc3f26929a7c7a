"""Parse the text of a filter: the grammar, and the code that builds constraints while parsing.

All conditions on one attribute are joined into one constraint.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias, TypeVar

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedToken, v_args
from lark.exceptions import VisitError

from posetlib.constraints.addresses import Addresses
from posetlib.constraints.base import EXISTS, Constraint, register_kind, text_of
from posetlib.constraints.booleans import ALL_BOOLEANS
from posetlib.constraints.comparisons import between, compared, negated, not_between, one_of
from posetlib.constraints.complements import ABSENT, complement_of
from posetlib.constraints.elements import Some
from posetlib.constraints.mixtures import conjunction, disjunction
from posetlib.constraints.multivalues import ALL_SETS, MultiValues
from posetlib.constraints.nulls import NULL
from posetlib.constraints.numbers import ALL_INTEGERS, ALL_NUMBERS, Numbers
from posetlib.constraints.placeholders import Placeholder
from posetlib.constraints.strings import ALL_STRINGS, Strings
from posetlib.constraints.types import Isa, TypeHierarchy
from posetlib.errors import EmptyConstraintError, FilterError, FilterSyntaxError
from posetlib.filters.filter import Filter
from posetlib.names import KEYWORDS, NAME_PATTERN, name_text
from posetlib.values import check_number, check_string

__all__ = [
    "GRAMMAR",
    "ConditionBuilder",
    "Conditions",
    "ParsedConditions",
    "Unsatisfiable",
    "make_parser",
    "parse_filter",
    "parsed",
    "register_constraint",
    "unregister_constraint",
]

ResultT = TypeVar("ResultT")

# The longest text of a filter, in characters. It bounds the time to parse a bad input.
_MAX_LENGTH: Final = 200_000
# How often "and" and "or" may alternate in nested conditions on one attribute. Each change joins
# the conditions so far into one constraint, which takes time and may grow.
_MAX_ALTERNATIONS: Final = 64
# The longest number in a text, in characters. 1,200 digits are fewer than 4,096 bits, the limit of
# `check_number`.
_MAX_DIGITS: Final = 1_200

# For each keyword, the terminal of the grammar. Lark drops terminals whose name begins with "_".
_KEYWORD_TERMINALS: Final = {word: f"K_{word.upper()}" for word in sorted(KEYWORDS)}
_KEYWORD_TERMINALS.update({"and": "_AND", "or": "_OR"})
# Words that mean something after an attribute only, so that attributes may have their names.
_LATER_WORDS: Final = {
    word: f"K_{word.upper()}" for word in ("case", "ignoring", "like", "null", "some")
}
_KEYWORD_TERMINALS.update(_LATER_WORDS)
_WORDS: Final = " | ".join(_LATER_WORDS.values())

#: The grammar of filters, for Lark. The name after "->" is a method of `ConditionBuilder`.
GRAMMAR: Final = rf"""
?start: disjunction
?disjunction: conjunction (_OR conjunction)*
?conjunction: factor (_AND factor)*
?factor: "(" disjunction ")"
    | K_NOT "(" disjunction ")"                      -> complement
    | K_TRUE                                         -> everything
    | K_EXISTS attribute                             -> exists
    | K_ABSENT attribute                             -> absent
    | attribute COMPARISON PLACEHOLDER               -> compare_with
    | attribute condition                            -> holds
    | attribute K_SOME condition                     -> some
    | attribute K_SOME INTEGERS condition            -> some_integer
    | attribute K_SOME K_NOT "(" alternatives ")"    -> some_other

?condition: COMPARISON literal                       -> compare
    | K_IN range                                     -> inside
    | K_NOT K_IN range                               -> outside
    | K_IN set                                       -> member
    | K_NOT K_IN set                                 -> no_member
    | K_IN text                                      -> in_network
    | K_NOT K_IN text                                -> outside_network
    | (K_PREFIX | K_SUFFIX | K_CONTAINS) text        -> has_text
    | K_NOT (K_PREFIX | K_SUFFIX | K_CONTAINS) text  -> lacks_text
    | like
    | K_NOT like                                     -> is_not_like
    | K_IS (K_NUMBER | K_STRING | K_BOOL | K_SET | K_NULL) -> is_domain
    | (K_SUBSET | K_SUPERSET | K_OVERLAPS | K_DISJOINT) set -> sets
    | (K_HAS | K_LACKS) literal                      -> element
    | K_ISA type                                     -> isa
    | NAME operand                                   -> custom

alternatives: integers_or_not (_OR integers_or_not)*
?integers_or_not: condition
    | INTEGERS condition                             -> of_integers
like: K_LIKE text [K_IGNORING K_CASE]
attribute: (NAME | QUOTED | {_WORDS}) INTEGERS?
range: (LSQB | LPAR) literal "," literal (RSQB | RPAR)
set: "{{" [literal ("," literal)*] "}}"
tuple: ("[" | "(") literal ("," literal)* ("]" | ")")
?operand: literal | set | tuple
?literal: number | text | boolean
number: NUMBER
text: STRING
boolean: K_TRUE | K_FALSE
type: NAME | STRING | {_WORDS}

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


class Unsatisfiable:
    """A condition that no value satisfies. It is an error unless "or" joins it to another one."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


def _satisfiable(item: Constraint | Unsatisfiable, name: str) -> Constraint | Unsatisfiable:
    """Return a condition on an attribute, or that no value satisfies it, as `x < $x`."""
    if isinstance(item, Constraint) and item.contradicts_itself(name):
        return Unsatisfiable(f"no value satisfies {text_of(item, name_text(name))}")
    return item


class Conditions:
    """The conditions on one attribute so far, all joined by "and" or all joined by "or".

    They are joined into one constraint only when the operation changes or the text ends. So a long
    chain is joined in one step, however it is parenthesised.

    `items` are the conditions, `operation` joins them (None while there is only one), and `depth`
    counts how often "and" and "or" alternated so far.
    """

    __slots__ = ("depth", "items", "operation")

    def __init__(self, constraint: Constraint | Unsatisfiable) -> None:
        self.items = [constraint]
        self.operation: _Join | None = None
        self.depth = 0

    def joined(self, name: str) -> Constraint | Unsatisfiable:
        """Return the items joined into one constraint."""
        items = [_satisfiable(item, name) for item in self.items]
        empty = [item for item in items if isinstance(item, Unsatisfiable)]
        if empty and (self.operation is conjunction or len(empty) == len(items)):
            return empty[0]
        if self.operation is None:
            return items[0]
        try:
            joined = self.operation([i for i in items if not isinstance(i, Unsatisfiable)])
            return _satisfiable(joined, name)
        except EmptyConstraintError as error:
            return Unsatisfiable(f"{name_text(name)}: {error}")
        except FilterError as error:
            raise FilterError(f"{name_text(name)}: {error}") from None

    def constraint(self, name: str) -> Constraint:
        """Return the items joined into one constraint, or raise if no value satisfies it."""
        joined = self.joined(name)
        if isinstance(joined, Unsatisfiable):
            raise EmptyConstraintError(joined.reason)
        return joined

    def add(self, operation: _Join, other: Conditions, name: str) -> None:
        """Join other conditions on the same attribute to these by the operation."""
        for part in (self, other):
            if part.operation not in (None, operation):
                part.items = [part.joined(name)]
                part.operation = None
                part.depth += 1
        # Append the shorter list to the longer one: nested text takes O(n log n) steps in all.
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


# `conjunction` or `disjunction`.
_Join: TypeAlias = Callable[[Iterable[Constraint]], Constraint]
#: What is parsed so far: the conditions on each attribute, joined by "and".
ParsedConditions: TypeAlias = dict[str, Conditions]
# An attribute in the text: its name, and whether ":int" follows (the value must be an integer).
_Attribute: TypeAlias = tuple[str, bool]
# Makes the constraint of a condition on some attribute.
_Condition: TypeAlias = Callable[[], Constraint]
# A range in the text: low end, high end, and the arguments that say which ends are open.
_Range: TypeAlias = tuple[Any, Any, dict[str, bool]]

# The constraint for each domain after "is".
_DOMAINS: Final[dict[str, Constraint]] = {
    "number": ALL_NUMBERS,
    "string": ALL_STRINGS,
    "bool": ALL_BOOLEANS,
    "set": ALL_SETS,
    "null": NULL,
}
# The constraint for each operator on strings.
_STRING_OPERATORS: Final[dict[str, Callable[[str], Strings]]] = {
    "prefix": Strings.prefix,
    "suffix": Strings.suffix,
    "contains": Strings.containing,
}
# The constraint for each operator on sets.
_SET_OPERATORS: Final[dict[str, Callable[[Iterable[Any]], MultiValues]]] = {
    "subset": MultiValues.subset,
    "superset": MultiValues.superset,
    "overlaps": MultiValues.overlapping,
    "disjoint": MultiValues.disjoint,
    "has": MultiValues.superset,
    "lacks": MultiValues.disjoint,
}
# The factories of operators that users registered; see register_constraint.
_REGISTERED_OPERATORS: Final[dict[str, Callable[[Any], Constraint]]] = {}


# The type hierarchy for the filter that is being parsed, for `isa`.
_types: ContextVar[TypeHierarchy | None] = ContextVar("posetlib_types", default=None)


@v_args(inline=True)
class ConditionBuilder(Transformer[Token, Any]):
    """Builds conditions while the parser reads the text, from the smallest parts up.

    Lark calls the method with the name of each rule of the grammar that it recognises.
    """

    # -- literals, names and ranges ----------------------------------------------------------------

    def number(self, token: Token) -> int | float | Fraction:
        try:
            return check_number(_number(token))
        except FilterError as error:
            raise _error_at(token, str(error)) from None

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

    # -- conditions --------------------------------------------------------------------------------

    def everything(self, token: Token) -> ParsedConditions:
        return {}

    def exists(self, token: Token, attribute: _Attribute) -> ParsedConditions:
        return _condition_on(attribute, ALL_NUMBERS if attribute[1] else EXISTS)

    def absent(self, token: Token, attribute: _Attribute) -> ParsedConditions:
        return _condition_on(attribute, ABSENT)

    def holds(self, attribute: _Attribute, condition: _Condition) -> ParsedConditions:
        return _condition_on(attribute, condition)

    def some(self, attribute: _Attribute, _: Token, condition: _Condition) -> ParsedConditions:
        return _condition_on(attribute, lambda: Some(condition()))

    def some_integer(
        self, attribute: _Attribute, _: Token, __: Token, condition: _Condition
    ) -> ParsedConditions:
        return _condition_on(attribute, lambda: Some(_of_integers(condition())))

    def some_other(
        self, attribute: _Attribute, _: Token, __: Token, denied: _Condition
    ) -> ParsedConditions:
        return _condition_on(attribute, lambda: Some(complement_of(denied())))

    def alternatives(self, *parts: _Condition) -> _Condition:
        return lambda: disjunction([part() for part in parts])

    def of_integers(self, _: Token, condition: _Condition) -> _Condition:
        return lambda: _of_integers(condition())

    def compare_with(
        self, attribute: _Attribute, operator: Token, other: Token
    ) -> ParsedConditions:
        constraint: Constraint = Placeholder(_name(other[1:]), str(operator))
        if attribute[1]:
            constraint = conjunction([constraint, ALL_INTEGERS])
        return {attribute[0]: Conditions(constraint)}

    # Each of these returns a function that makes the constraint, so that its errors can be given
    # the name of the attribute.

    def compare(self, operator: Token, value: Any) -> _Condition:
        return lambda: compared(str(operator), value)

    def inside(self, _: Token, ends: _Range) -> _Condition:
        return lambda: between(ends[0], ends[1], **ends[2])

    def outside(self, _: Token, __: Token, ends: _Range) -> _Condition:
        return lambda: not_between(ends[0], ends[1], **ends[2])

    def member(self, _: Token, values: list[Any]) -> _Condition:
        return lambda: one_of(values)

    def no_member(self, _: Token, __: Token, values: Any) -> _Condition:
        return lambda: negated(one_of(values))

    def in_network(self, _: Token, text: str) -> _Condition:
        return lambda: Addresses.network(text)

    def outside_network(self, _: Token, __: Token, text: str) -> _Condition:
        return lambda: Addresses.network(text).complement()

    def has_text(self, operator: Token, text: str) -> _Condition:
        return lambda: _STRING_OPERATORS[operator.lower()](text)

    def lacks_text(self, _: Token, operator: Token, text: str) -> _Condition:
        return lambda: negated(_STRING_OPERATORS[operator.lower()](text))

    def like(self, _: Token, text: str, *ignoring_case: Token) -> _Condition:
        return lambda: Strings.like(text, ignoring_case=bool(ignoring_case))

    def is_not_like(self, _: Token, like: _Condition) -> _Condition:
        return lambda: negated(like())

    def is_domain(self, _: Token, domain: Token) -> _Condition:
        return lambda: _DOMAINS[domain.lower()]

    def sets(self, operator: Token, elements: list[Any]) -> _Condition:
        return lambda: _SET_OPERATORS[operator.lower()](elements)

    def element(self, operator: Token, element: Any) -> _Condition:
        return lambda: _SET_OPERATORS[operator.lower()]([element])

    def isa(self, _: Token, name: str) -> _Condition:
        return lambda: Isa.of(name, _types.get())

    def custom(self, operator: Token, operand: Any) -> _Condition:
        make = _REGISTERED_OPERATORS.get(operator.lower())
        if make is None:
            raise _error_at(operator, f"unknown operator {operator}", expected=_known_operators())
        return lambda: make(operand)

    # -- joining -----------------------------------------------------------------------------------

    def complement(self, token: Token, part: ParsedConditions) -> ParsedConditions:
        if not part:
            raise EmptyConstraintError("nothing satisfies not (true)")
        name = _only_attribute("not ( )", [part])
        try:
            denied = part[name].joined(name)
            if isinstance(denied, Unsatisfiable):
                return {}
            return {name: Conditions(complement_of(denied))}
        except FilterError as error:
            raise FilterError(f"{name_text(name)}: {error}") from None

    def conjunction(self, *parts: ParsedConditions) -> ParsedConditions:
        # Add the smaller expressions to the largest one, so that nested text takes little copying.
        joined = max(parts, key=len)
        for expression in parts:
            if expression is not joined:
                for name, part in expression.items():
                    if name in joined:
                        joined[name].add(conjunction, part, name)
                    else:
                        joined[name] = part
        return joined

    def disjunction(self, *parts: ParsedConditions) -> ParsedConditions:
        if {} in parts:  # "true" has no conditions
            return {}
        name = _only_attribute('"or"', parts)
        first, *rest = parts
        for expression in rest:
            first[name].add(disjunction, expression[name], name)
        return first


def _only_attribute(joint: str, parts: Iterable[ParsedConditions]) -> str:
    """Return the attribute of all parts, or raise FilterError if there are several."""
    names = sorted({name for part in parts for name in part})
    if len(names) > 1:
        listed = ", ".join(map(name_text, names[:5])) + (", ..." if len(names) > 5 else "")
        raise FilterError(
            f"{joint} joins conditions on one attribute only, not on different attributes "
            f"({listed}); use one filter for each alternative, or an expression"
        )
    return names[0]


def _of_integers(constraint: Constraint) -> Constraint:
    """Return a constraint on numbers for integers only."""
    if not isinstance(constraint, Numbers):
        raise FilterError("mixed types: an integer (:int) compares with numbers only")
    return conjunction([constraint, ALL_INTEGERS])


def _condition_on(
    attribute: _Attribute, constraint: Constraint | Callable[[], Constraint]
) -> ParsedConditions:
    """Return one condition as it is parsed; errors name the attribute.

    `constraint` may be a function, so that errors in making the constraint are caught here.
    """
    name, integers = attribute
    try:
        made = constraint if isinstance(constraint, Constraint) else constraint()
        if integers:
            made = _of_integers(made)
    except EmptyConstraintError as error:
        return {name: Conditions(Unsatisfiable(f"{name_text(name)}: {error}"))}
    except FilterSyntaxError:
        raise
    except ValueError as error:  # FilterError, or an error from a registered factory
        raise FilterError(f"{name_text(name)}: {error}") from None
    return {name: Conditions(made)}


def _name(text: str) -> str:
    """Return a name without its backticks."""
    return text[1:-1].replace("``", "`") if text.startswith("`") else str(text)


def _string(token: Token) -> str:
    """Return the value of a string in the text, or raise FilterSyntaxError."""
    try:
        value: str = json.loads(token)
        check_string(value)
    except json.JSONDecodeError as error:
        raise _error_at(token, f"bad escape in a string: {error.msg}", offset=error.pos) from None
    except FilterError as error:
        raise _error_at(token, str(error)) from None
    return value


def _number(token: Token) -> int | float | Fraction:
    """Return the value of a number in the text, or raise FilterError."""
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


def _error_at(
    token: Token, message: str, *, expected: Iterable[str] = (), offset: int = 0
) -> FilterSyntaxError:
    """Return an error at the position of a token, `offset` characters after its start."""
    line, column = token.line or 1, (token.column or 1) + offset
    return FilterSyntaxError(message, line=line, column=column, expected=expected)


def _as_keyword(token: Token) -> Token:
    """Return a name as the terminal of its keyword, in upper or lower case, if it is one."""
    terminal = _KEYWORD_TERMINALS.get(token.lower())
    return token if terminal is None else token.update(type=terminal)


def make_parser(grammar: str, builder: Transformer[Token, Any]) -> Lark:
    """Return a parser for the grammar of filters, or for one that extends it."""
    return Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        lexer_callbacks={"NAME": _as_keyword},
        maybe_placeholders=False,
        transformer=builder,
    )


@lru_cache(maxsize=1)
def _parser() -> Lark:
    """Return the parser. It is made at first use, because that takes longer than the import."""
    return make_parser(GRAMMAR, ConditionBuilder())


def parsed(
    parser: Callable[[], Lark],
    text: str,
    types: TypeHierarchy | None,
    finish: Callable[[Any], ResultT],
    what: str = "a filter",
) -> ResultT:
    """Return what ``finish`` makes of a parsed text; errors say where the text went wrong."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is parsed from a string, not {type(text).__name__}")
    if len(text) > _MAX_LENGTH:
        raise FilterSyntaxError(
            f"{what}'s text has at most {_MAX_LENGTH:,} characters, not {len(text):,}"
        )
    token = _types.set(types)
    try:
        return finish(parser().parse(text))
    except UnexpectedToken as error:
        raise _unexpected(error, text, what) from None
    except UnexpectedCharacters as error:
        raise _unreadable(error, text) from None
    except VisitError as error:
        raise error.orig_exc from None
    finally:
        _types.reset(token)


def parse_filter(text: str, types: TypeHierarchy | None = None) -> Filter:
    """Return the filter that a text describes; `isa` conditions need the type hierarchy `types`.

    Raises FilterSyntaxError, with the position, if the text does not follow the grammar. Raises
    FilterError if the filter matches nothing, mixes types that do not mix, or is too complex.

    >>> parse_filter('price in [20, 30] and name prefix "Fo"')
    Filter('name prefix "Fo" and price in [20, 30]')
    """
    return parsed(_parser, text, types, _as_filter)


def _as_filter(conditions: ParsedConditions) -> Filter:
    return Filter({name: part.constraint(name) for name, part in conditions.items()})


# -- messages for syntax errors -------------------------------------------------------------------

# How a message names each terminal of the grammar.
_TERMINAL_WORDS: Final = {
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
_KEYWORD_WORDS: Final = {kind: word for word, kind in _KEYWORD_TERMINALS.items()}
# If all operators are possible, a message gives an example instead of listing them.
_OPERATOR_WORDS: Final = frozenset(
    {"contains", "disjoint", "has", "in", "is", "isa", "lacks", "like", "not", "overlaps"}
    | {"prefix", "some", "subset", "suffix", "superset"}
)


def _unexpected(error: UnexpectedToken, text: str, what: str) -> FilterSyntaxError:
    """Return the error for a token that cannot stand at its place."""
    found = error.token
    names = set(error.accepts or error.expected)
    if "NAME" in names and "K_IN" not in names:  # a place for an attribute, which may be any word
        names -= set(_LATER_WORDS.values())
    words = {_TERMINAL_WORDS.get(name) or _KEYWORD_WORDS.get(name, name) for name in names}
    if words >= _OPERATOR_WORDS:
        words = (words - _OPERATOR_WORDS - {"a name"}) | {"an operator such as in, is or prefix"}
    if found.type == "$END":
        line, column = _end_position(text)
        return FilterSyntaxError(
            "the text ends too early"
            if text.strip()
            else f"there is no {what.split()[1]} in empty text",
            line=line,
            column=column,
            expected=sorted(words),
        )
    message = f"unexpected {_shortened(str(found))}"
    if found.lower() in ("nan", "inf", "infinity"):
        message += " (NaN and infinity cannot stand in a filter)"
    elif found.type in _KEYWORD_WORDS and "a name" in words:
        message += f" (a keyword: an attribute of that name is written `{found}`)"
    return _error_at(found, message, expected=sorted(words))


def _unreadable(error: UnexpectedCharacters, text: str) -> FilterSyntaxError:
    """Return the error for characters that do not begin a token."""
    position: int = error.pos_in_stream  # type: ignore[assignment]
    character = text[position]
    if character == '"':
        message = "a string that is not closed, or has a line break or control character in it"
    elif character == "`":
        message = "a name in backticks that is empty or not closed"
    else:
        message = f"unexpected character {_shortened(character)}"
    return FilterSyntaxError(message, line=error.line, column=error.column)


def _end_position(text: str) -> tuple[int, int]:
    """Return line and column after the last character, both counted from 1."""
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


# -- new kinds of constraints ---------------------------------------------------------------------


def _known_operators() -> list[str]:
    return sorted(_OPERATOR_WORDS | set(_REGISTERED_OPERATORS))


def register_constraint(operator: str, factory: Callable[[Any], Constraint]) -> None:
    """Add an operator to the language: ``attribute operator operand``.

    `factory` makes the constraint from the operand: a number, a string, a boolean, a list for
    ``{...}``, or a tuple for ``(...)`` or ``[...]``. If `factory` is a subclass of Constraint with
    a `kind` and a `from_dict`, `Filter.from_dict` can read its constraints too.

    >>> register_constraint("startswith", Strings.prefix)
    >>> parse_filter('name startswith "Fo"')
    Filter('name prefix "Fo"')
    >>> unregister_constraint("startswith")
    """
    word = operator.lower()
    if name_text(word) != word or "." in word:
        raise ValueError(f"an operator is a plain word that is no keyword, not {operator!r}")
    _REGISTERED_OPERATORS[word] = factory
    kind, read = getattr(factory, "kind", ""), getattr(factory, "from_dict", None)
    if kind and read is not None:
        register_kind(kind, read)


def unregister_constraint(operator: str) -> None:
    """Remove a registered operator from the language; KeyError if it is not registered."""
    del _REGISTERED_OPERATORS[operator.lower()]
