"""Re-identification rates: compare the predictions of attackers with the answer."""

import math
from dataclasses import dataclass, replace

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.messages import Message
from anoncup.tracks.outcomes import Rate, wilson_interval

ABSTAIN = -1


@dataclass(frozen=True, slots=True)
class Candidates:
    """Prediction of an attacker that guesses at random within a group of original rows.

    Row j of Y is taken for a row of group ``guessed_group[j]`` of X, each with the same probability.
    ``guessed_group`` (n',), -1 = abstain; ``group_of`` (n,): the group of each row of X; ``sizes`` (groups,).
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
    """Prediction of an attacker that knows the cluster of X that each row comes from, and guesses within it.

    ``sizes`` (n',): the size of row j's cluster.
    """

    sizes: IntArray


Prediction = IntArray | Candidates | KnownCluster | AnnotatedGuess


def rate_of(prediction: Prediction, source: IntArray, *, rows: int) -> Rate:
    """Return the rate of a prediction, given ``source`` (n',) and the number of original rows."""
    if isinstance(prediction, Candidates):
        reachable = prediction.guessed_group[prediction.group_of[source] == prediction.guessed_group]
        return _expected_rate(prediction.sizes[reachable], len(source), rows=rows)
    if isinstance(prediction, KnownCluster):
        return _expected_rate(prediction.sizes, len(source), rows=rows)
    if isinstance(prediction, AnnotatedGuess):
        return replace(guess_rate(prediction.guess, source, rows=rows), note=prediction.note)
    return guess_rate(prediction, source, rows=rows)


def guess_rate(guess: IntArray, source: IntArray, *, rows: int) -> Rate:
    """Return #{j : g_j = s_j} / n'; an abstention is not a hit."""
    correct, trials = int((guess == source).sum()), len(source)
    return Rate(
        correct / max(trials, 1), correct, trials, 1 / rows, interval=wilson_interval(correct, trials)
    )


def _expected_rate(sizes: IntArray, trials: int, *, rows: int) -> Rate:
    """Return the exact expectation (1/n') sum of 1/size, over rows whose source is among ``size`` candidates.

    The standard deviation is that of independent draws.
    """
    probabilities = 1.0 / sizes
    correct = math.fsum(probabilities)
    sd = math.sqrt(math.fsum(probabilities * (1.0 - probabilities))) / max(trials, 1)
    return Rate(correct / max(trials, 1), correct, trials, 1 / rows, sd=sd)


def hit_probabilities(prediction: Prediction, source: IntArray) -> FloatArray:
    """Return the probability of a hit for each row of Y, (n',); their sum is ``correct`` of the rate."""
    match prediction:
        case Candidates():
            size = np.maximum(prediction.sizes[np.maximum(prediction.guessed_group, 0)], 1)
            return np.where(prediction.group_of[source] == prediction.guessed_group, 1.0 / size, 0.0)
        case KnownCluster():
            return 1.0 / prediction.sizes
        case AnnotatedGuess():
            return hit_probabilities(prediction.guess, source)
        case _:
            return np.asarray(prediction == source, dtype=np.float64)


def count_answered(guess: IntArray) -> int:
    """Return the number of rows on which a guess vector does not abstain."""
    return int(np.count_nonzero(guess != ABSTAIN))


def resolve_guess(prediction: Prediction, rng: np.random.Generator) -> IntArray | None:
    """Return a prediction as a guess vector, sampled if random; None if nobody could submit it."""
    match prediction:
        case KnownCluster():
            return None
        case Candidates():
            return sampled_guess(prediction, rng)
        case AnnotatedGuess():
            return prediction.guess
        case _:
            return prediction


def sampled_guess(candidates: Candidates, rng: np.random.Generator) -> IntArray:
    """Sample one guess vector from the candidates; it abstains where there are none."""
    members = np.argsort(candidates.group_of, kind="stable")
    starts = np.cumsum(candidates.sizes) - candidates.sizes
    groups = np.maximum(candidates.guessed_group, 0)
    sampled_rows = members[starts[groups] + rng.integers(0, candidates.sizes[groups])]
    return np.where(candidates.guessed_group < 0, ABSTAIN, sampled_rows)
