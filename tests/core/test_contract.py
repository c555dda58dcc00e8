"""Requests generated from the OpenAPI document; every response must match the document."""

from collections import Counter
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from httpx2 import Response
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from requests import Request
from schemathesis import Case

from tests.security.access_scenario import AccessScenario
from tests.support.arena import build_competition_toml
from tests.support.openapi_contract import load_document

pytestmark = pytest.mark.full

EXAMPLES_PER_OPERATION = 8
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
REQUEST_ARGUMENTS = ("method", "url", "params", "json", "data", "files", "headers", "cookies")
CLIENT_HEADERS = {"content-length", "user-agent", "authorization"}
"""Headers that the client sets itself."""


def mutated_texts(text: str) -> st.SearchStrategy[bytes]:
    """Strategy: the text as it is, with bytes inserted, or unrelated bytes."""
    content = text.encode()
    inserted = st.tuples(st.integers(0, len(content)), st.binary(max_size=20)).map(
        lambda insertion: content[: insertion[0]] + insertion[1] + content[insertion[0] :]
    )
    return st.one_of(st.just(content), inserted, st.binary(max_size=200))


schemathesis.openapi.media_type("application/toml", mutated_texts(build_competition_toml()))
schemathesis.openapi.media_type("text/csv", mutated_texts("sex,age,income\nf,30,412\nm,20,388\nf,40,405\n"))


@schemathesis.serializer("application/toml", "text/csv")
def serialize_unchanged(_: schemathesis.SerializationContext, value: bytes) -> bytes:
    return value


@pytest.mark.parametrize("audience", ["visitor", "other team", "own team", "organizer", "administrator"])
def test_generated_requests_match_the_openapi_document(client: TestClient, audience: str) -> None:
    statuses = check_operations(AccessScenario.open(client), audience)
    assert statuses.total() > (EXAMPLES_PER_OPERATION - 1) * len(list_operations())
    if audience != "visitor":
        assert len(statuses) >= 6  # different statuses: the requests pass validation often enough


def test_unsupported_methods_are_refused(client: TestClient) -> None:
    stage = AccessScenario.open(client)
    for path, methods in load_document()["paths"].items():
        path_params = stage.build_path_params(path)
        for method in METHODS - {name.upper() for name in methods}:
            response = client.request(method, path.format(**path_params))
            assert response.status_code == 405, (method, path)
            assert response.json()["code"] == "method_not_allowed"


def list_operations() -> list[Any]:
    schema = schemathesis.openapi.from_dict(load_document())
    return [schema[path][method] for path, methods in load_document()["paths"].items() for method in methods]


def check_operations(stage: AccessScenario, audience: str) -> Counter[int]:
    """Call every operation, half of the time with existing ids, and count the statuses."""
    statuses: Counter[int] = Counter()
    # Computed first, because the requests may delete the rows that the paths refer to.
    operation_path_params = [
        (item, stage.build_path_params(f"{item.method.upper()} {item.path}")) for item in list_operations()
    ]
    for operation, path_params in operation_path_params:
        token = stage.create_token(audience)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}

        @settings(
            max_examples=EXAMPLES_PER_OPERATION,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(), use_existing=st.booleans())
        def send_case(
            case: Case[Any], *, use_existing: bool, headers: dict[str, str], path_params: dict[str, Any]
        ) -> None:
            if use_existing:
                case.path_parameters |= {
                    name: str(path_params.get(name, value)) for name, value in case.path_parameters.items()
                }
            statuses[send(stage.arena.client, case, headers).status_code] += 1

        send_case(headers=headers, path_params=path_params)
    return statuses


def send(client: TestClient, case: Case[Any], headers: dict[str, str]) -> Response:
    arguments = case.as_transport_kwargs(base_url="http://localhost")
    request = Request(**{name: arguments[name] for name in REQUEST_ARGUMENTS if name in arguments}).prepare()
    own_headers = {
        name: value for name, value in request.headers.items() if name.lower() not in CLIENT_HEADERS
    }
    return client.request(
        str(request.method),
        str(request.url),
        content=request.body,
        headers=own_headers | headers,
        follow_redirects=False,
    )
