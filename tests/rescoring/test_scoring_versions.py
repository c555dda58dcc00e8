"""Scoring versions are recorded at the first submission; an upgrade during a contest does not change them."""

import io
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from anoncup.competition.parser import parse_competition, read_file
from anoncup.competition.scoring_versions import collect_scoring_versions
from anoncup.competition.writer import replace_scored_by
from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.tracks.linkage.permutation import parse_secret
from app.core.db.models import Evaluation, RecordedVerdict, Round, Submission
from app.core.db.transaction import transaction
from app.lifecycle import finals
from tests import upgrades
from tests.support.arena import ROWS, Arena, build_noisy_release
from tests.support.contest import Contest, load_competition, load_round
from tests.support.organizer_pages import get_page_text
from tests.support.organizer_uploads import clear_not_before
from tests.support.originals import make_original
from tests.support.standings import rebuild_standings
from tests.support.translations import translate
from tests.support.uploads import score_everything
from tests.upgrades import UpgradedScoreJob
from workers import tasks

pytestmark = pytest.mark.full

UNCOUNTED_ATTACKERS = "\n".join(
    f"[attackers.{name}]\ncounts = false" for name in TRACKS["microdata"].attackers if name != "own_row"
)
"""Settings under which only ``own_row`` counts, the attacker that answers with the order of the rows."""

Upgrade = Callable[[str], None]


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upgrade]:
    """A function that installs another registry in the web process and in scoring jobs until the end."""
    registries = upgrades.find_registries()
    saved_registries = [dict(registry) for registry in registries]

    def install(name: str) -> None:
        getattr(upgrades, name)(*registries)
        monkeypatch.setattr(tasks, "ScoreJob", partial(UpgradedScoreJob, change=name))
        read_file.cache_clear()  # a new process would have an empty cache

    yield install
    for registry, saved_registry in zip(registries, saved_registries, strict=True):
        registry.clear()
        registry.update(saved_registry)
    read_file.cache_clear()


def get_file(contest: Contest) -> str:
    return contest.arena.get(f"{contest.path}/competition.toml").text


def get_result(contest: Contest, identifier: str) -> dict[str, Any]:
    verdict: dict[str, Any] = contest.arena.get(f"/submissions/{identifier}").json()["result"]
    return verdict


def submit_release(contest: Contest, team: str, seed: int = 1) -> str:
    response = contest.arena.submit(team, seed=seed)
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


def read_scores(contest: Contest) -> dict[str, Any]:
    """Return U, E and rank by team, as organizers see them."""
    rows = contest.get_board(organizer=True)["rows"]
    return {row["team"]: (row["utility"], row["security"], row["rank"]) for row in rows}


def begin_rescore(contest: Contest) -> str:
    """Begin and score a rescore with the current file; return its id."""
    response = contest.arena.post(f"{contest.path}/rescores", content=get_file(contest))
    assert response.status_code == 202, response.text
    score_everything()
    return str(response.json()["id"])


def score_locally(contest: Contest, seed: int) -> dict[str, Any]:
    """Return the result of the local command ``anoncup score`` with the published file."""
    rules, track = parse_competition(get_file(contest)), TRACKS["microdata"]
    table, secret = build_noisy_release(seed, contest.arena.table)
    prepared = make_original(contest.arena.table, rules)
    anonymized, _ = track.parse_release({"anonymized": table}, prepared, rules, {})
    source = parse_secret(secret, original_count=ROWS, anonymized_count=ROWS)
    return evaluate(rules, prepared, anonymized, np.asarray(source)).to_json()


def test_first_submission_records_the_scoring_versions(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/competition.toml"
    assert "[scored_by]" not in arena.get(path).text
    file_before = load_competition().file
    assert arena.submit("red").status_code == 202
    rules = parse_competition(arena.get(path).text)
    assert rules.scored_by == collect_scoring_versions(rules)
    assert {"measures.mean_mae", "attackers.euc1", "distances.gower"} <= rules.scored_by.keys()
    assert load_competition().file == file_before


def test_scoring_versions_in_an_uploaded_file_are_ignored(contest: Contest) -> None:
    contest.submit("red", score=False)
    scored_by = load_round().scored_by
    path = f"{contest.path}/competition.toml"
    for table in ({"attackers.gone": "7"}, {}):
        file = replace_scored_by(get_file(contest), table).replace("Small cup", "Smaller cup")
        assert contest.arena.put(path, content=file).status_code == 200
        assert "scored_by" not in load_competition().file
        assert parse_competition(get_file(contest)).scored_by == scored_by


def test_new_attacker_counts_only_after_a_rescore(client: TestClient, upgrade: Upgrade) -> None:
    contest = Contest.create(client, extra_toml=UNCOUNTED_ATTACKERS)
    red_submission = submit_release(contest, "red")
    score_everything()
    upgrade("add_attacker")
    blue_submission = submit_release(contest, "blue")
    score_everything()
    first, second = get_result(contest, red_submission), get_result(contest, blue_submission)
    assert second["attackers"][upgrades.ADDED_ATTACKER]["rate"] > second["security"]
    assert [second[name] for name in ("utility", "security", "overall")] == [
        first[name] for name in ("utility", "security", "overall")
    ]
    assert (
        read_scores(contest)["red"]
        == read_scores(contest)["blue"]
        == (first["utility"], first["security"], 1)
    )
    assert {name: score_locally(contest, 1)[name] for name in ("utility", "security")} == {
        name: second[name] for name in ("utility", "security")
    }
    kit = client.get(f"/api/v1{contest.path}/kit.zip")
    with zipfile.ZipFile(io.BytesIO(kit.content)) as files:
        assert files.read("competition.toml").decode() == get_file(contest)
    identifier = begin_rescore(contest)
    rate = second["attackers"][upgrades.ADDED_ATTACKER]["rate"]
    rows = contest.arena.get(f"/rescores/{identifier}").json()["rows"]
    assert [row["before"]["security"] for row in rows] == [first["security"]] * 2
    assert [row["after"]["security"] for row in rows] == [rate] * 2
    assert contest.post_as_organizer(f"/rescores/{identifier}/apply").status_code == 200
    assert f"attackers.{upgrades.ADDED_ATTACKER}" in parse_competition(get_file(contest)).scored_by
    assert {security for _, security, _ in read_scores(contest).values()} == {rate}
    assert score_locally(contest, 1)["security"] == rate


def test_new_submissions_wait_when_the_version_differs(client: TestClient, upgrade: Upgrade) -> None:
    contest = Contest.create(client)
    scored_submission = submit_release(contest, "red")
    score_everything()
    board = read_scores(contest)
    assert translate("duty_newer_scorer", n=0) not in get_page_text(contest.arena)
    upgrade("bump_measure")
    queued_submission = submit_release(contest, "blue", 2)
    for _ in range(5):
        score_everything()
        clear_not_before()
    submission = contest.arena.get_submission(queued_submission, "blue")
    assert submission["status"] == "QUEUED"
    assert "measures.mean_mae counts in version 1; version 2 is installed" in submission["failure"]
    assert submission["failure_code"] == "competition_unavailable"
    assert read_scores(contest)["red"] == board["red"]
    assert translate("duty_newer_scorer", n=1) in get_page_text(contest.arena)
    assert client.get(f"/api/v1{contest.path}/kit.zip").json()["code"] == "competition_unavailable"
    identifier = begin_rescore(contest)
    assert contest.arena.get(f"/rescores/{identifier}").json()["state"] == "ready"
    assert read_scores(contest)["red"] == board["red"]
    assert contest.post_as_organizer(f"/rescores/{identifier}/apply").status_code == 200
    assert set(read_scores(contest)) == {"red", "blue"}
    assert translate("duty_newer_scorer", n=0) not in get_page_text(contest.arena)
    measures = [
        get_result(contest, item)["measures"]["mean_mae"] for item in (scored_submission, queued_submission)
    ]
    assert {item["version"] for item in measures} == {2}
    rules = parse_competition(get_file(contest))
    assert rules.scored_by == collect_scoring_versions(rules)


def test_submission_scored_by_another_version_is_excluded(contest: Contest) -> None:
    red, blue = contest.submit("red"), contest.submit("blue")
    with transaction() as session:
        evaluation = session.scalars(select(Evaluation).where(Evaluation.submission_id == UUID(blue))).one()
        verdict_row = session.get_one(RecordedVerdict, evaluation.id)
        verdict = dict(verdict_row.content)
        verdict["measures"] = verdict["measures"] | {
            "mean_mae": verdict["measures"]["mean_mae"] | {"version": 2}
        }
        verdict_row.content, evaluation.finished_at = verdict, func.now()
    rebuild_standings()
    assert (read_scores(contest)["red"][2], read_scores(contest)["blue"]) == (1, (None, None, None))
    with transaction() as session:
        row = session.scalars(select(Round)).one()
        assert [str(candidate.id) for candidate in finals.choose_finals(session, row)] == [red]
        assert session.scalar(select(func.count()).select_from(Submission)) == 2
