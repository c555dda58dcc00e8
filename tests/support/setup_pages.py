"""Form values and an organizer for tests of the set-up pages."""

import re
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from anoncup.rules.model import Rules
from anoncup.schemas.fields import Role
from app.core.db.transaction import transaction
from app.core.identity import users
from tests.support.arena import PASSWORD, Arena, build_original_table, serial_numbers
from tests.support.contest import load_competition
from tests.support.page_requests import post_form

ORGANIZE_PATH = "/competitions/small/organize"
BASIC_FIELDS = {
    "start": "microdata",
    "slug": "fresh",
    "title_en": "Fresh cup",
    "title_ja": "新しい“杯”",
    "zone": "Asia/Tokyo",
    "anonymization_start": "2031-01-10T09:00",
    "anonymization_end": "2031-01-24T09:00",
    "reidentification_start": "2031-01-25T09:00",
    "reidentification_end": "2031-02-08T09:00",
}


@pytest.fixture
def new_organizer(client: TestClient) -> Arena:
    """An organizer without a competition. The arena's slug is that of the competition they will create."""
    name = f"organizer {next(serial_numbers)}"
    with transaction() as session:
        users.create_user(session, name=name, password=PASSWORD, role=Role.ORGANIZER)
    token = client.post("/api/v1/tokens", json={"name": name, "password": PASSWORD}).json()["token"]
    return Arena(client, token, "fresh", build_original_table())


def load_rules(slug: str = "small") -> Rules:
    return parse_competition(load_competition(slug).file)


def upload_original(arena: Arena, content: bytes, *, file: str = "original.csv", language: str = "en") -> Any:
    path = f"/competitions/{arena.slug}/organize/original/{file}"
    return post_form(
        arena, path, files={"table": ("my table.csv", content)}, organizer=True, language=language
    )


def import_original(
    arena: Arena, content: bytes, *, file: str = "original.csv", language: str = "en", **changes: str
) -> Any:
    """Upload a file and save it as the form suggests, except for the changed fields."""
    page = upload_original(arena, content, file=file, language=language)
    if page.status_code != 200:
        return page
    fields = parse_form(page.text, 'id="import"') | {"do": "save"} | changes
    path = f"/competitions/{arena.slug}/organize/original/{file}/import"
    return post_form(arena, path, fields, organizer=True, language=language)


def begin_setup(arena: Arena, start: str = "microdata") -> Arena:
    assert (
        post_form(arena, "/organize/new", BASIC_FIELDS | {"start": start}, organizer=True).status_code == 303
    )
    return arena


def parse_form(html: str, marker: str) -> dict[str, str]:
    """Return the fields that a browser would send for the unchanged form whose HTML contains ``marker``."""
    form = next(form_html for form_html in re.findall(r"<form.*?</form>", html, re.S) if marker in form_html)
    fields = {}
    for tag in re.findall(r"<input[^>]*>", form):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if attributes.get("type") not in {"checkbox", "radio"} or "checked" in tag:
            fields[attributes["name"]] = unescape(attributes.get("value", ""))
    for name, options in re.findall(r'<select[^>]* name="(\w+)"(.*?)</select>', form, re.S):
        fields[name] = next(map(unescape, re.findall(r'value="([^"]*)" selected', options)), "")
    return fields
