"""The step of the data: the original's files, and what they hold."""

from collections.abc import Mapping, Sequence

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import Conflict, DomainError, InvalidCompetition, InvalidUpload, Problem, Unavailable
from anoncup.messages import Message
from anoncup.tables.profile.model import FEWEST
from anoncup.tracks.files import FileSpec
from app.config import get_settings
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.services.contests import revisions, sealed_inputs
from app.services.originals import organizer_data, original_import, originals
from app.services.originals.originals import Summary
from app.web.organizer.column_roles import Choice, look_of, stored_choice
from app.web.organizer.forms import Form, Sent
from app.web.organizer.header_repair_form import (
    Repairing,
    can_be_named,
    heads_only,
    needed,
    relieved,
    repairing,
)
from app.web.organizer.setup_steps import Desk, desk_of, put_in_force, step_page
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
    choice: Choice | None = None,
    repair: Repairing | None = None,
    status: int | None = None,
) -> HTMLResponse:
    """``choice``: of roles that are not saved; ``repair``: what a file needs that was sent."""
    row, specs = desk.frame.contest.row, desk.frame.contest.track.original
    with transaction() as session:
        given = sealed_inputs.commitments(session, row.id)
    summary = summary_of(desk, choice.fewest if choice else FEWEST)
    choice = choice or stored_choice(desk)
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
        summary=summary,
        needs={file.name: needed(file, desk.frame.rules) for file in specs},
        choice=choice,
        look=None if summary is None or choice is None else look_of(desk, summary, choice),
        fewest=FEWEST,
        repair=repair,
        **({} if status is None else {"status": status}),
    )


def uploadable(specs: Sequence[FileSpec], there: Mapping[str, str]) -> set[str]:
    """What may be uploaded next: the first that is missing, or, once nothing that must be is, any other."""
    missing = [file.name for file in specs if file.required and file.name not in there]
    return {missing[0]} if missing else {file.name for file in specs if file.name not in there}


def summary_of(desk: Desk, fewest: int = FEWEST) -> Summary | None:
    row = desk.frame.contest.row
    return originals.summary(tuple(row.original.items()), row.file, fewest) if row.original else None


@router.post("/competitions/{slug}/organize/original/{file}")
def upload(request: Request, slug: str, file: str, *, principal: SignedIn, form: Form) -> Response:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    name = revisions.part_of_original(desk.frame.contest, file)
    try:
        content = sent_file(form, name)
    except InvalidUpload as problem:
        return data_page(request, principal, desk, problem=problem)
    found = original_import.repair(desk.frame.contest, name, content)
    if found is not None and found.asks:
        return data_page(request, principal, desk, repair=repairing(desk, name, content, found), status=422)
    try:
        return put_in_force(
            principal,
            slug,
            lambda contest: originals.revision_of_upload(contest, name, content),
            back="data",
        )
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        offered = None
        if found and can_be_named(found, problem):
            offered = relieved(repairing(desk, name, content, found), problem)
        if offered and offered.wanted and heads_only(problem):
            return data_page(request, principal, desk, repair=offered, status=422)
        return data_page(request, principal, desk, problem=problem, repair=offered)


@router.post("/competitions/{slug}/organize/truth/{file}")
def give_truth(request: Request, slug: str, file: str, *, principal: SignedIn, form: Form) -> Response:
    """A file that only the organizers know."""
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    name = organizer_data.name_of(desk.frame.contest, file)
    try:
        one = organizer_data.given(desk.frame.contest, name, sent_file(form, name))
        with transaction() as session:
            organizer_data.hold(session, principal, slug, one, sealing_key=get_settings().sealing_key_file)
    except (Conflict, InvalidUpload, Unavailable) as problem:
        return data_page(request, principal, desk, problem=problem)
    return see(f"{desk.frame.path}/organize/data", done="setup_saved")


def sent_file(form: Sent, name: str) -> bytes:
    if "table" not in form.files:
        message = Message("no file was chosen, or it is empty")
        raise InvalidUpload([Problem(name, None, None, "missing_file", message)])
    return form.files["table"]
