"""Re-identification rates: compare the predictions of attackers with the answer.

X is the original with n rows, Y the release with n' rows. Row j of Y comes from row ``source[j]`` of X.
"""

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.messages import Message
from anoncup.tracks.outcomes import Rate, wilson_interval

ABSTAIN = -1


@dataclass(frozen=True, slots=True)
class GroupPrediction:
    """Prediction of an attacker that guesses at random within a group of original rows.

    Each row of group ``guessed_group[j]`` of X is guessed with the same probability for row j of Y.
    ``guessed_group`` (n',) is ``ABSTAIN`` or a group that has rows. ``group_of`` (n,) is the group of each
    row of X, and ``group_sizes`` (groups,) counts the rows of each group.
    """

    guessed_group: IntArray
    group_of: IntArray
    group_sizes: IntArray

    def rate(self, source: IntArray, *, rows: int) -> Rate:
        contains_source = self.group_of[source] == self.guessed_group
        hit_probabilities = np.zeros(len(source))
        hit_probabilities[contains_source] = 1.0 / self.group_sizes[self.guessed_group[contains_source]]
        return _compute_expected_rate(hit_probabilities, rows=rows)

    def resolve_guess(self, rng: np.random.Generator) -> IntArray:
        return sample_guess(self, rng)


@dataclass(frozen=True, slots=True)
class KnownCluster:
    """Prediction of an attacker that knows each row's cluster of X and guesses at random within it.

    ``cluster_sizes`` (n',) is the size of the cluster of each row of Y.
    """

    cluster_sizes: IntArray

    def rate(self, source: IntArray, *, rows: int) -> Rate:  # noqa: ARG002
        return _compute_expected_rate(1.0 / self.cluster_sizes, rows=rows)

    def resolve_guess(self, rng: np.random.Generator) -> None:
        """Return None, because no attacker really knows the clusters."""


@dataclass(frozen=True, slots=True)
class AnnotatedGuess:
    """A guess vector (n',), in which ``ABSTAIN`` is no guess, with a message about how it was computed."""

    guess: IntArray
    note: Message | None = None

    def rate(self, source: IntArray, *, rows: int) -> Rate:
        return replace(rate_guess(self.guess, source, rows=rows), note=self.note)

    def resolve_guess(self, rng: np.random.Generator) -> IntArray:  # noqa: ARG002
        return self.guess


class _RateablePrediction(Protocol):
    """What the predictions have in common; the functions of the same names below document the methods."""

    def rate(self, source: IntArray, *, rows: int) -> Rate: ...

    def resolve_guess(self, rng: np.random.Generator) -> IntArray | None: ...


Prediction = IntArray | GroupPrediction | KnownCluster | AnnotatedGuess
"""What an attacker of a linkage track returns. A plain array is a guess vector."""


def _wrap_guess(prediction: Prediction) -> _RateablePrediction:
    """Return a plain guess vector as an :class:`AnnotatedGuess`, and any other prediction unchanged."""
    if isinstance(prediction, GroupPrediction | KnownCluster | AnnotatedGuess):
        return prediction
    return AnnotatedGuess(prediction)


def rate_prediction(prediction: Prediction, source: IntArray, *, rows: int) -> Rate:
    """Return the rate of a prediction; ``rows`` is the number of original rows."""
    return _wrap_guess(prediction).rate(source, rows=rows)


def rate_guess(guess: IntArray, source: IntArray, *, rows: int) -> Rate:
    """Return the share of rows whose guess is right, #{j : g_j = s_j} / n'; an abstention is not a hit."""
    correct, trials = int((guess == source).sum()), len(source)
    return Rate(
        correct / max(trials, 1), correct, trials, 1 / rows, interval=wilson_interval(correct, trials)
    )


def _compute_expected_rate(hit_probabilities: FloatArray, *, rows: int) -> Rate:
    """Return the exact expected rate, the mean of the probabilities of a hit (n',).

    The standard deviation assumes independent guesses.
    """
    trials = len(hit_probabilities)
    expected_correct = math.fsum(hit_probabilities)
    sd = math.sqrt(math.fsum(hit_probabilities * (1.0 - hit_probabilities))) / max(trials, 1)
    return Rate(expected_correct / max(trials, 1), expected_correct, trials, 1 / rows, sd=sd)


def count_answered(guess: IntArray) -> int:
    """Return the number of rows on which a guess vector does not abstain."""
    return int(np.count_nonzero(guess != ABSTAIN))


def resolve_guess(prediction: Prediction, rng: np.random.Generator) -> IntArray | None:
    """Return a prediction as a guess vector, sampled if it is random, or None if nobody could submit it."""
    return _wrap_guess(prediction).resolve_guess(rng)


def sample_guess(prediction: GroupPrediction, rng: np.random.Generator) -> IntArray:
    """Sample one guess vector; it abstains on rows without a group."""
    rows_by_group = np.argsort(prediction.group_of, kind="stable")
    starts = np.cumsum(prediction.group_sizes) - prediction.group_sizes
    has_abstained = prediction.guessed_group == ABSTAIN
    groups = np.where(has_abstained, 0, prediction.guessed_group)
    sampled_rows = rows_by_group[starts[groups] + rng.integers(0, prediction.group_sizes[groups])]
    return np.where(has_abstained, ABSTAIN, sampled_rows)
