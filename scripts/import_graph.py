"""The import graph of the packages, for a document: ``python scripts/import_graph.py``.

Prints layers and a table of who imports whom. With ``--write docs/architecture.md`` the block
between the two marks of that document becomes what is printed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import grimp

ROOT: Final = Path(__file__).resolve().parent.parent
#: The package whose parts are shown one by one, and those that are shown whole.
LIBRARY: Final = "posetlib"
APPLICATIONS: Final = ("browser", "workloads")
BEGIN: Final = "<!-- import graph: made by `make graph` -->"
END: Final = "<!-- end of the import graph -->"

#: What each part imports.
Imports = Mapping[str, set[str]]


def part_of(module: str) -> str:
    """Return the part that a module belongs to.

    >>> part_of("posetlib.tables.table"), part_of("posetlib"), part_of("browser.pages.match")
    ('posetlib.tables', 'posetlib', 'browser')
    """
    names = module.split(".")
    return ".".join(names[:2]) if names[0] == LIBRARY else names[0]


def imports_of_parts() -> dict[str, set[str]]:
    """Return what each part imports of the others, imports inside functions included."""
    graph = grimp.build_graph(LIBRARY, *APPLICATIONS, cache_dir=None)
    found: dict[str, set[str]] = {part_of(module): set() for module in graph.modules}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            if part_of(imported) != part_of(module):
                found[part_of(module)].add(part_of(imported))
    return found


def layers(imports: Imports) -> list[list[str]]:
    """Return the parts in layers, the highest first: each imports from layers below it only.

    A part is as low as what it imports allows. CycleError if parts import each other in a circle.

    >>> layers({"a": {"b", "c"}, "b": {"c"}, "c": set(), "d": set()})
    [['a'], ['b'], ['c', 'd']]
    """
    height: dict[str, int] = {}
    for part in TopologicalSorter(imports).static_order():
        height[part] = 1 + max((height[each] for each in imports[part]), default=-1)
    levels = range(max(height.values(), default=-1), -1, -1)
    return [sorted(part for part in height if height[part] == level) for level in levels]


def block(imports: Imports) -> str:
    """Return the text that goes between the marks of the document."""
    drawn = "\n".join("  |  ".join(layer) for layer in layers(imports))
    rows = [
        f"| `{part}` | {_listed(imports[part])} | "
        f"{_listed(each for each in imports if part in imports[each])} |"
        for layer in layers(imports)
        for part in layer
    ]
    table = "\n".join(["| package | imports | is imported by |", "| --- | --- | --- |", *rows])
    return f"```text\n{drawn}\n```\n\n{table}"


def _listed(parts: Iterable[str]) -> str:
    names = sorted(each.removeprefix(f"{LIBRARY}.") for each in parts)
    return ", ".join(f"`{name}`" for name in names) or "–"


def replaced(text: str, made: str) -> str:
    r"""Return a document with another block; ValueError if it does not have each mark once.

    >>> print(replaced(f"before\n{BEGIN}\nold\n{END}\nafter", "new").replace("\n", " "))
    before <!-- import graph: made by `make graph` --> new <!-- end of the import graph --> after
    """
    if (text.count(BEGIN), text.count(END)) != (1, 1):
        raise ValueError(f"the document needs the lines {BEGIN!r} and {END!r}, each once")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the block, or write it into a document; 1 if packages import each other in a circle."""
    parser = argparse.ArgumentParser(description="The import graph of the packages.")
    parser.add_argument("--write", type=Path, metavar="FILE.md", help="a document with the marks")
    options = parser.parse_args(arguments)
    # The packages of this checkout, whatever else is installed.
    sys.path.insert(0, str(ROOT))
    try:
        made = block(imports_of_parts())
    except CycleError as error:
        print("packages import each other: " + " → ".join(error.args[1]), file=sys.stderr)
        return 1
    if options.write is None:
        print(made)
        return 0
    text = options.write.read_text(encoding="utf-8")
    options.write.write_text(replaced(text, made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
