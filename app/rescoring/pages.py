"""Begin a rescore under new rules, compare its results, and apply or cancel it."""

import math
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from app.accounts.step_up import FormReauthentication
from app.competitions import competitions, revisions
from app.competitions.frame import Frame
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.pages.pages import PageRoute, see_other, show_problem
from app.rescoring import rescores
from app.rescoring.rescores import EvaluationChange, RescorePreview

router = APIRouter(prefix="/competitions/{slug}/organize/rescores", route_class=PageRoute)

_MAX_SHOWN_GUESSES = 200
"""A contest may have tens of thousands of guesses."""


def _render_rescores(
    page: OrganizerPage, *, problem: DomainError | None = None, file: str | None = None
) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        all_previews = rescores.list_rescores(session, page.principal, page.slug)
    open_preview = next((preview for preview in all_previews if preview.stage in ("scoring", "ready")), None)
    return page.render(
        "rescoring/rescores.html",
        frame=frame,
        sets=all_previews,
        open_set=open_preview,
        file=frame.round.competition.file if file is None else file,
        problem=problem,
    )


def _render_rescore(
    page: OrganizerPage, rescore_id: UUID, *, problem: DomainError | None = None
) -> HTMLResponse:
    with transaction() as session:
        frame = _load_frame(session, page, rescore_id)
        rescore_preview = rescores.preview(session, page.principal, rescore_id)
    return page.render(
        "rescoring/rescore.html",
        frame=frame,
        preview=rescore_preview,
        parts=rescores.list_changed_parts(frame.round, rescore_preview.rescore),
        by_team=_compare_teams(rescore_preview),
        state_changes=[
            change for change in rescore_preview.changes if change.before.status != change.after.status
        ],
        shown_guesses=_MAX_SHOWN_GUESSES,
        several_questions=any(
            len(frame.round.track.select_questions(rules)) > 1
            for rules in (frame.rules, rescore_preview.rescore.rules)
        ),
        newly_failed=[change for change in rescore_preview.changes if rescores.is_newly_failed(change)],
        problem=problem,
    )


@router.get("")
def show_rescores(page: RequestedOrganizerPage) -> HTMLResponse:
    return _render_rescores(page)


@router.post("")
@show_problem(_render_rescores)
def begin(page: RequestedOrganizerPage, file: Annotated[str, Form()]) -> Response:
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, page.principal, page.slug)
    revision = revisions.compute_file_revision(round_, file.replace("\r\n", "\n"))
    with transaction() as session:
        rescore = rescores.begin(session, page.principal, page.slug, revision)
    return see_other(f"{page.path}/rescores/{rescore.id}")


@router.get("/{rescore_id}")
def show_rescore(page: RequestedOrganizerPage, rescore_id: UUID) -> HTMLResponse:
    return _render_rescore(page, rescore_id)


@router.post("/{rescore_id}/apply")
@show_problem(_render_rescore)
def apply(page: RequestedOrganizerPage, rescore_id: UUID, reauthenticate: FormReauthentication) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        _load_frame(session, page, rescore_id)
        rescores.apply(session, principal, rescore_id)
    return see_other(f"{page.path}/rescores/{rescore_id}", notice="rescore_applied")


@router.post("/{rescore_id}/cancel")
@show_problem(_render_rescore)
def cancel(page: RequestedOrganizerPage, rescore_id: UUID) -> Response:
    with transaction() as session:
        _load_frame(session, page, rescore_id)
        rescores.cancel(session, page.principal, rescore_id)
    return see_other(f"{page.path}/rescores/{rescore_id}", notice="rescore_cancelled")


def _load_frame(session: Session, page: OrganizerPage, rescore_id: UUID) -> Frame:
    """Load the competition; raise ``NotFound`` if the rescore belongs to another one."""
    frame = page.load_frame(session)
    rescore = rescores.find_for_organizer(session, page.principal, rescore_id)
    if rescore.round_id != frame.round.id:
        raise NotFound("there is no such re-score set", code="no_such_rescore")
    return frame


def _compare_teams(preview: RescorePreview) -> list[EvaluationChange]:
    """Return a change of each qualified team, by new and old rank, unranked teams last; no baselines."""
    by_team = {
        change.submission.team_id: change
        for change in preview.changes
        if change.submission.is_qualified and not change.submission.team.baseline
    }
    return sorted(
        by_team.values(),
        key=lambda change: (
            change.after.rank or math.inf,
            change.before.rank or math.inf,
            change.submission.team.name,
        ),
    )
