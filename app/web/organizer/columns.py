"""The roles of a table's columns: looked at while they are chosen, and saved."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import Conflict, InvalidCompetition, InvalidUpload
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.services.originals import originals
from app.web.organizer.column_roles import LEFT_OUT, Choice, choice_in, complete
from app.web.organizer.forms import Form
from app.web.organizer.original import data_page, summary_of
from app.web.organizer.setup_steps import desk_of, put_in_force
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)


@router.post("/competitions/{slug}/organize/data/check")
def check(request: Request, slug: str, principal: SignedIn, form: Form) -> HTMLResponse:
    """The page under roles that are not saved: a script asks for its part, and people by a button."""
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    try:
        choice = choice_in(form, desk, summary_of(desk))
    except (Conflict, InvalidCompetition) as problem:
        return data_page(request, principal, desk, problem=problem)
    return data_page(request, principal, desk, choice=choice)


@router.post("/competitions/{slug}/organize/data")
def save_roles(request: Request, slug: str, principal: SignedIn, form: Form) -> Response:
    """The roles of the columns, by their place in the table they were shown for."""
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    choice: Choice | None = None
    try:
        choice = choice_in(form, desk, summary_of(desk))
        columns, left_out = complete(choice), choice.names(LEFT_OUT)
        return put_in_force(
            principal,
            slug,
            lambda contest: originals.revision_of_columns(contest, columns, left_out),
            back=desk.onward(form, "data"),
        )
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        return data_page(request, principal, desk, problem=problem, choice=choice)
