"""The original data: upload a file, say how it is written, and choose the roles of its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import Conflict, DomainError, FileProblem, InvalidCompetition, InvalidUpload, Unavailable
from anoncup.messages import Message
from anoncup.runner.originals import (
    CUT_SUFFIX,
    DECIMAL_MARKS,
    ENCODINGS,
    SEPARATORS,
    ImportedTable,
    TableFormat,
)
from anoncup.tracks.files import FileSpec
from app.competitions import revisions
from app.core.db.transaction import transaction
from app.core.pages.forms import FormBody, ParsedForm
from app.core.pages.pages import PageRoute, see_other
from app.originals import allocated_files, organizer_data, original_import, sealed_inputs
from app.setup.setup_context import RequestedSetup, SetupContext, apply_or_rescore, render_setup

router = APIRouter(route_class=PageRoute)

_ERRORS = (Conflict, InvalidCompetition, InvalidUpload)


@dataclass(frozen=True, slots=True)
class ImportForm:
    """The form for a staged file.

    ``table`` is None if the file cannot be read in this format. ``roles`` are those of its columns.
    """

    file: str
    staging_key: str
    table_format: TableFormat
    table: ImportedTable | None = None
    roles: tuple[str, ...] = ()


@router.get("/competitions/{slug}/organize/data")
def show_data(context: RequestedSetup) -> HTMLResponse:
    return _render_data(context)


def _render_data(
    context: SetupContext,
    *,
    problem: DomainError | None = None,
    import_form: ImportForm | None = None,
    stored_roles: tuple[str, ...] = (),
) -> HTMLResponse:
    """Render the page. ``stored_roles`` are unsaved roles of the columns of the first file."""
    row, specs = context.frame.round, context.frame.round.track.original_files
    rules, allocation = context.frame.rules, context.frame.round.track.allocation
    organizer_specs = allocation.organizer_files if allocation else ()
    with transaction() as session:
        commitments = sealed_inputs.load_commitments(session, row.id)
    tables = _describe_stored_tables(context)
    first_table = tables.get(specs[0].name)
    return render_setup(
        context,
        "setup/data.html",
        problem=problem,
        files=[file.name for file in specs],
        uploadable=_list_uploadable(specs, row.original),
        optional={file.name for file in specs if not file.required},
        truth={name: commitments.get(name) for name in row.allocation.get("truth", ())},
        can_replace_truth=organizer_data.is_replaceable(row),
        tables=tables,
        stored_roles=_complete_roles(stored_roles, first_table) if first_table else (),
        requirements={
            file.name: (file.header(rules), file.example_lines(rules)) for file in (*organizer_specs, *specs)
        },
        import_form=import_form,
        cut_suffix=CUT_SUFFIX,
        encodings=ENCODINGS,
        separators=SEPARATORS,
        decimal_marks=DECIMAL_MARKS,
    )


def _describe_stored_tables(context: SetupContext) -> dict[str, ImportedTable]:
    """Describe the stored files, except those that the present competition file cannot describe."""
    round_ = context.frame.round
    tables = {}
    for name, digest in round_.original.items():
        try:
            tables[name] = original_import.describe_original(round_.competition.file, name, digest)
        except InvalidUpload:
            continue
    return tables


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


@router.post("/competitions/{slug}/organize/original/{file}")
def upload(context: RequestedSetup, file: str, form: FormBody) -> Response:
    """Stage an uploaded file and show how it is read; nothing is stored as data yet."""
    round_ = context.frame.round
    name = revisions.find_original_part(round_, file)
    try:
        revisions.require_own_data(round_)
        if context.has_submissions:
            raise Conflict("there are submissions: the data are fixed", code="fixed")
        content = _read_uploaded_file(form, name)
        table_format = original_import.guess_format(name, content)
        staging_key = original_import.stage(round_, name, content)
    except (Conflict, InvalidUpload, Unavailable) as problem:
        return _render_data(context, problem=problem)
    return _show_import(context, ImportForm(name, staging_key, table_format), content)


def _show_import(
    context: SetupContext, import_form: ImportForm, content: bytes, problem: DomainError | None = None
) -> HTMLResponse:
    """Show a staged file as it is read in the chosen format, with suggested roles if none are chosen."""
    round_ = context.frame.round
    try:
        table = original_import.describe_upload(round_, import_form.file, content, import_form.table_format)
        import_form = replace(import_form, table=table, roles=_complete_roles(import_form.roles, table))
    except InvalidUpload as error:
        problem = error
    return _render_data(context, import_form=import_form, problem=problem)


@router.post("/competitions/{slug}/organize/original/{file}/import")
def import_file(context: RequestedSetup, file: str, form: FormBody) -> Response:
    """Read a staged file again in the chosen format or, if ``do`` is ``save``, import it."""
    round_ = context.frame.round
    name = revisions.find_original_part(round_, file)
    import_form = ImportForm(name, form.text("held"), _parse_format(form))
    try:
        content = original_import.load_staged(round_, name, import_form.staging_key)
    except Conflict as problem:
        return _render_data(context, problem=problem)
    if form.text("do") != "save":
        return _show_import(context, import_form, content)
    if form.text("shown") != repr(import_form.table_format):
        changed = Conflict("the format was changed: check the table, then save", code="changed_meanwhile")
        return _show_import(context, import_form, content, changed)
    roles = _parse_roles(form)
    try:
        response = _save_import(context, name, content, import_form.table_format, roles)
    except _ERRORS as problem:
        return _show_import(context, replace(import_form, roles=roles), content, problem)
    original_import.discard(import_form.staging_key)
    return response


def _complete_roles(roles: tuple[str, ...], table: ImportedTable) -> tuple[str, ...]:
    """Return the chosen roles, or those of the table if they are not chosen for all columns."""
    is_complete = len(roles) == len(table.columns)
    return roles if is_complete else tuple(column.role for column in table.columns)


def _parse_format(form: ParsedForm) -> TableFormat:
    """Parse the format. Unknown values, which no browser sends, are replaced by the first choice."""
    return TableFormat(
        _choose(form.text("encoding"), ENCODINGS),
        _choose(next(iter(form.values("separator")), ""), SEPARATORS),
        _choose(form.text("decimal_mark"), DECIMAL_MARKS),
        form.is_checked("header"),
        tuple(filter(None, (text.strip() for text in form.text("missing").split(",")))),
        form.is_checked("zeros"),
    )


def _choose(text: str, choices: Sequence[str]) -> str:
    return text if text in choices else choices[0]


def _parse_roles(form: ParsedForm) -> tuple[str, ...]:
    """Return the roles of the columns, which the form refers to by their index."""
    roles: list[str] = []
    while form.values(f"role_{len(roles)}"):
        roles.append(form.text(f"role_{len(roles)}"))
    return tuple(roles)


def _save_import(
    context: SetupContext, name: str, content: bytes, table_format: TableFormat, roles: Sequence[str]
) -> Response:
    return apply_or_rescore(
        context.page.principal,
        context.page.slug,
        lambda round_: original_import.compute_import_revision(round_, name, content, table_format, roles),
        page_name="data",
    )


@router.post("/competitions/{slug}/organize/data")
def save_roles(context: RequestedSetup, form: FormBody) -> Response:
    """Save other roles for the columns of the first file, which is stored already."""
    round_, roles = context.frame.round, _parse_roles(form)
    name = round_.track.original_file_names[0]
    try:
        content = original_import.load_original(round_, name, form.text("of"))
        return _save_import(context, name, content, TableFormat(), roles)
    except _ERRORS as problem:
        return _render_data(context, problem=problem, stored_roles=roles)


@router.post("/competitions/{slug}/organize/truth/{file}")
def upload_organizer_data(context: RequestedSetup, file: str, form: FormBody) -> Response:
    """Store a file that only the organizers know. It is encrypted for the workers and never sent back."""
    name = organizer_data.find_organizer_file(context.frame.round, file)
    with transaction() as session:
        allocated = allocated_files.load_by_team(session, context.frame.round.id)
    try:
        organizer_file = organizer_data.check_organizer_file(
            context.frame.round, name, _read_uploaded_file(form, name), allocated
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
