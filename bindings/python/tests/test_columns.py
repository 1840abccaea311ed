"""Columns of every package and type, and hostile ones: an exception that fits, never a crash."""

import array
import datetime
import decimal
import fractions
import subprocess
import sys

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.compute
import pytest

from job_sort_formula import Formula

TWICE = Formula("2 * ncpus")
SUM = Formula("ncpus + nodect")


def twice(column):
    return TWICE.evaluate(ncpus=column).to_pylist()


ONE_TWO = {
    "list": [1, 2],
    "tuple": (1, 2),
    "range": range(1, 3),
    "array": array.array("q", [1, 2]),
    "floats": [1.0, 2.0],
    "mixed": [1, 2.0],
    "objects": np.array([1, 2], object),
    "pandas": pandas.Series([1, 2], index=[7, 3]),
    "pandas nullable": pandas.Series([1, 2], dtype="Int64"),
    "pandas category": pandas.Series([1, 2], dtype="category"),
    "pandas index": pandas.Index([1, 2]),
    "polars": polars.Series([1, 2]),
    "polars categorised": polars.Series([1, 2], dtype=polars.UInt8),
    "chunks": pyarrow.chunked_array([[1], [], [2]], pyarrow.int64()),
    "dictionary": pyarrow.array([1.0, 2.0]).dictionary_encode(),
    "sliced dictionary": pyarrow.array([9.0, 1.0, 2.0, 9.0]).dictionary_encode()[1:3],
    "half": pyarrow.array(np.array([1, 2], np.float16)),
    "reversed": np.array([2, 1])[::-1],
    "strided": np.array([1, 9, 2, 9])[::2],
    "matrix column": np.array([[1, 9], [2, 9]])[:, 0],
    "misaligned": np.frombuffer(b"x" + np.array([1, 2]).tobytes(), np.uint8)[1:].view(np.int64),
    "read-only": np.broadcast_to(np.array([1, 2]), (2,)),
}
for dtype in "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8".split():
    ONE_TWO["numpy " + dtype] = np.array([1, 2], dtype)
    ONE_TWO["arrow " + dtype] = pyarrow.array(np.array([9, 1, 2], dtype))[1:]


@pytest.mark.parametrize("column", ONE_TWO.values(), ids=ONE_TWO.keys())
def test_columns_of_every_kind(column):
    assert twice(column) == [2.0, 4.0]
    assert TWICE.evaluate({"ncpus": column, "other": "text"}).to_pylist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "number", [3, 3.0, np.int32(3), np.float32(3), np.float64(3), np.array(3), np.uint64(3)], ids=lambda one: type(one).__name__
)
def test_numbers_are_the_same_for_every_job(number):
    assert SUM.evaluate(ncpus=number, nodect=[1, 2]).to_pylist() == [4.0, 5.0]
    assert SUM.evaluate(ncpus=number, nodect=number).to_pylist() == [6.0]


def test_truth_values_are_integers():
    for column in [[True, False], np.array([True, False]), pyarrow.array([None, True, False])[1:], polars.Series([True, False])]:
        assert twice(column) == [2.0, 0.0]
    assert twice(True) == [2.0]


def test_integers_and_floats_stay_what_they_are():
    power = Formula("ncpus ** 1023 // ncpus ** 1022")
    for integers in [[10**6], np.array([10**6], np.int32), pyarrow.array([10**6]), np.array([True])]:
        assert power.evaluate(ncpus=integers).error_count == 0
    for floats in [[1e6], np.array([1e6], np.float32), pyarrow.array([1e6])]:
        assert power.evaluate(ncpus=floats).errors[0].message == "(34, 'Numerical result out of range')"
    assert Formula("ncpus % 10").evaluate(ncpus=np.array([2**63 - 1])).to_pylist() == [7.0]


def test_a_null_makes_null_and_is_never_evaluated():
    divided = Formula("1 / ncpus")
    zero = pyarrow.Array.from_buffers(pyarrow.int64(), 3, [pyarrow.py_buffer(b"\x05"), pyarrow.py_buffer(bytes(16) + b"\x02" + bytes(7))])
    for column in [zero, polars.Series([0, None, 2]), [0, None, 2], pandas.Series([0, None, 2])]:
        scores = divided.evaluate(ncpus=column)
        assert scores.to_pylist() == [None, None, 0.5]
        assert [(error.row, error.message) for error in scores.errors] in ([(0, "division by zero")], [(0, "float division by zero")])
        assert scores.null_count == 2 and scores.error_count == 1
    assert twice(pyarrow.nulls(3)) == [None] * 3
    assert twice(polars.Series([None, None])) == [None, None]
    assert twice(pyarrow.array([None, None], pyarrow.float64()).dictionary_encode()) == [None, None]
    many = pyarrow.array([None, 1, 2] * 10_000)
    assert SUM.evaluate(ncpus=many, nodect=1, threads=2).to_pylist() == [None, 2.0, 3.0] * 10_000


def test_nan_is_a_number_except_for_pandas():
    for column in [np.array([np.nan]), [float("nan")], pyarrow.array([float("nan")]), polars.Series([float("nan")])]:
        scores = TWICE.evaluate(ncpus=column)
        assert scores.null_count == 0 and np.isnan(scores[0])
    assert twice(pandas.Series([np.nan, 1.0])) == [None, 2.0]


def test_errors_name_row_message_and_part():
    formula = Formula("ncpus + 7 / (nodect - ncpus)")
    scores = formula.evaluate(ncpus=np.arange(5), nodect=3)
    (error,) = scores.errors
    assert (error.row, error.message, error.kind) == (3, "division by zero", "division by zero")
    assert formula.text[slice(*error.span)] == "7 / (nodect - ncpus)"
    assert scores[3] is None and np.isnan(scores.to_numpy()[3])
    accented = Formula("é + 1 / ncpus", {"é": "int"})
    (error,) = accented.evaluate(é=1, ncpus=0).errors
    assert accented.text[slice(*error.span)] == "1 / ncpus"


def test_tables_of_every_kind():
    columns = {"name": ["a", "b"], "ncpus": [1, 2], "when": [decimal.Decimal(1)] * 2, "nodect": [3.0, 4.5]}
    arrow = pyarrow.table(columns)
    tables = [columns, arrow, arrow.to_batches()[0], pandas.DataFrame(columns), polars.from_arrow(arrow),
              pyarrow.concat_tables([arrow[:1], arrow[1:]]), pyarrow.concat_tables([arrow, arrow])[1:3].take([1, 0]),
              pyarrow.concat_tables([arrow, arrow, arrow]).combine_chunks()[2:4].to_batches()[0]]
    for table in tables:
        assert SUM.evaluate(table).to_pylist() == [4.0, 6.5]
    assert SUM.evaluate({"ncpus": [1, 2]}, nodect=1).to_pylist() == [2.0, 3.0]
    objects = polars.DataFrame({"ncpus": [1, 2], "nodect": [None, None], "other": [object(), None]})
    assert SUM.evaluate(objects).to_pylist() == [None, None]
    assert SUM.evaluate(arrow[:0]).to_pylist() == []
    assert Formula("fair_share_perc").evaluate(polars.DataFrame({"fairshare_perc": [0.5]})).to_pylist() == [0.5]
    assert Formula("threads", {"threads": "int"}).evaluate({"threads": [3]}).to_pylist() == [3.0]
    with pytest.raises(ValueError, match="given twice"):
        SUM.evaluate(arrow, ncpus=1)
    for wrong in [3, "ncpus", [1, 2], object(), pyarrow.array([1]), polars.Series([1]), np.array([1])]:
        with pytest.raises(TypeError):
            SUM.evaluate(wrong)


def test_no_rows():
    for empty in [[], (), np.array([], float), np.array([], np.int32)[::-1], polars.Series([], dtype=polars.Int64),
                  pyarrow.array([], pyarrow.int32()), pyarrow.chunked_array([], pyarrow.int64()), pandas.Series([], dtype=float),
                  pyarrow.nulls(0)]:
        scores = TWICE.evaluate(ncpus=empty, threads=3)
        assert (len(scores), scores.to_pylist(), scores.errors, scores.to_numpy().shape) == (0, [], [], (0,))
        assert pyarrow.array(scores) == pyarrow.array([], pyarrow.float64())
    assert Formula("6 * 7").evaluate().to_pylist() == [42.0]


HUGE = 2**31
WRONG = [
    ("text", TypeError), (b"bytes", TypeError), (None, TypeError), (object(), TypeError), ({1, 2}, TypeError), ({"a": 1}, TypeError),
    (iter([1]), TypeError), (decimal.Decimal(1), TypeError), (fractions.Fraction(1), TypeError), (1j, TypeError),
    (["1"], TypeError), ([[1]], TypeError), ([1, decimal.Decimal(2)], TypeError), ([1j], TypeError),
    (2**63, ValueError), ([2**63], ValueError), ([-(2**63) - 1], ValueError), ([2**53 + 1, 0.5], ValueError),
    (np.array([2**63], np.uint64), ValueError), (pyarrow.array([1, 2**64 - 1], pyarrow.uint64()), ValueError),
    (np.array([[1]]), ValueError), (np.array(["a"]), TypeError), (np.array([1j]), TypeError), (np.array([1j], ">c16"), TypeError),
    (np.array([1], "M8[s]"), TypeError), (np.array([1], "m8[s]"), TypeError), (np.array([1.0], np.longdouble), TypeError),
    (np.array([(1, 2.0)], "i4,f8"), TypeError), (np.ma.array([1, 2], mask=[0, 1]), TypeError), (np.array([None, "a"], object), TypeError),
    (np.array("a"), TypeError), (np.datetime64("2026-01-01"), TypeError), (np.longdouble(1), TypeError),
    (np.broadcast_to(np.int64(1), HUGE), ValueError), (np.broadcast_to(np.int8(1), HUGE), ValueError),
    (np.broadcast_to(np.float64(1), 2**59), ValueError), (np.broadcast_to(np.float32(1), 2**40), ValueError),
    (pyarrow.array([decimal.Decimal("1.5")]), TypeError), (pyarrow.array(["a"]), TypeError), (pyarrow.array([[1]]), TypeError),
    (pyarrow.array([{"a": 1}]), TypeError), (pyarrow.array(["a", "b"]).dictionary_encode(), TypeError),
    (pyarrow.nulls(HUGE), ValueError), (pyarrow.array([1], pyarrow.timestamp("s")), TypeError),
    (polars.Series(["a"]), TypeError), (polars.Series(["a"], dtype=polars.Categorical), TypeError),
    (polars.Series([decimal.Decimal("1.5")]), TypeError), (pandas.Series(["a"]), TypeError),
    (polars.DataFrame({"a": [1]}), TypeError), (pyarrow.table({"a": [1]}), TypeError),
]


@pytest.mark.parametrize(("column", "error"), WRONG, ids=lambda one: type(one).__name__)
def test_what_is_no_column_of_numbers_is_an_error(column, error):
    with pytest.raises(error) as raised:
        TWICE.evaluate(ncpus=column)
    assert "ncpus" in str(raised.value)


def test_columns_have_to_fit():
    for columns, text in [
        ({}, "reads `ncpus`, for which there is no column"),
        ({"ncpus": 1}, "reads `nodect`"),
        ({"ncpus": [1], "nodect": [1, 2]}, "`nodect` has 2 rows, the other columns have 1"),
        ({"ncpus": [], "nodect": [1]}, "`nodect` has 1 row, the other columns have 0"),
        ({"ncpus": 1, "nodect": 1, "mem": 1}, "does not read `mem`; it reads `ncpus`, `nodect`"),
    ]:
        with pytest.raises(ValueError, match=text):
            SUM.evaluate(**columns)
    with pytest.raises(ValueError, match="given twice"):
        Formula("fairshare_perc").evaluate(fairshare_perc=1, fair_share_perc=1)
    with pytest.raises(TypeError):
        SUM.evaluate([1], [2])


class Lies:
    """Protocols that return something else than they should."""

    def __init__(self, **protocols):
        self.protocols = protocols

    def __getattr__(self, name):
        try:
            answer = self.protocols[name]
        except KeyError:
            raise AttributeError(name) from None
        return lambda *_: answer() if callable(answer) else answer


def test_objects_that_lie_are_errors():
    array = pyarrow.array([1, 2])
    schema, data = array.__arrow_c_array__()
    table = pyarrow.table({"ncpus": [1, 2]})
    for protocols in [
        {"__arrow_c_array__": None}, {"__arrow_c_array__": (1, 2)}, {"__arrow_c_array__": (data, schema)}, {"__arrow_c_array__": ()},
        {"__arrow_c_array__": (schema, schema)}, {"__arrow_c_stream__": schema}, {"__arrow_c_stream__": 1}, {"__array__": 7},
        {"__array__": lambda: 1 / 0}, {"__arrow_c_stream__": lambda: 1 / 0}, {"__array_interface__": {"data": (1, False)}},
        {"__arrow_c_array__": table.to_batches()[0].schema.__arrow_c_schema__},
    ]:
        for evaluate in [lambda column: TWICE.evaluate(ncpus=column), TWICE.evaluate]:
            with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
                evaluate(Lies(**protocols))
    capsules = array.__arrow_c_array__()
    assert twice(Lies(__arrow_c_array__=capsules)) == [2.0, 4.0]
    with pytest.raises(ValueError, match="already consumed"):
        twice(Lies(__arrow_c_array__=capsules))
    stream = pyarrow.chunked_array([[1, 2]]).__arrow_c_stream__()
    assert twice(Lies(__arrow_c_stream__=stream)) == [2.0, 4.0]
    with pytest.raises(ValueError, match="released"):
        twice(Lies(__arrow_c_stream__=stream))


def test_pandas_without_pyarrow_is_read_through_numpy():
    def missing():
        raise ImportError("pyarrow")

    column = Lies(__arrow_c_stream__=missing, __array__=np.array([1.0, 2.0]))
    assert twice(column) == [2.0, 4.0]


MISSING = """
import sys
if sys.argv[1] == "without":
    sys.modules["pyarrow"] = None
import pandas
from job_sort_formula import Formula

big = 2**53 + 1
formula = Formula("ncpus % 10")
for dtype in ["Int64", "UInt64", "Float64", "float64", "boolean", "object", "category", "Int32"]:
    column = pandas.Series([None, 1, None, 0], dtype=dtype, index=[3, 1, 2, 0])
    assert formula.evaluate(ncpus=column).to_pylist() == [None, 1.0, None, 0.0], dtype
    assert formula.evaluate(pandas.DataFrame({"ncpus": column, "name": "a"})).to_pylist() == [None, 1.0, None, 0.0], dtype
    assert formula.evaluate(ncpus=column[column.isna()]).to_pylist() == [None, None], dtype
    assert formula.evaluate(ncpus=column.dropna()).to_pylist() == [1.0, 0.0], dtype
assert formula.evaluate(ncpus=pandas.Series([big, None, 3], dtype="Int64")).to_pylist() == [3.0, None, 3.0]
assert formula.evaluate(ncpus=pandas.Series([big, 4], dtype="Int64")).to_pylist() == [3.0, 4.0]
assert formula.evaluate(ncpus=pandas.array([big, None])).to_pylist() == [3.0, None]
assert formula.evaluate(ncpus=pandas.Index([1.0, None])).to_pylist() == [1.0, None]
for wrong in [["a", None], pandas.to_timedelta(["1s", None]), pandas.to_datetime(["2026-01-01", None])]:
    try:
        formula.evaluate(ncpus=pandas.Series(wrong))
    except TypeError:
        continue
    raise AssertionError(wrong)
"""


@pytest.mark.parametrize("pyarrow", ["with", "without"])
def test_what_pandas_misses_is_null(pyarrow):
    run = subprocess.run([sys.executable, "-c", MISSING, pyarrow], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


ODD = """
import datetime, decimal, json, sys
if sys.argv[1] == "without":
    sys.modules["pyarrow"] = None
import numpy, pandas
from job_sort_formula import Formula

big = 2**53 + 1
columns = [[1, 2.5], [True, 2], [1, None], [1, "a"], ["a", 1], ["a", "b"], [2**64, 1], [big, 2.5], [-(2**63) - 1, 0], [1.5, "a"], [b"a", b"b"],
           [{1}, {2}], [{"a": 1}, None], [decimal.Decimal(1), 2], [decimal.Decimal(1), None], [numpy.int64(1), 2], [datetime.timedelta(1), 2], [1 + 2j, 1]]
columns = [pandas.Series(values, dtype=object) for values in columns]
columns += [pandas.Series([1, 0, 0], dtype=dtype) for dtype in ["Sparse[int64]", "Sparse[float64]", "Sparse[bool]"]]
columns += [pandas.Series(pandas.arrays.SparseArray([1.0, None, 0.0]))]
for column in columns:
    try:
        scores = Formula("ncpus * 2").evaluate(pandas.DataFrame({"ncpus": column})).to_pylist()
        print(json.dumps(scores))
    except Exception as error:
        assert "the column `ncpus`" in str(error), (list(column), error)
        print(type(error).__name__, error)
"""


def test_odd_columns_of_pandas_are_read_alike_with_and_without_pyarrow():
    runs = [subprocess.run([sys.executable, "-c", ODD, pyarrow], capture_output=True, text=True) for pyarrow in ["with", "without"]]
    assert [run.returncode for run in runs] == [0, 0], [run.stderr for run in runs]
    lines = runs[0].stdout.splitlines()
    assert lines == runs[1].stdout.splitlines()
    assert lines[:3] == ["[2.0, 5.0]", "[2.0, 4.0]", "[2.0, null]"]
    assert lines[-4:] == ["[2.0, 0.0, 0.0]"] * 3 + ["[2.0, null, 0.0]"]
    errors = [line for line in lines if not line.startswith("[")]
    assert len(errors) == 14 and all(line.startswith(("TypeError the ", "ValueError the ", "TypeError row ")) for line in errors), errors


def test_an_object_may_contradict_its_isna():
    numbers = np.array([1.0, 2.0])
    arrays = {"isna": Lies(__array__=np.array([True, False])), "dropna": Lies(__array__=numbers), "__array__": numbers}
    endless = Lies(isna=Lies(__array__=np.array([True])), __array__=1)
    endless.protocols["dropna"] = Lies(__array__=lambda: endless)
    for column in [Lies(**arrays), Lies(**arrays | {"isna": 1}), Lies(**arrays | {"dropna": None}), endless]:
        with pytest.raises((AttributeError, TypeError, ValueError)):
            twice(column)


def test_integers_beyond_floats_are_exact():
    parity, big = Formula("ncpus % 2"), 2**53 + 1
    for column in [[big, 0], np.array([big, 0]), polars.Series([big, 0]), pandas.Series([big, 0]), pyarrow.array([big, 0])]:
        assert parity.evaluate(ncpus=column).to_pylist() == [1.0, 0.0]
    for column in [[None, big, 0], pyarrow.array([None, big, 0]), pandas.Series([None, big, 0], dtype="Int64")]:
        assert parity.evaluate(ncpus=column).to_pylist() == [None, 1.0, 0.0]


def test_a_table_gives_the_number_of_rows():
    columns = {"name": ["a", "b", "c"], "mem": [1, 2, 3]}
    arrow = pyarrow.table(columns)
    tables = [columns, {"mem": np.array([1, 2, 3])}, pandas.DataFrame(columns), polars.DataFrame(columns), arrow,
              arrow.to_batches()[0]]
    for table in tables:
        assert Formula("42").evaluate(table).to_pylist() == [42.0] * 3
        assert SUM.evaluate(table, ncpus=1, nodect=2).to_pylist() == [3.0] * 3
        assert SUM.evaluate(table, ncpus=1, nodect=[1, 2, 3]).to_pylist() == [2.0, 3.0, 4.0]
        assert TWICE.evaluate({"ncpus": 2, "mem": [1, 2, 3]}).to_pylist() == [4.0] * 3
    for table in [pandas.DataFrame(columns), polars.DataFrame(columns), arrow]:
        with pytest.raises(ValueError, match="`nodect` has 1 row, the other columns have 3"):
            SUM.evaluate(table, ncpus=1, nodect=[1])
        assert Formula("42").evaluate(table[:0]).to_pylist() == []
    values = {"name": "text", "mem": 3, "bytes": b"123", "dict": {"a": 1}}
    for table in [{}, values, pandas.Series(values)]:
        assert Formula("42").evaluate(table).to_pylist() == [42.0]
    assert SUM.evaluate(pandas.Series({"ncpus": 1, "nodect": 2, "mem": 3})).to_pylist() == [3.0]
    with pytest.raises(ValueError, match="more than 2147483647"):
        Formula("42").evaluate({"x": range(2**40)})


def test_an_undefined_column_is_an_error_in_a_table_too():
    columns = {"ngpus": [1, 2]}
    for table in [columns, pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns)]:
        with pytest.raises(ValueError, match="`ngpus` is not a resource of OpenPBS: declare it"):
            Formula("ngpus * 2").evaluate(table)
    # without such a column it is what it is in OpenPBS: an error of every job
    assert Formula("ngpus * 2").evaluate({"mem": [1, 2]}).error_count == 2


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ([1, "a"], "row 1 of the column `ncpus` is of type `str`"),
        ([pandas.NA], "row 0 .* `NAType`, .*use None"),
        ([datetime.timedelta(1)], "total_seconds"),
        (pyarrow.array(["a"]), "is text"), (polars.Series(["a"]), "is text"), (np.array(["a"]), "is text"),
        (np.array([1], "m8[s]"), r"\.dt\.total_seconds\(\)"), (polars.Series([datetime.timedelta(1)]), r"\.dt\.total_seconds\(\)"),
        (pandas.Series(pandas.to_timedelta(["1s"])), r"\.dt\.total_seconds\(\)"),
        (pyarrow.array([decimal.Decimal("1.5")]), "convert it to float64"),
    ],
)
def test_messages_say_what_to_do(column, text):
    with pytest.raises(TypeError, match=text):
        TWICE.evaluate(ncpus=column)


def test_an_array_may_derive_from_numpys():
    class Derived(np.ndarray):
        @property
        def __array_interface__(self):
            return {"data": (1, False), "shape": (2**20,), "typestr": "<f8", "version": 3}

    assert twice(np.array([1.0, 2.0]).view(Derived)) == [2.0, 4.0]


def test_scores_leave_without_a_copy():
    scores = TWICE.evaluate(ncpus=np.array([1, 2, 3]))
    numbers = scores.to_numpy()
    address = numbers.__array_interface__["data"][0]
    assert not numbers.flags.writeable
    exported, series = pyarrow.array(scores), polars.Series(scores)
    assert exported.buffers()[1].address == address
    del scores
    assert numbers.tolist() == exported.to_pylist() == series.to_list() == [2.0, 4.0, 6.0]
    scores = Formula("1 / ncpus").evaluate(ncpus=[1, 0])
    assert pyarrow.array(scores).to_pylist() == polars.Series(scores).to_list() == [1.0, None]
    assert (scores[-1], scores[-2], len(scores), list(scores)) == (None, 1.0, 2, [1.0, None])
    for row in [2, -3, 2**40]:
        with pytest.raises(IndexError):
            scores[row]
    assert repr(scores) == "Scores([1.0, None], rows=2, nulls=1, errors=1)"


def test_run_end_encoded_columns_are_converted():
    formula = Formula("ncpus")
    encode = pyarrow.compute.run_end_encode
    for ends in [pyarrow.int16(), pyarrow.int32(), pyarrow.int64()]:
        for values in [[1, 1, 1, 2], [1, 1, None, None, 2.5], [True, True, False], [None, None]]:
            array = encode(pyarrow.array(values), run_end_type=ends)
            expected = [None if value is None else float(value) for value in values]
            for column in [array, pyarrow.chunked_array([array, array.slice(1)])]:
                rows = expected if column is array else expected + expected[1:]
                assert formula.evaluate(ncpus=column).to_pylist() == rows
                assert formula.evaluate(pyarrow.table({"ncpus": column})).to_pylist() == rows
    texts = encode(pyarrow.array(["a", "a"]))
    with pytest.raises(TypeError, match="the column `ncpus` has the type .*: that is text"):
        formula.evaluate(ncpus=texts)


def test_columns_with_swapped_bytes_are_converted():
    formula = Formula("ncpus")
    for code in [">i2", ">i4", ">i8", ">u4", ">u8", ">f2", "<f2", ">f4", ">f8"]:
        column = np.array([1, 0, 7, 3], dtype=code)
        for swapped in [column, column[::2], pandas.Series(column)]:
            assert formula.evaluate(ncpus=swapped).to_pylist() == [float(value) for value in swapped]


def test_integers_of_128_bits_are_refused_in_our_words():
    for kind in [polars.Int128, polars.UInt128]:
        column = polars.Series([1, 2], dtype=kind)
        for read in [lambda: Formula("ncpus").evaluate(ncpus=column), lambda: Formula("ncpus").evaluate(polars.DataFrame({"ncpus": column}))]:
            with pytest.raises(TypeError, match=r"128 bits are not read: convert them, as with `\.cast\(polars\.Int64\)`"):
                read()
        assert Formula("ncpus").evaluate(ncpus=column.cast(polars.Int64)).to_pylist() == [1.0, 2.0]


def test_the_rows_of_a_call_have_the_limit_of_a_queue_on_any_number_of_threads() -> None:
    rows = 3 << 16
    ncpus = [1 if row % 1000 else 100_000 + row // 1000 for row in range(rows)]
    formula = Formula("comb(ncpus, 50000) > 0 if ncpus > 1 else 7")
    alone = formula.evaluate(ncpus=ncpus)
    failed = [error.row for error in alone.errors]
    assert failed and failed == list(range(failed[0], rows, 1000)) and failed[0] > 0
    assert "after those of the jobs before it" in alone.errors[0].message
    together = formula.evaluate(ncpus=ncpus, threads=3)
    assert [error.row for error in together.errors] == failed
    assert together.to_pylist() == alone.to_pylist()
