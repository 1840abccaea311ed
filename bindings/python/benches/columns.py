"""Scores columns by a formula and by the same expression of numpy and polars, in one run. Needs a wheel of the profile
`dist`, numpy and polars.

python3 columns.py [ROWS [ROUNDS]]

All candidates of a formula take turns, and each time is the least of the rounds. With int32 there is only ours: numpy and polars
would square `eligible_time` in 32 bits.
"""

import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from job_sort_formula import Formula

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
FORMULAS = Path(__file__).parents[3] / "examples" / "formulas"
ALCF = (FORMULAS / "alcf.txt").read_text().strip()
PP718 = (FORMULAS / "pp718.txt").read_text().strip()
RANGES = {
    "eligible_time": (0, 10**6), "walltime": (60, 86_400), "nodect": (1, 496), "base_score": (0, 52), "score_boost": (0, 3),
    "project_priority": (1, 25), "total_cpus": (496, 561), "enable_wfp": (0, 2), "wfp_factor": (1, 100_000),
    "enable_backfill": (0, 2), "backfill_max": (1, 51), "backfill_factor": (1, 84_600), "enable_fifo": (0, 2),
    "fifo_factor": (1, 1800), "fairshare_tree_usage": (0, 1000), "fairshare_perc": (1, 1000),
}


def numpy_alcf(c):
    return (c["base_score"] + c["score_boost"]
            + c["enable_wfp"] * c["wfp_factor"] * (c["eligible_time"] ** 2
            / np.minimum(np.maximum(c["walltime"], 21600.0), 43200.0) ** 3 * c["project_priority"] * c["nodect"] / c["total_cpus"])
            + c["enable_backfill"] * np.minimum(c["backfill_max"], c["eligible_time"] / c["backfill_factor"])
            + c["enable_fifo"] * c["eligible_time"] / c["fifo_factor"])


def polars_alcf(c):
    c = {name: pl.col(name) for name in c}
    return (c["base_score"] + c["score_boost"]
            + c["enable_wfp"] * c["wfp_factor"] * (c["eligible_time"] ** 2
            / pl.min_horizontal(pl.max_horizontal(c["walltime"], 21600.0), 43200.0) ** 3 * c["project_priority"] * c["nodect"]
            / c["total_cpus"])
            + c["enable_backfill"] * pl.min_horizontal(c["backfill_max"], c["eligible_time"] / c["backfill_factor"])
            + c["enable_fifo"] * c["eligible_time"] / c["fifo_factor"])


def numpy_pp718(c):
    return np.power(2.0, -(c["fairshare_tree_usage"] / c["fairshare_perc"]))


def polars_pp718(c):
    return pl.lit(2.0).pow(-(pl.col("fairshare_tree_usage") / pl.col("fairshare_perc")))


def measure(title, text, dtypes, numpy_expression, polars_expression):
    formula = Formula(text)
    formula = Formula(text, {name: "float" for name in formula.undefined})
    generator = np.random.default_rng(1)
    drawn = {name: generator.integers(*RANGES[name], ROWS) for name in formula.inputs}
    works, peers = {}, {}
    for dtype in dtypes:
        columns = {name: column.astype(dtype) for name, column in drawn.items()}
        frame = pl.DataFrame(columns)
        works[dtype, "1 thread"] = lambda columns=columns: formula.evaluate(columns)
        works[dtype, "2 threads"] = lambda columns=columns: formula.evaluate(columns, threads=2)
        works[dtype, "2 threads, polars' columns"] = lambda frame=frame: formula.evaluate(frame, threads=2)
        if dtype != "int32":
            works[dtype, "numpy"] = lambda columns=columns: numpy_expression(columns)
            works[dtype, "polars"] = lambda frame=frame, c=columns: frame.select(polars_expression(c)).to_series()
            peers |= {(dtype, "1 thread"): (dtype, "numpy"), (dtype, "2 threads"): (dtype, "polars")}
    expected = formula.evaluate(drawn).to_numpy()
    times = {key: [] for key in works}
    for work in works.values():
        assert np.allclose(np.asarray(work()), expected, rtol=1e-12)
    for _ in range(ROUNDS):
        for key, work in works.items():
            start = time.perf_counter()
            work()
            times[key].append(time.perf_counter() - start)
    for key, several in times.items():
        ratio = f"{min(times[peers[key]]) / min(several):.2f} x {peers[key][1]}" if key in peers else ""
        print(f"| {title} | {key[0]} | {key[1]} | {ROWS / min(several) / 1e6:.1f} | {ratio} |", flush=True)


print(f"{ROWS:,} rows, {ROUNDS} rounds\n\n| formula | columns | | million rows/s | |\n|---|---|---|--:|--:|")
measure("ALCF", ALCF, ["int32", "int64"], numpy_alcf, polars_alcf)
measure("PP-718", PP718, ["float64", "int64"], numpy_pp718, polars_pp718)
