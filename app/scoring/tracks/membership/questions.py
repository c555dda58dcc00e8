"""What a guess at members, or at a hidden column, comes to.

The column is asked of all candidates, and those who are no members are the controls: rows picked and mixed
for a team would tell who its members are to whoever finds them among the candidates.
"""

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.random import Generator

from app.errors import InvalidInput
from app.scoring.arrays import BoolArray, FloatArray
from app.scoring.files import GUESS
from app.scoring.outcomes import Outcome
from app.scoring.rates import wilson
from app.scoring.registry import About, Sizes
from app.scoring.tracks.membership.answer import Members
from app.scoring.tracks.membership.roc import LOW, accuracy, auc, operating_points, tpr
from app.scoring.tracks.membership.settings import hidden_schema
from app.scoring.tracks.membership.tables import Table, parse_rows, parse_scores

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


def read_scores(content: bytes, about: About) -> FloatArray:
    """A guess at the members, (2N,)."""
    return parse_scores(content, about.sizes["originals"])[0]


def answered(scores: FloatArray) -> int:
    """Every candidate has a score."""
    return len(scores)


def surest(members: Members) -> FloatArray:
    """The guess of whoever knows the members."""
    return members.among.astype(np.float64)


def judge_membership(scores: FloatArray, members: Members, sizes: Sizes, *, value: Told = "tpr") -> Outcome:  # noqa: ARG001
    return membership(scores, members.among, value=value)


def read_column(content: bytes, about: About) -> Table:
    """A guess at the hidden column of all candidates, (2N rows)."""
    rows = about.sizes["originals"]
    return parse_rows(content, hidden_schema(about.rules), file=GUESS, fewest=rows, most=rows)[0]


def rows_of(column: Table) -> int:
    return column.rows


def known_column(members: Members) -> Table:
    """The hidden column of all candidates; InvalidInput where it is not at hand."""
    if members.hidden is None:
        raise InvalidInput("the hidden column is known to the service alone")
    return members.hidden


def telling(members: Members) -> Table:
    """The guess that tells most: right of every member, and, if there is another value, of nobody else."""
    column = known_column(members)
    others = ~members.among
    numbers, codes = column.numbers.copy(), column.codes.copy()
    for place, each in enumerate(column.schema.numeric):
        with np.errstate(over="ignore"):
            above = numbers[others, place] - each.least > each.most - numbers[others, place]
        numbers[others, place] = np.where(above, each.least, each.most)
    for place, kind in enumerate(column.schema.categorical):
        codes[others, place] = (codes[others, place] + 1) % len(kind.values)
    return Table(column.schema, numbers, codes)


def judge_attribute(
    guess: Table,
    members: Members,
    sizes: Sizes,  # noqa: ARG001
    *,
    hidden: str = "",  # noqa: ARG001 - it has been read into the members
    tolerance: float = 0.0,
) -> Outcome:
    return attribute(guess, known_column(members), members.among, tolerance=tolerance)


def blind_scores(about: About, rng: Generator) -> FloatArray:
    """Scores that know nothing, (2N,)."""
    return rng.random(about.sizes["originals"])


def blind_column(about: About, rng: Generator) -> Table:
    """Any of the values that the hidden column may have, (2N rows)."""
    schema, rows = hidden_schema(about.rules), about.sizes["originals"]
    numbers, codes = (
        np.empty((rows, len(schema.numeric))),
        np.empty((rows, len(schema.categorical)), np.int64),
    )
    for place, each in enumerate(schema.numeric):
        share = rng.random(rows)
        numbers[:, place] = (1 - share) * each.least + share * each.most
    for place, kind in enumerate(schema.categorical):
        codes[:, place] = rng.integers(0, len(kind.values), rows)
    return Table(schema, numbers, codes)


def attribute(guess: Table, truth: Table, members: BoolArray, *, tolerance: float = 0.0) -> Outcome:
    """A guess at the hidden column of all candidates, a table of it alone, against the truth.

    p is the share of right cells: equal texts, or numbers at most ``tolerance`` apart, over the members (p_m)
    and over the others, who are the controls (p_c). The value clip((p_m - p_c)/(1 - p_c), 0, 1)
    is what is known of members beyond what is known of anybody; in [0, 1], 0 best for the anonymizer,
    baseline 0 (Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", 2023,
    section 2). Where every control is told rightly there is nothing beyond: 0. The interval is of Wilson's at
    95 %, of p_m low against p_c high, and the other way round.
    """
    right = right_cells(guess, truth, tolerance)
    hits, others = int(right[members].sum()), int(right[~members].sum())
    trials, held = int(members.sum()), int((~members).sum())
    member, control = Fraction(hits, trials), Fraction(others, held)
    (low, high), (least, most) = wilson(hits, trials), wilson(others, held)
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
