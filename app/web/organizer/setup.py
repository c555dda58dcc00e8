"""A competition's beginning: its address, titles, clock and phases."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.competition.drafts import STARTS, draft
from anoncup.competition.parser import SLUG
from anoncup.competition.templates import TEMPLATES
from anoncup.competition.writer import with_basics
from anoncup.errors import Conflict, DomainError, InvalidCompetition
from anoncup.rules.model import Rules
from anoncup.rules.settings import Phase
from anoncup.rules.toml_values import CONTROL
from app.db.transaction import transaction
from app.http.authentication import Address, SignedIn
from app.http.step_up import confirmed
from app.services.contests import competitions
from app.web.organizer.forms import Form, Sent, local, zone_named, zones
from app.web.organizer.setup_steps import desk_of, refusal, saved, step_page
from app.web.site.pages import PageRoute, page, see

router = APIRouter(route_class=PageRoute)

LANGUAGES = ("en", "ja")
LONGEST_SLUG = 63
OWN_TABLE = "microdata"
"""The start for organizers who bring a table of their own."""
NAMES: tuple[Literal["anonymization"], Literal["reidentification"]] = ("anonymization", "reidentification")


@dataclass(frozen=True, slots=True)
class Basics:
    slug: str
    titles: dict[str, str]
    zone: ZoneInfo
    phases: tuple[Phase, ...]

    def written_into(self, text: str) -> str:
        return with_basics(
            text, slug=self.slug, titles=self.titles, timezone=self.zone.key, phases=self.phases
        )


@router.get("/organize/new")
def new(request: Request, principal: SignedIn) -> HTMLResponse:
    competitions.require_creator(principal)
    return page(request, principal, "organizer/new.html", **new_form(first_values(), {}))


@router.post("/organize/new")
def create(request: Request, principal: SignedIn, form: Form) -> Response:
    competitions.require_creator(principal)
    start = form.one_of("start", STARTS)
    basics = basics_in(form, slug=form.text("slug") or slug_for(form))
    problem: DomainError | None = None
    if basics is not None and not form.wrong:
        try:
            with transaction() as session:
                made = competitions.create(session, principal, basics.written_into(draft(start)))
                return see(f"/competitions/{made.slug}/organize/data", done="created")
        except Conflict as taken:
            form.wrong["slug"] = f"wrong_{taken.code}"
        except InvalidCompetition as found:
            problem = found
    refused = refusal(request, problem) if problem else None
    content = new_form(form.typed(), form.wrong) | {"refused": refused, "status": 422}
    return page(request, principal, "organizer/new.html", **content)


def new_form(values: Mapping[str, str], wrong: Mapping[str, str]) -> dict[str, Any]:
    return {
        "values": values,
        "wrong": wrong,
        "zones": zones(),
        "starts": STARTS,
        "recommended": STARTS[0],
        "more": tuple(start for start in STARTS if start not in (*TEMPLATES, OWN_TABLE)),
    }


def slug_for(form: Sent) -> str:
    """An address for who typed none: of the English title, else of the day on which the contest begins."""
    day = re.sub(r"\D", "", form.text("anonymization_start").partition("T")[0])
    return slug_of(form.text("title_en")) or slug_of(f"cup {day}")


def slug_of(title: str) -> str:
    """An address made of a title; empty where it has no letter or digit that addresses know."""
    words = re.findall("[a-z0-9]+", unicodedata.normalize("NFKD", title).casefold())
    return "-".join(words)[:LONGEST_SLUG].strip("-")


def first_values() -> dict[str, str]:
    """A week to prepare, two weeks a phase, a day between."""
    day = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0) + timedelta(days=7)
    first, second = (day, day + timedelta(days=14)), (day + timedelta(days=15), day + timedelta(days=29))
    return {"start": STARTS[0], "zone": "Asia/Tokyo"} | {
        f"{name}_{which}": local(at, ZoneInfo("UTC"))
        for name, window in zip(NAMES, (first, second), strict=True)
        for which, at in zip(("start", "end"), window, strict=True)
    }


@router.get("/competitions/{slug}/organize/basics")
def basics(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    values = values_of(desk.frame.rules)
    return step_page(
        request, principal, "organizer/basics.html", desk, values=values, wrong={}, zones=zones()
    )


@router.post("/competitions/{slug}/organize/basics")
def save_basics(request: Request, slug: str, principal: SignedIn, address: Address, form: Form) -> Response:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
    found = basics_in(form, slug=desk.frame.contest.slug, before=desk.frame.rules)
    problem: DomainError | None = None
    if found is not None and not form.wrong:
        answer = saved(
            principal,
            slug,
            lambda contest: found.written_into(contest.row.file),
            back="basics",
            of=form.text("of"),
            to=desk.onward(form, "basics"),
            sure=lambda: confirmed(principal, address, form.secret("password")),
        )
        if isinstance(answer, Response):
            return answer
        problem = answer
    content = {"values": form.typed(), "wrong": form.wrong, "zones": zones()}
    return step_page(request, principal, "organizer/basics.html", desk, problem=problem, **content)


def values_of(rules: Rules) -> dict[str, str]:
    zone = ZoneInfo(rules.timezone)
    windows = {
        f"{phase.name}_{which}": local(at, zone)
        for phase in rules.phases
        for which, at in (("start", phase.start), ("end", phase.end))
    }
    titles = {f"title_{language}": rules.title.get(language, "") for language in LANGUAGES}
    return {"zone": rules.timezone} | titles | windows


def basics_in(form: Sent, *, slug: str, before: Rules | None = None) -> Basics | None:
    """What the form says, as far as it is right; ``form.wrong`` then has what is not."""
    if not SLUG.fullmatch(slug):
        form.wrong["slug"] = "wrong_slug"
    titles = {language: form.text(f"title_{language}") for language in LANGUAGES}
    titles = {language: title for language, title in titles.items() if title}
    if not titles:
        form.wrong["title_en"] = "wrong_no_title"
    for language, title in titles.items():
        if len(title) > 200 or CONTROL.search(title):
            form.wrong[f"title_{language}"] = "wrong_title"
    zone = zone_named(form.text("zone"))
    if zone is None:
        form.wrong["zone"] = "wrong_zone"
        return None
    return Basics(slug, titles, zone, phases_in(form, zone, before))


def phases_in(form: Sent, zone: ZoneInfo, before: Rules | None) -> tuple[Phase, ...]:
    """The windows in their order; the second phase may be left out."""
    stored = {phase.name: phase for phase in before.phases} if before else {}
    found: list[Phase] = []
    for name in NAMES:
        known = stored.get(name)
        start = form.moment(f"{name}_start", zone, known.start if known else None)
        end = form.moment(f"{name}_end", zone, known.end if known else None)
        wrong = wrong_window(name, start, end, found)
        if end and end != (known.end if known else None) and end <= datetime.now(UTC):
            wrong |= {f"{name}_end": "wrong_past"}
        form.wrong.update({key: word for key, word in wrong.items() if key not in form.wrong})
        if start and end and not wrong:
            found.append(Phase(name, start, end))
    return tuple(found)


def wrong_window(
    name: str, start: datetime | None, end: datetime | None, earlier: list[Phase]
) -> dict[str, str]:
    if start is None and end is None and name != NAMES[0]:
        return {}
    if start is None or end is None:
        missing = "start" if start is None else "end"
        return {f"{name}_{missing}": "wrong_missing"}
    if end <= start:
        return {f"{name}_end": "wrong_end"}
    if earlier and start < earlier[-1].end:
        return {f"{name}_start": "wrong_overlap"}
    return {}
