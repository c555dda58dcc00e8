"""Compare the answers and speed of one of our functions and a peer's on the same data.

The two functions run in turns. Thus other load affects both, and neither profits from a CPU cache that it has
filled itself. The reported ratio is the median over the turns.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

_DEFAULT_TURNS = 5
_MAX_TURNS = 101
MIN_SECONDS = 0.3
"""Fast functions get more turns until this much time has passed."""


@dataclass(frozen=True, slots=True)
class SpeedGoal:
    """A goal: ``factor`` times faster than the peer or, with ``at_most``, at most ``factor`` times slower."""

    factor: float
    at_most: bool = False

    def __str__(self) -> str:
        return f"{'<=' if self.at_most else '>='} {self.factor:g}x"

    def compute_shortfall(self, ratio: float) -> float:
        """Return how many times better the ratio would have to be; 1 or less if the goal is met."""
        return ratio / self.factor if self.at_most else self.factor / ratio


def count_differences(our_answers: Any, peer_answers: Any) -> int:
    """Return how many entries of two arrays differ, or all if the shapes do.

    Floats differ if they are more than 1e-9 + 1e-9 * abs(peer's answer) apart.
    """
    our_array, peer_array = np.atleast_1d(our_answers), np.atleast_1d(peer_answers)
    if our_array.shape != peer_array.shape:
        return max(our_array.size, peer_array.size)
    if our_array.dtype.kind != "f":
        return int((our_array != peer_array).sum())
    return int((~np.isclose(our_array, peer_array, rtol=1e-9, atol=1e-9)).sum())


@dataclass(frozen=True, slots=True)
class Duel:
    """Two functions that answer the same question about a case.

    A slow peer gets every ``part``-th row of a case, selected by ``select_rows``. Its time is extrapolated:
    the time for no rows counts once, and the rest ``part`` times.
    """

    task: str
    peer: str
    our_function: Callable[[Any], Any]
    peer_function: Callable[[Any], Any]
    goal: SpeedGoal | None = None
    part: int = 1
    select_rows: Callable[[Any, slice], Any] | None = None
    count_differing: Callable[[Any, Any], int] = count_differences

    def compare_answers(self, case: Any, part: int = 1) -> int:
        """Return how many answers differ, comparing every ``part``-th row of a case."""
        if self.select_rows is None or part == 1:
            return self.count_differing(self.our_function(case), self.peer_function(case))
        rows = slice(None, None, part)
        return self.count_differing(
            self.our_function(case)[rows], self.peer_function(self.select_rows(case, rows))
        )


@dataclass(frozen=True, slots=True)
class DuelOutcome:
    """The result of a duel. Times are in milliseconds.

    ``ratio`` says how many times faster our function is, or slower if the goal is an upper bound.
    """

    duel: Duel
    data: str
    our_ms: float
    peer_ms: float
    ratio: float
    difference_count: int
    hostile_difference_count: int

    @property
    def is_met(self) -> bool:
        return self.duel.goal is None or self.duel.goal.compute_shortfall(self.ratio) <= 1

    @property
    def verdict(self) -> str:
        if self.duel.goal is None:
            return ""
        return "met" if self.is_met else f"missed {self.duel.goal.compute_shortfall(self.ratio):.3g}x"

    def format_cells(self) -> tuple[str, ...]:
        goal = self.duel.goal
        sampled = f" (1/{self.duel.part})" if self.duel.part > 1 else ""
        return (
            self.duel.task,
            self.data,
            f"{self.our_ms:.4g}",
            f"{self.duel.peer}{sampled}",
            f"{self.peer_ms:.4g}",
            f"{self.ratio:.3g}x",
            str(goal or ""),
            self.verdict,
            f"{self.difference_count} / {self.hostile_difference_count}",
        )


HEADER = ("task", "data", "ours ms", "peer", "peer ms", "ratio", "goal", "", "differ: data / hostile")


def run_duel(
    duel: Duel, data: str, case: Any, hostile: Iterable[Any] = (), *, turns: int = _DEFAULT_TURNS
) -> DuelOutcome:
    """Compare the answers of both functions, then their times in alternating turns."""
    difference_count = duel.compare_answers(case, duel.part)
    hostile_difference_count = sum(duel.compare_answers(hostile_case) for hostile_case in hostile)
    times = _time_turns(duel, case, turns)
    is_slowdown = duel.goal is not None and duel.goal.at_most
    ratios = [our_ms / peer_ms if is_slowdown else peer_ms / our_ms for our_ms, peer_ms in times]
    our_ms, peer_ms = (1000 * statistics.median(hostile_case) for hostile_case in zip(*times, strict=True))
    return DuelOutcome(
        duel, data, our_ms, peer_ms, statistics.median(ratios), difference_count, hostile_difference_count
    )


def _time_turns(duel: Duel, case: Any, min_turns: int) -> list[tuple[float, float]]:
    """Return the seconds of both functions in each turn, without garbage collection, as in timeit."""
    times: list[tuple[float, float]] = []
    time_peer = _make_peer_timer(duel, case)
    gc.disable()
    try:
        end = time.perf_counter() + MIN_SECONDS
        while len(times) < min_turns or (len(times) < _MAX_TURNS and time.perf_counter() < end):
            times.append((measure_seconds(duel.our_function, case), time_peer()))
    finally:
        gc.enable()
    return times


def _make_peer_timer(duel: Duel, case: Any) -> Callable[[], float]:
    """Return a function that measures or extrapolates the peer's seconds for a whole case."""
    if duel.select_rows is None:
        return partial(measure_seconds, duel.peer_function, case)
    sample, empty = duel.select_rows(case, slice(None, None, duel.part)), duel.select_rows(case, slice(0))

    def extrapolate() -> float:
        fixed_seconds = measure_seconds(duel.peer_function, empty)
        return fixed_seconds + duel.part * max(
            measure_seconds(duel.peer_function, sample) - fixed_seconds, 0.0
        )

    return extrapolate


def measure_seconds(function: Callable[[Any], Any], case: Any) -> float:
    """Return the CPU seconds of a call, which do not include waiting for other processes."""
    start = time.process_time()
    function(case)
    return time.process_time() - start
