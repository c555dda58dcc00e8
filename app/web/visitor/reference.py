"""The API reference page, generated from the OpenAPI document of the application."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.authentication import OptionalPrincipal
from app.web.site.pages import render_page

router = APIRouter()

_Json = Mapping[str, Any]
_EXAMPLE_FILES = {"application/toml": "competition.toml", "text/csv": "original.csv"}


@dataclass(frozen=True, slots=True)
class ReferenceField:
    """A line of a table: a parameter, or a field of a body with its nesting depth."""

    name: str
    kind: str
    description: str
    required: bool = True
    location: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class ReferenceBody:
    """The body of a request or a response, with an example as text."""

    media_type: str
    fields: tuple[ReferenceField, ...]
    example: str


@dataclass(frozen=True, slots=True)
class ReferenceResponse:
    """A response of an operation. ``codes`` are pairs of an error code and its description."""

    status: str
    description: str
    headers: tuple[tuple[str, str], ...]
    bodies: tuple[ReferenceBody, ...]
    codes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReferenceOperation:
    name: str
    method: str
    path: str
    summary: str
    description: str
    audience: str
    parameters: tuple[ReferenceField, ...]
    request_bodies: tuple[ReferenceBody, ...]
    responses: tuple[ReferenceResponse, ...]
    curl: str


@router.get("/reference")
def show_reference(request: Request, principal: OptionalPrincipal) -> HTMLResponse:
    document = request.app.openapi()
    models = document["components"]["schemas"]
    return render_page(
        request,
        principal,
        "visitor/reference.html",
        document=document,
        groups=[(tag, list(_iter_operations(document, tag["name"]))) for tag in document["tags"]],
        problem=_iter_fields({"$ref": "#/components/schemas/Problem"}, models),
        codes=models["Problem"]["properties"]["code"]["x-codes"],
        in_files=models["WrongInFile"]["properties"]["code"]["x-codes"],
    )


def _iter_operations(document: _Json, tag: str) -> Iterator[ReferenceOperation]:
    """Yield the operations whose last tag is this one, so that each operation appears only once."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["tags"][-1] == tag:
                yield _build_operation(document, path, method.upper(), operation)


def _build_operation(document: _Json, path: str, method: str, operation: _Json) -> ReferenceOperation:
    models = document["components"]["schemas"]
    request_content = operation.get("requestBody", {}).get("content", {})
    return ReferenceOperation(
        name=operation["operationId"],
        method=method,
        path=path,
        summary=operation["summary"],
        description=operation["description"],
        audience=_describe_audience(operation["security"]),
        parameters=tuple(_build_parameter(definition) for definition in operation.get("parameters", ())),
        request_bodies=tuple(
            _build_body(media_type, content, models) for media_type, content in request_content.items()
        ),
        responses=tuple(
            _build_response(document, status, response) for status, response in operation["responses"].items()
        ),
        curl=_build_curl_command(path, method, operation),
    )


def _describe_audience(security: list[_Json]) -> str:
    if not security:
        return "open"
    return "either" if {} in security else "signed in"


def _build_parameter(definition: _Json) -> ReferenceField:
    description = definition.get("description", "")
    return ReferenceField(
        definition["name"],
        _describe_type(definition["schema"]),
        description,
        definition.get("required", False),
        definition["in"],
    )


def _build_response(document: _Json, status: str, response: _Json) -> ReferenceResponse:
    examples, headers = document["components"]["examples"], document["components"]["headers"]
    is_error = int(status) >= 400
    content = response.get("content", {})
    codes = [code for media_content in content.values() for code in media_content.get("examples", ())]
    return ReferenceResponse(
        status=status,
        description=response["description"],
        headers=tuple((name, headers[name]["description"]) for name in response.get("headers", ())),
        bodies=()
        if is_error
        else tuple(
            _build_body(media_type, media_content, document["components"]["schemas"])
            for media_type, media_content in content.items()
        ),
        codes=tuple((code, examples[f"{status}.{code}"]["summary"]) for code in codes),
    )


def _build_body(media_type: str, content: _Json, models: _Json) -> ReferenceBody:
    return ReferenceBody(
        media_type, tuple(_iter_fields(content["schema"], models)), _format_example(content.get("example"))
    )


def _format_example(example: Any) -> str:
    if example is None or isinstance(example, str):
        return example or ""
    return json.dumps(example, indent=2, ensure_ascii=False)


def _iter_fields(schema: _Json, models: _Json, depth: int = 0) -> Iterator[ReferenceField]:
    """Yield the fields of a body, with nested fields right after their parent."""
    model = _resolve_schema(schema, models)
    required = model.get("required", ())
    for name, field_schema in model.get("properties", {}).items():
        description = field_schema.get("description", "")
        yield ReferenceField(name, _describe_type(field_schema), description, name in required, depth=depth)
        yield from _iter_fields(field_schema, models, depth + 1)


def _resolve_schema(schema: _Json, models: _Json) -> _Json:
    """Return the model that a schema refers to, directly or as the type of its items or values."""
    if "$ref" in schema:
        model: _Json = models[schema["$ref"].rsplit("/", 1)[1]]
        return model
    if "items" in schema:
        return _resolve_schema(schema["items"], models)
    if isinstance(schema.get("additionalProperties"), dict):
        return _resolve_schema(schema["additionalProperties"], models)
    alternatives = [
        alternative for alternative in schema.get("anyOf", ()) if alternative.get("type") != "null"
    ]
    return _resolve_schema(alternatives[0], models) if alternatives else schema


def _describe_type(schema: _Json) -> str:
    """Return a short description of a schema's type."""
    if "anyOf" in schema:
        return " or ".join(_describe_type(alternative) for alternative in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_describe_type(schema['items'])}"
    if "$ref" in schema:
        return "object"
    return str(schema.get("format") or schema.get("type", "any"))


def _build_curl_command(path: str, method: str, operation: _Json) -> str:
    """Return a curl command for an operation, with the example values of the document."""
    for definition in operation.get("parameters", ()):
        path = path.replace("{" + definition["name"] + "}", quote(str(definition.get("example", ""))))
    arguments = ["curl"] if method in {"GET", "POST"} else [f"curl -X {method}"]
    if operation["security"] and {} not in operation["security"]:
        arguments.append('-H "Authorization: Bearer $TOKEN"')
    content = operation.get("requestBody", {}).get("content", {})
    if method == "POST" and not content:
        arguments[0] = "curl -X POST"
    arguments += [
        option
        for media_type, body_content in content.items()
        for option in _build_body_options(media_type, body_content)
    ]
    return f"{arguments[0]} " + " \\\n     ".join([*arguments[1:], f"$SITE{path}"])


def _build_body_options(media_type: str, content: _Json) -> list[str]:
    if media_type == "multipart/form-data":
        parts = content["schema"]["properties"]
        return [
            f"-F {name}=@{name}.csv" if parts[name].get("format") == "binary" else f"-F '{name}={value}'"
            for name, value in content["example"].items()
        ]
    if media_type in _EXAMPLE_FILES:
        return [f"-H 'Content-Type: {media_type}' --data-binary @{_EXAMPLE_FILES[media_type]}"]
    example = json.dumps(content["example"], ensure_ascii=False).replace("'", "'\\''")
    return [f"--json '{example}'"]
