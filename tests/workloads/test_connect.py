"""The functions over Spark Connect, where its packages are installed: DataFrames, and no more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("java")

ROOT = Path(__file__).resolve().parents[2]
#: In a process of its own: one that has a classic session cannot have a remote one.
JOBS = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[2]").getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", "2")
assert not hasattr(type(spark), "_jvm")
from posetlib.generating import Parameters
from workloads import BuiltRows, build, cover, generate, match, validate

folder = sys.argv[1]
p = Parameters(filters=60, notifications=9, interfaces=4, seed=2, decimals=0)
generate(spark, p, f"{folder}/d")
build(f"{folder}/d", "nrf", f"{folder}/e", session=spark)
filters = spark.read.parquet(f"{folder}/d/filters")
told = spark.read.parquet(f"{folder}/d/notifications")
table = BuiltRows(*(spark.read.parquet(f"{folder}/e/{name}") for name in ("nodes", "edges")), "nrf")
broken = BuiltRows(table.nodes, table.edges.limit(0), "nrf")
reports = [validate(each, filters, broadcast_limit=limit)
           for each in (table, broken) for limit in (1 << 28, 0)]
found = [{e["name"]: [e["verdict"], e["checked"], e["violations"], e["witnesses"]]
          for e in report["invariants"]} for report in reports]
counts = [cover(filters).count(), match(filters, told).count(), build(filters, "pf").nodes.count()]
print(json.dumps({"found": found, "counts": counts}))
spark.stop()
"""


def test_every_function_works_over_connect(tmp_path: Path) -> None:
    for name in ("grpc", "grpc_status", "google.rpc", "zstandard"):
        pytest.importorskip(name)
    done = subprocess.run(
        [sys.executable, "-c", JOBS, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
                          "PYSPARK_PYTHON": sys.executable},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    near, spread, broken, broken_spread = told["found"]
    assert near == spread
    assert {verdict for verdict, *_ in near.values()} == {"holds", "not applicable"}
    assert broken == broken_spread
    assert broken["interface-index"][0] == "violated"
    assert all(count > 0 for count in told["counts"])
