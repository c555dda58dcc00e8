"""A contest on a track without distances and counts: scoring and pages in both languages."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from anoncup.competition.rules_text import set_weights
from anoncup.tracks.model import AnyContext, ReleaseContext
from tests.support import small_track
from tests.support.arena import Arena
from tests.support.contest import SECOND_PHASE, Contest, load_competition
from tests.support.page_requests import get_page, post_form
from tests.support.small_track_pages import submit_and_score
from tests.support.track_package import install_track
from tests.support.translations import translate
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

LANGUAGES = ("en", "ja")


@pytest.fixture(scope="module")
def installed_track(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with install_track(
        small_track.SMALL_TRACK, "tests.support.small_track", tmp_path_factory.mktemp("packages")
    ):
        yield


@pytest.fixture
def small(client: TestClient, installed_track: None) -> Arena:
    return Arena.create(
        client,
        file=small_track.build_competition_toml(),
        original={"numbers": small_track.build_original_file()},
    )


def test_submission_is_scored_and_ranked_by_risk(small: Arena) -> None:
    identifier = submit_and_score(small, "red")
    submission = small.get_submission(identifier, "red")
    assert submission["status"] == "SCORED"
    result = submission["result"]
    assert result["excessive"] is None
    assert result["violations"] == []
    # All members are released unchanged and no other number is, so the attacker "seen" identifies all.
    assert result["attackers"]["seen"]["rate"] == 1.0
    assert result["attackers"]["everybody"]["risk"] == 0.0
    assert "correct" not in result["attackers"]["everybody"]
    assert result["measures"]["left_out"]["value"] == 0.0
    assert result["utility"] == pytest.approx(
        result["measures"]["shift"]["value"] / small_track.compute_shift_scale()
    )
    (row,) = small.get("/competitions/small/boards/anonymization").json()["rows"]
    assert (row["security"], row["attackers"]["everybody"]) == (1.0, 0.0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_submission_page_has_no_distances_or_counts(small: Arena, language: str) -> None:
    identifier = submit_and_score(small, "red")
    response = get_page(small, f"/submissions/{identifier}", team="red", language=language)
    assert response.status_code == 200
    assert translate("Excessive anonymization", language) not in response.text
    assert translate("Adds to U", language) not in response.text
    assert translate("The risk is what {names} found out.", language).split("{")[0] in response.text
    assert "None" not in response.text
    rows = re.findall(
        r'<th scope="row" class="title">(\w+)</th>((?:<td class="number">[^<]*</td>)+)', response.text
    )
    cells_by_attacker = {name: re.findall(r">([^<]*)</td>", cells) for name, cells in rows}
    assert cells_by_attacker == {"seen": ["1.0000", "1.0000", "–"], "everybody": ["–", "–", "1.0000"]}


TEAM_PAGES = ("", "/rules", "/boards/anonymization", "/submissions")
ORGANIZER_PAGES = (
    "", "/publication", "/data", "/file", "/rescores", "/phases", "/submissions"
)  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_of_the_contest_loads(small: Arena, language: str) -> None:
    submit_and_score(small, "red")
    pages: list[tuple[str, dict[str, Any]]] = [(path, {"team": "red"}) for path in TEAM_PAGES]
    pages += [(f"/organize{path}", {"organizer": True}) for path in ORGANIZER_PAGES]
    for path, reader in pages:
        response = get_page(small, f"/competitions/small{path}", language=language, **reader)
        assert response.status_code == 200, path
        for word in ("Threshold", "Let the service shuffle the rows of releases"):
            assert translate(word, language) not in response.text, path


def test_threshold_page_is_unavailable(small: Arena) -> None:
    response = get_page(small, "/competitions/small/organize/threshold", organizer=True)
    assert response.status_code == 404
    report_response = small.post("/competitions/small/threshold-reports", json={})
    assert (report_response.status_code, report_response.json()["code"]) == (404, "no_distances")


def test_new_weights_are_re_evaluated_without_a_threshold(small: Arena) -> None:
    identifier = submit_and_score(small, "red")
    fields = {"by": "rules", "weight_left_out": "1", "weight_shift": "0"}
    start_response = post_form(small, "/competitions/small/organize/rescores", fields, organizer=True)
    assert start_response.status_code == 303, start_response.text
    score_everything()
    compare_response = get_page(small, start_response.headers["location"], organizer=True)
    assert compare_response.status_code == 200
    apply_response = post_form(
        small, f"{start_response.headers['location'].partition('?')[0]}/apply", organizer=True
    )
    assert apply_response.status_code == 303, apply_response.text
    assert small.get_submission(identifier, "red")["result"]["utility"] == 0.0


@pytest.mark.usefixtures("installed_track")
def test_contest_is_played_until_the_reveal(client: TestClient) -> None:
    phase = {"start": timedelta(days=2), "end": timedelta(days=3)}
    second_phase_text = SECOND_PHASE.format(
        **{name: (datetime.now(UTC) + days).isoformat() for name, days in phase.items()}
    )
    notice = "[publication]\nreveal_notice_hours = 0\n"
    text = (
        small_track.build_competition_toml(extra_toml=f"{small_track.FIRST_QUESTION_TOML}\n{notice}")
        + second_phase_text
    )
    contest = Contest(
        Arena.create(client, file=text, original={"numbers": small_track.build_original_file()})
    )
    small = contest.arena
    submissions = {
        team: submit_and_score(small, team, seed) for seed, team in enumerate(("red", "blue", "green"), 1)
    }
    contest.open_attacks()
    read_answer, context = small_track.SMALL_TRACK.answer_spec.read, build_context(text)
    answers = {
        team: read_answer(small_track.build_release_files(seed)["secret"], context)
        for seed, team in enumerate(submissions, 1)
    }
    member_guess = small_track.MEMBER_QUESTION.write(
        small_track.MEMBER_QUESTION.make_perfect_guess(answers["red"])
    )
    for question, content in (("member", member_guess), ("first", b"first\n1\n")):
        target = contest.find_target(submissions["red"])["id"]
        guess_response = contest.submit_guess("blue", target, content, question=question)
        assert guess_response.status_code == 202, guess_response.text
    contest.close_attacks()
    assert contest.get_state() == "closed"
    board = {row["team"]: row for row in contest.get_board("reidentification")["rows"]}
    assert board["blue"]["by_question"]["member"] == 1.0
    for board_name in ("anonymization", "reidentification", "matrix"):
        for language in LANGUAGES:
            response = get_page(
                small, f"/competitions/small/boards/{board_name}", team="red", language=language
            )
            assert response.status_code == 200
    preview = get_page(small, "/competitions/small/organize/teams", organizer=True)
    assert preview.status_code == 200


def build_context(text: str) -> AnyContext:
    original = small_track.build_original()
    return ReleaseContext(parse_competition(text), {"originals": original.rows, "rows": 10}, lambda: original)


@pytest.mark.parametrize("language", LANGUAGES)
def test_weight_between_off_and_on_is_refused(small: Arena, language: str) -> None:
    text = set_weights(load_competition().file, {"shift": 0.5})
    response = post_form(
        small,
        "/competitions/small/organize/file",
        {"text": text, "do": "compare"},
        organizer=True,
        language=language,
    )
    assert response.status_code == 422
    assert (
        translate("{key}: in this track the largest loss is U, so that a weight is 0 or 1", language).format(
            key="measures.shift"
        )
        in response.text
    )
