"""The candidates that rank a file of jobs and are written in Python; runs where the peers are installed.

    rank_file.py polars|duckdb|duckdb-nested|orjson|orjson-qstat THREADS FILE OUT

writes `id,score` with ALCF's formula, the highest score first. Each is told what it could find out for itself (the
columns and their types), and only loads what it needs.
"""

import os
import sys

NAME, THREADS, FILE, OUT = sys.argv[1:]
os.environ["POLARS_MAX_THREADS"] = THREADS

import formulas

INPUTS = formulas.inputs("A")


def polars():
    import polars

    schema = {"id": polars.String} | {name: polars.Int64 for name in [*INPUTS, "ncpus"]}
    scores = polars.scan_ndjson(FILE, schema=schema).select("id", formulas.polars_score("A", polars).alias("score"))
    ranked = scores.sort("score", descending=True, maintain_order=True)
    ranked.collect(engine="streaming").write_csv(OUT, include_header=False)


def duckdb():
    ranked_by_duckdb(", ".join(["id: 'VARCHAR'", *(f"{name}: 'DOUBLE'" for name in INPUTS)]), formulas.SQL["A"])


def duckdb_nested():
    members = ", ".join(f"{name} DOUBLE" for name in INPUTS)
    ranked_by_duckdb(f"id: 'VARCHAR', inputs: 'STRUCT({members})'", formulas.SQL["A"], "unnest(inputs)")


def ranked_by_duckdb(columns, score, members=None):
    import duckdb

    jobs = f"read_json('{FILE}', format = 'newline_delimited', columns = {{{columns}}})"
    if members:
        jobs = f"(SELECT id, {members} FROM {jobs})"
    query = f"SELECT id, {score} AS score FROM {jobs} ORDER BY score DESC"
    duckdb.connect(config={"threads": int(THREADS)}).execute(f"COPY ({query}) TO '{OUT}' (HEADER false)")


def orjson():
    import orjson

    code = compile(formulas.PYTHON["A"], "<formula>", "eval")
    ids, scores = [], []
    with open(FILE, "rb") as lines:
        for line in lines:
            job = orjson.loads(line)
            ids.append(job["id"])
            scores.append(eval(code, formulas.MATH, job))
    write(ids, scores)


def orjson_qstat():
    import orjson

    code = compile(formulas.PYTHON["A"], "<formula>", "eval")
    with open(FILE, "rb") as document:
        jobs = orjson.loads(document.read())["Jobs"]
    scores = []
    for job in jobs.values():
        inputs = job["Resource_List"]
        inputs |= {"walltime": seconds(inputs["walltime"]), "eligible_time": seconds(job["eligible_time"])}
        scores.append(eval(code, formulas.MATH, inputs))
    write(list(jobs), scores)


def seconds(clock):
    hours, minutes, seconds = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds)


def write(ids, scores):
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    with open(OUT, "w", buffering=1 << 20) as out:
        out.writelines(f"{ids[row]},{scores[row]!r}\n" for row in order)


{"polars": polars, "duckdb": duckdb, "duckdb-nested": duckdb_nested, "orjson": orjson, "orjson-qstat": orjson_qstat}[NAME]()
