"""Webhooks of a team or of the organizers of a competition."""

import secrets
from base64 import b64encode
from collections.abc import Collection, Sequence
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, InvalidInput, NotFound
from app.config import get_settings
from app.db.models import Competition, Webhook
from app.locale.language import ENGLISH, LANGUAGES
from app.services.accounts import audit, memberships
from app.services.accounts.principal import Principal
from app.services.contests import competitions
from app.services.jobs import outbox
from app.services.notifications.addresses import is_allowed

FORMATS = ("json", "slack", "discord")
MAX_WEBHOOKS = 5
"""Maximum number of webhooks of a team, and of the organizers together."""
_MAX_URL_LENGTH = 2_000
_SECRET_PREFIX = "whsec_"  # noqa: S105  # from the specification of Standard Webhooks
_SECRET_BYTES = 32


def create(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    url: str,
    format: str,  # noqa: A002  # the name in the API
    events: Collection[str],
    language: str = ENGLISH,
) -> tuple[Webhook, str]:
    """Add a webhook of the person's team or, for organizers, of the competition; return it with its secret.

    The secret is shown once.
    """
    competition_id, team_id = _authorize(session, principal, slug, for_update=True)
    is_owned = _is_owned(competition_id, team_id)
    if session.scalars(select(func.count()).where(is_owned)).one() >= MAX_WEBHOOKS:
        raise Conflict("there are {most} webhooks already", code="too_many_webhooks", most=MAX_WEBHOOKS)
    host = _require_valid_url(url).hostname
    available = outbox.EVENTS if team_id else outbox.ORGANIZER_EVENTS
    if format not in FORMATS or language not in LANGUAGES or not events or not set(events) <= set(available):
        raise InvalidInput(
            "a webhook has one of the formats {formats}, and at least one of the events {events}",
            code="invalid_webhook",
            formats=FORMATS,
            events=available,
        )
    key = secrets.token_bytes(_SECRET_BYTES)
    webhook = Webhook(
        competition_id=competition_id,
        team_id=team_id,
        user_id=principal.user_id,
        format=format,
        language=language,
        events=[event for event in outbox.EVENTS if event in events],
        host=host,
        url=url,
        secret=key,
    )
    session.add(webhook)
    session.flush()
    if team_id is None:
        audit.record(session, principal, "webhook.create", competition_id, subject=webhook.host)
    return webhook, _SECRET_PREFIX + b64encode(key).decode()


def list_webhooks(session: Session, principal: Principal, slug: str) -> Sequence[Webhook]:
    """Return the webhooks of the person's team or, for organizers, of the competition, oldest first."""
    is_owned = _is_owned(*_authorize(session, principal, slug, scope="read"))
    return session.scalars(select(Webhook).where(is_owned).order_by(Webhook.created_at, Webhook.id)).all()


def request_test(session: Session, principal: Principal, webhook_id: UUID) -> Webhook:
    """Ask for a test event. If a disabled webhook accepts it, it is enabled again."""
    webhook = _find(session, principal, webhook_id)
    outbox.add_test(session, webhook.id)
    return webhook


def remove(session: Session, principal: Principal, webhook_id: UUID) -> None:
    webhook = _find(session, principal, webhook_id)
    if webhook.team_id is None:
        audit.record(session, principal, "webhook.remove", webhook.competition_id, subject=webhook.host)
    session.delete(webhook)


def _find(session: Session, principal: Principal, webhook_id: UUID) -> Webhook:
    """Return a webhook that the person may change; raise NotFound for others."""
    webhook = session.get(Webhook, webhook_id)
    if webhook is None or not _owns(session, principal, webhook):
        raise NotFound("there is no such webhook", code="no_such_webhook")
    principal.require("submit" if webhook.team_id else "organize")
    return webhook


def _owns(session: Session, principal: Principal, webhook: Webhook) -> bool:
    if webhook.team_id is None:
        return competitions.is_organizer(session, webhook.competition_id, principal)
    team = memberships.find_team(session, webhook.competition_id, principal)
    return team is not None and team.id == webhook.team_id


def _authorize(
    session: Session, principal: Principal, slug: str, *, scope: str | None = None, for_update: bool = False
) -> tuple[UUID, UUID | None]:
    """Return the competition, and the person's team or None for an organizer; raise Forbidden for others.

    ``for_update`` locks the owner, so that the number of its webhooks does not change meanwhile.
    """
    competition_id = competitions.find(session, principal, slug).id
    if competitions.is_organizer(session, competition_id, principal):
        principal.require(scope or "organize")
        session.get_one(Competition, competition_id, with_for_update=for_update or None)
        return competition_id, None
    principal.require(scope or "submit")
    team = memberships.require_team(session, competition_id, principal, for_update=for_update)
    return competition_id, team.id


def _is_owned(competition_id: UUID, team_id: UUID | None) -> ColumnElement[bool]:
    return (Webhook.competition_id == competition_id) & (Webhook.team_id.is_not_distinct_from(team_id))


def _require_valid_url(url: str) -> SplitResult:
    """Return the parts of a URL; raise InvalidInput if nothing would be sent to it.

    Whether its host has a public address is checked whenever something is sent.
    """
    try:
        parts = urlsplit(url)
        is_valid = bool(parts.hostname) and parts.port != 0 and parts.username is None
    except ValueError:
        is_valid = False
    permits_private = get_settings().webhook_private_networks
    if (
        not is_valid
        or parts.scheme not in ({"http", "https"} if permits_private else {"https"})
        or len(url) > _MAX_URL_LENGTH
        or not url.isascii()
        or not url.isprintable()
        or " " in url
        or _is_refused_address(parts.hostname or "")
    ):
        raise InvalidInput(
            "a webhook needs a public https address such as {example}",
            code="invalid_webhook_url",
            example="https://hooks.example.org/anoncup",
        )
    return parts


def _is_refused_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return not is_allowed(host)
