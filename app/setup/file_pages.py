"""Edit the competition file: preview its rules page, compare it with the stored file, then save it."""

import difflib
from dataclasses import dataclass, replace

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import CompetitionUnavailable, Conflict, DomainError, InvalidCompetition, InvalidUpload
from anoncup.rules import toml_text
from app.accounts.step_up import STEP_UP_ERRORS
from app.boards import standing_updates
from app.competitions import competitions, revisions
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.competitions.revisions import Revision
from app.competitions.rules_pages import render_rules
from app.core.db.models import Round
from app.core.db.transaction import transaction
from app.core.http.problems import get_status
from app.core.identity.authentication import CurrentPrincipal
from app.core.pages.forms import FormBody, ParsedForm
from app.core.pages.language import translate_sentence
from app.core.pages.pages import PageRoute, see_other
from app.setup.setup_context import (
    FORM_ERRORS,
    RequestedSetup,
    SetupContext,
    apply_or_rescore,
    changes_scores,
    describe_rejection,
    load_setup_context,
    render_setup,
    require_form_error,
)

router = APIRouter(route_class=PageRoute)

_CODES_SHOWN_WITH_COMPARISON = STEP_UP_ERRORS | {"changed_meanwhile"}
"""Errors after which the page shows the comparison again, so that saving can be repeated."""
_CONTEXT_LINES = 3
"""Unchanged lines shown before and after each difference."""


@dataclass(frozen=True, slots=True)
class FileComparison:
    """Differences between the stored file and a new one, and the effects of saving it.

    ``lines`` are those of a unified diff. ``parts`` are the changed keys and tables. The flags tell whether
    saving begins a rescore of the submissions, and whether it removes the original because the columns have
    changed.
    """

    lines: tuple[str, ...]
    parts: tuple[str, ...]
    begins_rescore: bool
    removes_original: bool


@router.get("/competitions/{slug}/organize/file")
def show_file(page: RequestedOrganizerPage) -> HTMLResponse:
    try:
        with transaction() as session:
            context = load_setup_context(session, page)
    except CompetitionUnavailable as problem:
        return _render_repair(page, problem)
    return _render_file(context, context.frame.round.competition.file)


@router.get("/competitions/{slug}/organize/competition.toml")
def download_file(slug: str, principal: CurrentPrincipal) -> Response:
    """Download the file as the organizers wrote it; the published version also contains the scales."""
    with transaction() as session:
        competition = competitions.find_for_organizer(session, principal, slug).competition
    headers = {"Content-Disposition": f'attachment; filename="{competition.slug}.toml"'}
    return Response(competition.file, media_type="application/toml", headers=headers)


@router.post("/competitions/{slug}/organize/file/preview")
def preview_rules(context: RequestedSetup, form: FormBody) -> HTMLResponse:
    """Render the rules page as the text in the form would make it. Nothing is saved."""
    round_, text = context.frame.round, ""
    try:
        text = _read_file_text(form)
        rules_by_round = competitions.read_hostable_file(text).rules
        rules = rules_by_round.get(round_.name) or next(iter(rules_by_round.values()))
        if rules.track != round_.track.name:
            raise Conflict("the track of a competition is fixed", code="fixed")
    except (Conflict, InvalidCompetition) as problem:
        return _render_file(context, text, problem=problem)
    frame = replace(context.frame, rules=replace(rules, scales=round_.scales))
    return render_rules(context.page, frame, with_description=True)


@router.post("/competitions/{slug}/organize/file")
def save_file(page: RequestedOrganizerPage, form: FormBody) -> Response:
    """Compare the submitted text with the stored file, or save it if ``do`` is ``save``."""
    try:
        with transaction() as session:
            context = load_setup_context(session, page)
    except CompetitionUnavailable as problem:
        return _save_repair(page, form, problem)
    text = ""
    try:
        text = _read_file_text(form)
        competitions.read_hostable_file(text)
        if form.text("do") != "save":
            return _render_file(context, text, comparison=_compare_with_stored(context, text))
        return apply_or_rescore(
            page.reauthenticate(form.secret("password")),
            page.slug,
            lambda round_: _build_compared_revision(round_, text, form.text("of")),
            page_name="file",
        )
    except (*FORM_ERRORS, InvalidCompetition) as problem:
        comparison = (
            _compare_with_stored(context, text) if problem.code in _CODES_SHOWN_WITH_COMPARISON else None
        )
        return _render_file(context, text, comparison=comparison, problem=require_form_error(problem))


def _render_repair(
    page: OrganizerPage,
    file_problem: CompetitionUnavailable,
    *,
    text: str | None = None,
    rejection: DomainError | None = None,
) -> HTMLResponse:
    """Render the editor for a competition file that cannot be read."""
    with transaction() as session:
        competition = competitions.find_for_organizer(session, page.principal, page.slug).competition
        has_submissions = competitions.has_any_submission(session, competition)
    return page.render(
        "setup/repair.html",
        has_submissions=has_submissions,
        status=get_status(rejection or file_problem),
        slug=page.slug,
        title=competition.title,
        reason=translate_sentence(file_problem.message, page.t),
        rejection=describe_rejection(page, rejection) if rejection else None,
        text=competition.file if text is None else text,
        fingerprint=competitions.compute_text_digest(competition.file),
    )


def _save_repair(page: OrganizerPage, form: ParsedForm, file_problem: CompetitionUnavailable) -> Response:
    """Replace an unreadable file with the submitted one."""
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, page.principal, page.slug)
    text = ""
    try:
        text = _read_file_text(form)
        revision = _build_compared_revision(round_, text, form.text("of"))
        organizer = page.reauthenticate(form.secret("password"))
        with transaction() as session:
            round_ = revisions.apply_revision(session, organizer, page.slug, revision)
            standing_updates.refresh_all_rounds(session, round_.competition)
    except (*FORM_ERRORS, InvalidCompetition, InvalidUpload) as rejection:
        return _render_repair(page, file_problem, text=text, rejection=require_form_error(rejection))
    return see_other(f"{page.path}/file", notice="setup_saved")


def _build_compared_revision(round_: Round, text: str, compared_sha256: str) -> Revision:
    """Return the revision to the new text; raise ``Conflict`` if the stored file has changed meanwhile."""
    if compared_sha256 != competitions.compute_text_digest(round_.competition.file):
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    return revisions.compute_file_revision(round_, text)


def _read_file_text(form: ParsedForm) -> str:
    """Return the text of the uploaded file, else of the text field with line ends converted to LF."""
    if "upload" in form.files:
        return toml_text.decode_file(form.files["upload"])
    field_text = next(iter(form.values("text")), "").replace("\r\n", "\n")
    return toml_text.decode_file(field_text.encode())


def _render_file(
    context: SetupContext,
    text: str,
    *,
    comparison: FileComparison | None = None,
    problem: DomainError | None = None,
) -> HTMLResponse:
    sha256 = competitions.compute_text_digest(context.frame.round.competition.file)
    content = {"text": text, "fingerprint": sha256, "comparison": comparison}
    return render_setup(context, "setup/file.html", problem=problem, **content)


def _compare_with_stored(context: SetupContext, text: str) -> FileComparison:
    """Compare a text with the stored file, and determine the effects of saving it."""
    round_ = context.frame.round
    file = round_.competition.file
    diff = difflib.unified_diff(file.splitlines(), text.splitlines(), lineterm="", n=_CONTEXT_LINES)
    return FileComparison(
        lines=tuple(diff)[3:],  # without the header and the start of the first difference
        parts=tuple(competitions.find_changed_parts(file, text)),
        begins_rescore=context.has_submissions
        and changes_scores(round_, revisions.compute_file_revision(round_, text)),
        removes_original=revisions.drops_original(round_.competition, text),
    )
