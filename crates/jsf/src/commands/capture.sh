#!/bin/sh
# Collects what `jsf --site FOLDER` reads, on a login node of PBS or Slurm. It only reads, and needs no root: what fails
# is noted in FOLDER/missing.txt, and the rest goes on. The exit status is 0 if something was collected, 1 if nothing was,
# and 2 if the folder exists already or cannot be made.
#
# usage: sh capture.sh [--without-environment] [FOLDER]
# With --without-environment, the environments of jobs (Variable_List) are left out. Of Slurm's jobs neither names nor
# commands, folders or comments are collected.

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

# filter FILE COMMAND…: a saved file becomes what the command makes of it
filter() {
    file=$1
    shift
    mv "$folder/$file" "$folder/.whole"
    LC_ALL=C "$@" <"$folder/.whole" >"$folder/$file"
    rm -f "$folder/.whole"
}

# discard FILE REASON: a saved file is not kept
discard() {
    rm -f "$folder/$1"
    found=$((found - 1))
    note "$1: $2"
}

# save_jobs FILE COMMAND…: the same of a command that prints environments, which are left out if that is asked for
save_jobs() {
    save "$@" || return 1
    if [ -z "$without_environment" ]; then return 0; fi
    filter "$1" drop_environment
    if grep -q PBS_O_ "$folder/$1" || [ ! -s "$folder/$1" ]; then
        discard "$1" "the environments of jobs could not be left out"
        return 1
    fi
}

# drop_environment: Variable_List in JSON becomes an empty object, and in text it is left out. A value may have several lines.
drop_environment() {
    awk '
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

# save_slurm_jobs: a table without the texts of users, which JSON has; else the lines of the jobs that have none
save_slurm_jobs() {
    columns=
    for column in JobID Account UserName Partition QOS State Reason PriorityLong Nice SubmitTime EligibleTime AccrueTime \
        TimeLimit NumCPUs MinMemory tres-alloc Dependency; do
        columns="$columns$column:|,"
    done
    if save squeue_o.txt squeue -a -O "${columns%,}"; then
        if head -n 1 "$folder/squeue_o.txt" | grep -q '|TRES_ALLOC|'; then return 0; fi
        discard squeue_o.txt "this squeue does not separate columns by |"
    fi
    save scontrol_show_job.txt scontrol show job -a || return 1
    filter scontrol_show_job.txt awk '
        /^JobId=/ { print $1; next }
        /^ +(UserId|Priority|JobState|RunTime|SubmitTime|AccrueTime|Partition|NumNodes|TRES|ReqTRES|AllocTRES|MinCPUsNode)=/
    '
}

# save_slurm_conf PATH: the file with the contents of those that it includes in place of their names, without passwords
save_slurm_conf() {
    save slurm.conf awk -v main="$1" -v missing="$missing" '
        function print_file(path, depth, line, name) {
            while ((getline line <path) > 0) {
                name = line
                if (tolower(line) ~ /^[ \t]*[a-z]*pass[ \t]*=/) continue
                if (tolower(line) !~ /^[ \t]*include[ \t]/ || depth == 8) { print line; continue }
                sub(/^[ \t]*[A-Za-z]*[ \t]*/, "", name)
                sub(/[ \t\r]*(#.*)?$/, "", name)
                if (name !~ /^\//) name = folder name
                if ((getline line <name) < 0) {
                    print "slurm.conf: " name ", which it includes, cannot be read" >>missing
                    continue
                }
                close(name)
                print_file(name, depth + 1)
            }
            close(path)
        }
        BEGIN { folder = main; sub(/[^\/]*$/, "", folder); print_file(main, 0) }
    '
}

LC_ALL=C date -u >"$folder/ctime"

# some sites of Slurm have a qstat that calls squeue, but no qmgr
if command -v qstat >/dev/null 2>&1 && { command -v qmgr || ! command -v sshare; } >/dev/null 2>&1; then
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
    for name in sched_config resource_group usage sched_formula holidays dedicated_time; do
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
    # times in UTC, and nothing that the caller set for these commands
    export TZ=UTC SLURM_TIME_FORMAT=standard
    for variable in $(env | sed -n 's/^\(S[A-Z]*_[A-Z0-9_]*\)=.*/\1/p'); do
        case $variable in SLURM_CLUSTERS | SQUEUE_* | SPRIO_* | SCONTROL_*) unset "$variable" ;; esac
    done
    save_slurm_jobs
    # the columns of sprio -l, which cuts the last one, and the factors with more digits
    save sprio_o.txt sprio -o '%i|%r|%u|%Y|%S|%A|%B|%F|%J|%P|%Q|%N|%T' || save sprio_l.txt sprio -l
    save sprio_n.txt sprio -n -l
    save sshare.json sshare -a --json || save sshare.txt sshare -a -l -P
    save scontrol_show_config.txt scontrol show config
    save partitions.txt scontrol show partition -a
    # the texts of operators are not needed
    save nodes.txt scontrol show node -a && filter nodes.txt grep -Ev '^ *(Reason|Comment|Extra)='
    save qos.txt sacctmgr -P show qos
    save assoc.txt sacctmgr -P show assoc
    # setting KEY: its value in what scontrol printed
    setting() {
        if [ -r "$folder/scontrol_show_config.txt" ]; then sed -n "s/^$1 *= *//p" "$folder/scontrol_show_config.txt"; fi
    }
    conf=${SLURM_CONF:-$(setting SLURM_CONF)}
    # hosts that get the file from slurmctld have it elsewhere
    if [ ! -r "$conf" ] && [ -r /run/slurm/conf/slurm.conf ]; then conf=/run/slurm/conf/slurm.conf; fi
    conf=${conf:-/etc/slurm/slurm.conf}
    if [ -r "$conf" ]; then save_slurm_conf "$conf"; else note "slurm.conf: $conf cannot be read by $(id -un)"; fi
    case $(setting PrivateData) in
    *jobs* | *usage* | *users* | *accounts*)
        note "PrivateData = $(setting PrivateData): what belongs to others is missing unless an operator ran this" ;;
    esac
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
