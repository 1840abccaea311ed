#!/bin/sh
# Sets job_sort_formula to the formula in a file, unless `jsf check` finds an error in it, no site is given, the site's queue is
# empty, or the server has it already; with --deny JSF617 also unless it was tried on some job. With --threshold X it sets
# job_sort_formula_threshold of the scheduler, too.
#
#     set-formula.sh [--check] FILE [OPTION of jsf check]...
#     set-formula.sh --check formula.txt --site my-site --deny warnings
#     set-formula.sh before.txt --force    a formula that has an error, such as the way back, or that is tried on no job
#
# --check: changes nothing, and says whether the formula would be changed. Needs jsf, and qmgr as a manager of PBS.
# Standard output is `changed` or `unchanged`; everything else is on standard error. Exit codes: 0 success, 1 the formula is
# refused, by jsf or by the server, 2 wrong usage, or something that cannot be read.
set -eu

dry_run=
if [ "${1-}" = --check ]; then
    dry_run=yes
    shift
fi
case ${1-} in
'' | -*)
    echo "usage: $0 [--check] FILE [OPTION of jsf check]..." >&2
    exit 2
    ;;
esac
file=$1
shift

# formula_in FILE: the formula in the first line, which is all that PBS keeps, with normalised spaces, or nothing
formula_in() {
    jsf fmt --formula-file "$1" 2>/dev/null | head -n 1
}

# with --force, the command is printed for a formula with an error too, and the exit code is 1
set_command=$(jsf check --formula-file "$file" "$@" --qmgr) || { status=$?; [ -n "$set_command" ] || exit "$status"; }
case "${JSF_SITE:+--site} $* " in
*--site* | *--queue* | *--force*) ;;
*)
    echo "$0: the formula was tried on no job: give the site (--site PATH), or --force" >&2
    exit 1
    ;;
esac
wanted=$(formula_in "$file")
[ -n "$wanted" ] || exit 1
server=$(mktemp)
trap 'rm -f "$server"' EXIT
qmgr -c 'print server' >"$server" || exit 2

# thresholds: reads directives, and prints the number of each that sets a threshold
thresholds() {
    sed -n "s/.*job_sort_formula_threshold = \([^']*\).*/\1/p" | awk '{ print $1 + 0 }'
}

# is_in_force: whether the server has the formula, and the scheduler the threshold, if one is given
is_in_force() {
    [ "$(formula_in "$server")" = "$wanted" ] || return 1
    threshold=$(printf '%s\n' "$set_command" | thresholds)
    [ -z "$threshold" ] || qmgr -c 'print sched' | thresholds | grep -qxF -e "$threshold"
}

if is_in_force; then
    echo unchanged
    exit 0
fi
if [ -z "$dry_run" ]; then
    sh -c "$set_command" >&2 || exit 1
    qmgr -c 'print server' >"$server" || exit 2
    if ! is_in_force; then
        echo "$0: qmgr accepted the commands, but the formula or the threshold is another one" >&2
        exit 1
    fi
fi
echo changed
