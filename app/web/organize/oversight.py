"""What organizers look at to see that all is well, and what they take home: audit log, health, exports."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app import queue
from app.http.dependencies import SignedIn
from app.http.paging import cursor_of, number, place_of
from app.services import competitions, health, load, outlook
from app.transaction import transaction
from app.web.organize.changes import acts
from app.web.organize.frame import organizers_frame
from app.web.site import PageRoute, page

router = APIRouter(route_class=PageRoute)

PAGE = 50


@router.get("/competitions/{slug}/organize/audit")
def audit_log(request: Request, slug: str, principal: SignedIn, cursor: str | None = None) -> HTMLResponse:
    place = place_of(cursor, number)
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        after = place[0] if place else None
        found = competitions.history(session, principal, slug, after=after, limit=PAGE + 1)
    kept = found[:PAGE]
    following = cursor_of(kept[-1].number) if len(found) > PAGE else None
    listed = acts(kept, path=frame.path, zone=frame.competition.timezone)
    return page(
        request,
        principal,
        "organize/audit.html",
        frame=frame,
        acts=listed,
        following=following,
        cursor=cursor,
    )


@router.get("/competitions/{slug}/organize/health")
def work_and_clock(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        found = load.of_competition(session, principal, slug)
        beats = health.heartbeats(session)
    return page(
        request,
        principal,
        "organize/health.html",
        frame=frame,
        found=found,
        beats=sorted(beats.items()),
        stalled=outlook.is_stalled(found),
        unswept=outlook.is_unswept(found),
        depth=queue.depth(),
        apart_s=abs((datetime.now(UTC) - frame.standing.now).total_seconds()),
    )


@router.get("/competitions/{slug}/organize/exports")
def downloads(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
    return page(request, principal, "organize/exports.html", frame=frame)
