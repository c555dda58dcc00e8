"""The API reference page contains all of the OpenAPI document and no scripts."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import API
from tests.support.openapi_contract import load_document

pytestmark = pytest.mark.full


@pytest.fixture
def reference_html(client: TestClient) -> str:
    response = client.get(f"{API}/reference")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    return response.text


def test_operations_have_unique_anchors(reference_html: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', reference_html)
    assert len(set(ids)) == len(ids)
    names = {
        operation["operationId"]
        for operations in load_document()["paths"].values()
        for operation in operations.values()
    }
    assert names <= set(ids)
    assert set(re.findall(r'href="#([^"]+)"', reference_html)) <= set(ids)


def test_every_operation_shows_its_path(reference_html: str) -> None:
    text = unescape(reference_html)
    for path, operations in load_document()["paths"].items():
        assert text.count(f"<code>{path}</code>") >= len(operations)


def test_fields_of_request_bodies_are_on_the_page(reference_html: str) -> None:
    for name, model in load_document()["components"]["schemas"].items():
        for field in model.get("properties", {}):
            assert f"<code>{field}</code>" in reference_html, (name, field)
