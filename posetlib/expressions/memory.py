"""The memory model of the Boolean thesis (chapter 5): bytes of three matchers, from counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from posetlib.expressions.expression import Expression
from posetlib.expressions.measures import operators_of, predicates_of
from posetlib.expressions.tree import Leaf, leaves_of

__all__ = [
    "MemoryModel",
    "Widths",
    "turning_point_cluster",
    "turning_point_counting",
]


class Widths(NamedTuple):
    """Bytes of a subscription's number, a predicate's number, an address, and a cluster's."""

    subscription: int = 4
    predicate: int = 4
    location: int = 4
    cluster: int = 4


_FOUR_BYTES: Final = Widths()


class MemoryModel(NamedTuple):
    """What the model is computed from; averages are for each subscription."""

    #: How many subscriptions: |s|.
    subscriptions: float
    #: Predicates and operators of a subscription: |p| and |op|.
    predicates: float
    operators: float
    #: Conjunctions of a subscription, and in how many of them a predicate is: |s_s| and |s_p|.
    conjunctions: float
    conjunctions_per_predicate: float
    #: The share of predicates that another subscription has as well: p_c.
    common: float = 0.0

    @classmethod
    def of(cls, expressions: Iterable[Expression], *, limit: int = 1_000) -> MemoryModel:
        """Return the counts of some expressions; FilterError if a disjunctive form is too large.

        >>> from posetlib import parse_expression
        >>> MemoryModel.of([parse_expression("a = 1 and (b = 1 or c = 1)")]).bytes_boolean()
        37.375
        """
        count = predicates = operators = conjunctions = converted = 0
        distinct: set[Leaf] = set()
        for each in expressions:
            count += 1
            predicates += predicates_of(each.root)
            operators += operators_of(each.root)
            clauses = each.clauses(limit)
            conjunctions += len(clauses)
            converted += sum(map(len, clauses))
            distinct.update(leaf._replace(negated=False) for leaf in leaves_of(each.root))
        if not predicates:
            raise ValueError("the model needs an expression with a predicate")
        return cls(
            count,
            predicates / count,
            operators / count,
            conjunctions / count,
            converted / predicates,
            1 - len(distinct) / predicates,
        )

    @property
    def _bits(self) -> float:
        """Bytes of the fulfilled-predicate vector for each subscription."""
        return self.predicates * (1 - self.common) / 8

    def bytes_counting(self, widths: Widths = _FOUR_BYTES) -> float:
        """Return the bytes of a subscription with conjunctive counting: equation 5.1."""
        associations = self.conjunctions_per_predicate * self.predicates
        return (
            2 * self.conjunctions
            + (widths.subscription + widths.predicate) * associations
            + self._bits
        )

    def bytes_cluster(self, widths: Widths = _FOUR_BYTES) -> float:
        """Return the bytes of a subscription with the cluster algorithm: equation 5.2."""
        associations = self.conjunctions_per_predicate * self.predicates
        return (
            self.conjunctions * (widths.cluster + widths.subscription)
            + associations * (widths.subscription + widths.predicate)
            + self._bits
        )

    def bytes_boolean(self, widths: Widths = _FOUR_BYTES) -> float:
        """Return the bytes of a subscription with Boolean matching: equation 5.3."""
        return (
            self.predicates * (1 + widths.predicate + widths.subscription)
            + 2 * self.operators
            + widths.location
            + 2
            + self._bits
        )


def turning_point_counting(
    predicates: float, operators_share: float, conjunctions_share: float
) -> float:
    """Return from how many conjunctions on Boolean matching takes less than counting: (5.7).

    ``operators_share`` is |op| / |p|, and ``conjunctions_share`` |s_p| / |s_s|; all widths are 4.

    >>> round(turning_point_counting(12, 10 / 12, 0.4167), 2)
    3.19
    """
    return (predicates * (2 * operators_share + 9) + 6) / (2 + 8 * conjunctions_share * predicates)


def turning_point_cluster(
    predicates: float, operators_share: float, conjunctions_share: float
) -> float:
    """Return from how many conjunctions on it takes less than the cluster algorithm: (5.8)."""
    return (predicates * (2 * operators_share + 9) + 6) / (8 + 8 * conjunctions_share * predicates)
