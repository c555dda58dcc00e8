"""How often an attacker was right: the one place where a guess meets the answer."""

import math
from dataclasses import dataclass, replace

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.messages import Message
from anoncup.tracks.outcomes import Rate, wilson

ABSTAIN = -1


@dataclass(frozen=True, slots=True)
class Candidates:
    """An attacker that draws lots: row j of Y is taken for a row of group ``chosen[j]`` of X, each as likely.

    ``chosen`` (n',), -1 = abstain; ``group_of`` (n,) the group of each row of X; ``sizes`` (groups,).
    """

    chosen: IntArray
    group_of: IntArray
    sizes: IntArray


@dataclass(frozen=True, slots=True)
class Noted:
    """A guess vector (n',), -1 = abstain, with something worth knowing about how it came about."""

    guess: IntArray
    note: Message


@dataclass(frozen=True, slots=True)
class OwnCluster:
    """An attacker that knows the cluster of rows of X that row j comes from, and draws lots among them.

    ``sizes`` (n',): how large row j's cluster is.
    """

    sizes: IntArray


Answer = IntArray | Candidates | OwnCluster | Noted


def rate_of(answer: Answer, source: IntArray, *, rows: int) -> Rate:
    """Hold an attacker's answer against ``source`` (n',); ``rows`` is the number of original rows."""
    if isinstance(answer, Candidates):
        reachable = answer.chosen[answer.group_of[source] == answer.chosen]
        return expected_rate(answer.sizes[reachable], len(source), rows=rows)
    if isinstance(answer, OwnCluster):
        return expected_rate(answer.sizes, len(source), rows=rows)
    if isinstance(answer, Noted):
        return replace(guess_rate(answer.guess, source, rows=rows), note=answer.note)
    return guess_rate(answer, source, rows=rows)


def guess_rate(guess: IntArray, source: IntArray, *, rows: int) -> Rate:
    """#{j : g_j = s_j} / n'; an abstention is not a hit."""
    correct, trials = int((guess == source).sum()), len(source)
    return Rate(correct / max(trials, 1), correct, trials, 1 / rows, interval=wilson(correct, trials))


def expected_rate(sizes: IntArray, trials: int, *, rows: int) -> Rate:
    """Exact expectation (1/n') sum of 1/size over the rows whose source is among ``size`` candidates.

    The deviation is that of independent draws.
    """
    chances = 1.0 / sizes
    correct = math.fsum(chances)
    sd = math.sqrt(math.fsum(chances * (1.0 - chances))) / max(trials, 1)
    return Rate(correct / max(trials, 1), correct, trials, 1 / rows, sd=sd)


def chances(answer: Answer, source: IntArray) -> FloatArray:
    """By row of Y the probability that the answer has it right, (n',); their sum is ``correct``."""
    match answer:
        case Candidates():
            size = np.maximum(answer.sizes[np.maximum(answer.chosen, 0)], 1)
            return np.where(answer.group_of[source] == answer.chosen, 1.0 / size, 0.0)
        case OwnCluster():
            return 1.0 / answer.sizes
        case Noted():
            return chances(answer.guess, source)
        case _:
            return np.asarray(answer == source, dtype=np.float64)


def answered(guess: IntArray) -> int:
    """On how many rows a guess vector does not abstain."""
    return int(np.count_nonzero(guess != ABSTAIN))


def guess_of(answer: Answer, rng: np.random.Generator) -> IntArray | None:
    """The answer as one guess vector, drawn where it draws lots; None if no attacker could give it."""
    match answer:
        case OwnCluster():
            return None
        case Candidates():
            return sampled_guess(answer, rng)
        case Noted():
            return answer.guess
        case _:
            return answer


def sampled_guess(candidates: Candidates, rng: np.random.Generator) -> IntArray:
    """One guess vector drawn from the candidates; abstains where there are none."""
    members = np.argsort(candidates.group_of, kind="stable")
    starts = np.cumsum(candidates.sizes) - candidates.sizes
    chosen = np.maximum(candidates.chosen, 0)
    drawn = members[starts[chosen] + rng.integers(0, candidates.sizes[chosen])]
    return np.where(candidates.chosen < 0, ABSTAIN, drawn)
