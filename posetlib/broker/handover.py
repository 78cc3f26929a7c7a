"""The lines of a handover between brokers: how they are written and read; docs/broker.md has them.

What the protocol calls direct goes hop by hop as well, so that brokers need no other connections
than those of the tree. Direct messages may arrive in any order, so theirs is as good as any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from posetlib.broker.protocol import RefusedError, filter_of, message, read_name
from posetlib.filters.filter import Filter
from posetlib.routing import Update
from posetlib.routing.mobility.messages import Done, Relocate

__all__ = [
    "BYTES_PER_LINE",
    "OPS",
    "lines_of",
    "lines_of_handover",
    "queue_lines",
    "read_epoch",
    "read_handover",
    "read_names",
    "read_texts",
]

#: What brokers tell one another of clients that move, and of the ways between them.
OPS: Final = frozenset({"brokers", "done", "relocate", "session"})
#: Longer lists travel as several lines, of about this many bytes of list elements each.
BYTES_PER_LINE: Final = 32_768
_LARGEST_EPOCH: Final = 1 << 53
_T = TypeVar("_T")


def lines_of(update: Update, *, more: bool = False) -> Iterator[bytes]:
    """Yield an update as one line or several; the last one says that it is all there.

    With ``more`` it is not: the line of a handover that follows is one message with the update.

    >>> from posetlib.filters.parsing import parse_filter
    >>> list(lines_of(Update("I1", subscribe=(parse_filter("x > 3"),))))
    [b'{"op":"update","subscribe":["x > 3"]}']
    """
    parts = update.to_dict()
    chunks = list(_chunks((part, text) for part in parts for text in parts[part]))
    for i, chunk in enumerate(chunks):
        fields = {part: [text for of, text in chunk if of == part] for part, _ in chunk}
        yield message("update", more=more or i + 1 < len(chunks) or None, **fields)


def _chunks(pairs: Iterable[tuple[_T, str]]) -> Iterator[list[tuple[_T, str]]]:
    """Yield pairs in lists of bounded size; one empty list if there is none."""
    chunk: list[tuple[_T, str]] = []
    size = 0
    for pair in pairs:
        if size > BYTES_PER_LINE:
            yield chunk
            chunk, size = [], 0
        chunk.append(pair)
        size += len(pair[1])
    yield chunk


def lines_of_handover(each: Relocate | Done) -> Iterator[bytes]:
    """Yield a message on the way, behind the update that it is one with."""
    if each.update is not None:
        yield from lines_of(each.update, more=True)
    about = {"session": each.client, "epoch": each.epoch}
    about |= {"source": each.source, "target": each.target}
    if isinstance(each, Done):
        yield message("done", **about, publisher=each.is_for_publisher or None)
    else:
        filters = {
            "subscribe": [str(one) for one in each.subscriptions] or None,
            "advertise": [str(one) for one in each.advertisements] or None,
        }
        yield message("relocate", **about, **filters)


def read_handover(data: Mapping[str, Any], parts: Mapping[str, Any], to: str) -> Relocate | Done:
    """Return a message on the way; ``parts`` are those of the update that came ahead of it."""
    update = Update.from_dict(parts, to, read=filter_of) if parts else None
    client, source, target = read_names(data, "session", "source", "target")
    epoch = read_epoch(data)
    if data["op"] == "done":
        return Done(
            *("update", client, epoch, source, target),
            is_for_publisher=data.get("publisher") is True,
            update=update,
        )
    return Relocate(
        *("update", client, epoch, source, target),
        subscriptions=read_texts(data, "subscribe"),
        advertisements=read_texts(data, "advertise"),
        update=update,
    )


def queue_lines(
    client: str, epoch: int, target: str, notes: Iterable[bytes], **last: Any
) -> Iterator[bytes]:
    """Yield the queue of a session for the broker that has the next one.

    Each notification is the text of its line, which no broker on the way has to read. ``last`` are
    fields of the last line.
    """
    about = {"session": client, "epoch": epoch, "target": target}
    chunks = list(_chunks((None, note.decode()) for note in notes))
    for i, chunk in enumerate(chunks):
        fields = {"more": True} if i + 1 < len(chunks) else last
        yield message("session", **about, notes=[text for _, text in chunk], **fields)


def read_names(data: Mapping[str, Any], *fields: str) -> list[str]:
    """Return names, all of which are needed."""
    found = []
    for field in fields:
        name = read_name(data, field)
        if name is None:
            raise RefusedError("field", f"{data.get('op')} needs {field!r}, a name")
        found.append(name)
    return found


def read_epoch(data: Mapping[str, Any]) -> int:
    """Return the number of a stay."""
    epoch = data.get("epoch")
    if isinstance(epoch, bool) or not isinstance(epoch, int) or not 0 <= epoch < _LARGEST_EPOCH:
        raise RefusedError("field", "'epoch' is a whole number of 0 or more, below 2**53")
    return epoch


def read_texts(data: Mapping[str, Any], field: str) -> tuple[Filter, ...]:
    """Return the filters of a field, none if it is not there."""
    texts = data.get(field, [])
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise RefusedError("field", f"{field!r} is a list of filters, as texts")
    try:
        return tuple(map(filter_of, texts))
    except (ValueError, RecursionError) as wrong:
        raise RefusedError("filter", f"{field!r} has no filter: {wrong}") from None
