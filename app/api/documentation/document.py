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
from app.api.documentation.bodies import JsonObject
from app.api.documentation.responses import ErrorCode
from app.config import get_settings
from app.http.authentication import (
    get_client_address,
    read_credential,
    require_principal,
)
from app.http.problems import TITLE_BY_STATUS, build_body
from app.http.session_cookie import COOKIE, SECURE_COOKIE

TAGS = {
    "accounts": "Sign-up, passwords and personal tokens.",
    "users": "Accounts of other people: administrators create them; organizers and administrators"
    " issue password links.",
    "competitions": "Competitions: their files, phases and original data.",
    "allocations": "Data that the service allocates to teams with a committed seed, and the"
    " organizers' files for it.",
    "organizing": "Organizing a running contest: phases, quotas, disqualification.",
    "teams": "Teams and their members.",
    "organizers": "Organizers of a competition, its audit log and its queue.",
    "submissions": "Releases of the first phase: submit them, follow their scoring, choose finals.",
    "targets": "Targets of the second phase, and the secrets that are revealed at its end.",
    "guesses": "Guesses about targets.",
    "baselines": "Releases that organizers add to the board for comparison.",
    "boards": "Ranks and scores; each board as JSON and as CSV.",
    "re-scoring": "Scoring all submissions under other rules: preview the changes, apply or cancel them.",
    "threshold reports": "Advice on the threshold of the rule against excessive anonymization.",
    "announcements": "Announcements of the organizers to everybody.",
    "clarifications": "Questions of teams to the organizers, and their answers.",
    "operation": "For the operators of the service.",
}
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

_DEFAULT_DESCRIPTIONS = {
    200: "Done.",
    201: "Created.",
    202: "Accepted. The rest is done in the background.",
    204: "Done. The response has no body.",
}
_HEADERS: Mapping[str, JsonObject] = {
    "Allow": {"description": "methods that the path supports", "schema": {"type": "string"}},
    "Content-Disposition": {"description": "suggested file name", "schema": {"type": "string"}},
    "ETag": {"description": "entity tag; send it back in `If-None-Match`", "schema": {"type": "string"}},
    "Link": {
        "description": 'the next page, as `<…?cursor=…>; rel="next"`; missing on the last page',
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "seconds to wait", "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {"description": "`Bearer`", "schema": {"type": "string"}},
}
_ERROR_HEADERS = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}
_IF_NONE_MATCH: JsonObject = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "entity tags of cached responses",
    "schema": {"type": "string"},
    "example": '"5d41402abc4b2a76b9719d911017c592"',
}
_PATH_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "adjustment_id": (ID, "id of the penalty or bonus"),
    "announcement_id": (ID, "id of the announcement"),
    "clarification_id": (ID, "id of the clarification"),
    "file": ("original.csv", "name of the file, with `.csv`"),
    "guess_id": (ID, "id of the guess"),
    "name": ("anonymization", "`anonymization` or `reidentification`"),
    "report_id": (ID, "id of the report"),
    "rescore_id": (ID, "id of the re-score set"),
    "slug": ("small-cup", "address of the competition or of one of its rounds"),
    "submission_id": (ID, "id of the submission"),
    "target_id": (ID, "id of the target"),
    "team_id": (ID, "id of the team"),
    "token_id": (ID, "id of the token"),
    "user_id": (ID, "id of the person"),
}
"""An example and a description of each path parameter."""
_OPERATIONS_WITHOUT_DATABASE = {"healthz", "metrics"}
_TOKEN: JsonObject = {"token": []}
_SESSION: JsonObject = {"session": []}


def get_operation_id(route: APIRoute) -> str:
    """Return the name of the route, which is a stable operation id."""
    return route.name


def install(app: FastAPI) -> None:
    """Make the application serve the document of ``build_document``, which is built once."""

    def openapi() -> JsonObject:
        if not app.openapi_schema:
            app.openapi_schema = build_document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to replace it


def build_document(app: FastAPI) -> JsonObject:
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


def _list_security_schemes(dependencies: set[Any]) -> list[JsonObject]:
    """Return the security requirements: token or session, both optional, or none."""
    if require_principal in dependencies:
        return [_TOKEN, _SESSION]
    return [{}, _TOKEN, _SESSION] if read_credential in dependencies else []


def _describe_path_parameters(operation: JsonObject) -> None:
    """Add examples and descriptions to path parameters."""
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["example"], parameter["description"] = _PATH_PARAMETERS[parameter["name"]]


def _add_headers(operation: JsonObject, path: str) -> None:
    responses_by_status = operation["responses"]
    if "cursor" in _list_parameter_names(operation):
        _add_header(responses_by_status["200"], "Link")
    if "/boards/" in path or "304" in responses_by_status:
        operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
        responses_by_status["304"] = {"description": "The client already has the current response."}
        for status in ("200", "304"):
            _add_header(responses_by_status[status], "ETag")
    if path.endswith(".zip"):
        _add_header(responses_by_status["200"], "Content-Disposition")
    for status, response in responses_by_status.items():
        if response["description"] == "Successful Response":
            response["description"] = _DEFAULT_DESCRIPTIONS[int(status)]


def _add_header(response: JsonObject, name: str) -> None:
    response.setdefault("headers", {})[name] = {"$ref": f"#/components/headers/{name}"}


def _list_parameter_names(operation: JsonObject) -> list[str]:
    return [parameter["name"] for parameter in operation.get("parameters", ())]


def _collect_errors(
    operation: JsonObject, name: str, method: str, dependencies: set[Any]
) -> Mapping[int, list[str]]:
    """Return the error codes of an operation by status: those of its inputs, then its own."""
    own_codes: list[ErrorCode] = [
        (int(status), code)
        for status, response in operation["responses"].items()
        for code in response.get(responses.CODES_KEY, ())
    ]
    database_codes = () if name in _OPERATIONS_WITHOUT_DATABASE else responses.DATABASE_ERRORS
    return responses.group_by_status(
        [
            *_list_access_errors(method, dependencies),
            *database_codes,
            *_list_input_errors(operation),
            *own_codes,
        ]
    )


def _list_access_errors(method: str, dependencies: set[Any]) -> list[ErrorCode]:
    """Return the codes of signing in and of limits on requests."""
    codes: list[ErrorCode] = []
    if read_credential in dependencies:
        is_required = require_principal in dependencies
        codes += responses.REQUIRED_SIGN_IN_ERRORS if is_required else responses.OPTIONAL_SIGN_IN_ERRORS
        if method != "GET":
            codes += responses.COOKIE_SESSION_ERRORS
    if get_client_address in dependencies:
        codes += responses.THROTTLING_ERRORS
    return codes


def _list_input_errors(operation: JsonObject) -> list[ErrorCode]:
    """Return the codes of parameters and of the request body."""
    codes: list[ErrorCode] = []
    parameters = operation.get("parameters", ())
    for parameter in parameters:
        codes += responses.CODES_BY_PARAMETER.get(parameter["name"], ())
    if any(parameter["schema"] != _build_text_schema(parameter) for parameter in parameters):
        codes += responses.TYPED_PARAMETER_ERRORS
    for media_type in operation.get("requestBody", {}).get("content", ()):
        codes += responses.CODES_BY_MEDIA_TYPE[media_type]
    return codes


def _build_text_schema(parameter: JsonObject) -> JsonObject:
    """Return the schema that the parameter would have if it accepted every text."""
    labels = {key: parameter["schema"][key] for key in ("title", "description") if key in parameter["schema"]}
    return labels | {"type": "string"}


def _add_errors(operation: JsonObject, errors: Mapping[int, list[str]]) -> None:
    operation["responses"].pop("422", None)
    for status, codes in errors.items():
        examples = {code: {"$ref": f"#/components/examples/{status}.{code}"} for code in codes}
        content = {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}
        response: JsonObject = {
            "description": TITLE_BY_STATUS[status],
            "content": {"application/problem+json": content},
        }
        if status in _ERROR_HEADERS:
            _add_header(response, _ERROR_HEADERS[status])
        operation["responses"][str(status)] = response
    operation["responses"] = dict(sorted(operation["responses"].items()))


def _add_components(components: JsonObject) -> None:
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
            "description": f"The session of a browser ({SECURE_COOKIE} if it is for https only); "
            "requests that change something must come from the site's own pages",
        },
    }


def _build_error_example(status: int, code: str) -> JsonObject:
    description = ERROR_SENTENCES[code]
    return {
        "summary": description,
        "value": build_body(status, code, description, **_build_error_details(code)),
    }


def _build_error_details(code: str) -> JsonObject:
    """Return the additional fields of errors that have some."""
    if code == "malformed_upload":
        message = Message("row {row} has {found} cells instead of {needed}", row=3, found=3, needed=4)
        return describe_error(InvalidUpload([WrongInFile("anonymized", 3, None, "ragged_row", message)]))
    if code == "invalid_request":
        return {"fields": [{"field": "body.name", "message": "Field required"}]}
    if code == "too_large":
        return describe_error(build_too_large_error("anonymized", 64))
    return {}
