"""How every page is made: its language, its words, the one who looks, and what is said if it is refused."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from babel import Locale
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from fastapi.templating import Jinja2Templates
from jinja2 import StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from anoncup.errors import (
    DatabaseUnavailable,
    DomainError,
    InvalidInput,
    NotFound,
    NotSignedIn,
    TooMany,
    Unavailable,
    Unreadable,
)
from anoncup.messages import N_, message_under, visible
from app.http import problems
from app.http.authentication import known, service_address, session_of
from app.http.problems import status_of
from app.locale.language import LANGUAGES, Words
from app.services.accounts.accounts import Principal
from app.services.contests import announcements
from app.web.site import language as languages
from app.web.site import notation, raster, sentences
from app.web.site.static_files import PackedFiles

HERE = Path(__file__).parents[1]
ROOMS = ("site", "visitor", "team", "organizer")
A_YEAR_S = 365 * 24 * 60 * 60
static_files = PackedFiles(packages=[(f"app.web.{room}", "static") for room in ROOMS])
templates = Jinja2Templates(HERE)  # named by their rooms, as in `team/target.html`
templates.env.undefined = StrictUndefined  # a name that no page was given is a fault, not an empty place
templates.env.globals |= {
    "digits_of": notation.digits_of,
    "indexed": notation.indexed,
    "percent": notation.percent,
    "texts_of": announcements.texts,
    "message_under": message_under,
    "languages": {each: Locale.parse(each).get_display_name(each) for each in LANGUAGES},
    "sentence": sentences.sentence,
    "visible": visible,
    "service_address": service_address,
    "has_letters": raster.present,
    "clock_minute": notation.clock_minute,
    "clock_time": notation.clock_time,
    "zone_name": notation.zone_name,
}
NO_FORM_OF_OURS = N_("this form cannot be read: check what you typed")
NOTHING_REFUSED = {
    "to": None,
    "error": None,
    "error_code": None,
    "problem": None,
    "code": None,
    "wrong_form": None,
    "refused": None,
}
"""What a page with a form is told besides when it is shown again."""


def page(
    request: Request,
    principal: Principal | None,
    template: str,
    *,
    status: int = 200,
    **content: Any,
) -> HTMLResponse:
    """A page in the reader's language; a language asked for in the address is kept in a cookie."""
    language = languages.language_of(request)
    t = languages.words_in(language)
    context = {
        "_": t,
        "label_of": t.label,
        "ngettext": t.ngettext,
        "pgettext": t.pgettext,
        "numeral": lambda value: t.written(notation.numeral(value)),
        "score": lambda value, digits=notation.SCORE_DIGITS: t.written(notation.score(value, digits)),
        "language": language,
        "title_in": lambda titles: languages.title_in(titles, language),
        "principal": principal,
        "done": request.query_params.get("done", ""),
        "status": status,
        **NOTHING_REFUSED,
        **content,
    }
    answer = templates.TemplateResponse(request, template, context, status_code=status)
    if request.query_params.get("lang") == language:
        answer.set_cookie(languages.COOKIE, language, max_age=A_YEAR_S, samesite="lax")
    return answer


def see(path: str, *, done: str | None = None) -> RedirectResponse:
    """To a page after a form was taken in; ``done`` names what is said there (the word ``done_<name>``)."""
    return RedirectResponse(f"{path}?{urlencode({'done': done})}" if done else path, status_code=303)


def again(
    request: Request, principal: Principal | None, template: str, problem: DomainError, **content: Any
) -> HTMLResponse:
    """The page of a form once more, with what was wrong as ``error`` and ``error_code``."""
    t = languages.words_of(request)
    said: dict[str, Any] = {
        "status": status_of(problem),
        "error": sentence_of(problem, t),
        "error_code": problem.code,
    }
    return waiting(problem, page(request, principal, template, **said, **content))


def waiting(problem: DomainError, answer: HTMLResponse) -> HTMLResponse:
    """The answer, which says when to come back if there were too many tries, or too many at once."""
    if isinstance(problem, TooMany | Unavailable):
        answer.headers["Retry-After"] = str(problem.retry_after)
    return answer


class PageRoute(APIRoute):
    """A route whose refusals are pages too, and which asks who is not signed in to sign in."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_as_page(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as problem:
                return await run_in_threadpool(refusal, request, unreadable(problem))
            except NotSignedIn:
                if "authorization" in request.headers:
                    raise  # a client with a wrong token is no browser that could sign in
                return to_sign_in(request)
            except DomainError as problem:
                return await run_in_threadpool(refusal, request, problem)

        return handle_as_page


def unreadable(problem: RequestValidationError) -> DomainError:
    """An address that cannot be is one that does not exist; a form that is not ours is refused."""
    in_path = any(entry["loc"][0] == "path" for entry in problem.errors())
    return (
        NotFound("there is nothing here")
        if in_path
        else InvalidInput(NO_FORM_OF_OURS, code="invalid_request")
    )


def to_sign_in(request: Request) -> RedirectResponse:
    """To the sign-in, and from there back to the page that was asked for."""
    if request.method != "GET":
        # The form is lost with the session: back to the page that it stood on.
        asked = {"to": urlsplit(request.headers.get("referer", "")).path or "/", "unsent": "1"}
        return RedirectResponse(f"/sign-in?{urlencode(asked)}", status_code=303)
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/sign-in?{urlencode({'to': request.url.path + query})}", status_code=303)


def refusal(request: Request, problem: DomainError) -> HTMLResponse:
    """The page that says no; what is hidden and what does not exist look alike."""
    hidden = isinstance(problem, NotFound) or problem.code == "not_organizer"
    answer = page(
        request,
        None if isinstance(problem, DatabaseUnavailable) else who(request),
        "site/refusal.html",
        status=status_of(problem),
        code=problem.code,
        detail=None if hidden else refusal_sentence(problem, languages.words_of(request)),
    )
    return waiting(problem, answer)


def on_http_error(request: Request, error: Exception) -> Response:
    """What the framework refuses, such as an address that exists nowhere: to a browser, a page."""
    if not (isinstance(error, HTTPException) and wants_a_page(request)):
        return problems.on_http_error(request, error)
    if isinstance(error, problems.Refused):
        answer = refusal(request, error.problem)
    elif error.status_code == 400:
        answer = refusal(request, Unreadable(NO_FORM_OF_OURS))
    else:
        code = problems.CODES.get(error.status_code, "not_found")
        detail = languages.words_of(request).label(f"http_{code}", "")
        answer = page(
            request, who(request), "site/refusal.html", status=error.status_code, code=code, detail=detail
        )
    answer.headers.update(problems.headers_of(request, error))
    return answer


def wants_a_page(request: Request) -> bool:
    """Whether a browser asks, outside of the API."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")


def register(app: FastAPI) -> None:
    """Answer browsers with pages where no route does."""
    app.add_exception_handler(HTTPException, on_http_error)


def who(request: Request) -> Principal | None:
    """The one who looks, for a page that is made after a route has failed."""
    shown = session_of(request)
    try:
        return None if shown is None else known(request, shown)
    except DomainError:
        return None


def refusal_sentence(problem: DomainError, t: Words) -> str:
    """Return what the page says that refuses; of rights that a session lacks, who has them."""
    if problem.code == "scope_missing":
        return t("Only organizers can open this page.")
    return sentence_of(problem, t)


def sentence_of(problem: DomainError, t: Words) -> str:
    """A domain error in the reader's language; ``problem_<code>``: what pages say instead of it."""
    return t.label(f"problem_{problem.code}", "") or sentences.sentence(problem.message, t)
