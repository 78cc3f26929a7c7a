"""Simple texts that Arrow reads at once, against `simple_ranges`, which reads them one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.rows import columns_agree_with
from workloads.simple_texts import SimpleTexts
from workloads.texts import Simple, simple_ranges

NUMBERS = st.sampled_from(
    [
        "0",
        "-0",
        "3",
        "-7",
        "007",
        "2.5",
        "2.9e-05",
        "1E3",
        "1e400",
        "123456789012345.678",
        ".5",
        "x",
    ]
)
NAMES = st.sampled_from(["x", "y", "type", "in", "And", "x_1", "naïve", "ſ"])
WORDS = st.sampled_from(["", "T1", "a and b", 'q"', "back\\slash", "é", "line\nend", "x in [1, 2]"])
RANGES = st.builds(
    "{} in {}{}, {}{}".format,
    NAMES, st.sampled_from("[("), NUMBERS, NUMBERS, st.sampled_from("])"),
)  # fmt: skip
STRINGS = st.builds('{} = "{}"'.format, NAMES, WORDS)
OTHERS = st.sampled_from(["x > 3", "x = 4", "true", "", "x in [1,2]", "x in [1, 2]\n", "exists x"])
TEXTS = st.lists(RANGES | STRINGS | OTHERS, min_size=1, max_size=3).map(" and ".join)


def told(texts: SimpleTexts, row: int) -> dict[str, Simple]:
    """Return what is said of one text, attribute by attribute."""
    found: dict[str, Any] = {}
    for name in ("x", "y", "type", "x_1"):
        is_range, low, high, ends = (column[row] for column in texts.range_of(name))
        if is_range:
            found[name] = (float(low), float(high), int(ends))
        is_word, words = texts.word_of(name)
        if is_word[row]:
            found[name] = words[row].as_py()
    return found


@given(st.lists(st.none() | TEXTS, max_size=6))
def test_what_is_known_is_what_one_by_one_says(texts: list[str | None]) -> None:
    read = SimpleTexts.read(pa.array(texts, pa.string()))
    for row, text in enumerate(texts):
        alone = None if text is None else simple_ranges(text)
        if read.known[row]:
            assert alone == told(read, row)
            assert read.asked[row] == len(alone)
        elif alone is not None:
            # Comparisons, and nothing else, are left to the reader of single texts.
            assert text is not None
            assert any(" in " not in each and '"' not in each for each in text.split(" and "))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ('type = "T6" and x in [2.9e-05, 21.5)', True),
        ("x in [1, 2] and x in [1, 3]", False),
        ("x in [2, 1]", False),
        ("x in [1, 1)", False),
        ("in in [1, 2]", False),
        ("x in [1, 2]\n", False),
        ('s = "a and b"', False),
    ],
)
def test_texts_that_are_read_at_once(text: str, known: bool) -> None:
    assert SimpleTexts.read(pa.array([text])).known.tolist() == [known]


ENDS = st.none() | st.sampled_from([0.0, 1.0, 2.0])
ROWS = st.fixed_dictionaries(
    {
        "filter": st.sampled_from(
            ["x in [1, 2]", "x in (1, 2)", 'type = "T1" and x in [1, 2]', 'type = "T1"', "x >= 1",
             "x < 2 and x >= 1", "x = 1", 'x = "T1"', "x != 1", "x in [1, 2] and y = 2",
             "true", "x"]
        ),
        "lo_x": ENDS, "hi_x": ENDS, "open_x": st.sampled_from([None, 0, 1, 2, 3]),
        "type": st.sampled_from([None, "T1", "T2"]),
    }
)  # fmt: skip


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_columns_agree_however_many_rows_are_read_at_once(rows: list[dict[str, Any]]) -> None:
    kinds = {"filter": pa.string(), "lo_x": pa.float64(), "hi_x": pa.float64(),
             "open_x": pa.int8(), "type": pa.string()}  # fmt: skip
    batch = pa.RecordBatch.from_pylist(rows, pa.schema(list(kinds.items())))
    agrees, errors = columns_agree_with(batch, batch.column("filter"), None)
    for row, agree, error in zip(rows, agrees.to_pylist(), errors.to_pylist(), strict=True):
        assert (error is not None) == (row["filter"] == "x")
        assert agree == (row["filter"] in _texts_of(row))


def _texts_of(row: dict[str, Any]) -> set[str]:
    """Return which of the texts above the columns of a row say, by hand."""
    low, high, ends = row["lo_x"], row["hi_x"], row["open_x"] or 0
    low = -np.inf if low is None and high is not None else low
    high = np.inf if high is None and low is not None else high
    ends &= ~(low == -np.inf) & ~(2 * (high == np.inf))
    said = {
        (1.0, 2.0, 0): {"x in [1, 2]"}, (1.0, 2.0, 3): {"x in (1, 2)"},
        (1.0, np.inf, 0): {"x >= 1"}, (1.0, 1.0, 0): {"x = 1"}, (None, None, 0): {"true"},
    }  # fmt: skip
    if row["type"] is None:
        return said.get((low, high, ends if low is not None else 0), set())
    if row["type"] != "T1":
        return set()
    if low is None:
        return {'type = "T1"'}
    return {'type = "T1" and x in [1, 2]'} if (low, high, ends) == (1.0, 2.0, 0) else set()
