"""Whatever text comes in, a path, a template, a document or an error of ours comes out."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import posetlib as pl
from tests.models.oracle import random_document, random_path

PATH_PIECES = [
    "/", "//", "*", "a", "b", "`x y`", "[", "]", "[./", ".", "@", "x", "x = 1", "x >= 1", "'s'",
    "'", '"', "\\", " and ", " or ", "not ", "exists ", "in [0, 2]", "{1}", "(", ")", "`", "::",
    "text()", "[1]", "$y", "isa T", "é", "\x00", "\ud800", "..", "#x", "-", "1e400", "\n",
]  # fmt: skip
XML_PIECES = [
    "<a", ">", "</a>", "/>", " k='", "'", "&lt;", "&", "]]>", "<![CDATA[", "<!--", "-->", "<?x ",
    "?>", "\x00", "text", "<!DOCTYPE a>", "7", "\n", " xmlns:n='u'", "<n:b", "é", "&#0;", "&#x41;",
    "<?xml version='1.0' encoding='utf-16'?>", "<a/>", "<b k='1e5'/>", "<!ENTITY x 'y'>",
]  # fmt: skip
TEXT_PIECES = [
    "{", "}", "[", "]", "(", ")", ",", ":", '"a"', '"$xml"', '"<a/>"', "1", "NaN", "<a/>",
    "true", "null", '"\\ud800"', "1e999", " ", "...", "*", ">= 3", "-",
]  # fmt: skip


def fuzz(draw: random.Random) -> None:
    """One text of each kind: read, or refused with an error that says so."""
    text = "".join(draw.choice(PATH_PIECES) for _ in range(draw.randint(1, 12)))
    if draw.random() < 0.5:
        text = _damaged(draw, random_path(draw, branches=0.3, conditions=True))
    try:
        path = pl.DocumentPath(text)
    except pl.FilterError:
        pass
    else:
        assert pl.DocumentPath(path.text) == path
        assert path.covers(path)
        path.matches(random_document(draw))
        f = pl.Filter({"d": path})
        assert pl.parse_filter(str(f)) == f
    text = "".join(draw.choice(XML_PIECES) for _ in range(draw.randint(1, 12)))
    for data in (text, text.encode("utf-8", "surrogatepass"), text.encode("utf-16")):
        try:
            document = pl.read_xml(data)
        except pl.DocumentError:
            pass
        else:
            assert pl.read_xml(document.to_xml()) == document
    text = "".join(draw.choice(TEXT_PIECES) for _ in range(draw.randint(1, 8)))
    try:
        notification = pl.read_notification(text)
    except ValueError:
        pass
    else:
        pl.parse_filter('doc path "//a" and _0 = 1').matches(notification)
    with suppress(pl.FilterError):
        pl.template_text(pl.parse_template(text))


def _damaged(draw: random.Random, text: str) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(PATH_PIECES) + text[at + draw.randint(0, 2) :]


@pytest.mark.parametrize("seed", range(3))
def test_for_a_moment(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(700):
        fuzz(draw)


@pytest.mark.slow
def test_for_a_minute() -> None:
    end = time.monotonic() + 60
    seed = 1_000
    while time.monotonic() < end:
        draw = random.Random(seed)
        try:
            for _ in range(200):
                fuzz(draw)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        seed += 1


def nested(depth: int) -> str:
    return '{"d": ' + '{"a":' * depth + "1" + "}" * depth + "}"


def in_a_circle() -> Any:
    value: dict[str, Any] = {}
    value["a"] = [value]
    return value


BOMB = (
    "<!DOCTYPE a [<!ENTITY l0 'lol'>"
    + "".join(f"<!ENTITY l{i} '{f'&l{i - 1};' * 10}'>" for i in range(1, 12))
    + "]><a>&l11;</a>"
)
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "entity bomb": (lambda: pl.read_xml(BOMB), "DOCTYPE"),
    "doctype": (lambda: pl.read_xml("<!DOCTYPE a SYSTEM 'http://x/'><a/>"), "DOCTYPE"),
    "100,000 elements deep": (lambda: pl.read_xml("<a>" * 100_000), "64 levels"),
    "a megabyte attribute": (lambda: pl.read_xml(f"<a k='{'x' * 1_000_000}'/>"), "1,000,000 bytes"),
    "a long namespace of 20,000 elements": (
        lambda: pl.read_xml(f"<n:a xmlns:n='{'u' * 800_000}'>{'<n:b/>' * 20_000}</n:a>"),
        "at most 1,000 characters",
    ),
    "a long namespace of 40,000 attributes": (
        lambda: pl.read_xml(
            f"<a xmlns:n='{'u' * 400_000}'" + "".join(f" n:a{i}=''" for i in range(40_000)) + "/>"
        ),
        "at most 1,000 attributes",
    ),
    "a namespace of 900 characters, 20,000 names": (
        lambda: pl.read_xml(
            f"<a xmlns:n='{'u' * 900}'>{''.join(f'<n:b{i}/>' for i in range(20_000))}</a>"
        ),
        "the names of a document have at most 1,000,000 characters",
    ),
    "10,000 steps": (lambda: pl.DocumentPath("/a" * 10_000), "at most 32 steps"),
    "10,000 steps beyond the length": (lambda: pl.DocumentPath("/abc" * 10_000), "20,000"),
    "10,000 branches": (lambda: pl.DocumentPath("/a" + "[./b" * 4_000), "at most 32 steps"),
    "10,000 brackets": (lambda: pl.DocumentPath("/a[" + "(" * 10_000), "not closed"),
    "JSON 100,000 deep": (lambda: pl.read_notification(nested(100_000)), "nested too deeply"),
    "JSON 70 deep": (
        lambda: pl.DocumentPath("//a").matches(pl.read_notification(nested(70))["d"]),
        "64 levels",
    ),
    "a circle": (lambda: pl.DocumentPath("//a").matches(in_a_circle()), "64 levels"),
    "100,000 fields": (
        lambda: pl.parse_template(f"({'*,' * 100_000}*)"),
        "at most 100,000 characters",
    ),
    "2,000 fields": (lambda: pl.parse_template(f"({'*,' * 2_000}*)"), "at most 1,000 fields"),
    "a tuple 100,000 deep": (lambda: pl.read_notification("(" + "[" * 100_000 + ")"), "."),
}


@pytest.mark.parametrize(("do", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_in_little_memory(do: Callable[[], Any], message: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            do()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40_000_000


def test_cyclic_objects_are_never_walked() -> None:
    class Knot:
        def __init__(self) -> None:
            self.me = self

    view = pl.Readers({"k.me": lambda knot: knot.me}).view(Knot())
    assert pl.parse_filter("exists k.me").matches(view)
    assert not pl.parse_filter('k.me path "//a" or k.me path "//b"').matches(view)
