"""Commands in processes of their own, some of which are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "workloads", *map(str, words)]


def environment() -> dict[str, str]:
    return dict(os.environ) | {"PYTHONPATH": str(ROOT)}


def killed_at_its_first_file(folder: Path, *words: object) -> None:
    """Run a command, and kill its driver and all it started once a file of rows is in a folder."""
    process = subprocess.Popen(
        command(*words), env=environment(), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        while not list(folder.rglob("*.parquet")):
            assert process.poll() is None
            time.sleep(0.2)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
