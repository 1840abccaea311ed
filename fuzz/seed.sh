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
import json, pathlib, sys
golden, corpus = map(pathlib.Path, sys.argv[1:])
formulas = set()
for name in ("formulas.jsonl", "openpbs/validate.jsonl", "openpbs/evaluate/evaluate.jsonl", "openpbs/evaluate/extra.jsonl"):
    for line in (golden / name).read_text().splitlines():
        formula = json.loads(line.replace(" NaN", " null").replace(" Infinity", " null")).get("formula")
        if formula and len(formula) < 4096:
            formulas.add(formula)
for target in ("formula", "verdict", "page", "c_interface"):
    folder = corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    for number, formula in enumerate(sorted(formulas)):
        (folder / f"formula_{number}").write_text(formula, encoding="utf-8", errors="replace")
PYTHON

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
add_files slurm_conf "$root"/examples/distributed/*conf* "$golden"/slurm/*/*.conf "$golden"/slurm/*/*/*.conf
printf 'PriorityType=priority/multifactor\nPriorityFlags=FAIR_TREE\nPriorityDecayHalfLife=7-0\nInclude x.conf\n' | add slurm_conf hand
printf 'FairShareDampeningFactor = 5\nPriorityFlags = DEPTH_OBLIVIOUS\nSLURM_VERSION = 22.05.1\n' | add slurm_conf shown
add_files c_interface "$root"/examples/site/tree.json "$golden"/openpbs/pbsfs/01_pp718/{resource_group,usage.initial}

for suffix in "" z; do
    tar -C "$root/examples" -c"$suffix"f - site/sched_priv site/tree.json site/server.json | add snapshots "site_tar$suffix"
    tar -C "$golden/openpbs" -c"$suffix"f - pbsfs/01_pp718/resource_group | add snapshots "group_tar$suffix"
done
head -n 40 "$root/examples/site/sched.log" | add replay example
printf '11/22/2026 04:17:59;0400;pbs_sched;Job;1.vm;Formula Evaluation = 4.0333\n' | add replay one
add_files goals "$root"/examples/goals.toml
printf '[[goal]]\nname = "a"\njobs = "ncpus < 8"\nmeasure = "wait"\nstatistic = { within = "1h" }\nat_least = { old = 0.9 }\n' | add goals old
{ zcat "$root/examples/site/accounting.gz" || true; } | head -n 60 | add logs accounting
printf '; MaxProcs: 64\n1 0 5 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1\n2 10 5 50 65 -1 -1 99 60 -1 1 2 1 1 2 1 -1 -1\n' | add logs swf
printf 'JobID|User|Submit|Start|End|NCPUS|Timelimit|State\n1|ada|2026-01-01T00:00:00|2026-01-01T00:01:00|2026-01-01T01:00:00|4|02:00:00|COMPLETED\n' | add logs sacct
printf '{"id":"1","submit":0,"processors":4,"walltime":60,"run":50,"entity":"ada"}\n' | add logs native
printf '%s' '1 if ncpus < 2 else 0 # </script><!--' | add page end_of_element
for target in "$corpus"/*; do echo "$(basename "$target"): $(find "$target" -type f | wc -l) seeds"; done
