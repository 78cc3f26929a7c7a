"""The canonical form of string constraints: fewest and widest alternatives.

Intervals alone are canonical at once. With patterns, each alternative is widened as far as the
meaning allows (a pattern dropped, a gap between intervals closed), then alternatives that the
others already say are left out. That makes most spellings of one meaning equal, not all: the
same strings may have two irredundant descriptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from posetlib import intervals
from posetlib.constraints.patterns import (
    ALL,
    TOP,
    Pattern,
    Term,
    TooComplexError,
    as_intervals,
    count_states,
    find_string,
    term_matches,
)
from posetlib.errors import FilterError
from posetlib.intervals import Cut

__all__ = ["implies", "is_single_pattern", "simplified"]

_MAX_TERMS: Final = 128
_MAX_PATTERNS: Final = 8  # per alternative: each substring doubles what a search may visit
_MAX_TEXT: Final = 4_000
_MAX_WIDENED: Final = 32
# The product of any two of these is less than what a search may visit, since one side is taken
# alternative by alternative, and the other, if it has only one, condition by condition. Words of
# which any will do have no more states together with others than they have characters.
_MAX_STATES: Final = 256
_MAX_STATES_ALONE: Final = 768
_MAX_STATES_WORDS: Final = 1_024
_MAX_REDUCED: Final = 256


def simplified(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return the alternatives in canonical form; none at all if no string satisfies them.

    FilterError for more patterns than comparisons could handle.
    """
    reduced = ((term.pairs, _reduced(term.having, term.lacking)) for term in terms)
    united = _united(Term(pairs, *patterns) for pairs, patterns in reduced if patterns is not None)
    if all(not term.having and not term.lacking for term in united):
        return tuple(united)
    if len(united) == 1 and is_single_pattern(united[0]):
        return tuple(united)
    _check_size(united)
    if len(united) == 1 and united[0].pairs == ALL:
        # With a fresh character between them patterns do not interact: what `_reduced` keeps is
        # possible, and none of it follows from the rest.
        result = tuple(united)
    elif all(is_single_pattern(term) and term.having for term in united):
        result = _without_implied(united)
        _check_states(result, _MAX_STATES_WORDS)
        return result
    else:
        # Simplifying asks many questions of this automaton: it must not be large to begin with.
        _check_states(united, _MAX_STATES_ALONE)
        result = _widened(united)
    _check_states(result, _MAX_STATES_ALONE if len(result) == 1 else _MAX_STATES)
    return result


def is_single_pattern(term: Term) -> bool:
    """Return whether the term is one pattern, wanted or not, and nothing else."""
    return term.pairs == ALL and len(term.having) + len(term.lacking) == 1


def _check_states(terms: Sequence[Term], limit: int) -> None:
    """Refuse what would make comparisons long: any two that pass are compared in full."""
    try:
        count_states(terms, limit)
    except TooComplexError:
        raise FilterError(
            f"too complex: suffix and contains patterns with more than {limit} states between them"
        ) from None


def _check_size(terms: Sequence[Term]) -> None:
    if len(terms) > _MAX_TERMS:
        raise FilterError(
            f"too complex: {len(terms)} alternatives with suffix or contains; "
            f"at most {_MAX_TERMS} in one constraint"
        )
    if any(len(term.having) + len(term.lacking) > _MAX_PATTERNS for term in terms):
        raise FilterError(
            f"too complex: more than {_MAX_PATTERNS} suffix and contains patterns together"
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
    """Return the patterns without those that the others imply; None if they contradict."""
    have = sorted({p for p in having if p.text}, key=_strength)
    lack = sorted(set(lacking), key=_strength)
    if any(not p.text for p in lack):
        return None
    kept: list[Pattern] = []
    if len(have) + len(lack) > _MAX_REDUCED:
        raise FilterError(
            f"too complex: {len(have) + len(lack)} suffix and contains patterns together"
        )
    for pattern in reversed(have):  # the longest first: it may imply the shorter ones
        if not any(implies(stronger, pattern) for stronger in kept):
            kept.append(pattern)
    endings = [p for p in kept if p.kind == "suffix"]
    if len(endings) > 1 or any(implies(h, p) for h in kept for p in lack):
        return None
    avoided: list[Pattern] = []
    for pattern in lack:
        impossible = pattern.kind == "suffix" and any(
            not (e.text.endswith(pattern.text) or pattern.text.endswith(e.text)) for e in endings
        )
        if not impossible and not any(implies(pattern, weaker) for weaker in avoided):
            avoided.append(pattern)
    return tuple(sorted(kept)), tuple(sorted(avoided))


def _strength(pattern: Pattern) -> tuple[int, bool, str]:
    return (len(pattern.text), pattern.kind == "suffix", pattern.text)


def implies(stronger: Pattern, weaker: Pattern) -> bool:
    """Return whether a string with the stronger pattern must have the weaker one.

    >>> implies(Pattern("suffix", "abc"), Pattern("contains", "b"))
    True
    """
    if weaker.kind == "contains":
        return weaker.text in stronger.text
    return stronger.kind == "suffix" and stronger.text.endswith(weaker.text)


def _without_implied(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Return alternatives of one wanted pattern each, without those that another implies.

    Such alternatives never cover one of them together: there is always a fresh character.
    """
    kept: list[Term] = []
    for term in sorted(terms, key=lambda term: _strength(term.having[0])):
        if not any(implies(term.having[0], weaker.having[0]) for weaker in kept):
            kept.append(term)
    return tuple(sorted(kept, key=_order))


def _order(term: Term) -> tuple[object, ...]:
    bounds = tuple((low, "" if high == TOP else high) for low, high in term.pairs)
    return (bool(term.having or term.lacking), term.having, term.lacking, bounds)


def _widened(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Return the terms as wide and as few as they can be; again until nothing changes."""
    try:
        plain = as_intervals(terms)
        if plain is not None:
            return (Term(plain),) if plain else ()
        before: list[Term] = []
        now = list(terms)
        while now != before and len(now) <= _MAX_WIDENED:
            before, now = now, _once(now)
    except TooComplexError:
        raise FilterError("too complex: this mixture of suffix or contains with others") from None
    return tuple(sorted(now, key=_order))


def _once(terms: Sequence[Term]) -> list[Term]:
    possible = [each for term in terms for each in _alone(term)]
    wide = [_widen(term, possible) for term in sorted(possible, key=_order)]
    kept = sorted(set(wide), key=_order)
    # The longest descriptions go first if the others say the same.
    for term in sorted(kept, key=lambda t: (_conditions(t), _order(t)), reverse=True):
        others = [other for other in kept if other != term]
        if others and _within(term, others):
            kept = others
    # One after the other: what one leaves to the others, they must keep.
    for index, term in enumerate(kept):
        kept[index] = _trimmed(term, kept[:index] + kept[index + 1 :])
    return sorted(_united(kept), key=_order)


def _alone(term: Term) -> tuple[Term, ...]:
    """Return a term as intervals if it amounts to that; nothing if no string satisfies it."""
    if not term.having and not term.lacking:
        return (term,)
    plain = as_intervals((term,))
    if plain is None:
        return (term,)
    return (Term(plain),) if plain else ()


def _conditions(term: Term) -> int:
    return len(term.having) + len(term.lacking)


def _united(terms: Iterable[Term]) -> list[Term]:
    """Return the terms with the intervals of those with the same patterns together."""
    grouped: dict[tuple[tuple[Pattern, ...], tuple[Pattern, ...]], list[tuple[Cut, Cut]]] = {}
    for term in terms:
        grouped.setdefault((term.having, term.lacking), []).extend(term.pairs)
    united = [Term(intervals.normal(pairs), *patterns) for patterns, pairs in grouped.items()]
    return [term for term in united if term.pairs]


def _widen(term: Term, whole: Sequence[Term]) -> Term:
    """Return the term with every pattern dropped and every gap closed that the whole allows."""
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


def _trimmed(term: Term, others: Sequence[Term]) -> Term:
    """Return the term without the intervals that hold nothing which the others lack."""
    if len(term.pairs) == 1:
        return term
    needed = tuple(pair for pair in term.pairs if not _within(term._replace(pairs=(pair,)), others))
    return term._replace(pairs=needed or term.pairs)


def _within(term: Term, whole: Sequence[Term]) -> bool:
    """Return whether every string of the term satisfies one of the whole; False if undecided."""
    if len(term.pairs) == 1 and term.pairs[0][1] == term.pairs[0][0] + "\0":
        point = term.pairs[0][0]
        return not term_matches(term, point) or any(term_matches(t, point) for t in whole)
    try:
        return find_string((term,), whole) is None
    except TooComplexError:
        return False
