"""Score a submission: compute measures and attacks, check the rules of the contest, and give the verdict."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TypeVar

from anoncup.competition.scoring_versions import counts_towards_score, counts_towards_security
from anoncup.evaluation.attacks import predict, rate_attack
from anoncup.evaluation.ranking import (
    compute_overall_loss,
    compute_security_risk,
    compute_utility_loss,
    rounding_threshold,
)
from anoncup.evaluation.results import ResultChecker, compute_measure
from anoncup.evaluation.scales import complete_scales
from anoncup.excessive import ProgressCallback, ignore_progress
from anoncup.excessive.rejection_rule import (
    DistanceHistogram,
    IndividualDistances,
    compute_individual_distances,
    explain_excess,
    explain_forbidden_deletion,
)
from anoncup.excessive.wrong_secret import find_secret_warnings
from anoncup.messages import Message, PluralMessage, serialize_as_notice, serialize_prefixed
from anoncup.plugins import INSTALLED, TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive, count_required_rows
from anoncup.tables.files import Remark
from anoncup.tracks.model import AnyContext, AnyTrack, Sizes
from anoncup.tracks.outcomes import Rate
from anoncup.tracks.parts import AnyAttacker, AnyDistance, AnyMeasure, AnyScoredRelease, HasRows

_Json = dict[str, object]
ResultT = TypeVar("ResultT")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of the contest that the submission breaks."""

    code: str
    message: Message


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """Value of a measure. Values up to ``rounding`` count as 0, and smaller differences count as ties."""

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
    histogram: DistanceHistogram

    def to_json(self) -> _Json:
        histogram = {"counts": list(self.histogram.counts), "end": self.histogram.end}
        return asdict(self) | {"histogram": histogram}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Complete result of a submission. It is accepted if there are no ``violations``.

    ``utility`` (U), ``security`` (E) and ``overall`` are losses in [0, 1]; 0 is best. Rejected submissions
    have them too. ``excessive`` is None in tracks without distances.
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

    def to_json(self) -> _Json:
        """Return the verdict as JSON. Messages include their templates, so that they can be translated."""
        return {
            "verdict": self.verdict,
            "violations": [serialize_as_notice(entry.code, entry.message) for entry in self.violations],
            **(
                {"warnings": [serialize_as_notice(entry.code, entry.message) for entry in self.warnings]}
                if self.warnings
                else {}
            ),
            "measures": {name: _serialize_measure(result) for name, result in self.measures.items()},
            "attackers": {
                name: serialize_rate(result.rate, result.version) for name, result in self.attackers.items()
            },
            "excessive": self.excessive.to_json() if self.excessive else None,
            "utility": self.utility,
            "security": self.security,
            "overall": self.overall,
        }


def evaluate(
    rules: Rules,
    original: HasRows,
    anonymized: object,
    secret: object,
    *,
    progress: ProgressCallback = ignore_progress,
    context: AnyContext | None = None,
) -> Verdict:
    """Score a release, given the secret ``answer`` that only its team knows.

    ``original`` and ``anonymized`` are those that the track has parsed or made. In tracks that link rows,
    ``answer[j]`` is the row of individual j in the original, counted from 0.

    ``progress(step, total, name)`` is called before each measure and attacker; ``step`` begins at 1.
    ``context`` adds what only workers have, such as the organizers' files.
    """
    track = TRACKS[rules.track]
    context = context or track.build_context(rules, original, anonymized)
    track.answer_spec.check(secret, context.sizes)
    release = track.add_answer(original, anonymized, secret, context)
    names = [*track.measures, *track.attackers]

    def announce(name: str) -> None:
        progress(names.index(name) + 1, len(names), name)

    measures = {
        name: measure_result
        for name, part in track.measures.items()
        if (
            measure_result := _compute_if_possible(
                rules, f"measures.{name}", _run_measure, part, original, release, rules, announce
            )
        )
    }

    def rate(attacker: AnyAttacker, attacker_answer: object) -> Rate:
        return rate_attack(attacker, attacker_answer, release.answer, context, track=track)

    attackers = {
        name: attacker_result
        for name, part in track.attackers.items()
        if (
            attacker_result := _compute_if_possible(
                rules, f"attackers.{name}", _run_attacker, part, release.target, rules, rate, announce
            )
        )
    }
    violations, excessive, warnings = _check_rules(rules, track, release, context.sizes)
    utility_loss = _combine_measures(rules, track, original, measures)
    security_risk = _combine_attackers(rules, attackers)
    return Verdict(
        violations=violations,
        measures=measures,
        attackers=attackers,
        excessive=excessive,
        utility=utility_loss,
        security=security_risk,
        overall=compute_overall_loss(utility_loss, security_risk),
        warnings=warnings,
    )


def judge(
    rules: Rules, original: HasRows, anonymized: object, secret: object
) -> tuple[tuple[Violation, ...], ExcessiveResult | None]:
    """Check the rules only, without computing measures and attacks."""
    track = TRACKS[rules.track]
    context = track.build_context(rules, original, anonymized)
    track.answer_spec.check(secret, context.sizes)
    release = track.add_answer(original, anonymized, secret, context) if track.distances else None
    return _check_rules(rules, track, release, context.sizes)[:2]


def check_secret(rules: Rules, original: HasRows, anonymized: object, secret: object) -> tuple[Remark, ...]:
    """Return a warning if the secret may belong to another file."""
    track = TRACKS[rules.track]
    if not track.distances:
        return ()
    context, distance = track.build_context(rules, original, anonymized), _select_distance(rules, track)
    release = track.add_answer(original, anonymized, secret, context)
    distances = compute_individual_distances(release, distance)
    return tuple(find_secret_warnings(release, distance, distances.values[release.answer]))


def _compute_if_possible(
    rules: Rules, part: str, compute: Callable[..., ResultT], *arguments: object
) -> ResultT | None:
    """Compute a result; return None if a part that does not count fails and comes from a package.

    A broken package must not prevent all submissions from being scored.
    """
    try:
        return compute(*arguments)
    except Exception:
        if counts_towards_score(rules, part) or INSTALLED.find_provider(f"{rules.track}.{part}") is None:
            raise
        log.exception("%s of the %s track has failed, and is not reported", part, rules.track)
        return None


def _run_measure(
    measure: AnyMeasure,
    original: HasRows,
    release: AnyScoredRelease,
    rules: Rules,
    announce: Callable[[str], None],
) -> MeasureResult:
    announce(measure.name)
    settings = rules.measure_settings(measure.name)
    value = compute_measure(measure, release, settings, track=rules.track)
    rounding = rounding_threshold(measure, original, settings.parameters)
    if measure.details is None:
        return MeasureResult(value, measure.version, rounding)
    checker = ResultChecker(rules.track, f"measures.{measure.name}")
    return MeasureResult(value, measure.version, rounding, checker.require_details(measure.details(release)))


def _run_attacker(
    attacker: AnyAttacker,
    target: object,
    rules: Rules,
    rate: Callable[[AnyAttacker, object], Rate],
    announce: Callable[[str], None],
) -> AttackerResult:
    announce(attacker.name)
    attacker_answer = predict(attacker, target, track=TRACKS[rules.track], rules=rules)
    return AttackerResult(rate(attacker, attacker_answer), attacker.version)


def _combine_measures(
    rules: Rules, track: AnyTrack, original: HasRows, measures: Mapping[str, MeasureResult]
) -> float:
    return compute_utility_loss(
        {name: result.value for name, result in measures.items()},
        weights=rules.weights,
        scales=complete_scales(rules, track, original),
        rounding={name: result.rounding for name, result in measures.items()},
        aggregation=track.utility,
    )


def _combine_attackers(rules: Rules, attackers: Mapping[str, AttackerResult]) -> float:
    return compute_security_risk(
        result.rate.risk for name, result in attackers.items() if counts_towards_security(rules, name)
    )


def _check_rules(
    rules: Rules, track: AnyTrack, release: AnyScoredRelease | None, sizes: Sizes
) -> tuple[tuple[Violation, ...], ExcessiveResult | None, tuple[Remark, ...]]:
    messages = {"too_few_rows": explain_too_few_rows(rules, sizes)}
    settings, result, warnings = rules.excessive, None, list[Remark]()
    if release is not None and track.distances:
        distance = _select_distance(rules, track)
        distances = compute_individual_distances(release, distance)
        warnings = find_secret_warnings(release, distance, distances.values[release.answer])
        if settings is not None:
            result = _summarize_distances(distances, settings)
            messages["deleted_rows"] = explain_forbidden_deletion(release, distance)
            messages["excessive_anonymization"] = explain_excess(release, distance, distances, settings)
    violations = tuple(Violation(code, message) for code, message in messages.items() if message)
    return violations, result, tuple(warnings)


def _select_distance(rules: Rules, track: AnyTrack) -> AnyDistance:
    """Return the distance of the rule against excessive anonymization, or the track's first."""
    settings = rules.excessive
    return track.distances[settings.distance] if settings else next(iter(track.distances.values()))


def _summarize_distances(distances: IndividualDistances, settings: Excessive) -> ExcessiveResult:
    return ExcessiveResult(
        distance=distances.name,
        mean=distances.mean,
        max=distances.largest,
        threshold=settings.threshold,
        histogram=distances.histogram(settings.threshold),
    )


def explain_too_few_rows(rules: Rules, sizes: Sizes) -> Message | None:
    """Return why a release has too few rows; None if it has enough."""
    if rules.limits.min_rows_kept is None:
        return None
    required = count_required_rows(rules.limits.min_rows_kept, sizes["originals"])
    if sizes["rows"] >= required:
        return None
    return PluralMessage(
        "{found} row is left; at least {needed} must be",
        "{found} rows are left; at least {needed} must be",
        "found",
        found=sizes["rows"],
        needed=required,
    )


def _serialize_measure(result: MeasureResult) -> _Json:
    content: _Json = {"value": result.value, "version": result.version, "rounding": result.rounding}
    return content if result.details is None else content | {"details": dict(result.details)}


def serialize_rate(rate: Rate, version: int) -> _Json:
    """Return a rate as stored in the verdict, with its interval or, for an expected rate, its deviation."""
    counts: _Json = {} if rate.trials is None else {"correct": rate.correct, "trials": rate.trials}
    deviation: _Json = {} if rate.sd is None else {"sd": rate.sd}
    return {
        "rate": rate.rate,
        **counts,
        "version": version,
        "baseline": rate.baseline,
        **(deviation if rate.interval is None else {"interval": list(rate.interval)}),
        **({"risk": rate.risk} if rate.chance else {}),
        **({"details": dict(rate.details)} if rate.details else {}),
        **({"risks": dict(rate.risks)} if rate.risks else {}),
        **({} if rate.note is None else serialize_prefixed("note", rate.note)),
    }
