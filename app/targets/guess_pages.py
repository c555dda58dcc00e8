"""Submit or check a guess with the form on the target's page."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from anoncup.errors import DomainError
from anoncup.tables.files import Remark
from app.core.db.models import Guess
from app.core.identity.principal import Principal
from app.core.pages.pages import PageRoute, RequestedUserPage, UserPage, see_other
from app.submissions.receiving import receive_dry_run, receive_upload
from app.submissions.upload_form import (
    UPLOAD_ERRORS,
    classify_problem,
    classify_remarks,
    get_check_status,
    run_upload,
)
from app.targets.guesses import GuessCheck, GuessUpload
from app.targets.pages import list_file_problems, render_target

router = APIRouter(route_class=PageRoute)


class FormGuessUpload(GuessUpload):
    """A guess sent with the form, which sends no idempotency key."""

    def accept(self, session: Session, principal: Principal) -> Guess:
        """Accept the guess under a key derived from its content, so that sending it twice counts once."""
        self.key = self.derive_key(session)
        return super().accept(session, principal)


@router.get("/targets/{target_id}/guesses")
def redirect_to_target(target_id: UUID) -> Response:
    """Redirect to the target if the response of the form is reloaded."""
    return see_other(f"/targets/{target_id}")


@router.post("/targets/{target_id}/guesses")
async def submit_guess(page: RequestedUserPage, target_id: UUID) -> Response:
    upload = FormGuessUpload(target_id)
    try:
        await run_upload(receive_upload(page.request, page.principal, upload))
    except UPLOAD_ERRORS as error:
        return await run_in_threadpool(render_target, page, target_id, error, upload.question or None)
    return see_other(f"/targets/{target_id}", notice="guess_submitted")


@router.post("/targets/{target_id}/guesses/check")
async def check_guess(page: RequestedUserPage, target_id: UUID) -> HTMLResponse:
    """Check the chosen file without submitting it. The form's script inserts the response into the page."""
    upload = GuessUpload(target_id)
    try:
        guess_check = await run_upload(receive_dry_run(page.request, page.principal, upload))
    except UPLOAD_ERRORS as error:
        return await run_in_threadpool(_render_failed_check, page, upload, error)
    return await run_in_threadpool(_render_check, page, upload, guess_check)


def _render_check(page: UserPage, upload: GuessUpload, guess_check: GuessCheck) -> HTMLResponse:
    return _render_result(
        page,
        upload,
        verdict=classify_remarks(guess_check.remarks),
        warnings=guess_check.remarks,
        summary=page.t.ngettext("{n} row is answered.", "{n} rows are answered.", guess_check.answered),
    )


def _render_failed_check(page: UserPage, upload: GuessUpload, error: DomainError) -> HTMLResponse:
    response = _render_result(
        page, upload, problem=error, verdict=classify_problem(error), **list_file_problems(error)
    )
    response.status_code = get_check_status(error)
    return response


def _render_result(
    page: UserPage,
    upload: GuessUpload,
    *,
    verdict: str,
    problem: DomainError | None = None,
    warnings: Sequence[Remark] = (),
    summary: str = "",
    **content: Any,
) -> HTMLResponse:
    return page.render(
        "targets/guess_checked.html",
        problem=problem,
        id=_build_field_id(upload),
        verdict=verdict,
        warnings=warnings,
        summary=summary,
        **content,
    )


def _build_field_id(upload: GuessUpload) -> str:
    """Return the id of the form field for the question of a guess."""
    if not upload.question or len(upload.questions) == 1:
        return "guess"
    return f"guess-{upload.question}"
