"""Notifications from text, whatever their data model; and notifications as text again.

Jobs read files with it, and the browser reads what somebody pastes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from typing import Any, Final

from posetlib.errors import DocumentError
from posetlib.models.documents import Document, read_xml
from posetlib.models.tuples import tuple_record
from posetlib.values import element_key

__all__ = [
    "DOCUMENT",
    "NestedRecord",
    "notification_text",
    "read_documents",
    "read_notification",
    "xml_value",
]

#: The attribute of a document that is a notification by itself.
DOCUMENT: Final = "doc"
#: The key that marks a document in XML inside a notification in JSON.
_XML_KEY: Final = "$xml"


class NestedRecord(Mapping[str, Any]):
    """A nested object of a notification: a mapping that cannot be changed, and a document.

    It is made a document when a path first asks for it, and once.

    >>> record = NestedRecord({"item": {"id": 5}})
    >>> record["item"], Document.of(record) is Document.of(record)
    ({'id': 5}, True)
    """

    __slots__ = ("_document", "_record")

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._record: Final = dict(record)
        self._document: Document | None = None

    def as_document(self) -> Document:
        """Return the document; DocumentError if it is too large to be one."""
        if self._document is None:
            self._document = Document.of(self._record)
        return self._document

    def __getitem__(self, name: str) -> Any:
        return self._record[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._record)

    def __len__(self) -> int:
        return len(self._record)

    def __repr__(self) -> str:
        return repr(self._record)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (NestedRecord, (self._record,))


def read_notification(text: str | bytes, *, document: str = DOCUMENT) -> dict[str, Any]:
    """Return the notification of a text: a record or a tuple in JSON, a tuple, or XML.

    A JSON object is a record, and a value ``{"$xml": "…"}`` in it is a document in XML. An array,
    or values in parentheses, are a tuple. What begins with ``<`` is a document in XML: the value
    of one attribute, ``document``. ValueError says what is wrong with anything else.

    >>> read_notification('{"type": "order", "doc": {"$xml": "<item/>"}}')["doc"]
    <Document: 1 nodes, item>
    >>> read_notification('("StockQuote", 45)')
    {'_len': 2, '_0': 'StockQuote', '_1': 45}
    >>> read_notification("<item/>", document="order")
    {'order': <Document: 1 nodes, item>}
    """
    start = text.lstrip()[:1]
    if start in ("<", b"<"):
        return {document: read_xml(text.strip())}
    written = _as_array(text) if start in ("(", b"(") else text
    try:
        data = json.loads(written)
    except RecursionError:
        raise DocumentError("nested too deeply to be read") from None
    if isinstance(data, list):
        return read_documents(tuple_record(data))
    if not isinstance(data, dict):
        raise DocumentError("a notification is a JSON object, a tuple, or a document in XML")
    return read_documents(data)


def _as_array(text: str | bytes) -> str:
    """Return a tuple in parentheses as a JSON array; what is no tuple is no JSON either."""
    written = (text.decode("utf-8") if isinstance(text, bytes) else text).strip()
    if not written.endswith(")"):
        raise DocumentError("a tuple ends with )")
    # A single value in a tuple may have a comma after it, as in Python.
    inner = written[1:-1].rstrip()
    return f"[{inner.removesuffix(',') or inner}]"


def read_documents(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record from JSON with its documents: those in XML, and nested objects.

    >>> read_documents({"pos": {"x": 5}, "doc": {"$xml": "<item/>"}})
    {'pos': {'x': 5}, 'doc': <Document: 1 nodes, item>}
    """
    return {
        name: _document_in(name, value) if type(value) is dict else value
        for name, value in record.items()
    }


def _document_in(name: str, value: dict[str, Any]) -> Any:
    if value.keys() != {_XML_KEY}:
        return NestedRecord(value)
    text = value[_XML_KEY]
    if not isinstance(text, str):
        raise DocumentError(f"{name}: {_XML_KEY!r} has the text of a document")
    try:
        return read_xml(text)
    except DocumentError as error:
        raise DocumentError(f"{name}: {error}") from None


def xml_value(document: Document) -> dict[str, str]:
    """Return a document as it stands in a notification in JSON."""
    return {_XML_KEY: document.to_xml()}


def notification_text(notification: Mapping[str, Any]) -> str:
    """Return a notification as JSON, as ``read_notification`` reads it; ValueError if it has none.

    >>> notification_text({"x": {2, 1}, "doc": read_xml("<item>5</item>")})
    '{"x": [1, 2], "doc": {"$xml": "<item>5</item>"}}'
    """
    return json.dumps(dict(notification), default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return a value that JSON does not have as one that it has."""
    if isinstance(value, Document):
        return xml_value(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return sorted(value, key=element_key)
    raise ValueError(f"{value!r} cannot be written: JSON has no such value")
