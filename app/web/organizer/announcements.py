"""What the organizers tell everybody: said, listed, withdrawn."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.step_up import Sure
from app.locale.language import LANGUAGES, Words
from app.services.accounts.accounts import Principal
from app.services.contests import announcements, revisions
from app.services.contests.contest import read_file
from app.services.organizing import rejudgings
from app.web.organizer.frame import organizers_frame, trouble
from app.web.organizer.rejudgings import differences
from app.web.site import language as languages
from app.web.site.notation import numeral
from app.web.site.pages import PageRoute, page, see

router = APIRouter(prefix="/competitions/{slug}/organize/announcements", route_class=PageRoute)

Typed = Annotated[str, Form()]
IN_NUMBERS = ("measures", "excessive")
"""Parts of the file whose changes are told with their values."""


@router.get("")
def all_announcements(request: Request, slug: str, principal: SignedIn, rescore: str = "") -> HTMLResponse:
    """``rescore``: the applied set that the form begins to tell of."""
    return announcements_page(request, principal, slug, text=draft(principal, slug, rescore))


def draft(principal: Principal, slug: str, rescore: str) -> dict[str, str]:
    """What an applied set changed, in every language; nothing if there is no such set."""
    with transaction() as session:
        sets = [one.rescore for one in rejudgings.listed(session, principal, slug)]
    found = next((one for one in sets if str(one.id) == rescore and one.replaced_file is not None), None)
    if found is None or found.replaced_file is None:
        return {}
    return {
        language: told(found.replaced_file, found.file, languages.words_in(language))
        for language in LANGUAGES
    }


def told(before: str, after: str, t: Words) -> str:
    """The weights and the threshold that differ, with their values, and the other parts by name."""
    changes = differences(*(read_file(file) for file in (before, after)))
    lines = [change_in_words(*change, t) for change in changes]
    parts = set(revisions.changed_parts(before, after)) - {"phases", *(IN_NUMBERS if changes else ())}
    lines += [t("- {name}", name=t.label(f"file_part_{part}", part)) for part in sorted(parts)]
    return "\n".join(
        [
            t("The rules have changed, and all submissions have been scored again:"),
            *lines,
            t("Boards and ranks show the new results."),
        ]
    )


def change_in_words(name: str, before: float | None, after: float | None, t: Words) -> str:
    title = t("Threshold") if name == "threshold" else t.label(f"measure_{name}", name)
    old, new = (t("none") if value is None else t.written(numeral(value)) for value in (before, after))
    return t("- {name}: {before} → {after}", name=title, before=old, after=new)


@router.post("")
def say(request: Request, slug: str, principal: SignedIn, en: Typed = "", ja: Typed = "") -> Response:
    text = {"en": en, "ja": ja}
    try:
        with transaction() as session:
            announcements.post(session, principal, slug, text)
    except DomainError as problem:
        return announcements_page(request, principal, slug, problem=problem, text=text)
    return see(request.url.path, done="announced")


@router.post("/{announcement_id}/withdraw")
def withdraw(request: Request, slug: str, announcement_id: UUID, principal: SignedIn, sure: Sure) -> Response:
    try:
        principal = sure()
        with transaction() as session:
            organizers_frame(session, principal, slug)
            announcements.withdraw(session, principal, announcement_id)
    except DomainError as problem:
        return announcements_page(request, principal, slug, problem=problem)
    return see(f"/competitions/{slug}/organize/announcements", done="withdrawn")


def announcements_page(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    text: dict[str, str] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        posted = announcements.listed(session, principal, slug)
    return page(
        request,
        principal,
        "organizer/announcements.html",
        frame=frame,
        announcements=posted,
        text=text or {},
        longest=announcements.LONGEST,
        **trouble(request, problem),
    )
