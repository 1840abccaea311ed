"""`jsf rank` on queues of every size: what a job costs, start of the process included."""

import resource
import statistics

import prepare
from files import HUGE, ours
from measure import Cost, in_turn, markdown, short

SIZES = [1, 1_000, 100_000, 1_000_000]


def run(options):
    sizes = SIZES + [HUGE] * options.huge
    files = {jobs: prepare.ndjson(options.data, jobs) for jobs in sizes}
    out = options.data / "throughput.csv"
    measure = lambda jobs: Cost(ours(options, files[jobs]), out)
    for jobs in sizes:
        measure(jobs)
    costs = in_turn(options.rounds, sizes, measure)
    out.unlink()
    header = ["jobs, NDJSON to CSV, formula A", "ms", "ms of processors", "µs for one job", "peak MiB"]
    return markdown("`jsf rank` by the size of the queue", header, [row(jobs, costs[jobs]) for jobs in sizes])


def row(jobs, costs):
    wall, processors, memory = (
        statistics.median(getattr(cost, quantity) for cost in costs) for quantity in ("wall", "processors", "memory")
    )
    # a child inherits its parent's peak
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    peak = short(memory / 2**20) if memory > floor else f"below {short(floor / 2**20)}"
    return [f"{jobs:,}", short(wall * 1e3), short(processors * 1e3), short(wall / jobs * 1e6), peak]
