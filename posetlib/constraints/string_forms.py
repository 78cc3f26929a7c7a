"""Simplify constraints on strings to few and wide alternatives.

A constraint is a list of terms, its alternatives (see `string_automata.StringTerm`). Terms without
patterns become one canonical union of intervals. Terms with patterns are simplified: each term is
widened as far as the meaning of the whole allows (a pattern dropped, a gap between intervals
closed), then terms that the other terms cover are removed. So most constraints of equal meaning
become equal, but not all: the same set of strings may have two different simplest forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from posetlib.constraints import intervals
from posetlib.constraints.intervals import TOP, Cut, Pairs
from posetlib.constraints.string_automata import (
    ALL,
    LIKE_IGNORING_CASE,
    Pattern,
    StringTerm,
    as_intervals,
    count_states,
    find_string,
    fresh_character,
    term_matches,
)
from posetlib.errors import FilterError, TooComplexError

__all__ = [
    "MAX_SAMPLES",
    "contradict",
    "implies",
    "is_single_pattern",
    "sample_strings",
    "simplified",
]

#: The most sample strings that are tried before an automaton is searched. Most comparisons are
#: decided by the first few samples.
MAX_SAMPLES: Final = 50

# The limits of a constraint that has patterns. They keep every later comparison short.
# The most terms of a constraint.
_MAX_TERMS: Final = 128
# The most patterns that one term wants: each substring can double the number of states of a search.
# Those that a term must lack are found by one automaton, and only their characters count.
_MAX_WANTED: Final = 8
# The most characters in all patterns and interval bounds of a constraint.
_MAX_TEXT: Final = 4_000
# The most terms of a constraint that is widened: each step compares every term with all terms.
_MAX_WIDENED: Final = 32
# The most patterns of a term before the implied patterns are removed: every two are compared.
_MAX_REDUCED: Final = 256
# The most automaton states of a constraint. A comparison searches the product of two automata, and
# these limits keep the product below the 300,000 states that a search may visit. The left side is
# searched term by term, and a right side of a single term condition by condition, so that a
# constraint of one term may have more states.
_MAX_STATES: Final = 256
_MAX_STATES_ALONE: Final = 1_024
# The same for a union of single wanted patterns. Its automata advance together: the longest partial
# match determines all others, so there are at most as many states as characters in the patterns.
_MAX_STATES_WORDS: Final = 1_024


def simplified(terms: Iterable[StringTerm]) -> tuple[StringTerm, ...]:
    """Return the terms in their simplest form, () if no string satisfies them.

    Raises FilterError if the patterns are too many or too long for comparisons.
    """
    reduced = ((term.pairs, _reduced(term.having, term.lacking)) for term in terms)
    united = _united(
        StringTerm(pairs, *patterns) for pairs, patterns in reduced if patterns is not None
    )
    if all(not term.having and not term.lacking for term in united):
        return tuple(united)
    if len(united) == 1 and is_single_pattern(united[0]):
        return tuple(united)
    _check_size(united)
    with_wildcards = any(map(_has_wildcards, united))
    if len(united) == 1 and united[0].pairs == ALL and _pattern_count(united[0]) == 1:
        return _single_wildcards(united[0])
    if len(united) == 1 and united[0].pairs == ALL and not with_wildcards:
        # One term without intervals: patterns can be separated by a character that occurs in none
        # of them. So the patterns that `_reduced` keeps can all hold, and none implies another.
        result = tuple(united)
    elif all(is_single_pattern(term) and term.having for term in united):
        result = _without_implied(united)
        _check_states(result, _MAX_STATES_WORDS)
        return result
    else:
        # Widening searches this automaton many times, so it must be small from the start.
        _check_states(united, _MAX_STATES_ALONE)
        result = _widened(united)
    _check_states(result, _MAX_STATES_ALONE if len(result) == 1 else _MAX_STATES)
    return result


def _single_wildcards(term: StringTerm) -> tuple[StringTerm, ...]:
    """Return a term of one text with wildcards, as intervals if it is some: "?*" is > ""."""
    (pattern,) = (*term.having, *term.lacking)
    # Ignoring case, a word is many single strings; it is better read as it was written.
    plain = None if pattern.kind == LIKE_IGNORING_CASE else _intervals_of((term,))
    return (term,) if plain is None else (StringTerm(plain),)


def is_single_pattern(term: StringTerm) -> bool:
    """Return whether the term is exactly one suffix or substring, to have or to lack."""
    return term.pairs == ALL and _pattern_count(term) == 1 and not _has_wildcards(term)


def _has_wildcards(term: StringTerm) -> bool:
    return any(pattern.wildcards is not None for pattern in (*term.having, *term.lacking))


def _check_states(terms: Sequence[StringTerm], limit: int) -> None:
    """Raise FilterError if the automaton of the terms has more than `limit` states."""
    if len(terms) == 1 and terms[0].pairs == ALL and not _has_wildcards(terms[0]):
        # The automata of patterns advance together, but each wanted one also is found or not yet.
        patterns = (*terms[0].having, *terms[0].lacking)
        if (1 + sum(len(p.text) for p in patterns)) << len(terms[0].having) <= limit:
            return
    try:
        count_states(terms, limit)
    except TooComplexError:
        raise FilterError(
            f"too complex: suffix, contains and like with more than {limit} states between them"
        ) from None


def _check_size(terms: Sequence[StringTerm]) -> None:
    """Raise FilterError if there are too many terms, patterns or characters."""
    if len(terms) > _MAX_TERMS:
        raise FilterError(
            f"too complex: {len(terms)} alternatives with suffix or contains; "
            f"at most {_MAX_TERMS} in one constraint"
        )
    if any(len(term.having) > _MAX_WANTED for term in terms):
        raise FilterError(
            f"too complex: more than {_MAX_WANTED} suffix and contains patterns to hold together"
        )
    size = sum(len(p.text) for term in terms for p in (*term.having, *term.lacking))
    size += sum(
        len(bound)
        for term in terms
        for pair in term.pairs
        for bound in pair
        if isinstance(bound, str)
    )
    if size > _MAX_TEXT:
        raise FilterError(
            f"too complex: strings of {size} characters beside suffix or contains; "
            f"at most {_MAX_TEXT} in one constraint"
        )


def _reduced(
    having: Sequence[Pattern], lacking: Sequence[Pattern]
) -> tuple[tuple[Pattern, ...], tuple[Pattern, ...]] | None:
    """Return the patterns without implied ones; None if no string satisfies them all."""
    have = sorted({p for p in having if p.text}, key=_strength)
    lack = sorted(set(lacking), key=_strength)
    if any(not p.text for p in lack):
        return None
    wanted: list[Pattern] = []
    if len(have) + len(lack) > _MAX_REDUCED:
        raise FilterError(
            f"too complex: {len(have) + len(lack)} suffix and contains patterns together"
        )
    for pattern in reversed(have):  # the longest first, since it may imply shorter ones
        if not any(implies(stronger, pattern) for stronger in wanted):
            wanted.append(pattern)
    endings = [p for p in wanted if p.kind == "suffix"]
    # Two suffixes contradict if neither is a suffix of the other (an implied one is removed above).
    if len(endings) > 1 or any(implies(h, p) for h in wanted for p in lack):
        return None
    avoided: list[Pattern] = []
    for pattern in lack:
        # A string with the wanted suffix can never have this suffix: no need to forbid it.
        impossible = any(contradict(pattern, ending) for ending in endings)
        if not impossible and not any(implies(pattern, weaker) for weaker in avoided):
            avoided.append(pattern)
    return tuple(sorted(wanted)), tuple(sorted(avoided))


def _strength(pattern: Pattern) -> tuple[int, bool, str]:
    """Return a sorting key: a pattern sorts after all patterns that it implies."""
    return (len(pattern.text), pattern.kind == "suffix", pattern.text)


def implies(stronger: Pattern, weaker: Pattern) -> bool:
    """Return whether every string with the stronger pattern has the weaker pattern too.

    With wildcards, only equal patterns are known to: automata decide about the others.

    >>> implies(Pattern("suffix", "abc"), Pattern("contains", "b"))
    True
    """
    if stronger.wildcards is not None or weaker.wildcards is not None:
        return stronger == weaker
    if weaker.kind == "contains":
        return weaker.text in stronger.text
    return stronger.kind == "suffix" and stronger.text.endswith(weaker.text)


def contradict(one: Pattern, other: Pattern) -> bool:
    """Return whether no string has both patterns: two suffixes of which neither ends the other.

    >>> contradict(Pattern("suffix", ".org"), Pattern("suffix", ".com"))
    True
    """
    return (
        one.kind == other.kind == "suffix"
        and not one.text.endswith(other.text)
        and not other.text.endswith(one.text)
    )


def _without_implied(terms: Sequence[StringTerm]) -> tuple[StringTerm, ...]:
    """Return terms of one wanted pattern each, without terms that another term covers.

    Comparing two at a time is exact. Around a pattern there is room for a character that occurs in
    no other pattern, so several terms together cover a term only if one of them does.
    """
    weakest: list[StringTerm] = []
    for term in sorted(terms, key=lambda term: _strength(term.having[0])):
        if not any(implies(term.having[0], weaker.having[0]) for weaker in weakest):
            weakest.append(term)
    return tuple(sorted(weakest, key=_order))


def _order(term: StringTerm) -> tuple[object, ...]:
    """Return a sorting key: terms without patterns first. TOP is replaced to compare with str."""
    bounds = tuple((low, "" if high == TOP else high) for low, high in term.pairs)
    return (bool(term.having or term.lacking), term.having, term.lacking, bounds)


def _widened(terms: Sequence[StringTerm]) -> tuple[StringTerm, ...]:
    """Return wide and few terms of the same meaning; repeats a round until nothing changes."""
    try:
        plain = _intervals_of(terms)
        if plain is not None:
            return (StringTerm(plain),) if plain else ()
        before: list[StringTerm] = []
        now = list(terms)
        while now != before and len(now) <= _MAX_WIDENED:
            before, now = now, _widened_once(now)
    except TooComplexError:
        raise FilterError("too complex: this mixture of suffix or contains with others") from None
    return tuple(sorted(now, key=_order))


def _widened_once(terms: Sequence[StringTerm]) -> list[StringTerm]:
    """Return the terms after one round: widen all terms, remove covered terms, trim intervals."""
    possible = [part for term in terms for part in _as_intervals_if_possible(term)]
    wide = [_widen(term, possible) for term in sorted(possible, key=_order)]
    needed = sorted(set(wide), key=_order)
    # Remove terms that the other terms cover; terms with the most patterns are tried first.
    for term in sorted(needed, key=lambda t: (_pattern_count(t), _order(t)), reverse=True):
        others = [other for other in needed if other != term]
        if others and _within(term, others):
            needed = others
    # Trim the terms one after the other. An interval that one term leaves to another term must stay
    # in that term, so each term is compared with the trimmed ones.
    for index, term in enumerate(needed):
        needed[index] = _trimmed(term, needed[:index] + needed[index + 1 :])
    return sorted(_united(needed), key=_order)


def _as_intervals_if_possible(term: StringTerm) -> tuple[StringTerm, ...]:
    """Return the term, without patterns if intervals can express it; () if it has no string."""
    if not term.having and not term.lacking:
        return (term,)
    plain = _intervals_of((term,))
    if plain is None:
        return (term,)
    return (StringTerm(plain),) if plain else ()


def _intervals_of(terms: Sequence[StringTerm]) -> Pairs | None:
    """Return the union of terms as intervals, None if they are no intervals or too many.

    Raises TooComplexError if there are too many states.
    """
    if not any(map(_has_wildcards, terms)):
        return as_intervals(terms)
    try:
        return as_intervals(terms)
    except TooComplexError:
        # A text of n letters is 2**n strings if case is ignored: it is better kept as it is.
        return None if any(find_string((term,), ()) is not None for term in terms) else ()


def _pattern_count(term: StringTerm) -> int:
    return len(term.having) + len(term.lacking)


def _united(terms: Iterable[StringTerm]) -> list[StringTerm]:
    """Return the terms, those with the same patterns joined into one term."""
    grouped: dict[tuple[tuple[Pattern, ...], tuple[Pattern, ...]], list[tuple[Cut, Cut]]] = {}
    for term in terms:
        grouped.setdefault((term.having, term.lacking), []).extend(term.pairs)
    united = [StringTerm(intervals.normal(pairs), *patterns) for patterns, pairs in grouped.items()]
    return [term for term in united if term.pairs]


def _widen(term: StringTerm, whole: Sequence[StringTerm]) -> StringTerm:
    """Return the term without the patterns and gaps that the union `whole` does not need.

    A pattern is dropped, or a gap between intervals closed, if the added strings are in `whole`.
    """
    for pattern in (*term.having, *term.lacking):
        wider = term._replace(
            having=tuple(p for p in term.having if p != pattern),
            lacking=tuple(p for p in term.lacking if p != pattern),
        )
        if _within(wider, whole):
            term = wider
    gaps = intervals.complement(term.pairs, "", TOP)
    closed = [gap for gap in gaps if _within(term._replace(pairs=(gap,)), whole)]
    return term._replace(pairs=intervals.normal([*term.pairs, *closed]))


def _trimmed(term: StringTerm, others: Sequence[StringTerm]) -> StringTerm:
    """Return the term without the intervals whose strings are all in the other terms."""
    if len(term.pairs) == 1:
        return term
    needed = tuple(pair for pair in term.pairs if not _within(term._replace(pairs=(pair,)), others))
    return term._replace(pairs=needed or term.pairs)


def _within(term: StringTerm, whole: Sequence[StringTerm]) -> bool:
    """Return whether every string of the term is in the union `whole`; False if not decided."""
    # A single string needs no search.
    if len(term.pairs) == 1 and term.pairs[0][1] == term.pairs[0][0] + "\0":
        point = term.pairs[0][0]
        return not term_matches(term, point) or any(term_matches(t, point) for t in whole)
    for sample in islice(sample_strings((term,), whole), MAX_SAMPLES):
        if term_matches(term, sample) and not any(term_matches(t, sample) for t in whole):
            return False
    try:
        return find_string((term,), whole) is None
    except TooComplexError:
        return False


def sample_strings(inner: Sequence[StringTerm], outer: Sequence[StringTerm]) -> Iterator[str]:
    """Yield sample strings that probably satisfy a term of `inner`.

    A sample is the low end of an interval followed by the wanted patterns, with a character between
    them that occurs nowhere else; other samples also contain a pattern of either side. Most
    constraints that do not cover each other differ on one of these samples, so no search is needed.
    """
    ours = {p: None for term in inner for p in (*term.having, *term.lacking)}
    theirs = {p: None for term in outer for p in (*term.having, *term.lacking)}
    # First those on which the two sides are most likely to differ.
    patterns = (*(p for p in theirs if p not in ours), *ours, *theirs)
    texts = dict.fromkeys(p.sample("") for p in patterns)
    bounds = [low for term in (*inner, *outer) for low, _ in term.pairs]
    fresh = fresh_character([*texts, *bounds])
    for term in inner:
        middle = fresh.join(p.text for p in term.having if p.kind == "contains")
        ending = "".join(p.text for p in term.having if p.kind == "suffix")
        for pattern in term.having:
            if pattern.wildcards is not None:
                yield pattern.sample("")
                yield pattern.sample(fresh)
                for text in texts:
                    yield pattern.sample(fresh + text + fresh)
        for low, _ in term.pairs:
            yield low + middle + fresh + ending
            yield low + middle + ending
            for text in texts:
                yield low + middle + fresh + text + fresh + ending
                yield low + middle + fresh + text
            yield low + middle + ending + fresh
