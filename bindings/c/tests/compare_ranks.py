"""Compares the output of rank_site (standard input) with that of `jsf rank --format json` (the argument), to the bit."""

import json
import sys

ours = [line.split() for line in sys.stdin]
with open(sys.argv[1]) as document:
    jobs = [job for job in json.load(document)["jobs"] if job["considered"]]
assert len(ours) == len(jobs) > 0, (len(ours), len(jobs))
for (job_id, score, exact, failed), job in zip(ours, jobs):
    assert job_id == job["id"], (job_id, job["id"])
    assert float(score) == job["score"], (score, job)
    assert (failed == "1") == (job["error"] is not None), job
    assert failed == "1" or float(exact) == float(job["exact"]), (exact, job)
print(f"{len(jobs)} jobs ranked as `jsf rank` does")
