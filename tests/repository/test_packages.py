"""What importing the packages does, which is nothing that anybody would notice."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import grimp
import pytest

import posetlib


def test_the_version_is_the_one_that_is_installed() -> None:
    assert importlib.metadata.version("posetlib") == posetlib.__version__


QUIET = """
import logging, sys, threading
import {package}
assert not logging.getLogger().handlers, "the root logger is the application's"
logger = logging.getLogger("posetlib")
assert all(isinstance(handler, logging.NullHandler) for handler in logger.handlers)
assert threading.active_count() == 1
heavy = {{"dash", "pyspark", "pandas", "pyarrow", "plotly", "networkx"}} & set(sys.modules)
assert "{package}" != "posetlib" or not heavy, heavy
"""


@pytest.mark.parametrize("package", ["posetlib", "browser", "workloads"])
def test_importing_it_prints_nothing_and_starts_nothing(package: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", QUIET.format(package=package)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_module_imports_back_through_the_facade() -> None:
    graph = grimp.build_graph("posetlib")
    users = {"posetlib._cli", "posetlib.__main__"}  # commands use the library as anybody does
    assert graph.find_modules_that_directly_import("posetlib") <= users


@pytest.mark.parametrize("package", ["posetlib", "browser", "workloads"])
def test_a_command_that_makes_no_sense_is_refused(package: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", package, "--no-such-option"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert package in done.stderr
    assert "Traceback" not in done.stderr
