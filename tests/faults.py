#!/usr/bin/env python3
"""Runs `jsf` with hostile input, kills it, fills its disk, starts many writers of one file, and refuses it memory.

    python3 tests/faults.py PATH_TO_JSF [--seed N] [--processes 10000] [--kills 600] [--parts 1,2,3,4,5]
        [--case NUMBER] [--python INTERPRETER] [--c-prefix DIR]

The parts, each of which prints a line of figures:
1. Processes with hostile input end with exit code 0, 1 or 2 within 20 s, without a panic and without a file left over.
   `--case` runs one of them again.
2. A file that is being written when the process is killed is the old one or the whole new one.
3. On a full disk (a small tmpfs, which only root can mount, and `ulimit -f`) the old file stays, and exit code 2 says why.
4. While 40 processes write one file, it is at every moment the whole file of one of them.
5. A failed allocation ends as docs/limits.md says: the command, the Python package of `--python`, which has it installed,
   and the C library of `--c-prefix`, which `bindings/c/install.sh` filled.

Failing cases are kept with their files and their command in a folder that is named at the end; the exit code is then 1.
"""

import argparse
import collections
import concurrent.futures
import fcntl
import gzip
import io
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "examples/site"
OPENPBS = ROOT / "tests/golden/openpbs"
TIME_LIMIT = 20
F_SETPIPE_SZ = 1031
# another user, for whom a file without permissions cannot be read
NOBODY = 65534


# ---------------------------------------------------------------- processes


class Process:
    """One process that has ended: its exit code, negative for a signal, and what it has written, as far as 1 MB."""

    def __init__(self, command, folder, *, limits="", stdin=None, stdout=None, kill=None, user=None):
        """`limits` is a shell's text before the command starts; `kill` is called with the process in a thread."""
        if limits:
            command = ["sh", "-c", f'{limits}\nexec "$@"', "sh", *command]
        # what a process may write to files can be limited, and messages are always short
        errors, to_errors = os.pipe()
        fcntl.fcntl(errors, F_SETPIPE_SZ, 1 << 20)
        with tempfile.TemporaryFile() as out, open(errors, "rb") as errors:
            started = time.monotonic()
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=out if stdout is None else stdout,
                stderr=to_errors,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
            )
            os.close(to_errors)
            timer = threading.Timer(TIME_LIMIT, process.kill)
            timer.start()
            if kill:
                kill(process)
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            self.seconds = time.monotonic() - started
            self.code = process.returncode = os.waitstatus_to_exitcode(status)
            self.memory = usage.ru_maxrss
            out.seek(0)
            self.out, self.errors = out.read(1 << 20), errors.read()


def names_in(folder):
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*")}


class Failures:
    """What went wrong, with its files in a folder that is kept."""

    def __init__(self):
        self.folder = None
        self.texts = []
        self.lock = threading.Lock()

    def add(self, what, why, command=(), folder=None):
        with self.lock:
            self.folder = self.folder or Path(tempfile.mkdtemp(prefix="under-fire-"))
            self.texts.append(f"{what}: {why}")
            kept = self.folder / str(len(self.texts))
            if folder:
                shutil.copytree(folder, kept, symlinks=True, ignore=pipes_in)
            else:
                kept.mkdir()
            text = f"{what}: {why}\n{shlex.join(os.fsdecode(word) for word in command)}\n"
            (kept / "COMMAND").write_text(text, errors="surrogateescape")
            print(f"  WRONG {what}: {why[:300]}\n    {kept}", flush=True)


def pipes_in(folder, names):
    return [name for name in names if (Path(folder) / name).is_fifo()]


# ---------------------------------------------------------------- part 1: hostile input

# the calls, in which `{kind}` stands for a file of this kind
CALLS = """
check {formula}
check {formula} --site {site} --format json
check {formula} --queue {queue} --sched-priv {sched_priv} --server {server} --queues {queues} --resources {resources}
check -f {formula_file} --queue {queue} --format sarif
check {formula} --fix --unsafe-fixes --qmgr --force
fmt {formula}
fmt -f {formula_file} --check
rank {formula} --site {site} --terms
rank {formula} --queue {queue} --resource-group {resource_group} --usage {usage} --sched-config {sched_config}
rank {formula} --queue {queue} --tree {tree} --slurm-conf {slurm_conf} --format json
rank {formula} --queue {queue} --format csv --csv-safe --inputs
rank {formula} --queue {queue} --strict --on-error fail --format ndjson
rank {formula} --queue {queue} --tree {tree} --report page.html
rank {formula} --queue {queue} --numbers decimal --python 3.6
explain {formula} --queue {queue} --tree {tree} --job 1.vm
explain {formula} --site {site} --job 184598 --to 5 --within 7d --format json
explain {formula} --site {site} --job 184598,184127 --report page.html
compare --new {formula} --site {site} --format json
compare --old {formula} --new {formula} --queue {queue} --old-tree {tree} --new-tree {tree} --report page.html
compare --old-file {formula_file} --new-file {formula_file} --queue {queue}
compare --new {formula} --site {site} --new-sched-config {sched_config} --fail-on-change 10
shares --resource-group {resource_group} --usage {usage} --sched-config {sched_config} --policy all
shares --tree {tree} --slurm-conf {slurm_conf} --policy all --format json
shares --tree {tree} --charge Bob=500 --decay 7d --report page.html
shares --site {site} --formula {formula}
names --queue {queue} --server {server} --queues {queues} --resources {resources} --format json
names --site {site}
translate {formula} --to slurm --site {site} --format json
translate {formula} --to pbs --slurm-conf {slurm_conf}
cycle {formula} --site {site} --format json
cycle {formula} --queue {queue} --nodes {nodes} --sched-config {sched_config}
cycle --queue {queue} --nodes {nodes} --job 184598 --at 2026-01-01T00:00:00
simulate {formula} --workload {workload} --processors 128
simulate {formula} --workload {workload} --site {site} --processors 256 --goals {goals} --format json
simulate --old {formula} --new {formula} --workload {workload} --processors 64 --shake 2 --report page.html
simulate {template} --param a=1:4:3 --param b=1,2 --workload {workload} --processors 100 --format csv
simulate {formula} --workload {workload} --tree {tree} --decay 1d --processors 100 --anonymise --format swf
simulate {formula} --generate 200 --processors 32 --goals {goals} --validate
fit {template} --site {site} --prefer 184208 185046 --evaluations 50
fit {template} --queue {queue} --wishes {wishes} --evaluations 50 --report page.html
fit {template} --workload {workload} --processors 128 --goals {goals} --evaluations 3 --format json
replay {log} {formula} --site {site}
replay {log} -f {formula_file} --queue {queue} --sched-priv {sched_priv} --format json
trajectory {formula} --site {site} --job 184598 --format csv
trajectory {formula} --queue {queue} --tree {tree} --job 1.vm --hours 3d --format svg
page {formula} --site {site} --out page.html
page {formula} --queue {queue} --tree {tree} --out page.html
pbsfs --sched-priv {sched_priv} -p
pbsfs --sched-priv {sched_priv} -t
pbsfs --sched-priv {sched_priv} -g tmorita
pbsfs --sched-priv {sched_priv} -c tmorita dferrante
codes JSF301
completions bash
man rank
capture
""".strip().splitlines()

SACCT = """JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|State|JobName
1|ann|ocean|batch|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|2026-01-01T01:01:00|3600|120|8|8|COMPLETED|a
2|bob|astro|batch|2026-01-01T00:00:10|2026-01-01T00:00:10|2026-01-01T00:02:00|2026-01-01T00:03:00|60|60|16|16|FAILED|b
3_1|bob|astro|batch|2026-01-01T00:10:00|Unknown|Unknown|2026-01-01T00:30:00|0|Partition_Limit|4|0|CANCELLED by 7|c|d
4+0|cy|ocean|long|2026-01-02T00:10:00|2026-01-02T00:10:00|2026-01-02T00:10:05|Unknown|9|UNLIMITED|64|64|RUNNING|e
"""

# where the files of a kind are, relative to the root
SEEDS = {
    "queue": "examples/site/qstat.json examples/site/jobs.* examples/slurm/squeue_o.txt tests/golden/openpbs/bulk/jobs.*"
    " tests/golden/openpbs/qstat/qstat_f* tests/corpus/qstat/*.json tests/corpus/qstat/*.txt",
    "resource_group": "examples/site/sched_priv/resource_group tests/golden/openpbs/pbsfs/*/resource_group",
    "usage": "examples/site/sched_priv/usage tests/golden/openpbs/pbsfs/*/usage.initial",
    "sched_config": "examples/site/sched_priv/sched_config tests/golden/openpbs/qstat/sched_config",
    "tree": "examples/site/tree.json examples/slurm/sshare.txt tests/golden/slurm/files/*/* tests/golden/simulate/tree*",
    "server": "examples/site/server.json tests/golden/openpbs/qstat/qstat_Bf.* tests/golden/openpbs/qstat/qmgr_*_server.txt",
    "queues": "examples/site/queues.json tests/golden/openpbs/qstat/qstat_Qf.*",
    "resources": "examples/site/resourcedef tests/golden/openpbs/qstat/qmgr_*_resource.txt",
    "nodes": "examples/site/pbsnodes.json tests/golden/openpbs/qstat/pbsnodes_a.json",
    "slurm_conf": "examples/slurm/slurm.conf",
    "formula_file": "examples/formulas/*.txt examples/site/sched_priv/sched_formula tests/golden/openpbs/qstat/*server*",
    "workload": "examples/site/accounting.gz tests/golden/simulate/w*.swf",
    "goals": "examples/goals.toml",
    "log": "examples/site/sched.log",
}
TEXTS = {
    "wishes": ["184208\n185046\n184598\n", "id,score\n184208,3\n185046,2.5\n184598,-1e9\n"],
    "workload": [SACCT],
    "template": [
        "{a=100:0..500}*fairshare_factor + {b=1:0..50}*eligible_time/3600",
        "{a=1:1..9:int}*ncpus + {b=1:1e-3..1e3:log}*walltime",
        "{a}*ncpus + {b}*walltime",
    ],
    "formula": ["9**9**9**9", "1/0", "(" * 250 + "1" + ")" * 250, "+".join(["ncpus"] * 3000), "[ncpus]*9**9", "-" * 3000 + "1"],
}
# a seed is read as far as this
MAX_SEED = 150_000

NUMBERS = b"0 -1 1e308 1e400 -1e-400 nan inf 99999999999999999999999 -9223372036854775808 18446744073709551615 4294967296".split()
PIECES = [
    *NUMBERS,
    *(byte * 2000 for byte in (b"[", b"{", b"(", b'"', b"\\", b" ", b"\n", b"9", b"a", b"\xff")),
    b"\x00",
    b"\x1b[31m",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x98\x80",
    b'","',
    b"}]}",
    b"=",
    b"|",
    b";",
    b"\t",
    b"\r\n",
    b"null",
    b"true",
    b'{"a":1}',
]
VALUES = [
    *NUMBERS,
    b"",
    b" ",
    b"-",
    b"--",
    b"x" * 5000,
    b"\x1b[31mred",
    b"\xff\xfe",
    "\u202e".encode(),
    b"a=b",
    b"a=1:2:3",
    b"00:00:99",
    b"999999999999:00:00",
    b"99999999999d",
    b"4gb",
    b"Bob",
    b"ocean/tmorita=1e8",
    b".",
    b"/",
    b"/dev/null",
    b"/dev/full",
    b"missing/x",
]
# options that ask for work: what is large there takes long as it should
WORK = {b"--evaluations", b"--generate", b"--shake", b"--param"}
PAGE = "page.html"


class Seeds:
    """The files of each kind, the formulas, and the options of each command."""

    def __init__(self, jsf):
        self.jsf = jsf
        self.of = {kind: [seed_of(path) for glob in globs.split() for path in sorted(ROOT.glob(glob)) if path.is_file()]
                   for kind, globs in SEEDS.items()}
        for kind, texts in TEXTS.items():
            self.of.setdefault(kind, []).extend(text.encode() for text in texts)
        lines = (ROOT / "tests/golden/formulas.jsonl").read_text().splitlines()
        lines += (OPENPBS / "validate.jsonl").read_text().splitlines()
        formulas = [json.loads(line).get("formula") for line in lines]
        self.of["formula"] += [text.encode() for text in formulas if isinstance(text, str)]
        self.kinds = sorted(kind for kind in self.of if kind not in ("formula", "template"))
        self.bomb = gzip.compress(bytes(100 << 20))
        self.options = {command: self.options_of(command) for command in {call.split()[0] for call in CALLS}}

    def options_of(self, command):
        text = subprocess.run([self.jsf, command, "--help"], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)( <)?", text, re.MULTILINE)
        return [(name.encode(), bool(value)) for name, value in found]


def seed_of(path):
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b") and len(content) > MAX_SEED:
        content = gzip.decompress(content)
    return content[:MAX_SEED]


class Case:
    """One process with hostile input, made from the seed and its number alone."""

    def __init__(self, seeds, seed, number, smallest):
        self.random = random.Random(f"{seed} {number}")
        self.seeds, self.number = seeds, number
        self.folder = Path(tempfile.mkdtemp(prefix="jsf-case-"))
        self.limits, self.user, self.stdin = [], None, None
        self.pick_limits(smallest)
        words = self.random.choice(CALLS).split()
        kinds = [word[1:-1] for word in words if word.startswith("{")]
        # one of the files is hostile, and each other one with a probability of a quarter
        hostile = self.random.randrange(len(kinds)) if kinds else None
        self.command, file = [os.fsencode(seeds.jsf)], 0
        for word in words:
            if word.startswith("{"):
                self.command.append(self.filled(word[1:-1], file, file == hostile or self.random.random() < 0.25))
                file += 1
            else:
                self.command.append(word.encode())
        if not kinds or self.random.random() < 0.15:
            self.mutate_options(words[0])

    def pick_limits(self, smallest):
        chance = self.random.random
        if chance() < 0.3:
            self.limits.append(f"ulimit -v {int(smallest * self.random.choice([1.02, 1.1, 1.3, 2, 5, 20]))}")
        if chance() < 0.05:
            self.limits.append(f"ulimit -s {self.random.choice([512, 1024, 2048, 65536])}")
        if chance() < 0.05:
            self.limits.append(f"ulimit -n {self.random.choice([4, 5, 6, 8, 12])}")
        if chance() < 0.05:
            self.limits.append(f"ulimit -f {self.random.choice([0, 1, 20])}")
        self.closed = self.random.choice(["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full"]) if chance() < 0.1 else ""
        self.pipe_is_closed = not self.closed and chance() < 0.05

    def filled(self, kind, file, hostile):
        if kind in ("formula", "template"):
            text = self.random.choice(self.seeds.of[kind])
            # the system takes no longer argument
            return self.mutated(text).replace(b"\0", b"")[:60_000] if hostile else text
        if kind in ("site", "sched_priv"):
            return self.filled_folder(kind, file, hostile)
        content = self.random.choice(self.seeds.of[kind])
        path = self.folder / f"{kind}{file}"
        return self.hostile_file(path, kind, content) if hostile else self.write(path, content)

    def filled_folder(self, kind, file, hostile):
        """A copy of the example, in which one file is hostile; or an archive of it."""
        folder = self.folder / (kind if kind == "sched_priv" else f"{kind}{file}")
        if not folder.exists():
            shutil.copytree(SITE if kind == "site" else SITE / "sched_priv", folder)
        if not hostile:
            return os.fsencode(folder)
        if self.random.random() < 0.1:
            return self.hostile_file(self.folder / f"other{file}", "queue", b"")
        path = self.random.choice(sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()))
        content = path.read_bytes()[:MAX_SEED]
        path.unlink()
        self.hostile_file(path, "usage", content)
        if kind == "sched_priv" or self.random.random() < 0.6:
            return os.fsencode(folder)
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode=self.random.choice(["w", "w:gz"])) as tar:
            tar.add(folder, "site")
        content = archive.getvalue()
        return self.write(self.folder / f"site{file}.tar", self.mutated(content) if self.random.random() < 0.5 else content)

    def hostile_file(self, path, kind, content):
        other = self.random.choice(self.seeds.of[self.random.choice(self.seeds.kinds)])
        choice = self.random.random()
        if choice < 0.55:
            return self.write(path, self.mutated(content))
        if choice < 0.65:
            return self.write(path, self.random.choice([other, self.mutated(other), content + other]))
        if choice < 0.75:
            return self.write(path, self.compressed(content))
        make = self.random.choice([
            lambda: self.write(path, b""),
            lambda: self.write(path, bytes(self.random.choice([1, 1000, 1 << 20]))),
            lambda: self.write(path, self.random.randbytes(self.random.choice([3, 1000, 300_000]))),
            lambda: self.write(path, content[: self.random.randrange(len(content) + 1)]),
            lambda: self.write(path, content * 20),
            lambda: path.mkdir(),
            lambda: os.mkfifo(path),
            lambda: path.symlink_to("missing"),
            lambda: path.symlink_to(path.name),
            lambda: path.symlink_to("."),
            lambda: path.symlink_to(self.random.choice(["/proc/self/mem", "/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"])),
            lambda: self.write_unreadable(path, content),
            lambda: self.write_to_stdin(path, self.mutated(content)),
            lambda: None,
        ])
        return make() or os.fsencode(path)

    def write(self, path, content):
        path.write_bytes(content)
        return os.fsencode(path)

    def write_unreadable(self, path, content):
        self.write(path, content)
        path.chmod(0)
        if os.geteuid() == 0:
            self.user = NOBODY

    def write_to_stdin(self, path, content):
        self.stdin = self.folder / "stdin"
        self.write(self.stdin, content)
        return b"-"

    def compressed(self, content):
        if self.random.random() < 0.05:
            return self.seeds.bomb
        content = self.mutated(content)
        if self.random.random() < 0.5:
            content = gzip.compress(content, 1)
        else:
            content = subprocess.run(["zstd", "-q", "-1"], input=content, capture_output=True, check=True).stdout
        return self.random.choice([content, self.mutated(content), content + content])

    def mutated(self, content):
        content = bytearray(content)
        for _ in range(self.random.randrange(1, 12)):
            self.mutate(content)
        return bytes(content)

    def mutate(self, content):
        """Changes, repeats, moves or removes a piece, or puts one of `PIECES` in the place of a number or of nothing."""
        at = self.random.randrange(len(content) + 1)
        end = min(len(content), at + self.random.randrange(200))
        kind = self.random.randrange(8)
        if kind == 0:
            content[at:at] = self.random.choice(PIECES)
        elif kind == 1:
            del content[at:end]
        elif kind == 2:
            content[at:at] = content[at:end] * self.random.randrange(1, 20)
        elif kind == 3 and self.random.random() < 0.2:
            del content[at:]
        elif kind == 4 and at < end:
            content[at] ^= 1 << self.random.randrange(8)
        elif kind == 5:
            piece = content[at:end]
            del content[at:end]
            to = self.random.randrange(len(content) + 1)
            content[to:to] = piece
        elif number := re.search(rb"[0-9][0-9.e+-]*", content[at:end + 200]):
            content[at + number.start():at + number.end()] = self.random.choice(NUMBERS if kind == 6 else PIECES)

    def mutate_options(self, command):
        for _ in range(self.random.randrange(1, 4)):
            name, has_value = self.random.choice(self.seeds.options[command])
            kind = self.random.randrange(5)
            if kind == 0 and len(self.command) > 2:
                del self.command[self.random.randrange(2, len(self.command))]
            elif kind == 1:
                self.command.insert(self.random.randrange(1, len(self.command)), self.random.choice(self.command[1:]))
            elif kind == 2 and len(self.command) > 2 and not WORK & set(self.command):
                self.command[self.random.randrange(2, len(self.command))] = self.random.choice(VALUES)
            else:
                value = b"3" if name in WORK else self.random.choice(VALUES)
                self.command += [name, value] if has_value and self.random.random() < 0.9 else [name]

    def run(self):
        if self.user is not None:
            for path in [self.folder, *self.folder.rglob("*")]:
                if not path.is_symlink():
                    os.chown(path, NOBODY, NOBODY)
        before = names_in(self.folder)
        limits = "; ".join(self.limits) + (f"\nexec {self.closed}" if self.closed else "")
        stdin = self.stdin.open("rb") if self.stdin else None
        stdout = closed_pipe() if self.pipe_is_closed else None
        self.text = [b"sh", b"-c", os.fsencode(limits + '\nexec "$@"'), b"sh", *self.command]
        process = Process(self.command, self.folder, limits=limits, stdin=stdin, stdout=stdout, user=self.user)
        for opened in (stdin, stdout):
            if opened:
                opened.close()
        return process, self.faults(process, names_in(self.folder) - before)

    def faults(self, process, new):
        if process.code not in (0, 1, 2):
            yield f"{'time limit' if process.seconds >= TIME_LIMIT else f'exit code {process.code}'}: {process.errors[-300:]!r}"
        if b"panicked" in process.errors or b"internal error" in process.errors:
            yield f"panic: {process.errors[-300:]!r}"
        if process.code == 2 and not process.errors.strip() and "2>&-" not in self.closed:
            yield "exit code 2 without a sentence"
        # pbsfs prints what the original prints, to the byte
        if b"pbsfs" not in self.command and (raw := re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", process.errors)):
            yield f"a control character in a message: {process.errors[max(0, raw.start() - 60):raw.end() + 60]!r}"
        named = {os.path.basename(os.fsdecode(word)) for word in self.command}
        if left := new - {PAGE} - named:
            yield f"left over: {sorted(left)}"


def closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "wb", buffering=0)


def smallest_memory(jsf):
    """The least `ulimit -v`, in KiB, with which the process starts."""
    low, high = 1000, 1_000_000
    while high - low > 100:
        middle = (low + high) // 2
        started = Process([jsf, "--version"], ROOT, limits=f"ulimit -v {middle}").code == 0
        low, high = (low, middle) if started else (middle, high)
    return high


def hostile_input(options, failures):
    seeds, smallest = Seeds(options.jsf), smallest_memory(options.jsf)
    figures = collections.Counter()
    extremes = {"seconds": 0.0, "memory": 0}

    def one(number):
        case = Case(seeds, options.seed, number, smallest)
        process, faults = case.run()
        for fault in faults:
            failures.add(f"case {number}", fault, case.text, case.folder)
        shutil.rmtree(case.folder, ignore_errors=True)
        figures[process.code] += 1
        figures["memory allocation failed"] += b"memory allocation of" in process.errors
        for name in extremes:
            extremes[name] = max(extremes[name], getattr(process, name))

    numbers = range(options.processes) if options.case is None else [options.case]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for _ in pool.map(one, numbers):
            pass
    codes = ", ".join(f"{code}: {figures[code]}" for code in sorted(code for code in figures if isinstance(code, int)))
    print(f"1. hostile input: {len(numbers)} processes; exit codes {codes}; {figures['memory allocation failed']} ended by a"
          f" failed allocation; slowest {extremes['seconds']:.1f} s, largest {extremes['memory'] / 1024:.0f} MiB", flush=True)


# ---------------------------------------------------------------- files that are written


# a page that jsf replaces, because it wrote it
OLD_PAGE = b'<!doctype html>\n<meta name="generator" content="jsf">\n<p>old</p>\n'


class Writer:
    """A call that writes a page in its folder, and what it writes as a variant of 40."""

    def __init__(self, name, call):
        self.name, self.call = name, call
        self.contents = {}

    def command(self, jsf, variant=1):
        return [jsf, *(word.replace("SITE", str(SITE)).replace("K", str(variant)) for word in self.call.split())]

    def content(self, jsf, variant=1):
        """The page after the call, run alone."""
        if variant not in self.contents:
            with tempfile.TemporaryDirectory() as folder:
                process = Process(self.command(jsf, variant), folder)
                assert process.code in (0, 1), (self.name, process.errors)
                self.contents[variant] = (Path(folder) / PAGE).read_bytes()
        return self.contents[variant]


def writers(jsf):
    """All that write a page; a build without the WebAssembly module has no `page`."""
    has_module = Process([jsf, "page", "ncpus", "--site", str(SITE), "--out", "/dev/null"], ROOT).code == 0
    found = [
        Writer("rank", "rank ncpus*K --site SITE --report page.html"),
        Writer("compare", "compare --new mem*K-ncpus --site SITE --report page.html"),
        Writer("explain", "explain ncpus*K --job 184598 --site SITE --report page.html"),
        Writer("shares", "shares --site SITE --charge ocean/tmorita=K --report page.html"),
        Writer("simulate", "simulate ncpus*K --generate 2000 --processors 128 --report page.html"),
        Writer("fit", "fit {a=1:0..5}*ncpus+{b=1:0..5}*fairshare_factor --site SITE --prefer 184208 185046 --seed K --report page.html"),
        Writer("page", "page ncpus*K --site SITE --out page.html"),
    ]
    return [writer for writer in found if writer.name != "page" or has_module]


# ---------------------------------------------------------------- part 2: kills


def kills(options, failures):
    chance = random.Random(f"{options.seed} kills")
    figures = collections.Counter()
    calls = writers(options.jsf)
    seconds = {}
    for writer in calls:
        writer.content(options.jsf)
    for number in range(options.kills):
        writer = calls[number % len(calls)]
        number_of_signal = number // len(calls)
        ending = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[number_of_signal % 3]
        # at any time until a little after its end, or close to the end, where the file is written
        earliest, repeated = (0, 0.7)[number_of_signal % 2], number_of_signal % 4 == 3
        delay = seconds.get(writer.name, 0.05) * chance.uniform(earliest, 1.15)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / PAGE).write_bytes(OLD_PAGE)
            process = Process(
                writer.command(options.jsf), folder, kill=lambda process: end(process, ending, delay, repeated)
            )
            content, left = (folder / PAGE).read_bytes(), names_in(folder) - {PAGE}
            what = f"kill {number}, {writer.name}, {ending.name} after {delay:.4f} s"
            state = state_of(writer, options.jsf, content, ending)
            figures[state] += 1
            figures["killed"] += process.code not in (0, 1)
            figures["left"] += bool(left)
            if left and (process.code in (0, 1, 2) or not is_temporary(left)):
                failures.add(what, f"left over: {sorted(left)}", writer.command(options.jsf), folder)
            if state == "neither":
                failures.add(what, f"{len(content)} bytes are neither the old file nor the new one", writer.command(options.jsf), folder)
            if process.code not in (0, 1, 2, 130, -ending):
                failures.add(what, f"exit code {process.code}: {process.errors[-300:]!r}", writer.command(options.jsf), folder)
            if process.code in (0, 1):
                seconds[writer.name] = process.seconds
    print(f"2. kills: {options.kills}, of which {figures['killed']} before the end; the file was the old one"
          f" {figures['old']} times, the new one {figures['new']} times, results up to Ctrl-C {figures['cut']} times,"
          f" anything else {figures['neither']} times; a temporary file was left {figures['left']} times",
          flush=True)


def end(process, ending, delay, repeated):
    time.sleep(delay)
    for _ in range(500 if repeated else 1):
        # not reaped yet, so the number is still its own
        os.kill(process.pid, ending)
        if not repeated or os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return
        time.sleep(0.001)


def is_temporary(left):
    """Whether this is one file that a killed process had begun."""
    return len(left) == 1 and all(name.startswith(".jsf-") for name in left)


def state_of(writer, jsf, content, ending):
    if content == OLD_PAGE:
        return "old"
    if content == writer.content(jsf):
        return "new"
    return "cut" if ending == signal.SIGINT and is_cut(writer, content) else "neither"


def is_cut(writer, content):
    """Whether it may be a page of what there was until Ctrl-C, which ends a simulation and a search."""
    is_page = content[:15].lower() == b"<!doctype html>" and content.rstrip().endswith(b"</html>")
    return is_page and writer.name in ("simulate", "fit")


# ---------------------------------------------------------------- part 3: full disks


def full_disks(options, failures):
    figures = collections.Counter()
    for writer in writers(options.jsf):
        writer.content(options.jsf)
        for blocks in (0, 1, 2, 8, 60):
            with tempfile.TemporaryDirectory() as folder:
                write_full(options, failures, figures, writer, Path(folder), f"ulimit -f {blocks}", f"ulimit -f {blocks}")
        if os.geteuid() != 0:
            continue
        for free in (0, 1, 2, 3, 8, 14):
            with Tmpfs("size=64k") as folder:
                write_full(options, failures, figures, writer, folder, "", f"{free} free blocks", free)
        for inodes in range(4):
            with Tmpfs(f"size=8m,nr_inodes={3 + inodes}") as folder:
                write_full(options, failures, figures, writer, folder, "", f"{inodes} free inodes")
    results_to_full_disk(options, failures, figures)
    note = "" if os.geteuid() == 0 else "; no tmpfs, which only root can mount"
    print(f"3. full disks: {figures['calls']} calls, {figures['refused']} refused with the old file unharmed and nothing left,"
          f" {figures['written']} written whole because they fitted{note}", flush=True)


class Tmpfs:
    """A folder that is a file system of its own."""

    def __init__(self, size):
        self.size = size

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="jsf-tmpfs-"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", self.size, "jsf", self.folder], check=True)
        return self.folder

    def __exit__(self, *_):
        subprocess.run(["umount", self.folder], check=True)
        self.folder.rmdir()


def write_full(options, failures, figures, writer, folder, limits, what, free=None):
    (folder / PAGE).write_bytes(OLD_PAGE)
    if free is not None:
        fill(folder, free)
    before = names_in(folder)
    process = Process(writer.command(options.jsf), folder, limits=limits)
    content, left = (folder / PAGE).read_bytes(), names_in(folder) - before
    figures["calls"] += 1
    wrong = None
    if process.code in (0, 1):
        figures["written"] += 1
        if content != writer.content(options.jsf) or left:
            wrong = f"{len(content)} bytes, {sorted(left)}, though the exit code is {process.code}"
    elif process.code == 2:
        figures["refused"] += 1
        if content != OLD_PAGE or left or PAGE.encode() not in process.errors:
            wrong = f"old file {'kept' if content == OLD_PAGE else 'lost'}, left {sorted(left)}, {process.errors[-300:]!r}"
    else:
        wrong = f"exit code {process.code}, {process.errors[-300:]!r}"
    if wrong:
        failures.add(f"{writer.name}, {what}", wrong, writer.command(options.jsf))


def fill(folder, free):
    """Fills the file system, except for a number of blocks."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            filler.truncate(max(0, filler.tell() // 4096 - free) * 4096)


def results_to_full_disk(options, failures, figures):
    """Results go to a file that is full: exit code 2."""
    for call in ("rank ncpus --full --format json", "shares --format json", "check ncpus --format json", "names --format json"):
        command = [options.jsf, *call.split(), "--site", str(SITE)]
        with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "results", "wb") as results:
            limited = Process(command, folder, stdout=results, limits="ulimit -f 0")
        with open("/dev/full", "wb") as full:
            device = Process(command, ROOT, stdout=full)
        for process in (limited, device):
            figures["calls"] += 1
            figures["refused"] += process.code == 2
            if process.code != 2 or b"cannot write" not in process.errors:
                failures.add(call, f"results on a full disk: exit code {process.code}, {process.errors[-300:]!r}", command)


# ---------------------------------------------------------------- part 4: many writers


def many_writers(options, failures):
    figures = collections.Counter()
    for writer in writers(options.jsf):
        for with_kills in (False, True):
            write_at_once(options, failures, figures, writer, with_kills)
    print(f"4. writers: {figures['writers']} in {figures['rounds']} rounds of 40 at once, {figures['killed']} of them killed;"
          f" {figures['looks']} looks at the file meanwhile, {figures['wrong']} of them at a part of one", flush=True)


def write_at_once(options, failures, figures, writer, with_kills):
    chance = random.Random(f"{options.seed} {writer.name} {with_kills}")
    whole = {writer.content(options.jsf, variant) for variant in range(1, 41)}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / PAGE).write_bytes(OLD_PAGE)
        started = [
            subprocess.Popen(writer.command(options.jsf, variant), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for variant in range(1, 41)
        ]
        begin, killed = time.monotonic(), set()
        while running := [process for process in started if process.poll() is None]:
            content = (folder / PAGE).read_bytes()
            figures["looks"] += 1
            if not (content == OLD_PAGE or content in whole or with_kills and is_cut(writer, content)):
                figures["wrong"] += 1
                failures.add(f"40 writers, {writer.name}", f"{len(content)} bytes are of no writer", folder=folder)
            if with_kills and len(killed) < 12 and chance.random() < 0.3:
                victim = chance.choice(running)
                victim.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
                killed.add(victim.pid)
            if time.monotonic() - begin > 120:
                failures.add(f"40 writers, {writer.name}", f"{len(running)} do not end")
                for process in running:
                    process.kill()
        figures["rounds"] += 1
        figures["writers"] += 40
        figures["killed"] += sum(process.returncode < 0 for process in started)
        codes = {process.returncode for process in started if process.pid not in killed}
        if codes - {0, 1}:
            failures.add(f"40 writers, {writer.name}", f"exit codes {codes}")
        if not with_kills:
            if left := names_in(folder) - {PAGE}:
                failures.add(f"40 writers, {writer.name}", f"left over: {sorted(left)}")
            if (folder / PAGE).read_bytes() not in whole:
                failures.add(f"40 writers, {writer.name}", "the last file is of no writer")


# ---------------------------------------------------------------- part 5: failed allocations

ABORT = re.compile(rb"^memory allocation of \d+ bytes failed$", re.MULTILINE)


def failed_allocations(options, failures):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_large(folder, random.Random(f"{options.seed} large"))
        command_without_memory(options, failures, folder)
        if options.python:
            python_without_memory(options, failures, folder)
        if options.c_prefix:
            c_without_memory(options, failures, folder)


def write_large(folder, chance):
    """Files of 10 to 40 MB."""
    users = [f"user{number}" for number in range(50_000)]
    jobs = [
        {
            "id": f"{number}.vm",
            "entity": chance.choice(users),
            "queue": "workq",
            "resources": {"ncpus": chance.randrange(1, 200), "mem": f"{chance.randrange(1, 99)}gb", "walltime": "01:00:00"},
            "eligible_time": chance.randrange(1 << 20),
        }
        for number in range(150_000)
    ]
    (folder / "jobs.ndjson").write_text("".join(json.dumps(job) + "\n" for job in jobs))
    (folder / "jobs.json").write_text(json.dumps({"jobs": jobs}))
    with gzip.open(folder / "jobs.gz", "wb", 1) as compressed:
        compressed.write((folder / "jobs.json").read_bytes())
    text = "".join(
        f"Job Id: {job['id']}\n    Job_Owner = {job['entity']}@vm\n    job_state = Q\n    queue = workq\n"
        f"    Resource_List.ncpus = {job['resources']['ncpus']}\n\n"
        for job in jobs
    )
    (folder / "jobs.txt").write_text(text)
    children = [{"name": user, "shares": 1 + number % 7, "usage": number} for number, user in enumerate(users)]
    (folder / "tree.json").write_text(json.dumps({"unknown_shares": 0, "children": children}))
    lines = [
        f"{number} {number * 9} -1 {chance.randrange(9999)} {chance.randrange(1, 64)} -1 -1 -1 9999 -1 1 {number % 999} 1 1 1 1 -1 -1\n"
        for number in range(1, 150_001)
    ]
    (folder / "log.swf").write_text("; MaxProcs: 128\n" + "".join(lines))
    (folder / "resource_group").write_text("".join(f"{user} {100 + number} root 1\n" for number, user in enumerate(users)))


LARGE = """
rank ncpus+fairshare_factor --queue jobs.ndjson --tree tree.json --format csv
rank ncpus+eligible_time --queue jobs.json --format json
rank ncpus --queue jobs.gz --report page.html
rank ncpus --queue jobs.txt
check ncpus/eligible_time --queue jobs.ndjson
explain ncpus+eligible_time --queue jobs.ndjson --job 7.vm --report page.html
compare --old ncpus --new eligible_time --queue jobs.ndjson --report page.html
shares --tree tree.json --policy all --format json
shares --resource-group resource_group --report page.html
pbsfs --sched-priv . -p
simulate ncpus --workload log.swf --report page.html
fit {a=1:0..5}*ncpus+{b=1:0..5}*eligible_time --queue jobs.ndjson --prefer 7.vm 9.vm --evaluations 5
page ncpus --queue jobs.ndjson --out page.html
trajectory ncpus+eligible_time --queue jobs.ndjson --job 7.vm --format csv
rank [ncpus]*100000*0+9**99999 --queue jobs.ndjson
""".strip().splitlines()


def steps(smallest, enough):
    """Limits of memory in KiB, each a fifth above the one before."""
    limit = smallest * 1.01
    while limit < enough * 1.2:
        yield int(limit)
        limit *= 1.2


def command_without_memory(options, failures, folder):
    smallest = smallest_memory(options.jsf)
    figures, largest = collections.Counter(), 0
    for call in LARGE:
        command = [options.jsf, *call.split()]
        (folder / PAGE).write_bytes(OLD_PAGE)
        process = Process(command, folder)
        if process.code not in (0, 1, 2):
            failures.add(call, f"exit code {process.code} with all memory: {process.errors[-300:]!r}", command)
        largest = max(largest, process.memory)
        for limit in steps(smallest, smallest + process.memory * 2):
            (folder / PAGE).write_bytes(OLD_PAGE)
            before = names_in(folder)
            process = Process(command, folder, limits=f"ulimit -v {limit}")
            figures["calls"] += 1
            is_abort = bool(ABORT.search(process.errors))
            figures["aborts" if is_abort else "sentences" if process.code == 2 else "fine"] += 1
            wrong = None
            if process.code not in (0, 1, 2) or b"internal error" in process.errors:
                wrong = f"exit code {process.code}: {process.errors[-300:]!r}"
            elif process.code == 2 and not process.errors.strip():
                wrong = "exit code 2 without a sentence"
            elif names_in(folder) != before:
                wrong = f"left over: {sorted(names_in(folder) - before)}"
            elif process.code == 2 and (folder / PAGE).read_bytes() != OLD_PAGE:
                wrong = "the old file is lost"
            if wrong:
                failures.add(f"{call}, ulimit -v {limit}", wrong, command)
    print(f"5. failed allocations, command: {figures['calls']} calls in steps from {smallest} KiB; {figures['fine']} fine,"
          f" {figures['sentences']} refused with a sentence about the file, {figures['aborts']} with the bytes of a failed"
          f" allocation; largest with all memory {largest / 1024:.0f} MiB", flush=True)


PYTHON_CALLS = {
    "jobs": "Site.open('site').rank('ncpus+eligible_time')",
    "jobs of a broken document": "Site.open('other').rank('ncpus+eligible_time')",
    "columns": "Formula('ncpus*2+mem').evaluate({'ncpus': array.array('d', range(1000000)), 'mem': array.array('d', range(1000000))})",
    "ranking": "Formula('ncpus*2').rank({'ncpus': array.array('d', range(1000000))})",
    "large integers": "Formula('ncpus**9000').evaluate({'ncpus': list(range(2, 20000))})",
    "tree": "[tree.add('root', f'u{k}') for tree in [ShareTree()] for k in range(300000)]",
    "simulation": "run('simulate', workload='log.swf', formula='ncpus').jobs",
}
PYTHON_PROGRAM = """
import array, resource, sys
from job_sort_formula import Formula, ShareTree, Site, run
limit = int(sys.argv[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    {call}
except BaseException as error:
    sys.stderr.write(type(error).__mro__[0].__name__ + ": " + str(error)[:200])
    sys.exit(3)
"""


def python_without_memory(options, failures, folder):
    for name, jobs in (("site", "jobs.ndjson"), ("other", "jobs.json")):
        (folder / name).mkdir()
        shutil.copy(folder / jobs, folder / name / jobs)
    program = [options.python, "-c"]
    smallest = smallest_of([*program, PYTHON_PROGRAM.format(call="pass")], folder)
    commands = {what: [*program, PYTHON_PROGRAM.format(call=call)] for what, call in PYTHON_CALLS.items()}
    library_without_memory("Python", failures, folder, smallest, commands)


def library_without_memory(language, failures, folder, smallest, commands):
    """Runs programs that limit their own memory to the KiB that their last argument says."""
    figures, errors = collections.Counter(), collections.Counter()
    for what, command in commands.items():
        whole = Process([*command, str(1 << 32)], folder)
        if whole.code != 0:
            failures.add(f"{language}, {what}", f"exit code {whole.code} with all memory: {whole.errors[-300:]!r}", command)
            continue
        for limit in steps(smallest, smallest + whole.memory):
            process = Process([*command, str(limit)], folder)
            kind = outcome_in_library(process)
            figures["calls"] += 1
            figures[kind] += 1
            if kind == "errors":
                errors[process.errors.decode(errors="replace").strip().split("\n")[-1][:120]] += 1
            if kind == "other":
                why = f"exit code {process.code}: {process.errors[-300:]!r}"
                failures.add(f"{language}, {what}, {limit} KiB", why, [*command, str(limit)])
    print(f"   {language}: {figures['calls']} calls; {figures['fine']} fine, {figures['errors']} with an error,"
          f" {figures['aborts']} aborted with the bytes of the failed allocation, {figures['other']} otherwise", flush=True)
    for text, count in errors.most_common(6):
        print(f"     {count} x {text}")


def smallest_of(program, folder):
    low, high = 1000, 4_000_000
    while high - low > 1000:
        middle = (low + high) // 2
        low, high = (low, middle) if Process([*program, str(middle)], folder).code == 0 else (middle, high)
    return high


def outcome_in_library(process):
    if process.code == 0:
        return "fine"
    if process.code == 3 and b"anic" not in process.errors:
        return "errors"
    return "aborts" if process.code == -signal.SIGABRT and ABORT.search(process.errors) else "other"


C_PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "job_sort_formula.h"

enum { ROWS = 1000000 };
static const char integers[] = "ncpus**4000 % 7";
static char document[64 << 20];
static double ncpus[ROWS], scores[ROWS];
static uint32_t order[ROWS];

static jsf_status score(const char *formula, size_t rows, jsf_error **error)
{
    jsf_program *program = NULL;
    jsf_scratch *scratch = jsf_scratch_new();
    const jsf_column columns[] = {{"ncpus", JSF_KIND_PBS_AMOUNT, ncpus, rows, NULL, 0}};
    jsf_status status = jsf_program_compile(formula, JSF_NUL_TERMINATED, NULL, &program, error);
    if (status == JSF_STATUS_OK)
        status = jsf_program_score(program, scratch, columns, 1, rows, scores, NULL, NULL, error);
    return status == JSF_STATUS_OK ? jsf_top(scores, rows, rows, order, error) : status;
}

int main(int count, char **arguments)
{
    struct rlimit limit;
    jsf_error *error = NULL;
    char *json = NULL;
    jsf_tree *tree = NULL;
    jsf_status status = JSF_STATUS_OK;
    FILE *file = fopen("tree.json", "rb");
    size_t length = fread(document, 1, sizeof document, file);
    for (int row = 0; row < ROWS; row++)
        ncpus[row] = row % 64;
    limit.rlim_cur = limit.rlim_max = strtoul(arguments[count - 1], NULL, 10) << 10;
    setrlimit(RLIMIT_AS, &limit);
    switch (arguments[1][0]) {
    case 'j': status = jsf_site_rank("site", JSF_NUL_TERMINATED, "ncpus+eligible_time", JSF_NUL_TERMINATED, &json, &error); break;
    case 't': status = jsf_tree_read(document, length, "pbs", &tree, &error); break;
    case 'c': status = score("ncpus*2", ROWS, &error); break;
    case 'i': status = score(integers, 20000, &error); break;
    }
    if (status == JSF_STATUS_OK)
        return 0;
    fprintf(stderr, "%s\n", jsf_error_message(error));
    return 3;
}
"""
C_CALLS = ("jobs", "tree", "columns", "integers")


def c_without_memory(options, failures, folder):
    (folder / "large.c").write_text(C_PROGRAM)
    prefix = options.c_prefix.resolve()
    compiled = ["gcc", "-O1", "-o", folder / "large", folder / "large.c", f"-I{prefix}/include", f"-L{prefix}/lib"]
    subprocess.run([*compiled, "-ljob_sort_formula", f"-Wl,-rpath,{prefix}/lib"], check=True)
    program = str(folder / "large")
    library_without_memory("C", failures, folder, smallest_of([program, "nothing"], folder), {call: [program, call] for call in C_CALLS})


# ---------------------------------------------------------------- the whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jsf", type=lambda text: str(Path(text).resolve()))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=600)
    parser.add_argument("--parts", default="1,2,3,4,5")
    parser.add_argument("--case", type=int)
    # of an environment: a link that is not to be followed
    parser.add_argument("--python", type=lambda text: str(Path(text).absolute()))
    parser.add_argument("--c-prefix", type=Path)
    options = parser.parse_args()
    os.nice(10)
    os.environ.pop("JSF_SITE", None)
    failures = Failures()
    parts = [hostile_input, kills, full_disks, many_writers, failed_allocations]
    for number in [1] if options.case is not None else map(int, options.parts.split(",")):
        started = time.monotonic()
        parts[number - 1](options, failures)
        print(f"   {time.monotonic() - started:.0f} s", flush=True)
    if failures.texts:
        print(f"{len(failures.texts)} wrong, kept in {failures.folder}")
        sys.exit(1)


if __name__ == "__main__":
    main()
