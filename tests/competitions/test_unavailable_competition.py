"""A competition with an unreadable file is unavailable until its organizers replace the file."""

from dataclasses import dataclass
from html import unescape

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import delete, select, update

from anoncup.rules.toml_text import replace_tables
from app.core.db.models import AuditEntry, Competition, Evaluation, RecordedVerdict, Round, State
from app.core.db.transaction import transaction
from tests.support.arena import API, Arena, build_competition_toml
from tests.support.contest import Contest, run_clock
from tests.support.database_rows import execute, load_all, load_one
from tests.support.organizer_uploads import clear_not_before
from tests.support.page_requests import get_page, post_form
from tests.support.translations import translate
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

REMOVED_MEASURE = "[measures.a_part_that_was_removed]"
NO_TOML = "no TOML at all"
UNREADABLE_FILES = {
    "a measure of no installed part": lambda file: file.replace("[measures.mean_mae]", REMOVED_MEASURE, 1),
    "a package that is not installed": lambda file: file + '\n[requires]\nnobodys = ">=0.3"\n',
    "a format of another version": lambda file: file.replace("format = 1", "format = 99", 1),
    NO_TOML: lambda file: file + "\n[[[",
}
for_each_kind = pytest.mark.parametrize("kind", UNREADABLE_FILES)


@dataclass
class CompetitionPair:
    """Two competitions, one of which will get an unreadable file."""

    unreadable: Arena
    readable: Contest
    original_file: str = ""

    def make_unreadable(self, kind: str = NO_TOML) -> None:
        with transaction() as session:
            row = session.scalars(select(Competition).where(Competition.slug == "broken")).one()
            self.original_file, row.file = row.file, UNREADABLE_FILES[kind](row.file)


@pytest.fixture
def pair(client: TestClient) -> CompetitionPair:
    unreadable = Arena.create(client, slug="broken")
    assert unreadable.submit("red").status_code == 202
    readable = Contest.create(client)
    readable.submit("blue")
    run_clock()
    return CompetitionPair(unreadable, readable)


def get_statuses(client: TestClient, token: str | None) -> dict[str, int]:
    """Return the status of every page and call without a competition, and of those of the readable one."""
    assert isinstance(client.app, FastAPI)
    routes = {
        route.path for route in iter_route_contexts(client.app.routes) if "GET" in (route.methods or ())
    }
    paths = sorted(str(path).replace("{slug}", "small") for path in routes)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return {
        path: client.get(path, headers=headers, follow_redirects=False).status_code
        for path in paths
        if "{" not in path and "events" not in path and path != "/readyz"
    }


def test_other_pages_and_calls_are_unaffected(client: TestClient, pair: CompetitionPair) -> None:
    readers = [
        None,
        pair.readable.arena.organizer_token,
        pair.readable.arena.get_team_token("blue"),
        pair.unreadable.get_team_token("red"),
    ]
    statuses_before = [get_statuses(client, reader) for reader in readers]
    pair.make_unreadable()
    assert [get_statuses(client, reader) for reader in readers] == statuses_before
    assert max(statuses_before[0].values()) < 500


@for_each_kind
def test_api_list_marks_the_unavailable_competition(
    client: TestClient, pair: CompetitionPair, kind: str
) -> None:
    pair.make_unreadable(kind)
    first, second = client.get(f"{API}/competitions").json()
    assert (first["slug"], first["state"]) == ("broken", "unavailable")
    assert first["code"] == "competition_unavailable"
    assert first["title"]["en"] == ("broken" if kind == NO_TOML else "Small cup")
    assert second["state"] == "anonymization"
    assert "code" not in second


def test_calls_and_pages_of_the_competition_answer_unavailable(
    client: TestClient, pair: CompetitionPair
) -> None:
    team = pair.unreadable.get_team_token("red")
    pair.make_unreadable()
    for path in ("", "/boards/anonymization", "/quota"):
        response = pair.unreadable.get(f"/competitions/broken{path}", token=team)
        assert (response.status_code, response.json()["code"]) == (503, "competition_unavailable")
        assert int(response.headers["Retry-After"]) > 0
    upload = pair.unreadable.submit("red", seed=2)
    assert (upload.status_code, upload.json()["code"]) == (503, "competition_unavailable")
    page_response = get_page(pair.unreadable, "/competitions/broken", language="ja")
    assert page_response.status_code == 503
    assert (
        translate(
            "This version of the service cannot read the competition’s file. Nothing is "
            "lost: its organizers can read the file and replace it.",
            "ja",
        )
        in page_response.text
    )


def test_clock_advances_other_competitions(pair: CompetitionPair) -> None:
    pair.make_unreadable()
    pair.readable.open_attacks()
    assert pair.readable.get_state() == "reidentification"


def load_evaluation() -> Evaluation:
    return load_one(
        select(Evaluation)
        .join(Round, Round.id == Evaluation.round_id)
        .join(Round.competition)
        .where(Competition.slug == "broken")
    )


def test_queued_jobs_wait_for_the_repair_without_delaying_others(
    client: TestClient, pair: CompetitionPair
) -> None:
    evaluation_id = load_evaluation().id
    execute(delete(RecordedVerdict).where(RecordedVerdict.evaluation_id == evaluation_id))
    execute(
        update(Evaluation)
        .where(Evaluation.id == evaluation_id)
        .values(state=State.QUEUED, attempt=0, finished_at=None)
    )
    pair.make_unreadable()
    submission = pair.readable.submit("blue", score=False)
    for _ in range(6):
        score_everything()
        clear_not_before()
    assert pair.readable.arena.get_submission(submission, "blue")["status"] == "SCORED"
    queued = load_evaluation()
    assert (queued.state, queued.attempt - queued.excused) == (State.QUEUED, 0)
    assert queued.failure
    assert queued.failure.code == "competition_unavailable"
    assert put_file(pair, pair.original_file).status_code == 200
    clear_not_before()
    score_everything()
    assert load_evaluation().state == State.SCORED


def put_file(pair: CompetitionPair, file: str) -> Response:
    return pair.unreadable.put("/competitions/broken/competition.toml", content=file)


def test_organizer_replaces_the_file_by_the_api(client: TestClient, pair: CompetitionPair) -> None:
    pair.make_unreadable()
    assert pair.unreadable.get("/competitions/broken/competition.toml").status_code == 200
    refusal = put_file(pair, "format = 1")
    assert (refusal.status_code, refusal.json()["code"]) == (422, "missing_key")
    assert put_file(pair, pair.original_file.replace('"broken"', '"other"')).json()["code"] == "fixed"
    response = put_file(pair, pair.original_file)
    assert (response.status_code, response.json()["state"]) == (200, "anonymization")
    assert client.get(f"{API}/competitions/broken").status_code == 200
    actions = load_all(select(AuditEntry.action).order_by(AuditEntry.number.desc()))
    assert actions[0] == "competition.revise"


def test_organizer_replaces_the_file_on_the_page(client: TestClient, pair: CompetitionPair) -> None:
    path = "/competitions/broken/organize/file"
    pair.make_unreadable()
    response = get_page(pair.unreadable, path, organizer=True)
    assert response.status_code == 503
    assert "<textarea" in response.text
    file_digest = response.text.split('name="of" value="')[1].split('"')[0]
    fields = {"of": file_digest, "do": "save", "text": pair.original_file}
    for changed, status in (({"text": "format = 1"}, 422), ({"password": ""}, 403), ({"of": "0" * 64}, 409)):
        assert post_form(pair.unreadable, path, fields | changed, organizer=True).status_code == status
    refusal = post_form(pair.unreadable, path, fields | {"password": "wrong"}, organizer=True)
    assert refusal.status_code == 422
    assert 'name="password" type="password" required' in refusal.text
    assert unescape(refusal.text.split('wrap="off">\n')[1].split("</textarea>")[0]) == pair.original_file
    assert post_form(pair.unreadable, path, fields, organizer=True).status_code == 303
    assert get_page(pair.unreadable, path, organizer=True).status_code == 200


def test_finished_phase_stays_finished_after_the_repair(client: TestClient, pair: CompetitionPair) -> None:
    pair.readable.start_pause()
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == "small")).one()
        file, row.file = row.file, row.file + "\n[[["
    later = replace_tables(
        file, "phases", build_competition_toml().split("[[phases]]", 1)[1].join(["[[phases]]", ""])
    )
    path = "/competitions/small/competition.toml"
    refusal = pair.readable.arena.put(path, content=later)
    assert (refusal.status_code, refusal.json()["code"]) == (409, "phase_turned")
    assert pair.readable.arena.put(path, content=file).status_code == 200
    assert pair.readable.get_state() == "between"
