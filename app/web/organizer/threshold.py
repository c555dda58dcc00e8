"""Setup step for the threshold: the rule, and the reports of the threshold advisor."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup import schemas
from anoncup.competition.writer import replace_excessive
from anoncup.errors import Conflict, DomainError, InvalidInput, NotFound, TooManyRequests
from anoncup.excessive import SIMULATED_PERMUTATIONS
from anoncup.excessive.question import AdviceQuestion
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive
from anoncup.tracks.model import Track
from app.db.models import State, ThresholdReport
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.services.accounts.accounts import Principal
from app.services.originals import original_import, threshold_reports
from app.web.organizer.forms import FormBody, ParsedForm
from app.web.organizer.setup_steps import SetupContext, load_setup_context, render_step, save_step
from app.web.organizer.threshold_report import build_report_view
from app.web.site import language
from app.web.site.pages import PageRoute, see_other

router = APIRouter(route_class=PageRoute)

_APPROACHES = ("II", "I")
_RULES = ("average", "strict")
_MAX_SECONDS = 300
_MAX_PERMUTATIONS = 100_000


@router.get("/competitions/{slug}/organize/threshold")
def show_threshold(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    with transaction() as session:
        context = load_setup_context(session, principal, slug)
        reports = threshold_reports.list_reports(session, principal, slug)
    return _render_threshold(request, principal, context, reports)


def _render_threshold(
    request: Request,
    principal: Principal,
    context: SetupContext,
    reports: Any,
    *,
    form: ParsedForm | None = None,
    is_question: bool = False,
    problem: DomainError | None = None,
) -> HTMLResponse:
    """Render the step.

    ``form`` is a rejected form: the question to the advisor if ``is_question``, else the rule.
    """
    rules = context.frame.rules
    raw_values, errors = (form.raw_values(), form.errors) if form else ({}, {})
    all_columns, default_columns = context.frame.contest.track.group_columns(rules)
    exchange_columns = original_import.select_grouping_columns(
        context.frame.contest.competition, tuple(default_columns)
    )
    return render_step(
        request,
        principal,
        "organizer/threshold.html",
        context,
        problem=problem,
        wrong=errors,
        rule=_format_rule(rules) | ({} if is_question else raw_values),
        question=_build_question_values(rules) | (raw_values if is_question else {}),
        groups=[
            (name, name in (form.values("groups") if form and is_question else exchange_columns))
            for name in all_columns
        ],
        dropped=[]
        if form and is_question
        else [name for name in default_columns if name not in exchange_columns],
        opened=is_question,
        ruling=bool(form) and not is_question,
        distances=tuple(context.frame.contest.track.distances),
        approaches=_APPROACHES,
        rules=_RULES,
        reports=reports,
        recommended={
            item.id: schemas.parse_advice(item.report).recommended_threshold
            for item in reports
            if item.report
        },
        working=any(report.state in (State.QUEUED, State.SCORING) for report in reports),
        outside=_find_contradicting_report(reports, context),
    )


@dataclass(frozen=True, slots=True)
class ContradictingReport:
    """A report that contradicts the threshold in use."""

    id: UUID
    report: schemas.Advice


def _find_contradicting_report(
    reports: Sequence[ThresholdReport], context: SetupContext
) -> ContradictingReport | None:
    """Return the latest report on the present data and distance if it contradicts the threshold in use.

    Reports only cover the rule "average" of Approach II; return None for other rules.
    """
    rule, original = context.frame.rules.required_excessive, context.frame.contest.competition.original
    if rule.threshold is None or (rule.approach, rule.rule) != ("II", "average"):
        return None
    for report in reports:
        advice = None if report.report is None else schemas.parse_advice(report.report)
        if advice is not None and (report.original, advice.distance) == (original, rule.distance):
            return None if advice.allows(rule.threshold) else ContradictingReport(report.id, advice)
    return None


def _format_rule(rules: Rules) -> dict[str, str]:
    rule = rules.required_excessive
    threshold_text = "" if rule.threshold is None else repr(rule.threshold)
    return {
        "distance": rule.distance,
        "approach": rule.approach,
        "rule": rule.rule,
        "threshold": threshold_text,
    }


def _build_question_values(rules: Rules) -> dict[str, str]:
    distance = rules.required_excessive.distance
    return {"asked_distance": distance, "bits": "50", "draws": str(SIMULATED_PERMUTATIONS), "seconds": "0"}


@router.post("/competitions/{slug}/organize/threshold")
def save_rule(request: Request, slug: str, principal: CurrentPrincipal, form: FormBody) -> Response:
    with transaction() as session:
        context = load_setup_context(session, principal, slug)
        reports = threshold_reports.list_reports(session, principal, slug)
    rule = _parse_rule(form, context.frame.contest.track)
    problem: DomainError | None = None
    if not form.errors:
        outcome = save_step(
            principal,
            slug,
            lambda contest: replace_excessive(contest.competition.file, rule),
            step_name="threshold",
            fingerprint=form.text("of"),
        )
        if isinstance(outcome, Response):
            return outcome
        problem = outcome
    return _render_threshold(request, principal, context, reports, form=form, problem=problem)


def _parse_rule(form: ParsedForm, track: Track) -> Excessive:
    distance = form.parse_choice("distance", tuple(track.distances))
    approach = cast(Literal["I", "II"], form.parse_choice("approach", _APPROACHES))
    rule = cast(Literal["average", "strict"], form.parse_choice("rule", _RULES))
    threshold = form.parse_number("threshold") if form.text("threshold") else None
    return Excessive(distance, approach, rule, threshold)


@router.post("/competitions/{slug}/organize/threshold/reports")
def request_report(request: Request, slug: str, principal: CurrentPrincipal, form: FormBody) -> Response:
    question = _parse_question(form)
    try:
        if not form.errors:
            with transaction() as session:
                stored_report = threshold_reports.request_report(session, principal, slug, question)
            return see_other(
                f"/competitions/{slug}/organize/threshold/{stored_report.id}", notice="report_asked"
            )
        problem: DomainError | None = None
    except (Conflict, InvalidInput, TooManyRequests) as rejection:
        problem = rejection
    with transaction() as session:
        context = load_setup_context(session, principal, slug)
        reports = threshold_reports.list_reports(session, principal, slug)
    return _render_threshold(
        request, principal, context, reports, form=form, is_question=True, problem=problem
    )


def _parse_question(form: ParsedForm) -> AdviceQuestion:
    """Parse a question to the advisor. Without columns, all individuals form one group."""
    seconds = form.parse_number("seconds", maximum=_MAX_SECONDS, default=0.0)
    return AdviceQuestion(
        form.values("groups"),
        form.text("asked_distance") or None,
        form.parse_count("bits", maximum=1000),
        form.parse_count("draws", minimum=0, maximum=_MAX_PERMUTATIONS),
        0.0 if math.isnan(seconds) else seconds,
    )


@router.get("/competitions/{slug}/organize/threshold/{report_id}")
def show_report(request: Request, slug: str, report_id: UUID, principal: CurrentPrincipal) -> HTMLResponse:
    with transaction() as session:
        context, stored_report = _load_report(session, principal, slug, report_id)
    return _render_report(request, principal, context, stored_report)


def _load_report(
    session: Session, principal: Principal, slug: str, report_id: UUID
) -> tuple[SetupContext, ThresholdReport]:
    context = load_setup_context(session, principal, slug)
    stored_report = threshold_reports.find_visible(session, principal, report_id)
    if stored_report.competition_id != context.frame.contest.id:
        raise NotFound("there is no such report", code="no_such_report")
    return context, stored_report


def _render_report(
    request: Request,
    principal: Principal,
    context: SetupContext,
    stored_report: ThresholdReport,
    problem: DomainError | None = None,
) -> HTMLResponse:
    is_pending = stored_report.state in (State.QUEUED, State.SCORING)
    advice = None if stored_report.report is None else schemas.parse_advice(stored_report.report)
    return render_step(
        request,
        principal,
        "organizer/report.html",
        context,
        problem=problem,
        asked=stored_report,
        advised=None if advice is None else build_report_view(advice, language.negotiate_translator(request)),
        working=is_pending,
        # A pending report's page reloads itself, with the notice in its URL; hide the notice at the end.
        done=request.query_params.get("done", "") if is_pending else "",
        stale=stored_report.original != context.frame.contest.competition.original,
    )


@router.post("/competitions/{slug}/organize/threshold/{report_id}/use")
def use_report(
    request: Request, slug: str, report_id: UUID, principal: CurrentPrincipal, form: FormBody
) -> Response:
    """Use the guaranteed or the recommended threshold of a report, which limits the mean distance."""
    is_guaranteed = bool(form.text("guaranteed"))
    with transaction() as session:
        context, stored_report = _load_report(session, principal, slug, report_id)
    outcome = save_step(
        principal,
        slug,
        lambda contest: replace_excessive(
            contest.competition.file, _build_rule(stored_report, context, is_guaranteed=is_guaranteed)
        ),
        step_name="threshold",
    )
    return (
        outcome
        if isinstance(outcome, Response)
        else _render_report(request, principal, context, stored_report, outcome)
    )


def _build_rule(stored_report: ThresholdReport, context: SetupContext, *, is_guaranteed: bool) -> Excessive:
    if stored_report.original != context.frame.contest.competition.original:
        raise Conflict("the data have changed since this report: ask for a new one", code="report_stale")
    advice = None if stored_report.report is None else schemas.parse_advice(stored_report.report)
    if advice is None or (advice.threshold if is_guaranteed else advice.recommended_threshold) is None:
        raise Conflict("the report recommends no threshold", code="no_recommendation")
    return replace(
        context.frame.rules.required_excessive,
        distance=advice.distance,
        approach="II",
        rule="average",
        threshold=advice.threshold if is_guaranteed else advice.recommended_threshold,
    )
