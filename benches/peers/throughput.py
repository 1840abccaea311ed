"""`jsf rank` on queues of every size: what a job costs, start of the process included, and how long DuckDB takes."""

import resource
import statistics

import prepare
from files import HUGE, ours, theirs
from measure import Cost, in_turn, markdown, median_ratio, short

SIZES = [1, 1_000, 10_000, 100_000, 1_000_000]


def run(options):
    sizes = SIZES + [HUGE] * options.huge
    files = {jobs: prepare.ndjson(options.data, jobs) for jobs in sizes}
    ranking = options.data / "throughput.csv"
    printed = options.data / "throughput.printed"
    jsf = {jobs: (ours(options, files[jobs]), ranking) for jobs in sizes}
    duckdb = {jobs: (theirs("duckdb", files[jobs], ranking), printed) for jobs in sizes}
    candidates = [*jsf.values(), *duckdb.values()]
    costs = in_turn(options.rounds, range(len(candidates)), lambda index: Cost(*candidates[index]))
    ranking.unlink()
    printed.unlink()
    header = ["jobs, NDJSON to CSV, formula A", "ms", "ms of processors", "µs for one job", "peak MiB", "DuckDB, ms", ""]
    rows = [row(jobs, costs[index], costs[index + len(sizes)]) for index, jobs in enumerate(sizes)]
    return markdown("`jsf rank` by the size of the queue", header, rows)


def row(jobs, costs, others):
    wall, processors, memory = (
        statistics.median(getattr(cost, quantity) for cost in costs) for quantity in ("wall", "processors", "memory")
    )
    # a child inherits its parent's peak
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    peak = short(memory / 2**20) if memory > floor else f"below {short(floor / 2**20)}"
    walls = [cost.wall for cost in costs]
    other_walls = [cost.wall for cost in others]
    ratio = f"{short(median_ratio(other_walls, walls))} x"
    other = short(statistics.median(other_walls) * 1e3)
    return [f"{jobs:,}", short(wall * 1e3), short(processors * 1e3), short(wall / jobs * 1e6), peak, other, ratio]
