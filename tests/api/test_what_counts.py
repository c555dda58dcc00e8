"""What counts is written down at the first submission; an upgrade in mid-contest changes nothing of it."""

import io
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import what_counts
from anoncup.competition.writer import with_scored_by
from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.tracks.linkage.permutation import source_from_secret
from app.db.models import Competition, Evaluation, Submission
from app.db.transaction import transaction
from app.services.attacks import candidates
from app.services.contests.contest import parsed
from tests import upgrades
from tests.support.arena import ROWS, Arena, noisy_release
from tests.support.baselines import add
from tests.support.contest import Contest, competition_row
from tests.support.organizer_pages import read
from tests.support.unreadable_uploads import rested
from tests.support.uploads import score_everything
from tests.web.reader import page
from tests.web.spoken import said
from workers import child_manager

pytestmark = pytest.mark.full

WEAK = "\n".join(
    f"[attackers.{name}]\ncounts = false" for name in TRACKS["microdata"].attackers if name != "own_row"
)
"""Only who takes the order for the answer counts."""

Upgrade = Callable[[str], None]


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upgrade]:
    """Web process and scoring child with another registry, until the test ends."""
    known = upgrades.registries()
    before = [dict(each) for each in known]

    def to(name: str) -> None:
        getattr(upgrades, name)(*known)
        monkeypatch.setattr(child_manager, "PROGRAM", f"tests.upgrades.{name}")
        child_manager.keeper.discard()
        parsed.cache_clear()  # another process has read no file yet

    yield to
    for each, kept in zip(known, before, strict=True):
        each.clear()
        each.update(kept)
    child_manager.keeper.discard()
    parsed.cache_clear()


def file_of(contest: Contest) -> str:
    return contest.arena.get(f"{contest.path}/competition.toml").text


def result(contest: Contest, identifier: str) -> dict[str, Any]:
    found: dict[str, Any] = contest.arena.get(f"/submissions/{identifier}").json()["result"]
    return found


def submitted(contest: Contest, team: str, seed: int = 1) -> str:
    answer = contest.arena.submit(team, seed=seed)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def scores(contest: Contest) -> dict[str, Any]:
    """By team: U, E and the rank, as organizers see them."""
    rows = contest.board(organizer=True)["rows"]
    return {row["team"]: (row["utility"], row["security"], row["rank"]) for row in rows}


def begun(contest: Contest) -> str:
    """A re-score set by the file as it is."""
    answer = contest.arena.post(f"{contest.path}/rescores", content=file_of(contest))
    assert answer.status_code == 202, answer.text
    score_everything()
    return str(answer.json()["id"])


def local(contest: Contest, seed: int) -> dict[str, Any]:
    """What ``anoncup score`` finds: the published file, and the very code."""
    rules, track = parse_competition(file_of(contest)), TRACKS["microdata"]
    table, secret = noisy_release(seed, contest.arena.table)
    prepared = track.prepare(contest.arena.table, rules)
    released, _ = track.parse_release({"anonymized": table}, contest.arena.table, rules)
    source = source_from_secret(secret, originals=ROWS, anonymized=ROWS)
    return evaluate(rules, prepared, released, np.asarray(source)).to_json()


def test_the_first_submission_writes_down_what_counts(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/competition.toml"
    assert "[scored_by]" not in arena.get(path).text
    written = competition_row().file
    assert arena.submit("red").status_code == 202
    rules = parse_competition(arena.get(path).text)
    assert rules.scored_by == what_counts(rules)
    assert {"measures.mean_mae", "attackers.euc1", "distances.gower"} <= rules.scored_by.keys()
    assert competition_row().file == written


def test_a_baseline_is_a_first_submission_too(client: TestClient) -> None:
    assert add(Contest.opened(client)).status_code == 202
    assert competition_row().scored_by


def test_first_submissions_at_once_write_it_once(arena: Arena) -> None:
    teams = [arena.team(name) and name for name in ("red", "blue", "green")]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(arena.submit, teams))
    assert [answer.status_code for answer in answers] == [202, 202, 202]
    assert competition_row().scored_by == what_counts(parse_competition(competition_row().file))


def test_what_an_organizer_sends_of_it_is_not_taken(client: TestClient) -> None:
    contest = Contest.opened(client)
    contest.submit("red", scored=False)
    fixed = competition_row().scored_by
    path = f"{contest.path}/competition.toml"
    for table in ({"attackers.gone": "7"}, {}):
        sent = with_scored_by(file_of(contest), table).replace("Small cup", "Smaller cup")
        assert contest.arena.put(path, content=sent).status_code == 200
        assert "scored_by" not in competition_row().file
        assert parse_competition(file_of(contest)).scored_by == fixed


def test_a_file_made_to_be_slow_is_refused_before_it_is_rewritten(client: TestClient) -> None:
    contest = Contest.opened(client)
    deep = "".join(f"[scored_by.{'.'.join('a' * (i % 60 + 1))}.x{i}]\n" for i in range(20_000))
    path = f"{contest.path}/competition.toml"
    for file in (file_of(contest) + deep, f"[scored_by]\n{deep.replace('scored_by', 'late')}"):
        assert contest.arena.put(path, content=file).status_code == 422


def test_a_new_attacker_is_reported_and_counts_only_by_a_set(client: TestClient, upgrade: Upgrade) -> None:
    contest = Contest.opened(client, more=WEAK)
    before = submitted(contest, "red")
    score_everything()
    upgrade("added")
    after = submitted(contest, "blue")
    score_everything()
    first, second = result(contest, before), result(contest, after)
    assert second["attackers"][upgrades.LATE]["rate"] > second["security"]
    assert [second[name] for name in ("utility", "security", "overall")] == [
        first[name] for name in ("utility", "security", "overall")
    ]
    assert scores(contest)["red"] == scores(contest)["blue"] == (first["utility"], first["security"], 1)
    assert {name: local(contest, 1)[name] for name in ("utility", "security")} == {
        name: second[name] for name in ("utility", "security")
    }
    kit = client.get(f"/api/v1{contest.path}/kit.zip")
    with zipfile.ZipFile(io.BytesIO(kit.content)) as files:
        assert files.read("competition.toml").decode() == file_of(contest)
    identifier = begun(contest)
    rate = second["attackers"][upgrades.LATE]["rate"]
    rows = contest.arena.get(f"/rescores/{identifier}").json()["rows"]
    assert [row["before"]["security"] for row in rows] == [first["security"]] * 2
    assert [row["after"]["security"] for row in rows] == [rate] * 2
    assert contest.organize(f"/rescores/{identifier}/apply").status_code == 200
    assert f"attackers.{upgrades.LATE}" in parse_competition(file_of(contest)).scored_by
    assert {security for _, security, _ in scores(contest).values()} == {rate}
    assert local(contest, 1)["security"] == rate


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bumped", "measures.mean_mae counts in version 1; version 2 is installed"),
        pytest.param("removed", "attackers.euc1 is not installed", marks=pytest.mark.full),
    ],
)
def test_with_another_version_new_submissions_wait_and_the_board_stands(
    client: TestClient, upgrade: Upgrade, name: str, told: str
) -> None:
    contest = Contest.opened(client)
    before = submitted(contest, "red")
    score_everything()
    board = scores(contest)
    assert said("duty_newer_scorer", n=0) not in read(contest.arena)
    upgrade(name)
    waiting = submitted(contest, "blue", 2)
    for _ in range(5):
        score_everything()
        rested()
    found = contest.arena.submission(waiting, "blue")
    assert (found["status"], told in found["failure"]) == ("QUEUED", True)
    assert found["failure_code"] == "competition_unavailable"
    waits = said(
        "It is waiting: the service has a newer scorer than the one that counts here. The "
        "organizers have been asked to have everything scored again; nothing is lost."
    )
    assert waits in page(contest.arena, f"/submissions/{waiting}", team="blue").text
    assert page(contest.arena, f"/submissions/{before}", team="red").status_code == 200
    assert scores(contest)["red"] == board["red"]
    assert said("duty_newer_scorer", n=1) in read(contest.arena)
    assert said("duty_newer_scorer", "ja", n=1) in read(contest.arena, language="ja")
    assert client.get(f"/api/v1{contest.path}/kit.zip").json()["code"] == "competition_unavailable"
    identifier = begun(contest)
    assert contest.arena.get(f"/rescores/{identifier}").json()["state"] == "ready"
    assert scores(contest)["red"] == board["red"]
    assert contest.organize(f"/rescores/{identifier}/apply").status_code == 200
    assert set(scores(contest)) == {"red", "blue"}
    assert said("duty_newer_scorer", n=0) not in read(contest.arena)
    measured = [result(contest, one)["measures"]["mean_mae"] for one in (before, waiting)]
    assert {one["version"] for one in measured} == {2 if name == "bumped" else 1}
    rules = parse_competition(file_of(contest))
    assert rules.scored_by == what_counts(rules)


def test_what_another_version_has_scored_is_on_no_board_and_no_final(client: TestClient) -> None:
    contest = Contest.opened(client)
    kept, other = contest.submit("red"), contest.submit("blue")
    assert said("duty_mixed_versions", n=1) not in read(contest.arena)
    with transaction() as session:
        found = session.scalars(select(Evaluation).where(Evaluation.submission_id == UUID(other))).one()
        verdict = dict(found.verdict or {})
        verdict["measures"] = verdict["measures"] | {
            "mean_mae": verdict["measures"]["mean_mae"] | {"version": 2}
        }
        found.verdict, found.finished_at = verdict, func.now()
    assert (scores(contest)["red"][2], scores(contest)["blue"]) == (1, (None, None, None))
    assert said("duty_mixed_versions", n=1) in read(contest.arena)
    with transaction() as session:
        row = session.scalars(select(Competition)).one()
        assert [str(one.id) for one in candidates.chosen(session, row)] == [kept]
        assert session.scalar(select(func.count()).select_from(Submission)) == 2
