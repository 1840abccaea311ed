"""Writes the jobs that all are measured on; runs where numpy is.

    generate.py columns FOLDER JOBS    a file of doubles for each input, `NAME.int` or `NAME.float`, and `expected.P`, …:
                                       what CPython makes of them
    generate.py ndjson FILE JOBS       one job per line, with the inputs of ALCF's formula
    generate.py nested FILE JOBS       the same with these inputs in an object `inputs`, which jsf passes on as they are
    generate.py qstat FILE JOBS        the same jobs as `qstat -f -F json` prints them

A job's numbers depend on its place and on nothing else (SplitMix64 of seed, place and input), so that every run sees the
same jobs, and a shorter file is the beginning of a longer one. Files are written piece by piece, and appear whole.
"""

import datetime
import json
import os
import pathlib
import sys

import numpy

import formulas

SEED = 20_260_101
PIECE = 100_000
FIRST_ID = 1_000_000
CLOCK = datetime.datetime(2026, 11, 20, 10, 0, 0)
WALLTIMES = [600, 1800, 3600, 10800, 21600, 28800, 36000, 43200, 64800, 86400]


class Draws:
    """Random numbers for some jobs; every call draws the next one for each."""

    MOST_PER_JOB = 64

    def __init__(self, first, last):
        self.counter = numpy.arange(first, last, dtype=numpy.uint64) * numpy.uint64(self.MOST_PER_JOB)

    def uniform(self):
        """From 0 to below 1."""
        self.counter += numpy.uint64(1)
        z = numpy.uint64(SEED) + self.counter * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> numpy.uint64(31))) >> numpy.uint64(11)) / 2.0**53

    def below(self, end):
        return (self.uniform() * end).astype(numpy.int64)

    def of(self, choices):
        return numpy.array(choices, dtype=numpy.int64)[self.below(len(choices))]

    def chance(self, share):
        return (self.uniform() < share).astype(numpy.int64)

    def exponential(self, mean):
        return -mean * numpy.log1p(-self.uniform())


def jobs(first, last):
    """The inputs of the jobs from `first` to before `last`, by name, in the order of a file's columns."""
    draws = Draws(first, last)
    same = lambda number: numpy.full(last - first, number, dtype=numpy.int64)
    inputs = {
        "base_score": draws.of([0, 51, 100]),
        "score_boost": draws.chance(0.02) * (1 + draws.below(499)),
        "enable_wfp": draws.chance(0.9),
        "wfp_factor": same(100_000),
        "eligible_time": numpy.minimum(draws.exponential(60_000), 2_000_000).astype(numpy.int64),
        "walltime": draws.of(WALLTIMES) + draws.below(60),
        "project_priority": draws.of([1, 2, 10, 25]),
        "nodect": numpy.minimum(2 + draws.exponential(49.5).astype(numpy.int64), 1024),
        "total_cpus": same(560 * 64),
        "enable_backfill": draws.chance(0.3),
        "backfill_max": same(50),
        "backfill_factor": same(84_600),
        "enable_fifo": same(1),
        "fifo_factor": same(1800),
    }
    inputs["ncpus"] = inputs["nodect"] * draws.of([1, 2, 4, 8, 16, 32, 64])
    inputs["ngpus"] = draws.chance(0.2) * (1 + draws.below(8))
    inputs["mem"] = 262_144 + draws.below(512 << 20)  # in KiB
    inputs["fairshare_factor"] = draws.uniform() * draws.chance(0.99)
    inputs["fairshare_tree_usage"] = draws.uniform() * 0.5
    inputs["fairshare_perc"] = draws.uniform() * 0.3 + 1e-4
    return inputs


def pieces(count):
    """All jobs, some at a time: the place of the first, and the inputs."""
    for first in range(0, count, PIECE):
        yield first, jobs(first, min(first + PIECE, count))


def write_columns(folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    inputs = jobs(0, count)
    for name, column in inputs.items():
        kind = "int" if column.dtype == numpy.int64 else "float"
        column.astype("<f8").tofile(folder / f"{name}.{kind}")
    for letter, text in formulas.PYTHON.items():
        names = formulas.inputs(letter)
        function = eval(f"lambda {','.join(names)}: {text}", dict(formulas.MATH))
        expected = list(map(function, *(inputs[name].tolist() for name in names)))
        numpy.array(expected, dtype="<f8").tofile(folder / f"expected.{letter}")


def write_lines(out, count):
    write_numbers(out, count, '{"id":"%d.server",', "}\n")


def write_nested_lines(out, count):
    write_numbers(out, count, '{"id":"%d.server","inputs":{', "}}\n")


def write_numbers(out, count, before, after):
    names = [*formulas.inputs("A"), "ncpus"]
    line = before + ",".join(f'"{name}":%d' for name in names) + after
    for first, inputs in pieces(count):
        ids = range(FIRST_ID + first, FIRST_ID + first + PIECE)
        out.writelines(line % row for row in zip(ids, *(inputs[name].tolist() for name in names)))


def write_qstat(out, count):
    out.write('{\n    "timestamp":1795168800,\n    "pbs_version":"23.06.06",\n    "pbs_server":"server",\n    "Jobs":{')
    separator = "\n"
    for first, inputs in pieces(count):
        rows = zip(*(column.tolist() for column in inputs.values()))
        for place, row in enumerate(rows, first):
            text = json.dumps(qstat_job(place, dict(zip(inputs, row))), indent=4).replace("\n", "\n        ")
            out.write(f'{separator}        "{FIRST_ID + place}.server":{text}')
            separator = ",\n"
    out.write("\n    }\n}\n")


def qstat_job(place, inputs):
    """A waiting job with the attributes that a server gives it."""
    user, path = f"user{place % 997}", f"login1.example.org:/scratch/user{place % 997}/run/job_{place}"
    queued = (CLOCK - datetime.timedelta(seconds=inputs["eligible_time"])).strftime("%a %b %d %H:%M:%S %Y")
    apart = ("eligible_time", "walltime", "mem")
    resources = {name: inputs[name] for name in [*formulas.inputs("A"), "ncpus"] if name not in apart}
    resources |= {
        "mem": f"{inputs['mem']}kb",
        "place": "pack",
        "select": f"{inputs['nodect']}:ncpus=4:mem=4gb",
        "walltime": clock(inputs["walltime"]),
    }
    return {
        "Job_Name": f"job_{place}",
        "Job_Owner": f"{user}@login1.example.org",
        "job_state": "Q",
        "queue": "workq",
        "server": "server",
        "Checkpoint": "u",
        "ctime": queued,
        "Error_Path": f"{path}.e{FIRST_ID + place}",
        "Hold_Types": "n",
        "Join_Path": "n",
        "Keep_Files": "n",
        "Mail_Points": "a",
        "mtime": queued,
        "Output_Path": f"{path}.o{FIRST_ID + place}",
        "Priority": 0,
        "qtime": queued,
        "Rerunable": "True",
        "Resource_List": resources,
        "substate": 10,
        "Variable_List": variables(user),
        "euser": user,
        "egroup": "users",
        "queue_type": "E",
        "eligible_time": clock(inputs["eligible_time"]),
        "Submit_arguments": "-l select=1:ncpus=4:mem=4gb -l walltime=01:00:00 job.sh",
        "project": "_pbs_project_default",
        "Submit_Host": "login1.example.org",
    }


def variables(user):
    """An environment of some size, as users' jobs carry it about."""
    of_pbs = {
        "HOME": f"/home/{user}",
        "LANG": "en_US.UTF-8",
        "LOGNAME": user,
        "PATH": f"/usr/local/bin:/usr/bin:/bin:/opt/pbs/bin:/home/{user}/bin",
        "MAIL": f"/var/spool/mail/{user}",
        "SHELL": "/bin/bash",
        "WORKDIR": f"/scratch/{user}/run",
        "SYSTEM": "Linux",
        "QUEUE": "workq",
        "HOST": "login1.example.org",
    }
    return {f"PBS_O_{name}": value for name, value in of_pbs.items()} | {
        "OMP_NUM_THREADS": "4",
        "CONDA_PREFIX": f"/home/{user}/miniconda3/envs/md",
        "LD_LIBRARY_PATH": f"/opt/cray/lib64:/opt/gcc/12/lib64:/home/{user}/lib",
        "MODULEPATH": "/opt/modulefiles:/usr/share/modules",
        "PROJECT_DIR": f"/project/{user}",
        "JOB_TAG": f'run of {user}, "quoted" tag',
        "INPUT": "in.lammps",
        "OUTPUT": f"out_{user}.dat",
        "MPI_HOME": "/opt/mpich",
        "EDITOR": "vim",
    }


def clock(seconds):
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def main():
    what, path, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    unfinished = path.with_name(path.name + ".part")
    if what == "columns":
        write_columns(unfinished, count)
    else:
        with open(unfinished, "w", buffering=1 << 20) as out:
            {"ndjson": write_lines, "nested": write_nested_lines, "qstat": write_qstat}[what](out, count)
    os.replace(unfinished, path)


main()
