#!/bin/sh
# Collects what `jsf --site FOLDER` reads, on a login node of PBS or Slurm. It only reads, and needs no root: what fails
# is noted in FOLDER/missing.txt, and the rest goes on. The exit status is 0 if something was collected, 1 if nothing was,
# and 2 if the folder exists already or cannot be made.
#
# usage: sh capture.sh [--without-environment] [FOLDER]
# With --without-environment, the environments of jobs (Variable_List) are left out.

without_environment=
if [ "${1-}" = --without-environment ]; then
    without_environment=1
    shift
fi
case ${1-} in
-*)
    echo "usage: sh capture.sh [--without-environment] [FOLDER]; FOLDER is the name of a new folder" >&2
    exit 2
    ;;
esac
umask 077
conf=${PBS_CONF_FILE:-/etc/pbs.conf}
prefix=${PBS_EXEC:-}
if [ -z "$prefix" ] && [ -r "$conf" ]; then
    prefix=$(sed -n 's/^PBS_EXEC=//p' "$conf" | tail -n 1)
fi
prefix=${prefix:-/opt/pbs}
# the PATH of sudo is often without PBS
command -v qstat >/dev/null 2>&1 || PATH=$PATH:$prefix/bin
folder=${1:-site-$(date +%Y%m%d-%H%M%S)}
if [ -e "$folder" ]; then
    echo "capture: $folder exists already; give the name of a new folder" >&2
    exit 2
fi
if ! command -v qstat >/dev/null 2>&1 && ! command -v sshare >/dev/null 2>&1; then
    echo "capture: neither qstat of PBS nor sshare of Slurm is on the PATH, so nothing was collected and no folder was made;" >&2
    echo "capture: run this on a login node of the cluster" >&2
    exit 1
fi
mkdir -p "$(dirname "$folder")" || exit 2
# fails if somebody else has made it in the meantime
mkdir "$folder" || exit 2
missing=$folder/missing.txt
found=0

note() {
    printf '%s\n' "$1" >>"$missing"
}

# save FILE COMMAND…: the output of a command, unless it fails or prints nothing
save() {
    file=$1
    shift
    command -v "$1" >/dev/null 2>&1 || return 1
    mkdir -p "$(dirname "$folder/$file")"
    if "$@" >"$folder/$file" 2>"$folder/.error" && [ -s "$folder/$file" ]; then
        found=$((found + 1))
    else
        # without control characters, which a terminal would follow
        reason=$(head -n 1 "$folder/.error" | LC_ALL=C tr -d '\000-\037\177')
        note "$file: $* failed: ${reason:-no output}"
        rm -f "$folder/$file" "$folder/.error"
        return 1
    fi
    rm -f "$folder/.error"
}

# save_jobs FILE COMMAND…: the same of a command that prints environments, which are left out if that is asked for
save_jobs() {
    save "$@" || return 1
    if [ -z "$without_environment" ]; then return 0; fi
    mv "$folder/$1" "$folder/.jobs"
    drop_environment <"$folder/.jobs" >"$folder/$1"
    rm -f "$folder/.jobs"
    if grep -q PBS_O_ "$folder/$1" || [ ! -s "$folder/$1" ]; then
        rm -f "$folder/$1"
        found=$((found - 1))
        note "$1: the environments of jobs could not be left out"
        return 1
    fi
}

# drop_environment: Variable_List in JSON becomes an empty object, and in text it is left out. A value may have several lines.
drop_environment() {
    LC_ALL=C awk '
        # a brace at the indentation of the object closes it, unless it belongs to a value
        end != "" && !/^[ \t]*["}]/ { end = ""; next }
        end != "" { print end; end = ""; json = 0 }
        json && ($0 == indent "}" || $0 == indent "},") { end = $0; next }
        json { next }
        /^[ \t]*"Variable_List":[ \t]*\{[ \t]*$/ { print; match($0, /^[ \t]*/); indent = substr($0, 1, RLENGTH); json = 1; next }
        /^ *Variable_List = / { text = 1; next }
        text && !/^ *[A-Za-z_][A-Za-z0-9_.]* = / && !/^Job Id: / && !/^Resv ID: / { next }
        { text = 0; print }
        END { if (end != "") print end }
    '
}

# copy FILE PATH: a file that may be readable by root only
copy() {
    if [ -r "$2" ]; then
        mkdir -p "$(dirname "$folder/$1")"
        if cp "$2" "$folder/$1" 2>/dev/null; then
            found=$((found + 1))
            return 0
        fi
    fi
    note "$1: $2 cannot be read by $(id -un)"
}

# python_version PREFIX: the Python that the PBS in PREFIX evaluates formulas with: the one that PBS brings, else the library
# that the scheduler is linked with, else the one that pbs_python starts
python_version() {
    {
        for python in "$1/python/bin/python" "$1/python/bin/python3"; do
            if [ -x "$python" ]; then "$python" --version 2>&1; fi
        done
        if command -v ldd >/dev/null 2>&1 && [ -r "$1/sbin/pbs_sched" ]; then
            ldd "$1/sbin/pbs_sched" 2>/dev/null | sed -n 's/.*libpython\([0-9][0-9.]*\).*/Python \1/p' | sed 's/\.$//'
        fi
        pbs_python=$1/bin/pbs_python
        if [ ! -x "$pbs_python" ]; then pbs_python=$(command -v pbs_python); fi
        if [ -n "$pbs_python" ]; then
            # some versions print that of PBS
            "$pbs_python" --version 2>&1
            "$pbs_python" -c 'import sys; print("Python %d.%d.%d" % sys.version_info[:3])' 2>&1
        fi
    } </dev/null | LC_ALL=C sed -n 's/^\(Python [0-9][0-9.]*\).*/\1/p' | head -n 1
}

LC_ALL=C date -u >"$folder/ctime"

if command -v qstat >/dev/null 2>&1; then
    # with the subjobs of arrays, which tell what the running ones hold
    save_jobs qstat.json qstat -t -f -F json || save_jobs qstat.json qstat -f -F json || save_jobs qstat.txt qstat -f
    save server.json qstat -Bf -F json || save server.txt qstat -Bf
    save queues.json qstat -Qf -F json || save queues.txt qstat -Qf
    save pbsnodes.json pbsnodes -av -F json || save pbsnodes.txt pbsnodes -av
    # it prints nothing if there is no reservation
    if [ -n "$(pbs_rstat -f 2>&1)" ]; then save_jobs pbs_rstat.txt pbs_rstat -f; fi
    save qmgr_print_server.txt qmgr -c 'print server'
    save qmgr_list_sched.txt qmgr -c 'list sched'
    save qmgr_print_resource.txt qmgr -c 'print resource'
    home=${PBS_HOME:-}
    if [ -z "$home" ] && [ -r "$conf" ]; then
        home=$(sed -n 's/^PBS_HOME=//p' "$conf" | tail -n 1)
    fi
    home=${home:-/var/spool/pbs}
    for name in sched_config resource_group usage sched_formula; do
        copy "sched_priv/$name" "$home/sched_priv/$name"
    done
    copy resourcedef "$home/server_priv/resourcedef"
    version=$(python_version "$prefix")
    if [ "$found" -eq 0 ]; then
        : # these say nothing without the rest
    elif [ -n "$version" ]; then
        printf '%s\n' "$version" >"$folder/python_version.txt"
        found=$((found + 1))
    else
        note "python_version.txt: no Python of PBS was found in $prefix; run this on the server's host, or write \"Python X.Y\" there"
    fi
    # a login node may have another system than the server
    if [ "$found" -gt 0 ] && [ -e "$prefix/sbin/pbs_sched" ]; then
        copy os_release.txt "${OS_RELEASE:-/etc/os-release}"
    elif [ "$found" -gt 0 ]; then
        note "os_release.txt: this host has no $prefix/sbin/pbs_sched, so its system may not be the server's"
    fi
fi

if command -v sshare >/dev/null 2>&1; then
    save sshare.json sshare -a --json || save sshare.txt sshare -a -l -P
    save scontrol_show_config.txt scontrol show config
    copy slurm.conf "${SLURM_CONF:-/etc/slurm/slurm.conf}"
fi

# who called sudo can read the folder
if [ -n "${SUDO_UID-}" ] && [ "$(id -u)" -eq 0 ]; then
    chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$folder"
fi
if [ "$found" -eq 0 ]; then
    echo "capture: no command gave anything, and no file could be read, so no folder is left:" >&2
    cat "$missing" >&2
    rm -f "$missing" "$folder/ctime"
    rmdir "$folder/sched_priv" "$folder" 2>/dev/null
    exit 1
fi
echo "capture: $found files in $folder"
if [ -s "$missing" ]; then
    echo "capture: what could not be read:"
    cat "$missing"
fi
