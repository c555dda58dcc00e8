"""Judge guesses of the members and of a hidden column.

The hidden column is guessed for all candidates, not for selected members and controls: otherwise anyone who
recognizes these among the candidates would know the members.

Candidates with the same score are one operating point of the ROC curve. Its statistics are linear between two
points, which is their expected value if ties are broken at random.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.tracks.files import GUESS_FILE
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.decimals import (
    exact_decimal,
    find_midpoints,
    largest_float_up_to,
    list_exact_decimals,
)
from anoncup.tracks.membership.reference_predictor import predict
from anoncup.tracks.membership.settings import get_hidden_schema
from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable, parse_rows, parse_scores
from anoncup.tracks.model import ReleaseContext
from anoncup.tracks.outcomes import NORMAL_QUANTILE_975, Outcome, wilson_interval

_MembershipValue = Literal["tpr", "advantage"]
"""The statistic that the competition file chooses as the value of the question ``membership``."""
_LOW_FPR = 0.01
"""The false positive rate at which membership guesses are evaluated."""


class OperatingPoints(NamedTuple):
    """Counts of candidates at or above each threshold, from (0, 0) to all candidates, thresholds descending.

    ``true_positives`` (points,) counts the members, ``false_positives`` (points,) the other candidates. There
    is at least one of each.
    """

    true_positives: IntArray
    false_positives: IntArray


def compute_membership_outcome(
    scores: FloatArray, members: BoolArray, *, value: _MembershipValue = "tpr"
) -> Outcome:
    """Judge the scores of all candidates, (2N,), against the mask of members, (2N,).

    The value is ``tpr`` at 1 % FPR with the baseline .01, or the advantage 2 · ``accuracy``
    - 1, at least 0, with the baseline 0. Both are in [0, 1], 0 best for the anonymizer. The interval is
    Wilson's at 95 % over the N members, for a fixed operating point.
    """
    points, member_count = compute_operating_points(scores, members), int(members.sum())
    rate, correct_share = tpr(points), accuracy(points)
    advantage = 2 * correct_share - 1
    details = {"tpr": rate, "auc": auc(points), "accuracy": correct_share, "advantage": advantage}
    low, high = wilson_interval((rate if value == "tpr" else correct_share) * member_count, member_count)
    if value == "tpr":
        return Outcome(rate, _LOW_FPR, interval=(low, high), details=details)
    interval = max(0.0, 2 * low - 1), max(0.0, 2 * high - 1)
    return Outcome(max(0.0, advantage), interval=interval, details=details)


def read_scores(content: bytes, context: ReleaseContext[MembershipOriginal, object]) -> FloatArray:
    """Parse a guess of the members, (2N,)."""
    return parse_scores(content, context.sizes["originals"])[0]


def make_perfect_scores(members: Members) -> FloatArray:
    """Return the guess of an attacker who knows the members."""
    return members.is_member.astype(np.float64)


def judge_membership(
    scores: FloatArray,
    members: Members,
    context: ReleaseContext[MembershipOriginal, object],
    *,
    value: _MembershipValue = "tpr",
) -> Outcome:
    return compute_membership_outcome(scores, members.is_member, value=value)


def read_column(content: bytes, context: ReleaseContext[MembershipOriginal, object]) -> TypedTable:
    """Parse a guess of the hidden column of all candidates, (2N rows)."""
    rows = context.sizes["originals"]
    return parse_rows(
        content,
        get_hidden_schema(context.rules),
        file=GUESS_FILE,
        min_rows=rows,
        max_rows=rows,
        smallest=0.0,
    )[0]


def require_hidden_column(members: Members) -> TypedTable:
    """Return the hidden column of all candidates; raise InvalidInput if it is not available."""
    if members.hidden_column is None:
        raise InvalidInput("only the service knows the hidden column")
    return members.hidden_column


def make_reference_guess(members: Members) -> TypedTable:
    """Return what the reference predictor guesses for the members' hidden column, (N rows).

    It is trained on the background rows or, without them, on the candidates that are not members.
    """
    original, hidden_column = members.original, require_hidden_column(members)
    if original is None:
        raise InvalidInput("only the service knows the hidden column")
    public, is_other = original.candidates, ~members.is_member

    def predict_members() -> TypedTable:
        known_rows, hidden_cells = public.select_rows(is_other), hidden_column.select_rows(is_other)
        if original.background is not None:
            known_rows = original.background.select_columns(*public.schema.names)
            hidden_cells = original.background.select_columns(*hidden_column.schema.names)
        return predict(known_rows, hidden_cells, public.select_rows(members.rows), hidden_column)

    key = sha256(
        members.rows.tobytes() + hidden_column.numbers.tobytes() + hidden_column.codes.tobytes()
    ).digest()
    memo_key = ("reference_guess", key)
    if memo_key not in original.memo:
        original.memo[memo_key] = predict_members()
    guess: TypedTable = original.memo[memo_key]
    return guess


def judge_attribute(
    guess: TypedTable,
    members: Members,
    context: ReleaseContext[MembershipOriginal, object],
    *,
    hidden: str = "",
    tolerance: float = 0.0,
) -> Outcome:
    truth, reference_column = require_hidden_column(members), make_reference_guess(members)
    return compute_attribute_outcome(guess, truth, members.is_member, reference_column, tolerance=tolerance)


def make_blind_scores(context: ReleaseContext[MembershipOriginal, object], rng: Generator) -> FloatArray:
    """Return random scores, (2N,)."""
    return rng.random(context.sizes["originals"])


def make_blind_column(context: ReleaseContext[MembershipOriginal, object], rng: Generator) -> TypedTable:
    """Return random values of the hidden column, (2N rows)."""
    schema, rows = get_hidden_schema(context.rules), context.sizes["originals"]
    numbers = np.empty((rows, len(schema.numeric)))
    codes = np.empty((rows, len(schema.categorical)), np.int64)
    for index, column in enumerate(schema.numeric):
        share = rng.random(rows)
        numbers[:, index] = (1 - share) * column.minimum + share * column.maximum
    for index, categorical in enumerate(schema.categorical):
        codes[:, index] = rng.integers(0, len(categorical.values), rows)
    return TypedTable(schema, numbers, codes)


def compute_attribute_outcome(
    guess: TypedTable,
    truth: TypedTable,
    members: BoolArray,
    reference_column: TypedTable,
    *,
    tolerance: float = 0.0,
) -> Outcome:
    """Judge a guess of the hidden column of all candidates, (2N rows), against the truth.

    A guessed number is first moved to the nearest one that occurs in ``truth``; ties: the lower. Otherwise, a
    number between two of them could be right about both. p is the share of right cells among the members:
    equal texts, or numbers at most ``tolerance`` apart. Two other guesses for the same members need no
    release: the value of ``truth`` that is right most often, and the prediction ``reference_column``, (N
    rows). b is the larger share of right cells among these two. The value is clip((p - b)/(1 - b), 0, 1), or
    0 if b is 1; 0 is best for the anonymizer, and the baseline is 0. Details are p, b, the shares of both
    other guesses, the share right among the other candidates, and an interval of p - b. (After Giomi et al.,
    "A unified framework for quantifying privacy risk in synthetic data", 2023, with a predictor instead of
    controls.)
    """
    key = build_answer_key(truth, tolerance)
    member_key, is_right = key.select_rows(members), key.find_right_cells(guess)
    is_hit, trials = is_right[members], int(members.sum())
    control_hits = {
        "commonest": member_key.find_right_cells_of_best_constant(),
        "reference": member_key.find_right_cells(reference_column),
    }
    is_control_hit = max(control_hits.values(), key=lambda cells: int(cells.sum()))
    control_count = int(is_control_hit.sum())
    p, b = int(is_hit.sum()) / trials, control_count / trials
    low, high = compute_difference_interval(is_hit, is_control_hit)
    gains = np.array([int(is_hit.sum()) - control_count, low * trials, high * trials])
    shares = gains / (trials - control_count) if control_count < trials else np.zeros(3)
    value, *interval = np.clip(shares, 0.0, 1.0).tolist()
    return Outcome(
        value,
        correct=int(is_hit.sum()),
        trials=trials,
        interval=(interval[0], interval[1]),
        details={
            "members": p,
            "without_release": b,
            **{name: float(cells.mean()) for name, cells in control_hits.items()},
            "others": float(is_right[~members].mean()),
            "difference_low": low,
            "difference_high": high,
        },
    )


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The true values of a hidden column, and which other values are right in their place.

    Values are given by their position in the ascending list of different numbers or in the schema's list of
    texts. ``positions`` (n,) has the true values. In place of value v, the values from ``first_right[v]`` to
    ``last_right[v]``, (values,), are right. ``limits`` (values - 1,) has the largest number that is moved to
    each value but the last; it is empty for texts.
    """

    positions: IntArray
    first_right: IntArray
    last_right: IntArray
    limits: FloatArray

    def select_rows(self, rows: BoolArray) -> "AnswerKey":
        return replace(self, positions=self.positions[rows])

    def find_right_cells(self, guess: TypedTable) -> BoolArray:
        """Return whether each cell of a guessed column is right, (n,)."""
        if guess.schema.categorical:
            return self._compare(guess.codes[:, 0])
        return self._compare(np.searchsorted(self.limits, guess.numbers[:, 0]))

    def find_right_cells_of_best_constant(self) -> BoolArray:
        """Return where the value is right that is right most often, (n,); ties: the first value."""
        counts = np.bincount(self.positions, minlength=len(self.first_right))
        sums = np.append(0, np.cumsum(counts))
        return self._compare(np.argmax(sums[self.last_right + 1] - sums[self.first_right]))

    def _compare(self, positions: IntArray | np.intp) -> BoolArray:
        return np.asarray(
            (self.first_right[self.positions] <= positions) & (positions <= self.last_right[self.positions])
        )


def build_answer_key(truth: TypedTable, tolerance: float) -> AnswerKey:
    """Return the key to a hidden column; numbers at most ``tolerance`` apart are right."""
    if truth.schema.categorical:
        texts = np.arange(len(truth.schema.categorical[0].values))
        return AnswerKey(truth.codes[:, 0], texts, texts, np.empty(0))
    levels, positions = np.unique(truth.numbers[:, 0], return_inverse=True)
    decimals = list_exact_decimals(levels)
    first_right = _find_first_within(decimals, exact_decimal(tolerance))
    last_right = np.searchsorted(first_right, np.arange(len(levels)), side="right") - 1
    limits = np.array([largest_float_up_to(midpoint) for midpoint in find_midpoints(decimals)])
    return AnswerKey(positions, first_right, last_right, limits)


def _find_first_within(decimals: Sequence[Fraction], tolerance: Fraction) -> IntArray:
    """Return the position of the first number at most ``tolerance`` below each of the ascending numbers."""
    positions, first = [], 0
    for number in decimals:
        while number - decimals[first] > tolerance:
            first += 1
        positions.append(first)
    return np.array(positions)


def compute_difference_interval(is_hit: BoolArray, is_control_hit: BoolArray) -> tuple[float, float]:
    """Return a 95 % interval of the difference between two shares of hits on the same rows.

    Half a row is added to each cell of the two-by-two table (Agresti and Min, "Simple improved confidence
    intervals for comparing matched proportions", 2005). The interval always contains the observed difference.
    """
    guess_only_count = int((is_hit & ~is_control_hit).sum())
    control_only_count = int((is_control_hit & ~is_hit).sum())
    padded_count = len(is_hit) + 2
    hit_surplus = guess_only_count - control_only_count
    discordant_count = guess_only_count + control_only_count + 1
    half_width = (
        NORMAL_QUANTILE_975
        * math.sqrt(discordant_count - hit_surplus * hit_surplus / padded_count)
        / padded_count
    )
    difference = hit_surplus / len(is_hit)
    low = max(hit_surplus / padded_count - half_width, -1.0)
    high = min(hit_surplus / padded_count + half_width, 1.0)
    return min(low, difference), max(high, difference)


def compute_operating_points(scores: FloatArray, members: BoolArray) -> OperatingPoints:
    """Compute the operating points from scores, (n,), and the mask of members, (n,)."""
    levels, level_of = np.unique(-scores, return_inverse=True)
    true_counts = np.bincount(level_of[members], minlength=len(levels))
    false_counts = np.bincount(level_of[~members], minlength=len(levels))
    return OperatingPoints(np.cumsum(np.append(0, true_counts)), np.cumsum(np.append(0, false_counts)))


def tpr(points: OperatingPoints) -> float:
    """Return the true positive rate at a false positive rate of 1 %, in [0, 1]; 0 best for the anonymizer.

    It is interpolated between operating points, starting at (0, 0); if several points have that rate, the
    highest counts. Blind guessing gets .01. Carlini et al., "Membership Inference Attacks From First
    Principles", 2022, section III.
    """
    members, others = points.true_positives[-1], points.false_positives[-1]
    return float(np.interp(_LOW_FPR, points.false_positives / others, points.true_positives / members))


def auc(points: OperatingPoints) -> float:
    """Return the probability that a member scores above another candidate, in [0, 1]; ties count half.

    Blind guessing gets 1/2. Hanley and McNeil, "The meaning and use of the area under a ROC curve", 1982.
    """
    members, others = points.true_positives[-1], points.false_positives[-1]
    return float(np.trapezoid(points.true_positives, points.false_positives) / (members * others))


def accuracy(points: OperatingPoints) -> float:
    """Return the share of candidates classified right if the N highest scores are taken for members.

    N is the number of members. If the N-th place is tied, the result is the expected value of breaking the
    tie at random. It is in [0, 1]; blind guessing gets 1/2.
    """
    members, others = points.true_positives[-1], points.false_positives[-1]
    correct_members = np.interp(
        members, points.true_positives + points.false_positives, points.true_positives
    )
    return float((2 * correct_members + others - members) / (members + others))
