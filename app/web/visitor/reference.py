"""The reference of the API as a page, written from the OpenAPI document that the application serves."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.authentication import MaybeSignedIn
from app.web.site.pages import page

router = APIRouter()

Json = Mapping[str, Any]
WITH_A_FILE = {"application/toml": "competition.toml", "text/csv": "original.csv"}


@dataclass(frozen=True, slots=True)
class Field:
    """A line of a table: a parameter, or a part of a body, indented by how deep it lies."""

    name: str
    kind: str
    said: str
    required: bool = True
    place: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Body:
    """What is sent or answered: its media type, its fields and an example as text."""

    media: str
    fields: tuple[Field, ...]
    example: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, with what comes with it; ``codes`` of an error with a sentence each."""

    status: str
    said: str
    headers: tuple[tuple[str, str], ...]
    bodies: tuple[Body, ...]
    codes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    method: str
    path: str
    summary: str
    said: str
    audience: str
    parameters: tuple[Field, ...]
    sent: tuple[Body, ...]
    answers: tuple[Answer, ...]
    curl: str


@router.get("/reference")
def reference(request: Request, principal: MaybeSignedIn) -> HTMLResponse:
    document = request.app.openapi()
    models = document["components"]["schemas"]
    return page(
        request,
        principal,
        "visitor/reference.html",
        document=document,
        groups=[(tag, list(operations(document, tag["name"]))) for tag in document["tags"]],
        problem=fields({"$ref": "#/components/schemas/Problem"}, models),
        codes=models["Problem"]["properties"]["code"]["x-codes"],
        in_files=models["WrongInFile"]["properties"]["code"]["x-codes"],
    )


def operations(document: Json, tag: str) -> Iterator[Operation]:
    """Those that the tag comes first of: an operation stands on the page once."""
    for path, known in document["paths"].items():
        for method, operation in known.items():
            if operation["tags"][-1] == tag:
                yield described(document, path, method.upper(), operation)


def described(document: Json, path: str, method: str, operation: Json) -> Operation:
    models = document["components"]["schemas"]
    sent = operation.get("requestBody", {}).get("content", {})
    return Operation(
        name=operation["operationId"],
        method=method,
        path=path,
        summary=operation["summary"],
        said=operation["description"],
        audience=audience(operation["security"]),
        parameters=tuple(parameter(one) for one in operation.get("parameters", ())),
        sent=tuple(body(media, content, models) for media, content in sent.items()),
        answers=tuple(answer(document, status, found) for status, found in operation["responses"].items()),
        curl=curl(path, method, operation),
    )


def audience(security: list[Json]) -> str:
    if not security:
        return "open"
    return "either" if {} in security else "signed in"


def parameter(found: Json) -> Field:
    said = found.get("description", "")
    return Field(found["name"], kind_of(found["schema"]), said, found.get("required", False), found["in"])


def answer(document: Json, status: str, found: Json) -> Answer:
    known, headers = document["components"]["examples"], document["components"]["headers"]
    error = int(status) >= 400
    content = found.get("content", {})
    codes = [code for one in content.values() for code in one.get("examples", ())]
    return Answer(
        status=status,
        said=found["description"],
        headers=tuple((name, headers[name]["description"]) for name in found.get("headers", ())),
        bodies=()
        if error
        else tuple(body(media, one, document["components"]["schemas"]) for media, one in content.items()),
        codes=tuple((code, known[f"{status}.{code}"]["summary"]) for code in codes),
    )


def body(media: str, content: Json, models: Json) -> Body:
    return Body(media, tuple(fields(content["schema"], models)), as_text(content.get("example")))


def as_text(example: Any) -> str:
    if example is None or isinstance(example, str):
        return example or ""
    return json.dumps(example, indent=2, ensure_ascii=False)


def fields(schema: Json, models: Json, depth: int = 0) -> Iterator[Field]:
    """The fields of a body, those of a part right below it."""
    found = inner(schema, models)
    needed = found.get("required", ())
    for name, one in found.get("properties", {}).items():
        said = one.get("description", "")
        yield Field(name, kind_of(one), said, name in needed, depth=depth)
        yield from fields(one, models, depth + 1)


def inner(schema: Json, models: Json) -> Json:
    """The model that a schema is, lists, names each of, or is if it is not null."""
    if "$ref" in schema:
        found: Json = models[schema["$ref"].rsplit("/", 1)[1]]
        return found
    if "items" in schema:
        return inner(schema["items"], models)
    if isinstance(schema.get("additionalProperties"), dict):
        return inner(schema["additionalProperties"], models)
    given = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return inner(given[0], models) if given else schema


def kind_of(schema: Json) -> str:
    """The type in a word or two."""
    if "anyOf" in schema:
        return " or ".join(kind_of(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {kind_of(schema['items'])}"
    if "$ref" in schema:
        return "object"
    return str(schema.get("format") or schema.get("type", "any"))


def curl(path: str, method: str, operation: Json) -> str:
    """The request as a command, with the document's own examples."""
    for one in operation.get("parameters", ()):
        path = path.replace("{" + one["name"] + "}", quote(str(one.get("example", ""))))
    words = ["curl"] if method in {"GET", "POST"} else [f"curl -X {method}"]
    if operation["security"] and {} not in operation["security"]:
        words.append('-H "Authorization: Bearer $TOKEN"')
    content = operation.get("requestBody", {}).get("content", {})
    if method == "POST" and not content:
        words[0] = "curl -X POST"
    words += [option for media, found in content.items() for option in sent_by_curl(media, found)]
    return f"{words[0]} " + " \\\n     ".join([*words[1:], f"$SITE{path}"])


def sent_by_curl(media: str, content: Json) -> list[str]:
    if media == "multipart/form-data":
        parts = content["schema"]["properties"]
        return [
            f"-F {name}=@{name}.csv" if parts[name].get("format") == "binary" else f"-F '{name}={said}'"
            for name, said in content["example"].items()
        ]
    if media in WITH_A_FILE:
        return [f"-H 'Content-Type: {media}' --data-binary @{WITH_A_FILE[media]}"]
    example = json.dumps(content["example"], ensure_ascii=False).replace("'", "'\\''")
    return [f"--json '{example}'"]
