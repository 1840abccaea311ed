"""Whether two rankings say the same; a process of its own, since a process's peak memory is also its children's.

    compare_rankings.py EXPECTED FOUND TOLERANCE

Both are CSV: `id,score`, or with a header that names these columns. The same ids, every score within the relative
tolerance, none higher than the one before it.
"""

import csv
import sys


def rows(path):
    with open(path, newline="") as file:
        lines = csv.reader(file)
        first = next(lines)
        at_id, at_score = (first.index("id"), first.index("score")) if "id" in first else (0, 1)
        if "id" not in first:
            yield first[0], float(first[1])
        for line in lines:
            yield line[at_id], float(line[at_score])


def main():
    expected, tolerance = dict(rows(sys.argv[1])), float(sys.argv[3])
    before = float("inf")
    for job, score in rows(sys.argv[2]):
        other = expected.pop(job, None)
        if other is None:
            sys.exit(f"{job} is not expected, or twice there")
        if not abs(score - other) <= tolerance * abs(other):
            sys.exit(f"{job} has {score!r}, not {other!r}")
        if not score <= before:
            sys.exit(f"{job} stands behind a lower score")
        before = score
    if expected:
        sys.exit(f"{len(expected)} jobs are missing")


main()
