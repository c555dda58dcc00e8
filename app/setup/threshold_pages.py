"""The rule against excessive anonymization, and the reports of the threshold advisor."""

from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from starlette.responses import Response

from anoncup import schemas
from anoncup.competition.writer import replace_excessive
from anoncup.errors import Conflict, DomainError, InvalidCompetition, InvalidInput, NotFound, TooManyRequests
from anoncup.excessive import SIMULATED_PERMUTATIONS
from anoncup.excessive.question import AdviceQuestion
from anoncup.rules.settings import Excessive
from app.competitions import revisions
from app.core.db.models import State, ThresholdReport
from app.core.db.transaction import transaction
from app.core.locale.language import Translator
from app.core.pages.forms import FormBody, ParsedForm
from app.core.pages.language import adapt_to_track
from app.core.pages.pages import PageRoute, see_other
from app.originals import original_import, threshold_reports
from app.setup.setup_context import (
    FORM_ERRORS,
    RequestedSetup,
    SetupContext,
    apply_or_rescore,
    render_setup,
    require_form_error,
)
from app.setup.threshold_chart import describe_release, draw_threshold_errors

router = APIRouter(route_class=PageRoute)

_MAX_PERMUTATIONS = 100_000


@router.get("/competitions/{slug}/organize/threshold")
def show_threshold(context: RequestedSetup) -> HTMLResponse:
    return _render_threshold(context)


def _render_threshold(
    context: SetupContext, form: ParsedForm | None = None, problem: DomainError | None = None
) -> HTMLResponse:
    """Render the page; ``form`` is a rejected question to the advisor."""
    rules, page = context.frame.rules, context.page
    with transaction() as session:
        reports = threshold_reports.list_reports(session, page.principal, page.slug)
    raw_values, errors = (form.raw_values(), form.errors) if form else ({}, {})
    defaults = {"bits": "50", "draws": str(SIMULATED_PERMUTATIONS)}
    all_columns, default_columns = context.frame.round.track.distances.group_columns(rules)
    exchange_columns = original_import.select_grouping_columns(context.frame.round)
    return render_setup(
        context,
        "setup/threshold.html",
        problem=problem,
        errors=errors,
        question={"asked_distance": rules.required_excessive.distance} | defaults | raw_values,
        groups=[
            (name, name in (form.values("groups") if form else exchange_columns)) for name in all_columns
        ],
        dropped_columns=[] if form else [name for name in default_columns if name not in exchange_columns],
        is_question_rejected=form is not None,
        distances=tuple(context.frame.round.track.distances),
        reports=reports,
        recommended={report.id: advice.threshold for report in reports if (advice := _parse_advice(report))},
        has_unfinished_report=any(report.state in (State.QUEUED, State.SCORING) for report in reports),
    )


def _parse_advice(report: ThresholdReport) -> schemas.Advice | None:
    return None if report.report is None else schemas.parse_advice(report.report)


@router.post("/competitions/{slug}/organize/threshold/reports")
def request_report(context: RequestedSetup, form: FormBody) -> Response:
    question, page = _parse_question(form), context.page
    if form.errors:
        return _render_threshold(context, form)
    try:
        with transaction() as session:
            stored_report = threshold_reports.request_report(session, page.principal, page.slug, question)
    except (Conflict, InvalidInput, TooManyRequests) as problem:
        return _render_threshold(context, form, problem)
    return see_other(f"{page.path}/threshold/{stored_report.id}", notice="report_asked")


def _parse_question(form: ParsedForm) -> AdviceQuestion:
    """Parse a question to the advisor. Without columns, all individuals form one group."""
    return AdviceQuestion(
        form.values("groups"),
        form.text("asked_distance") or None,
        form.parse_count("bits", maximum=1000),
        form.parse_count("draws", minimum=0, maximum=_MAX_PERMUTATIONS),
    )


@router.get("/competitions/{slug}/organize/threshold/{report_id}")
def show_report(context: RequestedSetup, report_id: UUID) -> HTMLResponse:
    return _render_report(context, _load_report(context, report_id))


def _load_report(context: SetupContext, report_id: UUID) -> ThresholdReport:
    with transaction() as session:
        stored_report = threshold_reports.find_visible(session, context.page.principal, report_id)
    if stored_report.round_id != context.frame.round.id:
        raise NotFound("there is no such report", code="no_such_report")
    return stored_report


def _render_report(
    context: SetupContext, stored_report: ThresholdReport, problem: DomainError | None = None
) -> HTMLResponse:
    is_pending = stored_report.state in (State.QUEUED, State.SCORING)
    t = adapt_to_track(context.page.t, context.frame.round.track.name)
    advice = _parse_advice(stored_report)
    return render_setup(
        context,
        "setup/report.html",
        problem=problem,
        asked=stored_report,
        advice=advice,
        **({} if advice is None else _build_report_content(advice, t)),
        working=is_pending,
        # A pending report's page reloads itself, with the notice in its URL; hide the notice at the end.
        done=context.page.request.query_params.get("done", "") if is_pending else "",
        stale=stored_report.original != context.frame.round.original,
    )


@router.post("/competitions/{slug}/organize/threshold/{report_id}/use")
def use_report(context: RequestedSetup, report_id: UUID, form: FormBody) -> Response:
    """Use the recommended threshold of a report, which limits the mean distance.

    Where a round has a rule of its own, there is no such form, so whoever sends it is led to its page.
    """
    stored_report, page = _load_report(context, report_id), context.page
    if not context.can_edit_threshold:
        return see_other(f"{page.path}/threshold")
    try:
        rule = _build_rule(stored_report, context)
        return apply_or_rescore(
            page.reauthenticate(form.secret("password")),
            page.slug,
            lambda round_: revisions.compute_file_revision(
                round_, replace_excessive(round_.competition.file, rule)
            ),
            page_name="threshold",
        )
    except (*FORM_ERRORS, InvalidCompetition) as problem:
        return _render_report(context, stored_report, require_form_error(problem))


def _build_rule(stored_report: ThresholdReport, context: SetupContext) -> Excessive:
    if stored_report.original != context.frame.round.original:
        raise Conflict("the data have changed since this report: ask for a new one", code="report_stale")
    advice = _parse_advice(stored_report)
    if advice is None or advice.threshold is None:
        raise Conflict("the report recommends no threshold", code="no_recommendation")
    return replace(
        context.frame.rules.required_excessive,
        distance=advice.distance,
        approach="II",
        rule="average",
        threshold=advice.threshold,
    )


def _build_report_content(report: schemas.Advice, t: Translator) -> dict[str, Any]:
    """Return the template variables of a report.

    ``describe_release`` returns the name of a release of the contest. ``error_chart`` is None if nothing was
    simulated. ``bounds`` has the smallest mean distance of a cheat by its fixed points. ``miss_probability``
    is the probability that a cheat is accepted.
    """
    return {
        "error_chart": draw_threshold_errors(report, t),
        "bounds": {bound.fixed: bound.s_lower for bound in report.bounds},
        "format_chance": partial(_format_chance, t),
        "describe_release": partial(describe_release, t=t),
        "miss_probability": _format_power_of_two(f"-{report.bits}"),
    }


def _format_chance(t: Translator, log2_chance: float | None) -> Markup:
    """Return the probability that more individuals stay in place than the bound assumes, as HTML."""
    if log2_chance is None:
        return Markup("0")
    return _format_power_of_two(t.localize_numbers(f"{log2_chance:.1f}"))


def _format_power_of_two(exponent: str) -> Markup:
    return Markup("2<sup>{}</sup>").format(exponent.replace("-", "−"))
