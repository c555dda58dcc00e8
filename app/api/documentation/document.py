"""Build the OpenAPI document: that of FastAPI with security, errors, headers and examples added."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts

from anoncup import schemas
from anoncup.errors import FileProblem as WrongInFile
from anoncup.errors import InvalidUpload, describe_error
from anoncup.messages import Message
from anoncup.schemas.codes import ERROR_SENTENCES
from anoncup.schemas.fields import ID
from anoncup.tables.files import build_too_large_error
from app.api.documentation import bodies, responses
from app.config import get_settings
from app.http.authentication import (
    get_client_address,
    read_credential,
    require_principal,
)
from app.http.problems import TITLE_BY_STATUS, build_body
from app.http.session_cookie import COOKIE, SECURE_COOKIE

_Json = dict[str, Any]

TAGS = {
    "accounts": "Signing up, passwords, personal tokens.",
    "users": "Other people's accounts: administrators make them, those in charge open them again.",
    "competitions": "What a competition is: its file, its phases, its original data.",
    "allocations": "What the service draws for teams by a committed seed, and what organizers hold for that.",
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
DESCRIPTION = """Send `Authorization: Bearer TOKEN`; \
a browser's session does as well, from the site's own pages. \
The one is never taken for the other: a session is no bearer token, and a token no cookie. \
What is open to everybody needs neither; a token that is sent must be valid all the same.

Every error is an `application/problem+json` with a stable `code`. \
Long lists come in pages: follow the `Link` header. \
Times are ISO 8601 with an offset. Uploads may be sent again under the same `Idempotency-Key`.

What cannot be undone (what is shown or guessed, too) or opens a way in (an account, a password link, an \
organizer) needs the caller's password as well, in `X-Confirm-Password`: without it such a call answers 403 \
`password_needed`."""

_DEFAULT_DESCRIPTIONS = {
    200: "Done.",
    201: "Made.",
    202: "Taken in; the rest happens in the background.",
    204: "Done; there is nothing to say.",
}
_HEADERS: Mapping[str, _Json] = {
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
_ERROR_HEADERS = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}
_IF_NONE_MATCH: _Json = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "tags of answers that are known already",
    "schema": {"type": "string"},
    "example": '"5d41402abc4b2a76b9719d911017c592"',
}
_PATH_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "adjustment_id": (ID, "the penalty's or bonus's"),
    "announcement_id": (ID, "the announcement's"),
    "clarification_id": (ID, "the question's"),
    "file": ("original.csv", "the file's name, with `.csv`"),
    "guess_id": (ID, "the guess's"),
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
"""An example and a description of each path parameter."""
_OPERATIONS_WITHOUT_DATABASE = {"healthz", "metrics"}
_TOKEN: _Json = {"token": []}
_SESSION: _Json = {"session": []}


def get_operation_id(route: APIRoute) -> str:
    """Return the name of the route's function, which is a stable operation id."""
    return route.name


def install(app: FastAPI) -> None:
    """Make the application serve the document of ``build_document``, which is built once."""

    def openapi() -> _Json:
        if not app.openapi_schema:
            app.openapi_schema = build_document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to replace it


def build_document(app: FastAPI) -> _Json:
    """Return the document with security, errors, headers, media types and examples."""
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, description=DESCRIPTION, routes=app.routes
    )
    document["servers"] = [{"url": get_settings().public_url or "/"}]
    document["tags"] = [{"name": name, "description": description} for name, description in TAGS.items()]
    _add_components(document["components"])
    models, documented_errors = document["components"]["schemas"], set[tuple[int, str]]()
    for path, method, route in _iter_routes(app):
        operation = document["paths"][path][method.lower()]
        dependencies = set(_iter_dependencies(route.dependant))
        operation["summary"] = _summarize_name(route.name)
        operation["security"] = _list_security_schemes(dependencies)
        _describe_path_parameters(operation)
        bodies.add_examples(operation, models)
        _add_headers(operation, path)
        errors = _collect_errors(operation, route.name, method, dependencies)
        _add_errors(operation, errors)
        documented_errors |= {(status, code) for status, codes in errors.items() for code in codes}
    document["components"]["examples"] = {
        f"{status}.{code}": _build_error_example(status, code) for status, code in sorted(documented_errors)
    }
    return document


def _iter_routes(app: FastAPI) -> Iterator[tuple[str, str, APIRoute]]:
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        # The context, unlike the route, also reflects the settings of the router that includes it.
        if isinstance(route, APIRoute) and getattr(context, "include_in_schema", False):
            for method in sorted(route.methods or ()):
                yield str(context.path), method, route


def _iter_dependencies(dependant: Dependant) -> Iterator[Callable[..., Any] | None]:
    """Yield all direct and indirect dependencies of a route."""
    for dependency in dependant.dependencies:
        yield dependency.call
        yield from _iter_dependencies(dependency)


def _summarize_name(name: str) -> str:
    return name.replace("_csv", " as CSV").replace("_", " ").capitalize().replace("csv", "CSV")


def _list_security_schemes(dependencies: set[Any]) -> list[_Json]:
    """Return the security requirements: token or session, both optional, or none."""
    if require_principal in dependencies:
        return [_TOKEN, _SESSION]
    return [{}, _TOKEN, _SESSION] if read_credential in dependencies else []


def _describe_path_parameters(operation: _Json) -> None:
    """Add examples and descriptions to path parameters."""
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["example"], parameter["description"] = _PATH_PARAMETERS[parameter["name"]]


def _add_headers(operation: _Json, path: str) -> None:
    responses_by_status = operation["responses"]
    if "cursor" in _list_parameter_names(operation):
        _add_header(responses_by_status["200"], "Link")
    if "/boards/" in path or "304" in responses_by_status:
        operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
        responses_by_status["304"] = {"description": "The client has this answer already."}
        for status in ("200", "304"):
            _add_header(responses_by_status[status], "ETag")
    if path.endswith(".zip"):
        _add_header(responses_by_status["200"], "Content-Disposition")
    for status, response in responses_by_status.items():
        if response["description"] == "Successful Response":
            response["description"] = _DEFAULT_DESCRIPTIONS[int(status)]


def _add_header(response: _Json, name: str) -> None:
    response.setdefault("headers", {})[name] = {"$ref": f"#/components/headers/{name}"}


def _list_parameter_names(operation: _Json) -> list[str]:
    return [parameter["name"] for parameter in operation.get("parameters", ())]


def _collect_errors(
    operation: _Json, name: str, method: str, dependencies: set[Any]
) -> Mapping[int, list[str]]:
    """Return the error codes of an operation by status: those of its inputs, then its own."""
    own_codes = [
        f"{status}.{code}"
        for status, response in operation["responses"].items()
        for code in response.get(responses.CODES_KEY, ())
    ]
    return responses.group_by_status(
        *_list_access_errors(method, dependencies),
        *([] if name in _OPERATIONS_WITHOUT_DATABASE else [responses.DATABASE]),
        *_list_input_errors(operation),
        *own_codes,
    )


def _list_access_errors(method: str, dependencies: set[Any]) -> list[str]:
    """Return the codes of signing in and of limits on requests."""
    codes = []
    if read_credential in dependencies:
        is_required = require_principal in dependencies
        codes.append(responses.REQUIRED_SIGN_IN if is_required else responses.OPTIONAL_SIGN_IN)
        if method != "GET":
            codes.append(responses.COOKIE_SESSION)
    if get_client_address in dependencies:
        codes.append(responses.THROTTLED)
    return codes


def _list_input_errors(operation: _Json) -> list[str]:
    """Return the codes of parameters and of the request body."""
    parameters = operation.get("parameters", ())
    codes = [responses.CODES_BY_PARAMETER.get(parameter["name"], "") for parameter in parameters]
    if any(parameter["schema"] != _build_text_schema(parameter) for parameter in parameters):
        codes.append(responses.TYPED_PARAMETERS)
    media_types = operation.get("requestBody", {}).get("content", ())
    return [*codes, *(responses.CODES_BY_MEDIA_TYPE[media_type] for media_type in media_types)]


def _build_text_schema(parameter: _Json) -> _Json:
    """Return the schema that the parameter would have if it accepted every text."""
    labels = {key: parameter["schema"][key] for key in ("title", "description") if key in parameter["schema"]}
    return labels | {"type": "string"}


def _add_errors(operation: _Json, errors: Mapping[int, list[str]]) -> None:
    operation["responses"].pop("422", None)
    for status, codes in errors.items():
        examples = {code: {"$ref": f"#/components/examples/{status}.{code}"} for code in codes}
        content = {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}
        response: _Json = {
            "description": TITLE_BY_STATUS[status],
            "content": {"application/problem+json": content},
        }
        if status in _ERROR_HEADERS:
            _add_header(response, _ERROR_HEADERS[status])
        operation["responses"][str(status)] = response
    operation["responses"] = dict(sorted(operation["responses"].items()))


def _add_components(components: _Json) -> None:
    models = components["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        models.pop(unused, None)
    problem_schema = schemas.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    models |= problem_schema.pop("$defs")
    models["Problem"] = problem_schema
    components["headers"] = dict(_HEADERS)
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "A personal API token"},
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": COOKIE,
            "description": f"A browser's session ({SECURE_COOKIE} where it is for https only); "
            "what changes something must come from the site's own pages",
        },
    }


def _build_error_example(status: int, code: str) -> _Json:
    description = ERROR_SENTENCES[code]
    return {
        "summary": description,
        "value": build_body(status, code, description, **_build_error_details(code)),
    }


def _build_error_details(code: str) -> _Json:
    """Return the additional fields of errors that have some."""
    if code == "malformed_upload":
        message = Message("row {row} has {found} cells instead of {needed}", row=3, found=3, needed=4)
        return describe_error(InvalidUpload([WrongInFile("anonymized", 3, None, "ragged_row", message)]))
    if code == "invalid_request":
        return {"fields": [{"field": "body.name", "message": "Field required"}]}
    if code == "too_large":
        return describe_error(build_too_large_error("anonymized", 64))
    return {}
