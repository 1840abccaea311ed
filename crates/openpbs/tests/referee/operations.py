"""Evaluates each line of standard input, a Python expression, and writes its value or its exception.

An exception is written with its name and text, a value as in `values.py`.
"""

import sys
import warnings
from math import *

from values import number, written

warnings.simplefilter("ignore")
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

NANS = {}


def D(bits):
    """The double of these bits; a nan of the same bits is the same object, as `math.nan` is."""
    value = number(bits)
    return NANS.setdefault(bits, value) if value != value else value


def answer(expression):
    try:
        return written(eval(expression))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main():
    sys.stdout.writelines(answer(line) + "\n" for line in sys.stdin)


main()
