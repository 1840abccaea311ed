"""Scores columns by a formula and by the same expression of numpy and polars, in one run. Needs a wheel of the profile
`release`, numpy and polars.

python3 columns.py [ROWS]

ALCF's columns are int64, PP-718's float64 and int64. Each time is the least of five.
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


def rate(work):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return ROWS / min(times) / 1e6, np.asarray(result)


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
        "numpy": lambda: numpy_expression(columns),
        "polars": lambda: frame.select(polars_expression(columns)).to_series(),
    }
    print(f"{title}, {ROWS:,} rows, {np.dtype(dtype)}: million rows/s")
    rates = {}
    for name, work in works.items():
        rates[name], scores = rate(work)
        if name == "1 thread":
            expected = scores
        print(f"  {name:28}{rates[name]:8.1f}{'' if np.allclose(scores, expected, rtol=1e-12) else '  (other values)'}")
    print(f"  1 thread against numpy {rates['1 thread'] / rates['numpy']:.2f}, "
          f"2 threads against polars {rates['2 threads'] / rates['polars']:.2f}")


measure("ALCF", ALCF, np.int64, numpy_alcf, polars_alcf)
measure("PP-718", PP718, np.float64, numpy_pp718, polars_pp718)
measure("PP-718", PP718, np.int64, numpy_pp718, polars_pp718)
