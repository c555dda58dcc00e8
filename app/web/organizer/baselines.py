"""Baselines: rows of sample methods on the board, for comparison."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.http.authentication import AppSettings, SignedIn
from app.http.step_up import Sure
from app.services.accounts.accounts import Principal
from app.services.organizing import baselines
from app.services.submissions import submissions, uploads
from app.services.teams import members
from app.web.organizer.frame import organizers_frame, trouble
from app.web.site.pages import PageRoute, page, see

router = APIRouter(prefix="/competitions/{slug}/organize/baselines", route_class=PageRoute)


@router.get("")
def all_baselines(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    return baselines_page(request, principal, slug)


@router.post("")
def add(
    request: Request,
    slug: str,
    principal: SignedIn,
    settings: AppSettings,
    *,
    method: Annotated[str, Form()] = "",
    name: Annotated[str, Form()] = "",
) -> Response:
    try:
        with transaction() as session:
            at = baselines.entrance(session, principal, slug)
        files, secret = baselines.sample(at, method)
        upload = uploads.read_upload(at, files=files, secret=secret, comment=method)
        key = settings.sealing_key_file
        with transaction() as session:
            baselines.add(session, principal, upload, name=name.strip() or method, sealing_key=key)
    except DomainError as problem:
        return baselines_page(
            request, principal, slug, problem=problem, typed={"method": method, "name": name}
        )
    return see(request.url.path, done="baseline_added")


@router.post("/{team_id}/remove")
def remove(request: Request, slug: str, team_id: UUID, principal: SignedIn, sure: Sure) -> Response:
    try:
        principal = sure()
        with transaction() as session:
            baselines.remove(session, principal, slug, team_id)
    except DomainError as problem:
        return baselines_page(request, principal, slug, problem=problem)
    return see(f"/competitions/{slug}/organize/baselines", done="baseline_removed")


def baselines_page(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    typed: dict[str, str] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        found = members.entrants(session, principal, slug)
        there = [one.team for one in found if one.team.baseline and one.team.disqualified_at is None]
        rows = [
            (team, submissions.of_competition(session, principal, slug, team_id=team.id, limit=1)[0])
            for team in there
        ]
    return page(
        request,
        principal,
        "organizer/baselines.html",
        frame=frame,
        rows=rows,
        methods=list(frame.contest.track.methods),
        typed=typed or {},
        **trouble(request, problem),
    )
