"""Evaluates formulas for jobs and writes the value of every sub-expression that is evaluated.

Standard input is as for `formulas.py`: `["jobs", [{name: number}]]` or `["formula", text, [index of a job]]`. A formula is
answered by one line for each job: the sub-expressions in the order of their places, each as `start:end=value` in bytes of
the text, separated by `;`, or `skipped` if it does not compile or end.

Every expression of the syntax tree but the name of a function that is called is enclosed in a call that records its value.
"""

import ast
import json
import re
import signal
import sys
import warnings

from evaluation import MATH, SECONDS, Endless, read, set_limits
from values import written

warnings.simplefilter("ignore")


#: Since Python 3.8 the syntax tree has the ends of expressions; before, the values alone are written, sorted.
HAS_ENDS = sys.version_info >= (3, 8)


class Recorder(ast.NodeTransformer):
    """Encloses every expression in `__record(start, end, expression)`."""

    def __init__(self, text, blanks):
        # the ends of lines that Python knows: `\n`, `\r\n`, `\r`
        lines = [0] + [end.end() for end in re.finditer(rb"\r\n?|\n", text.encode())]
        self.place = lambda line, column: blanks + lines[line - 1] + column

    def visit(self, node):
        if isinstance(node, ast.Call):
            is_name = isinstance(node.func, ast.Name)
            node.func = node.func if is_name else self.visit(node.func)
            node.args = [self.visit(argument) for argument in node.args]
            for keyword in node.keywords:
                keyword.value = self.visit(keyword.value)
        else:
            self.generic_visit(node)
        if not isinstance(node, ast.expr):
            return node
        start = self.place(node.lineno, node.col_offset)
        end = self.place(node.end_lineno, node.end_col_offset) if HAS_ENDS else start
        arguments = [ast.Constant(start), ast.Constant(end), node]
        name = ast.Name("__record", ast.Load())
        return ast.fix_missing_locations(ast.copy_location(ast.Call(name, arguments, []), node))


set_limits()
sys.setrecursionlimit(20000)


def recorded(code, job):
    found = []

    def record(start, end, value):
        found.append((start, end, value))
        return value

    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        eval(code, {**job, "__record": record}, MATH)
    except (MemoryError, Endless):
        return "skipped"
    except Exception:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if not HAS_ENDS:
        return ";".join(sorted(written(value) for _, _, value in found))
    found.sort(key=lambda one: one[:2])
    return ";".join(f"{start}:{end}={written(value)}" for start, end, value in found)


jobs = []
answers = []
for line in sys.stdin:
    kind, text, *indices = json.loads(line)
    if kind == "jobs":
        jobs = [{name: read(value) for name, value in job.items()} for job in text]
        continue
    try:
        stripped = text.lstrip(" \t")
        compile(stripped, "<string>", "eval")
        tree = Recorder(stripped, len(text) - len(stripped)).visit(ast.parse(stripped, mode="eval"))
        code = compile(tree, "<string>", "eval")
    except (Exception, RecursionError, MemoryError):
        answers.extend("skipped" for _ in indices[0])
        continue
    answers.extend(recorded(code, jobs[index]) for index in indices[0])

sys.stdout.write("\n".join(answers) + "\n")
