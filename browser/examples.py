"""Small traces worth looking at, ready to be opened."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["EXAMPLES", "Example"]


class Example(NamedTuple):
    """A trace as text, with a title."""

    title: str
    text: str


EXAMPLES: Final = {
    "forwards": Example(
        "Forwards sets [T, Fig. 3.2 and 3.3]",
        """\
I1: x in [0, 50]
I1: x in [60, 100]
I2: x in [10, 40]
I2: x in [70, 90]
I3: x in [20, 30]
- I1: x in [0, 50]
""",
    ),
    "orders": Example(
        "A forest forgets orders [T, Ex. 3.2]",
        """\
c: x in [0, 60]
c: x in [20, 80]
a: x in [20, 60]
b: x in [30, 50]
- a: x in [20, 60]
""",
    ),
    "approximate": Example(
        "Where approximate forwards sets send more",
        """\
I1: x in [0, 60]
I2: x in [20, 80]
I3: x in [30, 50]
""",
    ),
    "merging": Example(
        "Rectangles that merge, and come apart [T 8.5]",
        """\
I1: x in [0, 20] and y in [0, 30]
I2: x in [20, 45] and y in [0, 30]
I3: x in [45, 60] and y in [0, 30]
I1: x in [70, 80] and y in [10, 40]
I2: x in [78, 95] and y in [15, 45]
I3: x in [10, 30] and y in [60, 75]
I1: x in [40, 55] and y in [60, 75]
I2: x in [5, 10] and y in [5, 10]
I3: x in [75, 80] and y in [70, 95]
I2: x in [12, 50] and y in [62, 73]
- I2: x in [20, 45] and y in [0, 30]
""",
    ),
    "quotes": Example(
        "Stock quotes, with types and strings",
        """\
types: {"StockQuote": ["Quote"], "FundQuote": ["Quote"]}
north: type isa Quote
east: type isa StockQuote and price in [20, 80]
west: type isa StockQuote and name prefix "Fo" and price in [20, 30]
south: type isa FundQuote
east: type isa StockQuote and name = "Foo Inc." and price in [22, 25]
west: type isa Quote and price > 100
south: type isa StockQuote and volume:int >= 1000 and price in [20, 60]
""",
    ),
}
