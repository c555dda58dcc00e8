"""The organizers' page of health, and the links between their pages."""

import re
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import update

from anoncup.runner import sandbox
from anoncup.schemas.fields import Role
from app.core.db.models import Evaluation
from app.core.db.transaction import read_clock, transaction
from app.core.processes import parsing
from app.core.processes.parsing import PackageFailure
from app.jobs import health
from tests.support.accounts import sign_in_new_person
from tests.support.arena import Arena
from tests.support.organizer_pages import ORGANIZE_PATH, get_page_text
from tests.support.page_requests import get_page
from tests.support.translations import translate

pytestmark = pytest.mark.full


def test_health_page_reports_missing_clock_and_workers(arena: Arena) -> None:
    assert "The regular tasks have not run for a minute: phases do not change." in get_page_text(
        arena, "/health"
    )
    arena.submit("red")
    with transaction() as session:
        for task in (health.SWEEP_TASK, "turn"):
            health.record_heartbeat(session, task)
    well = translate("All is well: no work waits for long, and the regular tasks run.")
    assert well in get_page_text(arena, "/health")
    arena.team_tokens["root"] = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    assert (
        well not in get_page(arena, f"{ORGANIZE_PATH}/health", team="root").text
    )  # who sees that no worker answers
    with transaction() as session:
        session.execute(update(Evaluation).values(created_at=read_clock(session) - timedelta(minutes=5)))
    html = get_page_text(arena, "/health")
    assert "Work has been waiting for more than a minute and nothing is running" in html
    assert well not in html
    assert translate("duty_stalled", n=1) in get_page_text(arena)


def test_health_page_shows_uploads_that_a_package_could_not_read(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        failure = PackageFailure("the package {package} fails", package="mine")
        failure.traceback = "in parse_release"
        raise failure

    arena.get_team_token("red")
    monkeypatch.setattr(parsing, "read_upload", fail)
    refusal = arena.submit("red")
    assert (refusal.status_code, refusal.json()["code"]) == (503, "package_failed")
    text = get_page_text(arena, "/health")
    for words in ("Uploads that a package could not read", "The package mine fails", "in parse_release"):
        assert words in text


def test_health_page_shows_sandboxes_only_to_administrators(arena: Arena) -> None:
    arena.team_tokens["root"] = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    texts = (
        sandbox.describe("required"),
        translate("No worker has answered. A busy worker may be slow: load the page again."),
    )
    for reader, is_shown in (({"team": "root"}, True), ({"organizer": True}, False)):
        html = get_page(arena, ORGANIZE_PATH + "/health", **reader).text
        assert [text in unescape(html) for text in texts] == [is_shown] * 2


def test_organizer_pages_link_to_each_other(arena: Arena) -> None:
    navigation = get_page_text(arena).partition("</nav>\n  <div")[0]
    paths = set(re.findall(rf'href="({ORGANIZE_PATH}[/a-z]*)"', navigation))
    assert len(paths) >= 14
    for path in paths:
        response = get_page(arena, path, organizer=True)
        assert response.status_code == 200, path
        assert f'href="{path}" aria-current="page"' in response.text
        assert unescape(response.text).count("<h1") == 1
