"""Names for the types of numpy arrays that several modules use."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "FloatArray", "IntArray", "Words"]

#: Numbers of rows, nodes or interfaces, and positions: whole numbers of 64 bits.
IntArray: TypeAlias = npt.NDArray[np.int64]
#: Values as doubles.
FloatArray: TypeAlias = npt.NDArray[np.float64]
#: One yes or no for each row.
BoolArray: TypeAlias = npt.NDArray[np.bool_]
#: Sets as bits, 64 to a word (see ``posetlib.bits``).
Words: TypeAlias = npt.NDArray[np.uint64]
