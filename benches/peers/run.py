"""What else one could take instead of jsf, on the same jobs, in the same run.

    python3 benches/peers/run.py [--only evaluation|files|throughput] [--rounds N] [--data FOLDER] [--jsf PATH] [--huge]

Needs python3, cargo and 2 GB of disk; with `--huge`, which adds the queue of ten million jobs, 8 GB for a while. The
peers go into a virtual environment under `target/peers`, and so do the jobs unless `--data` names a folder.

All candidates take turns, round after round. A table gives medians over all rounds, and behind each the median of the
rounds' ratios to jsf on as many threads: 3 x took three times as long. Before anything is timed every candidate's results
are checked against CPython's: ours have to be the same to the last bit, the others' within a billionth. Tables go to
standard output as Markdown, progress to standard error.
"""

import argparse
import os
import pathlib
import platform
import sys

sys.dont_write_bytecode = True

import evaluation
import files
import prepare
import throughput

SECTIONS = {"evaluation": evaluation.run, "files": files.run, "throughput": throughput.run}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=SECTIONS, help="one section alone")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="how often each candidate is measured")
    parser.add_argument("--data", type=pathlib.Path, default=prepare.TARGET / "jobs", metavar="FOLDER")
    parser.add_argument("--jsf", metavar="PATH", help="measure this binary; else that of this tree is built")
    parser.add_argument("--huge", action="store_true", help="also ten million jobs: a file of 3 GB, deleted afterwards")
    return parser.parse_args()


def main():
    options = arguments()
    options.data = options.data.resolve()
    # whatever else a larger machine has: everyone gets the same two processors
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    prepare.packages()
    prepare.rust_peers()
    options.jsf = prepare.jsf(options.jsf)
    try:
        for name, section in SECTIONS.items():
            if options.only in (None, name):
                print(section(options), flush=True)
    finally:
        files.forget_the_huge(options)
    print(f"{platform.machine()}, {len(os.sched_getaffinity(0))} processors, {options.rounds} rounds; {prepare.versions()}")


main()
