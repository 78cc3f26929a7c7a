"""The command ``posetlib-broker``: serve a broker, publish to one, subscribe at one."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from posetlib.broker.client import Client, connect, read_address
from posetlib.broker.settings import DEFAULT_PORT, Limits, RouterOptions, Settings, Tls
from posetlib.errors import BrokerError
from posetlib.routing import ALGORITHMS

__all__ = ["main"]

DONE, FAILED, BAD = 0, 1, 2
_TOKEN: Final = "POSETLIB_BROKER_TOKEN"
_DEFAULTS: Final = Settings()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 when it is done, 1 when it failed on its way, 2 for what makes no sense."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in {"-h", "--help"}):
        given.insert(0, "serve")
    options = _parser().parse_args(given)
    try:
        status: int = options.command(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads the output has read enough: nothing may complain when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return DONE
    except (ValueError, OSError) as error:
        print(f"posetlib-broker: {error}", file=sys.stderr)
        return BAD
    except BrokerError as error:
        print(f"posetlib-broker: {error}", file=sys.stderr)
        return FAILED
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="posetlib-broker",
        description="Serve a broker, publish to one, subscribe at one. Options alone: serve.",
    )
    commands = parser.add_subparsers(metavar="command", required=True)
    _add_serve(commands.add_parser("serve", help="serve a broker"))

    command = commands.add_parser("publish", help="publish notifications")
    _add_address(command)
    command.add_argument("--advertise", metavar="FILTER", action="append", default=[])
    command.add_argument(
        "notification", nargs="*", help="as JSON; without any, a line of standard input each"
    )
    command.set_defaults(command=_publish)

    command = commands.add_parser("subscribe", help="print the notifications that filters match")
    _add_address(command)
    command.add_argument("--count", type=int, metavar="N", help="stop after so many")
    command.add_argument("filter", nargs="*", help="such as 'price > 20'")
    command.set_defaults(command=_subscribe)
    return parser


def _add_address(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--broker", metavar="HOST:PORT", default=f"127.0.0.1:{DEFAULT_PORT}", help="(%(default)s)"
    )
    command.add_argument("--name", help="a name that the broker knows the client by, next time too")
    _add_token(command)
    command.add_argument("--tls-ca", type=Path, metavar="FILE", help="whom to trust; turns on TLS")


def _add_token(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--token-file", type=Path, metavar="FILE", help=f"the shared token; else {_TOKEN}"
    )


def _add_serve(command: argparse.ArgumentParser) -> None:
    command.add_argument("--name", help="the broker's own name (its machine and port)")
    command.add_argument("--host", default=_DEFAULTS.host, help="where to listen (%(default)s)")
    command.add_argument("--port", type=int, default=_DEFAULTS.port, help="0 for any (%(default)s)")
    command.add_argument(
        "--neighbour",
        metavar="NAME=HOST:PORT",
        action="append",
        default=[],
        help="a neighbour to call; once for each",
    )
    command.add_argument(
        "--http", type=int, metavar="PORT", help="serve /healthz, /metrics and /table on 127.0.0.1"
    )
    command.add_argument(
        "--state", type=Path, metavar="FILE", help="keep what named clients hold over a restart"
    )
    command.add_argument("--ready-file", type=Path, metavar="FILE", help="write the ports there")
    _add_token(command)
    command.add_argument("--tls-cert", type=Path, metavar="FILE", help="listen with TLS")
    command.add_argument("--tls-key", type=Path, metavar="FILE")
    command.add_argument(
        "--tls-ca", type=Path, metavar="FILE", help="call neighbours with TLS, and trust this"
    )
    router = command.add_argument_group("routing; the same algorithm in the whole network")
    router.add_argument("--table", choices=("fp", "nrf"), default="fp")
    router.add_argument("--advertisements", action="store_true")
    router.add_argument(
        "--moves", action="store_true", help="clients may move from broker to broker"
    )
    router.add_argument("--merging", choices=("perfect", "imperfect"))
    router.add_argument("--forwards", choices=("exact", "approximate"), default="exact")
    router.add_argument("--master", metavar="NAME", help="the neighbour that gets everything")
    router.add_argument("--algorithm", choices=ALGORITHMS, default="covering")
    times = command.add_argument_group("times, in seconds")
    for option, about in (
        ("keepalive", "ask after so much silence; give up after twice as much"),
        ("keep", "remember a named client that is away"),
        ("handover", "for the last broker of a client that moved here"),
        ("drain", "for the end, to send what was accepted"),
        ("retry-first", "before a neighbour is called again"),
        ("retry-most", "the same, when it has failed for long"),
    ):
        default = getattr(_DEFAULTS, option.replace("-", "_"))
        times.add_argument(f"--{option}", type=float, default=default, help=f"{about} ({default})")
    limits = command.add_argument_group("limits of one connection")
    for name, about in (
        ("line", "bytes of a line"),
        ("depth", "levels of nesting in a line"),
        ("queue", "bytes that may wait for a client that does not read"),
        ("subscriptions", "filters that a client may hold"),
        ("bad_lines", "senseless lines in a row"),
        ("connections", "of the broker: connections at a time"),
    ):
        default = getattr(_DEFAULTS.limits, name)
        limits.add_argument(
            f"--max-{name.replace('_', '-')}",
            dest=f"max_{name}",
            type=_positive,
            default=default,
            metavar="N",
            help=f"{about} ({default:,})",
        )
    command.set_defaults(command=_serve)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"a number of 1 or more, not {text}")
    return number


# -- serve -----------------------------------------------------------------------------------------


def _serve(options: argparse.Namespace) -> int:
    try:
        # Only here: the other commands, and --help, need none of it.
        from posetlib.broker.server import Broker  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in {"msgspec", "prometheus_client"}:
            raise
        print(
            f"posetlib-broker: {error.name} is not installed, and a broker needs it: "
            "pip install 'posetlib[broker]'",
            file=sys.stderr,
        )
        return BAD
    settings = _settings(options)
    settings.check()
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr
    )

    # Every read makes thousands of dictionaries that are gone after it: looking for cycles among
    # them takes longer than routing them.
    gc.set_threshold(100_000, 20, 20)

    async def run() -> int:
        broker = Broker(settings)
        await broker.start()
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            broker.loop.add_signal_handler(number, ended.set)
        ports = {"name": broker.name, "pid": os.getpid(), "port": broker.port}
        if settings.http is not None:
            ports["http"] = broker.http_port
        print(f"{broker.name} listens on {settings.host}:{broker.port}", flush=True)
        if options.ready_file is not None:
            _write_at_once(options.ready_file, json.dumps(ports) + "\n")
        await ended.wait()
        for number in (signal.SIGTERM, signal.SIGINT):
            broker.loop.remove_signal_handler(number)  # a second one ends it at once
        lost = await broker.stop()
        if lost:
            print(
                f"posetlib-broker: {lost} bytes were not read in {settings.drain} seconds",
                file=sys.stderr,
            )
        return FAILED if lost else DONE

    return asyncio.run(run())


def _settings(options: argparse.Namespace) -> Settings:
    neighbours: dict[str, tuple[str, int]] = {}
    for each in options.neighbour:
        name, equals, address = each.partition("=")
        if not equals or not name:
            raise ValueError(f"--neighbour is NAME=HOST:PORT, not {each!r}")
        if name in neighbours:
            raise ValueError(f"--neighbour {name} is given twice")
        neighbours[name] = read_address(address)
    return Settings(
        name=options.name,
        host=options.host,
        port=options.port,
        neighbours=neighbours,
        http=options.http,
        state=options.state,
        tls=Tls(options.tls_cert, options.tls_key, options.tls_ca),
        token=_token(options.token_file),
        router=RouterOptions(
            **{each.name: getattr(options, each.name) for each in fields(RouterOptions)}
        ),
        limits=Limits(
            **{
                each.name: getattr(options, f"max_{each.name}")
                for each in fields(Limits)
                if hasattr(options, f"max_{each.name}")
            }
        ),
        moves=options.moves,
        keepalive=options.keepalive,
        keep=options.keep,
        handover=options.handover,
        drain=options.drain,
        retry_first=options.retry_first,
        retry_most=options.retry_most,
    )


def _token(path: Path | None) -> str | None:
    if path is None:
        return os.environ.get(_TOKEN) or None
    token = path.read_text(encoding="utf-8").strip()
    if not token:
        raise ValueError(f"the token file {path} is empty")
    return token


def _write_at_once(path: Path, text: str) -> None:
    """Write a file that nobody ever sees half written."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


# -- publish and subscribe -------------------------------------------------------------------------


def _connect(options: argparse.Namespace) -> Client:
    tls = Tls(ca=options.tls_ca).for_dialling()
    return connect(options.broker, options.name, _token(options.token_file), tls)


def _publish(options: argparse.Namespace) -> int:
    texts: Iterable[str] = options.notification or (line for line in sys.stdin if line.strip())
    with _connect(options) as client:
        for each in options.advertise:
            client.advertise(each)
        refused = [error for text in texts if (error := _published(client, text)) is not None]
    if refused:
        raise refused[0]
    return DONE


def _published(client: Client, text: str) -> BrokerError | None:
    """Publish a notification; return the refusal of an earlier one, if the client tells of it."""
    notification = _notification(text)
    try:
        client.publish(notification)
    except BrokerError as refusal:
        # This one was not sent: the others need not suffer. If the connection is gone it raises.
        client.publish(notification)
        return refusal
    return None


def _notification(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"a notification is a JSON object: {error}: {text.strip()}") from None
    if not isinstance(value, dict):
        raise ValueError(f"a notification is a JSON object, not {text.strip()}")
    return value


def _subscribe(options: argparse.Namespace) -> int:
    with _connect(options) as client:
        for each in options.filter:
            client.subscribe(each)
        print("subscribed", file=sys.stderr, flush=True)
        left = options.count
        if left == 0:
            return DONE
        for notification in client:
            print(json.dumps(notification, ensure_ascii=False), flush=True)
            if left is not None:
                left -= 1
                if left == 0:
                    break
    return DONE
