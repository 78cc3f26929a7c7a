"""The broker over TCP beside a bare relay, and beside Mosquitto if it is installed.

The server is on one core, publisher and subscribers are on the other. The relay decodes each line
and forwards it unmatched, to all neighbours or to one; another one decodes each line and forwards
what a read brought as it is, which is the least that can be done.
"""

from __future__ import annotations

import asyncio
import json
import math
import multiprocessing
import os
import random
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec

from bench.harness import Bench

NEIGHBOURS = 10
#: The core of the server, and the core of everybody else.
SERVER, OTHERS = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
#: The share of the relay's rate that the broker promises.
AT_LEAST = 0.4
_END = b'{"op":"publish","n":{"end":true}}\n'
_READ = 1 << 20


# -- loads -----------------------------------------------------------------------------------------


def notifications(count: int, seed: int = 1) -> bytes:
    """Return lines of 100 to 150 bytes, as a client publishes them."""
    draw = random.Random(seed)
    lines = []
    for i in range(count):
        notification = {
            "x": round(draw.uniform(0, 100), 3),
            "y": round(draw.uniform(0, 100), 3),
            "sensor": f"sensor-{draw.randrange(1_000)}",
            "unit": "celsius",
            "room": f"room-{draw.randrange(50)}",
            "number": i,
        }
        lines.append(msgspec.json.encode({"op": "publish", "n": notification}))
    return b"\n".join(lines) + b"\n"


def _range(draw: random.Random, low: float, high: float, mean: float) -> tuple[float, float]:
    """Return a range of exponential width around a uniform centre."""
    centre, width = draw.uniform(low, high), draw.expovariate(1 / mean)
    return max(low, centre - width / 2), min(high, centre + width / 2)


def filters(neighbour: int, count: int, *, apart: bool) -> list[str]:
    """Return what one neighbour subscribes to; ``apart``: no two neighbours want the same."""
    draw = random.Random(100 + neighbour)
    low, high = (10 * neighbour + 0.001, 10 * neighbour + 9.999) if apart else (0.0, 100.0)
    found = ["exists end"]
    while len(found) <= count:
        x, y = _range(draw, low, high, 5), _range(draw, 0, 100, 5)
        if x[0] < x[1] and y[0] < y[1]:
            found.append(f"x in [{x[0]:.3f}, {x[1]:.3f}] and y in [{y[0]:.3f}, {y[1]:.3f}]")
    return found


class Server(NamedTuple):
    """A server that runs: where it listens, and its process."""

    port: int
    pid: int

    def seconds(self) -> float:
        """Return the time that the processor has given to it so far."""
        # In nanoseconds, of the first thread: each server here does all its work in that one.
        return int(Path(f"/proc/{self.pid}/schedstat").read_text("ascii").split()[0]) / 1e9


# -- servers ---------------------------------------------------------------------------------------


class _Relay(asyncio.Protocol):
    """Decodes each line and forwards it; with ``whole``, what one read brought as it is."""

    sinks: ClassVar[list[asyncio.Transport]] = []

    def __init__(self, copies: int, whole: bool) -> None:
        self._copies = copies
        self._whole = whole
        self._tail = b""
        self._decode = msgspec.json.Decoder().decode

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if data == b"sink\n":
            self.sinks.append(self._transport)  # type: ignore[arg-type]
            return
        block, newline, self._tail = (self._tail + data).rpartition(b"\n")
        if not newline:
            return
        lines = block.split(b"\n")
        for line in lines:
            self._decode(line)
        waiting: list[list[bytes]] = [[] for _ in range(self._copies)]
        if self._whole:
            waiting = [[block] for _ in waiting]
        else:
            for line in lines:
                for each in waiting:
                    each.append(line)
        if lines[-1] == _END.rstrip():
            waiting += [[lines[-1]] for _ in range(self._copies, NEIGHBOURS)]
        for sink, each in zip(self.sinks, waiting, strict=False):
            each.append(b"")
            sink.write(b"\n".join(each))


def _serve_relay(pipe: Pipe, copies: int, whole: bool, core: int) -> None:
    os.sched_setaffinity(0, {core})

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Relay(copies, whole), "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await loop.run_in_executor(None, pipe.recv)

    with suppress(EOFError, KeyboardInterrupt):
        asyncio.run(run())


@contextmanager
def relay(copies: int, *, whole: bool = False) -> Iterator[Server]:
    """Run a relay in a process of its own."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve_relay, args=(theirs, copies, whole, SERVER), daemon=True
    )
    process.start()
    try:
        assert process.pid is not None
        yield Server(ours.recv(), process.pid)
    finally:
        process.terminate()
        process.join()


@contextmanager
def broker(*options: str) -> Iterator[Server]:
    """Run a broker in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder, "ready.json")
        command = [sys.executable, "-m", "posetlib.broker", "--port", "0", *options]
        # The sinks answer no pings.
        command += ["--ready-file", str(ready), "--name", "measured", "--keepalive", "3600"]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            os.sched_setaffinity(process.pid, {SERVER})
            try:
                while not ready.exists() and process.poll() is None:
                    time.sleep(0.02)
                yield Server(json.loads(ready.read_text("utf-8"))["port"], process.pid)
            finally:
                process.terminate()


# -- subscribers -----------------------------------------------------------------------------------


def _connected(port: int) -> socket.socket:
    stream = socket.create_connection(("127.0.0.1", port), 60)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def relay_sinks(port: int) -> list[socket.socket]:
    """Return connections that a relay forwards to."""
    found = []
    for _ in range(NEIGHBOURS):
        stream = _connected(port)
        stream.sendall(b"sink\n")
        found.append(stream)
        time.sleep(0.05)
    return found


def neighbours(port: int, count: int, *, apart: bool) -> list[socket.socket]:
    """Return links to a broker, of neighbours that subscribe to this many filters together."""
    found = []
    for i in range(NEIGHBOURS):
        stream = _connected(port)
        hello = {
            "op": "hello",
            "broker": f"I{i}",
            "identity": f"sink-{i}",
            "algorithm": "covering",
            "advertisements": False,
        }
        update = {"op": "update", "subscribe": filters(i, count // NEIGHBOURS, apart=apart)}
        stream.sendall(msgspec.json.encode(hello) + b"\n" + msgspec.json.encode(update) + b"\n")
        found.append(stream)
    with _connected(port) as client:
        # Answered when the filters of all are in the table; then wait for the updates to end.
        client.sendall(b'{"op":"list","id":1}\n')
        client.recv(_READ)
    _drained(found, 1.0)
    return found


def _drained(streams: Sequence[socket.socket], quiet: float) -> None:
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while ready := selector.select(quiet):
            for key, _ in ready:
                key.fileobj.recv(_READ)  # type: ignore[union-attr]


# -- measuring -------------------------------------------------------------------------------------


def _publish(port: int, data: bytes, started: Pipe) -> None:
    with _connected(port) as stream:
        stream.sendall(b'{"op":"hello"}\n')
        time.sleep(0.2)
        started.send(time.perf_counter_ns())
        stream.sendall(data)
        stream.shutdown(socket.SHUT_WR)
        while stream.recv(_READ):
            pass


def throughput(port: int, sinks: list[socket.socket], data: bytes) -> tuple[float, int]:
    """Return notifications per second until all sinks have the last one, and copies received."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_publish, args=(port, data + _END, theirs))
    process.start()
    received = 0
    tails = dict.fromkeys(sinks, b"")
    with selectors.DefaultSelector() as selector:
        for stream in sinks:
            selector.register(stream, selectors.EVENT_READ)
        while tails:
            for key, _ in selector.select():
                stream = key.fileobj
                block = stream.recv(_READ)  # type: ignore[union-attr]
                received += block.count(b"\n")
                tail = (tails[stream] + block[-len(_END) :])[-len(_END) :]  # type: ignore[index]
                tails[stream] = tail  # type: ignore[index]
                if tail == _END or not block:
                    selector.unregister(stream)
                    del tails[stream]  # type: ignore[arg-type]
    seconds = (time.perf_counter_ns() - ours.recv()) / 1e9
    process.join()
    return data.count(b"\n") / seconds, received


def _publish_paced(port: int, rate: float, count: int) -> None:
    template = notifications(1).decode().rstrip("}\n")
    with _connected(port) as stream:
        stream.sendall(b'{"op":"hello"}\n')
        time.sleep(0.2)
        start, sent = time.perf_counter(), 0
        while sent < count:
            due = min(count, int((time.perf_counter() - start) * rate))
            now = time.perf_counter_ns()
            stream.sendall(b"".join([b'%s,"t":%d}}\n' % (template.encode(), now)] * (due - sent)))
            sent = max(sent, due)
            time.sleep(0.001)
        stream.sendall(_END)
        stream.shutdown(socket.SHUT_WR)
        while stream.recv(_READ):
            pass


def latency(port: int, sinks: list[socket.socket], rate: float, count: int) -> tuple[float, float]:
    """Return median and 99th percentile in milliseconds, from publishing to a sink's read."""
    process = multiprocessing.get_context("fork").Process(
        target=_publish_paced, args=(port, rate, count)
    )
    process.start()
    taken = []
    tails = dict.fromkeys(sinks, b"")
    with selectors.DefaultSelector() as selector:
        for stream in sinks:
            selector.register(stream, selectors.EVENT_READ)
        while tails:
            for key, _ in selector.select():
                stream = key.fileobj
                block = stream.recv(_READ)  # type: ignore[union-attr]
                now = time.perf_counter_ns()
                lines = (tails[stream] + block).split(b"\n")  # type: ignore[index]
                tails[stream] = lines.pop()  # type: ignore[index]
                # The first line of a read waited longest, the last one least.
                for line in (lines[:1] + lines[-1:]) if lines else []:
                    _, mark, text = line.rpartition(b'"t":')
                    if mark:
                        taken.append((now - int(text.rstrip(b"}"))) / 1e6)
                if _END.rstrip() in lines[-1:] or not block:
                    selector.unregister(stream)
                    del tails[stream]  # type: ignore[arg-type]
    process.join()
    # A short run on a busy machine may take fewer than two samples, which tell nothing.
    cuts = statistics.quantiles(taken if len(taken) > 1 else [math.nan] * 2, n=100)
    return cuts[49], cuts[98]


class Turns:
    """What one server did in each of its turns."""

    def __init__(self, server: Server, sinks: list[socket.socket]) -> None:
        self.server = server
        self.sinks = sinks
        #: Notifications per second, and per second of the server's processor.
        self.rates: list[float] = []
        self.cpu_rates: list[float] = []
        self.received = 0

    def measure(self, data: bytes) -> None:
        """Take a turn."""
        before = self.server.seconds()
        rate, self.received = throughput(self.server.port, self.sinks, data)
        self.rates.append(rate)
        spent = self.server.seconds() - before
        self.cpu_rates.append(data.count(b"\n") / spent)


# -- Mosquitto -------------------------------------------------------------------------------------


def _packet(kind: int, body: bytes) -> bytes:
    """Return an MQTT packet: its kind, the length in sevens of bits, the body."""
    length, size = b"", len(body)
    while True:
        size, digit = size >> 7, size & 127
        length += bytes([digit | (128 if size else 0)])
        if not size:
            return bytes([kind]) + length + body


def _text(text: str) -> bytes:
    return len(text).to_bytes(2, "big") + text.encode()


def _mqtt(port: int, name: str) -> socket.socket:
    stream = _connected(port)
    stream.sendall(_packet(0x10, _text("MQTT") + b"\x04\x02\x00\x00" + _text(name)))
    stream.recv(4)
    return stream


def mosquitto(count: int, subscribers: int) -> tuple[float, float] | None:
    """Return Mosquitto's rate for one topic, and the share that arrived; None without it."""
    command = shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if command is None:
        return None
    with socket.socket() as free, tempfile.TemporaryDirectory() as folder:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        config = Path(folder, "mosquitto.conf")
        config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n", "utf-8")
        free.close()
        with subprocess.Popen(
            [command, "-c", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                os.sched_setaffinity(process.pid, {SERVER})
                return _measure_mqtt(port, count, subscribers)
            finally:
                process.terminate()


def _measure_mqtt(port: int, count: int, subscribers: int) -> tuple[float, float]:
    for _ in range(100):
        with suppress(ConnectionRefusedError), _connected(port):
            break
        time.sleep(0.05)
    sinks = []
    for i in range(subscribers):
        stream = _mqtt(port, f"sink-{i}")
        stream.sendall(_packet(0x82, b"\x00\x01" + _text("t") + b"\x00"))
        stream.recv(5)
        sinks.append(stream)
    packets = b"".join(
        _packet(0x30, _text("t") + line) for line in notifications(count).splitlines()
    )
    publisher = _mqtt(port, "publisher")
    context = multiprocessing.get_context("fork")
    start = time.perf_counter()
    process = context.Process(target=publisher.sendall, args=(packets,))
    process.start()
    received, last = 0, start
    with selectors.DefaultSelector() as selector:
        for stream in sinks:
            selector.register(stream, selectors.EVENT_READ)
        # It may drop some: the end is when nothing more comes.
        while received < len(packets) * subscribers and (ready := selector.select(2.0)):
            for key, _ in ready:
                received += len(key.fileobj.recv(_READ))  # type: ignore[union-attr]
            last = time.perf_counter()
    process.join()
    for stream in (*sinks, publisher):
        stream.close()
    share = received / (len(packets) * subscribers)
    return count * share / (last - start), share


# -- figures ---------------------------------------------------------------------------------------


def compare(
    *, count: int = 100_000, subscriptions: int = 10_000, rounds: int = 7, apart: bool = False
) -> dict[str, Any]:
    """Return the rates of relays and broker, measured in turns, and the broker's latency.

    The ratio is the median of those of the rounds, by the time that the processor gave to each
    server: on a machine with other work the rates themselves are those of the moment.
    """
    os.sched_setaffinity(0, {OTHERS})
    data = notifications(count)
    copies = 1 if apart else NEIGHBOURS
    with (
        relay(copies) as line_relay,
        relay(copies, whole=True) as whole_relay,
        broker("--table", "nrf") as served,
    ):
        cases = {
            "relay": Turns(line_relay, relay_sinks(line_relay.port)),
            "whole reads": Turns(whole_relay, relay_sinks(whole_relay.port)),
            "broker": Turns(served, neighbours(served.port, subscriptions, apart=apart)),
        }
        # The broker's matcher is made when it was asked often enough: not part of it.
        for case in cases.values():
            throughput(case.server.port, case.sinks, data)
        for _ in range(rounds):
            for case in cases.values():
                case.measure(data)
        rates = {name: statistics.median(case.rates) for name, case in cases.items()}
        pace = rates["broker"] / 2
        seconds = 2.0 if count > 1_000 else 0.1
        links = cases["broker"].sinks
        median, late = latency(served.port, links, pace, int(pace * seconds))
        for case in cases.values():
            for stream in case.sinks:
                stream.close()
    return {
        "rates": rates,
        "cpu rates": {name: statistics.median(case.cpu_rates) for name, case in cases.items()},
        "ratios": {
            name: statistics.median(
                rate / base
                for rate, base in zip(case.cpu_rates, cases["relay"].cpu_rates, strict=True)
            )
            for name, case in cases.items()
        },
        "destinations": cases["broker"].received / count,
        "bytes": len(data) / count,
        "pace": pace,
        "p50": median,
        "p99": late,
    }


def run(bench: Bench) -> None:
    """Measure both loads, and Mosquitto beside them."""
    before = os.sched_getaffinity(0)
    try:
        for apart in (False, True):
            load = "each wants a part of its own" if apart else "all want nearly everything"
            count = bench.size(100_000, 300)
            found = compare(
                count=count,
                subscriptions=bench.size(10_000, 100),
                rounds=bench.size(7, 1),
                apart=apart,
            )
            names = {
                "relay": f"relay to {'one' if apart else 'all'}, line by line",
                "whole reads": "the same, whole reads",
                "broker": "broker",
            }
            rows: list[tuple[str, float | None, float | None, float | None]] = [
                (text, found["rates"][name], found["cpu rates"][name], found["ratios"][name])
                for name, text in names.items()
            ]
            other = mosquitto(count, 1 if apart else NEIGHBOURS)
            if other is not None:
                name = f"Mosquitto, one topic, {other[1]:.0%} arrived"
                rows.append((name, other[0], None, None))
            bench.table(
                f"Over TCP, {NEIGHBOURS} neighbours, {load}",
                ("server", "notifications/s", "per CPU second", "of the relay"),
                rows,
                f"{found['bytes']:.0f} bytes a line, to {found['destinations']:.1f} neighbours; "
                f"at {found['pace']:,.0f}/s p50 {found['p50']:.2f} ms, p99 {found['p99']:.2f} ms",
            )
            if not bench.quick:
                bench.promise(
                    f"the broker's rate as a share of a bare relay's, {load}",
                    found["ratios"]["broker"],
                    at_least=AT_LEAST,
                )
    finally:
        os.sched_setaffinity(0, before)


if __name__ == "__main__":
    run(Bench(quick="--quick" in sys.argv))
