"""A test that needs Java or Chromium is skipped where there is none, and says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import pytest

@pytest.mark.needs("chromium")
def test_of_the_browser():
    pass

def test_of_anything_else():
    pass
"""


@pytest.mark.parametrize(
    ("chromium", "required", "ends"),
    [
        ("exit 0", "", "2 passed"),
        ("exit 1", "", "1 passed, 1 skipped"),
        ("exit 1", "1", "1 passed, 1 error"),
    ],
)
def test_what_is_missing_skips_or_fails(
    chromium: str, required: str, ends: str, tmp_path: Path
) -> None:
    (tmp_path / "test_needs.py").write_text(TESTS, encoding="utf-8")
    browser = tmp_path / "chromium"
    browser.write_text(f"#!/bin/sh\n{chromium}\n", encoding="utf-8")
    browser.chmod(0o755)
    settings = tmp_path / "pytest.ini"
    settings.write_text("[pytest]\nmarkers = needs\n", encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-ra", "-p", "no:dash", "-p", "tests.conftest"),
            *("-p", "no:cacheprovider", "-c", settings, tmp_path),
        ],
        cwd=ROOT,
        env={**os.environ, "CHROMIUM": str(browser), "POSETLIB_REQUIRE_ALL": required},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ends in done.stdout.splitlines()[-1], done.stdout + done.stderr
    assert ("needs chromium, which is not installed" in done.stdout) is (chromium == "exit 1")
