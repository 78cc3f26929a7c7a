"""TLS and the token: refused without, where a broker leaves loopback; and served with."""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from posetlib.broker.client import connect_async
from posetlib.broker.settings import Settings, Tls, is_loopback
from posetlib.errors import BrokerError

from .running import Wire, hello_of_a_broker, run, serving, until

TOKEN = "a token ü"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    cert, key, ca = folder / "cert.pem", folder / "key.pem", folder / "ca.pem"
    cert.write_bytes(b"".join(each.bytes() for each in certificate.cert_chain_pems))
    key.write_bytes(certificate.private_key_pem.bytes())
    authority.cert_pem.write_to_path(ca)
    return Tls(cert, key, ca)


SOME = Tls(Path("cert"), Path("key"), Path("ca"))
FAR = {"B": ("broker.example", 7420)}


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"host": "0.0.0.0"}, "--tls-cert and --tls-key and a token"),
        ({"host": ""}, "--tls-cert and --tls-key and a token"),
        ({"host": "::", "token": "x"}, "give --tls-cert and --tls-key, or stay on 127.0.0.1"),
        ({"host": "192.0.2.1", "tls": SOME}, "give a token"),
        ({"host": "broker.example", "tls": SOME}, "give a token"),
        ({"neighbours": FAR}, "the neighbour B at broker.example .* --tls-ca and a token"),
        ({"neighbours": FAR, "token": "x"}, "give --tls-ca"),
        ({"neighbours": FAR, "tls": SOME}, "give a token"),
        ({"tls": Tls(cert=Path("cert"))}, "--tls-cert and --tls-key go together"),
    ],
)
def test_what_leaves_loopback_is_refused_without(settings: dict[str, Any], missing: str) -> None:
    with pytest.raises(ValueError, match=missing):
        Settings(**settings).check()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"host": "localhost"},
        {"host": "::1"},
        {"host": "0.0.0.0", "tls": SOME, "token": "x"},
        {"neighbours": {"B": ("127.0.0.9", 1)}},
        {"neighbours": FAR, "tls": SOME, "token": "x"},
    ],
)
def test_what_stays_or_has_both_is_not(settings: dict[str, Any]) -> None:
    Settings(**settings).check()


def test_a_name_that_only_looks_like_loopback_is_not() -> None:
    names = ("127.0.0.1.example", "localhost.example", "0.0.0.0", "", "::", "127.1.example")
    assert not any(map(is_loopback, names))


@pytest.mark.parametrize(
    "first",
    [
        {"op": "hello", "client": "alice"},
        {"op": "hello", "client": "alice", "token": TOKEN + "x"},
        {"op": "hello", "client": "alice", "token": ["a"]},
        {"op": "hello", "client": "alice", "token": "\ud800"},
        {"op": "publish", "n": {"x": 1}},
        {"op": "subscribe", "filter": "x > 3", "id": 1},
        hello_of_a_broker(),
        hello_of_a_broker(token="wrong"),
    ],
)
def test_without_the_token_nobody_is_served(first: dict[str, Any]) -> None:
    async def main() -> None:
        async with serving(token=TOKEN) as broker:
            wire = await Wire.open(broker.port)
            wire.send(first, {"op": "subscribe", "filter": "x > 3", "id": 2})
            rest = await wire.rest()
            assert {each["op"] for each in rest} == {"error"}
            assert rest[-1]["code"] in {"token", "hello", "line"} or len(rest) == 2
            assert len(broker.router.table) == broker.metrics.received == len(broker.links) == 0

    run(main())


def test_with_token_and_tls_clients_and_neighbours_are_served(files: Tls) -> None:
    async def main() -> None:
        async with serving(name="A", tls=files, token=TOKEN, host="127.0.0.1") as a:
            port = a.port
            async with serving(
                name="B", tls=files, token=TOKEN, neighbours={"A": ("127.0.0.1", port)}
            ) as b:
                trusting = ssl.create_default_context(cafile=str(files.ca))
                async with (
                    await connect_async(f"127.0.0.1:{b.port}", "alice", TOKEN, trusting) as alice,
                    await connect_async(f"127.0.0.1:{port}", None, TOKEN, trusting) as bob,
                ):
                    await alice.subscribe("x > 3")
                    await until(lambda: len(a.router.table) == 1, "it is known")
                    await bob.publish({"x": 1}, {"x": 5})
                    async for notification in alice:
                        assert notification == {"x": 5}
                        break
                # Without TLS there is no answer, and with another authority no trust.
                plain = await Wire.open(port)
                plain.send({"op": "hello", "token": TOKEN})
                with contextlib.suppress(ConnectionError):
                    assert await plain.reader.read() == b""
                with pytest.raises(BrokerError, match=r"certificate|CERTIFICATE"):
                    await connect_async(
                        f"127.0.0.1:{port}", None, TOKEN, ssl.create_default_context()
                    )

    run(main())


def test_a_neighbour_with_another_token_is_not_linked() -> None:
    async def main() -> None:
        async with (
            serving(name="A", token=TOKEN) as a,
            serving(name="B", token="other", neighbours={"A": ("127.0.0.1", a.port)}) as b,
        ):
            await until(lambda: b.links.attempts >= 3, "it tried")
            assert len(a.links) == len(b.links) == 0

    run(main())
