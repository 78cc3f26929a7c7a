"""Documents: trees of named nodes with a record each, read from XML or from nested mappings.

A document has a virtual root with any number of children. The order of children is ignored. In XML
the attributes of an element are its record. In JSON the leaves under an object are its record, and
each of them is a child as well, with the leaf as its own text: so a path finds it either way.

The name "." in a record is the node's own text. A value that reads as a number stands in the record
a second time, as a number, under its name with "#" before it: text has no types, so what a
condition compares with decides what is read. A name that begins with "#" itself has a backslash
before it in the record, so that it is no other value's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any, Final
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from posetlib.errors import DocumentError
from posetlib.values import DocumentValue, Number, exact

__all__ = [
    "MAX_DEPTH",
    "NUMBER_MARK",
    "OWN_TEXT",
    "Document",
    "name_of",
    "read_xml",
    "record_name",
    "set_text",
]

#: The name of a node's own text in its record.
OWN_TEXT: Final = "."
#: Stands before the name of a value that reads as a number.
NUMBER_MARK: Final = "#"
# Stands in a record before a name that begins with this mark or the one above.
_ESCAPE_MARK: Final = "\\"

# What a document may have at most. Documents come from outside: a small one may take no more time
# and memory to match than its size suggests.
_MAX_BYTES: Final = 1_000_000
#: The levels that a document may have.
MAX_DEPTH: Final = 64
_MAX_NODES: Final = 50_000
_MAX_ATTRIBUTES: Final = 1_000
# The longest name, its namespace included, in characters.
_MAX_NAME: Final = 1_000
# The longest text that is read as a number, in characters.
_MAX_DIGITS: Final = 1_200
# The namespaces of the prefixes xml and xmlns.
_XML_SPACE: Final = "http://www.w3.org/XML/1998/namespace"
_XMLNS_SPACE: Final = "http://www.w3.org/2000/xmlns/"

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# What a text must begin with to be a number; quicker than the expression, and nearly always enough.
_NUMBER_STARTS: Final = frozenset("0123456789+-.")


def record_name(name: str) -> str:
    r"""Return the name under which a value stands in a record.

    >>> print(record_name("price"), record_name("#text"))
    price \#text
    """
    return _ESCAPE_MARK + name if name.startswith((NUMBER_MARK, _ESCAPE_MARK)) else name


def name_of(key: str) -> str:
    """Return the name of the value that stands in a record under a key, as text or as number.

    >>> name_of("price"), name_of("#price"), name_of(record_name("#text"))
    ('price', 'price', '#text')
    """
    return key.removeprefix(NUMBER_MARK).removeprefix(_ESCAPE_MARK)


class Document(DocumentValue):
    """A document: names, records and parents of its nodes, each node after its parent.

    >>> document = Document.of({"item": {"id": 5, "cpu": {"clock": 700}}})
    >>> list(document.names)
    ['item', 'id', 'cpu', 'clock']
    >>> print(document)
    item id=5
      id .=5
      cpu clock=700
        clock .=700
    """

    __slots__ = ("names", "parents", "records")

    def __init__(self, names: list[str], parents: list[int], records: list[dict[str, Any]]) -> None:
        self.names: Final = tuple(names)
        #: For each node the number of its parent; -1 for a child of the root.
        self.parents: Final = tuple(parents)
        self.records: Final = tuple(records)

    @classmethod
    def of(cls, value: Mapping[str, Any] | Document) -> Document:
        """Return the document of a nested mapping, as JSON has them; DocumentError if it is none.

        Lists vanish at every level: their members are children of the same name. O(size).
        """
        if isinstance(value, Document):
            return value
        # A mapping that does not change may keep its document.
        known = getattr(value, "as_document", None)
        return _from_mapping(value) if known is None else known()

    def __len__(self) -> int:
        """The number of nodes, the root not counted."""
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document):
            return NotImplemented
        mine = (self.names, self.parents, self.records)
        return mine == (other.names, other.parents, other.records)

    # Records may hold lists, and a document is looked at, not looked up.
    __hash__ = None  # type: ignore[assignment]

    def depths(self) -> list[int]:
        """Return how deep each node lies; 1 for a child of the root."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 if parent < 0 else depths[parent] + 1)
        return depths

    def shown(self, node: int) -> dict[str, Any]:
        """Return the record of a node as people wrote it: without the numbers' second form."""
        return {
            name_of(key): value
            for key, value in self.records[node].items()
            if not key.startswith(NUMBER_MARK)
        }

    def __str__(self) -> str:
        lines = []
        for node, (name, depth) in enumerate(zip(self.names, self.depths(), strict=True)):
            fields = "".join(f" {key}={value!r}" for key, value in self.shown(node).items())
            lines.append("  " * (depth - 1) + name + fields)
        return "\n".join(lines)

    def to_xml(self) -> str:
        """Return the document as XML, from which ``read_xml`` makes an equal one.

        ValueError if there is none: XML has one outermost element, and text as values, which reads
        as a number if it looks like one.

        >>> Document.of({"item": {"id": "A5"}}).to_xml()
        '<item id="A5"><id>A5</id></item>'
        """
        text = _as_xml(self)
        try:
            is_same = read_xml(text) == self
        except DocumentError as error:
            raise ValueError(f"the document cannot be written as XML: {error}") from None
        if not is_same:
            raise ValueError("XML cannot tell this document from another one")
        return text

    def __repr__(self) -> str:
        return f"<Document: {len(self)} nodes, {', '.join(self._tops()[:3]) or 'empty'}>"

    def _tops(self) -> list[str]:
        return [n for n, parent in zip(self.names, self.parents, strict=True) if parent < 0]

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Document, (list(self.names), list(self.parents), list(self.records)))


def _number_of(text: str) -> Number | None:
    """Return the number that a text reads as, None if it is none."""
    if text[:1] not in _NUMBER_STARTS or len(text) > _MAX_DIGITS or not _NUMBER.fullmatch(text):
        return None
    if text.lstrip("+-").isdigit():
        return int(text)
    value = float(text)
    return None if value in (float("inf"), float("-inf")) else value


# -- JSON ------------------------------------------------------------------------------------------


class _Builder:
    """Collects the nodes of a document within its limits."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []
        self.records: list[dict[str, Any]] = []

    def add(self, name: str, parent: int) -> int:
        """Add a node with an empty record; return its number."""
        if len(self.names) >= _MAX_NODES:
            raise DocumentError(f"a document has at most {_MAX_NODES:,} nodes")
        self.names.append(name)
        self.parents.append(parent)
        self.records.append({})
        return len(self.names) - 1

    def document(self) -> Document:
        """Return the document, its nodes in the order in which they are read aloud."""
        below: list[list[int]] = [[] for _ in range(len(self.names) + 1)]
        for node, parent in enumerate(self.parents):
            below[parent].append(node)
        # The last list is that of the root, whose number is -1.
        order, todo = [], below[-1][::-1]
        while todo:
            node = todo.pop()
            order.append(node)
            todo += reversed(below[node])
        place = {node: at for at, node in enumerate(order)}
        place[-1] = -1
        return Document(
            [self.names[node] for node in order],
            [place[self.parents[node]] for node in order],
            [self.records[node] for node in order],
        )


def _from_mapping(value: Mapping[str, Any]) -> Document:
    builder = _Builder()
    # What is still to be read: a mapping, the number of its node, and its depth.
    todo: list[tuple[Mapping[str, Any], int, int]] = [(value, -1, 0)]
    while todo:
        mapping, node, depth = todo.pop()
        if depth >= MAX_DEPTH:
            raise DocumentError(f"a document is at most {MAX_DEPTH} levels deep")
        for name, member in mapping.items():
            if not isinstance(name, str):
                raise DocumentError(f"a name in a document is a string, not {name!r}")
            if name == OWN_TEXT and node >= 0:
                _set_leaf(builder.records[node], name, member)
                continue
            leaves = []
            for each in _members(member):
                if isinstance(each, Mapping):
                    todo.append((each, builder.add(name, node), depth + 1))
                else:
                    leaves.append(each)
                    _set_leaf(builder.records[builder.add(name, node)], OWN_TEXT, each)
            if leaves and node >= 0:
                is_list = isinstance(member, list | tuple | Set)
                _set_leaf(builder.records[node], name, leaves if is_list else leaves[0])
    return builder.document()


def _members(value: Any) -> Iterator[Any]:
    """Yield what stands under a name: the members of lists at every level, or the value alone."""
    if not isinstance(value, list | tuple | Set):
        yield value
        return
    # The lists that are open; a list that holds itself would be one level deeper each time.
    stack: list[Iterator[Any]] = [iter(value)]
    while stack:
        if len(stack) > MAX_DEPTH:
            raise DocumentError(f"lists in a document are at most {MAX_DEPTH} levels deep")
        for each in stack[-1]:
            if isinstance(each, list | tuple | Set):
                stack.append(iter(each))
                break
            yield each
        else:
            stack.pop()


def _set_leaf(record: dict[str, Any], name: str, value: Any) -> None:
    key = record_name(name)
    record[key] = value
    number = None if isinstance(value, list) else exact(value)
    if number is not None and number == number:
        record[NUMBER_MARK + key] = value


# -- XML -------------------------------------------------------------------------------------------


def read_xml(data: bytes | str) -> Document:
    """Return the document of an XML text; DocumentError says what is wrong, and where.

    Names in a namespace are ``{namespace}name``. An element's own text is its direct text, without
    the space around it; an element without any has none. Document types are refused, and with them
    all entities but the five of XML itself.

    >>> print(read_xml(b"<item id='5'><cpu clock='700'>fast</cpu></item>"))
    item id='5'
      cpu clock='700' .='fast'
    """
    if not isinstance(data, bytes | str):
        raise TypeError(f"XML is bytes or a string, not {type(data).__name__}")
    if len(data) > _MAX_BYTES:
        raise DocumentError(f"a document in XML has at most {_MAX_BYTES:,} bytes")
    reader = _XmlReader()
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise DocumentError(
            f"not well-formed XML: {what} (line {error.lineno}, column {error.offset + 1})"
        ) from None
    except (UnicodeError, ValueError, LookupError) as error:
        if isinstance(error, DocumentError):
            raise
        raise DocumentError(f"not XML: {error}") from None
    return reader.builder.document()


class _XmlReader:
    """The handlers of one parser, and what they have read.

    Namespaces are resolved here and not by the parser: it would write out the namespace of every
    name before a limit could be asked for.
    """

    def __init__(self) -> None:
        self.builder = _Builder()
        # The open elements, and the pieces of the text of each.
        self._open: list[int] = []
        self._texts: list[list[str]] = []
        # The namespaces by prefix, "" for the one of elements without a prefix; and what each open
        # element has to put back: the prefixes that it declares, with their namespaces before it.
        self._spaces: dict[str, str] = {"xml": _XML_SPACE}
        self._before: list[list[tuple[str, str]]] = []
        # Each name once, and how long they are together.
        self._names: dict[str, str] = {}
        self._names_length = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def _error(self, message: str) -> DocumentError:
        column = self.parser.CurrentColumnNumber + 1
        return DocumentError(f"{message} (line {self.parser.CurrentLineNumber}, column {column})")

    def _refuse_doctype(self, *_: object) -> None:
        raise self._error("a document type (DOCTYPE) is refused")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise self._error(f"a document is at most {MAX_DEPTH} levels deep")
        if len(attributes) > _MAX_ATTRIBUTES:
            raise self._error(f"an element has at most {_MAX_ATTRIBUTES:,} attributes")
        declared = [key for key in attributes if key == "xmlns" or key.startswith("xmlns:")]
        self._before.append([self._declare(key, attributes.pop(key)) for key in declared])
        is_plain = ":" not in name and not self._spaces.get("")
        node = self.builder.add(
            self._known(name) if is_plain else self._resolved(name, is_element=True),
            self._open[-1] if self._open else -1,
        )
        record = self.builder.records[node]
        for key, value in attributes.items():
            full = self._known(key) if ":" not in key else self._resolved(key, is_element=False)
            if full in record:
                raise self._error(f"the attribute {full} is given twice")
            set_text(record, full, value)
        self._open.append(node)
        self._texts.append([])

    def _declare(self, key: str, space: str) -> tuple[str, str]:
        """Note the namespace of a prefix; return the prefix and the namespace that it had."""
        _, colon, prefix = key.partition(":")
        is_xml = prefix == "xml"
        if (colon and not (prefix and space)) or prefix == "xmlns" or ":" in prefix:
            raise self._error(f"{key} declares no namespace")
        if is_xml is not (space == _XML_SPACE) or space == _XMLNS_SPACE:
            raise self._error(f"{key} declares a namespace that is XML's own")
        before = self._spaces.get(prefix, "")
        self._spaces[prefix] = space
        return prefix, before

    def _resolved(self, name: str, *, is_element: bool) -> str:
        """Return a name as ``{namespace}name``."""
        prefix, colon, local = name.partition(":")
        if not colon:
            prefix, local = "", name
        space = self._spaces.get(prefix, "") if colon or is_element else ""
        if not local or ":" in local or (colon and not prefix):
            raise self._error(f"{name} is no name with a prefix")
        if colon and not space:
            raise self._error(f"the prefix of {name} has no namespace")
        if len(space) + len(local) > _MAX_NAME:
            raise self._error(f"a name and its namespace have at most {_MAX_NAME:,} characters")
        return self._known(f"{{{space}}}{local}" if space else local)

    def _known(self, name: str) -> str:
        """Return a name that was read before as it was then."""
        found = self._names.get(name)
        if found is None:
            self._names_length += len(name)
            if self._names_length > _MAX_BYTES:
                raise self._error(f"the names of a document have at most {_MAX_BYTES:,} characters")
            found = self._names[name] = name
        return found

    def _text(self, text: str) -> None:
        self._texts[-1].append(text)

    def _end(self, _: str) -> None:
        for prefix, space in reversed(self._before.pop()):
            self._spaces[prefix] = space
        text = "".join(self._texts.pop()).strip()
        node = self._open.pop()
        if text:
            set_text(self.builder.records[node], OWN_TEXT, text)


def set_text(record: dict[str, Any], name: str, text: str) -> None:
    """Set a value of a record as XML has it: text, and the number that it reads as."""
    record[name] = text
    number = _number_of(text.strip())
    if number is not None:
        record[NUMBER_MARK + name] = number


# -- to XML ----------------------------------------------------------------------------------------


def _as_xml(document: Document) -> str:
    if document.parents.count(-1) != 1:
        raise ValueError("a document in XML has one outermost element")
    spaces: dict[str, str] = {}
    pieces: list[str] = []
    open_names: list[str] = []
    depths = document.depths()
    for node, depth in enumerate(depths):
        while len(open_names) >= depth:
            pieces.append(f"</{open_names.pop()}>")
        record = document.shown(node)
        for name, value in record.items():
            if not isinstance(value, str):
                raise ValueError(f"in XML {name} would be text, not {value!r}")
        text = escape(record.pop(OWN_TEXT, ""), {"\r": "&#13;"})
        name = _prefixed(document.names[node], spaces)
        attributes = "".join(
            f" {_prefixed(key, spaces)}={quoteattr(value)}" for key, value in record.items()
        )
        is_leaf = node + 1 == len(depths) or depths[node + 1] <= depth
        if is_leaf and not text:
            pieces.append(f"<{name}{attributes}/>")
        else:
            pieces.append(f"<{name}{attributes}>{text}")
            open_names.append(name)
    pieces += [f"</{name}>" for name in reversed(open_names)]
    declared = "".join(f" xmlns:{short}={quoteattr(long)}" for long, short in spaces.items())
    outermost = "<" + _prefixed(document.names[0], spaces)
    return outermost + declared + "".join(pieces).removeprefix(outermost)


def _prefixed(name: str, spaces: dict[str, str]) -> str:
    """Return a name as XML has it, with a prefix for its namespace."""
    if not name.startswith("{"):
        return name
    space, _, local = name[1:].rpartition("}")
    if space == _XML_SPACE:
        return f"xml:{local}"
    return f"{spaces.setdefault(space, f'n{len(spaces)}')}:{local}"
