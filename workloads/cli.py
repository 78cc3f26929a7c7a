"""The command line: options in, one job, and an exit status that says how it went."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from posetlib.generating import KINDS, SCENARIOS, Parameters
from workloads.errors import InputError, sentence_of
from workloads.session import BROADCAST_LIMIT, open_session, package_archive, progress

__all__ = ["main"]

FINE: Final = 0
VIOLATED: Final = 1
BAD_INPUT: Final = 2
#: The job died of something that is not in the input.
FAILED: Final = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; see ``--help``."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except InputError as error:
        return _say(str(error))
    except Exception as error:
        sentence = sentence_of(str(error))
        if sentence is not None:
            return _say(sentence)
        if type(error).__module__.startswith(("pyspark", "py4j")):
            text = next((line for line in str(error).splitlines() if line.strip()), "")
            sys.stderr.write(f"workloads {options.name}: Spark gave up: {text}\n")
            return FAILED
        raise


def _say(sentence: str) -> int:
    sys.stderr.write(f"workloads: {sentence}\n")
    return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="workloads", description="Spark jobs on workloads of filters and on tables of them."
    )
    commands = parser.add_subparsers(required=True, dest="name", metavar="command")

    command = commands.add_parser("generate", help="a workload of random filters")
    _add_generate(command)
    command.set_defaults(command=_generate)

    command = commands.add_parser("build", help="the table of a workload, as nodes and edges")
    command.add_argument("--workload", required=True, metavar="D")
    command.add_argument("--structure", required=True, choices=("fp", "pf", "bf", "nrf", "linear"))
    command.add_argument("--local", action="store_true", help="keep every pair (pf, linear)")
    command.add_argument(
        "--operations", action="store_true", help="apply the operations instead of the filters"
    )
    _add_output(command)
    _add_common(command)
    command.set_defaults(command=_build)

    command = commands.add_parser("validate", help="every invariant of a table, in parallel")
    command.add_argument("--snapshot", required=True, metavar="E")
    command.add_argument("--workload", metavar="D", help="what it was built from")
    command.add_argument("--report", metavar="R.json", help="where the report goes")
    command.add_argument(
        "--neighbours", metavar="I1,I2", help="for the forwards sets (default: all interfaces)"
    )
    command.add_argument(
        "--against", metavar="E2", help="another table of the same pairs, for same-roots"
    )
    command.add_argument(
        "--notifications", type=int, default=1000, metavar="M",
        help="how many notifications match-agrees takes (default: %(default)s)",
    )  # fmt: skip
    _add_common(command)
    command.set_defaults(command=_validate)

    for name, function, text in (
        ("cover", _cover, "the minimal cover of a workload"),
        ("match", _match, "the interfaces for each notification"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--workload", required=True, metavar="D")
        _add_output(command)
        _add_common(command)
        command.set_defaults(command=function)
    command = commands.add_parser("archive", help="the packages, for --py-files of spark-submit")
    command.add_argument("--out", required=True, metavar="FILE.zip")
    command.set_defaults(command=_archive)
    return parser


def _archive(options: argparse.Namespace) -> int:
    try:
        package_archive(Path(options.out))
    except OSError as error:
        raise InputError(f"nothing can be written at {options.out}: {error.strerror}") from None
    _tell(f"posetlib and workloads are in {options.out}")
    return FINE


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
        if each.name == "kind":
            command.add_argument(option, choices=KINDS, default=each.default)
        elif each.name == "scenario":
            command.add_argument(option, choices=SCENARIOS, default=each.default)
        else:
            command.add_argument(
                option,
                type=type(each.default),
                default=None if each.name == "filters" else each.default,
                required=each.name == "filters",
                metavar="N",
                help=f"{helps[each.name]} (default: {each.default})",
            )
    _add_common(command)


def _add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", required=True, metavar="PATH")
    command.add_argument("--overwrite", action="store_true", help="replace an output that exists")


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--master", help="local[*] by default; spark://…, local-cluster[…], yarn, k8s://…"
    )
    command.add_argument("--partitions", type=int, metavar="P", help="parts to divide work into")
    command.add_argument(
        "--broadcast-limit", type=int, default=BROADCAST_LIMIT, metavar="BYTES",
        help="what is sent to every worker at most; beyond it blocks are joined",
    )  # fmt: skip
    if "generate" not in (command.prog or ""):
        command.add_argument(
            "--skip-bad", action="store_true", help="leave out rows whose text is no filter"
        )


def _job(options: argparse.Namespace) -> Any:
    if options.partitions is not None and not 1 <= options.partitions <= 100_000:
        raise InputError(f"--partitions is between 1 and 100,000, not {options.partitions}")
    return open_session(options.name, options.master, options.partitions, options.broadcast_limit)


def _generate(options: argparse.Namespace) -> int:
    from workloads.files import place_of  # noqa: PLC0415 - Spark is slow to import, --help is not
    from workloads.generate import generate  # noqa: PLC0415

    names = [each.name for each in dataclasses.fields(Parameters)]
    try:
        parameters = Parameters(**{name: getattr(options, name) for name in names})
    except ValueError as error:
        raise InputError(str(error)) from None
    with _job(options) as session, progress(session, "generate"):
        out = place_of(options.out, session)
        generate(
            session, parameters, out, partitions=options.partitions, overwrite=options.overwrite
        )
    _tell(f"{parameters.filters:,} filters and {parameters.notifications:,} notifications "
          f"in {options.out}")  # fmt: skip
    return FINE


def _build(options: argparse.Namespace) -> int:
    from workloads.build import build  # noqa: PLC0415
    from workloads.files import place_of  # noqa: PLC0415

    with _job(options) as session, progress(session, "build"):
        header = build(
            session,
            place_of(options.workload, session),
            options.structure,
            place_of(options.out, session),
            local=options.local,
            operations=options.operations,
            skip_bad=options.skip_bad,
            overwrite=options.overwrite,
        )
    _tell(f"{header['nodes']:,} nodes of {options.structure} in {options.out}")
    _tell_bad(header)
    return FINE


def _cover(options: argparse.Namespace) -> int:
    from workloads.cover import cover  # noqa: PLC0415
    from workloads.files import place_of  # noqa: PLC0415

    with _job(options) as session, progress(session, "cover"):
        header = cover(
            session,
            place_of(options.workload, session),
            place_of(options.out, session),
            skip_bad=options.skip_bad,
            overwrite=options.overwrite,
        )
    _tell(f"{header['filters']:,} filters cover the workload, in {options.out}")
    _tell_bad(header)
    return FINE


def _match(options: argparse.Namespace) -> int:
    from workloads.files import place_of  # noqa: PLC0415
    from workloads.match import match  # noqa: PLC0415

    with _job(options) as session, progress(session, "match"):
        header = match(
            session,
            place_of(options.workload, session),
            place_of(options.out, session),
            skip_bad=options.skip_bad,
            overwrite=options.overwrite,
        )
    _tell(f"the interfaces for each notification are in {options.out}")
    _tell_bad(header)
    return FINE


def _validate(options: argparse.Namespace) -> int:
    from workloads.files import place_of  # noqa: PLC0415
    from workloads.reports import summary, write_report  # noqa: PLC0415
    from workloads.validate import validate  # noqa: PLC0415

    if options.notifications < 1:
        raise InputError(f"--notifications is at least 1, not {options.notifications}")
    with _job(options) as session, progress(session, "validate"):
        report = validate(
            session,
            place_of(options.snapshot, session),
            None if options.workload is None else place_of(options.workload, session),
            against=None if options.against is None else place_of(options.against, session),
            neighbours=None if options.neighbours is None else options.neighbours.split(","),
            notifications=options.notifications,
            skip_bad=options.skip_bad,
            broadcast_limit=options.broadcast_limit,
        )
    if options.report is not None:
        write_report(options.report, report)
    _tell(summary(report))
    return FINE if report["ok"] else VIOLATED


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")


def _tell_bad(header: dict[str, Any]) -> None:
    bad = header["bad_rows"]
    if bad["count"]:
        _tell(f"{bad['count']:,} rows were left out, since their text is no filter; for example:")
        for each in bad["samples"]:
            _tell(f"  id {each['id']}: {each['filter']!r}: {each['error']}")
