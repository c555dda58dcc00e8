"""The API reference page, generated from the OpenAPI document of the application."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app.web.site.pages import RequestedPage

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


@router.get("/reference")
def show_reference(page: RequestedPage) -> HTMLResponse:
    document = page.request.app.openapi()
    models = document["components"]["schemas"]
    return page.render(
        "visitor/reference.html",
        document=document,
        groups=[(tag, list(_iter_operations(document, tag["name"]))) for tag in document["tags"]],
        list_parameters=_list_parameters,
        iter_fields=partial(_iter_fields, models),
        format_example=_format_example,
        list_error_codes=_list_error_codes,
        build_curl_command=_build_curl_command,
        codes=models["Problem"]["properties"]["code"]["x-codes"],
        in_files=models["WrongInFile"]["properties"]["code"]["x-codes"],
    )


def _iter_operations(document: _Json, tag: str) -> Iterator[tuple[str, str, _Json]]:
    """Yield method, path and operation for the last tag of each operation, so that it appears only once."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["tags"][-1] == tag:
                yield method.upper(), path, operation


def _list_parameters(operation: _Json) -> list[ReferenceField]:
    return [
        ReferenceField(
            definition["name"],
            _describe_type(definition["schema"]),
            definition.get("description", ""),
            definition.get("required", False),
            definition["in"],
        )
        for definition in operation.get("parameters", ())
    ]


def _list_error_codes(response: _Json) -> list[str]:
    contents = response.get("content", {}).values()
    return [code for media_content in contents for code in media_content.get("examples", ())]


def _format_example(example: Any) -> str:
    if example is None or isinstance(example, str):
        return example or ""
    return json.dumps(example, indent=2, ensure_ascii=False)


def _iter_fields(models: _Json, schema: _Json, depth: int = 0) -> Iterator[ReferenceField]:
    """Yield the fields of a body, with nested fields right after their parent."""
    model = _resolve_schema(schema, models)
    required = model.get("required", ())
    for name, field_schema in model.get("properties", {}).items():
        description = field_schema.get("description", "")
        yield ReferenceField(name, _describe_type(field_schema), description, name in required, depth=depth)
        yield from _iter_fields(models, field_schema, depth + 1)


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
