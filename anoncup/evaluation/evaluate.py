"""Score a submission: compute measures and attacks, check the rules of the contest, and give the verdict."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import count
from typing import TypeVar

from anoncup.competition.scoring_versions import counts_towards_score, counts_towards_security
from anoncup.evaluation.attacks import AttackerResult, make_guesses, rate_attack
from anoncup.evaluation.ranking import (
    compute_overall_loss,
    compute_security,
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
from anoncup.messages import JsonObject, Message, PluralMessage, serialize_as_notice
from anoncup.plugins import INSTALLED, TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive, count_required_rows
from anoncup.tables.files import Remark
from anoncup.tracks.model import (
    AnswerT,
    AnyTrack,
    GuessT,
    OriginalT,
    ReleaseContext,
    ReleaseT,
    Sizes,
    TargetT,
    Track,
)
from anoncup.tracks.parts import AnyDistance, AnyScoredRelease, Attacker, Measure, ScoredRelease

PartT = TypeVar("PartT")
ResultT = TypeVar("ResultT")
ScoredT = TypeVar("ScoredT")

log = logging.getLogger(__name__)

_NO_WEIGHTS = Remark("no_weights", Message("no measure has a weight, so that U is 0 for every release"))


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of the contest that the submission breaks, with ``code`` and ``message`` as in ``Remark``."""

    code: str
    message: Message


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """Value of a measure.

    - ``value``: 0 or more, in the unit of the measure; 0 is best for those that weigh.
    - ``version``: that of the measure's code.
    - ``rounding``: values up to this count as 0, and smaller differences count as ties; same unit.
    - ``details``: further numbers by name, such as one for each sensitive column.
    """

    value: float
    version: int
    rounding: float
    details: Mapping[str, float] | None = None

    def to_json(self) -> JsonObject:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class ExcessiveResult:
    """How far individuals are from their own originals, in the unit of the distance; Gower's is in [0, 1].

    - ``distance``: its name.
    - ``mean``, ``max``: over the individuals of the original.
    - ``threshold``: more is rejected; None rejects nothing.
    - ``histogram``: the number of individuals in bins of equal width over [0, ``end``].
    """

    distance: str
    mean: float
    max: float
    threshold: float | None
    histogram: DistanceHistogram

    def to_json(self) -> JsonObject:
        histogram = {"counts": list(self.histogram.counts), "end": self.histogram.end}
        return asdict(self) | {"histogram": histogram}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Complete result of a submission. It is accepted if there are no ``violations``.

    - ``utility`` (U), ``security`` (E), ``overall``: losses in [0, 1]; 0 is best. Rejected submissions have
      them too.
    - ``violations``: the rules that the submission breaks, each with ``code`` and ``message``.
    - ``measures``: a ``MeasureResult`` by name; ``attackers``: an ``AttackerResult`` by name.
    - ``excessive``: the distances that the rule against excess looks at; None in tracks without distances.
    - ``warnings``: what may be a mistake, such as a secret in another order.
    - ``verdict``: "accepted" or "rejected".
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

    def to_json(self) -> JsonObject:
        """Return the verdict as JSON. Messages include their templates, so that they can be translated."""
        warnings = [serialize_as_notice(remark.code, remark.message) for remark in self.warnings]
        return {
            "verdict": self.verdict,
            "violations": [serialize_as_notice(entry.code, entry.message) for entry in self.violations],
            **({"warnings": warnings} if warnings else {}),
            "measures": {name: result.to_json() for name, result in self.measures.items()},
            "attackers": {name: result.to_json() for name, result in self.attackers.items()},
            "excessive": self.excessive.to_json() if self.excessive else None,
            "utility": self.utility,
            "security": self.security,
            "overall": self.overall,
        }


def evaluate(
    rules: Rules,
    original: OriginalT,
    release: ReleaseT,
    answer: AnswerT,
    *,
    progress: ProgressCallback = ignore_progress,
    context: ReleaseContext[OriginalT, ReleaseT] | None = None,
) -> Verdict:
    """Score a release, given the secret ``answer`` that only its team knows.

    ``original`` and ``release`` are those that the track has parsed or made. In tracks that link rows,
    ``answer[j]`` is the row of individual j in the original, counted from 0.

    ``progress(step, total, name)`` is called before each measure and attacker; ``step`` begins at 1.
    ``context`` adds what only workers have, such as the organizers' files.
    """
    track = TRACKS[rules.track]
    context = context or track.build_context(rules, original, release)
    track.answer_spec.check(answer, context.sizes)
    scored = track.add_answer(answer, context)
    announce = _count_steps(progress, len(track.measures) + len(track.attackers))
    measures = _run_parts(
        "measures", track.measures, lambda part: _run_measure(part, scored, context), rules, announce
    )
    attackers = _run_parts(
        "attackers", track.attackers, lambda part: _run_attacker(part, scored, context), rules, announce
    )
    violations, excessive, warnings = _check_rules(track, context, scored)
    utility = _combine_measures(track, context, measures)
    security = compute_security(
        result.rate.risk for name, result in attackers.items() if counts_towards_security(rules, name)
    )
    return Verdict(
        violations=violations,
        measures=measures,
        attackers=attackers,
        excessive=excessive,
        utility=utility,
        security=security,
        overall=compute_overall_loss(utility, security),
        warnings=warnings if rules.weights else (*warnings, _NO_WEIGHTS),
    )


def check_rules(
    rules: Rules, original: OriginalT, release: ReleaseT, answer: AnswerT
) -> tuple[tuple[Violation, ...], ExcessiveResult | None, tuple[Remark, ...]]:
    """Check the rules only, without computing measures and attacks.

    Returns the violations, the distances if the rules limit them, and a warning if the secret may belong to
    another file.
    """
    track = TRACKS[rules.track]
    context = track.build_context(rules, original, release)
    track.answer_spec.check(answer, context.sizes)
    return _check_rules(track, context, track.add_answer(answer, context) if track.distances else None)


def _count_steps(progress: ProgressCallback, total: int) -> Callable[[str], None]:
    """Return a function that reports the name of the next step."""
    steps = count(1)
    return lambda name: progress(next(steps), total, name)


def _run_parts(
    kind: str,
    parts: Mapping[str, PartT],
    run: Callable[[PartT], ResultT],
    rules: Rules,
    announce: Callable[[str], None],
) -> dict[str, ResultT]:
    """Return the results of parts by name, without failed parts of packages that do not count.

    A broken package must not prevent all submissions from being scored.
    """
    results = {}
    for name, part in parts.items():
        announce(name)
        try:
            results[name] = run(part)
        except Exception:
            key = f"{kind}.{name}"
            if counts_towards_score(rules, key) or INSTALLED.find_provider(f"{rules.track}.{key}") is None:
                raise
            log.exception("%s of the %s track has failed, and is not reported", key, rules.track)
    return results


def _run_measure(
    measure: Measure[OriginalT, ScoredT], scored: ScoredT, context: ReleaseContext[OriginalT, ReleaseT]
) -> MeasureResult:
    rules = context.rules
    settings = rules.measure_settings(measure.name)
    checker = ResultChecker(rules.track, f"measures.{measure.name}")
    return MeasureResult(
        value=compute_measure(measure, scored, settings, track=rules.track),
        version=measure.version,
        rounding=rounding_threshold(measure, context.original(), settings.parameters),
        details=checker.require_details(measure.details(scored)) if measure.details else None,
    )


def _run_attacker(
    attacker: Attacker[TargetT, GuessT],
    scored: ScoredRelease[ReleaseT, TargetT, AnswerT],
    context: ReleaseContext[OriginalT, ReleaseT],
) -> AttackerResult:
    track = TRACKS[context.rules.track]
    guesses = make_guesses(attacker, scored.target, track=track, rules=context.rules)
    return rate_attack(attacker, guesses, scored.answer, context, track=track)


def _combine_measures(
    track: Track[OriginalT, ReleaseT, TargetT, AnswerT],
    context: ReleaseContext[OriginalT, ReleaseT],
    measures: Mapping[str, MeasureResult],
) -> float:
    return compute_utility_loss(
        {name: result.value for name, result in measures.items()},
        weights=context.rules.weights,
        scales=complete_scales(context.rules, track, context.original()),
        rounding={name: result.rounding for name, result in measures.items()},
        aggregation=track.utility,
    )


def _check_rules(
    track: AnyTrack, context: ReleaseContext[OriginalT, ReleaseT], scored: AnyScoredRelease | None
) -> tuple[tuple[Violation, ...], ExcessiveResult | None, tuple[Remark, ...]]:
    """Return the violations, the distances if the rules limit them, and warnings about the secret."""
    settings, result, warnings = context.rules.excessive, None, list[Remark]()
    messages = {"too_few_rows": explain_too_few_rows(context.rules, context.sizes)}
    if scored is not None and track.distances:
        distance = _select_distance(track, context.rules)
        distances = compute_individual_distances(scored, distance)
        warnings = find_secret_warnings(scored, distance, distances.values[scored.answer])
        if settings is not None:
            result = _summarize_distances(distances, settings)
            messages["deleted_rows"] = explain_forbidden_deletion(scored, distance)
            messages["excessive_anonymization"] = explain_excess(scored, distance, distances, settings)
    violations = tuple(Violation(code, message) for code, message in messages.items() if message)
    return violations, result, tuple(warnings)


def _select_distance(track: AnyTrack, rules: Rules) -> AnyDistance:
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
