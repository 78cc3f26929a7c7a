"""Find a string that satisfies some conditions and violates others, or show that none exists.

Prefixes, suffixes, substrings, wildcards, lexical order and equality are regular conditions, so
each condition is a small deterministic automaton. A breadth-first search over the product of these
automata finds a shortest string that satisfies the wanted conditions and no unwanted ones. Only the
states that the search reaches are computed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from posetlib.constraints import intervals
from posetlib.constraints.intervals import TOP, Cut, Pairs
from posetlib.constraints.wildcards import Wildcards, wildcards
from posetlib.errors import TooComplexError

__all__ = [
    "ALL",
    "LIKE",
    "LIKE_IGNORING_CASE",
    "Pattern",
    "StringTerm",
    "after_prefix",
    "as_intervals",
    "count_states",
    "find_string",
    "fresh_character",
    "term_matches",
]

# The most product states that one search visits; it bounds the time of one comparison.
_MAX_STATES: Final = 300_000
# The most product states, and the most intervals, when terms are rewritten as intervals. Most terms
# cannot be rewritten, so this attempt must be cheap.
_MAX_PIECES: Final = 2_000
# The last character of Unicode. It has no next character, so `after_prefix` removes it.
_LAST: Final = "\U0010ffff"


#: The interval of all strings.
ALL: Final[Pairs] = (("", TOP),)


#: The kinds of patterns with wildcards.
LIKE: Final = "like"
LIKE_IGNORING_CASE: Final = "like ignoring case"


class Pattern(NamedTuple):
    """A suffix, a substring or a text with wildcards: a condition that is no union of intervals."""

    kind: str  # "contains", "suffix", LIKE or LIKE_IGNORING_CASE
    text: str

    @property
    def wildcards(self) -> Wildcards | None:
        """The text with wildcards, read; None for a suffix or a substring."""
        if self.kind in ("contains", "suffix"):
            return None
        return wildcards(self.text, ignoring_case=self.kind == LIKE_IGNORING_CASE)

    def matches(self, value: str) -> bool:
        """Return whether the string has the pattern."""
        if self.kind == "contains":
            return self.text in value
        if self.kind == "suffix":
            return value.endswith(self.text)
        return wildcards(self.text, ignoring_case=self.kind == LIKE_IGNORING_CASE).matches(value)

    def sample(self, filling: str) -> str:
        """Return a string that has the pattern, with a filling for each wildcard."""
        read = self.wildcards
        return self.text if read is None else read.sample(filling)


class StringTerm(NamedTuple):
    """One alternative of a constraint on strings.

    A string must lie in one of the lexical intervals `pairs`, have all patterns of `having`, and
    have no pattern of `lacking`.
    """

    pairs: Pairs
    having: tuple[Pattern, ...] = ()
    lacking: tuple[Pattern, ...] = ()


def term_matches(term: StringTerm, value: str) -> bool:
    """Return whether a string satisfies the term."""
    return (
        intervals.contains(term.pairs, value)
        and all(pattern.matches(value) for pattern in term.having)
        and not any(pattern.matches(value) for pattern in term.lacking)
    )


def after_prefix(prefix: str) -> Cut:
    r"""Return the cut just after all strings that begin with `prefix`.

    >>> after_prefix("ab"), after_prefix("a\U0010ffff"), after_prefix("")
    ('ac', 'b', TOP)
    """
    prefix = prefix.rstrip(_LAST)
    return prefix[:-1] + _next_character(prefix[-1]) if prefix else TOP


def _next_character(character: str) -> str:
    code = ord(character) + 1
    return chr(0xE000 if code == 0xD800 else code)  # skip the surrogates


# A state of one automaton. For patterns, it is a number (see `_PatternAutomaton`). For intervals,
# it is the string read so far (a str) as long as some bound begins with this string. Then it is a
# bool: whether the intervals contain all strings that begin with the string read.
State: TypeAlias = int | str | bool

# The state of patterns of which a substring was found: it stays found whatever comes.
_FOUND: Final = -1


class _PatternAutomaton:
    """Finds any of some suffixes and substrings, as in the algorithm of Aho and Corasick.

    The state is a number for the longest beginning of a pattern with which the string read so far
    ends. So there are no more states than characters in the patterns, however many patterns.
    """

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        children: list[dict[str, int]] = [{}]
        found = [False]  # whether a substring ends here
        # For each state, whether a suffix ends here.
        self.endings = endings = [False]
        for pattern in patterns:
            state = 0
            for character in pattern.text:
                following = children[state].setdefault(character, len(children))
                if following == len(children):
                    children.append({})
                    found.append(False)
                    endings.append(False)
                state = following
            (found if pattern.kind == "contains" else endings)[state] = True
        # For each state, the next state by character; a character that is not listed leads to 0.
        self.steps: list[dict[str, int]] = [{} for _ in children]
        # For each state, that of the longest beginning of a pattern with which its own one ends.
        fallback = [0] * len(children)
        breadth_first = [0]
        for state in breadth_first:
            behind = self.steps[fallback[state]] if state else {}
            self.steps[state] = {**behind, **children[state]}
            for character, child in children[state].items():
                fallback[child] = behind.get(character, 0)
                found[child] = found[child] or found[fallback[child]]
                endings[child] = endings[child] or endings[fallback[child]]
                breadth_first.append(child)
        for steps in self.steps:
            for character, following in steps.items():
                if found[following]:
                    steps[character] = _FOUND
        self.start: State = _FOUND if found[0] else 0

    def step(self, state: State, character: str) -> State:
        if state == _FOUND:
            return state
        return self.steps[state].get(character, 0)  # type: ignore[index]

    def accepts(self, state: State) -> bool:
        return state == _FOUND or self.endings[state]  # type: ignore[index]

    def settled(self, state: State) -> bool | None:
        """Return True if all continuations are accepted, False if none is, None if not known."""
        return True if state == _FOUND else None


class _IntervalAutomaton:
    """Compares a string with the bounds of intervals until no bound begins with it any more."""

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


_Automaton: TypeAlias = _PatternAutomaton | _IntervalAutomaton | Wildcards
#: A string lies in one of some intervals, or has one of some patterns.
_Condition: TypeAlias = Pairs | tuple[Pattern, ...]


@lru_cache(maxsize=4096)
def _pattern_automaton(patterns: tuple[Pattern, ...]) -> _PatternAutomaton:
    return _PatternAutomaton(patterns)


def _automaton(condition: _Condition) -> _Automaton:
    if condition and isinstance(condition[0], Pattern):
        return condition[0].wildcards or _pattern_automaton(condition)
    return _IntervalAutomaton(condition)


def _texts(condition: _Condition) -> Iterator[str]:
    """Yield the texts of patterns, or the bounds of intervals."""
    for each in condition:
        if isinstance(each, Pattern):
            yield each.text if each.wildcards is None else each.wildcards.characters
        else:
            yield from (bound for bound in each if isinstance(bound, str))


def _found_together(patterns: tuple[Pattern, ...]) -> list[tuple[Pattern, ...]]:
    """Return the patterns in groups, each to be found by one automaton."""
    plain = tuple(each for each in patterns if each.wildcards is None)
    alone: list[tuple[Pattern, ...]] = [(each,) for each in patterns if each.wildcards is not None]
    return [plain, *alone] if plain else alone


class _Alternatives:
    """A disjunction of terms, with the conditions of each term as indexes into shared automata.

    Each wanted pattern has an automaton of its own. The unwanted suffixes and substrings of a term
    share one, which finds any of them: a long list of them is as fast as a short one.
    """

    def __init__(self, terms: Sequence[StringTerm], place: Callable[[_Condition], int]) -> None:
        self.terms = [
            (
                [place(term.pairs), *(place((pattern,)) for pattern in term.having)],
                [place(patterns) for patterns in _found_together(term.lacking)],
            )
            for term in terms
        ]

    def accepts(self, flags: Sequence[bool]) -> bool:
        return any(
            all(flags[i] for i in having) and not any(flags[i] for i in lacking)
            for having, lacking in self.terms
        )

    def settled(self, settled: Sequence[bool | None]) -> bool | None:
        """Return True if all continuations are accepted, False if none is, None if not known."""
        open_terms = False
        for having, lacking in self.terms:
            if any(settled[i] is False for i in having) or any(settled[i] for i in lacking):
                continue
            if all(settled[i] for i in having) and all(settled[i] is False for i in lacking):
                return True
            open_terms = True
        return None if open_terms else False


class Product:
    """The product of all automata of two disjunctions: terms to satisfy and terms to avoid.

    It accepts a string that satisfies a wanted term and no unwanted term.
    """

    def __init__(self, wanted: Sequence[StringTerm], unwanted: Sequence[StringTerm]) -> None:
        self.automata: list[_Automaton] = []
        places: dict[_Condition, int] = {}
        used_characters: set[str] = set()

        def place(condition: _Condition) -> int:
            """Return the index of the automaton of a condition; equal conditions share one."""
            if condition not in places:
                places[condition] = len(self.automata)
                self.automata.append(_automaton(condition))
                for text in _texts(condition):
                    used_characters.update(text)
            return places[condition]

        self.wanted = _Alternatives(wanted, place)
        self.unwanted = _Alternatives(unwanted, place)
        self.alphabet = _character_classes(sorted(used_characters))

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
        """Return True if all continuations are accepted, False if none is, None if not known."""
        parts = [a.settled(part) for a, part in zip(self.automata, state, strict=True)]
        wanted, unwanted = self.wanted.settled(parts), self.unwanted.settled(parts)
        if wanted is False or unwanted is True:
            return False
        return True if wanted and unwanted is False else None


def _character_classes(used: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return classes of characters that all conditions treat alike: (example, first, last).

    `used` are the characters that occur in the conditions, sorted. Each of them is a class, and so
    are all characters between two neighbours of them.

    >>> [example for example, _, _ in _character_classes(["a", "c"])]
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
    """Return a character that occurs in none of the texts, a letter if possible.

    >>> fresh_character(["abc", "xyz"])
    'd'
    """
    used = sorted({character for text in texts for character in text})
    unused = [example for example, _, _ in _character_classes(used) if example not in used]
    return min(unused, key=lambda example: (not example.isalpha(), example))


def _readable(low: int, high: int) -> str | None:
    """Return a character with a code in [low, high), printable if possible, or None."""
    # Lower case, digits, upper case, other printable ASCII, then all codes below the surrogates.
    for first, last in ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x21, 0x7E), (0, 0xD7FF)):
        if max(low, first) <= min(high - 1, last):
            return chr(max(low, first))
    code = max(low, 0xE000)  # the codes from 0xD800 to 0xDFFF are surrogates, not characters
    return chr(code) if code < high else None


def count_states(terms: Sequence[StringTerm], at_most: int) -> int:
    """Return the number of undecided states of the terms' automaton; TooComplexError past a limit.

    A state is undecided if it is not known that all continuations are accepted, or that none is.
    """
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


def find_string(wanted: Sequence[StringTerm], unwanted: Sequence[StringTerm]) -> str | None:
    """Return a shortest string that satisfies a wanted and no unwanted term, None if none exists.

    Raises TooComplexError if the search visits more than 300,000 states.

    >>> find_string([StringTerm(ALL, (Pattern("suffix", "b"),))], [StringTerm((("b", TOP),))])
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


def as_intervals(terms: Sequence[StringTerm]) -> Pairs | None:
    """Return the union of terms as lexical intervals, None if it is no finite union of them.

    A set of strings is a finite union of intervals if and only if the undecided states of its
    automaton form no cycle. A state is undecided if some of its continuations are accepted and some
    are not.

    Raises TooComplexError if there are too many states or intervals.

    >>> as_intervals(
    ...     [
    ...         StringTerm(ALL, (Pattern("contains", "a"),)),
    ...         StringTerm(ALL, (), (Pattern("contains", "a"),)),
    ...     ]
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
                if first != last:
                    return None  # an interval for each of these characters would be too many
                stack.append((following, text + character))
            elif verdicts[following]:
                pieces.append((text + first, after_prefix(text + last)))
        if len(pieces) + len(stack) > _MAX_PIECES:
            raise TooComplexError
    return intervals.normal(pieces)


def _verdicts(product: Product) -> dict[tuple[State, ...], bool | None] | None:
    """Return a verdict for each reachable state: True if all continuations are accepted.

    False if no continuation is accepted, None if the state is undecided. Returns None instead of a
    dictionary if an undecided state lies on a cycle. Raises TooComplexError if there are too many
    states.
    """
    follows: dict[tuple[State, ...], list[tuple[State, ...]]] = {}
    queue = deque([product.start])
    while queue:
        state = queue.popleft()
        if state in follows:
            continue
        follows[state] = [product.step(state, c) for c, _, _ in product.alphabet]
        if (
            state in follows[state]
            and product.settled(state) is None
            and _is_undecided(product, state)
        ):
            return None  # nearly always there is a cycle of one state, which ends the work here
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
    # Sort the undecided states topologically; states on a cycle never become ready.
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
    """Return whether some continuations of a state are accepted and some are refused."""
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
    """Return the states from which a target can be reached; `before` lists the previous states."""
    reached = set(targets)
    stack = list(reached)
    while stack:
        for earlier in before[stack.pop()]:
            if earlier not in reached:
                reached.add(earlier)
                stack.append(earlier)
    return reached
