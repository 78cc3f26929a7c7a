"""The command ``posetlib``: try filters in a shell, and a short tour of what there is."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import posetlib as pl

__all__ = ["main"]

YES, NO, BAD = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 for yes and done, 1 for no, 2 for a question that makes no sense."""
    options = _parser().parse_args(arguments)
    try:
        types = None if options.types is None else pl.TypeHierarchy(_json(options.types))
        status: int = options.command(options, types)
        sys.stdout.flush()
    except (ValueError, TypeError) as error:
        print(f"posetlib: {error}", file=sys.stderr)
        return BAD
    except BrokenPipeError:
        # Whoever reads the output has read enough: nothing may complain when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        answer: int = options.answer
        return answer
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="posetlib",
        description="Ask about filters of the posetlib language. Without a command: a tour.",
        epilog="Exit status: 0 for yes, 1 for no, 2 for a filter or notification that is none.",
    )
    parser.add_argument("--version", action="version", version=f"posetlib {pl.__version__}")
    parser.add_argument(
        "--types", metavar="JSON", help='the types and their supertypes: {"Stock": ["Asset"]}'
    )
    # The answer is kept for a caller who does not read it to its end.
    parser.set_defaults(command=_demo, answer=YES)
    commands = parser.add_subparsers(metavar="command")

    command = commands.add_parser("demo", help="a tour of what there is")
    command.set_defaults(command=_demo)

    command = commands.add_parser("parse", help="the canonical text of a filter")
    command.add_argument("filter")
    command.add_argument("--json", action="store_true", help="its dict form instead")
    command.set_defaults(command=_parse)

    command = commands.add_parser("match", help="does a filter match a notification?")
    command.add_argument("filter")
    command.add_argument("notification", help='as JSON: {"price": 25}')
    command.set_defaults(command=_match)

    for name, function, question in (
        ("covers", _covers, "does the first filter match whatever the other matches?"),
        ("overlaps", _overlaps, "can a notification match both?"),
        ("merge", _merge, "the filter that matches what either matches"),
    ):
        command = commands.add_parser(name, help=question)
        command.add_argument("filter")
        command.add_argument("other")
        command.set_defaults(command=function)
    command.add_argument("--imperfect", action="store_true", help="it may match more than that")

    command = commands.add_parser("diff", help="what two snapshots differ in")
    for name, what in (("before", "a snapshot: a JSON file, or a folder of the jobs'"),
                       ("after", "the one that takes its place")):  # fmt: skip
        command.add_argument(name, help=what)
    command.add_argument(
        "--fail-on", action="append", choices=("forwards", "roots", "entries"), metavar="PART",
        help="exit with 1 only if these differ: forwards, roots or entries; may be repeated",
    )  # fmt: skip
    command.add_argument("--json", action="store_true", help="the difference as JSON")
    command.set_defaults(command=_diff)
    return parser


def _json(text: str) -> Any:
    value = json.loads(text)
    if not isinstance(value, Mapping):
        raise TypeError(f"a JSON object is expected, not {text}")
    return value


def _both(
    options: argparse.Namespace, types: pl.TypeHierarchy | None
) -> tuple[pl.Filter, pl.Filter]:
    first = pl.parse_filter(options.filter, types=types)
    return first, pl.parse_filter(options.other, types=types)


def _parse(options: argparse.Namespace, types: pl.TypeHierarchy | None) -> int:
    parsed = pl.parse_filter(options.filter, types=types)
    print(json.dumps(parsed.to_dict(), ensure_ascii=False) if options.json else parsed)
    return YES


def _match(options: argparse.Namespace, types: pl.TypeHierarchy | None) -> int:
    explanation = pl.parse_filter(options.filter, types=types).explain(_json(options.notification))
    print(explanation)
    return YES if explanation else NO


def _covers(options: argparse.Namespace, types: pl.TypeHierarchy | None) -> int:
    first, other = _both(options, types)
    objection = first.why_not_covers(other)
    print("yes" if objection is None else f"no: {objection}")
    return YES if objection is None else NO


def _overlaps(options: argparse.Namespace, types: pl.TypeHierarchy | None) -> int:
    first, other = _both(options, types)
    print("yes" if first.overlaps(other) else "no")
    return YES if first.overlaps(other) else NO


def _merge(options: argparse.Namespace, types: pl.TypeHierarchy | None) -> int:
    merged = pl.merge(*_both(options, types), perfect=not options.imperfect)
    print("there is none" if merged is None else merged)
    return NO if merged is None else YES


def _diff(options: argparse.Namespace, _types: pl.TypeHierarchy | None) -> int:
    before, after = _snapshot(options.before), _snapshot(options.after)
    parts = options.fail_on or []
    everyone = None
    if "forwards" in parts:
        nodes = (*before.nodes, *after.nodes)
        everyone = sorted({str(name) for node in nodes for name in node.interfaces})
    found = pl.diff(before, after, neighbours=everyone)
    differs = {
        "forwards": bool(found.forwards_changed),
        "roots": bool(found.roots_added or found.roots_removed),
        "entries": {(node.item, name) for node in before.nodes for name in node.interfaces}
        != {(node.item, name) for node in after.nodes for name in node.interfaces},
    }
    fails = any(differs[part] for part in parts) if parts else bool(found)
    options.answer = NO if fails else YES
    print(json.dumps(found.to_dict(), ensure_ascii=False) if options.json else found)
    return NO if fails else YES


def _snapshot(path: str) -> pl.Snapshot[Any]:
    """Read a snapshot from a JSON file, or from a folder with `nodes/` and `edges/` in Parquet."""
    place = Path(path)
    try:
        if not place.is_dir():
            return pl.Snapshot.from_json(place.read_text(encoding="utf-8"))
        header = json.loads((place / "snapshot.json").read_text(encoding="utf-8"))
        try:
            # Only for folders of the jobs, and these come with it: the library does without.
            parquet = importlib.import_module("pyarrow.parquet")
        except ImportError:
            raise ValueError(f"{path} is a folder: to read it, pyarrow is needed") from None
        rows = [
            parquet.read_table(place / name, columns=columns).to_pylist()
            for name, columns in (
                ("nodes", ["id", "filter", "interfaces"]),
                ("edges", ["parent", "child"]),
            )
        ]
        return pl.Snapshot.from_rows(header, *rows)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None


def _tree(table: pl.Table[Any], forwards: Mapping[Any, frozenset[Any]]) -> Iterator[str]:
    """Yield a forest's filters as the lines of a tree, each with its interfaces."""
    # Each entry: the filter, the text to draw before it, and before the lines below it.
    pending = [(root, "", "") for root in reversed(table.roots())]
    while pending:
        item, before, below = pending.pop()
        asked, sent = _names(table.interfaces(item)), _names(forwards.get(item, frozenset()))
        yield f"{before}{item}   from {asked}" + (f", forwarded to {sent}" if sent else "")
        children = table.children(item)
        for child in reversed(children):
            last = child is children[-1]
            pending.append(
                (child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))
            )


def _names(interfaces: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, interfaces)))


def _demo(_options: argparse.Namespace, _types: pl.TypeHierarchy | None) -> int:
    """Print the tour: each line of it is computed, none is remembered."""
    types = pl.TypeHierarchy({"StockQuote": ["Quote", "Tradable"]})
    wide = pl.parse_filter('type isa Quote and name prefix "Fo" and price in [20, 30]', types)
    close = pl.parse_filter('type isa StockQuote and name = "Foo" and price:int > 24', types)
    foo = {"type": "StockQuote", "name": "Foo", "price": 25}
    far = {**foo, "price": 31}
    low, high = pl.parse_filter("x in [0, 5]"), pl.parse_filter("x in (5, 10]")

    print(f"posetlib {pl.__version__}: routing tables for content-based publish/subscribe\n")
    print("Two filters, in canonical form:")
    print(f"  f = {wide}")
    print(f"  g = {close}\n")
    print("Matching:")
    print(f"  f, {json.dumps(foo)}: {'yes' if wide.matches(foo) else 'no'}")
    print(f"  f, {json.dumps(far)}: {wide.explain(far)}\n")
    print("Covering, which lets a router forward one filter instead of two:")
    print(f"  f covers g: {wide.why_not_covers(close) or 'yes'}")
    print(f"  f overlaps g: {'yes' if wide.overlaps(close) else 'no'}\n")
    print("Merging, exactly:")
    print(f"  {low}  and  {high}  make  {pl.merge(low, high)}\n")

    table = pl.NonRedundantForest()
    for interface, text in (
        ("I1", "x in [0, 50]"),
        ("I1", "x in [60, 100]"),
        ("I2", "x in [10, 40]"),
        ("I2", "x in [70, 90]"),
        ("I3", "x in [20, 30]"),
    ):
        table.add(pl.parse_filter(text), interface)
    print("A routing table with three neighbours: where each filter came from, and where it goes:")
    for line in _tree(table, pl.forwards_sets(table, ["I1", "I2", "I3"])):
        print(f"  {line}")
    print(f"  x = 25 goes to {_names(table.match({'x': 25}))}\n")
    print("Try your own: `posetlib covers 'x > 3' 'x > 4'`; `posetlib --help` lists the rest.")
    return YES
