"""Writes examples/site/accounting.gz: 24 weeks of generated jobs of the users of the example site, as PBS accounting records
of the starts that they have under the site's formula. Of the jobs that run for up to ten minutes, three of four are left out:
they use a four-hundredth of the machine, and would make the file twice as long.

  python3 crates/simulate/tests/make_example_log.py target/release/jsf
"""

import csv
import datetime
import gzip
import subprocess
import sys

PROCESSORS = "256"
PARENTS = {}
for line in open("examples/site/sched_priv/resource_group"):
    fields = line.split()
    if fields and not fields[0].startswith("#"):
        PARENTS[fields[0]] = fields[2]
USERS = [(name, parent) for name, parent in PARENTS.items() if name not in PARENTS.values()]
BEGIN = int(datetime.datetime(2025, 9, 15, tzinfo=datetime.timezone.utc).timestamp())
SECONDS = 24 * 7 * 86400
SHORT = 600


def simulate(*arguments, log=None):
    command = [sys.argv[1], "simulate", "--processors", PROCESSORS, *arguments]
    return subprocess.run(command, input=log, stdout=subprocess.PIPE, check=True, text=True).stdout


def clock(seconds):
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def date(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%m/%d/%Y %H:%M:%S")


def log(jobs, starts):
    records = []
    for job, submit, run, processors, walltime, owner in jobs:
        name = f"{190000 + job}.kestrel"
        user, group = USERS[owner % len(USERS)]
        start = starts.get(name, submit)
        end = start + min(run, walltime)
        queue = "express" if walltime <= 3600 else "workq"
        records.append(
            (
                end,
                f"{date(end)};E;{name};user={user} group={group} queue={queue} ctime={submit} qtime={submit} "
                f"etime={submit} start={start} Resource_List.ncpus={processors} Resource_List.walltime={clock(walltime)} "
                f"end={end} Exit_status=0 resources_used.walltime={clock(end - start)}\n",
            )
        )
    return "".join(record for _, record in sorted(records))


jobs = []
for line in simulate("eligible_time", "--generate", "16600", "--load", "0.8", "--seed", "3", "--format", "swf").splitlines():
    if not line.startswith(";"):
        job, submit, _, run, processors, _, _, _, walltime, _, _, owner, *_ = (int(field) for field in line.split())
        if submit < SECONDS and (run > SHORT or job % 4 == 0):
            jobs.append((job, BEGIN + submit, run, processors, walltime, owner))
schedule = simulate("--site", "examples/site", "--workload", "-", "--format", "csv", log=log(jobs, {}))
starts = {row["id"]: int(row["start"]) for row in csv.DictReader(schedule.splitlines())}
with open("examples/site/accounting.gz", "wb") as file:
    file.write(gzip.compress(log(jobs, starts).encode(), 9, mtime=0))
