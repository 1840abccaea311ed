"""What a data scientist does with tables, orders, trees and several processes."""

import copy
import datetime
import json
import math
import multiprocessing
import os
import pickle
import signal
from pathlib import Path

import numpy
import pandas
import polars
import pyarrow
import pytest

from job_sort_formula import Answer, Formula, FormulaError, ShareTree, Site, Table, run

ROOT = Path(__file__).parents[3]
SITE = ROOT / "examples" / "site"
SWF = ROOT / "tests" / "golden" / "simulate" / "w1.swf"


@pytest.fixture(scope="module")
def ranking():
    return Site.open(SITE).rank(inputs=True)


def test_a_table_is_a_mapping_from_names_to_columns(ranking):
    assert list(ranking) == list(ranking.keys()) == ranking.column_names
    assert "score" in ranking and "nothing" not in ranking and 7 not in ranking
    assert dict(ranking) == ranking.to_pydict() == {**ranking} and len(ranking) == len(ranking["id"])
    with pytest.raises(KeyError, match="nothing"):
        ranking["nothing"]
    for place in [0, slice(2)]:
        with pytest.raises(TypeError, match=r"to_pylist\(\)|unhashable"):
            ranking[place]


def test_a_table_is_a_data_frame(ranking):
    frame = pandas.DataFrame(ranking)
    assert list(frame.columns) == ranking.column_names and len(frame) == len(ranking)
    assert list(frame["id"]) == ranking["id"]
    typed = ranking.to_pandas()
    assert typed["rank"].dtype == "Int64" and typed["score"].dtype == "float64" and typed["considered"].dtype == "bool"
    assert typed["rank"].tolist() == [pandas.NA if rank is None else rank for rank in ranking["rank"]]
    assert polars.DataFrame(ranking).to_dict(as_series=False) == ranking.to_pydict() == pyarrow.table(ranking).to_pydict()
    stream = pyarrow.RecordBatchReader.from_stream(ranking).read_all()
    assert stream.to_pydict() == ranking.to_pydict() and stream["score"].type == pyarrow.float64() and stream["rank"].type == pyarrow.int64()
    of_arrow = polars.from_arrow(ranking)
    of_arrow = of_arrow if isinstance(of_arrow, polars.DataFrame) else of_arrow.struct.unnest()
    assert of_arrow.to_dict(as_series=False) == ranking.to_pydict()
    shares = Site.open(SITE).shares()
    assert list(shares.to_pandas()["path"]) == list(pandas.DataFrame(shares)["path"]) == shares["path"]
    assert pyarrow.RecordBatchReader.from_stream(shares).schema.field("path").type == pyarrow.list_(pyarrow.large_string())
    mixed = Table({"a": [1, 2.5, None], "b": [2**70, None, 1], "c": [None] * 3})
    assert pyarrow.RecordBatchReader.from_stream(mixed).read_all().to_pydict() == {"a": [1.0, 2.5, None], "b": [2.0**70, None, 1.0], "c": [None] * 3}
    assert [str(dtype) for dtype in mixed.to_pandas().dtypes] == ["float64", "float64", "object"]


def test_a_table_shows_itself_in_a_notebook(ranking):
    shown = Table({"id": ["<b>"], "rank": [None]})._repr_html_()
    assert "<th>id</th><th>rank</th>" in shown and "<td>&lt;b&gt;</td><td>None</td>" in shown and "1 row" in shown
    assert ranking._repr_html_().count("<tr>") == 21 and repr(ranking).startswith("<44 rows: rank, id, ")


def test_a_table_of_the_package_is_evaluated(ranking):
    formula = Formula("ncpus + eligible_time")
    table = Site.open(SITE).rank(formula, inputs=True)
    assert formula.evaluate(table).to_pylist() == [float(exact) for exact in table["exact"]]


def twice(value):
    return pickle.loads(pickle.dumps(value))


def test_everything_is_pickled(ranking):
    formula = Formula("10 / ncpus + ngpus", resources={"ngpus": "int"}, python="3.9")
    assert twice(formula) == formula == copy.deepcopy(formula) and type(twice(formula)) is Formula
    site = Site.open(SITE, numbers="exact")
    assert twice(site).rank("ncpus / 3") == site.rank("ncpus / 3") != ranking
    assert twice(ranking) == ranking and twice(ranking).document == ranking.document and twice(ranking).warnings == ranking.warnings
    explained = site.explain(ranking["id"][0])
    assert type(twice(explained)) is Answer and twice(explained) == explained and twice(explained).rank == 1
    simulation = site.simulate("1 / (ncpus - 1)", workload=SWF, processors=64, goals=ROOT / "examples" / "goals.toml")
    assert twice(simulation) == simulation and type(twice(simulation).jobs) is Table
    scores = formula.evaluate(ncpus=[1, 0, None], ngpus=1)
    assert twice(scores).to_pylist() == scores.to_pylist() == [11.0, None, None]
    assert twice(scores).errors == scores.errors and twice(scores).null_count == 2
    tree = ShareTree()
    tree.add("root", "physics", shares=3, group=True)
    tree.add("physics", "ada", shares=2)
    tree.charge("ada", 7)
    assert twice(tree).shares() == tree.shares() and type(twice(tree)) is ShareTree


def ranked_ids(formula):
    return Site.open(SITE).rank(formula)["id"]


def test_processes_share_work():
    formulas = ["ncpus", "-ncpus", Formula("eligible_time")]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(ranked_ids, formulas) == [ranked_ids(formula) for formula in formulas]


def test_a_table_is_ranked_as_the_scheduler_does():
    values = [1.0 + place * 1e-9 for place in range(33)]
    table = {"value": values, "name": [f"{place}.srv" for place in range(33)], "when": [100 - place for place in range(33)]}
    formula = Formula("value", resources={"value": "float"})
    # all values are one float: the earliest submission is first
    expected = list(reversed(table["name"]))
    by_name = formula.rank(table, id="name", submitted="when")
    assert by_name["id"] == expected and by_name["rank"] == list(range(1, 34)) and by_name["row"] == list(range(32, -1, -1))
    assert set(by_name["score"]) == {1.0} and sorted(by_name["exact"]) == values
    for other in [pandas.DataFrame(table), polars.DataFrame(table), pyarrow.table(table)]:
        assert formula.rank(other, id="name", submitted="when").to_pydict() == by_name.to_pydict()
    assert formula.rank(table, id=table["name"], submitted=numpy.array(table["when"]))["id"] == expected
    assert formula.rank(table, id="name")["id"] == table["name"]
    assert formula.rank(table, id="name", submitted="when", limit=4)["id"] == expected[:4]
    assert formula.rank(table, id="name", precision="float64")["id"] == expected
    assert formula.rank(table, limit=0)["row"] == [] and formula.rank({"value": []}, id=[])["id"] == []
    began = datetime.datetime(2026, 1, 1)
    times = [began + datetime.timedelta(hours=hour) for hour in table["when"]]
    frame = pandas.DataFrame({**table, "when": times})
    assert formula.rank(frame, id="name", submitted="when")["id"] == expected
    frame.loc[32, "when"] = None
    assert formula.rank(frame, id="name", submitted="when")["id"] == [*expected[1:], expected[0]]


def test_jobs_without_a_value_are_ranked_as_the_scheduler_does():
    formula = Formula("10 / ncpus - 3")
    ranked = formula.rank({"ncpus": [1, 0, None, 100]}, id=[7, 8, 9, 10])
    assert ranked.to_pydict() == {
        "rank": [1, 2, 3, None],
        "id": [7, 8, 10, 9],
        "row": [0, 1, 3, 2],
        "score": [7.0, 0.0, float(numpy.float32(-2.9)), None],
        "exact": [7.0, None, 10 / 100 - 3, None],
        "error": [None, "division by zero", None, None],
    }
    jobs = {"ncpus": [1, 0, None, 100]}
    for limit in range(6):
        assert formula.rank(jobs, limit=limit).to_pylist() == formula.rank(jobs).to_pylist()[:limit]
    sqrt = Formula("(ncpus - 2) ** 0.5")
    assert sqrt.rank({"ncpus": [1, 2, 6]})["score"] == [2.0, 0.0, -1.0]
    big = Formula("1e39 * ncpus").rank({"ncpus": [1, -1, 0]})
    assert big["score"] == [math.inf, 0.0, -math.inf]


def test_the_order_is_that_of_the_site():
    site = Site.open(SITE)
    formula = Formula("ncpus / 3 + eligible_time / 1e9")
    rows = [row for row in site.rank(formula, inputs=True).to_pylist() if row["considered"]]
    table = {name: [row[name] for row in rows] for name in ["id", "ncpus", "eligible_time", "score"]}
    assert formula.rank(table, id="id")["score"] == sorted(table["score"], reverse=True)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"precision": "float16"}, ValueError, "precision is `float16`, expected `float32` or `float64`"),
        ({"id": "nothing"}, KeyError, "`id`: the table has no column `nothing`"),
        ({"id": ["1"]}, ValueError, "`id` has 1 row, the table has 2"),
        ({"submitted": 7}, TypeError, "`submitted`: expected a column or its name"),
        ({"submitted": [1, "b"]}, TypeError, "not supported between"),
        ({"limit": -1}, ValueError, "limit is -1, expected 0 or more"),
    ],
)
def test_wrong_orders_are_named(options, error, message):
    with pytest.raises(error, match=message):
        Formula("ncpus").rank({"ncpus": [1, 2]}, **options)


@pytest.mark.parametrize(
    "ids, expected",
    [
        ([10, 20], [10, 20]),
        ([10, None], [10, None]),
        (numpy.array([10, 20], "u4"), [10, 20]),
        ([numpy.int64(10), None], [10, None]),
        (pandas.array([10, None], "Int64"), [10, None]),
        (pandas.Series([10, None], dtype="int64[pyarrow]"), [10, None]),
        (polars.Series([10, None]), [10, None]),
        (pyarrow.array([10, None]), [10, None]),
        (["a", None], ["a", None]),
        (pandas.Series(["a", None]), ["a", None]),
        (pandas.Series(["a", float("nan")], dtype=object), ["a", None]),
        ([10.0, float("nan")], ["10.0", None]),
        ([pandas.NaT, pandas.Timestamp("2026-01-02")], [None, "2026-01-02 00:00:00"]),
        ([10, "a"], ["10", "a"]),
        ([True, 1], ["True", "1"]),
        ([2**64, 1], [str(2**64), "1"]),
        ([None, None], [None, None]),
    ],
)
def test_ids_keep_their_type(ids, expected):
    found = Formula("1").rank({"ncpus": [1, 2]}, id=ids)["id"]
    assert found == expected and [type(id) for id in found] == [type(id) for id in expected]


@pytest.mark.parametrize("unit", ["ns", "us"])
def test_submissions_are_compared_to_the_last_digit(unit):
    nanoseconds = numpy.array([1_700_000_000_000_003_000, 1_700_000_000_000_001_000, 2], "M8[ns]").astype(f"M8[{unit}]")
    if unit == "ns":
        nanoseconds -= numpy.array([2998, 999, 0], "m8[ns]")
    late, early, first = nanoseconds
    assert first < early < late
    times = [late, early, None, first]
    series = pandas.Series(numpy.array([late, early, "NaT", first], f"M8[{unit}]"))
    columns = [numpy.array(times, f"M8[{unit}]"), series, series.dt.tz_localize("UTC"), polars.Series(series), polars.Series(series).dt.replace_time_zone("UTC")]
    for column in [*columns, pyarrow.array(series), pyarrow.chunked_array([pyarrow.array(series[:2]), pyarrow.array(series[2:])])]:
        assert Formula("1").rank({"ncpus": [1] * 4}, submitted=column)["row"] == [3, 1, 0, 2], type(column)
    with pytest.raises(ValueError, match="`submitted` has 4 rows, the table has 1"):
        Formula("1").rank({"ncpus": [1]}, submitted=columns[3])


def test_a_share_tree_of_ones_own():
    tree = ShareTree()
    tree.add("root", "physics", shares=40, group=True)
    tree.add("physics", "ada", shares=50)
    tree.add("physics", "emmy", shares=50)
    tree.charge("ada", 100)
    tree.add("root", "suzy", shares=60)
    tree.charge("suzy", 300)
    tree.charge("ada", 100)
    shares = tree.shares(["suzy", "ada"])
    assert shares["perc"] == pytest.approx([0.6, 0.2]) and shares["usage"] == [300.0, 200.0]
    assert shares["path"] == [["suzy"], ["physics", "ada"]] and shares["shares"] == [60, 50]
    assert shares["tree_usage"][0] == pytest.approx(0.6) and shares["factor"][0] == pytest.approx(0.5)
    whole = tree.shares()
    assert whole["name"] == ["root", "physics", "ada", "emmy", "suzy"] and whole["kind"][:3] == ["root", "group", "entity"]
    assert whole["usage"] == [500.0, 200.0, 200.0, 0.0, 300.0] and len(tree) == 5
    tree.decay(1 / 3)
    assert tree.shares(["ada"])["usage"] == [200 * (1 / 3)]
    assert repr(tree) == "<ShareTree of 5 nodes>"
    formula = Formula("fairshare_factor")
    assert formula.evaluate(fairshare_factor=shares["factor"]).to_pylist() == shares["factor"]
    for wrong, error, message in [
        (lambda: tree.add("nowhere", "x"), ValueError, "nowhere"),
        (lambda: tree.add("ada", "x"), ValueError, "ada"),
        (lambda: tree.add("root", "ada"), ValueError, "ada"),
        (lambda: tree.charge("nobody", 1), KeyError, "`nobody` is not in the tree"),
        (lambda: tree.charge("ada", -1), ValueError, "cannot charge -1.0 to `ada`: expected a finite amount, 0 or more"),
        (lambda: tree.decay(2), ValueError, "the factor is 2, expected a number from 0 to 1"),
        (lambda: tree.decay(float("nan")), ValueError, "the factor is NaN"),
        (lambda: tree.shares(["nobody"]), KeyError, "`nobody` is not in the tree"),
    ]:
        with pytest.raises(error, match=message):
            wrong()


def test_content_makes_tables_equal(ranking):
    assert ranking == Site.open(SITE).rank(inputs=True) != Site.open(SITE).rank() and ranking != "table"
    with pytest.raises(TypeError, match="unhashable"):
        hash(ranking)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda tree: tree.add("root", "b", shares=2**31), ValueError, "the shares of `b` are not a whole number from 0 to 2147483647"),
        (lambda tree: tree.add("root", "b", shares=-1), ValueError, "the shares of `b` are not"),
        (lambda tree: tree.charge("a", None), TypeError, "`amount` is None, expected a number"),
        (lambda tree: [tree.charge("a", 1e308) for _ in range(2)], ValueError, r"cannot charge 1e\+?308 to `a`"),
        (lambda tree: Formula("1").rank({"ncpus": [1]}, limit=-1), ValueError, "limit is -1, expected 0 or more"),
    ],
)
def test_a_wrong_number_is_named(call, error, message):
    tree = ShareTree()
    tree.add("root", "a", shares=2**31 - 1)
    with pytest.raises(error, match=message):
        call(tree)


def test_many_members_are_added_in_time():
    tree = ShareTree()
    for number in range(20_000):
        tree.add("root", f"user{number}")
        tree.charge(f"user{number}", number)
    assert tree.shares(["user19999"])["usage"] == [19999.0]


def test_an_explanation_is_a_dict_with_attributes(ranking):
    explained = Site.open(SITE).explain(ranking["id"][1], to=1)
    assert isinstance(explained, dict) and json.loads(json.dumps(explained)) == explained
    job = explained["jobs"][0]
    assert explained.id == ranking["id"][1] and explained.rank == 2 and explained.score == ranking["score"][1]
    for name in ["entity", "queue", "state", "exact", "logged", "sentence", "inputs", "nodes", "terms", "above", "below", "shares"]:
        assert getattr(explained, name) == job[name]
    assert explained.above[0].terms[0].difference and not hasattr(explained, "nothing")


def test_spans_count_characters():
    formula = "ünknown + 1/0"
    for finding in run("check", formula=formula).findings:
        assert formula[finding.span.start : finding.span.end] in ("ünknown", "0"), finding
    explained = Site.open(SITE).explain("184127", "(ncpus  ) + 0 * (1 if ncpus else ünknown)")
    assert "ünknown" in explained["formula"] and len(explained.nodes) > 4
    for part in [*explained.nodes, *explained.terms]:
        assert explained["formula"][part.span.start : part.span.end].strip("() ") in (part.text.strip("() -+"), part.text)
    error = Site.open(SITE).explain("184127", "0 * ünknown + ncpus/0").error
    assert error["exception"] == "NameError" and error["span"] == {"start": 4, "end": 11}


def test_a_formula_that_is_not_arithmetic_has_a_span():
    text = "ncpus + [ncpus for π in ncpus]"
    with pytest.raises(ValueError) as raised:
        Formula(text)
    start, end = raised.value.span
    assert text[start:end] == "[ncpus for π in ncpus]"
    again = twice(raised.value)
    assert type(again) is FormulaError and again.span == (start, end) and str(again) == str(raised.value)


def test_a_forked_process_computes_without_its_parents_threads(tmp_path):
    lines = (json.dumps({"id": f"{number}.vm", "inputs": {"ncpus": number % 1000}}) for number in range(50_000))
    (tmp_path / "jobs.ndjson").write_text("\n".join(lines))
    site = Site.open(tmp_path)
    expected = site.rank("ncpus * 2")["id"]
    child = os.fork()
    if child == 0:
        # a child that waits for threads that it does not have is ended
        signal.alarm(60)
        found = site.rank("ncpus * 2")["id"]
        os._exit(0 if found == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_rows_that_cannot_be_computed_here_are_counted():
    table = Formula("(1 << ncpus) >> ncpus").rank({"ncpus": [200_000, 3, 4]})
    (warning,) = table.warnings
    assert warning.startswith("1 row with 0 cannot be computed here") and "row 0:" in warning
    assert Formula("1 / ncpus").rank({"ncpus": [0, 1]}).warnings == []
