"""Requests to webhooks: bodies in each format, and their signature by Standard Webhooks."""

import hashlib
import hmac
import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.config import get_settings
from app.db.models import Competition, Delivery, Webhook
from app.locale.language import Translator
from app.services.contests import competitions
from app.services.notifications.event_content import EventContent

_MAX_DISCORD_LENGTH = 2_000
_SLACK_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """A signed request."""

    url: str
    headers: Mapping[str, str]
    body: bytes


def build_request(
    delivery: Delivery,
    competition: Competition,
    content: EventContent,
    translator: Translator,
    *,
    sent_at: datetime,
) -> WebhookRequest:
    webhook = delivery.webhook
    fields = _build_body(delivery, competition, content, translator)
    body = json.dumps(fields, ensure_ascii=False).encode()
    timestamp = str(int(sent_at.timestamp()))
    headers = {
        "content-type": "application/json",
        "user-agent": "anoncup",
        "webhook-id": str(delivery.id),
        "webhook-timestamp": timestamp,
        "webhook-signature": sign(webhook.secret, str(delivery.id), timestamp, body),
    }
    return WebhookRequest(webhook.url, headers, body)


def sign(key: bytes, identifier: str, timestamp: str, body: bytes) -> str:
    """Return the value of the header ``webhook-signature``."""
    content = f"{identifier}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def _build_body(
    delivery: Delivery, competition: Competition, content: EventContent, translator: Translator
) -> dict[str, Any]:
    url = get_settings().public_url + (content.path or f"/competitions/{competition.slug}")
    webhook: Webhook = delivery.webhook
    if webhook.format == "json":
        data = {"competition": competition.slug, **content.fields, "url": url}
        return {"type": delivery.event, "timestamp": delivery.created_at.isoformat(), "data": data}
    titles = competitions.get_title(competition)
    title = titles.get(translator.language) or next(iter(titles.values()))
    text = f"{title}\n{translator.translate_message(content.sentence)}\n{url}"
    if webhook.format == "slack":
        # Texts of people could otherwise notify a whole channel.
        return {"text": text.translate(_SLACK_ESCAPES)}
    return {"content": text[:_MAX_DISCORD_LENGTH], "allowed_mentions": {"parse": []}}
