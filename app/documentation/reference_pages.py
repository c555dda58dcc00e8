"""The API reference page, generated from the OpenAPI document of the application."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app.core.pages.pages import RequestedPage

router = APIRouter()

_Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReferenceField:
    """A line of a table: a parameter, or a field of a body with its nesting depth."""

    name: str
    kind: str
    description: str
    required: bool = True
    location: str = ""
    depth: int = 0
    example: object = None


@router.get("/reference")
def show_reference(page: RequestedPage) -> HTMLResponse:
    document = page.request.app.openapi()
    models = document["components"]["schemas"]
    return page.render(
        "documentation/reference.html",
        document=document,
        groups=[(tag, list(_iter_operations(document, tag["name"]))) for tag in document["tags"]],
        list_parameters=_list_parameters,
        iter_fields=partial(_iter_fields, models),
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


def _iter_fields(models: _Json, schema: _Json, depth: int = 0) -> Iterator[ReferenceField]:
    """Yield the fields of a body, with nested fields right after their parent."""
    model = _resolve_schema(schema, models)
    required = model.get("required", ())
    for name, field_schema in model.get("properties", {}).items():
        description = field_schema.get("description", "")
        yield ReferenceField(
            name,
            _describe_type(field_schema),
            description,
            required=name in required,
            depth=depth,
            example=next(iter(field_schema.get("examples", ())), None),
        )
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
