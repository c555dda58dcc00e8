"""Boards of a contest that counts no individuals, as pages, sheets and commands: nothing is "x of y"."""

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.charts.heatmap import hundredths
from app.web.site import notation
from tests.support.archives import unpacked
from tests.support.arena import API, ROWS
from tests.support.board_pages import board_page, lines, text_of
from tests.support.contest import Contest, judge_everything
from tests.support.several_questions_contest import claims, played
from tests.support.several_questions_track import RIDDLES
from tests.support.track_package import installed
from tests.web.reader import page
from tests.web.spoken import said

pytestmark = pytest.mark.full

WORDS_OF_COUNTS = ("Individuals identified", "of individuals", "Share of individuals found")
SAID_OF_INDIVIDUALS = re.compile(
    r"share of individuals|identifies|re-identification rate|% of the individuals"
)
LINKED, CLAIMED = 10, 35
VALUE = (CLAIMED / ROWS - 0.5) / 0.5


@pytest.fixture(scope="module")
def riddles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed(RIDDLES, "tests.support.several_questions_track", tmp_path_factory.mktemp("packages")):
        yield


@pytest.fixture
def contest(client: TestClient, riddles: None) -> Contest:
    """Blue has answered both questions about red's target, the second beyond chance."""
    contest, red = played(client)
    target = contest.target_of(red)["id"]
    assert contest.guess("blue", target, contest.right_on(red, LINKED)).status_code == 202
    headers = {"Authorization": f"Bearer {contest.arena.team('blue')}"}
    for right in (CLAIMED, 5):
        sent = {"guess": ("g.csv", claims(contest, red, right))}
        path = f"{API}/targets/{target}/guesses"
        answer = client.post(path, headers=headers, files=sent, data={"question": "value"})
        assert answer.status_code == 202, answer.text
    judge_everything()
    return contest


def sheet(contest: Contest, which: str) -> list[dict[str, str]]:
    text = contest.arena.get(f"{contest.path}/boards/{which}.csv").text
    return list(csv.DictReader(io.StringIO(text)))


def test_ranks_are_of_what_was_found_beyond_chance_with_each_question(contest: Contest) -> None:
    (blue, red) = contest.board("reidentification")["rows"]
    expected: dict[str, Any] = {"rank": 1, "team": "blue", "own": False, "identified": None, "tried": None}
    expected |= {"score": VALUE, "rate": VALUE, "targets": 1, "team_id": blue["team_id"]}
    assert blue == expected | {"by_question": {"link": LINKED / ROWS, "value": VALUE}}
    assert (red["team"], red["rank"], red["rate"]) == ("red", None, None)
    html = board_page(contest.arena, "reidentification")
    numbers = [notation.score(one) for one in (VALUE, VALUE)]
    of_questions = [notation.score(one) for one in (LINKED / ROWS, VALUE)]
    assert lines(html) == [
        ["1", "blue", *numbers, "1", *of_questions],
        ["–", "red", "–", "–", "–", "–", "–"],
    ]
    assert not any(said(word) in text_of(html) for word in WORDS_OF_COUNTS)
    first, last = sheet(contest, "reidentification")
    assert list(first) == ["rank", "team", "score", "rate", "targets", "link", "value"]
    assert [float(first[name]) for name in ("score", "rate", "link", "value")] == [
        VALUE,
        VALUE,
        LINKED / ROWS,
        VALUE,
    ]
    assert last == dict.fromkeys(first, "") | {"team": "red"}


def test_the_matrix_is_shown_of_each_question_and_of_all_together(contest: Contest) -> None:
    shown = {"": VALUE, "?question=link": LINKED / ROWS, "?question=value": VALUE, "?question=who": VALUE}
    for query, rate in shown.items():
        html = board_page(contest.arena, "matrix", query)
        assert hundredths(rate) in text_of(html.partition("<tbody")[2])
        assert not any(said(word) in text_of(html) for word in WORDS_OF_COUNTS)
    chosen = board_page(contest.arena, "matrix", "?question=value")
    assert '<option value="value" selected>' in chosen
    built_in = [row for row in contest.board("matrix", organizer=True)["rows"] if row["built_in"]]
    assert all(cell["by_question"] == {"link": cell["rate"]} for row in built_in for cell in row["cells"])
    line = sheet(contest, "matrix")[0]
    (name,) = (f"{one['name']} ({one['team']})" for one in contest.targets("blue") if not one["own"])
    assert [line[f"{name}{part}"] for part in ("", " link", " value")] == [
        str(VALUE),
        str(LINKED / ROWS),
        str(VALUE),
    ]


def test_the_first_page_says_who_leads_and_what_sets_the_risk(contest: Contest) -> None:
    html = unescape(page(contest.arena, contest.path, organizer=True).text)
    led = "{team} leads the re-identification board with {score} of {targets}: the sum of what it found in each target."
    assert said(led, team="blue", score=notation.score(VALUE), targets=1) in html
    for one in ("", "/boards/anonymization", "/boards/matrix", "/boards/reidentification"):
        found = page(contest.arena, contest.path + one, organizer=True)
        assert found.status_code == 200
        assert not SAID_OF_INDIVIDUALS.search(text_of(found.text)), one
    attackers = "Every attacker runs on every submission. The risk is the largest amount that any counted attacker finds out beyond chance."
    assert said(attackers) in unescape(
        page(contest.arena, f"{contest.path}/organize/measures", organizer=True).text
    )


def test_an_export_says_what_each_guess_came_to(contest: Contest) -> None:
    guesses = unpacked(contest.arena)["guesses.csv"].decode()
    found = {
        (line["question"], float(line["value"]), float(line["baseline"]), float(line["risk"]))
        for line in csv.DictReader(io.StringIO(guesses))
    }
    link = ("link", LINKED / ROWS, 0.0, LINKED / ROWS)
    assert found == {link, ("value", CLAIMED / ROWS, 0.5, VALUE), ("value", 5 / ROWS, 0.5, 0.0)}
