#!/usr/bin/env python3
"""Submits invented jobs: submit.py COUNT SCRIPT. The same COUNT gives the same jobs."""

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SCORES = [0, 1, 2.5, 100, 0.1, 0.123456789, 1e-5, 4.9999, 4.99996, 1234567.891, 99999999999.25, -3.75, 1e20]


def arguments(random: random.Random, script: str) -> list[str]:
    """One job: every resource is absent, small, large or at an edge of what the scheduler prints."""
    choice, part = random.choice, lambda share: random.random() < share
    memory = choice(["", f":mem={random.randrange(1, 512)}gb", f":mem={random.randrange(1, 1 << 40)}b", ":mem=1023b"])
    chunks = f"select={choice([1, 1, 1, 2, 4, 16])}:ncpus={choice([1, 1, 2, 4, 8, 16, 64, 256])}{memory}"
    call = ["qsub", "-N", "job", "-l", chunks, "-A", choice(["ann", "ann", "bob", "carl", "dora", "zero", "stranger"])]
    call += ["-p", choice(["0", "0", "-1024", "1023", "7", "-3", "100"]), "-q", choice(["workq"] * 7 + ["low"] * 2 + ["express"])]
    resources = {
        "walltime": (0.9, [0, 60, 600, 3600, 7200, 21600, 43200, 86400, random.randrange(1, 200000)]),
        "base_score": (0.7, [*SCORES, random.random() * 100]),
        "project_priority": (0.5, [0, 1, 2, 3, 0.5, 2.25, 10, random.random()]),
        "total_cpus": (0.5, [0, 1, 4392, 9007199254740993, -5, 1 << 62, 100]),
        "scratch": (0.4, ["10gb", "1b", "1023b", "5tb", "100mb", "12345678kb", "0b"]),
        "lic": (0.4, range(5)),
        "job_class": (0.3, ["a", "b", "c"]),
        "is_gpu": (0.2, ["True"]),
        "log": (0.2, [2.5]),
    }
    for name, (share, values) in resources.items():
        if part(share):
            call += ["-l", f"{name}={choice(values)}"]
    return [*call, *(["-J", "1-3"] if part(0.1) else []), script]


def main() -> None:
    """Submits them, four at a time."""
    count, script = int(sys.argv[1]), sys.argv[2]
    source = random.Random(count)
    jobs = [arguments(source, script) for _ in range(count)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda job: subprocess.run(job, check=True, stdout=subprocess.DEVNULL), jobs))


main()
