"""Nodes by the tokens that they ask for and hold, within one family of tokens (see ``boxes``).

Sets of nodes are bits of Python integers, as in a sieve. A node that asks for several tokens is
entered under one of them, the rarest: whoever holds all of them holds this one. A node is entered
under every token that it holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from posetlib.bits import mask_of
from posetlib.search.boxes import Token, Tokens

__all__ = ["TokenSets"]

# A token of fewer nodes has a list of them, which takes less memory than bits; a token of more
# nodes has bits, which are faster. One of this many nodes, and at least so many, is where it turns.
_NODES_PER_LISTED: Final = 128
_LISTED: Final = 32


class _Places(dict[Token, "list[int] | int"]):
    """The places of nodes by token, each as a list, or as bits if they are many."""

    __slots__ = ("_limit",)

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def enter(self, token: Token, place: int) -> None:
        """Add a place under a token."""
        found = self.get(token)
        if found is None:
            self[token] = [place]
        elif isinstance(found, int):
            self[token] = found | 1 << place
        elif len(found) < self._limit:
            found.append(place)
        else:
            self[token] = mask_of([*found, place])

    def under_any(self, tokens: Iterable[Token]) -> int:
        """Return the places under at least one of some tokens."""
        bits = 0
        places: list[int] = []
        for token in tokens:
            found = self.get(token)
            if isinstance(found, int):
                bits |= found
            elif found is not None:
                places += found
        return bits | mask_of(places) if places else bits

    def under_all(self, tokens: Iterable[Token]) -> int:
        """Return the places under all of some tokens, of which there is at least one."""
        bits: int | None = None
        places: set[int] | None = None
        for token in tokens:
            found = self.get(token)
            if found is None:
                return 0
            if isinstance(found, int):
                bits = found if bits is None else bits & found
            else:
                places = set(found) if places is None else places.intersection(found)
                if not places:
                    return 0
        if places is None:
            return bits or 0
        listed = mask_of(list(places))
        return listed if bits is None else bits & listed

    def count(self, token: Token) -> int:
        """Return about how many places a token has."""
        found = self.get(token)
        if found is None:
            return 0
        return self._limit + 1 if isinstance(found, int) else len(found)


class TokenSets:
    """The nodes of a sieve by their tokens of one family.

    What nodes hold is looked at when somebody first asks for it: to find out may take long.
    """

    __slots__ = ("_asking", "_by_asked", "_by_held", "_knowing", "_limit", "_members")

    def __init__(self, room: int) -> None:
        self._limit = max(_LISTED, room // _NODES_PER_LISTED)
        #: The nodes that ask for a token, and their places by one of the tokens they ask for.
        self._asking = 0
        self._by_asked = _Places(self._limit)
        #: The nodes of which it is known what they hold, and their places by token; None until
        #: somebody asks.
        self._knowing = 0
        self._by_held: _Places | None = None
        #: The nodes that were not looked at yet.
        self._members: list[tuple[Tokens, int]] = []

    def add(self, tokens: Tokens, place: int) -> None:
        """Add a node that has tokens of the family; O(tokens)."""
        if tokens.asked:
            self._asking |= 1 << place
            self._by_asked.enter(_rarest(tokens.asked, self._by_asked), place)
        if self._by_held is None:
            self._members.append((tokens, place))
        else:
            self._enter_held(tokens, place, self._by_held)

    def _enter_held(self, tokens: Tokens, place: int, by_held: _Places) -> None:
        held = tokens.held
        if held is not None:
            self._knowing |= 1 << place
            for token in held:
                by_held.enter(token, place)

    def asking_more(self, tokens: Tokens) -> int:
        """Return nodes that ask for a token that is not held; not all of them, but most."""
        if not self._asking:
            return 0
        held = tokens.held
        if held is None:
            return 0
        return self._asking & ~self._by_asked.under_any(held)

    def not_holding(self, asked: frozenset[Token]) -> int:
        """Return the nodes of which it is known that they do not hold all that is asked for."""
        by_held = self._by_held
        if by_held is None:
            by_held = _Places(self._limit)
            for tokens, place in self._members:
                self._enter_held(tokens, place, by_held)
            self._members.clear()
            self._by_held = by_held
        if not self._knowing:
            return 0
        return self._knowing & ~by_held.under_all(asked)


def _rarest(asked: frozenset[Token], places: _Places) -> Token:
    """Return the token under which there are fewest places."""
    if len(asked) == 1:
        (token,) = asked
        return token
    return min(asked, key=lambda token: (places.count(token), str(token)))
