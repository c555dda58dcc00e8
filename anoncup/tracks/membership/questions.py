"""What a guess at members, or at a hidden column, comes to.

The column is asked of all candidates, not of members and controls that were picked for a target: who finds
these among the candidates would know who the members are.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Literal

import numpy as np
from numpy.random import Generator

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray, FloatArray
from anoncup.tracks.files import GUESS
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.reference_predictor import predict
from anoncup.tracks.membership.roc import LOW, accuracy, auc, operating_points, tpr
from anoncup.tracks.membership.settings import hidden_schema
from anoncup.tracks.membership.tables import Table, parse_rows, parse_scores
from anoncup.tracks.memo import once
from anoncup.tracks.model import About, Sizes
from anoncup.tracks.outcomes import NORMAL_95, Outcome, wilson

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
        raise InvalidInput("only the service knows the hidden column")
    return members.hidden


def reference_guess(members: Members) -> Table:
    """Return what the reference predictor says of the members' hidden column, (N rows).

    It learns from the background rows, or without them from the candidates that are not members.
    """
    original, hidden = members.original, known_column(members)
    if original is None:
        raise InvalidInput("only the service knows the hidden column")
    public, others = original.candidates, ~members.among

    def predict_members() -> Table:
        known, cells = public.at(others), hidden.at(others)
        if original.background is not None:
            known = original.background.only(*public.schema.names)
            cells = original.background.only(*hidden.schema.names)
        return predict(known, cells, public.at(members.rows))

    key = sha256(members.rows.tobytes() + hidden.numbers.tobytes() + hidden.codes.tobytes()).digest()
    return once(original.memo, ("reference_guess", key), predict_members)


def judge_attribute(
    guess: Table,
    members: Members,
    sizes: Sizes,  # noqa: ARG001
    *,
    hidden: str = "",  # noqa: ARG001 - it has been read into the members
    tolerance: float = 0.0,
) -> Outcome:
    truth, reference = known_column(members), reference_guess(members)
    return attribute(guess, truth, members.among, reference, tolerance=tolerance)


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


def attribute(
    guess: Table, truth: Table, members: BoolArray, reference: Table, *, tolerance: float = 0.0
) -> Outcome:
    """Judge a guess at the hidden column of all candidates, (2N rows), against the truth.

    p is the share of right cells among the members: equal texts, or numbers at most ``tolerance`` apart. b is
    the larger share, among the same members, of two guesses that need no release: the value that is right
    most often, and ``reference``, a prediction for the members, (N rows). The value
    clip((p - b)/(1 - b), 0, 1) is 0 best for the anonymizer and has the baseline 0; where b is 1 it is 0.
    Details: p, b and both guesses behind it, the share right among the other candidates, and an interval of
    p - b. (After Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", 2023,
    with a predictor in the place of controls.)
    """
    own, right = truth.at(members), right_cells(guess, truth, tolerance)
    hit, trials = right[members], int(members.sum())
    imputed = {
        "commonest": right_cells(commonest(own, tolerance), own, tolerance),
        "reference": right_cells(reference, own, tolerance),
    }
    control = max(imputed.values(), key=lambda cells: int(cells.sum()))
    p, b = Fraction(int(hit.sum()), trials), Fraction(int(control.sum()), trials)
    low, high = paired_difference(hit, control)
    return Outcome(
        float(beyond(p, b)),
        correct=int(hit.sum()),
        trials=trials,
        interval=(float(beyond(b + low, b)), float(beyond(b + high, b))),
        details={
            "members": float(p),
            "without_release": float(b),
            **{name: float(cells.mean()) for name, cells in imputed.items()},
            "others": float(right[~members].mean()),
            "difference_low": float(low),
            "difference_high": float(high),
        },
    )


def commonest(column: Table, tolerance: float) -> Table:
    """Return a column of the one value that is right most often in this column, of equal ones the first."""
    if column.schema.categorical:
        code = int(np.bincount(column.codes[:, 0]).argmax())
        return Table(column.schema, column.numbers, np.full_like(column.codes, code))
    levels, counts = np.unique(column.numbers[:, 0], return_counts=True)
    value = levels[most_within(levels.tolist(), counts.tolist(), tolerance)]
    return Table(column.schema, np.full_like(column.numbers, value), column.codes)


def most_within(levels: Sequence[float], counts: Sequence[int], tolerance: float) -> int:
    """Return the place of the level, ascending ones, that has the most values at most ``tolerance`` away."""
    first = after = found = most = within = 0
    for place, level in enumerate(levels):
        while after < len(levels) and levels[after] - level <= tolerance:
            within += counts[after]
            after += 1
        while level - levels[first] > tolerance:
            within -= counts[first]
            first += 1
        if within > most:
            found, most = place, within
    return found


def paired_difference(hit: BoolArray, control: BoolArray) -> tuple[Fraction, Fraction]:
    """Return a 95 % interval of the difference between two shares of the same rows, from paired differences.

    Half a row is added to each cell of the two-by-two table (Agresti and Min, "Simple improved confidence
    intervals for comparing matched proportions", 2005); it holds the difference itself.
    """
    more, less = int((hit & ~control).sum()), int((control & ~hit).sum())
    trials, gap, apart = len(hit) + 2, more - less, more + less + 1
    half = NORMAL_95 * math.sqrt(apart - gap * gap / trials) / trials
    difference = Fraction(gap, len(hit))
    low, high = max(gap / trials - half, -1.0), min(gap / trials + half, 1.0)
    return min(Fraction(low), difference), max(Fraction(high), difference)


def right_cells(guess: Table, truth: Table, tolerance: float) -> BoolArray:
    """Which rows of a single column are right, (n,)."""
    if truth.schema.categorical:
        return np.asarray(guess.codes[:, 0] == truth.codes[:, 0])
    with np.errstate(over="ignore"):
        return np.asarray(np.abs(guess.numbers[:, 0] - truth.numbers[:, 0]) <= tolerance)


def beyond(share: Fraction, control: Fraction) -> Fraction:
    """Return clip((share - control)/(1 - control), 0, 1); 0 where the control is 1."""
    if control == 1:
        return Fraction(0)
    return min(max((share - control) / (1 - control), Fraction(0)), Fraction(1))
