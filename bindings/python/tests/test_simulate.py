"""Simulations against the command `jsf simulate`, whose path is in `JSF_BINARY`, bit by bit."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta
from pathlib import Path

import pandas
import polars
import pyarrow
import pytest

from job_sort_formula import Formula, Site, Table, run

ROOT = Path(__file__).parents[3]
SITE = ROOT / "examples" / "site"
LOG = SITE / "accounting.gz"
SWF = ROOT / "tests" / "golden" / "simulate" / "w1.swf"
GOALS = ROOT / "examples" / "goals.toml"
FAIR = "fairshare_factor * 100 + eligible_time / 3600"


def simulate(workload, formula=None, **options):
    """The log run without a site."""
    return run("simulate", workload=workload, formula=formula, **options)


def written_by_jsf(*arguments, **options):
    """What the command writes to its standard output for these options."""
    command = [os.environ["JSF_BINARY"], "simulate", *arguments]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def jsf(*arguments, **options):
    return json.loads(written_by_jsf(*arguments, "--format", "json", **options))


def check_equal(simulation, expected):
    # equal as floats, so to the bit: Python's `json` reads the shortest digits back exactly
    # the answer also has the warnings that the command writes to standard error
    others = [{name: entry for name, entry in answer.items() if name not in ("jobs", "warnings")} for answer in (simulation, expected)]
    assert json.dumps(others[0], sort_keys=True) == json.dumps(others[1], sort_keys=True)
    assert simulation.summary == expected["summary"]
    assert simulation.goals == expected["goals"]
    names = ["id", "entity", "queue", "processors", "submit", "start", "end"]
    assert [{name: row[name] for name in names} for row in simulation.jobs.to_pylist()] == expected["jobs"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"processors": 96, "backfill": "none"},
        {"processors": 96, "backfill": "greedy", "usage": "fresh"},
        {"processors": 128, "backfill": "easy", "usage": "fresh", "decay": "7d", "decay_factor": 0.25},
        {"processors": 128, "goals": GOALS, "warm_up": "2d", "usage": "start"},
        {"processors": 128, "warm_up": 86400, "decay": 3600},
        {"cancelled": "keep", "overrun": "keep", "processors_of": "allocated", "processors": 2**32 - 1},
    ],
)
def test_a_simulation_is_that_of_the_command(options):
    formula = "1 / (ncpus - 1)" if "cancelled" in options else FAIR if options else None
    expected = jsf(*([formula] if formula else []), site=SITE, workload=LOG, **options)
    check_equal(Site.open(SITE).simulate(formula, workload=LOG, **options), expected)


@pytest.mark.parametrize("numbers", ["openpbs", "exact"])
@pytest.mark.parametrize("policy", ["pbs", "fair-tree"])
def test_the_rules_of_a_site_are_those_of_its_simulations(numbers, policy):
    expected = jsf(FAIR, site=SITE, workload=LOG, numbers=numbers, policy=policy, processors=128)
    site = Site.open(SITE, numbers=numbers, policy=policy)
    check_equal(site.simulate(FAIR, workload=[LOG], processors=128), expected)


def test_a_simulation_without_a_site_is_that_of_the_command():
    expected = jsf("-ncpus", workload=SWF, processors=64, goals=GOALS)
    for formula in ["-ncpus", Formula("-ncpus")]:
        assert {**simulate(SWF, formula, processors=64, goals=GOALS), "warnings": None} == {**expected, "warnings": None}
    assert simulate([str(SWF)], "-ncpus", processors=64).summary == expected["summary"]


def test_jobs_are_a_table():
    jobs = Site.open(SITE).simulate("-walltime", workload=SWF, processors=64).jobs
    assert isinstance(jobs, Table)
    assert jobs.column_names == ["id", "entity", "queue", "processors", "submit", "start", "end", "wait"]
    for table in [pyarrow.table(jobs).to_pydict(), polars.DataFrame(jobs).to_dict(as_series=False)]:
        assert table == jobs.to_pydict()
    frame = pandas.DataFrame(jobs)
    assert list(frame["wait"]) == list(frame["start"] - frame["submit"])


def test_what_is_doubtful_is_said():
    simulation = Site.open(SITE).simulate("ncpus / nonsense", workload=LOG, usage="fresh", decay="120d", warm_up=None)
    warnings = simulation.warnings
    assert any("`nonsense`" in warning for warning in warnings)
    assert any(warning.startswith("the formula fails for all 8367 jobs") for warning in warnings)
    fresh = Site.open(SITE).simulate(FAIR, workload=LOG, usage="fresh", decay="160d")
    assert any("the log is too short to leave out the time until it decays" in warning for warning in fresh.warnings)
    assert not any("--" in warning for warning in warnings + fresh.warnings)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"processors": None}, ValueError, "the number of processors is not known: .*or as `processors`"),
        ({"processors": 0}, ValueError, "invalid value: integer `0`, expected a nonzero u32"),
        ({"processors": "64"}, ValueError, 'string "64", expected a nonzero u32'),
        ({"processor": 64}, ValueError, "unknown field `processor`"),
        ({"backfill": "maybe"}, ValueError, "unknown variant `maybe`, expected one of `easy`, `greedy`, `none`"),
        ({"usage": "usage.bin"}, ValueError, "unknown variant `usage.bin`, expected `start` or `fresh`"),
        ({"cancelled": "drop"}, ValueError, "unknown variant `drop`, expected `leave-out` or `keep`"),
        ({"overrun": "drop"}, ValueError, "unknown variant `drop`, expected `cut` or `keep`"),
        ({"processors_of": "all"}, ValueError, "unknown variant `all`, expected `requested` or `allocated`"),
        ({"warm_up": "soon"}, ValueError, "`soon` is not a duration"),
        ({"warm_up": -5}, ValueError, "integer `-5`"),
        ({"warm_up": "1000d"}, ValueError, "the warm-up of 86400000 s leaves no job: the last one is submitted"),
        ({"decay": 0}, ValueError, "`decay` is 0, expected at least a second"),
        ({"decay_factor": 2}, ValueError, "`decay_factor` is 2, expected a number from 0 to 1"),
        ({"goals": "/nowhere/goals.toml"}, FileNotFoundError, "/nowhere/goals.toml"),
        ({"goals": SWF}, ValueError, "w1.swf"),
        ({"workload": "/nowhere/log"}, FileNotFoundError, "/nowhere/log"),
        ({"workload": 7}, ValueError, "integer `7`, expected a string"),
        ({"workload": []}, ValueError, "`workload` is missing, expected the path of a log"),
        ({"workload": __file__}, ValueError, "expected a log of jobs"),
        ({"formula": "1 +"}, SyntaxError, "expected"),
        ({"formula": "'a' + 'b'"}, ValueError, "arithmetic"),
        ({"formula": "fairshare_factor"}, ValueError, "which a log of jobs does not have"),
        ({"formula": None}, ValueError, "the argument `formula`"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    arguments = {"workload": SWF, "formula": "ncpus", "processors": 64} | arguments
    with pytest.raises(error, match=message) as raised:
        simulate(**arguments)
    assert "--" not in str(raised.value)
    with pytest.raises(ValueError, match="a simulation computes with doubles, not with decimals"):
        Site.open(SITE, numbers="decimal").simulate("ncpus", workload=LOG)


def test_durations_may_be_those_of_datetime():
    durations = ["2d", timedelta(days=2), 172800, pandas.Timedelta(days=2)]
    runs = [simulate(LOG, "eligible_time", processors=64, usage="fresh", warm_up=duration) for duration in durations]
    assert runs[0].warm_up == 172800 and runs.count(runs[0]) == 4


def test_other_threads_run_meanwhile():
    runs = []
    thread = threading.Thread(target=lambda: runs.append(simulate(long_log(), "eligible_time * ncpus", processors=70)))
    began = time.monotonic()
    thread.start()
    ticks = 0
    while thread.is_alive():
        ticks += 1
        time.sleep(0.001)
    took = time.monotonic() - began
    assert len(runs) == 1
    # a thread that holds the GIL would let this one run every 5 ms at most
    assert ticks > 20 or took < 0.1


def long_log():
    """A log whose simulation takes seconds: a machine that is much too small, so that thousands of jobs wait."""
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"jsf-long-{os.getpid()}.swf"
    if not path.exists():
        lines = [f"{job} {job} -1 {300 + job % 977} {1 + job % 64} -1 -1 {1 + job % 64} 3600 -1 1 {job % 9} -1 -1 1 -1 -1 -1" for job in range(1, 6001)]
        path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module", autouse=True)
def without_long_log():
    yield
    long_log().unlink()


@pytest.mark.parametrize(
    "asked",
    [
        'run("simulate", workload={log!r}, formula="eligible_time * ncpus ** 1.5", processors=64)',
        'run("fit", template="{{a=1:0..2}} * eligible_time * ncpus", workload={log!r}, goals={goals!r}, processors=64, force=True)',
    ],
)
def test_ctrl_c_ends_a_simulation(asked):
    program = textwrap.dedent(
        f"""
        from job_sort_formula import run
        print("begun", flush=True)
        try:
            while True:
                {asked.format(log=str(long_log()), goals=str(GOALS))}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.5)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "interrupted\n"
    assert time.monotonic() - asked < 10 and process.returncode == 0
