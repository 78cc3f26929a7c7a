"""Random filters, notifications and operations as columns, each row from its own number alone.

Counter-based: a value is a hash of (seed, what it is for, row), so that any rows can be made
anywhere, in any order and in any portions, and are always the same. The loads follow the generator
of [T 4.1]: schemas (event types), ranges over a number of attributes in [0, 100], other predicates,
interfaces in turns; and add the *narrow* and the Zipf-skewed load, strings and subjects.

>>> made = filter_columns(Parameters(filters=2, seed=7), [0, 1])
>>> for text in made.texts():
...     print(text)
x in [20.569, 49.687] and y in [8.503, 57.129]
x in [44.507, 99.493] and y in [23.78, 93.607]
"""

from posetlib.generating.columns import (
    FilterColumns,
    NotificationColumns,
    Ranges,
    filter_columns,
    interface_names,
    interfaces_of,
    notification_columns,
    operation_slots,
)
from posetlib.generating.draws import Booleans, Floats, Integers
from posetlib.generating.parameters import KINDS, SCENARIOS, Parameters

__all__ = [
    "KINDS",
    "SCENARIOS",
    "Booleans",
    "FilterColumns",
    "Floats",
    "Integers",
    "NotificationColumns",
    "Parameters",
    "Ranges",
    "filter_columns",
    "interface_names",
    "interfaces_of",
    "notification_columns",
    "operation_slots",
]
