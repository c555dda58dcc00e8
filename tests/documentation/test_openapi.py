"""The OpenAPI document: it is valid, describes every operation and has one schema of errors."""

from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.support.openapi_contract import load_document

Json = dict[str, Any]

pytestmark = pytest.mark.usefixtures("session_settings")


def iter_operations() -> Iterator[Json]:
    for methods in load_document()["paths"].values():
        yield from methods.values()


def test_document_is_valid_openapi_3_1() -> None:
    assert load_document()["openapi"].startswith("3.1")
    validate(load_document())


def test_errors_of_every_operation_are_problems() -> None:
    for operation in iter_operations():
        assert not {status for status in operation["responses"] if status.startswith(("4", "5"))}
        content = operation["responses"]["default"]["content"]
        assert content == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
