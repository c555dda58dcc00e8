"""The page of a submission: its progress, then its results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from anoncup import schemas
from anoncup.competition.required_packages import find_changed_package, is_unsupported
from anoncup.evaluation.ranking import compute_overall_loss, compute_utility_loss
from anoncup.rules.model import Rules
from anoncup.rules.toml_values import MAX_NUMBER
from anoncup.tracks.model import AnyTrack
from app.charts.figure import Figure
from app.charts.histogram import HistogramWords, build_histogram
from app.charts.intervals import AttackRate, IntervalWords, build_intervals
from app.charts.strip import StripWords, build_strip
from app.charts.text import translate_words
from app.db.transaction import transaction
from app.locale.language import Translator
from app.services.boards import anonymization, matrix, standing_forecast
from app.services.boards.standing_forecast import SubmissionPosition
from app.services.contests import visibility
from app.services.contests.visibility import UNFROZEN
from app.services.submissions import submissions, summaries
from app.services.submissions.summaries import SubmissionSummary
from app.web.site.frame import Frame, load_frame
from app.web.site.language import adapt_to_track
from app.web.site.pages import PageRoute, RequestedUserPage
from app.web.team.board_position import SubmissionBoard
from app.web.team.own_score import typeset_score
from app.web.team.submission_lines import build_lines, summarize_finals
from app.web.team.verdicts import (
    AttackerLine,
    MeasureLine,
    ThresholdComparison,
    build_attacker_lines,
    build_measure_lines,
    compare_with_threshold,
)

router = APIRouter(route_class=PageRoute)
_EVERYBODY_FOUND_RATE = 0.9995
"""Attackers with at least this rate are said to find everybody."""
_FIELD_PREFIX = "weight."
_REQUEST_FIELD = "what"
_MAX_CHARACTERS = 40
"""Maximum length of a typed number."""


@dataclass(frozen=True, slots=True)
class CostSummary:
    """The largest costs of a release.

    ``dominant`` tells whether risk or utility loss is larger. ``attackers`` are those that determine the
    risk. ``measure`` contributes most to the utility loss; it is None if nothing is lost.
    ``finds_everybody`` means that the risk is (almost) 1.
    """

    dominant: Literal["risk", "utility", "both", "nothing"]
    attackers: tuple[AttackerLine, ...]
    measure: MeasureLine | None
    finds_everybody: bool


@dataclass(frozen=True, slots=True)
class WeightInput:
    """A measure and the weight typed for it."""

    name: str
    raw_weight: str
    is_invalid: bool

    @property
    def field(self) -> str:
        return _FIELD_PREFIX + self.name


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Results under the typed weights.

    ``utility`` and ``overall`` are None before they are requested, or if a weight is invalid.
    """

    measures: tuple[WeightInput, ...]
    is_requested: bool
    utility: float | None = None
    overall: float | None = None

    @property
    def invalid_names(self) -> tuple[str, ...]:
        return tuple(measure.name for measure in self.measures if measure.is_invalid)


@router.get("/submissions/{submission_id}")
def show_submission(page: RequestedUserPage, submission_id: UUID, board: SubmissionBoard) -> HTMLResponse:
    with transaction() as session:
        submission = submissions.find_visible(session, page.principal, submission_id)
        frame = load_frame(session, page.principal, submissions.get_competition_slug(session, submission))
        t = adapt_to_track(page.t, frame.contest.track.name)
        is_own = frame.team is not None and frame.team.id == submission.team_id
        own_summaries = (
            summaries.list_summaries(session, page.principal, frame.contest.address) if is_own else []
        )
        (line,) = build_lines(session, [submission])
        verdict = line.evaluation.parsed_verdict
        access = visibility.find_board_access(session, page.principal, frame.contest.address)
        content = _build_result_content(frame, verdict, board, t) if verdict else {}
        formulas = anonymization.fill_in_formulas(session, access, submission) if access and verdict else {}
        rival_attacks = matrix.list_attacks(session, access, submission.id) if access else []
        forecast = (
            standing_forecast.forecast_position(session, access, board, submission)
            if access and board
            else None
        )
    return page.render(
        "team/submission.html",
        frame=frame,
        submission=submission,
        sealed=frame.contest.track.target_files.seals_release,
        line=line,
        own=is_own,
        finals=summarize_finals(frame, own_summaries),
        changed_package=find_changed_package(frame.rules) if line.is_unfinished else None,
        waits_for_rules=line.is_unfinished and is_unsupported(frame.rules),
        result=verdict,
        stands=bool(verdict and not verdict.violations and submission.disqualified_at is None),
        place=forecast,
        rivals=rival_attacks,
        score_formulas=typeset_score(formulas, t),
        what_if=compute_what_if(frame.rules, frame.contest.track, verdict, page.request.query_params)
        if verdict
        else None,
        best=_find_board_submission(forecast, own_summaries),
        frozen=access.scope.as_of if access and access.scope.as_of != UNFROZEN else None,
        **content,
    )


def _find_board_submission(
    forecast: SubmissionPosition | None, own_summaries: Sequence[SubmissionSummary]
) -> UUID | None:
    """Return the id of the submission that represents the team on the board, if it is not this one."""
    if forecast is None or forecast.is_on_board or forecast.team_row is None:
        return None
    return next(
        (summary.id for summary in own_summaries if summary.received_at == forecast.team_row.received_at),
        None,
    )


def _build_result_content(
    frame: Frame, verdict: schemas.Verdict, board: schemas.Board | None, t: Translator
) -> dict[str, Any]:
    """Return the verdict under the current rules as table lines and charts, for the template."""
    rules = frame.rules
    measures = build_measure_lines(rules, frame.contest.track, verdict, board)
    attackers = build_attacker_lines(rules, verdict)
    comparison = compare_with_threshold(rules, verdict)
    return {
        "measures": measures,
        "strips": _draw_strips(measures, t),
        "attackers": attackers,
        "details": list(dict.fromkeys(part for line in attackers for part in line.entry.details or ())),
        "costs": summarize_costs(measures, attackers, verdict),
        "rates": build_intervals(
            [_build_attack_rate(line.entry) for line in attackers], translate_words(IntervalWords, t)
        ),
        "limit": comparison,
        "distances": _draw_distances(verdict, comparison, t),
    }


def summarize_costs(
    measures: Sequence[MeasureLine], attackers: Sequence[AttackerLine], verdict: schemas.Verdict
) -> CostSummary:
    risk, loss = verdict.security, verdict.utility
    contributing = [line for line in measures if line.contribution]
    return CostSummary(
        dominant=_compare_costs(risk, loss),
        attackers=tuple(line for line in attackers if line.is_decisive) if risk else (),
        measure=max(contributing, key=lambda line: line.contribution or 0.0, default=None),
        finds_everybody=risk >= _EVERYBODY_FOUND_RATE,
    )


def _compare_costs(risk: float, loss: float) -> Literal["risk", "utility", "both", "nothing"]:
    if risk == loss:
        return "both" if risk else "nothing"
    return "risk" if risk > loss else "utility"


def _draw_distances(
    verdict: schemas.Verdict, comparison: ThresholdComparison | None, t: Translator
) -> Figure | None:
    """Draw the individuals' distances to their originals, and the threshold; None without distances."""
    excessive = verdict.excessive
    if excessive is None or comparison is None:
        return None
    distance_label = t.label(f"distance_{excessive.distance}", "") or excessive.distance
    words = translate_words(HistogramWords, t, x_title=distance_label)
    return build_histogram(
        excessive.histogram.counts,
        words,
        minimum=0.0,
        maximum=excessive.histogram.end,
        # The threshold of Approach I applies to distances to other individuals, which are not drawn here.
        threshold=excessive.threshold if comparison.compared_distance else None,
        mean=excessive.mean,
        per_individual=comparison.compared_distance == "largest",
    )


def _build_attack_rate(entry: schemas.AttackerVerdict) -> AttackRate:
    low, high = entry.interval or (None, None)
    return AttackRate(entry.rate, low, high, entry.sd, entry.baseline)


def _draw_strips(lines: Sequence[MeasureLine], t: Translator) -> dict[str, Markup]:
    """Draw the value of each measure among the values of other teams that the viewer may see."""
    words = translate_words(StripWords, t)
    return {
        line.name: build_strip(line.board_values, line.value, words) for line in lines if line.board_values
    }


def compute_what_if(
    rules: Rules, track: AnyTrack, verdict: schemas.Verdict, query: Mapping[str, str]
) -> WhatIf | None:
    """Return the results under the weights in the query, or None if no measure can have a weight."""
    names = [
        name
        for name, measure in track.measures.items()
        if measure.weighs and name in verdict.measures and rules.scales.get(name)
    ]
    if not names:
        return None
    is_requested = _REQUEST_FIELD in query
    raw_weights = {
        name: query.get(_FIELD_PREFIX + name, "") if is_requested else _format_weight(rules.weight(name))
        for name in names
    }
    weights = {name: _parse_weight(text) for name, text in raw_weights.items()}
    inputs = tuple(
        WeightInput(name, text[:_MAX_CHARACTERS], weights[name] is None) for name, text in raw_weights.items()
    )
    valid_weights = {name: weight for name, weight in weights.items() if weight is not None}
    if not is_requested or len(valid_weights) < len(weights):
        return WhatIf(inputs, is_requested)
    utility = _compute_verdict_utility(rules, track, verdict, valid_weights)
    return WhatIf(inputs, is_requested, utility, compute_overall_loss(utility, verdict.security))


def _compute_verdict_utility(
    rules: Rules, track: AnyTrack, verdict: schemas.Verdict, weights: Mapping[str, float]
) -> float:
    """Compute U as scoring does, which leaves out measures of weight 0."""
    positive_weights = {name: weight for name, weight in weights.items() if weight > 0}
    entries = {name: verdict.measures[name] for name in positive_weights}
    return compute_utility_loss(
        {name: entry.value for name, entry in entries.items()},
        weights=positive_weights,
        scales=rules.scales,
        rounding={name: entry.rounding for name, entry in entries.items()},
        aggregation=track.utility,
    )


def _parse_weight(text: str) -> float | None:
    """Parse a weight that a competition file allows. Empty text gives 0, invalid text None."""
    try:
        weight = float(text.strip() or 0)
    except ValueError:
        return None
    return weight if isfinite(weight) and 0 <= weight <= MAX_NUMBER and len(text) <= _MAX_CHARACTERS else None


def _format_weight(weight: float) -> str:
    return str(int(weight)) if weight == int(weight) else str(weight)
