"""The caller's session and cluster: what was said there counts; failures say what is missing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.workloads.files import write_filters, write_snapshot
from tests.workloads.test_validate import PAIRS, table
from workloads import cli
from workloads.cli import main
from workloads.errors import InputError, StartError, cause_of
from workloads.session import Progress, _given, _start_error, require_startable, settings_for
from workloads.shares import parallelism

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
SHUFFLE = "spark.sql.shuffle.partitions"


# -- settings --------------------------------------------------------------------------------------


@pytest.mark.needs("java")
def test_a_session_is_left_as_it_was(spark: SparkSession) -> None:
    before = spark.conf.getAll
    with settings_for(spark, 7, 0, conf={"spark.sql.ansi.enabled": "false"}):
        assert spark.conf.get(SHUFFLE) == "7"
        assert spark.conf.get("spark.sql.autoBroadcastJoinThreshold") == "0"
        assert spark.conf.get("spark.sql.ansi.enabled") == "false"
    assert spark.conf.getAll == before
    with (
        pytest.raises(InputError, match=r"spark\.sql\.warehouse\.dir cannot be set in a session"),
        settings_for(spark, 9, conf={"spark.sql.warehouse.dir": "x"}),
    ):
        raise AssertionError
    assert spark.conf.getAll == before


@pytest.mark.needs("java")
def test_each_commands_own_options_count(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str | None, int]] = []

    def job(session: SparkSession, _options: Any) -> int:
        seen.append((session.conf.get(SHUFFLE), parallelism(session)))
        return 0

    monkeypatch.setattr(cli, "_cover", job)
    write_filters(tmp_path / "d", [("x = 1", "I1")])
    each = ["cover", "--workload", str(tmp_path / "d"), "--out", str(tmp_path / "c")]
    first, cores = spark.conf.get(SHUFFLE), parallelism(spark)
    own = [*each, "--conf", f"{SHUFFLE}=37"]
    assert main([*own, "then", *each, "--partitions", "5", "then", *each, "then", *own]) == 0
    assert seen == [("37", cores), ("5", 5), (first, cores), ("37", cores)]
    assert spark.conf.get(SHUFFLE) == first


def test_what_others_set_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-defaults.conf").write_text("# none\nspark.a  1\nspark.b=2\n\n")
    monkeypatch.setenv(
        "PYSPARK_SUBMIT_ARGS", f"--master local[3] --conf {SHUFFLE}=37 --driver-memory 2g shell"
    )
    assert _given() == {
        "spark.a": "1",
        "spark.b": "2",
        SHUFFLE: "37",
        "spark.master": "local[3]",
        "spark.driver.memory": "2g",
    }


@pytest.mark.needs("java")
def test_what_spark_submit_was_told_counts(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from workloads.session import open_session\n"
        "with open_session('test') as session:\n"
        f"    print('parts', session.conf.get({SHUFFLE!r}))\n"
        "    print('batch', session.conf.get('spark.sql.execution.arrow.maxRecordsPerBatch'))\n"
        "    print('master', session.sparkContext.master)\n"
        "    print('ui', session.conf.get('spark.ui.enabled'))\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[3]",
         "--conf", f"{SHUFFLE}=37", "--conf", "spark.sql.execution.arrow.maxRecordsPerBatch=123",
         str(script)],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable,
                          "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "parts", "37", "batch", "123", "master", "local[3]", "ui", "false",
    ]  # fmt: skip


#: Commands that say what they see; a cluster whose workers come one after the other.
COMMANDS = """
import sys
from workloads import cli
from workloads.shares import parallelism
keys = ("spark.sql.shuffle.partitions", "spark.sql.ansi.enabled", "spark.executor.memory")
def job(session, _options):
    print(*(session.conf.get(key) for key in keys), parallelism(session))
    return 0
cli._generate = job
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.needs("java")
def test_what_the_first_command_is_told_is_not_for_the_next(tmp_path: Path) -> None:
    each = ["generate", "--filters", "3", "--out", str(tmp_path / "d")]
    first = [*each, "--master", "local-cluster[3,1,1024]", "--conf", f"{SHUFFLE}=37"]
    first += ["--conf", "spark.sql.ansi.enabled=false", "--conf", "spark.executor.memory=900m"]
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, *first, "then", *each, "then", *each, "--partitions", "7"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # Twice the cores of all three workers; the memory of workers is that of the whole session.
    assert done.stdout.split("\n")[:3] == [
        "37 false 900m 3",
        "6 true 900m 3",
        "7 true 900m 7",
    ]


# -- failures --------------------------------------------------------------------------------------


def test_what_is_missing_is_said_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    if os.environ.get("JAVA_HOME") or any(
        (Path(each) / "java").exists() for each in os.environ["PATH"].split(os.pathsep)
    ):
        with pytest.raises(StartError, match=r"no Spark master answers at 127\.0\.0\.1:1: "):
            require_startable("spark://127.0.0.1:1")
        with pytest.raises(InputError, match="is no address"):
            require_startable("spark://nowhere")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(StartError, match="needs Java 17 or later, and there is no java in"):
        require_startable(None)
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    assert main(["generate", "--filters", "3", "--out", str(tmp_path / "d")]) == 3
    assert "there is no java on the PATH" in capsys.readouterr().err


@pytest.mark.needs("java")
@pytest.mark.parametrize("master", ["bogus", "", "local[0]", "mesos://h:1", "yarn-client", "Local"])
def test_a_master_that_spark_does_not_know_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], master: str
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    arguments = ["generate", "--filters", "3", "--out", str(tmp_path / "d"), "--master", master]
    assert main(arguments) == 2
    assert f"Spark knows no master {master!r}" in capsys.readouterr().err


@pytest.mark.needs("java")
def test_masters_that_spark_knows_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    for master in ("local", "local[2]", "local[*]", "local[2,3]", "local-cluster[2,1,1024]",
                   "k8s://https://host:443"):  # fmt: skip
        require_startable(master)
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(StartError, match="needs HADOOP_CONF_DIR or YARN_CONF_DIR"):
        require_startable("yarn")
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")
    require_startable("yarn")


@pytest.mark.parametrize(
    ("version", "sentence"),
    [('openjdk version "11.0.2"', "needs Java 17 or later, and .* is 11$"),
     ('java version "1.8.0_202"', "needs Java 17 or later, and .* is 8$"),
     ("Too small maximum heap", "Java ended before Spark ran; what .* said is above")],
)  # fmt: skip
def test_a_java_that_does_not_do_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, sentence: str
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{version}' >&2\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    error = _start_error("local[*]", RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway exited"))
    assert isinstance(error, StartError)
    assert re.search(sentence, str(error))


@pytest.mark.parametrize(
    ("words", "closed", "status"),
    [("archive --out a.zip", ">&-", 0), ("validate --snapshot nowhere", "2>&-", 2),
     ("validate --snapshot nowhere", ">&- 2>&-", 2)],
)  # fmt: skip
def test_a_stream_that_the_caller_closed_changes_no_status(
    tmp_path: Path, words: str, closed: str, status: int
) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m workloads {words} {closed}', sys.executable],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == status


def test_an_archive_replaces_nothing_unless_it_may(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.zip"
    out.write_text("years of work")
    for path, sentence in (
        (str(out), "exists; --overwrite replaces it"),
        (str(tmp_path), "is a folder"),
        ("dbfs:/a.zip", "is elsewhere"),
        (f"{tmp_path}/nowhere/a.zip", "nothing can be written at"),
    ):
        assert main(["archive", "--out", path]) == 2
        assert sentence in capsys.readouterr().err
    assert out.read_text() == "years of work"
    assert main(["archive", "--out", f"file:{out}", "--overwrite"]) == 0
    with zipfile.ZipFile(out) as archive:
        assert "workloads/cli.py" in archive.namelist()
    assert [each.name for each in tmp_path.iterdir()] == ["a.zip"]


@pytest.mark.needs("java")
@pytest.mark.usefixtures("spark")
def test_a_crash_has_a_status_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def job(_session: object, _options: object) -> int:
        raise KeyError("oh")

    monkeypatch.setattr(cli, "_cover", job)
    write_filters(tmp_path / "d", [("x = 1", "I1")])
    arguments = ["cover", "--workload", str(tmp_path / "d"), "--out", str(tmp_path / "c")]
    assert main(arguments) == 4
    told = capsys.readouterr().err
    assert "KeyError: 'oh'" in told
    assert "a fault of the program" in told


@pytest.mark.needs("java")
@pytest.mark.usefixtures("spark")
def test_an_archive_may_come_first(tmp_path: Path) -> None:
    archive, out = str(tmp_path / "a.zip"), str(tmp_path / "d")
    assert (
        main(["archive", "--out", archive, "then", "generate", "--filters", "3", "--out", out]) == 0
    )
    assert (tmp_path / "a.zip").is_file()
    assert (tmp_path / "d" / "workload.json").is_file()


@pytest.mark.needs("java")
@pytest.mark.usefixtures("spark")
def test_a_reader_that_has_read_enough_changes_no_status(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    broken = os.fdopen(writing, "w", buffering=1)
    folder = write_snapshot(tmp_path / "s", table("pf", PAIRS))
    before, sys.stdout = sys.stdout, broken
    try:
        assert main(["validate", "--snapshot", str(folder), "--only", "edge-covers"]) == 0
    finally:
        sys.stdout = before
        broken.close()


@pytest.mark.needs("java")
def test_the_cause_of_a_failing_worker_is_told(spark: SparkSession) -> None:
    def fails(batches: Any) -> Any:
        raise ZeroDivisionError("seven")
        yield from batches

    with pytest.raises(Exception, match="seven") as caught:
        spark.range(3).mapInArrow(fails, "id long").collect()
    assert cause_of(caught.value) == "a Python worker failed: ZeroDivisionError: seven"


def test_a_text_that_is_no_setting_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["generate", "--filters", "1", "--out", "d", "--conf", "a=b"])
    assert "is not spark.some.key=value" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("posetlib ")


# -- progress --------------------------------------------------------------------------------------


class _Stream:
    def __init__(self, *, terminal: bool) -> None:
        self.text = ""
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("terminal", [True, False])
def test_the_progress_names_what_is_done_also_without_a_terminal(terminal: bool) -> None:
    stream: Any = _Stream(terminal=terminal)
    session: Any = None
    with Progress(session, "validate", stream, after=0, every=0.01) as progress:
        progress.what = "edge-covers"
        for _ in range(500):
            if "edge-covers" in stream.text:
                break
            time.sleep(0.02)
    assert "validate, " in stream.text
    assert ": edge-covers: working" in stream.text
    assert ("\r" in stream.text) == terminal


# -- killed ----------------------------------------------------------------------------------------


@pytest.mark.needs("java")
def test_a_command_that_is_told_to_end_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "workloads", "generate", "--out", str(tmp_path / "d"), "--filters",
         "30000000", "--master", "local[1]"],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        while not list(tmp_path.rglob("*.parquet")):
            assert process.poll() is None
            time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 143, told
    assert "workloads: told to end" in told
    assert list(tmp_path.iterdir()) == []
