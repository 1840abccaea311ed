#!/usr/bin/env bash
# Makes the seed corpora of all targets from recorded data: fuzz/seed.sh [FOLDER], by default fuzz/corpus.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
corpus=${1:-$root/fuzz/corpus}
golden=$root/tests/golden
# libFuzzer mutates small inputs best
most=$((64 * 1024))

# add TARGET NAME < content
add() {
    mkdir -p "$corpus/$1"
    head -c "$most" > "$corpus/$1/$2"
}

# add_files TARGET FILE…
add_files() {
    local target=$1 file
    shift
    for file; do
        [ -f "$file" ] || continue
        add "$target" "$(echo "${file#"$root"/}" | tr / _)" < "$file"
    done
}

for template in '{fs=100:0..500}*fairshare_factor' '({a=-1:-2..2:int} + {b=1:.5..8:log})**{a}  # two'; do
    printf %s "$template" | add formula "template_${#template}"
done

python3 - "$golden" "$corpus" <<'PYTHON'
import gzip, json, pathlib, sys
golden, corpus = map(pathlib.Path, sys.argv[1:])
formulas = set()
for name in ("formulas.jsonl", "openpbs/validate.jsonl", "openpbs/evaluate/evaluate.jsonl.gz", "openpbs/evaluate/extra.jsonl"):
    read = gzip.open if name.endswith(".gz") else open
    for line in read(golden / name, "rt"):
        formula = json.loads(line.replace(" NaN", " null").replace(" Infinity", " null")).get("formula")
        if formula and len(formula) < 4096:
            formulas.add(formula)
for target in ("formula", "verdict", "page", "c_interface"):
    folder = corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    for number, formula in enumerate(sorted(formulas)):
        (folder / f"formula_{number}").write_text(formula, encoding="utf-8", errors="replace")
PYTHON

# add_each TARGET NAME: each line of the standard input is an input, in which \n stands for a line end
add_each() {
    local number=0 line
    while IFS= read -r line; do
        number=$((number + 1))
        printf '%b' "$line" | add "$1" "$2_$number"
    done
}

# small documents of jobs: the recorded ones cut to their first jobs are still read
qstat=$golden/openpbs/qstat
add_files jobs "$qstat"/*.json "$root"/tests/data/*.json "$root"/examples/site/jobs.* "$root"/examples/site/qstat.json
add_files qstat "$qstat"/qstat_f.txt "$qstat"/*.dsv "$root"/tests/corpus/qstat/*
add_files jobs "$root"/tests/corpus/qstat/*
head -c 3000 "$qstat/qstat_f.json" | add jobs short_qstat
head -c 3000 "$qstat/qstat_f.txt" | add qstat short_qstat
head -n 3 "$root/examples/site/jobs.ndjson" | add jobs short_lines

add_files pbs_files "$golden"/openpbs/pbsfs/*/{resource_group,sched_config,usage*} "$qstat"/{qmgr,qstat_B,qstat_Q}* \
    "$qstat"/resourcedef "$qstat"/sched_config "$qstat"/sched_formula "$golden"/openpbs/trees/*/*
add_files slurm_files "$golden"/slurm/files/*/*
add_files tree_json "$golden"/slurm/files/t01*/*json* "$root"/examples/site/tree.json
add_each tree_json hand <<'TREES'
{"children":[{"name":"a","shares":40,"children":[{"name":"Bob","shares":50,"usage":100},{"name":"Cy","shares":"parent"}]}]}
{"unknown_shares":7,"decay":{"half_life":86400},"children":[{"name":"Bob","shares":0,"usage":1e18},{"name":"Suzy","shares":1}]}
{"nodes":[{"kind":"account","name":"a","parent":"root","shares":10,"usage":3},{"kind":"user","name":"Bob","parent":"a","shares":"parent","usage":0}]}
{"children":[{"name":"a","shares":1,"usage":5,"children":[{"name":"a","shares":1,"children":[{"name":"Suzy","shares":2}]}]}]}
{"name":"root","shares":1,"children":[]}
TREES
add_files slurm_conf "$root"/examples/{distributed,slurm}/*conf* "$golden"/slurm/*/*.conf "$golden"/slurm/*/*/*.conf
add_each slurm_conf hand <<'SETTINGS'
PriorityType=priority/multifactor\nPriorityFlags=FAIR_TREE\nPriorityDecayHalfLife=7-0\nInclude x.conf\n
FairShareDampeningFactor = 5\nPriorityFlags = DEPTH_OBLIVIOUS\nSLURM_VERSION = 22.05.1\n
PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=WEEKLY\nPriorityCalcPeriod=00:05:00\n
PriorityFlags=NO_FAIR_TREE,TICKET_BASED,MAX_TRES # a comment\nPriorityWeightFairshare=4294967295\n
priorityweighttres=cpu=1000,mem=0.5,gres/gpu=3e3\nPriorityMaxAge=UNLIMITED\nPriorityFavorSmall=YES\n
PriorityDecayHalfLife=1-12:30:15\\\nPriorityWeightQOS=-1\nFairShareDampeningFactor=0\n
SETTINGS

add_files c_interface "$root"/examples/site/tree.json "$golden"/openpbs/pbsfs/01_pp718/{resource_group,usage.initial}

for suffix in "" z; do
    tar -C "$root/examples" -c"$suffix"f - site/sched_priv site/tree.json site/server.json | add snapshots "site_tar$suffix"
    tar -C "$golden/openpbs" -c"$suffix"f - pbsfs/01_pp718/resource_group | add snapshots "group_tar$suffix"
    tar -C "$root/examples" -c"$suffix"f - site/tree.json | add snapshots "tree_tar$suffix"
    tar -C "$root/examples/captured" -c"$suffix"f - ctime queues.json | add snapshots "captured_tar$suffix"
done

head -n 40 "$root/examples/site/sched.log" | add replay example
add_each replay lines <<'LINES'
11/22/2026 04:17:59;0400;pbs_sched;Job;1.vm;Formula Evaluation = 4.0333\n
11/22/2026 04:17:59.123456;0400;pbs_sched;Job;2.vm;Formula Evaluation = -1e+06\n11/22/2026 04:17:59;0400;pbs_sched;Job;1.vm;Formula Evaluation = nan\n
11/22/2026 04:17:58;0080;pbs_sched;Req;;Starting Scheduling Cycle\n11/22/2026 04:17:59;0400;pbs_sched;Job;1.vm;Formula Evaluation = 4\n11/22/2026 04:18:00;0080;pbs_sched;Req;;Leaving Scheduling Cycle\n
11/22/2026 04:17:59;0080;pbs_sched;Job;1.vm;Considering job to run\n11/22/2026 04:17:59;0040;pbs_sched;Job;2[1].vm;Job run\n
99/99/9999 99:99:99;0400;pbs_sched;Job;3.vm;Formula Evaluation = inf\r\n
11/22/2026 04:17:59;0001;pbs_sched;Job;1.vm;job_sort_formula: NameError: name 'x' is not defined\n
LINES

add_files goals "$root"/examples/goals.toml
python3 - "$corpus" <<'PYTHON'
import itertools, pathlib, sys
folder = pathlib.Path(sys.argv[1]) / "goals"
statistics = ('"mean"', '"median"', '"p95"', '"max"', '{ within = "1h" }', "{ within = 600 }")
limits = ('at_most = "4h"', "at_least = { old = 0.9 }", "at_most = 12.5", 'at_least = "01:00:00"')
chosen = ("", 'jobs = "ncpus < 8 and walltime / 60 > 1"\n', 'queue = "workq"\n', 'entity = "Bob"\ngroup = "a"\n')
measures = ("wait", "bounded_slowdown", "turnaround")
goals = [
    f'{jobs}measure = "{measure}"\nstatistic = {statistic}\n{limit}\n'
    for jobs, measure, statistic, limit in itertools.product(chosen, measures, statistics, limits)
]
goals += [
    f'measure = "{measure}"\n{limit}\n'
    for measure, limit in itertools.product(("utilisation", "jain", "hoover", "makespan", "mean_queue"), limits)
]
objectives = ("", '[objective]\nminimise = "mean bounded_slowdown"\n', '[objective]\nmaximise = "jain"\n')
for number, goal in enumerate(goals[::3]):
    text = f'[[goal]]\nname = "g{number}"\n{goal}{objectives[number % 3]}'
    (folder / f"goal_{number}").write_text(text)
PYTHON

{ zcat "$root/examples/site/accounting.gz" || true; } | head -n 60 | add logs accounting
head -n 12 "$golden/simulate/w1.swf" | add logs swf_recorded
add_each logs hand <<'LOGS'
; MaxProcs: 64\n1 0 5 100 4 -1 -1 4 200 -1 1 4 1 1 1 1 -1 -1\n2 10 5 50 65 -1 -1 99 60 -1 1 2 1 1 2 1 1 5\n3 11 -1 -1 1 -1 -1 1 60 -1 5 2 1 1 2 1 -1 -1\n
JobID|User|Submit|Start|End|NCPUS|Timelimit|State\n1|ada|2026-01-01T00:00:00|2026-01-01T00:01:00|2026-01-01T01:00:00|4|02:00:00|COMPLETED\n
JobID^User^Account^Partition^Submit^Eligible^Start^End^ElapsedRaw^TimelimitRaw^ReqCPUS^State\n7_3^ada^a^p^2026-01-01T00:00:00^Unknown^2026-01-01T00:01:00^2026-01-01T01:00:00^60^2^4^TIMEOUT\n8^ada^a^p^2026-01-01T00:00:00^^None^2026-01-01T01:00:00^0^UNLIMITED^4^CANCELLED by 1\n
{"id":"1","entity":"ada","submit":0,"run":50,"resources":{"ncpus":4,"walltime":60}}\n
{"id":"2","entity":"Bob","queue":"q","submit":1,"start":5,"run":90,"resources":{"ncpus":64,"walltime":"00:01:00"}}\n{"id":"3","submit":1.5,"run":3,"resources":{"ncpus":2}}\n
09/15/2025 02:14:57;E;1.k;user=d group=i queue=workq ctime=1757896644 qtime=1757896644 etime=1757896644 start=1757896650 Resource_List.ncpus=32 Resource_List.walltime=01:37:33 end=1757902497 Exit_status=0\n
09/15/2025 02:14:57;Q;1.k;queue=workq user=d qtime=1757896644 Resource_List.ncpus=2\n09/15/2025 02:14:58;S;1.k;user=d queue=workq ctime=1757896644 start=1757896650\n09/15/2025 02:15:57;D;1.k;requestor=d@k\n
09/15/2025 02:14:57;R;2[3].k;user=d queue=workq qtime=5 start=6 Resource_List.nodect=2 Resource_List.nodes=2:ppn=8 end=9\n
LOGS
printf '%s' '1 if ncpus < 2 else 0 # </script><!--' | add page end_of_element
for target in "$corpus"/*; do echo "$(basename "$target"): $(find "$target" -type f | wc -l) seeds"; done
