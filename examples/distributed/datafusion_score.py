"""Scores a history of jobs with DataFusion, and compares two formulas.

    datafusion_score.py JOBS SCORES [--part K/N]    folders of Parquet
    datafusion_score.py --compare SCORES

DataFusion runs in one process. For more, start one for each `--part`: a part whose process is killed leaves nothing
behind, and is started again.
"""

import argparse
import os
import pathlib

import pyarrow as pa
from datafusion import SessionContext, udf

from formulas import COMPARE, FAILED, FLOATS, FORMULAS


def register(context):
    """Makes each formula a function of SQL. Its columns are read in place, and other threads run meanwhile."""
    for name, formula in FORMULAS.items():

        def score(*columns, formula=formula):
            return pa.array(formula.evaluate(dict(zip(formula.inputs, columns))))

        types = [pa.float64() if column in FLOATS else pa.int64() for column in formula.inputs]
        context.register_udf(udf(score, types, pa.float64(), "immutable", name))


def write_scores(jobs, scores):
    """The file of scores of a file of jobs; it appears whole."""
    context = SessionContext()
    register(context)
    context.register_parquet("jobs", str(jobs))
    calls = ", ".join(f"{name}({', '.join(formula.inputs)}) as {name}" for name, formula in FORMULAS.items())
    rows = context.sql(f"select id, entity, submit / 604800 as week, {calls} from jobs")
    unfinished = scores.with_suffix(".part")
    rows.write_parquet(str(unfinished))
    os.replace(unfinished, scores)


def compare(scores):
    context = SessionContext()
    context.register_parquet("scores", f"{scores}/", file_extension=".parquet")
    for query in (FAILED, COMPARE):
        context.sql(query).show(10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--part", default="0/1", metavar="K/N")
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if not options.compare:
        jobs, scores = options.folders
        scores.mkdir(parents=True, exist_ok=True)
        part, parts = map(int, options.part.split("/"))
        for file in sorted(jobs.glob("*.parquet"))[part::parts]:
            if not (scores / file.name).exists():
                write_scores(file, scores / file.name)
    compare(options.folders[-1])


if __name__ == "__main__":
    main()
