"""A contest without distances and counts: scored by a worker, shown on every page, in both languages."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from anoncup.tracks.model import About
from tests.support import small_track
from tests.support.arena import API, Arena
from tests.support.contest import SECOND, Contest
from tests.support.small_track_pages import submitted
from tests.support.track_package import installed
from tests.support.uploads import score_everything
from tests.web.reader import page, send
from tests.web.spoken import said

pytestmark = pytest.mark.full

LANGUAGES = ("en", "ja")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed(small_track.SMALL, "tests.support.small_track", tmp_path_factory.mktemp("packages")):
        yield


@pytest.fixture
def small(client: TestClient, known: None) -> Arena:
    return Arena.opened(client, file=small_track.text(), original={"numbers": small_track.original_file()})


def test_a_worker_scores_it_and_the_board_ranks_by_risk(small: Arena) -> None:
    identifier = submitted(small, "red")
    found = small.submission(identifier, "red")
    assert found["status"] == "SCORED"
    result = found["result"]
    assert result["excessive"] is None
    assert result["violations"] == []
    # All members are released as they are, so that nobody else's number is: "seen" knows all.
    assert result["attackers"]["seen"]["rate"] == 1.0
    assert result["attackers"]["everybody"]["risk"] == 0.0
    assert "correct" not in result["attackers"]["everybody"]
    assert result["measures"]["left_out"]["value"] == 0.0
    assert result["utility"] == pytest.approx(
        result["measures"]["shift"]["value"] / small_track.scale_of_shift()
    )
    (row,) = small.get("/competitions/small/boards/anonymization").json()["rows"]
    assert (row["security"], row["attackers"]["everybody"]) == (1.0, 0.0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_submissions_page_does_without_distances_and_counts(small: Arena, language: str) -> None:
    identifier = submitted(small, "red")
    shown = page(small, f"/submissions/{identifier}", team="red", language=language)
    assert shown.status_code == 200
    assert said("Excessive anonymization", language) not in shown.text
    assert said("Adds to U", language) not in shown.text
    assert said("The risk is what {names} found out.", language).split("{")[0] in shown.text
    assert "None" not in shown.text
    rows = re.findall(
        r'<th scope="row" class="title">(\w+)</th>((?:<td class="number">[^<]*</td>)+)', shown.text
    )
    told = {name: re.findall(r">([^<]*)</td>", cells) for name, cells in rows}
    assert told == {"seen": ["1.0000", "1.0000", "–"], "everybody": ["–", "–", "1.0000"]}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "path",
    ["", "/rules", "/boards/anonymization", "/submissions", "/organize", "/organize/measures", "/organize/publication",
     "/organize/data", "/organize/file", "/organize/rescores", "/organize/basics", "/organize/phases",
     "/organize/submissions"],
)  # fmt: skip
def test_every_page_of_it_is_there(small: Arena, path: str, language: str) -> None:
    submitted(small, "red")
    inside = {"organizer": True} if "/organize" in path else {"team": "red"}
    shown = page(small, f"/competitions/small{path}", language=language, **inside)
    assert shown.status_code == 200, shown.text
    for word in ("Threshold", "Let the service shuffle the rows of releases"):
        assert said(word, language) not in shown.text


def test_there_is_no_threshold_to_set_and_no_advice(small: Arena) -> None:
    shown = page(small, "/competitions/small/organize/threshold", organizer=True)
    assert shown.status_code == 404
    asked = small.post("/competitions/small/threshold-reports", json={})
    assert (asked.status_code, asked.json()["code"]) == (404, "no_distances")


def test_new_weights_are_scored_anew_without_a_threshold(small: Arena) -> None:
    identifier = submitted(small, "red")
    fields = {"by": "rules", "weight_left_out": "1", "weight_shift": "0"}
    begun = send(small, "/competitions/small/organize/rescores", fields, organizer=True)
    assert begun.status_code == 303, begun.text
    score_everything()
    compared = page(small, begun.headers["location"], organizer=True)
    assert compared.status_code == 200
    applied = send(small, f"{begun.headers['location'].partition('?')[0]}/apply", organizer=True)
    assert applied.status_code == 303, applied.text
    assert small.submission(identifier, "red")["result"]["utility"] == 0.0


@pytest.mark.usefixtures("known")
def test_a_whole_contest_of_it_is_played_and_revealed(client: TestClient) -> None:
    phase = {"start": timedelta(days=2), "end": timedelta(days=3)}
    again = SECOND.format(**{name: (datetime.now(UTC) + days).isoformat() for name, days in phase.items()})
    notice = "[publication]\nreveal_notice_hours = 0\n"
    text = small_track.text(more=f"{small_track.FIRST}\n{notice}") + again
    contest = Contest(Arena.opened(client, file=text, original={"numbers": small_track.original_file()}))
    small = contest.arena
    sent = {team: submitted(small, team, seed) for seed, team in enumerate(("red", "blue", "green"), 1)}
    contest.attack()
    answers = {team: small_track.SMALL.answers.read(small_track.files(seed)["secret"], about(text))
               for seed, team in enumerate(sent, 1)}  # fmt: skip
    right = small_track.MEMBER.write(small_track.MEMBER.perfect(answers["red"]))
    for question, content in (("member", right), ("first", b"first\n1\n")):
        answer = client.post(
            f"{API}/targets/{contest.target_of(sent['red'])['id']}/guesses",
            headers={"Authorization": f"Bearer {small.team('blue')}"},
            files={"guess": ("g.csv", content)},
            data={"question": question},
        )
        assert answer.status_code == 202, answer.text
    contest.close()
    assert contest.state() == "closed"
    board = {row["team"]: row for row in contest.board("reidentification")["rows"]}
    assert board["blue"]["by_question"]["member"] == 1.0
    for which in ("anonymization", "reidentification", "matrix"):
        for language in LANGUAGES:
            shown = page(small, f"/competitions/small/boards/{which}", team="red", language=language)
            assert shown.status_code == 200
    preview = page(small, "/competitions/small/organize/teams", organizer=True)
    assert preview.status_code == 200


def about(text: str) -> About:
    values = small_track.original()
    return About(parse_competition(text), {"originals": len(values), "rows": 10}, lambda: values)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_weight_between_off_and_on_is_refused_with_its_measure(small: Arena, language: str) -> None:
    fields = {"weight_left_out": "1", "weight_shift": "0.5", "counts_seen": "yes"}
    answer = send(small, "/competitions/small/organize/measures", fields, organizer=True, language=language)
    assert answer.status_code == 422
    assert (
        said("{key}: in this track the largest loss is U, so that a weight is 0 or 1", language).format(
            key="measures.shift"
        )
        in answer.text
    )
