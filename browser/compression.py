"""Answers in fewer bytes, for whoever can unpack them."""

from __future__ import annotations

import gzip
import hashlib
from typing import Any, Final

from flask import Response, request

from browser.cache import Cache

__all__ = ["compress_answers"]

#: Answers below so many bytes are sent as they are; a packet takes no less time.
_LEAST: Final = 1_000
_LEVEL: Final = 6
#: Bytes of compressed files that are kept: scripts and styles, the same for everybody.
_KEPT: Final = 16 << 20
_TYPES: Final = ("text/", "application/json", "application/javascript", "image/svg+xml")


def compress_answers(server: Any) -> None:
    """Let a server compress what it sends, once for each file that never changes."""
    kept: Cache[bytes] = Cache(_KEPT, len)

    def compress(response: Response) -> Response:
        if not _can_be(response):
            return response
        response.headers["Vary"] = "Accept-Encoding"
        if not request.accept_encodings["gzip"]:
            return response
        response.direct_passthrough = False  # files are read here, and not by the server
        data = response.get_data()
        if len(data) < _LEAST:
            return response
        if request.method == "GET":
            key = hashlib.blake2b(data).digest()
            packed = kept.made(key, lambda: gzip.compress(data, _LEVEL, mtime=0))
        else:
            packed = gzip.compress(data, _LEVEL, mtime=0)
        response.set_data(packed)
        response.headers["Content-Encoding"] = "gzip"
        etag, weak = response.get_etag()
        if etag is not None and not weak:
            response.set_etag(etag, weak=True)  # the same meaning, other bytes
        return response

    server.after_request(compress)


def _can_be(response: Response) -> bool:
    return (
        response.status_code == 200
        and "Content-Encoding" not in response.headers
        and (response.mimetype or "").startswith(_TYPES)
    )
