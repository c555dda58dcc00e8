"""Re-identification rates: compare the predictions of attackers with the answer.

X is the original with n rows, Y the release with n' rows. Row j of Y comes from row ``source[j]`` of X.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.messages import Message
from anoncup.tracks.outcomes import Rate, wilson_interval

ABSTAIN = -1


@dataclass(frozen=True, slots=True)
class GroupPrediction:
    """Prediction of an attacker that guesses at random within a group of original rows.

    Each row of group ``guessed_group[j]`` of X is guessed with the same probability for row j of Y.
    ``guessed_group`` (n',) is -1 for an abstention. ``group_of`` (n,) is the group of each row of X, and
    ``sizes`` (groups,) counts the rows of each group.
    """

    guessed_group: IntArray
    group_of: IntArray
    sizes: IntArray


@dataclass(frozen=True, slots=True)
class AnnotatedGuess:
    """A guess vector (n',), -1 = abstain, with a message about how it was computed."""

    guess: IntArray
    note: Message


@dataclass(frozen=True, slots=True)
class KnownCluster:
    """Prediction of an attacker that knows each row's cluster of X and guesses at random within it.

    ``sizes`` (n',) is the size of the cluster of each row of Y.
    """

    sizes: IntArray


Prediction = IntArray | GroupPrediction | KnownCluster | AnnotatedGuess


def rate_prediction(prediction: Prediction, source: IntArray, *, rows: int) -> Rate:
    """Return the rate of a prediction; ``rows`` is the number of original rows."""
    if isinstance(prediction, GroupPrediction):
        correct_groups = prediction.guessed_group[prediction.group_of[source] == prediction.guessed_group]
        return _compute_expected_rate(prediction.sizes[correct_groups], len(source), rows=rows)
    if isinstance(prediction, KnownCluster):
        return _compute_expected_rate(prediction.sizes, len(source), rows=rows)
    if isinstance(prediction, AnnotatedGuess):
        return replace(rate_guess(prediction.guess, source, rows=rows), note=prediction.note)
    return rate_guess(prediction, source, rows=rows)


def rate_guess(guess: IntArray, source: IntArray, *, rows: int) -> Rate:
    """Return the share of rows whose guess is right, #{j : g_j = s_j} / n'; an abstention is not a hit."""
    correct, trials = int((guess == source).sum()), len(source)
    return Rate(
        correct / max(trials, 1), correct, trials, 1 / rows, interval=wilson_interval(correct, trials)
    )


def _compute_expected_rate(sizes: IntArray, trials: int, *, rows: int) -> Rate:
    """Return the exact expected rate (1/n') sum of 1/size over the rows whose source is among the candidates.

    ``sizes`` are the numbers of candidates of these rows. The standard deviation assumes independent guesses.
    """
    probabilities = 1.0 / sizes
    correct = math.fsum(probabilities)
    sd = math.sqrt(math.fsum(probabilities * (1.0 - probabilities))) / max(trials, 1)
    return Rate(correct / max(trials, 1), correct, trials, 1 / rows, sd=sd)


def compute_hit_probabilities(prediction: Prediction, source: IntArray) -> FloatArray:
    """Return the probability of a hit for each row of Y, (n',). They add up to ``correct`` of the rate."""
    match prediction:
        case GroupPrediction():
            candidate_counts = np.maximum(prediction.sizes[np.maximum(prediction.guessed_group, 0)], 1)
            return np.where(
                prediction.group_of[source] == prediction.guessed_group, 1.0 / candidate_counts, 0.0
            )
        case KnownCluster():
            return 1.0 / prediction.sizes
        case AnnotatedGuess():
            return compute_hit_probabilities(prediction.guess, source)
        case _:
            return np.asarray(prediction == source, dtype=np.float64)


def count_answered(guess: IntArray) -> int:
    """Return the number of rows on which a guess vector does not abstain."""
    return int(np.count_nonzero(guess != ABSTAIN))


def resolve_guess(prediction: Prediction, rng: np.random.Generator) -> IntArray | None:
    """Return a prediction as a guess vector, sampled if it is random, or None if nobody could submit it."""
    match prediction:
        case KnownCluster():
            return None
        case GroupPrediction():
            return sample_guess(prediction, rng)
        case AnnotatedGuess():
            return prediction.guess
        case _:
            return prediction


def sample_guess(prediction: GroupPrediction, rng: np.random.Generator) -> IntArray:
    """Sample one guess vector; it abstains on rows without a group."""
    rows_by_group = np.argsort(prediction.group_of, kind="stable")
    starts = np.cumsum(prediction.sizes) - prediction.sizes
    groups = np.maximum(prediction.guessed_group, 0)
    sampled_rows = rows_by_group[starts[groups] + rng.integers(0, prediction.sizes[groups])]
    return np.where(prediction.guessed_group < 0, ABSTAIN, sampled_rows)
