"""The page on which administrators create accounts, change roles and make password links."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from anoncup.schemas import PasswordLink
from anoncup.schemas.fields import Role
from app.accounts import passwords, people
from app.accounts.step_up import FormReauthentication
from app.core.db.transaction import transaction
from app.core.http.paging import decode_position, encode_cursor
from app.core.identity.authentication import get_service_url
from app.core.pages.pages import PageRoute, RequestedUserPage, UserPage, see_other, show_problem

router = APIRouter(route_class=PageRoute, prefix="/people")

PAGE_SIZE = 50


def _render_people(
    page: UserPage,
    *,
    cursor: str | None = None,
    problem: DomainError | None = None,
    name: str = "",
    role: Role = Role.ORGANIZER,
    new_link: dict[str, Any] | None = None,
) -> HTMLResponse:
    """Render the accounts. ``new_link`` is a password link, which is shown only once."""
    position = decode_position(cursor)
    with transaction() as session:
        rows = people.list_people(session, page.principal, cursor=position, limit=PAGE_SIZE + 1)
    last = rows[PAGE_SIZE - 1] if len(rows) > PAGE_SIZE else None
    return page.render(
        "accounts/people.html",
        problem=problem,
        status=201 if new_link else 200,
        people=rows[:PAGE_SIZE],
        following=encode_cursor(last.created_at, last.id) if last else None,
        cursor=cursor,
        name=name,
        role=role,
        roles=list(Role),
        new_link=new_link,
    )


def _render_link(page: UserPage, name: str, link: PasswordLink) -> HTMLResponse:
    address = f"{get_service_url(page.request)}/password?code={link.code}"
    return _render_people(page, new_link={"address": address, "name": name, "expires_at": link.expires_at})


@router.get("")
def show_people(page: RequestedUserPage, cursor: str | None = None) -> HTMLResponse:
    return _render_people(page, cursor=cursor)


@router.get("/{user_id}/role")
@router.get("/password-link")
def redirect_to_people() -> Response:
    """Redirect if the response of a form is reloaded: it may have shown a link, which is shown only once."""
    return see_other("/people")


@router.post("")
@show_problem(_render_people)
def create_person(
    page: RequestedUserPage,
    *,
    reauthenticate: FormReauthentication,
    name: Annotated[str, Form()] = "",
    role: Annotated[Role, Form()],
) -> HTMLResponse:
    principal = reauthenticate()
    with transaction() as session:
        user, link = people.create(session, principal, name=name, role=role)
        name = user.name
    return _render_link(page, name, link)


@router.post("/{user_id}/role")
@show_problem(_render_people)
def change_role(
    page: RequestedUserPage,  # noqa: ARG001  # for show_problem
    user_id: UUID,
    *,
    reauthenticate: FormReauthentication,
    new_role: Annotated[Role, Form()],
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        people.change_role(session, principal, user_id, new_role)
    return see_other("/people", notice="role_changed")


@router.post("/password-link")
@show_problem(_render_people)
def create_password_link(
    page: RequestedUserPage, *, reauthenticate: FormReauthentication, person: Annotated[str, Form()]
) -> HTMLResponse:
    principal = reauthenticate()
    with transaction() as session:
        link = passwords.issue_link(session, principal, person)
    return _render_link(page, person, link)
