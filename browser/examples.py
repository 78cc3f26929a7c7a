"""Small traces worth looking at, ready to be opened, with a sentence for each step."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["EXAMPLES", "Example"]


class Example(NamedTuple):
    """A trace as text, with a title, and what there is to see after 0, 1, 2 … operations."""

    title: str
    text: str
    captions: tuple[str, ...]


EXAMPLES: Final = {
    "forwards": Example(
        "Forwards sets (Tarkoma's thesis, figures 3.2 and 3.3)",
        """\
I1: x in [0, 50]
I1: x in [60, 100]
I2: x in [10, 40]
I2: x in [70, 90]
I3: x in [20, 30]
- I1: x in [0, 50]
""",
        (
            "A router with three neighbours, I1, I2 and I3, and an empty table. Go on with ▶.",
            "I1 asks for x in [0, 50]. Nothing covers it: it is a root, and I2 and I3 are sent it.",
            "[60, 100] lies beside it: a second root, sent to I2 and I3 as well.",
            (
                "I2 asks for [10, 40], inside #1: it goes below. Only I1 is sent it, since the "
                "others have been sent #1."
            ),
            "Likewise [70, 90] below #2: only I1 is sent it.",
            (
                "I3 asks for [20, 30], inside #3 and #1. Everybody has been sent something that "
                "covers it: it is sent to nobody."
            ),
            (
                "I1 takes #1 back, and I2 and I3 are told. #3 is a root now and goes to I3 too; "
                "#5 goes to I2."
            ),
        ),
    ),
    "orders": Example(
        "A forest forgets orders (Tarkoma's thesis, example 3.2)",
        """\
c: x in [0, 60]
c: x in [20, 80]
a: x in [20, 60]
b: x in [30, 50]
- a: x in [20, 60]
""",
        (
            "Three neighbours, a, b and c, and an empty table.",
            "c asks for [0, 60].",
            "c asks for [20, 80] too: it overlaps #1, and neither covers the other.",
            (
                "a asks for [20, 60], which both cover: in the poset it has two parents, in a "
                "forest only one."
            ),
            "b asks for [30, 50], inside #3: one level further down.",
            (
                "a takes #3 back, and #4 must be sent to c in its place. A forest that forgot "
                "one of the orders has to look beyond the parent to know that."
            ),
        ),
    ),
    "approximate": Example(
        "Where approximate forwards sets send more",
        """\
I1: x in [0, 60]
I2: x in [20, 80]
I3: x in [30, 50]
""",
        (
            "Three neighbours and an empty table. The page Forwards shows who is sent what.",
            "I1 asks for [0, 60]: a root, sent to I2 and I3.",
            "I2 asks for [20, 80]: a second root, sent to I1 and I3.",
            (
                "I3 asks for [30, 50], which both cover: it need not be sent to anybody. The "
                "approximate mechanism looks at one parent only, and sends it to I1."
            ),
        ),
    ),
    "merging": Example(
        "Rectangles that merge, and come apart (Tarkoma's thesis, section 8.5)",
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
        (
            "An empty table. The page Merging shows the root set before merging, and after it.",
            "I1 asks for a rectangle: one root.",
            "I2 asks for the one to its right. They differ in x alone, and merge exactly.",
            "I3 asks for the next one: the merger has three components.",
            "I1 asks for a rectangle apart from these: a root of its own.",
            "I2's rectangle differs in both attributes: no merger is exact, and a hull is wider.",
            "I3 asks for a rectangle above: another root.",
            "I1 asks for one beside it. Their exact union is two ranges of x.",
            "I2 asks for a small rectangle inside the first: it is covered, and no root.",
            "I3 asks for a rectangle that lies by itself.",
            "I2's rectangle reaches across the gap between two others: neither covers it.",
            "I2 takes back the middle one. The merger is dissolved, and the rest merged again.",
        ),
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
        (
            "Types with a hierarchy: stock quotes and fund quotes are quotes.",
            "north asks for all quotes.",
            "east asks for stock quotes of a price: covered, since a stock quote is a quote.",
            "west asks for less: a name that begins with Fo, and a narrower price.",
            "south asks for fund quotes, beside the stock quotes and below all quotes.",
            (
                'east asks for one name, "Foo Inc.". east holds #2 already, which covers it: '
                "a table that eliminates everywhere keeps only #2."
            ),
            "west asks for all quotes above 100: below #1, beside all that end lower.",
            "south asks for large volumes: another attribute, so it is below #2 and beside #3.",
        ),
    ),
}
