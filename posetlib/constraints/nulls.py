"""The constraint that a value is null: None in Python, null in JSON. Absence is not null."""

from __future__ import annotations

from typing import Any, Final, final

from posetlib.constraints.base import Constraint, register_kind
from posetlib.constraints.extents import Answer, Extent

__all__ = ["NULL", "Null"]


@final
class Null(Constraint):
    """The attribute is there, and its value is None.

    >>> NULL.matches(None), NULL.matches(0), NULL.matches_absence()
    (True, False, False)
    """

    __slots__ = ()
    domain = "null"
    kind = "null"

    def matches(self, value: Any) -> bool:
        return value is None

    def is_canonical(self) -> bool:
        return True

    def extent(self) -> Extent:
        return Extent(others=Answer.MAYBE, tight=True)

    def is_whole_domain(self) -> bool:
        return True

    def example(self) -> Any:
        return None

    def clauses(self, name: str) -> tuple[str, ...]:
        return (f"{name} is null",)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Null)

    def __hash__(self) -> int:
        return hash(Null)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Null, ())


#: The only instance that is needed.
NULL: Final = Null()

register_kind(Null.kind, lambda _: NULL)
