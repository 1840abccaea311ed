"""The referee of whole formulas: compiles each text once, evaluates it for jobs and writes what came out.

Standard input has one JSON array on each line: `["jobs", [{name: number}]]`, numbers as integers in hexadecimal or
doubles as `D` and their bits, or `["formula", text, [index of a job]]`. A formula is answered by one line for its
compilation, `ok` or an exception, and, if it compiled, by one line for each job, written as in `operations.py`.

A formula is looked up as the scheduler does it: `math` in the locals, the job in the globals, builtins last.
"""

import json
import math
import resource
import signal
import struct
import sys
import warnings

warnings.simplefilter("ignore")

#: What one evaluation may take, in seconds, and how much memory: some formulas have no other end in Python.
SECONDS = 2.0
BYTES = 4 << 30


class Endless(BaseException):
    """The evaluation took too long."""


def give_up(*_):
    raise Endless("")


def number(text):
    if not text.startswith("D"):
        return int(text, 16)
    value = struct.unpack("<d", struct.pack("<Q", int(text[1:], 16)))[0]
    return value if value == value else math.nan  # one object, as `nan` is in formulas


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


def exception(error):
    kind = "SyntaxError" if isinstance(error, SyntaxError) else type(error).__name__
    return f"{kind}: {error}".replace("\n", "\\n")


if "--version" in sys.argv:
    print(*sys.version_info[:2], sep=".")
    sys.exit()

MATH = {name: value for name, value in vars(math).items() if not name.startswith("_")}
signal.signal(signal.SIGALRM, give_up)
resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))

# At module level, as in the scheduler: how deep a formula may be depends on what already runs.
jobs = []
answers = []
for line in sys.stdin:
    kind, text, *indices = json.loads(line)
    if kind == "jobs":
        jobs = [{name: number(value) for name, value in job.items()} for job in text]
        continue
    try:
        # `eval` itself takes these blanks off a text.
        code = compile(text.lstrip(" \t"), "<string>", "eval")
    except (Exception, RecursionError, MemoryError) as error:
        answers.append(exception(error))
        continue
    answers.append("ok")
    for index in indices[0]:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            answer = written(eval(code, jobs[index], MATH))
        except (Exception, Endless) as error:
            answer = exception(error)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.append(answer)

sys.stdout.write("\n".join(answers) + "\n")
