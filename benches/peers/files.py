"""From a file to a ranked CSV: whole processes with all that they load, two threads where they can use them."""

import statistics
import subprocess
import sys

import formulas
import prepare
from measure import Cost, in_turn, markdown, median_ratio, say, short

EXACT, FLOAT32 = 1e-9, 1e-6
"""How far scores may lie from CPython's, relative: as doubles, and where they are kept as OpenPBS keeps them."""

HUGE = 10_000_000


class Ranker:
    """A candidate and where it writes. `tolerance` is `None` for one that ranks nothing."""

    def __init__(self, words, command, out, tolerance=EXACT):
        self.words, self.command, self.out, self.tolerance = words, command, out, tolerance


def ours(options, file, out, *more):
    return [options.jsf, "rank", "--formula-file", formulas.FILES["A"], "--queue", file, "--format", "csv", *more], out


def theirs(name, file, out):
    written = out.with_suffix(".written")
    return [prepare.PYTHON, "-B", prepare.HERE / "rank_file.py", name, 2, file, written], written


def rankers(options, file, names):
    """jsf as OpenPBS computes and with doubles, then the peers."""
    out = lambda name: options.data / f"{file.stem}.{name}.csv"
    yield Ranker("**jsf**", *ours(options, file, out("jsf")), FLOAT32)
    yield Ranker("**jsf** `--numbers exact`", *ours(options, file, out("exact"), "--numbers", "exact"))
    for words, name in names:
        yield Ranker(words, *theirs(name, file, out(name)))


def check(candidates):
    """Runs every candidate once, which also warms what can be warm, and compares the rankings with the last one's."""
    for candidate in candidates:
        say("checking", *candidate.command[:1], candidate.words)
        Cost(candidate.command, stdout_of(candidate))
    expected = candidates[-1]
    for candidate in candidates[:-1]:
        if candidate.tolerance is not None:
            command = [sys.executable, prepare.HERE / "compare_rankings.py", expected.out, candidate.out]
            subprocess.run([*command, str(candidate.tolerance)], check=True)


def stdout_of(candidate):
    return candidate.out.with_suffix(".stdout") if candidate.out.suffix == ".written" else candidate.out


def table(options, title, candidates, rounds):
    check(candidates)
    costs = in_turn(rounds, candidates, lambda candidate: Cost(candidate.command, stdout_of(candidate)))
    first = [cost.wall for cost in costs[candidates[0]]]
    rows = []
    for candidate in candidates:
        walls = [cost.wall for cost in costs[candidate]]
        middle = lambda quantity: statistics.median(map(quantity, costs[candidate]))
        ratio = "" if candidate is candidates[0] else f"{short(median_ratio(walls, first))} x"
        numbers = [
            short(statistics.median(walls) * 1e3),
            ratio,
            short(middle(lambda cost: cost.processors) * 1e3),
            short(middle(lambda cost: cost.memory) / 2**20),
        ]
        rows.append([candidate.words, *numbers])
        for path in (candidate.out, stdout_of(candidate)):
            path.unlink(missing_ok=True)
    return markdown(title, ["", "ms", "", "ms of processors", "peak MiB"], rows)


def lines(options, jobs, names, rounds):
    file = prepare.ndjson(options.data, jobs)
    title = f"{jobs:,} jobs as NDJSON to a ranked CSV, formula A"
    return table(options, title, list(rankers(options, file, names)), rounds)


def qstat(options):
    file = prepare.qstat(options.data, 100_000)
    title = "100,000 jobs as `qstat -f -F json` to a ranked CSV, formula A"
    candidates = list(rankers(options, file, [("orjson, CPython compiled", "orjson-qstat")]))
    typed = Ranker("serde_json, typed, one thread: reads only", [prepare.RUST, "read-qstat", file], file.with_suffix(".typed"), None)
    return table(options, title, [*candidates[:-1], typed, candidates[-1]], options.rounds)


def run(options):
    duckdb, polars = ("DuckDB", "duckdb"), ("polars, streaming", "polars")
    orjson = ("orjson, CPython compiled", "orjson")
    tables = [lines(options, 1_000_000, [duckdb, polars, orjson], options.rounds), qstat(options)]
    if options.huge:
        tables.append(lines(options, HUGE, [duckdb], min(options.rounds, 5)))
        if options.only == "files":
            prepare.ndjson(options.data, HUGE).unlink()
    return "\n".join(tables)
