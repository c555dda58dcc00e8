"""The last step of the set-up: what forbids publishing, what to think of, and what becomes public."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.core.db.transaction import transaction
from app.core.http.bodies import key_by_file_name
from app.core.pages.forms import FormBody
from app.core.pages.pages import PageRoute, see_other
from app.setup import publishing
from app.setup.setup_context import (
    FORM_ERRORS,
    RequestedSetup,
    SetupContext,
    render_setup,
    require_form_error,
)

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/organize/publish")
def show_publish(context: RequestedSetup) -> HTMLResponse:
    return _render_publish(context)


def _render_publish(context: SetupContext, problem: DomainError | None = None) -> HTMLResponse:
    with transaction() as session:
        review = publishing.review_draft(session, context.page.principal, context.frame.round)
    file_names = key_by_file_name(context.frame.round.public_files)
    return render_setup(context, "setup/publish.html", problem=problem, review=review, file_names=file_names)


@router.post("/competitions/{slug}/organize/publish")
def publish(context: RequestedSetup, form: FormBody) -> Response:
    page = context.page
    try:
        organizer = page.reauthenticate(form.secret("password"))
        with transaction() as session:
            publishing.publish(session, organizer, page.slug)
    except FORM_ERRORS as problem:
        return _render_publish(context, require_form_error(problem))
    return see_other(page.path, notice="published")
