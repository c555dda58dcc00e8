"""Re-identification rates: compare the guesses of attackers with the answer.

X is the original with n rows, Y the release with n' rows. Row j of Y comes from row ``source[j]`` of X.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.messages import Message
from anoncup.tracks.outcomes import Outcome, wilson_interval
from anoncup.tracks.parts import BuiltInGuess, HasRows

ABSTAIN = -1
"""No guess for a row."""


@dataclass(frozen=True, slots=True)
class GroupGuess(BuiltInGuess[IntArray, IntArray]):
    """Guess at random within a group of original rows.

    Each row of group ``guessed_group[j]`` of X is guessed with the same probability for row j of Y.
    ``guessed_group`` (n',) is ``ABSTAIN`` or a group that has rows. ``group_of`` (n,) is the group of each
    row of X, and ``group_sizes`` (groups,) counts the rows of each group.
    """

    guessed_group: IntArray
    group_of: IntArray
    group_sizes: IntArray

    def judge(self, answer: IntArray, sizes: Mapping[str, int]) -> Outcome:
        contains_source = self.group_of[answer] == self.guessed_group
        hit_probabilities = np.zeros(len(answer))
        hit_probabilities[contains_source] = 1.0 / self.group_sizes[self.guessed_group[contains_source]]
        return _compute_expected_outcome(hit_probabilities, rows=sizes["originals"])

    def sample(self, rng: Generator) -> IntArray:
        """Sample one guess vector; it abstains on rows without a group."""
        rows_by_group = np.argsort(self.group_of, kind="stable")
        starts = np.cumsum(self.group_sizes) - self.group_sizes
        has_abstained = self.guessed_group == ABSTAIN
        groups = np.where(has_abstained, 0, self.guessed_group)
        sampled_rows = rows_by_group[starts[groups] + rng.integers(0, self.group_sizes[groups])]
        return np.where(has_abstained, ABSTAIN, sampled_rows)


@dataclass(frozen=True, slots=True)
class KnownCluster(BuiltInGuess[IntArray, IntArray]):
    """Guess at random within the cluster of each row of X, which the attacker knows.

    ``cluster_sizes`` (n',) is the size of the cluster of each row of Y.
    """

    cluster_sizes: IntArray

    def judge(self, answer: IntArray, sizes: Mapping[str, int]) -> Outcome:  # noqa: ARG002
        return _compute_expected_outcome(1.0 / self.cluster_sizes, rows=sizes["originals"])

    def sample(self, rng: Generator) -> None:
        """Return None, because no attacker really knows the clusters."""


@dataclass(frozen=True, slots=True)
class AnnotatedGuess(BuiltInGuess[IntArray, IntArray]):
    """A guess vector (n',), in which ``ABSTAIN`` is no guess, with a message about how it was computed."""

    guess: IntArray
    note: Message | None = None

    def judge(self, answer: IntArray, sizes: Mapping[str, int]) -> Outcome:
        return replace(rate_guess(self.guess, answer, rows=sizes["originals"]), note=self.note)

    def sample(self, rng: Generator) -> IntArray:  # noqa: ARG002
        return self.guess


LinkGuess: TypeAlias = IntArray | BuiltInGuess[IntArray, IntArray]
"""The guess of an attacker of a linkage track.

An array is a guess vector, (n',): for each released individual its row in the original, counted from 0, or
``ABSTAIN``.
"""


def rate_guess(guess: LinkGuess, source: IntArray, *, rows: int) -> Outcome:
    """Return the share of rows whose guess is right, #{j : g_j = s_j} / n'; an abstention is not a hit.

    The value is in [0, 1]; 0 is best for the anonymizer. It is an expectation for guesses at random.
    ``source`` (n',) is the answer, counted from 0, and ``rows`` is n. Raises InvalidInput for anything but
    row numbers.
    """
    if isinstance(guess, BuiltInGuess):
        return guess.judge(source, {"originals": rows})
    guess, source = np.asarray(guess), np.asarray(source)
    _require_row_numbers("guess", guess, least=ABSTAIN, rows=rows, shape=source.shape)
    _require_row_numbers("source", source, least=0, rows=rows, shape=(len(guess),))
    correct, trials = int((guess == source).sum()), len(source)
    return Outcome(
        correct / max(trials, 1),
        correct=correct,
        trials=trials,
        interval=wilson_interval(correct, trials),
        shown_baseline=1 / rows,
    )


def _require_row_numbers(
    name: str, numbers: IntArray, *, least: int, rows: int, shape: tuple[int, ...]
) -> None:
    is_whole = numbers.dtype.kind in "iu" or not numbers.size
    if not is_whole or numbers.shape != shape or ((numbers < least) | (numbers >= rows)).any():
        raise InvalidInput(
            "{name}: a row number from {least} to {last}, counted from 0, for each released row",
            name=name,
            least=least,
            last=rows - 1,
        )


def _compute_expected_outcome(hit_probabilities: FloatArray, *, rows: int) -> Outcome:
    """Return the exact expected rate, the mean of the probabilities of a hit (n',).

    The standard deviation assumes independent guesses.
    """
    trials = len(hit_probabilities)
    expected_correct = math.fsum(hit_probabilities)
    sd = math.sqrt(math.fsum(hit_probabilities * (1.0 - hit_probabilities))) / max(trials, 1)
    return Outcome(
        expected_correct / max(trials, 1),
        correct=expected_correct,
        trials=trials,
        sd=sd,
        shown_baseline=1 / rows,
    )


def count_answered(guess: IntArray) -> int:
    """Return the number of rows on which a guess vector does not abstain."""
    return int(np.count_nonzero(guess != ABSTAIN))


def own_row(target: HasRows) -> IntArray:
    """Guess row j for row j, which succeeds if the rows of a release were never shuffled."""
    return np.arange(target.rows)
