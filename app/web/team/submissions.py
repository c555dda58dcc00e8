"""Page of a team's submissions: the upload form, the list and the choice of finals."""

import hashlib
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from anoncup.errors import Conflict, DomainError, FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.tracks.files import FileSpec
from anoncup.tracks.swapped_files import ERROR_CODE as MISPLACED
from app.db.models import Submission
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.multipart import MultipartForm
from app.http.paging import decode_cursor, encode_cursor
from app.http.problems import get_status
from app.http.uploads import UploadKind, accept_submission, check_release, receive_dry_run, receive_upload
from app.services.accounts.accounts import Principal
from app.services.originals import allocations
from app.services.originals.allocations import TeamFiles
from app.services.submissions import finals, quota, submissions, summaries, uploads
from app.services.submissions.quota import QuotaCap
from app.services.submissions.submissions import SubmissionReceipt
from app.services.submissions.summaries import SubmissionSummary
from app.services.submissions.uploads import UploadContext
from app.web.site import language
from app.web.site.frame import Frame, load_frame
from app.web.site.pages import PageRoute, add_retry_after, render_page, see_other, translate_error
from app.web.site.timeline_chart import draw_timeline
from app.web.team.board_position import find_position
from app.web.team.submission_lines import build_lines, find_intake_state, summarize_finals
from app.web.team.upload_form import (
    UPLOAD_ERRORS,
    ReleasePart,
    build_parts,
    classify_problem,
    classify_remarks,
    get_check_status,
    get_secret_spec,
    list_fields,
    parse_samples,
    raise_refusals,
    translate_script_texts,
)
from app.web.team.upload_hints import MAX_SCANNED_BYTES, Hint, find_hints

router = APIRouter(route_class=PageRoute)

PAGE_SIZE = 50
_KEY_BYTES = 18

Cursor = Annotated[str | None, Query(max_length=200)]
_IdempotencyKey = Annotated[str | None, Query(max_length=200)]


@dataclass(frozen=True, slots=True)
class RejectedForm:
    """A rejected form: the error, and what was typed into it."""

    problem: DomainError
    comment: str = ""
    key: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    is_upload: bool = False

    @property
    def file_problems(self) -> tuple[FileProblem, ...]:
        return self.problem.problems if isinstance(self.problem, InvalidUpload) else ()

    @property
    def unlisted_count(self) -> int:
        """Problems that are counted but not listed."""
        return self.problem.total - len(self.file_problems) if isinstance(self.problem, InvalidUpload) else 0

    @property
    def retry_key(self) -> str | None:
        """The idempotency key for another try; None if it belongs to another upload.

        A broken upload is repeated under the same key, so that it is accepted only once.
        """
        return None if self.problem.code == "idempotency_key_reused" else self.key


@router.get("/competitions/{slug}/submissions")
def show_submissions(
    request: Request, slug: str, principal: CurrentPrincipal, cursor: Cursor = None
) -> HTMLResponse:
    return _render_submissions(request, principal, slug, cursor=cursor)


def _render_submissions(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    cursor: str | None = None,
    rejection: RejectedForm | None = None,
) -> HTMLResponse:
    """Render the team's submissions, with a rejected form if there is one."""
    t = language.words_of(request)
    with transaction() as session:
        frame = load_frame(session, principal, slug)
        page_rows, next_cursor = _load_page(session, principal, slug, cursor)
        own_summaries = summaries.list_summaries(session, principal, slug)
        caps = quota.load_report(session, principal, slug).caps
        own_data = allocations.load_member_files(session, principal, frame.contest.row)
        lines = build_lines(session, page_rows)
        content = {
            "fields": list_fields(frame.contest.track),
            "caps": caps,
            "tag": _compute_tag(frame, own_summaries, caps, own_data),
            "lines": lines,
            "finals": summarize_finals(frame, own_summaries),
            "best": find_position(session, principal, slug, lines),
            "own": own_data,
        }
        parts, secret = build_parts(frame.contest), get_secret_spec(frame.contest.track)
    answer = render_page(
        request,
        principal,
        "team/submissions.html",
        status=get_status(rejection.problem) if rejection else 200,
        frame=frame,
        parts=parts,
        mistakes=_collect_hints(rejection, parts, secret, frame.contest.row.original_rows or 0),
        script_words=translate_script_texts(t),
        secret=secret,
        secret_samples=parse_samples(secret) if secret else (),
        key=(rejection and rejection.retry_key) or secrets.token_urlsafe(_KEY_BYTES),
        refused=rejection,
        refused_for=translate_error(rejection.problem, t) if rejection else None,
        course=draw_timeline(own_summaries, t, frame.rules),
        older=next_cursor,
        cursor=cursor,
        unfinished=any(summary.is_unfinished for summary in own_summaries),
        **content,
    )
    return add_retry_after(rejection.problem, answer) if rejection else answer


def _collect_hints(
    rejection: RejectedForm | None, parts: Sequence[ReleasePart], secret: FileSpec | None, originals: int
) -> dict[str, list[Hint]]:
    """Return hints about common mistakes in rejected files."""
    if rejection is None or not rejection.file_problems:
        return {}
    headers = {part.name: part.sample.header for part in parts}
    misplaced = {problem.file for problem in rejection.file_problems if problem.code == MISPLACED}
    files = {name: content for name, content in rejection.files.items() if name not in misplaced}
    return find_hints(files, headers, secret=secret, originals=originals)


def _compute_tag(
    frame: Frame, own_summaries: Sequence[SubmissionSummary], caps: Sequence[QuotaCap], own_data: TeamFiles
) -> str:
    """Return a hash that changes exactly when the list, quota, team's data or intake state changes."""
    content = (find_intake_state(frame), frame.rules.phases, own_summaries, caps, own_data)
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


@router.get("/competitions/{slug}/submissions/state")
def show_state(slug: str, principal: CurrentPrincipal) -> PlainTextResponse:
    """Return the tag by which an open page notices that it is out of date."""
    with transaction() as session:
        frame = load_frame(session, principal, slug)
        own_summaries = summaries.list_summaries(session, principal, slug)
        caps = quota.load_report(session, principal, slug).caps
        own_data = allocations.load_member_files(session, principal, frame.contest.row)
    return PlainTextResponse(_compute_tag(frame, own_summaries, caps, own_data))


def _load_page(
    session: Session, principal: Principal, slug: str, cursor: str | None
) -> tuple[list[Submission], str | None]:
    """Return a page of the team's submissions, and the cursor of the next page."""
    after_key = decode_cursor(cursor, datetime.fromisoformat, UUID)
    rows = submissions.list_own(session, principal, slug, cursor=after_key, limit=PAGE_SIZE + 1)
    page_rows = list(rows[:PAGE_SIZE])
    last = page_rows[-1] if len(rows) > PAGE_SIZE else None
    return page_rows, encode_cursor(last.received_at, last.id) if last else None


@router.post("/competitions/{slug}/submissions")
async def submit(
    request: Request, slug: str, principal: CurrentPrincipal, key: _IdempotencyKey = None
) -> Response:
    """Accept a release and redirect to its page, or render the form again with the problems of each file."""
    form = ReleaseForm()
    try:
        upload_context = await run_in_threadpool(_load_upload_context, principal, slug, key)
        upload_kind = UploadKind(uploads.refresh_context, form.accept)
        receipt = await raise_refusals(receive_upload(request, principal, upload_context, upload_kind))
    except UPLOAD_ERRORS as problem:
        rejection = RejectedForm(problem, form.comment, key, form.files, is_upload=True)
        return await run_in_threadpool(_render_submissions, request, principal, slug, rejection=rejection)
    return see_other(f"/submissions/{receipt.submission.id}", notice="received")


@router.post("/competitions/{slug}/submissions/check")
async def check_files(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    """Check the chosen files without submitting them; the form's script inserts the answer into the page."""
    form = ReleaseForm()
    try:
        upload_context, team_id = await run_in_threadpool(_load_check_context, principal, slug)
        checked = await raise_refusals(receive_dry_run(request, upload_context, team_id, form.check))
    except UPLOAD_ERRORS as problem:
        return await run_in_threadpool(_render_refused_check, request, principal, slug, problem, form.files)
    return await run_in_threadpool(_render_check, request, principal, slug, team_id, checked)


def _load_check_context(principal: Principal, slug: str) -> tuple[UploadContext, UUID]:
    with transaction() as session:
        return uploads.enter_dry_run(session, principal, slug)


def _render_check(
    request: Request, principal: Principal, slug: str, team_id: UUID, checked: uploads.CheckedUpload
) -> HTMLResponse:
    t = language.words_of(request)
    with transaction() as session:
        repeated = submissions.list_repetition_remarks(session, team_id, checked.uploaded_sha256)
        fields = list_fields(load_frame(session, principal, slug).contest.track)
    remarks = (*checked.remarks, *repeated)
    message = t.ngettext("No fault was found in {n} row.", "No fault was found in {n} rows.", checked.rows)
    return render_page(
        request,
        principal,
        "team/upload_checked.html",
        fields=fields,
        mistakes={},
        verdict=classify_remarks(remarks),
        warnings=remarks,
        said=message,
    )


def _render_refused_check(
    request: Request, principal: Principal, slug: str, problem: DomainError, files: Mapping[str, bytes]
) -> HTMLResponse:
    """Render the problems; files that were not chosen yet are not among them."""
    t = language.words_of(request)
    with transaction() as session:
        frame = load_frame(session, principal, slug)
        parts, secret = build_parts(frame.contest), get_secret_spec(frame.contest.track)
    rejection, message, verdict = None, "", "incomplete"
    wrong = _drop_missing_files(problem)
    if wrong is not None:
        rejection, verdict = RejectedForm(wrong, files=files), classify_problem(wrong)
        message = translate_error(wrong, t)
        if isinstance(wrong, InvalidUpload):
            message = t.ngettext(
                "{n} fault was found. Nothing was sent.",
                "{n} faults were found. Nothing was sent.",
                wrong.total,
            )
    answer = render_page(
        request,
        principal,
        "team/upload_checked.html",
        status=get_check_status(problem),
        fields=list_fields(frame.contest.track),
        refused=rejection,
        refused_for=message,
        mistakes=_collect_hints(rejection, parts, secret, frame.contest.row.original_rows or 0),
        verdict=verdict,
        warnings=(),
        said="",
    )
    return add_retry_after(problem, answer)


def _drop_missing_files(problem: DomainError) -> DomainError | None:
    """Return the problems except missing files; None if there are no others."""
    if not isinstance(problem, InvalidUpload):
        return problem
    wrong = [item for item in problem.problems if item.code != "missing_file"]
    missing = len(problem.problems) - len(wrong)
    return InvalidUpload(wrong, total=problem.total - missing) if wrong else None


def _load_upload_context(principal: Principal, slug: str, key: str | None) -> UploadContext:
    """Return the upload context; raise an error before the files are read if submitting is not allowed."""
    with transaction() as session:
        return uploads.enter(session, principal, slug, key=key)


@dataclass
class ReleaseForm:
    """A release form; keeps the comment, and the beginning of malformed files to search for mistakes."""

    comment: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)

    def accept(
        self, principal: Principal, upload_context: UploadContext, body: MultipartForm
    ) -> SubmissionReceipt:
        """Accept the release; browsers send an empty file for a field without a chosen file."""
        chosen_files = {name: part for name, part in body.files.items() if part.size}
        texts = {name: text.replace("\r\n", "\n") for name, text in body.texts.items()}
        self.comment = texts.get("comment", "")
        with self.keep_faulty_files(chosen_files, body):
            _require_files(upload_context, chosen_files)
            return accept_submission(principal, upload_context, MultipartForm(chosen_files, texts))

    def check(self, upload_context: UploadContext, body: MultipartForm) -> uploads.CheckedUpload:
        chosen_files = {name: part for name, part in body.files.items() if part.size}
        with self.keep_faulty_files(chosen_files, body):
            return check_release(upload_context, MultipartForm(chosen_files, {}))

    @contextmanager
    def keep_faulty_files(self, chosen_files: Collection[str], body: MultipartForm) -> Iterator[None]:
        try:
            yield
        except InvalidUpload:
            self.files = {name: body.read_start(name, MAX_SCANNED_BYTES) for name in chosen_files}
            raise


def _require_files(upload_context: UploadContext, chosen_files: Collection[str]) -> None:
    """Raise one ``InvalidUpload`` that names all files that were not chosen."""
    message = Message("no file was chosen, or it is empty")
    missing = [
        FileProblem(name, None, None, "missing_file", message)
        for name in upload_context.names
        if name not in chosen_files
    ]
    if missing:
        raise InvalidUpload(missing)


@router.get("/submissions/{submission_id}/row")
def show_row(request: Request, submission_id: UUID, principal: CurrentPrincipal) -> HTMLResponse:
    """Render a single line of the list, which replaces an older one."""
    with transaction() as session:
        submission = submissions.find_own(session, principal, submission_id)
        frame = load_frame(session, principal, submissions.get_competition_slug(session, submission))
        own_summaries = summaries.list_summaries(session, principal, frame.contest.slug)
        (line,) = build_lines(session, [submission])
        best = find_position(session, principal, frame.contest.slug, [line])
    return render_page(
        request,
        principal,
        "team/submission_row.html",
        frame=frame,
        best=best,
        line=line,
        finals=summarize_finals(frame, own_summaries),
    )


@router.post("/submissions/{submission_id}/final")
def mark_final(
    request: Request,
    submission_id: UUID,
    principal: CurrentPrincipal,
    *,
    final: Annotated[bool, Form()],
    cursor: Annotated[str | None, Form(max_length=200)] = None,
    back: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Choose a submission as a final or give it up, then return to the page of the form."""
    try:
        with transaction() as session:
            finals.mark(session, principal, submission_id, final=final)
    except Conflict as problem:
        slug = _find_slug(principal, submission_id)
        return _render_submissions(
            request, principal, slug, cursor=cursor or None, rejection=RejectedForm(problem)
        )
    notice = "final_marked" if final else "final_unmarked"
    return _redirect_back(principal, submission_id, notice, back=back, cursor=cursor)


@router.post("/submissions/{submission_id}/cancel")
def cancel(
    request: Request,
    submission_id: UUID,
    principal: CurrentPrincipal,
    *,
    cursor: Annotated[str | None, Form(max_length=200)] = None,
    back: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Cancel a submission that is not scored yet."""
    try:
        with transaction() as session:
            submissions.cancel(session, principal, submission_id)
    except Conflict as problem:
        slug = _find_slug(principal, submission_id)
        return _render_submissions(
            request, principal, slug, cursor=cursor or None, rejection=RejectedForm(problem)
        )
    return _redirect_back(principal, submission_id, "cancelled", back=back, cursor=cursor)


def _redirect_back(
    principal: Principal, submission_id: UUID, notice: str, *, back: str, cursor: str | None
) -> RedirectResponse:
    if back == "page":
        return see_other(f"/submissions/{submission_id}", notice=notice)
    path = f"/competitions/{_find_slug(principal, submission_id)}/submissions"
    query = urlencode({"done": notice} | ({"cursor": cursor} if cursor else {}))
    return RedirectResponse(f"{path}?{query}#s-{submission_id}", status_code=303)


def _find_slug(principal: Principal, submission_id: UUID) -> str:
    with transaction() as session:
        return submissions.get_competition_slug(
            session, submissions.find_visible(session, principal, submission_id)
        )
