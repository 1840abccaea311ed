"""Scores a history of jobs with Daft, and compares two formulas.

    daft_score.py JOBS SCORES    folders of Parquet

The formulas run in processes of their own. Where one is killed, Daft's runner for one machine ends with an error: start
the program again, and it writes the scores from the beginning.
"""

import argparse

import daft
import pyarrow as pa
from daft import DataType, col

from formulas import COMPARE, FAILED, FORMULAS


def function_of(formula):
    """The formula as a function of columns of Daft, which are read in place."""

    @daft.func.batch(return_dtype=DataType.float64(), use_process=True)
    def score(*columns):
        arrays = [column.to_arrow() for column in columns]
        return pa.array(formula.evaluate(dict(zip(formula.inputs, arrays))))

    return score(*(col(name) for name in formula.inputs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs")
    parser.add_argument("scores")
    options = parser.parse_args()
    week = (col("submit") // 604800).alias("week")
    rows = daft.read_parquet(f"{options.jobs}/*.parquet").select(
        "id", "entity", week, *(function_of(formula).alias(name) for name, formula in FORMULAS.items())
    )
    rows.write_parquet(options.scores, write_mode="overwrite")
    scores = daft.read_parquet(f"{options.scores}/*.parquet")
    for query in (FAILED, COMPARE):
        daft.sql(query, scores=scores).show(10)


# a process for the formulas imports this file
if __name__ == "__main__":
    main()
