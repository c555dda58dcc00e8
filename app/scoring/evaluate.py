"""Scores one submission: every measure, every attacker, the rules of the contest, and the result."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import pandas as pd

from app.scoring.arrays import IntArray
from app.scoring.competition import AttackerSettings, Competition, Excessive, MeasureSettings
from app.scoring.excessive.check import Distances, individual_distances, is_excessive
from app.scoring.magnitude import LARGEST
from app.scoring.ranking import overall, security, utility
from app.scoring.rates import Rate, rate_of
from app.scoring.registry import Measure, Track
from app.scoring.release import PreparedOriginal, Release, release_of
from app.scoring.scales import scales
from app.scoring.tracks import TRACKS

Progress = Callable[[int, int, str], None]
Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of the contest that the submission breaks."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class MeasureResult:
    value: float
    version: int
    by_column: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class AttackerResult:
    rate: Rate
    version: int


@dataclass(frozen=True, slots=True)
class ExcessiveResult:
    distance: str
    mean: float
    max: float
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything there is to say about a submission. ``violations`` is empty exactly if it is accepted.

    ``utility`` (U), ``security`` (E) and ``overall`` lie in [0, 1], 0 best, and are given on a rejection too.
    """

    violations: tuple[Violation, ...]
    measures: Mapping[str, MeasureResult]
    attackers: Mapping[str, AttackerResult]
    excessive: ExcessiveResult
    utility: float
    security: float
    overall: float

    @property
    def verdict(self) -> str:
        return "rejected" if self.violations else "accepted"

    def to_json(self) -> Json:
        """Plain builtins, all numbers finite: what ``anoncup score --json`` prints, but for the warnings."""
        return {
            "verdict": self.verdict,
            "violations": [asdict(violation) for violation in self.violations],
            "measures": {name: _measure_json(result) for name, result in self.measures.items()},
            "attackers": {name: _attacker_json(result) for name, result in self.attackers.items()},
            "excessive": asdict(self.excessive),
            "utility": self.utility,
            "security": self.security,
            "overall": self.overall,
        }


def silent(step: int, of: int, name: str) -> None:
    """Progress that nobody watches."""


def evaluate(
    competition: Competition,
    original: PreparedOriginal,
    anonymized: pd.DataFrame,
    source: IntArray,
    *,
    progress: Progress = silent,
) -> Verdict:
    """Score a release whose row j comes from row ``source[j]`` of the original, counted from 0.

    ``progress(step, of, name)`` is called before each measure and attacker, ``step`` counting from 1.
    """
    track = TRACKS[competition.track]
    release = release_of(original, anonymized, source)
    tell = _announcer(progress, track)
    measures = {name: _measured(each, release, competition, tell) for name, each in track.measures.items()}
    attackers = {name: _attacked(name, track, release, competition, tell) for name in track.attackers}
    distances = individual_distances(release, distance=competition.excessive.distance)
    u, e = _utility(competition, track, original, measures), _security(competition, attackers)
    return Verdict(
        violations=_violations(competition, release, distances),
        measures=measures,
        attackers=attackers,
        excessive=_excessive_result(distances, competition.excessive),
        utility=u,
        security=e,
        overall=overall(u, e),
    )


def rows_required(share: float, rows: int) -> int:
    """Fewest rows a release may have: ``share`` of ``rows``, rounded up.

    The share is taken as the decimal that was written: 0.7 of 10 rows are 7, not 8.
    """
    return ceil(Fraction(repr(share)) * rows)


def _announcer(progress: Progress, track: Track) -> Callable[[str], None]:
    names = [*track.measures, *track.attackers]
    return lambda name: progress(names.index(name) + 1, len(names), name)


def _measured(
    measure: Measure, release: Release, competition: Competition, tell: Callable[[str], None]
) -> MeasureResult:
    tell(measure.name)
    parameters = competition.measures.get(measure.name, MeasureSettings()).parameters
    value = min(measure.compute(release, **parameters), LARGEST)
    return MeasureResult(value, measure.version, measure.by_column(release) if measure.by_column else None)


def _attacked(
    name: str, track: Track, release: Release, competition: Competition, tell: Callable[[str], None]
) -> AttackerResult:
    tell(name)
    attacker = track.attackers[name]
    parameters = competition.attackers.get(name, AttackerSettings()).parameters
    answer = attacker.attack(release.target, **parameters)
    return AttackerResult(rate_of(answer, release.source, rows=release.original.rows), attacker.version)


def _utility(
    competition: Competition, track: Track, original: PreparedOriginal, measures: Mapping[str, MeasureResult]
) -> float:
    return utility(
        {name: result.value for name, result in measures.items()},
        measures=track.measures,
        settings=competition.measures,
        scales=_all_scales(competition, original),
        largest_cell=float(np.abs(original.values).max(initial=0.0)),
    )


def _all_scales(competition: Competition, original: PreparedOriginal) -> Mapping[str, float]:
    """The file's scales; what it leaves open is computed."""
    weighing = {name for name, each in competition.measures.items() if each.weight > 0}
    if weighing <= set(competition.scales):
        return competition.scales
    return scales(original, competition.measures) | dict(competition.scales)


def _security(competition: Competition, attackers: Mapping[str, AttackerResult]) -> float:
    rates = {name: result.rate.rate for name, result in attackers.items()}
    return security(rates, competition.attackers)


def _violations(competition: Competition, release: Release, distances: Distances) -> tuple[Violation, ...]:
    found = []
    required = rows_required(competition.limits.min_rows_kept, release.original.rows)
    if release.target.rows < required:
        message = f"{release.target.rows} rows are left; at least {required} must be"
        found.append(Violation("too_few_rows", message))
    if is_excessive(distances, competition.excessive):
        found.append(Violation("excessive_anonymization", _excess(distances, competition.excessive)))
    return tuple(found)


def _excess(distances: Distances, settings: Excessive) -> str:
    kind, value = ("largest", distances.largest) if settings.rule == "strict" else ("mean", distances.mean)
    limit = settings.threshold
    return f"the {kind} {distances.name} distance of individuals is {value:.6g}; at most {limit} is allowed"


def _excessive_result(distances: Distances, settings: Excessive) -> ExcessiveResult:
    return ExcessiveResult(distances.name, distances.mean, distances.largest, settings.threshold)


def _measure_json(result: MeasureResult) -> Json:
    plain: Json = {"value": result.value, "version": result.version}
    return plain if result.by_column is None else plain | {"by_column": dict(result.by_column)}


def _attacker_json(result: AttackerResult) -> Json:
    rate = result.rate
    spread: Json = {"sd": rate.sd} if rate.interval is None else {"interval": list(rate.interval)}
    return {
        "rate": rate.rate,
        "correct": rate.correct,
        "trials": rate.trials,
        "version": result.version,
        "baseline": rate.baseline,
        **spread,
    }
