"""Fits against the command `jsf fit`, whose path is in `JSF_BINARY`, bit by bit."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import MappingProxyType

import numpy
import pandas
import pytest

from job_sort_formula import Constant, Fit, Formula, Site, Template, Workload

ROOT = Path(__file__).parents[3]
SITE = ROOT / "examples" / "site"
LINEAR = "{fs=100:0..500} * fairshare_factor + {age=1:0..50} * eligible_time / 3600"
POWER = "eligible_time / 3600 * ncpus ** {power=0:-2..2} * fairshare_factor"
GOALS = """
[[goal]]
name = "short jobs start soon"
jobs = "walltime <= 3600"
measure = "wait"
statistic = "p95"
at_most = "4h"

[objective]
minimise = "mean bounded_slowdown"
"""


def jsf(template, *arguments):
    command = [os.environ["JSF_BINARY"], "fit", template, "--site", SITE, "--format", "json", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


def check_equal(fit, expected):
    # equal as floats, so to the bit: Python's `json` reads the shortest digits back exactly
    assert json.dumps(fit) == json.dumps(expected)
    for name in ["formula", "qmgr", "feasible", "recommendation", "reason", "parameters", "wishes", "goals", "objective", "complete"]:
        assert getattr(fit, name) == expected[name]


@pytest.fixture(scope="module")
def ids():
    ranking = Site.open(SITE).rank("ncpus - eligible_time / 7200")
    return [row["id"] for row in ranking.to_pylist() if row["considered"]]


@pytest.fixture(scope="module")
def goals(tmp_path_factory):
    path = tmp_path_factory.mktemp("goals") / "goals.toml"
    path.write_text(GOALS)
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log of ten weeks, in which jobs wait."""
    path = tmp_path_factory.mktemp("log") / "log.swf"
    random = numpy.random.default_rng(4)
    submits = numpy.sort(random.integers(0, 70 * 86400, 700))
    runs = random.choice([600, 3000, 20_000, 80_000], 700)
    processors = random.choice([1, 4, 16, 64], 700)
    rows = zip(submits, runs, processors, random.integers(0, 9, 700))
    line = "{} {} -1 {} {} -1 -1 {} {} -1 1 {} -1 -1 1 -1 -1 -1"
    lines = [line.format(job, submit, run, size, size, run + 500, user) for job, (submit, run, size, user) in enumerate(rows, 1)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("template, options", [(LINEAR, {}), (POWER, {"evaluations": 60, "seed": 7})])
def test_wishes_are_met_as_by_the_command(tmp_path, ids, template, options):
    site = Site.open(SITE)
    given = [argument for name, value in options.items() for argument in (f"--{name}", str(value))]

    def written(text):
        (tmp_path / "wishes").write_text(text)
        return jsf(template, "--wishes", tmp_path / "wishes", *given)

    some = ids[3:40:6]
    check_equal(site.fit(template, wishes=some, **options), written("\n".join(some)))
    for wishes in [str(tmp_path / "wishes"), "\n".join(some), "\n".join(some).encode()]:
        check_equal(site.fit(template, wishes=wishes, **options), written("\n".join(some)))
    groups = [ids[0:3], ids[20:24]]
    check_equal(site.fit(template, wishes=groups, **options), written("\n\n".join("\n".join(group) for group in groups)))
    scores = {name: 100 - 1.1 * place for place, name in enumerate(ids[:9])}
    fit = site.fit(Template(template), wishes=scores, **options)
    check_equal(fit, written("".join(f"{name},{score!r}\n" for name, score in scores.items())))
    assert fit.wishes["mean_deviation"] > 0
    pairs = [(ids[0], ids[9]), (ids[4], ids[11])]
    prefer = [argument for pair in pairs for argument in ("--prefer", *pair)]
    check_equal(site.fit(template, prefer=pairs, **options), jsf(template, *prefer, *given))


def test_wishes_are_any_iterables(ids):
    site = Site.open(SITE)
    template = Template("{a=1:0..50} * eligible_time / 3600 - {b=1:0..2} * ncpus")
    pair = ids[:2]
    expected = site.fit(template, wishes=pair)
    for wishes in [tuple(pair), iter(pair), pandas.Series(pair), [pair[:1], pair[1:]], ((id,) for id in pair)]:
        assert site.fit(template, wishes=wishes) == expected
    expected = site.fit(template, prefer=[(pair[0], pair[1])])
    for prefer in [[pair], iter([tuple(pair)]), numpy.array([pair])]:
        assert site.fit(template, prefer=prefer) == expected
    scores = {pair[0]: 5.0, pair[1]: 1.0}
    assert site.fit(template, wishes=MappingProxyType(scores)) == site.fit(template, wishes=scores)
    for wrong in [{"prefer": ["ab"]}, {"prefer": [pair[:1]]}, {"wishes": [pair[0], [pair[1]]]}]:
        with pytest.raises(TypeError):
            site.fit(template, **wrong)


def test_a_circle_of_wishes_is_named(ids):
    circle = [(ids[0], ids[1]), (ids[1], ids[2]), (ids[2], ids[0])]
    fit = Site.open(SITE).fit(LINEAR, prefer=circle)
    assert not fit.feasible and fit.recommendation == "none"
    assert {tuple(pair) for pair in fit.wishes["conflict"]} <= set(circle) and fit.wishes["conflict"]


def test_goals_are_met_as_by_the_command(goals, log):
    site = Site.open(SITE)
    expected = jsf(LINEAR, "--workload", log, "--goals", goals, "--processors", "64", "--force", "--evaluations", "8")
    workload = Workload.read(log, site=site, formulas=[site.formula, Template(LINEAR).fill([0, 0])], goals=goals)
    seen = []
    fit = site.fit(LINEAR, goals=goals, workload=workload, processors=64, force=True, evaluations=8, progress=lambda *call: seen.append(call))
    check_equal(fit, expected)
    assert [evaluations for evaluations, _, _ in seen] == list(range(1, fit["evaluations"] + 1))
    assert all(Formula(best) and planned >= 8 for _, planned, best in seen)
    assert fit.goals[0]["name"] == "short jobs start soon" and fit.objective["held_out"]["fitted"] > 0
    again = pickle.loads(pickle.dumps(fit))
    assert isinstance(again, Fit) and again == fit and again.warnings == fit.warnings
    assert repr(fit) == f"<Fit: {fit.formula}>"
    options = ["--old", "-ncpus", "--held-out", "0.4", "--warm-up", "3d", "--seed", "3", "--backfill", "none", "--usage", "fresh"]
    expected = jsf(LINEAR, "--workload", log, "--goals", goals, "--processors", "64", "--force", "--evaluations", "4", *options)
    fit = site.fit(
        LINEAR, goals=goals, workload=log, processors=64, force=True, evaluations=4, old="-ncpus", held_out=0.4, warm_up="3d", seed=3,
        backfill="none", usage="fresh",
    )
    check_equal(fit, expected)


def test_an_objective_has_the_values_of_the_search(goals, log):
    site = Site.open(SITE)
    fit = site.fit(LINEAR, goals=goals, workload=log, processors=64, force=True, evaluations=4)
    given = {"goals": goals.read_text(), "workload": log.read_bytes()}
    assert site.fit(LINEAR, **given, processors=64, force=True, evaluations=4) == fit
    objective = site.objective(LINEAR, **given, processors=64, force=True)
    for point in fit["points"][:2]:
        evaluated = objective.evaluate(point["values"])
        assert evaluated.pop("loss") == evaluated["objective"]
        assert evaluated == {"formula": Template(LINEAR).fill(point["values"]), **point}
    assert objective.evaluate({"age": 1}) == objective.evaluate([100, 1])
    assert objective.template.text == LINEAR and objective.warnings == fit.warnings


def test_a_callback_ends_a_search(goals, log):
    site = Site.open(SITE)
    workload = Workload.read(log, site=site, formulas=[site.formula, "fairshare_factor + eligible_time"], goals=goals)
    calls = []

    def third(evaluations, planned, best):
        calls.append(best)
        return evaluations < 3

    fit = site.fit(LINEAR, goals=goals, workload=workload, processors=64, force=True, progress=third)
    # what other threads were simulating is counted, and may be better
    assert not fit.complete and len(calls) == 3 <= fit["evaluations"] <= 3 + (os.cpu_count() or 1)
    assert fit.formula == calls[-1] or fit["evaluations"] > 3

    def broken(*_):
        raise RuntimeError("the end")

    began = time.monotonic()
    with pytest.raises(RuntimeError, match="the end"):
        site.fit(LINEAR, goals=goals, workload=workload, processors=64, force=True, progress=broken)
    assert time.monotonic() - began < 60
    nested = []
    fit = site.fit(
        LINEAR, goals=goals, workload=workload, processors=64, force=True,
        progress=lambda *call: nested.append(site.simulate("eligible_time", workload=workload, processors=64)) or False,
    )
    assert len(nested) == 1 and not fit.complete
    with pytest.raises(TypeError, match="not callable"):
        site.fit(LINEAR, goals=goals, workload=workload, processors=64, force=True, progress=7)


def test_ctrl_c_ends_a_search(goals):
    long = SITE / "accounting.gz"
    program = textwrap.dedent(
        f"""
        from job_sort_formula import Site
        site = Site.open({str(SITE)!r})
        print("opened", flush=True)
        try:
            site.fit({LINEAR!r}, goals={str(goals)!r}, workload={str(long)!r}, force=True, processors=64, evaluations=5000)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "opened\n"
    time.sleep(2)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0] == "interrupted\n"
    assert time.monotonic() - asked < 90 and process.returncode == 0


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({}, ValueError, "nothing is wanted: give `wishes`, `prefer` or `goals`"),
        ({"goals": "goals.toml"}, ValueError, "give a `workload`"),
        ({"prefer": [("1", "2")], "workload": "LOG"}, ValueError, "a `workload` is for `goals`"),
        ({"prefer": [("1", "2")], "goals": "goals.toml"}, ValueError, "`goals` are about a log"),
        ({"prefer": [("nobody", "2")]}, ValueError, "nobody"),
        ({"prefer": [("2", "2")]}, ValueError, "`2` cannot be before itself"),
        ({"wishes": []}, ValueError, "no job is wished anywhere"),
        ({"wishes": [["1"]]}, ValueError, "expected at least two groups of jobs"),
        ({"wishes": ["1,2", "3"]}, ValueError, "`1,2` is not the id of a job"),
        ({"wishes": 7}, TypeError, "expected wishes as ids of jobs"),
        ({"wishes": {"1": "high"}}, TypeError, "the score of `1` is 'high', expected a number"),
        ({"wishes": [None, "2"]}, TypeError, None),
        ({"wishes": [[None], ["2"]]}, TypeError, "an id in `wishes` is None, expected a str"),
        ({"wishes": "/nowhere/wishes"}, FileNotFoundError, "/nowhere/wishes"),
        ({"wishes": ["1", "2"], "evaluations": 0}, ValueError, "`evaluations` is 0, expected"),
        ({"wishes": ["1", "2"], "evaluation": 9}, TypeError, "there is no argument `evaluation`"),
        ({"wishes": ["1", "2"], "evaluations": "9"}, TypeError, "`evaluations` is '9', expected a number of formulas"),
        ({"wishes": ["1", "2"], "seed": -1}, ValueError, "`seed` is -1, expected a whole number from 0"),
        ({"goals": "GOALS", "workload": "LOG", "held_out": 0.9}, ValueError, "`held_out` is 0.9, expected"),
        ({"goals": "GOALS", "workload": "SHORT"}, ValueError, "the log has 9 jobs in 0.0 weeks; .*; `force=True` fits it all the same"),
        ({"template": "ncpus", "prefer": [("1", "2")]}, SyntaxError, "the template has no constant to find"),
        ({"template": "{a=1:5..2}", "prefer": [("1", "2")]}, SyntaxError, None),
        ({"template": 7, "prefer": [("1", "2")]}, TypeError, "the template is of type `int`, expected a str or a Template"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, goals, log, arguments, error, message):
    short = tmp_path / "short.swf"
    short.write_text("".join(f"{job} {job} -1 300 1 -1 -1 1 3600 -1 1 1 -1 -1 1 -1 -1 -1\n" for job in range(1, 10)))
    given = {name: {"GOALS": goals, "LOG": log, "SHORT": short}.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}
    with pytest.raises(error, match=message) as raised:
        Site.open(SITE).fit(given.pop("template", LINEAR), **given)
    assert "--" not in str(raised.value)


def test_numbers_for_a_template_are_any_iterable():
    template = Template("{a=1:0..50} * ncpus + {b=2:0..9}")
    expected = template.fill([3, 4])
    for values in [(3, 4), numpy.array([3.0, 4.0]), numpy.array([3, 4]), pandas.Series([3, 4]), iter([3, 4]), MappingProxyType({"a": 3, "b": 4})]:
        assert template.fill(values) == expected


def test_a_template_is_filled():
    template = Template("{fs=100:0..500} * fairshare_factor + ncpus ** {power=-1:-2..2} + {n=4:1..64:log:int} + {fs}")
    found = [(constant.name, constant.start, constant.low, constant.high, constant.log, constant.int) for constant in template.constants]
    assert found == [
        ("fs", 100.0, 0.0, 500.0, False, False), ("power", -1.0, -2.0, 2.0, False, False), ("n", 4.0, 1.0, 64.0, True, True)
    ]
    assert all(isinstance(constant, Constant) for constant in template.constants)
    assert template.fill([120, -0.5, 7.6]) == "120 * fairshare_factor + ncpus ** (-0.5) + 8 + 120"
    assert template.fill({"power": 0.25}) == "100 * fairshare_factor + ncpus ** 0.25 + 4 + 100"
    moved = template.starting_at({"fs": 1e9, "power": 0.1 + 0.2, "n": 5.2})
    assert [constant.start for constant in moved.constants] == [500.0, 0.1 + 0.2, 5.0]
    assert moved.text.startswith("{fs=500:0..500} * fairshare_factor + ncpus ** {power=0.30000000000000004:-2..2} + {n=5:1..64")
    assert moved.fill({}) == template.fill([500, 0.1 + 0.2, 5])
    assert eval(repr(template)).text == template.text
    for values, message in [([1], "1 number for 3 constants"), ({"x": 1}, "no constant `x`"), ([1, float("inf"), 2], "inf cannot be filled")]:
        with pytest.raises(ValueError, match=message):
            template.fill(values)
    with pytest.raises(TypeError):
        template.fill(["a", 1, 2])
    with pytest.raises(SyntaxError):
        Template("{a=1:0..2")
