"""The OpenAPI document: it is valid, describes every operation and has one schema of errors."""

from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import validate

from app.core.http.openapi import TAGS
from tests.support.openapi_contract import load_document

Json = dict[str, Any]

pytestmark = pytest.mark.usefixtures("session_settings")


def iter_operations() -> Iterator[Json]:
    for methods in load_document()["paths"].values():
        yield from methods.values()


def test_document_is_valid_openapi_3_1() -> None:
    assert load_document()["openapi"].startswith("3.1")
    validate(load_document())


def test_every_operation_is_described() -> None:
    tags = {tag["name"] for tag in TAGS}
    for operation in iter_operations():
        assert operation["summary"]
        assert operation["description"].strip()
        assert set(operation["tags"]) <= tags


def test_every_operation_has_a_unique_name() -> None:
    names = [operation["operationId"] for operation in iter_operations()]
    assert len(set(names)) == len(names)


def test_errors_of_every_operation_are_problems() -> None:
    for operation in iter_operations():
        assert not {status for status in operation["responses"] if status.startswith(("4", "5"))}
        content = operation["responses"]["default"]["content"]
        assert content == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
