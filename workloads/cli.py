"""The command line: options in, jobs one after the other, and an exit status that says how it went.

``python -m workloads generate … then build … then validate …`` runs several in one Spark session.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from posetlib.generating import KINDS, SCENARIOS, Parameters
from posetlib.tables import structure_names
from workloads.errors import InputError, cause_of, refusal_of
from workloads.files import Place, is_local, place_of, require_new
from workloads.reports import counted, left_out, summary, write_report
from workloads.session import BROADCAST_LIMIT, open_session, package_archive, progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["main"]

FINE: Final = 0
VIOLATED: Final = 1
BAD_INPUT: Final = 2
#: The job died of something that is not in the input.
FAILED: Final = 3
INTERRUPTED: Final = 130

#: Between two commands that share a session.
_THEN: Final = "then"
#: Input of so many bytes, and output of so many rows, is little.
_BRIEF_BYTES: Final = 1 << 24
_BRIEF_ROWS: Final = 200_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, or several with "then" between them; see ``--help``."""
    steps = [_parser().parse_args(part) for part in _parts(arguments)]
    try:
        return _run(steps)
    except InputError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        sys.stderr.write("workloads: interrupted\n")
        return INTERRUPTED
    except Exception as error:
        sentence = refusal_of(error)
        if sentence is not None:
            return _refuse(sentence)
        if type(error).__module__.startswith(("pyspark", "py4j")):
            sys.stderr.write(f"workloads: Spark gave up: {cause_of(error)}\n")
            return FAILED
        raise


def _parts(arguments: Sequence[str] | None) -> list[list[str]]:
    """Return the arguments of each command."""
    parts: list[list[str]] = [[]]
    for each in sys.argv[1:] if arguments is None else arguments:
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
    if all(options.job is _archive for options in steps):
        return max(_told(options.job(None, options)) for options in steps)
    first = steps[0]
    with open_session(
        first.name,
        first.master,
        first.partitions,
        min(getattr(each, "broadcast_limit", BROADCAST_LIMIT) for each in steps),
        brief=all(_is_brief(options) for options in steps),
    ) as session:
        for options in steps:
            with progress(session, options.name):
                done = options.job(session, options)
            status = _told(done)
            if status != FINE:
                return status
    return FINE


def _told(done: tuple[int, str]) -> int:
    status, text = done
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
    return status


# -- what can be said before Spark starts ----------------------------------------------------------


def _check(options: argparse.Namespace) -> None:
    """Refuse what is wrong for all to see."""
    partitions = getattr(options, "partitions", None)
    if partitions is not None and not 1 <= partitions <= 100_000:
        raise InputError(f"--partitions is between 1 and 100,000, not {partitions}")
    out = getattr(options, "out", None)
    if out is not None and options.job is not _archive and is_local(out):
        require_new(Place(out), overwrite=options.overwrite)
    if options.job is _generate:
        _parameters(options)
    if options.job is _validate:
        if options.notifications < 1:
            raise InputError(f"--notifications is at least 1, not {options.notifications}")
        if options.broadcast_limit < 0:
            raise InputError(f"--broadcast-limit is at least 0, not {options.broadcast_limit}")
        if options.neighbours is not None and "" in options.neighbours.split(","):
            raise InputError("--neighbours are names with commas between them, and none is empty")
        if options.report is not None and Path(options.report).is_dir():
            raise InputError(f"the report cannot be written to {options.report}: Is a directory")


def _inputs(options: argparse.Namespace) -> list[str]:
    named = (
        getattr(options, name, None)
        for name in ("workload", "snapshot", "against", "double_forest")
    )
    return [path for path in named if path]


def _what(options: argparse.Namespace, path: str) -> str:
    return "workload" if path == getattr(options, "workload", None) else "snapshot"


def _is_brief(options: argparse.Namespace) -> bool:
    """Return whether there is little to do."""
    if options.job is _generate:
        p = _parameters(options)
        return p.filters + p.notifications + p.operations <= _BRIEF_ROWS
    paths = _inputs(options)
    return all(map(is_local, paths)) and sum(Place(each).size() for each in paths) <= _BRIEF_BYTES


# -- options ---------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="workloads",
        description="Spark jobs on workloads of filters and on tables of them.",
        epilog="With the word `then` between them, several commands run in one Spark session. "
        "Exit status: 0 fine, 1 an invariant is violated, 2 bad input, 3 Spark gave up.",
    )
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
    cover = command("cover", _cover, "the minimal cover of a workload")
    match = command("match", _match, "the interfaces for each notification")
    for each in (build, cover, match):
        each.add_argument("--workload", required=True, metavar="D", help="what to read")
        _add_output(each)
        _add_skip_bad(each)
        _add_common(each)

    _add_validate(command("validate", _validate, "every invariant of a table, in parallel"))

    archive = command("archive", _archive, "the packages, for --py-files of spark-submit")
    archive.add_argument("--out", required=True, metavar="FILE.zip")
    return parser


def _add_generate(command: argparse.ArgumentParser) -> None:
    _add_output(command)
    helps = {
        "filters": "how many filters",
        "dims": "attributes of a filter",
        "interfaces": "how many interfaces",
        "notifications": "how many notifications",
        "seed": "the same seed gives the same rows",
        "schemas": "event types",
        "interface_skew": "exponent of a Zipf law over interfaces, 0 for in turns",
        "skew": "exponent of the Zipf law of the kinds zipf and strings",
        "low": "the least number",
        "high": "the greatest number",
        "decimals": "digits after the point",
        "width": "mean width of the kinds narrow and zipf",
        "operations": "removals, each with an add after it",
    }
    for each in dataclasses.fields(Parameters):
        option = f"--{each.name.replace('_', '-')}"
        if each.name in ("kind", "scenario"):
            choices = KINDS if each.name == "kind" else SCENARIOS
            command.add_argument(
                option, choices=choices, default=each.default, help=f"(default: {each.default})"
            )
        elif each.name == "filters":
            command.add_argument(option, type=int, required=True, metavar="N", help="how many")
        else:
            command.add_argument(
                option,
                type=type(each.default),
                default=each.default,
                metavar="N",
                help=f"{helps[each.name]} (default: {each.default})",
            )
    _add_common(command)


def _add_validate(command: argparse.ArgumentParser) -> None:
    command.add_argument("--snapshot", required=True, metavar="E", help="the table")
    command.add_argument("--workload", metavar="D", help="what it was built from")
    command.add_argument("--report", metavar="R.json", help="where the report goes")
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


# -- commands --------------------------------------------------------------------------------------


def _parameters(options: argparse.Namespace) -> Parameters:
    names = [each.name for each in dataclasses.fields(Parameters)]
    try:
        return Parameters(**{name: getattr(options, name) for name in names})
    except ValueError as error:
        raise InputError(str(error)) from None


def _generate(session: SparkSession, options: argparse.Namespace) -> tuple[int, str]:
    from workloads.generate import generate  # noqa: PLC0415 - slow to import, --help is not

    p = _parameters(options)
    out = place_of(options.out, session)
    generate(session, p, out, partitions=options.partitions, overwrite=options.overwrite)
    made = f"{counted(p.filters, 'filter')} and {counted(p.notifications, 'notification')}"
    return FINE, f"{made} in {options.out}"


def _from_workload(
    job: Any, session: SparkSession, options: argparse.Namespace, **more: Any
) -> Any:
    """Run a job that makes something of a workload."""
    made: dict[str, Any] = job(
        session,
        place_of(options.workload, session),
        out=place_of(options.out, session),
        skip_bad=options.skip_bad,
        overwrite=options.overwrite,
        **more,
    )
    return made


def _build(session: SparkSession, options: argparse.Namespace) -> tuple[int, str]:
    from workloads.build import build  # noqa: PLC0415

    made = _from_workload(
        build,
        session,
        options,
        structure=options.structure,
        local=options.local,
        operations=options.operations,
    )
    return (
        FINE,
        f"{counted(made['nodes'], 'node')} of {options.structure} in {options.out}{_bad(made)}",
    )


def _cover(session: SparkSession, options: argparse.Namespace) -> tuple[int, str]:
    from workloads.cover import cover  # noqa: PLC0415

    made = _from_workload(cover, session, options)
    cover_of = "covers" if made["filters"] == 1 else "cover"
    found = f"{counted(made['filters'], 'filter')} {cover_of} the workload, in {options.out}"
    return FINE, f"{found}{_bad(made)}"


def _match(session: SparkSession, options: argparse.Namespace) -> tuple[int, str]:
    from workloads.match import match  # noqa: PLC0415

    made = _from_workload(match, session, options)
    return FINE, f"the interfaces for each notification are in {options.out}{_bad(made)}"


def _bad(made: dict[str, Any]) -> str:
    bad = made["bad_rows"]
    if not bad["count"]:
        return ""
    return "\n".join(["", *left_out(bad)])


def _validate(session: SparkSession, options: argparse.Namespace) -> tuple[int, str]:
    from workloads.validate import validate  # noqa: PLC0415

    def place(path: str | None) -> Place | None:
        return None if path is None else place_of(path, session)

    report = validate(
        session,
        place_of(options.snapshot, session),
        place(options.workload),
        against=place(options.against),
        double_forest=place(options.double_forest),
        neighbours=None if options.neighbours is None else options.neighbours.split(","),
        notifications=options.notifications,
        skip_bad=options.skip_bad,
        broadcast_limit=options.broadcast_limit,
    )
    if options.report is not None:
        write_report(options.report, report)
    return (FINE if report["ok"] else VIOLATED), summary(report)


def _archive(_session: SparkSession | None, options: argparse.Namespace) -> tuple[int, str]:
    try:
        package_archive(Path(options.out))
    except OSError as error:
        raise InputError(f"nothing can be written at {options.out}: {error.strerror}") from None
    return FINE, f"posetlib and workloads are in {options.out}"
