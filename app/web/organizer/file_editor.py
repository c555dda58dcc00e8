"""The competition file as a whole: read, compared with what is stored, saved."""

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import CompetitionUnavailable, Conflict, DomainError, InvalidCompetition, InvalidUpload
from anoncup.rules import toml_text
from app.db.transaction import transaction
from app.http.authentication import Address, SignedIn
from app.http.problems import status_of
from app.http.step_up import confirmed
from app.services.accounts.accounts import UNCONFIRMED, Principal
from app.services.contests import competitions, revisions
from app.services.contests.contest import Contest, read_file
from app.services.contests.revisions import Revision
from app.web.organizer.forms import Form, Sent
from app.web.organizer.setup_steps import (
    REFUSED,
    Desk,
    desk_of,
    put_in_force,
    refusal,
    refused,
    scores_change,
    step_page,
)
from app.web.site import language
from app.web.site.pages import PageRoute, page, see
from app.web.site.sentences import sentence

router = APIRouter(route_class=PageRoute)

COMPARED_AGAIN = {"changed_meanwhile", UNCONFIRMED, "wrong_password"}
"""Refusals after which what was compared is shown once more."""
AROUND = 3
"""Lines that are shown before and after a difference."""


@dataclass(frozen=True, slots=True)
class Line:
    """``kind``: added, removed, kept, or skipped (between two differences)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The stored file and another one. ``parts``: the keys and tables that say something else;
    ``rescores``: what has been submitted would be scored anew; ``drops_data``: the columns are others."""

    lines: tuple[Line, ...]
    parts: tuple[str, ...]
    rescores: bool
    drops_data: bool


@router.get("/competitions/{slug}/organize/file")
def file(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    try:
        with transaction() as session:
            desk = desk_of(session, principal, slug)
    except CompetitionUnavailable as problem:
        return repair_page(request, principal, slug, problem)
    return file_page(request, principal, desk, desk.frame.contest.row.file)


@router.get("/competitions/{slug}/organize/competition.toml")
def download(slug: str, principal: SignedIn) -> Response:
    """The file as it was written: the published one has its scales fixed."""
    with transaction() as session:
        text = competitions.for_organizer(session, principal, slug).row.file
    headers = {"Content-Disposition": f'attachment; filename="{slug}.toml"'}
    return Response(text, media_type="application/toml", headers=headers)


@router.post("/competitions/{slug}/organize/file")
def save_file(request: Request, slug: str, principal: SignedIn, address: Address, form: Form) -> Response:
    """``do``: compare, or save what has been compared."""
    try:
        with transaction() as session:
            desk = desk_of(session, principal, slug)
    except CompetitionUnavailable as problem:
        sure = partial(confirmed, principal, address, form.secret("password"))
        return repaired(request, principal, slug, form, problem, sure=sure)
    text = ""
    try:
        text = text_in(form)
        competitions.hostable(text)
        if form.text("do") != "save":
            return file_page(request, principal, desk, text, compared=comparison(desk, text))
        return put_in_force(
            confirmed(principal, address, form.secret("password")),
            slug,
            lambda contest: revision_of_compared(contest, text, form.text("of")),
            back="file",
        )
    except (*REFUSED, InvalidCompetition) as problem:
        again = comparison(desk, text) if problem.code in COMPARED_AGAIN else None
        return file_page(request, principal, desk, text, compared=again, problem=refused(problem))


def repair_page(
    request: Request,
    principal: Principal,
    slug: str,
    problem: CompetitionUnavailable,
    *,
    text: str | None = None,
    refused: DomainError | None = None,
) -> HTMLResponse:
    """The file of a competition that cannot be read, for one of its organizers to put right."""
    with transaction() as session:
        row = competitions.for_organizer(session, principal, slug).row
        judged = competitions.has_submissions(session, row.id)
    return page(
        request,
        principal,
        "organizer/repair.html",
        judged=judged,
        status=status_of(refused or problem),
        slug=slug,
        title=competitions.title_of(row),
        why=sentence(problem.message, language.words_of(request)),
        refused=refusal(request, refused) if refused else None,
        text=row.file if text is None else text,
        of=competitions.sha256_of(row.file),
    )


def repaired(
    request: Request,
    principal: Principal,
    slug: str,
    form: Sent,
    problem: CompetitionUnavailable,
    *,
    sure: Callable[[], Principal],
) -> Response:
    """Put what was sent in the place of a file that cannot be read."""
    with transaction() as session:
        contest = competitions.for_organizer(session, principal, slug)
    text = ""
    try:
        text = text_in(form)
        revision = revision_of_compared(contest, text, form.text("of"))
        asking = sure()
        with transaction() as session:
            revisions.revise(session, asking, slug, revision)
    except (*REFUSED, InvalidCompetition, InvalidUpload) as why:
        return repair_page(request, principal, slug, problem, text=text, refused=refused(why))
    return see(f"/competitions/{slug}/organize/file", done="setup_saved")


def revision_of_compared(contest: Contest, text: str, of: str) -> Revision:
    """The text as a revision of the very file that it was compared with."""
    if of != competitions.sha256_of(contest.row.file):
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    return revisions.revision_of_file(contest, text)


def text_in(form: Sent) -> str:
    """What was uploaded, else what stands in the field; browsers send its lines with CR LF."""
    if "upload" in form.files:
        return toml_text.text_of(form.files["upload"])
    typed = next(iter(form.all("text")), "").replace("\r\n", "\n")
    return toml_text.text_of(typed.encode())


def file_page(
    request: Request,
    principal: SignedIn,
    desk: Desk,
    text: str,
    *,
    compared: Comparison | None = None,
    problem: DomainError | None = None,
) -> HTMLResponse:
    of = competitions.sha256_of(desk.frame.contest.row.file)
    content = {"text": text, "of": of, "compared": compared}
    return step_page(request, principal, "organizer/file.html", desk, problem=problem, **content)


def comparison(desk: Desk, text: str) -> Comparison:
    """What saving would do, found out the way in which it would be done."""
    contest, columns = desk.frame.contest, desk.frame.rules.columns
    row = contest.row
    return Comparison(
        lines=tuple(differences(row.file, text)),
        parts=tuple(revisions.changed_parts(row.file, text)),
        rescores=desk.judged and scores_change(contest, revisions.revision_of_file(contest, text)),
        drops_data=bool(row.original) and columns != read_file(text).columns,
    )


def differences(before: str, after: str) -> Iterator[Line]:
    kinds = {"+": "added", "-": "removed", " ": "kept", "@": "skipped"}
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=AROUND)
    for place, line in enumerate(lines):
        if place > 2:
            yield Line(kinds[line[0]], "" if line[0] == "@" else line[1:])
