"""Publishing a competition: what forbids it, what is warned of, and that drafts wait."""

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from anoncup.tables.csv_text import write_csv
from app.core.db.models import AuditEntry, Delivery, NotificationUrl, State, ThresholdReport
from app.core.db.transaction import transaction
from app.notifications import phase_reminders
from tests.recorded import REPORT
from tests.support.arena import API, PASSWORD, Arena, build_competition_toml
from tests.support.contest import Contest, load_competition, load_round, run_clock
from tests.support.database_rows import execute, load_all
from tests.support.page_requests import get_page, post_form
from tests.support.two_rounds import build_two_round_toml

PUBLISH_PAGE = "/competitions/small/organize/publish"


@pytest.fixture
def draft(client: TestClient) -> Contest:
    return Contest(Arena.create(client, is_draft=True))


def try_publishing(arena: Arena) -> tuple[int, str, list[str]]:
    """Return status and code of the answer, and the codes of what is missing."""
    response = arena.post("/competitions/small/publish")
    problem = response.json()
    return response.status_code, problem["code"], problem["values"].get("codes", [])


def read_points(arena: Arena) -> list[str]:
    """Return the organizers' pages that the page of publishing leads to, in order."""
    html = get_page(arena, PUBLISH_PAGE, organizer=True).text
    points = html.partition("<h1>")[2].partition('id="public"')[0]
    return re.findall(r'/organize/(\w+)">[^<]*</a></li>', points)


def test_what_is_missing_forbids_publishing(draft: Contest) -> None:
    arena = draft.arena
    bare = build_competition_toml(threshold=0.2).replace("threshold = 0.2\n", "").partition("[[phases]]")[0]
    bare = bare.replace('["income", "rent"]', '["income"]')  # which removes the data
    assert arena.put("/competitions/small/competition.toml", content=bare).status_code == 200
    assert try_publishing(arena) == (409, "not_ready", ["no_original", "no_threshold", "no_phases"])
    assert read_points(arena)[:3] == ["data", "threshold", "file"]
    assert 'name="password"' not in get_page(arena, PUBLISH_PAGE, organizer=True).text
    response = post_form(arena, PUBLISH_PAGE, {"password": PASSWORD}, organizer=True)
    assert (response.status_code, load_competition().published_at) == (409, None)


def test_contest_that_is_over_cannot_be_published(draft: Contest) -> None:
    draft.move_phases(anonymization=(-48, -24))
    assert try_publishing(draft.arena) == (409, "not_ready", ["phase_over"])


def test_publishing_needs_the_password_and_happens_once(draft: Contest) -> None:
    arena, headers = draft.arena, {"Authorization": f"Bearer {draft.arena.organizer_token}"}
    unconfirmed = arena.client.post(f"{API}/competitions/small/publish", headers=headers)
    assert (unconfirmed.status_code, unconfirmed.json()["code"]) == (403, "password_needed")
    assert arena.client.get(f"{API}/competitions/small").status_code == 404
    wrong = post_form(arena, PUBLISH_PAGE, {"password": "wrong"}, organizer=True)
    assert wrong.status_code == 422
    right = post_form(arena, PUBLISH_PAGE, {"password": PASSWORD}, organizer=True)
    assert (right.status_code, right.headers["location"]) == (
        303,
        "/competitions/small/organize?done=published",
    )
    public = arena.client.get(f"{API}/competitions/small").json()
    assert (public["state"], public["published_at"] is None) == ("anonymization", False)
    assert try_publishing(arena) == (409, "already_published", [])
    (entry,) = load_all(select(AuditEntry).where(AuditEntry.action == "competition.publish"))
    assert entry.after == {"warnings": ["no_report", "no_invites", "phase_begun"]}


def test_warnings_name_the_leader_of_the_newest_report_on_these_data(draft: Contest) -> None:
    arena, report = draft.arena, REPORT
    arena.post("/competitions/small/invites", json={})
    draft.move_phases(anonymization=(1, 2))
    assert read_points(arena) == ["threshold"]  # no report
    add_report(arena, report)
    page = get_page(arena, PUBLISH_PAGE, organizer=True).text
    serious, other = "Serious: honest work would not win", "Think of this first"
    assert (serious in page, other in page) == (True, False)
    response = arena.get("/competitions/small/publish").json()
    assert response["missing"] == []
    assert [warning["code"] for warning in response["warnings"]] == ["unchanged_leads"]
    assert response["warnings"][0]["message"][1:] in page


def add_report(arena: Arena, report: dict[str, Any]) -> None:
    """Add a finished report, and a file with the threshold that it recommends."""
    identifier = arena.post("/competitions/small/threshold-reports", json={"draws": 0}).json()["id"]
    execute(
        update(ThresholdReport)
        .where(ThresholdReport.id == identifier)
        .values(state=State.SCORED, report=report)
    )
    file = build_competition_toml(threshold=report["threshold"], opens=1, closes=2)
    assert arena.put("/competitions/small/competition.toml", content=file).status_code == 200


@pytest.mark.parametrize(
    ("recommended_warnings", "codes"),
    [(None, ["report_outdated"]), ([], []), (REPORT["contest"]["warnings"], ["unchanged_leads"])],
)
def test_report_is_current_after_its_threshold_was_taken(
    draft: Contest, recommended_warnings: list[Any] | None, codes: list[str]
) -> None:
    contest = REPORT["contest"] | {"threshold": None, "warnings": [{"code": "cheat_leads", "message": "x"}]}
    contest |= {} if recommended_warnings is None else {"recommended_warnings": recommended_warnings}
    draft.arena.post("/competitions/small/invites", json={})
    draft.move_phases(anonymization=(1, 2))
    add_report(draft.arena, REPORT | {"contest": contest})
    response = draft.arena.get("/competitions/small/publish").json()
    assert [warning["code"] for warning in response["warnings"]] == codes


def test_report_is_outdated_after_another_rule_of_ranking(draft: Contest) -> None:
    arena = draft.arena
    arena.post("/competitions/small/invites", json={})
    draft.move_phases(anonymization=(1, 2))
    add_report(arena, REPORT)
    file = arena.get("/competitions/small/competition.toml").text
    changed = f'{file}\n[ranking]\ndefence = "max(utility, security)"\n'
    assert arena.put("/competitions/small/competition.toml", content=changed).status_code == 200
    warnings = arena.get("/competitions/small/publish").json()["warnings"]
    assert [warning["code"] for warning in warnings] == ["report_outdated"]


def test_missing_language_and_identifying_columns_are_warned_of(draft: Contest) -> None:
    arena = draft.arena
    file = build_competition_toml(extra_toml='[description]\nja = "規約"\n')
    assert arena.put("/competitions/small/competition.toml", content=file).status_code == 200
    table = arena.table.assign(age=[str(row) for row in range(len(arena.table))])
    assert arena.put("/competitions/small/original/original.csv", content=write_csv(table)).status_code == 200
    warnings = {
        part["code"]: part["message"] for part in arena.get("/competitions/small/publish").json()["warnings"]
    }
    assert warnings["no_description"].endswith("in: en")
    assert " in age: " in warnings["identifying_columns"]


def test_round_whose_first_phase_has_begun_is_named(client: TestClient) -> None:
    arena = Arena.create(client, file=build_two_round_toml(), is_draft=True)
    warnings = arena.get("/competitions/small/publish").json()["warnings"]
    assert "of round preliminary has begun" in warnings[-1]["message"]


def test_nobody_joins_a_draft(draft: Contest) -> None:
    arena = draft.arena
    code = arena.post("/competitions/small/invites", json={}).json()["code"]
    body = {"invite": code, "team": "red", "name": "early bird", "password": PASSWORD}
    early = arena.client.post(f"{API}/signup", json=body)
    assert (early.status_code, early.json()["code"]) == (409, "not_published")
    arena.publish()
    assert arena.client.post(f"{API}/signup", json=body).status_code == 201


def test_clock_leaves_drafts_alone(draft: Contest) -> None:
    draft.move_phases(anonymization=(-0.5, -0.1))
    with transaction() as session:
        competition_id = load_competition().id
        session.add(NotificationUrl(competition_id=competition_id, url="json://localhost"))
    run_clock()
    add_phase_events()
    assert (load_round().frozen_at, draft.arena.get(draft.path).json()["state"]) == (None, "draft")
    draft.move_phases(anonymization=(-0.5, 1))
    add_phase_events()
    assert load_all(select(Delivery)) == []
    draft.arena.publish()
    add_phase_events()
    assert [delivery.change for delivery in load_all(select(Delivery))] == ["started"]
    draft.move_phases(anonymization=(-0.5, -0.1))
    run_clock()
    assert load_round().frozen_at is not None


def add_phase_events() -> None:
    with transaction() as session:
        phase_reminders.add_phase_events(session)
