"""The first and the last step of the set-up: create a competition, and publish it."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal
from zoneinfo import ZoneInfo

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.competition.drafts import DRAFT_SOURCES, create_draft, make_slug
from anoncup.competition.parser import SLUG, CompetitionFile
from anoncup.competition.templates import TEMPLATES, template
from anoncup.competition.writer import replace_basics
from anoncup.errors import Conflict, DomainError, InvalidCompetition
from anoncup.rules.settings import Phase
from anoncup.rules.toml_values import CONTROL_CHARACTER
from app.competitions import competitions
from app.core.db.transaction import transaction
from app.core.pages.forms import FormBody, ParsedForm, find_zone, format_local_time, group_zones_by_region
from app.core.pages.pages import PageRoute, RequestedUserPage, see_other
from app.setup import publishing
from app.setup.setup_context import (
    FORM_ERRORS,
    FormRejection,
    RequestedSetup,
    SetupContext,
    describe_rejection,
    render_setup,
    require_form_error,
)

router = APIRouter(route_class=PageRoute)

_TITLE_LANGUAGES = ("en", "ja")
_MAX_TITLE_LENGTH = 200
_DEFAULT_ZONE = ZoneInfo("Asia/Tokyo")
_OWN_TABLE = "microdata"
"""The draft for organizers who bring their own table."""
_PHASE_NAMES: tuple[Literal["anonymization"], Literal["reidentification"]] = (
    "anonymization",
    "reidentification",
)


@router.get("/organize/new")
def show_new(page: RequestedUserPage) -> HTMLResponse:
    competitions.require_can_create(page.principal)
    return page.render("setup/new.html", **_build_new_content(_build_default_values(), {}))


@router.post("/organize/new")
def create(page: RequestedUserPage, form: FormBody) -> Response:
    competitions.require_can_create(page.principal)
    start = form.parse_choice("start", DRAFT_SOURCES)
    apply_basics = _parse_basics(form, slug=form.text("slug") or _suggest_slug(form))
    rejection: FormRejection | None = None
    if apply_basics is not None and not form.errors:
        try:
            with transaction() as session:
                round_ = competitions.create(session, page.principal, apply_basics(create_draft(start)))
                return see_other(f"/competitions/{round_.address}/organize/data", notice="created")
        except Conflict as conflict:
            form.errors["slug"] = f"wrong_{conflict.code}"
        except InvalidCompetition as error:
            rejection = describe_rejection(page, error)
    return page.render(
        "setup/new.html",
        status=422,
        rejection=rejection,
        **_build_new_content(form.raw_values(), form.errors),
    )


def _build_new_content(values: Mapping[str, str], errors: Mapping[str, str]) -> dict[str, Any]:
    return {
        "values": values,
        "errors": errors,
        "zones": group_zones_by_region(),
        "drafts": DRAFT_SOURCES,
        "recommended": DRAFT_SOURCES[0],
        "other_drafts": tuple(source for source in DRAFT_SOURCES if source not in (*TEMPLATES, _OWN_TABLE)),
        "templates_have_rounds": _has_named_rounds(),
    }


def _has_named_rounds() -> bool:
    """Return whether a template has rounds. The only round of a contest without rounds has no name."""
    return any("" not in CompetitionFile(template(name)).rounds for name in TEMPLATES)


def _suggest_slug(form: ParsedForm) -> str:
    """Suggest a slug made from the English title, else from the first day of the contest."""
    day = re.sub(r"\D", "", form.text("anonymization_start").partition("T")[0])
    return make_slug(form.text("title_en")) or make_slug(f"cup {day}")


def _build_default_values() -> dict[str, str]:
    """Return default values of the form: phases of two weeks, a day apart, from 9:00 in a week."""
    today = datetime.now(_DEFAULT_ZONE).replace(hour=9, minute=0, second=0, microsecond=0)
    days_by_field = {
        "anonymization_start": 7,
        "anonymization_end": 21,
        "reidentification_start": 22,
        "reidentification_end": 36,
    }
    return {"start": DRAFT_SOURCES[0], "zone": _DEFAULT_ZONE.key} | {
        field: format_local_time(today + timedelta(days=days), _DEFAULT_ZONE)
        for field, days in days_by_field.items()
    }


def _parse_basics(form: ParsedForm, *, slug: str) -> Callable[[str], str] | None:
    """Parse the form, and record its errors in ``form.errors``. The result puts its values into a file.

    Return None if the time zone is invalid, because the phases cannot be parsed without it.
    """
    if not SLUG.fullmatch(slug):
        form.errors["slug"] = "wrong_slug"
    titles = {language: form.text(f"title_{language}") for language in _TITLE_LANGUAGES}
    titles = {language: title for language, title in titles.items() if title}
    if not titles:
        form.errors["title_en"] = "wrong_no_title"
    for language, title in titles.items():
        if len(title) > _MAX_TITLE_LENGTH or CONTROL_CHARACTER.search(title):
            form.errors[f"title_{language}"] = "wrong_title"
    zone = find_zone(form.text("zone"))
    if zone is None:
        form.errors["zone"] = "wrong_zone"
        return None
    phases = _parse_phases(form, zone)
    return partial(replace_basics, slug=slug, titles=titles, timezone=zone.key, phases=phases)


def _parse_phases(form: ParsedForm, zone: ZoneInfo) -> tuple[Phase, ...]:
    """Parse the phases and record their errors. The second phase is optional."""
    phases: list[Phase] = []
    for name in _PHASE_NAMES:
        start = form.parse_datetime(f"{name}_start", zone)
        end = form.parse_datetime(f"{name}_end", zone)
        errors = _find_window_errors(name, start, end, phases)
        if end and end <= datetime.now(UTC):
            errors |= {f"{name}_end": "wrong_past"}
        form.errors.update({key: code for key, code in errors.items() if key not in form.errors})
        if start and end and not errors:
            phases.append(Phase(name, start, end))
    return tuple(phases)


def _find_window_errors(
    name: str, start: datetime | None, end: datetime | None, earlier_phases: list[Phase]
) -> dict[str, str]:
    if start is None and end is None and name != _PHASE_NAMES[0]:
        return {}
    if start is None or end is None:
        missing_edge = "start" if start is None else "end"
        return {f"{name}_{missing_edge}": "wrong_missing"}
    if end <= start:
        return {f"{name}_end": "wrong_end"}
    if earlier_phases and start < earlier_phases[-1].end:
        return {f"{name}_start": "wrong_overlap"}
    return {}


@router.get("/competitions/{slug}/organize/publish")
def show_publish(context: RequestedSetup) -> HTMLResponse:
    return _render_publish(context)


def _render_publish(context: SetupContext, problem: DomainError | None = None) -> HTMLResponse:
    with transaction() as session:
        review = publishing.review_draft(session, context.page.principal, context.frame.round)
    return render_setup(context, "setup/publish.html", problem=problem, review=review)


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
