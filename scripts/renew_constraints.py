"""Renew ``constraints.txt``: choose the versions that the set-up installs, as of today.

``make constraints`` runs this. pip resolves what ``pyproject.toml`` asks for in a throwaway
environment, without the present constraints and without installing anything, and the versions it
arrives at are written down. Only the standard library is used, as in the set-up, which may be
unable to do its work until this has been done.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.set_up import (
    CONSTRAINTS,
    EXTRAS,
    GROUP,
    SetUpError,
    create_venv,
    pip_of,
    read_project,
    run,
    say,
)

# With these pip builds a package that is published as source only and names no build backend.
BUILD_TOOLS = ("setuptools", "wheel")

HEADER = """\
# The exact version of every package that the set-up installs, or builds one with, so that a
# release of tomorrow does not change what `make test` says today. The versions that the library
# can live with are in pyproject.toml.
#
# Written by `make constraints`, which chooses the newest versions that pyproject.toml allows: to
# hold a package back, say so there. They are chosen with the oldest Python that is supported; the
# later ones can install them too, so that no line needs a marker.

"""


def oldest_python(project: Mapping[str, Any]) -> tuple[int, int] | None:
    """The first Python that ``requires-python`` allows, or None if any will do."""
    wanted = re.search(r">=\s*(\d+)\.(\d+)", project["project"].get("requires-python", ""))
    return (int(wanted[1]), int(wanted[2])) if wanted else None


def requirements(project: Mapping[str, Any]) -> list[str]:
    """All that the set-up asks pip for, and what pip then asks for to build it."""
    extras = project["project"].get("optional-dependencies", {})
    return [
        *project["project"]["dependencies"],
        *(requirement for extra in EXTRAS for requirement in extras[extra]),
        *project["dependency-groups"][GROUP],
        *project["build-system"]["requires"],
        *BUILD_TOOLS,
    ]


def resolve(wanted: list[str]) -> dict[str, str]:
    """The version of each package, by its normalised name, that pip would install today."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder, "environment")
        report = Path(folder, "report.json")
        create_venv(environment)
        say("resolving the packages; without pip's cache this fetches them all (Spark: 450 MB)")
        options = ("--dry-run", "--ignore-installed", "--quiet", "--report", report)
        if not run(*pip_of(environment), "install", *options, *wanted):
            raise SetUpError(
                "pip could not resolve the packages; its message is above, and "
                f"{CONSTRAINTS.name} is as it was. Without a network, name a folder of wheels:\n\n"
                "    PIP_NO_INDEX=1 PIP_FIND_LINKS=/path/to/wheels make constraints\n"
            )
        resolved = json.loads(report.read_text(encoding="utf-8"))["install"]
    packages = [package["metadata"] for package in resolved]
    return {re.sub(r"[-_.]+", "-", each["name"]).lower(): each["version"] for each in packages}


def render(versions: Mapping[str, str]) -> str:
    """The text of ``constraints.txt``: what it is, and a line for each package."""
    return HEADER + "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))


def tell_changes(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Say what is another version, new or gone, for the message of a commit."""
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            say(f"{name}: {before.get(name, 'not there')} -> {after.get(name, 'not there')}")


def main() -> int:
    """Write the file anew, or say why that is impossible and leave it alone."""
    project = read_project()
    oldest = oldest_python(project)
    try:
        if oldest and sys.version_info[:2] != oldest:
            version = "{}.{}".format(*oldest)
            raise SetUpError(
                f"the versions are chosen with Python {version}, the oldest that is supported, so "
                "that every later one can install them too. This is Python "
                f"{sys.version_info.major}.{sys.version_info.minor}; name the other:\n\n"
                f"    make PYTHON=/path/to/python{version} constraints\n"
            )
        text = CONSTRAINTS.read_text(encoding="utf-8") if CONSTRAINTS.exists() else ""
        before = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))
        after = resolve(requirements(project))
    except SetUpError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    draft = CONSTRAINTS.with_suffix(".new")
    draft.write_text(render(after), encoding="utf-8")
    draft.replace(CONSTRAINTS)
    tell_changes(before, after)
    say(f"{CONSTRAINTS.name} has the versions of {len(after)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
