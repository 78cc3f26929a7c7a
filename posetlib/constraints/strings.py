"""Constraints on strings: order, equality, sets, prefixes, suffixes and substrings; exact.

Strings are ordered by code points. Ranges, single strings, sets and prefixes are intervals of this
order, so any combination of them is a canonical union of intervals. Suffixes, substrings and texts
with wildcards are no intervals; they are called *patterns*. A constraint is a few alternatives
(terms), each with intervals, patterns to have and patterns to lack. Two constraints are compared by
simple rules first; if the rules do not decide, by a search over automata (`string_automata`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from itertools import islice
from typing import Any, Final, final

from posetlib.constraints import intervals
from posetlib.constraints.base import Constraint, register_kind
from posetlib.constraints.extents import Extent, Piece
from posetlib.constraints.intervals import TOP, Pairs
from posetlib.constraints.string_automata import (
    ALL,
    LIKE,
    LIKE_IGNORING_CASE,
    Pattern,
    StringTerm,
    after_prefix,
    as_intervals,
    find_string,
    term_matches,
)
from posetlib.constraints.string_forms import (
    MAX_SAMPLES,
    contradict,
    implies,
    is_single_pattern,
    sample_strings,
    simplified,
)
from posetlib.constraints.tokens import Tokens, of_texts, wanted_of
from posetlib.constraints.wildcards import wildcards
from posetlib.errors import EmptyConstraintError, FilterError, TooComplexError
from posetlib.values import MISSING, check_string, is_text, value_text

__all__ = ["ALL_STRINGS", "Strings"]

# The longest suffix or substring, in characters. It bounds the size of one automaton.
_MAX_PATTERN: Final = 500
# Of the strings above any smaller one, two are this one and the next single character.
_LATE: Final = "\U0010fffe"


@final
class Strings(Constraint):
    """A set of strings; ranges follow the order of code points.

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

    #: The alternatives in canonical order; a string must satisfy one of them.
    terms: tuple[StringTerm, ...]
    # The intervals of a constraint without patterns, None for a constraint with patterns.
    _pairs: Pairs | None

    def __init__(self, terms: Iterable[StringTerm]) -> None:
        self.terms = simplified(terms)
        if not self.terms:
            raise EmptyConstraintError("no string satisfies the constraint")
        only_intervals = (
            len(self.terms) == 1 and not self.terms[0].having and not self.terms[0].lacking
        )
        self._pairs = self.terms[0].pairs if only_intervals else None
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
        """Return the strings between two ends; an end of None means no limit on that side.

        >>> Strings.interval("a", "b").matches("abc")
        True
        """
        left = "" if low is None else check_string(low) + "\0" * low_open
        right = TOP if high is None else check_string(high) + "\0" * (not high_open)
        if not left < right:
            raise EmptyConstraintError("no string lies in the range")
        return cls([StringTerm(((left, right),))])

    @classmethod
    def points(cls, values: Iterable[str]) -> Strings:
        """Return the constraint that a value equals one of the strings: O(n log n)."""
        return cls([StringTerm(intervals.normal((v, v + "\0") for v in map(check_string, values)))])

    @classmethod
    def prefix(cls, text: str) -> Strings:
        """Return the strings that begin with `text`.

        >>> Strings.prefix("Fo").matches("Foo")
        True
        """
        return cls([StringTerm(((check_string(text), after_prefix(text)),))])

    @classmethod
    def suffix(cls, text: str) -> Strings:
        """Return the strings that end with `text`.

        >>> Strings.suffix(".com").covers(Strings.suffix("example.com"))
        True
        """
        return cls([StringTerm(ALL, (_pattern("suffix", text),))])

    @classmethod
    def containing(cls, text: str) -> Strings:
        """Return the strings that contain `text`.

        >>> Strings.containing("b").covers(Strings.prefix("ab"))
        True
        """
        return cls([StringTerm(ALL, (_pattern("contains", text),))])

    @classmethod
    def like(cls, text: str, *, ignoring_case: bool = False) -> Strings:
        r"""Return the strings that a text with wildcards stands for (see ``wildcards``).

        >>> Strings.like("a*c").covers(Strings.like("ab?c")), Strings.like("a*")
        (True, <Strings: _ prefix "a">)
        """
        read = wildcards(text, ignoring_case=ignoring_case)
        pieces = read.plain_pieces
        if pieces is None or len(pieces) > 3 or (len(pieces) > 1 and pieces[0] and pieces[-1]):
            read.check_size()
            kind = LIKE_IGNORING_CASE if read.ignoring_case else LIKE
            return cls([StringTerm(ALL, (Pattern(kind, read.text),))])
        if len(pieces) == 1:
            return cls.points(pieces)
        if len(pieces) == 2:
            return cls.suffix(pieces[1]) if pieces[1] else cls.prefix(pieces[0])
        if not pieces[0] and not pieces[2]:
            return cls.containing(pieces[1])
        return cls([StringTerm(ALL, (Pattern(LIKE, read.text),))])

    @classmethod
    def union(cls, members: Iterable[Strings]) -> Strings:
        """Return the union of all members: O(n log n) if all are intervals."""
        return cls([term for member in members for term in member.terms])

    @classmethod
    def intersection(cls, members: Iterable[Strings]) -> Strings:
        """Return the strings that all members share: O(n log n) if each member has one term.

        Raises EmptyConstraintError if they share no string.
        """
        single_terms: list[StringTerm] = []
        mixed: list[Strings] = []
        for member in members:
            if len(member.terms) == 1:
                single_terms.append(member.terms[0])
            else:
                mixed.append(member)
        shared = [
            StringTerm(
                intervals.common([term.pairs for term in single_terms], "", TOP),
                tuple(sorted({pattern for term in single_terms for pattern in term.having})),
                tuple(sorted({pattern for term in single_terms for pattern in term.lacking})),
            )
        ]
        return reduce(lambda a, b: Strings(_shared(a.terms, b.terms)), mixed, cls(shared))

    def complement(self) -> Strings:
        """Return all other strings.

        Raises FilterError for patterns together with intervals, or for several terms with patterns.

        >>> Strings.suffix("a").complement().matches("ab")
        True
        """
        if self._pairs is not None:
            return Strings([StringTerm(intervals.complement(self._pairs, "", TOP))])
        if len(self.terms) == 1 and self.terms[0].pairs == ALL:
            (pairs, having, lacking) = self.terms[0]
            return Strings(
                [
                    *(StringTerm(pairs, (), (pattern,)) for pattern in having),
                    *(StringTerm(pairs, (pattern,)) for pattern in lacking),
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
        if _are_single_patterns(self, other):
            return _pattern_covers(self.terms[0], other.terms[0])
        try:
            return _outside(other, self) is None
        except TooComplexError:  # the limits on each constraint are meant to prevent this
            return all(any(_rules_show_cover(a, b) for a in self.terms) for b in other.terms)

    def _covers_names(self, other: Constraint) -> bool:
        """Return whether all type names of an `isa` constraint are among these strings.

        False if the strings are exactly these names: then `isa` covers this constraint, and if each
        covered the other without being equal, their order would be ambiguous.
        """
        names = other.finite_strings()
        if names is None:
            return Constraint.covers(self, other)
        return all(map(self.matches, names)) and self != Strings.points(names)

    def overlaps(self, other: Constraint) -> bool:
        if not isinstance(other, Strings):
            names = other.finite_strings()
            if names is not None:
                return any(map(self.matches, names))
            return Constraint.overlaps(self, other)
        if self._pairs is not None and other._pairs is not None:
            return intervals.overlaps(self._pairs, other._pairs)
        if _are_single_patterns(self, other):
            return not _pattern_covers(_opposite(other.terms[0]), self.terms[0])
        for sample in islice(sample_strings(self.terms, other.terms), MAX_SAMPLES):
            if self.matches(sample) and other.matches(sample):
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
        if other.finite_strings() is not None:
            return other.merge(self)
        return Constraint.merge(self, other)

    def intersect(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Strings):
            return Strings.intersection((self, other))
        if other.finite_strings() is not None:
            return other.intersect(self)
        return Constraint.intersect(self, other)

    def hull(self, other: Constraint) -> Constraint | None:
        if not isinstance(other, Strings):
            return Constraint.hull(self, other)
        if self._pairs is not None and other._pairs is not None:
            low = min(self._pairs[0][0], other._pairs[0][0])
            return Strings([StringTerm(((low, max(self._pairs[-1][1], other._pairs[-1][1])),))])
        ending = _common_ending(*self.terms, *other.terms)
        return Strings.suffix(ending) if ending else ALL_STRINGS

    @property
    def pairs(self) -> Pairs | None:
        """The intervals of a constraint without patterns, None for a constraint with patterns."""
        return self._pairs

    def listed(self, at_most: int) -> list[str] | None:
        """Return the strings one by one, None if they are more than `at_most`.

        >>> Strings.points(["b", "a"]).listed(2), Strings.prefix("a").listed(9)
        (['a', 'b'], None)
        """
        pairs = _as_intervals(self.terms) if self._pairs is None else self._pairs
        if pairs is None or len(pairs) > at_most or not all(map(_is_point, pairs)):
            return None
        return [low for low, _ in pairs]

    @property
    def is_written_apart(self) -> bool:
        """Whether the text needs no "and": each clause of it is a single condition."""
        return self._pairs is not None or all(
            term.pairs == ALL and len(term.having) + len(term.lacking) == 1
            for term in self.terms
            if term.having or term.lacking
        )

    def is_canonical(self) -> bool:
        return self._pairs is not None

    @property
    def is_interval(self) -> bool:
        return self._pairs is not None and len(self._pairs) == 1

    def extent(self) -> Extent:
        if self._pairs is not None:
            sure = tuple(Piece(low, high, True) for low, high in self._pairs)
            return Extent(strings=sure, tight=True, comparable=True)
        # With patterns, there may be no string near the end of an interval: this is not tight.
        around = intervals.normal(pair for term in self.terms for pair in _pairs_around(term))
        return Extent(strings=tuple(Piece(low, high, False) for low, high in around))

    def tokens(self) -> tuple[Tokens, ...]:
        asked: frozenset[Any] = frozenset()
        if self._pairs is None and len(self.terms) == 1:
            asked = frozenset().union(
                *(
                    wanted_of(pattern.text, at_end=pattern.kind == "suffix")
                    for pattern in self.terms[0].having
                    if pattern.wildcards is None
                )
            )
        # Most tables have no patterns, and then nobody asks which tokens are held.
        return (Tokens("parts", False, asked, self._held_tokens),)

    def _held_tokens(self) -> frozenset[Any] | None:
        """Return the parts and endings that all strings have, None if they are not known."""
        if self.matches(""):
            return frozenset()
        pairs = self._pairs
        if pairs is None:
            term = self.terms[0]
            if len(self.terms) > 1 or not is_single_pattern(term):
                return None
            # A single pattern that the empty string does not satisfy is one to have.
            (pattern,) = term.having
            return of_texts([pattern.text], at_end=pattern.kind == "suffix")
        if all(map(_is_point, pairs)):
            return of_texts([low for low, _ in pairs], at_end=True)
        if len(pairs) > 1:
            return None
        low, high = pairs[0]
        if high is TOP:
            # No character is in all strings that are greater than some low one.
            return frozenset() if low < _LATE else None
        return of_texts([low], at_end=False) if high == after_prefix(low) else None

    def single_value(self) -> Any:
        pairs = self._pairs
        return pairs[0][0] if pairs and len(pairs) == 1 and _is_point(pairs[0]) else MISSING

    def is_whole_domain(self) -> bool:
        return self._pairs == ALL

    def example(self) -> Any:
        samples = filter(self.matches, islice(sample_strings(self.terms, ()), MAX_SAMPLES))
        return next(samples, None) or _string_in(self.terms) or ""

    def example_outside(self, other: Constraint) -> Any:
        names = other.finite_strings()
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
            return _intervals_text(name, self._pairs)
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
    """Return whether an interval contains a single string."""
    return isinstance(pair[1], str) and pair[1] == pair[0] + "\0"


@lru_cache(maxsize=4096)
def _as_intervals(terms: tuple[StringTerm, ...]) -> Pairs | None:
    """Return terms as intervals, None if they are none, or too many."""
    try:
        return as_intervals(terms)
    except TooComplexError:
        return None


def _pairs_around(term: StringTerm) -> Pairs:
    """Return intervals that contain all strings of a term."""
    pairs = term.pairs
    for pattern in term.having:
        read = pattern.wildcards
        if read is not None and read.prefix:
            begun = ((read.prefix, after_prefix(read.prefix)),)
            pairs = intervals.intersection(pairs, begun)
    return pairs


def _shared(a: Sequence[StringTerm], b: Sequence[StringTerm]) -> list[StringTerm]:
    """Return the intersection of two unions of terms, as terms; some may be empty."""
    return [
        StringTerm(
            intervals.intersection(x.pairs, y.pairs),
            tuple(sorted({*x.having, *y.having})),
            tuple(sorted({*x.lacking, *y.lacking})),
        )
        for x in a
        for y in b
    ]


def _string_in(terms: Iterable[StringTerm]) -> str | None:
    """Return a string that satisfies one of the terms, or None."""
    larger = []  # the terms without their single strings, which are tried here without a search
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
    """Return a string that is in `inner` but not in `outer`, None if there is none.

    Each term of `inner` has its own search. If `outer` has a single term, so has each condition of
    that term. The answer is exact, and many small searches are faster than a large one.
    """
    for term in inner.terms:
        for condition in _conditions(outer):
            found = _string_outside(term, condition)
            if found is not None:
                return found
    return None


def _conditions(outer: Strings) -> list[tuple[StringTerm, ...]]:
    """Return constraints, each a union of terms, whose conjunction is `outer`."""
    if len(outer.terms) > 1:
        return [outer.terms]
    (pairs, having, lacking) = outer.terms[0]
    parts = [StringTerm(pairs)] if pairs != ALL else []
    parts += [StringTerm(ALL, (pattern,)) for pattern in having]
    parts += [StringTerm(ALL, (), (pattern,)) for pattern in lacking]
    return [(part,) for part in parts]


@lru_cache(maxsize=1 << 16)
def _string_outside(term: StringTerm, outer: tuple[StringTerm, ...]) -> str | None:
    """Return a string that satisfies `term` and no term of `outer`, None if there is none."""
    if any(_rules_show_cover(other, term) for other in outer):
        return None
    for sample in islice(sample_strings((term,), outer), MAX_SAMPLES):
        if term_matches(term, sample) and not _any_matches(outer, sample):
            return sample
    if len(outer) == 1 and not outer[0].having and not outer[0].lacking:
        outside = intervals.complement(outer[0].pairs, "", TOP)
        return _string_in([term._replace(pairs=intervals.intersection(term.pairs, outside))])
    for low, _ in filter(_is_point, term.pairs):
        if term_matches(term, low) and not _any_matches(outer, low):
            return low  # type: ignore[no-any-return]
    larger = tuple(pair for pair in term.pairs if not _is_point(pair))
    return find_string([term._replace(pairs=larger)], outer) if larger else None


def _any_matches(terms: Iterable[StringTerm], value: str) -> bool:
    """Return whether the string satisfies at least one term."""
    return any(term_matches(term, value) for term in terms)


def _are_single_patterns(a: Strings, b: Strings) -> bool:
    """Return whether both constraints are exactly one pattern each."""
    return (
        len(a.terms) == len(b.terms) == 1
        and is_single_pattern(a.terms[0])
        and is_single_pattern(b.terms[0])
    )


def _pattern_covers(a: StringTerm, b: StringTerm) -> bool:
    """Return whether a term of one pattern covers another such term.

    The rules are exact, because there is always a character that occurs in neither pattern: it can
    separate the patterns in an example.
    """
    if a.having and b.having:
        return implies(b.having[0], a.having[0])
    if a.lacking and b.lacking:
        return implies(a.lacking[0], b.lacking[0])
    if a.having:
        return False
    # Every string with one suffix lacks another suffix if and only if the two contradict.
    return contradict(a.lacking[0], b.having[0])


def _opposite(term: StringTerm) -> StringTerm:
    """Return the complement of a term of one pattern."""
    return term._replace(having=term.lacking, lacking=term.having)


def _rules_show_cover(a: StringTerm, b: StringTerm) -> bool:
    """Return whether simple rules show that `a` covers `b`; False means not known."""
    return (
        intervals.covers(a.pairs, b.pairs)
        and all(any(implies(y, x) for y in b.having) for x in a.having)
        and all(
            any(implies(x, y) for y in b.lacking) or any(contradict(x, y) for y in b.having)
            for x in a.lacking
        )
    )


def _common_ending(*terms: StringTerm) -> str:
    """Return the longest suffix that all terms require, "" if there is none."""
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


def _intervals_text(name: str, pairs: Pairs) -> tuple[str, ...]:
    """Return the text of a union of intervals, as clauses to be joined by "or"."""
    if pairs == ALL:
        return (f"{name} is string",)
    outside = intervals.complement(pairs, "", TOP)
    if all(map(_is_point, outside)):
        return (_listed(name, "!=", "not in", [low for low, _ in outside]),)
    points = [low for low, _ in filter(_is_point, pairs)]
    result = [_interval_text(name, low, high) for low, high in pairs if not _is_point((low, high))]
    if points:
        result.append(_listed(name, "=", "in", points))
    return tuple(result)


def _listed(name: str, one: str, several: str, values: list[str]) -> str:
    """Return a clause with the operator `one` for a single value, `several` for a set of values."""
    if len(values) == 1:
        return f"{name} {one} {value_text(values[0])}"
    return f"{name} {several} {{{', '.join(map(value_text, values))}}}"


def _interval_text(name: str, low: str, high: Any) -> str:
    # The end of an interval after the string s is written s + "\0".
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


def _term_clauses(name: str, term: StringTerm) -> tuple[str, ...]:
    """Return the text of one term, as clauses to be joined by "or"."""
    if not term.having and not term.lacking:
        return _intervals_text(name, term.pairs)
    parts = []
    if term.pairs != ALL:
        pieces = _intervals_text(name, term.pairs)
        parts.append(pieces[0] if len(pieces) == 1 else f"({' or '.join(pieces)})")
    parts += [f"{name} {_pattern_text(pattern)}" for pattern in term.having]
    parts += [f"{name} not {_pattern_text(pattern)}" for pattern in term.lacking]
    return (" and ".join(parts),)


def _pattern_text(pattern: Pattern) -> str:
    if pattern.kind == LIKE_IGNORING_CASE:
        return f"{LIKE} {value_text(pattern.text)} ignoring case"
    return f"{pattern.kind} {value_text(pattern.text)}"


def _term_to_dict(term: StringTerm) -> dict[str, Any]:
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
        terms.append(StringTerm(intervals.normal(pairs), having, lacking))
    return Strings(terms)


def _pattern(kind: str, text: str) -> Pattern:
    """Return a pattern, or raise FilterError if its kind or its text is not valid."""
    if kind in (LIKE, LIKE_IGNORING_CASE):
        (term,) = Strings.like(text, ignoring_case=kind == LIKE_IGNORING_CASE).terms
        if len(term.having) != 1 or term.pairs != ALL:
            raise FilterError(f"{value_text(text)} has no wildcards in its middle")
        return term.having[0]
    if kind not in ("contains", "suffix"):
        raise FilterError(f"a pattern is 'contains', 'suffix' or 'like', not {kind!r}")
    if len(text) > _MAX_PATTERN:
        raise FilterError(f"the text of {kind} has at most {_MAX_PATTERN} characters")
    return Pattern(kind, check_string(text))


register_kind(Strings.kind, _read)

#: The constraint that every string satisfies.
ALL_STRINGS: Final = Strings([StringTerm(ALL)])
