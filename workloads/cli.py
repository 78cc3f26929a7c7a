"""The command line: options in, jobs one after the other, and an exit status that says how it went.

``python -m workloads generate … then build … then validate …`` runs several in one Spark session.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from posetlib.generating.auction import AuctionParameters
from posetlib.tables import structure_names
from workloads.errors import InputError, StartError, cause_of, refusal_of
from workloads.experiments import MODULES
from workloads.files import (
    Place,
    hidden_beside,
    is_local,
    place_of,
    require_apart,
    require_new,
)
from workloads.generate_options import add_generate_options, parameters_from, sizes_of
from workloads.reports import (
    INVARIANT_NAMES,
    counted,
    entry_lines,
    github_lines,
    junit,
    left_out,
    report_text,
    require_several,
    reserved,
    title,
    tool_version,
    verdict_line,
)
from workloads.session import (
    BROADCAST_LIMIT,
    Progress,
    kill_started,
    open_session,
    package_archive,
    settings_for,
)
from workloads.watch import History, watch, words_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["main"]

FINE: Final = 0
VIOLATED: Final = 1
BAD_INPUT: Final = 2
#: The job died of something that is not in the input.
FAILED: Final = 3
#: A fault of this program.
CRASHED: Final = 4
INTERRUPTED: Final = 130
TERMINATED: Final = 143

#: Between two commands that share a session.
_THEN: Final = "then"
#: Input of so many bytes, and output of so many rows, is little.
_BRIEF_BYTES: Final = 1 << 24
_BRIEF_ROWS: Final = 200_000


class _TerminatedError(BaseException):
    """Somebody asked the process to end: what it has begun is cleared away first."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, or several with "then" between them; see ``--help``."""
    # A stream that the caller has closed is none: what is told there, nobody wants to hear.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    words = list(sys.argv[1:] if arguments is None else arguments)
    steps = [_parser().parse_args(part) for part in _parts(words)]
    for options, part in zip(steps, _parts(words), strict=True):
        options.words = part
    try:
        with _termination():
            return _run(steps)
    except InputError as error:
        return _refuse(str(error))
    except StartError as error:
        sys.stderr.write(f"workloads: {error}\n")
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write("workloads: interrupted\n")
        return INTERRUPTED
    except _TerminatedError:
        sys.stderr.write("workloads: told to end\n")
        return TERMINATED
    except Exception as error:  # noqa: BLE001 - each has its own exit status
        return _gave_up(error)


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _gave_up(error: Exception) -> int:
    """Say why a job failed, and whose fault it is."""
    sentence = refusal_of(error)
    if sentence is not None:
        return _refuse(sentence)
    if type(error).__module__.startswith(("pyspark", "py4j")):
        sys.stderr.write(f"workloads: Spark gave up: {cause_of(error)}\n")
        return FAILED
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        sys.stderr.write(f"workloads: {error.strerror or error}{where}\n")
        return FAILED
    traceback.print_exc()
    sys.stderr.write("workloads: this is a fault of the program, and not of the input\n")
    return CRASHED


@contextmanager
def _termination() -> Iterator[None]:
    """Let SIGTERM end a job as an interruption does, so that nothing half made is left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        kill_started()
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _parts(arguments: Sequence[str]) -> list[list[str]]:
    """Return the arguments of each command."""
    parts: list[list[str]] = [[]]
    for each in arguments:
        if each == _THEN:
            parts.append([])
        else:
            parts[-1].append(each)
    return parts


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"workloads: {sentence}\n")
    return BAD_INPUT


def _run(steps: list[argparse.Namespace]) -> int:
    for options in steps:
        _check(options)
    # What the first command needs has to be there; the others may need what it makes.
    for path in _inputs(steps[0]):
        if is_local(path) and not Place(path).exists():
            raise InputError(f"there is no {_what(steps[0], path)} at {path}")
    on_spark = [options for options in steps if options.job is not _archive]
    if not on_spark:
        return max(_archive(None, options) for options in steps)
    first = on_spark[0]
    for options in on_spark[1:]:
        if options.master not in (None, first.master):
            raise InputError(f"--master {options.master}: all commands share that of the first")
    with open_session(
        first.name,
        first.master,
        brief=all(_is_brief(options) for options in on_spark),
        conf=dict(first.conf),
    ) as session:
        for options in steps:
            if options.job is _archive:
                _archive(None, options)
                continue
            own = dict(options.conf)
            with (
                settings_for(
                    session,
                    options.partitions,
                    getattr(options, "broadcast_limit", None),
                    conf=own,
                ),
                Progress(session, options.name) as options.progress,
            ):
                status: int = options.job(session, options)
            if status != FINE:
                return status
    return FINE


def _say(text: str) -> None:
    """Write a line for whoever reads the output, if anybody still does."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has read enough; the job goes on, and its status tells the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- what can be said before Spark starts ----------------------------------------------------------


def _check(options: argparse.Namespace) -> None:
    """Refuse what is wrong for all to see."""
    partitions = getattr(options, "partitions", None)
    if partitions is not None and not 1 <= partitions <= 100_000:
        raise InputError(f"--partitions is between 1 and 100,000, not {partitions}")
    inputs = [Place(path) for path in _inputs(options) if is_local(path)]
    for name in ("out", "violations"):
        out = getattr(options, name, None)
        if out is not None and options.job is not _archive and is_local(out):
            require_apart(Place(out), inputs)
            require_new(Place(out), overwrite=options.overwrite)
    files = [getattr(options, name, None) for name in ("report", "junit")]
    reports = [Place(out) for out in files if out is not None and is_local(out)]
    for place in reports:
        if place.is_folder():
            raise InputError(f"the report cannot be written to {place.path}: Is a directory")
        require_apart(place, inputs)
    require_several(reports, getattr(options, "violations", None))
    if options.job is _generate:
        parameters_from(options)
    if options.job is _validate:
        _check_expression_options(options)
        if options.notifications < 1:
            raise InputError(f"--notifications is at least 1, not {options.notifications}")
        if options.broadcast_limit < 0:
            raise InputError(f"--broadcast-limit is at least 0, not {options.broadcast_limit}")
        if options.neighbours is not None and "" in options.neighbours.split(","):
            raise InputError("--neighbours are names with commas between them, and none is empty")
        if not options.interval > 0:
            raise InputError(f"--interval is more than 0 seconds, not {options.interval}")
        if options.watch is not None:
            if not is_local(options.watch) or not Place(options.watch).is_folder():
                raise InputError(f"there is no folder at {options.watch} to watch")
            if options.report or options.junit or options.violations:
                raise InputError("--watch keeps the reports itself, in its folder validations")
        for name in ("only", "skip"):
            for each in _listed(getattr(options, name)) or ():
                if each not in INVARIANT_NAMES:
                    known = ", ".join(INVARIANT_NAMES)
                    raise InputError(f"--{name}: unknown invariant {each!r}; known are {known}")


#: What says nothing about expressions, and what says nothing about a table.
_OF_TABLES: Final = (
    "workload",
    "against",
    "double_forest",
    "neighbours",
    "violations",
    "only",
    "skip",
)
_OF_EXPRESSIONS: Final = ("pruned", "matches")


def _check_expression_options(options: argparse.Namespace) -> None:
    on_table = options.expressions is None
    what = "a table" if on_table else "expressions"
    for name in _OF_EXPRESSIONS if on_table else _OF_TABLES:
        if getattr(options, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} says nothing about {what}")


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else text.split(",")


def _inputs(options: argparse.Namespace) -> list[str]:
    named = (
        getattr(options, name, None)
        for name in ("workload", "snapshot", "against", "double_forest", "pruned", "matches")
    )
    found = [path for path in named if path]
    # Of match it is a flag, and of validate a workload.
    told = getattr(options, "expressions", None)
    return [*found, told] if isinstance(told, str) else found


def _what(options: argparse.Namespace, path: str) -> str:
    if path in (getattr(options, "workload", None), getattr(options, "expressions", None)):
        return "workload"
    return next(
        (name for name in ("pruned", "matches") if path == getattr(options, name, None)), "snapshot"
    )


def _is_brief(options: argparse.Namespace) -> bool:
    """Return whether there is little to do."""
    if options.job is _generate:
        p = parameters_from(options)
        return sum(sizes_of(p)) <= _BRIEF_ROWS
    if options.job is _experiment:
        return False
    paths = _inputs(options)
    return all(map(is_local, paths)) and sum(Place(each).size() for each in paths) <= _BRIEF_BYTES


# -- options ---------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="workloads",
        description="Spark jobs on workloads of filters and on tables of them.",
        epilog="With the word `then` between them, several commands run in one Spark session. "
        "Exit status: 0 fine, 1 an invariant is violated, 2 bad input, 3 Spark or the disk gave "
        "up, 4 a fault of this program.",
    )
    parser.add_argument("--version", action="version", version=tool_version())
    commands = parser.add_subparsers(required=True, dest="name", metavar="command")

    def command(name: str, job: Any, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.set_defaults(job=job)
        return made

    _add_generate(command("generate", _generate, "a workload of random filters"))

    build = command("build", _build, "the table of a workload, as nodes and edges")
    build.add_argument("--structure", required=True, choices=structure_names())
    build.add_argument("--local", action="store_true", help="keep every pair (pf, linear)")
    build.add_argument(
        "--operations", action="store_true", help="apply the operations instead of the filters"
    )
    build.add_argument(
        "--merging", choices=("perfect", "imperfect"), help="write the merged root set, too"
    )
    cover = command("cover", _cover, "the minimal cover of a workload")
    match = command("match", _match, "the interfaces for each notification")
    match.add_argument(
        "--expressions",
        action="store_true",
        help="texts are expressions, also if the workload does not say so",
    )
    for each in (build, cover, match):
        each.add_argument("--workload", required=True, metavar="D", help="what to read")
        _add_output(each)
        _add_skip_bad(each)
        _add_common(each)

    _add_validate(command("validate", _validate, "every invariant of a table, in parallel"))

    _add_experiment(command("experiment", _experiment, "a sweep as in the thesis, with plots"))

    archive = command("archive", _archive, "the packages, for --py-files of spark-submit")
    archive.add_argument("--out", required=True, metavar="FILE.zip")
    archive.add_argument("--overwrite", action="store_true", help="replace a file that exists")
    return parser


def _add_generate(command: argparse.ArgumentParser) -> None:
    _add_output(command)
    add_generate_options(command)
    _add_common(command)


def _add_validate(command: argparse.ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--snapshot", metavar="E", help="the table")
    which.add_argument(
        "--watch", metavar="DIR", help="every table in a folder, also those that come, each once"
    )
    which.add_argument(
        "--expressions", metavar="D", help="instead of a table, the expressions of a workload"
    )
    command.add_argument(
        "--pruned", metavar="P", help="with --expressions: id, and what each is pruned to"
    )
    command.add_argument(
        "--matches", metavar="M", help="with --expressions: what match wrote of them"
    )
    command.add_argument("--once", action="store_true", help="with --watch: not those that come")
    command.add_argument(
        "--interval", type=float, default=10.0, metavar="S",
        help="with --watch: seconds between two looks (default: %(default)s)",
    )  # fmt: skip
    command.add_argument("--workload", metavar="D", help="what it was built from")
    command.add_argument("--report", metavar="R.json", help="where the report goes")
    command.add_argument("--junit", metavar="R.xml", help="where it goes as JUnit's XML")
    command.add_argument(
        "--violations", metavar="DIR", help="where all violations go, as a table of Parquet"
    )
    command.add_argument("--overwrite", action="store_true", help="replace violations that exist")
    command.add_argument(
        "--format", choices=("text", "json", "github"), default="text",
        help="what is printed: for people, the report, or commands of a GitHub workflow",
    )  # fmt: skip
    command.add_argument("--only", metavar="NAME,NAME", help="only these invariants")
    command.add_argument("--skip", metavar="NAME,NAME", help="not these invariants")
    command.add_argument(
        "--neighbours", metavar="I1,I2", help="for the forwards sets (default: all interfaces)"
    )
    command.add_argument(
        "--against", metavar="E2", help="another table of the same pairs, for same-roots"
    )
    command.add_argument(
        "--double-forest", metavar="F.json", help="a DoubleForest, for double-forest-agrees"
    )
    command.add_argument(
        "--notifications", type=int, default=1000, metavar="M",
        help="how many notifications match-agrees takes (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--broadcast-limit", type=int, default=BROADCAST_LIMIT, metavar="BYTES",
        help="columns that are sent to every worker; beyond it blocks are joined "
        "(default: %(default)s)",
    )  # fmt: skip
    _add_skip_bad(command)
    _add_common(command)


def _add_experiment(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "experiment", choices=list(MODULES), metavar="NAME", help=", ".join(MODULES)
    )
    _add_output(command)
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed draws the same filters"
    )
    command.add_argument(
        "--replications",
        type=int,
        metavar="N",
        help="random loads for each point (default: its own)",
    )
    command.add_argument(
        "--scale", type=float, default=1.0, metavar="F",
        help="a factor for sizes, 0.1 for a quick look (default: those of the thesis)",
    )  # fmt: skip
    _add_common(command)


def _add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", required=True, metavar="PATH", help="a folder that is not there")
    command.add_argument("--overwrite", action="store_true", help="replace an output that exists")


def _add_skip_bad(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--skip-bad", action="store_true", help="leave out rows whose text is no filter"
    )


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--master", help="local[*] by default; spark://…, local-cluster[…], yarn, k8s://…"
    )
    command.add_argument("--partitions", type=int, metavar="P", help="parts to divide work into")
    command.add_argument(
        "--conf", type=_setting, action="append", default=[], metavar="KEY=VALUE",
        help="a setting of Spark's; may be given several times",
    )  # fmt: skip


def _setting(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key.startswith("spark."):
        raise argparse.ArgumentTypeError(f"{text!r} is not spark.some.key=value")
    return key, value


# -- commands --------------------------------------------------------------------------------------


def _generate(session: SparkSession, options: argparse.Namespace) -> int:
    from workloads import library  # noqa: PLC0415 - slow to import, --help is not

    p = parameters_from(options)
    library.generate(
        session, p, options.out, partitions=options.partitions, overwrite=options.overwrite
    )
    filters, notifications, more = sizes_of(p)
    made = f"{counted(filters, 'filter')} and {counted(notifications, 'notification')}"
    if isinstance(p, AuctionParameters) and more:
        made = f"{made}, and {counted(more, 'advertisement')},"
    _say(f"{made} in {options.out}")
    return FINE


def _common(session: SparkSession, options: argparse.Namespace) -> dict[str, Any]:
    """Return what every job on a workload is told."""
    return {
        "out": options.out,
        "session": session,
        "skip_bad": options.skip_bad,
        "overwrite": options.overwrite,
    }


def _build(session: SparkSession, options: argparse.Namespace) -> int:
    from workloads import library  # noqa: PLC0415

    made = library.build(
        options.workload,
        options.structure,
        local=options.local,
        operations=options.operations,
        merging=options.merging,
        **_common(session, options),
    )
    _say(f"{counted(made['nodes'], 'node')} of {options.structure} in {options.out}{_bad(made)}")
    return FINE


def _cover(session: SparkSession, options: argparse.Namespace) -> int:
    from workloads import library  # noqa: PLC0415

    made = library.cover(options.workload, **_common(session, options))
    cover_of = "covers" if made["filters"] == 1 else "cover"
    found = f"{counted(made['filters'], 'filter')} {cover_of} the workload, in {options.out}"
    _say(f"{found}{_bad(made)}")
    return FINE


def _match(session: SparkSession, options: argparse.Namespace) -> int:
    from workloads import library  # noqa: PLC0415

    made = library.match(
        options.workload, expressions=options.expressions, **_common(session, options)
    )
    _say(f"the interfaces for each notification are in {options.out}{_bad(made)}")
    return FINE


def _bad(made: dict[str, Any]) -> str:
    bad = made["bad_rows"]
    if not bad["count"]:
        return ""
    return "\n".join(["", *left_out(bad)])


def _validate(session: SparkSession, options: argparse.Namespace) -> int:
    if options.watch is not None:
        return _watch(session, options)
    return _validated(session, options)[0]


def _validated(session: SparkSession, options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    from workloads import library  # noqa: PLC0415

    def place(path: str | None) -> Place | None:
        return None if path is None else place_of(path, session)

    def told(name: str, entry: dict[str, Any] | None) -> None:
        options.progress.what = name
        if entry is not None and options.format == "text":
            options.progress.clear()
            for line in entry_lines(entry) if name else [title(entry)]:
                _say(line)

    with reserved(place(options.report)) as report_file, reserved(place(options.junit)) as xml_file:
        report = (
            _expression_report(session, options, told)
            if options.expressions
            else library.validate(
                options.snapshot,
                options.workload,
                session=session,
                against=options.against,
                double_forest=options.double_forest,
                neighbours=_listed(options.neighbours),
                notifications=options.notifications,
                skip_bad=options.skip_bad,
                broadcast_limit=options.broadcast_limit,
                only=_listed(options.only),
                skip=_listed(options.skip),
                violations=options.violations,
                overwrite=options.overwrite,
                told=told,
            )
        )
        report["command"] = shlex.join(["python", "-m", "workloads", *options.words])
        # The verdict is told first: a disk that is full by now does not swallow it.
        for line in _verdict(report, options.format):
            _say(line)
        if report_file is not None:
            report_file.write(report_text(report))
        if xml_file is not None:
            xml_file.write(junit(report))
    return (FINE if report["ok"] else VIOLATED), report


def _expression_report(
    session: SparkSession, options: argparse.Namespace, told: Any
) -> dict[str, Any]:
    from workloads.validate_expressions import validate_expressions  # noqa: PLC0415

    claims = {
        name: None if getattr(options, name) is None else place_of(getattr(options, name), session)
        for name in _OF_EXPRESSIONS
    }
    return validate_expressions(
        session,
        place_of(options.expressions, session),
        **claims,
        notifications=options.notifications,
        skip_bad=options.skip_bad,
        told=told,
    )


def _watch(session: SparkSession, options: argparse.Namespace) -> int:
    """Validate every snapshot in a folder once, also those that are still to come."""

    def validate(snapshot: Path, report: Path) -> tuple[int, dict[str, Any]]:
        _say(f"{snapshot}:")
        words = words_for(options.words, snapshot)
        changed = {"snapshot": str(snapshot), "report": str(report), "words": words}
        own = argparse.Namespace(**vars(options) | changed)
        try:
            status, found = _validated(session, own)
        except Exception as error:
            # One snapshot that is none does not keep the others from being looked at.
            told = str(error) if isinstance(error, InputError) else refusal_of(error)
            if told is None:
                raise
            return _refuse(told), {"ok": None, "error": told, "finished": _now()}
        names = ("ok", "structure", "nodes", "edges", "seconds", "finished")
        entries = found["invariants"]
        return status, {
            **{name: found[name] for name in names},
            "violated": [each["name"] for each in entries if each["verdict"] == "violated"],
            "violations": sum(each["violations"] for each in entries),
        }

    history = History(Path(Place(options.watch).absolute))
    return watch(history, validate, once=options.once, interval=options.interval)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _verdict(report: dict[str, Any], form: str) -> list[str]:
    """Return what is printed at the end."""
    if form == "json":
        return [report_text(report).rstrip()]
    if form == "github":
        return github_lines(report)
    bad = left_out(report["bad_rows"]) if report["bad_rows"]["count"] else []
    return [*bad, verdict_line(report)]


def _experiment(session: SparkSession, options: argparse.Namespace) -> int:
    from workloads.experiments.running import run_experiment, summary  # noqa: PLC0415

    made = run_experiment(
        session,
        options.experiment,
        place_of(options.out, session),
        seed=options.seed,
        replications=options.replications,
        scale=options.scale,
        overwrite=options.overwrite,
    )
    for line in summary(made):
        _say(line)
    _say(f"{counted(made['rows'], 'row')} and {len(made['figures'])} figures in {options.out}")
    return FINE


def _archive(_session: SparkSession | None, options: argparse.Namespace) -> int:
    if not is_local(options.out):
        raise InputError(f"{options.out} is elsewhere: an archive goes to a disk of this machine")
    place = Place(options.out).target()
    if place.is_folder() or (place.exists() and not options.overwrite):
        what = "is a folder" if place.is_folder() else "exists; --overwrite replaces it"
        raise InputError(f"{options.out} {what}")
    partial = hidden_beside(place, "partial")
    try:
        package_archive(Path(partial.absolute))
        partial.replace(place)
    except OSError as error:
        raise InputError(f"nothing can be written at {options.out}: {error.strerror}") from None
    finally:
        partial.delete()
    _say(f"posetlib and workloads are in {options.out}")
    return FINE
