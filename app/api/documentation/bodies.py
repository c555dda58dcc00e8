"""The bodies of requests and answers, with an example of each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

Json = dict[str, Any]
Models = Mapping[str, Json]
ZIP = "application/zip"
Made = TypeVar("Made", bound=BaseModel)


class Missing(LookupError):
    """A field that no example is known for."""


def raw(media: str, example: str | None = None, *, said: str | None = None) -> dict[int | str, Json]:
    """An answer that is no JSON, as a route's decorator takes it; one without an example is binary."""
    schema = {"type": "string", "format": "binary"} if example is None else {"type": "string"}
    content = {"schema": schema} | ({} if example is None else {"example": example})
    return {200: {"content": {media: content}} | ({} if said is None else {"description": said})}


def taking(media: str, schema: Json, example: object) -> Json:
    """A body that is no JSON."""
    content = {media: {"schema": schema, "example": example}}
    return {"requestBody": {"required": True, "content": content}}


def multipart(parts: Mapping[str, Json], sent: Mapping[str, str], *, needed: Sequence[str]) -> Json:
    """``sent``: what an example has of the parts."""
    schema = {"type": "object", "required": list(needed), "properties": dict(parts)}
    return taking("multipart/form-data", schema, dict(sent))


def a_file(said: str) -> Json:
    return {"type": "string", "format": "binary", "description": said}


def files_said(said: Iterable[tuple[str, str]]) -> dict[str, Json]:
    """The files of a form by name; one that several tracks have says each once."""
    names: dict[str, dict[str, None]] = {}
    for name, text in said:
        names.setdefault(name, {})[text] = None
    return {name: a_file("; ".join(texts)) for name, texts in names.items()}


def put(operation: Json, models: Models) -> None:
    """Show an example of every body that has none of its own."""
    answered = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
    for body in (operation.get("requestBody", {}), *answered):
        for media, content in body.get("content", {}).items():
            if media != ZIP and "example" not in content:
                content["example"] = example_of(content["schema"], models)


def example_of(schema: Json, models: Models) -> object:
    """The first of its examples, else put together from those of its parts; null where it may be.

    Missing names what has none.
    """
    found: object
    match schema:
        case {"examples": [found, *_]} | {"enum": [found, *_]}:
            pass
        case {"$ref": place}:
            found = example_of(models[place.rpartition("/")[2]], models)
        case {"default": found} if found is not None:
            pass
        case {"anyOf": kinds}:
            found = first_of(kinds, models)
        case {"properties": fields}:
            found = {name: example_of(one, models) for name, one in fields.items()}
        case {"type": "array", "items": item}:
            found = [example_of(item, models)]
        case {"type": "boolean"}:
            found = False
        case _:
            raise Missing(schema.get("title"))
    return found


def example_as(form: type[Made]) -> Made:
    """An example of what a type of the wire is."""
    schema = form.model_json_schema()
    return form.model_validate(example_of(schema, schema.get("$defs", {})))


def first_of(kinds: Sequence[Json], models: Models) -> object:
    """An example of the first kind; null if that has none."""
    try:
        return example_of(kinds[0], models)
    except Missing:
        if {"type": "null"} not in kinds:
            raise
        return None
