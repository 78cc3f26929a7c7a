"""On more than one machine, as far as one machine can show it: the same rows, and no loss."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.workloads.commands import ROOT, environment, killed_at_its_first_file
from tests.workloads.files import read_rows

pytestmark = pytest.mark.needs("java")

#: Every job on every master, in one process; then a cover during which an executor dies.
JOBS = """
import os, signal, sys
from pathlib import Path
from posetlib.generating import Parameters
from importlib import import_module
from workloads.blocks import Filters
from workloads.build import build
from workloads.generate import generate
from workloads.files import Place
from workloads.match import match
from workloads.reports import write_report
from workloads.session import open_session
from workloads.validate import validate

out, mark = sys.argv[1], Path(sys.argv[2])
cover = import_module("workloads.cover")
real = cover.local_cover

def dying(batches, types):
    # The first task to come here takes its whole executor with it, once.
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        yield from real(batches, types)
        return
    pid = os.getpid()
    while "CoarseGrainedExecutorBackend" not in Path(f"/proc/{pid}/cmdline").read_text():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(pid, signal.SIGKILL)
    yield from real(batches, types)

Filters.size = 64  # so that there are many pieces of work
p = Parameters(filters=3000, notifications=100, seed=7, schemas=3, interfaces=5)
for master, parts in (("local[1]", 1), ("local[2]", 3), ("local-cluster[2,1,1024]", 8)):
    to = lambda name: Place(f"{out}/{parts}/{name}")
    with open_session("masters", master, parts) as session:
        generate(session, p, to("d"), partitions=parts)
        cover.cover(session, to("d"), to("c"))
        match(session, to("d"), to("m"))
        build(session, to("d"), "nrf", to("e"))
        write_report(f"{out}/{parts}/r.json", validate(session, to("e"), to("d")))
        if parts == 8:
            cover.local_cover = dying
            cover.cover(session, to("d"), to("killed"))
"""


def run(code: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(),
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the executor in /proc")
def test_masters_parts_and_dying_workers_make_no_difference(tmp_path: Path) -> None:
    mark = tmp_path / "died"
    run(JOBS, str(tmp_path / "out"), str(mark))
    made: list[dict[str, Any]] = []
    for parts in ("1", "3", "8"):
        folder = tmp_path / "out" / parts
        report = json.loads((folder / "r.json").read_text())
        assert report["ok"] is True
        for each in report["invariants"]:
            del each["seconds"]
        made.append(
            {
                "filters": read_rows(folder / "d" / "filters"),
                "cover": read_rows(folder / "c"),
                "match": read_rows(folder / "m"),
                "nodes": read_rows(folder / "e" / "nodes"),
                "report": report["invariants"],
            }
        )
    assert made[0] == made[1] == made[2]
    assert mark.exists()
    assert read_rows(tmp_path / "out" / "8" / "killed") == made[0]["cover"]


def test_a_command_that_is_killed_leaves_no_output(tmp_path: Path) -> None:
    out = tmp_path / "d"
    words = ["generate", "--out", out, "--filters", 30_000_000, "--master", "local[1]"]
    killed_at_its_first_file(tmp_path, *words)
    assert not out.exists()
    # What is left has a name that no job reads or writes.
    assert all(each.name.startswith(".d.partial-") for each in tmp_path.iterdir())


@pytest.mark.slow
def test_spark_submit_to_a_standalone_cluster(tmp_path: Path) -> None:
    script = ROOT / "docs" / "spark-standalone.sh"
    done = subprocess.run(
        ["sh", str(script), str(tmp_path)],
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(read_rows(tmp_path / "workload" / "filters")) == 10_000
    assert json.loads((tmp_path / "report.json").read_text())["ok"] is True
