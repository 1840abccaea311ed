"""From a file to a ranked CSV: whole processes with all that they load, two threads where they can use them."""

import statistics
import subprocess
import sys

import formulas
import prepare
from measure import Cost, in_turn, markdown, median_ratio, say, short

# How far scores may lie from the last candidate's, relative: not at all, in the last bits, and where they are kept in a
# float as OpenPBS keeps them.
EXACT, NEAR, FLOAT32 = 0.0, 1e-9, 1e-6

HUGE = 10_000_000


class Ranker:
    """A candidate and the file of its ranking, which it writes itself unless that is what it prints. `tolerance` is
    `None` for one that ranks nothing."""

    def __init__(self, words, command, ranking, printed=None, tolerance=NEAR):
        self.words, self.command, self.ranking, self.tolerance = words, command, ranking, tolerance
        self.printed = printed or ranking

    def run(self):
        return Cost(self.command, self.printed)

    def clean(self):
        self.ranking.unlink(missing_ok=True)
        self.printed.unlink(missing_ok=True)


def ours(options, file, *more):
    formula = ["--formula-file", formulas.FILES["A"]]
    return [options.jsf, "rank", *formula, "--queue", file, "--format", "csv", *more]


def theirs(name, file, ranking):
    return [prepare.PYTHON, "-B", prepare.HERE / "rank_file.py", name, 2, file, ranking]


def rankers(options, file, peers, tolerance=EXACT):
    """jsf as OpenPBS computes and with doubles, then the peers."""
    ranking = lambda name: options.data / f"{file.stem}.{name}.csv"
    yield Ranker("**jsf**", ours(options, file), ranking("jsf"), tolerance=FLOAT32)
    exact = ours(options, file, "--numbers", "exact")
    yield Ranker("**jsf** `--numbers exact`", exact, ranking("exact"), tolerance=tolerance)
    for words, name in peers:
        yield Ranker(words, theirs(name, file, ranking(name)), ranking(name), ranking(name).with_suffix(".printed"))


def check(candidates):
    """Runs every candidate once, which also warms what can be warm, and compares the rankings with the last one's."""
    for candidate in candidates:
        say("checking", candidate.words)
        candidate.run()
    expected = candidates[-1].ranking
    for candidate in candidates[:-1]:
        if candidate.tolerance is not None:
            command = [sys.executable, prepare.HERE / "compare_rankings.py", expected, candidate.ranking]
            subprocess.run([*command, str(candidate.tolerance)], check=True)


def table(title, candidates, rounds):
    check(candidates)
    costs = in_turn(rounds, candidates, Ranker.run)
    first = [cost.wall for cost in costs[candidates[0]]]
    rows = [row(candidate, costs[candidate], first) for candidate in candidates]
    for candidate in candidates:
        candidate.clean()
    return markdown(title, ["", "ms", "", "ms of processors", "peak MiB"], rows)


def row(candidate, costs, first):
    middle = lambda quantity: statistics.median(getattr(cost, quantity) for cost in costs)
    walls = [cost.wall for cost in costs]
    ratio = "" if walls == first else f"{short(median_ratio(walls, first))} x"
    return [
        candidate.words,
        short(middle("wall") * 1e3),
        ratio,
        short(middle("processors") * 1e3),
        short(middle("memory") / 2**20),
    ]


def lines(options, jobs, names, rounds, tolerance=EXACT):
    file = prepare.ndjson(options.data, jobs)
    title = f"{jobs:,} jobs as NDJSON to a ranked CSV, formula A"
    return table(title, list(rankers(options, file, names, tolerance)), rounds)


def nested(options):
    file = prepare.nested(options.data, 1_000_000)
    title = "1,000,000 jobs as NDJSON with nested `inputs` to a ranked CSV, formula A"
    return table(title, list(rankers(options, file, [("DuckDB", "duckdb-nested")], NEAR)), options.rounds)


def qstat(options):
    file = prepare.qstat(options.data, 100_000)
    title = "100,000 jobs as `qstat -f -F json` to a ranked CSV, formula A"
    candidates = list(rankers(options, file, [("orjson, CPython compiled", "orjson-qstat")]))
    reads = [prepare.RUST, "read-qstat", file]
    typed = Ranker("serde_json, typed, one thread: reads only", reads, file.with_suffix(".typed"), tolerance=None)
    return table(title, [*candidates[:-1], typed, candidates[-1]], options.rounds)


def run(options):
    duckdb, polars = ("DuckDB", "duckdb"), ("polars, streaming", "polars")
    orjson = ("orjson, CPython compiled", "orjson")
    tables = [
        lines(options, 1_000_000, [duckdb, polars, orjson], options.rounds),
        nested(options),
        qstat(options),
    ]
    if options.huge:
        # CPython would take a minute each time; what DuckDB computes has just been held against it
        tables.append(lines(options, HUGE, [duckdb], min(options.rounds, 5), NEAR))
    return "\n".join(tables)


def forget_the_huge(options):
    """Gives the disk back that ten million jobs take."""
    if options.huge:
        for path in options.data.glob(f"jobs_{HUGE}.*"):
            path.unlink()
