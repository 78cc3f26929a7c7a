"""The commands that people and machines type: make's, and continuous integration's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = {
    *("bench", "clean", "constraints", "distclean", "format", "graph", "help", "lint", "run"),
    "setup",
    "test",
    "test-deep",
    "tour",
}


def make(*arguments: str, cwd: Path = ROOT) -> str:
    # A make inside a make must not take part in the outer one's job server.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["make", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_make_alone_lists_every_command() -> None:
    assert set(re.findall(r"^  make (\S+)", make(), re.M)) == PUBLIC


def test_the_documents_name_only_commands_that_exist() -> None:
    for document in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/*.md")]:
        named = re.findall(r"(?:`|^    |^)make ([a-z][a-z-]*)", document.read_text("utf-8"), re.M)
        assert set(named) <= PUBLIC, document


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("test", ["ruff check", "ruff format --check", "mypy", "lint-imports", "pytest"]),
        ("lint", ["ruff check", "ruff format --check", "mypy", "lint-imports"]),
        ("run", ["-m browser --workload"]),
        ("tour", ["-m posetlib"]),
        ("bench", ["-m bench"]),
        ("test-deep", ["--hypothesis-profile=deep", "--hypothesis-seed=7"]),
    ],
)
def test_a_command_sets_up_and_then_runs(command: str, runs: list[str]) -> None:
    recipe = make("--dry-run", command, "SEED=7")
    places = [recipe.find(part) for part in ["scripts/set-up", *runs]]
    assert -1 not in places, recipe
    assert places == sorted(places), recipe


def test_cleaning_removes_what_tools_leave_and_no_more(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    left = [
        "runs/demo/report.json",
        ".pytest_cache/x",
        "posetlib/__pycache__/m.pyc",
        "dist/a.whl",
        ".hypothesis/e",
    ]
    kept = ["posetlib/m.py", ".venv/lib/__pycache__/m.pyc", "docs/index.md"]
    for name in [*left, *kept]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    make("clean", cwd=tmp_path)
    assert [name for name in left if (tmp_path / name).exists()] == []
    assert [name for name in kept if not (tmp_path / name).exists()] == []
    make("distclean", cwd=tmp_path)
    assert not (tmp_path / ".venv").exists()


def test_continuous_integration_runs_make_test(tmp_path: Path) -> None:
    """With a make that tells how it was called, from another directory, and its status kept."""
    tool = tmp_path / "make"
    tool.write_text('#!/bin/sh\npwd\necho "$@"\nread line && echo input\nexit 3\n', "utf-8")
    tool.chmod(0o755)
    done = subprocess.run(
        [ROOT / ".ci" / "run"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        input="something\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stdout.splitlines() == [str(ROOT), "test"]
