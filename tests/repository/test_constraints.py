"""The versions in ``constraints.txt``: all are there, are installed, and can be renewed."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts import renew_constraints, set_up

from .small_checkout import BACKEND, PYPROJECT, Checkout

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "constraints.txt").read_text(encoding="utf-8")
LINES = [line for line in TEXT.splitlines() if line and not line.startswith("#")]
PINS = {name: version for name, _, version in (line.partition("==") for line in LINES)}
PROJECT = set_up.read_project()
WANTED = renew_constraints.requirements(PROJECT)


class TestTheFile:
    def test_a_line_is_a_normalised_name_and_a_version(self) -> None:
        for line in LINES:
            requirement = Requirement(line)
            assert re.fullmatch(r"[a-z0-9-]+==[a-z0-9.+!]+", line), line
            assert requirement.name == canonicalize_name(requirement.name), line

    def test_it_is_as_the_command_writes_it(self) -> None:
        versions = dict(line.split("==") for line in LINES)
        assert len(versions) == len(LINES)
        assert renew_constraints.render(versions) == TEXT

    def test_it_names_no_place_to_fetch_from(self) -> None:
        assert not re.search(r"://|@|^\s*-", TEXT, re.M)

    def test_it_satisfies_every_requirement(self) -> None:
        for wanted in WANTED:
            requirement = Requirement(wanted)
            assert PINS[canonicalize_name(requirement.name)] in requirement.specifier, wanted

    def test_the_requirements_are_all_that_the_project_names(self) -> None:
        project = PROJECT["project"]
        assert set(project["optional-dependencies"]) == set(set_up.EXTRAS)
        lists = [
            project["dependencies"],
            *project["optional-dependencies"].values(),
            *PROJECT["dependency-groups"].values(),
            PROJECT["build-system"]["requires"],
        ]
        named = {requirement for each in lists for requirement in each}
        assert named == set(WANTED) - set(renew_constraints.BUILD_TOOLS)


def needed(requirements: Iterable[str]) -> dict[str, str]:
    """The installed version of all that these need here, and of what that needs, and so on."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    todo = [Requirement(each) for each in requirements]
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        found[name] = importlib.metadata.version(name)
        for extra in {"", *requirement.extras}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            for text in importlib.metadata.requires(name) or []:
                further = Requirement(text)
                if further.marker is None or further.marker.evaluate({"extra": extra}):
                    todo.append(further)
    return found


@pytest.mark.skipif(
    Path(sys.prefix) != set_up.VENV, reason="this environment was not set up by `make`"
)
def test_they_are_the_versions_that_are_installed() -> None:
    # pip fetches the build tools when it builds, and throws them away.
    only_for_builds = set(renew_constraints.BUILD_TOOLS)
    installed = needed(each for each in WANTED if each not in only_for_builds)
    different = {
        name: (version, PINS[name])
        for name, version in installed.items()
        if name in PINS and version != PINS[name]
    }
    assert different == {}
    # With a later Python a package may need others, or fewer.
    if sys.version_info[:2] == renew_constraints.oldest_python(PROJECT):
        assert set(PINS) - only_for_builds == set(installed) - only_for_builds


# --- the set-up and the command -------------------------------------------------------------------


def add_wheel(folder: Path, name: str, version: str) -> None:
    """Put a wheel with nothing in it but its metadata into a folder."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{info}/RECORD", "")


class PinnedCheckout(Checkout):
    """A project with a dependency, a tool and a build backend's library, each in two versions."""

    NAMES = ("sortedcontainers", "checker", "builder")
    # Kept beside the project, since pip throws away what it builds with.
    NOTE = """
import importlib.metadata
pathlib.Path(__file__).with_name("built with").write_text(importlib.metadata.version("builder"))
"""

    def __init__(self, root: Path, wheels: Path) -> None:
        super().__init__(root)
        self.wheels = wheels
        for name in (*self.NAMES, *renew_constraints.BUILD_TOOLS):
            for version in ("1.0", "2.0"):
                add_wheel(wheels, name, version)
        project = PYPROJECT.replace("requires = []", 'requires = ["builder"]')
        project = project.replace("dev = []", 'dev = ["checker"]')
        (root / "pyproject.toml").write_text(project, encoding="utf-8")
        (root / "backend.py").write_text(BACKEND + self.NOTE, encoding="utf-8")
        self.constraints = root / "constraints.txt"
        self.pin("1.0")

    def pin(self, version: str) -> None:
        text = "".join(f"{name}=={version}\n" for name in self.NAMES)
        self.constraints.write_text(text, encoding="utf-8")

    def set_up(self, *arguments: str, status: int = 0, **environment: str) -> str:
        environment = {"PIP_FIND_LINKS": self.wheels.as_uri(), **environment}
        return super().set_up(*arguments, status=status, **environment)

    def versions(self) -> list[str]:
        """The versions of the dependency, of the tool, and of what the project was built with."""
        code = (
            "import importlib.metadata as m; "
            "print(m.version('sortedcontainers'), m.version('checker'))"
        )
        python = self.root / ".venv" / "bin" / "python"
        done = subprocess.run(
            [python, "-I", "-c", code], capture_output=True, text=True, check=True
        )
        return [*done.stdout.split(), (self.root / "built with").read_text(encoding="utf-8")]


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> PinnedCheckout:
    wheels = tmp_path_factory.mktemp("wheels")
    return PinnedCheckout(tmp_path_factory.mktemp("pinned") / "a check out", wheels)


class TestTheCommands:
    """In this order, on one environment: making one takes seconds."""

    def test_the_set_up_keeps_to_the_versions_also_in_builds(self, pinned: PinnedCheckout) -> None:
        pinned.set_up()
        assert pinned.versions() == ["1.0", "1.0", "1.0"]

    def test_what_cannot_be_renewed_is_left_as_it_was(self, pinned: PinnedCheckout) -> None:
        before = pinned.constraints.read_text(encoding="utf-8")
        said = pinned.set_up("--renew-constraints", status=1, PIP_FIND_LINKS="")
        assert "constraints.txt is as it was" in said
        assert "PIP_FIND_LINKS=/path/to/wheels make constraints" in said
        assert pinned.constraints.read_text(encoding="utf-8") == before
        assert pinned.set_up() == ""

    def test_renewing_takes_the_newest_versions(self, pinned: PinnedCheckout) -> None:
        said = pinned.set_up("--renew-constraints")
        assert "checker: 1.0 -> 2.0" in said
        names = (*pinned.NAMES, *renew_constraints.BUILD_TOOLS)
        written = renew_constraints.render(dict.fromkeys(names, "2.0"))
        assert pinned.constraints.read_text(encoding="utf-8") == written
        assert pinned.versions() == ["1.0", "1.0", "1.0"]

    def test_and_the_next_set_up_installs_them(self, pinned: PinnedCheckout) -> None:
        said = pinned.set_up()
        assert "installing" in said
        assert "creating" not in said
        assert pinned.versions() == ["2.0", "2.0", "2.0"]
        assert pinned.set_up() == ""

    def test_a_version_that_is_not_to_be_had_is_told(self, pinned: PinnedCheckout) -> None:
        pinned.pin("3.0")
        assert "`make constraints` chooses others" in pinned.set_up(status=1)

    def test_a_file_that_is_not_there_is_told(self, pinned: PinnedCheckout) -> None:
        pinned.constraints.unlink()
        assert "write it anew with `make constraints`" in pinned.set_up(status=1)


def test_the_versions_are_chosen_with_the_oldest_python(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    later = f">={sys.version_info.major}.{sys.version_info.minor - 1}"
    project = PYPROJECT.replace('version = "1"', f'version = "1"\nrequires-python = "{later}"')
    (checkout.root / "pyproject.toml").write_text(project, encoding="utf-8")
    said = checkout.set_up("--renew-constraints", status=1)
    assert f"make PYTHON=/path/to/python{later[2:]} constraints" in said
