"""A test client that checks every response against the OpenAPI document."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi.testclient import TestClient
from httpx2 import Response
from jsonschema import Draft202012Validator

from app.main import create_app

Json = dict[str, Any]
PROBLEM_TYPE = "application/problem+json"


@cache
def load_document() -> Json:
    return create_app().openapi()


@cache
def list_path_patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return the paths of the document as patterns, the most specific first."""
    paths = sorted(load_document()["paths"], key=lambda path: (path.count("{"), -len(path)))
    return [(re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))), path) for path in paths]


def find_path_template(path: str) -> str | None:
    return next((template for pattern, template in list_path_patterns() if pattern.fullmatch(path)), None)


def find_breaches(
    method: str, path: str, status: int, headers: Mapping[str, str], content: bytes
) -> list[str]:
    """Return how a response differs from the document. HEAD is documented as GET."""
    template = find_path_template(path)
    if template is None:
        return []
    operation = load_document()["paths"][template].get("get" if method == "HEAD" else method.lower())
    if operation is None:
        methods = {method_name.upper() for method_name in load_document()["paths"][template]}
        is_valid = status == 405 and is_problem(headers) and methods <= set(re.split(", *", headers["allow"]))
        return [] if is_valid else [f"{method} {template} is no operation, yet answered {status}"]
    responses = operation["responses"]
    problem = responses["default"] if status >= 400 and status != 500 else None
    documented_response = responses.get(str(status), problem)
    if documented_response is None:
        return [f"{method} {template} answered {status}: {content[:300]!r}"]
    if method == "HEAD" and not content:
        return []
    problems = find_body_breaches(documented_response, headers, content)
    return [f"{method} {template}, {status}: {problem}" for problem in problems]


def is_problem(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type") == PROBLEM_TYPE


def find_body_breaches(documented_response: Json, headers: Mapping[str, str], content: bytes) -> list[str]:
    documented_content = documented_response.get("content", {})
    if not documented_content:
        return ["it has a body"] if content else []
    media_type = headers.get("content-type", "").partition(";")[0]
    if media_type not in documented_content:
        return [f"its content is {media_type}"]
    if "json" not in media_type:
        return []
    body = Response(200, content=content).json()
    schema = documented_content[media_type]["schema"]
    return [error.message for error in build_validator(schema).iter_errors(body)]


def build_validator(schema: Json) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": load_document()["components"]})


class CheckedClient(TestClient):
    """A client that fails on responses that the document does not describe."""

    def request(self, method: str, url: Any, **options: Any) -> Response:
        response: Response = super().request(method, url, **options)
        first_response = response.history[0] if response.history else response
        path = first_response.request.url.path
        problems = find_breaches(
            first_response.request.method,
            path,
            first_response.status_code,
            first_response.headers,
            first_response.content,
        )
        assert not problems, problems
        return response
