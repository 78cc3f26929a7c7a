"""Many connections, and bytes that mean nothing: the broker stays small, alive and calm."""

from __future__ import annotations

import json
import random
import socket
import time
from pathlib import Path

import pytest

from .running import PATIENCE, BrokerProcess, processes, wait_until

MB = 1 << 20


def connect_often(broker: BrokerProcess, count: int, first: int) -> None:
    """Connect, subscribe, publish and leave; some with a name, some without a word."""
    for i in range(first, first + count):
        with socket.create_connection(("127.0.0.1", broker.port), PATIENCE) as stream:
            if i % 3 == 0:
                stream.sendall(b'{"op":"hello","client":"client %d"}\n' % i)
            if i % 4:
                # Each its own filter: nothing that is remembered by text may pile up.
                stream.sendall(
                    b'{"op":"subscribe","filter":"x > %d"}\n{"op":"publish","n":{"x":%d}}\n'
                    b'{"op":"forget"}\n{"op":"bye"}\n' % (i, i + 1)
                )
                while stream.recv(1 << 16):
                    pass


def grow_by_connections(folder: Path, count: int) -> int:
    with processes(folder) as start:
        broker = start("A")
        # Caches that are bounded fill up first.
        connect_often(broker, count, 0)
        before = broker.resident()
        connect_often(broker, count, count)
        wait_until(lambda: b"connections_open 0.0" in broker.get("/metrics"), "all are gone")
        grown = broker.resident() - before
        assert b"local_filters 0.0" in broker.get("/metrics")
        assert b"clients_absent 0.0" in broker.get("/metrics")
        assert "Traceback" not in broker.said()
        return grown


def test_connects_and_disconnects_leave_nothing_behind(tmp_path: Path) -> None:
    assert grow_by_connections(tmp_path, 1_000) < 5 * MB


@pytest.mark.slow
def test_ten_thousand_connects_and_disconnects_leave_nothing_behind(tmp_path: Path) -> None:
    grown = grow_by_connections(tmp_path, 10_000)
    print(f"the broker grew by {grown / MB:.2f} MB")
    assert grown < 5 * MB


SAMPLES = [
    b'{"op":"hello","client":"a"}',
    b'{"op":"hello","broker":"N","identity":"n","algorithm":"covering","advertisements":false}',
    b'{"op":"update","subscribe":["x > 3"],"more":true}',
    b'{"op":"subscribe","filter":"x in [2, 5] and s prefix \\"a\\"","id":1,"ttl":5}',
    b'{"op":"replace","old":"x > 3","filter":"x > 5"}',
    b'{"op":"publish","n":{"x":3.5,"s":"abc","t":[1,2],"d":{"e":null}}}',
    b'{"op":"list","id":"q"}',
    b'{"op":"unsubscribe","filter":"x > 3"}',
    b'{"op":"welcome"}',
    b'{"op":"bye"}',
    b'{"op":"ping"}',
]


def mutated(draw: random.Random) -> bytes:
    """Some lines, some of them damaged."""
    lines = []
    for _ in range(draw.randrange(1, 12)):
        line = bytearray(draw.choice(SAMPLES))
        for _ in range(draw.choice([0, 0, 1, 2, 8])):
            kind, place = draw.randrange(4), draw.randrange(len(line) + 1)
            if kind == 0:
                line[place : place + 1] = draw.randbytes(1)
            elif kind == 1:
                line[place:place] = draw.choice(SAMPLES)[: draw.randrange(20)]
            elif kind == 2:
                del line[place : place + draw.randrange(1, 9)]
            else:
                line[place:place] = draw.choice([b"[" * 99, b'{"a":' * 99, b"9" * 400, b'"', b"\n"])
        lines.append(bytes(line))
    if draw.random() < 0.2:
        lines.append(draw.randbytes(draw.randrange(2_000)))
    return draw.choice([b"\n", b"\n", b"\r\n", b""]).join(lines) + draw.choice([b"\n", b""])


def fuzz(folder: Path, seconds: float, seed: int) -> int:
    """Send nonsense for so long; between, and after it, the broker serves."""
    draw = random.Random(seed)
    with processes(folder) as start:
        broker = start("A", "--max-line", "5000", "--state", str(folder / "a.db"))
        with broker.connect() as client:
            client.subscribe("exists serves")
            until, rounds = time.monotonic() + seconds, 0
            while time.monotonic() < until or not rounds:
                with socket.create_connection(("127.0.0.1", broker.port), PATIENCE) as stream:
                    for _ in range(draw.randrange(1, 5)):
                        try:
                            stream.sendall(mutated(draw))
                        except OSError:
                            break  # it was hung up on
                    if draw.random() < 0.7:
                        try:
                            stream.shutdown(socket.SHUT_WR)
                            while answer := stream.recv(1 << 16):
                                assert answer
                        except OSError:
                            pass
                rounds += 1
                if rounds % 50 == 0:
                    client.publish({"serves": rounds})
                    assert client.get(PATIENCE) == {"serves": rounds}
            client.publish({"serves": -1})
            assert client.get(PATIENCE) == {"serves": -1}
        assert json.loads(broker.get("/healthz"))["status"] == "ok"
        said = broker.said()
        assert "Traceback" not in said
        assert "fault" not in said
        assert broker.terminate() == 0
        return rounds


def test_bytes_that_mean_nothing_are_survived(tmp_path: Path) -> None:
    assert fuzz(tmp_path, 3.0, seed=1) > 10


@pytest.mark.slow
def test_bytes_that_mean_nothing_are_survived_for_a_minute(tmp_path: Path) -> None:
    print(fuzz(tmp_path, 60.0, seed=2), "connections")
