"""Setup step for the threshold: the rule, and the reports of the threshold advisor."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, cast
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from starlette.responses import Response

from anoncup import schemas
from anoncup.competition.writer import replace_excessive
from anoncup.errors import Conflict, DomainError, InvalidInput, NotFound, TooManyRequests
from anoncup.excessive import SIMULATED_PERMUTATIONS
from anoncup.excessive.question import AdviceQuestion
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive
from anoncup.tracks.model import AnyTrack
from app.charts.bounds import BoundWords, DistanceBound, build_bounds
from app.charts.figure import Figure
from app.charts.histogram import PanelWords, build_histogram_panels
from app.charts.numbers import format_number
from app.charts.text import translate_words
from app.charts.threshold_errors import ErrorWords, SampleRelease, SimulatedCheats, build_threshold_errors
from app.db.models import State, ThresholdReport
from app.db.transaction import transaction
from app.locale.language import Translator
from app.services.originals import original_import, threshold_reports
from app.web.organizer.forms import FormBody, ParsedForm
from app.web.organizer.setup_steps import RequestedSetup, SetupContext, render_step, save_step
from app.web.site.language import adapt_to_track
from app.web.site.pages import PageRoute, see_other
from app.web.site.sentences import translate_sentence

router = APIRouter(route_class=PageRoute)

_APPROACHES = ("II", "I")
_RULES = ("average", "strict")
_MAX_SECONDS = 300
_MAX_PERMUTATIONS = 100_000


@router.get("/competitions/{slug}/organize/threshold")
def show_threshold(context: RequestedSetup) -> HTMLResponse:
    return _render_threshold(context)


def _render_threshold(
    context: SetupContext,
    form: ParsedForm | None = None,
    problem: DomainError | None = None,
    *,
    is_question: bool = False,
) -> HTMLResponse:
    """Render the step.

    ``form`` is a rejected form: the question to the advisor if ``is_question``, else the rule.
    """
    rules, page = context.frame.rules, context.page
    with transaction() as session:
        reports = threshold_reports.list_reports(session, page.principal, page.slug)
    raw_values, errors = (form.raw_values(), form.errors) if form else ({}, {})
    all_columns, default_columns = context.frame.contest.track.distances.group_columns(rules)
    exchange_columns = original_import.select_grouping_columns(
        context.frame.contest.round, tuple(default_columns)
    )
    return render_step(
        context,
        "organizer/threshold.html",
        problem=problem,
        errors=errors,
        rule=_format_rule(rules) | ({} if is_question else raw_values),
        question=_build_question_values(rules) | (raw_values if is_question else {}),
        groups=[
            (name, name in (form.values("groups") if form and is_question else exchange_columns))
            for name in all_columns
        ],
        dropped_columns=[]
        if form and is_question
        else [name for name in default_columns if name not in exchange_columns],
        is_question_rejected=is_question,
        is_rule_rejected=bool(form) and not is_question,
        distances=tuple(context.frame.contest.track.distances),
        approaches=_APPROACHES,
        rules=_RULES,
        reports=reports,
        recommended={
            report.id: schemas.parse_advice(report.report).recommended_threshold
            for report in reports
            if report.report
        },
        has_unfinished_report=any(report.state in (State.QUEUED, State.SCORING) for report in reports),
        contradicting_report=_find_contradicting_report(reports, context),
    )


def _find_contradicting_report(
    reports: Sequence[ThresholdReport], context: SetupContext
) -> tuple[UUID, schemas.Advice] | None:
    """Return the latest report on the present data and distance if it contradicts the threshold in use.

    Reports only cover the rule "average" of Approach II; return None for other rules.
    """
    rule, original = context.frame.rules.required_excessive, context.frame.contest.round.original
    if rule.threshold is None or (rule.approach, rule.rule) != ("II", "average"):
        return None
    for report in reports:
        advice = None if report.report is None else schemas.parse_advice(report.report)
        if advice is not None and (report.original, advice.distance) == (original, rule.distance):
            return None if advice.allows(rule.threshold) else (report.id, advice)
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
def save_rule(context: RequestedSetup, form: FormBody) -> Response:
    rule = _parse_rule(form, context.frame.contest.track)
    return save_step(
        context,
        form,
        lambda contest: replace_excessive(contest.competition.file, rule),
        partial(_render_threshold, context, form),
        step_name="threshold",
    )


def _parse_rule(form: ParsedForm, track: AnyTrack) -> Excessive:
    distance = form.parse_choice("distance", tuple(track.distances))
    approach = cast(Literal["I", "II"], form.parse_choice("approach", _APPROACHES))
    rule = cast(Literal["average", "strict"], form.parse_choice("rule", _RULES))
    threshold = form.parse_number("threshold") if form.text("threshold") else None
    return Excessive(distance, approach, rule, threshold)


@router.post("/competitions/{slug}/organize/threshold/reports")
def request_report(context: RequestedSetup, form: FormBody) -> Response:
    question, page = _parse_question(form), context.page
    if form.errors:
        return _render_threshold(context, form, is_question=True)
    try:
        with transaction() as session:
            stored_report = threshold_reports.request_report(session, page.principal, page.slug, question)
    except (Conflict, InvalidInput, TooManyRequests) as problem:
        return _render_threshold(context, form, problem, is_question=True)
    return see_other(f"{page.path}/threshold/{stored_report.id}", notice="report_asked")


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
def show_report(context: RequestedSetup, report_id: UUID) -> HTMLResponse:
    return _render_report(context, _load_report(context, report_id))


def _load_report(context: SetupContext, report_id: UUID) -> ThresholdReport:
    with transaction() as session:
        stored_report = threshold_reports.find_visible(session, context.page.principal, report_id)
    if stored_report.round_id != context.frame.contest.round.id:
        raise NotFound("there is no such report", code="no_such_report")
    return stored_report


def _render_report(
    context: SetupContext, stored_report: ThresholdReport, problem: DomainError | None = None
) -> HTMLResponse:
    is_pending = stored_report.state in (State.QUEUED, State.SCORING)
    t = adapt_to_track(context.page.t, context.frame.contest.track.name)
    advice = None if stored_report.report is None else schemas.parse_advice(stored_report.report)
    return render_step(
        context,
        "organizer/report.html",
        problem=problem,
        asked=stored_report,
        advice=advice,
        **({} if advice is None else _build_report_content(advice, t)),
        working=is_pending,
        # A pending report's page reloads itself, with the notice in its URL; hide the notice at the end.
        done=context.page.request.query_params.get("done", "") if is_pending else "",
        stale=stored_report.original != context.frame.contest.round.original,
    )


@router.post("/competitions/{slug}/organize/threshold/{report_id}/use")
def use_report(context: RequestedSetup, report_id: UUID, form: FormBody) -> Response:
    """Use the guaranteed or the recommended threshold of a report, which limits the mean distance."""
    is_guaranteed = bool(form.text("guaranteed"))
    stored_report = _load_report(context, report_id)
    return save_step(
        context,
        form,
        lambda contest: replace_excessive(
            contest.competition.file, _build_rule(stored_report, context, is_guaranteed=is_guaranteed)
        ),
        partial(_render_report, context, stored_report),
        step_name="threshold",
    )


def _build_rule(stored_report: ThresholdReport, context: SetupContext, *, is_guaranteed: bool) -> Excessive:
    if stored_report.original != context.frame.contest.round.original:
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


def _build_report_content(report: schemas.Advice, t: Translator) -> dict[str, Any]:
    """Return the template variables of a report.

    ``histograms`` is None if nothing was simulated. ``refused_methods`` names the sample methods whose
    releases no threshold accepts. ``remedy`` tells what to do if no threshold is recommended.
    ``miss_probability`` is the probability that a cheat is accepted.
    """
    histograms = {
        t.label(f"adv_cheat_{name}"): (histogram.counts, histogram.edges[0], histogram.edges[-1])
        for name, histogram in report.histograms.items()
    }
    return {
        "histograms": _draw_histograms(histograms, report, t) if histograms else None,
        "bounds": _draw_bounds(report, t),
        "error_chart": _draw_errors(report, report.evidence, t),
        "refused_methods": _list_refused_methods(report.evidence, t),
        "remedy": _describe_remedy(report, t) if report.recommended_threshold is None else "",
        "format_chance": partial(_format_chance, t),
        "describe_reason": partial(_describe_reason, t),
        "miss_probability": _format_power_of_two(f"-{report.bits}"),
    }


def _format_chance(t: Translator, log2_chance: float | None) -> Markup:
    """Return the probability that more individuals stay in place than the bound assumes, as HTML."""
    if log2_chance is None:
        return Markup("0")
    return _format_power_of_two(t.localize_numbers(f"{log2_chance:.1f}"))


def _format_power_of_two(exponent: str) -> Markup:
    return Markup("2<sup>{}</sup>").format(exponent.replace("-", "−"))


def _describe_reason(t: Translator, message: Message) -> str:
    """Return a reason as a sentence, with its distances formatted as in the charts."""
    distances = {
        name: t.localize_numbers(format_number(value))
        for name, value in message.values.items()
        if isinstance(value, float)
    }
    return translate_sentence(Message(message.template, **{**message.values, **distances}), t)


def _compute_interval(report: schemas.Advice) -> tuple[float, float] | None:
    return (report.low, report.high) if report.low < report.high else None


def _draw_histograms(histograms: Mapping[str, Any], report: schemas.Advice, t: Translator) -> Figure:
    words, interval = translate_words(PanelWords, t), _compute_interval(report)
    return build_histogram_panels(histograms, words, interval=interval, threshold=report.threshold)


def _draw_bounds(report: schemas.Advice, t: Translator) -> Figure:
    points = [DistanceBound(bound.fixed, bound.s_lower, bound.lower, bound.upper) for bound in report.bounds]
    words = translate_words(BoundWords, t)
    figure = build_bounds(points, words, fixed=report.fixed, threshold=report.threshold)
    return replace(figure, rows=())  # the page has its own table, which also marks exact bounds


def _draw_errors(report: schemas.Advice, evidence: schemas.AdviceEvidence, t: Translator) -> Figure:
    honest_releases = [
        SampleRelease(_describe_method(trial, t), trial.mean)
        for trial in evidence.honest
        if trial.mean is not None
    ]
    mixed_releases = [
        SampleRelease(
            f"{_describe_method(mixture, t)}, {t.label(f'adv_cheat_{mixture.cheat}')} "
            f"{t.localize_numbers(f'{100 * mixture.share:g}%')}",
            mixture.mean,
        )
        for mixture in evidence.mixtures
    ]
    passing_cheats = evidence.errors[0].passing
    simulated_cheats = {
        name: SimulatedCheats(simulation.counts, simulation.edges)
        for name, simulation in report.histograms.items()
        if name in passing_cheats
    }
    words = translate_words(
        ErrorWords,
        t,
        **_describe_incomplete_chart(bool(simulated_cheats), report.recommended_threshold is not None, t),
    )
    interval = _compute_interval(report)
    return build_threshold_errors(
        honest_releases,
        mixed_releases,
        simulated_cheats,
        words,
        interval=interval,
        threshold=report.recommended_threshold,
    )


def _describe_incomplete_chart(has_cheats: bool, has_threshold: bool, t: Translator) -> dict[str, str]:
    """Return a replacement for the chart's summary if simulated cheats or the threshold are missing."""
    if has_cheats and has_threshold:
        return {}
    missing = "no_threshold" if has_cheats else "no_cheats" if has_threshold else "neither"
    return {"summary": t.label(f"adv_errors_{missing}")}


def _describe_remedy(report: schemas.Advice, t: Translator) -> str:
    """Tell what to do about a report that recommends no threshold."""
    codes = {reason.code for reason in report.evidence.reasons}
    for code in ("not_simulated", "inseparable"):
        if code in codes:
            return t.label(f"adv_remedy_{code}")
    return "" if report.remedy_message is None else translate_sentence(report.remedy_message, t)


def _list_refused_methods(evidence: schemas.AdviceEvidence, t: Translator) -> str:
    """Return the names of the sample methods whose releases no threshold accepts."""
    names = [_label_method(release.method, t) for release in evidence.honest if release.mean is None]
    return ", ".join(dict.fromkeys(names))


def _label_method(method: str, t: Translator) -> str:
    return t.label(f"method_{method}", method)


def _describe_method(release: Any, t: Translator) -> str:
    """Return the name of a sample method with its parameters; a list of columns appears as its length."""
    values = [len(value) if isinstance(value, list) else value for value in release.parameters.values()]
    name = _label_method(release.method, t)
    return f"{name} ({', '.join(t.localize_numbers(f'{value:g}') for value in values)})" if values else name
