"""One table from errors to answers: application/problem+json."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import compile_path

from anoncup import errors

STATUS: dict[type[errors.DomainError], int] = {
    errors.InvalidUpload: 422,
    errors.InvalidCompetition: 422,
    errors.InvalidInput: 422,
    errors.NotSignedIn: 401,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.TooSlow: 408,
    errors.TooMany: 429,
    errors.Unavailable: 503,
    errors.DomainError: 400,
}
TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported content type",
    421: "Misdirected request",
    422: "Malformed",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable",
}
CODES = {
    404: "not_found",
    405: "method_not_allowed",
    415: "content_type",
}


def body(status: int, code: str, detail: str, **more: Any) -> dict[str, Any]:
    """The body that every error has."""
    return {
        "type": f"urn:anoncup:problem:{code}",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
        "code": code,
        "values": {},
        **more,
    }


def problem(status: int, code: str, detail: str, **more: Any) -> JSONResponse:
    content = body(status, code, detail, **more)
    return JSONResponse(content, status_code=status, media_type="application/problem+json")


def status_of(error: errors.DomainError) -> int:
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def on_domain_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.DomainError)  # noqa: S101  # registered for this type only
    answer = problem(status_of(error), error.code, str(error), **errors.particulars(error))
    if isinstance(error, errors.TooMany | errors.Unavailable):
        answer.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, errors.NotSignedIn):
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def on_invalid_request(_: Request, error: Exception) -> Response:
    """What FastAPI could not read; the offending values are not repeated, for one may be a password."""
    assert isinstance(error, RequestValidationError)  # noqa: S101  # registered for this type only
    found = [
        {"field": ".".join(str(part) for part in entry["loc"]), "message": entry["msg"]}
        for entry in error.errors()
    ]
    return problem(422, "invalid_request", "the request is not of the form this call needs", fields=found)


class Refused(HTTPException):
    """Something wrong with a request that is found while the framework reads it, which lets only its own
    exceptions through."""

    def __init__(self, problem: errors.DomainError, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(status_of(problem), str(problem), headers)
        self.problem = problem


def on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  # registered for this type only
    if isinstance(error, Refused):
        answer = on_domain_error(request, error.problem)
    else:
        code = CODES.get(error.status_code, "bad_request")
        answer = problem(error.status_code, code, str(error.detail))
    answer.headers.update(headers_of(request, error))
    return answer


def headers_of(request: Request, error: HTTPException) -> dict[str, str]:
    """What the answer's head says besides."""
    told = dict(error.headers or {})
    if error.status_code == 405:
        told["Allow"] = ", ".join(sorted(methods_of(request)))
    return told


def methods_of(request: Request) -> set[str]:
    """What the path knows: every route declares it anew, and the framework names the first one's methods."""
    routes = iter_route_contexts(request.app.routes)
    path = request.scope["path"]
    found = (one.methods for one in routes if one.methods and compile_path(one.path or "")[0].match(path))
    return set().union(*found)


def on_broken_off(_: Request, __: Exception) -> Response:
    """The sender went away in the middle of the body: nobody hears this, but it is no fault of ours."""
    return problem(400, "bad_request", "the request was broken off")


def on_unexpected_error(_: Request, __: Exception) -> Response:
    return problem(500, "internal_error", "something went wrong on our side")


def register(app: FastAPI) -> None:
    app.add_exception_handler(errors.DomainError, on_domain_error)
    app.add_exception_handler(RequestValidationError, on_invalid_request)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(ClientDisconnect, on_broken_off)
    app.add_exception_handler(Exception, on_unexpected_error)
