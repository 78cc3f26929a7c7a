"""Run the Python in a Markdown document: ``python -m tests.repository.documents README.md``.

Every block that is marked as ``python`` or ``pycon`` is run, in order and in one namespace, as a
reader would who types along. A block with prompts is a doctest, and shows exactly what it says it
shows; one without must run. There is no way to exempt a block: what cannot be run is no Python, and
is marked as text.
"""

from __future__ import annotations

import doctest
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
FENCE = re.compile(
    r"^(?P<indent>[ ]*)```(?:python|pycon|py)[ ]*\n(?P<code>.*?)^(?P=indent)```[ ]*$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A piece of Python in a document, and the line it starts on."""

    line: int
    code: str


def blocks(text: str) -> Iterator[Block]:
    """Yield the Python in a Markdown text, in order."""
    for fence in FENCE.finditer(text):
        indent = fence["indent"]
        lines = (line.removeprefix(indent) for line in fence["code"].splitlines(keepends=True))
        yield Block(text.count("\n", 0, fence.start("code")) + 1, "".join(lines))


def failures(text: str, name: str) -> list[str]:
    """Run the Python in a document and return what went wrong, each with its line."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    found: list[str] = []
    for block in blocks(text):
        if ">>>" in block.code:
            parser = doctest.DocTestParser()
            test = parser.get_doctest(block.code, namespace, name, name, block.line - 1)
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            runner.run(test, out=found.append, clear_globs=False)
            # The runner works on a copy; the next block goes on where this one ended.
            namespace = test.globs
        else:
            # The blank lines make the line numbers of a traceback those of the document.
            source = "\n" * (block.line - 1) + block.code
            try:
                exec(compile(source, name, "exec"), namespace)
            except Exception:  # noqa: BLE001 - whatever it raises is the finding
                found.append(traceback.format_exc())
    return found


def main(arguments: list[str]) -> int:
    """Run the documents named on the command line; 1 if an example in them is not true."""
    wrong = 0
    for argument in arguments:
        for failure in failures(Path(argument).read_text(encoding="utf-8"), argument):
            print(failure)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
