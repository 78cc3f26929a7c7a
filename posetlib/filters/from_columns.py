"""Make many filters at once from columns of values; faster than parsing texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from posetlib.constraints.base import Constraint
from posetlib.constraints.comparisons import between, one_of
from posetlib.constraints.numbers import Numbers
from posetlib.errors import FilterError
from posetlib.filters.filter import Filter, schema_of
from posetlib.names import check_name

__all__ = ["filters_from_columns"]

# Rows of a column that are looked at to tell whether ranges repeat, and the ranges remembered then.
_SAMPLE: Final = 1024
_MAX_SHARED: Final = 1 << 16
# Types of values that are safe to look up; others may have no hash, and are refused by name.
_PLAIN: Final = frozenset((str, int, float, bool))


def filters_from_columns(
    columns: Mapping[str, tuple[Sequence[Any], Sequence[Any]] | Sequence[Any]],
) -> list[Filter]:
    """Return one filter per row of the columns: O(rows * columns).

    Each column belongs to one attribute. It is a pair of sequences (or numpy arrays) with the low
    and the high ends of closed ranges, or one sequence of values that the attribute must equal. If
    a row has None or NaN as its value, or at both ends of its range, its filter does not constrain
    the attribute. None at one end of a range means no limit on that side.

    >>> filters_from_columns({"x": ([0, 2], [5, 9]), "name": ["a", None]})
    [Filter('name = "a" and x in [0, 5]'), Filter('x in [2, 9]')]
    """
    names = sorted(map(check_name, columns))
    constraints = [_column(name, columns[name]) for name in names]
    if len({len(column) for column in constraints}) > 1:
        sizes = ", ".join(f"{n}: {len(c)}" for n, c in zip(names, constraints, strict=True))
        raise FilterError(f"columns of one length are needed, not {sizes}")
    full_schema = schema_of(tuple(names))
    result = []
    for row in zip(*constraints, strict=True):
        if None in row:
            present = [i for i, constraint in enumerate(row) if constraint is not None]
            schema = schema_of(tuple(names[i] for i in present))
            result.append(Filter.of_checked(schema, tuple(row[i] for i in present)))
        else:
            result.append(Filter.of_checked(full_schema, row))
    return result


def _column(name: str, column: Any) -> list[Constraint | None]:
    """Return the constraint of each row of one column, None for a row without a constraint."""
    if not isinstance(column, tuple) or len(column) != 2:
        # Equal values share one constraint: they mostly come again and again.
        equals = lru_cache(maxsize=_MAX_SHARED, typed=True)(_equals)
        return [
            None
            if _absent(value)
            else (equals(value) if type(value) in _PLAIN else one_of([value]))
            for value in _listed(column)
        ]
    lows, highs = map(_listed, column)
    if len(lows) != len(highs):
        raise FilterError(f"column {name}: {len(lows)} low ends but {len(highs)} high ends")
    result: list[Constraint | None] = []
    make: Callable[[Any, Any], Constraint | None] = _range
    if _often_repeat(lows, highs):
        # Rows with the same ends share one constraint.
        make = lru_cache(maxsize=_MAX_SHARED, typed=True)(_range)
    for row, (low, high) in enumerate(zip(lows, highs, strict=True)):
        try:
            plain = type(low) is float and type(high) is float
            result.append(make(low, high) if plain else _range(low, high))
        except FilterError as error:
            raise FilterError(f"column {name}, row {row}: {error}") from None
    return result


def _often_repeat(lows: list[Any], highs: list[Any]) -> bool:
    """Return whether most of the first ranges of a column come several times."""
    ends = zip(lows[:_SAMPLE], highs[:_SAMPLE], strict=True)
    # NaN, which differs from itself, is as good as no range.
    sample = [(a, b) for a, b in ends if type(a) is float and type(b) is float and a == a]
    return 2 * len(set(sample)) < len(sample)


def _equals(value: Any) -> Constraint:
    return one_of([value])


def _listed(column: Any) -> list[Any]:
    # For a numpy array, `tolist` makes Python numbers, which compare and hash faster.
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _range(low: Any, high: Any) -> Constraint | None:
    """Return the constraint of a closed range, None if both ends are absent."""
    # The common case, made without checks: two finite floats (the largest float is about 1.8e308).
    if type(low) is float and type(high) is float and -1e308 < low <= high < 1e308:
        return Numbers(low, high, None)
    if _absent(low) and _absent(high):
        return None
    return between(low, high)  # an end of None means no limit; NaN at one end raises FilterError


def _absent(value: Any) -> bool:
    """Return whether a value is None or NaN; only NaN differs from itself."""
    return value is None or value != value
