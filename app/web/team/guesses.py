"""Submit or check a guess with the form on the target's page."""

from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.models import Guess
from app.http.uploads import receive_dry_run, receive_upload
from app.services.accounts.principal import Principal
from app.services.attacks.guesses import GuessCheck, GuessUpload
from app.web.site.pages import PageRoute, RequestedUserPage, UserPage, see_other
from app.web.team.targets import list_file_problems, render_target
from app.web.team.upload_form import (
    UPLOAD_ERRORS,
    await_upload,
    classify_problem,
    classify_remarks,
    get_check_status,
)

router = APIRouter(route_class=PageRoute)


class GuessForm(GuessUpload):
    """A guess sent with the form, which has no idempotency key."""

    def accept(self, session: Session, principal: Principal) -> Guess:
        self.key = self.derive_key(session)
        return super().accept(session, principal)


@router.get("/targets/{target_id}/guesses")
def redirect_to_target(target_id: UUID) -> Response:
    """Redirect to the target if the response of the form is reloaded."""
    return see_other(f"/targets/{target_id}")


@router.post("/targets/{target_id}/guesses")
async def submit_guess(page: RequestedUserPage, target_id: UUID) -> Response:
    form = GuessForm(target_id)
    try:
        await await_upload(receive_upload(page.request, page.principal, form))
    except UPLOAD_ERRORS as problem:
        return await run_in_threadpool(render_target, page, target_id, problem, form.question or None)
    return see_other(f"/targets/{target_id}", notice="guessed")


@router.post("/targets/{target_id}/guesses/check")
async def check_file(page: RequestedUserPage, target_id: UUID) -> HTMLResponse:
    """Check the chosen file without submitting it. The form's script inserts the response into the page."""
    upload = GuessUpload(target_id)
    try:
        guess_check = await await_upload(receive_dry_run(page.request, page.principal, upload))
    except UPLOAD_ERRORS as problem:
        return await run_in_threadpool(_render_refused_check, page, upload, problem)
    return await run_in_threadpool(_render_check, page, upload, guess_check)


def _render_check(page: UserPage, upload: GuessUpload, guess_check: GuessCheck) -> HTMLResponse:
    return page.render(
        "team/guess_checked.html",
        id=_build_field_id(upload),
        verdict=classify_remarks(guess_check.remarks),
        warnings=guess_check.remarks,
        said=page.t.ngettext("{n} row is answered.", "{n} rows are answered.", guess_check.answered),
    )


def _render_refused_check(page: UserPage, upload: GuessUpload, problem: DomainError) -> HTMLResponse:
    response = page.render(
        "team/guess_checked.html",
        problem=problem,
        id=_build_field_id(upload),
        verdict=classify_problem(problem),
        warnings=(),
        said="",
        **list_file_problems(problem),
    )
    response.status_code = get_check_status(problem)
    return response


def _build_field_id(upload: GuessUpload) -> str:
    """Return the id of the form field for the question of a guess."""
    if not upload.question or len(upload.questions) == 1:
        return "guess"
    return f"guess-{upload.question}"
