#!/bin/sh
# Makes the files of a release in dist/.
#
# What enters: the commit that is checked out (what is not committed is left out), the crates of Cargo.lock, the packages of
# packaging/requirements.txt, and the installed Rust with targets that rustup adds. What leaves: archives of the binary, packages
# for Debian and RPM, Python wheels, recipes for Spack and EasyBuild, the sources with all crates, a list of what is inside (CycloneDX), and SHA256SUMS. Two builds
# of a commit with the same tools are equal to the byte, in whatever folders they are made.
#
#     packaging/build.sh [WORK]         WORK: a folder for everything that is made on the way [target/packaging]
#
#     JSF_MACHINES='x86_64 aarch64'     the machines to build for
#     JSF_DIST=dist                     where the files are put
#     JSF_TOOLS=WORK/tools              where the tools are installed
#
# Needs git, cargo, python3 with venv, and GNU tar, on Linux. The source archive is made first and everything is built from it,
# without a network: so it is complete, and all paths that could reach a binary begin with WORK, which is replaced.
set -eu
umask 022
case ${1-} in -*) echo "usage: packaging/build.sh [WORK]; WORK is a folder" >&2; exit 2 ;; esac
cd "$(dirname "$0")/.."
work=${1:-${CARGO_TARGET_DIR:-target}/packaging}
dist=${JSF_DIST:-dist}
machines=${JSF_MACHINES:-x86_64 aarch64}
glibc=2.17
mkdir -p "$work" "$dist"
work=$(cd "$work" && pwd -P)
dist=$(cd "$dist" && pwd -P)
case $work in *[[:space:]]*) echo "packaging: cargo cannot replace a path with a space: $work" >&2; exit 2 ;; esac

version=$(cargo pkgid | sed 's/.*[@#]//')
name=job-sort-formula-$version
source=$work/$name
tools=${JSF_TOOLS:-$work/tools}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC

say() {
    echo "packaging: $*" >&2
}

# archive FILE.tar.gz FOLDER: the same bytes for the same content
archive() {
    tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
        --file="${1%.gz}" -C "$(dirname "$2")" "$(basename "$2")"
    gzip -9nf "${1%.gz}"
}

install_tools() {
    say "tools"
    if ! cmp -s packaging/requirements.txt "$tools/requirements.txt"; then
        rm -rf "$tools"
        python3 -m venv "$tools"
        "$tools/bin/python" -m pip install --quiet --disable-pip-version-check -r packaging/requirements.txt
        cp packaging/requirements.txt "$tools/"
    fi
    PATH=$tools/bin:$PATH
    cargo install --quiet --locked --root "$tools" cargo-cyclonedx@0.5.9
    if command -v rustup >/dev/null; then
        for target in wasm32-unknown-unknown $(echo "$machines" | sed 's/[^ ]*/&-unknown-linux-gnu/g'); do
            rustup --quiet target add "$target"
        done
    fi
}

make_source() {
    say "the sources with all crates"
    rm -rf "$source"
    # with the time of now, by which cargo sees that they changed
    git archive --prefix="$name/" HEAD | tar --extract --touch -C "$work"
    cargo vendor --quiet --locked --versioned-dirs --manifest-path "$source/Cargo.toml" "$source/vendor" >/dev/null
    mkdir "$source/.cargo"
    cat >"$source/.cargo/config.toml" <<END
# All crates are in vendor/: \`cargo build --release --frozen\` needs no network.
[source.crates-io]
replace-with = "vendor"

[source.vendor]
directory = "vendor"

# for \`jsf --version\`
[env]
JSF_COMMIT = "$(git rev-parse --short=12 HEAD)"
END
    python3 packaging/notices.py "$source" >"$source/LICENSE-THIRD-PARTY"
    cp "$source/LICENSE-THIRD-PARTY" "$source/bindings/python/"
    archive "$dist/$name-source.tar.gz" "$source"
}

# compile MACHINE: the stripped binary, and the wheel
compile() {
    say "the binary and the wheel for $1"
    (
        cd "$source"
        target=$1-unknown-linux-gnu
        cargo zigbuild --quiet --frozen --profile dist --package jsf --target "$target.$glibc"
        # the wheel carries the command, which pip installs beside Python
        mkdir -p bindings/python/job_sort_formula.data/scripts
        cp "$CARGO_TARGET_DIR/$target/dist/jsf" bindings/python/job_sort_formula.data/scripts/jsf
        # maturin refuses a folder of data that is not there, so that only this script names it
        grep -q '^data = ' bindings/python/pyproject.toml ||
            sed -i 's/^python-source = .*/&\ndata = "job_sort_formula.data"/' bindings/python/pyproject.toml
        maturin build --quiet --frozen --profile dist --zig --compatibility manylinux2014 --target "$target" \
            --manifest-path bindings/python/Cargo.toml --out "$work/wheels" \
            --sbom-include "$source/bindings/python/job-sort-formula-python.cdx.json"
    )
}

# refuse_paths FILE...: nothing that leaves may say where it was built
refuse_paths() {
    for file in "$@"; do
        for path in "$work" "${CARGO_HOME:-$HOME/.cargo}" "${RUSTUP_HOME:-$HOME/.rustup}"; do
            if grep -aqF "$path" "$file"; then
                say "$file contains the path $path"
                exit 1
            fi
        done
    done
}

# what is the same for all machines: pages of the manual, completions, documents
make_share() {
    say "manual pages, completions and documents"
    rm -rf "$installed"
    "$source/packaging/install.sh" "$work/target/$(uname -m)-unknown-linux-gnu/dist/jsf" "$installed"
}

# make_recipes: what Spack and EasyBuild make from the source archive
make_recipes() {
    say "the recipes of Spack and EasyBuild"
    sum=$(sha256sum "$dist/$name-source.tar.gz" | cut -d' ' -f1)
    recipes=$work/$name-spack
    rm -rf "$recipes"
    mkdir -p "$recipes/packages/job-sort-formula"
    sed "s/@VERSION@/$version/; s/@SHA256@/$sum/" packaging/spack/package.py >"$recipes/packages/job-sort-formula/package.py"
    cp packaging/spack/repo.yaml "$recipes/"
    archive "$dist/$name-spack.tar.gz" "$recipes"
    easyconfig=$(sed -n "s/^toolchain = {'name': '\(.*\)', 'version': '\(.*\)'}/\1-\2/p" packaging/easybuild/job-sort-formula.eb)
    sed "s/@VERSION@/$version/; s/@SHA256@/$sum/" packaging/easybuild/job-sort-formula.eb >"$dist/$name-$easyconfig.eb"
}

# pack MACHINE: the archive and both packages
pack() {
    say "the archive and the packages for $1"
    tree=$work/$name-$1-linux-gnu
    rm -rf "$tree"
    mkdir -p "$tree/bin"
    cp "$work/target/$1-unknown-linux-gnu/dist/jsf" "$tree/bin/jsf"
    cp -R "$installed/share" "$tree/share"
    chmod -R u=rwX,go=rX "$tree"
    find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    archive "$dist/$name-$1-linux-gnu.tar.gz" "$tree"

    export RELEASE_TREE="$tree" VERSION="$version" ARCH ZSH_FOLDER
    case $1 in x86_64) ARCH=amd64 ;; aarch64) ARCH=arm64 ;; esac
    ZSH_FOLDER=vendor-completions
    nfpm package --config packaging/nfpm.yaml --packager deb --target "$dist/" >&2
    ZSH_FOLDER=site-functions
    nfpm package --config packaging/nfpm.yaml --packager rpm --target "$dist/" >&2
}

install_tools
rm -rf "$dist"/job[-_]sort[-_]formula* "$dist/SHA256SUMS" "$work/wheels"
make_source

export CARGO_TARGET_DIR="$work/target" CARGO_INCREMENTAL=0 CARGO_PROFILE_DIST_STRIP=symbols CARGO_PROFILE_DIST_DEBUG=none
export RUSTFLAGS="--remap-path-prefix=$source=/$name --remap-path-prefix=$CARGO_TARGET_DIR=/target"
export JSF_PAGE_MODULE="$CARGO_TARGET_DIR/job_sort_formula.wasm"
export ZIG_GLOBAL_CACHE_DIR="$work/zig" ZIG_LOCAL_CACHE_DIR="$work/zig" CARGO_ZIGBUILD_CACHE_DIR="$work/zigbuild"
say "the lists of what is inside"
(
    cd "$source"
    cargo cyclonedx --quiet --manifest-path crates/jsf/Cargo.toml --format json --spec-version 1.5 \
        --target x86_64-unknown-linux-gnu --no-build-deps
    cargo cyclonedx --quiet --manifest-path bindings/python/Cargo.toml --format json --spec-version 1.5 \
        --target x86_64-unknown-linux-gnu --no-build-deps
    mv crates/jsf/jsf.cdx.json job-sort-formula.cdx.json
    sed -i "s|file://$source|file:///$name|g" job-sort-formula.cdx.json bindings/python/job-sort-formula-python.cdx.json
)
say "the module of the pages"
sh "$source/bindings/wasm/build.sh" >&2
refuse_paths "$JSF_PAGE_MODULE"
for machine in $machines; do
    compile "$machine"
    refuse_paths "$CARGO_TARGET_DIR/$machine-unknown-linux-gnu/dist/jsf"
    python3 packaging/glibc_needs.py "$glibc" "$CARGO_TARGET_DIR/$machine-unknown-linux-gnu/dist/jsf"
done
installed=$work/installed
make_share
make_recipes
for machine in $machines; do
    pack "$machine"
done
for wheel in "$work"/wheels/*.whl; do
    rm -rf "$work/wheel"
    python3 -m zipfile -e "$wheel" "$work/wheel"
    find "$work/wheel" -type f >"$work/wheel-files"
    while read -r file; do
        refuse_paths "$file"
    done <"$work/wheel-files"
    cp "$wheel" "$dist/"
done

cp "$source/job-sort-formula.cdx.json" "$dist/$name.cdx.json"
refuse_paths "$dist/$name.cdx.json"

cd "$dist"
sha256sum -- job* >SHA256SUMS
ls -l
