"""Add and remove baselines: releases of sample methods, shown on the board for comparison."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.accounts.step_up import FormReauthentication
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.pages.pages import PageRoute, see_other, show_problem
from app.organizing import baselines
from app.organizing.baselines import BaselineUpload
from app.submissions import submissions

router = APIRouter(prefix="/competitions/{slug}/organize/baselines", route_class=PageRoute)


def _render_baselines(
    page: OrganizerPage, *, problem: DomainError | None = None, method: str = "", name: str = ""
) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        releases = submissions.list_for_organizer(session, page.principal, page.slug, only_baselines=True)
    return page.render(
        "organizing/baselines.html",
        frame=frame,
        rows=[release for release in releases if release.team.disqualified_at is None],
        methods=list(frame.round.track.methods),
        method=method,
        name=name,
        problem=problem,
    )


@router.get("")
def show_baselines(page: RequestedOrganizerPage) -> HTMLResponse:
    return _render_baselines(page)


@router.post("")
@show_problem(_render_baselines)
def add(
    page: RequestedOrganizerPage, *, method: Annotated[str, Form()] = "", name: Annotated[str, Form()] = ""
) -> Response:
    upload = BaselineUpload(page.slug)
    with transaction() as session:
        upload.begin(session, page.principal)
    files = baselines.run_sample_method(upload, method)
    upload.parse(files, {"comment": method, "name": name.strip() or method})
    with transaction() as session:
        upload.accept(session, page.principal)
    return see_other(page.request.url.path, notice="baseline_added")


@router.post("/{team_id}/remove")
@show_problem(_render_baselines)
def remove(page: RequestedOrganizerPage, team_id: UUID, reauthenticate: FormReauthentication) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        baselines.remove(session, principal, page.slug, team_id)
    return see_other(f"{page.path}/baselines", notice="baseline_removed")
