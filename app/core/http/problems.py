"""Convert errors to problem responses (application/problem+json) by one table."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import compile_path

from anoncup import errors

_STATUS_BY_ERROR: dict[type[errors.DomainError], int] = {
    errors.InvalidUpload: 422,
    errors.InvalidCompetition: 422,
    errors.InvalidInput: 422,
    errors.NotSignedIn: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.TooManyRequests: 429,
    errors.Unavailable: 503,
    errors.DomainError: 400,
}
_TITLE_BY_STATUS = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported content type",
    421: "Misdirected request",
    422: "Malformed",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable",
}
CODE_BY_STATUS = {
    404: "not_found",
    405: "method_not_allowed",
    415: "content_type",
}


def build_problem(status: int, code: str, detail: str, **extra: Any) -> JSONResponse:
    content = {
        "type": f"urn:anoncup:problem:{code}",
        "title": _TITLE_BY_STATUS.get(status, "Error"),
        "status": status,
        "detail": detail,
        "code": code,
        "values": {},
        **extra,
    }
    return JSONResponse(content, status_code=status, media_type="application/problem+json")


def get_status(error: errors.DomainError) -> int:
    return next(
        _STATUS_BY_ERROR[error_type] for error_type in type(error).__mro__ if error_type in _STATUS_BY_ERROR
    )


def _handle_domain_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.DomainError)  # noqa: S101  # registered for this type only
    return build_domain_problem(error)


def build_domain_problem(error: errors.DomainError) -> JSONResponse:
    response = build_problem(get_status(error), error.code, str(error), **errors.describe_error(error))
    if isinstance(error, errors.TooManyRequests | errors.Unavailable):
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, errors.NotSignedIn):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _handle_invalid_request(_: Request, error: Exception) -> Response:
    """Report what FastAPI could not parse, without the rejected values, one of which may be a password."""
    assert isinstance(error, RequestValidationError)  # noqa: S101  # registered for this type only
    fields = [
        {"field": ".".join(str(part) for part in entry["loc"]), "message": entry["msg"]}
        for entry in error.errors()
    ]
    return build_problem(
        422, "invalid_request", "the request is not of the form this call needs", fields=fields
    )


class DomainHTTPException(HTTPException):
    """A domain error raised while the framework reads the request, which passes on HTTPExceptions only."""

    def __init__(self, error: errors.DomainError) -> None:
        super().__init__(get_status(error), str(error))
        self.error = error


def handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  # registered for this type only
    if isinstance(error, DomainHTTPException):
        response = build_domain_problem(error.error)
    else:
        code = CODE_BY_STATUS.get(error.status_code, "bad_request")
        response = build_problem(error.status_code, code, str(error.detail))
    response.headers.update(build_headers(request, error))
    return response


def build_headers(request: Request, error: HTTPException) -> dict[str, str]:
    """Return the additional response headers, including Allow for 405."""
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(sorted(_list_allowed_methods(request)))
    return headers


def _list_allowed_methods(request: Request) -> set[str]:
    """Return the methods of all routes that match the path; the framework lists the first route's only."""
    routes = iter_route_contexts(request.app.routes)
    path = request.scope["path"]
    method_sets = (
        route.methods for route in routes if route.methods and compile_path(route.path or "")[0].match(path)
    )
    return set().union(*method_sets)


def _handle_disconnect(_: Request, __: Exception) -> Response:
    """Return 400 for a client that disconnected while sending, so that it is not logged as a server error."""
    return build_problem(400, "bad_request", "the request was broken off")


def _handle_unexpected_error(_: Request, __: Exception) -> Response:
    return build_problem(500, "internal_error", "something went wrong on our side")


def register_handlers(app: FastAPI) -> None:
    app.add_exception_handler(errors.DomainError, _handle_domain_error)
    app.add_exception_handler(RequestValidationError, _handle_invalid_request)
    app.add_exception_handler(HTTPException, handle_http_error)
    app.add_exception_handler(ClientDisconnect, _handle_disconnect)
    app.add_exception_handler(Exception, _handle_unexpected_error)
