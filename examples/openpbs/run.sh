#!/bin/bash
# Builds OpenPBS as it is and with the patch, starts a server with its database, a MOM and a queue, compares the two schedulers
# and times them. As root, on a machine for tests: it puts an address on `lo` and a name into /etc/hosts, and `run.sh FOLDER down`
# takes both away. Needs the packages of OpenPBS's INSTALL and cargo. About half an hour on 2 cores, most of it for building and
# for the step `logs`; it is no part of the project's own checks.
#
#     run.sh FOLDER [STEP...]     steps: build up jobs both logs cycles crashes down; without any, all of them
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
root=$PWD
shift
commit=cd7ab5edaf03dcac2f1cb9e2f42d75eb117d468a
home=/var/spool/jsf-pbs                                # the scheduler refuses a folder below one that all may write to
logs=$home/sched_logs
jobs=${JOBS:-5000}
export PBS_CONF_FILE=$root/pbs.conf PATH=$root/pbs/bin:$root/pbs/sbin:$PATH

build() {
    sh "$here/../../bindings/c/install.sh" "$root/prefix"
    [ -d openpbs ] || git clone https://github.com/openpbs/openpbs
    git -C openpbs checkout --quiet --force "$commit"
    (cd openpbs && ./autogen.sh)
    mkdir -p obj bin
    (cd obj && ../openpbs/configure CFLAGS=-O2 CXXFLAGS=-O2 --prefix="$root/pbs" --with-pbs-server-home="$home" \
        --with-pbs-conf-file="$PBS_CONF_FILE" --with-python=/usr)
    make -C obj -j2
    make -C obj install
    cp obj/src/scheduler/.libs/pbs_sched bin/stock
    patch -d openpbs -p1 <"$here/openpbs.patch"
    make -C obj/src/scheduler pbs_sched CPPFLAGS="-I$root/prefix/include -I$here" \
        LIBS="$root/prefix/lib/libjob_sort_formula.a -lgcc_s -lpthread -lm -ldl -lcrypt"
    cp obj/src/scheduler/.libs/pbs_sched bin/patched
}

up() {
    ip addr add 10.231.0.1/32 dev lo 2>/dev/null || true   # the server refuses 127.0.0.1
    grep -q ' pbsvm$' /etc/hosts || echo '10.231.0.1 pbsvm' >>/etc/hosts
    cat >pbs.conf <<C
PBS_EXEC=$root/pbs
PBS_SERVER=pbsvm
PBS_LEAF_NAME=pbsvm
PBS_SERVER_HOST_NAME=pbsvm
PBS_START_SERVER=1
PBS_START_SCHED=1
PBS_START_COMM=1
PBS_START_MOM=1
PBS_HOME=$home
PBS_CORE_LIMIT=0
PBS_LOG_HIGHRES_TIMESTAMP=1
C
    while read -r mode folder; do
        mkdir -p "$home/$folder"
        chmod "$mode" "$home/$folder"
    done <<C
0755 server_logs
1777 spool
0750 server_priv
0755 server_priv/accounting
0750 server_priv/jobs
0750 server_priv/users
0750 server_priv/hooks
0750 server_priv/hooks/tmp
0755 sched_logs
0750 sched_priv
0755 comm_logs
0755 mom_logs
0755 aux
0700 checkpoint
1777 undelivered
0751 mom_priv
0751 mom_priv/jobs
0750 mom_priv/hooks
0750 mom_priv/hooks/tmp
C
    printf postgres >"$home/server_priv/db_user"
    chmod 600 "$home/server_priv/db_user"
    printf '$clienthost pbsvm\n$usecp *:/ /\n' >"$home/mom_priv/config"
    cp pbs/etc/pbs_dedicated "$home/sched_priv/dedicated_time"
    cp pbs/etc/pbs_holidays "$home/sched_priv/holidays"
    sed 's/^fairshare_entity:.*/fairshare_entity: Account_Name/; s/^fair_share:.*/fair_share: true ALL/
        s/^fairshare_usage_res:.*/fairshare_usage_res: ncpus*walltime+mem\/1048576+cput**0.5/
        s/^#*unknown_shares:.*/unknown_shares: 10/' pbs/etc/pbs_sched_config >"$home/sched_priv/sched_config"
    printf '%s\n' 'physics 60 root 60' 'chem 61 root 30' 'bio 62 root 0' 'ann 63 physics 20' 'bob 64 physics 10' 'carl 65 chem 5' \
        'dora 66 chem 1' 'zero 67 bio 3' >"$home/sched_priv/resource_group"
    chmod 644 "$home"/sched_priv/* "$home/mom_priv/config"
    printf 'TZ=UTC\nPATH=/bin:/usr/bin\n' >"$home/pbs_environment"
    pbs/libexec/pbs_habitat >habitat.log 2>&1
    pbs_comm
    pbs_server
    pbs_mom </dev/null
    sleep 3
    {
        printf 'set server %s\n' 'acl_roots = root' 'flatuid = True' 'scheduling = False' 'eligible_time_enable = True'
        printf 'create resource %s type=long\n' total_cpus lic ngpus my-dash
        printf 'create resource %s type=float\n' base_score project_priority log score_boost enable_wfp wfp_factor enable_backfill \
            backfill_max backfill_factor enable_fifo fifo_factor paws bias admin_priority fairshare_priority sbu_rate spec PE
        printf 'create resource %s\n' 'scratch type=size' 'job_class type=string' 'is_gpu type=boolean'
        printf 'set server resources_default.%s\n' enable_wfp=1 wfp_factor=1e5 enable_backfill=1 backfill_max=50 \
            backfill_factor=84600 enable_fifo=1 fifo_factor=1800 score_boost=0.25 paws=12.5 bias=-3 sbu_rate=1.75
        printf 'create queue %s,enabled=True,started=True\n' 'workq queue_type=Execution' \
            'express queue_type=Execution,Priority=150' 'low queue_type=Execution,Priority=-20'
        printf '%s\n' 'set sched log_events = 4095' 'create node pbsvm'
    } | qmgr || true                                    # what is there already is refused
    for usage in ann:5000 bob:123456 carl:77 dora:1 zero:31415; do pbsfs -s "${usage%:*}" "${usage#*:}"; done
    sleep 5
}

# Ten jobs run and use the processor a little; the others wait, because the node takes no more.
jobs() {
    printf '#!/bin/sh\nwhile :; do i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; sleep 2; done\n' >job.sh
    for i in 1 2 3 4 5 6 7 8 9 10; do
        account=$(echo ann bob carl dora zero stranger ann bob ann carl | cut -d' ' -f"$i")
        qrun -H pbsvm "$(qsub -A "$account" -l walltime=9:00:00 -l "select=1:ncpus=$i:mem=${i}00mb" -l "base_score=0.$i" job.sh)"
    done
    pbsnodes -o pbsvm
    python3 "$here/submit.py" "$jobs" job.sh
}

scheduler() { # BINARY
    stop
    rm -f "$logs"/*
    "$root/bin/$1"
    sleep 1
}

stop() {
    if grep -q "$root/bin" "/proc/$(pid)/cmdline" 2>/dev/null; then
        kill "$(pid)"
        while grep -q "$root/bin" "/proc/$(pid)/cmdline" 2>/dev/null; do sleep 0.2; done
    fi
}

pid() { { tr -d ' \n' <"$home/sched_priv/sched.lock"; } 2>/dev/null || echo none; }

ended() { cat "$logs"/* 2>/dev/null | grep -c 'Leaving Scheduling Cycle\|sigsegv'; }

cycle() { # FORMULA: false if the server refuses it
    qmgr -c "set server job_sort_formula = '$1'" 2>/dev/null || return 1
    before=$(ended) || true
    qmgr -c 'set server scheduling = True'
    for _ in $(seq 1200); do
        [ "$(ended)" -eq "$before" ] && [ -d "/proc/$(pid)" ] || break
        sleep 0.1
    done
    qmgr -c 'set server scheduling = False'
}

# Each formula for each job in one process, to the bit, with running jobs and their usage.
both() {
    qmgr -c "set server job_sort_formula = 'ncpus'"
    scheduler patched
    cycle ncpus                                         # from the second cycle on, usage is charged to running jobs
    "$here/both.sh" "$here/formulas.txt" | tee both.txt
}

# Whole cycles of both schedulers, by their logs. `eligible_time` reads the clock, and running jobs go on using time.
logs() {
    kill -STOP "$(tr -d ' \n' <"$home/mom_priv/mom.lock")"
    qmgr -c 'set sched job_sort_formula_threshold = 5'
    for binary in stock patched; do
        scheduler "$binary"
        accepted=0
        grep -v eligible_time "$here/formulas.txt" >formulas.clockless
        while [ "$accepted" -lt "${FORMULAS:-30}" ] && read -r formula <&3; do
            ! cycle "$formula" || accepted=$((accepted + 1))
        done 3<formulas.clockless
        stop
        cat "$logs"/* >"log.$binary"
    done
    qmgr -c 'unset sched job_sort_formula_threshold'
    kill -CONT "$(tr -d ' \n' <"$home/mom_priv/mom.lock")"
    python3 "$here/compare_logs.py" log.stock log.patched
}

# Whole cycles, without the lines that a scheduler logs for each job: seconds by the log, and of the scheduler's processor time.
cycles() {
    qmgr -c 'set sched log_events = 767'
    time_cycles 'ten jobs run'
    qdel -W force $(qselect -s R)
    time_cycles 'no job runs'
    qmgr -c 'set sched log_events = 4095'
}

time_cycles() { # QUEUE
    formula='eligible_time / 3600 + 100 * fairshare_factor + ncpus * 0.01'
    for binary in stock patched stock patched; do
        scheduler "$binary"
        cycle "$formula"                                # the first one also reads and compiles
        ticks=$(processor_ticks)
        for _ in 1 2 3 4; do cycle "$formula"; done
        ticks=$(($(processor_ticks) - ticks))
        echo "$binary, $1: load $(cut -d' ' -f1 /proc/loadavg), processor $((ticks * 1000 / $(getconf CLK_TCK) / 4)) ms a cycle, $(
            cat "$logs"/* | awk -F'[ ;:]' '
                { now = $2 * 3600 + $3 * 60 + $4 }
                /Starting Scheduling Cycle/ { start = now }
                /Leaving Scheduling Cycle/ && cycles++ { printf "%.3f s ", now - start }')"
        stop
    done
}

processor_ticks() { awk '{ print $14 + $15 }' "/proc/$(pid)/stat"; }

# Formulas at which the stock scheduler ends: no real number, too large, and an error in the first evaluation after the start.
crashes() {
    for binary in stock patched; do
        for formula in '(job_priority - 5000) ** 0.5' '10 ** 400 * max(ncpus, 1)' 'max' '1 / (ncpus - ncpus)'; do
            scheduler "$binary"
            cycle "$formula" || continue
            cycle "$formula"
            echo "$binary $formula: $(cat "$logs"/* | grep -c 'sigsegv') crashes, $(cat "$logs"/* | grep -c 'Leaving Sch') cycles"
        done
    done
    stop
}

down() {
    stop
    qdel -W force $(qselect -s R) 2>/dev/null || true    # none after `cycles`
    qterm -t quick -m || true
    sleep 3
    kill "$(tr -d ' \n' <"$home/server_priv/comm.lock")" || true
    ip addr del 10.231.0.1/32 dev lo
    sed '/ pbsvm$/d' /etc/hosts >hosts.new && cat hosts.new >/etc/hosts
    rm -rf "$home"
}

for step in ${*:-build up jobs both logs cycles crashes down}; do
    echo "== $step, $(date +%T)"
    "$step"
done
