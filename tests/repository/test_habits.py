"""What other tools read of the repository: how to cite it, and what to check before a commit."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import posetlib
from scripts import set_up

from .test_commands import make

ROOT = Path(__file__).resolve().parents[2]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8").split("- id: ")[1:]


def field(name: str, text: str) -> str:
    """The value of a simple field of a YAML mapping, without quotes; it must be there once."""
    (value,) = re.findall(rf"^ *{name}: (.+)$", text, re.M)
    return str(value).strip("'\"")


def test_the_citation_is_of_this_version_and_licence() -> None:
    project = set_up.read_project()["project"]
    assert field("cff-version", CITATION) == "1.2.0"
    assert field("version", CITATION) == posetlib.__version__
    assert field("license", CITATION) == project["license"]
    listed = CITATION.partition("\nkeywords:\n")[2].partition("\nreferences:")[0]
    assert re.findall(r"^  - (.+)$", listed, re.M) == project["keywords"]


def commands() -> list[str]:
    """The commands of the hooks that run one."""
    return [field("entry", hook) for hook in HOOKS if field("language", hook) == "system"]


@pytest.mark.parametrize("command", commands())
def test_a_hook_runs_a_tool_that_the_set_up_installs(command: str) -> None:
    folder, name = command.split(maxsplit=1)[0].rsplit("/", 1)
    assert folder == ".venv/bin"
    assert Path(sys.prefix, "bin", name).is_file()


def test_no_hook_comes_from_elsewhere() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"repo: (.+)", text) == ["local"]
    assert {field("language", hook) for hook in HOOKS} == {"system", "pygrep"}


def test_the_hooks_run_all_that_make_lint_runs() -> None:
    def tools(text: str) -> set[str]:
        return set(re.findall(r"\.venv/bin/(\S+(?: [a-z]+)?)", text))

    assert tools("\n".join(commands())) == tools(make("--dry-run", "_lint"))


@pytest.mark.parametrize(
    ("hook", "bad", "good"),
    [
        ("trailing-whitespace", b"a \n", b" a\n"),
        ("final-newline", b"a\nb", b"a\nb\n"),
        ("merge-conflict", b"<<<<<<< ours\n", b"Title\n========\n"),
    ],
)
def test_a_pattern_finds_what_it_is_for(hook: str, bad: bytes, good: bytes) -> None:
    (text,) = (each for each in HOOKS if each.startswith(hook))
    pattern = re.compile(field("entry", text).encode(), re.M)
    assert pattern.search(bad)
    assert not pattern.search(good)
