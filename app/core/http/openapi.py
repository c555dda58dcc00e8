"""What the OpenAPI document says beyond the routes: problems, tags and bodies that are not JSON."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.responses import Response

from anoncup import schemas

JsonObject = dict[str, Any]

_REF_TEMPLATE = "#/components/schemas/{model}"
DESCRIPTION = """Send `Authorization: Bearer TOKEN`; \
the session of a browser works as well, from the site's own pages. \
A session cannot be sent as a bearer token, nor a token as a cookie. \
Public operations need neither, but a token that is sent must be valid.

Every error is an `application/problem+json` document with a stable `code`. \
Long lists are split into pages: follow the `Link` header. \
Times are in ISO 8601 with a UTC offset. Uploads can be repeated with the same `Idempotency-Key`.

Operations that cannot be undone, reveal more, allow more guesses or give access (accounts, password links, \
organizers) also require the caller's password in `X-Confirm-Password`. Without it they answer 403 \
`password_needed`."""

NOT_MODIFIED: dict[int | str, JsonObject] = {304: {"description": "The client has the current response."}}
"""The ``responses`` of routes that answer ``If-None-Match``."""
PROBLEM: dict[int | str, JsonObject] = {
    "default": {
        "description": "An error",
        "content": {
            "application/problem+json": {"schema": {"$ref": _REF_TEMPLATE.format(model="Problem")}},
        },
    }
}
"""The ``responses`` of all routes: every error has the same schema."""


class DocumentedApp(FastAPI):
    """An application whose OpenAPI document has the schema of problems."""

    def openapi(self) -> JsonObject:
        document = super().openapi()
        problem = schemas.Problem.model_json_schema(ref_template=_REF_TEMPLATE)
        document["components"]["schemas"] |= problem.pop("$defs", {}) | {"Problem": problem}
        # pydantic keeps it, although it refers to itself only (``schemas.fields.MessageValues``).
        document["components"]["schemas"].pop("StoredMessage", None)
        return document


class CsvResponse(Response):
    media_type = "text/csv"


class TomlResponse(Response):
    media_type = "application/toml"


def build_request_body(media_type: str, schema: JsonObject) -> JsonObject:
    """Return the ``openapi_extra`` of a route that reads its request body itself."""
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


def build_multipart_body(parts: Mapping[str, JsonObject], *, required: Sequence[str]) -> JsonObject:
    """Return the ``openapi_extra`` of a route that reads a form itself."""
    schema = {"type": "object", "required": list(required), "properties": dict(parts)}
    return build_request_body("multipart/form-data", schema)


def build_file_schemas(descriptions: Iterable[tuple[str, str]]) -> dict[str, JsonObject]:
    """Return schemas by file name; different descriptions of the same name are joined."""
    texts_by_name: dict[str, dict[str, None]] = {}
    for name, text in descriptions:
        texts_by_name.setdefault(name, {})[text] = None
    return {
        name: {"type": "string", "format": "binary", "description": "; ".join(texts)}
        for name, texts in texts_by_name.items()
    }
