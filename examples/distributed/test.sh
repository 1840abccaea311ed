#!/usr/bin/env bash
# Scores 200,000 jobs on each engine and compares every score with `jsf rank`, spreads simulations with Ray and compares every
# row with `jsf simulate --param`; then does it
# again while a process at work is killed. Needs cargo, python3, what pip installs, and Java for Spark. What cannot be had is
# skipped by name.
# Arguments: the engines, if not all: datafusion daft spark ray.
# PYTHON, JSF: an interpreter with the packages, and a jsf, that are there already.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/target/distributed
mkdir -p "$work"

if [ -z "${PYTHON:-}" ]; then
    PYTHON=$work/venv/bin/python
    [ -x "$PYTHON" ] || python3 -m venv "$work/venv"
    "$PYTHON" -m pip install --quiet maturin numpy pyarrow "pandas>=2.2,<3"
    for engine in datafusion daft polars pyspark ray; do
        "$PYTHON" -m pip install --quiet "$engine" || echo "pip does not install $engine" >&2
    done
    rm -rf "$work/wheel"
    (cd "$root/bindings/python" && "$PYTHON" -m maturin build --quiet --interpreter "$PYTHON" --out "$work/wheel")
    "$PYTHON" -m pip install --quiet --force-reinstall --no-deps "$work"/wheel/*.whl
fi
if [ -z "${JSF:-}" ]; then
    cargo build --quiet --manifest-path "$root/Cargo.toml" --package jsf
    JSF=$root/target/debug/jsf
fi

# Spark starts other processes with the interpreter that is called python3
export PYSPARK_PYTHON=$PYTHON PYSPARK_DRIVER_PYTHON=$PYTHON DAFT_PROGRESS_BAR=0 PYTHONDONTWRITEBYTECODE=1
data=$(mktemp -d -p "$work")
trap 'rm -rf "$data"' EXIT
skipped=()
engines=${*:-datafusion daft spark ray}
cd "$here"

check() { "$PYTHON" check.py "$@"; }
equal() { check equal "$JSF" "$data/jobs.ndjson" "$1" 2>"$data/warnings" || { cat "$data/warnings"; return 1; }; }
asked() { [[ " $engines " == *" $1 "* ]]; }
has() { "$PYTHON" -c "import $1" 2>/dev/null || { skipped+=("$2"); return 1; }; }
say_skipped() { [ ${#skipped[@]} -eq 0 ] || echo "skipped: ${skipped[*]}"; }
# a program's answer is for people; its messages only matter where it fails
quietly() { "$@" >"$data/log" 2>&1 || { cat "$data/log"; return 1; }; }

if asked ray && has ray Ray; then
    echo "Ray"
    formula='{a} * ncpus + eligible_time / 3600 * {b}'
    sweep=(--param a=-1:1:100 --param b=0,0.5,1,7 --workload "$root/tests/golden/simulate/w1.swf" --goals "$root/examples/goals.toml" --processors 64)
    "$JSF" simulate "$formula" "${sweep[@]}" --format csv >"$data/param.csv" || [ $? -eq 1 ]
    sweep+=(--runs-per-part 20 --workers 2)
    quietly "$PYTHON" sweep_ray.py "$formula" "$data/whole" "${sweep[@]}"
    cmp "$data/param.csv" "$data/whole/rows.csv"
    echo "Ray, a worker killed"
    check kill ray::Runner.write_part ray::Runner.write_part "$PYTHON" sweep_ray.py "$formula" "$data/worker" "${sweep[@]}" >"$data/log" 2>&1 ||
        { cat "$data/log"; exit 1; }
    grep "killed process" "$data/log"
    cmp "$data/param.csv" "$data/worker/rows.csv"
    echo "Ray, the program killed, and started again"
    given_up=0
    check kill sweep_ray.py "$data/driver/part-00003.csv" "$PYTHON" sweep_ray.py "$formula" "$data/driver" "${sweep[@]}" || given_up=$?
    [ $given_up -eq 9 ] && [ ! -e "$data/driver/rows.csv" ] || { echo "the program had ended by itself" >&2; exit 1; }
    "$PYTHON" sweep_ray.py "$formula" "$data/driver" "${sweep[@]}" 2>"$data/log" | sed 's/^/  /'
    cmp "$data/param.csv" "$data/driver/rows.csv"
    echo "  $(wc -l <"$data/driver/rows.csv") lines, equal to those of jsf simulate --param"
fi
[[ " $engines " =~ \ (datafusion|daft|spark)\  ]] || { say_skipped; exit 0; }
"$PYTHON" generate.py "$data/jobs" --rows 200_000 --rows-per-file 25_000
# two workers write what one writes
"$PYTHON" generate.py "$data/again" --rows 200_000 --rows-per-file 25_000 --part 1/2
"$PYTHON" generate.py "$data/again" --rows 200_000 --rows-per-file 25_000 --part 0/2
diff -r "$data/jobs" "$data/again" && rm -r "$data/again"
check ndjson "$data/jobs" "$data/jobs.ndjson"

if asked datafusion && has datafusion DataFusion; then
    echo "DataFusion"
    quietly "$PYTHON" datafusion_score.py "$data/jobs" "$data/datafusion"
    equal "$data/datafusion"
    echo "DataFusion, the process of a part killed and started again"
    quietly "$PYTHON" datafusion_score.py "$data/jobs" "$data/killed" --part 1/2
    given_up=0
    check kill datafusion_score "$data/killed/jobs-000000.parquet" \
        "$PYTHON" datafusion_score.py "$data/jobs" "$data/killed" --part 0/2 || given_up=$?
    [ $given_up -eq 9 ] || { echo "the process had ended by itself" >&2; exit 1; }
    quietly "$PYTHON" datafusion_score.py "$data/jobs" "$data/killed" --part 0/2
    equal "$data/killed"
fi
if asked daft && has daft Daft; then
    echo "Daft"
    quietly "$PYTHON" daft_score.py "$data/jobs" "$data/daft"
    equal "$data/daft"
    echo "Daft, a process of a formula killed, and the program started again"
    rm -rf "$data/killed"
    given_up=0
    check kill daft.execution.udf_worker daft.execution.udf_worker \
        "$PYTHON" daft_score.py "$data/jobs" "$data/killed" >"$data/log" 2>&1 || given_up=$?
    grep -E "killed process|given up" "$data/log"
    # Daft's runner for one machine mostly ends with an error; it must not end well without the rows
    case $given_up in
        0) ;;
        9) quietly "$PYTHON" daft_score.py "$data/jobs" "$data/killed" ;;
        *) cat "$data/log"; exit 1 ;;
    esac
    equal "$data/killed"
fi
if asked spark && has pyspark Spark && { command -v java >/dev/null || { skipped+=("Spark (no Java)"); false; }; }; then
    echo "Spark, local-cluster[2,1,1024]"
    quietly "$PYTHON" spark_score.py "$data/jobs" "$data/spark"
    equal "$data/spark"
    while read -r what master; do
        echo "Spark, $master, a process of $what killed"
        rm -rf "$data/killed"
        check kill "$what" pyspark.daemon "$PYTHON" spark_score.py "$data/jobs" "$data/killed" --master "$master" \
            </dev/null >"$data/log" 2>&1 || { cat "$data/log"; exit 1; }
        grep "killed process" "$data/log"
        grep -m1 -o "Lost task .*" "$data/log" | cut -c1-120
        equal "$data/killed"
    done <<<'pyspark.daemon local[2,4]
CoarseGrainedExecutorBackend local-cluster[2,1,1024]'
fi
say_skipped
