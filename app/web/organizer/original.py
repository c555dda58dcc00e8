"""The step of the data: the original's files, what they hold, the roles of the columns."""

from collections.abc import Mapping, Sequence

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from app.config import get_settings
from app.errors import (
    Conflict,
    DomainError,
    InvalidCompetition,
    InvalidUpload,
    NotFound,
    Problem,
    Unavailable,
)
from app.http.dependencies import SignedIn
from app.messages import Message
from app.scoring.files import FileSpec
from app.scoring.settings import Columns
from app.services.contest import held, revisions
from app.services.data import originals, truths
from app.services.data.originals import Summary
from app.transaction import transaction
from app.web.organizer.forms import Form, Sent
from app.web.organizer.steps import Desk, desk_of, put_in_force, step_page
from app.web.site.pages import PageRoute, see

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/organize/data")
def data(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    return data_page(request, principal, desk)


def data_page(
    request: Request,
    principal: SignedIn,
    desk: Desk,
    *,
    problem: DomainError | None = None,
    roles: dict[str, str] | None = None,
) -> HTMLResponse:
    row, specs = desk.frame.contest.row, desk.frame.contest.track.original
    with transaction() as session:
        given = held.commitments(session, row.id)
    return step_page(
        request,
        principal,
        "organizer/data.html",
        desk,
        problem=problem,
        files=[file.name for file in specs],
        uploadable=uploadable(specs, row.original),
        optional={file.name for file in specs if not file.required},
        truth={name: given.get(name) for name in row.drawing.get("truth", ())},
        summary=summary_of(desk),
        roles=roles or {},
    )


def uploadable(specs: Sequence[FileSpec], there: Mapping[str, str]) -> set[str]:
    """What may be uploaded next: the first that is missing, or, once nothing that must be is, any other."""
    missing = [file.name for file in specs if file.required and file.name not in there]
    return {missing[0]} if missing else {file.name for file in specs if file.name not in there}


def summary_of(desk: Desk) -> Summary | None:
    row = desk.frame.contest.row
    return originals.summary(tuple(row.original.items()), row.file) if row.original else None


@router.post("/competitions/{slug}/organize/original/{file}")
def upload(request: Request, slug: str, file: str, *, principal: SignedIn, form: Form) -> Response:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    name = revisions.part_of_original(desk.frame.contest, file)
    try:
        content = sent_file(form, name)
        return put_in_force(
            principal,
            slug,
            lambda contest: originals.revision_of_upload(contest, name, content),
            back="data",
        )
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        return data_page(request, principal, desk, problem=problem)


@router.post("/competitions/{slug}/organize/truth/{file}")
def give_truth(request: Request, slug: str, file: str, *, principal: SignedIn, form: Form) -> Response:
    """A file that only the organizers know."""
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    name = truths.name_of(desk.frame.contest, file)
    try:
        one = truths.given(desk.frame.contest, name, sent_file(form, name))
        with transaction() as session:
            truths.hold(session, principal, slug, one, sealing_key=get_settings().sealing_key_file)
    except (Conflict, InvalidUpload, Unavailable) as problem:
        return data_page(request, principal, desk, problem=problem)
    return see(f"{desk.frame.path}/organize/data", done="setup_saved")


def sent_file(form: Sent, name: str) -> bytes:
    if "table" not in form.files:
        message = Message("no file was chosen, or it is empty")
        raise InvalidUpload([Problem(name, None, None, "missing_file", message)])
    return form.files["table"]


@router.post("/competitions/{slug}/organize/data")
def save_roles(request: Request, slug: str, principal: SignedIn, form: Form) -> Response:
    """The roles of the columns, by their place in the table they were shown for."""
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    try:
        columns = columns_in(form, desk)
        return put_in_force(
            principal,
            slug,
            lambda contest: originals.revision_of_columns(contest, columns),
            back="data",
        )
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        return data_page(request, principal, desk, problem=problem, roles=form.typed())


def columns_in(form: Sent, desk: Desk) -> Columns:
    summary = summary_of(desk)
    if summary is None or desk.frame.rules.columns is None:
        raise NotFound("there is no table whose columns could have roles", code="no_original")
    if form.text("of") != desk.frame.contest.row.original[summary.parts[0].name]:
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    chosen = [
        (column.name, form.text(f"role_{place}")) for place, column in enumerate(summary.parts[0].columns)
    ]
    quasi = tuple(name for name, role in chosen if role == "quasi_identifier")
    sensitive = tuple(name for name, role in chosen if role == "sensitive")
    if len(quasi) + len(sensitive) < len(chosen) or not quasi or not sensitive:
        raise InvalidCompetition(
            "every column has a role, and each role a column at least", code="roles_missing"
        )
    return Columns(quasi, sensitive)
