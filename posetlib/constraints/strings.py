"""Constraints on strings: order, equality, prefixes and sets exactly; suffixes and substrings too.

Lexical order, equality, sets and prefixes are all intervals of the one order of strings, so any
mixture of them is a canonical union of intervals. Suffixes and substrings are patterns beside the
intervals: a constraint is a few alternatives, each with intervals, patterns to have and patterns
to lack. Pairs that closed rules do not settle go to the automata of `patterns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import islice
from typing import Any, Final, final

from posetlib import intervals
from posetlib.constraints.base import Constraint, EmptyConstraintError, register_kind
from posetlib.constraints.patterns import (
    ALL,
    TOP,
    Pattern,
    Term,
    TooComplexError,
    after_prefix,
    find_string,
    fresh_character,
    term_matches,
)
from posetlib.constraints.simplifying import implies, is_single_pattern, simplified
from posetlib.errors import FilterError
from posetlib.intervals import Pairs
from posetlib.values import MISSING, check_string, is_text, value_text

__all__ = ["ALL_STRINGS", "Strings"]

_MAX_LIKELY: Final = 50
_MAX_PATTERN: Final = 500


@final
class Strings(Constraint):
    """A set of strings, ordered by code points.

    >>> Strings.interval("bc").covers(Strings.prefix("bc"))
    True
    >>> Strings.interval(None, "ab").covers(Strings.prefix("a"))
    False
    >>> Strings.interval("a", "b", high_open=True) == Strings.prefix("a")
    True
    """

    __slots__ = ("_hash", "_pairs", "terms")
    domain = "string"
    kind = "string"

    #: The alternatives, in canonical order.
    terms: tuple[Term, ...]
    # The intervals, where there is no pattern beside them.
    _pairs: Pairs | None

    def __init__(self, terms: Iterable[Term]) -> None:
        self.terms = simplified(terms)
        if not self.terms:
            raise EmptyConstraintError("no string satisfies the constraint")
        alone = len(self.terms) == 1 and not self.terms[0].having and not self.terms[0].lacking
        self._pairs = self.terms[0].pairs if alone else None
        self._hash = hash(self.terms)

    # -- making ------------------------------------------------------------------------------------

    @classmethod
    def interval(
        cls,
        low: str | None = None,
        high: str | None = None,
        *,
        low_open: bool = False,
        high_open: bool = False,
    ) -> Strings:
        """Return the strings between two, in lexical order; None is without limit."""
        left = "" if low is None else check_string(low) + "\0" * low_open
        right = TOP if high is None else check_string(high) + "\0" * (not high_open)
        if not left < right:
            raise EmptyConstraintError("no string lies in the range")
        return cls([Term(((left, right),))])

    @classmethod
    def points(cls, values: Iterable[str]) -> Strings:
        """Return the given strings."""
        return cls([Term(intervals.normal((v, v + "\0") for v in map(check_string, values)))])

    @classmethod
    def prefix(cls, text: str) -> Strings:
        """Return the strings that begin with a text."""
        return cls([Term(((check_string(text), after_prefix(text)),))])

    @classmethod
    def suffix(cls, text: str) -> Strings:
        """Return the strings that end with a text."""
        return cls([Term(ALL, (_pattern("suffix", text),))])

    @classmethod
    def containing(cls, text: str) -> Strings:
        """Return the strings in which a text occurs."""
        return cls([Term(ALL, (_pattern("contains", text),))])

    @classmethod
    def union(cls, members: Iterable[Strings]) -> Strings:
        """Return the union of many: O(n log n) for intervals."""
        return cls([term for member in members for term in member.terms])

    @classmethod
    def intersection(cls, members: Iterable[Strings]) -> Strings:
        """Return what many share: O(n log n) in all for intervals and for single patterns."""
        alone: list[Term] = []
        mixed: list[Strings] = []
        for member in members:
            if len(member.terms) == 1:
                alone.append(member.terms[0])
            else:
                mixed.append(member)
        shared = [
            Term(
                intervals.common([term.pairs for term in alone], "", TOP),
                tuple(sorted({pattern for term in alone for pattern in term.having})),
                tuple(sorted({pattern for term in alone for pattern in term.lacking})),
            )
        ]
        return reduce(lambda a, b: Strings(_shared(a.terms, b.terms)), mixed, cls(shared))

    def complement(self) -> Strings:
        """Return all other strings; only for a constraint of one part."""
        if self._pairs is not None:
            return Strings([Term(intervals.complement(self._pairs, "", TOP))])
        if len(self.terms) == 1 and self.terms[0].pairs == ALL:
            (pairs, having, lacking) = self.terms[0]
            return Strings(
                [
                    *(Term(pairs, (), (pattern,)) for pattern in having),
                    *(Term(pairs, (pattern,)) for pattern in lacking),
                ]
            )
        raise FilterError("the complement of such a mixture is too complex")

    # -- meaning -----------------------------------------------------------------------------------

    def matches(self, value: Any) -> bool:
        if not isinstance(value, str) or not is_text(value):
            return False
        if self._pairs is not None:
            return intervals.contains(self._pairs, value)
        return _any_matches(self.terms, value)

    def covers(self, other: Constraint) -> bool:
        if not isinstance(other, Strings):
            return self._covers_names(other)
        if self._pairs is not None and other._pairs is not None:
            return intervals.covers(self._pairs, other._pairs)
        if self._hash == other._hash and self.terms == other.terms:
            return True
        if _single_patterns(self, other):
            return _pattern_covers(self.terms[0], other.terms[0])
        try:
            return _outside(other, self) is None
        except TooComplexError:  # the limits of each constraint keep pairs within this one
            return all(any(_implied(a, b) for a in self.terms) for b in other.terms)

    def _covers_names(self, other: Constraint) -> bool:
        """Cover `isa` when it names fewer strings than these; equally many would be a tie."""
        names: frozenset[str] | None = getattr(other, "names", None)
        if names is None or other.domain != "string":
            return Constraint.covers(self, other)
        return all(map(self.matches, names)) and self != Strings.points(names)

    def overlaps(self, other: Constraint) -> bool:
        if not isinstance(other, Strings):
            names: frozenset[str] | None = getattr(other, "names", None)
            if names is not None and other.domain == "string":
                return any(map(self.matches, names))
            return Constraint.overlaps(self, other)
        if self._pairs is not None and other._pairs is not None:
            return intervals.overlaps(self._pairs, other._pairs)
        if _single_patterns(self, other):
            return not _pattern_covers(_opposite(other.terms[0]), self.terms[0])
        for likely in islice(_likely_strings(self.terms, other.terms), _MAX_LIKELY):
            if self.matches(likely) and other.matches(likely):
                return True
        try:
            return _string_in(_shared(self.terms, other.terms)) is not None
        except TooComplexError:
            return True

    def merge(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Strings):
            try:
                return Strings.union((self, other))
            except FilterError:
                return Constraint.merge(self, other)
        return other.merge(self) if hasattr(other, "names") else Constraint.merge(self, other)

    def intersect(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Strings):
            return Strings.intersection((self, other))
        if hasattr(other, "names"):
            return other.intersect(self)
        return Constraint.intersect(self, other)

    def hull(self, other: Constraint) -> Constraint | None:
        if not isinstance(other, Strings):
            return Constraint.hull(self, other)
        if self._pairs is not None and other._pairs is not None:
            low = min(self._pairs[0][0], other._pairs[0][0])
            return Strings([Term(((low, max(self._pairs[-1][1], other._pairs[-1][1])),))])
        ending = _common_ending(*self.terms, *other.terms)
        return Strings.suffix(ending) if ending else ALL_STRINGS

    def is_canonical(self) -> bool:
        return self._pairs is not None

    def is_whole_domain(self) -> bool:
        return self._pairs == ALL

    def example(self) -> Any:
        likely = filter(self.matches, islice(_likely_strings(self.terms, ()), _MAX_LIKELY))
        return next(likely, None) or _string_in(self.terms) or ""

    def example_outside(self, other: Constraint) -> Any:
        names: frozenset[str] | None = getattr(other, "names", None)
        if names is not None:
            return self.example_outside(Strings.points(names))
        if not isinstance(other, Strings):
            return Constraint.example_outside(self, other)
        try:
            found = _outside(self, other)
        except TooComplexError:
            found = None
        return MISSING if found is None else found

    # -- text and dictionaries ---------------------------------------------------------------------

    def clauses(self, name: str) -> tuple[str, ...]:
        if self._pairs is not None:
            return _pairs_text(name, self._pairs)
        return tuple(clause for term in self.terms for clause in _term_clauses(name, term))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "any": [_term_to_dict(term) for term in self.terms]}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Strings) and self._hash == other._hash and self.terms == other.terms
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Strings, (self.terms,))


# -- deciding -------------------------------------------------------------------------------------


def _is_point(pair: tuple[Any, Any]) -> bool:
    return isinstance(pair[1], str) and pair[1] == pair[0] + "\0"


def _shared(a: Sequence[Term], b: Sequence[Term]) -> list[Term]:
    return [
        Term(
            intervals.intersection(x.pairs, y.pairs),
            tuple(sorted({*x.having, *y.having})),
            tuple(sorted({*x.lacking, *y.lacking})),
        )
        for x in a
        for y in b
    ]


def _string_in(terms: Iterable[Term]) -> str | None:
    """Return a string that satisfies one of the terms, or None."""
    larger = []
    for term in terms:
        if not term.having and not term.lacking and term.pairs:
            return term.pairs[0][0]  # type: ignore[no-any-return]
        for low, _ in filter(_is_point, term.pairs):
            if term_matches(term, low):
                return low  # type: ignore[no-any-return]
        rest = tuple(pair for pair in term.pairs if not _is_point(pair))
        if rest:
            larger.append(term._replace(pairs=rest))
    return find_string(larger, ()) if larger else None


def _outside(inner: Strings, outer: Strings) -> str | None:
    """Return a string of the first that is not one of the second, or None.

    A union lies within a set if each of its terms does, and anything lies within a conjunction if
    it lies within each condition: taken apart like this, the searches are small.
    """
    for term in inner.terms:
        for part in _conditions(outer):
            found = _string_outside(term, part)
            if found is not None:
                return found
    return None


def _conditions(outer: Strings) -> list[tuple[Term, ...]]:
    if len(outer.terms) > 1:
        return [outer.terms]
    (pairs, having, lacking) = outer.terms[0]
    parts = [Term(pairs)] if pairs != ALL else []
    parts += [Term(ALL, (pattern,)) for pattern in having]
    parts += [Term(ALL, (), (pattern,)) for pattern in lacking]
    return [(part,) for part in parts]


@lru_cache(maxsize=1 << 16)
def _string_outside(term: Term, outer: tuple[Term, ...]) -> str | None:
    """Return a string that satisfies the term and none of the others, or None."""
    if any(_implied(each, term) for each in outer):
        return None
    for likely in islice(_likely_strings((term,), outer), _MAX_LIKELY):
        if term_matches(term, likely) and not _any_matches(outer, likely):
            return likely
    if len(outer) == 1 and not outer[0].having and not outer[0].lacking:
        outside = intervals.complement(outer[0].pairs, "", TOP)
        return _string_in([term._replace(pairs=intervals.intersection(term.pairs, outside))])
    for low, _ in filter(_is_point, term.pairs):
        if term_matches(term, low) and not _any_matches(outer, low):
            return low  # type: ignore[no-any-return]
    larger = tuple(pair for pair in term.pairs if not _is_point(pair))
    return find_string([term._replace(pairs=larger)], outer) if larger else None


def _any_matches(terms: Iterable[Term], value: str) -> bool:
    return any(term_matches(term, value) for term in terms)


def _single_patterns(a: Strings, b: Strings) -> bool:
    return (
        len(a.terms) == len(b.terms) == 1
        and is_single_pattern(a.terms[0])
        and is_single_pattern(b.terms[0])
    )


def _pattern_covers(a: Term, b: Term) -> bool:
    """Return whether one pattern covers another: exact, since there is always a fresh character."""
    if a.having and b.having:
        return implies(b.having[0], a.having[0])
    if a.lacking and b.lacking:
        return implies(a.lacking[0], b.lacking[0])
    if a.having:
        return False
    avoided, had = a.lacking[0], b.having[0]
    return (
        avoided.kind == had.kind == "suffix"
        and not avoided.text.endswith(had.text)
        and not had.text.endswith(avoided.text)
    )


def _opposite(term: Term) -> Term:
    return term._replace(having=term.lacking, lacking=term.having)


def _likely_strings(inner: Sequence[Term], outer: Sequence[Term]) -> Iterator[str]:
    """Yield strings that satisfy the first if its patterns can stand side by side.

    Most pairs that do not cover one another are told apart by one of these, without a search.
    """
    texts = [p.text for term in (*inner, *outer) for p in (*term.having, *term.lacking)]
    bounds = [low for term in (*inner, *outer) for low, _ in term.pairs]
    fresh = fresh_character([*texts, *bounds])
    for term in inner:
        middle = fresh.join(p.text for p in term.having if p.kind == "contains")
        ending = "".join(p.text for p in term.having if p.kind == "suffix")
        for low, _ in term.pairs:
            yield low + middle + fresh + ending
            yield low + middle + ending
            for text in texts:
                yield low + middle + fresh + text + fresh + ending
                yield low + middle + fresh + text
            yield low + middle + ending + fresh


def _implied(a: Term, b: Term) -> bool:
    """Return whether closed rules show that every string of b is one of a."""
    return (
        intervals.covers(a.pairs, b.pairs)
        and all(any(implies(y, x) for y in b.having) for x in a.having)
        and all(any(implies(x, y) for y in b.lacking) for x in a.lacking)
    )


def _common_ending(*terms: Term) -> str:
    """Return the longest suffix that the patterns of all terms ask for."""
    endings = []
    for term in terms:
        texts = [pattern.text for pattern in term.having if pattern.kind == "suffix"]
        endings.append(texts[0] if texts else "")
    first = endings[0]
    for length in range(len(first), 0, -1):
        if all(ending.endswith(first[-length:]) for ending in endings):
            return first[-length:]
    return ""


# -- writing --------------------------------------------------------------------------------------


def _pairs_text(name: str, pairs: Pairs) -> tuple[str, ...]:
    if pairs == ALL:
        return (f"{name} is string",)
    outside = intervals.complement(pairs, "", TOP)
    if all(map(_is_point, outside)):
        return (_listed(name, "!=", "not in", [low for low, _ in outside]),)
    points = [low for low, _ in filter(_is_point, pairs)]
    result = [_pair_text(name, low, high) for low, high in pairs if not _is_point((low, high))]
    if points:
        result.append(_listed(name, "=", "in", points))
    return tuple(result)


def _listed(name: str, one: str, several: str, values: list[str]) -> str:
    if len(values) == 1:
        return f"{name} {one} {value_text(values[0])}"
    return f"{name} {several} {{{', '.join(map(value_text, values))}}}"


def _pair_text(name: str, low: str, high: Any) -> str:
    if low and high == after_prefix(low):
        return f"{name} prefix {value_text(low)}"
    above, left = (">", "(") if low.endswith("\0") else (">=", "[")
    start = value_text(low.removesuffix("\0"))
    if high == TOP:
        return f"{name} {above} {start}"
    below, right = ("<=", "]") if high.endswith("\0") else ("<", ")")
    end = value_text(high.removesuffix("\0"))
    if not low:
        return f"{name} {below} {end}"
    return f"{name} in {left}{start}, {end}{right}"


def _term_clauses(name: str, term: Term) -> tuple[str, ...]:
    if not term.having and not term.lacking:
        return _pairs_text(name, term.pairs)
    parts = []
    if term.pairs != ALL:
        pieces = _pairs_text(name, term.pairs)
        parts.append(pieces[0] if len(pieces) == 1 else f"({' or '.join(pieces)})")
    parts += [f"{name} {pattern.kind} {value_text(pattern.text)}" for pattern in term.having]
    parts += [f"{name} not {pattern.kind} {value_text(pattern.text)}" for pattern in term.lacking]
    return (" and ".join(parts),)


def _term_to_dict(term: Term) -> dict[str, Any]:
    data: dict[str, Any] = {
        "intervals": [[low, None if high == TOP else high] for low, high in term.pairs]
    }
    for key, patterns in (("having", term.having), ("lacking", term.lacking)):
        if patterns:
            data[key] = [[pattern.kind, pattern.text] for pattern in patterns]
    return data


def _read(data: dict[str, Any]) -> Constraint:
    terms = []
    for term in data["any"]:
        pairs = [
            (check_string(low), TOP if high is None else check_string(high))
            for low, high in term["intervals"]
        ]
        having, lacking = (
            tuple(_pattern(kind, text) for kind, text in term.get(key, ()))
            for key in ("having", "lacking")
        )
        terms.append(Term(intervals.normal(pairs), having, lacking))
    return Strings(terms)


def _pattern(kind: str, text: str) -> Pattern:
    if kind not in ("contains", "suffix"):
        raise FilterError(f"a pattern is 'contains' or 'suffix', not {kind!r}")
    if len(text) > _MAX_PATTERN:
        raise FilterError(f"the text of {kind} has at most {_MAX_PATTERN} characters")
    return Pattern(kind, check_string(text))


register_kind(Strings.kind, _read)

#: Every string.
ALL_STRINGS: Final = Strings([Term(ALL)])
