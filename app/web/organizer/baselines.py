"""Add and remove baselines: releases of sample methods, shown on the board for comparison."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.step_up import FormReauthentication
from app.services.accounts.accounts import Principal
from app.services.organizing import baselines
from app.services.organizing.baselines import BaselineUpload
from app.services.submissions import submissions
from app.services.teams import members
from app.web.organizer.frame import describe_problem, load_organizer_frame
from app.web.site.pages import PageRoute, render_page, see_other

router = APIRouter(prefix="/competitions/{slug}/organize/baselines", route_class=PageRoute)


@router.get("")
def show_baselines(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    return _render_baselines(request, principal, slug)


@router.post("")
def add(
    request: Request,
    slug: str,
    principal: CurrentPrincipal,
    *,
    method: Annotated[str, Form()] = "",
    name: Annotated[str, Form()] = "",
) -> Response:
    try:
        upload = BaselineUpload(slug)
        with transaction() as session:
            upload.enter(session, principal)
        files = baselines.run_sample_method(upload, method)
        upload.parse(files, {"comment": method, "name": name.strip() or method})
        with transaction() as session:
            upload.accept(session, principal)
    except DomainError as problem:
        return _render_baselines(
            request, principal, slug, problem=problem, form_values={"method": method, "name": name}
        )
    return see_other(request.url.path, notice="baseline_added")


@router.post("/{team_id}/remove")
def remove(
    request: Request,
    slug: str,
    team_id: UUID,
    principal: CurrentPrincipal,
    reauthenticate: FormReauthentication,
) -> Response:
    try:
        principal = reauthenticate()
        with transaction() as session:
            baselines.remove(session, principal, slug, team_id)
    except DomainError as problem:
        return _render_baselines(request, principal, slug, problem=problem)
    return see_other(f"/competitions/{slug}/organize/baselines", notice="baseline_removed")


def _render_baselines(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    form_values: dict[str, str] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = load_organizer_frame(session, principal, slug)
        entrants = members.list_entrants(session, principal, slug)
        teams = [
            entrant.team
            for entrant in entrants
            if entrant.team.baseline and entrant.team.disqualified_at is None
        ]
        rows = [
            (team, submissions.list_for_organizer(session, principal, slug, team_id=team.id, limit=1)[0])
            for team in teams
        ]
    return render_page(
        request,
        principal,
        "organizer/baselines.html",
        frame=frame,
        rows=rows,
        methods=list(frame.contest.track.methods),
        typed=form_values or {},
        **describe_problem(request, problem),
    )
