"""The table of a broker that runs, asked for over HTTP."""

from __future__ import annotations

import http.client
import ipaddress
import urllib.error
import urllib.request
from typing import Any, NamedTuple

from browser.config import Limits
from browser.sources import SourceError

__all__ = ["Address", "read_address", "table_of"]


class Address(NamedTuple):
    """Where a broker answers."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str, *, remote: bool = False) -> Address:
    """Read HOST:PORT; ValueError for what is none, and unless ``remote``, for another machine.

    >>> read_address("127.0.0.1:7001")
    Address(host='127.0.0.1', port=7001)
    """
    host, colon, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or any(each.isspace() or each in "/@?#%" for each in host):
        raise ValueError(f"{text!r} is no address: HOST:PORT is, such as 127.0.0.1:7001")
    if not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 1 << 16):
        raise ValueError(f"{text!r} has no port: that is a number from 1 to 65,535")
    if not remote and not _is_here(host):
        raise ValueError(
            f"{host} is not this machine (127.0.0.1, ::1, localhost): a table shows what others "
            "subscribe to; --remote-broker allows it"
        )
    return Address(host, int(port))


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the table is at the address that was given, or nowhere."""

    def redirect_request(self, *_arguments: Any, **_options: Any) -> None:
        return None


def table_of(address: Address, limits: Limits) -> bytes:
    """Return the snapshot that a broker answers with; SourceError says why there is none."""
    # No proxy: what the machine is set up to use for the web does not lead to a broker.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())
    try:
        with opener.open(f"http://{address}/table", timeout=limits.broker_seconds) as answer:
            content: bytes = answer.read(limits.broker_bytes + 1)
    except urllib.error.HTTPError as error:
        with error:
            reason = f"answers {error.code} where its table should be"
        raise SourceError(f"the broker at {address} {reason}: is it a broker's /table?") from None
    except TimeoutError:
        raise SourceError(
            f"the broker at {address} did not answer within {limits.broker_seconds:g} seconds"
        ) from None
    except (OSError, http.client.HTTPException) as error:
        why = error.reason if isinstance(error, urllib.error.URLError) else error
        raise SourceError(f"the broker at {address} does not answer: {why}") from None
    if len(content) > limits.broker_bytes:
        raise SourceError(
            f"the broker at {address} has a table of more than {limits.broker_bytes:,} bytes, "
            "which is more than the page takes"
        )
    return content
