"""A formula with several values of its parameters, simulated on a log of jobs: the rows of `jsf simulate --param … --format csv`.

Its runs are divided into parts, each of which is one file. A file appears whole, under its name, when all its runs have ended;
whoever starts the sweep again makes the parts that are missing, and the result is the same.
"""

import argparse
import dataclasses
import decimal
import functools
import hashlib
import itertools
import json
import os
import pathlib

from job_sort_formula import __version__, run

NUMBERS = ["mean_wait", "median_wait", "p95_wait", "bounded_slowdown", "utilisation", "makespan", "mean_queue", "failed", "goals_met"]


def digits(number):
    """A number as Rust prints it: the shortest digits that are read back as this number, without an exponent."""
    if number is None:
        return "NaN"
    return format(decimal.Decimal(repr(number)), "f").removesuffix(".0")


def parameter(text):
    """`a=1,2,5`, or `a=1:10:4`: four values from 1 to 10."""
    name, _, values = text.partition("=")
    ends = values.split(":")
    if len(ends) == 3:
        low, high, count = float(ends[0]), float(ends[1]), int(ends[2])
        step = (high - low) / (count - 1)
        return name, [digits(low + step * index) for index in range(count)]
    return name, [value.strip() for value in values.split(",")]


def digest(path):
    """A fingerprint of a file, or of all files in a folder."""
    path = pathlib.Path(path)
    content = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            content.update(f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode())
            content.update(file.read_bytes())
    return content.hexdigest()


def write_whole(path, text):
    """Writes a file that is there whole or not at all, even if the machine fails or two processes write it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with open(unfinished, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


@dataclasses.dataclass(frozen=True)
class Sweep:
    template: str
    params: list
    workload: list
    site: str
    goals: str
    processors: int
    runs_per_part: int
    folder: str

    def combinations(self):
        """The values of each run; the last parameter changes fastest."""
        return list(itertools.product(*(values for _, values in self.params)))

    def formula(self, values):
        pairs = zip((name for name, _ in self.params), values)
        return functools.reduce(lambda text, pair: text.replace(f"{{{pair[0]}}}", pair[1]), pairs, self.template)

    def part(self, number):
        return pathlib.Path(self.folder, f"part-{number:05}.csv")

    def parts(self):
        return range(-(-len(self.combinations()) // self.runs_per_part))

    def begin(self):
        """Makes the folder, or checks that its parts are those of this sweep. Returns the numbers of the missing parts."""
        inputs = {path: digest(path) for path in [*self.workload, self.site, self.goals] if path}
        stated = json.dumps({"version": __version__, **dataclasses.asdict(self), "inputs": inputs, "folder": None}, indent=1)
        pathlib.Path(self.folder).mkdir(parents=True, exist_ok=True)
        (known := pathlib.Path(self.folder, "sweep.json")).exists() or write_whole(known, stated)
        if known.read_text() != stated:
            raise SystemExit(f"`{self.folder}` has the runs of another sweep, see `{known}`: give another folder")
        return [part for part in self.parts() if not self.part(part).exists()]

    def finish(self):
        """Writes all rows into one file, in the order of `jsf`."""
        header = ",".join([name for name, _ in self.params] + NUMBERS)
        rows = "".join(self.part(part).read_text() for part in self.parts())
        write_whole(path := pathlib.Path(self.folder, "rows.csv"), f"{header}\n{rows}")
        # of workers that were killed
        for unfinished in path.parent.glob(".part-*"):
            unfinished.unlink()
        return path


class Runner:
    """What a process needs for its runs."""

    def __init__(self, sweep):
        self.sweep = sweep
        self.combinations = sweep.combinations()

    def row(self, values):
        sweep = self.sweep
        asked = dict(workload=sweep.workload, processors=sweep.processors, goals=sweep.goals)
        answer = run("simulate", site=sweep.site, formula=sweep.formula(values), **asked)
        summary = answer.summary
        numbers = [summary.wait.mean, summary.wait.median, summary.wait.p95, summary.bounded_slowdown.mean, summary.utilisation, summary.makespan]
        numbers += [summary.mean_queue, sum(error.jobs for error in answer.errors), sum(goal.met for goal in answer.goals)]
        return ",".join([*values, *map(digits, numbers)]) + "\n"

    def write_part(self, part):
        first = part * self.sweep.runs_per_part
        values = self.combinations[first : first + self.sweep.runs_per_part]
        write_whole(self.sweep.part(part), "".join(map(self.row, values)))
        return len(values)


def arguments(parser):
    """The arguments of a sweep; those of its inputs and outputs as absolute paths, because workers have their own folders."""
    path = os.path.abspath
    parser.add_argument("formula", help="with a name in braces for each parameter")
    parser.add_argument("folder", type=path, help="of the parts, and of the result, rows.csv")
    parser.add_argument("--param", type=parameter, action="append", required=True, metavar="NAME=VALUES")
    parser.add_argument("--workload", type=path, action="append", required=True, metavar="FILE")
    parser.add_argument("--site", type=path, metavar="FOLDER")
    parser.add_argument("--goals", type=path, metavar="FILE")
    parser.add_argument("--processors", type=int, metavar="N")
    parser.add_argument("--runs-per-part", type=int, default=100, metavar="N")


def from_arguments(options):
    fields = dict(template=options.formula, params=options.param, runs_per_part=options.runs_per_part, folder=options.folder)
    return Sweep(workload=options.workload, site=options.site, goals=options.goals, processors=options.processors, **fields)
