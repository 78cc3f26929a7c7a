"""Brokers to test: in this process, in processes of their own, and links that can be disturbed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

from posetlib.broker.client import Client, connect
from posetlib.broker.server import Broker
from posetlib.broker.settings import Settings

#: Seconds after which a condition that should come true is given up. Nothing waits that long
#: unless it fails.
PATIENCE = 120.0


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a condition to be true, and return what it returned."""
    until = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < until, f"waited in vain: {what}"
        time.sleep(0.02)
    return found


async def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a condition to be true while the loop runs."""
    limit = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < limit, f"waited in vain: {what}"
        await asyncio.sleep(0.01)
    return found


def run(main: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine; it is given up when it takes far too long."""

    async def all_of_it() -> Any:
        try:
            return await asyncio.wait_for(main, PATIENCE)
        finally:
            for wire in _OPENED:
                wire.close()
            _OPENED.clear()

    return asyncio.run(all_of_it())


#: A stream that nobody refers to any more is closed: a test may open one and look away.
_OPENED: list[Wire] = []


# -- in this process -------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[Broker]:
    """Run a broker in this process, on a port that is free."""
    settings = {"port": 0, "drain": 1.0, "retry_first": 0.02, "retry_most": 0.2, **settings}
    broker = Broker(Settings(**settings))
    await broker.start()
    port = broker.port
    try:
        yield broker
    finally:
        for wire in _OPENED:
            if wire.port == port:
                wire.close()  # or the end would wait for it
        await broker.stop()


class Wire:
    """A bare connection: lines out, lines in."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.port = port

    @classmethod
    async def open(cls, port: int, **options: Any) -> Wire:
        streams = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24, **options)
        wire = cls(*streams, port)
        _OPENED.append(wire)
        return wire

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.writer.write(data + b"\n")

    async def read(self) -> dict[str, Any] | None:
        """Return the next message, None at the end; pings are left out."""
        while line := await self.reader.readline():
            message: dict[str, Any] = json.loads(line)
            if message["op"] != "ping":
                return message
        return None

    async def ask(self, message: dict[str, Any] | bytes) -> dict[str, Any] | None:
        self.send(message)
        return await self.read()

    async def rest(self) -> list[dict[str, Any]]:
        """Return all messages until the other end hangs up."""
        found = []
        while message := await self.read():
            found.append(message)
        self.close()
        return found

    def close(self) -> None:
        self.writer.close()


def hello_of_a_broker(name: str = "N", identity: str = "n", **other: Any) -> dict[str, Any]:
    return {
        "op": "hello",
        "broker": name,
        "identity": identity,
        "algorithm": "covering",
        "advertisements": False,
        **other,
    }


# -- in processes ----------------------------------------------------------------------------------


class BrokerProcess:
    """A broker in a process of its own; it can be killed and started again on its port."""

    def __init__(self, folder: Path, name: str, *options: str) -> None:
        self.name = name
        self._options = options
        self._ready = folder / f"{name}.json"
        self.log = folder / f"{name}.log"
        self.port = 0
        self.http = 0
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> BrokerProcess:
        self._ready.unlink(missing_ok=True)
        command = [sys.executable, "-m", "posetlib.broker", "--name", self.name]
        command += ["--port", str(self.port), "--http", str(self.http)]
        command += ["--ready-file", str(self._ready), "--retry-first", "0.05"]
        command += ["--retry-most", "0.5", *self._options]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        wait_until(lambda: self._ready.exists() or self.process.poll() is not None, "ready")
        assert self.process.poll() is None, self.log.read_text("utf-8")
        ports = json.loads(self._ready.read_text("utf-8"))
        self.port, self.http = ports["port"], ports["http"]
        return self

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def terminate(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def resident(self) -> int:
        """Bytes of memory that the process has."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def connect(self, name: str | None = None) -> Client:
        return connect(f"127.0.0.1:{self.port}", name, timeout=PATIENCE)

    def get(self, path: str) -> bytes:
        with socket.create_connection(("127.0.0.1", self.http), PATIENCE) as stream:
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            answer = b""
            while data := stream.recv(1 << 16):
                answer += data
        return answer.partition(b"\r\n\r\n")[2]

    def health(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.get("/healthz"))
        return found

    def said(self) -> str:
        return self.log.read_text("utf-8")


@contextlib.contextmanager
def processes(folder: Path) -> Iterator[Callable[..., BrokerProcess]]:
    """Yield what starts broker processes; none is left behind."""
    started: list[BrokerProcess] = []

    def start(name: str, *options: str) -> BrokerProcess:
        broker = BrokerProcess(folder, name, *options)
        started.append(broker)
        return broker.start()

    try:
        yield start
    finally:
        for each in started:
            if each.process is not None and each.process.poll() is None:
                each.process.kill()
                each.process.wait()


class Proxy:
    """Forwards TCP to a port; can be cut, and can hang without a word."""

    def __init__(self, target: Callable[[], int | None]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._streams: list[socket.socket] = []
        self._passing = threading.Event()
        self._passing.set()
        self._open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while self._open:
                near, _ = self._listener.accept()
                try:
                    # Nobody is at port 0: a target that is not there yet.
                    far = socket.create_connection(("127.0.0.1", self._target() or 0), 5)
                except OSError:
                    near.close()
                    continue
                far.settimeout(None)
                self._streams += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self._passing.wait()
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        """End all connections that go through."""
        streams, self._streams = self._streams, []
        for each in streams:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def hang(self) -> None:
        """Let nothing through, and end nothing."""
        self._passing.clear()

    def heal(self) -> None:
        """Let everything through again, on new connections: what hung stays lost."""
        self.cut()
        self._passing.set()

    def close(self) -> None:
        self._open = False
        self._listener.close()
        self.heal()
