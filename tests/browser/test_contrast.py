"""The colours keep the contrast of WCAG 2 AA, in both themes, as the style sheet has them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path

import pytest

import browser

CSS = (Path(browser.__file__).parent / "assets" / "style.css").read_text(encoding="utf-8")
TEXT_ON_GROUND = [
    *((text, ground) for text in ("text", "muted") for ground in ("ground", "surface", "raised")),
    ("accent", "surface"),
    ("accent", "ground"),
    ("accent-text", "accent"),
    ("text", "node"),
    *((name, f"{name}-ground") for name in ("good", "bad", "warn", "move")),
    *(("text", f"{name}-ground") for name in ("good", "bad", "warn", "move")),
    ("ground", "text"),
]
SIGN_ON_GROUND = [
    *((name, "ground") for name in ("node-line", "edge", "focus", "good", "bad", "warn", "move")),
    *((f"hue-{i}", ground) for i in range(8) for ground in ("node", "surface")),
    ("control", "surface"),
    ("focus", "surface"),
]


def colours(theme: str) -> dict[str, str]:
    start = CSS.index(":root {" if theme == "light" else ':root[data-theme="dark"] {')
    block = CSS[start : CSS.index("}", start)]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


def linear(colour: str) -> list[float]:
    """The light of a colour, as parts of red, green and blue."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("pairs", "least"), [(TEXT_ON_GROUND, 4.5), (SIGN_ON_GROUND, 3.0)], ids=["text", "signs"]
)
def test_the_contrast_is_enough(theme: str, pairs: list[tuple[str, str]], least: float) -> None:
    found = colours(theme)
    poor = {
        pair: round(contrast(found[pair[0]], found[pair[1]]), 2)
        for pair in pairs
        if contrast(found[pair[0]], found[pair[1]]) < least
    }
    assert poor == {}


def test_black_on_white_has_the_contrast_that_everybody_knows() -> None:
    assert round(contrast("#000000", "#ffffff"), 1) == 21.0


def test_no_text_is_smaller_than_readable() -> None:
    sizes = [float(each) for each in re.findall(r"font-size: ([\d.]+)rem", CSS)]
    sizes += [float(each) for each in re.findall(r"font-size: (\.\d+)rem", CSS)]
    assert sizes
    assert min(sizes) >= 0.9


def test_the_assets_name_no_other_place() -> None:
    for path in (Path(browser.__file__).parent / "assets").iterdir():
        text = path.read_text(encoding="utf-8")
        text = text.replace(
            '"http://www.w3.org/2000/svg"', ""
        )  # a name, from which nothing is read
        assert not re.search(r"https?://|@import|url\(", text), path.name
        assert "innerHTML" not in text
        assert "eval(" not in text


#: What is seen of red, green and blue light without one kind of cones: Machado, Oliveira and
#: Fernandes (2009), at full strength. The first is everybody else.
SIGHTS = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
_TO_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
HUES = [f"hue-{i}" for i in range(8)]
#: The colours that marks, the chosen filter and the focus have.
MARK_COLOURS = ["good", "bad", "warn", "move", "accent", "focus"]


def times(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def lab(colour: str, sight: str) -> list[float]:
    """A colour as it is seen, in CIELAB, where distances are about as large as they look."""
    seen = [min(max(each, 0.0), 1.0) for each in times(SIGHTS[sight], linear(colour))]
    white = times(_TO_XYZ, (1, 1, 1))
    x, y, z = (
        t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
        for t in (a / b for a, b in zip(times(_TO_XYZ, seen), white, strict=True))
    )
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def distance(one: str, other: str, sight: str) -> float:
    return math.dist(lab(one, sight), lab(other, sight))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("sight", "least"),
    [("all colours", 25.0), ("protanopia", 15.0), ("deuteranopia", 15.0), ("tritanopia", 11.0)],
)
def test_interfaces_are_told_apart_and_from_marks(theme: str, sight: str, least: float) -> None:
    """A distance of 2 is just seen, one of 10 at a glance."""
    found = colours(theme)
    pairs = [*combinations(HUES, 2), *product(HUES, MARK_COLOURS)]
    near = {
        pair: round(distance(found[pair[0]], found[pair[1]], sight), 1)
        for pair in pairs
        if distance(found[pair[0]], found[pair[1]], sight) < least
    }
    assert near == {}


def test_what_is_not_seen_is_near() -> None:
    """Red and green of one lightness are far apart for most, and nearly alike without red cones."""
    red, green = "#b05a00", "#6b7a00"
    assert distance(red, green, "all colours") > 40
    assert distance(red, green, "deuteranopia") < 20
    assert distance("#000000", "#ffffff", "protanopia") == pytest.approx(100, abs=0.1)
    assert lab("#ffffff", "all colours") == pytest.approx([100, 0, 0], abs=0.01)
