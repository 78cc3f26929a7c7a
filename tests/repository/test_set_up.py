"""The set-up: done once, taken up when interrupted, and clear about what it cannot do.

The script is run for real, with a real pip, on a small project that needs no network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import set_up

from .small_checkout import PYPROJECT, Checkout

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    checkout = Checkout(tmp_path_factory.mktemp("set-up") / "a check out")
    said = checkout.set_up()
    assert "creating .venv" in said
    assert "ready" in said
    return checkout


@pytest.mark.skipif(
    not (ROOT / ".venv" / "wheelhouse").is_dir(), reason="this checkout was not set up by `make`"
)
class TestTheEnvironment:
    """In this order, on one environment: making one takes seconds."""

    def test_it_is_complete(self, ready: Checkout) -> None:
        assert ready.works()

    def test_the_second_time_nothing_is_done(self, ready: Checkout) -> None:
        before = ready.stamp.stat().st_mtime_ns
        # With a pip that cannot find anything: were it called, the set-up would fail.
        assert ready.set_up(PIP_FIND_LINKS="") == ""
        assert ready.stamp.stat().st_mtime_ns == before

    def test_a_change_of_the_packages_installs_again(self, ready: Checkout) -> None:
        project = ready.root / "pyproject.toml"
        project.write_text(PYPROJECT.replace('"1"', '"2"'), encoding="utf-8")
        said = ready.set_up()
        assert "installing" in said
        assert "creating" not in said
        assert ready.set_up() == ""

    def test_a_change_of_a_tool_does_not(self, ready: Checkout) -> None:
        with (ready.root / "pyproject.toml").open("a", encoding="utf-8") as project:
            project.write("\n[tool.ruff]\nline-length = 100\n")
        assert ready.set_up() == ""

    def test_an_interrupted_set_up_is_taken_up(self, ready: Checkout) -> None:
        (library,) = (ready.root / ".venv" / "lib").iterdir()
        for path in (library / "site-packages").glob("sortedcontainers*"):
            shutil.rmtree(path)
        ready.stamp.unlink()
        assert not ready.works()
        assert "creating" not in ready.set_up()
        assert ready.works()

    def test_an_unreadable_stamp_counts_as_none(self, ready: Checkout) -> None:
        ready.stamp.write_text("[", encoding="utf-8")
        assert "ready" in ready.set_up()
        assert ready.set_up() == ""

    def test_two_at_once_set_up_once(self, ready: Checkout) -> None:
        ready.stamp.unlink()
        command = ["sh", str(ready.root / "scripts" / "set-up")]
        environment = {
            **os.environ,
            "PYTHON": sys.executable,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": (ROOT / ".venv" / "wheelhouse").as_uri(),
        }
        both = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        said = [process.communicate()[0] for process in both]
        assert [process.returncode for process in both] == [0, 0]
        assert sum("packages are ready" in text for text in said) == 1

    def test_a_moved_checkout_is_set_up_anew(self, ready: Checkout) -> None:
        ready.root = ready.root.rename(ready.root.with_name("moved out"))
        assert "creating .venv" in ready.set_up()
        assert ready.works()
        assert ready.set_up() == ""

    def test_an_environment_that_is_active_can_be_rebuilt(self, ready: Checkout) -> None:
        folder = ready.root / ".venv" / "bin"
        (folder / "pip").unlink()
        ready.stamp.unlink()
        path = f"{folder}:{os.environ['PATH']}"
        assert "creating .venv" in ready.set_up(PYTHON="", PATH=path)
        assert ready.works()

    def test_a_python_that_is_gone_is_replaced(self, ready: Checkout) -> None:
        python = ready.root / ".venv" / "bin" / "python"
        python.unlink()
        python.symlink_to("/nowhere/python3")
        assert "creating .venv" in ready.set_up()
        assert ready.works()


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    precious = checkout.root / ".venv" / "letters.txt"
    precious.parent.mkdir()
    precious.touch()
    assert "move it away" in checkout.set_up(status=1)
    assert precious.exists()


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    said = checkout.set_up(status=1, PYTHON=str(old))
    assert f"PYTHON={old} is no Python 3.11 or later" in said
    # And with no other on the PATH, the message says what to install.
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "dirname", "cat"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    old.rename(tools / "python3")
    said = checkout.set_up(status=1, PYTHON="", PATH=str(tools))
    assert "no Python 3.11 or later was found" in said
    assert "apt-get install python3" in said


class TestTheSystem:
    """Java and Chromium, on a machine that is told what it has and what it can do."""

    @pytest.fixture(autouse=True)
    def machine(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is there but a PATH, and nothing may be installed."""
        self.tools = tmp_path / "bin"
        self.tools.mkdir()
        self.stamp = tmp_path / "stamp.json"
        self.log = tmp_path / "log"
        monkeypatch.setattr(set_up, "SYSTEM_STAMP", self.stamp)
        monkeypatch.setattr(set_up, "SNAPD", tmp_path / "snapd.socket")
        set_up.apt_get.cache_clear()
        monkeypatch.setenv("PATH", str(self.tools))
        for name in ("JAVA_HOME", "CHROMIUM", "NO_APT"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(os, "geteuid", lambda: 1000)

    def tool(self, name: str, script: str) -> None:
        """Put a command on the PATH that notes its call and then runs some shell."""
        path = self.tools / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.log}"\n{script}\n', "utf-8")
        path.chmod(0o755)

    def calls(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def apt(self, *provides: str, candidates: str = "1.0") -> None:
        """An apt that can install java, chromium, or neither, and lists these versions."""
        arms = "".join(
            f"*' install '*{package}*)\n"
            f"  /bin/printf '%s\\n' '#!/bin/sh' '{script}' > '{self.tools}/{name}'\n"
            f"  /bin/chmod 755 '{self.tools}/{name}';;\n"
            for name, package, script in (
                ("java", "jre-headless", self.JAVA_17),
                ("chromium", "chromium-driver", "echo Chromium 130"),
            )
            if name in provides
        )
        self.tool("apt-get", f'case "$*" in\n{arms}*update) ;;\n*) exit 100;;\nesac')
        self.tool("apt-cache", f'echo "  Candidate: {candidates}"')
        self.tool("env", 'while case "$1" in *=*) ;; *) false;; esac; do shift; done; exec "$@"')

    JAVA_17 = 'echo "openjdk version \\"17.0.2\\""'

    def test_what_is_there_is_noted_and_asked_once(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.tool("java", 'echo "openjdk version \\"21.0.2\\" 2024-01-16" >&2')
        self.tool("google-chrome", "echo Google Chrome 130")
        set_up.ensure_system()
        set_up.ensure_system()
        assert self.calls() == ["java -version", "google-chrome --version"]
        assert capsys.readouterr().out == ""
        assert json.loads(self.stamp.read_text()) == {
            "java": str(self.tools / "java"),
            "chromium": str(self.tools / "google-chrome"),
        }

    def test_without_root_the_message_names_the_packages(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.apt()
        set_up.ensure_system()
        said = capsys.readouterr().out
        assert "sudo apt-get install openjdk-17-jre-headless" in said
        assert "sudo apt-get install chromium chromium-driver" in said
        assert not any(call.startswith("apt-get") for call in self.calls())

    def test_root_installs_what_is_missing_once(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        self.apt("java", "chromium")
        set_up.ensure_system()
        apt = [call for call in self.calls() if call.startswith("apt-get")]
        java, chromium = (call for call in apt if " install " in call)
        assert java.endswith("--yes --no-install-recommends openjdk-17-jre-headless")
        assert chromium.endswith("--yes --no-install-recommends chromium chromium-driver")
        assert "is missing" not in capsys.readouterr().out

    def test_sudo_is_used_if_it_asks_no_password(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.apt("java", "chromium")
        self.tool("sudo", 'shift; exec "$@"')
        self.tool("true", "exit 0")
        set_up.ensure_system()
        assert any(call.startswith("sudo -n env") for call in self.calls())
        monkeypatch.setenv("NO_APT", "1")
        assert set_up.administrator() is None

    def test_a_failed_attempt_is_not_repeated_and_still_told(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        self.apt()
        set_up.ensure_system()
        before = self.calls()
        capsys.readouterr()
        set_up.ensure_system()
        assert self.calls() == before
        assert capsys.readouterr().out.count("is missing") == 2

    def test_what_was_removed_is_missed(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.tool("java", self.JAVA_17)
        self.tool("chromium", "echo Chromium 130")
        set_up.ensure_system()
        (self.tools / "java").unlink()
        set_up.ensure_system()
        assert "Java 17 or later, which Spark runs on, is missing" in capsys.readouterr().out

    def test_a_release_without_java_17_gives_a_newer_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        only_21 = "$(case $2 in *21*) echo 21.0;; *) echo '(none)';; esac)"
        self.apt("java", candidates=only_21)
        set_up.install_java()
        assert self.calls()[-1].endswith("openjdk-21-jre-headless")

    def test_the_stub_of_a_snap_is_neither_a_package_nor_a_browser(self) -> None:
        self.apt(candidates="2:1snap1-0ubuntu2")
        assert not set_up.apt_offers("chromium-browser")
        self.tool("chromium-browser", "echo 'requires the chromium snap'; exit 1")
        assert set_up.find_chromium() is None

    def test_where_apt_has_no_chromium_a_snap_is_tried_if_there_are_snaps(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        self.apt("chromium", candidates="(none)")
        self.tool("snap", "exit 0")
        set_up.install_chromium()
        assert "snap install chromium" not in self.calls()
        set_up.SNAPD.touch()
        set_up.install_chromium()
        assert "snap install chromium" in self.calls()
        assert not any(" install " in call for call in self.calls() if "apt-get" in call)

    @pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "16"])
    def test_an_old_java_does_not_count(self, version: str) -> None:
        self.tool("java", f"echo 'openjdk version \"{version}\"' >&2")
        assert set_up.find_java() is None
