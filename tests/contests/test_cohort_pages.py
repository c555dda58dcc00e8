"""A contest on a track whose steps need their context, played through the service."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from fastapi.testclient import TestClient

from anoncup.cli import targets as target_commands
from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.schemas import Guess as GuessForm
from tests.support import cohort_track
from tests.support.allocated_contest import (
    get_team_file,
    upload_organizer_file,
)
from tests.support.arena import Arena
from tests.support.cohort_track import AGE, COHORTS, ILL, read_cohort, write_numbers
from tests.support.contest import Contest, judge_everything, run_clock
from tests.support.page_requests import get_page
from tests.support.track_package import install_track
from tests.support.translations import translate
from tests.support.uploads import score_everything
from workers import jobs

pytestmark = pytest.mark.full

PATH = "/competitions/small"


@pytest.fixture(scope="module")
def installed_track(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    package = Package("cohorts", "1.0", "cohorts:PLUGIN", ("tracks.cohorts",))
    folder = tmp_path_factory.mktemp("packages")
    with (
        install_track(COHORTS, "tests.support.cohort_track", folder),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(jobs, "INSTALLED", InstalledParts(TRACKS, (package,)))
        yield


@pytest.fixture
def contest(client: TestClient, installed_track: None) -> Contest:
    """Return the contest in its first phase; red and blue have their cohorts."""
    text = cohort_track.build_competition_toml()
    data = cohort_track.make_example_data(parse_competition(text), None, 1)
    arena = Arena.create(client, file=text, original={"ages": data["ages"]})
    response = upload_organizer_file(arena, data["register"], file="register.csv")
    assert response.status_code == 200, response.text
    for team in ("red", "blue"):
        arena.get_team_token(team)
    run_clock()
    return Contest(arena)


def get_cohort(contest: Contest, team: str) -> Any:
    response = get_team_file(contest.arena, team, "cohort.csv")
    assert response.status_code == 200, response.text
    return read_cohort(response.content)


def submit(contest: Contest, team: str, rows: Any) -> Any:
    files = {"made": ("made.csv", write_numbers(rows, (AGE, ILL)))}
    return contest.arena.post(f"{PATH}/submissions", team=team, files=files)


def open_attacks(contest: Contest) -> dict[str, Any]:
    """Have red publish its cohort as it is, and return its target."""
    response = submit(contest, "red", get_cohort(contest, "red")[:, 1:])
    assert response.status_code == 202, response.text
    score_everything()
    contest.open_attacks()
    return contest.find_target(response.json()["id"])


def send_guess(contest: Contest, target: dict[str, Any], question: str, *cells: int) -> Any:
    header = {"membership": "person", "attribute": "ill"}[question]
    content = "\n".join([header, *map(str, cells), ""]).encode()
    response = contest.submit_guess("blue", target["id"], content, question=question)
    judge_everything()
    return response


def list_guesses(contest: Contest) -> list[dict[str, Any]]:
    guesses: list[dict[str, Any]] = contest.arena.get(f"{PATH}/guesses", team="blue").json()
    return guesses


def test_release_is_checked_against_the_teams_own_cohort(contest: Contest) -> None:
    response = submit(contest, "red", get_cohort(contest, "red")[:3, 1:])
    assert response.status_code == 422
    assert [problem["file"] for problem in response.json()["errors"]] == ["made"]


def test_built_in_attackers_and_teams_see_the_same(contest: Contest) -> None:
    target = open_attacks(contest)
    archive = contest.arena.get(f"{PATH}/targets.zip", team="blue").content
    with ZipFile(io.BytesIO(archive)) as files:
        contents = {
            Path(name).stem: files.read(name) for name in files.namelist() if name.startswith(target["name"])
        }
    cohort = get_cohort(contest, "red")
    assert sorted(contents) == ["made", "shown"]
    assert contents["shown"].decode().split() == [AGE, *(str(int(age)) for age in cohort[:2, 1])]
    rules = parse_competition(cohort_track.build_competition_toml())
    ages = cohort_track.make_example_data(rules, None, 1)["ages"]
    original, _ = COHORTS.parse_original({"ages": ages}, rules)
    answers = COHORTS.attackers["nearest_age"].attack(COHORTS.parse_target(contents, original, rules))
    assert answers.tolist() == (1 - cohort[:2, 2]).tolist()
    response = send_guess(contest, target, "attribute", *answers.astype(int).tolist())
    assert response.status_code == 202, response.text
    contest.close_attacks()
    (submission,) = contest.arena.get(f"{PATH}/submissions", team="red").json()
    attacker = contest.arena.get_submission(submission["id"], "red")["result"]["attackers"]["nearest_age"]
    (guess,) = list_guesses(contest)
    assert attacker["rate"] == guess["outcome"]["value"] == 1.0


def test_guess_that_only_organizers_can_refute_is_refused(contest: Contest) -> None:
    target = open_attacks(contest)
    own_member, member = int(get_cohort(contest, "blue")[0, 0]), int(get_cohort(contest, "red")[0, 0])
    response = send_guess(contest, target, "membership", member, own_member)
    assert response.status_code == 422
    assert [(entry["row"], entry["code"]) for entry in response.json()["errors"]] == [(2, "own_member")]
    # Only the register tells that there is no person 999, and the parser of uploads does not have it.
    response = send_guess(contest, target, "membership", member, 999, member + 1, 998)
    assert response.status_code == 202, response.text
    (guess,) = list_guesses(contest)
    assert (guess["status"], guess["failure"], guess["outcome"]) == ("REFUSED", None, None)
    places = [(entry["file"], entry["row"], entry["code"]) for entry in guess["errors"]]
    assert places == [("guess", 2, "unknown_person"), ("guess", 4, "unknown_person")]
    assert guess["total"] == 2
    row = GuessForm.model_validate(guess)
    assert "guess, row 2: unknown_person: person, row 2: there is no such person" in str(
        target_commands.describe_refusal(row)
    )
    # One guess on each question may be sent, and the refused one does not count, but as an attempt it does.
    assert contest.list_targets("blue")[0]["guesses_left_by_question"]["membership"] == 1
    caps = contest.arena.get(f"{PATH}/quota", team="blue").json()["caps"]
    assert {cap["name"]: cap["used"] for cap in caps}["attempts_total"] == 2
    assert send_guess(contest, target, "membership", member).status_code == 202
    assert send_guess(contest, target, "membership", member + 1).status_code == 429
    assert [entry["status"] for entry in list_guesses(contest)] == ["SCORED", "REFUSED"]


@pytest.mark.parametrize(
    ("cell", "language", "reason"),
    [
        (7, "en", "KeyError"),
        (7, "ja", "KeyError"),
        (9, "en", "of the package cohorts returned nan instead of a number from 0 to 1"),
    ],
)
def test_error_names_the_package_and_only_organizers_see_where(
    contest: Contest, cell: int, language: str, reason: str
) -> None:
    target = open_attacks(contest)
    assert send_guess(contest, target, "attribute", cell, cell).status_code == 202
    (guess,) = list_guesses(contest)
    assert (guess["status"], guess["failure_code"]) == ("ERROR", "package_failed")
    assert guess["failure_values"] == {"package": "cohorts"}
    page = get_page(contest.arena, f"{PATH}/organize/health", organizer=True, language=language).text
    assert translate("Errors while scoring", language) in page
    assert reason in page
    assert f"<b>blue</b> → {target['name']} " in page
    assert f'<a href="/targets/{target["id"]}">' in page
    assert guess["id"] not in page
    team_page = get_page(contest.arena, f"/targets/{target['id']}", team="blue", language=language).text
    assert reason not in team_page + str(guess)
    assert "cohorts" in team_page
    response = get_page(contest.arena, f"{PATH}/organize/health", team="blue", language=language)
    assert response.status_code in {403, 404}
