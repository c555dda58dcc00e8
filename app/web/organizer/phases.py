"""Extend, pause and resume phases, each after a preview."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, InvalidInput, NotFound
from anoncup.rules.settings import Phase
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.step_up import FormReauthentication
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, dry_run, observed_deadlines, phases, schedule
from app.services.contests.contest import Contest
from app.services.contests.dry_run import PhasePreview
from app.services.organizing import dashboard
from app.web.organizer.frame import describe_problem, load_organizer_frame
from app.web.site.pages import PageRoute, render_page, see_other

router = APIRouter(prefix="/competitions/{slug}/organize/phases", route_class=PageRoute)

_NOTICE_BY_ACT = {"extend": "extended", "pause": "paused", "resume": "resumed"}
"""Actions on a phase, with the code of the notice shown afterwards."""


@dataclass(frozen=True, slots=True)
class PhaseOrder:
    """An action on a phase; ``end`` is the new end of an extension."""

    name: str
    act: str
    end: datetime | None = None
    move_following: bool = False


@dataclass(frozen=True, slots=True)
class PhaseMove:
    """A phase before and after a change; ``shift`` is how far its end moves."""

    old: Phase
    new: Phase

    @property
    def shift(self) -> timedelta:
        return self.new.end - self.old.end

    @property
    def is_earlier(self) -> bool:
        return self.shift < timedelta(0)


@router.get("")
def show_phases(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    return _render_phases(request, principal, slug)


@router.get("/{name}/{act}")
def preview(
    request: Request,
    slug: str,
    name: str,
    act: str,
    principal: CurrentPrincipal,
    *,
    end: str = "",
    move_following: bool = False,
) -> HTMLResponse:
    """Render the effect of an action without applying it."""
    try:
        with transaction() as session:
            frame = load_organizer_frame(session, principal, slug)
            has_begun = phases.has_contest_begun(session, frame.contest.row)
            zone = frame.rules.timezone
            order = _parse_order(name, act, end, move_following=move_following, zone=zone)
            apply_order = partial(
                _carry_out, session, principal.mark_reauthenticated(), slug, order
            )  # rolled back by the dry run
            mark = dry_run.fingerprint_phases(frame.rules.phases, frame.contest.row.paused_at)
            outcome = dry_run.preview_phases(session, frame.contest, apply_order)
            counts = dashboard.count_contents(session, frame.contest.id)
    except DomainError as problem:
        return _render_phases(
            request,
            principal,
            slug,
            problem=problem,
            form_values=_build_form_values(name, end, move_following),
        )
    return render_page(
        request,
        principal,
        "organizer/preview.html",
        frame=frame,
        begun=has_begun,
        order=order,
        mark=mark,
        seen=outcome,
        moves=_list_moves(outcome),
        counts=counts,
    )


@router.post("/{name}/{act}")
def confirm(
    request: Request,
    slug: str,
    name: str,
    act: str,
    principal: CurrentPrincipal,
    *,
    reauthenticate: FormReauthentication,
    mark: Annotated[str, Form()],
    end: Annotated[str, Form()] = "",
    move_following: Annotated[bool, Form()] = False,
) -> Response:
    try:
        principal = reauthenticate()
        with transaction() as session:
            zone = competitions.find(session, principal, slug).rules.timezone
            dry_run.require_phases_as_previewed(session, principal, slug, mark)
            order = _parse_order(name, act, end, move_following=move_following, zone=zone)
            _carry_out(session, principal, slug, order)
    except DomainError as problem:
        return _render_phases(
            request,
            principal,
            slug,
            problem=problem,
            form_values=_build_form_values(name, end, move_following),
        )
    return see_other(f"/competitions/{slug}/organize/phases", notice=_NOTICE_BY_ACT[act])


def _carry_out(session: Session, principal: Principal, slug: str, order: PhaseOrder) -> Contest:
    if order.end is not None:
        move_following = order.move_following
        return schedule.extend(session, principal, slug, order.name, order.end, move_following=move_following)
    act = {"pause": schedule.pause, "resume": schedule.resume}[order.act]
    return act(session, principal, slug, order.name)


def _parse_order(name: str, act: str, end: str, *, move_following: bool, zone: str) -> PhaseOrder:
    """Parse an action; a new end without an offset is in the competition's time zone."""
    if act not in _NOTICE_BY_ACT:
        raise NotFound("a phase is extended, paused or resumed", code="no_such_act")
    if act != "extend":
        return PhaseOrder(name, act)
    try:
        moment = datetime.fromisoformat(end)
    except ValueError:
        raise InvalidInput("enter a date and a time", code="no_time") from None
    return PhaseOrder(
        name, act, moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone)), move_following
    )


def _build_form_values(name: str, end: str, move_following: bool) -> dict[str, Any]:
    return {"name": name, "end": end, "move_following": move_following}


def _list_moves(outcome: PhasePreview) -> list[PhaseMove]:
    pairs = zip(outcome.current.phases, outcome.proposed.phases, strict=True)
    return [PhaseMove(old, new) for old, new in pairs]


def _render_phases(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    form_values: dict[str, Any] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = load_organizer_frame(session, principal, slug)
        row = frame.contest.row
        overview = dashboard.load_dashboard(session, principal, slug)
        reveal = observed_deadlines.load_reveal_times(session, [row]).get(row.id)
        unsigned = observed_deadlines.count_unsigned(session, row.id)
    return render_page(
        request,
        principal,
        "organizer/phases.html",
        frame=frame,
        desk=overview,
        reveal=reveal,
        unsigned=unsigned,
        typed=_localize_form_values(form_values or {}, frame.rules.timezone),
        local=partial(_format_local, zone=frame.rules.timezone),
        turned={
            phases.ANONYMIZATION: row.frozen_at,
            phases.REIDENTIFICATION: row.closed_at,
        },
        **describe_problem(request, problem),
    )


def _format_local(moment: datetime, *, zone: str) -> str:
    """Format a moment for a ``datetime-local`` field in the competition's time zone."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M:%S")


def _localize_form_values(form_values: dict[str, Any], zone: str) -> dict[str, Any]:
    """Convert a typed time with an offset, as sent by a confirmation, to the competition's time zone."""
    try:
        moment = datetime.fromisoformat(form_values.get("end", ""))
        return (
            form_values if moment.tzinfo is None else form_values | {"end": _format_local(moment, zone=zone)}
        )
    except (ValueError, OverflowError):
        return form_values
