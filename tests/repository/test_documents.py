"""The Python in README.md and docs/ is true."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .documents import blocks, failures

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", *(str(p.relative_to(ROOT)) for p in sorted(ROOT.glob("docs/**/*.md")))]
WITH_PYTHON = [name for name in DOCUMENTS if any(blocks((ROOT / name).read_text(encoding="utf-8")))]


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_its_examples_are_true(name: str) -> None:
    # In a process of its own: an example may register a constraint kind, which lasts.
    done = subprocess.run(
        [sys.executable, "-m", "tests.repository.documents", name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_has_an_example_that_shows_results() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert any(">>>" in block.code for block in blocks(text))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_its_relative_links_lead_somewhere(name: str) -> None:
    import re

    document = ROOT / name
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{name} links to {target}"


class TestTheRunner:
    """A runner of examples that finds nothing wrong must be shown to be able to."""

    def test_a_false_result_is_found_with_its_line(self) -> None:
        text = "# Title\n\n```python\n>>> 1 + 1\n3\n```\n"
        (failure,) = failures(text, "page.md")
        assert "page.md" in failure
        assert "line 4" in failure
        assert "Got:\n    2" in failure

    def test_a_raising_block_is_found_with_its_line(self) -> None:
        (failure,) = failures("text\n\n```python\nx = 1\nx / 0\n```\n", "page.md")
        assert "ZeroDivisionError" in failure
        assert "line 5" in failure

    def test_a_true_page_is_passed_and_blocks_build_on_each_other(self) -> None:
        text = "```python\nx = 1\n```\n\n1. item\n   ```pycon\n   >>> y = x + 1\n   ```\n"
        assert failures(text + "\n```python\n>>> x, y\n(1, 2)\n```\n", "page.md") == []

    def test_other_languages_are_left_alone(self) -> None:
        assert failures("```text\n1 +\n```\n```\n1 +\n```\n```sh\nfalse\n```\n", "page.md") == []
