#!/bin/sh
# Installs a built jsf with its manual pages, completions, environment module, documents and examples.
#
#     packaging/install.sh JSF PREFIX       JSF: a binary that runs here, such as target/dist/jsf
#
# The module file finds its prefix by itself, so that the folder may be moved: module use PREFIX/share/modulefiles
set -eu
usage() { echo "usage: packaging/install.sh JSF PREFIX" >&2; exit 2; }
[ $# = 2 ] || usage
case $2 in '' | -*) usage ;; esac
jsf=$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")
mkdir -p "$2"
prefix=$(cd "$2" && pwd -P)
cd "$(dirname "$0")/.."

share=$prefix/share
man=$share/man/man1
documents=$share/doc/job-sort-formula
mkdir -p "$prefix/bin" "$man" "$share/bash-completion/completions" "$share/zsh/site-functions" \
    "$share/fish/vendor_completions.d" "$share/modulefiles/jsf" "$documents/examples"
cp "$jsf" "$prefix/bin/jsf"
"$jsf" man | gzip -9n >"$man/jsf.1.gz"
for command in $("$jsf" man | sed -n 's/^jsf\\-\([a-z]*\)(1)$/\1/p'); do
    "$jsf" man "$command" | gzip -9n >"$man/jsf-$command.1.gz"
done
"$jsf" completions bash >"$share/bash-completion/completions/jsf"
"$jsf" completions zsh >"$share/zsh/site-functions/_jsf"
"$jsf" completions fish >"$share/fish/vendor_completions.d/jsf.fish"
version=$("$jsf" --version | sed -n '1s/^jsf \([^ ]*\).*/\1/p')
sed "s/@VERSION@/$version/" packaging/modulefile.tcl >"$share/modulefiles/jsf/$version"
cp -R README.md CHANGELOG.md SECURITY.md LICENSE-* docs "$documents/"
cp -R examples/README.md examples/captured examples/ci examples/formulas examples/goals.toml examples/site examples/slurm examples/slurm_new.conf "$documents/examples/"
{
    echo "job-sort-formula is under the MIT licence, which follows, or the Apache License, Version 2.0 (LICENSE-APACHE), as"
    echo "you like. It contains software under other licences: LICENSE-THIRD-PARTY. All of them are in this folder."
    echo
    cat LICENSE-MIT
} >"$documents/copyright"
