"""Submit or check a guess with the form on the target's page."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from anoncup.errors import DomainError, InvalidUpload
from anoncup.tracks.files import GUESS_FILE
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.multipart import MultipartForm
from app.http.uploads import (
    UploadKind,
    accept_guess,
    check_guess,
    choose_question,
    receive_dry_run,
    receive_upload,
)
from app.services.accounts.accounts import Principal
from app.services.attacks import guesses
from app.services.attacks.guesses import GuessContext
from app.web.site import language
from app.web.site.pages import PageRoute, add_retry_after, render_page, see_other, translate_error
from app.web.team.targets import group_problems, render_target
from app.web.team.upload_form import (
    UPLOAD_ERRORS,
    await_upload,
    classify_problem,
    classify_remarks,
    get_check_status,
)

router = APIRouter(route_class=PageRoute)


def _load_upload_context(principal: Principal, target_id: UUID) -> GuessContext:
    """Return the context of an upload; if this person may not guess now, raise an error before reading it."""
    with transaction() as session:
        return guesses.begin_guess(session, principal, target_id, key=None)


@router.get("/targets/{target_id}/guesses")
def redirect_to_target(target_id: UUID) -> Response:
    """Redirect to the target if the response of the form is reloaded."""
    return see_other(f"/targets/{target_id}")


@router.post("/targets/{target_id}/guesses")
async def submit_guess(request: Request, target_id: UUID, principal: CurrentPrincipal) -> Response:
    form = GuessForm()
    try:
        upload_context = await run_in_threadpool(_load_upload_context, principal, target_id)
        await await_upload(
            receive_upload(
                request, principal, upload_context, UploadKind(guesses.refresh_context, form.accept)
            )
        )
    except UPLOAD_ERRORS as problem:
        return await run_in_threadpool(render_target, request, principal, target_id, problem, form.question)
    return see_other(f"/targets/{target_id}", notice="guessed")


@router.post("/targets/{target_id}/guesses/check")
async def check_file(request: Request, target_id: UUID, principal: CurrentPrincipal) -> HTMLResponse:
    """Check the chosen file without submitting it. The form's script inserts the response into the page."""
    form = GuessForm()
    upload_context, team_id = await run_in_threadpool(_load_check_context, principal, target_id)
    try:
        guess_check = await await_upload(receive_dry_run(request, upload_context, team_id, form.check))
    except UPLOAD_ERRORS as problem:
        return await run_in_threadpool(
            _render_refused_check, request, principal, upload_context, form.question, problem
        )
    return await run_in_threadpool(_render_check, request, principal, upload_context, guess_check)


def _load_check_context(principal: Principal, target_id: UUID) -> tuple[GuessContext, UUID]:
    with transaction() as session:
        return guesses.begin_dry_run(session, principal, target_id)


def _render_check(
    request: Request, principal: Principal, upload_context: GuessContext, guess_check: guesses.GuessCheck
) -> HTMLResponse:
    t = language.negotiate_translator(request)
    content: dict[str, Any] = {
        "id": _build_field_id(upload_context, guess_check.question),
        "verdict": classify_remarks(guess_check.remarks),
        "warnings": guess_check.remarks,
        "said": t.ngettext("{n} row is answered.", "{n} rows are answered.", guess_check.answered),
    }
    return render_page(request, principal, "team/guess_checked.html", **content)


def _render_refused_check(
    request: Request,
    principal: Principal,
    upload_context: GuessContext,
    question: str | None,
    problem: DomainError,
) -> HTMLResponse:
    content: dict[str, Any] = {
        "id": _build_field_id(upload_context, question),
        "verdict": classify_problem(problem),
        "warnings": (),
        "said": "",
        "error": translate_error(problem, language.negotiate_translator(request)),
    }
    if isinstance(problem, InvalidUpload):
        content |= {"problems": group_problems(problem.problems), "total": problem.total}
    status = get_check_status(problem)
    return add_retry_after(
        problem, render_page(request, principal, "team/guess_checked.html", status=status, **content)
    )


def _build_field_id(upload_context: GuessContext, question: str | None) -> str:
    """Return the id of the form field for a question."""
    return f"guess-{question}" if len(upload_context.questions) > 1 else "guess"


@dataclass
class GuessForm:
    """A form with a guess. It remembers the question, so that a rejection appears at the right form."""

    question: str | None = None

    def accept(self, principal: Principal, upload_context: GuessContext, body: MultipartForm) -> None:
        """Accept a guess. Its idempotency key is made from its content, so a form sent twice is one guess."""
        self.question = choose_question(upload_context, body)
        content = body.read_file(GUESS_FILE)
        with transaction() as session:
            keyed_context = guesses.assign_content_key(
                session, principal, upload_context, content, self.question
            )
        accept_guess(principal, keyed_context, body)

    def check(self, upload_context: GuessContext, body: MultipartForm) -> guesses.GuessCheck:
        self.question = choose_question(upload_context, body)
        return check_guess(upload_context, body)
