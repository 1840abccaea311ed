"""Makes what the measurements need, once: the peers, the binaries, the jobs. All of it lies under `target/`."""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = ROOT / "target/peers"
PYTHON = TARGET / "venv/bin/python"
RUST = TARGET / "rust/release/peers"
PACKAGES = ["numpy", "numexpr", "polars", "duckdb", "orjson"]
BYTES_PER_JOB = {"ndjson": 300, "nested": 300, "qstat": 3000}


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def call(*command, **options):
    """Runs a command; what it prints is progress."""
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr, **options)


def packages():
    """The Python peers, in a virtual environment of their own."""
    finished = TARGET / "venv/finished"
    if finished.exists() and finished.read_text() == " ".join(PACKAGES):
        return
    say("installing", *PACKAGES)
    call(sys.executable, "-m", "venv", "--clear", TARGET / "venv")
    call(PYTHON, "-m", "pip", "install", "--quiet", *PACKAGES)
    finished.write_text(" ".join(PACKAGES))


def rust_peers():
    say("building the peers written in Rust")
    build = ["cargo", "build", "--quiet", "--release", "--manifest-path", HERE / "rust/Cargo.toml"]
    call(*build, env=os.environ | {"CARGO_TARGET_DIR": str(TARGET / "rust")})


def jsf(path):
    """The binary at `path`, or the one of this tree, built anew."""
    if path is None:
        say("building jsf")
        call("cargo", "build", "--quiet", "--profile", "dist", "--bin", "jsf", cwd=ROOT)
        path = ROOT / "target/dist/jsf"
    return pathlib.Path(path).resolve()


def columns(folder, jobs=1_000_000):
    return made(folder, "columns", folder / "columns", jobs)


def ndjson(folder, jobs):
    return made(folder, "ndjson", folder / f"jobs_{jobs}.ndjson", jobs)


def nested(folder, jobs):
    return made(folder, "nested", folder / f"nested_{jobs}.ndjson", jobs)


def qstat(folder, jobs):
    return made(folder, "qstat", folder / f"qstat_{jobs}.json", jobs)


def made(folder, kind, path, jobs):
    """A file of jobs, or a folder of columns; written unless it is there. A file that is there is copied, so that all of it is
    in memory when the measurements begin, as after it was written."""
    if path.is_file():
        fresh = path.with_name(path.name + ".fresh")
        shutil.copyfile(path, fresh)
        os.replace(fresh, path)
    elif not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        needed, free = jobs * BYTES_PER_JOB.get(kind, 0), shutil.disk_usage(folder).free
        if free < 2 * needed + (1 << 30):
            sys.exit(f"{path} needs {needed >> 20} MiB and as much for what is made of it; {free >> 20} MiB are free")
        say("writing", path)
        call(PYTHON, "-B", HERE / "generate.py", kind, path, jobs)
    return path


def versions():
    """Of everything that is measured, in a line for the report."""
    query = "import importlib.metadata as m, sys; print(*(f'{name} {m.version(name)}' for name in sys.argv[1:]), sep=', ')"
    printed = subprocess.run([PYTHON, "-c", query, *PACKAGES], check=True, capture_output=True, text=True).stdout
    locked = (HERE / "rust/Cargo.lock").read_text()
    of_crate = lambda name: locked.split(f'name = "{name}"\nversion = "')[1].split('"')[0]
    crates = [f"{name} {of_crate(name)}" for name in ("fasteval", "evalexpr", "serde_json")]
    return ", ".join([f"CPython {sys.version.split()[0]}", printed.strip(), *crates])
