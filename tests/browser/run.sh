#!/usr/bin/env bash
# Opens the pages that `jsf … --report` and `jsf page` write in a headless Chromium, and operates them. Needs cargo and python3; installs
# the packages of requirements.txt into an environment of its own and, as root on Debian, the browser. Where they cannot be
# had, it says so and tests nothing, which is a failure where CI is true. Arguments go to pytest.
#
#   tests/browser/run.sh --picture    writes docs/report.png, the picture of the README, and tests nothing
#   JSF_CHROMIUM=PATH                 another Chromium or Chrome
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-0}
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
environment=$target/browser

not_run() {
    printf '%s\n' "" "********************************************************************" \
        "  THE BROWSER TEST WAS NOT RUN: $1" \
        "********************************************************************" "" >&2
    [ "${CI:-}" != true ] || exit 1
    exit 0
}

browser=${JSF_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$browser" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing chromium" >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium \
        fonts-dejavu-core; } >/dev/null || true
    browser=$(command -v chromium || true)
fi
[ -n "$browser" ] || not_run "there is no chromium; install Debian's package, or set JSF_CHROMIUM"

if ! cmp -s tests/browser/requirements.txt "$environment/requirements.txt"; then
    rm -rf "$environment"
    if ! python3 -m venv "$environment" ||
        ! "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r tests/browser/requirements.txt; then
        rm -rf "$environment"
        not_run "pip cannot get the packages of tests/browser/requirements.txt"
    fi
    cp tests/browser/requirements.txt "$environment/"
fi

# the module of `jsf page`, where its target can be had; without it, the tests of that page are skipped
export JSF_PAGE_MODULE="${JSF_PAGE_MODULE:-target/wasm/job_sort_formula.wasm}"
if rustup target add wasm32-unknown-unknown >/dev/null 2>&1; then
    bindings/wasm/build.sh
elif [ ! -e "$JSF_PAGE_MODULE" ]; then
    unset JSF_PAGE_MODULE
    echo "THE TESTS OF \`jsf page\` ARE NOT RUN: Rust has no target wasm32-unknown-unknown here" >&2
fi
cargo build --quiet --package jsf
export JSF_BINARY=$target/debug/jsf JSF_CHROMIUM=$browser
if [ "${1:-}" = --picture ]; then
    exec "$environment/bin/python" tests/browser/picture.py docs/report.png
fi
"$environment/bin/python" -m pytest --quiet -p no:cacheprovider tests/browser "$@"
