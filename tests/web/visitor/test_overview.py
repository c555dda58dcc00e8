"""The overview of a competition: its state, the leaders, the schedule and the reader's next step."""

import re
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from app.web.site.notation import format_percent
from app.web.visitor.leader import compare_scores, find_leader, select_podium
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import Contest
from tests.support.page_requests import extract_words, get_page
from tests.support.translations import translate
from tests.support.uploads import score_everything
from tests.support.visitor_pages import RULES, build_board_from_rows, build_row

pytestmark = pytest.mark.full


def read_overview(arena: Arena, **viewer: Any) -> str:
    """Return the visible text of the overview in one line."""
    return unescape(" ".join(extract_words(get_page(arena, f"/competitions/{arena.slug}", **viewer).text)))


def test_leader_has_rank_one_and_its_best_counted_attacker() -> None:
    leader = find_leader(
        build_board_from_rows(build_row(1), build_row(2, utility=0.3), build_row(None)), RULES
    )
    assert leader is not None
    assert (leader.row.rank, leader.attacker, leader.is_found_by_rival) == (1, "euc1", False)
    assert [row.rank for row in leader.runners_up] == [2]


def test_uncounted_attacker_is_not_named() -> None:
    file = build_competition_toml(extra_toml="[attackers.euc1]\ncounts = false\n")
    leader = find_leader(build_board_from_rows(build_row(1)), parse_competition(file))
    assert leader is not None
    assert leader.attacker == "gower"


def test_rival_with_the_most_hits_is_the_best_attacker() -> None:
    leader = find_leader(build_board_from_rows(build_row(1, rivals=0.5, security=0.5)), RULES)
    assert leader is not None
    assert leader.is_found_by_rival
    other_leader = find_leader(build_board_from_rows(build_row(1, rivals=0.1)), RULES)
    assert other_leader is not None
    assert not other_leader.is_found_by_rival


def test_no_leader_without_ranked_teams() -> None:
    assert find_leader(build_board_from_rows(build_row(None, overall=None)), RULES) is None
    assert find_leader(build_board_from_rows(), RULES) is None


def test_tied_leaders_are_grouped_with_the_own_team_first() -> None:
    rows = [
        build_row(1, team="a"),
        build_row(1, team="b", own=True),
        build_row(3, team="c"),
        build_row(3, team="d"),
    ]
    leader = find_leader(build_board_from_rows(*rows), RULES)
    assert leader is not None
    assert [row.team for row in leader.rows] == ["b", "a"]
    assert [row.team for row in leader.runners_up] == ["c", "d"]
    assert leader.has_equal_scores


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
def test_leader_is_compared_with_the_second(second: dict[str, float], better_in: str) -> None:
    assert compare_scores(build_row(1), build_row(2, **second), None) == better_in
    rounded = compare_scores(build_row(1), build_row(2, **second), 4)
    assert rounded.removeprefix("about_") == better_in


def test_differences_hidden_by_rounding_are_not_mentioned() -> None:
    """The reader's own row is exact, the other is rounded: 0.1049 may exceed a score shown as 0.1."""
    own = build_row(1, own=True, utility=0.1049, security=0.24)
    leader = find_leader(build_board_from_rows(own, build_row(2, utility=0.1, security=0.2), digits=1), RULES)
    assert leader is not None
    assert (leader.comparison, leader.digits, leader.shows_attackers) == ("neither", 1, False)


def test_podium_has_three_rows_and_the_own_without_baselines() -> None:
    rows = [build_row(rank) for rank in range(1, 8)] + [build_row(None, baseline=True)]
    assert [row.rank for row in select_podium(build_board_from_rows(*rows))] == [1, 2, 3]
    rows[5] = build_row(6, own=True)
    assert [row.rank for row in select_podium(build_board_from_rows(*rows))] == [1, 2, 3, 6]
    rows[1] = build_row(2, own=True)
    rows[5] = build_row(6)
    assert [row.rank for row in select_podium(build_board_from_rows(*rows))] == [1, 2, 3]


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
def test_shares_are_never_rounded_to_0_or_100_percent(share: float, text: str) -> None:
    assert format_percent(share) == text


def test_page_explains_the_data_and_the_leader(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    organizer_text, visitor_text = read_overview(arena, organizer=True), read_overview(arena)
    (row,) = arena.get("/competitions/small/boards/anonymization").json()["rows"]
    for text in (organizer_text, visitor_text):
        assert "40 individuals with 4 columns" in text
        assert f"red leads with the lowest overall score, {row['overall']:.4f}" in text
    assert f"{format_percent(row['security'])} of the individuals" in organizer_text
    assert "% of the individuals" not in visitor_text


def test_page_is_fully_translated_to_japanese(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    text = read_overview(arena, language="ja")
    assert "40 人・4 列の個票データ" in text
    assert "首位は「red」で" in text
    assert "leads" not in text


def test_no_leader_before_the_first_release(arena: Arena) -> None:
    assert translate(
        "Nobody has a rank yet. The first accepted submission leads the board."
    ) in read_overview(arena)


def test_closed_board_names_no_team(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml='[publication]\nboard = "teams"')
    arena.submit("crimson")
    score_everything()
    assert translate("The boards of this competition are not open to you at the moment.") in read_overview(
        arena
    )
    assert "crimson" not in read_overview(arena)
    assert "crimson leads" in read_overview(arena, team="blue")


def test_page_without_data_sends_the_organizer_to_the_data_step(
    client: TestClient,
) -> None:
    arena = Arena.create(client)
    arena.post("/competitions", content=build_competition_toml("bare", opens=1, closes=2))
    html = get_page(arena, "/competitions/bare").text
    assert translate("The organizers have not uploaded the original data yet.") in html
    assert "Not begun" in html
    own = get_page(arena, "/competitions/bare", organizer=True).text
    assert 'href="/competitions/bare/organize/data"' in own


def find_next_link(arena: Arena, **viewer: Any) -> str:
    html = get_page(arena, f"/competitions/{arena.slug}", **viewer).text
    (link,) = re.findall(r'<a class="button" href="([^"]*)"', html)
    return str(link)


def test_each_audience_sees_its_next_step(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    assert find_next_link(arena) == f"/sign-in?to={path}"
    assert find_next_link(arena, organizer=True) == f"{path}/organize"
    assert find_next_link(arena, team="red") == f"{path}/submissions"
    other_arena = Arena.create(arena.client, slug="other")
    other_arena.team_tokens["stranger"] = arena.get_team_token("red")
    assert find_next_link(other_arena, team="stranger") == "/account"


def test_next_step_follows_the_phases(contest: Contest) -> None:
    arena, path = contest.arena, f"/competitions/{contest.arena.slug}"
    contest.submit("red")
    contest.start_pause()
    assert find_next_link(arena, team="red") == f"{path}/submissions"
    contest.open_attacks()
    assert find_next_link(arena, team="red") == f"{path}/targets"
    assert translate(
        "The re-identification board opens when the phase closes; until then the scores of guesses are hidden."
    ) in read_overview(arena)
    contest.close_attacks()
    assert find_next_link(arena, team="red") == f"{path}/boards/replay"
    assert find_next_link(arena) == f"{path}/boards/replay"


def test_visitors_are_sent_to_the_board_outside_the_first_phase(contest: Contest) -> None:
    arena, board = contest.arena, f"/competitions/{contest.arena.slug}/boards/anonymization"
    contest.submit("red")
    contest.start_pause()
    assert find_next_link(arena) == board
    contest.open_attacks()
    assert find_next_link(arena) == board


def test_member_sees_own_rank_and_remaining_quota(arena: Arena) -> None:
    for _ in range(2):
        arena.submit("red")
    arena.submit("blue", seed=2)
    score_everything()
    path = f"/competitions/{arena.slug}"
    rows = arena.get(f"{path}/boards/anonymization", team="red").json()["rows"]
    rank = next(row["rank"] for row in rows if row["team"] == "red")
    caps = arena.get(f"{path}/quota", team="red").json()["caps"]
    text = read_overview(arena, team="red")
    assert f"Rank {rank} of 2 Overall" in text
    assert f"Left to send today {min(cap['limit'] - cap['used'] for cap in caps)} " in text
    assert "Left to send today" not in read_overview(arena)


def test_organizer_sees_pending_duties_and_the_dashboard_link(arena: Arena) -> None:
    arena.submit("red")
    text = read_overview(arena, organizer=True)
    assert "Your desk" in text
    assert "Teams 1 Submissions 1 Waiting 1" in text
    score_everything()
    assert "Submissions 1 Waiting 0" in read_overview(arena, organizer=True)
    assert "Your desk" not in read_overview(arena, team="red")


def test_chart_precedes_the_folded_explanation_for_members(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    html_before = get_page(arena, path, team="red").text
    assert translate("How it works") in html_before
    assert '<svg class="chart' not in html_before
    arena.submit("red")
    score_everything()
    assert (
        f'<summary id="how">{translate("How it works")}</summary>' in get_page(arena, path, team="red").text
    )
    visitor = get_page(arena, path).text
    assert f'<h2 id="how">{translate("How it works")}</h2>' in visitor
    assert 'id="scatter"' in visitor
    assert visitor.index('id="scatter"') < visitor.index('id="how"')


def test_winner_is_shown_after_the_close(contest: Contest) -> None:
    contest.submit("red")
    assert "red wins" not in read_overview(contest.arena)
    contest.open_attacks()
    contest.close_attacks()
    text = read_overview(contest.arena)
    assert "Final result" in text
    assert "red wins with the lowest overall score" in text
    assert re.search(r"Best anonymization red overall score \d\.\d{4} Watch the replay", text)
    assert 'property="og:description" content="red wins with' in get_page(contest.arena, contest.path).text


def test_pause_shows_a_note_without_countdown(arena: Arena) -> None:
    assert "data-until" in get_page(arena, f"/competitions/{arena.slug}").text
    arena.post(f"/competitions/{arena.slug}/phases/anonymization/pause")
    html = get_page(arena, f"/competitions/{arena.slug}", team="red").text
    assert translate("step_team_paused") in html
    assert "data-until" not in html


def test_leading_attacker_is_named_only_after_the_close(contest: Contest) -> None:
    target, _ = contest.publish_targets("red", "blue")
    contest.submit_correct_guess("blue", target, 30)
    assert "leads the re-identification board" not in read_overview(contest.arena)
    assert "blue leads the re-identification board: 30 of 40" in read_overview(contest.arena, organizer=True)
    assert "Individuals identified" not in read_overview(contest.arena, team="blue")
    contest.close_attacks()
    assert "blue wins the re-identification board: 30 of 40" in read_overview(contest.arena)
    assert "Re-identification board 1 of 1 Individuals identified 30" in read_overview(
        contest.arena, team="blue"
    )


def test_announcements_are_listed_newest_first(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/announcements"
    arena.post(path, json={"text": {"en": "The first."}})
    arena.post(path, json={"text": {"en": "One.\n\nTwo <b>bold</b>.", "ja": "一つ目。\n\n二つ目。"}})
    english = get_page(arena, f"/competitions/{arena.slug}").text
    assert english.index("One.") < english.index("The first.")
    assert "<p>One.</p><p>Two &lt;b&gt;bold&lt;/b&gt;.</p>" in english
    assert english.index("One.") < english.index("一つ目")
    japanese = get_page(arena, f"/competitions/{arena.slug}", language="ja").text
    assert japanese.index("一つ目") < japanese.index("One.")
    assert re.search(r'<div lang="en" class="other"><p>One\.', japanese)


def test_older_announcements_are_folded(arena: Arena) -> None:
    for number in range(5):
        arena.post(f"/competitions/{arena.slug}/announcements", json={"text": {"en": f"No. {number}"}})
    html = get_page(arena, f"/competitions/{arena.slug}").text
    first, folded = html.split('<details class="older">')
    assert all(f"No. {number}" in first for number in (2, 3, 4))
    assert all(f"No. {number}" in folded for number in (0, 1))


def test_schedule_uses_the_competition_time_zone(arena: Arena) -> None:
    html = get_page(arena, f"/competitions/{arena.slug}").text
    assert re.search(r"<time [^>]*data-zone=\"Asia/Tokyo\" data-beside>[^<]* JST</time>", html)
    assert html.count("data-beside") == 3  # start and end of the only phase, and the countdown


def test_readable_answers_are_counted(arena: Arena) -> None:
    path, label = f"/competitions/{arena.slug}/clarifications", translate("Questions to the organizers")
    for team, public in (("red", True), ("red", False), ("blue", False)):
        question = arena.post(path, json={"question": "why?"}, team=team).json()
        answer = {"answer": "so", "public": public}
        arena.put(f"/clarifications/{question['id']}/answer", json=answer, token=arena.organizer_token)
    arena.post(path, json={"question": "how?"}, team="red")
    assert f"{label} (2 answered)" in read_overview(arena, team="red")
    assert f"{label} (2 answered)" in read_overview(arena, team="blue")
    assert f"{label} (1 answered)" in read_overview(arena)
    assert f"{label} (3 answered)" in read_overview(arena, organizer=True)
