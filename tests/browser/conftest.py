"""A browser and a server for the end-to-end tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .driving import REQUIRED, Visitor, chromium_reason, serving, visiting
from .files import write_run


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def address(run_folder: Path) -> Iterator[str]:
    with serving(run_folder / "workload") as found:
        yield found


@pytest.fixture(scope="module")
def window() -> Iterator[Visitor]:
    reason = chromium_reason()
    if reason and REQUIRED:
        pytest.fail(reason, pytrace=False)
    if reason:
        pytest.skip(reason)
    with visiting() as visitor:
        yield visitor


@pytest.fixture
def visitor(window: Visitor) -> Iterator[Visitor]:
    """A person with a clean console before, and without a word in it afterwards."""
    yield window
    assert window.console() == []
