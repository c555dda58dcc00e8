"""What organizers look at to see that all is well, and what they take home: audit log, health, exports."""

from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from anoncup.schemas.roles import Role
from app.config import get_settings
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.paging import cursor_of, number, place_of
from app.services.accounts import audit
from app.services.accounts.audit import Wanted
from app.services.contests import competitions
from app.services.jobs import health, queue
from app.services.jobs.queue import ReportedSandbox
from app.services.organizing import dashboard, load
from app.services.teams import members
from app.web.organizer.audit_entries import acts
from app.web.organizer.frame import organizers_frame
from app.web.site import language
from app.web.site.pages import PageRoute, page
from workers import sandbox

router = APIRouter(route_class=PageRoute)

PAGE = 50
BY_CLOCK = "clock"
"""What the filter of persons calls nobody."""


@router.get("/competitions/{slug}/organize/audit")
def audit_log(
    request: Request,
    slug: str,
    principal: SignedIn,
    *,
    person: str = "",
    action: str = "",
    team: str = "",
    cursor: str | None = None,
) -> HTMLResponse:
    place = place_of(cursor, number)
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        known = audit.noted(session, frame.contest.id)
        wanted = wanted_of(person, action if action in known.actions else "", team)
        after = place[0] if place else None
        found = competitions.history(session, principal, slug, after=after, limit=PAGE + 1, wanted=wanted)
        entrants = members.entrants(session, principal, slug)
    kept = found[:PAGE]
    following = cursor_of(kept[-1].number) if len(found) > PAGE else None
    zone, t = frame.rules.timezone, language.words_of(request)
    return page(
        request,
        principal,
        "organizer/audit.html",
        frame=frame,
        acts=acts(kept, t, path=frame.path, zone=zone),
        known=known,
        wanted=wanted,
        entrants=entrants,
        address=partial(address, wanted),
        following=following,
        cursor=cursor,
    )


def wanted_of(person: str, action: str, team: str) -> Wanted:
    """What was asked for; what cannot be a person or a team filters nothing."""
    return Wanted(identified(person), person == BY_CLOCK, action, identified(team))


def identified(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def address(wanted: Wanted, cursor: str) -> str:
    """The rest of the address that asks for the page at ``cursor`` with the same filters."""
    person = BY_CLOCK if wanted.by_clock else wanted.user_id
    fields = {"person": person, "action": wanted.action, "team": wanted.team_id, "cursor": cursor}
    return "?" + urlencode({name: str(value) for name, value in fields.items() if value})


@router.get("/competitions/{slug}/organize/health")
def work_and_clock(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        found = load.of_competition(session, principal, slug)
        beats = health.heartbeats(session)
    is_administrator = principal.role == Role.ADMINISTRATOR  # whom else would it tell where to break in?
    return page(
        request,
        principal,
        "organizer/health.html",
        frame=frame,
        load=found,
        beats=sorted(beats.items()),
        stalled=dashboard.is_stalled(found),
        unswept=dashboard.is_unswept(found),
        depth=queue.depth(),
        is_administrator=is_administrator,
        sandboxes=list_sandboxes() if is_administrator else None,
        apart_s=abs((datetime.now(UTC) - frame.standing.now).total_seconds()),
    )


def list_sandboxes() -> list[ReportedSandbox]:
    """Return how this web server and each worker that answers sandbox what reads files."""
    setting = get_settings().sandbox
    own = ReportedSandbox("web", sandbox.standing(setting), sandbox.choose(setting).is_complete)
    return [own, *(queue.list_sandboxes() or ())]


@router.get("/competitions/{slug}/organize/exports")
def downloads(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
    return page(request, principal, "organizer/exports.html", frame=frame)
