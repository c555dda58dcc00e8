"""Texts, fields and times of organizer pages while a contest runs."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

from anoncup.messages import CodedMessage, Message
from app.core.db.models import Evaluation, State
from app.core.db.transaction import transaction
from tests.support.arena import Arena
from tests.support.page_requests import get_page

ORGANIZE_PATH = "/competitions/small/organize"


def submit_release(arena: Arena, team: str, seed: int = 1) -> str:
    return str(arena.submit(team, seed=seed).json()["id"])


def get_page_text(arena: Arena, path: str = "", *, language: str = "en", status: int = 200) -> str:
    response = get_page(arena, ORGANIZE_PATH + path, organizer=True, language=language)
    assert response.status_code == status, response.text
    return unescape(response.text)


def fail_evaluation(submission_id: str) -> None:
    with transaction() as session:
        evaluation = session.query(Evaluation).filter_by(submission_id=submission_id, current=True).one()
        evaluation.state = State.ERROR
        evaluation.failure = CodedMessage("scoring_failed", Message("the disk was full"))


def format_future_time(days: float) -> str:
    """Return a time in the competition's zone, as a date and time field sends it."""
    moment = datetime.now(UTC) + timedelta(days=days, hours=9)
    return moment.strftime("%Y-%m-%dT%H:%M")


def extract_hidden_fields(html: str) -> dict[str, str]:
    """Return the hidden fields of a page's form."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', html))
