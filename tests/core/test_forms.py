"""The forms of all pages lead to routes, and send the fields that these take."""

from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from fastapi.testclient import TestClient
from httpx2 import Response
from pydantic import BaseModel
from starlette.routing import compile_path

from app.main import create_app
from tests.security.access_requests import create_invite, create_password_code
from tests.security.access_scenario import AccessScenario
from tests.security.access_table import AUDIENCES, TABLE
from tests.support.page_requests import get_page
from tests.support.setting_changes import change_settings

UNDECLARED_FIELDS = {"password", "username"}
"""The password that confirms who sends a form, and the name for password managers."""


class FormReader(HTMLParser):
    """Collects the path and the names of the fields of each form that is posted, also by a button's own path."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.forms: list[tuple[str, set[str]]] = []
        self.names: set[str] | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag == "form":
            self.names = set() if values.get("method") == "post" else None
            self.add_path(values.get("action") or "")
        elif "formaction" in values:
            self.add_path(values["formaction"] or "")
        if self.names is not None and values.get("name") and tag in {"input", "select", "textarea", "button"}:
            self.names.add(values["name"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.names = None

    def add_path(self, action: str) -> None:
        if self.names is not None:
            self.forms.append((urlsplit(urljoin(self.page, action)).path, self.names))


def find_route(path: str) -> APIRoute | None:
    for context in iter_route_contexts(create_app().routes):
        if "POST" in (context.methods or ()) and compile_path(str(context.path))[0].fullmatch(path):
            assert isinstance(context.original_route, APIRoute)
            return context.original_route
    return None


def find_fault(path: str, names: set[str]) -> str | None:
    route = find_route(path)
    if route is None:
        return "there is no such route"
    model: Any = route.body_field.field_info.annotation if route.body_field else BaseModel
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    unknown = names - fields.keys() - UNDECLARED_FIELDS if fields else set()
    missing = {name for name, field in fields.items() if field.is_required()} - names
    return f"unknown: {unknown}, missing: {missing}" if unknown or missing else None


def find_faults(page: Response) -> dict[tuple[str, str], str]:
    """Return what is wrong with the forms of a page, which has some, by the paths of the page and of the form."""
    reader, path = FormReader(page.request.url.path), page.request.url.path
    reader.feed(page.text)
    return {(path, action): fault for action, names in reader.forms if (fault := find_fault(action, names))}


@pytest.mark.parametrize("audience", AUDIENCES)
def test_forms_send_the_fields_of_their_routes(client: TestClient, audience: str) -> None:
    scenario = AccessScenario.open(client)
    faults: dict[tuple[str, str], str] = {}
    for route, row in TABLE.items():
        if row[AUDIENCES.index(audience)] == 200 and route.startswith("GET /") and "/api/" not in route:
            response = scenario.request(route, audience)
            if "text/html" in response.headers.get("Content-Type", ""):
                faults |= find_faults(response)
    assert faults == {}


@pytest.mark.parametrize(
    "path", ["/sign-up?invite={invite}", "/password?code={code}", "/email?code=x", "/account"]
)
def test_forms_of_links_and_mail_send_the_fields_of_their_routes(client: TestClient, path: str) -> None:
    scenario = AccessScenario.open(client)
    address = path.format(invite=create_invite(scenario), code=create_password_code(scenario))
    with change_settings(
        ANONCUP_PUBLIC_URL="https://cup.example.org",
        ANONCUP_SMTP__HOST="127.0.0.1",
        ANONCUP_SMTP__SENDER="cup@example.org",
    ):
        page = get_page(scenario.arena, address, team="red" if path == "/account" else None)
    assert "<form" in page.text
    assert find_faults(page) == {}
