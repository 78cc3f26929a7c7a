"""docs/architecture.md describes the packages as they are."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from scripts.import_graph import block, imports_of_parts, layers, main, replaced

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGES = ("posetlib", "browser", "workloads")


def described(text: str) -> list[str]:
    """Return the folders and modules that the tree of a page names, as paths."""
    tree = text.split("\n## The tree\n")[1].split("\n## ", maxsplit=1)[0]
    found: list[str] = []
    folder = ""
    for line in tree.splitlines():
        if heading := re.fullmatch(r"### `(\S+/)`", line):
            folder = heading[1]
            found.append(folder)
        elif row := re.match(r"\| `(\w+)` \| \S", line):
            found.append(f"{folder}{row[1]}.py")
    return found


def present() -> set[str]:
    """Return the folders and modules that there are; an ``__init__.py`` stands for its folder."""
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py")]
    paths = (path.relative_to(ROOT).as_posix() for path in files)
    return {path.removesuffix("__init__.py") for path in paths}


class TestTheTree:
    def test_it_names_every_folder_and_module(self) -> None:
        assert present() - set(described(PAGE.read_text("utf-8"))) == set()

    def test_it_names_none_that_does_not_exist(self) -> None:
        assert set(described(PAGE.read_text("utf-8"))) - present() == set()

    def test_it_names_each_once(self) -> None:
        counts = Counter(described(PAGE.read_text("utf-8")))
        assert [path for path, count in counts.items() if count > 1] == []

    def test_a_line_without_a_sentence_is_no_description(self) -> None:
        page = (
            "\n## The tree\n\n### `a/`\n\n| `b` | what b is |\n| `c` |  |\n\n## Next\n| `d` | d |"
        )
        assert described(page) == ["a/", "a/b.py"]


def defined() -> set[str]:
    """Return the names of all classes, functions and attributes of the packages."""
    found: set[str] = set()
    for path in (path for name in PACKAGES for path in (ROOT / name).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
    return found


def test_the_functions_that_it_names_exist() -> None:
    known = defined()
    modules = {Path(path).stem for path in present()}
    files = {"py", "js", "toml"}
    named = re.findall(r"`(\w+)\.(\w+)(?:\(\))?`", PAGE.read_text("utf-8"))
    wrong = [
        f"{owner}.{name}"
        for owner, name in named
        if name not in files and not (owner in known | modules and name in known | modules)
    ]
    assert wrong == []


class TestTheImportGraph:
    def test_it_is_what_the_code_says(self) -> None:
        text = PAGE.read_text("utf-8")
        assert text == replaced(text, block(imports_of_parts())), "run `make graph`"

    def test_it_is_written_between_the_marks(self, tmp_path: Path) -> None:
        page = tmp_path / "page.md"
        page.write_text(replaced(PAGE.read_text("utf-8"), "nothing yet"), "utf-8")
        assert main(["--write", str(page)]) == 0
        assert page.read_text("utf-8") == PAGE.read_text("utf-8")

    def test_a_package_imports_from_layers_below_it(self) -> None:
        imports = imports_of_parts()
        seen: set[str] = set()
        for layer in reversed(layers(imports)):
            for part in layer:
                assert imports[part] <= seen, part
            seen.update(layer)
        assert seen == set(imports)

    def test_an_import_that_comes_shows(self) -> None:
        imports = {"posetlib.a": {"posetlib.b"}, "posetlib.b": set[str]()}
        assert "| `posetlib.a` | `b` | – |" in block(imports)
        assert block(imports) != block({**imports, "posetlib.a": set()})

    def test_a_document_without_the_marks_is_refused(self) -> None:
        with pytest.raises(ValueError, match="each once"):
            replaced("no marks here", "block")
