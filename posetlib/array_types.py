"""Names for the types of numpy arrays that several modules use, and arrays of objects."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "FloatArray", "IntArray", "ObjectArray", "Words", "as_objects"]

#: Numbers of rows, nodes or interfaces, and positions: whole numbers of 64 bits.
IntArray: TypeAlias = npt.NDArray[np.int64]
#: Values as doubles.
FloatArray: TypeAlias = npt.NDArray[np.float64]
#: One yes or no for each row.
BoolArray: TypeAlias = npt.NDArray[np.bool_]
#: Any objects: items, nodes or interfaces.
ObjectArray: TypeAlias = npt.NDArray[np.object_]
#: Sets as bits, 64 to a word (see ``posetlib.bits``).
Words: TypeAlias = npt.NDArray[np.uint64]


def as_objects(objects: Sequence[Any], spare: int = 0) -> ObjectArray:
    """Return an array of objects as they are, also of lists, with None in each place to spare.

    >>> as_objects([(1, 2), "a"], spare=1)
    array([(1, 2), 'a', None], dtype=object)
    """
    # Other ways look into each object for a sequence, which takes six times as long.
    everything = chain(objects, repeat(None, spare)) if spare else objects
    return np.fromiter(everything, dtype=np.object_, count=len(objects) + spare)
