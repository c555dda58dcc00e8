"""The OpenAPI document as a contract: every answer that a test receives is held against it."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi.testclient import TestClient
from httpx2 import Response
from jsonschema import Draft202012Validator

from app.main import create_app

Json = dict[str, Any]
PROBLEM = "application/problem+json"
ANYWHERE = {"method_not_allowed", "not_found", "internal_error"}
"""What the framework answers for paths and methods of no operation, and what must never be."""


@cache
def document() -> Json:
    return create_app().openapi()


@cache
def validator(pointer: str) -> Draft202012Validator:
    """A validator of a schema inside the document."""
    return Draft202012Validator({"$ref": f"#{pointer}", **document()})


@cache
def templates() -> list[tuple[re.Pattern[str], str]]:
    """Every path of the document as an expression; those that name more come first."""
    paths = sorted(document()["paths"], key=lambda path: (path.count("{"), -len(path)))
    return [(re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))), path) for path in paths]


def template_of(path: str) -> str | None:
    return next((template for pattern, template in templates() if pattern.fullmatch(path)), None)


def breaches(method: str, path: str, status: int, headers: Mapping[str, str], content: bytes) -> list[str]:
    """What of an answer the document does not say; HEAD is answered as GET, without the body."""
    template = template_of(path)
    if template is None:
        return []
    operation = document()["paths"][template].get("get" if method == "HEAD" else method.lower())
    if operation is None:
        known = {each.upper() for each in document()["paths"][template]}
        right = status == 405 and is_problem(headers) and known <= set(re.split(", *", headers["allow"]))
        return [] if right else [f"{method} {template} is no operation, yet answered {status}"]
    answer = operation["responses"].get(str(status))
    if answer is None:
        return [f"{method} {template} answered {status}: {content[:300]!r}"]
    missing = [name for name in answer.get("headers", {}) if name != "Link" and name.lower() not in headers]
    found = [f"{method} {template}, {status}: without the header {name}" for name in missing]
    body = [] if method == "HEAD" and not content else of_body(answer, headers, content)
    return found + [f"{method} {template}, {status}: {said}" for said in body]


def is_problem(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type") == PROBLEM


def of_body(answer: Json, headers: Mapping[str, str], content: bytes) -> list[str]:
    known = answer.get("content", {})
    if not known:
        return ["it has a body"] if content else []
    media = headers.get("content-type", "").partition(";")[0]
    if media not in known:
        return [f"its content is {media}"]
    if "json" not in media:
        return []
    body = Response(200, content=content).json()
    found = [error.message for error in schema_of(known[media]["schema"]).iter_errors(body)]
    if media == PROBLEM and body.get("code") not in codes_of(known[media]):
        found.append(f"the code {body.get('code')}")
    return found


def schema_of(schema: Json) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document()["components"]})


def codes_of(content: Json) -> set[str]:
    return set(content["examples"])


class CheckedClient(TestClient):
    """A client of the application that takes no answer which the document does not describe."""

    def request(self, method: str, url: Any, **more: Any) -> Response:
        answer: Response = super().request(method, url, **more)
        sent = answer.history[0] if answer.history else answer
        path = sent.request.url.path
        found = breaches(sent.request.method, path, sent.status_code, sent.headers, sent.content)
        assert not found, found
        return answer
