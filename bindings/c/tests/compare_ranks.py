"""Compares the output of ask_site (standard input) with that of `jsf rank --format json` (the argument), to the bit."""

import json
import sys

ours = json.load(sys.stdin)
with open(sys.argv[1]) as document:
    expected = json.load(document)
assert len(ours["jobs"]) > 0
for name in ["formula", "jobs", "summary", "decides"]:
    assert json.dumps(ours[name]) == json.dumps(expected[name]), name
print(f"{len(ours['jobs'])} jobs ranked as `jsf rank` does")
