"""Explain why a filter does not match a notification, or does not cover another filter.

A *witness* is a notification that the other filter matches and this one does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from posetlib.constraints.base import Constraint, text_of
from posetlib.names import name_text
from posetlib.values import MISSING, describe, domain_of, lookup

if TYPE_CHECKING:
    from posetlib.filters.filter import Filter

__all__ = ["Explanation", "Failure", "NotCovered", "explanation", "obstacle"]


class Failure(NamedTuple):
    """A constraint that a notification does not satisfy."""

    attribute: str
    constraint: Constraint
    #: The value of the attribute in the notification, MISSING if it has no such attribute.
    value: Any
    #: One sentence for the user.
    reason: str


class Explanation(NamedTuple):
    """Why a filter matches a notification or not; as a boolean, whether it matches."""

    filter: Filter
    #: One failure per constraint that is not satisfied; empty if the filter matches.
    failures: tuple[Failure, ...]

    @property
    def matches(self) -> bool:
        """Whether the filter matches the notification."""
        return not self.failures

    def __bool__(self) -> bool:
        return not self.failures

    def __str__(self) -> str:
        if not self.failures:
            return f"matches {self.filter}"
        return "; ".join(failure.reason for failure in self.failures)


class NotCovered(NamedTuple):
    """Why a filter does not cover another filter."""

    #: The attribute whose constraint does not cover the one of the other filter.
    attribute: str
    #: One sentence for the user.
    reason: str
    #: A notification that the other filter matches and this one does not; None if none is found.
    witness: dict[str, Any] | None

    def __str__(self) -> str:
        if self.witness is None:
            return self.reason
        return f"{self.reason}; for example {self.witness!r}"


def explanation(filter: Filter, notification: Mapping[str, Any]) -> Explanation:
    """Return the constraints of a filter that a notification does not satisfy, with reasons."""
    failures = []
    for name, constraint in zip(filter.attributes, filter.terms, strict=True):
        value = lookup(notification, name)
        if value is MISSING:
            satisfied = constraint.matches_absence()
        else:
            satisfied = constraint.matches_in(value, notification)
        if not satisfied:
            failures.append(Failure(name, constraint, value, _reason(name, constraint, value)))
    return Explanation(filter, tuple(failures))


def obstacle(filter: Filter, other: Filter) -> NotCovered | None:
    """Return why `filter` does not cover `other`, None if it covers `other`.

    If several attributes are reasons, one with a witness is preferred.
    """
    without_witness: NotCovered | None = None
    for name, mine in zip(filter.attributes, filter.terms, strict=True):
        theirs = other.get(name)
        if theirs is not None and mine.covers(theirs):
            continue
        written = name_text(name)
        if theirs is None:
            reason = f"{written} is not constrained in the other filter"
            outside = MISSING
        else:
            reason = f"{text_of(mine, written)} does not cover {text_of(theirs, written)}"
            outside = theirs.example_outside(mine)
        witness = _witness(filter, other, name, outside)
        if witness is not None:
            return NotCovered(name, reason, witness)
        without_witness = without_witness or NotCovered(name, reason, None)
    return without_witness


def _witness(filter: Filter, other: Filter, name: str, value: Any) -> dict[str, Any] | None:
    """Return a notification that `other` matches and `filter` does not; None if none is found.

    Attribute `name` gets the given value, unless it is MISSING.
    """
    for witness in _candidates(other, name, value):
        if other.matches(witness) and not filter.matches(witness):
            return witness
    return None


def _reason(name: str, constraint: Constraint, value: Any) -> str:
    """Return the sentence that says why a value does not satisfy a constraint."""
    written = name_text(name)
    wanted = text_of(constraint, written)
    if value is MISSING:
        return f"{written} is absent, but the filter wants {wanted}"
    domain = domain_of(value)
    if constraint.domain is not None and constraint.domain != domain:
        return (
            f"{written} is {describe(value)}, not a {constraint.domain}, "
            f"but the filter wants {wanted}"
        )
    return f"{written} is {describe(value)}, but the filter wants {wanted}"


def _candidates(filter: Filter, name: str, value: Any) -> Iterator[dict[str, Any]]:
    """Yield notifications that the filter may match, with a given value for one attribute."""
    base: dict[str, Any] = {}
    for attribute, constraint in filter.constraints.items():
        example = value if attribute == name and value is not MISSING else constraint.example()
        if example is not MISSING:
            base[attribute] = example
    yield base
    # Some constraints compare with the value of another attribute. For these, try values of each
    # domain, and values near the value of the other attribute. That finds most witnesses.
    references = [
        (attribute, reference)
        for attribute, constraint in filter.constraints.items()
        for reference in constraint.references()
    ]
    if not references:
        return
    for samples in ((0, 1, -1, 0.5), ("b", "a", "c"), (True, False)):
        for reference_value in samples:
            for attribute_value in samples:
                trial = dict(base)
                for attribute, reference in references:
                    trial.setdefault(reference, reference_value)
                    trial.setdefault(attribute, attribute_value)
                yield trial
                for attribute, reference in references:
                    anchor = trial[reference]
                    if domain_of(anchor) == "number":
                        for near in (anchor - 1, anchor, anchor + 1):
                            yield {**trial, attribute: near}
                    yield {**trial, attribute: anchor}
