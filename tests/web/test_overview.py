"""A competition's first page: what it is, where it stands, who leads and why, what to do next."""

import re
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from app.web.site.notation import percent
from app.web.visitor.leader import compared, leader_of, podium
from tests.support.arena import Arena, competition_file
from tests.support.contest import Contest
from tests.support.overview_page import RULES, board_of, line
from tests.support.uploads import score_everything
from tests.web.reader import page, words_of
from tests.web.spoken import said

pytestmark = pytest.mark.full


def read(arena: Arena, **reader: Any) -> str:
    """What the reader sees, in one line."""
    return unescape(" ".join(words_of(page(arena, f"/competitions/{arena.slug}", **reader).text)))


def test_the_leader_is_the_first_rank_and_its_attacker_the_best_that_counts() -> None:
    found = leader_of(board_of(line(1), line(2, utility=0.3), line(None)), RULES)
    assert found is not None
    assert (found.row.rank, found.attacker, found.by_rival) == (1, "euc1", False)
    assert [row.rank for row in found.following] == [2]


def test_an_attacker_that_does_not_count_is_not_named() -> None:
    file = competition_file(more="[attackers.euc1]\ncounts = false\n")
    found = leader_of(board_of(line(1)), parse_competition(file))
    assert found is not None
    assert found.attacker == "gower"


def test_a_rival_who_finds_the_most_is_the_best_attacker() -> None:
    found = leader_of(board_of(line(1, rivals=0.5, security=0.5)), RULES)
    assert found is not None
    assert found.by_rival
    beaten = leader_of(board_of(line(1, rivals=0.1)), RULES)
    assert beaten is not None
    assert not beaten.by_rival


def test_nobody_leads_before_anybody_has_a_rank() -> None:
    assert leader_of(board_of(line(None, overall=None)), RULES) is None
    assert leader_of(board_of(), RULES) is None


def test_those_who_share_a_rank_stand_together_the_readers_own_first() -> None:
    rows = [line(1, team="a"), line(1, team="b", own=True), line(3, team="c"), line(3, team="d")]
    found = leader_of(board_of(*rows), RULES)
    assert found is not None
    assert [row.team for row in found.rows] == ["b", "a"]
    assert [row.team for row in found.following] == ["c", "d"]
    assert found.alike


@pytest.mark.parametrize(
    ("second", "better_in"),
    [
        ({"utility": 0.2, "security": 0.3}, "both"),
        ({"utility": 0.2, "security": 0.2}, "as_safe"),
        ({"utility": 0.2, "security": 0.1}, "more_useful"),
        ({"utility": 0.1, "security": 0.3}, "as_useful"),
        ({"utility": 0.05, "security": 0.3}, "safer"),
        ({"utility": 0.1, "security": 0.2}, "neither"),
    ],
)
def test_the_leader_is_compared_with_the_second(second: dict[str, float], better_in: str) -> None:
    assert compared(line(1), line(2, **second), None) == better_in
    rounded = compared(line(1), line(2, **second), 4)
    assert rounded.removeprefix("about_") == better_in


def test_what_rounding_hides_is_not_said() -> None:
    """The reader's own row is exact and the other is not: 0.1049 may be more than what is shown as 0.1."""
    own = line(1, own=True, utility=0.1049, security=0.24)
    found = leader_of(board_of(own, line(2, utility=0.1, security=0.2), digits=1), RULES)
    assert found is not None
    assert (found.comparison, found.digits, found.told) == ("neither", 1, False)


def test_the_podium_has_three_rows_no_baseline_and_the_readers_own() -> None:
    rows = [line(place) for place in range(1, 8)] + [line(None, baseline=True)]
    assert [row.rank for row in podium(board_of(*rows))] == [1, 2, 3]
    rows[5] = line(6, own=True)
    assert [row.rank for row in podium(board_of(*rows))] == [1, 2, 3, 6]
    rows[1] = line(2, own=True)
    rows[5] = line(6)
    assert [row.rank for row in podium(board_of(*rows))] == [1, 2, 3]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (2 / 8333, "0.024%"),
        (0.0004, "0.04%"),
        (1e-9, "0.0000001%"),
        (0.021, "2.1%"),
        (0.05, "5%"),
        (0.2149, "21%"),
        (0.999, "99.9%"),
        (8332 / 8333, "99.99%"),
        (1.0, "100%"),
    ],
)
def test_shares_are_said_in_percent_and_never_as_none_or_all_that_are_not(share: float, text: str) -> None:
    assert percent(share) == text


def test_the_page_says_what_the_contest_is_and_who_leads_and_why(arena: Arena) -> None:
    arena.submit("red")
    arena.submit("blue", seed=2)
    score_everything()
    rows = arena.get("/competitions/small/boards/anonymization").json()["rows"]
    shown = read(arena, organizer=True)
    assert "40 individuals with 4 columns" in shown
    assert f"{rows[0]['team']} leads with the lowest overall score, {rows[0]['overall']:.4f}" in shown
    best = percent(rows[0]["security"])
    assert f"{best} of the individuals" in shown
    others = read(arena)
    assert f"{rows[0]['team']} leads with the lowest overall score, {rows[0]['overall']:.4f}" in others
    assert "of the individuals" not in others.partition("leads with")[2].partition("rank")[0]
    for row in rows:
        assert f"{row['utility']:.4f}" in shown
        assert f"{row['utility']:.2f}" in others
        assert f"{row['utility']:.4f}" not in others


def test_in_japanese_the_page_is_japanese(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    shown = read(arena, language="ja")
    assert "40 人・4 列の個票データ" in shown
    assert "首位は「red」で" in shown
    assert "leads" not in shown


def test_before_the_first_release_nobody_leads(arena: Arena) -> None:
    assert said("Nobody has a rank yet. The first accepted submission leads the board.") in read(arena)


def test_a_closed_board_names_nobody(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more='[publication]\nboard = "teams"'))
    arena.submit("crimson")
    score_everything()
    assert said("The boards of this competition are not open to you at the moment.") in read(arena)
    assert "crimson" not in read(arena)
    assert "crimson leads" in read(arena, team="blue")


def test_without_its_data_a_competition_says_so_and_sends_its_organizer_to_the_data(
    client: TestClient,
) -> None:
    arena = Arena.opened(client)
    arena.post("/competitions", content=competition_file("bare", opens=1, closes=2))
    shown = page(arena, "/competitions/bare").text
    assert said("The organizers have not uploaded the original data yet.") in shown
    assert "Not begun" in shown
    own = page(arena, "/competitions/bare", organizer=True).text
    assert 'href="/competitions/bare/organize/data"' in own


def next_link(arena: Arena, **reader: Any) -> str:
    shown = page(arena, f"/competitions/{arena.slug}", **reader).text
    (link,) = re.findall(r'<a class="button" href="([^"]*)"', shown)
    return str(link)


def test_everybody_is_shown_their_own_next_step(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    assert next_link(arena) == f"/sign-in?to={path}"
    assert next_link(arena, organizer=True) == f"{path}/organize"
    assert next_link(arena, team="red") == f"{path}/submissions"
    other = Arena.opened(arena.client, slug="other")
    other.tokens["stranger"] = arena.team("red")
    assert next_link(other, team="stranger") == "/account"


def test_the_next_step_follows_the_phases(client: TestClient) -> None:
    contest = Contest.opened(client)
    arena, path = contest.arena, f"/competitions/{contest.arena.slug}"
    contest.submit("red")
    contest.between()
    assert next_link(arena, team="red") == f"{path}/submissions"
    contest.attack()
    assert next_link(arena, team="red") == f"{path}/targets"
    assert said(
        "The re-identification board opens when the phase closes; until then the scores of guesses are hidden."
    ) in read(arena)
    contest.close()
    assert next_link(arena, team="red") == f"{path}/boards/replay"
    assert next_link(arena) == f"{path}/boards/replay"


def test_who_can_send_nothing_any_more_is_led_to_what_there_is_to_see(client: TestClient) -> None:
    contest = Contest.opened(client)
    arena, board = contest.arena, f"/competitions/{contest.arena.slug}/boards/anonymization"
    contest.submit("red")
    contest.between()
    assert next_link(arena) == board
    contest.attack()
    assert next_link(arena) == board


def test_a_member_sees_their_own_rank_and_what_is_left_to_send(arena: Arena) -> None:
    for _ in range(2):
        arena.submit("red")
    arena.submit("blue", seed=2)
    score_everything()
    path = f"/competitions/{arena.slug}"
    rows = arena.get(f"{path}/boards/anonymization", token=arena.team("red")).json()["rows"]
    rank = next(row["rank"] for row in rows if row["team"] == "red")
    caps = arena.get(f"{path}/quota", token=arena.team("red")).json()["caps"]
    shown = read(arena, team="red")
    assert f"Rank {rank} of 2 Overall" in shown
    assert f"Left to send today {min(cap['limit'] - cap['used'] for cap in caps)} " in shown
    assert "Left to send today" not in read(arena)


def test_an_organizer_sees_what_waits_and_the_way_to_the_desk(arena: Arena) -> None:
    arena.submit("red")
    shown = read(arena, organizer=True)
    assert "Your desk" in shown
    assert "Teams 1 Submissions 1 Waiting 1" in shown
    score_everything()
    assert "Submissions 1 Waiting 0" in read(arena, organizer=True)
    assert "Your desk" not in read(arena, team="red")


def test_the_picture_takes_the_place_of_how_it_works_which_is_folded_for_members(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    before = page(arena, path, team="red").text
    assert said("How it works") in before
    assert '<svg class="chart' not in before
    arena.submit("red")
    score_everything()
    assert f'<summary id="how">{said("How it works")}</summary>' in page(arena, path, team="red").text
    visitor = page(arena, path).text
    assert f'<h2 id="how">{said("How it works")}</h2>' in visitor
    assert 'id="scatter"' in visitor
    assert visitor.index('id="scatter"') < visitor.index('id="how"')


def test_after_the_close_there_is_a_winner(client: TestClient) -> None:
    contest = Contest.opened(client)
    contest.submit("red")
    assert "red wins" not in read(contest.arena)
    contest.attack()
    contest.close()
    shown = read(contest.arena)
    assert "Final result" in shown
    assert "red wins with the lowest overall score" in shown
    assert re.search(r"Best anonymization red overall score \d\.\d{4} Watch the replay", shown)
    assert 'property="og:description" content="red wins with' in page(contest.arena, contest.path).text


def test_a_pause_is_said_and_nothing_is_counted_down(arena: Arena) -> None:
    assert "data-until" in page(arena, f"/competitions/{arena.slug}").text
    arena.post(f"/competitions/{arena.slug}/phases/anonymization/pause")
    shown = page(arena, f"/competitions/{arena.slug}", team="red").text
    assert said("step_team_paused") in shown
    assert "data-until" not in shown


def test_after_the_close_the_leading_attacker_is_named_and_before_it_is_not(client: TestClient) -> None:
    contest = Contest.opened(client)
    target = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    contest.guessed("blue", target, 30)
    assert "leads the re-identification board" not in read(contest.arena)
    assert "blue leads the re-identification board: 30 of 40" in read(contest.arena, organizer=True)
    assert "Individuals identified" not in read(contest.arena, team="blue")
    contest.close()
    assert "blue wins the re-identification board: 30 of 40" in read(contest.arena)
    assert "Re-identification board 1 of 1 Individuals identified 30" in read(contest.arena, team="blue")


def test_announcements_stand_newest_first_in_the_languages_they_have(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/announcements"
    arena.post(path, json={"text": {"en": "The first."}})
    arena.post(path, json={"text": {"en": "One.\n\nTwo <b>bold</b>.", "ja": "一つ目。\n\n二つ目。"}})
    english = page(arena, f"/competitions/{arena.slug}").text
    assert english.index("One.") < english.index("The first.")
    assert "<p>One.</p><p>Two &lt;b&gt;bold&lt;/b&gt;.</p>" in english
    assert english.index("One.") < english.index("一つ目")
    japanese = page(arena, f"/competitions/{arena.slug}", language="ja").text
    assert japanese.index("一つ目") < japanese.index("One.")
    assert re.search(r'<div lang="en" class="other"><p>One\.', japanese)


def test_older_announcements_are_folded(arena: Arena) -> None:
    for number in range(5):
        arena.post(f"/competitions/{arena.slug}/announcements", json={"text": {"en": f"No. {number}"}})
    shown = page(arena, f"/competitions/{arena.slug}").text
    first, folded = shown.split('<details class="older">')
    assert all(f"No. {number}" in first for number in (2, 3, 4))
    assert all(f"No. {number}" in folded for number in (0, 1))


def test_the_schedule_stands_on_the_competitions_clock(arena: Arena) -> None:
    shown = page(arena, f"/competitions/{arena.slug}").text
    assert re.search(r"<time [^>]*data-zone=\"Asia/Tokyo\" data-beside>[^<]* JST</time>", shown)
    assert (
        shown.count("data-beside") == 3
    )  # the start and the end of the one phase, and what is counted down to


def test_answers_that_the_reader_may_read_are_counted(arena: Arena) -> None:
    path, asked = f"/competitions/{arena.slug}/clarifications", said("Questions to the organizers")
    for team, public in (("red", True), ("red", False), ("blue", False)):
        question = arena.post(path, json={"question": "why?"}, token=arena.team(team)).json()
        answer = {"answer": "so", "public": public}
        arena.put(f"/clarifications/{question['id']}/answer", json=answer, token=arena.organizer)
    arena.post(path, json={"question": "how?"}, token=arena.team("red"))
    assert f"{asked} (2 answered)" in read(arena, team="red")
    assert f"{asked} (2 answered)" in read(arena, team="blue")
    assert f"{asked} (1 answered)" in read(arena)
    assert f"{asked} (3 answered)" in read(arena, organizer=True)
