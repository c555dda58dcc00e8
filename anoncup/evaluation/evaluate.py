"""Scores one submission: every measure, every attacker, the rules of the contest, and the result."""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from anoncup.competition.scoring_versions import attacker_counts, part_counts
from anoncup.evaluation.attacks import asked, rate_of_attack
from anoncup.evaluation.ranking import compute_utility, overall, rounding_of, security
from anoncup.evaluation.scales import scales
from anoncup.excessive.individual_distances import (
    Distances,
    Histogram,
    deletion,
    excess,
    individual_distances,
)
from anoncup.excessive.wrong_secret import warnings_about_secret
from anoncup.geometry.stable_sums import LARGEST
from anoncup.messages import Counted, Message, kept, kept_under
from anoncup.plugins import INSTALLED, TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive, rows_required
from anoncup.tables.files import Remark
from anoncup.tracks.model import Sizes, Tables, Track
from anoncup.tracks.outcomes import Rate
from anoncup.tracks.parts import Attacker, Distance, Measure

Progress = Callable[[int, int, str], None]
Heard = Callable[[str, Any], None]
Json = dict[str, object]
Found = TypeVar("Found")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of the contest that the submission breaks."""

    code: str
    message: Message


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """``rounding``: below which a value is 0, and two values are equal."""

    value: float
    version: int
    rounding: float
    details: Mapping[str, float] | None = None


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
    histogram: Histogram

    def to_json(self) -> Json:
        plain = {"counts": list(self.histogram.counts), "end": self.histogram.end}
        return asdict(self) | {"histogram": plain}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything there is to say about a submission. ``violations`` is empty exactly if it is accepted.

    ``utility`` (U), ``security`` (E) and ``overall`` lie in [0, 1], 0 best, and are given on a rejection too.
    ``excessive``: None of a track that knows no distances.
    """

    violations: tuple[Violation, ...]
    measures: Mapping[str, MeasureResult]
    attackers: Mapping[str, AttackerResult]
    excessive: ExcessiveResult | None
    utility: float
    security: float
    overall: float
    warnings: tuple[Remark, ...] = ()

    @property
    def verdict(self) -> str:
        return "rejected" if self.violations else "accepted"

    def to_json(self) -> Json:
        """Plain builtins, all numbers finite. What is said has its template, to be said in any language."""
        return {
            "verdict": self.verdict,
            "violations": [kept(each.code, each.message) for each in self.violations],
            **(
                {"warnings": [kept(each.code, each.message) for each in self.warnings]}
                if self.warnings
                else {}
            ),
            "measures": {name: _measure_json(result) for name, result in self.measures.items()},
            "attackers": {
                name: attacker_json(result.rate, result.version) for name, result in self.attackers.items()
            },
            "excessive": self.excessive.to_json() if self.excessive else None,
            "utility": self.utility,
            "security": self.security,
            "overall": self.overall,
        }


def silent(step: int, of: int, name: str) -> None:
    """Progress that nobody watches."""


def unheard(name: str, said: Any) -> None:
    """What attackers say, where nobody asks."""


def evaluate(
    rules: Rules,
    original: Any,
    anonymized: Tables,
    answer: Any,
    *,
    progress: Progress = silent,
    heard: Heard = unheard,
) -> Verdict:
    """Score a release. ``answer``: what its makers know of it; of the tracks that link, ``answer[j]`` is
    individual j's own in the original, counted from 0.

    ``original`` is what the track's ``prepare`` returned, ``anonymized`` a table or tables of the track.
    ``progress(step, of, name)`` is called before each measure and attacker, ``step`` counting from 1;
    ``heard(name, said)`` with what each attacker says, None of one that was not asked.
    """
    track = TRACKS[rules.track]
    sizes = _sizes(track, original, anonymized)
    track.answers.check(answer, sizes)
    release = track.release_of(original, anonymized, answer)
    tell, largest = _announcer(progress, track), track.largest_cell(original)
    measures = {
        name: found
        for name, each in track.measures.items()
        if (found := _spared(rules, f"measures.{name}", _measured, each, release, rules, largest, tell))
    }

    def judged(attacker: Attacker, said: Any) -> Rate:
        return rate_of_attack(attacker, said, answer, sizes, track=track, rules=rules)

    attacks = {
        name: answered
        for name, each in track.attackers.items()
        if (
            answered := _spared(
                rules, f"attackers.{name}", _attacked, each, release.target, rules, judged, tell
            )
        )
    }
    for name, (said, _) in attacks.items():
        heard(name, said)
    attackers = {name: result for name, (_, result) in attacks.items()}
    violations, excessive, warnings = _judged(rules, track, release, sizes)
    u, e = _utility(rules, track, original, measures), _security(rules, attackers)
    return Verdict(
        violations=violations,
        measures=measures,
        attackers=attackers,
        excessive=excessive,
        utility=u,
        security=e,
        overall=overall(u, e),
        warnings=warnings,
    )


def judge(
    rules: Rules, original: Any, anonymized: Tables, answer: Any
) -> tuple[tuple[Violation, ...], ExcessiveResult | None]:
    """The rules alone, without a measure or an attacker."""
    track = TRACKS[rules.track]
    sizes = _sizes(track, original, anonymized)
    track.answers.check(answer, sizes)
    return _judged(rules, track, track.release_of(original, anonymized, answer), sizes)[:2]


def doubts_about_secret(rules: Rules, original: Any, anonymized: Tables, answer: Any) -> tuple[Remark, ...]:
    """Return a warning if the secret may belong to another file."""
    track = TRACKS[rules.track]
    if not track.distances:
        return ()
    release, distance = track.release_of(original, anonymized, answer), _distance(rules, track)
    distances = individual_distances(release, distance)
    return tuple(warnings_about_secret(release, distance, distances.of_individuals[release.source]))


def _sizes(track: Track, original: Any, anonymized: Tables) -> Sizes:
    return {"originals": original.rows, "rows": track.individuals(anonymized)}


def _announcer(progress: Progress, track: Track) -> Callable[[str], None]:
    names = [*track.measures, *track.attackers]
    return lambda name: progress(names.index(name) + 1, len(names), name)


def _spared(rules: Rules, part: str, compute: Callable[..., Found], *given: Any) -> Found | None:
    """What is computed; None if it fails and is a package's part that does not count here: else whatever is
    installed could keep everybody from being scored."""
    try:
        return compute(*given)
    except Exception:
        if part_counts(rules, part) or INSTALLED.bringer(f"{rules.track}.{part}") is None:
            raise
        log.exception("%s of the %s track has failed, and is not reported", part, rules.track)
        return None


def _measured(
    measure: Measure, release: Any, rules: Rules, largest_cell: float, tell: Callable[[str], None]
) -> MeasureResult:
    tell(measure.name)
    parameters = rules.measure(measure.name).parameters
    value = min(measure.compute(release, **parameters), LARGEST)
    if not math.isfinite(value):
        raise ValueError(f"{measure.name} is {value}")
    tiny = rounding_of(measure, largest_cell)
    return MeasureResult(value, measure.version, tiny, measure.details(release) if measure.details else None)


def _attacked(
    attacker: Attacker,
    target: Any,
    rules: Rules,
    judged: Callable[[Attacker, Any], Rate],
    tell: Callable[[str], None],
) -> tuple[Any, AttackerResult]:
    """What it says, None where nobody asks it, and what that came to."""
    tell(attacker.name)
    parameters = rules.attacker(attacker.name).parameters
    is_asked = asked(attacker, TRACKS[rules.track], rules)
    said = attacker.attack(target, **parameters) if is_asked else None
    return said, AttackerResult(judged(attacker, said), attacker.version)


def _utility(rules: Rules, track: Track, original: Any, measures: Mapping[str, MeasureResult]) -> float:
    return compute_utility(
        {name: result.value for name, result in measures.items()},
        measures=track.measures,
        weights=rules.weights,
        scales=_all_scales(rules, track, original),
        largest_cell=track.largest_cell(original),
        how=track.utility,
    )


def _all_scales(rules: Rules, track: Track, original: Any) -> Mapping[str, float]:
    """The file's scales; what it leaves open is computed."""
    if rules.weights.keys() <= rules.scales.keys():
        return rules.scales
    return scales(track, original, rules.measures) | dict(rules.scales)


def _security(rules: Rules, attackers: Mapping[str, AttackerResult]) -> float:
    return security(result.rate.risk for name, result in attackers.items() if attacker_counts(rules, name))


def _judged(
    rules: Rules, track: Track, release: Any, sizes: Sizes
) -> tuple[tuple[Violation, ...], ExcessiveResult | None, tuple[Remark, ...]]:
    found = {"too_few_rows": too_few_rows(rules, sizes)}
    settings, result, warnings = rules.excessive, None, list[Remark]()
    if track.distances:
        distance = _distance(rules, track)
        distances = individual_distances(release, distance)
        warnings = warnings_about_secret(release, distance, distances.of_individuals[release.source])
        if settings is not None:
            result = _excessive(distances, settings)
            found["deleted_rows"] = deletion(release, distance)
            found["excessive_anonymization"] = excess(release, distance, distances, settings)
    violations = tuple(Violation(code, message) for code, message in found.items() if message)
    return violations, result, tuple(warnings)


def _distance(rules: Rules, track: Track) -> Distance:
    """The distance of the rule against excessive anonymization, or the track's first."""
    settings = rules.excessive
    return track.distances[settings.distance] if settings else next(iter(track.distances.values()))


def _excessive(distances: Distances, settings: Excessive) -> ExcessiveResult:
    return ExcessiveResult(
        distance=distances.name,
        mean=distances.mean,
        max=distances.largest,
        threshold=settings.threshold,
        histogram=distances.histogram(settings.threshold),
    )


def too_few_rows(rules: Rules, sizes: Sizes) -> Message | None:
    """Return why a release has too few rows; None if it has enough."""
    if rules.limits.min_rows_kept is None:
        return None
    required = rows_required(rules.limits.min_rows_kept, sizes["originals"])
    if sizes["rows"] >= required:
        return None
    return Counted(
        "{found} row is left; at least {needed} must be",
        "{found} rows are left; at least {needed} must be",
        "found",
        found=sizes["rows"],
        needed=required,
    )


def _measure_json(result: MeasureResult) -> Json:
    plain: Json = {"value": result.value, "version": result.version, "rounding": result.rounding}
    return plain if result.details is None else plain | {"details": dict(result.details)}


def attacker_json(rate: Rate, version: int) -> Json:
    """A rate as the verdict holds it: with its interval, or with its deviation if it is an expectation."""
    counted: Json = {} if rate.trials is None else {"correct": rate.correct, "trials": rate.trials}
    expected: Json = {} if rate.sd is None else {"sd": rate.sd}
    return {
        "rate": rate.rate,
        **counted,
        "version": version,
        "baseline": rate.baseline,
        **(expected if rate.interval is None else {"interval": list(rate.interval)}),
        **({"risk": rate.risk} if rate.chance else {}),
        **({"details": dict(rate.details)} if rate.details else {}),
        **({"risks": dict(rate.risks)} if rate.risks else {}),
        **({} if rate.note is None else kept_under("note", rate.note)),
    }
