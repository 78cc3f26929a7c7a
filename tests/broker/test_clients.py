"""The clients for programs, and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from posetlib.broker import commands
from posetlib.broker.client import connect, connect_async, read_address
from posetlib.broker.commands import main as command
from posetlib.errors import BrokerError
from posetlib.filters.parsing import parse_filter

from .running import BrokerProcess, processes, run, serving, wait_until


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    with processes(tmp_path_factory.mktemp("broker")) as start:
        yield start("A", "--advertisements")


def test_the_sync_client(broker: BrokerProcess) -> None:
    with broker.connect("alice") as alice, broker.connect() as bob:
        alice.subscribe(parse_filter("x > 3"))
        alice.subscribe("y = 1")
        bob.advertise("exists x")
        bob.publish({"x": 1}, {"x": 5}, {"x": 7, "s": "ü"})
        assert [alice.get(60), alice.get(60)] == [{"x": 5}, {"x": 7, "s": "ü"}]
        alice.replace("x > 3", "x > 8")
        alice.unsubscribe("y = 1")
        bob.publish({"x": 8}, {"x": 9})
        assert next(iter(alice)) == {"x": 9}
        assert alice.get(0.01) is None
        with pytest.raises(BrokerError, match="column") as refused:
            alice.subscribe("x >")
        assert refused.value.code == "filter"
        bob.unadvertise("exists x")
        alice.ask("forget")
    with pytest.raises(BrokerError):
        alice.subscribe("x > 3")
    assert list(alice) == []


def test_a_client_that_closes_has_published_all(broker: BrokerProcess) -> None:
    with broker.connect() as alice:
        alice.subscribe("exists i")
        with broker.connect() as bob:
            bob.advertise("exists i")
            bob.publish(*({"i": i} for i in range(5_000)))
        assert [alice.get(60) for _ in range(5_000)] == [{"i": i} for i in range(5_000)]


def test_the_async_client() -> None:
    async def main() -> None:
        async with serving() as broker:
            address = f"127.0.0.1:{broker.port}"
            alice = await connect_async(address, "alice")
            async with await connect_async(address) as bob:
                await alice.subscribe("x > 3")
                await alice.replace("x > 3", "x > 4")
                await bob.publish({"x": 4}, {"x": 5})
                assert await anext(aiter(alice)) == {"x": 5}
                await alice.unsubscribe("x > 4")
                with pytest.raises(BrokerError, match="without advertisements"):
                    await bob.advertise("x > 3")
                with pytest.raises(BrokerError, match="without advertisements"):
                    await bob.unadvertise("x > 3")
            # The same name once more: the first connection is told why it ends.
            async with await connect_async(address, "alice"):
                with pytest.raises(BrokerError, match="connected once more"):
                    async for _ in alice:
                        pass
                with pytest.raises(BrokerError, match="connected once more"):
                    await alice.publish({"x": 1})
            await alice.close()

    run(main())


def test_a_broker_that_is_killed_is_an_error(tmp_path: Path) -> None:
    with processes(tmp_path) as start:
        broker = start("A")
        with broker.connect() as alice:
            alice.subscribe("x > 3")
            broker.kill()
            with pytest.raises(BrokerError, match="connection"):
                list(alice)
    with pytest.raises(BrokerError, match="no broker answers"):
        broker.connect()


@pytest.mark.parametrize("text", ["", "host", ":1", "host:", "host:x", "host:99999", "host:-1"])
def test_an_address_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        read_address(text)


def test_the_command_line(broker: BrokerProcess, tmp_path: Path) -> None:
    address = f"127.0.0.1:{broker.port}"
    module = [sys.executable, "-m", "posetlib.broker"]
    heard = tmp_path / "heard"
    with heard.open("wb") as output:
        subscriber = subprocess.Popen(
            [*module, "subscribe", "--broker", address, "--count", "3", "x > 3", 's = "ü"'],
            stdout=output,
            stderr=subprocess.PIPE,
        )
    try:
        assert subscriber.stderr is not None
        assert subscriber.stderr.readline() == b"subscribed\n"
        publish = [*module, "publish", "--broker", address, "--advertise", "true"]
        subprocess.run([*publish, '{"x": 1}', '{"x": 5}'], check=True)
        subprocess.run([*publish], input='{"s": "ü"}\n\n{"x": 7}\n'.encode(), check=True)
        assert subscriber.wait(60) == 0
        subscriber.stderr.close()
    finally:
        subscriber.kill()
        subscriber.wait()
    assert heard.read_text("utf-8") == '{"x": 5}\n{"s": "ü"}\n{"x": 7}\n'


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--host", "0.0.0.0"], 2, "--host 0.0.0.0 can be reached from other machines: give --tls"),
        (["--neighbour", "B"], 2, "--neighbour is NAME=HOST:PORT, not 'B'"),
        (["--neighbour", "B=host"], 2, "an address is HOST:PORT"),
        (["--neighbour", "B=a:1", "--neighbour", "B=b:1"], 2, "given twice"),
        (["--token-file", "no such file"], 2, "no such file"),
        (["--keepalive", "0"], 2, "--keepalive is a positive number"),
        (["--name", ""], 2, "--name '': the name of a broker is a printable text"),
        (["--neighbour", "(top)=127.0.0.1:1"], 2, "--neighbour '(top)': the name of a broker"),
        (["--keep", "nan"], 2, "--keep is a number of seconds of 0 or more"),
        (["--drain", "-1"], 2, "--drain is a number of seconds of 0 or more"),
        (["--port", "65536"], 2, "--port is a number from 0 to 65535, not 65536"),
        (["--port", "0", "--http", "-1"], 2, "--http is a number from 0 to 65535, not -1"),
        (["--port", "0", "--tls-ca", "no such file"], 2, "--tls-ca no such file cannot be used"),
        (
            ["--port", "0", "--tls-cert", "no such file", "--tls-key", "nor this"],
            2,
            "--tls-cert no such file and --tls-key nor this cannot be used",
        ),
        (["--algorithm", "simple", "--merging", "perfect"], 2, "simple does not merge"),
        (["--master", "M", "--advertisements"], 2, "no use for advertisements"),
        (["publish", "--broker", "127.0.0.1:1", "{}"], 1, "no broker answers at 127.0.0.1:1"),
        (["publish", "--broker", "nowhere", "{}"], 2, "HOST:PORT"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(arguments) == status
    assert said in capsys.readouterr().err


def test_a_notification_that_is_none_is_refused(
    broker: BrokerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("nonsense", "[1]"):
        assert command(["publish", "--broker", f"127.0.0.1:{broker.port}", text]) == 2
        assert "a notification is a JSON object" in capsys.readouterr().err


TOO_DEEP = '{"a":' * 40 + "1" + "}" * 40


def test_a_refused_publication_is_told_and_the_others_arrive(
    broker: BrokerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    """It used to end the client's talk in silence, and ``publish`` of the command said 0."""
    with broker.connect() as alice:
        alice.subscribe("exists i")
        bob = broker.connect()
        bob.advertise("exists i")
        bob.publish(json.loads(TOO_DEEP), *({"i": i} for i in range(3_000)))
        with pytest.raises(BrokerError, match="nested deeper"):
            bob.close()
        assert [alice.get(60) for _ in range(3_000)] == [{"i": i} for i in range(3_000)]
        address = f"127.0.0.1:{broker.port}"
        arguments = ["--broker", address, "--advertise", "exists i"]
        assert command(["publish", *arguments, TOO_DEEP, '{"i": -1}']) == 1
        assert "nested deeper" in capsys.readouterr().err
        assert alice.get(60) == {"i": -1}


def test_a_refusal_that_arrives_between_two_publications_costs_neither() -> None:
    """The command left out what it was about to publish when it was told of an earlier refusal."""

    class Told:
        def __init__(self) -> None:
            self.sent: list[object] = []
            self.refused = [BrokerError("nested deeper than 8 levels")]

        def publish(self, notification: object) -> None:
            if self.sent and self.refused:
                raise self.refused.pop()
            self.sent.append(notification)

    client = Told()
    texts = ('{"i": 1}', '{"i": 2}', '{"i": 3}')
    found = [commands._published(client, text) for text in texts]  # type: ignore[arg-type]
    assert client.sent == [{"i": 1}, {"i": 2}, {"i": 3}]
    assert [str(each) for each in found if each] == ["nested deeper than 8 levels"]


def test_a_refused_publication_is_told_to_the_async_client() -> None:
    async def main() -> None:
        async with serving() as broker:
            address = f"127.0.0.1:{broker.port}"
            bob = await connect_async(address)
            await bob.publish(json.loads(TOO_DEEP))
            await bob.subscribe("x > 3")  # the connection goes on
            with pytest.raises(BrokerError, match="nested deeper"):
                await bob.publish({"x": 4})
            await bob.publish(json.loads(TOO_DEEP))
            with pytest.raises(BrokerError, match="nested deeper"):
                await bob.close()

    run(main())


def test_what_json_does_not_have_is_refused_before_it_is_sent(broker: BrokerProcess) -> None:
    with broker.connect() as alice, broker.connect() as bob:
        alice.subscribe("exists t")
        bob.advertise("exists t")
        with pytest.raises(ValueError, match="cannot be written as JSON"):
            bob.publish({"t": float("nan")})
        with pytest.raises(TypeError, match="JSON has no object"):
            bob.publish({"t": object()})
        bob.publish({"t": {2}})  # a set is a list there
        assert alice.get(60) == {"t": [2]}


def test_a_port_that_is_taken_and_a_state_file_that_is_none(
    broker: BrokerProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["--port", str(broker.port)]) == 2
    assert "address already in use" in capsys.readouterr().err
    state = tmp_path / "state"
    state.write_text("no database " * 100, "utf-8")
    assert command(["--port", "0", "--state", str(state)]) == 2
    assert "the state file" in capsys.readouterr().err


WITHOUT = """
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == sys.argv[1]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from posetlib.broker.commands import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("missing", ["msgspec", "prometheus_client"])
def test_without_the_extra_it_says_what_to_install(missing: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, missing, "--port", "0"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 2
    assert f"{missing} is not installed" in done.stderr
    assert "pip install 'posetlib[broker]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_signal_drains_and_ends(tmp_path: Path) -> None:
    with processes(tmp_path) as start:
        broker = start("A", "--drain", "30")
        with broker.connect() as alice, broker.connect() as bob:
            alice.subscribe("exists i")
            bob.publish(*({"i": i} for i in range(20_000)))
            # Whatever was accepted arrives; that is a start of what was sent.
            wait_until(lambda: b"received_total 0.0" not in broker.get("/metrics"), "some")
            assert broker.terminate() == 0
            found: list[int] = []
            with pytest.raises(BrokerError, match="the broker ends"):
                found.extend(each["i"] for each in alice)
            assert found == list(range(len(found)))
            assert found
        assert "Traceback" not in broker.said()
    with pytest.raises(BrokerError):
        connect(f"127.0.0.1:{broker.port}")
