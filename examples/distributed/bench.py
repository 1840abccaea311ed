"""Our function against an engine's own expression of the same formula, on the same Parquet and in the same run.

    bench.py JOBS [--rounds N] [--threads N]

Each candidate scores every job by one formula and adds up the scores: `Parquet` reads the columns from the files, which
the system has in memory after the first round, `memory` has them as columns of Arrow. All take turns, round after round;
a table gives the median of millions of jobs a second, and the median of the rounds' ratios of ours to the engine's own.
Another table says what each makes of jobs whose formula fails. Tables go to standard output as Markdown.
"""

import argparse
import glob
import os
import platform
import statistics
import sys
import time
from collections import Counter
from importlib.metadata import version


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


options = arguments()
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
os.environ["POLARS_MAX_THREADS"] = str(options.threads)

import datafusion
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

from datafusion_score import register
from formulas import FORMULAS

MEASURED = ["pp718", "alcf"]
FILES = sorted(glob.glob(f"{options.jobs}/*.parquet"))
NEEDED = list(dict.fromkeys(name for formula in MEASURED for name in FORMULAS[formula].inputs))

# integers are cast where the engine would otherwise divide them as integers or raise them to a power as such
SQL = {
    "pp718": "power(2.0, -(fairshare_tree_usage / fairshare_perc))",
    "alcf": "base_score + score_boost + (enable_wfp * wfp_factor * (power(eligible_time::double, 2.0)"
    " / power(least(greatest(walltime::double, 21600.0), 43200.0), 3.0) * project_priority * nodect / total_cpus))"
    " + (enable_backfill * least(backfill_max::double, eligible_time::double / backfill_factor))"
    " + (enable_fifo * eligible_time::double / fifo_factor)",
    "xfactor": "queue_priority + 100 * (eligible_time + walltime)::double / walltime",
}
c = pl.col
POLARS = {
    "pp718": 2.0 ** -(c("fairshare_tree_usage") / c("fairshare_perc")),
    "alcf": c("base_score")
    + c("score_boost")
    + (
        c("enable_wfp")
        * c("wfp_factor")
        * (
            c("eligible_time").cast(pl.Float64) ** 2
            / c("walltime").cast(pl.Float64).clip(21600.0, 43200.0) ** 3
            * c("project_priority")
            * c("nodect")
            / c("total_cpus")
        )
    )
    + (c("enable_backfill") * pl.min_horizontal(c("backfill_max").cast(pl.Float64), c("eligible_time") / c("backfill_factor")))
    + (c("enable_fifo") * c("eligible_time") / c("fifo_factor")),
    "xfactor": c("queue_priority") + 100 * (c("eligible_time") + c("walltime")) / c("walltime"),
}


def polars_function(name):
    """The formula as an expression, which Polars calls for each part of the rows."""
    formula = FORMULAS[name]
    score = lambda jobs: pl.Series(formula.evaluate(jobs.struct.unnest()))
    return pl.struct(*formula.inputs).map_batches(score, return_dtype=pl.Float64, is_elementwise=True)


def polars_at_once(name, frame):
    formula = FORMULAS[name]
    return pl.Series(formula.evaluate(frame.select(formula.inputs).collect(), threads=options.threads)).sum()


def datafusion_context(source, batch_size):
    config = datafusion.SessionConfig().with_target_partitions(options.threads).with_batch_size(batch_size)
    context = datafusion.SessionContext(config)
    register(context)
    if source == "Parquet":
        context.register_parquet("jobs", f"{options.jobs}/")
    else:
        rows = -(-TABLE.num_rows // options.threads)
        parts = [TABLE.slice(first, rows).to_batches() for first in range(0, TABLE.num_rows, rows)]
        context.register_record_batches("jobs", parts)
    return context


def candidates(name):
    """Of each engine and source the two ways to score; each gives the sum of the scores that are numbers."""
    call = f"{name}({', '.join(FORMULAS[name].inputs)})"
    for source, (for_ours, for_own) in CONTEXTS.items():
        sql = lambda score, context: context.sql(f"select sum({score}) from jobs").collect()[0][0][0].as_py()
        ours = lambda context=for_ours: sql(call, context)
        yield "DataFusion", source, ours, lambda context=for_own: sql(SQL[name], context)
    lazy = {"Parquet": pl.scan_parquet(FILES), "memory": FRAME.lazy()}
    for source, frame in lazy.items():
        run = lambda score, how, frame=frame: frame.select(score.sum()).collect(engine=how).item()
        streamed = lambda run=run: run(polars_function(name), "streaming")
        yield "Polars, streaming", source, streamed, lambda run=run: run(POLARS[name], "streaming")
        at_once = lambda frame=frame: polars_at_once(name, frame)
        yield "Polars, whole columns", source, at_once, lambda run=run: run(POLARS[name], "in-memory")


def timed(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure():
    pairs = [(name, *candidate) for name in MEASURED for candidate in candidates(name)]
    times = {index: ([], []) for index in range(len(pairs))}
    for turn in range(options.rounds + 1):
        print(f"round {turn} of {options.rounds}", file=sys.stderr)
        for index, (*_, ours, own) in enumerate(pairs):
            both = list(enumerate((ours, own)))
            for which, work in both if turn % 2 else reversed(both):
                seconds = timed(work)
                if turn > 0:
                    times[index][which].append(seconds)
    print("| formula | engine | columns from | ours, M jobs/s | the engine's own | ours to own |")
    print("|---|---|---|--:|--:|--:|")
    for index, (name, engine, source, *_) in enumerate(pairs):
        ours, own = times[index]
        rate = lambda seconds: f"{TABLE.num_rows / statistics.median(seconds) / 1e6:.1f}"
        ratio = statistics.median(theirs / mine for mine, theirs in zip(ours, own))
        print(f"| {name} | {engine} | {source} | {rate(ours)} | {rate(own)} | {ratio:.2f} x |")


def words(score):
    return "null" if score is None else f"{score:g}"


def failures():
    """What the engines make of the jobs that have no score, and how far they are from CPython's numbers elsewhere."""
    rows = ds.dataset(FILES).head(200_000)
    # one partition keeps the rows in their order
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    context.register_record_batches("jobs", [rows.to_batches()])
    frame = pl.from_arrow(rows)
    print("| formula | jobs | no score | ours | DataFusion's own gives | Polars' own gives | other bits: DataFusion | Polars |")
    print("|---|--:|--:|---|---|---|--:|--:|")
    for name, formula in FORMULAS.items():
        scores = formula.evaluate(rows)
        expected = scores.to_pylist()
        engines = []
        for own in (
            context.sql(f"select {SQL[name]} as score from jobs").to_arrow_table()["score"].to_pylist(),
            frame.select(POLARS[name].alias("score"))["score"].to_list(),
        ):
            of_failed = [words(score) for score, right in zip(own, expected) if right is None]
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in Counter(of_failed).most_common(3)) or "–"
            other = sum(score != right for score, right in zip(own, expected) if right is not None)
            engines.append((kinds, f"{other / len(expected):.1%}"))
        (df_kinds, df_other), (pl_kinds, pl_other) = engines
        why = f"null: {scores.errors[0].message}" if scores.error_count else "–"
        columns = [name, f"{len(expected):,}", f"{scores.error_count:,}", why, df_kinds, pl_kinds, df_other, pl_other]
        print("| " + " | ".join(columns) + " |")


TABLE = ds.dataset(FILES).to_table(columns=NEEDED)
FRAME = pl.from_arrow(TABLE)
# a call of Python costs as much as some thousand jobs: ours gets larger batches, the engine's own what is usual
CONTEXTS = {
    source: tuple(datafusion_context(source, batch_size) for batch_size in (65_536, 8_192))
    for source in ("Parquet", "memory")
}
measure()
print()
failures()
packages = ", ".join(f"{name} {version(name)}" for name in ("datafusion", "polars", "pyarrow"))
load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
print(f"\n{TABLE.num_rows:,} jobs, {platform.machine()}, {options.threads} processors, load {load}, {options.rounds} rounds; {packages}")
