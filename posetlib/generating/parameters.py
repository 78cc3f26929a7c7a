"""The parameters of a workload: sizes, distributions and the seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

__all__ = ["KINDS", "SCENARIOS", "Parameters"]

#: The kinds of load, by the constraints of the filters. In this order: ranges with uniform ends;
#: ranges of a small width; such ranges near popular values; ranges on one to three attributes;
#: ranges and comparisons; constraints on strings; templates over tuples; paths over documents.
KINDS: Final = (
    "uniform",
    "narrow",
    "zipf",
    "variable",
    "mixed",
    "strings",
    "tuples",
    "documents",
)
#: What happens after the first filters were added (see ``generating.scenarios``).
SCENARIOS: Final = ("add-remove", "distributed")
#: The names of attributes with numbers. They are in sorted order, so that the text of a filter with
#: its constraints in this order is canonical.
_NAMES: Final = ("x", "y", "z", "z1", "z2", "z3", "z4", "z5")


@dataclass(frozen=True)
class Parameters:
    """The parameters of a workload; equal parameters give the same workload.

    >>> Parameters(kind="cubic")
    Traceback (most recent call last):
    ValueError: kind is one of uniform, narrow, zipf, variable, mixed, strings, tuples, documents, \
not 'cubic'
    """

    #: How many filters are added at first.
    filters: int = 0
    #: One of KINDS.
    kind: str = "uniform"
    #: How many attributes a filter constrains. In the variable load, from how many it chooses, but
    #: from three at least. In the strings load 1 is the subject only, more is also the name. Of
    #: tuples, how many fields are numbers; of documents, how many numbers an element has.
    dims: int = 2
    interfaces: int = 10
    notifications: int = 0
    seed: int = 0
    #: The number of event types. With more than one, each filter has a type, as `type = "T3"`.
    schemas: int = 1
    #: 0 if interfaces get filters in turn; else the exponent of Zipf's law over interfaces.
    interface_skew: float = 0.0
    #: The exponent of Zipf's law over popular values, words and syllables.
    skew: float = 1.0
    #: The values of attributes with numbers lie between these two.
    low: int = 0
    high: int = 100
    #: Numbers are drawn from the multiples of 10 ** -decimals.
    decimals: int = 3
    #: The mean width of a range in the narrow and the Zipf-skewed load.
    width: float = 5.0
    #: How many operations follow: each is a removal and an add for the same interface [T 4.2].
    operations: int = 0
    #: One of SCENARIOS.
    scenario: str = "add-remove"

    def __post_init__(self) -> None:
        for name, least, most in (
            ("filters", 0, 1 << 40),
            ("dims", 1, len(_NAMES)),
            ("interfaces", 1, 1 << 31),
            ("notifications", 0, 1 << 40),
            ("seed", -(1 << 63), (1 << 63) - 1),
            ("schemas", 1, 1 << 31),
            ("decimals", 0, 9),
            ("operations", 0, 1 << 40),
            ("low", -(10**9), 10**9),
            ("high", -(10**9), 10**9),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError(f"{name} is a whole number, not {value!r}")
            if not least <= value <= most:
                raise ValueError(f"{name} is between {least:,} and {most:,}, not {value:,}")
        for name in ("interface_skew", "skew", "width"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= 1e6:
                raise ValueError(f"{name} is between 0 and 1,000,000, not {value!r}")
        if self.kind not in KINDS:
            raise ValueError(f"kind is one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.scenario not in SCENARIOS:
            raise ValueError(f"scenario is one of {', '.join(SCENARIOS)}, not {self.scenario!r}")
        if self.low >= self.high:
            raise ValueError(f"low is less than high, not {self.low} and {self.high}")
        if self.operations and not self.filters:
            raise ValueError("operations need filters to begin with")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes with numbers."""
        if self.kind in ("strings", "tuples", "documents"):
            return ()
        return _NAMES[: max(3, self.dims) if self.kind == "variable" else self.dims]

    @property
    def inner_attributes(self) -> tuple[str, ...]:
        """The names of the numbers in the elements of documents."""
        return _NAMES[: self.dims] if self.kind == "documents" else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as a dictionary for a JSON file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Parameters:
        """Return the parameters that ``to_dict`` wrote; names that are not known are ignored."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})
