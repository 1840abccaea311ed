#!/usr/bin/env python3
"""Compares what two schedulers logged: compare_logs.py STOCK PATCHED. The nth cycle of one is compared with the nth of the other."""

import itertools
import sys

KINDS = {
    "values": "Formula Evaluation =",
    "errors": "Formula evaluation",
    "thresholds": "Job's formula value",
    "order": "Considering job to run",
}


def cycles(path: str) -> list[dict[str, list[tuple[str, str]]]]:
    """Of each cycle: the lines of each kind, as job and text."""
    found: list[dict[str, list[tuple[str, str]]]] = []
    with open(path, errors="replace") as log:
        for line in log:
            *_, job, text = ["", "", *line.rstrip("\n").split(";", 5)]
            if text == "Starting Scheduling Cycle":
                found.append({kind: [] for kind in KINDS})
            for kind, start in KINDS.items():
                if found and text.startswith(start):
                    found[-1][kind].append((job, text))
    return [cycle for cycle in found if cycle["values"]]


def main() -> None:
    """Prints a line for each cycle and exits with 1 if anything differs."""
    stock, patched = cycles(sys.argv[1]), cycles(sys.argv[2])
    differ = len(stock) != len(patched)
    for number, (before, after) in enumerate(zip(stock, patched), 1):
        parts = []
        for kind in KINDS:
            pairs = [(a, b) for a, b in itertools.zip_longest(before[kind], after[kind]) if a != b]
            parts.append(f"{kind} {len(before[kind])} ({len(pairs)} differ)")
            differ |= bool(pairs)
            for a, b in pairs[:1]:
                print("   ", a, b)
        print(f"cycle {number}:", ", ".join(parts))
    print(len(stock), "cycles of the stock scheduler,", len(patched), "of the patched one")
    sys.exit(differ)


main()
