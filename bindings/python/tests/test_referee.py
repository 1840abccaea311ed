"""Random formulas and columns against CPython's own `eval`, bit by bit.

`JSF_REFEREE_CASES` sets how many values are compared, `JSF_REFEREE_SEED` the seed.
"""

import os
import random
import struct
import sys
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow

import job_sort_formula

sys.path.append(str(Path(__file__).parents[3] / "crates" / "openpbs" / "tests" / "referee"))
from evaluation import MATH  # noqa: E402

CASES = int(os.environ.get("JSF_REFEREE_CASES", 200_000))
SEED = int(os.environ.get("JSF_REFEREE_SEED", 20_260_118))
ROWS = 2000
INTS = ["ncpus", "nodect", "eligible_time", "job_priority"]
FLOATS = ["fairshare_perc", "fairshare_factor", "fairshare_tree_usage"]
SMALL = "queue_priority"  # an exponent, a shift
FUNCTIONS = {
    1: "abs int float round bool sqrt exp log log2 log10 log1p expm1 sin cos tan asin atan tanh gamma lgamma erf ceil floor "
    "trunc fabs isfinite isnan degrees cbrt".split(),
    2: "min max pow fmod copysign atan2 divmod isclose gcd ldexp remainder nextafter".split(),
    3: "min max fsum".split(),
}


class Writer:
    def __init__(self, rng):
        self.rng = rng

    def leaf(self):
        pick = self.rng.random()
        if pick < 0.7:
            return self.rng.choice(INTS + FLOATS + [SMALL])
        if pick < 0.85:
            return str(self.rng.choice([0, 1, 2, 3, 7, 60, 3600, 86400, 2**31, 2**53 + 1, 10**18]))
        return repr(self.rng.choice([0.0, 0.5, 1.5, 3600.0, 1e-9, 1e300, self.rng.random()]))

    def node(self, depth):
        if depth == 0 or self.rng.random() < 0.1:
            return self.leaf()
        below = lambda: self.node(depth - 1)  # noqa: E731
        pick = self.rng.random()
        if pick < 0.5:
            return f"({below()} {self.rng.choice(['+', '-', '*', '/', '//', '%', '+', '-', '*', '/'])} {below()})"
        if pick < 0.57:
            # other exponents make integers without end, or complex numbers
            return f"({below()} ** {self.rng.choice(['2', '3', '-1', SMALL])})"
        if pick < 0.6:
            return f"(abs({below()}) ** {self.rng.choice(['0.5', '-1.5', 'fairshare_perc'])})"
        if pick < 0.75:
            arity = self.rng.choice([1, 1, 1, 2, 2, 3])
            function = self.rng.choice(FUNCTIONS[arity])
            arguments = [below() for _ in range(arity)]
            return f"{function}({', '.join(arguments)})" if function != "fsum" else f"fsum(({', '.join(arguments)}))"
        if pick < 0.83:
            return f"({below()} if {below()} {self.rng.choice(['<', '<=', '==', '!=', '>'])} {below()} else {below()})"
        if pick < 0.9:
            return f"({below()} {self.rng.choice(['and', 'or'])} {below()})"
        if pick < 0.95:
            return f"({self.rng.choice(['-', '+', 'not '])}{below()})"
        if pick < 0.98:
            return f"({below()} {self.rng.choice(['&', '|', '^'])} {below()})"
        return f"({below()} {self.rng.choice(['<<', '>>'])} {SMALL})"


def values(rng, name, rows):
    """The numbers of a column, as an array of numpy."""
    generator = np.random.default_rng(rng.getrandbits(64))
    if name == SMALL:
        return generator.integers(-4, 21, rows)
    if name in INTS:
        kind = rng.randrange(5)
        if kind == 0:
            return generator.integers(-(2**63), 2**63 - 1, rows)
        if kind == 1:
            return generator.integers(-(2**31), 2**31, rows, dtype=np.int32)
        if kind == 2:
            return generator.integers(0, 2, rows).astype(bool)
        return generator.integers(-3, 100_000 if kind == 3 else 8, rows)
    kind = rng.randrange(4)
    numbers = generator.random(rows) if kind < 2 else generator.normal(0, 1e6, rows)
    if kind == 1:
        special = [0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1.7e308]
        numbers[generator.integers(0, rows, rows // 3)] = generator.choice(special, rows // 3)
    return numbers


def column(rng, numbers):
    """The same numbers in a column of some package, and which of them are null."""
    rows, null = len(numbers), np.zeros(len(numbers), bool)
    kind = rng.randrange(9)
    if kind in (1, 2) and rng.random() < 0.5:
        null = np.random.default_rng(rng.getrandbits(64)).random(rows) < 0.1
    if kind == 0 and rows > 1:
        wide = np.repeat(numbers, 2)[::-1]
        return wide[::-2][:rows] if len(wide[::-2]) == rows else numbers, null
    if kind == 1:
        array = pyarrow.concat_arrays([pyarrow.array([numbers[0].item()] * 3, pyarrow.from_numpy_dtype(numbers.dtype)),
                                       pyarrow.array(numbers, mask=null)])
        return array[3:], null
    if kind == 2:
        cut = sorted(rng.randrange(rows + 1) for _ in range(3))
        array = pyarrow.array(numbers, mask=null)
        return pyarrow.chunked_array([array[start:end] for start, end in zip([0, *cut], [*cut, rows])]), null
    if kind == 3:
        return polars.Series(numbers), null
    if kind == 4:
        # pandas exports NaN as null
        return pandas.Series(numbers), np.isnan(numbers) if numbers.dtype.kind == "f" else null
    if kind == 5:
        return numbers.tolist(), null
    if kind == 6:
        return pyarrow.array(numbers).dictionary_encode(), null
    if kind == 7:
        misaligned = np.frombuffer(b"x" + numbers.tobytes(), np.uint8)[1:].view(numbers.dtype)
        return misaligned, null
    return numbers, null


def bits(value):
    return "nan" if value != value else struct.pack("<d", value)


def of_python(code, job):
    """The bits of the value, or `None` and the exception's text; that is `None` if only the conversion to float fails, or if
    an integer is too large for the memory."""
    try:
        value = eval(code, job, MATH)
    except (ArithmeticError, ValueError, TypeError) as error:
        return None, str(error)
    except MemoryError:
        return None, None
    try:
        return bits(float(value)), None
    except (OverflowError, TypeError):
        return None, None


def test_random_formulas_and_columns_equal_eval():
    rng = random.Random(SEED)
    compared = failed = nulls = 0
    different = []
    while compared < CASES:
        text = Writer(rng).node(rng.choice([1, 2, 2, 3, 3, 4]))
        formula = job_sort_formula.Formula(text)
        numbers = {name: values(rng, name, ROWS) for name in formula.inputs}
        given, null = {}, np.zeros(ROWS, bool)
        for name, array in numbers.items():
            given[name], is_null = column(rng, array)
            null |= is_null
        if rng.random() < 0.2:
            scores = formula.evaluate(given, threads=rng.randrange(1, 4))
        else:
            scores = formula.evaluate(**given, threads=rng.randrange(1, 4))
        if not numbers:
            null = null[:1]
        errors = {error.row: error for error in scores.errors}
        code = compile(text, "<formula>", "eval")
        # a truth value in a column is an integer
        lists = [(array * 1 if array.dtype == bool else array).tolist() for array in numbers.values()]
        jobs = zip(*lists) if numbers else [()]
        for row, (job, score) in enumerate(zip(jobs, scores.to_pylist(), strict=True)):
            compared += 1
            if null[row]:
                nulls += 1
                is_equal = score is None and row not in errors
            else:
                expected, message = of_python(code, dict(zip(formula.inputs, job)))
                failed += expected is None
                error = errors.get(row)
                ours = None if score is None else bits(score)
                is_equal = ours == expected and (error is None) == (expected is not None)
                if message is not None and error is not None and error.kind != "beyond the limits":
                    is_equal &= error.message == message
            if not is_equal and len(different) < 20:
                different.append((text, job, score, errors.get(row)))
    print(f"\n{compared} values compared, {failed} of them errors, {nulls} null; {len(different)} different")
    assert not different
    assert failed > 0 and nulls > 0
