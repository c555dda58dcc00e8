"""Preview and save the roles of a table's columns."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import Conflict, InvalidCompetition, InvalidUpload
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.services.originals import originals
from app.web.organizer.column_roles import LEFT_OUT, RoleChoice, parse_choice, require_complete
from app.web.organizer.forms import FormBody
from app.web.organizer.original import load_summary, render_data
from app.web.organizer.setup_steps import apply_or_rescore, load_setup_context
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)


@router.post("/competitions/{slug}/organize/data/check")
def check_roles(request: Request, slug: str, principal: CurrentPrincipal, form: FormBody) -> HTMLResponse:
    """Render the data page with unsaved roles; the page's script and a button call this."""
    with transaction() as session:
        context = load_setup_context(session, principal, slug)
    try:
        choice = parse_choice(form, context, load_summary(context))
    except (Conflict, InvalidCompetition) as problem:
        return render_data(request, principal, context, problem=problem)
    return render_data(request, principal, context, choice=choice)


@router.post("/competitions/{slug}/organize/data")
def save_roles(request: Request, slug: str, principal: CurrentPrincipal, form: FormBody) -> Response:
    """Save the roles; the form refers to columns by their index in the table that it showed."""
    with transaction() as session:
        context = load_setup_context(session, principal, slug)
    choice: RoleChoice | None = None
    try:
        choice = parse_choice(form, context, load_summary(context))
        columns, left_out = require_complete(choice), choice.columns_in_role(LEFT_OUT)
        return apply_or_rescore(
            principal,
            slug,
            lambda contest: originals.compute_columns_revision(contest, columns, left_out),
            step_name=context.choose_next_step_name(form, "data"),
        )
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        return render_data(request, principal, context, problem=problem, choice=choice)
