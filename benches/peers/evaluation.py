"""The evaluation alone: a million jobs in memory, three formulas, every candidate in a process of its own."""

import statistics

import prepare
from measure import Server, in_turn, markdown, median_ratio, say, short

LETTERS = "PAQ"
TOLERANCE = 1e-9

# What is written in the table, the candidate's name, and on how many threads it runs.
CANDIDATES = [
    ("**jsf**", "jsf", 1),
    ("CPython as PBS calls it: `exec` and `eval` of texts", "pbs", 1),
    ("CPython, compiled once", "cpython", 1),
    ("evalexpr", "evalexpr", 1),
    ("fasteval, compiled, unsafe variables", "fasteval", 1),
    ("numpy", "numpy", 1),
    ("numexpr", "numexpr", 1),
    ("DuckDB, scores fetched", "duckdb-fetch", 1),
    ("DuckDB, scores only summed", "duckdb-sum", 1),
    ("**jsf**", "jsf", 2),
    ("numexpr", "numexpr", 2),
    ("polars", "polars", 2),
    ("DuckDB, scores fetched", "duckdb-fetch", 2),
    ("DuckDB, scores only summed", "duckdb-sum", 2),
]
IN_RUST = {"jsf", "fasteval", "evalexpr"}


def started(folder, words, name, threads):
    say("loading", name, threads)
    if name in IN_RUST:
        command = [prepare.RUST, "evaluate", name, folder]
    else:
        command = [prepare.PYTHON, "-B", prepare.HERE / "evaluate.py", name, threads, folder]
    return Server(words, name, threads, command)


def check(server):
    """Ours to the last bit, the others within a billionth."""
    for letter in LETTERS:
        relative, bits = server.ask(f"check {letter}")
        say(f"{server.name}, {server.threads} threads, {letter}: {relative:.1e} off, {bits:.0f} results differ")
        if not relative <= TOLERANCE or (server.name == "jsf" and bits > 0):
            raise SystemExit(f"{server.name} does not compute what CPython computes")


def pass_over(server):
    """Nanoseconds for one job, by formula."""
    return [server.ask(f"go {letter}")[0] / server.jobs for letter in LETTERS]


def run(options):
    folder = prepare.columns(options.data)
    servers = [started(folder, *candidate) for candidate in CANDIDATES]
    for server in servers:
        check(server)
    times = in_turn(options.rounds, servers, pass_over)
    ours = {server.threads: times[server] for server in servers if server.name == "jsf"}
    rows = [row(server, times[server], ours[server.threads]) for server in servers]
    for server in servers:
        server.close()
    header = ["", "threads", "P: PP-718", "", "A: ALCF", "", "Q: QUT", ""]
    return markdown("Nanoseconds for one job, inputs in memory", header, rows)


def row(server, times, ours):
    cells = [server.words, str(server.threads)]
    for theirs, our in zip(zip(*times), zip(*ours)):
        ratio = median_ratio(theirs, our)
        cells += [short(statistics.median(theirs)), "" if server.name == "jsf" else f"{short(ratio)} x"]
    return cells
