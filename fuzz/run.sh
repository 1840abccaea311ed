#!/usr/bin/env bash
# Runs every target in turn on one core, for the given number of seconds each: fuzz/run.sh SECONDS [CORPUS [LOGS]]. Each run
# appends to the log of its target, whose lines `stat::number_of_executed_units` count the executions. A target that fails
# stops the script; its input is in fuzz/artifacts/TARGET. `$FLAGS` go to libFuzzer after those below, `$TARGETS` limits the
# targets.
set -euo pipefail
seconds=${1:?seconds for each target}
cd "$(dirname "$0")/.."
corpus=${2:-$PWD/fuzz/corpus}
logs=${3:-$PWD/fuzz/logs}
export RUSTC_BOOTSTRAP=1
mkdir -p "$logs"
for target in ${TARGETS:-$(sed -n 's/^name = "\([a-z_]*\)"$/\1/p' fuzz/Cargo.toml)}; do
    mkdir -p "$corpus/$target"
    # a slow input is one of more than a second; ten end the run, so that a busy machine ends none
    cargo fuzz run -O -s none "$target" "$corpus/$target" -- -max_total_time="$seconds" -max_len=4096 -timeout=10 \
        -report_slow_units=1 -rss_limit_mb=512 -print_final_stats=1 ${FLAGS:-} >>"$logs/$target.log" 2>&1
    tail -n 20 "$logs/$target.log" | grep executed_units
done
