r"""Texts with wildcards: ``*`` for any characters, ``?`` for one, ``\`` before a plain ``*``.

A text becomes a row of *elements*, each one character or any, and the places between them where a
star stands. A string is matched piece by piece, the pieces lying between stars: the leftmost place
for each piece is enough, so there is no backtracking. For comparisons it is an automaton whose
state is the set of elements that may come next, as the bits of a number.

Ignoring case, two characters are the same if their simple case foldings are: the folding of Unicode
that maps one character to one. So "ß" is not "ss".
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Any, Final

from posetlib.errors import FilterError
from posetlib.values import check_string

__all__ = ["Wildcards", "same_but_for_case", "wildcards"]

# The longest text with wildcards, in characters. Two such automata have at most 129 × 129 states
# between them, unless "?" stands after a star.
_MAX_LENGTH: Final = 128
# The most states of one automaton: "?" after "*" may double them with each character.
_MAX_STATES: Final = 512
# No character from here on has another case; Unicode's last letters with case lie before it.
_CASELESS_FROM: Final = 0x1F000

_STAR: Final = "*"
_ONE: Final = "?"
_ESCAPE: Final = "\\"


class Wildcards:
    """A text with wildcards, read.

    >>> w = wildcards("a*b?")
    >>> w.matches("a--bc"), w.matches("ab"), w.text
    (True, False, 'a*b?')
    >>> wildcards("straSSE", ignoring_case=True).matches("Strasse")
    True
    """

    def __init__(self, text: str, *, ignoring_case: bool = False) -> None:
        if len(check_string(text)) > _MAX_LENGTH:
            raise FilterError(f"a text with wildcards has at most {_MAX_LENGTH} characters")
        # None stands for any character.
        elements: list[str | None] = []
        stars: set[int] = set()
        characters = iter(text)
        for character in characters:
            if character == _STAR:
                stars.add(len(elements))
            elif character == _ONE:
                elements.append(None)
            elif character == _ESCAPE:
                escaped = next(characters, "")
                if escaped not in (_STAR, _ONE, _ESCAPE) or not escaped:
                    raise FilterError(r"in a text with wildcards, \ stands before *, ? or \ only")
                elements.append(escaped)
            else:
                elements.append(character)
        letters = [each for each in elements if each is not None]
        #: Whether case is ignored, and makes a difference.
        self.ignoring_case = ignoring_case and any(len(same_but_for_case(c)) > 1 for c in letters)
        if self.ignoring_case:
            elements = [None if each is None else _folded(each) for each in elements]
        #: The characters in their order, None for any one character.
        self.elements = tuple(elements)
        #: The numbers of the elements before which a star stands; their count for one at the end.
        self.stars = _canonical_stars(self.elements, stars)

    @cached_property
    def text(self) -> str:
        """The canonical text: of a run of wildcards, the star comes last."""
        written = []
        for at, each in enumerate((*self.elements, "")):
            if at in self.stars:
                written.append(_STAR)
            if each is None:
                written.append(_ONE)
            else:
                written.append(_ESCAPE + each if each in (_STAR, _ONE, _ESCAPE) and each else each)
        return "".join(written)

    @property
    def plain_pieces(self) -> list[str] | None:
        """The texts between stars; None if "?" or another case stands for several characters."""
        if self.ignoring_case or None in self.elements:
            return None
        return ["".join(map(str, piece)) for piece in self._pieces]

    @cached_property
    def _pieces(self) -> list[tuple[str | None, ...]]:
        ends = [*sorted(self.stars), len(self.elements)]
        starts = [0, *sorted(self.stars)]
        return [self.elements[a:b] for a, b in zip(starts, ends, strict=True)]

    @property
    def prefix(self) -> str:
        """The characters with which every string begins; "" if case is ignored."""
        if self.ignoring_case:
            return ""
        first = self._pieces[0]
        length = first.index(None) if None in first else len(first)
        return "".join(map(str, first[:length]))

    def sample(self, filling: str) -> str:
        """Return a string that matches, with a filling for each wildcard."""
        parts = []
        for at, each in enumerate((*self.elements, "")):
            if at in self.stars:
                parts.append(filling)
            parts.append((filling or "x")[0] if each is None else each)
        return "".join(parts)

    @property
    def characters(self) -> str:
        """All characters that some element tells from others."""
        letters = "".join(each for each in self.elements if each is not None)
        if not self.ignoring_case:
            return letters
        return "".join(other for each in letters for other in same_but_for_case(each))

    # -- one string --------------------------------------------------------------------------------

    @cached_property
    def _searches(self) -> list[re.Pattern[str]]:
        """For each piece an expression without repetition, so that it cannot backtrack."""
        return [
            re.compile("".join("." if c is None else re.escape(c) for c in piece), re.DOTALL)
            for piece in self._pieces
        ]

    def matches(self, value: str) -> bool:
        """Return whether a string matches; O(len(value) × length of a piece), no backtracking."""
        if self.ignoring_case:
            value = folded(value)
        first, *middle = self._searches
        if not middle:
            return first.fullmatch(value) is not None
        found = first.match(value)
        last = len(value) - len(self._pieces[-1])
        for search in middle[:-1]:
            if found is None:
                return False
            found = search.search(value, found.end())
        return found is not None and found.end() <= last and bool(middle[-1].match(value, last))

    # -- the automaton: a state is the set of elements that may come next, as bits -----------------

    @cached_property
    def _star_bits(self) -> int:
        return sum(1 << at for at in self.stars)

    @cached_property
    def _accepting_bits(self) -> dict[str, int]:
        """For each character, the elements that accept it; "" for any other character."""
        anything = sum(1 << at for at, each in enumerate(self.elements) if each is None)
        bits = {"": anything}
        for at, each in enumerate(self.elements):
            if each is not None:
                for same in same_but_for_case(each) if self.ignoring_case else each:
                    bits[same] = bits.get(same, anything) | 1 << at
        return bits

    @property
    def start(self) -> int:
        """The state before the first character."""
        return 1

    def step(self, state: Any, character: str) -> int:
        """Return the state after one more character; 0 if no continuation matches."""
        accepted = self._accepting_bits.get(character)
        if accepted is None:
            accepted = self._accepting_bits[""]
        following = (state & accepted) << 1 | (state & self._star_bits)
        reached = following & self._star_bits
        if reached:
            # Whatever matches from before a star matches from the star on, too.
            following &= -1 << (reached.bit_length() - 1)
        return int(following)

    def accepts(self, state: Any) -> bool:
        """Return whether the string read so far matches."""
        return bool(state >> len(self.elements))

    def settled(self, state: Any) -> bool | None:
        """Return True if all continuations match, False if none does, None if not known."""
        if not state:
            return False
        return True if self.accepts(state) and len(self.elements) in self.stars else None

    def check_size(self) -> None:
        """Raise FilterError if the automaton has too many states for comparisons."""
        characters = [*dict.fromkeys(self.characters), ""]
        seen = {self.start}
        waiting = [self.start]
        while waiting:
            state = waiting.pop()
            for character in characters:
                following = self.step(state, character)
                if following not in seen:
                    if len(seen) >= _MAX_STATES:
                        raise FilterError(
                            'too complex: in a text with wildcards, too many "?" after a "*"'
                        )
                    seen.add(following)
                    waiting.append(following)


def _canonical_stars(elements: tuple[str | None, ...], stars: set[int]) -> frozenset[int]:
    """Return the stars, in each run of wildcards a single one after the last "?"."""
    moved = set()
    for star in stars:
        at = star
        while at < len(elements) and elements[at] is None:
            at += 1
        moved.add(at)
    return frozenset(moved)


@lru_cache(maxsize=4096)
def wildcards(text: str, *, ignoring_case: bool = False) -> Wildcards:
    """Return a text with wildcards, read; FilterError if it is too long, or an escape is wrong."""
    return Wildcards(text, ignoring_case=ignoring_case)


# -- case ------------------------------------------------------------------------------------------


def _folded(character: str) -> str:
    """Return the simple case folding of a character."""
    for changed in (character.casefold(), character.lower()):
        if len(changed) == 1:
            return changed
    return character


@lru_cache(maxsize=1)
def _cases() -> dict[str, str]:
    """Return, for each folded character with several cases, all characters that fold to it."""
    classes: dict[str, list[str]] = {}
    for code in range(_CASELESS_FROM):
        character = chr(code)
        classes.setdefault(_folded(character), []).append(character)
    return {fold: "".join(same) for fold, same in classes.items() if len(same) > 1}


@lru_cache(maxsize=1)
def _folding_table() -> dict[int, str]:
    return {ord(each): fold for fold, same in _cases().items() for each in same if each != fold}


def same_but_for_case(character: str) -> str:
    """Return the characters that are the same as one, ignoring case; itself among them.

    >>> sorted(same_but_for_case("S")), same_but_for_case("1")
    (['S', 's', 'ſ'], '1')
    """
    return _cases().get(_folded(character), character)


def folded(text: str) -> str:
    """Return a text with every character in its simple case folding; of the same length.

    >>> folded("Straße")
    'straße'
    """
    return text.lower() if text.isascii() else text.translate(_folding_table())
