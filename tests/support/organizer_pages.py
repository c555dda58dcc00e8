"""Pages of an organizer while a contest runs."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from fastapi.testclient import TestClient

from anoncup.messages import Message, Statement
from app.db.models import Evaluation, State
from app.db.transaction import transaction
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.web.reader import page

DESK = "/competitions/small/organize"


def read(arena: Arena, path: str = "", *, language: str = "en", status: int = 200) -> str:
    answer = page(arena, DESK + path, organizer=True, language=language)
    assert answer.status_code == status, answer.text
    return unescape(answer.text)


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return Contest.opened(client)


def failed(submission_id: str) -> None:
    with transaction() as session:
        evaluation = session.query(Evaluation).filter_by(submission_id=submission_id, current=True).one()
        evaluation.state, evaluation.failure = (
            State.ERROR,
            Statement("scoring_failed", Message("the disk was full")),
        )


def later(days: float) -> str:
    """A time on the competition's clock, as a field for date and time gives it."""
    moment = datetime.now(UTC) + timedelta(days=days, hours=9)
    return moment.strftime("%Y-%m-%dT%H:%M")


def fields_of(shown: str) -> dict[str, str]:
    """The hidden fields of a page's form."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', shown))


def extension(days: float, *, follow: bool = True) -> str:
    more = "&move_following=true" if follow else ""
    return f"/phases/anonymization/extend?end={later(days)}{more}"
