"""CPython's compile() against our parse and compile, on the same texts, interleaved in one run.

    cargo build --release --example front_end_times
    python3 benches/peers/compile.py [ROUNDS]

Every round measures each text in CPython and at once in ours, so that a machine that is busy for a while slows both.
A line gives the medians over all rounds, in microseconds for one formula, and the median of the rounds' ratios.
"""

import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ROOT / "target/release/examples/front_end_times"
FORMULAS = ROOT / "examples/formulas"
LONGEST = 64 * 1024
ROUND_SECONDS = 0.02


def of_cpython(text, repeats):
    started = time.perf_counter_ns()
    for _ in range(repeats):
        compile(text, "<f>", "eval")
    return (time.perf_counter_ns() - started) / repeats


def of_ours(process, text, repeats):
    process.stdin.write(f"{repeats}\t{text}\n")
    process.stdin.flush()
    return [float(number) for number in process.stdout.readline().split()]


def texts():
    """The formulas of real sites, and one as long as a formula may be."""
    texts = {path.stem: path.read_text().strip() for path in sorted(FORMULAS.glob("*.txt"))}
    term = texts["qut"]
    texts["64 KiB"] = " + ".join([term] * (LONGEST // (len(term) + 3)))
    return texts


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 101
    formulas = texts()
    repeats = {name: max(1, int(ROUND_SECONDS * 1e9 / of_cpython(text, 3))) for name, text in formulas.items()}
    times = {name: [] for name in formulas}
    with subprocess.Popen([OURS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(rounds):
            for name, text in formulas.items():
                theirs = of_cpython(text, repeats[name])
                parse, both = of_ours(process, text, repeats[name])
                times[name].append((theirs, parse, both, theirs / both))
        process.stdin.close()
    print(f"CPython {sys.version.split()[0]}, {rounds} rounds, medians in µs for one formula")
    print(f"{'formula':<12}{'cpython':>10}{'parse':>10}{'+ compile':>10}{'ratio':>8}")
    for name, rows in times.items():
        theirs, parse, both, ratio = (statistics.median(column) for column in zip(*rows))
        print(f"{name:<12}{theirs / 1e3:>10.2f}{parse / 1e3:>10.2f}{both / 1e3:>10.2f}{ratio:>8.2f}")


main()
