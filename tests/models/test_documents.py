"""Documents from XML and JSON: what is read, and what is refused, quickly."""

from __future__ import annotations

import pickle
import random
import re
from contextlib import suppress
from typing import Any

import pytest
from lxml import etree

import posetlib as pl
from tests.models.oracle import random_path


class TestXml:
    def test_attributes_text_and_namespaces(self) -> None:
        document = pl.read_xml(
            b"<?xml version='1.0'?><a xmlns:n='urn:x' id=' 7 '>some<n:b n:k='v'/> text <c> </c></a>"
        )
        assert document.names == ("a", "{urn:x}b", "c")
        assert document.parents == (-1, 0, 0)
        assert document.records == (
            {"id": " 7 ", "#id": 7, ".": "some text"},
            {"{urn:x}k": "v"},
            {},
        )

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("<a xmlns='u'><b/><c xmlns=''><d/></c><e/></a>", "{u}a {u}b c d {u}e"),
            ("<n:a xmlns:n='u'><n:b xmlns:n='v'/><n:c/></n:a>", "{u}a {v}b {u}c"),
            ("<a><b xmlns='u'/><c/></a>", "a {u}b c"),
            ("<a xml:lang='e' xmlnsx='1'/>", "a"),
        ],
    )
    def test_namespaces_end_with_their_element(self, text: str, names: str) -> None:
        assert pl.read_xml(text).names == tuple(names.split())

    def test_attributes_have_no_default_namespace(self) -> None:
        (record,) = pl.read_xml("<a xmlns='u' xmlns:n='u' k='v' n:k='w' xml:lang='e'/>").records
        assert record == {"k": "v", "{u}k": "w", "{http://www.w3.org/XML/1998/namespace}lang": "e"}

    def test_str_and_bytes_in_other_encodings(self) -> None:
        assert pl.read_xml("<ä/>").names == ("ä",)
        assert pl.read_xml(
            "<?xml version='1.0' encoding='latin-1'?><ä/>".encode("latin-1")
        ).names == ("ä",)

    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("7", 7),
            ("+7", 7),
            ("-0.5", -0.5),
            (".5", 0.5),
            ("1.", 1.0),
            ("1e3", 1000.0),
            ("0700", 700),
            ("1/3", None),
            ("", None),
            ("e", None),
            ("1 2", None),
            ("0x10", None),
            ("1e999", None),
            ("9" * 1_201, None),
            ("NaN", None),
            ("٣", None),
        ],
    )
    def test_which_texts_are_numbers(self, text: str, number: Any) -> None:
        record = pl.read_xml(f"<a k='{text}'/>").records[0]
        assert record.get("#k") == number
        assert record["k"] == text

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "not well-formed XML: no element found"),
            (b"<a>", "not well-formed XML"),
            (b"<a></b>", r"mismatched tag \(line 1, column 6\)"),
            (b"<a/><b/>", "not well-formed XML"),
            (b"\xff\xfe\x00", "XML"),
            (b"<?xml version='1.0' encoding='none-such'?><a/>", "XML"),
            (b"<!DOCTYPE a><a/>", r"document type \(DOCTYPE\) is refused \(line 1"),
            (b"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "DOCTYPE"),
            (
                b"<!DOCTYPE a [<!ENTITY l0 'lol'>"
                + b"".join(
                    b"<!ENTITY l%d '&l%d;&l%d;&l%d;'>" % (i, i - 1, i - 1, i - 1)
                    for i in range(1, 30)
                )
                + b"]><a>&l29;</a>",
                "DOCTYPE",
            ),
            (b"<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "DOCTYPE"),
            (b"<n:a/>", r"the prefix of n:a has no namespace \(line 1, column 1\)"),
            (b"<a><b xmlns:n='u'/><n:c/></a>", "the prefix of n:c has no namespace"),
            (b"<n:a:b xmlns:n='u'/>", "n:a:b is no name with a prefix"),
            (b"<:a xmlns='u'/>", ":a is no name with a prefix"),
            (b"<a xmlns:n=''/>", "xmlns:n declares no namespace"),
            (b"<a xmlns:xmlns='u'/>", "xmlns:xmlns declares no namespace"),
            (b"<a xmlns:xml='u'/>", "a namespace that is XML's own"),
            (b"<a xmlns='http://www.w3.org/XML/1998/namespace'/>", "that is XML's own"),
            (b"<a xmlns:n='u' xmlns:m='u' n:k='1' m:k='2'/>", "{u}k is given twice"),
            (b"<a>&nbsp;</a>", "undefined entity"),
            (b"<a>" * 100_000 + b"</a>" * 100_000, "at most 64 levels deep"),
            (b"<a k='" + b"x" * 1_000_000 + b"'/>", "at most 1,000,000 bytes"),
            (
                b"<a " + b" ".join(b"k%d='1'" % i for i in range(1_001)) + b"/>",
                "at most 1,000 attributes",
            ),
            (b"<a>" + b"<b/>" * 50_000 + b"</a>", "at most 50,000 nodes"),
        ],
        ids=lambda value: str(value[:24]) if isinstance(value, bytes) else "",
    )
    def test_refused(self, data: bytes, message: str) -> None:
        with pytest.raises(pl.DocumentError, match=message):
            pl.read_xml(data)

    @pytest.mark.parametrize(
        "value",
        [
            {"a": {}, "b": {}},
            {"a": {"k": 5}},
            {"a": {"k": "5"}},
            {"a b": {}},
            {"a": {"k l": "v"}},
            {"a": {".": " v "}},
            {"a": {".": ""}},
            {"a": {".": "\x00"}},
            {"a": {"k": "\ud800"}},
            {"a:b": {}},
            {"{}a": {}},
            {"a": {"xmlns": "v"}},
        ],
        ids=repr,
    )
    def test_what_has_no_text_in_xml(self, value: Any) -> None:
        with pytest.raises(ValueError, match="XML"):
            pl.Document.of(value).to_xml()

    def test_text_in_xml_is_read_back(self) -> None:
        document = pl.Document.of({"{u}a": {"{u}k": "v", "b": "<&>'\"", "c": {".": "x\ny"}}})
        assert pl.read_xml(document.to_xml()) == document

    def test_not_text_at_all(self) -> None:
        with pytest.raises(TypeError, match="XML is bytes or a string, not int"):
            pl.read_xml(5)  # type: ignore[arg-type]

    @pytest.mark.parametrize("seed", range(3))
    def test_random_bytes_are_read_or_refused(self, seed: int) -> None:
        draw = random.Random(seed)
        pieces = [
            b"<a",
            b">",
            b"</a>",
            b"/>",
            b" k='",
            b"'",
            b"&lt;",
            b"&",
            b"]]>",
            b"<![CDATA[",
            b"<!--",
            b"-->",
            b"<?x ",
            b"?>",
            b"\x00",
            b"\xff",
            b"text",
            b"<!DOCTYPE a>",
            b"7",
            b"\n",
        ]
        for _ in range(3_000):
            data = b"".join(draw.choice(pieces) for _ in range(draw.randint(0, 12)))
            with suppress(pl.DocumentError):
                assert len(pl.read_xml(data)) > 0, (seed, data)


class TestMappings:
    def test_lists_vanish_and_leaves_stand_twice(self) -> None:
        document = pl.Document.of({"a": [{"k": 1}, [{"k": [2, [3]]}], "leaf"], "b": {"c": None}})
        assert sorted(
            zip(document.names, map(str, map(document.shown, range(len(document)))), strict=True)
        ) == [
            ("a", "{'.': 'leaf'}"),
            ("a", "{'k': 1}"),
            ("a", "{'k': [2, 3]}"),
            ("b", "{'c': None}"),
            ("c", "{'.': None}"),
            ("k", "{'.': 1}"),
            ("k", "{'.': 2}"),
            ("k", "{'.': 3}"),
        ]

    def test_nodes_come_in_the_order_of_a_reader(self) -> None:
        document = pl.Document.of({"a": {"b": {"c": 1}, "d": 2}, "e": {"f": {}}})
        assert document.names == ("a", "b", "c", "d", "e", "f")
        assert document.depths() == [1, 2, 3, 2, 1, 2]

    def test_own_text_of_an_object(self) -> None:
        assert pl.DocumentPath("/a[. = 5 and k = 'v']").matches({"a": {".": 5, "k": "v"}})

    def test_a_string_of_digits_is_no_number_in_json(self) -> None:
        assert not pl.DocumentPath("/a[k = 5]").matches({"a": {"k": "5"}})
        assert pl.DocumentPath("/a[k = 5]").matches({"a": {"k": 5.0}})
        assert pl.DocumentPath("/a[k has 5]").matches({"a": {"k": [5, 6]}})
        assert pl.DocumentPath("/a[k = true]").matches({"a": {"k": True}})

    def test_a_name_that_begins_with_the_mark_of_numbers(self) -> None:
        """``#k`` was taken for the number that ``k`` reads as."""
        value = {"a": {"#k": 5, "k": "text", "\\#k": 7}}
        assert not pl.DocumentPath("/a[k >= 3]").matches(value)
        assert pl.PathIndex([pl.DocumentPath("/a[k >= 3]")]).satisfied(value) == []
        asked = pl.DocumentPath("/a[`#k` = 5 and `\\#k` = 7 and k = 'text']")
        assert asked.matches(value)
        assert asked.matches(asked.example())
        assert pl.DocumentPath(asked.text) == asked
        assert pl.Document.of(value).shown(0) == value["a"]

    def test_what_is_no_document_does_not_match(self) -> None:
        for value in ("<a/>", ["a"], 5, None, {1, 2}):
            assert not pl.DocumentPath("//*").matches(value)

    def test_too_deep_or_in_a_circle(self) -> None:
        deep: dict[str, Any] = {}
        for _ in range(100_000):
            deep = {"a": deep}
        circle: dict[str, Any] = {}
        circle["a"] = circle
        lists: list[Any] = []
        lists.append(lists)
        wide = {"a": [{"b": 1}] * 50_000}
        for value in (deep, circle, {"a": lists}, wide):
            with pytest.raises(pl.DocumentError, match="at most"):
                pl.DocumentPath("//b").matches(value)
        while deep:  # to take it apart level by level: Python's own way is recursive
            deep = deep.pop("a")

    def test_keys_are_strings(self) -> None:
        with pytest.raises(pl.DocumentError, match="a name in a document is a string, not 5"):
            pl.Document.of({"a": {5: 1}})

    def test_pickles_and_equality(self) -> None:
        document = pl.Document.of({"a": {"b": [1, 2]}})
        assert pickle.loads(pickle.dumps(document)) == document
        assert document != pl.Document.of({"a": {"b": [2, 1]}})
        assert pl.Document.of(document) is document


class TestNotifications:
    def test_xml_inside_json(self) -> None:
        found = pl.read_notification(
            b'{"type": "order", "doc": {"$xml": "<a><b/></a>"}, "x": {"$y": 1}}'
        )
        assert found["doc"] == pl.read_xml("<a><b/></a>")
        assert found["x"] == {"$y": 1}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"d": {"$xml": 5}}', "d: '\\$xml' has the text of a document"),
            ('{"d": {"$xml": "<a>"}}', "d: not well-formed XML"),
            ("5", "a notification is a JSON object, a tuple, or a document in XML"),
            ("(1, 2", "a tuple ends with \\)"),
            ("(,)", "."),
            ("<a>", "not well-formed XML"),
            ("[" * 100_000, "."),
            ("(" * 100_000 + ")", "."),
            ("{", "."),
            ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ],
        ids=[
            "no text",
            "bad XML",
            "a number",
            "half a tuple",
            "a comma",
            "half an element",
            "deep lists",
            "deep tuples",
            "no JSON",
            "deep",
        ],
    )
    def test_refused(self, text: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            pl.read_notification(text)


@pytest.mark.parametrize("seed", range(3))
def test_lxml_agrees(seed: int) -> None:
    """A second opinion on what paths match, by an implementation of XPath."""
    draw = random.Random(seed)
    for _ in range(150):
        root = etree.Element("r")
        elements = [root]
        for _ in range(draw.randint(0, 8)):
            parent = draw.choice(elements)
            attributes = {"x": str(draw.choice([0, 1, 2]))} if draw.random() < 0.6 else {}
            elements.append(etree.SubElement(parent, draw.choice("ab"), attributes))
        document = pl.read_xml(etree.tostring(root))
        for _ in range(6):
            text = random_path(draw, names="abr", branches=0.3, conditions=True)
            xpath = text.replace("x in [0, 2]", "@x >= 0 and @x <= 2").replace("exists x", "@x")
            xpath = re.sub(r"\[x ", "[@x ", xpath)
            assert pl.DocumentPath(text).matches(document) == bool(
                root.getroottree().xpath(xpath)
            ), (
                seed,
                text,
                etree.tostring(root),
            )
