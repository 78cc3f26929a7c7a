"""Set up this checkout: a virtual environment, its packages, and on request Java and Chromium.

Only the standard library is used, since nothing else is there yet. What has been done is kept in a
stamp inside ``.venv``, written last: an interrupted set-up is taken up again, and one that is
complete costs a fraction of a second to recognise and touches neither pip nor apt.

The environment is rebuilt when its interpreter no longer runs, when the checkout was moved, or when
another interpreter is chosen (``make PYTHON=...``); packages are installed again when what
``pyproject.toml`` says about them changes, their versions in ``constraints.txt``, or our own.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# The exact version of every package that is installed; scripts/renew_constraints.py writes it.
CONSTRAINTS = ROOT / "constraints.txt"
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "set-up.json"
SYSTEM_STAMP = VENV / "set-up-system.json"
# Wheels of the core's dependencies, so that the test of the built wheel needs no network.
WHEELHOUSE = VENV / "wheelhouse"

EXTRAS = ("browser", "spark", "broker", "bench")
# The dependency group with the tools that test and check the code.
GROUP = "dev"
JAVA = 17
JAVA_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
# There when snaps can be installed; in a container, as a rule, it is not.
SNAPD = Path("/run/snapd.socket")


class SetUpError(Exception):
    """Something that the person at the keyboard has to do first; the message says what."""


def say(text: str) -> None:
    """Tell progress, at once: what follows may take minutes."""
    print(f"set-up: {text}", flush=True)


def succeeds(*command: str | Path) -> bool:
    """Whether a command runs and ends well; its output is nobody's business."""
    return output_of(*command) is not None


def output_of(*command: str | Path) -> str | None:
    """What a command prints on both streams, or None if it does not run or does not end well."""
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def run(*command: str | Path, variables: Mapping[str, str] | None = None) -> bool:
    """Run a command in full view, with more environment variables; whether it ended well."""
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, cwd=ROOT, env=environment)
    return done.returncode == 0


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold the checkout's lock, so that two commands started together set up once."""
    with (ROOT / "pyproject.toml").open("rb") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of this checkout to end")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def read_stamp(path: Path) -> dict[str, str]:
    """What an earlier set-up noted, or nothing at all if that cannot be read."""
    try:
        stamp = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(path: Path, stamp: dict[str, str]) -> None:
    """Note what was done, whole or not at all."""
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")
    draft.replace(path)


# --- the virtual environment ----------------------------------------------------------------------


def venv_interpreter() -> str | None:
    """Version and home of the environment's interpreter, or None if it does not run."""
    return output_of(VENV_PYTHON, "-I", "-c", "import sys; print(sys.version, sys.base_prefix)")


def this_interpreter() -> str:
    """Version and home of the interpreter that runs this script, in the same words."""
    return f"{sys.version} {sys.base_prefix}\n"


def read_project() -> dict[str, Any]:
    """What ``pyproject.toml`` says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read_constraints() -> str:
    """What ``constraints.txt`` says."""
    try:
        return CONSTRAINTS.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SetUpError(
            f"{CONSTRAINTS.name}, with the versions to install, is missing; take it from the "
            "repository, or write it anew with `make constraints`."
        ) from None


def packaging_digest() -> str:
    """A digest of all that decides what an installation holds: not of the tools' settings."""
    project = read_project()
    hatch = project.get("tool", {}).get("hatch", {})
    groups = project["dependency-groups"]
    parts = [project["build-system"], project["project"], groups, hatch, read_constraints()]
    version_file = hatch.get("version", {}).get("path")
    if version_file:
        text = (ROOT / version_file).read_text(encoding="utf-8")
        parts.append(re.findall(r"^__version__ = .*", text, re.MULTILINE))
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def wanted_stamp(interpreter: str) -> dict[str, str]:
    """What the stamp says when nothing is left to do."""
    return {
        "packaging": packaging_digest(),
        "extras": ",".join(EXTRAS),
        "root": str(ROOT),
        "interpreter": interpreter,
    }


def venv_is_sound(interpreter: str | None) -> bool:
    """Whether packages can be installed into the environment as it stands."""
    if interpreter is None or not succeeds(VENV_PYTHON, "-I", "-m", "pip", "--version"):
        return False
    # A moved environment still runs, but its scripts name the interpreter at the old place.
    try:
        return str(VENV / "bin") in (VENV / "bin" / "pip").read_text(encoding="utf-8")
    except OSError:
        return False


def clear_venv() -> None:
    """Take the unusable environment away, and nothing that is not one."""
    if VENV.is_symlink():
        VENV.unlink()
    elif VENV.exists():
        leftovers = {"bin", "include", "lib", "lib64", "share"}
        names = {path.name for path in VENV.iterdir()}
        if "pyvenv.cfg" not in names and not names <= leftovers:
            raise SetUpError(f"{VENV} is there and is no virtual environment; move it away first.")
        shutil.rmtree(VENV)


def create_venv(folder: Path) -> None:
    """Make an environment, for the Python that runs this script."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    # With an environment active, perhaps the one that was just taken away, the one that made it.
    python = sys._base_executable  # type: ignore[attr-defined]
    say(f"creating {folder.name} with Python {version} ({python})")
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing and not apt_install(f"python{version}-venv"):
        raise SetUpError(
            f"this Python has no {' and no '.join(missing)} module; install it with\n\n"
            f"    sudo apt-get install python{version}-venv\n"
        )
    if not run(python, "-I", "-m", "venv", folder):
        raise SetUpError(f"`{python} -m venv {folder}` failed; its message is above.")


def pip_of(folder: Path) -> list[str | Path]:
    """The command that runs an environment's pip, which asks nothing."""
    python = folder / "bin" / "python"
    return [python, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]


def constrained() -> dict[str, str]:
    """The environment variables that hold pip, and what it starts, to ``constraints.txt``.

    An option ``--constraint`` would not reach the pip that pip starts to fetch a build backend:
    a variable does. For builds, a pip from 25.3 on reads one of their own. The value is a list
    with spaces between, so that the file is named by its URI, which has none.
    """
    own = CONSTRAINTS.as_uri()
    names = ("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT")
    return {name: f"{os.environ.get(name, '')} {own}".strip() for name in names}


def install_packages() -> None:
    """Install the checkout in place with its extras and tools, and keep the core's wheels."""
    project = read_project()
    pip = pip_of(VENV)
    say("installing the packages; the first time this takes minutes (Spark alone is 450 MB)")
    # pip takes `--group` from 25.1 on only, and Python 3.11 brings an older one.
    wanted = ["--editable", f"{ROOT}[{','.join(EXTRAS)}]", *project["dependency-groups"][GROUP]]
    if not run(*pip, "install", "--progress-bar", "off", *wanted, variables=constrained()):
        raise SetUpError(
            "pip could not install the packages; its message is above. "
            "The same command takes up where this one stopped. If a version that "
            f"{CONSTRAINTS.name} names is not to be had, `make constraints` chooses others."
        )
    core = project["project"]["dependencies"]
    shutil.rmtree(WHEELHOUSE, ignore_errors=True)
    fetch = (*pip, "wheel", "--quiet", "--wheel-dir", WHEELHOUSE, *core)
    if not run(*fetch, variables=constrained()):
        raise SetUpError("pip could not fetch the wheels of the core; its message is above.")


def ensure_python(*, chosen: bool) -> None:
    """Bring ``.venv`` up to date, doing nothing if it is."""
    interpreter = venv_interpreter()
    another = chosen and interpreter is not None and interpreter != this_interpreter()
    if interpreter and not another and read_stamp(STAMP) == wanted_stamp(interpreter):
        return
    if another or not venv_is_sound(interpreter):
        clear_venv()
        create_venv(VENV)
        interpreter = venv_interpreter()
    if interpreter is None:
        raise SetUpError(f"{VENV_PYTHON} was made and does not run.")
    STAMP.unlink(missing_ok=True)
    install_packages()
    write_stamp(STAMP, wanted_stamp(interpreter))
    say("the Python packages are ready")


# --- the system's packages ------------------------------------------------------------------------


def administrator() -> list[str] | None:
    """What to put before a command that needs root: nothing, sudo, or None if neither will do."""
    if os.environ.get("NO_APT"):
        return None
    if os.geteuid() == 0:
        return []
    return ["sudo", "-n"] if succeeds("sudo", "-n", "true") else None


@functools.cache
def apt_get() -> list[str] | None:
    """The apt-get command with fresh package lists, or None if it cannot be used unasked."""
    prefix = administrator()
    if prefix is None or shutil.which("apt-get") is None:
        return None
    command = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    # Another apt may be at work on a machine that has just been started: wait for it.
    command += ["-o", "DPkg::Lock::Timeout=300"]
    say("asking apt what there is (NO_APT=1 keeps it out of this)")
    # A new machine has no package lists; if they cannot be fetched, old ones may still do.
    run(*command, "update")
    return command


def apt_offers(package: str) -> bool:
    """Whether apt has a real package of that name: not a name for others, nor a snap's stub."""
    policy = output_of("apt-cache", "policy", package) or ""
    candidate = re.search(r"Candidate: (\S+)", policy)
    return candidate is not None and candidate[1] != "(none)" and "snap" not in candidate[1]


def apt_install(*packages: str) -> bool:
    """Install Debian packages if apt can be used and has them all; whether it worked."""
    command = apt_get()
    if command is None or not all(map(apt_offers, packages)):
        return False
    say(f"installing {' '.join(packages)} from apt")
    return run(*command, "install", "--yes", "--no-install-recommends", *packages)


def find_java() -> str | None:
    """A Java that Spark can use: JAVA_HOME's, or the PATH's, if it is new enough."""
    home = os.environ.get("JAVA_HOME")
    path = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    version = re.search(r'version "(\d+)', (output_of(path, "-version") or "") if path else "")
    return path if version and int(version[1]) >= JAVA else None


def find_chromium() -> str | None:
    """A Chromium or Chrome that starts: what CHROMIUM names, or the PATH's."""
    names = [os.environ["CHROMIUM"]] if os.environ.get("CHROMIUM") else CHROMIUM_NAMES
    for name in names:
        path = shutil.which(name)
        # Ubuntu's `chromium-browser` is a script that only says which snap to install.
        if path and succeeds(path, "--version"):
            return path
    return None


def install_java() -> None:
    """Try to get a Java from apt: 17, or a newer one from a release that has 17 no more."""
    for package in JAVA_PACKAGES:
        if apt_install(package):
            break


def install_chromium() -> None:
    """Try to get Chromium and its driver from apt, or on Ubuntu, where it is a snap, as a snap."""
    prefix = administrator()
    if not apt_install("chromium", "chromium-driver") and prefix is not None and SNAPD.exists():
        say("installing Chromium as a snap")
        run(*prefix, "snap", "install", "chromium")


SYSTEM = {
    "java": (
        find_java,
        install_java,
        f"""\
Java {JAVA} or later, which Spark runs on, is missing. Install it with
    sudo apt-get install openjdk-17-jre-headless    (21 where a release has no 17)
Until then the tests that need it are skipped, and say so.""",
    ),
    "chromium": (
        find_chromium,
        install_chromium,
        """\
Chromium, which the browser's tests drive, is missing. Install it with
    sudo apt-get install chromium chromium-driver   (Debian)
    sudo snap install chromium                      (Ubuntu)
or name one that is there: CHROMIUM=/path/to/chrome.
Until then the tests that need it are skipped, and say so.""",
    ),
}


def ensure_system() -> None:
    """See that Java and Chromium are there, try once to install them, and say what is missing.

    What was found is noted and believed as long as the file is there; starting a Java to ask for
    its version takes longer than everything else in a set-up that has nothing to do. A failed
    attempt is noted too, and repeated only when asked for (``make setup``).
    """
    stamp = read_stamp(SYSTEM_STAMP)
    for name, (find, install, advice) in SYSTEM.items():
        noted = stamp.get(name)
        if noted and Path(noted).exists():
            continue
        found = find()
        if found is None and noted is None:
            install()
            found = find()
        if found is None:
            say(advice.replace("\n", "\nset-up: "))
        stamp[name] = found or ""
        write_stamp(SYSTEM_STAMP, stamp)


def main(arguments: Sequence[str] | None = None) -> int:
    """Set up, and say what to do when that is impossible."""
    parser = argparse.ArgumentParser(description="Set up this checkout.")
    parser.add_argument("--chosen", action="store_true", help="the interpreter was named: keep it")
    parser.add_argument("--system", action="store_true", help="Java and Chromium too")
    parser.add_argument("--again", action="store_true", help="try the system's packages once more")
    options = parser.parse_args(arguments)
    try:
        with one_at_a_time():
            ensure_python(chosen=options.chosen)
            if options.again:
                SYSTEM_STAMP.unlink(missing_ok=True)
            if options.system:
                ensure_system()
    except SetUpError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("set-up: interrupted; the same command takes it up again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
