"""CPython's compile() against our parse and compile, on the same texts, interleaved in one run.

    cargo build --profile dist -p job-sort-formula-benches --features peers --example front_end_times
    python3 benches/peers/compile.py [ROUNDS]

Every round measures each text in CPython and at once in ours, for about the same short time, so that what else the
machine does slows both alike. A line gives the medians over all rounds, in microseconds for one formula, and the median
of the rounds' ratios.
"""

import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ROOT / "target/dist/examples/front_end_times"
FORMULAS = ROOT / "examples/formulas"
LONGEST = 64 * 1024
SPELL = 1e6  # nanoseconds


def texts():
    """The formulas of real sites, and one as long as a formula may be."""
    texts = {path.stem: path.read_text().strip() for path in sorted(FORMULAS.glob("*.txt"))}
    term = texts["qut"]
    texts["64 KiB"] = " + ".join([term] * (LONGEST // (len(term) + 3)))
    return texts


def of_cpython(text, repeats):
    started = time.perf_counter_ns()
    for _ in range(repeats):
        compile(text, "<f>", "eval")
    return [(time.perf_counter_ns() - started) / repeats]


def of_ours(process, text, repeats):
    """The time to parse, and the time to parse and compile."""
    process.stdin.write(f"{repeats}\t{text}\n")
    process.stdin.flush()
    return [float(number) for number in process.stdout.readline().split()]


def repeats(measure):
    """How often to repeat so as to fill a spell; the best of some tries, since the first are slow."""
    return max(1, int(SPELL / min(measure(3)[-1] for _ in range(20))))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 201
    with subprocess.Popen([OURS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        sides = {}
        for name, text in texts().items():
            pair = (
                lambda count, text=text: of_cpython(text, count),
                lambda count, text=text: of_ours(process, text, count),
            )
            sides[name] = [(measure, repeats(measure)) for measure in pair]
        times = {name: [] for name in sides}
        for _ in range(rounds):
            for name, pair in sides.items():
                times[name].append([number for measure, count in pair for number in measure(count)])
        process.stdin.close()
    print(f"CPython {sys.version.split()[0]}, {rounds} rounds, medians in µs for one formula")
    print(f"{'formula':<18}{'cpython':>10}{'parse':>10}{'+ compile':>11}{'ratio':>8}")
    for name, rows in times.items():
        theirs, parse, both = (statistics.median(column) / 1e3 for column in zip(*rows))
        ratio = statistics.median(row[0] / row[2] for row in rows)
        print(f"{name:<18}{theirs:>10.2f}{parse:>10.2f}{both:>11.2f}{ratio:>8.2f}")


main()
