"""Render pages and error pages in the reader's language."""

import inspect
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, ParamSpec
from urllib.parse import urlencode, urlsplit

from babel import Locale
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from anoncup.errors import (
    DatabaseUnavailable,
    DomainError,
    InvalidInput,
    MalformedRequest,
    NotFound,
    NotSignedIn,
    TooManyRequests,
    Unavailable,
)
from anoncup.messages import N_, replace_control_characters
from anoncup.rules.rounds import choose_text
from app.config import get_settings
from app.core import wheels
from app.core.features import Feature
from app.core.http import problems
from app.core.http.problems import get_status
from app.core.identity import names
from app.core.identity.authentication import (
    CurrentPrincipal,
    OptionalPrincipal,
    authenticate,
    get_service_url,
)
from app.core.identity.principal import Principal
from app.core.identity.session_cookie import read_session_cookie
from app.core.locale.language import LANGUAGES, Translator
from app.core.pages import language as languages
from app.core.pages import markdown, notation

P = ParamSpec("P")

APP_FOLDER = Path(__file__).parents[2]
_FEATURES = sorted(folder.parent.name for folder in APP_FOLDER.glob("*/templates"))
_ONE_YEAR_S = 365 * 24 * 60 * 60
static_files = StaticFiles(
    packages=[(f"app.{folder.parent.name}", "static") for folder in APP_FOLDER.glob("*/static")]
)
templates = Jinja2Templates(
    env=Environment(
        # The name of a template begins with its feature, as in `targets/target.html`.
        loader=PrefixLoader({name: FileSystemLoader(APP_FOLDER / name / "templates") for name in _FEATURES}),
        autoescape=True,
    )
)
templates.env.undefined = StrictUndefined  # a missing variable raises an error instead of rendering nothing
templates.env.globals |= {
    "digits_of": notation.get_score_digits,
    "indexed": notation.mark_up_symbols,
    "percent": notation.format_percent,
    "heat_class": notation.find_heat_class,
    "json_text": partial(json.dumps, ensure_ascii=False),
    "languages": {tag: Locale.parse(tag).get_display_name(tag) for tag in LANGUAGES},
    "sentence": languages.translate_sentence,
    "visible": replace_control_characters,
    "service_address": get_service_url,
    "command": wheels.build_command,
    "sign_in_providers": lambda: get_settings().sign_in,
    "has_mail": lambda: get_settings().smtp is not None,
    "short_time": notation.format_short_time,
    "clock_time": notation.format_clock_time,
    "zone_name": notation.get_zone_abbreviation,
}


@pass_context
def _translate_person(context: Context, name: str) -> str:
    """Return the name of a person, in the reader's language if the account is closed."""
    is_closed = names.CLOSED_NAME_PATTERN.fullmatch(name)
    return str(context["_"](names.CLOSED_NAME, id=is_closed[1])) if is_closed else name


templates.env.filters |= {
    "markdown": markdown.render_markdown,
    "linked": markdown.link_addresses,
    "person": _translate_person,
}
_UNREADABLE_FORM = N_("this form cannot be read: check what you typed")
_CONTENT_DEFAULTS = {"to": None, "wrong_form": None, "rejection": None}
"""Defaults of template variables that only some pages set."""


@dataclass(frozen=True, slots=True)
class Page:
    """A request for a page, and the person who sent it if anybody is signed in."""

    request: Request
    principal: Principal | None

    @property
    def t(self) -> Translator:
        return languages.negotiate_translator(self.request)

    @property
    def features(self) -> tuple[Feature, ...]:
        """All features, in the order of the organizers' menu."""
        features: tuple[Feature, ...] = self.request.app.state.features
        return features

    def render(
        self, template: str, *, problem: DomainError | None = None, status: int = 200, **content: Any
    ) -> HTMLResponse:
        """Render a page in the reader's language, and store a language chosen with ``?lang=`` in a cookie.

        ``problem`` is the reason why a form was rejected. Its page shows it as ``error`` and ``error_code``.
        """
        frame = content.get("frame")
        t = languages.adapt_to_track(self.t, frame.round.track.name) if frame else self.t
        context = {
            "_": t,
            "label_of": t.label,
            "file_label": lambda kind, track, name, default: t.label(
                f"{kind}_{track}_{name}", t.label(f"{kind}_{name}", default)
            ),
            "ngettext": t.ngettext,
            "pgettext": t.pgettext,
            "numeral": partial(notation.localize_number, t=t),
            "score": partial(notation.localize_score, t=t),
            "hundredths": lambda rate: t.localize_numbers(notation.format_hundredths(rate)),
            "language": t.language,
            "title_in": lambda titles: choose_text(titles, t.language),
            "principal": self.principal,
            "done": self.request.query_params.get("done", ""),
            "status": get_status(problem) if problem else status,
            "error": translate_error(problem, t) if problem else None,
            "error_code": problem.code if problem else None,
            **_CONTENT_DEFAULTS,
            **content,
        }
        response = templates.TemplateResponse(self.request, template, context, status_code=context["status"])
        if self.request.query_params.get("lang") == t.language:
            response.set_cookie(languages.COOKIE, t.language, max_age=_ONE_YEAR_S, samesite="lax")
        if isinstance(problem, TooManyRequests | Unavailable):
            response.headers["Retry-After"] = str(problem.retry_after)
        return response


@dataclass(frozen=True, slots=True)
class UserPage(Page):
    """A request for a page by a person who is signed in."""

    principal: Principal


async def _open_page(request: Request, principal: OptionalPrincipal) -> Page:
    return Page(request, principal)


async def _open_user_page(request: Request, principal: CurrentPrincipal) -> UserPage:
    return UserPage(request, principal)


RequestedPage = Annotated[Page, Depends(_open_page)]
RequestedUserPage = Annotated[UserPage, Depends(_open_user_page)]


def show_problem(
    render: Callable[..., HTMLResponse],
) -> Callable[[Callable[P, Response]], Callable[P, Response]]:
    """Decorate the route of a form: if the form is rejected, render its page again with the problem.

    ``render`` gets the arguments of the route that it has a parameter for, such as the values of the fields.
    """
    parameters = inspect.signature(render).parameters

    def decorate(handle_form: Callable[P, Response]) -> Callable[P, Response]:
        @wraps(handle_form)
        def handle(*args: P.args, **kwargs: P.kwargs) -> Response:
            try:
                return handle_form(*args, **kwargs)
            except NotSignedIn:
                raise
            except DomainError as problem:
                arguments = {name: value for name, value in kwargs.items() if name in parameters}
                return render(**arguments, problem=problem)

        return handle

    return decorate


def see_other(path: str, *, notice: str | None = None) -> RedirectResponse:
    """Redirect to a page after a form was accepted. The page shows the label ``done_<notice>``."""
    return RedirectResponse(f"{path}?{urlencode({'done': notice})}" if notice else path, status_code=303)


class PageRoute(APIRoute):
    """A route that answers errors with HTML pages and redirects to the sign-in page where necessary."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_as_page(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as problem:
                return await run_in_threadpool(
                    _render_error_page, request, _convert_validation_error(problem)
                )
            except NotSignedIn:
                if "authorization" in request.headers:
                    raise  # the client uses an API token, so it is not a browser and cannot sign in
                return _redirect_to_sign_in(request)
            except DomainError as problem:
                return await run_in_threadpool(_render_error_page, request, problem)

        return handle_as_page


def _convert_validation_error(problem: RequestValidationError) -> DomainError:
    """Return NotFound for an invalid path, and InvalidInput for an invalid form or query."""
    is_path_invalid = any(entry["loc"][0] == "path" for entry in problem.errors())
    return (
        NotFound("there is nothing here")
        if is_path_invalid
        else InvalidInput(_UNREADABLE_FORM, code="invalid_request")
    )


def _redirect_to_sign_in(request: Request) -> RedirectResponse:
    """Redirect to the sign-in page, which then leads back to the requested page."""
    if request.method != "GET":
        # The submitted form is lost, so lead back to the page with the form.
        parameters = {"to": urlsplit(request.headers.get("referer", "")).path or "/", "unsent": "1"}
        return RedirectResponse(f"/sign-in?{urlencode(parameters)}", status_code=303)
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/sign-in?{urlencode({'to': request.url.path + query})}", status_code=303)


def _render_error_page(request: Request, problem: DomainError) -> HTMLResponse:
    """Render an error page. Hidden and missing resources give the same page."""
    page = Page(request, None if isinstance(problem, DatabaseUnavailable) else _find_principal(request))
    detail: str | None = translate_error(problem, page.t)
    if isinstance(problem, NotFound) or problem.code == "not_organizer":
        detail = None
    elif problem.code == "scope_missing":
        detail = page.t("Only organizers can open this page.")
    return page.render("core/refusal.html", problem=problem, detail=detail)


def _handle_http_error(request: Request, error: Exception) -> Response:
    """Answer framework errors such as unknown paths: browsers get a page, other clients JSON."""
    if not (isinstance(error, HTTPException) and _wants_html(request)):
        return problems.handle_http_error(request, error)
    if isinstance(error, problems.DomainHTTPException):
        response = _render_error_page(request, error.error)
    elif error.status_code == 400:
        response = _render_error_page(request, MalformedRequest(_UNREADABLE_FORM))
    else:
        code = problems.CODE_BY_STATUS.get(error.status_code, "not_found")
        detail = languages.negotiate_translator(request).label(f"http_{code}", "")
        page = Page(request, _find_principal(request))
        response = page.render("core/refusal.html", status=error.status_code, detail=detail)
    response.headers.update(problems.build_headers(request, error))
    return response


def _wants_html(request: Request) -> bool:
    """Return whether the client accepts HTML and the path is outside of the API."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")


def register_error_pages(app: FastAPI) -> None:
    """Install the error pages for errors raised outside of a page route."""
    app.add_exception_handler(HTTPException, _handle_http_error)


def _find_principal(request: Request) -> Principal | None:
    """Return the signed-in person, for error pages; None if nobody is signed in or it cannot be checked."""
    credential = read_session_cookie(request)
    try:
        return None if credential is None else authenticate(request, credential)
    except DomainError:
        return None


def translate_error(problem: DomainError, t: Translator) -> str:
    """Return an error's text in the reader's language: the label ``problem_<code>``, else its message."""
    return t.label(f"problem_{problem.code}", "") or languages.translate_sentence(problem.message, t)
