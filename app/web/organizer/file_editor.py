"""Edit the whole competition file: compare it with the stored file, then save it."""

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
from app.http.authentication import ClientAddress, CurrentPrincipal
from app.http.problems import get_status
from app.http.step_up import reauthenticate
from app.services.accounts.accounts import STEP_UP_REQUIRED, Principal
from app.services.contests import competitions, revisions
from app.services.contests.contest import Contest, parse_stored_rules
from app.services.contests.revisions import Revision
from app.web.organizer.forms import FormBody, ParsedForm
from app.web.organizer.setup_steps import (
    FORM_ERRORS,
    SetupContext,
    apply_revision,
    changes_scores,
    describe_rejection,
    load_setup_context,
    render_step,
    require_form_error,
)
from app.web.site import language
from app.web.site.pages import PageRoute, render_page, see_other
from app.web.site.sentences import translate_sentence

router = APIRouter(route_class=PageRoute)

_RECOMPARE_CODES = {"changed_meanwhile", STEP_UP_REQUIRED, "wrong_password"}
"""Error codes after which the comparison is shown again."""
_CONTEXT_LINES = 3
"""Unchanged lines shown before and after each difference."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a comparison; ``kind`` is added, removed, kept or skipped (a gap between differences)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class FileComparison:
    """Differences between the stored file and another one.

    ``parts``: changed keys and tables. ``rescores``: saving re-evaluates the submissions. ``drops_data``: the
    columns changed, so the original is removed.
    """

    lines: tuple[DiffLine, ...]
    parts: tuple[str, ...]
    rescores: bool
    drops_data: bool


@router.get("/competitions/{slug}/organize/file")
def show_file(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    try:
        with transaction() as session:
            context = load_setup_context(session, principal, slug)
    except CompetitionUnavailable as problem:
        return _render_repair(request, principal, slug, problem)
    return _render_file(request, principal, context, context.frame.contest.row.file)


@router.get("/competitions/{slug}/organize/competition.toml")
def download_file(slug: str, principal: CurrentPrincipal) -> Response:
    """Download the file as the organizers wrote it; the published file has fixed scales."""
    with transaction() as session:
        text = competitions.find_for_organizer(session, principal, slug).row.file
    headers = {"Content-Disposition": f'attachment; filename="{slug}.toml"'}
    return Response(text, media_type="application/toml", headers=headers)


@router.post("/competitions/{slug}/organize/file")
def save_file(
    request: Request, slug: str, principal: CurrentPrincipal, address: ClientAddress, form: FormBody
) -> Response:
    """Compare the sent file with the stored one, or save it if ``do`` is ``save``."""
    try:
        with transaction() as session:
            context = load_setup_context(session, principal, slug)
    except CompetitionUnavailable as problem:
        check_password = partial(reauthenticate, principal, address, form.secret("password"))
        return _save_repair(request, principal, slug, form, problem, reauthenticate=check_password)
    text = ""
    try:
        text = read_text(form)
        competitions.parse_hostable_rules(text)
        if form.text("do") != "save":
            return _render_file(
                request, principal, context, text, shown_comparison=_compare_with_stored(context, text)
            )
        return apply_revision(
            reauthenticate(principal, address, form.secret("password")),
            slug,
            lambda contest: _build_compared_revision(contest, text, form.text("of")),
            step_name="file",
        )
    except (*FORM_ERRORS, InvalidCompetition) as problem:
        recomparison = _compare_with_stored(context, text) if problem.code in _RECOMPARE_CODES else None
        return _render_file(
            request,
            principal,
            context,
            text,
            shown_comparison=recomparison,
            problem=require_form_error(problem),
        )


def _render_repair(
    request: Request,
    principal: Principal,
    slug: str,
    problem: CompetitionUnavailable,
    *,
    text: str | None = None,
    rejection: DomainError | None = None,
) -> HTMLResponse:
    """Render the editor for a competition file that cannot be read."""
    with transaction() as session:
        row = competitions.find_for_organizer(session, principal, slug).row
        has_submissions = competitions.has_submissions(session, row.id)
    return render_page(
        request,
        principal,
        "organizer/repair.html",
        judged=has_submissions,
        status=get_status(rejection or problem),
        slug=slug,
        title=competitions.get_title(row),
        why=translate_sentence(problem.message, language.words_of(request)),
        refused=describe_rejection(request, rejection) if rejection else None,
        text=row.file if text is None else text,
        of=competitions.sha256_of(row.file),
    )


def _save_repair(
    request: Request,
    principal: Principal,
    slug: str,
    form: ParsedForm,
    problem: CompetitionUnavailable,
    *,
    reauthenticate: Callable[[], Principal],
) -> Response:
    """Replace a file that cannot be read by the sent one."""
    with transaction() as session:
        contest = competitions.find_for_organizer(session, principal, slug)
    text = ""
    try:
        text = read_text(form)
        revision = _build_compared_revision(contest, text, form.text("of"))
        organizer = reauthenticate()
        with transaction() as session:
            revisions.apply_revision(session, organizer, slug, revision)
    except (*FORM_ERRORS, InvalidCompetition, InvalidUpload) as rejection:
        return _render_repair(
            request, principal, slug, problem, text=text, rejection=require_form_error(rejection)
        )
    return see_other(f"/competitions/{slug}/organize/file", notice="setup_saved")


def _build_compared_revision(contest: Contest, text: str, compared_sha256: str) -> Revision:
    """Return a revision; raise ``Conflict`` if the stored file changed since the comparison."""
    if compared_sha256 != competitions.sha256_of(contest.row.file):
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    return revisions.compute_file_revision(contest, text)


def read_text(form: ParsedForm) -> str:
    """Return the uploaded file, else the text field with CR LF line ends converted."""
    if "upload" in form.files:
        return toml_text.decode_file(form.files["upload"])
    field_text = next(iter(form.values("text")), "").replace("\r\n", "\n")
    return toml_text.decode_file(field_text.encode())


def _render_file(
    request: Request,
    principal: CurrentPrincipal,
    context: SetupContext,
    text: str,
    *,
    shown_comparison: FileComparison | None = None,
    problem: DomainError | None = None,
) -> HTMLResponse:
    sha256 = competitions.sha256_of(context.frame.contest.row.file)
    content = {"text": text, "of": sha256, "compared": shown_comparison}
    return render_step(request, principal, "organizer/file.html", context, problem=problem, **content)


def _compare_with_stored(context: SetupContext, text: str) -> FileComparison:
    """Compare a text with the stored file, and determine what saving it would do."""
    contest, columns = context.frame.contest, context.frame.rules.columns
    row = contest.row
    return FileComparison(
        lines=tuple(_iter_diff_lines(row.file, text)),
        parts=tuple(revisions.find_changed_parts(row.file, text)),
        rescores=context.has_submissions
        and changes_scores(contest, revisions.compute_file_revision(contest, text)),
        drops_data=bool(row.original) and columns != parse_stored_rules(text).columns,
    )


def _iter_diff_lines(old_text: str, new_text: str) -> Iterator[DiffLine]:
    kinds = {"+": "added", "-": "removed", " ": "kept", "@": "skipped"}
    lines = difflib.unified_diff(old_text.splitlines(), new_text.splitlines(), lineterm="", n=_CONTEXT_LINES)
    for index, line in enumerate(lines):
        if index > 2:
            yield DiffLine(kinds[line[0]], "" if line[0] == "@" else line[1:])
