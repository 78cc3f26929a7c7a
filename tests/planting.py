"""Planted faults: a function whose source is changed in one place, for the time of a test."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import pytest


def plant(patch: pytest.MonkeyPatch, function: object, right: str, wrong: str) -> None:
    """Let a function run with one piece of its source replaced; it must be there once."""
    assert isinstance(function, FunctionType)
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(right) == 1, f"{right!r} is not once in {function.__qualname__}"
    # A method is compiled within a class, so that what it calls by super() is found.
    namespace: dict[str, object] = dict(function.__globals__)
    exec(compile(source.replace(right, wrong), f"<fault: {wrong}>", "exec"), namespace)
    changed = namespace[function.__name__]
    changed = getattr(changed, "func", changed)  # of a cached property, its function
    assert isinstance(changed, FunctionType)
    patch.setattr(function, "__code__", changed.__code__)


def found(
    patch: pytest.MonkeyPatch,
    fault: tuple[object, str, str, Callable[[], None]],
    *errors: type[BaseException],
) -> None:
    """Plant a fault, and see its test fail: by an assertion, or by one of some errors."""
    function, right, wrong, kill = fault
    plant(patch, function, right, wrong)
    finds: Any = pytest.raises((AssertionError, pytest.fail.Exception, *errors))
    with finds:
        kill()


def kills(
    faults: Mapping[str, tuple[object, str, str, Callable[[], None]]],
) -> list[Callable[[], None]]:
    """Return the tests that find faults: each once, in one order in every process."""
    return list(dict.fromkeys(fault[-1] for fault in faults.values()))
