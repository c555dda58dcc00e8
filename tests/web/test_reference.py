"""The reference page: everything of the OpenAPI document, and nothing that runs."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from anoncup.schemas import codes
from tests.support.arena import API
from tests.support.openapi_contract import document

pytestmark = pytest.mark.full


@pytest.fixture
def shown(client: TestClient) -> str:
    answer = client.get(f"{API}/reference")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    return answer.text


def anchors(page: str) -> list[str]:
    return re.findall(r'\bid="([^"]+)"', page)


def test_every_operation_and_every_code_has_an_anchor_of_its_own(shown: str) -> None:
    found = anchors(shown)
    assert len(set(found)) == len(found)
    names = {
        operation["operationId"] for known in document()["paths"].values() for operation in known.values()
    }
    assert names <= set(found)
    assert {f"code-{code}" for code in codes.ERRORS} <= set(found)
    assert {f"file-{code}" for code in codes.IN_FILES} <= set(found)


def test_every_link_within_the_page_leads_somewhere(shown: str) -> None:
    assert set(re.findall(r'href="#([^"]+)"', shown)) <= set(anchors(shown))


def test_every_operation_shows_its_path_and_a_command(shown: str) -> None:
    text = unescape(shown)
    for path, known in document()["paths"].items():
        assert text.count(f"<code>{path}</code>") >= len(known)
    assert shown.count("$SITE/") == sum(len(known) for known in document()["paths"].values())
    assert "-F anonymized=@anonymized.csv" in text
    assert "-F secret=@secret.csv" in text
    assert "-F 'name=5-anonymous'" in text


def test_every_field_of_a_body_is_on_the_page(shown: str) -> None:
    for name, model in document()["components"]["schemas"].items():
        for field in model.get("properties", {}):
            assert f"<code>{field}</code>" in shown, (name, field)


def test_the_page_has_no_inline_script_and_nothing_from_elsewhere(shown: str) -> None:
    assert not re.search(r"<script>|<style|\bstyle=|\bon\w+=|https?://", shown)
