"""What a broker is started with, and what it refuses to be started with."""

from __future__ import annotations

import ipaddress
import resource
import socket
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from posetlib.routing import TOP, Router
from posetlib.routing.exchange import LOCAL

__all__ = [
    "A_NAME",
    "DEFAULT_PORT",
    "RESERVED_NAMES",
    "Limits",
    "RouterOptions",
    "Settings",
    "Tls",
    "is_loopback",
    "is_name",
]

DEFAULT_PORT: Final = 7420
# Files that a broker has open beside its connections: listeners, state, the loop's own.
_OTHER_FILES: Final = 64
_LONGEST_NAME: Final = 200
#: What a name is, for people.
A_NAME: Final = f"a printable text of 1 to {_LONGEST_NAME} characters"
#: Names that mean something else to a router.
RESERVED_NAMES: Final = frozenset({LOCAL, TOP})


def is_name(text: str) -> bool:
    """Return whether a client or a broker may have this name."""
    return 0 < len(text) <= _LONGEST_NAME and text.isprintable()


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, without asking anybody for its address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _connections_that_fit() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 10_000 if files == resource.RLIM_INFINITY else max(16, min(10_000, files - _OTHER_FILES))


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one connection may ask for."""

    #: Bytes of a line.
    line: int = 1 << 20
    #: Levels of nested objects and lists in a line, the line's own object included.
    depth: int = 32
    #: Bytes that wait for a client that does not read; it is cut off beyond.
    queue: int = 8 << 20
    #: The same for a neighbour. Who writes to it is held back long before that.
    link_queue: int = 64 << 20
    #: Bytes that wait for a neighbour before nothing is read that might be meant for it.
    high_water: int = 1 << 20
    #: Subscriptions and advertisements of one client, together.
    subscriptions: int = 10_000
    #: Lines in a row that make no sense, before the connection is closed.
    bad_lines: int = 10
    #: Connections at a time, neighbours included.
    connections: int = field(default_factory=_connections_that_fit)
    #: Clients with a name that are remembered while they are away.
    absent: int = 10_000


@dataclass(frozen=True, slots=True)
class Tls:
    """Files of certificates: one's own with its key, and that of whom to trust."""

    cert: Path | None = None
    key: Path | None = None
    ca: Path | None = None

    def for_listening(self) -> ssl.SSLContext | None:
        """Return how to listen, None for plain TCP."""
        if self.cert is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.cert, self.key)
        except OSError as error:  # which says neither which file, nor that it is about one
            raise ValueError(
                f"--tls-cert {self.cert} and --tls-key {self.key} cannot be used: {error}"
            ) from None
        return context

    def for_dialling(self) -> ssl.SSLContext | None:
        """Return how to call a neighbour, None for plain TCP."""
        if self.ca is None:
            return None
        try:
            return ssl.create_default_context(cafile=str(self.ca))
        except OSError as error:
            raise ValueError(f"--tls-ca {self.ca} cannot be used: {error}") from None


@dataclass(frozen=True, slots=True)
class RouterOptions:
    """What the router is made with."""

    table: str = "fp"
    advertisements: bool = False
    merging: str | None = None
    forwards: str = "exact"
    master: str | None = None
    algorithm: str = "covering"

    def make(self) -> Router:
        """Return the router; ValueError says which options do not go together.

        Its neighbours come and go with their links, and so does the master.
        """
        self._router([] if self.master is None else [self.master], self.master)
        return self._router([], None)

    def _router(self, neighbours: list[str], master: str | None) -> Router:
        return Router(
            neighbours,
            self.table,
            self.advertisements,
            self.merging,
            self.forwards,
            master,
            algorithm=self.algorithm,
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a broker is started with."""

    name: str | None = None
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    #: Addresses of neighbours, by the names they have here.
    neighbours: dict[str, tuple[str, int]] = field(default_factory=dict)
    #: The port of the pages for people and machines that watch, on loopback; None for no pages.
    http: int | None = None
    state: Path | None = None
    tls: Tls = field(default_factory=Tls)
    token: str | None = None
    router: RouterOptions = field(default_factory=RouterOptions)
    #: Whether clients may move between the brokers of the network.
    moves: bool = False
    limits: Limits = field(default_factory=Limits)
    #: Seconds of silence after which the other end is asked whether it is there; after twice as
    #: many it is not.
    keepalive: float = 15.0
    #: Seconds that a client with a name is remembered after it left.
    keep: float = 86_400.0
    #: Seconds that a client that moved here waits for what its last broker has for it.
    handover: float = 30.0
    #: Seconds that the end may take.
    drain: float = 10.0
    #: Seconds between attempts to reach a neighbour: the first, and the most.
    retry_first: float = 0.2
    retry_most: float = 15.0

    def check(self) -> None:
        """Raise ValueError for what is not safe, or does not go together."""
        for name, option in ((self.name, "--name"), *((n, "--neighbour") for n in self.neighbours)):
            if name is not None and (not is_name(name) or name in RESERVED_NAMES):
                raise ValueError(f"{option} {name!r}: the name of a broker is {A_NAME}")
        if self.moves and self.name is None:
            raise ValueError("--moves needs --name: clients say by it where they were")
        if (self.tls.cert is None) != (self.tls.key is None):
            raise ValueError("--tls-cert and --tls-key go together: give both")
        for port, option in ((self.port, "--port"), (self.http, "--http")):
            if port is not None and not 0 <= port <= 65_535:
                raise ValueError(f"{option} is a number from 0 to 65535, not {port}")
        for seconds, option in (
            (self.keepalive, "--keepalive"),
            (self.handover, "--handover"),
            (self.retry_first, "--retry-first"),
            (self.retry_most, "--retry-most"),
        ):
            if not seconds > 0:
                raise ValueError(f"{option} is a positive number of seconds, not {seconds}")
        for seconds, option in ((self.keep, "--keep"), (self.drain, "--drain")):
            if not seconds >= 0:
                raise ValueError(f"{option} is a number of seconds of 0 or more, not {seconds}")
        if not is_loopback(self.host):
            missing = [
                option
                for option, there in (
                    ("--tls-cert and --tls-key", self.tls.cert),
                    ("a token (--token-file, or POSETLIB_BROKER_TOKEN)", self.token),
                )
                if not there
            ]
            if missing:
                raise ValueError(
                    f"--host {self.host or repr('')} can be reached from other machines: give "
                    f"{' and '.join(missing)}, or stay on 127.0.0.1"
                )
        for name, (host, _) in self.neighbours.items():
            if not is_loopback(host):
                missing = [
                    option
                    for option, there in (
                        ("--tls-ca", self.tls.ca),
                        ("a token (--token-file, or POSETLIB_BROKER_TOKEN)", self.token),
                    )
                    if not there
                ]
                if missing:
                    raise ValueError(
                        f"the neighbour {name} at {host} is on another machine: give "
                        f"{' and '.join(missing)}"
                    )

    def name_at(self, port: int) -> str:
        """Return the broker's own name: the given one, or its machine and port."""
        return self.name or f"{socket.gethostname()}:{port}"
