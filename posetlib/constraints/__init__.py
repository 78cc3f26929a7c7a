"""Constraints on one attribute. Each constraint is a set of values; constraints compare as sets."""

from posetlib.constraints.addresses import Addresses
from posetlib.constraints.base import (
    EXISTS,
    Constraint,
    Exists,
    constraint_from_dict,
    register_index,
    register_kind,
    text_of,
)
from posetlib.constraints.booleans import ALL_BOOLEANS, Booleans
from posetlib.constraints.comparisons import between, compared, negated, not_between, one_of
from posetlib.constraints.complements import ABSENT, Complement, complement_of
from posetlib.constraints.elements import Some
from posetlib.constraints.extents import Answer, Extent, Piece
from posetlib.constraints.mixtures import Mixture, conjunction, disjunction
from posetlib.constraints.multivalues import ALL_SETS, MultiValues
from posetlib.constraints.nulls import NULL, Null
from posetlib.constraints.numbers import ALL_INTEGERS, ALL_NUMBERS, Numbers
from posetlib.constraints.placeholders import Placeholder
from posetlib.constraints.strings import ALL_STRINGS, Strings
from posetlib.constraints.types import Isa, TypeHierarchy
from posetlib.errors import EmptyConstraintError

__all__ = [
    "ABSENT",
    "ALL_BOOLEANS",
    "ALL_INTEGERS",
    "ALL_NUMBERS",
    "ALL_SETS",
    "ALL_STRINGS",
    "EXISTS",
    "NULL",
    "Addresses",
    "Answer",
    "Booleans",
    "Complement",
    "Constraint",
    "EmptyConstraintError",
    "Exists",
    "Extent",
    "Isa",
    "Mixture",
    "MultiValues",
    "Null",
    "Numbers",
    "Piece",
    "Placeholder",
    "Some",
    "Strings",
    "TypeHierarchy",
    "between",
    "compared",
    "complement_of",
    "conjunction",
    "constraint_from_dict",
    "disjunction",
    "negated",
    "not_between",
    "one_of",
    "register_index",
    "register_kind",
    "text_of",
]
