"""Full disks, several jobs with one output, killed drivers: nothing half made looks complete."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.workloads.commands import command, environment, killed_at_its_first_file
from tests.workloads.files import read_rows, write_rows
from tests.workloads.test_validate import covered_root, spoilt
from workloads.errors import InputError
from workloads.files import Place, new_output


def run(*words: object, prefix: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a shell of its own, after something that the shell is told."""
    return subprocess.run(
        ["sh", "-c", f'{prefix} exec "$@"', "sh", *command(*words)],
        env=environment(), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


# -- a disk that is full ---------------------------------------------------------------------------


@pytest.mark.needs("java")
def test_files_that_cannot_grow_leave_no_output(tmp_path: Path) -> None:
    # No file may have more than 256 blocks of 512 bytes: what a full disk is, without one.
    generate = ["generate", "--filters", 40_000, "--decimals", 9, "--master", "local[1]"]
    done = run(*generate, "--out", tmp_path / "d", prefix="ulimit -f 256;")
    assert done.returncode == 3, done.stderr
    assert "File too large" in done.stderr
    assert names(tmp_path) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte; only root can have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no command mount")
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.needs("java")
def test_a_full_disk_costs_neither_the_old_output_nor_the_verdict(small_disk: Path) -> None:
    out = small_disk / "d"
    with new_output(Place(str(out)), overwrite=False) as place:
        place.child("workload.json").write_text("old")
    done = run("generate", "--filters", 100_000, "--decimals", 9, "--master", "local[1]",
               "--out", out, "--overwrite")  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "No space left on device" in done.stderr
    assert names(small_disk) == ["d"]
    assert (out / "workload.json").read_text() == "old"
    # An empty file can still be made there, so that nobody knows before the report is written.
    table = write_rows(small_disk.parent / "s", *spoilt("pf", [covered_root]))
    filling = small_disk / "filling"
    with suppress(OSError), filling.open("wb") as file:
        file.write(bytes(1 << 20))
    done = run("validate", "--snapshot", table, "--only", "roots-minimal-cover",
               "--report", small_disk / "r.json", "--master", "local[1]")  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "violated: roots-minimal-cover" in done.stdout
    assert "the report cannot be written to" in done.stderr
    assert names(small_disk) == ["d", "filling"]


# -- several jobs with one output ------------------------------------------------------------------

#: Jobs that write two files each, again and again, into one output.
HAMMER = """
import random, sys
from workloads.errors import InputError
from workloads.files import Place, new_output

out, own, rounds, overwrite = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "yes"
rng = random.Random(own)
for number in range(rounds):
    where = out if overwrite else f"{out}-{number}"
    try:
        with new_output(Place(where), overwrite=overwrite) as place:
            for name in ("workload.json", "rows"):
                place.child(name).write_text(f"{own}.{number}")
    except InputError:
        continue
    print(f"{own}.{number}", flush=True)
"""


def hammered(out: Path, rounds: int, *, overwrite: bool) -> list[list[str]]:
    """Run four processes of jobs at once, and return what each says it has written."""
    words = [str(rounds), "yes" if overwrite else "no"]
    running = [
        subprocess.Popen([sys.executable, "-c", HAMMER, str(out), str(own), *words],
                         env=environment(), stdout=subprocess.PIPE, text=True)
        for own in range(4)
    ]  # fmt: skip
    told = [process.communicate(timeout=300)[0].split() for process in running]
    assert [process.returncode for process in running] == [0] * len(running)
    return told


def test_of_jobs_with_one_output_exactly_one_has_it(tmp_path: Path) -> None:
    told = hammered(tmp_path / "d", 60, overwrite=False)
    made = [each for some in told for each in some]
    numbers = [int(each.partition(".")[2]) for each in made]
    assert sorted(numbers) == list(range(60))
    for each, number in zip(made, numbers, strict=True):
        for name in ("workload.json", "rows"):
            assert (tmp_path / f"d-{number}" / name).read_text() == each
    assert len(names(tmp_path)) == 60


def test_jobs_that_overwrite_one_another_leave_one_whole_output(tmp_path: Path) -> None:
    told = hammered(tmp_path / "d", 60, overwrite=True)
    left = {(tmp_path / "d" / name).read_text() for name in ("workload.json", "rows")}
    assert len(left) == 1
    assert left <= {each for some in told for each in some}
    assert names(tmp_path) == ["d"]


@pytest.mark.needs("java")
def test_two_commands_with_one_output(tmp_path: Path) -> None:
    out = tmp_path / "d"
    running = {
        seed: subprocess.Popen(
            command("generate", "--out", out, "--filters", 2000, "--seed", seed, "--master",
                    "local[1]"),
            env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        for seed in (1, 2)
    }  # fmt: skip
    told = {seed: process.communicate(timeout=600)[1] for seed, process in running.items()}
    status = {process.returncode: seed for seed, process in running.items()}
    assert set(status) == {0, 2}, told
    assert "exists" in told[status[2]] or "appeared" in told[status[2]]
    assert json.loads((out / "workload.json").read_text())["seed"] == status[0]
    assert len(read_rows(out / "filters")) == 2000
    assert names(tmp_path) == ["d"]


# -- a driver that is killed -----------------------------------------------------------------------


@pytest.mark.needs("java")
def test_after_a_killed_driver_the_next_job_has_the_place_to_itself(tmp_path: Path) -> None:
    out = tmp_path / "d"
    with new_output(Place(str(out)), overwrite=False) as place:
        place.child("workload.json").write_text("old")
    words = ["generate", "--out", out, "--filters", 30_000_000, "--master", "local[1]"]
    killed_at_its_first_file(tmp_path, *words, "--overwrite")
    assert (out / "workload.json").read_text() == "old"
    assert len(names(tmp_path)) == 2
    with pytest.raises(InputError, match="exists"), new_output(Place(str(out)), overwrite=False):
        raise AssertionError
    assert names(tmp_path) == ["d"]
