"""What a guess at members, or at a hidden column of theirs, comes to."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.random import Generator

from app.errors import InvalidInput
from app.scoring.arrays import BoolArray, FloatArray
from app.scoring.outcomes import Outcome
from app.scoring.rates import wilson
from app.scoring.tracks.membership.roc import LOW, accuracy, auc, operating_points, tpr
from app.scoring.tracks.membership.tables import Table

Told = Literal["tpr", "advantage"]
"""Which number of the question ``membership`` is its value; the competition says it."""


def membership(scores: FloatArray, members: BoolArray, *, value: Told = "tpr") -> Outcome:
    """Question ``membership``: a score for each candidate, (2N,), against who is one, (2N,).

    The value is :func:`roc.tpr` at 1 % FPR, baseline .01, or the advantage 2 · :func:`roc.accuracy` - 1,
    0 where it is negative, baseline 0; both in [0, 1], 0 best for the anonymizer. The interval is Wilson's at
    95 % over the N members, the operating point taken as given.
    """
    points = operating_points(scores, members)
    rate, right = tpr(points), accuracy(points)
    told = {"tpr": rate, "auc": auc(points), "accuracy": right, "advantage": 2 * right - 1}
    details = {name: float(number) for name, number in told.items()}
    low, high = wilson(float((rate if value == "tpr" else right) * points.members), points.members)
    if value == "tpr":
        return Outcome(float(rate), float(LOW), interval=(low, high), details=details)
    interval = max(0.0, 2 * low - 1), max(0.0, 2 * high - 1)
    return Outcome(max(0.0, float(2 * right - 1)), interval=interval, details=details)


@dataclass(frozen=True, slots=True)
class Hidden:
    """Question ``attribute``: what is asked, and the answer.

    ``known``: the stated columns of members and as many controls, mixed; ``truth``: their hidden column;
    ``members``, (2N,): who is one.
    """

    known: Table
    truth: Table
    members: BoolArray


def hide(members: Table, controls: Table, *, known: tuple[str, ...], hidden: str, rng: Generator) -> Hidden:
    """Members and as many of the controls, drawn and mixed by ``rng``; InvalidInput if there are too few."""
    if controls.rows < members.rows:
        given, needed = controls.rows, members.rows
        raise InvalidInput("{given} controls are given; {needed} are needed", given=given, needed=needed)
    chosen = controls.at(rng.permutation(controls.rows)[: members.rows])
    numbers = np.concatenate((members.numbers, chosen.numbers))
    codes = np.concatenate((members.codes, chosen.codes))
    order = rng.permutation(len(codes))
    mixed = Table(members.schema, numbers, codes).at(order)
    names = [name for name in known if name != hidden]
    return Hidden(mixed.only(*names), mixed.only(hidden), order < members.rows)


def attribute(guess: Table, asked: Hidden, *, tolerance: float = 0.0) -> Outcome:
    """A guess at the hidden column, a table of it alone, against the truth.

    p is the share of right cells: equal texts, or numbers at most ``tolerance`` apart, over the members (p_m)
    and over the controls (p_c). The value clip((p_m - p_c)/(1 - p_c), 0, 1) is what is known of members
    beyond what is known of anybody; in [0, 1], 0 best for the anonymizer, baseline 0 (Giomi et al.,
    "A unified framework for quantifying privacy risk in synthetic data", 2023, section 2). Where every
    control is told rightly there is nothing beyond: 0. The interval is of Wilson's at 95 %, of p_m low
    against p_c high, and the other way round.
    """
    right = right_cells(guess, asked.truth, tolerance)
    hits, others = int(right[asked.members].sum()), int(right[~asked.members].sum())
    trials = int(asked.members.sum())
    member, control = Fraction(hits, trials), Fraction(others, trials)
    (low, high), (least, most) = wilson(hits, trials), wilson(others, trials)
    return Outcome(
        float(beyond(member, control)),
        correct=hits,
        trials=trials,
        interval=(
            float(beyond(Fraction(low), Fraction(most))),
            float(beyond(Fraction(high), Fraction(least))),
        ),
        details={"members": float(member), "controls": float(control)},
    )


def right_cells(guess: Table, truth: Table, tolerance: float) -> BoolArray:
    """Which rows of a single column are right, (n,)."""
    if truth.schema.categorical:
        return np.asarray(guess.codes[:, 0] == truth.codes[:, 0])
    with np.errstate(over="ignore"):
        return np.asarray(np.abs(guess.numbers[:, 0] - truth.numbers[:, 0]) <= tolerance)


def beyond(member: Fraction, control: Fraction) -> Fraction:
    """clip((p_m - p_c)/(1 - p_c), 0, 1); 0 where p_c is 1."""
    if control == 1:
        return Fraction(0)
    return max(Fraction(0), (member - control) / (1 - control))
