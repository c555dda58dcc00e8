"""A contest of sample methods, cheats and the unchanged original, played on the data of a competition.

On most tables of ten columns everybody is unique, so that doing nothing scores (0 + 1) / 2 and beats honest
work. Organizers should learn it before their teams do.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.competition.ranking_formulas import list_counting_attackers
from anoncup.errors import InvalidCompetition
from anoncup.evaluation.evaluate import Verdict, Violation, evaluate
from anoncup.evaluation.formula_score import compute_formula_scores
from anoncup.evaluation.scales import compute_usable_scales, require_scales
from anoncup.excessive import ProgressCallback, ignore_progress
from anoncup.excessive.rejection_rule import TOLERANCE
from anoncup.formulas.ranks import compute_ranks, sort_for_board
from anoncup.messages import N_, CodedMessage, JsonObject, Message, serialize_as_notice
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive, Parameters
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyMethod, HasRows

MAX_INDIVIDUALS = 10_000
"""Maximum number of individuals with which a contest is played. Larger data are sampled at random."""

_EXCESS = "excessive_anonymization"
_ReleaseKind = Literal["method", "cheat", "unchanged"]


@dataclass(frozen=True, slots=True)
class PlannedRelease:
    """A release to be made; ``make(rng)`` returns it with its answer."""

    kind: _ReleaseKind
    method: str | None
    parameters: Parameters
    make: Callable[[Generator], tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class PlayedRelease:
    """A release with its results.

    - ``kind``: "method", "cheat" or "unchanged"; ``method`` and ``parameters``: what made it.
    - ``rank``: None for a release that is rejected because of its ``violations``, which are given by code.
    - ``utility`` (U), ``security`` (E), ``overall``: losses in [0, 1]; 0 is best.
    - ``score``: the value of the ranking's formula, if there is one.
    - ``mean_distance``: from the individuals to their own originals, in the unit of the threshold.
    """

    kind: _ReleaseKind
    method: str | None
    parameters: Parameters
    rank: int | None
    utility: float
    security: float
    overall: float
    score: float | None
    mean_distance: float
    violations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampleContest:
    """The releases in the order of the ranking rule, under the rejection rule of the competition.

    ``threshold``: that of the rejection rule. ``warnings`` say if the unchanged original or a cheat leads, or
    if the threshold does not stop every cheat, ``recommended_warnings`` what would be wrong with the
    recommended threshold, and ``remedies`` what helps. ``problem``: why the contest cannot be played; there
    are then no releases.
    """

    individuals: int
    threshold: float | None
    releases: tuple[PlayedRelease, ...] = ()
    warnings: tuple[CodedMessage, ...] = ()
    recommended_warnings: tuple[CodedMessage, ...] = ()
    remedies: tuple[CodedMessage, ...] = ()
    problem: CodedMessage | None = None

    def to_json(self) -> JsonObject:
        return {
            "individuals": self.individuals,
            "threshold": self.threshold,
            **{
                name: [serialize_as_notice(part.code, part.message) for part in getattr(self, name)]
                for name in ("warnings", "recommended_warnings", "remedies")
            },
            "releases": [asdict(release) for release in self.releases],
            "problem": None
            if self.problem is None
            else serialize_as_notice(self.problem.code, self.problem.message),
        }


def plan_releases(rules: Rules, original: HasRows, groups: Sequence[str]) -> list[PlannedRelease]:
    """List what teams could hand in: the original, and each sample method and cheat in its strengths.

    ``groups``: the columns that a cheat keeps.
    """
    track = TRACKS[rules.track]
    releases = [
        _plan_method(track, method, parameters, original=original, rules=rules)
        for method in track.methods.values()
        for parameters in method.strengths(
            original.rows, groups if method.cheats else track.distances.group_columns(rules)[0]
        )
    ]
    identity_release = track.scaling.identity_release
    if identity_release is None:
        return releases
    unchanged = identity_release(original)

    def shuffle(rng: Generator) -> tuple[Any, Any]:
        return track.shuffle(unchanged.release, unchanged.answer, rng=rng)

    return [PlannedRelease("unchanged", None, {}, shuffle), *releases]


def _plan_method(
    track: AnyTrack, method: AnyMethod, parameters: Parameters, *, original: HasRows, rules: Rules
) -> PlannedRelease:
    def apply(rng: Generator) -> tuple[Any, Any]:
        return track.shuffle(*track.anonymize(method, original, rules, rng, parameters), rng=rng)

    return PlannedRelease("cheat" if method.cheats else "method", method.name, parameters, apply)


def sample_individuals(rules: Rules, original: HasRows) -> HasRows:
    """Return the original, or a random part of it that has ``MAX_INDIVIDUALS``."""
    if original.rows <= MAX_INDIVIDUALS:
        return original
    rows = np.sort(Generator(PCG64(0)).permutation(original.rows)[:MAX_INDIVIDUALS])
    part: HasRows = TRACKS[rules.track].distances.subset(original, rows)
    return part


def select_rules(rules: Rules, distance: str) -> Rules:
    """Return the rules for a report on ``distance``: a threshold for another distance does not apply."""
    excessive = rules.required_excessive
    return rules if excessive.distance == distance else replace(rules, excessive=Excessive(distance))


def play_contest(
    rules: Rules,
    original: HasRows,
    planned: Sequence[PlannedRelease],
    *,
    is_sample: bool = False,
    recommended: float | None = None,
    progress: ProgressCallback = ignore_progress,
) -> SampleContest:
    """Make the planned releases, score them and rank them.

    ``is_sample``: the original is a part of the data, so that scales in the rules are not its own.
    ``recommended``: the threshold that the report recommends. The results are reproducible.
    """
    track, threshold = TRACKS[rules.track], rules.required_excessive.threshold
    try:
        scaled_rules = (
            replace(rules, scales=compute_usable_scales(rules, track, original))
            if is_sample
            else require_scales(rules, track, original)
        )
    except InvalidCompetition as error:
        problem = CodedMessage(error.code, error.message)
        return SampleContest(original.rows, threshold, problem=problem)
    verdicts = []
    for index, release in enumerate(planned):
        progress(index + 1, len(planned), release.method or release.kind)
        verdicts.append(evaluate(scaled_rules, original, *release.make(Generator(PCG64(index)))))
    releases = _rank_releases(rules, planned, verdicts)
    limited = (
        ()
        if recommended is None
        else _rank_releases(
            rules, planned, [_limit_mean_distance(verdict, recommended) for verdict in verdicts]
        )
    )
    return SampleContest(
        individuals=original.rows,
        threshold=threshold,
        releases=releases,
        warnings=tuple(_list_warnings(releases)),
        recommended_warnings=(*_list_warnings(limited), *_warn_of_rejected_leader(releases, limited)),
        remedies=tuple(_list_remedies(rules, original, releases, limited, recommended)),
    )


def _limit_mean_distance(verdict: Verdict, threshold: float) -> Verdict:
    """Return the verdict that the rule would reach with this threshold for the mean distance."""
    others = tuple(entry for entry in verdict.violations if entry.code != _EXCESS)
    is_excessive = verdict.excessive is not None and verdict.excessive.mean > threshold + TOLERANCE
    excess = (Violation(_EXCESS, Message(_EXCESS)),) if is_excessive else ()
    return replace(verdict, violations=(*others, *excess))


def _rank_releases(
    rules: Rules, planned: Sequence[PlannedRelease], verdicts: Sequence[Verdict]
) -> tuple[PlayedRelease, ...]:
    """Return the releases in the order of the ranking rule; those without a rank follow."""
    scores = _compute_scores(rules, verdicts)
    losses = [
        -score if score is not None and rules.ranking.order == "descending" else score for score in scores
    ]
    has_formula = not rules.ranking.is_by_overall
    releases = [
        PlayedRelease(
            kind=release.kind,
            method=release.method,
            parameters=release.parameters,
            rank=rank,
            utility=verdict.utility,
            security=verdict.security,
            overall=verdict.overall,
            score=score if has_formula else None,
            mean_distance=verdict.excessive.mean if verdict.excessive else 0.0,
            violations=tuple(violation.code for violation in verdict.violations),
        )
        for release, verdict, rank, score in zip(
            planned, verdicts, compute_ranks(losses), scores, strict=True
        )
    ]
    return tuple(releases[index] for index in sort_for_board(losses))


def _compute_scores(rules: Rules, verdicts: Sequence[Verdict]) -> list[float | None]:
    """Return the number that ranks each release; None for rejected ones, which no other is compared with."""
    accepted = [verdict for verdict in verdicts if not verdict.violations]
    if rules.ranking.is_by_overall or not accepted:
        accepted_scores: Iterator[float | None] = iter([verdict.overall for verdict in accepted])
    else:
        accepted_scores = iter(compute_formula_scores(rules, accepted))
    return [None if verdict.violations else next(accepted_scores) for verdict in verdicts]


def _list_warnings(releases: Sequence[PlayedRelease]) -> Iterator[CodedMessage]:
    kinds = {release.kind for release in releases if release.rank == 1}
    if "unchanged" in kinds:
        message = Message("the unchanged original leads: no sample method does better than doing nothing")
        yield CodedMessage("unchanged_leads", message)
    if "cheat" in kinds:
        message = Message("a cheat leads: no sample method does better than exchanging individuals")
        yield CodedMessage("cheat_leads", message)


def _warn_of_rejected_leader(
    releases: Sequence[PlayedRelease], limited: Sequence[PlayedRelease]
) -> Iterator[CodedMessage]:
    """Yield what the recommended threshold costs if it rejects the sample method that leads now."""
    leader = releases[0]
    kept = {(release.method, str(release.parameters)) for release in limited if not release.violations}
    if limited and leader.kind == "method" and (leader.method, str(leader.parameters)) not in kept:
        message = Message(
            "the recommended threshold rejects the sample method that leads, {method} with an E of "
            "{leading:.4f}; those that it accepts have {lowest:.4f} at best",
            method=leader.method,
            leading=leader.security,
            lowest=_find_lowest_risk(limited),
        )
        yield CodedMessage("leader_rejected", message)


def _list_remedies(
    rules: Rules,
    original: HasRows,
    releases: Sequence[PlayedRelease],
    limited: Sequence[PlayedRelease],
    recommended: float | None,
) -> Iterator[CodedMessage]:
    """Yield what keeps the unchanged original and cheats from leading, as far as these releases tell.

    ``limited``: the releases under the recommended threshold; empty without one.
    """
    leaders = [release for release in releases if release.rank == 1 and release.kind != "method"]
    if not leaders:
        return
    cheats = [release for release in leaders if release.kind == "cheat"]
    accepted = [release for release in releases if not release.violations]
    lowest, leading = _find_lowest_risk(releases), min(release.security for release in leaders)
    limited_lowest = _find_lowest_risk(limited)
    if cheats and recommended is not None:
        yield from _recommend_against_cheat(releases, limited, recommended)
    elif limited_lowest < lowest:
        message = Message(
            "a threshold of {threshold}, which accepts sample methods with an E of {lowest:.4f}",
            threshold=recommended,
            lowest=limited_lowest,
        )
        yield CodedMessage("threshold", message)
    if _is_led_by_method(accepted):
        message = Message("the formula {formula} for the ranking", formula="max(utility, security)")
        yield CodedMessage("formula", message)
    if lowest < leading:
        message = Message(
            "a limit on E in the formula, because sample methods reach an E of {lowest:.4f} and what leads "
            "has {leading:.4f}",
            lowest=lowest,
            leading=leading,
        )
        yield CodedMessage("limit", message)
    if len(cheats) < len(leaders):
        is_lowered = min(lowest, limited_lowest) < 1.0
        better = [
            release
            for release in releases
            if release.kind == "method"
            and release.violations == (_EXCESS,)
            and release.overall < leaders[0].overall
        ]
        yield from _list_remedies_against_doing_nothing(
            rules, original, better, is_security_lowered=is_lowered
        )


def _find_lowest_risk(releases: Sequence[PlayedRelease]) -> float:
    """Return the lowest E of the accepted sample methods, 1 if there is none."""
    return min(
        (release.security for release in releases if release.kind == "method" and not release.violations),
        default=1.0,
    )


def _recommend_against_cheat(
    releases: Sequence[PlayedRelease], limited: Sequence[PlayedRelease], recommended: float
) -> Iterator[CodedMessage]:
    """Yield the recommended threshold if no cheat leads with it, and what it costs."""
    kinds = {release.kind for release in limited if release.rank == 1}
    methods = [release for release in releases if release.rank and release.kind == "method"]
    best_distances = [release.mean_distance for release in methods if release.rank == methods[0].rank]
    if not kinds or "cheat" in kinds:
        return
    if "unchanged" in kinds:
        text = N_(
            "a threshold of {threshold}, which rejects this cheat; doing nothing then leads, and the next "
            "report says what helps"
        )
    elif min(best_distances, default=0.0) > recommended + TOLERANCE:
        text = N_("a threshold of {threshold}, which rejects this cheat, but also the best sample method")
    else:
        text = N_("a threshold of {threshold}, which rejects this cheat")
    yield CodedMessage("threshold", Message(text, threshold=recommended))


def _is_led_by_method(accepted: Sequence[PlayedRelease]) -> bool:
    """Return whether a sample method leads alone if max(utility, security) ranks."""
    ranks = compute_ranks([max(release.utility, release.security) for release in accepted])
    return all(release.kind == "method" for release, rank in zip(accepted, ranks, strict=True) if rank == 1)


def _list_remedies_against_doing_nothing(
    rules: Rules, original: HasRows, better: Sequence[PlayedRelease], *, is_security_lowered: bool
) -> Iterator[CodedMessage]:
    """Yield what helps besides a formula. ``better``: methods that only the threshold keeps from leading."""
    measures = TRACKS[rules.track].measures
    if is_security_lowered and any(measures[name].cross_table_parameter for name in rules.weights):
        message = Message("other columns in the cross-tables, so that methods that merge values lose less")
        yield CodedMessage("columns", message)
    if not is_security_lowered and better:
        nearest = min(better, key=lambda release: release.mean_distance)
        message = Message(
            "a threshold above {distance:.4f}, because this one rejects all sample methods that lower E, as "
            "{method} does to {lowest:.4f}; above the recommended one, cheats that keep more may pass",
            distance=nearest.mean_distance,
            method=nearest.method,
            lowest=nearest.security,
        )
        yield CodedMessage("larger_threshold", message)
    elif not is_security_lowered:
        message = Message(
            "fewer or coarser columns, first of all {columns}, or other attackers that count towards E, "
            "because no accepted sample method lowers it; these count: {names}",
            columns=_find_most_distinct_columns(rules, original),
            names=tuple(list_counting_attackers(rules)),
        )
        yield CodedMessage("attackers", message)


def _find_most_distinct_columns(rules: Rules, original: HasRows) -> tuple[str, ...]:
    """Return the three columns by which individuals are told apart best."""
    track = TRACKS[rules.track]
    table = track.build_frames(original)[0]
    columns = [name for name in track.distances.group_columns(rules)[0] if name in table]
    return tuple(sorted(columns, key=lambda name: -table[name].nunique())[:3])
