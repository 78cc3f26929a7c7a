"""Outputs: nothing is lost that a job was not given, and nothing looks complete that is not."""

# ruff: noqa: PT012 - what a job does within its context is what is tried

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.workloads.files import read_rows, write_filters
from workloads.errors import InputError
from workloads.files import (
    Place,
    _HadoopPlace,
    _host,
    is_local,
    new_output,
    place_of,
    require_apart,
)
from workloads.reports import reserved

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def finished(place: Place, text: str = "{}") -> None:
    """Write what marks the output of a job."""
    place.child("workload.json").write_text(text)


def job(out: Path, text: str = "{}", *, overwrite: bool = False) -> None:
    with new_output(Place(str(out)), overwrite=overwrite) as place:
        finished(place, text)


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


# -- line 1: what appears while a job runs ---------------------------------------------------------


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_appears_while_a_job_runs_is_not_deleted(tmp_path: Path, overwrite: bool) -> None:
    out = tmp_path / "d"
    with (
        pytest.raises(InputError, match=r"exists|appeared"),
        new_output(Place(str(out)), overwrite=overwrite) as place,
    ):
        finished(place)
        out.mkdir()
        (out / "thesis.tex").write_text("years of work")
    assert (out / "thesis.tex").read_text() == "years of work"
    assert names(tmp_path) == ["d"]


def test_of_two_jobs_with_one_output_the_second_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "d"
    with (
        pytest.raises(InputError, match="exists"),
        new_output(Place(str(out)), overwrite=False) as place,
    ):
        finished(place, "late")
        job(out, "early")
    assert (out / "workload.json").read_text() == "early"
    assert names(tmp_path) == ["d"]


def test_an_output_that_appears_at_the_last_moment_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # After the last look, and before the renaming: only the renaming itself can notice.
    out = tmp_path / "d"
    monkeypatch.setattr("workloads.files.require_new", lambda *_a, **_b: None)
    with (
        pytest.raises(InputError, match="appeared while the job ran: it stays"),
        new_output(Place(str(out)), overwrite=True) as place,
    ):
        finished(place)
        real = Place.exists
        looked: list[Place] = []

        def exists(self: Place) -> bool:
            found = real(self)
            if self.name == "d" and not looked:
                looked.append(self)
                out.mkdir()
                (out / "mine").write_text("")
            return found

        monkeypatch.setattr(Place, "exists", exists)
    assert names(out) == ["mine"]
    assert names(tmp_path) == ["d"]


def test_without_leave_to_overwrite_not_even_a_jobs_output_is_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another job with the same output ends right after the last look of this one.
    out = tmp_path / "d"
    from workloads import files

    real = files.require_new
    looks: list[bool] = []

    def late(place: Place, *, overwrite: bool) -> None:
        real(place, overwrite=overwrite)
        looks.append(overwrite)
        if len(looks) == 2:
            monkeypatch.setattr(files, "require_new", real)
            job(out, "theirs")

    monkeypatch.setattr(files, "require_new", late)
    with pytest.raises(InputError, match="appeared while the job ran: it stays"):
        job(out, "mine")
    assert (out / "workload.json").read_text() == "theirs"
    assert names(tmp_path) == ["d"]


def test_what_took_the_place_of_an_output_at_the_last_moment_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The old output may be replaced; what is there when it is moved away is another one.
    out = tmp_path / "d"
    job(out, "old")
    real = Place.rename

    def rename(self: Place, other: Place) -> None:
        if ".old-" in other.name:
            (out / "workload.json").rename(out / "thesis.tex")
        real(self, other)

    monkeypatch.setattr(Place, "rename", rename)
    with pytest.raises(InputError, match="is not the output of a job: it stays"):
        job(out, "new", overwrite=True)
    assert names(out) == ["thesis.tex"]
    assert names(tmp_path) == ["d"]


@pytest.mark.parametrize("when", ["moved away", "put in place"])
def test_a_job_that_is_ended_while_it_commits_leaves_one_whole_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    out = tmp_path / "d"
    job(out, "old")
    real = Place.rename

    def rename(self: Place, other: Place) -> None:
        real(self, other)
        if (".old-" in other.name) == (when == "moved away"):
            monkeypatch.setattr(Place, "rename", real)
            raise KeyboardInterrupt

    monkeypatch.setattr(Place, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        job(out, "new", overwrite=True)
    left = "old" if when == "moved away" else "new"
    assert (out / "workload.json").read_text() == left
    assert names(tmp_path) == ["d"]


def test_what_was_moved_by_mistake_is_kept_even_if_its_place_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "d"
    job(out, "old")
    real = Place.rename

    def rename(self: Place, other: Place) -> None:
        if ".old-" not in other.name:
            real(self, other)
            return
        (out / "workload.json").rename(out / "thesis.tex")
        real(self, other)
        out.mkdir()
        (out / "mine").write_text("")

    monkeypatch.setattr(Place, "rename", rename)
    with pytest.raises(InputError, match="is not the output of a job: it stays"):
        job(out, "new", overwrite=True)
    assert names(out) == ["mine"]
    (kept,) = tmp_path.glob("d.kept-*")
    assert names(kept) == ["thesis.tex"]


def test_an_output_is_replaced_if_asked(tmp_path: Path) -> None:
    out = tmp_path / "d"
    job(out, "old")
    job(out, "new", overwrite=True)
    assert (out / "workload.json").read_text() == "new"
    assert names(tmp_path) == ["d"]


# -- line 2: inputs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("out", "how"), [("d", "is"), ("d/in/e", "lies in"), (".", "contains"), ("link", "is")]
)
def test_an_output_that_would_destroy_its_input_is_refused(
    tmp_path: Path, out: str, how: str
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "d")
    with pytest.raises(InputError, match=f" {how} the input "):
        require_apart(Place(f"{tmp_path}/{out}"), [Place(f"{tmp_path}/./d")])
    require_apart(Place(f"{tmp_path}/d2"), [Place(f"{tmp_path}/d")])


# -- line 3: addresses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("a\\b", "another name is needed"),
        ("./a:b", "another name is needed"),
        ("a\nb", "another name is needed"),
        ("file:relative", "begins with /"),
        ("file://elsewhere/d", "on the machine elsewhere"),
    ],
)
def test_a_name_that_cannot_be_read_again_is_refused(path: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Place(path)


def test_a_path_may_go_up_and_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    for path in ("../b", "./c", f"{tmp_path}/a/../d/", "e/"):
        with new_output(Place(path), overwrite=False) as place:
            finished(place)
    assert names(tmp_path) == ["a", "b", "d"]
    assert names(tmp_path / "a") == ["c", "e"]
    (tmp_path / "f").mkdir()
    monkeypatch.chdir(tmp_path / "f")
    with new_output(Place("."), overwrite=False) as place:
        finished(place)
    assert names(tmp_path / "f") == ["workload.json"]


def test_an_address_is_no_local_folder_of_that_name(tmp_path: Path) -> None:
    assert not any(is_local(each) for each in ("hdfs://h/d", "dbfs:/d", "s3a://b/d", "viewfs:/d"))
    for form in (f"file:{tmp_path}/d", f"file://{tmp_path}/d", f"file://localhost{tmp_path}/d"):
        assert is_local(form)
        assert Place(form).absolute == str((tmp_path / "d").resolve())
    with new_output(Place(f"file:{tmp_path}/e"), overwrite=False) as place:
        finished(place)
    assert names(tmp_path) == ["e"]


@pytest.mark.needs("java")
def test_a_path_is_a_name_and_no_pattern(spark: SparkSession, tmp_path: Path) -> None:
    from workloads.cover import cover

    for name, text in (("s[1]", "x = 1"), ("s1", "x = 2"), ("st*r", "x = 3"), ("star", "x = 4"),
                       ("a{b", "x = 5"), ("?", "x = 6")):  # fmt: skip
        write_filters(tmp_path / name, [(text, "I1")])
    for name, text in (("s[1]", "x = 1"), ("st*r", "x = 3"), ("a{b", "x = 5"), ("?", "x = 6")):
        cover(spark, Place(str(tmp_path / name)), Place(str(tmp_path / "out" / name)))
        assert [row["filter"] for row in read_rows(tmp_path / "out" / name)] == [text]


@pytest.mark.needs("java")
def test_places_of_hadoop_keep_the_same_promises(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be reached"):
        place_of("nosuch://host/d", spark)

    def place(name: str) -> Place:
        return _HadoopPlace(f"file://{tmp_path}/{name}", spark)

    with new_output(place("d"), overwrite=False) as made:
        finished(made, "first")
    assert place("d").child("workload.json").read_text() == "first"
    with (
        pytest.raises(InputError, match="exists"),
        new_output(place("e"), overwrite=False) as made,
    ):
        finished(made)
        place("e").make()
        place("e").child("mine").write_text("years of work")
    assert "mine" in names(tmp_path / "e")
    with pytest.raises(FileExistsError):
        place("d").rename(place("e"))
    assert place("d").child("workload.json").read_text() == "first"
    with new_output(place("d"), overwrite=True) as made:
        finished(made, "second")
    assert place("d").child("workload.json").read_text() == "second"
    assert names(tmp_path) == ["d", "e"]
    with pytest.raises(InputError, match=" lies in the input "):
        require_apart(place("d/x"), [place("d")])
    with reserved(place("r/report.json")) as file:
        assert file is not None
        file.write("{}")
    assert (tmp_path / "r" / "report.json").read_text() == "{}"


# -- line 4: reports, and what killed jobs leave ---------------------------------------------------


def test_a_report_that_cannot_be_written_is_found_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for path in ("file/r.json", "folder"):
        begun = False
        with (
            pytest.raises(InputError, match="the report cannot be written"),
            reserved(Place(f"{tmp_path}/{path}")),
        ):
            begun = True
        assert not begun
    assert names(tmp_path) == ["file", "folder"]


def test_a_report_appears_when_it_is_complete(tmp_path: Path) -> None:
    place = Place(f"{tmp_path}/r/r.json")
    with pytest.raises(ZeroDivisionError), reserved(place) as file:
        assert file is not None
        raise ZeroDivisionError
    assert names(tmp_path / "r") == []
    with reserved(place) as file:
        assert file is not None
        assert not place.exists()
        file.write("{}")
    assert names(tmp_path / "r") == ["r.json"]


def test_a_pipe_or_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for path in (pipe, tmp_path / "link"):
            if not path.exists():
                path.symlink_to(pipe)
            with reserved(Place(str(path))) as file:
                assert file is not None
                file.write("{}")
            assert os.read(reading, 10) == b"{}"
    finally:
        os.close(reading)
    assert pipe.is_fifo()
    assert names(tmp_path) == ["link", "pipe"]


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="there is no /dev/fd")
def test_a_file_that_the_caller_has_open_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    with (tmp_path / "out").open("a+", encoding="utf-8") as out:
        out.write("first\n")
        out.flush()
        with reserved(Place(f"/dev/fd/{out.fileno()}")) as file:
            assert file is not None
            file.write("second\n")
        out.write("third\n")
    assert (tmp_path / "out").read_text() == "first\nsecond\nthird\n"
    assert names(tmp_path) == ["out"]


def test_a_report_goes_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    with reserved(Place(f"{tmp_path}/link")) as file:
        assert file is not None
        file.write("new")
    assert (tmp_path / "there").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_two_runs_may_write_one_report_and_the_later_has_it(tmp_path: Path) -> None:
    place = Place(f"{tmp_path}/r.json")
    with reserved(place) as late:
        with reserved(place) as early:
            assert late is not None
            assert early is not None
            early.write("early")
        late.write("late")
    assert place.read_text() == "late"
    assert names(tmp_path) == ["r.json"]


def test_a_report_that_can_no_longer_be_written_is_no_fault_of_the_input(tmp_path: Path) -> None:
    told = "No such file or directory"
    with (
        pytest.raises(OSError, match=f"the report cannot be written to .*: {told}") as caught,
        reserved(Place(f"{tmp_path}/r/r.json")) as file,
    ):
        assert file is not None
        (each,) = (tmp_path / "r").iterdir()
        each.unlink()
        (tmp_path / "r").rmdir()
        file.write("{}")
    assert not isinstance(caught.value, InputError)


def test_what_a_killed_run_left_of_a_report_is_swept(tmp_path: Path, dead: int) -> None:
    (tmp_path / f".r.json.partial-{_host()}-{dead}-0123456789ab").write_text("half")
    with reserved(Place(f"{tmp_path}/r.json")) as file:
        assert file is not None
        file.write("{}")
    assert names(tmp_path) == ["r.json"]


@pytest.fixture
def dead() -> int:
    """The id of a process that is gone."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_killed_jobs_left_is_swept_and_what_running_jobs_need_is_not(
    tmp_path: Path, dead: int
) -> None:
    killed = tmp_path / f".d.partial-{_host()}-{dead}-0123456789ab"
    running = tmp_path / f".d.partial-{_host()}-{os.getpid()}-0123456789ab"
    elsewhere = tmp_path / ".d.partial-00000000-1-0123456789ab"
    forgotten = tmp_path / ".d.partial-00000000-2-0123456789ab"
    other = tmp_path / f".dd.partial-{_host()}-{dead}-0123456789ab"
    for each in (killed, running, elsewhere, forgotten, other):
        each.mkdir()
    os.utime(forgotten, (0, 0))
    job(tmp_path / "d")
    assert names(tmp_path) == sorted(["d", running.name, elsewhere.name, other.name])


def test_an_output_that_a_killed_job_had_moved_away_comes_back(tmp_path: Path, dead: int) -> None:
    moved = tmp_path / f".d.old-{_host()}-{dead}-0123456789ab"
    moved.mkdir()
    (moved / "workload.json").write_text("kept")
    with pytest.raises(InputError, match="exists"):
        job(tmp_path / "d")
    assert (tmp_path / "d" / "workload.json").read_text() == "kept"
    assert names(tmp_path) == ["d"]


def test_a_full_disk_leaves_no_output_and_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job(tmp_path / "d", "old")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(Place, "write_text", full)
        job(tmp_path / "d", "new", overwrite=True)
    assert (tmp_path / "d" / "workload.json").read_text() == "old"
    # The same, when the finished folder cannot take the place of the old one.
    real = Place.rename

    def cannot(self: Place, other: Place) -> None:
        if ".partial-" in self.name:
            full()
        real(self, other)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(Place, "rename", cannot)
        job(tmp_path / "d", "new", overwrite=True)
    assert (tmp_path / "d" / "workload.json").read_text() == "old"
    assert names(tmp_path) == ["d"]


def test_a_symbolic_link_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for target in ("there", "nowhere"):
        link = tmp_path / f"to-{target}"
        link.symlink_to(tmp_path / target)
        with pytest.raises(InputError, match="is a symbolic link"):
            job(link, overwrite=True)
