"""The meaning of a filter, written a second time from the definitions, and decided by enumeration.

Nothing here uses the library. An expression about *one* attribute is a plain tuple:

    ("cmp", int_only, op, constant)                   op: = != < <= > >=
    ("range", int_only, negated, lo, lo_closed, hi, hi_closed)
    ("in", int_only, negated, constants)
    ("text", op, negated, constant)                   op: prefix suffix contains
    ("multi", op, constants)                          subset superset overlaps disjoint has lacks
    ("exists",)   ("is", int_only, domain)   ("isa", name, names)
    ("and", e, ...)   ("or", e, ...)

A filter is a dict from attribute to such an expression. ``UNIVERSE`` is complete for the constants
listed here: any two values that some expression over these constants tells apart are told apart by
two members of it, so inclusion over the universe *is* inclusion of meaning, both ways.

- numbers: an atom looks only at the position relative to the constants and at integrality, so
  every constant, one integer and one non-integer of every gap between them, and both infinities do;
- strings over {a, b} with constants of at most two characters: order, prefix and equality look only
  at the first two characters and at whether there are more; substring and suffix look only at the
  factors and the last two characters. These are the states of a finite automaton, and the universe
  holds a shortest string for every reachable one (characters below "a" and above "b" included);
- multi-values: only the intersection with the constants, and whether anything else is in, matter.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

Expr = tuple[Any, ...]

NUMBER_CONSTANTS = (-1, 0, Fraction(1, 3), 1, 2, Fraction(5, 2), 4)
STRING_CONSTANTS = ("", "a", "b", "aa", "ab", "ba", "bb")
ELEMENT_CONSTANTS = (1, 2, "a", True)
LOW, HIGH = "A", "~"  # stand for every character below "a" and above "b"; between them is none
ABSENT = object()


# --- what an atom means -------------------------------------------------------------------------


def domain(value: object) -> str | None:
    """The domain of a notification's value; None for what belongs to none (NaN, None)."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float, Fraction, Decimal)):
        return None if math.isnan(value) else "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (set, frozenset, list, tuple)):
        return "set"
    return None


def is_integer(value: Any) -> bool:
    """Whether a number is a (finite) integer: 1.0 is one, infinity is none."""
    if isinstance(value, (float, Decimal)) and math.isinf(value):
        return False
    return Fraction(value).denominator == 1


def key(value: Any) -> tuple[str | None, Any]:
    """A value such that two are equal exactly if they are the same value of the same domain."""
    return (domain(value), exact(value))


def exact(value: Any) -> Any:
    """A number as a Fraction (infinities as they are); anything else unchanged."""
    if domain(value) != "number" or (isinstance(value, (float, Decimal)) and math.isinf(value)):
        return float(value) if domain(value) == "number" else value
    return Fraction(value)


def relation(op: str, left: Any, right: Any) -> bool:
    """``left op right`` for two values of one ordered domain."""
    return {
        "=": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[op]


def holds(expr: Expr, value: Any) -> bool:
    """Whether a present value satisfies the expression, straight from the definitions."""
    kind = expr[0]
    if kind == "and":
        return all(holds(part, value) for part in expr[1:])
    if kind == "or":
        return any(holds(part, value) for part in expr[1:])
    if kind == "exists":
        return True
    only_integers = kind in ("cmp", "range", "in", "is") and expr[1]
    if only_integers and not (domain(value) == "number" and is_integer(value)):
        return False
    if kind == "cmp":
        _, _, op, constant = expr
        return domain(value) == domain(constant) and relation(op, exact(value), exact(constant))
    if kind == "range":
        _, _, negated, low, low_closed, high, high_closed = expr
        if domain(value) != domain(low):
            return False
        inside = relation(">=" if low_closed else ">", exact(value), exact(low)) and relation(
            "<=" if high_closed else "<", exact(value), exact(high)
        )
        return inside is not negated
    if kind == "in":
        _, _, negated, constants = expr
        if domain(value) != domain(constants[0]):
            return False
        return (key(value) in {key(c) for c in constants}) is not negated
    if kind == "text":
        _, op, negated, text = expr
        if not isinstance(value, str):
            return False
        found = {
            "prefix": value.startswith(text),
            "suffix": value.endswith(text),
            "contains": text in value,
        }[op]
        return found is not negated
    if kind == "is":
        return domain(value) == expr[2]
    if kind == "isa":
        return isinstance(value, str) and value in expr[2]
    if kind == "multi":
        _, op, constants = expr
        if domain(value) != "set":
            return False
        have = {key(element) for element in value}
        want = {key(constant) for constant in constants}
        return {
            "subset": have <= want,
            "superset": have >= want,
            "overlaps": bool(have & want),
            "disjoint": not have & want,
            "has": have >= want,
            "lacks": not have & want,
        }[op]
    raise AssertionError(expr)


def matches(filter_: Mapping[str, Expr], notification: Mapping[str, Any]) -> bool:
    """Whether every constrained attribute is there and satisfies its expression."""
    return all(
        name in notification and holds(expr, notification[name]) for name, expr in filter_.items()
    )


# --- the universe -------------------------------------------------------------------------------


def number_values(constants: Iterable[Any]) -> list[Any]:
    """Each constant, an integer and a non-integer of every gap between them, both infinities."""
    points = sorted({Fraction(c) for c in constants})
    bounds: list[Fraction | None] = [None, *points, None]
    values: list[Any] = [-math.inf, math.inf]
    for low, high in itertools.pairwise(bounds):
        if low is None and high is None:
            values += [0, Fraction(1, 2)]
        elif low is None:
            assert high is not None
            values += [math.ceil(high) - 1, math.ceil(high) - Fraction(3, 2)]
        elif high is None:
            values += [math.floor(low) + 1, math.floor(low) + Fraction(3, 2)]
        else:
            integer = math.floor(low) + 1
            if integer < high:
                values.append(integer)
            between = next(
                low + (high - low) / k
                for k in (2, 3, 5, 7)
                if (low + (high - low) / k).denominator != 1
            )
            values.append(between)
    for index, point in enumerate(points):
        # The same number in several clothes.
        plain: Any = point.numerator if point.denominator == 1 else point
        if index % 2 and float(point) == point:
            plain = float(point)
        values.append(plain)
    return values


def string_values() -> list[str]:
    """A shortest string for every state that atoms over the constants can tell apart."""

    def state(text: str) -> tuple[object, ...]:
        blurred = "".join(c if c in "ab" else "?" for c in text)
        factors = frozenset(
            blurred[i:j]
            for i in range(len(blurred))
            for j in (i + 1, i + 2)
            if j <= len(blurred) and "?" not in blurred[i:j]
        )
        return (text[:2], len(text) > 2, factors, blurred[-2:])

    seen = {state("")}
    values = [""]
    for text in values:  # breadth first: the list grows while it is read
        for character in (LOW, "a", "b", HIGH):
            longer = text + character
            if (found := state(longer)) not in seen:
                seen.add(found)
                values.append(longer)
    return values


def multi_values() -> list[frozenset[Any]]:
    """Every subset of the constants with none, one or two foreign elements."""
    subsets = [
        frozenset(chosen)
        for size in range(len(ELEMENT_CONSTANTS))
        for chosen in itertools.combinations([c for c in ELEMENT_CONSTANTS if c is not True], size)
    ]
    # True == 1 in Python, so sets with the bool are lists: the two are different elements here.
    plain: list[Any] = [*subsets, *(s | {9} for s in subsets), *(s | {9, "z"} for s in subsets)]
    return plain + [[*s, True] for s in plain]


NUMBERS: tuple[Any, ...] = tuple(number_values(NUMBER_CONSTANTS))
STRINGS: tuple[str, ...] = tuple(string_values())
BOOLS = (True, False)
SETS: tuple[Any, ...] = tuple(multi_values())
UNIVERSE: tuple[Any, ...] = (*NUMBERS, *BOOLS, math.nan, *SETS, *STRINGS)
EVERYTHING = (1 << len(UNIVERSE)) - 1


_MASKS: dict[str, int] = {}


def mask(expr: Expr) -> int:
    """The values of the universe that satisfy the expression, as bits."""
    if expr[0] == "and":
        result = EVERYTHING
        for part in expr[1:]:
            result &= mask(part)
        return result
    if expr[0] == "or":
        result = 0
        for part in expr[1:]:
            result |= mask(part)
        return result
    # By text, since True and 1 are equal, and so one key of a dict, but not one constant.
    text = repr(expr)
    if text not in _MASKS:
        bits = "".join("1" if holds(expr, value) else "0" for value in reversed(UNIVERSE))
        _MASKS[text] = int(bits, 2)
    return _MASKS[text]


def masks(filter_: Mapping[str, Expr]) -> dict[str, int]:
    """What the filter admits, per attribute; one it does not name may be anything, or absent."""
    return {name: mask(expr) for name, expr in filter_.items()}


def means_nothing(filter_: Mapping[str, Expr]) -> bool:
    """Whether no notification satisfies the filter."""
    return any(bits == 0 for bits in masks(filter_).values())


def covers(f: Mapping[str, Expr], g: Mapping[str, Expr]) -> bool:
    """N(f) ⊇ N(g): products of non-empty sets are included exactly if every factor is."""
    mine, other = masks(f), masks(g)
    return all(name in other and other[name] & ~bits == 0 for name, bits in mine.items())


def overlaps(f: Mapping[str, Expr], g: Mapping[str, Expr]) -> bool:
    """Whether some notification satisfies both."""
    mine, other = masks(f), masks(g)
    return all(mine[name] & other[name] for name in mine.keys() & other.keys())


# --- text in many spellings ----------------------------------------------------------------------


class Speller:
    """Writes an expression as text; with a seed other than 0, in an odd but lawful way."""

    def __init__(self, seed: int = 0) -> None:
        self.odd = seed != 0
        self.random = Random(seed)

    def chance(self, share: float) -> bool:
        return self.odd and self.random.random() < share

    def word(self, text: str) -> str:
        """A keyword, in any case."""
        if not self.odd:
            return text
        return self.random.choice([text.lower(), text.upper(), text.title(), text])

    def constant(self, value: Any) -> str:
        if isinstance(value, bool):
            return self.word("true" if value else "false")
        if isinstance(value, str):
            text = json.dumps(value)
            if self.chance(0.3):
                text = '"' + "".join(f"\\u{ord(c):04x}" for c in value) + '"'
            return text
        number = Fraction(value)
        if number.denominator == 1:
            plain = str(number.numerator)
            return self.random.choice([plain, plain + ".0", plain + "e0"]) if self.odd else plain
        ratio = f"{number.numerator}/{number.denominator}"
        if number.denominator in (2, 4, 5, 8, 10):
            return ratio if self.chance(0.3) else str(float(number))
        return ratio

    def shuffled(self, items: Iterable[Any]) -> list[Any]:
        items = list(items)
        if self.odd:
            self.random.shuffle(items)
        return items

    def braces(self, constants: Iterable[Any]) -> list[str]:
        items = self.shuffled(constants)
        if items and self.chance(0.2):
            items.append(items[0])  # a repetition changes nothing
        tokens = ["{"]
        for index, item in enumerate(items):
            tokens += [","] * (index > 0) + [self.constant(item)]
        return [*tokens, "}"]

    def attribute(self, name: str, int_only: bool = False) -> str:
        if self.chance(0.2):
            name = f"`{name}`"
        return name + (":" + self.word("int") if int_only else "")

    def tokens(self, name: str, expr: Expr, inside_and: bool = False) -> list[str]:
        kind = expr[0]
        if kind in ("and", "or"):
            parts = [self.tokens(name, part, kind == "and") for part in self.shuffled(expr[1:])]
            joined = list(parts[0])
            for part in parts[1:]:
                joined += [self.word(kind), *part]
            if (kind == "or" and inside_and) or self.chance(0.2):
                joined = ["(", *joined, ")"]
            return joined
        tokens = self._atom(name, expr)
        while self.chance(0.15):
            tokens = ["(", *tokens, ")"]
        return tokens

    def _atom(self, name: str, expr: Expr) -> list[str]:
        kind = expr[0]
        if kind == "exists":
            return [self.word("exists"), self.attribute(name)]
        if kind == "cmp":
            return [self.attribute(name, expr[1]), expr[2], self.constant(expr[3])]
        if kind == "range":
            _, int_only, negated, low, low_closed, high, high_closed = expr
            return [
                self.attribute(name, int_only),
                *([self.word("not")] if negated else []),
                self.word("in"),
                "[" if low_closed else "(",
                self.constant(low),
                ",",
                self.constant(high),
                "]" if high_closed else ")",
            ]
        if kind == "in":
            _, int_only, negated, constants = expr
            negation = [self.word("not")] if negated else []
            return [
                self.attribute(name, int_only),
                *negation,
                self.word("in"),
                *self.braces(constants),
            ]
        if kind == "text":
            _, op, negated, text = expr
            negation = [self.word("not")] if negated else []
            return [self.attribute(name), *negation, self.word(op), self.constant(text)]
        if kind == "is":
            return [self.attribute(name, expr[1]), self.word("is"), self.word(expr[2])]
        if kind == "isa":
            return [self.attribute(name), self.word("isa"), expr[1]]
        if kind == "multi":
            _, op, constants = expr
            operand = (
                [self.constant(constants[0])] if op in ("has", "lacks") else self.braces(constants)
            )
            return [self.attribute(name), self.word(op), *operand]
        if kind == "place":
            return [self.attribute(name), expr[1], "$" + expr[2]]
        raise AssertionError(expr)

    def clauses(self, filter_: Mapping[str, Expr]) -> list[tuple[str, Expr]]:
        """The conjuncts, those of one attribute torn apart now and then."""
        found: list[tuple[str, Expr]] = []
        for name, expr in filter_.items():
            if expr[0] == "and" and self.chance(0.7):
                found += [(name, part) for part in expr[1:]]
            else:
                found.append((name, expr))
        return self.shuffled(found)

    def text(self, filter_: Mapping[str, Expr]) -> str:
        if not filter_:
            return self.word("true")
        clauses = self.clauses(filter_)
        lone = len(clauses) == 1
        parts = [self.tokens(name, expr, inside_and=not lone) for name, expr in clauses]
        if self.chance(0.1):
            parts.insert(self.random.randrange(len(parts) + 1), [self.word("true")])
            lone = False
            parts = [["(", *part, ")"] for part in parts]
        tokens = list(parts[0])
        for part in parts[1:]:
            tokens += [self.word("and"), *part]
        return self.spaced(tokens)

    def spaced(self, tokens: list[str]) -> str:
        if not self.odd:
            return " ".join(tokens)
        text = tokens[0]
        tight = set("()[]{},=<>") | {"!=", "<=", ">="}
        for left, right in itertools.pairwise(tokens):
            if (left in tight or right in tight) and self.random.random() < 0.5:
                text += right
            else:
                text += self.random.choice([" ", "  ", "\n", "\t", " \r\n "]) + right
        return self.random.choice(["", " ", "\n"]) + text + self.random.choice(["", " ", "\n"])


def spell(filter_: Mapping[str, Expr], seed: int = 0) -> str:
    """The filter as text; another seed gives another spelling of the same filter."""
    return Speller(seed).text(filter_)
