"""The referee of the numbers: evaluates each line of standard input, a Python expression, and writes what it gave.

A value is written with its type and all its bits, an exception with its name and text, and all that a formula cannot
meet by the name of its type.
"""

import struct
import sys
import warnings
from math import *

warnings.simplefilter("ignore")
sys.set_int_max_str_digits(0)

NANS = {}


def D(bits):
    """The double of these bits; a nan of the same bits is the same object, as `math.nan` is."""
    value = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return NANS.setdefault(bits, value) if value != value else value


def written(value):
    kind = type(value)
    if kind is int:
        return "%x" % value
    if kind is float:
        return "nan" if value != value else "D%016x" % struct.unpack("<Q", struct.pack("<d", value))[0]
    if kind is tuple:
        return "(" + ",".join(map(written, value)) + ")"
    if kind is list:
        return "[" + ",".join(map(written, value)) + "]"
    if value is None or kind is bool or kind is type or kind is type(len):
        return repr(value)
    return kind.__name__


def answer(expression):
    try:
        return written(eval(expression))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main():
    if "--version" in sys.argv:
        print(*sys.version_info[:2], sep=".")
        return
    sys.stdout.writelines(answer(line) + "\n" for line in sys.stdin)


main()
