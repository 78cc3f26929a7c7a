"""The other data models: covering of paths, many paths at once, and what tuples and objects cost.

Recursive data has ten names that may stand anywhere. In the tree-like schema an element has three
kinds of children, seven levels deep: 3,279 ways down, which paths follow. Documents have about a
hundred elements, and other documents of the same kind have passed before. A third of the paths has
a condition on a number, some of them on a step before the last.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from lxml import etree

import posetlib as pl
from bench.harness import Bench

_NAMES = "abcdefghij"
_LEVELS = 7
_DOCUMENTS = 8
# Documents that have passed before those that are measured.
_BEFORE = 200


class Load(NamedTuple):
    """Documents as we have them and as lxml has them, and a way to draw paths."""

    name: str
    documents: list[pl.Document]
    trees: list[Any]
    path: Callable[[random.Random], str]
    before: list[pl.Document]

    def warm_index(self, paths: Sequence[pl.DocumentPath]) -> pl.PathIndex:
        """Return an index of paths that has seen other documents."""
        made = pl.PathIndex(paths)
        for each in self.before:
            made.satisfied(each)
        return made


def run(bench: Bench) -> None:
    """Compare paths, match many of them, and match tuples and objects."""
    _covering(bench)
    recursive, tree_like = _loads(bench.size(_BEFORE, 2))
    size = bench.size(10_000, 60)
    for load in (recursive, tree_like):
        _many_paths(bench, load, size)
    _growth(bench, tree_like)
    _other_models(bench)


# -- loads -----------------------------------------------------------------------------------------


def _loads(before: int = _BEFORE) -> tuple[Load, Load]:
    draw = random.Random(1)
    loads = []
    for name, tree, path in (
        ("recursive data", _recursive_tree, _recursive_path),
        ("tree-like schema", _schema_tree, _schema_path),
    ):
        trees = [tree(draw) for _ in range(_DOCUMENTS)]
        loads.append(
            Load(name, _read(trees), trees, path, _read([tree(draw) for _ in range(before)]))
        )
    return loads[0], loads[1]


def _read(trees: Sequence[Any]) -> list[pl.Document]:
    return [pl.read_xml(etree.tostring(tree)) for tree in trees]


def _recursive_tree(draw: random.Random) -> Any:
    root = etree.Element("r", x="1")
    elements = [root]
    while len(elements) < 100:
        parent = draw.choice(elements[-12:])
        elements.append(etree.SubElement(parent, draw.choice(_NAMES), x=str(draw.randrange(100))))
    return root


def _children(way: tuple[str, ...]) -> list[str]:
    """Return the names that the schema has below an element: three of the ten of its level."""
    return random.Random("/".join(way)).sample([f"{name}{len(way)}" for name in _NAMES], 3)


def _schema_tree(draw: random.Random) -> Any:
    root = etree.Element("r", x="1")
    count = 1
    while count < 100:
        inner = root
        for name in _way(draw):
            found = inner.find(name)
            if found is None:
                found = etree.SubElement(inner, name, x=str(draw.randrange(100)))
                count += 1
            inner = found
    return root


def _way(draw: random.Random) -> tuple[str, ...]:
    """Return the names of a way down the schema."""
    way: tuple[str, ...] = ()
    while len(way) < _LEVELS:
        way = (*way, draw.choice(_children(way)))
    return way


def _recursive_path(draw: random.Random) -> str:
    steps = [
        draw.choice(("/", "//")) + draw.choice((*_NAMES, "*")) for _ in range(draw.randint(2, 5))
    ]
    return _with_condition(draw, ["//" + steps[0].lstrip("/"), *steps[1:]])


def _schema_path(draw: random.Random) -> str:
    first, last = draw.choice(((0, 6), (0, 6), (0, 5), (3, 6), (4, 6)))
    way = _way(draw)
    steps = ["/r"] if first == 0 else []
    axis = "/" if first == 0 else "//"
    for level in range(first, last + 1):
        if first < level < last and draw.random() < 0.15:
            axis = "//"
            continue
        name = "*" if draw.random() < 0.1 else way[level]
        steps.append(axis + name)
        axis = "/"
    return _with_condition(draw, steps)


def _with_condition(draw: random.Random, steps: list[str]) -> str:
    if draw.random() < 0.33:
        at = -1 if draw.random() < 0.8 else draw.randrange(len(steps))
        low = draw.randrange(90)
        steps[at] += f"[x in [{low}, {low + draw.randrange(1, 10)}]]"
    return "".join(steps)


def _distinct(load: Load, size: int, seed: int) -> dict[pl.DocumentPath, str]:
    """Return distinct paths, each with the text that it was written as."""
    draw = random.Random(seed)
    found: dict[pl.DocumentPath, str] = {}
    while len(found) < size:
        text = load.path(draw)
        found.setdefault(pl.DocumentPath(text), text)
    return found


def _xpath(text: str) -> Any:
    return etree.XPath(re.sub(r"x in \[(\d+), (\d+)\]", r"@x >= \1 and @x <= \2", text))


# -- what is measured ------------------------------------------------------------------------------


def _covering(bench: Bench) -> None:
    pairs = list(_long_pairs(bench.size(200, 5)))
    found = [one.covers(other) for one, other in pairs]
    with bench.comparison(
        "covers of two paths of ten steps with conditions",
        note=f"{sum(found):,} of {len(pairs):,} pairs are covered",
    ) as comparison:
        for wanted, name in ((True, "covered"), (False, "not covered")):
            some = [pair for pair, is_covered in zip(pairs, found, strict=True)
                    if is_covered is wanted]  # fmt: skip
            comparison.case(name, _all_pairs(some), operations=len(some), at_least=1e6 / 30)


def _all_pairs(pairs: list[tuple[pl.DocumentPath, pl.DocumentPath]]) -> Callable[[], object]:
    return lambda: [one.covers(other) for one, other in pairs]


def _long_pairs(size: int) -> Iterator[tuple[pl.DocumentPath, pl.DocumentPath]]:
    """Yield pairs of which the first is the second made wider, or that in part."""
    draw = random.Random(3)
    for number in range(size):
        narrow, wide = [], []
        for level in range(10):
            axis, name = draw.choice(("/", "//")), draw.choice("abc")
            low = draw.randrange(50)
            narrow.append(f"{axis}{name}[x in [{low}, {low + 5}] and y = 'v']")
            low -= 1 if level < 9 or number % 2 else -1
            wide.append(
                f"{draw.choice((axis, '//'))}{draw.choice((name, '*'))}[x in [{low}, {low + 7}]]"
            )
        yield pl.DocumentPath("".join(wide)), pl.DocumentPath("".join(narrow))


def _many_paths(bench: Bench, load: Load, size: int) -> None:
    texts = _distinct(load, size, seed=5)
    paths = list(texts)
    index = load.warm_index(paths)
    filters = [pl.Filter({"d": path}) for path in paths]
    counting = pl.CountingMatcher((f, i % 50) for i, f in enumerate(filters))
    bitmap = pl.BitmapMatcher((f, i % 50) for i, f in enumerate(filters))
    compiled = [_xpath(text) for text in texts.values()]
    documents = load.documents
    some = documents[:2]
    for document, tree in zip(some, load.trees, strict=False):
        mine = set(index.satisfied(document))
        theirs = {path for path, ask in zip(paths, compiled, strict=True) if ask(tree)}
        assert mine == theirs, "the index and lxml disagree"
    held = [{"d": document} for document in documents]
    for document in load.before:
        counting.match({"d": document})
        bitmap.match({"d": document})

    def all_documents(ask: Callable[[Any], object], those: Sequence[Any]) -> Callable[[], object]:
        return lambda: [ask(each) for each in those]

    title = f"match, {size:,} distinct paths, {load.name}"
    at_once = all_documents(index.satisfied, documents)
    with bench.comparison(title) as comparison:
        comparison.case(
            "each path",
            lambda: [path.matches(document) for document in some for path in paths],
            operations=len(some),
        )
        comparison.case("PathIndex", at_once, operations=len(documents), at_most=1 / 5)
        comparison.case(
            "CountingMatcher", all_documents(counting.match, held), operations=len(held)
        )
        comparison.case("BitmapMatcher", all_documents(bitmap.match, held), operations=len(held))
        comparison.case(
            "PathIndex, made anew, first document",
            lambda made: made.satisfied(documents[0]),
            setup=lambda: pl.PathIndex(paths),
        )
    with bench.comparison(f"{title}, against lxml") as comparison:
        comparison.case(
            "lxml, compiled XPath",
            lambda: [ask(tree) for tree in load.trees[:2] for ask in compiled],
            operations=2,
        )
        comparison.case("PathIndex", at_once, operations=len(documents), at_most=1 / 3)


def _growth(bench: Bench, load: Load) -> None:
    few, many = bench.size(1_000, 20), bench.size(100_000, 200)
    paths = list(_distinct(load, many, seed=7))
    with bench.comparison(f"growth, {load.name}", "per document; the states are warm") as found:
        for size in (few, many):
            index = load.warm_index(paths[:size])
            matched = sum(len(index.satisfied(each)) for each in load.documents)
            found.case(
                f"{size:,} paths, {matched / len(load.documents):,.0f} matched",
                lambda index=index: [index.satisfied(each) for each in load.documents],
                operations=len(load.documents),
                at_most=10 if size == many else None,
            )


def _other_models(bench: Bench) -> None:
    """The same filters and values as records, as tuples and as objects."""
    draw = random.Random(11)
    size = bench.size(10_000, 50)
    ends = [[sorted(draw.choices(range(1_000), k=2)) for _ in range(3)] for _ in range(size)]
    values = [tuple(draw.choices(range(1_000), k=3)) for _ in range(200)]
    records = [dict(zip("xyz", each, strict=True), n=3) for each in values]
    objects = [SimpleNamespace(**record) for record in records]
    readers = pl.Readers({f"o.{name}": _reader(name) for name in "xyzn"})

    def matcher(texts: list[str], parse: Callable[[str], pl.Filter]) -> pl.BitmapMatcher:
        return pl.BitmapMatcher((parse(text), i % 20) for i, text in enumerate(texts))

    def written(*names: str) -> list[str]:
        return [
            " and ".join(
                f"{name} in [{low}, {high}]" for name, (low, high) in zip(names, row, strict=True)
            )
            for row in ends
        ]

    of_records = matcher([f"{text} and n = 3" for text in written(*"xyz")], pl.parse_filter)
    of_objects = matcher(
        [f"{text} and o.n = 3" for text in written("o.x", "o.y", "o.z")], pl.parse_filter
    )
    of_tuples = matcher(
        [f"({', '.join(f'in [{low}, {high}]' for low, high in row)})" for row in ends],
        pl.parse_template,
    )
    expected = of_records.match_many(records)
    assert of_tuples.match_many(map(pl.tuple_record, values)) == expected
    assert of_objects.match_many(map(readers.view, objects)) == expected
    count = len(values)
    note = "the record has the length as an attribute; tuples and objects are read anew each time"
    for call in ("match", "match_many"):
        with bench.comparison(f"{call}, {size:,} filters, by model", note) as comparison:
            for name, found, make, given, bar in (
                ("records", of_records, dict, records, None),
                ("tuples", of_tuples, pl.tuple_record, values, 1.3),
                ("objects", of_objects, readers.view, objects, 1.3),
            ):
                ask = _one_by_one if call == "match" else _together
                comparison.case(name, ask(found, make, given), operations=count, at_most=bar)


def _reader(name: str) -> Callable[[Any], Any]:
    return lambda each: getattr(each, name)


def _one_by_one(matcher: Any, make: Any, given: Sequence[Any]) -> Callable[[], object]:
    return lambda: [matcher.match(make(each)) for each in given]


def _together(matcher: Any, make: Any, given: Sequence[Any]) -> Callable[[], object]:
    return lambda: matcher.match_many([make(each) for each in given])
