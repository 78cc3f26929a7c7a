"""`python -m browser`: serve the web app."""

from __future__ import annotations

import argparse
import logging
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted; 2 if that is impossible, with the reason in one line."""
    parser = argparse.ArgumentParser(prog="python -m browser", description=__doc__)
    parser.add_argument("--workload", type=Path, metavar="D", help="a directory that the jobs made")
    parser.add_argument(
        "--runs", type=Path, metavar="D", help="where reports and built tables are looked for"
    )
    parser.add_argument(
        "--broker", metavar="HOST:PORT", help="where a running broker shows its table (/table)"
    )
    parser.add_argument(
        "--remote-broker", action="store_true", help="let --broker be on another machine"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name under which the app may be asked for, besides localhost and addresses",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8050, help="port, 0 for any free one (8050)")
    options = parser.parse_args(arguments)
    if not 0 <= options.port < 1 << 16:
        return _refuse(f"--port {options.port}: a port is a number from 0 to 65,535")
    for name in ("workload", "runs"):
        folder = getattr(options, name)
        if folder is not None and not folder.is_dir():
            return _refuse(f"--{name} {folder}: there is no such directory")
    if options.workload is not None and not (options.workload / "filters").is_dir():
        return _refuse(f"--workload {options.workload}: no workload, it has no filters/")
    try:
        from werkzeug.serving import make_server  # noqa: PLC0415 - only those who serve need it

        from browser.app import create_app  # noqa: PLC0415
        from browser.running_broker import read_address  # noqa: PLC0415
        from browser.security import QuietHandler  # noqa: PLC0415
    except ImportError as error:
        return _refuse(f"{error.name} is not installed: pip install 'posetlib[browser]'")
    if options.broker is not None:
        try:
            read_address(options.broker, remote=options.remote_broker)
        except ValueError as error:
            return _refuse(f"--broker: {error}")
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # no line for every request
    application: Any = create_app(
        options.workload,
        options.runs,
        broker=options.broker,
        remote_broker=options.remote_broker,
        hosts=[options.host, *options.allow_host],
    ).server
    try:
        # Our own socket, so that what is wrong with an address comes as an error and not as text.
        listening = socket.create_server((options.host, options.port))
    except OSError as error:
        return _refuse(f"cannot listen at {options.host}:{options.port}: {error.strerror or error}")
    port = listening.getsockname()[1]
    server = make_server(
        options.host,
        port,
        application,
        threaded=True,
        request_handler=QuietHandler,
        fd=listening.fileno(),
    )
    signal.signal(signal.SIGTERM, lambda *_: _stop())
    print(f"The browser is at http://{options.host}:{port}/ (Ctrl+C ends it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
        listening.close()
    return 0


def _stop() -> None:
    raise KeyboardInterrupt


def _refuse(reason: str) -> int:
    print(f"browser: {reason}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
