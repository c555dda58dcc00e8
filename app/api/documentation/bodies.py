"""OpenAPI definitions of request and response bodies, with examples."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

JsonObject = dict[str, Any]
SchemasByName = Mapping[str, JsonObject]
ZIP = "application/zip"
ModelT = TypeVar("ModelT", bound=BaseModel)


class MissingExample(LookupError):
    """A schema has no example and none can be built."""


def build_raw_response(
    media_type: str, example: str | None = None, *, description: str | None = None
) -> dict[int | str, JsonObject]:
    """Return the ``responses`` of a route that does not answer JSON; a body without an example is binary."""
    schema = {"type": "string", "format": "binary"} if example is None else {"type": "string"}
    content = {"schema": schema} | ({} if example is None else {"example": example})
    return {
        200: {"content": {media_type: content}}
        | ({} if description is None else {"description": description})
    }


def build_request_body(media_type: str, schema: JsonObject, example: object) -> JsonObject:
    """Return the ``openapi_extra`` of a route whose request body is not JSON."""
    content = {media_type: {"schema": schema, "example": example}}
    return {"requestBody": {"required": True, "content": content}}


def build_multipart_body(
    parts: Mapping[str, JsonObject], example: Mapping[str, str], *, required: Sequence[str]
) -> JsonObject:
    """Return the ``openapi_extra`` of a route with a form; ``example`` has some of the parts."""
    schema = {"type": "object", "required": list(required), "properties": dict(parts)}
    return build_request_body("multipart/form-data", schema, dict(example))


def build_file_schemas(descriptions: Iterable[tuple[str, str]]) -> dict[str, JsonObject]:
    """Return schemas by file name; different descriptions of the same name are joined."""
    texts_by_name: dict[str, dict[str, None]] = {}
    for name, text in descriptions:
        texts_by_name.setdefault(name, {})[text] = None
    return {
        name: {"type": "string", "format": "binary", "description": "; ".join(texts)}
        for name, texts in texts_by_name.items()
    }


def add_examples(operation: JsonObject, schemas: SchemasByName) -> None:
    """Add an example to every request and success body that has none, except archives, which are binary."""
    successes = [response for status, response in operation["responses"].items() if status.startswith("2")]
    for body in (operation.get("requestBody", {}), *successes):
        for media_type, content in body.get("content", {}).items():
            if media_type != ZIP and "example" not in content:
                content["example"] = _build_example(content["schema"], schemas)


def _build_example(schema: JsonObject, schemas: SchemasByName) -> object:
    """Return the first example of a schema, or build one from its parts, with null where that is allowed.

    Raise MissingExample with the title of a part for which there is none. A schema that refers to itself
    needs an example of its own, otherwise the recursion does not end.
    """
    example: object
    match schema:
        case {"examples": [example, *_]} | {"enum": [example, *_]}:
            pass
        case {"$ref": ref}:
            example = _build_example(schemas[ref.rpartition("/")[2]], schemas)
        case {"default": example} if example is not None:
            pass
        case {"anyOf": alternatives}:
            example = _build_first_example(alternatives, schemas)
        case {"properties": fields}:
            example = {name: _build_example(field_schema, schemas) for name, field_schema in fields.items()}
        case {"type": "array", "items": item}:
            example = [_build_example(item, schemas)]
        case {"type": "boolean"}:
            example = False
        case _:
            raise MissingExample(schema.get("title"))
    return example


def build_model_example(model: type[ModelT]) -> ModelT:
    schema = model.model_json_schema()
    return model.model_validate(_build_example(schema, schema.get("$defs", {})))


def _build_first_example(alternatives: Sequence[JsonObject], schemas: SchemasByName) -> object:
    """Return an example of the first alternative, or None if it has none and null is allowed."""
    try:
        return _build_example(alternatives[0], schemas)
    except MissingExample:
        if {"type": "null"} not in alternatives:
            raise
        return None
