#!/bin/sh
# Checks the files that packaging/build.sh has put into dist/, by installing and using each of them in a place of its own.
#
#     packaging/test.sh [--twice]       --twice: makes everything again in another folder first, and compares each byte
#
# What enters: dist/ (JSF_DIST names another folder) and the sources. What leaves: a line for each check, and the exit code.
# Needs what build.sh needs. As root on Debian it installs the packages that the checks use; a check that cannot be made says so.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
dist=$(cd "${JSF_DIST:-dist}" && pwd -P)
mkdir -p "${CARGO_TARGET_DIR:-target}/packaging-test"
work=$(cd "${CARGO_TARGET_DIR:-target}/packaging-test" && pwd -P)
machine=$(uname -m)
version=$(cargo pkgid | sed 's/.*[@#]//')
name=job-sort-formula-$version
documents=share/doc/job-sort-formula
# the example of the README, which every package must run in its folder of documents
example=$(sed -n 's/^cargo run -p jsf -- //p' README.md)
passed=0 failed=0 skipped=0

# check LABEL FUNCTION [ARGUMENT]...: what the function prints last is shown; its exit code 77 means that it cannot be made
check() {
    label=$1
    shift
    set +e
    (set -e; "$@") >"$work/log" 2>&1
    status=$?
    set -e
    case $status in
    0) passed=$((passed + 1)) && echo "ok: $label: $(tail -n 1 "$work/log")" ;;
    77) skipped=$((skipped + 1)) && echo "NOT TESTED: $label: $(tail -n 1 "$work/log")" ;;
    *)
        failed=$((failed + 1))
        echo "FAILED: $label (exit code $status)"
        sed 's/^/    /' "$work/log"
        ;;
    esac
}

# need PROGRAM: a check that cannot be made without it ends
need() {
    command -v "$1" >/dev/null || { echo "there is no $1"; exit 77; }
}

install_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends bash cpio debootstrap \
        environment-modules fish libc6-arm64-cross man-db qemu-user-static rpm rpm2cpio zsh; } >/dev/null 2>&1 || true
}

# run_example FOLDER COMMAND...: the README's example in a folder of documents prints the same everywhere
run_example() {
    folder=$1
    shift
    # shellcheck disable=SC2086 # the words of the example
    (cd "$folder" && "$@" $example) >"$work/printed"
    grep -q '^ *1  184794\.kestrel ' "$work/printed"
    [ -e "$work/example" ] || cp "$work/printed" "$work/example"
    cmp "$work/example" "$work/printed"
    sed -n '/^ *1  /p' "$work/printed"
}

sums() {
    cd "$dist"
    sha256sum --check --quiet SHA256SUMS
    find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort >"$work/found"
    sed 's/^[0-9a-f]*  //' SHA256SUMS | sort | diff - "$work/found"
    echo "$(wc -l <SHA256SUMS) files"
}

# archive MACHINE: unpacked, it runs where it is
archive() {
    tar -xzf "$dist/$name-$1-linux-gnu.tar.gz" -C "$work/unpacked"
    tree=$work/unpacked/$name-$1-linux-gnu
    python3 packaging/glibc_needs.py 2.17 "$tree/bin/jsf"
    if [ "$1" = "$machine" ]; then
        run_example "$tree/$documents" "$tree/bin/jsf"
        (cd "$tree/$documents" && "$tree/bin/jsf" page --site examples/site --out "$work/page.html")
        "$tree/bin/jsf" --version
    elif [ "$1" = aarch64 ]; then
        need qemu-aarch64-static
        [ -d /usr/aarch64-linux-gnu ] || { echo "there is no C library for $1"; exit 77; }
        run_example "$tree/$documents" qemu-aarch64-static -L /usr/aarch64-linux-gnu "$tree/bin/jsf"
        qemu-aarch64-static -L /usr/aarch64-linux-gnu "$tree/bin/jsf" --version
    else
        echo "nothing here runs programs for $1"
        exit 77
    fi
}

manual() {
    tree=$work/unpacked/$name-$machine-linux-gnu
    commands=$("$tree/bin/jsf" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -v '^help$')
    need man
    for page in jsf $(echo "$commands" | sed 's/^/jsf-/'); do
        MANROFFSEQ='' man --warnings=w -l "$tree/share/man/man1/$page.1.gz" 2>&1 >/dev/null | tee "$work/warnings"
        [ ! -s "$work/warnings" ]
    done
    pages=$(find "$tree/share/man/man1" -type f | wc -l)
    [ "$pages" = $(($(echo "$commands" | wc -l) + 1)) ]
    echo "$pages pages"
}

# completions SHELL FILE OPTION: the shell reads it without an error
completions() {
    need "$1"
    "$1" "$3" "$work/unpacked/$name-$machine-linux-gnu/share/$2"
    echo "$(wc -c <"$work/unpacked/$name-$machine-linux-gnu/share/$2") bytes"
}

# the oldest Debian that can be had, and the package in it
old_debian() {
    need debootstrap
    [ "$machine" = x86_64 ] || { echo "for x86_64 only"; exit 77; }
    for suite in buster bullseye bookworm; do
        debian=$work/$suite
        [ ! -e "$debian/usr/bin/dpkg" ] || break
        rm -rf "$debian"
        ! debootstrap --variant=minbase "$suite" "$debian" || break
    done
    [ -e "$debian/usr/bin/dpkg" ] || { echo "debootstrap gets no Debian"; exit 77; }
    cp "$dist"/job-sort-formula_*_amd64.deb "$debian/tmp/jsf.deb"
    chroot "$debian" dpkg --install /tmp/jsf.deb
    run_example "$debian/usr/$documents" chroot "$debian" sh -c 'cd /usr/share/doc/job-sort-formula && exec jsf "$@"' sh
    chroot "$debian" dpkg --verify job-sort-formula
    chroot "$debian" dpkg --purge job-sort-formula
    [ ! -e "$debian/usr/$documents" ]
    echo "Debian $(cat "$debian/etc/debian_version"), $(chroot "$debian" ldd --version | head -n 1)"
}

# deb ARCHITECTURE MACHINE: the package has what the archive has
deb() {
    need dpkg-deb
    rm -rf "$work/deb"
    dpkg-deb --extract "$dist"/job-sort-formula_*_"$1".deb "$work/deb"
    mkdir -p "$work/deb/usr/share/zsh/site-functions"
    mv "$work/deb/usr/share/zsh/vendor-completions/_jsf" "$work/deb/usr/share/zsh/site-functions/"
    rmdir "$work/deb/usr/share/zsh/vendor-completions"
    diff -r --exclude=modulefiles "$work/deb/usr" "$work/unpacked/$name-$2-linux-gnu"
    dpkg-deb --field "$dist"/job-sort-formula_*_"$1".deb Depends
}

# an_rpm MACHINE: what it lists, that it runs nothing when it is installed, and that it has what the archive has
an_rpm() {
    need rpm
    need rpm2cpio
    file=$(echo "$dist"/job-sort-formula-*."$1".rpm)
    [ -z "$(rpm -qp --scripts --triggers "$file")" ]
    # it owns no folder of the system
    if rpm -qplv "$file" | grep '^d' | grep -v '/usr/share/doc/job-sort-formula'; then exit 1; fi
    rm -rf "$work/rpm"
    mkdir "$work/rpm"
    (cd "$work/rpm" && rpm2cpio "$file" | cpio --quiet -idm)
    diff -r --exclude=modulefiles "$work/rpm/usr" "$work/unpacked/$name-$1-linux-gnu"
    if [ "$(id -u)" = 0 ] && [ "$1" = "$machine" ]; then
        rm -rf "$work/rpm-root"
        mkdir "$work/rpm-root"
        rpm --root "$work/rpm-root" --nodeps --nosignature --install "$file"
        rpm --root "$work/rpm-root" --verify --nodeps job-sort-formula
        run_example "$work/rpm-root/usr/$documents" "$work/rpm-root/usr/bin/jsf"
    fi
    echo "$(rpm -qpl "$file" | wc -l) files, $(rpm -qp --requires "$file" | tr '\n' ' ')"
}

# the wheel in an environment of its own, by the README's example
wheel() {
    rm -rf "$work/venv" "$work/wheel"
    python3 -m venv "$work/venv"
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$dist"/*"$machine".whl
    library=$(find "$work/venv" -name '*.so' -path '*job_sort_formula*')
    python3 packaging/glibc_needs.py 2.17 "$library"
    find "$work/venv" -path '*job_sort_formula*' -name LICENSE-THIRD-PARTY | grep -q .
    sed -n '/^```python/,/^```/p' README.md | sed '/^```/d' >"$work/readme.py"
    (cd "$work/unpacked/$name-$machine-linux-gnu/$documents" && "$work/venv/bin/python" -I "$work/readme.py") >"$work/printed"
    printf '[52.0, 27.0]\n184103.kestrel\n' | cmp - "$work/printed"
    run_example "$work/unpacked/$name-$machine-linux-gnu/$documents" "$work/venv/bin/jsf"
    (cd "$work/unpacked/$name-$machine-linux-gnu/$documents" && "$work/venv/bin/jsf" page --site examples/site --out "$work/page.html")
    basename "$dist"/*"$machine".whl
}

# the environment module, which finds its own prefix
module_file() {
    [ -e /usr/share/modules/init/bash ] || { echo "there are no Environment Modules"; exit 77; }
    # shellcheck disable=SC2016 # for the other shell
    bash -c '. /usr/share/modules/init/bash
        module use "$1/share/modulefiles" && module load jsf && command -v jsf && module unload jsf && ! command -v jsf' \
        bash "$work/unpacked/$name-$machine-linux-gnu" >"$work/found"
    echo "$work/unpacked/$name-$machine-linux-gnu/bin/jsf" | cmp - "$work/found"
    cat "$work/found"
}

# EasyBuild checks the style of its recipe, and makes and tests the module, with the compilers that are here instead of its own
easybuild() {
    [ -e /usr/share/modules/init/bash ] || { echo "there are no Environment Modules"; exit 77; }
    rm -rf "$work/easybuild"
    python3 -m venv "$work/easybuild"
    EB_PYTHON=$work/easybuild/bin/python
    export EB_PYTHON EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES=1
    "$EB_PYTHON" -m pip install --quiet --disable-pip-version-check easybuild-framework easybuild-easyblocks pycodestyle ||
        { echo "pip cannot get EasyBuild"; exit 77; }
    sed '/^builddependencies/,/^]/d; s/^toolchain = .*/toolchain = SYSTEM/' "$dist/$name"-*.eb >"$work/easybuild/$name.eb"
    # shellcheck disable=SC2016 # for the other shell
    bash -c '. /usr/share/modules/init/bash && "$@" --check-style "$0" && "$@" "$0"' "$work/easybuild/$name.eb" \
        "$work/easybuild/bin/eb" --prefix "$work/easybuild" --sourcepath "$dist" --modules-tool EnvironmentModules --module-syntax Tcl
    run_example "$work/easybuild/software/job-sort-formula/$version/$documents" \
        "$work/easybuild/software/job-sort-formula/$version/bin/jsf"
}

# Spack builds the source archive beside its recipe, and runs the recipe's test
spack_recipe() {
    need spack
    rm -rf "$work/$name-spack" "$work/spack"
    mkdir "$work/spack"
    tar -xzf "$dist/$name-spack.tar.gz" -C "$work"
    cp "$dist/$name-source.tar.gz" "$work/$name-spack/packages/job-sort-formula/"
    export SPACK_USER_CONFIG_PATH="$work/spack" SPACK_USER_CACHE_PATH="$work/spack"
    # `spack external find` of some versions takes the folder of the binaries for that of the installation
    cat >"$work/spack/packages.yaml" <<END
packages:
  rust:
    buildable: false
    externals:
      - spec: rust@$(rustc --version | cut -d ' ' -f 2)
        prefix: $(rustc --print sysroot)
END
    spack repo add "$work/$name-spack"
    spack install job-sort-formula
    spack test run job-sort-formula
    jsf=$(spack location --install-dir job-sort-formula)/bin/jsf
    run_example "${jsf%/bin/jsf}/$documents" "$jsf"
}

# the source archive builds without a network and without what cargo has downloaded before
source_archive() {
    tar -xzf "$dist/$name-source.tar.gz" -C "$work/unpacked"
    rm -rf "$work/cargo-home"
    mkdir "$work/cargo-home"
    without_network=
    ! unshare --net true 2>/dev/null || without_network='unshare --net'
    (
        cd "$work/unpacked/$name"
        # shellcheck disable=SC2086
        CARGO_HOME=$work/cargo-home CARGO_TARGET_DIR=$work/target CARGO_PROFILE_DEV_DEBUG=0 \
            $without_network cargo build --quiet --offline --frozen
    )
    run_example "$work/unpacked/$name" "$work/target/debug/jsf"
    "$work/target/debug/jsf" --version | grep "$(git rev-parse --short=12 HEAD)"
    rm -rf "$work/unpacked/$name" "$work/target"
}

# the notices are those of the crates in Cargo.lock, and the list of what is inside names each crate of the command
notices() {
    python3 packaging/notices.py "$root" >"$work/notices"
    cmp "$work/notices" "$work/unpacked/$name-$machine-linux-gnu/$documents/LICENSE-THIRD-PARTY"
    python3 - "$work/notices" "$dist/$name.cdx.json" <<'END'
import json, sys

with open(sys.argv[2]) as file:
    document = json.load(file)
listed = {(component["name"], component["version"]) for component in document["components"]}
with open(sys.argv[1]) as file:
    rows = [[cell.strip() for cell in line.split("|")[1:5]] for line in file if line.startswith("| ")]
command = {(name, version) for name, version, licence, products in rows if "command" in products.split(", ")}
assert document["bomFormat"] == "CycloneDX" and command, document
assert command <= listed, command - listed
print(f"{len(command)} crates in the command, {len(rows) - 1} in all products, {len(listed)} in the CycloneDX document")
END
}

# another clone, another folder to work in, other settings of the user
twice() {
    rm -rf "$work/again"
    mkdir -p "$work/again/deeper"
    git clone --quiet . "$work/again/deeper/clone"
    (
        cd "$work/again/deeper/clone"
        unset CARGO_TARGET_DIR
        umask 077
        TZ=Asia/Tokyo LANG=C.UTF-8 JSF_DIST=$work/again/dist JSF_TOOLS=$tools packaging/build.sh "$work/again/work"
    )
    (cd "$work/again/dist" && sha256sum -- *) >"$work/again/sums"
    (cd "$dist" && sha256sum -- *) | diff - "$work/again/sums"
    rm -rf "$work/again/deeper" "$work/again/work"
    echo "$(wc -l <"$work/again/sums") files are equal"
}

tools=$(mkdir -p "${CARGO_TARGET_DIR:-target}/packaging/tools" && cd "${CARGO_TARGET_DIR:-target}/packaging/tools" && pwd -P)
rm -rf "$work/unpacked" "$work/example"
mkdir -p "$work/unpacked"
[ "${1-}" != --twice ] || check "two builds" twice
install_packages
check "sums" sums
check "archive for $machine" archive "$machine"
for other in x86_64 aarch64; do
    [ "$other" = "$machine" ] || [ ! -e "$dist/$name-$other-linux-gnu.tar.gz" ] || check "archive for $other" archive "$other"
done
check "manual pages" manual
check "completions for bash" completions bash bash-completion/completions/jsf -n
check "completions for zsh" completions zsh zsh/site-functions/_jsf -n
check "completions for fish" completions fish fish/vendor_completions.d/jsf.fish --no-execute
check "deb on an old Debian" old_debian
for pair in "amd64 x86_64" "arm64 aarch64"; do
    [ -d "$work/unpacked/$name-${pair#* }-linux-gnu" ] || continue
    # shellcheck disable=SC2086 # two words
    check "deb for ${pair#* }" deb $pair
    check "rpm for ${pair#* }" an_rpm "${pair#* }"
done
check "wheel" wheel
check "environment module" module_file
check "EasyBuild" easybuild
check "Spack" spack_recipe
check "source archive" source_archive
check "notices" notices
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
