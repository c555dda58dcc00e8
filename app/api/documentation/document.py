"""The OpenAPI document: what FastAPI knows of the routes, completed."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts

from anoncup import schemas
from anoncup.errors import InvalidUpload, particulars
from anoncup.errors import Problem as WrongInFile
from anoncup.messages import Message
from anoncup.schemas.codes import ERRORS
from anoncup.schemas.fields import ID
from anoncup.tables.files import too_large
from app.api.documentation import bodies, responses
from app.config import get_settings
from app.http.authentication import COOKIE, ONLY_HTTPS, client_address, shown_by, signed_in
from app.http.paging import paging
from app.http.problems import TITLES, body

Json = dict[str, Any]

TAGS = {
    "accounts": "Signing up, passwords, personal tokens.",
    "users": "Other people's accounts: administrators make them, those in charge open them again.",
    "competitions": "What a competition is: its file, its phases, its original data.",
    "draws": "What the service draws for teams by a committed seed, and what organizers hold for that.",
    "organizing": "What organizers do while the contest runs: phases, quotas, disqualification.",
    "teams": "Who takes part.",
    "organizers": "Who organizes a competition, and what they look at.",
    "submissions": "Releases of the first phase: hand in, follow, choose the finals.",
    "targets": "What may be attacked in the second phase, and what is revealed at its end.",
    "guesses": "Attacks on targets.",
    "baselines": "What organizers put on the board for comparison.",
    "boards": "Ranks and scores, each board as JSON and as CSV.",
    "re-scoring": "Other rules for what has been scored: preview the difference, apply it or drop it.",
    "rehearsals": "A competition played by sample teams in an hour, for its organizers alone.",
    "threshold reports": "Advice on the threshold of the rule against excessive anonymization.",
    "announcements": "What organizers tell everybody.",
    "clarifications": "What teams ask the organizers, and the answers.",
    "operation": "For those who keep the service running.",
}
ABOUT = """Send `Authorization: Bearer TOKEN`; a browser's session does as well, from the site's own pages. \
The one is never taken for the other: a session is no bearer token, and a token no cookie. \
What is open to everybody needs neither; a token that is sent must be valid all the same.

Every error is an `application/problem+json` with a stable `code`. \
Long lists come in pages: follow the `Link` header. \
Times are ISO 8601 with an offset. Uploads may be sent again under the same `Idempotency-Key`.

What cannot be undone (what is shown or guessed, too) or opens a way in (an account, a password link, an \
organizer) needs the caller's password as well, in `X-Confirm-Password`: without it such a call answers 403 \
`password_needed`."""

DONE = {
    200: "Done.",
    201: "Made.",
    202: "Taken in; the rest happens in the background.",
    204: "Done; there is nothing to say.",
}
HEADERS: Mapping[str, Json] = {
    "Allow": {"description": "the methods that the path knows", "schema": {"type": "string"}},
    "Content-Disposition": {"description": "a file name to save under", "schema": {"type": "string"}},
    "ETag": {"description": "send it back in `If-None-Match`", "schema": {"type": "string"}},
    "Link": {
        "description": 'the next page, as `<…?cursor=…>; rel="next"`; missing on the last',
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "seconds to wait", "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {"description": "`Bearer`", "schema": {"type": "string"}},
}
OF_ERRORS = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}
IF_NONE_MATCH: Json = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "tags of answers that are known already",
    "schema": {"type": "string"},
    "example": '"5d41402abc4b2a76b9719d911017c592"',
}
PLACES: Mapping[str, tuple[str, str]] = {
    "announcement_id": (ID, "the announcement's"),
    "clarification_id": (ID, "the question's"),
    "file": ("original.csv", "the file's name, with `.csv`"),
    "name": ("anonymization", "`anonymization` or `reidentification`"),
    "report_id": (ID, "the report's"),
    "rescore_id": (ID, "the set's"),
    "slug": ("small-cup", "the competition's short name"),
    "submission_id": (ID, "the submission's"),
    "target_id": (ID, "the target's"),
    "team_id": (ID, "the team's"),
    "token_id": (ID, "the token's"),
    "user_id": (ID, "the person's"),
}
"""An example and the meaning of each name in a path."""
TOKEN: Json = {"token": []}
SESSION: Json = {"session": []}


def operation_name(route: APIRoute) -> str:
    """The route's function: stable."""
    return route.name


def describe(app: FastAPI) -> None:
    """Let the application describe itself by ``complete``, made once and kept."""

    def openapi() -> Json:
        if not app.openapi_schema:
            app.openapi_schema = complete(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to replace it


def complete(app: FastAPI) -> Json:
    """The document with security, errors, headers, media types and an example of everything."""
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, description=ABOUT, routes=app.routes
    )
    document["servers"] = [{"url": get_settings().public_url or "/"}]
    document["tags"] = [{"name": name, "description": said} for name, said in TAGS.items()]
    put_components(document["components"])
    models, told = document["components"]["schemas"], set[tuple[int, str]]()
    for path, method, route in documented(app):
        operation = document["paths"][path][method.lower()]
        takes = set(calls(route.dependant))
        operation["summary"] = summary(route.name)
        operation["security"] = security(takes)
        place(operation)
        bodies.put(operation, models)
        put_headers(operation, path, takes)
        errors = errors_of(operation, route.name, method, takes)
        put_errors(operation, errors)
        told |= {(status, code) for status, listed in errors.items() for code in listed}
    document["components"]["examples"] = {
        f"{status}.{code}": problem(status, code) for status, code in sorted(told)
    }
    return document


def documented(app: FastAPI) -> Iterator[tuple[str, str, APIRoute]]:
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        # The context knows what the router that includes a route says of it.
        if isinstance(route, APIRoute) and getattr(context, "include_in_schema", False):
            for method in sorted(route.methods or ()):
                yield str(context.path), method, route


def calls(dependant: Dependant) -> Iterator[Callable[..., Any] | None]:
    """All that a route depends on."""
    for one in dependant.dependencies:
        yield one.call
        yield from calls(one)


def summary(name: str) -> str:
    return name.replace("_csv", " as CSV").replace("_", " ").capitalize().replace("csv", "CSV")


def security(takes: set[Any]) -> list[Json]:
    """Who may ask: with a token, with a browser's session, or anybody."""
    if signed_in in takes:
        return [TOKEN, SESSION]
    return [{}, TOKEN, SESSION] if shown_by in takes else []


def place(operation: Json) -> None:
    """Say what the names in the path stand for."""
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["example"], parameter["description"] = PLACES[parameter["name"]]


def put_headers(operation: Json, path: str, takes: set[Any]) -> None:
    answered = operation["responses"]
    if paging in takes or "cursor" in names_of(operation):
        header(answered["200"], "Link")
    if "/boards/" in path or "304" in answered:
        operation.setdefault("parameters", []).append(IF_NONE_MATCH)
        answered["304"] = {"description": "The client has this answer already."}
        for status in ("200", "304"):
            header(answered[status], "ETag")
    if path.endswith(".zip"):
        header(answered["200"], "Content-Disposition")
    for status, answer in answered.items():
        if answer["description"] == "Successful Response":
            answer["description"] = DONE[int(status)]


def header(answer: Json, name: str) -> None:
    answer.setdefault("headers", {})[name] = {"$ref": f"#/components/headers/{name}"}


def names_of(operation: Json) -> list[str]:
    return [parameter["name"] for parameter in operation.get("parameters", ())]


def errors_of(operation: Json, name: str, method: str, takes: set[Any]) -> Mapping[int, list[str]]:
    """Every error of an operation: by what it takes, then what only it knows."""
    codes: list[str] = []
    if shown_by in takes:
        codes.append(responses.SIGNED_IN if signed_in in takes else responses.VISITORS_TOO)
        if method != "GET":
            codes.append(responses.BY_COOKIE)
    if client_address in takes:
        codes.append(responses.THROTTLED)
    if name not in {"healthz", "metrics"}:
        codes.append(responses.STORED)
    codes += [responses.BY_PARAMETER.get(parameter, "") for parameter in names_of(operation)]
    if any(parameter["schema"] != plain(parameter) for parameter in operation.get("parameters", ())):
        codes.append(responses.PARAMETERS)
    codes += [responses.BY_BODY[media] for media in operation.get("requestBody", {}).get("content", ())]
    for status, answer in operation["responses"].items():
        codes += [f"{status}.{code}" for code in answer.get(responses.CODES, ())]
    return responses.by_status(*codes)


def plain(parameter: Json) -> Json:
    """The schema of a parameter that any text fits."""
    kept = {key: parameter["schema"][key] for key in ("title", "description") if key in parameter["schema"]}
    return kept | {"type": "string"}


def put_errors(operation: Json, found: Mapping[int, list[str]]) -> None:
    operation["responses"].pop("422", None)
    for status, listed in found.items():
        known = {code: {"$ref": f"#/components/examples/{status}.{code}"} for code in listed}
        content = {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": known}
        answer: Json = {"description": TITLES[status], "content": {"application/problem+json": content}}
        if status in OF_ERRORS:
            header(answer, OF_ERRORS[status])
        operation["responses"][str(status)] = answer
    operation["responses"] = dict(sorted(operation["responses"].items()))


def put_components(components: Json) -> None:
    models = components["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        models.pop(unused, None)
    made = schemas.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    models |= made.pop("$defs")
    models["Problem"] = made
    components["headers"] = dict(HEADERS)
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "A personal API token"},
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": COOKIE,
            "description": f"A browser's session ({ONLY_HTTPS} where it is for https only); "
            "what changes something must come from the site's own pages",
        },
    }


def problem(status: int, code: str) -> Json:
    """An example of an error."""
    said = ERRORS[code]
    return {"summary": said, "value": body(status, code, said, **more(code))}


def more(code: str) -> Json:
    """What some errors say besides."""
    if code == "malformed_upload":
        message = Message("row {row} has {found} cells instead of {needed}", row=3, found=3, needed=4)
        return particulars(InvalidUpload([WrongInFile("anonymized", 3, None, "ragged_row", message)]))
    if code == "invalid_request":
        return {"fields": [{"field": "body.name", "message": "Field required"}]}
    if code == "too_large":
        return particulars(too_large("anonymized", 64))
    return {}
