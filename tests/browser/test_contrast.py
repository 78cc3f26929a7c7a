"""The colours keep the contrast of WCAG 2 AA, in both themes, as the style sheet has them."""

from __future__ import annotations

import re
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


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


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
