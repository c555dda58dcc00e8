"""The numbers of `membership` once more: plain loops over lists, fractions where a number is rational.

A table is a list of rows, a row a list of cells: floats in the first columns, texts in the others.
"""

from fractions import Fraction
from itertools import pairwise

Row = list[float | str]
Rows = list[Row]


def roc(scores: list[float], members: list[bool]) -> list[tuple[Fraction, Fraction]]:
    """(FPR, TPR) for every threshold, none named first."""
    true, false = members.count(True), members.count(False)
    points = [(Fraction(0), Fraction(0))]
    for threshold in sorted(set(scores), reverse=True):
        named = [member for score, member in zip(scores, members, strict=True) if score >= threshold]
        points.append((Fraction(named.count(False), false), Fraction(named.count(True), true)))
    return points


def tpr(scores: list[float], members: list[bool]) -> Fraction:
    rate, best = Fraction(1, 100), Fraction(0)
    points = roc(scores, members)
    for (left, low), (right, high) in pairwise(points):
        if left == rate:
            best = max(best, low)
        if right == rate:
            best = max(best, high)
        if left < rate < right:
            best = max(best, low + (high - low) * (rate - left) / (right - left))
    return best


def auc(scores: list[float], members: list[bool]) -> Fraction:
    inside = [score for score, member in zip(scores, members, strict=True) if member]
    outside = [score for score, member in zip(scores, members, strict=True) if not member]
    won = sum(Fraction((a > b) + (a >= b), 2) for a in inside for b in outside)
    return Fraction(won, len(inside) * len(outside))


def accuracy(scores: list[float], members: list[bool]) -> Fraction:
    """Every candidate is named with the chance that lots drawn at the N-th place give it."""
    needed, right = members.count(True), Fraction(0)
    for score, member in zip(scores, members, strict=True):
        above = sum(other > score for other in scores)
        chance = Fraction(min(max(needed - above, 0), tied := scores.count(score)), tied)
        right += chance if member else 1 - chance
    return right / len(scores)


def beyond(
    guess: list[float | str], truth: list[float | str], members: list[bool], tolerance: float
) -> Fraction:
    shares = []
    for group in (True, False):
        cells = [(a, b) for a, b, member in zip(guess, truth, members, strict=True) if member is group]
        shares.append(Fraction(sum(right(a, b, tolerance) for a, b in cells), len(cells)))
    member, control = shares
    return (
        Fraction(0)
        if control == 1
        else min(max((member - control) / (1 - control), Fraction(0)), Fraction(1))
    )


def right(a: float | str, b: float | str, tolerance: float) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return abs(a - b) <= tolerance
