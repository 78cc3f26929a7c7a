"""A walk through three broker processes under load, one of them killed now and then."""

from __future__ import annotations

import random
import threading
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

from posetlib.broker.client import Client, connect
from posetlib.errors import BrokerError

from .running import PATIENCE, BrokerProcess, processes, wait_until


class Load:
    """Publishes numbers at a fixed rate, at one broker; connects again when that is killed."""

    def __init__(self, broker: BrokerProcess, rate: float) -> None:
        self._broker = broker
        self._pause = 1 / rate
        self.published: list[int] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        number, client = 0, None
        while not self._over.wait(self._pause):
            number += 1
            try:
                if client is None:
                    client = connect(f"127.0.0.1:{self._broker.port}", timeout=PATIENCE)
                client.publish({"i": number})
            except BrokerError:
                if client is not None:
                    client.close()
                client = None
            else:
                self.published.append(number)
        if client is not None:
            client.close()

    def stop(self) -> None:
        """Let all that was published be with the broker."""
        self._over.set()
        self._thread.join(PATIENCE)


class Walk(NamedTuple):
    """What came of a walk."""

    published: int
    #: Published while a broker was dead, or was not linked again.
    excused: int
    missed: list[int]
    #: In the order in which they came.
    got: list[int]
    queued: int


class Walker:
    """The client that walks, and the numbers it got."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.client: Client = connect(
            f"127.0.0.1:{broker.port}", session="walker", timeout=PATIENCE
        )
        self.got: list[int] = []

    def read_past(self, number: int) -> None:
        """Read until a number came that is not smaller."""
        until = time.monotonic() + PATIENCE
        while not self.got or self.got[-1] < number:
            assert time.monotonic() < until, f"{number} has not come; the last is {self.got[-1:]}"
            found = self.client.get(1)
            if found is not None:
                self.got.append(found["i"])

    def move(self, broker: BrokerProcess, *, away: float = 0, settle: bool = True) -> None:
        if away:
            self.client.close()
            time.sleep(away)
        wait_until(partial(self._is_welcome, broker), "the way between the brokers")
        if settle:
            assert self.client.wait_settled(PATIENCE) == {"missed": 0, "without": None}

    def _is_welcome(self, broker: BrokerProcess) -> bool:
        """Move, unless the broker does not know the last one yet, as after its own restart."""
        try:
            self.client.move(f"127.0.0.1:{broker.port}")
        except BrokerError as error:
            if error.code != "unknown-broker":
                raise
            return False
        return True


def walk(folder: Path, moves: int, kill_after: frozenset[int], seed: int) -> Walk:
    """Walk at random through a line of three; a broker is killed after some of the moves."""
    draw = random.Random(seed)
    with processes(folder) as start:
        m = start("m", "--moves", "--state", str(folder / "m.db"))
        near = ("--moves", "--neighbour", f"m=127.0.0.1:{m.port}", "--state")
        a, b = (start(name, *near, str(folder / f"{name}.db")) for name in "ab")
        brokers = [a, m, b]
        wait_until(lambda: all(each.health()["neighbours"] for each in brokers), "they are linked")
        wait_until(lambda: len(m.health()["neighbours"]) == 2, "both")
        walker, load = Walker(b), Load(a, 200)
        walker.client.subscribe("exists i")
        walker.read_past(1)
        excused = [(0, walker.got[-1])]
        at, victims = b, 0
        for turn in range(1, moves + 1):
            at = draw.choice([each for each in brokers if each is not at])
            last = turn == moves or turn in kill_after
            settle = last or draw.random() < 0.7
            walker.move(at, away=draw.choice([0, 0.05, 0.2]), settle=settle)
            time.sleep(draw.choice([0, 0.05, 0.2, 0.4]))
            if turn not in kill_after:
                continue
            walker.read_past(load.published[-1])
            before = walker.got[-1]
            victim = brokers[victims % 3]
            victims += 1
            victim.kill()
            victim.start()
            if victim is at:
                # Its session is in the state file there; it is taken over from another place.
                at = draw.choice([each for each in brokers if each is not victim])
                walker.move(at)
            # Not what was published before the end: that may still come, and tells nothing.
            walker.read_past(load.published[-1] + 1)
            excused.append((before + 1, walker.got[-1]))
        load.stop()
        walker.read_past(load.published[-1])
        queued = sum(_metric(each, "notifications_queued_total") for each in brokers)
        sessions = [_metric(each, "sessions") for each in brokers]
        walker.client.close()
        assert sum(sessions) == 1, sessions
        assert not any("Traceback" in each.said() for each in brokers)
        for each in brokers:
            assert each.terminate() == 0
    got = set(walker.got)
    due = [
        number
        for number in load.published
        if not any(first <= number < end for first, end in excused)
    ]
    return Walk(
        len(load.published),
        len(load.published) - len(due),
        [number for number in due if number not in got],
        walker.got,
        queued,
    )


def _metric(broker: BrokerProcess, name: str) -> int:
    for line in broker.get("/metrics").decode().splitlines():
        if line.startswith(f"posetlib_broker_{name} "):
            return int(float(line.split()[1]))
    raise AssertionError(name)
