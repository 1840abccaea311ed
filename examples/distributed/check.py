"""The parts of `test.sh`.

    check.py ndjson JOBS FILE                a folder of Parquet as native NDJSON, for jsf
    check.py equal JSF FILE SCORES           the scores of a folder of Parquet are those of `jsf rank`, bit for bit
    check.py kill TEXT WORKER COMMAND...     runs a command, and kills (-9) one of its processes: one with TEXT in its
                                             command line that has, or is, a process with WORKER in it at work; or itself
                                             when the file WORKER, /..., exists; exit code 9: that was the end of it
"""

import csv
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

MOST_SECONDS = 300
GIVEN_UP = 9


def ndjson(jobs, file):
    import pyarrow.dataset as ds

    from formulas import INPUTS

    with open(file, "w") as out:
        for batch in ds.dataset(jobs).to_batches(columns=["id", "entity", *INPUTS]):
            for row in batch.to_pylist():
                job = {"id": str(row.pop("id")), "entity": row.pop("entity"), "queue": "prod", "inputs": row}
                out.write(json.dumps(job) + "\n")


def jsf_scores(jsf, file, formula):
    """What `jsf rank` prints as `exact`, by job; None for an error."""
    declared = [f"--resource={name}={kind}" for name, kind in formula.resources.items()]
    options = ["--numbers=exact", "--on-error=null", "--format=csv", *declared]
    command = [jsf, "rank", formula.text, "--queue", file, *options]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if answer.returncode not in (0, 1):
        raise SystemExit(f"jsf rank: exit code {answer.returncode}")
    rows = csv.DictReader(answer.stdout.splitlines())
    return {int(row["id"]): None if row["error"] else float(row["exact"]) for row in rows}


def bits(score):
    return None if score is None else struct.pack("<d", score)


def equal(jsf, file, scores):
    import pyarrow.dataset as ds

    from formulas import FORMULAS

    # engines also leave files of their own, whose names begin with `_` or `.`
    files = sorted(str(path) for path in pathlib.Path(scores).glob("*.parquet"))
    table = ds.dataset(files, format="parquet").to_table()
    ids = table["id"].to_pylist()
    for name, formula in FORMULAS.items():
        expected = jsf_scores(jsf, file, formula)
        if sorted(ids) != sorted(expected):
            raise SystemExit(f"{scores}: {len(ids)} jobs, not the {len(expected)} of jsf rank")
        found = table[name].to_pylist()
        different = [job for job, score in zip(ids, found) if bits(score) != bits(expected[job])]
        failed = sum(score is None for score in found)
        print(f"  {name}: {len(ids)} jobs, {len(different)} different from jsf rank, {failed} errors", flush=True)
        if different:
            raise SystemExit(f"{scores}: job {different[0]}: {found[ids.index(different[0])]}, "
                             f"jsf rank {expected[different[0]]}")


def processes():
    """Of each process its parent and its command line."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path("/proc", entry, "stat").read_text()
                command = pathlib.Path("/proc", entry, "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (OSError, UnicodeDecodeError):
                continue
            found[int(entry)] = (int(stat.rpartition(")")[2].split()[1]), command)
    return found


def with_text(text, root):
    """The processes that have a text in their command line: this one, those that it started, and so on; by age."""
    all_processes = processes()
    found = {root} & set(all_processes)
    while True:
        more = {pid for pid, (parent, _) in all_processes.items() if parent in found} - found
        if not more:
            return sorted(pid for pid in found if text in all_processes[pid][1])
        found |= more


def scores(pid):
    """Whether a process has loaded the package: a worker does with its first rows."""
    try:
        return "job_sort_formula" in pathlib.Path("/proc", str(pid), "maps").read_text()
    except OSError:
        return False


def kill(text, worker, *command):
    process = subprocess.Popen(command)
    killed = None
    while process.poll() is None and killed is None:
        time.sleep(0.005)
        if worker.startswith("/"):
            found = [process.pid] if os.path.exists(worker) else []
        else:
            at_work = lambda pid: any(map(scores, with_text(worker, pid)))
            found = [pid for pid in with_text(text, process.pid) if at_work(pid)][-1:]
        for killed in found:
            line = processes().get(killed, (0, "it has ended"))[1]
            os.kill(killed, signal.SIGKILL)
            print(f"  killed process {killed}: {line[:100].strip()}", flush=True)
    code = process.wait(timeout=MOST_SECONDS)
    if killed is None:
        raise SystemExit(f"no process with `{text}` was killed")
    if code != 0:
        print("  the engine has given up")
        sys.exit(GIVEN_UP)


{"ndjson": ndjson, "equal": equal, "trials": trials, "kill": kill}[sys.argv[1]](*sys.argv[2:])
