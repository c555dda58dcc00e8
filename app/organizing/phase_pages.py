"""Extend, pause and resume phases, and begin a practice round again."""

from datetime import datetime
from functools import partial
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError, InvalidInput
from anoncup.rules.local_times import fix_offset
from app.accounts.step_up import FormReauthentication
from app.competitions import competitions, phase_changes, phases, reveal_notice
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.pages.pages import PageRoute, see_other, show_problem
from app.organizing import dashboard

router = APIRouter(prefix="/competitions/{slug}/organize/phases", route_class=PageRoute)


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
        end=end,
        move_following=move_following,
        start=start,
        format_local=partial(_format_local, zone=frame.rules.timezone),
        completed_at={phases.ANONYMIZATION: row.frozen_at, phases.REIDENTIFICATION: row.closed_at},
        problem=problem,
    )


@router.get("")
def show_phases(page: RequestedOrganizerPage) -> HTMLResponse:
    return _render_phases(page)


@router.post("/{name}/extend")
@show_problem(_render_phases)
def extend(
    page: RequestedOrganizerPage,
    name: str,
    *,
    reauthenticate: FormReauthentication,
    end: Annotated[str, Form()],
    move_following: Annotated[bool, Form()] = False,
) -> Response:
    """Move the end of a phase; only an earlier one needs the password."""
    principal = reauthenticate()
    with transaction() as session:
        new_end = _parse_moment(end, competitions.find(session, principal, page.slug).rules.timezone)
        phase_changes.extend(session, principal, page.slug, name, new_end, move_following=move_following)
    return see_other(f"{page.path}/phases", notice="extended")


@router.post("/{name}/{act}")
@show_problem(_render_phases)
def pause_or_resume(page: RequestedOrganizerPage, name: str, act: Literal["pause", "resume"]) -> Response:
    change, notice = (phase_changes.pause, "paused") if act == "pause" else (phase_changes.resume, "resumed")
    with transaction() as session:
        change(session, page.principal, page.slug, name)
    return see_other(f"{page.path}/phases", notice=notice)


@router.post("/reset")
@show_problem(_render_phases)
def reset(
    page: RequestedOrganizerPage, *, reauthenticate: FormReauthentication, start: Annotated[str, Form()] = ""
) -> Response:
    """Reset a practice round; ``start`` is a time in the competition's time zone, or empty."""
    principal = reauthenticate()
    with transaction() as session:
        zone = competitions.find(session, principal, page.slug).rules.timezone
        phase_changes.reset(
            session, principal, page.slug, start=_parse_moment(start, zone) if start else None
        )
    return see_other(f"{page.path}/phases", notice="round_reset")


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
