"""Expressions that find nodes of a graph: what they mean, and how they are read.

``covers(x = 5) and not interface = I1`` is read into conditions, and a condition is the set of the
numbers of the nodes that meet it. What cannot be read is a FindError, which names the column.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import posetlib as pl
from browser.graph import Graph
from browser.matching import read_notification
from browser.sources import SourceError

__all__ = ["HELP", "MODES", "FindError", "Found", "Where", "find", "read", "searched", "where_of"]

#: What is done with what an expression finds.
MODES: Final = {"mark": "Mark", "only": "Only these", "hide": "Hide these"}

#: What an expression can hold, and what it finds: the help of the page.
HELP: Final = {
    "covers(x = 5)": "filters that cover this one; covers(#3) those that cover filter 3",
    "covered_by(x > 0)": "filters that this one covers",
    "overlaps(x > 0)": "filters that some notification matches together with this one",
    'matches({"x": 5})': "filters that match the notification",
    "above(#3), below(#3)": "what lies above or below filter 3, by the edges",
    "near(#3, 2)": "filter 3, and what two edges or fewer lead to, up or down",
    "roots, leaves": "filters without a parent; without a child",
    "interface = I1": "filters that I1 holds; != those that it does not hold",
    "attribute = x": "filters with a constraint on x; != those without",
    "depth < 3": "filters with fewer than three edges to the nearest root",
    "parents, children, interfaces, number": "counts, compared by = != < <= > >=",
    '"in [0, 50]"': "filters with this in their text, number or interfaces",
    "#3": "filter 3",
    "and, or, not, ( )": "put conditions together",
}


class FindError(ValueError):
    """An expression that cannot be read; the message names the column."""


#: The numbers of some nodes.
Found = frozenset[int]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The graph that is asked, and what filter a number stands for."""

    graph: Graph
    filters: Mapping[int, pl.Filter]

    def where(self, test: Callable[[pl.Filter], bool]) -> Found:
        """Return the nodes whose filters pass a test; a node without a filter does not."""
        found = ((n, self.filters.get(n)) for n in self.graph.nodes)
        return frozenset(n for n, item in found if item is not None and test(item))


Condition = Callable[[_Asked], Found]


def find(text: str, graph: Graph, filters: Mapping[int, pl.Filter], **options: Any) -> Found:
    """Return the numbers of the nodes that meet an expression; options are those of ``read``.

    >>> from browser.graph import Node
    >>> texts = {1: "x > 0", 2: "x > 5", 3: "y = 1"}
    >>> graph = Graph({n: Node(n, t, (f"I{n}",)) for n, t in texts.items()}, ((1, 2),))
    >>> filters = {n: pl.parse_filter(t) for n, t in texts.items()}
    >>> sorted(find("covers(x > 7) and not roots", graph, filters))
    [2]
    >>> sorted(find("interface = I3 or depth = 1", graph, filters))
    [2, 3]
    """
    return read(text, **options)(_Asked(graph, filters))


def searched(number: int, text: str, interfaces: Iterable[str]) -> str:
    """Return what a text is looked for in: the same as the search box looks in."""
    return f"#{number} {text} {' '.join(interfaces)}".lower()


@dataclass(frozen=True, slots=True)
class Where:
    """An expression that was read, what to do with what it finds, and what filters numbers mean."""

    condition: Condition
    mode: str
    filters: Mapping[int, pl.Filter]

    def found(self, graph: Graph) -> Found:
        """Return the nodes of a graph that meet the expression."""
        return self.condition(_Asked(graph, self.filters))

    def narrowed(self, graph: Graph, found: Found) -> Graph:
        """Return the graph without what is hidden: its nodes, and the edges between them."""
        if self.mode == "mark":
            return graph
        hiding = self.mode == "hide"
        nodes = {n: node for n, node in graph.nodes.items() if (n in found) != hiding}
        return Graph(nodes, tuple(e for e in graph.edges if e[0] in nodes and e[1] in nodes))


def where_of(
    text: str | None,
    mode: str | None,
    filters: Mapping[int, pl.Filter],
    types: pl.TypeHierarchy | None = None,
) -> Where | None:
    """Return what the box of a page asks for: nothing, if it is empty or cannot be read."""
    if not (text or "").strip():
        return None
    try:
        condition = read(text or "", types=types)
    except FindError:
        return None  # which the page tells beside the box
    return Where(condition, mode if mode in MODES else "mark", filters)


# -- reading ---------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<call>(?:covers|covered_by|overlaps|matches|above|below|near)\b\s*\()
      | (?P<word>[A-Za-z_][\w.\-]*)
      | (?P<hash>\#\d{1,9})
      | (?P<number>\d{1,9}(?![\w.]))
      | (?P<quoted>"(?:[^"\\]|\\.)*")
      | (?P<sign><=|>=|!=|=|<|>)
      | (?P<bracket>[()])
      | (?P<end>\Z)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
#: Characters of one expression, and how deep its brackets go.
_MOST: Final = 2_000
_DEEPEST: Final = 50
_COMPARE: Final[dict[str, Callable[[int, int], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def read(
    text: str, *, types: pl.TypeHierarchy | None = None, filter_chars: int = 2_000
) -> Condition:
    """Return the condition that an expression is; FindError says what is wrong, and where."""
    if len(text) > _MOST:
        raise FindError(f"an expression has up to {_MOST:,} characters")
    return _Reader(text, types, filter_chars).whole()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int


class _Reader:
    """One expression, read from left to right."""

    def __init__(self, text: str, types: pl.TypeHierarchy | None, filter_chars: int) -> None:
        self._text = text
        self._types = types
        self._filter_chars = filter_chars
        self._at = 0
        self._depth = 0
        self._next = self._token()

    def whole(self) -> Condition:
        if self._next.kind == "end":
            raise FindError("there is nothing to find in this expression")
        found = self._either()
        if self._next.kind != "end":
            raise self._unexpected("'and', 'or' or the end")
        return found

    # -- tokens --

    def _token(self) -> _Token:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            rest = self._text[self._at :].lstrip()
            column = len(self._text) - len(rest) + 1
            if rest.startswith('"'):
                raise FindError(f"column {column}: the quotation mark is never closed")
            raise FindError(f"column {column}: {rest[:1]!r} begins nothing that is known here")
        kind = match.lastgroup
        assert kind is not None  # one of the groups has matched
        self._at = match.end()
        return _Token(kind, match[kind], match.start(kind) + 1)

    def _take(self) -> _Token:
        taken = self._next
        self._next = self._token()
        return taken

    def _unexpected(self, wanted: str) -> FindError:
        there = "the end" if self._next.kind == "end" else repr(self._next.text)
        return FindError(f"column {self._next.column}: {there}, where {wanted} was expected")

    def _is(self, word: str) -> bool:
        return self._next.kind == "word" and self._next.text.lower() == word

    # -- and, or, not --

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._is("or"):
            self._take()
            parts.append(self._both())
        if len(parts) == 1:
            return parts[0]
        return lambda asked: frozenset().union(*(each(asked) for each in parts))

    def _both(self) -> Condition:
        parts = [self._plain()]
        while self._is("and"):
            self._take()
            parts.append(self._plain())
        if len(parts) == 1:
            return parts[0]
        return lambda asked: frozenset.intersection(*(each(asked) for each in parts))

    def _plain(self) -> Condition:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise FindError(f"column {self._next.column}: nested too deeply")
        try:
            if self._is("not"):
                self._take()
                inner = self._plain()
                return lambda asked: frozenset(asked.graph.nodes) - inner(asked)
            if self._next.kind == "bracket" and self._next.text == "(":
                self._take()
                inner = self._either()
                if self._next.text != ")":
                    raise self._unexpected("')'")
                self._take()
                return inner
            return self._condition()
        finally:
            self._depth -= 1

    # -- conditions --

    def _condition(self) -> Condition:
        kind, text = self._next.kind, self._next.text
        if kind == "call":
            return self._call()
        if kind == "quoted":
            token = self._take()
            try:
                return _with_text(json.loads(token.text))
            except ValueError:
                raise FindError(f"column {token.column}: {token.text} is no text") from None
        if kind == "hash":
            number = int(self._take().text[1:])
            return lambda asked: frozenset({number} & asked.graph.nodes.keys())
        if kind != "word" or text.lower() in ("and", "or"):
            raise self._unexpected("a condition")
        token = self._take()
        name = text.lower()
        if name in _SETS:
            return _SETS[name]
        if name in ("interface", "attribute"):
            return self._named(name)
        if name in _COUNTS:
            return self._counted(name)
        raise FindError(
            f"column {token.column}: {text!r} is no condition; text to find stands in quotation "
            "marks"
        )

    def _named(self, what: str) -> Condition:
        if self._next.text not in ("=", "!="):
            raise self._unexpected("= or !=")
        equal = self._take().text == "="
        if self._next.kind not in ("word", "number", "quoted"):
            raise self._unexpected(f"the name of an {what}")
        token = self._take()
        name = json.loads(token.text) if token.kind == "quoted" else token.text
        test = _HOLDS[what]
        return lambda asked: frozenset(
            n for n in asked.graph.nodes if test(asked, n, name) == equal
        )

    def _counted(self, name: str) -> Condition:
        if self._next.kind != "sign":
            raise self._unexpected("= != < <= > or >=")
        compare = _COMPARE[self._take().text]
        if self._next.kind not in ("number", "hash"):
            raise self._unexpected("a whole number")
        wanted = int(self._take().text.lstrip("#"))
        count = _COUNTS[name]
        return lambda asked: frozenset(
            n for n, value in count(asked.graph).items() if compare(value, wanted)
        )

    def _call(self) -> Condition:
        """Read ``name( … )``, whose inside is no expression: a filter, a notification, numbers."""
        token = self._next
        name = token.text.rstrip("( \t\n").lower()
        end = _closing(self._text, self._at)
        if end is None:
            raise FindError(f"column {token.column}: {name}( is never closed")
        start, inside = self._at, self._text[self._at : end]
        self._at = end + 1
        self._next = self._token()
        lead = len(inside) - len(inside.lstrip())
        inside, column = inside.strip(), start + lead + 1
        if name == "near":
            return self._near(inside, column)
        if name in ("above", "below"):
            number = self._number(inside, column, name)
            return lambda asked: _reached(asked.graph, number, _WAYS[name])
        if name == "matches":
            return self._matches(inside, column)
        compare = _COVERING[name]
        if inside.startswith("#"):
            number = self._number(inside, column, name)
            return lambda asked: _compared(asked, compare, asked.filters.get(number))
        item = self._filter(inside, column)
        return lambda asked: _compared(asked, compare, item)

    def _number(self, text: str, column: int, name: str) -> int:
        if re.fullmatch(r"#?\d{1,9}", text) is None:
            raise FindError(f"column {column}: {name}( ) wants a number such as #3, not {text!r}")
        return int(text.lstrip("#"))

    def _near(self, text: str, column: int) -> Condition:
        number, comma, steps = text.partition(",")
        if comma and not (steps.strip().isascii() and steps.strip().isdigit()):
            raise FindError(f"column {column}: near( ) wants a number of edges after the comma")
        middle = self._number(number.strip(), column, "near")
        far = min(int(steps), 10_000) if comma else 1

        def near(asked: _Asked) -> Found:
            up = _reached(asked.graph, middle, _WAYS["above"], far)
            down = _reached(asked.graph, middle, _WAYS["below"], far)
            return frozenset((up | down | {middle}) & asked.graph.nodes.keys())

        return near

    def _filter(self, text: str, column: int) -> pl.Filter:
        if len(text) > self._filter_chars:
            raise FindError(f"column {column}: a filter of {len(text):,} characters is too long")
        try:
            return pl.parse_filter(text, types=self._types)
        except pl.FilterSyntaxError as error:
            wanted = "; expected " + " or ".join(error.expected) if error.expected else ""
            at = column + error.column - 1
            raise FindError(f"column {at}: {error.message}{wanted}") from None
        except (pl.FilterError, RecursionError) as error:
            raise FindError(f"column {column}: {error}") from None

    def _matches(self, text: str, column: int) -> Condition:
        try:
            notification = read_notification(text, "the expression", column - 1)
        except SourceError as error:
            raise FindError(str(error)) from None
        return lambda asked: asked.where(lambda item: item.matches(notification))


def _closing(text: str, at: int) -> int | None:
    """Return where the bracket closes that was opened before a place, quotations passed over."""
    depth, quoted = 1, False
    while at < len(text):
        char = text[at]
        if quoted:
            if char == "\\":
                at += 1
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                return at
        at += 1
    return None


# -- what conditions mean --------------------------------------------------------------------------


def _with_text(wanted: str) -> Condition:
    wanted = wanted.lower()

    def found(asked: _Asked) -> Found:
        nodes = asked.graph.nodes.values()
        return frozenset(
            each.number
            for each in nodes
            if wanted in searched(each.number, each.text, each.interfaces)
        )

    return found


def _compared(
    asked: _Asked, compare: Callable[[pl.Filter, pl.Filter], bool], item: pl.Filter | None
) -> Found:
    return frozenset() if item is None else asked.where(lambda mine: compare(mine, item))


_COVERING: Final[dict[str, Callable[[pl.Filter, pl.Filter], bool]]] = {
    "covers": lambda mine, item: mine.covers(item),
    "covered_by": lambda mine, item: item.covers(mine),
    "overlaps": lambda mine, item: mine.overlaps(item),
}
_WAYS: Final[dict[str, Callable[[Graph], Mapping[int, Collection[int]]]]] = {
    "above": lambda graph: graph.parents,
    "below": lambda graph: graph.children,
}


def _reached(
    graph: Graph,
    start: int,
    way: Callable[[Graph], Mapping[int, Collection[int]]],
    far: int | None = None,
) -> Found:
    """Return what edges lead to from a node, itself apart, in so many steps or in any number."""
    if start not in graph.nodes:
        return frozenset()
    next_to, seen, frontier = way(graph), {start}, [start]
    while frontier and (far is None or far > 0):
        frontier = [
            x for x in dict.fromkeys(n for f in frontier for n in next_to[f]) if x not in seen
        ]
        seen.update(frontier)
        far = None if far is None else far - 1
    return frozenset(seen - {start})


_SETS: Final[dict[str, Condition]] = {
    "roots": lambda asked: frozenset(asked.graph.roots),
    "leaves": lambda asked: frozenset(n for n, below in asked.graph.children.items() if not below),
}
_COUNTS: Final[dict[str, Callable[[Graph], Mapping[int, int]]]] = {
    "depth": lambda graph: graph.depths,
    "parents": lambda graph: {n: len(each) for n, each in graph.parents.items()},
    "children": lambda graph: {n: len(each) for n, each in graph.children.items()},
    "interfaces": lambda graph: {n: len(node.interfaces) for n, node in graph.nodes.items()},
    "number": lambda graph: {n: n for n in graph.nodes},
}


def _has_attribute(asked: _Asked, number: int, name: str) -> bool:
    item = asked.filters.get(number)
    return item is not None and name in item.constraints


_HOLDS: Final[dict[str, Callable[[_Asked, int, str], bool]]] = {
    "interface": lambda asked, number, name: name in asked.graph.nodes[number].interfaces,
    "attribute": _has_attribute,
}
