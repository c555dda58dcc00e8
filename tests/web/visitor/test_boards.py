"""The board pages show the numbers of the API and no others, to every reader at every stage."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from anoncup.plugins import TRACKS
from app.charts.axes import write_number
from app.locale.language import LANGUAGES
from app.web.site import notation
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import Contest
from tests.support.page_requests import extract_words
from tests.support.translations import translate
from tests.support.uploads import score_everything
from tests.support.visitor_pages import (
    IMMEDIATE_FEEDBACK,
    VIEWERS,
    extract_text,
    get_board_page,
    parse_ranking,
)

pytestmark = pytest.mark.full

BOARDS = ("anonymization", "reidentification", "matrix")
COLUMN_GROUPS = ("in_utility", "in_security", "measures_only", "attackers_only")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d[\d:.+]*")


def read_columns(html: str) -> list[str]:
    """Return the measures and attackers in the order of the table, read from their links to the rules."""
    return re.findall(r'/rules#(\w+)"', html.partition('<table class="ranks')[2].partition("</thead>")[0])


def format_row(
    row: dict[str, Any],
    columns: list[str],
    *,
    has_rivals: bool = False,
    has_rank_sums: bool = False,
    digits: int | None = None,
    is_tied: bool = False,
) -> list[str]:
    """Return the cells that the page shows for a row of the API."""
    received_at = row["received_at"] and datetime.fromisoformat(row["received_at"])
    own_suffix = f" {translate('you')}" if row["own"] else ""
    return [
        str(row["rank"] or "–") + ("=" if is_tied else ""),
        row["team"] + own_suffix,
        *([notation.format_number(row["rank_sum"])] if has_rank_sums else []),
        notation.format_score(row["overall"]),
        *(
            notation.format_score(row[name], 4 if row["own"] or digits is None else digits)
            for name in ("utility", "security")
        ),
        *([notation.format_score(row["rivals"])] if has_rivals else []),
        str(row["entries"]),
        notation.format_clock_minute(received_at, "Asia/Tokyo") if received_at else "–",
        *(format_value(row, name) for name in columns),
    ]


def format_value(row: dict[str, Any], name: str) -> str:
    if name in TRACKS["microdata"].measures:
        return notation.format_number(row["measures"].get(name))
    return notation.format_score(row["attackers"].get(name))


@pytest.fixture
def scored_contest(client: TestClient) -> Contest:
    """Return a contest of three teams with one or two scored submissions each."""
    contest = Contest.create(client, extra_toml=IMMEDIATE_FEEDBACK)
    for team in ("red", "blue", "緑", "red", "blue"):
        contest.submit(team, score=False)
    score_everything()
    return contest


@pytest.mark.parametrize("viewer", VIEWERS)
def test_page_numbers_equal_those_of_the_api(scored_contest: Contest, viewer: dict[str, Any]) -> None:
    board = scored_contest.get_board(**viewer)
    html = get_board_page(scored_contest.arena, query="?columns=all", **viewer)
    columns, digits = read_columns(html), board["digits"]
    expected_columns = [*board["measures"], *board["attackers"]] if digits is None else []
    assert sorted(columns) == sorted(expected_columns)
    assert parse_ranking(html) == [format_row(row, columns, digits=digits) for row in board["rows"]]
    brief_html = get_board_page(scored_contest.arena, **viewer)
    assert parse_ranking(brief_html) == [format_row(row, [], digits=digits) for row in board["rows"]]
    assert (
        translate(
            "Until the secrets are revealed, other teams’ U and E are rounded to {n} decimals, and only the team itself sees its measures and attackers: exact numbers would give away the secrets.",
            n=2,
        )
        in unescape(html)
    ) == (not viewer.get("organizer"))


def test_weighted_measures_and_counted_attackers_are_grouped(client: TestClient) -> None:
    arena = Arena.create(client, file=build_competition_toml(extra_toml="[attackers.euc1]\ncounts = false"))
    arena.submit("red")
    score_everything()
    html = get_board_page(arena, query="?columns=all", organizer=True)
    head = extract_text(html.partition('<table class="ranks')[2].partition("</thead>")[0])
    order = [head.index(translate(f"columns_{name}")) for name in COLUMN_GROUPS]
    assert order == sorted(order)
    columns = read_columns(html)
    assert columns[:3] == ["mean_mae", "cross_count", "information_loss"]
    assert columns[-1] == "euc1"
    assert head.count(f"{translate('weight')} 2") == 1
    bold = set(re.findall(r"<td[^>]*><b>(.*?)</b>", html))
    board = arena.get("/competitions/small/boards/anonymization").json()
    assert bold == {notation.format_score(board["rows"][0]["security"])}


def test_own_row_is_marked_and_summarized(scored_contest: Contest) -> None:
    own = get_board_page(scored_contest.arena, team="red")
    (row,) = [row for row in scored_contest.get_board(team="red")["rows"] if row["own"]]
    assert own.count('<tr class="own" id="own">') == 1
    summary = extract_text(re.findall(r'<dl class="place own">.*?</dl>', own, re.DOTALL)[0])
    for part in (
        "red",
        f"{row['rank']} of 3",
        *(notation.format_score(row[name]) for name in ("overall", "utility")),
    ):
        assert part in summary
    assert 'class="own"' not in get_board_page(scored_contest.arena)
    assert "自チーム" in get_board_page(scored_contest.arena, team="red", language="ja")


def test_board_describes_the_leader(scored_contest: Contest) -> None:
    first, second = scored_contest.get_board(organizer=True)["rows"][:2]
    (explanation,) = re.findall(
        r'<p class="why">(.*?)</p>', get_board_page(scored_contest.arena, organizer=True), re.DOTALL
    )
    for part in (first["team"], notation.format_score(first["overall"]), second["team"]):
        assert part in extract_text(explanation)


def test_board_without_entries_says_so(arena: Arena) -> None:
    html = get_board_page(arena)
    assert translate("No submission has been scored yet. The first accepted one leads this board.") in html
    assert "<table" not in html
    assert f'href="/competitions/{arena.slug}/submissions"' in get_board_page(arena, team="red")


def test_team_without_an_accepted_submission_has_no_rank(scored_contest: Contest) -> None:
    scored_contest.arena.get_team_token("nobody yet")
    assert "nobody yet" not in extract_words(get_board_page(scored_contest.arena))
    identity = b"original_row\n" + b"".join(b"%d\n" % (row + 1) for row in range(40))
    reversed_table = scored_contest.arena.table.iloc[::-1].reset_index(drop=True).to_csv(index=False).encode()
    assert scored_contest.arena.submit("late", anonymized=reversed_table, secret=identity).status_code == 202
    score_everything()
    html = get_board_page(scored_contest.arena, query="?columns=all", team="late")
    assert parse_ranking(html)[-1][:5] == ["–", "late you", "–", "–", "–"]
    organizers = parse_ranking(get_board_page(scored_contest.arena, query="?columns=all", organizer=True))[-1]
    assert set(organizers[7:]) == {"–"}
    assert translate("No accepted submission yet: your team has no rank.") in html
    assert translate("A team without an accepted submission is listed without a rank.") in html


CLOSED_BOARD_NOTES = {
    "teams": "Only the teams of the competition see this board.",
    "organizers": "Only the organizers see this board for now. Your own results are on your submissions page.",
}


@pytest.mark.parametrize("setting", CLOSED_BOARD_NOTES)
@pytest.mark.parametrize("board_name", BOARDS)
def test_closed_board_only_says_who_may_see_it(client: TestClient, setting: str, board_name: str) -> None:
    arena = Arena.create(
        client, file=build_competition_toml(extra_toml=f'[publication]\nboard = "{setting}"')
    )
    arena.submit("redteam")
    arena.submit("blueteam")
    score_everything()
    visitor = get_board_page(arena, board_name)
    assert translate(CLOSED_BOARD_NOTES[setting]) in unescape(visitor)
    assert "redteam" not in visitor
    assert f"boards/{board_name}.csv" not in visitor
    assert (f"/sign-in?to=/competitions/small/boards/{board_name}" in visitor.partition("<main")[2]) == (
        setting == "teams"
    )
    own = get_board_page(arena, board_name, team="redteam")
    assert (f"boards/{board_name}.csv" in own) == (setting == "teams")
    if board_name == "anonymization":
        assert ("blueteam" in own) == (setting == "teams")
        assert "blueteam" in get_board_page(arena, board_name, organizer=True)


def test_without_a_second_phase_there_are_no_attack_boards(arena: Arena) -> None:
    assert '/boards/matrix"' not in get_board_page(arena)
    for board_name in ("reidentification", "matrix"):
        assert translate(
            "This competition has no re-identification phase: only the built-in attackers attack."
        ) in get_board_page(arena, board_name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_attack_boards_show_when_the_attacks_begin(scored_contest: Contest, language: str) -> None:
    for board_name in ("reidentification", "matrix"):
        html = get_board_page(scored_contest.arena, board_name, language=language)
        assert (
            translate("Teams attack each other in the re-identification phase. It begins", language) in html
        )
        assert "<table" not in html


def mask_times(html: str) -> str:
    """Return the page with every time replaced."""
    return TIMESTAMP.sub("…", html)


@pytest.mark.parametrize("viewer", [{}, {"team": "blue"}, {"team": "red"}])
def test_hidden_scores_change_no_page_until_the_close(client: TestClient, viewer: dict[str, Any]) -> None:
    contest = Contest.create(client)
    victim = contest.submit("red")
    contest.submit("blue")
    contest.open_attacks()
    paths = [(board_name, query) for board_name in BOARDS for query in ("", "?columns=all")]
    pages_before = [mask_times(get_board_page(contest.arena, *path, **viewer)) for path in paths]
    contest.submit_correct_guess("blue", victim, 37)
    assert [mask_times(get_board_page(contest.arena, *path, **viewer)) for path in paths] == pages_before
    assert all(
        translate(
            "The results of attacks stay hidden until the re-identification phase has closed, so that nobody can use the scores to improve their guesses. It closes"
        )
        in html
        for html in pages_before
    )
    organizers = get_board_page(contest.arena, "reidentification", organizer=True)
    assert parse_ranking(organizers)[0] == ["1", "blue", "37", "40", "0.9250", "1"]
    contest.close_attacks()
    assert "0.9250" in get_board_page(contest.arena, "reidentification", **viewer)


def test_attackers_are_ranked_with_the_numbers_of_the_api(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml=IMMEDIATE_FEEDBACK)
    red, blue = contest.submit("red"), contest.submit("blue")
    contest.open_attacks()
    assert translate("No guess has been scored yet. The first one opens this board.") in get_board_page(
        contest.arena, "reidentification"
    )
    assert "/targets" in get_board_page(contest.arena, "reidentification", team="red").partition("<main")[2]
    contest.submit_correct_guess("blue", red, 30)
    contest.submit_correct_guess("red", blue, 12)
    rows = contest.get_board("reidentification", team="red")["rows"]
    assert parse_ranking(get_board_page(contest.arena, "reidentification", team="red")) == [
        [
            str(row["rank"]),
            row["team"] + (f" {translate('you')}" if row["own"] else ""),
            str(row["identified"]),
            str(row["tried"]),
            notation.format_score(row["rate"]),
            str(row["targets"]),
        ]
        for row in rows
    ]
    board = contest.get_board(organizer=True)
    html = get_board_page(contest.arena, organizer=True)
    assert translate("The finals of the anonymization phase are compared.") in html
    assert translate("Other teams") in html
    assert parse_ranking(html) == [format_row(row, [], has_rivals=True) for row in board["rows"]]


def test_rank_sum_is_the_first_column(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml='[ranking]\nrule = "rank_sum"')
    for team in ("red", "blue"):
        contest.submit(team, score=False)
    score_everything()
    html = get_board_page(contest.arena, organizer=True)
    assert translate("Sum of ranks") in html
    assert translate("ranked_by_rank_sum") in unescape(html)
    assert parse_ranking(html) == [
        format_row(row, [], has_rank_sums=True, is_tied=True)
        for row in contest.get_board(organizer=True)["rows"]
    ]
    assert translate("Sum of ranks") not in extract_text(
        get_board_page(contest.arena).partition('<table class="ranks')[2]
    )


def format_freeze(moment: datetime) -> str:
    return f"[publication]\nfrozen_from = {moment.isoformat()}"


def test_frozen_board_changes_only_for_organizers(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml=format_freeze(datetime.now(UTC) - timedelta(hours=1)))
    html_before = mask_times(get_board_page(contest.arena, team="red"))
    contest.submit("blue")
    assert mask_times(get_board_page(contest.arena, team="red")) == html_before
    assert translate("Frozen until the end of the competition. This is the board as of") in html_before
    assert "data-live" not in html_before
    organizers = get_board_page(contest.arena, organizer=True)
    assert translate("freeze_others") in organizers
    assert parse_ranking(organizers)[0][1] == "blue"


def test_board_shows_when_it_will_freeze(client: TestClient) -> None:
    moment = datetime.now(UTC) + timedelta(hours=5)
    arena = Arena.create(client, file=build_competition_toml(extra_toml=format_freeze(moment)))
    html = get_board_page(arena)
    assert translate("freeze_ahead") in html
    assert notation.format_clock_time(moment, "Asia/Tokyo") in html


def test_board_polls_only_while_it_can_change(scored_contest: Contest) -> None:
    live_attribute = 'data-live="/api/v1/competitions/small/boards/anonymization"'
    assert live_attribute in get_board_page(scored_contest.arena)
    scored_contest.start_pause()
    assert "data-live" not in get_board_page(scored_contest.arena)
    scored_contest.open_attacks()
    assert live_attribute in get_board_page(scored_contest.arena)
    scored_contest.close_attacks()
    assert "data-live" not in get_board_page(scored_contest.arena)


@pytest.mark.parametrize("query", ["?columns=nonsense", "?columns=", "?columns=all&columns=result"])
def test_unknown_choice_of_columns_uses_the_default(scored_contest: Contest, query: str) -> None:
    assert parse_ranking(get_board_page(scored_contest.arena, query=query)) == parse_ranking(
        get_board_page(scored_contest.arena)
    )


def read_figure_rows(html: str, identifier: str) -> list[list[str]]:
    """Return the rows of the table behind a chart."""
    figure = html.partition(f'id="{identifier}"')[2].partition("</figure>")[0]
    body = figure.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [[extract_text(cell) for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_charts_show_the_numbers_of_the_board(scored_contest: Contest) -> None:
    rows = scored_contest.get_board(team="red")["rows"]
    html = get_board_page(scored_contest.arena, team="red")
    assert sorted(read_figure_rows(html, "scatter")) == sorted(
        [
            row["team"],
            write_number(row["utility"]),
            write_number(row["security"]),
            "●" if row["on_front"] else "",
        ]
        for row in rows
    )
    assert sorted(read_figure_rows(html, "distribution")) == sorted(
        [row["team"], write_number(row["overall"])] for row in rows
    )
    assert len(read_figure_rows(html, "course")) == 2  # red's own submissions
    assert 'id="course"' not in get_board_page(scored_contest.arena)


@pytest.mark.parametrize("name", ["utility", "mean_mae", "euc1"])
def test_distribution_shows_the_chosen_measure(scored_contest: Contest, name: str) -> None:
    html = get_board_page(scored_contest.arena, query=f"?measure={name}", language="ja", organizer=True)
    assert f'<option value="{name}" selected>' in html
    assert sorted(read_figure_rows(html, "distribution")) == sorted(
        [row["team"], write_number({**row, **row["measures"], **row["attackers"]}[name])]
        for row in scored_contest.get_board(organizer=True)["rows"]
    )
    assert f'value="{name}"' not in get_board_page(scored_contest.arena) or name == "utility"
    unknown = get_board_page(scored_contest.arena, query="?measure=%3Cb%3E")
    assert '<option value="overall" selected>' in unknown
    assert "<b>" not in unknown
