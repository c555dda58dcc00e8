"""Receive uploads for the API and the pages: wait for a slot, read the body, and accept it.

A rejected upload raises a DomainError. The failure of its attempt is recorded unless the database cannot be
reached; the attempt then counts until it is retried.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from anyio import CancelScope, to_thread
from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from anoncup.errors import DomainError, TooManyRequests, Unavailable
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.http.admission import get_admission
from app.core.http.bodies import MultipartForm, open_form
from app.core.http.problems import DomainHTTPException
from app.core.identity.principal import Principal
from app.core.processes.parsing import PackageFailure
from app.jobs.readiness import check_store
from app.submissions import attempts
from app.submissions.models import Attempt
from app.submissions.uploads import Upload

AcceptedT = TypeVar("AcceptedT")
CheckT = TypeVar("CheckT")


async def receive_upload(request: Request, principal: Principal, upload: Upload[AcceptedT, Any]) -> AcceptedT:
    """Receive an upload and accept it, or return what was accepted earlier under its key."""
    await run_in_threadpool(_begin, principal, upload)
    admission = get_admission(request, upload.rules.track)
    team_key = f"team:{upload.team_id}" if upload.attempt else f"user:{principal.user_id}"
    async with _record_failure_on_error(upload):
        await run_in_threadpool(check_store)
        async with (
            admission.hold_slot(admission.upload_slots, upload.round.competition_id, team_key),
            # Record a failure before the slot is released, so that the team's next upload under the same
            # idempotency key sees it.
            _record_failure_on_error(upload),
            open_form(request, names=upload.file_names, file_mb=upload.rules.limits.file_mb) as form,
            admission.reserve_memory(form.size),
        ):
            return await to_thread.run_sync(
                _accept, principal, upload, form, limiter=admission.parser_threads
            )


async def receive_dry_run(request: Request, principal: Principal, upload: Upload[Any, CheckT]) -> CheckT:
    """Check an upload without accepting it: nothing is stored, and no attempt is counted."""
    await run_in_threadpool(_begin_dry_run, principal, upload)
    admission = get_admission(request, upload.rules.track)
    async with (
        admission.hold_slot(admission.check_slots, upload.round.competition_id, f"team:{upload.team_id}"),
        open_form(request, names=upload.file_names, file_mb=upload.rules.limits.file_mb) as form,
        admission.reserve_memory(form.size),
    ):
        return await to_thread.run_sync(
            lambda: upload.check(form.read_files(), form.texts), limiter=admission.parser_threads
        )


def _begin(principal: Principal, upload: Upload[Any, Any]) -> None:
    with transaction() as session:
        upload.begin(session, principal)


def _begin_dry_run(principal: Principal, upload: Upload[Any, Any]) -> None:
    with transaction() as session:
        upload.begin_dry_run(session, principal)
    throttle.count_check(upload.team_id)
    check_store()


def _accept(principal: Principal, upload: Upload[AcceptedT, Any], form: MultipartForm) -> AcceptedT:
    """Parse and accept the upload.

    If a request with the same key was answered while the body was received, the upload begins again.
    """
    files = form.read_files()
    with transaction() as session:
        upload.begin_again_if_answered(session, principal)
    upload.parse(files, form.texts)
    with transaction() as session:
        return upload.accept(session, principal)


@asynccontextmanager
async def _record_failure_on_error(upload: Upload[Any, Any]) -> AsyncIterator[None]:
    """Record the failure of the attempt if the context raises, even if the request was cancelled.

    Contexts may be nested: the inner one clears ``upload.attempt``. ``Upload.accept`` records a success.
    """
    try:
        yield
    except BaseException as problem:
        attempt, upload.attempt = upload.attempt, None
        if attempt is not None:
            with CancelScope(shield=True), suppress(Unavailable):
                await run_in_threadpool(_record_failure, attempt, problem)
        raise


def _record_failure(attempt: Attempt, problem: BaseException) -> None:
    """Abandon the attempt after a server fault or a broken connection; otherwise end it.

    An abandoned attempt can be retried under its key. Attempts that failed by a server fault are not counted,
    and neither are those refused because a cap was used up, since their retries are refused at once.
    """
    error = problem.error if isinstance(problem, DomainHTTPException) else problem
    with transaction() as session:
        if isinstance(error, PackageFailure):
            attempts.record_failure(session, attempt, error.coded_message, error.traceback)
        if isinstance(error, DomainError) and not (
            isinstance(error, Unavailable) or error.code == "changed_meanwhile"
        ):
            attempts.end(session, attempt, counts=not isinstance(error, TooManyRequests))
        else:  # a bug, if the client has not disconnected and the request was not cancelled
            is_broken_connection = isinstance(error, ClientDisconnect) or not isinstance(error, Exception)
            attempts.abandon(session, attempt, counts=is_broken_connection)
