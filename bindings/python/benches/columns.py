"""Scores columns by a formula and by the same expression of numpy and polars, in one run. Needs a wheel of the profile
`release`, numpy and polars.

python3 columns.py [ROWS]

All candidates take turns, and each time is the least of nine. With int32 there is only ours: numpy and polars would square
`eligible_time` in 32 bits.
"""

import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from job_sort_formula import Formula

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
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


def least_times(works):
    times = {name: [] for name in works}
    for _ in range(9):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - start)
    return {name: min(several) for name, several in times.items()}


def measure(title, text, dtype, numpy_expression, polars_expression):
    resources = {name: "float" for name in RANGES}
    formula = Formula(text)
    formula = Formula(text, {name: resources[name] for name in formula.undefined})
    generator = np.random.default_rng(1)
    columns = {name: generator.integers(*RANGES[name], ROWS).astype(dtype) for name in formula.inputs}
    frame = pl.DataFrame(columns)
    works = {
        "1 thread": lambda: formula.evaluate(columns),
        "2 threads": lambda: formula.evaluate(columns, threads=2),
        "2 threads, polars' columns": lambda: formula.evaluate(frame, threads=2),
    }
    if dtype is not np.int32:
        works["numpy"] = lambda: numpy_expression(columns)
        works["polars"] = lambda: frame.select(polars_expression(columns)).to_series()
    expected = works["1 thread"]().to_numpy()
    for work in works.values():
        assert np.allclose(np.asarray(work()), expected, rtol=1e-12)
    times = least_times(works)
    for name, seconds in times.items():
        peer = {"1 thread": "numpy", "2 threads": "polars"}.get(name)
        ratio = f"{times[peer] / seconds:.2f} x {peer}" if peer in times else ""
        print(f"| {title} | {np.dtype(dtype)} | {name} | {ROWS / seconds / 1e6:.1f} | {ratio} |", flush=True)


print(f"{ROWS:,} rows\n\n| formula | columns | | million rows/s | |\n|---|---|---|--:|--:|")
measure("ALCF", ALCF, np.int32, numpy_alcf, polars_alcf)
measure("ALCF", ALCF, np.int64, numpy_alcf, polars_alcf)
measure("PP-718", PP718, np.float64, numpy_pp718, polars_pp718)
measure("PP-718", PP718, np.int64, numpy_pp718, polars_pp718)
