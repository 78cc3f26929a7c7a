"""The photo library: the copies are those of the collection, told by push and by pull."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import posetlib as pl

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "photo_library.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("photo_library", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("push", [True, False])
def test_the_library_has_what_the_query_asks_for(
    example: ModuleType, tmp_path: Path, push: bool
) -> None:
    place = tmp_path / "a folder with blanks"
    amy, _ = example.weekend(place, push=push)
    query = pl.parse_filter(example.CONCERTS)
    photos = place / "bob" / "photos"
    wanted = {
        photo.name: photo.read_bytes()
        for photo in photos.glob("*.jpg")
        if query.covers(pl.parse_filter(photo.with_suffix(".context").read_text("utf-8")))
    }
    assert wanted.keys() == {"crowd.jpg", "stage.jpg"}
    assert {path.name: path.read_bytes() for path in amy.library.iterdir()} == wanted
    assert {example.path_of(each).name for each in amy.views["concerts"]} == set(wanted)


def test_a_context_that_does_not_change_is_no_news(example: ModuleType, tmp_path: Path) -> None:
    service = pl.CollectionService(synchroniser=example.FileSynchroniser())
    bob, amy = (example.PhotoApplication(name, service, tmp_path) for name in ("bob", "amy"))
    bob.take("stage.jpg", 'location = "Helsinki" and description = "rock"')
    bob.publish()
    amy.follow("concerts", example.CONCERTS, push=True)
    assert amy.news == ["concerts 1: stage.jpg added"]
    bob.publish()
    assert amy.news == ["concerts 1: stage.jpg added"]
    bob.take("stage.jpg", 'location = "Turku" and description = "rock"')
    bob.publish()
    assert amy.news[1:] == ["concerts 2: stage.jpg removed"]


@pytest.mark.parametrize("options", [[], ["--pull"]])
def test_the_script_prints_what_the_page_shows(options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "collections.md").read_text("utf-8")
    assert f"$ python examples/photo_library.py\n{done.stdout}```" in page
