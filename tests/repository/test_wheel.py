"""The built wheel holds the three packages, and works where nothing else is installed."""

from __future__ import annotations

import email
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import posetlib

ROOT = Path(__file__).resolve().parents[2]
WHEELHOUSE = ROOT / ".venv" / "wheelhouse"
PACKAGES = ("browser", "posetlib", "workloads")


def run(*command: str | Path, cwd: Path = ROOT, status: int = 0) -> str:
    """Run a command that must end with this status, and return what it printed."""
    # PYTHONPATH would let the checkout stand in for what the wheel lacks.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, with the backend that the set-up installed: nothing is downloaded."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def empty_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment with the wheel and its dependencies, no more."""
    folder = tmp_path_factory.mktemp("empty environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    # The set-up keeps the wheels of the dependencies, so that this works without a network.
    source = ("--no-index", "--find-links", WHEELHOUSE) if WHEELHOUSE.is_dir() else ()
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", *source, wheel)
    return python


def test_it_holds_exactly_what_is_in_the_three_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for package in PACKAGES:
        assert {f"{package}/__init__.py", f"{package}/py.typed"} <= names


def test_its_metadata(wheel: Path) -> None:
    assert wheel.name == f"posetlib-{posetlib.__version__}-py3-none-any.whl"
    info = f"posetlib-{posetlib.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = email.message_from_bytes(archive.read(f"{info}/METADATA"))
        licence = archive.read(f"{info}/licenses/LICENSE").decode()
    assert metadata["Name"] == "posetlib"
    assert metadata["Version"] == posetlib.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Apache License" in licence
    assert "END OF TERMS AND CONDITIONS" in licence
    assert set(metadata.get_all("Provides-Extra", [])) == {"browser", "spark", "broker", "bench"}
    core = {
        requirement.split(">")[0]
        for requirement in metadata.get_all("Requires-Dist", [])
        if "extra ==" not in requirement
    }
    assert core == {"lark", "networkx", "numpy", "sortedcontainers"}


USE = """
import logging, pathlib, sys
import posetlib as pl, browser, workloads

site = pathlib.Path(sys.prefix, "lib").resolve()
for package in (pl, browser, workloads):
    assert site in pathlib.Path(package.__file__).resolve().parents, package.__file__

f = pl.parse_filter('type isa StockQuote and name prefix "Fo" and price in [20, 30]')
g = pl.parse_filter('type isa StockQuote and name = "Foo" and price:int in [20, 25]')
assert f.covers(g) and not g.covers(f)
assert f.matches({"type": "StockQuote", "name": "Foo Inc.", "price": 25})
assert pl.parse_filter(str(f)) == f == pl.Filter.from_dict(f.to_dict())
assert "dash" not in sys.modules and "pyspark" not in sys.modules
"""


def test_it_works_in_an_empty_environment(empty_python: Path, tmp_path: Path) -> None:
    assert run(empty_python, "-c", USE, cwd=tmp_path) == ""


def test_its_commands_work_in_an_empty_environment(empty_python: Path, tmp_path: Path) -> None:
    command = empty_python.with_name("posetlib")
    assert run(command, "--version", cwd=tmp_path).strip() == f"posetlib {posetlib.__version__}"
    assert run(empty_python, "-m", "posetlib", "parse", "x>3", cwd=tmp_path).strip() == "x > 3"


@pytest.mark.parametrize(
    "command", ["posetlib", "posetlib-broker", "posetlib-browser", "posetlib-workloads"]
)
def test_its_commands_explain_themselves_without_the_extras(
    command: str, empty_python: Path, tmp_path: Path
) -> None:
    assert run(empty_python.with_name(command), "--help", cwd=tmp_path).startswith("usage: ")


def test_its_types_are_seen_from_outside(empty_python: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import posetlib as pl\n"
        "reveal_type(pl.parse_filter('x > 3').covers(pl.parse_filter('x > 4')))\n"
        "pl.parse_filter(3)\n",
        encoding="utf-8",
    )
    seen = run(
        *(sys.executable, "-m", "mypy", "--strict", "--python-executable", empty_python),
        *("--config-file", os.devnull, "--cache-dir", tmp_path / "cache", program),
        cwd=tmp_path,
        status=1,
    )
    assert 'Revealed type is "bool"' in seen
    assert "program.py:3: error" in seen
    assert "Found 1 error" in seen
