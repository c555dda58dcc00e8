"""Setup step for the data: upload the original, repair its headers, and choose the roles of its columns."""

from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import Conflict, DomainError, FileProblem, InvalidCompetition, InvalidUpload, Unavailable
from anoncup.messages import Message
from anoncup.tables.profile.model import MIN_COMMON
from anoncup.tracks.files import FileSpec
from app.db.transaction import transaction
from app.services.contests import revisions, sealed_inputs
from app.services.originals import allocated_files, organizer_data, original_import, originals
from app.services.originals.originals import OriginalSummary
from app.web.organizer.column_roles import (
    LEFT_OUT,
    RoleChoice,
    parse_choice,
    read_stored_choice,
    require_complete,
    review_roles,
)
from app.web.organizer.forms import FormBody, ParsedForm
from app.web.organizer.header_repair_form import (
    FIRST_LINE_KINDS,
    HeaderRepairForm,
    build_repair_form,
    build_requirements,
    can_repair_header,
    has_only_header_problems,
    leave_out_unusable,
    parse_repair_form,
)
from app.web.organizer.setup_steps import RequestedSetup, SetupContext, apply_or_rescore, render_step
from app.web.site.pages import PageRoute, see_other

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/organize/data")
def show_data(context: RequestedSetup) -> HTMLResponse:
    return _render_data(context)


def _render_data(
    context: SetupContext,
    *,
    problem: DomainError | None = None,
    choice: RoleChoice | None = None,
    repair_form: HeaderRepairForm | None = None,
    status: int | None = None,
) -> HTMLResponse:
    """Render the data step.

    ``choice`` holds unsaved column roles, and ``repair_form`` the repair of an uploaded file's header.
    """
    row, specs = context.frame.contest.round, context.frame.contest.track.original_files
    with transaction() as session:
        commitments = sealed_inputs.load_commitments(session, row.id)
    summary = _load_summary(context, choice.min_common if choice else MIN_COMMON)
    choice = choice or read_stored_choice(context)
    return render_step(
        context,
        "organizer/data.html",
        problem=problem,
        files=[file.name for file in specs],
        uploadable=_list_uploadable(specs, row.original),
        optional={file.name for file in specs if not file.required},
        truth={name: commitments.get(name) for name in row.allocation.get("truth", ())},
        summary=summary,
        needs={file.name: build_requirements(file, context.frame.rules) for file in specs},
        choice=choice,
        look=None if summary is None or choice is None else review_roles(context, summary, choice),
        fewest=MIN_COMMON,
        repair=repair_form,
        **({} if status is None else {"status": status}),
    )


def _list_uploadable(specs: Sequence[FileSpec], uploaded: Mapping[str, str]) -> set[str]:
    """Return the files that may be uploaded next.

    These are the first missing required file, or all missing optional files if no required file is missing.
    """
    missing_required = [file.name for file in specs if file.required and file.name not in uploaded]
    return (
        {missing_required[0]}
        if missing_required
        else {file.name for file in specs if file.name not in uploaded}
    )


def _load_summary(context: SetupContext, min_common: int = MIN_COMMON) -> OriginalSummary | None:
    row = context.frame.contest.round
    return originals.load_summary(tuple(row.original.items()), row.file, min_common) if row.original else None


@router.post("/competitions/{slug}/organize/original/{file}")
def upload(context: RequestedSetup, file: str, form: FormBody) -> Response:
    name = revisions.find_original_part(context.frame.contest, file)
    try:
        content = _read_uploaded_file(form, name)
    except InvalidUpload as problem:
        return _render_data(context, problem=problem)
    repair = original_import.find_repair(context.frame.contest, name, content)
    if repair is not None and repair.needs_decision:
        return _render_data(
            context, repair_form=build_repair_form(context, name, content, repair), status=422
        )
    try:
        return apply_or_rescore(
            context.page.principal,
            context.page.slug,
            lambda contest: originals.compute_upload_revision(contest, name, content),
            step_name="data",
        )
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        repair_form = None
        if repair and can_repair_header(repair, problem):
            repair_form = leave_out_unusable(build_repair_form(context, name, content, repair), problem)
        if repair_form and repair_form.required_columns and has_only_header_problems(problem):
            return _render_data(context, repair_form=repair_form, status=422)
        return _render_data(context, problem=problem, repair_form=repair_form)


@router.post("/competitions/{slug}/organize/truth/{file}")
def upload_organizer_data(context: RequestedSetup, file: str, form: FormBody) -> Response:
    """Store a file that only the organizers know. It is encrypted for the workers and never sent back."""
    name = organizer_data.find_organizer_file(context.frame.contest, file)
    with transaction() as session:
        allocated = allocated_files.load_by_team(session, context.frame.contest.round.id)
    try:
        organizer_file = organizer_data.check_organizer_file(
            context.frame.contest, name, _read_uploaded_file(form, name), allocated
        )
        with transaction() as session:
            organizer_data.store_sealed(session, context.page.principal, context.page.slug, organizer_file)
    except (Conflict, InvalidUpload, Unavailable) as problem:
        return _render_data(context, problem=problem)
    return see_other(f"{context.page.path}/data", notice="setup_saved")


def _read_uploaded_file(form: ParsedForm, name: str) -> bytes:
    if "table" not in form.files:
        message = Message("no file was chosen, or it is empty")
        raise InvalidUpload([FileProblem(name, None, None, "missing_file", message)])
    return form.files["table"]


@router.post("/competitions/{slug}/organize/data/check")
def check_roles(context: RequestedSetup, form: FormBody) -> HTMLResponse:
    """Render the data page with unsaved roles; the page's script and a button call this."""
    try:
        choice = parse_choice(form, context, _load_summary(context))
    except (Conflict, InvalidCompetition) as problem:
        return _render_data(context, problem=problem)
    return _render_data(context, choice=choice)


@router.post("/competitions/{slug}/organize/data")
def save_roles(context: RequestedSetup, form: FormBody) -> Response:
    """Save the roles; the form refers to columns by their index in the table that it showed."""
    choice: RoleChoice | None = None
    try:
        choice = parse_choice(form, context, _load_summary(context))
        columns, left_out = require_complete(choice), choice.columns_in_role(LEFT_OUT)
        return apply_or_rescore(
            context.page.principal,
            context.page.slug,
            lambda contest: originals.compute_columns_revision(contest, columns, left_out),
            step_name=context.choose_next_step_name(form, "data"),
        )
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        return _render_data(context, problem=problem, choice=choice)


@router.post("/competitions/{slug}/organize/original/{file}/names")
def name_columns(context: RequestedSetup, file: str, form: FormBody) -> Response:
    contest = context.frame.contest
    name = revisions.find_original_part(contest, file)
    try:
        content = original_import.load_staged(contest, name, form.text("held"))
    except Conflict as problem:
        return _render_data(context, problem=problem)
    repair_form = parse_repair_form(form, name, original_import.find_repair(contest, name, content))
    try:
        first_is_data = form.parse_choice("first", FIRST_LINE_KINDS) == "data"
        if repair_form.required_columns:
            repaired_content = original_import.arrange_columns(
                name, content, repair_form.column_sources, first_is_data=first_is_data
            )
        else:
            repaired_content = original_import.rewrite(name, content, repair_form.file_rewrite)
        build_revision = (
            originals.compute_replacement_revision
            if form.is_checked("fit")
            else originals.compute_upload_revision
        )
        response = apply_or_rescore(
            context.page.principal,
            context.page.slug,
            lambda current: build_revision(current, name, repaired_content),
            step_name="data",
        )
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        return _render_data(context, problem=problem, repair_form=leave_out_unusable(repair_form, problem))
    original_import.discard(repair_form.staging_key)
    return response
