"""Extend, pause and resume phases, after a confirmation."""

from datetime import datetime
from functools import partial
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError, InvalidInput, NotFound
from anoncup.rules.local_times import fix_offset
from app.accounts.step_up import STEP_UP_ERRORS, FormReauthentication
from app.competitions import competitions, phase_changes, phases, reveal_notice
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.pages.pages import PageRoute, see_other, show_problem
from app.organizing import dashboard

router = APIRouter(prefix="/competitions/{slug}/organize/phases", route_class=PageRoute)

_NOTICE_BY_ACT = {"extend": "extended", "pause": "paused", "resume": "resumed"}
"""The notice shown after each action."""


def _render_phases(
    page: OrganizerPage,
    *,
    problem: DomainError | None = None,
    name: str = "",
    end: str = "",
    move_following: bool = True,
    start: str = "",
) -> HTMLResponse:
    """Render the phases. The other values are those of a rejected form."""
    with transaction() as session:
        frame = page.load_frame(session)
        row = frame.round
        unfinished = dashboard.count_contents(session, row).unfinished_count
    return page.render(
        "organizing/phases.html",
        frame=frame,
        unfinished=unfinished,
        reveal_time=reveal_notice.find_reveal_time(row),
        name=name,
        end=_localize_end(end, frame.rules.timezone),
        move_following=move_following,
        start=start,
        format_local=partial(_format_local, zone=frame.rules.timezone),
        completed_at={phases.ANONYMIZATION: row.frozen_at, phases.REIDENTIFICATION: row.closed_at},
        problem=problem,
    )


@router.get("")
def show_phases(page: RequestedOrganizerPage) -> HTMLResponse:
    return _render_phases(page)


@router.get("/{name}/{act}")
@show_problem(_render_phases)
def ask_confirmation(
    page: RequestedOrganizerPage, name: str, act: str, *, end: str = "", move_following: bool = False
) -> HTMLResponse:
    return _render_confirmation(page, name, act, end=end, move_following=move_following)


def _render_confirmation(
    page: OrganizerPage,
    name: str,
    act: str,
    *,
    end: str,
    move_following: bool,
    problem: DomainError | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        new_end = _parse_end(act, end, frame.rules.timezone)
        phase = phase_changes.find_changeable_phase(frame.round, name)
        is_earlier = new_end is not None and new_end < phase.end
        needs_password = is_earlier and phases.has_contest_begun(session, frame.round)
    delays_reveal = needs_password and (name == phases.REIDENTIFICATION or move_following)
    return page.render(
        "organizing/phase_confirmation.html",
        frame=frame,
        act=act,
        phase=phase,
        end=new_end,
        move_following=move_following,
        needs_password=needs_password,
        delays_reveal=delays_reveal,
        problem=problem,
    )


def _render_rejected_action(
    page: OrganizerPage, name: str, act: str, *, end: str, move_following: bool, problem: DomainError
) -> HTMLResponse:
    """Ask for confirmation again if only the password is missing or wrong, else render the phases."""
    if problem.code in STEP_UP_ERRORS:
        return _render_confirmation(page, name, act, end=end, move_following=move_following, problem=problem)
    return _render_phases(page, problem=problem, name=name, end=end, move_following=move_following)


@router.post("/{name}/{act}")
@show_problem(_render_rejected_action)
def confirm(
    page: RequestedOrganizerPage,
    name: str,
    act: str,
    *,
    reauthenticate: FormReauthentication,
    end: Annotated[str, Form()] = "",
    move_following: Annotated[bool, Form()] = False,
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        zone = competitions.find(session, principal, page.slug).rules.timezone
        new_end = _parse_end(act, end, zone)
        if new_end is not None:
            phase_changes.extend(session, principal, page.slug, name, new_end, move_following=move_following)
        elif act == "pause":
            phase_changes.pause(session, principal, page.slug, name)
        else:
            phase_changes.resume(session, principal, page.slug, name)
    return see_other(f"{page.path}/phases", notice=_NOTICE_BY_ACT[act])


@router.post("/reset")
@show_problem(_render_phases)
def reset(
    page: RequestedOrganizerPage,
    *,
    reauthenticate: FormReauthentication,
    start: Annotated[str, Form()] = "",
) -> Response:
    """Reset a practice round; ``start`` is a time in the competition's time zone, or empty."""
    principal = reauthenticate()
    with transaction() as session:
        zone = competitions.find(session, principal, page.slug).rules.timezone
        phase_changes.reset(
            session, principal, page.slug, start=_parse_moment(start, zone) if start else None
        )
    return see_other(f"{page.path}/phases", notice="round_reset")


def _parse_end(act: str, end: str, zone: str) -> datetime | None:
    """Return the new end of a phase that is extended, else None; raise NotFound for an unknown act."""
    if act not in _NOTICE_BY_ACT:
        raise NotFound("a phase is extended, paused or resumed", code="no_such_act")
    return _parse_moment(end, zone) if act == "extend" else None


def _parse_moment(text: str, zone: str) -> datetime:
    """Parse a time; one without a UTC offset is in the competition's time zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("enter a date and a time", code="no_time") from None
    if (fixed_moment := fix_offset(moment, ZoneInfo(zone))) is None:
        raise InvalidInput(
            "this time does not exist: the clocks in {zone} are put forward past it",
            code="no_time",
            zone=zone,
        )
    return fixed_moment


def _format_local(moment: datetime, *, zone: str) -> str:
    """Format a moment for a ``datetime-local`` field in the competition's time zone."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M:%S")


def _localize_end(end: str, zone: str) -> str:
    """Convert a time with a UTC offset, as the confirmation sends it, to the competition's time zone."""
    try:
        moment = datetime.fromisoformat(end)
        return end if moment.tzinfo is None else _format_local(moment, zone=zone)
    except (ValueError, OverflowError):
        return end
