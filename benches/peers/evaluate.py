"""The in-memory candidates that are written in Python; runs where the peers are installed.

    evaluate.py NAME THREADS FOLDER

speaks as `peers evaluate` does (`rust/src/main.rs`): loads the columns, writes `ready JOBS`, and answers `go LETTER` with
the nanoseconds of one pass, `check LETTER` with the largest relative difference from CPython's results and the number of
results that are not the same to the last bit.
"""

import os
import pathlib
import sys
import time

NAME, THREADS, FOLDER = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
os.environ |= {"POLARS_MAX_THREADS": str(THREADS), "NUMEXPR_MAX_THREADS": str(THREADS)}

import numpy

import formulas

JOBS = 1_000_000
# what CPython passes over, compiled
FEWER_JOBS = 100_000
# what it passes over the way PBS lets it
FEWEST_JOBS = 10_000

IN_PBS = """
failure = ""
try:
\tanswer = eval("%s", inputs, locals())
except Exception as error:
\tfailure = str(error)
"""


def column(name, jobs, whole_as=numpy.float64):
    """An input of the first jobs; integers as doubles, unless they shall stay what they are to Python."""
    whole = FOLDER / f"{name}.int"
    path = whole if whole.exists() else whole.with_suffix(".float")
    numbers = numpy.fromfile(path, count=jobs)
    return numbers.astype(whole_as) if path == whole else numbers


def every_name():
    return sorted(path.stem for path in FOLDER.glob("*.*") if path.stem != "expected")


def as_pbs_does(letter):
    """Every job: the text of a dictionary with all its resources is run, then the text of a `try` around an `eval`."""
    names = every_name()
    columns = [column(name, FEWEST_JOBS, numpy.int64).tolist() for name in names]
    texts = [
        "inputs = {" + ",".join(f"'{name}':{number!r}" for name, number in zip(names, row)) + "}"
        for row in zip(*columns)
    ]
    evaluation = IN_PBS % formulas.PYTHON[letter]
    interpreter = {}
    exec("from math import *", interpreter)

    def run():
        answers = []
        for text in texts:
            exec(text, interpreter)
            exec(evaluation, interpreter)
            answers.append(interpreter["answer"])
        return answers

    return FEWEST_JOBS, run


def compiled(letter):
    """Compiled once, a dictionary of inputs for every job."""
    names = formulas.inputs(letter)
    columns = [column(name, FEWER_JOBS, numpy.int64).tolist() for name in names]
    rows = [dict(zip(names, row)) for row in zip(*columns)]
    code = compile(formulas.PYTHON[letter], "<formula>", "eval")
    return FEWER_JOBS, lambda: [eval(code, formulas.MATH, row) for row in rows]


def of_numpy(letter):
    columns = {name: column(name, JOBS) for name in formulas.inputs(letter)}
    return JOBS, lambda: formulas.numpy_score(letter, numpy, columns)


def of_numexpr(letter):
    import numexpr

    numexpr.set_num_threads(THREADS)
    columns = {name: column(name, JOBS) for name in formulas.inputs(letter)}
    # the memory of the last pass, as ours
    out = numpy.empty(JOBS)
    return JOBS, lambda: numexpr.evaluate(formulas.NUMEXPR[letter], local_dict=columns, out=out)


def of_polars(letter):
    import polars

    frame = polars.DataFrame({name: column(name, JOBS) for name in formulas.inputs(letter)})
    score = formulas.polars_score(letter, polars).alias("score")
    return JOBS, lambda: frame.select(score)["score"]


def duckdb_with(letter):
    import duckdb

    columns = {name: column(name, JOBS) for name in formulas.inputs(letter)}
    connection = duckdb.connect(config={"threads": THREADS})
    connection.register("columns", columns)
    connection.execute("CREATE TABLE jobs AS SELECT * FROM columns")
    return connection


def duckdb_fetch(letter):
    """The scores as an array, as any ranking needs them."""
    connection = duckdb_with(letter)
    return JOBS, lambda: connection.execute(f"SELECT {formulas.SQL[letter]} AS score FROM jobs").fetchnumpy()["score"]


def duckdb_sum(letter):
    """Their sum alone: what the evaluation costs without handing anything over."""
    connection = duckdb_with(letter)
    return JOBS, lambda: connection.execute(f"SELECT sum({formulas.SQL[letter]}) FROM jobs").fetchall()[0]


CANDIDATES = {
    "pbs": as_pbs_does,
    "cpython": compiled,
    "numpy": of_numpy,
    "numexpr": of_numexpr,
    "polars": of_polars,
    "duckdb-fetch": duckdb_fetch,
    "duckdb-sum": duckdb_sum,
}


def differences(letter, results):
    results = numpy.asarray(results, dtype=numpy.float64)
    expected = numpy.fromfile(FOLDER / f"expected.{letter}")
    if NAME == "duckdb-sum":
        expected = numpy.array([expected.sum()])
    expected = expected[: len(results)]
    relative = numpy.abs(results - expected) / numpy.maximum(numpy.abs(expected), 1e-300)
    return relative.max(), numpy.count_nonzero(results.view(numpy.int64) != expected.view(numpy.int64))


def main():
    passes = {letter: CANDIDATES[NAME](letter) for letter in formulas.PYTHON}
    print("ready", passes["P"][0], flush=True)
    for line in sys.stdin:
        order, letter = line.split()
        run = passes[letter][1]
        started = time.perf_counter_ns()
        results = run()
        took = time.perf_counter_ns() - started
        print(*([took] if order == "go" else differences(letter, results)), flush=True)


main()
