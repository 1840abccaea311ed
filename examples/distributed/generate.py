"""Writes an invented history of jobs as Parquet.

    generate.py FOLDER [--rows 10_000_000] [--rows-per-file 1_250_000] [--years 5] [--part K/N]

A row depends on its number and on nothing else (SplitMix64 of seed, row and column): files may be written by any number
of workers, each with its own `--part`, and 10,000,000,000 jobs are a larger `--rows`. One user of a hundred has no
shares, `fairshare_perc` 0, and half of these have not used anything either; one job of two hundred has `walltime` 0.
"""

import argparse
import os
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 718
USERS = 2000
START = 1_609_459_200  # 2021-01-01
WEEK = 7 * 24 * 3600
ROWS_AT_ONCE = 1 << 17
QUEUES = ["prod", "debug", "express", "scavenge"]
QUEUE_PRIORITY = np.array([0, 50, 100, -100])


def uniform(counter, column):
    """A number from 0 to below 1 for each counter."""
    z = counter.astype(np.uint64) * np.uint64(64) + np.uint64(column)
    z = np.uint64(SEED) + z * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) / 2.0**53


def jobs(first, last, rows, years):
    """The jobs from `first` to before `last` of `rows` that were submitted during some years."""
    row = np.arange(first, last)
    draw = lambda column: uniform(row, column)
    below = lambda column, end: (draw(column) * end).astype(np.int64)
    pick = lambda column, choices: np.array(choices)[below(column, len(choices))]
    same = lambda number: np.full(last - first, number)

    submit = START + (row / rows * years * 365.25 * 24 * 3600).astype(np.int64)
    user = (USERS * draw(0) ** 2).astype(np.int64)
    queue = np.searchsorted([0.7, 0.8, 0.9], draw(1), side="right")
    nodect = (1 + 1024 * draw(2) ** 8).astype(np.int64)
    # shares belong to the user, usage to the user's week
    of_week = user * 100_000 + submit // WEEK
    perc = np.where(user % 100 == 7, 0.0, np.round((1 + 9 * uniform(user, 3)) / (5.5 * USERS), 8))
    usage = np.where(user % 200 == 7, 0.0, np.round(uniform(of_week, 4) * 2 / USERS, 8))
    factor = np.exp2(-usage / np.where(perc == 0, 1, perc))
    return {
        "id": row,
        "entity": pa.DictionaryArray.from_arrays(user.astype(np.int32), [f"user{number:04}" for number in range(USERS)]),
        "queue": pa.DictionaryArray.from_arrays(queue.astype(np.int32), QUEUES),
        "submit": submit,
        "ncpus": nodect * 64,
        "mem": nodect * pick(5, [64, 128, 256, 512]) * 1024 * 1024,
        "walltime": np.where(draw(6) < 0.005, 0, 600 * (1 + below(7, 144))),
        "eligible_time": (-20_000 * np.log1p(-below(8, 10_000) / 10_000)).astype(np.int64),
        "queue_priority": QUEUE_PRIORITY[queue],
        "fairshare_perc": perc,
        "fairshare_tree_usage": usage,
        "fairshare_factor": np.where(perc == 0, 0.0, np.round(factor, 6)),
        "base_score": np.array([0, 51, 200, 0])[queue],
        "score_boost": np.where(draw(9) < 0.02, 1 + below(10, 500), 0),
        "enable_wfp": np.array([1, 0, 0, 1])[queue],
        "wfp_factor": same(100_000),
        "project_priority": pick(11, [1.0, 2.0, 10.0, 25.0]),
        "nodect": nodect,
        "total_cpus": same(560),
        "enable_backfill": np.array([0, 0, 0, 1])[queue],
        "backfill_max": same(50),
        "backfill_factor": same(84_600),
        "enable_fifo": np.array([0, 1, 1, 0])[queue],
        "fifo_factor": same(1800),
    }


def write_file(path, first, last, options):
    unfinished = path.with_suffix(".part")
    writer = None
    for start in range(first, last, ROWS_AT_ONCE):
        batch = pa.table(jobs(start, min(start + ROWS_AT_ONCE, last), options.rows, options.years))
        writer = writer or pq.ParquetWriter(unfinished, batch.schema, compression="zstd")
        writer.write_table(batch)
    writer.close()
    os.replace(unfinished, path)


def number(text):
    return int(text.replace("_", "").replace(",", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=number, default=10_000_000)
    parser.add_argument("--rows-per-file", type=number, default=1_250_000)
    parser.add_argument("--years", type=float, default=5)
    parser.add_argument("--part", default="0/1", metavar="K/N", help="only every N-th file, from the K-th on")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    options.folder.mkdir(parents=True, exist_ok=True)
    firsts = range(0, options.rows, options.rows_per_file)
    for file in range(part, len(firsts), parts):
        last = min(firsts[file] + options.rows_per_file, options.rows)
        write_file(options.folder / f"jobs-{file:06}.parquet", firsts[file], last, options)


if __name__ == "__main__":
    main()
