"""The page of the webhooks of a team or, for organizers, of a competition."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.services.jobs import outbox
from app.services.notifications import webhooks
from app.web.site.frame import load_frame
from app.web.site.pages import PageRoute, RequestedUserPage, UserPage, see_other, show_problem

router = APIRouter(route_class=PageRoute, prefix="/competitions/{slug}/webhooks")


def _render_webhooks(
    page: UserPage,
    slug: str,
    *,
    problem: DomainError | None = None,
    secret: str | None = None,
    url: str = "",
    format: str = "json",  # noqa: A002  # the name of the field
    events: tuple[str, ...] | None = None,
) -> HTMLResponse:
    """Render the webhooks. ``secret`` is that of a new one, which is shown only once."""
    with transaction() as session:
        rows = webhooks.list_webhooks(session, page.principal, slug)
        frame = load_frame(session, page.principal, slug)
    available = outbox.ORGANIZER_EVENTS if frame.is_organizer else outbox.EVENTS
    return page.render(
        "team/webhooks.html",
        problem=problem,
        status=201 if secret else 200,
        frame=frame,
        webhooks=rows,
        secret=secret,
        url=url,
        format=format,
        formats=webhooks.FORMATS,
        events=available,
        chosen=available if events is None else events,
        most=webhooks.MAX_WEBHOOKS,
    )


@router.get("")
def show_webhooks(page: RequestedUserPage, slug: str) -> HTMLResponse:
    return _render_webhooks(page, slug)


@router.post("")
@show_problem(_render_webhooks)
def add_webhook(
    page: RequestedUserPage,
    slug: str,
    url: Annotated[str, Form()] = "",
    format: Annotated[str, Form()] = "json",  # noqa: A002
    events: Annotated[tuple[str, ...], Form()] = (),
) -> HTMLResponse:
    with transaction() as session:
        _, secret = webhooks.create(
            session,
            page.principal,
            slug,
            url=url.strip(),
            format=format,
            events=events,
            language=page.t.language,
        )
    return _render_webhooks(page, slug, secret=secret)


@router.post("/{webhook_id}/test")
@show_problem(_render_webhooks)
def test_webhook(page: RequestedUserPage, slug: str, webhook_id: UUID) -> Response:
    with transaction() as session:
        webhooks.request_test(session, page.principal, webhook_id)
    return see_other(f"/competitions/{slug}/webhooks", notice="webhook_test")


@router.post("/{webhook_id}/remove")
@show_problem(_render_webhooks)
def remove_webhook(page: RequestedUserPage, slug: str, webhook_id: UUID) -> Response:
    with transaction() as session:
        webhooks.remove(session, page.principal, webhook_id)
    return see_other(f"/competitions/{slug}/webhooks", notice="webhook_removed")
