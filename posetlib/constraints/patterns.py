"""Deciding whether a string exists that satisfies some conditions and none of others.

Prefix, suffix, substring, order and equality are all regular. Each condition is a small
deterministic automaton here; a search over their product, breadth first, finds a shortest string
that is accepted by one side and refused by the other, or shows that there is none. Nothing is
determinised or minimised, and only states that are reached exist.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, total_ordering
from typing import Final, NamedTuple, TypeAlias

from posetlib import intervals
from posetlib.intervals import Cut, Pairs

__all__ = [
    "ALL",
    "TOP",
    "Pattern",
    "Term",
    "TooComplexError",
    "after_prefix",
    "as_intervals",
    "count_states",
    "find_string",
    "fresh_character",
    "term_matches",
]

_MAX_STATES: Final = 300_000
_MAX_PIECES: Final = 2_000
_LAST: Final = "\U0010ffff"


class TooComplexError(Exception):
    """The search was given up: more states than it may visit."""


@total_ordering
class _Top:
    """The cut after all strings."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Top)

    def __hash__(self) -> int:
        return hash(_Top)

    def __repr__(self) -> str:
        return "TOP"

    def __reduce__(self) -> str:
        return "TOP"


TOP: Final = _Top()
ALL: Final[Pairs] = (("", TOP),)


class Pattern(NamedTuple):
    """A condition on strings that no order expresses."""

    kind: str  # "contains" or "suffix"
    text: str

    def matches(self, value: str) -> bool:
        """Return whether the string has the pattern."""
        return self.text in value if self.kind == "contains" else value.endswith(self.text)


class Term(NamedTuple):
    """The strings of some lexical intervals that have some patterns and lack others."""

    pairs: Pairs
    having: tuple[Pattern, ...] = ()
    lacking: tuple[Pattern, ...] = ()


def term_matches(term: Term, value: str) -> bool:
    """Return whether a string satisfies the term."""
    return (
        intervals.contains(term.pairs, value)
        and all(pattern.matches(value) for pattern in term.having)
        and not any(pattern.matches(value) for pattern in term.lacking)
    )


def after_prefix(prefix: str) -> Cut:
    r"""Return the cut after all strings that begin with `prefix`.

    >>> after_prefix("ab"), after_prefix("a\U0010ffff"), after_prefix("")
    ('ac', 'b', TOP)
    """
    prefix = prefix.rstrip(_LAST)
    return prefix[:-1] + _next_character(prefix[-1]) if prefix else TOP


def _next_character(character: str) -> str:
    code = ord(character) + 1
    return chr(0xE000 if code == 0xD800 else code)  # surrogates are no characters


# A state of one automaton: how far a pattern is matched, or, for intervals, the string so far as
# long as a bound begins with it, then whether everything that begins so is in.
State: TypeAlias = int | str | bool


class _PatternAutomaton:
    """Knuth, Morris and Pratt: the length of the longest prefix of the text that ends here."""

    start: State = 0

    def __init__(self, pattern: Pattern) -> None:
        text = pattern.text
        self.size = len(text)
        self.absorbing = pattern.kind == "contains"
        self.steps: list[dict[str, int]] = []
        fallback = 0
        for position, character in enumerate(text):
            steps = dict(self.steps[fallback]) if position else {}
            if position:
                fallback = self.steps[fallback].get(character, 0)
            steps[character] = position + 1
            self.steps.append(steps)
        self.steps.append({} if self.absorbing else dict(self.steps[fallback]) if text else {})

    def step(self, state: State, character: str) -> State:
        if self.absorbing and state == self.size:
            return state
        return self.steps[state].get(character, 0)  # type: ignore[index]

    def accepts(self, state: State) -> bool:
        return state == self.size

    def settled(self, state: State) -> bool | None:
        """Return what every continuation is, where they are all alike."""
        return True if self.absorbing and state == self.size else None


class _IntervalAutomaton:
    """Follows a string along the bounds of the intervals until it leaves them all."""

    start: State = ""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.bounds = sorted({bound for pair in pairs for bound in pair if isinstance(bound, str)})

    def step(self, state: State, character: str) -> State:
        if not isinstance(state, str):
            return state
        read = state + character
        index = bisect_left(self.bounds, read)
        if index < len(self.bounds) and self.bounds[index].startswith(read):
            return read
        return intervals.contains(self.pairs, read)

    def accepts(self, state: State) -> bool:
        return state if isinstance(state, bool) else intervals.contains(self.pairs, state)

    def settled(self, state: State) -> bool | None:
        return state if isinstance(state, bool) else None


_Automaton: TypeAlias = _PatternAutomaton | _IntervalAutomaton


@lru_cache(maxsize=4096)
def _pattern_automaton(pattern: Pattern) -> _PatternAutomaton:
    return _PatternAutomaton(pattern)


class _Alternatives:
    """A disjunction of terms over the states of shared automata."""

    def __init__(self, terms: Sequence[Term], place: Callable[[Pairs | Pattern], int]) -> None:
        self.terms = [
            (
                [place(term.pairs), *(place(pattern) for pattern in term.having)],
                [place(pattern) for pattern in term.lacking],
            )
            for term in terms
        ]

    def accepts(self, flags: Sequence[bool]) -> bool:
        return any(
            all(flags[i] for i in having) and not any(flags[i] for i in lacking)
            for having, lacking in self.terms
        )

    def settled(self, settled: Sequence[bool | None]) -> bool | None:
        """Return what every continuation is, where it can be told that they are all alike."""
        open_terms = False
        for having, lacking in self.terms:
            if any(settled[i] is False for i in having) or any(settled[i] for i in lacking):
                continue
            if all(settled[i] for i in having) and all(settled[i] is False for i in lacking):
                return True
            open_terms = True
        return None if open_terms else False


class Product:
    """The joint automaton of two disjunctions of terms: those to satisfy and those to avoid."""

    def __init__(self, wanted: Sequence[Term], unwanted: Sequence[Term]) -> None:
        self.automata: list[_Automaton] = []
        places: dict[Pairs | Pattern, int] = {}

        def place(condition: Pairs | Pattern) -> int:
            if condition not in places:
                places[condition] = len(self.automata)
                self.automata.append(
                    _pattern_automaton(condition)
                    if isinstance(condition, Pattern)
                    else _IntervalAutomaton(condition)
                )
            return places[condition]

        self.wanted = _Alternatives(wanted, place)
        self.unwanted = _Alternatives(unwanted, place)
        used = {
            character
            for condition in places
            for text in (
                (condition.text,)
                if isinstance(condition, Pattern)
                else (b for pair in condition for b in pair if isinstance(b, str))
            )
            for character in text
        }
        self.alphabet = classes(sorted(used))

    @property
    def start(self) -> tuple[State, ...]:
        return tuple(automaton.start for automaton in self.automata)

    def step(self, state: tuple[State, ...], character: str) -> tuple[State, ...]:
        return tuple(
            automaton.step(part, character)
            for automaton, part in zip(self.automata, state, strict=True)
        )

    def accepts(self, state: tuple[State, ...]) -> bool:
        flags = [a.accepts(part) for a, part in zip(self.automata, state, strict=True)]
        return self.wanted.accepts(flags) and not self.unwanted.accepts(flags)

    def settled(self, state: tuple[State, ...]) -> bool | None:
        """Return what every continuation is, where it can be told that they are all alike."""
        parts = [a.settled(part) for a, part in zip(self.automata, state, strict=True)]
        wanted, unwanted = self.wanted.settled(parts), self.unwanted.settled(parts)
        if wanted is False or unwanted is True:
            return False
        return True if wanted and unwanted is False else None


def classes(used: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return classes of characters that no condition tells apart: (example, first, last).

    Each character used is a class of its own, and so is each gap between two of them.

    >>> [example for example, _, _ in classes(["a", "c"])]
    ['0', 'a', 'b', 'c', 'd']
    """
    result = []
    low = 0
    for character in [*used, None]:
        high = 0x110000 if character is None else ord(character)
        example = _readable(low, high)
        if example is not None:
            result.append((example, chr(low), chr(high - 1)))
        if character is not None:
            result.append((character, character, character))
            low = high + 1
    return result


def fresh_character(texts: Iterable[str]) -> str:
    """Return a character that occurs in none of the texts, a plain one if there is.

    >>> fresh_character(["abc", "xyz"])
    'd'
    """
    used = sorted({character for text in texts for character in text})
    spare = [example for example, _, _ in classes(used) if example not in used]
    return min(spare, key=lambda example: (not example.isalpha(), example))


def _readable(low: int, high: int) -> str | None:
    """Return a character with a code in [low, high), a plain one if there is; None if empty."""
    for first, last in ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x21, 0x7E), (0, 0xD7FF)):
        if max(low, first) <= min(high - 1, last):
            return chr(max(low, first))
    code = max(low, 0xE000)  # what lies between are surrogates, which are no characters
    return chr(code) if code < high else None


def count_states(terms: Sequence[Term], at_most: int) -> int:
    """Return how many states the automaton of some terms has; TooComplexError past a number."""
    product = Product(terms, ())
    seen = {product.start}
    queue = deque([product.start])
    while queue:
        state = queue.popleft()
        for character, _, _ in product.alphabet:
            following = product.step(state, character)
            if following not in seen and product.settled(following) is None:
                if len(seen) >= at_most:
                    raise TooComplexError
                seen.add(following)
                queue.append(following)
    return len(seen)


def find_string(wanted: Sequence[Term], unwanted: Sequence[Term]) -> str | None:
    """Return a shortest string that satisfies a term of the first and none of the second, or None.

    TooComplexError when the search visits too many states.

    >>> find_string([Term(ALL, (Pattern("suffix", "b"),))], [Term((("b", TOP),))])
    'ab'
    """
    product = Product(wanted, unwanted)
    seen = {product.start}
    queue = deque([(product.start, "")])
    while queue:
        state, text = queue.popleft()
        if product.accepts(state):
            return text
        for character, _, _ in product.alphabet:
            following = product.step(state, character)
            if following not in seen and product.settled(following) is not False:
                if len(seen) >= _MAX_STATES:
                    raise TooComplexError
                seen.add(following)
                queue.append((following, text + character))
    return None


def as_intervals(terms: Sequence[Term]) -> Pairs | None:
    """Return the lexical intervals that the terms amount to; None if no finite number does.

    A set of strings is a finite union of intervals exactly when no string can grow for ever with
    its fate undecided: the undecided states of the automaton have no cycle.

    >>> as_intervals(
    ...     [Term(ALL, (Pattern("contains", "a"),)), Term(ALL, (), (Pattern("contains", "a"),))]
    ... )
    (('', TOP),)
    """
    product = Product(terms, ())
    verdicts = _verdicts(product)
    if verdicts is None:
        return None
    pieces: list[tuple[str, Cut]] = []
    stack = [(product.start, "")]
    while stack:
        state, text = stack.pop()
        if verdicts[state] is not None:
            pieces += [(text, after_prefix(text))] * bool(verdicts[state])
            continue
        if product.accepts(state):
            pieces.append((text, text + "\0"))
        for character, first, last in product.alphabet:
            following = product.step(state, character)
            if verdicts[following] is None:
                stack.append((following, text + character))
            elif verdicts[following]:
                pieces.append((text + first, after_prefix(text + last)))
        if len(pieces) + len(stack) > _MAX_PIECES:
            raise TooComplexError
    return intervals.normal(pieces)


def _verdicts(product: Product) -> dict[tuple[State, ...], bool | None] | None:
    """Return each reachable state's fate: accepts all that follows, nothing, or None for both.

    None instead of a dictionary when an undecided state lies on a cycle; TooComplexError when
    there are too many states to tell.
    """
    follows: dict[tuple[State, ...], list[tuple[State, ...]]] = {}
    queue = deque([product.start])
    while queue:
        state = queue.popleft()
        if state in follows:
            continue
        follows[state] = [product.step(state, c) for c, _, _ in product.alphabet]
        if state in follows[state] and _is_undecided(product, state):
            return None  # what nearly always is the case is found at the first loop
        queue.extend(follows[state])
        if len(follows) > _MAX_PIECES:
            raise TooComplexError
    before: dict[tuple[State, ...], list[tuple[State, ...]]] = {state: [] for state in follows}
    for state, after in follows.items():
        for following in after:
            before[following].append(state)
    accepting = {state for state in follows if product.accepts(state)}
    may_accept = _reaching(accepting, before)
    may_refuse = _reaching(follows.keys() - accepting, before)
    undecided = may_accept & may_refuse
    waiting = {s: sum(after in undecided for after in follows[s]) for s in undecided}
    ready = [state for state, count in waiting.items() if not count]
    for state in ready:
        for earlier in before[state]:
            if earlier in waiting:
                waiting[earlier] -= 1
                if not waiting[earlier]:
                    ready.append(earlier)
    if len(ready) < len(undecided):
        return None
    return {s: None if s in undecided else s in may_accept for s in follows}


def _is_undecided(product: Product, state: tuple[State, ...]) -> bool:
    """Return whether some continuations of a state are accepted and some are not."""
    verdict = product.accepts(state)
    seen = {state}
    queue = deque([state])
    while queue:
        for character, _, _ in product.alphabet:
            following = product.step(queue[0], character)
            if following not in seen:
                if product.accepts(following) != verdict:
                    return True
                seen.add(following)
                queue.append(following)
        queue.popleft()
        if len(seen) > _MAX_STATES:
            raise TooComplexError
    return False


def _reaching(
    targets: Iterable[tuple[State, ...]],
    before: dict[tuple[State, ...], list[tuple[State, ...]]],
) -> set[tuple[State, ...]]:
    reached = set(targets)
    stack = list(reached)
    while stack:
        for earlier in before[stack.pop()]:
            if earlier not in reached:
                reached.add(earlier)
                stack.append(earlier)
    return reached
