"""Rewrite an uploaded file with the column names chosen in the form."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from anoncup.errors import Conflict, InvalidCompetition, InvalidUpload
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.services.contests import revisions
from app.services.originals import original_import, originals
from app.web.organizer.forms import FormBody
from app.web.organizer.header_repair_form import FIRST_LINE_KINDS, leave_out_unusable, parse_repair_form
from app.web.organizer.original import render_data
from app.web.organizer.setup_steps import apply_or_rescore, load_setup_context
from app.web.site.pages import PageRoute

router = APIRouter(route_class=PageRoute)


@router.post("/competitions/{slug}/organize/original/{file}/names")
def name_columns(
    request: Request, slug: str, file: str, *, principal: CurrentPrincipal, form: FormBody
) -> Response:
    with transaction() as session:
        context = load_setup_context(session, principal, slug)
    contest = context.frame.contest
    name = revisions.find_original_part(contest, file)
    try:
        content = original_import.load_staged(contest, name, form.text("held"))
    except Conflict as problem:
        return render_data(request, principal, context, problem=problem)
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
            principal, slug, lambda current: build_revision(current, name, repaired_content), step_name="data"
        )
    except (Conflict, InvalidCompetition, InvalidUpload) as problem:
        return render_data(
            request, principal, context, problem=problem, repair_form=leave_out_unusable(repair_form, problem)
        )
    original_import.discard(repair_form.staging_key)
    return response
