"""Post, list and withdraw announcements of a competition."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.http.step_up import FormReauthentication
from app.locale.language import LANGUAGES, Translator, load_translator
from app.services.accounts.accounts import Principal
from app.services.contests import announcements, revisions
from app.services.contests.contest import parse_stored_rules
from app.services.organizing import rescores
from app.web.organizer.frame import describe_problem, load_organizer_frame
from app.web.organizer.rescores import list_rule_changes
from app.web.site.notation import format_number
from app.web.site.pages import PageRoute, render_page, see_other

router = APIRouter(prefix="/competitions/{slug}/organize/announcements", route_class=PageRoute)

_FormText = Annotated[str, Form()]
_PARTS_WITH_VALUES = ("measures", "excessive")
"""Parts of the competition file whose changes are announced with old and new values."""


@router.get("")
def show_announcements(
    request: Request, slug: str, principal: CurrentPrincipal, rescore: str = ""
) -> HTMLResponse:
    """Show the announcements. ``rescore`` is the id of an applied rescore that prefills the form."""
    return _render_announcements(
        request, principal, slug, texts=_draft_announcement(principal, slug, rescore)
    )


def _draft_announcement(principal: Principal, slug: str, rescore_id: str) -> dict[str, str]:
    """Return an announcement of an applied rescore in every language, or {} without such a rescore."""
    with transaction() as session:
        all_rescores = [item.rescore for item in rescores.list_rescores(session, principal, slug)]
    rescore = next(
        (item for item in all_rescores if str(item.id) == rescore_id and item.replaced_file is not None),
        None,
    )
    if rescore is None or rescore.replaced_file is None:
        return {}
    return {
        language: _describe_changes(rescore.replaced_file, rescore.file, load_translator(language))
        for language in LANGUAGES
    }


def _describe_changes(old_file: str, new_file: str, t: Translator) -> str:
    """Describe changed weights and a changed threshold by their values, and other changed parts by name."""
    changes = list_rule_changes(*(parse_stored_rules(file) for file in (old_file, new_file)))
    lines = [_describe_change(*change, t) for change in changes]
    changed_parts = set(revisions.find_changed_parts(old_file, new_file)) - {
        "phases",
        *(_PARTS_WITH_VALUES if changes else ()),
    }
    lines += [t("- {name}", name=t.label(f"file_part_{part}", part)) for part in sorted(changed_parts)]
    return "\n".join(
        [
            t("The rules have changed, and all submissions have been scored again:"),
            *lines,
            t("Boards and ranks show the new results."),
        ]
    )


def _describe_change(name: str, old_value: float | None, new_value: float | None, t: Translator) -> str:
    label = t("Threshold") if name == "threshold" else t.label(f"measure_{name}", name)
    old_text, new_text = (
        t("none") if value is None else t.localize_numbers(format_number(value))
        for value in (old_value, new_value)
    )
    return t("- {name}: {before} → {after}", name=label, before=old_text, after=new_text)


@router.post("")
def post_announcement(
    request: Request, slug: str, principal: CurrentPrincipal, en: _FormText = "", ja: _FormText = ""
) -> Response:
    texts = {"en": en, "ja": ja}
    try:
        with transaction() as session:
            announcements.post(session, principal, slug, texts)
    except DomainError as problem:
        return _render_announcements(request, principal, slug, problem=problem, texts=texts)
    return see_other(request.url.path, notice="announced")


@router.post("/{announcement_id}/withdraw")
def withdraw(
    request: Request,
    slug: str,
    announcement_id: UUID,
    principal: CurrentPrincipal,
    reauthenticate: FormReauthentication,
) -> Response:
    try:
        principal = reauthenticate()
        with transaction() as session:
            load_organizer_frame(session, principal, slug)
            announcements.withdraw(session, principal, announcement_id)
    except DomainError as problem:
        return _render_announcements(request, principal, slug, problem=problem)
    return see_other(f"/competitions/{slug}/organize/announcements", notice="withdrawn")


def _render_announcements(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    texts: dict[str, str] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = load_organizer_frame(session, principal, slug)
        announcement_rows = announcements.list_announcements(session, principal, slug)
    return render_page(
        request,
        principal,
        "organizer/announcements.html",
        frame=frame,
        announcements=announcement_rows,
        text=texts or {},
        longest=announcements.MAX_LENGTH,
        **describe_problem(request, problem),
    )
