"""Post, list and withdraw announcements of a competition."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.accounts.step_up import FormReauthentication
from app.announcements import announcements
from app.competitions import competitions
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.stored_files import read_rules
from app.core.db.transaction import transaction
from app.core.locale.language import LANGUAGES, Translator, load_translator
from app.core.pages.language import adapt_to_track
from app.core.pages.notation import localize_number
from app.core.pages.pages import PageRoute, see_other, show_problem, templates
from app.rescoring import rescores
from app.rescoring.pages import list_rule_changes

templates.env.globals["texts_of"] = announcements.translate
router = APIRouter(prefix="/competitions/{slug}/organize/announcements", route_class=PageRoute)

_FormText = Annotated[str, Form()]
_PARTS_WITH_VALUES = ("measures", "excessive")
"""Parts of the competition file whose changes are announced with old and new values."""


def _render_announcements(
    page: OrganizerPage,
    *,
    problem: DomainError | None = None,
    texts: dict[str, str] | None = None,
    en: str = "",
    ja: str = "",
) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        announcement_rows = announcements.list_announcements(session, page.principal, page.slug)
    return page.render(
        "announcements/announcements.html",
        frame=frame,
        announcements=announcement_rows,
        text=texts or {"en": en, "ja": ja},
        longest=announcements.MAX_LENGTH,
        problem=problem,
    )


@router.get("")
def show_announcements(page: RequestedOrganizerPage, rescore: str = "") -> HTMLResponse:
    """Show the announcements. ``rescore`` is the id of an applied rescore that prefills the form."""
    return _render_announcements(page, texts=_draft_announcement(page, rescore))


def _draft_announcement(page: OrganizerPage, rescore_id: str) -> dict[str, str]:
    """Return an announcement of an applied rescore in every language, or {} without such a rescore."""
    with transaction() as session:
        all_sets = rescores.list_rescores(session, page.principal, page.slug)
    applied_set = next((entry for entry in all_sets if str(entry.rescore.id) == rescore_id), None)
    if applied_set is None or applied_set.rescore.replaced_file is None:
        return {}
    rescore, replaced_file = applied_set.rescore, applied_set.rescore.replaced_file
    track = rescore.rules.track
    return {
        language: _describe_changes(
            replaced_file,
            rescore.file,
            adapt_to_track(load_translator(language), track),
            has_guesses=applied_set.guesses.total > 0,
        )
        for language in LANGUAGES
    }


def _describe_changes(old_file: str, new_file: str, t: Translator, *, has_guesses: bool) -> str:
    """Describe changed weights and a changed threshold by their values, and other changed parts by name.

    ``has_guesses``: guesses were judged again, too.
    """
    changes = list_rule_changes(*(read_rules(file) for file in (old_file, new_file)))
    lines = [_describe_change(*change, t) for change in changes]
    changed_parts = set(competitions.find_changed_parts(old_file, new_file)) - {
        "phases",
        *(_PARTS_WITH_VALUES if changes else ()),
    }
    lines += [t("- {name}", name=t.label(f"file_part_{part}", part)) for part in sorted(changed_parts)]
    return "\n".join(
        [
            t("The rules have changed; all submissions and guesses have been scored again:")
            if has_guesses
            else t("The rules have changed, and all submissions have been scored again:"),
            *lines,
            t("Boards and ranks show the new results."),
        ]
    )


def _describe_change(name: str, old_value: float | None, new_value: float | None, t: Translator) -> str:
    label = t("Threshold") if name == "threshold" else t.label(f"measure_{name}", name)
    old_text, new_text = (
        t("none") if value is None else localize_number(value, t) for value in (old_value, new_value)
    )
    return t("- {name}: {before} → {after}", name=label, before=old_text, after=new_text)


@router.post("")
@show_problem(_render_announcements)
def post_announcement(page: RequestedOrganizerPage, en: _FormText = "", ja: _FormText = "") -> Response:
    texts = {"en": en, "ja": ja}
    with transaction() as session:
        announcements.post(session, page.principal, page.slug, texts)
    return see_other(page.request.url.path, notice="announced")


@router.post("/{announcement_id}/withdraw")
@show_problem(_render_announcements)
def withdraw(
    page: RequestedOrganizerPage, announcement_id: UUID, reauthenticate: FormReauthentication
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        page.load_frame(session)
        announcements.withdraw(session, principal, announcement_id)
    return see_other(f"{page.path}/announcements", notice="withdrawn")
