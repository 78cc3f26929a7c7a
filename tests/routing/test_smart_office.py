"""The smart office: the day is the same whatever the messages do, by every safe protocol."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from posetlib.simulation import SAFE_PROTOCOLS

SCRIPT = Path(__file__).parents[2] / "examples" / "smart_office.py"


@pytest.fixture(scope="module")
def office() -> ModuleType:
    spec = importlib.util.spec_from_file_location("smart_office", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ANNA = {
    "agency": [
        "election called",
        "tram strike over",
        "election called (again)",
        "tram strike over (again)",
        "meeting in 10 minutes",
        "meeting room changed",
        "meeting room changed (again)",
    ],
    "bo": [
        "coffee?",
        "coffee? (again)",
        "sync minutes.xml",
        "pizza?",
        "pizza? (again)",
        "last call",
        "last call (again)",
    ],
}
BO = {
    "anna": ["anna is in", "in a minute", "anna is busy", "anna is gone"],
    "agency": [
        "meeting in 10 minutes",
        "meeting room changed",
        "meeting room changed (again)",
        "office is closed",
    ],
    "bo": ["pizza?", "pizza? (again)", "last call", "last call (again)"],
}


@pytest.mark.parametrize("protocol", SAFE_PROTOCOLS)
@pytest.mark.parametrize("advertisements", [False, True], ids=["plain", "advertised"])
def test_the_day_is_the_same_for_every_seed(
    office: ModuleType, protocol: str, advertisements: bool
) -> None:
    for seed in range(8):
        made = office.day(seed, protocol, advertisements=advertisements)
        diary = made.diary()
        if protocol == "linger":  # promises no order
            for expected, got in ((ANNA, diary["anna"]), (BO, diary["bo"])):
                assert {who: sorted(texts) for who, texts in got.items()} == {
                    who: sorted(texts) for who, texts in expected.items()
                }
        else:
            assert diary["anna"] == ANNA
            assert diary["bo"] == BO
        assert diary["cid"] == {}, "who is at home is not asked to the meeting"
        audit = made.net.audit()
        assert (audit.missed, audit.unwanted, audit.duplicates) == (0, 0, 0)
        made.net.check()


def test_by_an_unsafe_protocol_some_day_is_not_the_same(office: ModuleType) -> None:
    assert any(office.day(seed, "resubscribe").diary()["anna"] != ANNA for seed in range(20))


def test_the_script_tells_the_day() -> None:
    told = subprocess.run(
        [sys.executable, SCRIPT, "--seed", "3"], capture_output=True, text=True, check=True
    ).stdout
    assert "anna goes to the café" in told
    assert "bo got from anna: anna is in; in a minute; anna is busy; anna is gone" in told
    assert "missed 0" in told
