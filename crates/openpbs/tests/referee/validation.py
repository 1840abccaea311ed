"""The referee of the verdicts: what an OpenPBS server would answer to a formula, asked of the CPython at hand.

The server runs a script of its own in a fresh interpreter. What is known of it: the formula stands in single quotes
behind `ans=` and is executed twice, first where every resource is 1, then where the numeric ones alone are; a
SyntaxError of the first run, a NameError of the first and a NameError of the second are the three refusals; any other
exception is swallowed; when the script itself does not compile, that is an internal error.

    validation.py SITE                  reads formulas, one JSON string a line, and writes each with its code
    validation.py SITE SEED COUNT       invents formulas, and writes each with its code

SITE is a JSON file with the resources of the server, and with formulas to begin from:
`{"all": [...], "numeric": [...], "formulas": [...]}`.
"""

import builtins
import json
import os
import random
import resource
import sys
import warnings

warnings.simplefilter("ignore")
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

# a formula that makes a list without end gets a MemoryError, as on a server whose memory is limited
resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))

# what `site` adds; the server runs without it
for name in ("exit", "quit", "copyright", "credits", "license", "help"):
    if hasattr(builtins, name):
        delattr(builtins, name)

ACCEPTED, FORMAT, KEYWORD, RESOURCE, INTERNAL = 0, 15123, 15124, 15125, 15011

SPECIAL = [
    "eligible_time", "queue_priority", "job_priority", "fairshare_perc", "fair_share_perc", "fairshare_tree_usage",
    "fairshare_factor", "accrue_type",
]

SCRIPT = """\
ans = 0
errnum = 0
errmsg = ''
from math import *
globals1 = {everything}
globals2 = {numeric}
try:
 exec('ans={formula}', globals1, locals())
except SyntaxError as e:
 errnum = 1
except NameError as e:
 errnum = 2
except Exception as e:
 pass
if errnum == 0:
 try:
  exec('ans={formula}', globals2, locals())
 except NameError as e:
  errnum = 3
 except Exception as e:
  pass
"""


class Server:
    def __init__(self, site):
        ones = lambda names: repr(dict.fromkeys(names + SPECIAL, 1))
        self.everything, self.numeric = ones(site["all"]), ones(site["numeric"])

    def answer(self, formula):
        """The code; None where the server itself would end."""
        line = formula.split("\n")[0].split("\0")[0]
        if not formula:
            return ACCEPTED
        if not line:
            return INTERNAL
        script = SCRIPT.format(everything=self.everything, numeric=self.numeric, formula=line)
        main = dict.fromkeys(("__doc__", "__package__", "__spec__", "__loader__"))
        main.update(__name__="__main__", __annotations__={}, __builtins__=builtins)
        try:
            exec(compile(script.encode("utf-8", "surrogatepass"), "<string>", "exec"), main)
        except SystemExit:
            return None
        except BaseException:
            return INTERNAL
        try:
            number = int(str(main["errnum"]))
        except (ValueError, KeyError):
            return INTERNAL
        return {0: ACCEPTED, 1: FORMAT, 2: KEYWORD, 3: RESOURCE}.get(number, INTERNAL)


class Inventor:
    """Formulas at random, the same for the same seed."""

    KNOWN = ["ncpus", "mem", "walltime", "eligible_time", "r_float", "fairshare_factor", "queue_priority"]
    OTHER = ["nosuch", "r_str", "r_bool", "x", "y", "e", "pi", "ans", "inf", "log", "max", "sqrt", "_", "True", "None"]
    CALLS = ["max", "min", "abs", "log", "sqrt", "pow", "len", "str", "int", "float", "sum", "range", "list", "tuple",
             "sorted", "chr", "ord", "bool", "round", "type", "repr", "print", "any", "all", "set", "dict", "map",
             "filter", "zip", "enumerate", "reversed", "iter", "next", "nosuch", "isinstance", "hex", "complex",
             "divmod", "hash", "callable", "getattr", "fsum", "prod", "gcd"]
    OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "|", "^", "@", "==", "!=", "<", "<=", ">", ">=",
                 "and", "or", "in", "not in", "is", "is not"]
    TOKENS = OPERATORS + KNOWN + OTHER + CALLS + [
        "(", ")", "[", "]", "{", "}", ",", ":", ";", "=", ":=", ".", "...", "lambda", "for", "if", "else", "not", "~",
        "async", "await", "yield", "import", "del", "pass", "return", "'", '"', "\\", "\\n", "\\t", "\\x41", "\\'",
        '\\"', "#", "$", "?", "!", "`", "&", "&&", "||", "<>", "->", "1", "0", "2.5", "1e3", "0x1f", "1j", "1_0", "007",
        " ", "  ", "\t", "\f", "\r", "**", "*", "f\"{", "}\"", "b\"", "r\"", "+=", "==", "é", "\\u0041", "\\N{DIGIT ONE}",
    ]

    def __init__(self, seed, formulas):
        self.random = random.Random(seed)
        self.formulas = formulas

    def pick(self, items):
        return self.random.choice(items)

    def chance(self, part):
        return self.random.random() < part

    def formula(self):
        kind = self.random.random()
        if kind < 0.15:
            return "".join(self.pick(self.TOKENS) + self.pick(["", " "]) for _ in range(self.random.randint(1, 7)))
        if kind < 0.3 and self.formulas:
            return self.mutated(self.pick(self.formulas))
        if kind < 0.45:
            return self.scopes()
        text = self.expression(self.random.randint(0, 4))
        if kind < 0.55:
            text = self.statement(text)
        if kind < 0.7:
            text = self.mutated(text)
        return text

    def statement(self, text):
        return self.pick([
            lambda: text + ";" + self.expression(1), lambda: text + "; ", lambda: self.target() + "=" + text,
            lambda: "=" + text, lambda: text + "=", lambda: self.target() + "+=" + text, lambda: text + ";pass",
            lambda: self.target() + "=" + self.target() + "=" + text, lambda: text + ";" + self.target() + "=1;y",
            lambda: text + ";x=1;x", lambda: text + ";import math", lambda: text + "\\n" + self.expression(1),
            lambda: text + ";" + self.target() + "-=" + self.expression(1), lambda: text + ";del " + self.name(),
            lambda: text + ";return 1", lambda: text + " #" + self.expression(1), lambda: "*" + text + ",",
            lambda: text + "\\n  " + self.expression(0), lambda: text + ";if 1: pass", lambda: text + "\\",
            lambda: text + ";x:int=" + self.expression(0), lambda: text + ";errnum=" + self.pick("0123 "),
        ])()

    def target(self):
        return self.pick(["x", "y", "(x)", "x,y", "[x]", "x.y", "x[0]", "(x,*y)", "*x,", "1", "f()", "ncpus", "e", "ans"])

    def mutated(self, text):
        for _ in range(self.random.randint(1, 2)):
            at = self.random.randint(0, len(text))
            end = min(len(text), at + self.random.randint(0, 2))
            new = self.pick(self.TOKENS) if self.chance(0.7) else ""
            text = text[:at] + new + text[end:]
        return text

    def name(self):
        return self.pick(self.KNOWN if self.chance(0.5) else self.OTHER)

    def atom(self):
        return self.pick([
            self.name, self.name, self.name, lambda: self.pick(["0", "1", "2", "2.5", "1e400", "0x1f", "1_0", ".5", "5."]),
            lambda: self.pick(["0", "1", "3"]), self.string, lambda: self.pick(["...", "1j", "()", "[]", "{}", "(1,2)"]),
        ])()

    def string(self):
        plain = self.pick(["", "a", "1", "1.5", "abc", "ncpus", "nosuch", "{}", "a b", "\\\\n", "\\\\x41", "\\\\x4"])
        if self.chance(0.4):
            field = self.pick(["{%s}", "{%s!r}", "{%s:>5}", "{%s=}", "a{{%s}}", "{%s:{ncpus}}", "{%s", "{}", "}"])
            return 'f"' + (field % self.expression(0).replace('"', "") if "%" in field else field) + '"'
        return self.pick(["", "", "", "r", "b", "u", "rb"]) + '"' + plain + '"' * (1 if self.chance(0.97) else 2)

    def expression(self, depth):
        if depth <= 0:
            return self.atom()
        below = lambda: self.expression(depth - 1)
        return self.pick([
            self.atom, lambda: below() + self.spaced() + below(), lambda: below() + self.spaced() + below(),
            lambda: self.pick(["-", "+", "~", "not "]) + below(), lambda: "(" + below() + ")",
            lambda: below() + " if " + below() + " else " + below(), lambda: self.call(below),
            lambda: self.call(below), lambda: self.comprehension(below), lambda: self.lambda_(below),
            lambda: "(" + self.pick(["x", "y", "e"]) + ":=" + below() + ")",
            lambda: "[" + below() + "," + below() + "]", lambda: "(" + below() + "," + below() + ")",
            lambda: "{" + below() + ":" + below() + "}", lambda: "{" + below() + "}",
            lambda: below() + "[" + self.pick([below, lambda: "0", lambda: ":1"])() + "]",
            lambda: below() + "." + self.pick(["real", "imag", "upper()", "nosuch", "append(1)", "__class__"]),
            lambda: below() + " < " + below() + " < " + below(), lambda: "(" + self.lambda_(below) + ")(" + below() + ")",
            lambda: below() + " and " + below(), lambda: below() + " or " + below(),
        ])()

    def spaced(self):
        operator = self.pick(self.OPERATORS)
        return " " + operator + " " if operator[0].isalpha() or self.chance(0.5) else operator

    def call(self, below):
        arguments = [below() for _ in range(self.random.randint(0, 3))]
        if self.chance(0.2):
            arguments.append(self.pick(["key=", "x=", "default=", "*", "**"]) + below())
        if self.chance(0.1):
            arguments = [below() + " for x in " + below()]
        return self.pick(self.CALLS) + "(" + ",".join(arguments) + ")"

    def lambda_(self, below):
        parameters = self.pick(["", "", " x", " x", " x,y", " x=1", " *x", " x,/,y", " *,x", " **y", " x," + self.name()])
        return "lambda" + parameters + ":" + below()

    def comprehension(self, below):
        item = self.pick(["x", "y", below(), "x*ncpus", "sqrt(x)", "(y:=x)"])
        source = self.pick(["(1,2)", "(1,2)", "range(3)", "[]", "(0,1)", "nosuch", below(), '"ab"'])
        clause = " for " + self.pick(["x", "x", "x", "x,y", "(x)", "y", "*x", "x.y"]) + " in " + source
        if self.chance(0.3):
            clause += " if " + below()
        if self.chance(0.15):
            clause += " for y in " + below()
        return self.pick(["[%s]", "(%s)", "sum(%s)", "{%s}", "{x:%s}", "list(%s)", "max(%s)", "any(%s)"]).replace(
            "%s", item + clause)

    def scopes(self):
        """Comprehensions in comprehensions and lambdas, `:=` in all their parts, and who sees what was assigned."""
        text = self.nested(self.random.randint(1, 3))
        text = self.pick(["%s", "%s", "[%s, x, y]", "%s and y", "(y := 1, %s)", "%s; y", "%s; x", "y; %s", "y = 1; %s; y",
                          "%s;x=1;%s", "[%s,z]", "x or %s", "%s if y else z", "e; %s; e", "(e := 1, %s, e)"])
        while "%s" in text:
            text = text.replace("%s", self.nested(self.random.randint(1, 3)), 1)
        return self.mutated(text) if self.chance(0.05) else text

    def nested(self, depth):
        return self.nested_comprehension(depth) if self.chance(0.75) else self.part(depth)

    def inner_name(self):
        return self.pick("x" * 3 + "y" * 3 + "ze") if self.chance(0.9) else self.pick(["nosuch", "ncpus", "r_str", "ans", "sqrt", "mem"])

    def part(self, depth):
        """What stands in a scope."""
        if depth <= 0 or self.chance(0.3):
            return self.inner_name() if self.chance(0.7) else self.pick(["1", "0", "(1,)", "2.5", '"a"', "[]"])
        below = lambda: self.part(depth - 1)
        lambdas = lambda: "lambda" + self.pick(["", "", " x", " y=1", " x=" + below(), " *y"]) + ":" + below()
        return self.pick([
            lambda: "(" + self.inner_name() + ":=" + below() + ")", lambda: "(" + self.inner_name() + ":=" + below() + ")",
            lambda: "(" + self.inner_name() + ":=" + below() + ")", lambda: self.nested_comprehension(depth),
            lambda: self.nested_comprehension(depth), lambda: self.nested_comprehension(depth),
            lambda: below() + self.pick(["+", " and ", " or ", "<", "==", " is "]) + below(),
            lambda: below() + " if " + below() + " else " + below(), lambda: "[" + below() + "," + below() + "]",
            lambda: "(" + below() + "," + below() + ")", lambda: below() + "[0]", lambda: "{" + below() + ":" + below() + "}",
            lambda: "(" + lambdas() + ")(" + self.pick(["", "", "1"]) + ")", lambda: "(" + lambdas() + ")",
            lambda: 'f"{' + below().replace('"', "'") + '}"', lambda: self.pick(["max", "sum", "len"]) + "(" + below() + ")",
        ])()

    def iterable(self, depth):
        plain = ["(1,2)", "(1,)", "(0,1)", "[]", "((1,2),)", "((1,),(0,))", "[1]", "range(2)"]
        return self.pick(plain) if self.chance(0.7) else self.part(depth - 1)

    def nested_comprehension(self, depth):
        item = self.part(depth - 1)
        if self.chance(0.15):
            item = self.inner_name() + " := " + item
        clauses = ""
        for _ in range(self.pick([1, 1, 1, 2, 2, 3])):
            target = self.pick(["x", "x", "y", "z", "z", "e", "x,y", "[z]", "x[y]", "(z)", "x[(y:=0)]", "z,*y"])
            clauses += " for " + target + " in " + self.iterable(depth)
            while self.chance(0.3):
                clauses += " if " + self.part(depth - 1)
        shape = self.pick(["[%s]", "[%s]", "[%s]", "{%s}", "(%s)", "list(%s)", "sum(%s)", "any(%s)", "{1:%s}", "tuple(%s)"])
        return shape.replace("%s", item + clauses)


def is_endless(formula):
    """Whether a formula may compute for hours, or wait for somebody."""
    powers = formula.count("**") + formula.count("<<") + formula.count("pow") + formula.count("factorial")
    return powers > 1 or (powers and "range" in formula) or "input" in formula or "breakpoint" in formula


def main():
    with open(sys.argv[1]) as file:
        site = json.load(file)
    server = Server(site)
    # what a formula prints is dropped
    out, sys.stdout = sys.stdout, open(os.devnull, "w")
    sys.stderr = sys.stdout
    if len(sys.argv) > 3:
        inventor = Inventor(int(sys.argv[2]), site["formulas"])
        formulas = (inventor.formula() for _ in range(int(sys.argv[3])))
        formulas = (formula for formula in formulas if not is_endless(formula))
    else:
        formulas = map(json.loads, sys.stdin)
    for formula in formulas:
        out.write(json.dumps([formula, server.answer(formula)]) + "\n")


main()
