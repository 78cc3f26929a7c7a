"""What all tests share: the Hypothesis profiles, and tests that need more than Python."""

from __future__ import annotations

import functools
import os

import pytest
from hypothesis import HealthCheck, settings

from scripts import set_up

# The same examples on every run and every machine: a failure in `make test` is a failure of the
# code, never of the day. Nothing here looks at the clock, since the machine may be busy.
settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# New examples for every seed, and many of them: `make test-deep SEED=7 EXAMPLES=20000`.
settings.register_profile(
    "deep",
    settings.get_profile("default"),
    derandomize=False,
    database=None,
    max_examples=int(os.environ.get("EXAMPLES", "2000")),
    stateful_step_count=200,
)
settings.load_profile("default")


@functools.cache
def _is_there(name: str) -> bool:
    find, _install, _advice = set_up.SYSTEM[name]
    return find() is not None


#: Where single tests take minutes, those of the jobs first.
_LONG = ("tests/workloads/", "tests/repository/", "tests/browser/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take minutes, so that no process waits for another at the end."""

    def place(item: pytest.Item) -> int:
        return next((at for at, folder in enumerate(_LONG) if item.nodeid.startswith(folder)), 3)

    items.sort(key=place)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs what the machine has not; POSETLIB_REQUIRE_ALL=1 fails it instead."""
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            if not _is_there(name):
                reason = f"needs {name}, which is not installed (`make setup` says how)"
                if os.environ.get("POSETLIB_REQUIRE_ALL"):
                    pytest.fail(reason, pytrace=False)
                pytest.skip(reason)
