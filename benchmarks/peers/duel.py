"""One of our functions and a peer's, on the same data: whether they agree, and how much faster which is.

They take turns, so that whatever else the machine does meets both, and neither finds the cache as it left it.
The ratio is the median of those of the turns.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

TURNS = 5
MOST_TURNS = 101
LEAST_S = 0.3
"""What is done sooner takes more turns, until then."""


@dataclass(frozen=True, slots=True)
class Goal:
    """To be ``times`` faster than the peer, or, ``at_most``, no more than so many times slower."""

    times: float
    at_most: bool = False

    def __str__(self) -> str:
        return f"{'<=' if self.at_most else '>='} {self.times:g}x"

    def missed_by(self, ratio: float) -> float:
        """How many times better it would have to be; 1 or less: it is met."""
        return ratio / self.times if self.at_most else self.times / ratio


def same_answers(ours: Any, theirs: Any) -> int:
    """How many answers of two arrays differ; floats, by more than 1e-9 of the larger (absolute below 1)."""
    mine, other = np.atleast_1d(ours), np.atleast_1d(theirs)
    if mine.shape != other.shape:
        return max(mine.size, other.size)
    if mine.dtype.kind != "f":
        return int((mine != other).sum())
    return int((~np.isclose(mine, other, rtol=1e-9, atol=1e-9)).sum())


def no_answer(ours: Any, theirs: Any) -> int:  # noqa: ARG001 - it is one only of the time
    """Of a peer that answers nothing."""
    return 0


@dataclass(frozen=True, slots=True)
class Duel:
    """``ours`` and ``theirs`` answer the same question about a case.

    ``part``: the peer is slow and gets every so many-th row of a case, as ``cut`` takes them. What it needs
    for no row at all counts once, the rest so many times.
    """

    task: str
    peer: str
    ours: Callable[[Any], Any]
    theirs: Callable[[Any], Any]
    goal: Goal | None = None
    part: int = 1
    cut: Callable[[Any, slice], Any] | None = None
    differing: Callable[[Any, Any], int] = same_answers

    def differences(self, case: Any, part: int = 1) -> int:
        """How many answers differ, of every ``part``-th row of a case."""
        if self.cut is None or part == 1:
            return self.differing(self.ours(case), self.theirs(case))
        rows = slice(None, None, part)
        return self.differing(self.ours(case)[rows], self.theirs(self.cut(case, rows)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """``ratio``: how many times faster we are; where the goal is a bound, slower. Times in milliseconds."""

    duel: Duel
    data: str
    ours: float
    theirs: float
    ratio: float
    differing: int
    differing_hostile: int

    @property
    def met(self) -> bool:
        return self.duel.goal is None or self.duel.goal.missed_by(self.ratio) <= 1

    @property
    def verdict(self) -> str:
        if self.duel.goal is None:
            return ""
        return "met" if self.met else f"missed {self.duel.goal.missed_by(self.ratio):.3g}x"

    def cells(self) -> tuple[str, ...]:
        goal = self.duel.goal
        sampled = f" (1/{self.duel.part})" if self.duel.part > 1 else ""
        return (
            self.duel.task,
            self.data,
            f"{self.ours:.4g}",
            f"{self.duel.peer}{sampled}",
            f"{self.theirs:.4g}",
            f"{self.ratio:.3g}x",
            str(goal or ""),
            self.verdict,
            f"{self.differing} / {self.differing_hostile}",
        )


HEAD = ("task", "data", "ours ms", "peer", "peer ms", "ratio", "goal", "", "differ: data / hostile")


def fought(duel: Duel, data: str, case: Any, hostile: Iterable[Any] = (), *, turns: int = TURNS) -> Outcome:
    """Compare the answers first, then the times, in turn."""
    differing = duel.differences(case, duel.part)
    among_hostile = sum(duel.differences(each) for each in hostile)
    times = _turns(duel, case, turns)
    slower = duel.goal is not None and duel.goal.at_most
    ratios = [ours / theirs if slower else theirs / ours for ours, theirs in times]
    ours, theirs = (1000 * statistics.median(each) for each in zip(*times, strict=True))
    return Outcome(duel, data, ours, theirs, statistics.median(ratios), differing, among_hostile)


def _turns(duel: Duel, case: Any, least: int) -> list[tuple[float, float]]:
    """Seconds of us and of the peer, in each turn; as in timeit, without collection of garbage."""
    times: list[tuple[float, float]] = []
    theirs = _whole(duel, case)
    gc.disable()
    try:
        end = time.perf_counter() + LEAST_S
        while len(times) < least or (len(times) < MOST_TURNS and time.perf_counter() < end):
            times.append((seconds(duel.ours, case), theirs()))
    finally:
        gc.enable()
    return times


def _whole(duel: Duel, case: Any) -> Callable[[], float]:
    """What measures the seconds that the peer needs for a whole case."""
    if duel.cut is None:
        return partial(seconds, duel.theirs, case)
    some, none = duel.cut(case, slice(None, None, duel.part)), duel.cut(case, slice(0))

    def extrapolated() -> float:
        fixed = seconds(duel.theirs, none)
        return fixed + duel.part * max(seconds(duel.theirs, some) - fixed, 0.0)

    return extrapolated


def seconds(work: Callable[[Any], Any], case: Any) -> float:
    """Of the processor: who waits for it longer, for others' sake, is not slower."""
    start = time.process_time()
    work(case)
    return time.process_time() - start
