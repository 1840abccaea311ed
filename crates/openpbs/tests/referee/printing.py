"""Compares the syntax trees of texts.

Standard input has one line for each pair, `[text, printed text]`. A pair is answered by one line: `same`, `refused` if Python does
not parse the first text, or what is wrong with the second.
"""

import ast
import json
import sys
import warnings

from evaluation import set_limits

warnings.simplefilter("ignore")
set_limits()


def dump(text):
    # `eval` itself takes these blanks off a text.
    return ast.dump(ast.parse(text.lstrip(" \t"), mode="eval"))


def compared(text, printed):
    try:
        expected = dump(text)
    except (Exception, RecursionError, MemoryError):
        return "refused"
    try:
        found = dump(printed)
    except (Exception, RecursionError, MemoryError) as error:
        return repr(error)
    return "same" if found == expected else found


for line in sys.stdin:
    print(compared(*json.loads(line)).replace("\n", "\\n"))
