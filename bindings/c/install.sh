#!/bin/sh
# Builds the C library and installs it below PREFIX: the headers, the static and the shared library, and the file for
# pkg-config. Needs only cargo, and strip for a static library without debug information. PROFILE=dev builds faster and runs
# slower.
#
#     bindings/c/install.sh PREFIX
#
# With cargo-c, `cargo cinstall --manifest-path bindings/c/Cargo.toml --prefix PREFIX` does the same.
set -eu
usage() { echo "usage: $0 PREFIX" >&2; exit 2; }
[ $# -eq 1 ] || usage
case $1 in '' | -*) usage ;; /*) prefix=$1 ;; *) prefix=$PWD/$1 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
profile=${PROFILE:-dist}

version=$(cd "$here" && cargo pkgid | sed 's/.*[@#]//')
# as Cargo: the first number that is not 0 breaks compatibility
case $version in 0.*) soname=libjob_sort_formula.so.${version%.*} ;; *) soname=libjob_sort_formula.so.${version%%.*} ;; esac

cd "$here"
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
[ "$profile" = dev ] && folder=$target/debug || folder=$target/$profile
cargo rustc --quiet --lib --profile "$profile" --crate-type cdylib -- \
    -C strip=symbols -C "link-arg=-Wl,-soname,$soname"
built=$(cargo rustc --lib --profile "$profile" --crate-type staticlib -- --print native-static-libs 2>&1) ||
    { echo "$built" >&2; exit 1; }
system=$(echo "$built" | sed -n 's/.*native-static-libs: //p')

mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
cp include/job_sort_formula.h include/job_sort_formula.hpp "$prefix/include/"
cp "$folder/libjob_sort_formula_c.a" "$prefix/lib/libjob_sort_formula.a"
if command -v strip >/dev/null; then strip -S "$prefix/lib/libjob_sort_formula.a"; fi
cp "$folder/libjob_sort_formula_c.so" "$prefix/lib/libjob_sort_formula.so.$version"
ln -sf "libjob_sort_formula.so.$version" "$prefix/lib/$soname"
ln -sf "$soname" "$prefix/lib/libjob_sort_formula.so"
sed -e "s|@VERSION@|$version|" -e "s|@SYSTEM_LIBRARIES@|$system|" job-sort-formula.pc.in \
    >"$prefix/lib/pkgconfig/job-sort-formula.pc"
