"""Receive uploads for the API and the pages: wait for a slot, read the body, and accept it.

A rejected upload raises a DomainError. The outcome of the attempt is always recorded.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from fastapi import Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from anoncup.errors import InvalidInput
from anoncup.tracks.files import GUESS_FILE, SECRET_FILE
from app.config import get_settings
from app.db.models import Guess
from app.db.transaction import transaction
from app.http import throttle
from app.http.admission import Admission
from app.http.attempts import CurrentAttempt, settle_on_error
from app.http.multipart import MultipartForm, open_form
from app.services.accounts.accounts import Principal
from app.services.attacks import guesses
from app.services.jobs.store_check import check_store
from app.services.submissions import submissions, uploads

ContextT = TypeVar("ContextT", uploads.UploadContext, guesses.GuessContext)
AcceptedT = TypeVar("AcceptedT")
CheckResultT = TypeVar("CheckResultT")


@dataclass(frozen=True, slots=True)
class UploadKind(Generic[ContextT, AcceptedT]):
    """The functions that differ between kinds of uploads.

    ``refresh`` loads the context again after the body has arrived. ``accept`` parses and accepts the form in
    one of the parser threads of ``Admission``.
    """

    refresh: Callable[[Session, Principal, ContextT], ContextT]
    accept: Callable[[Principal, ContextT, MultipartForm], AcceptedT]


async def receive_upload(
    request: Request, principal: Principal, context: ContextT, kind: UploadKind[ContextT, AcceptedT]
) -> AcceptedT:
    """Receive an upload of an authorized sender and return the result of ``kind.accept``.

    A failure is recorded before the team's slot is released, so that the next upload under the same
    idempotency key sees it.
    """
    admission, current_attempt = get_admission(request), CurrentAttempt(context.attempt)
    team_key = f"team:{context.attempt.team_id}" if context.attempt else f"user:{principal.user_id}"
    async with (
        settle_on_error(current_attempt),
        _require_store(),
        admission.hold_upload_slot(team_key),
        settle_on_error(current_attempt),
        open_form(request, names=set(context.file_names), file_mb=context.file_mb) as form,
        admission.reserve_memory(form.size),
    ):
        context = await run_in_threadpool(_refresh_context, kind.refresh, principal, context)
        current_attempt.attempt = context.attempt
        return await admission.run_in_parser_thread(kind.accept, principal, context, form)


async def receive_dry_run(
    request: Request,
    context: ContextT,
    team_id: UUID,
    check: Callable[[ContextT, MultipartForm], CheckResultT],
) -> CheckResultT:
    """Check an upload without accepting it: nothing is stored, and no attempt is counted."""
    await run_in_threadpool(throttle.count_check, team_id)
    admission = get_admission(request)
    async with (
        _require_store(),
        admission.hold_check_slot(f"team:{team_id}"),
        open_form(request, names=set(context.file_names), file_mb=context.file_mb) as form,
        admission.reserve_memory(form.size),
    ):
        return await admission.run_in_parser_thread(check, context, form)


def _refresh_context(
    refresh: Callable[[Session, Principal, ContextT], ContextT], principal: Principal, context: ContextT
) -> ContextT:
    with transaction() as session:
        return refresh(session, principal, context)


@asynccontextmanager
async def _require_store() -> AsyncIterator[None]:
    await run_in_threadpool(check_store)
    yield


def get_admission(request: Request) -> Admission:
    admission: Admission = request.app.state.admission
    return admission


def accept_submission(
    principal: Principal, context: uploads.UploadContext, form: MultipartForm
) -> submissions.SubmissionReceipt:
    """Accept a submission; a repetition under the same idempotency key returns the first receipt."""
    uploads.reject_unexpected_secret(context, {*form.files, *form.texts})
    if context.accepted_id is None:
        upload = read_release(context, form)
        with transaction() as session:
            return submissions.accept(session, principal, upload, sealing_key=get_settings().sealing_key_file)
    fingerprint = uploads.compute_fingerprint(
        {name: form.read_file(name) for name in context.file_names}, _read_comment(form)
    )
    with transaction() as session:
        return submissions.load_accepted(session, context.accepted_id, fingerprint)


def read_release(context: uploads.UploadContext, form: MultipartForm) -> uploads.PendingRelease:
    files = {name: form.read_file(name) for name in context.public_file_names}
    secret = form.read_file(SECRET_FILE) if SECRET_FILE in context.file_names else None
    return uploads.store_release(context, files=files, secret=secret, comment=_read_comment(form))


def check_release(context: uploads.UploadContext, form: MultipartForm) -> uploads.ReleaseCheck:
    uploads.reject_unexpected_secret(context, {*form.files, *form.texts})
    files = {name: form.read_file(name) for name in context.file_names if name in form.files}
    secret = files.pop(SECRET_FILE, None)
    return uploads.check_release(context, files=files, secret=secret, comment=_read_comment(form))


def _read_comment(form: MultipartForm) -> str:
    if "comment" in form.files:
        raise InvalidInput("send the comment as text, not as a file", code="comment")
    return form.texts.get("comment", "")


def accept_guess(principal: Principal, context: guesses.GuessContext, form: MultipartForm) -> Guess:
    """Accept a guess; a repetition under the same idempotency key returns the first one."""
    content, question = form.read_file(GUESS_FILE), choose_question(context, form)
    if context.accepted_id is not None:
        fingerprint = uploads.compute_fingerprint({GUESS_FILE: content})
        with transaction() as session:
            return guesses.load_accepted(
                session, context.accepted_id, fingerprint, context.target_id, question
            )
    stored_guess = guesses.store_guess(content, context, question)
    with transaction() as session:
        return guesses.accept(session, principal, context, stored_guess)


def check_guess(context: guesses.GuessContext, form: MultipartForm) -> guesses.GuessCheck:
    return guesses.check_guess(form.read_file(GUESS_FILE), context, choose_question(context, form))


def choose_question(context: guesses.GuessContext, form: MultipartForm) -> str:
    """Return the question that a guess answers, or the default if the form has no question field."""
    return context.choose_question(form.texts.get("question", "" if "question" in form.files else None))


SUBMISSION_UPLOAD = UploadKind(uploads.refresh_context, accept_submission)
GUESS_UPLOAD = UploadKind(guesses.refresh_context, accept_guess)
