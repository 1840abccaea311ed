"""How candidates are measured: all in turn, round after round, so that what else the machine does meets all alike."""

import os
import statistics
import subprocess
import time

from prepare import say


class Server:
    """A candidate that has loaded its jobs and answers lines; on the first `threads` processors alone."""

    def __init__(self, words, name, threads, command):
        self.words, self.name, self.threads = words, name, threads
        processors = sorted(os.sched_getaffinity(0))[:threads]
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            preexec_fn=lambda: os.sched_setaffinity(0, processors),
        )
        self.jobs = int(self.answer()[1])

    def answer(self):
        words = self.process.stdout.readline().split()
        if not words:
            raise SystemExit(f"{self.name} has ended")
        return words

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        return [float(word) for word in self.answer()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Cost:
    """What one run of a whole process took: seconds on the clock and of processors, peak memory in bytes."""

    def __init__(self, command, out):
        with open(out, "wb") as sink:
            started = time.perf_counter()
            process = subprocess.Popen([str(word) for word in command], stdout=sink, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            self.wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"exit code {process.returncode}: {' '.join(process.args)}")
        self.processors = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024


def in_turn(rounds, candidates, measure):
    """What `measure` gives for each candidate, a list over the rounds. Every round starts with another candidate."""
    results = {candidate: [] for candidate in candidates}
    order = list(candidates)
    for turn in range(rounds):
        say(f"round {turn + 1} of {rounds}")
        shift = turn % len(order)
        for candidate in order[shift:] + order[:shift]:
            results[candidate].append(measure(candidate))
    return results


def median_ratio(theirs, ours):
    """How many times as long as ours theirs took: the median of the rounds' ratios."""
    return statistics.median(their / our for their, our in zip(theirs, ours))


def markdown(title, header, rows):
    """A table; the first column holds words, the others numbers."""
    lines = [f"**{title}**", "", "| " + " | ".join(header) + " |", "|---" + "|--:" * (len(header) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def short(number):
    """Three digits that count, without an exponent."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"
