"""The app for a WSGI server: ``browser.wsgi:server``.

POSETLIB_WORKLOAD and POSETLIB_RUNS name the directories, POSETLIB_BROKER is the HOST:PORT of a
broker that runs on this machine, POSETLIB_HOSTS the names, with commas between them, under which
the app may be asked for besides localhost and addresses. Uploads are held in memory, so one process
with threads serves all users: ``gunicorn --workers 1 --threads 8 browser.wsgi:server``.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

__all__ = ["server"]  # noqa: F822 - made when it is asked for


@cache
def _made() -> Any:
    from browser.app import create_app  # noqa: PLC0415 - importing this module does no work

    return create_app(
        os.environ.get("POSETLIB_WORKLOAD") or None,
        os.environ.get("POSETLIB_RUNS") or None,
        broker=os.environ.get("POSETLIB_BROKER") or None,
        hosts=[each for each in os.environ.get("POSETLIB_HOSTS", "").split(",") if each],
    ).server


def __getattr__(name: str) -> Any:
    if name == "server":
        return _made()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
