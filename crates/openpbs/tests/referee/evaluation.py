"""What the scripts that evaluate formulas share: their numbers, their names and the limits of one evaluation."""

import math
import resource
import signal

from values import number

#: The limits of one evaluation, in seconds and bytes: some formulas do not end otherwise in Python.
SECONDS = 2.0
BYTES = 4 << 30


class Endless(BaseException):
    """The evaluation took too long."""


def give_up(*_):
    raise Endless("")


def read(text):
    if not text.startswith("D"):
        return int(text, 16)
    value = number(int(text[1:], 16))
    return value if value == value else math.nan  # one object, as `nan` is in formulas


#: The names that the scheduler imports from `math`.
MATH = {name: value for name, value in vars(math).items() if not name.startswith("_")}


def set_limits():
    """Ends an evaluation that takes too long or too much memory."""
    signal.signal(signal.SIGALRM, give_up)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
