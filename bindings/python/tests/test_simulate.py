"""Simulations against the command `jsf simulate`, whose path is in `JSF_BINARY`, bit by bit."""

import csv
import gzip
import io
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
from types import MappingProxyType

import pandas
import polars
import pyarrow
import pytest

from job_sort_formula import Formula, Simulation, Site, Workload, simulate

ROOT = Path(__file__).parents[3]
SITE = ROOT / "examples" / "site"
LOG = SITE / "accounting.gz"
SWF = ROOT / "tests" / "golden" / "simulate" / "w1.swf"
GOALS = ROOT / "examples" / "goals.toml"
FAIR = "fairshare_factor * 100 + eligible_time / 3600"


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
    assert json.dumps(simulation, sort_keys=True) == json.dumps({name: entry for name, entry in expected.items() if name != "jobs"}, sort_keys=True)
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
@pytest.mark.parametrize("formula", [None, FAIR, "1 / (ncpus - 1)"])
def test_a_simulation_is_that_of_the_command(formula, options):
    expected = jsf(*([formula] if formula else []), site=SITE, workload=LOG, **options)
    check_equal(Site.open(SITE).simulate(formula, workload=LOG, **options), expected)


@pytest.mark.parametrize("numbers", ["openpbs", "exact"])
@pytest.mark.parametrize("policy", ["pbs", "fair-tree"])
def test_the_rules_of_a_site_are_those_of_its_simulations(numbers, policy):
    expected = jsf(FAIR, site=SITE, workload=LOG, numbers=numbers, policy=policy, processors=128)
    site = Site.open(SITE, numbers=numbers, policy=policy)
    check_equal(site.simulate(FAIR, workload=[LOG], processors=128), expected)


def test_a_simulation_without_a_site_is_that_of_the_command(tmp_path):
    expected = jsf("-ncpus", workload=SWF, processors=64, goals=GOALS)
    for formula in ["-ncpus", Formula("-ncpus")]:
        check_equal(simulate(SWF, formula, processors=64, goals=GOALS), expected)
    check_equal(simulate(str(SWF), formula="-ncpus", processors=64, goals=str(GOALS)), expected)
    log = tmp_path / "log.ndjson"
    job = '{"id":"%d","entity":"a","submit":0,"run":60,"resources":{"ncpus":4,"ngpus":%d,"walltime":60}}\n'
    log.write_text("".join(job % (number, number % 3) for number in range(9)))
    simulation = simulate(log, Formula("ngpus", resources={"ngpus": "int"}), processors=4)
    check_equal(simulation, jsf("ngpus", workload=log, processors=4, resource="ngpus=long"))
    assert simulation.jobs["start"] == [360, 180, 0, 420, 240, 60, 480, 300, 120]
    assert simulation.failed == 0 and simulate(log, "1 / (ncpus - 4)", processors=4).failed == 9


@pytest.mark.parametrize("given", [SWF.read_bytes(), bytearray(SWF.read_bytes()), SWF.read_text(), gzip.compress(SWF.read_bytes())])
def test_a_log_is_read_from_memory(given):
    expected = simulate(SWF, "-ncpus", processors=64)
    opened = io.StringIO(given) if isinstance(given, str) else io.BytesIO(given)
    for log in [given, [given], opened]:
        assert simulate(log, "-ncpus", processors=64) == expected
    assert len(Workload.read([given, SWF])) == len(Workload.read(given)) == 400


def test_a_file_that_is_open_has_its_name(tmp_path):
    (tmp_path / "empty.log").touch()
    for mode in ["r", "rb"]:
        with open(SWF, mode) as log, open(GOALS, mode) as goals, open(tmp_path / "empty.log", mode) as empty:
            assert simulate(log, "-ncpus", processors=64, goals=goals) == simulate(SWF, "-ncpus", processors=64, goals=GOALS)
            with pytest.raises(ValueError, match="empty.log` has no job"):
                Workload.read(empty)

    class Wrong:
        def read(self):
            return 7

    with pytest.raises(TypeError, match="`paths`: the file gives neither bytes nor text"):
        Workload.read(Wrong())


def test_goals_are_read_from_memory():
    expected = simulate(SWF, "-ncpus", processors=64, goals=GOALS)
    text = GOALS.read_text()
    for goals in [text, text.encode(), io.StringIO(text)]:
        assert simulate(SWF, "-ncpus", processors=64, goals=goals) == expected
    goal = {"name": 'a "quoted"\\ µ\u2028😀\n', "jobs": "walltime <= 3600", "measure": "wait", "statistic": {"within": "1h"}, "at_least": 1e-7}
    other = {"name": "mean", "measure": "wait", "statistic": "mean", "at_most": 3600}
    for given in [{"goal": [goal, other]}, MappingProxyType({"goal": (goal, other)})]:
        names = [found["name"] for found in simulate(SWF, "-ncpus", processors=64, goals=given).goals]
        assert names == [goal["name"], "mean"]
    workload = Workload.read(SWF.read_bytes(), goals={"goal": [goal], "objective": {"minimise": "mean wait"}})
    assert simulate(workload, "-ncpus", processors=64, goals={"goal": [goal]}).goals[0]["limit"] == 1e-7
    with pytest.raises(ValueError, match="`goals`, line 2: "):
        simulate(SWF, "-ncpus", processors=64, goals={"goal": [goal, {**other, "measure": "nothing"}]})


def test_a_workload_is_read_once_for_many_runs(tmp_path):
    site = Site.open(SITE)
    formulas = [f"{weight} * fairshare_factor + ncpus + mem" for weight in (0, 10)]
    log = tmp_path / "accounting.gz"
    log.write_bytes(LOG.read_bytes())
    workload = Workload.read(log, site=site, formulas=formulas, goals=GOALS)
    log.unlink()
    assert len(workload) == 8367 and workload.processors is None and repr(workload) == "<Workload of 8367 jobs>"
    for formula in formulas:
        expected = jsf(formula, site=SITE, workload=LOG, processors=100, goals=GOALS)
        check_equal(site.simulate(formula, workload=workload, processors=100, goals=GOALS), expected)
        check_equal(simulate(workload, Formula(formula), processors=100, goals=GOALS), expected)
    in_force = site.simulate(workload=Workload.read([LOG], site=site))
    check_equal(in_force, jsf(site=SITE, workload=LOG))
    assert in_force.formula == site.formula


def test_runs_of_one_workload_have_the_rows_of_a_sweep():
    template = "{a} * ncpus + eligible_time / {b}"
    sweep = written_by_jsf(template, "--param", "a=-1,0,2.5", "--param", "b=60:3600:3", "--format", "csv", workload=SWF, processors=64)
    rows = list(csv.DictReader(io.StringIO(sweep)))
    assert len(rows) == 9
    workload = Workload.read(SWF, formulas=[template.format(a=1, b=1)])
    for row in rows:
        simulation = simulate(workload, template.format(a=row["a"], b=row["b"]), processors=64)
        summary = simulation.summary
        assert summary["wait"]["mean"] == float(row["mean_wait"])
        assert summary["wait"]["p95"] == float(row["p95_wait"])
        assert summary["bounded_slowdown"]["mean"] == float(row["bounded_slowdown"])
        assert summary["utilisation"] == float(row["utilisation"])
        assert simulation.failed == int(row["failed"])


def test_jobs_are_a_table():
    simulation = simulate(SWF, "-walltime", processors=64)
    assert isinstance(simulation, Simulation)
    jobs = simulation.jobs
    names = ["id", "entity", "queue", "processors", "submit", "start", "end", "wait", "bounded_slowdown"]
    assert jobs.column_names == names
    rows = written_by_jsf("-walltime", "--format", "csv", workload=SWF, processors=64)
    records = [{**row, "bounded_slowdown": None} for row in csv.DictReader(io.StringIO(rows))]
    assert [{name: str(row[name]) for name in names[:-1]} for row in jobs.to_pylist()] == [
        {name: row[name] for name in names[:-1]} for row in records
    ]
    for table in [pyarrow.table(jobs).to_pydict(), polars.DataFrame(jobs).to_dict(as_series=False)]:
        assert table == jobs.to_pydict()
    frame = pandas.DataFrame(jobs.to_pydict())
    assert list(frame["wait"]) == list(frame["start"] - frame["submit"])
    run = frame["end"] - frame["start"]
    assert list(frame["bounded_slowdown"]) == list(((frame["wait"] + run) / run.clip(lower=10)).clip(lower=1))
    assert frame["bounded_slowdown"].mean() == pytest.approx(simulation.summary["bounded_slowdown"]["mean"])


def test_what_is_doubtful_is_said():
    simulation = Site.open(SITE).simulate("ncpus / nonsense", workload=LOG, usage="fresh", decay="120d", warm_up=None)
    warnings = simulation.warnings
    assert any("`nonsense`" in warning for warning in warnings)
    assert any(warning.startswith("the formula fails for all 8367 jobs") for warning in warnings)
    fresh = Site.open(SITE).simulate(FAIR, workload=LOG, usage="fresh", decay="160d")
    assert any("the log is too short to leave out the time until it decays" in warning for warning in fresh.warnings)
    assert not any("--" in warning for warning in warnings + fresh.warnings)
    workload = Workload.read(SWF, overrun="keep")
    assert workload.warnings == simulate(workload, "ncpus", processors=64).warnings


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"processors": None}, ValueError, "the number of processors is not known: .*or as `processors`"),
        ({"processors": 0}, ValueError, "`processors` is 0, expected a number from 1 to 4294967295"),
        ({"processors": -1}, ValueError, "`processors` is -1, expected"),
        ({"processors": 2**70}, ValueError, "`processors` is 1180591620717411303424, expected"),
        ({"processors": "64"}, TypeError, "str"),
        ({"processor": 64}, TypeError, "there is no argument `processor`"),
        ({"backfill": 7}, TypeError, "`backfill` is 7, expected a str"),
        ({"backfill": "maybe"}, ValueError, "backfill is `maybe`, expected `easy`, `greedy` or `none`"),
        ({"usage": "usage.bin"}, ValueError, "usage is `usage.bin`, expected `start` or `fresh`"),
        ({"cancelled": "drop"}, ValueError, "cancelled is `drop`, expected `leave-out` or `keep`"),
        ({"overrun": "drop"}, ValueError, "overrun is `drop`, expected `cut` or `keep`"),
        ({"processors_of": "all"}, ValueError, "processors_of is `all`, expected `requested` or `allocated`"),
        ({"warm_up": "soon"}, ValueError, "`warm_up`: `soon` is not a duration"),
        ({"warm_up": -5}, ValueError, "`warm_up` is -5, expected seconds, 0 or more"),
        ({"warm_up": 1.5}, TypeError, "`warm_up` is 1.5, expected seconds or a duration"),
        ({"warm_up": "1000d"}, ValueError, "the warm-up of 86400000 s leaves no job: the last one is submitted"),
        ({"decay": 0}, ValueError, "`decay` is 0, expected at least a second"),
        ({"decay_factor": 2}, ValueError, "`decay_factor` is 2, expected a number from 0 to 1"),
        ({"decay_factor": float("nan")}, ValueError, "`decay_factor` is NaN"),
        ({"goals": "/nowhere/goals.toml"}, FileNotFoundError, "/nowhere/goals.toml"),
        ({"goals": SWF}, ValueError, "w1.swf"),
        ({"workload": "/nowhere/log"}, FileNotFoundError, "/nowhere/log"),
        ({"goals": 7}, TypeError, "`goals` is of type `int`, expected a path, a dict, a text, bytes or an open file"),
        ({"goals": {"goal": [{"name": "a", "measure": "wait", "statistic": "p95", "at_most": "soon"}]}}, ValueError, "`goals`, line 1: .*soon"),
        ({"goals": {"goal": []}}, ValueError, "`goals` has no goal"),
        ({"goals": {"goal": [{"at_most": None}]}}, ValueError, "`goals`, line 1"),
        ({"goals": {1: {2}}}, TypeError, "`goals`: expected texts, finite numbers"),
        ({"goals": b"\xff"}, ValueError, "`goals` is not UTF-8 text"),
        ({"goals": "\n" * (1 << 20) + " "}, ValueError, "`goals` is larger"),
        ({"workload": 7}, TypeError, "`workload` is of type `int`, expected a path, a text, bytes, an open file, a list of them or a Workload"),
        ({"workload": [SWF, 7]}, TypeError, "`workload` is of type `int`"),
        ({"workload": pandas.DataFrame({"id": [1]})}, TypeError, "`workload` is of type `DataFrame`, expected a path"),
        ({"workload": {"id": [1]}}, TypeError, "`workload` is of type `dict`, expected a path"),
        ({"workload": []}, ValueError, "`workload`: the list of logs is empty"),
        ({"goals": {"goal": [{"name": "a", "at_most": timedelta(hours=4)}]}}, TypeError, "`goals`: expected texts, finite numbers"),
        ({"goals": {"goal": [{"name": "a", "at_most": float("nan")}]}}, ValueError, "`goals`: expected texts, finite numbers"),
        ({"workload": b"nothing"}, ValueError, "`workload` is .*expected a log of jobs"),
        ({"workload": "1 2\n"}, ValueError, "`workload`"),
        ({"workload": b""}, ValueError, "`workload` has no job"),
        ({"workload": __file__}, ValueError, "expected a log of jobs"),
        ({"formula": "1 +"}, SyntaxError, "expected"),
        ({"formula": "'a' + 'b'"}, ValueError, "arithmetic"),
        ({"formula": "fairshare_factor"}, ValueError, "which a log of jobs does not have"),
        ({"formula": None}, ValueError, "the argument `formula`"),
        ({"formula": 7}, TypeError, "the formula is of type `int`"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    arguments = {"workload": SWF, "formula": "ncpus", "processors": 64} | arguments
    with pytest.raises(error, match=message) as raised:
        simulate(**arguments)
    assert "--" not in str(raised.value)


def test_a_formula_alone_has_its_own_python_and_resources():
    formula = Formula("-(ncpus or unread)", {"unread": "float"}, python="3.9")
    waits = simulate(LOG, formula, processors=64).jobs
    assert waits == simulate(LOG, "-ncpus", processors=64).jobs
    workload = Workload.read(LOG, formulas=[formula])
    assert simulate(workload, formula, processors=64).jobs == waits
    with pytest.raises(ValueError, match="made for Python 3.6, and the site has Python 3.9"):
        simulate(workload, Formula("ncpus", python="3.6"), processors=64)


def test_durations_may_be_those_of_datetime():
    runs = [simulate(LOG, "eligible_time", processors=64, usage="fresh", warm_up=warm_up) for warm_up in ["2d", timedelta(days=2), 172800, pandas.Timedelta(days=2)]]
    assert runs[0]["warm_up"] == 172800 and runs.count(runs[0]) == 4
    with pytest.raises(ValueError, match="`warm_up` is -1 day, 0:00:00, expected seconds, 0 or more"):
        simulate(LOG, "eligible_time", processors=64, warm_up=timedelta(days=-1))


def test_a_workload_is_for_its_site_and_its_formulas():
    site = Site.open(SITE)
    workload = Workload.read(LOG, site=site, formulas=["ncpus"])
    with pytest.raises(ValueError, match="the workload was read without `mem`: give `Workload.read` the formula in `formulas`"):
        site.simulate("mem", workload=workload)
    with pytest.raises(ValueError, match="the workload was read for another site"):
        Site.open(SITE).simulate("ncpus", workload=workload)
    with pytest.raises(ValueError, match="the workload is read: `overrun` is an argument of `Workload.read`"):
        site.simulate("ncpus", workload=workload, overrun="keep")
    with pytest.raises(ValueError, match="a simulation computes with doubles, not with decimals"):
        Site.open(SITE, numbers="decimal").simulate("ncpus", workload=LOG)
    assert site.simulate("ncpus + walltime + eligible_time + fairshare_factor", workload=workload).failed == 0


def test_other_threads_run_meanwhile():
    workload = Workload.read(SWF, formulas=["eligible_time"])
    runs = []
    thread = threading.Thread(target=lambda: runs.append(simulate(long_log(), "eligible_time * ncpus", processors=70)))
    began = time.monotonic()
    thread.start()
    ticks = 0
    while thread.is_alive():
        ticks += 1
        time.sleep(0.001)
    took = time.monotonic() - began
    assert len(runs) == 1 and len(workload) == 400
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


def test_ctrl_c_ends_a_simulation():
    program = textwrap.dedent(
        f"""
        from job_sort_formula import Workload, simulate
        workload = Workload.read({str(long_log())!r}, formulas=["eligible_time * ncpus"])
        print("read", flush=True)
        try:
            while True:
                simulate(workload, "eligible_time * ncpus ** 1.5", processors=64)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "read\n"
    time.sleep(0.3)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "interrupted\n"
    assert time.monotonic() - asked < 10 and process.returncode == 0
