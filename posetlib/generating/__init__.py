"""Random filters, notifications and operations as columns; each row depends on its number alone.

The generator is counter-based: a random value is a hash of the seed, the purpose of the value, and
the number of the row. So any rows can be made on any machine, in any order and in any portions, and
are always the same. The loads follow the generator of [T 4.1]: schemas (event types), ranges over
some attributes in [0, 100], other predicates, and interfaces in turn. The *narrow* load, the
Zipf-skewed load, strings and subjects are added to these.

>>> made = generated_filters(Parameters(filters=2, seed=7), [0, 1])
>>> for text in made.texts():
...     print(text)
x in [20.569, 49.687] and y in [8.503, 57.129]
x in [44.507, 99.493] and y in [23.78, 93.607]
"""

from posetlib.generating.loads import (
    GeneratedFilters,
    GeneratedNotifications,
    GeneratedRanges,
    generated_filters,
    generated_notifications,
    interface_names,
    interfaces_of,
    operation_slots,
)
from posetlib.generating.parameters import KINDS, SCENARIOS, Parameters
from posetlib.generating.scenarios import Operations, operations_of

__all__ = [
    "KINDS",
    "SCENARIOS",
    "GeneratedFilters",
    "GeneratedNotifications",
    "GeneratedRanges",
    "Operations",
    "Parameters",
    "generated_filters",
    "generated_notifications",
    "interface_names",
    "interfaces_of",
    "operation_slots",
    "operations_of",
]
