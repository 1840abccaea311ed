"""Formulas: their texts, names, errors, findings and pickles."""

import os
import pickle
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from job_sort_formula import Formula, run

TASKS = Path("/proc/self/task")


def test_a_formula_shows_what_it_is():
    formula = Formula("ngpus*2 + ncpus", {"ngpus": "int"})
    assert formula.text == "ngpus*2 + ncpus"
    assert formula.inputs == ("ngpus", "ncpus")
    assert formula.resources == {"ngpus": "int"}
    assert formula.undefined == ()
    assert eval(repr(formula)) == formula
    assert hash(eval(repr(formula))) == hash(formula)
    assert formula != Formula("ngpus*2 + ncpus") and formula != "ngpus*2 + ncpus"
    assert Formula("ngpus*2").undefined == ("ngpus",)
    with pytest.raises(AttributeError):
        formula.text = "1"


@pytest.mark.parametrize(
    ("text", "line", "offset"),
    [("1 +", 1, 4), ("ncpus ^^ 2", 1, 8), ("1 + é *", 1, 8), ("\nncpus +* 2", 2, 8), ("", 1, 1), ("(1", 1, 1), ("1\0", 1, 2)],
)
def test_what_python_refuses_is_a_syntax_error_with_its_place(text, line, offset):
    with pytest.raises(SyntaxError) as refused:
        Formula(text)
    error = refused.value
    assert (error.lineno, error.offset, error.text) == (line, offset, text.split("\n")[line - 1])
    assert error.end_offset >= error.offset


@pytest.mark.parametrize("text", ["'x'", "ncpus.real", "[x for x in (1, 2)]", "exec", "lambda: 1"])
def test_what_is_not_arithmetic_is_a_value_error(text):
    with pytest.raises(ValueError, match="not arithmetic"):
        Formula(text)


def test_hostile_texts_are_errors():
    for text in ["(" * 10_000, "1" * 70_000, "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")]:
        with pytest.raises(SyntaxError):
            Formula(text)
    assert Formula("-" * 60_000 + "1").evaluate().error_count in (0, 1)
    with pytest.raises((UnicodeEncodeError, TypeError)):
        Formula("\ud800")
    for text in [None, 3, b"1"]:
        with pytest.raises(TypeError):
            Formula(text)


def test_resources_are_checked():
    with pytest.raises(ValueError, match="expected `int`"):
        Formula("x", {"x": "number"})
    with pytest.raises(ValueError, match="defined by OpenPBS"):
        Formula("x", {"ncpus": "int"})
    refused = {"": "is empty", "sin": "another meaning", "e": "another meaning", "True": "another meaning"}
    refused |= {name: "does not read it as one name" for name in ["1x", "a b", "x.y", "my-gpu", "lambda", "(x)", " x"]}
    for name, reason in refused.items():
        with pytest.raises(ValueError, match=reason):
            Formula("ncpus", {name: "int"})
    assert Formula("x", {"x_y2": "long"}).resources == {"x_y2": "long"}
    for resources in [["x"], {"x": 1}, {1: "int"}, "x"]:
        with pytest.raises(TypeError):
            Formula("x", resources)
    with pytest.raises(ValueError, match=r'declare it.*resources=\{"ngpus": "float"\}'):
        Formula("ngpus").evaluate(ngpus=1)


def test_a_column_that_is_not_defined_is_explained():
    with pytest.raises(ValueError, match="did you mean `eligible_time`"):
        Formula("eligble_time / 3600").evaluate(eligble_time=[3600])
    with pytest.raises(ValueError, match="declared as `string`.*\"float\""):
        Formula("ngpus", {"ngpus": "string"}).evaluate(ngpus=[1])
    with pytest.raises(ValueError, match="no number in OpenPBS"):
        Formula("arch").evaluate(arch=[1])


def test_a_module_before_a_function_is_explained():
    with pytest.raises(ValueError, match="`floor` is available without a prefix"):
        Formula("math.floor(ncpus)")
    with pytest.raises(ValueError) as raised:
        Formula("x.real")
    assert "declare" not in str(raised.value)


@pytest.mark.parametrize(
    "pasted", ["job_sort_formula = ncpus * 2", 'set server job_sort_formula = "ncpus * 2"', "qmgr -c 'set server job_sort_formula = \"ncpus * 2\"'"]
)
def test_a_formula_may_be_pasted(pasted):
    formula = Formula(pasted)
    assert formula == Formula("ncpus * 2") and formula.text == "ncpus * 2"
    with pytest.raises(SyntaxError):
        Formula("set server job_sort_formula = \"ncpus *\"")


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("job_sort_formula = größe + 1 +", "expected a number, a name or `(`", ("größe + 1 +", 12)),
        ("set server job_sort_formula = \"ncpus ^^ 2\"", "expected", ("ncpus ^^ 2", 8)),
        ("qmgr -c 'set server job_sort_formula = \"(ncpus\"'", "(", ("(ncpus", 1)),
    ],
)
def test_a_mistake_in_a_pasted_formula_has_its_place(text, message, place):
    with pytest.raises(SyntaxError, match=re.escape(message)) as refused:
        Formula(text)
    assert "assignment" not in str(refused.value)
    assert (refused.value.text, refused.value.offset) == place


def test_check_answers_as_the_command_does():
    document = run("check", formula="pow(2, walltme)")
    assert document.verdict.accepted is False
    finding = document.findings[0]
    assert finding.code.startswith("JSF") and "walltme" in finding.message
    assert run("check", formula=Formula("ncpus")).verdict.accepted is True


def test_a_formula_has_the_python_that_is_given():
    formula = Formula("ncpus * 2", {"ngpus": "int"}, python="3.9")
    assert formula.python == "3.9" and Formula("ncpus * 2").python is None
    assert run("check", formula="ncpus", options={"python": "3.9"}).python == "3.9" and run("check", formula="ncpus").python == "3.11"
    for copy in [eval(repr(formula)), pickle.loads(pickle.dumps(formula))]:
        assert copy == formula and copy.python == "3.9"
    assert formula != Formula("ncpus * 2", {"ngpus": "int"})
    for text in ["2.7", "3.5", "3.99", "three", ""]:
        with pytest.raises(ValueError, match="expected a version of Python from 3.6 to 3"):
            Formula("ncpus", python=text)


def test_pickles_evaluate_alike():
    formula = Formula("ncpus ** 2 + gpus", {"gpus": "long"})
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(formula, protocol))
        assert copy == formula
        assert copy.evaluate(ncpus=[1, 2], gpus=3).to_pylist() == [4.0, 7.0]


def test_threads_share_a_formula():
    formula = Formula("(eligible_time % 97) ** 2 / (ncpus - 3)")
    generator = np.random.default_rng(1)
    times, cpus = generator.integers(0, 10**6, 300_000), generator.integers(0, 8, 300_000)
    expected = formula.evaluate(eligible_time=times, ncpus=cpus)

    def evaluated(threads):
        scores = formula.evaluate(eligible_time=times, ncpus=cpus, threads=threads)
        return scores.to_numpy().tobytes(), [error.row for error in scores.errors]

    with ThreadPoolExecutor(4) as pool:
        for scores, rows in pool.map(evaluated, [1, 2, 3, 4, 100, 10**9] * 2):
            assert scores == expected.to_numpy().tobytes()
            assert rows == np.flatnonzero(cpus == 3).tolist()
    for threads in [0, -1]:
        with pytest.raises(ValueError, match="expected at least 1"):
            formula.evaluate(eligible_time=times, ncpus=cpus, threads=threads)
    with pytest.raises(TypeError):
        formula.evaluate(eligible_time=times, ncpus=cpus, threads="2")


@pytest.mark.skipif(not TASKS.is_dir(), reason="the threads of a process are counted on Linux")
def test_other_threads_run_while_two_evaluate():
    formula = Formula(" + ".join(f"(eligible_time + {i}) ** 2.5 / (ncpus + {i})" for i in range(1, 21)))
    rows = 140_000
    columns = {"eligible_time": np.arange(rows, dtype=float), "ncpus": np.arange(rows) % 64}

    def most_threads(threads, enough):
        """The most threads that Python sees while the formula is evaluated, at once or within many evaluations."""
        seen, ended = [], threading.Event()

        def watch():
            while not ended.is_set():
                seen.append(len(os.listdir(TASKS)))

        watcher = threading.Thread(target=watch)
        watcher.start()
        for _ in range(100):
            formula.evaluate(threads=threads, **columns)
            if max(seen, default=0) >= enough:
                break
        ended.set()
        watcher.join()
        return max(seen)

    of_one = most_threads(1, enough=0)
    assert most_threads(2, enough=of_one + 1) > of_one


def test_a_thread_with_a_small_stack_may_evaluate():
    deep = "(" * 199 + "ncpus" + " + 1)" * 199
    scores = []

    def evaluate():
        for text in [deep, "-" * 2000 + "ncpus", " + ".join(["ncpus"] * 2000)]:
            try:
                scores.append(len(Formula(text).evaluate(ncpus=np.array([1, 2]))))
                run("check", formula=text)
            except SyntaxError:
                scores.append(2)

    threading.stack_size(1 << 20)
    thread = threading.Thread(target=evaluate)
    thread.start()
    thread.join()
    threading.stack_size(0)
    assert scores == [2, 2, 2]
