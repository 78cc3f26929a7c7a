"""Sets as bits: of Python integers and of numpy words.

A set of small whole numbers, its *places*, is kept as bits: bit i is set exactly if i is in the
set. A Python integer holds one set of any size. A numpy array of *words*, 64-bit unsigned integers,
holds one set in each row: place i is bit i % 64 of word i // 64, the lowest bit first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import BoolArray, IntArray, Words

__all__ = [
    "PIECE",
    "WORD",
    "bit_in_word",
    "bit_pairs",
    "full_sets",
    "mask_of",
    "packed",
    "places_in",
    "unpacked",
]

#: Bits in a word.
WORD: Final = 64
#: Bits of a Python integer that are handled at a time. Each operation on an integer costs time
#: proportional to its length, so a long integer is not changed once for each of its bits.
PIECE: Final = 1024

_ONE: Final = np.uint64(1)
# The places of more bits than this are found by numpy, which is then faster.
_FEW_BITS: Final = 32


# -- Python integers -------------------------------------------------------------------------------


def mask_of(places: Sequence[int], piece: int = PIECE) -> int:
    """Return the integer with bits at these places: O(places + largest place).

    From the place ``piece`` on the bits are first collected in bytes.

    >>> bin(mask_of([0, 3]))
    '0b1001'
    """
    last = max(places, default=0)
    if last < piece:
        mask = 0
        for place in places:
            mask |= 1 << place
        return mask
    # To set one bit of an integer is to copy it; a byte is changed in its place.
    collected = bytearray(last // 8 + 1)
    for place in places:
        collected[place // 8] |= 1 << place % 8
    return int.from_bytes(collected, "little")


def places_in(mask: int) -> Iterator[int]:
    """Return the places of the bits that are set, in ascending order: O(length of the integer).

    >>> list(places_in(0b1001))
    [0, 3]
    """
    if mask.bit_count() <= _FEW_BITS:
        return _few_places_in(mask)
    # All bits at once; to clear them one by one copies the integer each time.
    data = np.frombuffer(mask.to_bytes((mask.bit_length() + 7) // 8, "little"), dtype=np.uint8)
    places: list[int] = np.unpackbits(data, bitorder="little").view(np.bool_).nonzero()[0].tolist()
    return iter(places)


def _few_places_in(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


# -- numpy words -----------------------------------------------------------------------------------


def bit_in_word(places: NDArray[np.signedinteger]) -> Words:
    """Return, for each place, its bit within its word.

    >>> bit_in_word(np.array([0, 3, 64])).tolist()
    [1, 8, 1]
    """
    return np.left_shift(_ONE, (places % WORD).astype(np.uint64))


def packed(flags: BoolArray) -> Words:
    """Return one row of booleans as words; the last word is filled up with zeros.

    >>> packed(np.array([True, False, False, True])).tolist()
    [9]
    """
    filled = np.packbits(flags, bitorder="little")
    whole = np.zeros(-(-len(flags) // WORD) * 8, np.uint8)
    whole[: len(filled)] = filled
    return whole.view("<u8").astype(np.uint64, copy=False)


def unpacked(words: Words, count: int | None = None) -> BoolArray:
    """Return words as booleans, along the last axis: the first ``count`` of a row, or all of them.

    >>> unpacked(np.array([9], np.uint64), 4).tolist()
    [True, False, False, True]
    """
    listed = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    return np.unpackbits(listed, axis=-1, count=count, bitorder="little").view(np.bool_)


def full_sets(rows: int, count: int) -> Words:
    """Return rows of words that each hold all places below ``count``, and no other bit.

    >>> full_sets(2, 3).tolist()
    [[7], [7]]
    """
    sets = np.full((rows, -(-count // WORD)), ~np.uint64(0))
    if count % WORD:
        sets[:, -1] = (_ONE << np.uint64(count % WORD)) - _ONE
    return sets


def bit_pairs(words: Words) -> tuple[IntArray, IntArray]:
    """Return the row and the place of every bit that is set, in ascending order.

    >>> rows, places = bit_pairs(np.array([[9, 0], [0, 1]], np.uint64))
    >>> rows.tolist(), places.tolist()
    ([0, 0, 1], [0, 3, 64])
    """
    rows, at = np.nonzero(words)
    spread = np.unpackbits(
        np.ascontiguousarray(words[rows, at]).view(np.uint8).reshape(-1, 8),
        axis=1,
        bitorder="little",
    )
    which, places = np.nonzero(spread)
    return rows[which], at[which] * WORD + places
