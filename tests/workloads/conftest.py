"""One Spark session for all tests of a process, and tables that tests spoil."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from workloads.session import open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session; commands that are run in this process use it, too."""
    with open_session("tests", "local[2]", 3) as session:
        session.conf.set("spark.sql.codegen.wholeStage", "false")  # small rows, many plans
        yield session
