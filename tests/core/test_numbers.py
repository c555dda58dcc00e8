"""Every number on a page of a played contest equals the API's number for the same reader."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from anoncup.plugins import TRACKS
from app.core.pages import notation
from app.core.pages.notation import format_hundredths
from tests.support.board_facts import FORMULA_TOML
from tests.support.contest import Contest
from tests.support.page_requests import get_page
from tests.support.translations import translate
from tests.support.uploads import score_everything
from tests.support.visitor_pages import (
    IMMEDIATE_FEEDBACK,
    VIEWERS,
    extract_text,
    parse_body,
    parse_ranking,
    parse_rows,
)

pytestmark = pytest.mark.full

ZONE = "Asia/Tokyo"
UE = ("utility", "security")


def play(contest: Contest) -> Iterator[str]:
    """Play a contest of three teams with scores, one rejected and one idle team. Yield after each stage."""
    red, blue, *_ = [contest.submit(team, score=False) for team in ("red", "blue", "緑", "red", "blue")]
    contest.arena.submit_excessive("late")
    contest.arena.get_team_token("idle")
    score_everything()
    yield "scored"
    contest.open_attacks()
    yield "attacks opened"
    guesses = [("blue", red, 30), ("blue", red, 2), ("緑", red, 35), ("red", blue, 12), ("緑", blue, 12)]
    for team, target, correct in guesses:
        contest.submit_correct_guess(team, target, correct)
    yield "attacked"
    contest.close_attacks()
    yield "closed"


@dataclass(frozen=True)
class Reader:
    """A reader of a contest, by the pages and by the API."""

    contest: Contest
    rule: str
    viewer: dict[str, Any]

    def read_board(self, name: str = "anonymization") -> Any:
        return self.contest.get_board(name, **self.viewer)

    def read_page(self, path: str) -> str:
        response = get_page(self.contest.arena, path, **self.viewer)
        assert response.status_code == 200, response.text
        return response.text

    def read_contest_page(self, path: str) -> str:
        return self.read_page(self.contest.path + path)


def format_losses(row: dict[str, Any], digits: int | None) -> list[str]:
    """Return U and E with the decimals that the reader may see."""
    shown_digits = 4 if row["own"] or digits is None else digits
    return [notation.format_score(row[name], shown_digits) for name in UE]


def format_rank(row: dict[str, Any]) -> str:
    return str(row["rank"] or "–")


def format_name(row: dict[str, Any]) -> str:
    return f"{row['team']} you" if row["own"] else str(row["team"])


def format_value(row: dict[str, Any], name: str) -> str:
    if name in TRACKS["microdata"].measures:
        return notation.format_number(row["measures"].get(name))
    return notation.format_score(row["attackers"].get(name))


def check_anonymization_board(reader: Reader) -> None:
    board = reader.read_board()
    is_exact = board["digits"] is None
    has_rivals = any(row["rival_risk"] is not None for row in board["rows"])
    has_scores = reader.rule != "score"
    for query in ("", "?columns=all"):
        html = reader.read_contest_page(f"/boards/anonymization{query}")
        head, _, body = html.partition('<table class="ranks')[2].partition("</thead>")
        assert (re.search(r"<span>Score</span>", head) is not None) is has_scores
        assert (translate("Other teams") in head) is has_rivals
        assert translate(f"ranked_by_{reader.rule}") in unescape(html)
        assert list_linked_teams(body) == [row["team_id"] for row in board["rows"]]
        columns = re.findall(r'/rules#(\w+)"', head)
        all_columns = [*board["measures"], *board["attackers"]] if is_exact and query else []
        assert sorted(columns) == sorted(all_columns)
        assert parse_ranking(html) == [
            [
                format_rank(row),
                format_name(row),
                *([notation.format_number(row["score"])] if has_scores else []),
                notation.format_score(row["overall"]),
                *format_losses(row, board["digits"]),
                *([notation.format_score(row["rival_risk"])] if has_rivals else []),
                str(row["entries"]),
                format_minute(row["received_at"]),
                *(format_value(row, name) for name in columns),
            ]
            for row in board["rows"]
        ]
    check_own_place(reader, html, board["rows"])


def list_linked_teams(html: str) -> list[str]:
    """Return the identifiers in the links to pages of teams."""
    return re.findall(r'/teams/([^"]*)"', html)


def format_minute(moment: str | None) -> str:
    return notation.format_short_time(datetime.fromisoformat(moment), ZONE) if moment else "–"


def check_own_place(reader: Reader, html: str, rows: list[dict[str, Any]]) -> None:
    """Check the reader's row in words above the table."""
    own_rows = [row for row in rows if row["own"]]
    assert html.count('<tr class="own" id="own">') == html.count('<dl class="place own">') == len(own_rows)
    for row in own_rows:
        ranked = sum(rival["rank"] is not None for rival in rows)
        values = re.findall(
            r"<dd>(.*?)</dd>", html.partition('<dl class="place own">')[2].partition("</dl>")[0]
        )
        expected = [row["team"], f"{format_rank(row)} of {ranked}"]
        expected += [] if row["score"] is None else [notation.format_number(row["score"])]
        expected.append(notation.format_score(row["overall"]))
        better = [rival for rival in rows if rival["rank"] and rival["rank"] < row["rank"]]
        if better and reader.rule == "score":
            distance = round(row["overall"], 4) - round(better[-1]["overall"], 4)
            expected.append(notation.format_score(distance))
        elif better and better[-1]["score"] is not None:
            expected.append(notation.format_number(abs(row["score"] - better[-1]["score"])))
        expected += [notation.format_score(row[name]) for name in UE]
        assert [extract_text(value) for value in values] == expected


def check_reidentification_board(reader: Reader) -> None:
    rows = reader.read_board("reidentification")["rows"]
    html = reader.read_contest_page("/boards/reidentification")
    if not any(row["rank"] for row in rows):
        assert '<table class="ranks' not in html
        return
    team_ids = {row["team"]: row["team_id"] for row in reader.read_board()["rows"]}
    assert {row["team"]: row["team_id"] for row in rows if row["team_id"]} == team_ids
    assert list_linked_teams(html) == [row["team_id"] for row in rows if row["team_id"]]
    assert parse_ranking(html) == [
        [
            format_rank(row),
            format_name(row),
            notation.format_number(row["identified"]),
            notation.format_number(row["tried"]),
            notation.format_score(row["rate"]),
            notation.format_number(row["targets"]),
        ]
        for row in rows
    ]


def check_matrix(reader: Reader) -> None:
    matrix = reader.read_board("matrix")
    html = reader.read_contest_page("/boards/matrix")
    assert [row[1:] for row in parse_body(html, '<table id="matrix"')] == [
        [format_hundredths(cell["rate"]) if cell else "—" for cell in row["cells"]]
        for row in matrix["rows"]
        if matrix["targets"]
    ]
    shows_built_in = any(row["built_in"] for row in matrix["rows"])
    reveal_note = translate("What the built-in attackers find is shown after the reveal.")
    assert (reveal_note in html) is (bool(matrix["targets"]) and not shows_built_in)


def check_team_pages(reader: Reader) -> None:
    board, matrix = reader.read_board(), reader.read_board("matrix")
    attackers = {row["team"]: row for row in reader.read_board("reidentification")["rows"] if row["rank"]}
    ranked = sum(row["rank"] is not None for row in board["rows"])
    for row in board["rows"]:
        html = reader.read_contest_page(f"/teams/{row['team_id']}")
        summary, *more = re.findall(r'<dl class="place.*?</dl>', html, re.DOTALL)
        values = [extract_text(value) for value in re.findall(r"<dd>(.*?)</dd>", summary, re.DOTALL)]
        rank = f"{format_rank(row)} of {ranked}" if row["rank"] else "–"
        formula_score = [] if row["score"] is None else [notation.format_number(row["score"])]
        scores = [*formula_score, notation.format_score(row["overall"]), *format_losses(row, board["digits"])]
        assert values[: 2 + len(scores)] == [rank, *scores, str(row["entries"])]
        columns = [index for index, entry in enumerate(matrix["targets"]) if entry["team"] == row["team"]]
        assert (translate("What was found in its releases") in html) is bool(columns)
        assert [line[:2] for line in parse_body(html, 'class="most_found"')] == [
            [matrix["targets"][index]["target"], format_best_rate(matrix["rows"], index)] for index in columns
        ]
        assert len(more) == (row["team"] in attackers)
        if more:
            identified = "{identified} of {tried}".format(**attackers[row["team"]])
            assert identified in extract_text(more[0])


def format_best_rate(rows: list[dict[str, Any]], index: int) -> str:
    """Return the largest rate of teams on a target, with their names."""
    rates = {
        row["attacker"]: row["cells"][index]["rate"]
        for row in rows
        if row["cells"][index] and not row["built_in"]
    }
    best = max(rates.values(), default=None)
    names = " and ".join(team for team, rate in rates.items() if rate == best)
    return f"{notation.format_score(best)} {names}".strip()


def check_podium(reader: Reader) -> None:
    board = reader.read_board()
    html = reader.read_contest_page("")
    by_score = all(row["score"] is not None for row in board["rows"] if row["rank"])
    expected = [
        [
            str(row["rank"]),
            format_name(row),
            notation.format_number(row["score"]) if by_score else notation.format_score(row["overall"]),
            *format_losses(row, board["digits"]),
        ]
        for row in board["rows"]
        if row["rank"]
    ]
    assert parse_body(html, '<table class="podium"') == expected
    check_exact_losses_are_hidden(reader, html, board)


def check_exact_losses_are_hidden(reader: Reader, html: str, board: dict[str, Any]) -> None:
    """Check that a reader of rounded losses finds the exact U of other teams nowhere on the page."""
    if board["digits"] is None:
        return
    own_teams = {row["team"] for row in board["rows"] if row["own"]}
    own_texts = {notation.format_score(row["utility"]) for row in board["rows"] if row["own"]}
    for row in reader.contest.get_board(organizer=True)["rows"]:
        if row["rank"] and row["team"] not in own_teams:
            for text in (notation.format_score(row["utility"]), str(row["utility"])):
                assert text in own_texts or not re.search(rf"{text}(?!\d)", html)


def format_own_score(rule: str, result: dict[str, Any]) -> str:
    """Return what ranks a release: the value of ``FORMULA_TOML`` without guesses, or else ``overall``."""
    if rule != "formula":
        return notation.format_score(result["overall"])
    utility, security, euc1 = result["utility"], result["security"], result["attackers"]["euc1"]["rate"]
    return notation.format_number(min(1 - utility, 1 - security) - security / 3 - euc1 / 7)


def check_submissions(reader: Reader) -> None:
    """Check the page and the list of the reader's submissions."""
    if not reader.viewer.get("team"):
        return
    arena, path = reader.contest.arena, f"{reader.contest.path}/submissions"
    submissions = arena.get(path, team=reader.viewer["team"]).json()
    lines = re.findall(r'<dl class="scores.*?</dl>', reader.read_page(path), re.DOTALL)
    results = [submission["result"] for submission in submissions]
    assert [re.findall(r"<dd[^>]*>([^<]*)</dd>", line) for line in lines] == [
        [format_own_score(reader.rule, result), *(notation.format_score(result[name]) for name in UE)]
        for result in results
    ]
    for submission, result in zip(submissions, results, strict=True):
        html = reader.read_page(f"/submissions/{submission['id']}")
        rows = {row[0].split()[-1]: row for row in reversed(parse_rows(html)) if row}
        for name, measure in result["measures"].items():
            assert rows[name][1].split()[0] == notation.format_number(measure["value"]), name
        for name, attacker in result["attackers"].items():
            hits = " / ".join(notation.format_number(attacker[part]) for part in ("correct", "trials"))
            assert rows[name][1:3] == [notation.format_score(attacker["rate"]), hits], name


CHECKS: tuple[Callable[[Reader], None], ...] = (
    check_anonymization_board,
    check_reidentification_board,
    check_matrix,
    check_team_pages,
    check_podium,
    check_submissions,
)


@pytest.mark.parametrize("viewer", VIEWERS, ids=["visitor", "team", "organizer"])
@pytest.mark.parametrize("rule", ["score", "rank_sum", "formula"])
def test_numbers_on_pages_equal_those_of_the_api(
    client: TestClient, rule: str, viewer: dict[str, Any]
) -> None:
    ranking = FORMULA_TOML if rule == "formula" else f'[ranking]\nrule = "{rule}"\n'
    contest = Contest.create(client, extra_toml=ranking + IMMEDIATE_FEEDBACK)
    for _stage in play(contest):
        for check in CHECKS:
            check(Reader(contest, rule, viewer))
