#!/usr/bin/env bash
# Builds the Python wheel and tests it in an environment of its own, with the packages that pip can get. Needs cargo and
# python3; where pip cannot get maturin, pytest and the packages whose columns are tested, it says so and tests nothing, which is
# a failure where CI is true.
# JSF_WHEEL_PROFILE is a profile of Cargo: `dist` for wheels that are measured.
set -euo pipefail
cd "$(dirname "$0")/../.."
profile=${JSF_WHEEL_PROFILE:-dev}
export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-0}
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
out=$target/bindings-python

if [ ! -x "$out/venv/bin/maturin" ] || [ ! -x "$out/venv/bin/mypy" ]; then
    rm -rf "$out/venv"
    if ! python3 -m venv "$out/venv" ||
        ! "$out/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
            maturin pytest mypy numpy pyarrow polars pandas; then
        rm -rf "$out/venv"
        echo "pip cannot get maturin, pytest, mypy, numpy, pyarrow, polars and pandas: the Python package is not tested" >&2
        [ "${CI:-}" != true ] || exit 1
        exit 0
    fi
fi
python=$out/venv/bin/python

rm -rf "$out/wheels"
"$out/venv/bin/maturin" build --quiet --manifest-path bindings/python/Cargo.toml --profile "$profile" --interpreter "$python" \
    --out "$out/wheels"
"$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$out"/wheels/*.whl
cargo build --quiet --package jsf
# not in the folder of the sources, so that the installed package is imported
JSF_BINARY=$target/debug/jsf "$python" -m pytest --quiet -p no:cacheprovider --rootdir bindings/python bindings/python/tests "$@"
