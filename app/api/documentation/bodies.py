"""The bodies of requests and answers: media types of those that are no JSON, and an example of each."""

from collections.abc import Mapping
from typing import Any

from app.api.documentation import examples
from app.api.documentation.examples import Missing, example_of

Json = dict[str, Any]

BINARY: Json = {"type": "string", "format": "binary"}
TEXT: Json = {"type": "string"}

RAW: tuple[tuple[str, str, Json, str | None], ...] = (
    # how the path ends, what it answers, as which schema, for example
    ("/competition.toml", "application/toml", TEXT, examples.TOML),
    (".zip", "application/zip", BINARY, None),
    (".csv", "text/csv", TEXT, examples.BOARD),
    ("/secret", "text/csv", TEXT, examples.SECRET),
    ("/{file}", "text/csv", TEXT, examples.TABLE),
    ("/events", "text/event-stream", TEXT, examples.STREAM),
    ("/metrics", "text/plain", TEXT, examples.METRICS),
)
OTHERWISE = {"customers", "transactions", "comment"}
"""Parts that an example of the microdata track has no use for."""
SENT: Mapping[str, str] = {"application/toml": examples.TOML, "text/csv": examples.TABLE}


def put(operation: Json, path: str, models: Mapping[str, Json]) -> None:
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        content["example"] = sent(media, content["schema"], models)
    answered = next(operation["responses"][status] for status in operation["responses"] if status[0] == "2")
    if "application/json" not in answered.get("content", {}):
        put_raw(answered, path)
    for media, content in answered.get("content", {}).items():
        if media == "application/json":
            put_json(content, models)


def put_raw(answered: Json, path: str) -> None:
    """What a path that answers no JSON answers."""
    for ending, media, schema, example in RAW:
        if path.endswith(ending):
            content: Json = {"schema": schema} | ({} if example is None else {"example": example})
            answered["content"] = {media: content}
            return


def put_json(content: Json, models: Mapping[str, Json]) -> None:
    found = example(content["schema"], models)
    if found is not None:
        content["example"] = found


def example(schema: Json, models: Mapping[str, Json]) -> Any:
    """None where a field is new and has no value yet: a test says so, the document goes without."""
    try:
        return example_of(schema, models)
    except Missing:
        return None


def sent(media: str, schema: Json, models: Mapping[str, Json]) -> Any:
    if media == "multipart/form-data":
        return {name: examples.PARTS[name] for name in schema["properties"] if name not in OTHERWISE}
    return SENT[media] if media in SENT else example(schema, models)
