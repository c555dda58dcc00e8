"""Routes of the webhooks of teams and organizers."""

from uuid import UUID

from fastapi import APIRouter, status

from anoncup import schemas
from app.api.documentation.responses import TEAM_ERRORS, build_error_responses
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.services.notifications import webhooks

router = APIRouter(tags=["webhooks"])


@router.post(
    "/competitions/{slug}/webhooks",
    status_code=status.HTTP_201_CREATED,
    responses=build_error_responses(
        *TEAM_ERRORS, "invalid_webhook", "invalid_webhook_url", "too_many_webhooks"
    ),
)
def add_webhook(slug: str, principal: CurrentPrincipal, body: schemas.WebhookIn) -> schemas.NewWebhook:
    """Add a webhook. Events are sent with signatures of Standard Webhooks, and again after a failure."""
    with transaction() as session:
        webhook, secret = webhooks.create(session, principal, slug, **body.model_dump())
    return schemas.NewWebhook.from_row(webhook, secret=secret)


@router.get("/competitions/{slug}/webhooks", responses=build_error_responses(*TEAM_ERRORS))
def list_webhooks(slug: str, principal: CurrentPrincipal) -> list[schemas.Webhook]:
    """List the webhooks of your team or, for organizers, of the competition, oldest first."""
    with transaction() as session:
        rows = webhooks.list_webhooks(session, principal, slug)
    return [schemas.Webhook.from_row(row) for row in rows]


@router.post("/webhooks/{webhook_id}/test", status_code=status.HTTP_202_ACCEPTED)
def test_webhook(webhook_id: UUID, principal: CurrentPrincipal) -> schemas.Webhook:
    """Have a test sent. If it arrives, a disabled webhook is enabled again."""
    with transaction() as session:
        return schemas.Webhook.from_row(webhooks.request_test(session, principal, webhook_id))


@router.delete("/webhooks/{webhook_id}", status_code=status.HTTP_204_NO_CONTENT)
def remove_webhook(webhook_id: UUID, principal: CurrentPrincipal) -> None:
    """Delete a webhook. Nothing is sent to it any more."""
    with transaction() as session:
        webhooks.remove(session, principal, webhook_id)
