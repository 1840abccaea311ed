#!/usr/bin/env bash
# Runs the test of threads under the thread sanitizer, which sees the library and Rust's standard library too. `test.sh` calls
# it after `rustup component add --toolchain nightly rust-src`; it builds everything again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
host=$(rustc -vV | sed -n 's/^host: //p')
out=target/thread-sanitizer
RUSTFLAGS=-Zsanitizer=thread cargo +nightly rustc -Zbuild-std --target "$host" --target-dir "$out" \
    -p job-sort-formula-c --lib --crate-type staticlib
runtime=$(rustc +nightly --print target-libdir --target "$host")/librustc-nightly_rt.tsan.a
gcc -std=c99 -O1 -g -fsanitize=thread -c -Ibindings/c/include bindings/c/tests/threads.c -o "$out/threads.o"
# the runtime is Rust's, not gcc's
gcc "$out/threads.o" "$out/$host/debug/libjob_sort_formula_c.a" -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive \
    -lgcc_s -lutil -lrt -lpthread -lm -ldl -lstdc++ -o "$out/threads"
# the sanitizer needs the usual layout of the address space
setarch -R "$out/threads"
echo "threads: no data race"
