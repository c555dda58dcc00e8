"""A team's page: what the boards say of it and nothing else, and nothing of who does not stand on them."""

import json
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from app.db.models import Evaluation, Rescore
from app.db.transaction import transaction
from app.services.boards import verdicts
from app.web.site import notation
from tests.support.arena import ROWS, Arena, competition_file
from tests.support.board_histories import TIMES
from tests.support.board_pages import board_page, text_of
from tests.support.contest import Contest
from tests.support.rejudgings import applied, reweighed
from tests.support.team_rows import team_id
from tests.web.reader import page
from tests.web.spoken import said

IMMEDIATE = '[publication]\nfeedback = "immediate"'


def team_page(contest: Contest, name: str, **reader: Any) -> str:
    answer = page(contest.arena, f"{contest.path}/teams/{team_id(name)}", **reader)
    assert answer.status_code == 200, answer.text
    return answer.text


def told(html: str) -> list[str]:
    """The numbers under the name."""
    (listed,) = re.findall(r'<dl class="place.*?</dl>', html, re.DOTALL)[:1]
    return [text_of(one) for one in re.findall(r"<dd>(.*?)</dd>", listed, re.DOTALL)]


@pytest.mark.parametrize(
    "reader",
    [
        {},
        pytest.param({"team": "red"}, marks=pytest.mark.full),
        pytest.param({"organizer": True}, marks=pytest.mark.full),
    ],
)
def test_the_page_says_what_the_boards_say_until_and_after_the_reveal(
    client: TestClient, reader: dict[str, Any]
) -> None:
    contest = Contest.opened(client, more=IMMEDIATE)
    red, _ = contest.submit("red"), contest.submit("blue")
    contest.arena.team("idle")
    contest.submit("red")
    for step in (lambda: None, contest.attack, lambda: contest.guessed("blue", red, 30), contest.close):
        step()
        board = contest.board(**reader)
        ranked = sum(row["rank"] is not None for row in board["rows"])
        for row in board["rows"]:
            html = team_page(contest, row["team"], **reader)
            digits = 4 if row["own"] or board["digits"] is None else board["digits"]
            expected = [notation.score(row["overall"])]
            expected += [notation.score(row[name], digits) for name in ("utility", "security")]
            assert told(html)[1:5] == [*expected, str(row["entries"])]
            assert f"{said('of')} {ranked}" in told(html)[0]
            assert row["team_id"] == str(team_id(row["team"]))
            targets = [
                one["target"]
                for one in contest.board("matrix", **reader)["targets"]
                if one["team"] == row["team"]
            ]
            assert bool(targets) == (said("What was found in its releases") in html)
            assert all(f'<th scope="row">{target}</th>' in html for target in targets)
            assert f'href="{contest.path}/teams/{row["team_id"]}"' in board_page(contest.arena, **reader)
        standing = {row["team"]: row["team_id"] for row in board["rows"]}
        for row in contest.board("reidentification", **reader)["rows"]:
            assert row["team_id"] == standing.get(row["team"])
    attackers = page(contest.arena, f"{contest.path}/boards/reidentification", **reader).text
    assert f'href="{contest.path}/teams/{team_id("blue")}" title="blue">blue</a>' in attackers
    assert "/teams/None" not in attackers
    assert "<b>0.7500</b> blue" in text_with_bold(team_page(contest, "red", **reader))


def text_with_bold(html: str) -> str:
    return " ".join(html.split())


@pytest.mark.full
def test_who_does_not_stand_on_the_board_has_no_page(client: TestClient) -> None:
    contest = Contest.opened(client)
    contest.submit("red")
    idle = contest.arena.team("idle")
    assert idle
    identifier = team_id("red")
    unknown = page(contest.arena, f"{contest.path}/teams/{uuid4()}")
    for name in ("idle", "red"):
        if name == "red":
            contest.organize(f"{contest.path}/teams/{identifier}/disqualify")
        answer = page(contest.arena, f"{contest.path}/teams/{team_id(name)}")
        assert answer.status_code == unknown.status_code == 404
        assert told_by(answer.text) == told_by(unknown.text)
    other = Contest.opened(client, slug="other")
    other.submit("elsewhere")
    assert page(contest.arena, f"{contest.path}/teams/{team_id('elsewhere')}").status_code == 404


def told_by(html: str) -> str:
    return text_of(html.partition("<main")[2])


def test_a_board_that_is_not_open_opens_no_team(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more='[publication]\nboard = "organizers"'))
    arena.submit("red")
    for identifier in (team_id("red"), uuid4()):
        answer = page(arena, f"/competitions/small/teams/{identifier}")
        assert answer.status_code == 403
        assert "red" not in told_by(answer.text)


def whys(contest: Contest, **reader: Any) -> list[str | None]:
    teams = contest.board("history", **reader)["teams"]
    return [step["why"] for team in teams if team["team"] == "red" for step in team["steps"]]


@pytest.mark.full
def test_why_a_score_changed_is_told_to_those_who_may_see_all_of_it(client: TestClient) -> None:
    contest = Contest.opened(client, more=IMMEDIATE)
    red, _ = contest.submit("red"), contest.submit("blue")
    waited()
    applied(contest, reweighed(contest))
    hardly_found()
    contest.attack()
    waited()
    contest.guessed("blue", red, 30)
    expected: list[str | None] = ["release", "scoring", "guesses"]
    readers: list[dict[str, Any]] = [{"team": "red"}, {"organizer": True}, {}]
    for reader in readers:
        seen = expected if reader else [None] * 3
        assert whys(contest, **reader) == seen
        shown = team_page(contest, "red", **reader)
        assert (said("other teams’ guesses") in shown) == (seen == expected)
    contest.close()
    assert whys(contest) == expected


def hardly_found() -> None:
    """As if all built-in attackers had found eight of forty."""
    with transaction() as session:
        for one in session.scalars(select(Evaluation)):
            verdict = json.loads(json.dumps(one.verdict))
            for attacker in verdict["attackers"].values():
                attacker |= {"correct": 8, "rate": 8 / ROWS}
            one.verdict = verdict | {"security": 8 / ROWS}
    verdicts.kept.clear()


def waited() -> None:
    """As if all so far had been ten seconds earlier: what follows more closely than a second is one step."""
    with transaction() as session:
        for table, columns in {**TIMES, Rescore: ("applied_at",)}.items():
            past = {name: getattr(table, name) - timedelta(seconds=10) for name in columns}
            session.execute(update(table).values(past))
