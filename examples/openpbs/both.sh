#!/bin/sh
# Scores the server's queue both ways, by Python and by the library, in the scheduler that runs, and compares every value and
# every text of an error. The scheduler goes on with Python's values meanwhile. As root on the server.
#
#     both.sh [FILE...]     further formulas, one a line, that are compared as well
#
# Exits with 1 if something differs, and with 2 if there was nothing to compare.
set -eu
. "${PBS_CONF_FILE:-/etc/pbs.conf}"
cat -- "$@" </dev/null >"${TMPDIR:-/tmp}/jsf_both.$$"
cd "${SCHED_PRIV:-$PBS_HOME/sched_priv}"
scheduler=$(tr -d ' \n' <sched.lock)
stop() { rm -f jsf_both; kill -HUP "$scheduler"; }
trap stop EXIT

rm -f jsf_both.out
mv "${TMPDIR:-/tmp}/jsf_both.$$" jsf_both
kill -HUP "$scheduler"                                 # it reads the formulas, and compares from now on
scheduling=$("$PBS_EXEC/bin/qmgr" -c 'print server scheduling' | grep '^set')
sleep 1
"$PBS_EXEC/bin/qmgr" -c 'set server scheduling = True'  # it begins a cycle
seconds=0
until [ -s jsf_both.out ]; do
    [ "$seconds" -lt "${WAIT:-60}" ] || { echo "no job was evaluated in ${WAIT:-60} s: is it the patched pbs_sched, and is a formula set?" >&2; exit 2; }
    seconds=$((seconds + 1))
    sleep 1
done
"$PBS_EXEC/bin/qmgr" -c "$scheduling"
stop
trap - EXIT
while find "/proc/$scheduler/fd" -lname '*/jsf_both.out' 2>/dev/null | grep -q .; do sleep 1; done

awk -F'\t' '
    { jobs[$9]++; python_ns[$9] += $2; ours_ns[$9] += $3; count[$9, $1]++ }
    $1 == "differs" { differs = 1; if (count[$9, $1] <= 2) printf "%s: %s, Python %s %s, library %s %s\n", $9, $8, $4, $6, $5, $7 }
    END {
        printf "%8s %8s %8s %12s %12s\n", "same", "Python", "differ", "Python ns", "library ns"
        for (formula in jobs)
            printf "%8d %8d %8d %12.0f %12.0f  %s\n", count[formula, "same"], count[formula, "python"], count[formula, "differs"],
                   python_ns[formula] / jobs[formula], ours_ns[formula] / jobs[formula], formula
        exit differs
    }' jsf_both.out
