"""Front, board and submission pages, and the sign-in they need."""

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.templating import Jinja2Templates
from sqlalchemy.orm import Session
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from app import throttle
from app.errors import DomainError, NotAllowed, NotFound, NotSignedIn, TooMany
from app.http.dependencies import COOKIE, Address, AppSettings, MaybeSignedIn, require_same_origin
from app.http.problems import status_of
from app.services import accounts, competitions, phases, submissions, teams
from app.services.accounts import Principal
from app.services.boards import anonymization
from app.services.boards.anonymization import Board
from app.transaction import transaction
from app.web import words

HERE = Path(__file__).parent
router = APIRouter()
static_files = StaticFiles(directory=HERE / "static")
templates = Jinja2Templates(HERE / "templates")
templates.env.globals |= {
    "arrow": words.arrow,
    "score": words.score,
    "shown": words.shown,
    "shown_time": words.shown_time,
}


def page(request: Request, principal: Principal | None, name: str, **content: Any) -> HTMLResponse:
    language = words.language_of(request)
    context = {
        "language": language,
        "t": {key: texts[language] for key, texts in words.WORDS.items()},
        "title_in": lambda titles: words.title_in(titles, language),
        "principal": principal,
        **content,
    }
    status = content.get("status", 200)
    return templates.TemplateResponse(request, name, context, status_code=status)


@router.get("/")
def front(request: Request, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        rows = competitions.listed(session)
        files = [competitions.read_file(row.file) for row in rows]
        states = [phases.standing(session, row).state for row in rows]
    return page(request, principal, "front.html", listed=list(zip(files, states, strict=True)))


@router.get("/competitions/{slug}")
def board(request: Request, slug: str, principal: MaybeSignedIn) -> HTMLResponse:
    """The board, and below it the reader's own submissions; a closed board hides only itself."""
    try:
        with transaction() as session:
            row = competitions.find(session, slug)
            competition = competitions.read_file(row.file)
            content = {
                "competition": competition,
                "state": phases.standing(session, row).state,
                "board": board_if_open(session, principal, slug),
            }
            team = teams.team_of(session, row.id, principal) if principal else None
            own = submissions.of_team(session, principal, slug) if principal and team else None
    except DomainError as problem:
        return refusal(request, principal, problem)
    return page(request, principal, "board.html", **content, own=own, team=team)


def board_if_open(session: Session, principal: Principal | None, slug: str) -> Board | None:
    try:
        return anonymization.board(session, principal, slug)
    except NotAllowed:
        return None


@router.get("/submissions/{submission_id}")
def submission(request: Request, submission_id: str, principal: MaybeSignedIn) -> Response:
    try:
        identifier = UUID(submission_id)
    except ValueError:
        return refusal(request, principal, NotFound("there is no such submission"))
    if principal is None:
        language = words.language_of(request)
        to = quote(f"/submissions/{identifier}?lang={language}")
        return RedirectResponse(f"/sign-in?lang={language}&to={to}", status_code=303)
    try:
        with transaction() as session:
            found = submissions.visible(session, principal, identifier)
            row = competitions.find(session, submissions.slug_of(session, found))
            ahead = submissions.place_in_queue(session, found.evaluation)
    except DomainError as problem:
        return refusal(request, principal, problem)
    competition = competitions.read_file(row.file)
    return page(
        request,
        principal,
        "submission.html",
        found=found,
        competition=competition,
        scales=row.scales,
        ahead=ahead,
    )


@router.get("/sign-in")
def sign_in_form(request: Request, principal: MaybeSignedIn, to: str = "/") -> HTMLResponse:
    return page(request, principal, "sign_in.html", to=own_path(to), failed=False)


@router.post("/sign-in")
def sign_in(
    request: Request,
    settings: AppSettings,
    address: Address,
    *,
    name: Annotated[str, Form()],
    password: Annotated[str, Form()],
    to: Annotated[str, Form()] = "/",
) -> Response:
    require_same_origin(request)
    try:
        with throttle.tries(address, account=accounts.searched_key(name)), transaction() as session:
            user = accounts.check_password(session, name=name, password=password)
            token = accounts.issue_token(session, user, name="browser", life=accounts.SESSION_LIFE)
    except NotSignedIn:
        return page(request, None, "sign_in.html", to=own_path(to), failed=True, status=401)
    except TooMany as problem:
        answer = page(request, None, "sign_in.html", to=own_path(to), failed=True, status=429)
        answer.headers["Retry-After"] = str(problem.retry_after)
        return answer
    entered = RedirectResponse(own_path(to), status_code=303)
    entered.set_cookie(
        COOKIE,
        token,
        max_age=int(accounts.SESSION_LIFE.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=settings.secure_cookies,
    )
    return entered


@router.post("/sign-out")
def sign_out(request: Request, principal: MaybeSignedIn) -> Response:
    if principal is not None:
        with transaction() as session:
            accounts.revoke(session, principal)
    answer = RedirectResponse(f"/?lang={words.language_of(request)}", status_code=303)
    answer.delete_cookie(COOKIE)
    return answer


def own_path(to: str) -> str:
    """Only a path of this site: a link must not send a freshly signed-in person elsewhere.

    Browsers read a backslash as a slash and drop control characters: neither is in a path of ours.
    """
    own = to.startswith("/") and not to.startswith("//") and "\\" not in to and to.isprintable()
    return to if own else "/"


def refusal(request: Request, principal: Principal | None, problem: DomainError) -> HTMLResponse:
    hidden = isinstance(problem, NotFound | NotAllowed)
    return page(
        request,
        principal,
        "refusal.html",
        detail=None if hidden else problem.detail,
        status=status_of(problem),
    )
