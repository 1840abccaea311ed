#!/bin/sh
# The hook `jsf-check` of pre-commit: builds jsf once in the clone that pre-commit keeps of this repository, and checks.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
jsf=$root/target/release/jsf
[ -x "$jsf" ] || cargo build --quiet --release --locked --package jsf --manifest-path "$root/Cargo.toml" --target-dir "$root/target"
exec "$jsf" check "$@"
