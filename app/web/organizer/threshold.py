"""The step of the threshold: the rule, the advisor's reports, one of them with its pictures."""

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
from anoncup.competition.writer import with_excessive
from anoncup.errors import Conflict, DomainError, InvalidInput, NotFound, TooMany
from anoncup.excessive import DRAWS
from anoncup.excessive.question import Question
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive
from anoncup.tracks.model import Track
from app.db.models import State, ThresholdReport
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.services.accounts.accounts import Principal
from app.services.originals import original_import, threshold_reports
from app.web.organizer.forms import Form, Sent
from app.web.organizer.setup_steps import Desk, desk_of, saved, step_page
from app.web.organizer.threshold_report import advised
from app.web.site import language
from app.web.site.pages import PageRoute, see

router = APIRouter(route_class=PageRoute)

APPROACHES = ("II", "I")
RULES = ("average", "strict")
LONGEST_S = 300
MOST_DRAWS = 100_000


@router.get("/competitions/{slug}/organize/threshold")
def threshold(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
        reports = threshold_reports.listed(session, principal, slug)
    return threshold_page(request, principal, desk, reports)


def threshold_page(
    request: Request,
    principal: Principal,
    desk: Desk,
    reports: Any,
    *,
    form: Sent | None = None,
    asked: bool = False,
    problem: DomainError | None = None,
) -> HTMLResponse:
    """``form`` was refused: it was ``asked`` of the advisor, else it is the rule itself."""
    rules = desk.frame.rules
    typed, wrong = (form.typed(), form.wrong) if form else ({}, {})
    known, usual = desk.frame.contest.track.group_columns(rules)
    shared = original_import.shared_columns(desk.frame.contest.row, tuple(usual))
    return step_page(
        request,
        principal,
        "organizer/threshold.html",
        desk,
        problem=problem,
        wrong=wrong,
        rule=rule_values(rules) | ({} if asked else typed),
        question=question_values(rules) | (typed if asked else {}),
        groups=[(name, name in (form.all("groups") if form and asked else shared)) for name in known],
        dropped=[] if form and asked else [name for name in usual if name not in shared],
        opened=asked,
        ruling=bool(form) and not asked,
        distances=tuple(desk.frame.contest.track.distances),
        approaches=APPROACHES,
        rules=RULES,
        reports=reports,
        recommended={one.id: schemas.advice(one.report).recommended for one in reports if one.report},
        working=any(report.state in (State.QUEUED, State.SCORING) for report in reports),
        outside=contradicting(reports, desk),
    )


@dataclass(frozen=True, slots=True)
class Outside:
    """The report that speaks against the threshold in use."""

    id: UUID
    report: schemas.Advice


def contradicting(reports: Sequence[ThresholdReport], desk: Desk) -> Outside | None:
    """The latest report on these data and this distance, if the threshold in use lies outside of what it
    allows; of a rule that judges otherwise than reports do, they say nothing."""
    rule, original = desk.frame.rules.against_excess, desk.frame.contest.row.original
    if rule.threshold is None or (rule.approach, rule.rule) != ("II", "average"):
        return None
    for one in reports:
        found = None if one.report is None else schemas.advice(one.report)
        if found is not None and (one.original, found.distance) == (original, rule.distance):
            return None if found.allows(rule.threshold) else Outside(one.id, found)
    return None


def rule_values(rules: Rules) -> dict[str, str]:
    rule = rules.against_excess
    written = "" if rule.threshold is None else repr(rule.threshold)
    return {
        "distance": rule.distance,
        "approach": rule.approach,
        "rule": rule.rule,
        "threshold": written,
    }


def question_values(rules: Rules) -> dict[str, str]:
    distance = rules.against_excess.distance
    return {"asked_distance": distance, "bits": "50", "draws": str(DRAWS), "seconds": "0"}


@router.post("/competitions/{slug}/organize/threshold")
def save_rule(request: Request, slug: str, principal: SignedIn, form: Form) -> Response:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
        reports = threshold_reports.listed(session, principal, slug)
    rule = rule_in(form, desk.frame.contest.track)
    problem: DomainError | None = None
    if not form.wrong:
        answer = saved(
            principal,
            slug,
            lambda contest: with_excessive(contest.row.file, rule),
            back="threshold",
            of=form.text("of"),
        )
        if isinstance(answer, Response):
            return answer
        problem = answer
    return threshold_page(request, principal, desk, reports, form=form, problem=problem)


def rule_in(form: Sent, track: Track) -> Excessive:
    distance = form.one_of("distance", tuple(track.distances))
    approach = cast(Literal["I", "II"], form.one_of("approach", APPROACHES))
    rule = cast(Literal["average", "strict"], form.one_of("rule", RULES))
    limit = form.amount("threshold") if form.text("threshold") else None
    return Excessive(distance, approach, rule, limit)


@router.post("/competitions/{slug}/organize/threshold/reports")
def ask(request: Request, slug: str, principal: SignedIn, form: Form) -> Response:
    question = question_in(form)
    try:
        if not form.wrong:
            with transaction() as session:
                made = threshold_reports.ask(session, principal, slug, question)
            return see(f"/competitions/{slug}/organize/threshold/{made.id}", done="report_asked")
        problem: DomainError | None = None
    except (Conflict, InvalidInput, TooMany) as found:
        problem = found
    with transaction() as session:
        desk = desk_of(session, principal, slug)
        reports = threshold_reports.listed(session, principal, slug)
    return threshold_page(request, principal, desk, reports, form=form, asked=True, problem=problem)


def question_in(form: Sent) -> Question:
    """What is asked of the advisor; without any column everybody is in one group."""
    seconds = form.amount("seconds", most=LONGEST_S, default=0.0)
    return Question(
        form.all("groups"),
        form.text("asked_distance") or None,
        form.whole("bits", most=1000),
        form.whole("draws", least=0, most=MOST_DRAWS),
        0.0 if math.isnan(seconds) else seconds,
    )


@router.get("/competitions/{slug}/organize/threshold/{report_id}")
def report(request: Request, slug: str, report_id: UUID, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        desk, found = report_of(session, principal, slug, report_id)
    return report_page(request, principal, desk, found)


def report_of(
    session: Session, principal: Principal, slug: str, report_id: UUID
) -> tuple[Desk, ThresholdReport]:
    desk = desk_of(session, principal, slug)
    found = threshold_reports.visible(session, principal, report_id)
    if found.competition_id != desk.frame.contest.id:
        raise NotFound("there is no such report", code="no_such_report")
    return desk, found


def report_page(
    request: Request,
    principal: Principal,
    desk: Desk,
    found: ThresholdReport,
    problem: DomainError | None = None,
) -> HTMLResponse:
    working = found.state in (State.QUEUED, State.SCORING)
    advice = None if found.report is None else schemas.advice(found.report)
    return step_page(
        request,
        principal,
        "organizer/report.html",
        desk,
        problem=problem,
        asked=found,
        advised=None if advice is None else advised(advice, language.words_of(request)),
        working=working,
        # The address keeps saying what was asked while the page loads itself again until it is answered.
        done=request.query_params.get("done", "") if working else "",
        stale=found.original != desk.frame.contest.row.original,
    )


@router.post("/competitions/{slug}/organize/threshold/{report_id}/use")
def use(request: Request, slug: str, report_id: UUID, principal: SignedIn, form: Form) -> Response:
    """Write a threshold that the report offers into the file: it is meant for the mean distance."""
    guaranteed = bool(form.text("guaranteed"))
    with transaction() as session:
        desk, found = report_of(session, principal, slug, report_id)
    answer = saved(
        principal,
        slug,
        lambda contest: with_excessive(contest.row.file, rule_of(found, desk, guaranteed=guaranteed)),
        back="threshold",
    )
    return answer if isinstance(answer, Response) else report_page(request, principal, desk, found, answer)


def rule_of(found: ThresholdReport, desk: Desk, *, guaranteed: bool) -> Excessive:
    if found.original != desk.frame.contest.row.original:
        raise Conflict("the data have changed since this report: ask for a new one", code="report_stale")
    advice = None if found.report is None else schemas.advice(found.report)
    if advice is None or (advice.threshold if guaranteed else advice.recommended) is None:
        raise Conflict("the report recommends no threshold", code="no_recommendation")
    return replace(
        desk.frame.rules.against_excess,
        distance=advice.distance,
        approach="II",
        rule="average",
        threshold=advice.threshold if guaranteed else advice.recommended,
    )
