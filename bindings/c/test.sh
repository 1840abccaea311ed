#!/usr/bin/env bash
# Builds the C library and tests it: the tests in Rust (the header, random columns, allocations), then programs in C and C++,
# plain and under valgrind where it is installed. Needs cargo, gcc and python3; C++ is tested where g++ is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
out=$target/bindings-c
rm -rf "$out"
mkdir -p "$out"

# a tool that is missing is a failure where CI is true
not_tested() {
    echo "$1" >&2
    [ "${CI:-}" != true ]
}

# the command that the tests of the library built; the C library has no debug information, which valgrind reads slowly
cargo build --quiet --package jsf
export PROFILE=dev CARGO_PROFILE_DEV_DEBUG=0
cargo test --quiet -p job-sort-formula-c
bindings/c/install.sh "$out/prefix"

# as a user compiles: by what pkg-config says, or by hand where it is not installed
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$out/prefix/lib/pkgconfig
    flags=$(pkg-config --cflags --libs job-sort-formula)
    system=$(pkg-config --static --libs-only-l job-sort-formula | sed 's/-ljob_sort_formula//')
else
    not_tested "pkg-config is not installed: job-sort-formula.pc is not tested"
    flags="-I$out/prefix/include -L$out/prefix/lib -ljob_sort_formula"
    system="-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc"
fi
static="-I$out/prefix/include $out/prefix/lib/libjob_sort_formula.a $system"
export LD_LIBRARY_PATH=$out/prefix/lib
strict="-O1 -g -Wall -Wextra -Werror -pedantic"

# no symbol leaves the library that is not of the interface
if nm -D --defined-only "$out/prefix/lib/libjob_sort_formula.so" | grep -v ' jsf_'; then
    echo "libjob_sort_formula.so exports other symbols" >&2
    exit 1
fi

# nor debug information
for library in libjob_sort_formula.a libjob_sort_formula.so; do
    if readelf --sections "$out/prefix/lib/$library" | grep -q debug_info; then
        echo "$library is not stripped" >&2
        exit 1
    fi
done
[ "$(wc -l <bindings/c/include/job_sort_formula.hpp)" -le 150 ]

# the programs in the documentation
sed -n '/^```c$/,/^```$/p' bindings/c/README.md | sed '/^```/d' >"$out/readme.c"
sed -n '/^ \*     #include/,/^ \*     }$/s/^ \*     \{0,1\}//p' bindings/c/include/job_sort_formula.h >"$out/header.c"

# shellcheck disable=SC2086
compile() { # NAME SOURCE LINK…
    local name=$1 source=$2
    shift 2
    gcc -std=c99 $strict -Ibindings/c/tests "$source" -o "$out/$name" "$@" -lpthread
}
for test in functions hostile threads ask_site; do
    compile "$test" "bindings/c/tests/$test.c" $flags
done
compile scheduler bindings/c/examples/scheduler.c $flags
compile scheduler-static bindings/c/examples/scheduler.c $static
compile readme "$out/readme.c" $flags
compile header "$out/header.c" $flags
if command -v g++ >/dev/null; then
    g++ -std=c++17 $strict bindings/c/tests/interface.cpp -o "$out/interface" $flags
    g++ -std=c++17 $strict bindings/c/examples/scheduler.cpp -o "$out/scheduler-cpp" $flags
    g++ -std=c++17 $strict -fsyntax-only -x c++ bindings/c/include/job_sort_formula.h
else
    not_tested "g++ is not installed: the interface is not tested in C++"
fi

valgrind=()
if command -v valgrind >/dev/null; then
    # the memory of threads that live as long as the process is "possibly lost"
    valgrind=(valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite,indirect
        --errors-for-leak-kinds=definite,indirect)
else
    not_tested "valgrind is not installed: the programs run without it only"
fi
# twice: plain, and under valgrind
run() {
    local name=$1
    shift
    "$out/$name" "$@" >"$out/$name.txt"
    if [ ${#valgrind[@]} -gt 0 ]; then
        "${valgrind[@]}" "$out/$name" "$@" >"$out/$name.valgrind.txt"
        cmp "$out/$name.txt" "$out/$name.valgrind.txt"
    fi
    echo "$name: passed"
}
# the formulas of the pages about findings
sed -n '/^```python$/,/^```$/p' src/diagnostic/pages/*.md | grep -v '^```' >"$out/formulas.txt"
run functions examples/site "$out/formulas.txt"
run hostile
run threads
if [ -x "$out/interface" ]; then
    run interface
    run scheduler-cpp
    cmp "$out/scheduler-cpp.txt" bindings/c/examples/scheduler-cpp.txt
fi
run header
run readme
run scheduler
run scheduler-static
cmp "$out/scheduler.txt" bindings/c/examples/scheduler.txt
cmp "$out/scheduler-static.txt" bindings/c/examples/scheduler.txt
printf 'job 1: 75.125\njob 2: 57\njob 0: 29\njob 3: 0\ndivision by zero: 8 / ncpus\n' | cmp - "$out/readme.txt"
printf '4\n0.141667\n0 (failed)\n' | cmp - "$out/header.txt"

for formula in examples/formulas/pp718.txt examples/formulas/alcf.txt; do
    text=$(cat "$formula")
    "$target/debug/jsf" rank "$text" --site examples/site --format json >"$out/rank.json" 2>"$out/rank.txt" || cat "$out/rank.txt"
    "$out/ask_site" rank "{\"site\":\"examples/site\",\"formula\":\"$text\"}" | python3 bindings/c/tests/compare_ranks.py "$out/rank.json"
done

if command -v cargo-cbuild >/dev/null; then
    cargo cinstall --manifest-path bindings/c/Cargo.toml --profile dev --prefix "$out/cargo-c"
    find "$out/cargo-c" -name job-sort-formula.pc | grep -q .
    find "$out/cargo-c" -name libjob_sort_formula.a | grep -q .
else
    # it takes longer to build than all else here, so it is not asked of a machine where CI is true
    echo "cargo-c is not installed: its metadata in Cargo.toml is not tested" >&2
fi

# the sanitizer has to see the standard library, which is then built from its sources
if [ -d "$(rustc +nightly --print sysroot 2>/dev/null)/lib/rustlib/src" ]; then
    bindings/c/tests/thread_sanitizer.sh
else
    echo "a nightly Rust with rust-src is not installed: the threads are not tested under the thread sanitizer" >&2
fi
