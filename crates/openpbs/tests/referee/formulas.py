"""Compiles each formula once, evaluates it for jobs and writes the results.

Standard input has one JSON array on each line: `["jobs", [{name: number}]]`, numbers as integers in hexadecimal or
doubles as `D` and their bits, or `["formula", text, [index of a job]]`. A formula is answered by one line for its
compilation, `ok` or an exception, and, if it compiled, by one line for each job, written as in `values.py`.

A formula is looked up as the scheduler does it: `math` in the locals, the job in the globals, builtins last.
"""

import json
import signal
import sys
import warnings

from evaluation import MATH, SECONDS, Endless, read, set_limits
from values import written

warnings.simplefilter("ignore")


def exception(error):
    kind = "SyntaxError" if isinstance(error, SyntaxError) else type(error).__name__
    return f"{kind}: {error}".replace("\n", "\\n")


set_limits()

# At module level, as in the scheduler: how deep a formula may be depends on what already runs.
jobs = []
answers = []
for line in sys.stdin:
    kind, text, *indices = json.loads(line)
    if kind == "jobs":
        jobs = [{name: read(value) for name, value in job.items()} for job in text]
        continue
    try:
        # `eval` itself takes these blanks off a text.
        # A call with `*` is never specialized, so that it goes as deep as one that is executed once, as in the scheduler.
        code = compile(*(text.lstrip(" \t"), "<string>", "eval"))
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
