#!/bin/sh
# A standalone Spark cluster on loopback, one master and two workers, and the jobs submitted to it.
#
#   sh docs/spark-standalone.sh OUT        makes OUT/workload, OUT/table and OUT/report.json
#
# PYTHON is the interpreter that has pyspark (default: python3). Every port is chosen by the system,
# and all processes are gone when the script ends.
set -eu

out=${1:?where the output goes}
python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")/.." && pwd)
SPARK_HOME=$("$python" -c 'import pyspark; print(pyspark.__path__[0])')
export SPARK_HOME PYSPARK_PYTHON="$python" SPARK_LOCAL_IP=127.0.0.1
mkdir -p "$out"
out=$(cd "$out" && pwd)
logs=$(mktemp -d)
pids=

stop() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    for pid in $pids; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$logs"
}
trap stop EXIT
trap 'exit 1' INT TERM

# The file is there before anybody reads it, however slow the start.
: >"$logs/master"
# spark-class replaces itself by the JVM, so that the process started here is the one to stop.
"$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master \
    --host 127.0.0.1 --port 0 --webui-port 0 >"$logs/master" 2>&1 &
pids="$!"
master=
tries=0
while [ -z "$master" ]; do
    master=$(sed -n 's|.*Starting Spark master at \(spark://[0-9.:]*\).*|\1|p' "$logs/master")
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || { cat "$logs/master" >&2; exit 1; }
    sleep 0.5
done
for worker in 1 2; do
    "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker \
        --host 127.0.0.1 --port 0 --webui-port 0 --cores 1 --memory 1g \
        --work-dir "$logs/work-$worker" "$master" >"$logs/worker-$worker" 2>&1 &
    pids="$pids $!"
done

cd "$logs"
PYTHONPATH="$here" "$python" -m workloads archive --out "$logs/posetlib-workloads.zip"
cp "$here/workloads/__main__.py" "$logs/main.py"

submit() {
    "$SPARK_HOME/bin/spark-submit" --master "$master" \
        --conf spark.driver.host=127.0.0.1 --conf spark.log.level=ERROR \
        --driver-java-options "-Dlog4j2.configurationFile=file://$here/workloads/log4j2.properties" \
        --py-files "$logs/posetlib-workloads.zip" "$logs/main.py" "$@"
}
submit generate --out "$out/workload" --filters 10000 --schemas 20 --notifications 100 --seed 1 \
    then build --workload "$out/workload" --structure nrf --out "$out/table" \
    then validate --snapshot "$out/table" --workload "$out/workload" --report "$out/report.json"
