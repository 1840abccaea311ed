#!/bin/sh
# Builds the WebAssembly module that `jsf page` writes into its pages: target/wasm/job_sort_formula.wasm, or the file named in
# JSF_PAGE_MODULE, from which a build of `jsf` takes it. Needs `rustup target add wasm32-unknown-unknown`.
set -eu
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-target}
module=${JSF_PAGE_MODULE:-target/wasm/job_sort_formula.wasm}
# the stack is for formulas of 200 levels of brackets
RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+simd128 -C link-arg=-zstack-size=16777216" \
    cargo build --locked --package job-sort-formula-wasm --target wasm32-unknown-unknown --profile page
mkdir -p "$(dirname "$module")"
cp "$target/wasm32-unknown-unknown/page/job_sort_formula_wasm.wasm" "$module"
echo "$(wc -c <"$module") bytes; a jsf that carries the module: JSF_PAGE_MODULE=$module cargo build --release"
