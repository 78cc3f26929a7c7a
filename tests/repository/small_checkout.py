"""A small project to try the set-up on, which needs no network.

Its build backend is part of it, and its one dependency lies in the wheelhouse that our own set-up
keeps.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "small"
version = "1"
dependencies = ["sortedcontainers"]
optional-dependencies = { browser = [], spark = [], broker = [], bench = [] }

[dependency-groups]
dev = []
"""

BACKEND = '''
"""A build backend with nothing in it but what an editable install needs."""
import pathlib, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "small-1-py3-none-any.whl"
    metadata = "Metadata-Version: 2.1\\nName: small\\nVersion: 1\\n"
    metadata += "Requires-Dist: sortedcontainers\\n"
    metadata += "".join(f"Provides-Extra: {e}\\n" for e in ("browser", "spark", "broker", "bench"))
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        wheel.writestr("small.pth", str(pathlib.Path(__file__).parent / "packages"))
        wheel.writestr("small-1.dist-info/METADATA", metadata)
        wheel.writestr(
            "small-1.dist-info/WHEEL",
            "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        )
        wheel.writestr("small-1.dist-info/RECORD", "")
    return name

build_wheel = build_editable
'''


class Checkout:
    """A small project with our set-up scripts, in a folder with a space in its name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "packages").mkdir(parents=True)
        (root / "scripts").mkdir()
        for name in ("__init__.py", "renew_constraints.py", "set-up", "set_up.py"):
            shutil.copy2(ROOT / "scripts" / name, root / "scripts")
        (root / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
        (root / "constraints.txt").write_text("", encoding="utf-8")
        (root / "backend.py").write_text(BACKEND, encoding="utf-8")
        (root / "packages" / "small.py").write_text("here = __file__\n", encoding="utf-8")

    @property
    def stamp(self) -> Path:
        return self.root / ".venv" / "set-up.json"

    def set_up(self, *arguments: str, status: int = 0, **environment: str) -> str:
        """Run the script from elsewhere, and return all that it says."""
        done = subprocess.run(
            ["sh", str(self.root / "scripts" / "set-up"), *arguments],
            cwd="/",
            env={
                **{k: v for k, v in os.environ.items() if k not in ("PYTHON", "CHROMIUM")},
                "PYTHON": sys.executable,
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": (ROOT / ".venv" / "wheelhouse").as_uri(),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    def works(self) -> bool:
        """Whether the environment has the project, from where it is now, and its dependency."""
        code = "import small, sortedcontainers; print(small.here)"
        python = self.root / ".venv" / "bin" / "python"
        done = subprocess.run(
            [python, "-I", "-c", code], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() == str(self.root / "packages" / "small.py")
