"""Writes vectors.tsv: what scipy and the textbook say about 1,000 random pairs of lists with ties.

Run once, with scipy 1.17.1 and numpy on Python 3.11: python make.py > vectors.tsv

Each line has two lists of numbers from 0 to 61 (one character each, in the order of DIGITS) and, separated by tabs:
Kendall's tau-b of the lists (scipy.stats.kendalltau; nan if all numbers of a list are equal); Spearman's footrule of
their ranks, the greatest number first and equal numbers in the order of the list (scipy.stats.rankdata,
scipy.spatial.distance.cityblock); Jain's index and the Gini coefficient of the first list by their definitions: the
squared sum by n times the sum of squares, and the mean absolute difference by twice the mean.
"""

import random
import string

import numpy
from scipy.spatial.distance import cityblock
from scipy.stats import kendalltau, rankdata

DIGITS = string.digits + string.ascii_lowercase + string.ascii_uppercase


def lists(generator):
    count = generator.choice([3, 5, 8, 13, 21, 34]) if generator.random() < 0.97 else 400
    kinds = generator.choice([2, 3, 4, 10, 62]) if generator.random() < 0.97 else 1
    first = [generator.randrange(kinds) for _ in range(count)]
    match generator.randrange(20):
        case 0:
            second = [61 - number for number in first]
        case 1 | 2 | 3 | 4 | 5 | 6:
            kinds = generator.choice([2, 5, 62])
            second = [generator.randrange(kinds) for _ in range(count)]
        case _:
            second = [min(61, max(0, number + generator.randrange(-2, 3))) for number in first]
    return first, second


def jain(amounts):
    squares = len(amounts) * (amounts**2).sum()
    return amounts.sum() ** 2 / squares if squares else float("nan")


def gini(amounts):
    differences = numpy.abs(amounts[:, None] - amounts[None, :])
    return differences.mean() / (2 * amounts.mean()) if amounts.sum() else float("nan")


generator = random.Random(12)
for _ in range(1000):
    first, second = lists(generator)
    tau = kendalltau(first, second, variant="b").statistic
    ranks = [rankdata([-number for number in numbers], method="ordinal") for numbers in (first, second)]
    amounts = numpy.array(first, dtype=float)
    texts = ["".join(DIGITS[number] for number in numbers) for numbers in (first, second)]
    measures = [float(tau), int(cityblock(*ranks)), float(jain(amounts)), float(gini(amounts))]
    print(*texts, *(repr(measure) for measure in measures), sep="\t")
