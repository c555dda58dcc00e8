"""The page of a team's submissions: the upload form, the list and the choice of finals."""

import hashlib
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, PlainTextResponse
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from anoncup.errors import Conflict, DomainError, FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.rules.settings import Phase
from app.competitions.frame import Frame, load_frame
from app.core.db.models import Submission
from app.core.db.transaction import transaction
from app.core.http.paging import decode_position, encode_cursor
from app.core.identity.authentication import CurrentPrincipal
from app.core.identity.principal import Principal
from app.core.pages.pages import PageRoute, RequestedUserPage, UserPage, see_other, translate_error
from app.jobs.leases import UNFINISHED
from app.originals import allocated_files
from app.originals.allocated_files import TeamFiles
from app.submissions import quota, submissions
from app.submissions.quota import QuotaCap
from app.submissions.receiving import receive_dry_run, receive_upload
from app.submissions.submissions import SubmissionSummary
from app.submissions.upload_form import (
    UPLOAD_ERRORS,
    build_parts,
    classify_problem,
    classify_remarks,
    get_check_status,
    run_upload,
    translate_script_texts,
)
from app.submissions.uploads import ReleaseCheck, ReleaseUpload, list_file_names

router = APIRouter(route_class=PageRoute)

PAGE_SIZE = 50
_IDEMPOTENCY_KEY_BYTES = 18

_Cursor = Annotated[str | None, Query(max_length=200)]
_IdempotencyKey = Annotated[str | None, Query(max_length=200)]


@dataclass(frozen=True, slots=True)
class RejectedForm:
    """A rejected form with its error and the values to show again."""

    problem: DomainError
    comment: str = ""
    key: str | None = None
    is_upload: bool = False

    @property
    def file_problems(self) -> tuple[FileProblem, ...]:
        return self.problem.problems if isinstance(self.problem, InvalidUpload) else ()

    @property
    def unlisted_count(self) -> int:
        """The number of problems that were found but are not listed."""
        return self.problem.total - len(self.file_problems) if isinstance(self.problem, InvalidUpload) else 0

    @property
    def retry_key(self) -> str | None:
        """The idempotency key for the next try, or None if a new one is needed.

        An interrupted upload is repeated with the same key, so that it is accepted only once. A key that
        belongs to another upload is not used again.
        """
        return None if self.problem.code == "idempotency_key_reused" else self.key


@router.get("/competitions/{slug}/submissions")
def show_submissions(page: RequestedUserPage, slug: str, cursor: _Cursor = None) -> HTMLResponse:
    return _render_submissions(page, slug, cursor=cursor)


def _render_submissions(
    page: UserPage, slug: str, *, cursor: str | None = None, rejection: RejectedForm | None = None
) -> HTMLResponse:
    """Render the team's submissions, with a rejected form if there is one."""
    t, principal = page.t, page.principal
    with transaction() as session:
        frame = load_frame(session, principal, slug)
        page_rows, next_cursor = _load_page(session, principal, slug, cursor)
        state = _load_state(session, principal, frame)
        lines = submissions.build_lines(session, page_rows)
    track = frame.round.track
    return page.render(
        "submissions/submissions.html",
        fields=list_file_names(track),
        parts=build_parts(frame.round),
        secret=None if track.allocates_answer else track.answer_spec.file,
        rejection=rejection,
        problem=rejection.problem if rejection else None,
        frame=frame,
        script_words=translate_script_texts(t),
        key=(rejection and rejection.retry_key) or secrets.token_urlsafe(_IDEMPOTENCY_KEY_BYTES),
        rejection_text=translate_error(rejection.problem, t) if rejection else None,
        caps=state.caps,
        tag=state.compute_tag(),
        lines=lines,
        finals=submissions.summarize_finals(frame, state.summaries),
        own=state.team_files,
        older=next_cursor,
        cursor=cursor,
        unfinished=any(summary.state in UNFINISHED for summary in state.summaries),
    )


class _PageState(NamedTuple):
    """What an open page shows of the contest and the team; it is out of date if any of it has changed."""

    intake: submissions.IntakeState
    phases: tuple[Phase, ...]
    summaries: Sequence[SubmissionSummary]
    caps: Sequence[QuotaCap]
    team_files: TeamFiles

    def compute_tag(self) -> str:
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]


def _load_state(session: Session, principal: Principal, frame: Frame) -> _PageState:
    slug = frame.round.address
    return _PageState(
        submissions.find_intake_state(frame),
        frame.rules.phases,
        submissions.list_summaries(session, principal, slug),
        quota.load_report(session, principal, slug).caps,
        allocated_files.load_team_files(session, principal, frame.round),
    )


@router.get("/competitions/{slug}/submissions/state")
def show_state(slug: str, principal: CurrentPrincipal) -> PlainTextResponse:
    """Return the tag that tells an open page whether it is out of date."""
    with transaction() as session:
        state = _load_state(session, principal, load_frame(session, principal, slug))
    return PlainTextResponse(state.compute_tag())


def _load_page(
    session: Session, principal: Principal, slug: str, cursor: str | None
) -> tuple[list[Submission], str | None]:
    """Return a page of the team's submissions, and the cursor of the next page."""
    cursor_key = decode_position(cursor)
    rows = submissions.list_own(session, principal, slug, cursor=cursor_key, limit=PAGE_SIZE + 1)
    page_rows = list(rows[:PAGE_SIZE])
    last = page_rows[-1] if len(rows) > PAGE_SIZE else None
    return page_rows, encode_cursor(last.received_at, last.id) if last else None


@router.post("/competitions/{slug}/submissions")
async def submit(page: RequestedUserPage, slug: str, key: _IdempotencyKey = None) -> Response:
    """Accept a release and redirect to its page, or render the form again with the problems of each file."""
    form = ReleaseForm(slug, key=key)
    try:
        submission = await run_upload(receive_upload(page.request, page.principal, form))
    except UPLOAD_ERRORS as error:
        rejection = RejectedForm(error, form.comment, key, is_upload=True)
        return await run_in_threadpool(_render_submissions, page, slug, rejection=rejection)
    return see_other(f"/submissions/{submission.id}", notice="received")


@router.post("/competitions/{slug}/submissions/check")
async def check_files(page: RequestedUserPage, slug: str) -> HTMLResponse:
    """Check the chosen files without submitting them; the form's script inserts the response in the page."""
    form = ReleaseForm(slug)
    try:
        checked_upload = await run_upload(receive_dry_run(page.request, page.principal, form))
    except UPLOAD_ERRORS as error:
        return await run_in_threadpool(_render_failed_check, page, form, error)
    return await run_in_threadpool(_render_check, page, form, checked_upload)


def _render_check(page: UserPage, upload: ReleaseUpload, checked_upload: ReleaseCheck) -> HTMLResponse:
    return page.render(
        "submissions/upload_checked.html",
        fields=upload.file_names,
        verdict=classify_remarks(checked_upload.remarks),
        warnings=checked_upload.remarks,
        summary=page.t.ngettext(
            "No fault was found in {n} row.", "No fault was found in {n} rows.", checked_upload.rows
        ),
    )


def _render_failed_check(page: UserPage, upload: ReleaseUpload, problem: DomainError) -> HTMLResponse:
    """Render the problems of a failed check. Files that are not chosen yet do not count as problems."""
    rejection, message, verdict = None, "", "incomplete"
    remaining_problem = _drop_missing_files(problem)
    if remaining_problem is not None:
        rejection, verdict = RejectedForm(remaining_problem), classify_problem(remaining_problem)
        message = translate_error(remaining_problem, page.t)
        if isinstance(remaining_problem, InvalidUpload):
            message = page.t.ngettext(
                "{n} fault was found. Nothing was sent.",
                "{n} faults were found. Nothing was sent.",
                remaining_problem.total,
            )
    response = page.render(
        "submissions/upload_checked.html",
        problem=problem,
        fields=upload.file_names,
        rejection=rejection,
        rejection_text=message,
        verdict=verdict,
        warnings=(),
        summary="",
    )
    response.status_code = get_check_status(problem)
    return response


def _drop_missing_files(problem: DomainError) -> DomainError | None:
    """Return the problem without missing files, or None if nothing else is wrong."""
    if not isinstance(problem, InvalidUpload):
        return problem
    other_problems = [
        file_problem for file_problem in problem.problems if file_problem.code != "missing_file"
    ]
    missing_count = len(problem.problems) - len(other_problems)
    return InvalidUpload(other_problems, total=problem.total - missing_count) if other_problems else None


class ReleaseForm(ReleaseUpload):
    """A release sent with the form."""

    def parse(self, files: Mapping[str, bytes], texts: Mapping[str, str]) -> None:
        texts = {name: text.replace("\r\n", "\n") for name, text in texts.items()}
        super().parse(_select_chosen(files), texts)

    def check(self, files: Mapping[str, bytes], texts: Mapping[str, str]) -> ReleaseCheck:  # noqa: ARG002
        """Check the files only; the comment may still be written."""
        return super().check(_select_chosen(files), {})

    def list_missing(self, files: Collection[str]) -> list[FileProblem]:
        message = Message("no file was chosen, or it is empty")
        missing_names = [problem.file for problem in super().list_missing(files)]
        return [FileProblem(name, None, None, "missing_file", message) for name in missing_names]


def _select_chosen(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files without empty ones, which browsers send for each field without a file."""
    return {name: content for name, content in files.items() if content}


@router.get("/submissions/{submission_id}/row")
def show_row(page: RequestedUserPage, submission_id: UUID) -> HTMLResponse:
    """Render a single line of the list, with which the page's script replaces the old one."""
    with transaction() as session:
        submission = submissions.find_own(session, page.principal, submission_id)
        frame = load_frame(session, page.principal, submissions.get_competition_slug(session, submission))
        own_summaries = submissions.list_summaries(session, page.principal, frame.round.address)
        (line,) = submissions.build_lines(session, [submission])
    return page.render(
        "submissions/submission_row.html",
        frame=frame,
        line=line,
        finals=submissions.summarize_finals(frame, own_summaries),
    )


class _ListForm(BaseModel):
    """Where the form was: on the page of the submission, or else on this page of the list."""

    cursor: str | None = Field(None, max_length=200)
    back: str = Field("", max_length=10)


class _FinalForm(_ListForm):
    final: bool


@router.post("/submissions/{submission_id}/final")
def mark_final(page: RequestedUserPage, submission_id: UUID, form: Annotated[_FinalForm, Form()]) -> Response:
    """Choose a submission as a final or withdraw the choice, then redirect to the page with the form."""
    change = partial(submissions.mark_final, final=form.final)
    return _change(page, submission_id, form, change, "final_marked" if form.final else "final_unmarked")


@router.post("/submissions/{submission_id}/cancel")
def cancel(page: RequestedUserPage, submission_id: UUID, form: Annotated[_ListForm, Form()]) -> Response:
    """Cancel a submission that has not been scored yet."""
    return _change(page, submission_id, form, submissions.cancel, "cancelled")


def _change(
    page: UserPage,
    submission_id: UUID,
    form: _ListForm,
    change: Callable[[Session, Principal, UUID], Submission],
    notice: str,
) -> Response:
    """Make the change and redirect, or render the list with the reason why it is refused."""
    with transaction() as session:
        submission = submissions.find_visible(session, page.principal, submission_id)
        slug = submissions.get_competition_slug(session, submission)
    try:
        with transaction() as session:
            change(session, page.principal, submission_id)
    except Conflict as error:
        return _render_submissions(page, slug, cursor=form.cursor or None, rejection=RejectedForm(error))
    if form.back == "page":
        return see_other(f"/submissions/{submission_id}", notice=notice)
    query = urlencode({"done": notice} | ({"cursor": form.cursor} if form.cursor else {}))
    path = f"/competitions/{slug}/submissions?{query}#s-{submission_id}"
    return RedirectResponse(path, status_code=303)
