"""The boards as pages: the numbers of the interface and no others, for everybody at every stage."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from anoncup.plugins import TRACKS
from app.charts.axes import number
from app.locale.language import LANGUAGES
from app.web.site import notation
from tests.support.arena import Arena, competition_file
from tests.support.board_pages import IMMEDIATE, READERS, board_page, lines, text_of
from tests.support.contest import Contest
from tests.support.uploads import score_everything
from tests.web.reader import words_of
from tests.web.spoken import said

pytestmark = pytest.mark.full

BOARDS = ("anonymization", "reidentification", "matrix")
GROUPS = ("in_utility", "in_security", "measures_only", "attackers_only")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d[\d:.+]*")


def columns_of(html: str) -> list[str]:
    """The measures and attackers in the order of the table, by the places in the rules they lead to."""
    return re.findall(r'/rules#(\w+)"', html.partition('<table class="ranks')[2].partition("</thead>")[0])


def line_of(
    row: dict[str, Any],
    columns: list[str],
    *,
    rivals: bool = False,
    sums: bool = False,
    digits: int | None = None,
    shared: bool = False,
) -> list[str]:
    """A row of the interface's answer as the page writes it."""
    at = row["received_at"] and datetime.fromisoformat(row["received_at"])
    own = f" {said('you')}" if row["own"] else ""
    return [
        str(row["rank"] or "–") + ("=" if shared else ""),
        row["team"] + own,
        *([notation.numeral(row["rank_sum"])] if sums else []),
        notation.score(row["overall"]),
        *(
            notation.score(row[name], 4 if row["own"] or digits is None else digits)
            for name in ("utility", "security")
        ),
        *([notation.score(row["rivals"])] if rivals else []),
        str(row["entries"]),
        notation.clock_minute(at, "Asia/Tokyo") if at else "–",
        *(measured(row, name) for name in columns),
    ]


def measured(row: dict[str, Any], name: str) -> str:
    if name in TRACKS["microdata"].measures:
        return notation.numeral(row["measures"].get(name))
    return notation.score(row["attackers"].get(name))


@pytest.fixture
def crowd(client: TestClient) -> Contest:
    """Three teams with one or two submissions each, all of them scored."""
    contest = Contest.opened(client, more=IMMEDIATE)
    for team in ("red", "blue", "緑", "red", "blue"):
        contest.submit(team, scored=False)
    score_everything()
    return contest


@pytest.mark.parametrize("reader", READERS)
def test_every_number_of_the_page_is_that_of_the_interface(crowd: Contest, reader: dict[str, Any]) -> None:
    board = crowd.board(**reader)
    html = board_page(crowd.arena, query="?columns=all", **reader)
    columns, digits = columns_of(html), board["digits"]
    every = [*board["measures"], *board["attackers"]] if digits is None else []
    assert sorted(columns) == sorted(every)
    assert lines(html) == [line_of(row, columns, digits=digits) for row in board["rows"]]
    brief = board_page(crowd.arena, **reader)
    assert lines(brief) == [line_of(row, [], digits=digits) for row in board["rows"]]
    assert (
        said(
            "Until the secrets are revealed, other teams’ U and E are rounded to {n} decimals, and only the team itself sees its measures and attackers: exact numbers would give away the secrets.",
            n=2,
        )
        in unescape(html)
    ) == (not reader.get("organizer"))


def test_what_weighs_and_what_counts_stands_apart_from_the_rest(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more="[attackers.euc1]\ncounts = false"))
    arena.submit("red")
    score_everything()
    html = board_page(arena, query="?columns=all", organizer=True)
    head = text_of(html.partition('<table class="ranks')[2].partition("</thead>")[0])
    order = [head.index(said(f"columns_{name}")) for name in GROUPS]
    assert order == sorted(order)
    columns = columns_of(html)
    assert columns[:3] == ["mean_mae", "cross_count", "information_loss"]
    assert columns[-1] == "euc1"
    assert head.count(f"{said('weight')} 2") == 1
    bold = set(re.findall(r"<td[^>]*><b>(.*?)</b>", html))
    board = arena.get("/competitions/small/boards/anonymization").json()
    assert bold == {notation.score(board["rows"][0]["security"])}


def test_the_own_row_is_marked_and_said_above_the_table(crowd: Contest) -> None:
    own = board_page(crowd.arena, team="red")
    (row,) = [row for row in crowd.board(team="red")["rows"] if row["own"]]
    assert own.count('<tr class="own" id="own">') == 1
    place = text_of(re.findall(r'<dl class="place own">.*?</dl>', own, re.DOTALL)[0])
    for part in (
        "red",
        f"{row['rank']} of 3",
        *(notation.score(row[name]) for name in ("overall", "utility")),
    ):
        assert part in place
    assert 'class="own"' not in board_page(crowd.arena)
    assert "自チーム" in board_page(crowd.arena, team="red", language="ja")


def test_the_board_says_who_leads_and_why(crowd: Contest) -> None:
    first, second = crowd.board(organizer=True)["rows"][:2]
    (why,) = re.findall(r'<p class="why">(.*?)</p>', board_page(crowd.arena, organizer=True), re.DOTALL)
    for part in (first["team"], notation.score(first["overall"]), second["team"]):
        assert part in text_of(why)


def test_a_board_without_entries_says_so(arena: Arena) -> None:
    html = board_page(arena)
    assert said("No submission has been scored yet. The first accepted one leads this board.") in html
    assert "<table" not in html
    assert f'href="/competitions/{arena.slug}/submissions"' in board_page(arena, team="red")


def test_a_team_without_an_accepted_submission_has_no_rank(crowd: Contest) -> None:
    crowd.arena.team("nobody yet")
    assert "nobody yet" not in words_of(board_page(crowd.arena))
    identity = b"original_row\n" + b"".join(b"%d\n" % (row + 1) for row in range(40))
    turned = crowd.arena.table.iloc[::-1].reset_index(drop=True).to_csv(index=False).encode()
    assert crowd.arena.submit("late", anonymized=turned, secret=identity).status_code == 202
    score_everything()
    html = board_page(crowd.arena, query="?columns=all", team="late")
    assert lines(html)[-1][:5] == ["–", "late you", "–", "–", "–"]
    organizers = lines(board_page(crowd.arena, query="?columns=all", organizer=True))[-1]
    assert set(organizers[7:]) == {"–"}
    assert said("No accepted submission yet: your team has no rank.") in html
    assert said("A team without an accepted submission is listed without a rank.") in html


CLOSED = {
    "teams": "Only the teams of the competition see this board.",
    "organizers": "Only the organizers see this board for now. Your own results are on your submissions page.",
}


@pytest.mark.parametrize("setting", CLOSED)
@pytest.mark.parametrize("which", BOARDS)
def test_a_closed_board_says_for_whom_it_is_and_nothing_else(
    client: TestClient, setting: str, which: str
) -> None:
    arena = Arena.opened(client, file=competition_file(more=f'[publication]\nboard = "{setting}"'))
    arena.submit("redteam")
    arena.submit("blueteam")
    score_everything()
    visitor = board_page(arena, which)
    assert said(CLOSED[setting]) in unescape(visitor)
    assert "redteam" not in visitor
    assert f"boards/{which}.csv" not in visitor
    assert (f"/sign-in?to=/competitions/small/boards/{which}" in visitor.partition("<main")[2]) == (
        setting == "teams"
    )
    own = board_page(arena, which, team="redteam")
    assert (f"boards/{which}.csv" in own) == (setting == "teams")
    if which == "anonymization":
        assert ("blueteam" in own) == (setting == "teams")
        assert "blueteam" in board_page(arena, which, organizer=True)


def test_without_a_second_phase_there_are_no_boards_of_attacks(arena: Arena) -> None:
    assert '/boards/matrix"' not in board_page(arena)
    for which in ("reidentification", "matrix"):
        assert said(
            "This competition has no re-identification phase: only the built-in attackers attack."
        ) in board_page(arena, which)


@pytest.mark.parametrize("language", LANGUAGES)
def test_before_the_attacks_the_boards_say_when_they_begin(crowd: Contest, language: str) -> None:
    for which in ("reidentification", "matrix"):
        html = board_page(crowd.arena, which, language=language)
        assert said("Teams attack each other in the re-identification phase. It begins", language) in html
        assert "<table" not in html


def masked(html: str) -> str:
    """The page but for the moments on it."""
    return MOMENT.sub("…", html)


@pytest.mark.parametrize("reader", [{}, {"team": "blue"}, {"team": "red"}])
def test_hidden_scores_change_nothing_on_any_page_until_the_close(
    client: TestClient, reader: dict[str, Any]
) -> None:
    contest = Contest.opened(client)
    victim = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    paths = [(which, query) for which in BOARDS for query in ("", "?columns=all")]
    before = [masked(board_page(contest.arena, *path, **reader)) for path in paths]
    contest.guessed("blue", victim, 37)
    assert [masked(board_page(contest.arena, *path, **reader)) for path in paths] == before
    assert all(
        said(
            "The results of attacks stay hidden until the re-identification phase has closed, so that nobody can use the scores to improve their guesses. It closes"
        )
        in html
        for html in before
    )
    organizers = board_page(contest.arena, "reidentification", organizer=True)
    assert lines(organizers)[0] == ["1", "blue", "37", "40", "0.9250", "1"]
    contest.close()
    assert "0.9250" in board_page(contest.arena, "reidentification", **reader)


def test_the_attackers_are_ranked_with_the_numbers_of_the_interface(client: TestClient) -> None:
    contest = Contest.opened(client, more=IMMEDIATE)
    red, blue = contest.submit("red"), contest.submit("blue")
    contest.attack()
    assert said("No guess has been scored yet. The first one opens this board.") in board_page(
        contest.arena, "reidentification"
    )
    assert "/targets" in board_page(contest.arena, "reidentification", team="red").partition("<main")[2]
    contest.guessed("blue", red, 30)
    contest.guessed("red", blue, 12)
    rows = contest.board("reidentification", team="red")["rows"]
    assert lines(board_page(contest.arena, "reidentification", team="red")) == [
        [
            str(row["rank"]),
            row["team"] + (f" {said('you')}" if row["own"] else ""),
            str(row["identified"]),
            str(row["tried"]),
            notation.score(row["rate"]),
            str(row["targets"]),
        ]
        for row in rows
    ]
    board = contest.board(organizer=True)
    html = board_page(contest.arena, organizer=True)
    assert said("The finals of the anonymization phase are compared.") in html
    assert said("Other teams") in html
    assert lines(html) == [line_of(row, [], rivals=True) for row in board["rows"]]


def test_where_ranks_are_added_up_their_sum_leads_the_table(client: TestClient) -> None:
    contest = Contest.opened(client, more='[ranking]\nrule = "rank_sum"')
    for team in ("red", "blue"):
        contest.submit(team, scored=False)
    score_everything()
    html = board_page(contest.arena, organizer=True)
    assert said("Sum of ranks") in html
    assert said("ranked_by_rank_sum") in unescape(html)
    assert lines(html) == [
        line_of(row, [], sums=True, shared=True) for row in contest.board(organizer=True)["rows"]
    ]
    assert said("Sum of ranks") not in text_of(board_page(contest.arena).partition('<table class="ranks')[2])


def frozen_at(moment: datetime) -> str:
    return f"[publication]\nfrozen_from = {moment.isoformat()}"


def test_a_frozen_board_says_so_and_stands_still_for_all_but_the_organizers(client: TestClient) -> None:
    contest = Contest.opened(client, more=frozen_at(datetime.now(UTC) - timedelta(hours=1)))
    before = masked(board_page(contest.arena, team="red"))
    contest.submit("blue")
    assert masked(board_page(contest.arena, team="red")) == before
    assert said("Frozen until the end of the competition. This is the board as of") in before
    assert "data-live" not in before
    organizers = board_page(contest.arena, organizer=True)
    assert said("freeze_others") in organizers
    assert lines(organizers)[0][1] == "blue"


def test_a_board_that_will_be_frozen_says_when(client: TestClient) -> None:
    moment = datetime.now(UTC) + timedelta(hours=5)
    arena = Arena.opened(client, file=competition_file(more=frozen_at(moment)))
    html = board_page(arena)
    assert said("freeze_ahead") in html
    assert notation.clock_time(moment, "Asia/Tokyo") in html


def test_a_board_asks_for_changes_only_while_there_can_be_some(crowd: Contest) -> None:
    live = 'data-live="/api/v1/competitions/small/boards/anonymization"'
    assert live in board_page(crowd.arena)
    crowd.between()
    assert "data-live" not in board_page(crowd.arena)
    crowd.attack()
    assert live in board_page(crowd.arena)
    crowd.close()
    assert "data-live" not in board_page(crowd.arena)


@pytest.mark.parametrize("query", ["?columns=nonsense", "?columns=", "?columns=all&columns=result"])
def test_a_choice_that_does_not_exist_is_the_usual_one(crowd: Contest, query: str) -> None:
    assert lines(board_page(crowd.arena, query=query)) == lines(board_page(crowd.arena))


def figure_rows(html: str, identifier: str) -> list[list[str]]:
    """The table behind a picture."""
    figure = html.partition(f'id="{identifier}"')[2].partition("</figure>")[0]
    body = figure.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [[text_of(cell) for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_the_pictures_hold_the_boards_numbers(crowd: Contest) -> None:
    rows = crowd.board(team="red")["rows"]
    html = board_page(crowd.arena, team="red")
    assert sorted(figure_rows(html, "scatter")) == sorted(
        [row["team"], number(row["utility"]), number(row["security"]), "●" if row["on_front"] else ""]
        for row in rows
    )
    assert sorted(figure_rows(html, "distribution")) == sorted(
        [row["team"], number(row["overall"])] for row in rows
    )
    assert len(figure_rows(html, "course")) == 2  # red's own submissions
    assert 'id="course"' not in board_page(crowd.arena)


@pytest.mark.parametrize("name", ["utility", "mean_mae", "euc1"])
def test_the_distribution_is_of_the_measure_that_is_asked_for(crowd: Contest, name: str) -> None:
    html = board_page(crowd.arena, query=f"?measure={name}", language="ja", organizer=True)
    assert f'<option value="{name}" selected>' in html
    assert sorted(figure_rows(html, "distribution")) == sorted(
        [row["team"], number({**row, **row["measures"], **row["attackers"]}[name])]
        for row in crowd.board(organizer=True)["rows"]
    )
    assert f'value="{name}"' not in board_page(crowd.arena) or name == "utility"
    unknown = board_page(crowd.arena, query="?measure=%3Cb%3E")
    assert '<option value="overall" selected>' in unknown
    assert "<b>" not in unknown
