"""The three formulas that all are measured on, in everyone's own words.

P is PP-718's (one power), A is ALCF's (arithmetic, clamps, a power of two and of three), Q is QUT's (arithmetic and a
logarithm); `jsf` and CPython read them from `examples/formulas`.
"""

import math
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/formulas"
FILES = {"P": FOLDER / "pp718.txt", "A": FOLDER / "alcf.txt", "Q": FOLDER / "qut.txt"}
PYTHON = {letter: file.read_text().strip() for letter, file in FILES.items()}
MATH = {name: value for name, value in vars(math).items() if not name.startswith("_")}

SQL = {
    "P": "pow(2.0, -(fairshare_tree_usage / fairshare_perc))",
    "A": "base_score + score_boost + (enable_wfp * wfp_factor * (pow(eligible_time, 2)"
    " / pow(least(greatest(walltime, 21600.0::DOUBLE), 43200.0::DOUBLE), 3) * project_priority * nodect / total_cpus))"
    " + (enable_backfill * least(backfill_max, eligible_time / backfill_factor))"
    " + (enable_fifo * eligible_time / fifo_factor)",
    "Q": "(48 * fairshare_factor) + ((6 * fairshare_factor) * ((mem / 1048576 / 8) + ncpus + (ngpus * 32)))"
    " + (0.000278::DOUBLE * eligible_time) + (4 * ln(greatest(fairshare_factor, 1e-7::DOUBLE)))",
}
NUMEXPR = {
    "P": PYTHON["P"].replace("pow(2, ", "2.0 ** ("),
    "A": re.sub(r"\b(min|max)\(", r"\1imum(", PYTHON["A"]),
    "Q": re.sub(r"\bmax\(", "maximum(", PYTHON["Q"]),
}


def inputs(letter):
    """The names that a formula reads, in the order in which they first stand there."""
    names = re.findall(r"[a-z_]\w*", PYTHON[letter])
    return list(dict.fromkeys(name for name in names if name not in {"pow", "min", "max", "log", "e"}))


def numpy_score(letter, np, c):
    """A formula on columns."""
    if letter == "P":
        return np.power(2.0, -(c["fairshare_tree_usage"] / c["fairshare_perc"]))
    if letter == "A":
        limited = np.minimum(np.maximum(c["walltime"], 21600.0), 43200.0)
        waited = c["eligible_time"] ** 2 / limited**3 * c["project_priority"] * c["nodect"] / c["total_cpus"]
        backfill = np.minimum(c["backfill_max"], c["eligible_time"] / c["backfill_factor"])
        return (
            c["base_score"]
            + c["score_boost"]
            + (c["enable_wfp"] * c["wfp_factor"] * waited)
            + (c["enable_backfill"] * backfill)
            + (c["enable_fifo"] * c["eligible_time"] / c["fifo_factor"])
        )
    size = (c["mem"] / 1048576 / 8) + c["ncpus"] + (c["ngpus"] * 32)
    guarded = np.log(np.maximum(c["fairshare_factor"], 1e-7))
    return (48 * c["fairshare_factor"]) + ((6 * c["fairshare_factor"]) * size) + (0.000278 * c["eligible_time"]) + (
        4 * guarded
    )


def polars_score(letter, pl):
    """A formula as an expression of polars."""
    c = pl.col
    if letter == "P":
        return pl.lit(2.0).pow(-(c("fairshare_tree_usage") / c("fairshare_perc")))
    if letter == "A":
        limited = c("walltime").cast(pl.Float64).clip(21600.0, 43200.0)
        waited = c("eligible_time") ** 2 / limited**3 * c("project_priority") * c("nodect") / c("total_cpus")
        backfill = pl.min_horizontal(c("backfill_max").cast(pl.Float64), c("eligible_time") / c("backfill_factor"))
        return (
            c("base_score")
            + c("score_boost")
            + (c("enable_wfp") * c("wfp_factor") * waited)
            + (c("enable_backfill") * backfill)
            + (c("enable_fifo") * c("eligible_time") / c("fifo_factor"))
        )
    size = (c("mem") / 1048576 / 8) + c("ncpus") + (c("ngpus") * 32)
    guarded = c("fairshare_factor").clip(1e-7, None).log()
    return (
        (48 * c("fairshare_factor"))
        + ((6 * c("fairshare_factor")) * size)
        + (0.000278 * c("eligible_time"))
        + (4 * guarded)
    )
