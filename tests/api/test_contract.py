"""Requests made up from the OpenAPI document: whatever is sent, the document describes the answer."""

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

from app.api.documentation import examples
from tests.security.stage import Stage
from tests.support.openapi_contract import document

pytestmark = pytest.mark.full

EXAMPLES = 3
"""Requests for each operation before a commit; the full suite sends many more."""
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
SENT = ("method", "url", "params", "json", "data", "files", "headers", "cookies")
OURS = {"content-length", "user-agent", "authorization"}
"""Headers that belong to the sender."""


def spoiled(text: str) -> st.SearchStrategy[bytes]:
    """The text as it is, with something in its middle, or something else altogether."""
    whole = text.encode()
    inside = st.tuples(st.integers(0, len(whole)), st.binary(max_size=20)).map(
        lambda drawn: whole[: drawn[0]] + drawn[1] + whole[drawn[0] :]
    )
    return st.one_of(st.just(whole), inside, st.binary(max_size=200))


schemathesis.openapi.media_type("application/toml", spoiled(examples.TOML))
schemathesis.openapi.media_type("text/csv", spoiled(examples.TABLE))


@schemathesis.serializer("application/toml", "text/csv")
def as_it_is(_: schemathesis.SerializationContext, value: bytes) -> bytes:
    return value


@pytest.mark.parametrize(
    "audience", ["organizer", *(pytest.param(one, marks=pytest.mark.full) for one in ("visitor", "own team"))]
)
def test_made_up_requests_are_answered_as_the_document_says(client: TestClient, audience: str) -> None:
    answered = hold(Stage.opened(client), audience, examples=EXAMPLES)
    assert answered.total() > (EXAMPLES - 1) * len(operations())
    if audience != "visitor":
        assert len(answered) >= 6  # statuses: the requests come far enough in to tell


@pytest.mark.full
@pytest.mark.parametrize("audience", ["visitor", "other team", "own team", "organizer", "administrator"])
def test_many_made_up_requests_are_answered_as_the_document_says(client: TestClient, audience: str) -> None:
    assert hold(Stage.opened(client), audience, examples=100)


def test_a_method_that_a_path_does_not_know_is_refused(client: TestClient) -> None:
    stage = Stage.opened(client)
    for path, known in document()["paths"].items():
        places = stage.places(f"GET {path}")
        for method in METHODS - {each.upper() for each in known}:
            answer = client.request(method, path.format(**{"user_id": "x", "token_id": "x"} | places))
            assert answer.status_code == 405, (method, path)
            assert answer.json()["code"] == "method_not_allowed"


def operations() -> list[Any]:
    schema = schemathesis.openapi.from_dict(document())
    return [schema[path][method] for path, known in document()["paths"].items() for method in known]


def hold(stage: Stage, audience: str, *, examples: int) -> Counter[int]:
    """Ask everything, half of the time about what there is; the client compares with the document."""
    statuses: Counter[int] = Counter()
    # All beforehand: what is asked may take away what places are made with.
    asked = [(one, stage.places(f"{one.method.upper()} {one.path}")) for one in operations()]
    for operation, places in asked:
        token = stage.token(audience)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(), real=st.booleans())
        def ask(case: Case[Any], *, real: bool, headers: dict[str, str], places: dict[str, Any]) -> None:
            if real:
                case.path_parameters |= {
                    name: str(places.get(name, made)) for name, made in case.path_parameters.items()
                }
            statuses[send(stage.arena.client, case, headers).status_code] += 1

        ask(headers=headers, places=places)
    return statuses


def send(client: TestClient, case: Case[Any], headers: dict[str, str]) -> Response:
    made = case.as_transport_kwargs(base_url="http://localhost")
    prepared = Request(**{name: made[name] for name in SENT if name in made}).prepare()
    kept = {name: said for name, said in prepared.headers.items() if name.lower() not in OURS}
    return client.request(
        str(prepared.method),
        str(prepared.url),
        content=prepared.body,
        headers=kept | headers,
        follow_redirects=False,
    )
