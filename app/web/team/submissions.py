"""The home of a team: what it may send, what it has sent, and what will stand for it."""

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

from anoncup.errors import Conflict, DomainError, InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.tracks.files import FileSpec
from anoncup.tracks.swapped_files import CODE as MISPLACED
from app.db.models import Submission
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.multipart import Parts
from app.http.paging import cursor_of, place_of
from app.http.problems import status_of
from app.http.uploads import Way, check_release, dry_run, submitted, take_in
from app.services.accounts.accounts import Principal
from app.services.originals import allocations
from app.services.originals.allocations import Own
from app.services.submissions import finals, quota, submissions, summaries, uploads
from app.services.submissions.quota import Cap
from app.services.submissions.submissions import Receipt
from app.services.submissions.summaries import Summary
from app.services.submissions.uploads import Entrance
from app.web.site import language
from app.web.site.frame import Frame, frame_of
from app.web.site.pages import PageRoute, page, see, sentence_of, waiting
from app.web.site.timeline_chart import course_of
from app.web.team.board_position import best_of
from app.web.team.submission_lines import finals_of, lines_of, taking
from app.web.team.upload_form import (
    REFUSALS,
    Part,
    fields_of,
    parts_of,
    raising_refusals,
    secret_of,
    status_of_check,
    verdict_of,
    verdict_on,
    words_of_script,
    written_samples,
)
from app.web.team.upload_hints import LOOKED_AT, Found, mistakes_of

router = APIRouter(route_class=PageRoute)

PAGE = 50
KEY_BYTES = 18

Cursor = Annotated[str | None, Query(max_length=200)]
Key = Annotated[str | None, Query(max_length=200)]


@dataclass(frozen=True, slots=True)
class Refused:
    """A form that was refused: why, and what was typed into it."""

    problem: DomainError
    comment: str = ""
    key: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    is_upload: bool = False

    @property
    def malformed(self) -> tuple[Problem, ...]:
        return self.problem.problems if isinstance(self.problem, InvalidUpload) else ()

    @property
    def more(self) -> int:
        """Problems that are counted but not listed."""
        return self.problem.total - len(self.malformed) if isinstance(self.problem, InvalidUpload) else 0

    @property
    def key_to_keep(self) -> str | None:
        """A broken upload goes under the same key, so that it is taken in once; a used key is left."""
        return None if self.problem.code == "idempotency_key_reused" else self.key


@router.get("/competitions/{slug}/submissions")
def own_submissions(request: Request, slug: str, principal: SignedIn, cursor: Cursor = None) -> HTMLResponse:
    return own_page(request, principal, slug, cursor=cursor)


def own_page(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    cursor: str | None = None,
    refused: Refused | None = None,
) -> HTMLResponse:
    """The page of a team's submissions; with what was refused, if something was."""
    t = language.words_of(request)
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        sent, older = page_of_own(session, principal, slug, cursor)
        outline = summaries.of_own_team(session, principal, slug)
        caps = quota.report(session, principal, slug).caps
        own = allocations.of_member(session, principal, frame.contest.row)
        lines = lines_of(session, sent)
        content = {
            "fields": fields_of(frame.contest.track),
            "caps": caps,
            "tag": tag_of(frame, outline, caps, own),
            "lines": lines,
            "finals": finals_of(frame, outline),
            "best": best_of(session, principal, slug, lines),
            "own": own,
        }
        parts, secret = parts_of(frame.contest), secret_of(frame.contest.track)
    answer = page(
        request,
        principal,
        "team/submissions.html",
        status=status_of(refused.problem) if refused else 200,
        frame=frame,
        parts=parts,
        mistakes=mistakes_in(refused, parts, secret, frame.contest.row.original_rows or 0),
        script_words=words_of_script(t),
        secret=secret,
        secret_samples=written_samples(secret) if secret else (),
        key=(refused and refused.key_to_keep) or secrets.token_urlsafe(KEY_BYTES),
        refused=refused,
        refused_for=sentence_of(refused.problem, t) if refused else None,
        course=course_of(outline, t, frame.rules),
        older=older,
        cursor=cursor,
        unfinished=any(one.unfinished for one in outline),
        **content,
    )
    return waiting(refused.problem, answer) if refused else answer


def mistakes_in(
    refused: Refused | None, parts: Sequence[Part], secret: FileSpec | None, originals: int
) -> dict[str, list[Found]]:
    """What is recognized in files that were refused."""
    if refused is None or not refused.malformed:
        return {}
    headers = {part.name: part.sample.header for part in parts}
    misplaced = {each.file for each in refused.malformed if each.code == MISPLACED}
    files = {name: content for name, content in refused.files.items() if name not in misplaced}
    return mistakes_of(files, headers, secret=secret, originals=originals)


def tag_of(frame: Frame, outline: Sequence[Summary], caps: Sequence[Cap], own: Own) -> str:
    """What changes exactly when the list, the quota, the team's data or what may be sent does."""
    state = (taking(frame), frame.rules.phases, outline, caps, own)
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


@router.get("/competitions/{slug}/submissions/state")
def state(slug: str, principal: SignedIn) -> PlainTextResponse:
    """The tag by which a page that stands open knows that it is out of date."""
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        outline = summaries.of_own_team(session, principal, slug)
        caps = quota.report(session, principal, slug).caps
        own = allocations.of_member(session, principal, frame.contest.row)
    return PlainTextResponse(tag_of(frame, outline, caps, own))


def page_of_own(
    session: Session, principal: Principal, slug: str, cursor: str | None
) -> tuple[list[Submission], str | None]:
    """A page of the team's submissions, and the cursor of the next one."""
    after = place_of(cursor, datetime.fromisoformat, UUID)
    found = submissions.of_team(session, principal, slug, after=after, limit=PAGE + 1)
    kept = list(found[:PAGE])
    last = kept[-1] if len(found) > PAGE else None
    return kept, cursor_of(last.received_at, last.id) if last else None


@router.post("/competitions/{slug}/submissions")
async def submit(request: Request, slug: str, principal: SignedIn, key: Key = None) -> Response:
    """To the receipt of a release; or the form again, with what is wrong beside the file it is wrong in."""
    form = Sent()
    try:
        at = await run_in_threadpool(knock, principal, slug, key)
        way = Way(uploads.renewed, form.submitted)
        made = await raising_refusals(take_in(request, principal, at, way))
    except REFUSALS as problem:
        refused = Refused(problem, form.comment, key, form.files, is_upload=True)
        return await run_in_threadpool(own_page, request, principal, slug, refused=refused)
    return see(f"/submissions/{made.submission.id}", done="received")


@router.post("/competitions/{slug}/submissions/check")
async def check(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    """Read the chosen files without submitting them; the form's script puts the answer in its place."""
    form = Sent()
    try:
        at, team_id = await run_in_threadpool(enter_check, principal, slug)
        checked = await raising_refusals(dry_run(request, at, team_id, form.checked))
    except REFUSALS as problem:
        return await run_in_threadpool(refused_check, request, principal, slug, problem, form.files)
    return await run_in_threadpool(good_check, request, principal, slug, team_id, checked)


def enter_check(principal: Principal, slug: str) -> tuple[Entrance, UUID]:
    with transaction() as session:
        return uploads.enter_check(session, principal, slug)


def good_check(
    request: Request, principal: Principal, slug: str, team_id: UUID, checked: uploads.Checked
) -> HTMLResponse:
    t = language.words_of(request)
    with transaction() as session:
        repeated = submissions.repetition(session, team_id, checked.sent)
        fields = fields_of(frame_of(session, principal, slug).contest.track)
    remarks = (*checked.remarks, *repeated)
    said = t.ngettext("No fault was found in {n} row.", "No fault was found in {n} rows.", checked.rows)
    return page(
        request,
        principal,
        "team/upload_checked.html",
        fields=fields,
        mistakes={},
        verdict=verdict_of(remarks),
        warnings=remarks,
        said=said,
    )


def refused_check(
    request: Request, principal: Principal, slug: str, problem: DomainError, files: Mapping[str, bytes]
) -> HTMLResponse:
    """Show the faults; files that are still to be chosen are none."""
    t = language.words_of(request)
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        parts, secret = parts_of(frame.contest), secret_of(frame.contest.track)
    refused, said, verdict = None, "", "incomplete"
    wrong = without_missing(problem)
    if wrong is not None:
        refused, verdict = Refused(wrong, files=files), verdict_on(wrong)
        said = sentence_of(wrong, t)
        if isinstance(wrong, InvalidUpload):
            said = t.ngettext(
                "{n} fault was found. Nothing was sent.",
                "{n} faults were found. Nothing was sent.",
                wrong.total,
            )
    answer = page(
        request,
        principal,
        "team/upload_checked.html",
        status=status_of_check(problem),
        fields=fields_of(frame.contest.track),
        refused=refused,
        refused_for=said,
        mistakes=mistakes_in(refused, parts, secret, frame.contest.row.original_rows or 0),
        verdict=verdict,
        warnings=(),
        said="",
    )
    return waiting(problem, answer)


def without_missing(problem: DomainError) -> DomainError | None:
    """Return what is wrong besides missing files; None if nothing is."""
    if not isinstance(problem, InvalidUpload):
        return problem
    wrong = [each for each in problem.problems if each.code != "missing_file"]
    missing = len(problem.problems) - len(wrong)
    return InvalidUpload(wrong, total=problem.total - missing) if wrong else None


def knock(principal: Principal, slug: str, key: str | None) -> Entrance:
    """Whether this person may submit now; asked before the files are read."""
    with transaction() as session:
        return uploads.entrance(session, principal, slug, key=key)


@dataclass
class Sent:
    """What came by the form; of malformed files as much as mistakes are looked for in."""

    comment: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)

    def submitted(self, principal: Principal, at: Entrance, sent: Parts) -> Receipt:
        """A browser sends an empty file for a field that was left."""
        chosen = {name: part for name, part in sent.files.items() if part.size}
        texts = {name: text.replace("\r\n", "\n") for name, text in sent.texts.items()}
        self.comment = texts.get("comment", "")
        with self.keeping_faulty(chosen, sent):
            require_files(at, chosen)
            return submitted(principal, at, Parts(chosen, texts))

    def checked(self, at: Entrance, sent: Parts) -> uploads.Checked:
        chosen = {name: part for name, part in sent.files.items() if part.size}
        with self.keeping_faulty(chosen, sent):
            return check_release(at, Parts(chosen, {}))

    @contextmanager
    def keeping_faulty(self, chosen: Collection[str], sent: Parts) -> Iterator[None]:
        try:
            yield
        except InvalidUpload:
            self.files = {name: sent.beginning(name, LOOKED_AT) for name in chosen}
            raise


def require_files(at: Entrance, chosen: Collection[str]) -> None:
    """Name all files that were not chosen at once."""
    message = Message("no file was chosen, or it is empty")
    missing = [Problem(name, None, None, "missing_file", message) for name in at.names if name not in chosen]
    if missing:
        raise InvalidUpload(missing)


@router.get("/submissions/{submission_id}/row")
def row(request: Request, submission_id: UUID, principal: SignedIn) -> HTMLResponse:
    """One line of the list by itself, to be put in the place of an older one."""
    with transaction() as session:
        found = submissions.own(session, principal, submission_id)
        frame = frame_of(session, principal, submissions.slug_of(session, found))
        outline = summaries.of_own_team(session, principal, frame.contest.slug)
        (line,) = lines_of(session, [found])
        best = best_of(session, principal, frame.contest.slug, [line])
    return page(
        request,
        principal,
        "team/submission_row.html",
        frame=frame,
        best=best,
        line=line,
        finals=finals_of(frame, outline),
    )


@router.post("/submissions/{submission_id}/final")
def mark_final(
    request: Request,
    submission_id: UUID,
    principal: SignedIn,
    *,
    final: Annotated[bool, Form()],
    cursor: Annotated[str | None, Form(max_length=200)] = None,
    back: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Choose a submission as a final, or leave it; back to where the form stood."""
    try:
        with transaction() as session:
            finals.mark(session, principal, submission_id, final=final)
    except Conflict as problem:
        slug = slug_for(principal, submission_id)
        return own_page(request, principal, slug, cursor=cursor or None, refused=Refused(problem))
    done = "final_marked" if final else "final_unmarked"
    return returned(principal, submission_id, done, back=back, cursor=cursor)


@router.post("/submissions/{submission_id}/cancel")
def cancel(
    request: Request,
    submission_id: UUID,
    principal: SignedIn,
    *,
    cursor: Annotated[str | None, Form(max_length=200)] = None,
    back: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Withdraw a submission that is not scored yet."""
    try:
        with transaction() as session:
            submissions.cancel(session, principal, submission_id)
    except Conflict as problem:
        slug = slug_for(principal, submission_id)
        return own_page(request, principal, slug, cursor=cursor or None, refused=Refused(problem))
    return returned(principal, submission_id, "cancelled", back=back, cursor=cursor)


def returned(
    principal: Principal, submission_id: UUID, done: str, *, back: str, cursor: str | None
) -> RedirectResponse:
    if back == "page":
        return see(f"/submissions/{submission_id}", done=done)
    path = f"/competitions/{slug_for(principal, submission_id)}/submissions"
    query = urlencode({"done": done} | ({"cursor": cursor} if cursor else {}))
    return RedirectResponse(f"{path}?{query}#s-{submission_id}", status_code=303)


def slug_for(principal: Principal, submission_id: UUID) -> str:
    with transaction() as session:
        return submissions.slug_of(session, submissions.visible(session, principal, submission_id))
