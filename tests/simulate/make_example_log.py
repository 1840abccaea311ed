"""Writes examples/site/accounting.gz: the log of a month in the Standard Workload Format, on standard input, becomes PBS
accounting records of the users of the example site.

  jsf simulate 'eligible_time' --generate 2700 --processors 256 --load 0.9 --seed 7 --format swf \
      | python3 tests/simulate/make_example_log.py > examples/site/accounting.gz
"""

import datetime
import gzip
import sys

USERS = {}
PARENTS = {}
for line in open("examples/site/sched_priv/resource_group"):
    fields = line.split()
    if fields and not fields[0].startswith("#"):
        PARENTS[fields[0]] = fields[2]
users = [(name, parent) for name, parent in PARENTS.items() if name not in PARENTS.values()]
BEGIN = int(datetime.datetime(2026, 2, 1, tzinfo=datetime.timezone.utc).timestamp())


def clock(seconds):
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def date(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%m/%d/%Y %H:%M:%S")


records = []
for line in sys.stdin:
    if line.startswith(";"):
        continue
    job, submit, wait, run, processors, _, _, _, walltime, *rest = (int(field) for field in line.split())
    user, group = users[rest[2] % len(users)]
    submit += BEGIN
    start = submit + wait
    end = start + min(run, walltime)
    queue = "short" if walltime <= 3600 else "workq"
    records.append(
        (
            end,
            f"{date(end)};E;{190000 + job}.kestrel;user={user} group={group} queue={queue} ctime={submit} qtime={submit} "
            f"etime={submit} start={start} Resource_List.ncpus={processors} Resource_List.walltime={clock(walltime)} "
            f"end={end} Exit_status=0 resources_used.walltime={clock(end - start)}\n",
        )
    )
text = "".join(record for _, record in sorted(records))
sys.stdout.buffer.write(gzip.compress(text.encode(), 9, mtime=0))
