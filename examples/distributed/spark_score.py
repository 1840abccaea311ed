"""Scores a history of jobs with Spark, and compares two formulas.

    spark_score.py JOBS SCORES [--master local-cluster[2,1,1024]]    folders of Parquet

`local-cluster[2,1,1024]` is a cluster of two executors on this machine, each a process with one core and 1024 MB, and
each with Python processes of its own. Spark runs the task of a killed process again, four times at most.
"""

import argparse

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

from formulas import COMPARE, FAILED, FORMULAS, INPUTS

KEYS = ["id", "entity", "week"]
SCHEMA = "id bigint, entity string, week bigint, " + ", ".join(f"{name} double" for name in FORMULAS)


def scorer(formulas):
    """Formulas are pickled with the function, so that a worker needs the package alone."""

    def score(batches):
        for batch in batches:
            columns = {name: batch.column(name) for name in KEYS}
            for name, formula in formulas.items():
                columns[name] = pa.array(formula.evaluate(batch))
            yield pa.RecordBatch.from_pydict(columns)

    return score


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs")
    parser.add_argument("scores")
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    options = parser.parse_args()
    spark = SparkSession.builder.master(options.master).appName("job_sort_formula").getOrCreate()
    jobs = spark.read.parquet(options.jobs).select("id", "entity", expr("submit div 604800").alias("week"), *INPUTS)
    jobs.mapInArrow(scorer(FORMULAS), SCHEMA).write.mode("overwrite").parquet(options.scores)
    spark.read.parquet(options.scores).createOrReplaceTempView("scores")
    for query in (FAILED, COMPARE):
        spark.sql(query).show(10)
    spark.stop()


if __name__ == "__main__":
    main()
