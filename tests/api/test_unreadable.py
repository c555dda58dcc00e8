"""A competition whose file cannot be read: unavailable by itself, and put right by its organizers."""

from dataclasses import dataclass
from html import unescape

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, update

from anoncup.rules.toml_text import with_tables
from app.config import Settings
from app.db.models import AuditEntry, Competition, Evaluation, State
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from tests.support.arena import API, Arena, competition_file
from tests.support.contest import Contest, turn
from tests.support.unreadable_uploads import rested
from tests.support.uploads import score_everything
from tests.web.reader import page, send
from tests.web.spoken import refused as refused_in_words
from tests.web.spoken import said
from workers import child_manager

pytestmark = pytest.mark.full

REMOVED = "[measures.a_part_that_was_removed]"
FILES = {
    "a measure of no installed part": lambda file: file.replace("[measures.mean_mae]", REMOVED, 1),
    "a package that is not installed": lambda file: file + '\n[requires]\nnobodys = ">=0.3"\n',
    "a format of another version": lambda file: file.replace("format = 1", "format = 99", 1),
    "no TOML at all": lambda file: file + "\n[[[",
}
KINDS = pytest.mark.parametrize("kind", FILES)
KINDS_OR_LONG = pytest.mark.parametrize(
    "kind", [pytest.param(one, marks=() if one == "no TOML at all" else pytest.mark.full) for one in FILES]
)


@dataclass
class Pair:
    """A competition that is going to be broken, and another."""

    broken: Arena
    whole: Contest
    kept: str = ""

    def break_by(self, kind: str) -> None:
        with transaction() as session:
            row = session.scalars(select(Competition).where(Competition.slug == "broken")).one()
            self.kept, row.file = row.file, FILES[kind](row.file)


@pytest.fixture
def pair(client: TestClient) -> Pair:
    broken = Arena.opened(client, slug="broken")
    assert broken.submit("red").status_code == 202
    whole = Contest.opened(client)
    whole.submit("blue")
    turn()
    return Pair(broken, whole)


def asked(client: TestClient, token: str | None) -> dict[str, int]:
    """Every page and call that names no competition, and every one of the other: how it is answered."""
    assert isinstance(client.app, FastAPI)
    routes = {one.path for one in iter_route_contexts(client.app.routes) if "GET" in (one.methods or ())}
    paths = sorted(str(path).replace("{slug}", "small") for path in routes)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return {
        path: client.get(path, headers=headers, follow_redirects=False).status_code
        for path in paths
        if "{" not in path and "events" not in path and path != "/readyz"
    }


@KINDS_OR_LONG
def test_everything_else_answers_as_before(client: TestClient, pair: Pair, kind: str) -> None:
    readers = [None, pair.whole.arena.organizer, pair.whole.arena.team("blue"), pair.broken.team("red")]
    before = [asked(client, reader) for reader in readers]
    pair.break_by(kind)
    assert [asked(client, reader) for reader in readers] == before
    assert max(before[0].values()) < 500


@KINDS
def test_the_list_of_the_api_says_which_one_is_unavailable(client: TestClient, pair: Pair, kind: str) -> None:
    pair.break_by(kind)
    first, second = client.get(f"{API}/competitions").json()
    assert (first["slug"], first["state"]) == ("broken", "unavailable")
    assert first["code"] == "competition_unavailable"
    assert first["title"]["en"] == ("broken" if kind.startswith("no TOML") else "Small cup")
    assert second["state"] == "anonymization"
    assert "code" not in second


@KINDS_OR_LONG
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_front_page_names_it_with_a_sentence(
    client: TestClient, pair: Pair, kind: str, language: str
) -> None:
    pair.break_by(kind)
    shown = page(pair.broken, "/", language=language).text
    assert (
        said(
            "This version of the service cannot read the competition’s file. Nothing is "
            "lost: its organizers can read the file and replace it.",
            language,
        )
        in shown
    )
    assert "broken" in shown
    assert "/competitions/small" in shown


@KINDS_OR_LONG
def test_its_own_calls_and_pages_say_that_it_is_unavailable(
    client: TestClient, pair: Pair, kind: str
) -> None:
    team = pair.broken.team("red")
    pair.break_by(kind)
    for path in ("", "/boards/anonymization", "/quota"):
        answer = pair.broken.get(f"/competitions/broken{path}", token=team)
        assert (answer.status_code, answer.json()["code"]) == (503, "competition_unavailable")
        assert int(answer.headers["Retry-After"]) > 0
    upload = pair.broken.submit("red", seed=2)
    assert (upload.status_code, upload.json()["code"]) == (503, "competition_unavailable")
    shown = page(pair.broken, "/competitions/broken", language="ja")
    assert shown.status_code == 503
    assert (
        said(
            "This version of the service cannot read the competition’s file. Nothing is "
            "lost: its organizers can read the file and replace it.",
            "ja",
        )
        in shown.text
    )


@KINDS_OR_LONG
def test_the_clock_turns_the_others(pair: Pair, kind: str) -> None:
    pair.break_by(kind)
    pair.whole.attack()
    assert pair.whole.state() == "reidentification"


def evaluation() -> Evaluation:
    with transaction() as session:
        return session.scalars(
            select(Evaluation)
            .join(Competition, Competition.id == Evaluation.competition_id)
            .where(Competition.slug == "broken")
        ).one()


@KINDS_OR_LONG
def test_what_waits_in_it_waits_until_it_is_put_right_and_delays_nobody(
    client: TestClient, settings: Settings, pair: Pair, kind: str
) -> None:
    with transaction() as session:
        session.execute(
            update(Evaluation)
            .where(Evaluation.id == evaluation().id)
            .values(state=State.QUEUED, attempt=0, verdict=None, finished_at=None)
        )
    pair.break_by(kind)
    other = pair.whole.submit("blue", scored=False)
    child_manager.keeper.discard()  # one that has scored enough would be replaced in the middle
    scorer = child_manager.keeper.ready(settings)
    for _ in range(6):
        score_everything()
        rested()
    assert pair.whole.arena.submission(other, "blue")["status"] == "SCORED"
    waiting = evaluation()
    assert (waiting.state, waiting.attempt - waiting.excused) == (State.QUEUED, 0)
    assert waiting.failure
    assert waiting.failure.code == "competition_unavailable"
    assert child_manager.keeper.child is scorer
    assert put(pair, pair.kept).status_code == 200
    rested()
    score_everything()
    assert evaluation().state == State.SCORED


def put(pair: Pair, file: str) -> Response:
    return pair.broken.put("/competitions/broken/competition.toml", content=file)


@KINDS_OR_LONG
def test_its_organizer_reads_and_replaces_the_file_by_the_api(
    client: TestClient, pair: Pair, kind: str
) -> None:
    pair.break_by(kind)
    assert pair.broken.get("/competitions/broken/competition.toml").status_code == 200
    refused = put(pair, "format = 1")
    assert (refused.status_code, refused.json()["code"]) == (422, "missing_key")
    assert put(pair, pair.kept.replace('"broken"', '"other"')).json()["code"] == "fixed"
    answer = put(pair, pair.kept)
    assert (answer.status_code, answer.json()["state"]) == (200, "anonymization")
    assert client.get(f"{API}/competitions/broken").status_code == 200
    with transaction() as session:
        acts = session.scalars(select(AuditEntry.action).order_by(AuditEntry.number.desc())).all()
    assert acts[0] == "competition.revise"


@KINDS_OR_LONG
def test_its_organizer_reads_and_replaces_the_file_on_its_page(
    client: TestClient, pair: Pair, kind: str
) -> None:
    path = "/competitions/broken/organize/file"
    pair.break_by(kind)
    shown = page(pair.broken, path, organizer=True)
    assert shown.status_code == 503
    assert "<textarea" in shown.text
    of = shown.text.split('name="of" value="')[1].split('"')[0]
    refused = send(pair.broken, path, {"of": of, "do": "save", "text": "format = 1"}, organizer=True)
    assert refused.status_code == 422
    for password, status, language in (("", 403, "en"), ("wrong", 422, "ja")):
        sent = {"of": of, "do": "save", "text": pair.kept, "password": password}
        refused = send(pair.broken, path, sent, organizer=True, language=language)
        assert refused.status_code == status
        assert refused_in_words(SAID[status], language) in unescape(refused.text)
        assert 'name="password" type="password" required' in refused.text
        assert unescape(refused.text.split('wrap="off">\n')[1].split("</textarea>")[0]) == pair.kept
    saved = send(pair.broken, path, {"of": of, "do": "save", "text": pair.kept}, organizer=True)
    assert saved.status_code == 303, saved.text
    assert page(pair.broken, path, organizer=True).status_code == 200
    stale = send(pair.broken, path, {"of": "0" * 64, "do": "save", "text": pair.kept}, organizer=True)
    assert stale.status_code == 409


SAID = {403: "invalid_password_needed", 422: "the password is wrong"}


def test_before_anybody_has_submitted_it_is_put_right_without_a_password(client: TestClient) -> None:
    fresh = Arena.opened(client, slug="broken")
    Pair(fresh, Contest(fresh)).break_by("no TOML at all")
    shown = page(fresh, "/competitions/broken/organize/file", organizer=True)
    assert (shown.status_code, 'name="password"' in shown.text) == (503, False)
    token = {"Authorization": f"Bearer {fresh.organizer}"}
    path = f"{API}/competitions/broken/competition.toml"
    assert client.put(path, headers=token, content=competition_file("broken")).status_code == 200


def test_only_its_organizers_get_to_replace_it(client: TestClient, pair: Pair) -> None:
    pair.break_by("no TOML at all")
    other = pair.whole.arena.organizer
    refused = pair.broken.put("/competitions/broken/competition.toml", token=other, content=pair.kept)
    assert refused.status_code == 403
    path = "/competitions/broken/organize/file"
    assert page(pair.whole.arena, path, organizer=True).status_code == 403
    assert page(pair.broken, path, team="red").status_code == 403


def test_a_phase_that_has_turned_stays_turned_when_the_file_is_put_right(
    client: TestClient, pair: Pair
) -> None:
    pair.whole.between()
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == "small")).one()
        kept, row.file = row.file, row.file + "\n[[["
    later = with_tables(kept, "phases", competition_file().split("[[phases]]", 1)[1].join(["[[phases]]", ""]))
    path = "/competitions/small/competition.toml"
    refused = pair.whole.arena.put(path, content=later)
    assert (refused.status_code, refused.json()["code"]) == (409, "phase_turned")
    assert pair.whole.arena.put(path, content=kept).status_code == 200
    assert pair.whole.state() == "between"
