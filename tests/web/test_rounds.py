"""Pages of a competition with several rounds."""

import re
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.page_requests import extract_words, get_page
from tests.support.translations import translate
from tests.support.two_rounds import FORMULAS, build_round, create_two_rounds

pytestmark = pytest.mark.full


@pytest.fixture
def rounds(client: TestClient) -> dict[str, Contest]:
    return create_two_rounds(client)


def list_round_links(html: str) -> list[tuple[str, str, str, bool]]:
    """Return path, title and state of each round in the list of rounds, and whether it is the one shown."""
    (navigation,) = re.findall(r'<nav class="rounds".*?</nav>', html, re.DOTALL)
    entries = re.findall(
        r'<a href="([^"]*)"([^>]*)>([^<]*)</a> <span class="quiet">([^<]*)</span>', navigation
    )
    return [(path, unescape(title), state, "aria-current" in more) for path, more, title, state in entries]


def test_pages_list_the_rounds_with_their_states(rounds: dict[str, Contest]) -> None:
    arena = rounds["final"].arena
    entries = [
        ("/competitions/small.preliminary", "Preliminary", "Anonymization phase", False),
        ("/competitions/small.final", "Final", "Not begun", True),
    ]
    assert list_round_links(get_page(arena, "/competitions/small.final").text) == entries
    current = list_round_links(get_page(arena, "/competitions/small").text)
    assert [is_shown for *_, is_shown in current] == [True, False]
    japanese = list_round_links(get_page(arena, "/competitions/small.final", language="ja").text)
    assert [title for _, title, *_ in japanese] == ["予選", "本戦"]


PUBLIC_PAGES = ("rules", "boards/anonymization", "boards/matrix", "boards/history", "clarifications")
ORGANIZER_PAGES = ("phases", "submissions", "teams", "data", "file")


def test_rounds_link_to_the_same_page_of_each_other(rounds: dict[str, Contest]) -> None:
    for page in (*PUBLIC_PAGES, "organize", *(f"organize/{name}" for name in ORGANIZER_PAGES)):
        paths = [f"/competitions/small.{name}/{page}" for name in rounds]
        for path in paths:
            response = get_page(rounds["final"].arena, path, organizer=True)
            assert response.status_code == 200, path
            assert [link for link, *_ in list_round_links(response.text)] == paths


def test_round_without_the_page_is_linked_by_the_nearest_one(rounds: dict[str, Contest]) -> None:
    preliminary = rounds["preliminary"]
    submission = preliminary.submit("red")
    preliminary.open_attacks()
    target = preliminary.find_target(submission)["id"]

    def find_link_to_final(path: str) -> str:
        html = get_page(preliminary.arena, path, team="red").text
        return {title: link for link, title, *_ in list_round_links(html)}["Final"]

    assert find_link_to_final(f"/submissions/{submission}") == "/competitions/small.final/submissions"
    targets_page = "/competitions/small.preliminary/targets"
    for path in (f"/targets/{target}", targets_page):
        assert find_link_to_final(path) == "/competitions/small.final"
    html = get_page(preliminary.arena, targets_page, team="red").text
    assert "anoncup download small.preliminary --targets" in html


def test_menu_and_links_of_a_page_stay_within_its_round(rounds: dict[str, Contest]) -> None:
    rounds["preliminary"].submit("red")
    for page in ("", "/rules", "/boards/anonymization", "/organize", "/organize/phases", "/organize/teams"):
        html = get_page(rounds["final"].arena, f"/competitions/small.final{page}", organizer=True).text
        rest = re.sub(
            r'<nav class="rounds".*?</nav>|<section class="schedule".*?</ol>', "", html, flags=re.DOTALL
        )
        paths = set(re.findall(r'(?:href|action)="(?:/api/v1)?/competitions/([\w.-]+)', rest))
        assert paths == {"small.final"}, page
    front_html = get_page(rounds["final"].arena, "/").text
    assert set(re.findall(r'href="/competitions/([\w.-]+)', front_html)) == {"small.preliminary"}


def test_one_round_is_not_listed(arena: Arena) -> None:
    assert 'class="rounds"' not in get_page(arena, "/competitions/small").text


def read_schedule(contest: Contest, **viewer: Any) -> str:
    html = get_page(contest.arena, "/competitions/small.final", **viewer).text
    (schedule,) = re.findall(r'<section class="schedule".*?</section>', html, re.DOTALL)
    return unescape(" ".join(extract_words(schedule)))


def test_schedule_lists_the_phases_and_weights_of_all_rounds(rounds: dict[str, Contest]) -> None:
    text = read_schedule(rounds["final"])
    weights = re.findall(r"(Preliminary|Final) · Weight: ([\d.]+)", text)
    assert weights == [("Preliminary", "0.1"), ("Final", "0.9")]
    phases = re.findall(r"Anonymization phase|Re-identification phase", text)
    assert phases == ["Anonymization phase", "Re-identification phase"] * 2
    assert text.count("Running now") == 1
    assert "重み：0.9" in read_schedule(rounds["final"], language="ja")


def test_schedule_says_which_round_is_practice(client: TestClient) -> None:
    final = create_two_rounds(client, preliminary=build_round("try", begins=-1, practice=True))["final"]
    labels = re.findall(r"(\w+) · (Practice: the results do not count|Weight)", read_schedule(final))
    assert labels == [("Try", "Practice: the results do not count"), ("Final", "Weight")]


@pytest.mark.parametrize("formulas", [FORMULAS, ""])
def test_rules_say_how_the_rounds_are_combined(client: TestClient, formulas: str) -> None:
    """A total without a formula follows from the weights."""
    final = create_two_rounds(client, extra_toml=formulas)["final"]
    html = unescape(get_page(final.arena, f"{final.path}/rules").text)
    assert "Preliminary (Weight: 0.1), Final (Weight: 0.9)" in html
    default = "sum(0.1 * round('preliminary'), 0.9 * round('final'))"
    total = "0.1 * round('preliminary') + 0.9 * round('final')"
    best = "max(round('preliminary'), if_missing(round('final'), 0))"
    for key, own in (("total", total), ("attack_total", best)):
        text = own if formulas else default
        assert f"{translate(f'formula_{key}')} <code>{text}</code>" in html


def test_rules_say_whose_data_a_round_has(rounds: dict[str, Contest]) -> None:
    pages = [get_page(contest.arena, f"{contest.path}/rules").text for contest in rounds.values()]
    assert ["This round has the data of the previous round." in html for html in pages] == [False, True]
