"""A file of the original comes back with names for its columns: the service writes the header line."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from anoncup.errors import Conflict, InvalidCompetition, InvalidUpload
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.services.contests import revisions
from app.services.originals import original_import, originals
from app.web.organizer.forms import Form
from app.web.organizer.header_repair_form import FIRST, relieved, retyped
from app.web.organizer.original import data_page
from app.web.organizer.setup_steps import desk_of, put_in_force
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)


@router.post("/competitions/{slug}/organize/original/{file}/names")
def name_columns(request: Request, slug: str, file: str, *, principal: SignedIn, form: Form) -> Response:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    contest = desk.frame.contest
    name = revisions.part_of_original(contest, file)
    try:
        content = original_import.held(contest, name, form.text("held"))
    except Conflict as problem:
        return data_page(request, principal, desk, problem=problem)
    asked = retyped(form, name, original_import.repair(contest, name, content))
    try:
        first_is_data = form.one_of("first", FIRST) == "data"
        if asked.wanted:
            new = original_import.arranged(name, content, asked.sources, first_is_data=first_is_data)
        else:
            new = original_import.rewrite(name, content, asked.rewriting)
        made = originals.revision_of_fitting if form.flag("fit") else originals.revision_of_upload
        answer = put_in_force(principal, slug, lambda found: made(found, name, new), back="data")
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        return data_page(request, principal, desk, problem=problem, repair=relieved(asked, problem))
    original_import.let_go(asked.held)
    return answer
