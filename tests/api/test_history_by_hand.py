"""The history of the anonymization board: of each moment it says what plain counting says of its board."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from anoncup.rules.toml_text import with_tables
from anoncup.schemas import HistoryRank
from app.db.models import Competition, Team
from app.db.transaction import transaction
from app.services.accounts import accounts
from app.services.boards import anonymization, board_timeline
from app.services.contests import visibility
from app.services.contests.visibility import Sight
from tests.support import board_facts
from tests.support.arena import API, Arena, competition_file, noisy_release
from tests.support.board_facts import ORGANIZER, VISITOR, ZONE, Facts, hours
from tests.support.board_histories import TIMES, leaders_at
from tests.support.random_contests import COMBINATIONS, Drawn, nothing_written_down
from tests.support.uploads import score_everything
from tests.web.reader import page

pytestmark = pytest.mark.full

__all__ = ["nothing_written_down"]  # a fixture of every test here
SECOND = timedelta(seconds=1)
FIRST = 10


@dataclass
class Then(Facts):
    """The same contest at an earlier moment."""

    moment: datetime = board_facts.NEVER

    def cut(self, viewer: str) -> datetime:
        frozen = self.frozen_from
        if frozen is None or frozen > self.moment or self.closed or viewer == ORGANIZER:
            return self.moment
        return frozen


def then(facts: Facts, moment: datetime, closed_at: datetime | None) -> Then:
    """What is revealed is all open, also what was not at the time."""
    closed = facts.revealed or (closed_at is not None and closed_at <= moment)
    return Then(**vars(replace(facts, closed=closed)), moment=moment)


def moments(facts: Facts, told: dict[str, Any]) -> list[datetime]:
    """Every second at which anything may have changed, and the next."""
    at = [one for sent in facts.sent for judged in sent.judged for one in (judged.since, judged.ended)]
    at += [one for guess in facts.guessed for one in (guess.at, guess.ended)]
    at += [since for since, _ in facts.weighing[1:]]
    at += [one for one in (facts.frozen_from, facts.published_at) if one is not None]
    start = datetime.now(ZONE).replace(hour=0, minute=0, second=0, microsecond=0)
    at += [(start - hours(24 * day)).astimezone(UTC) for day in range(6)]
    at += [datetime.fromisoformat(step["at"]) for team in told["teams"] for step in team["steps"]]
    now = datetime.now(UTC)
    whole = {one.replace(microsecond=0) + SECOND * beside for one in at for beside in (0, 1)}
    return sorted(one for one in whole if one < now - 2 * SECOND)


def shown_at(told: dict[str, Any], moment: datetime) -> dict[str, tuple[float, ...]]:
    """Of each team that had a rank its overall, U and E, by the steps."""
    found = {}
    for team in told["teams"]:
        past = [step for step in team["steps"] if datetime.fromisoformat(step["at"]) <= moment]
        if past and past[-1]["overall"] is not None:
            found[team["team"]] = tuple(past[-1][name] for name in ("overall", "utility", "security"))
    return found


def steps_at(told: dict[str, Any], moment: datetime) -> dict[str, int | None]:
    """The ranks of the teams that took a step then."""
    return {
        team["team"]: step["rank"]
        for team in told["teams"]
        for step in team["steps"]
        if datetime.fromisoformat(step["at"]) == moment
    }


def check(drawn: Drawn, viewer: str, closed_at: datetime | None = None) -> int:
    """How many steps there were."""
    told = drawn.get(None, "history", viewer).json()
    courses = ranks_of(drawn, viewer)
    for moment in moments(drawn.facts, told):
        lines = board_facts.anonymization(then(drawn.facts, moment, closed_at), viewer)
        placed = [line for line in lines if line["overall"] is not None]
        expected = {
            line["team"]: tuple(line[name] for name in ("overall", "utility", "security")) for line in placed
        }
        assert shown_at(told, moment) == expected, (viewer, moment)
        ranks = {line["team"]: line["rank"] for line in placed}
        assert leaders_at(told, moment) == [(line["team"], line["rank"]) for line in placed][:FIRST]
        for team, rank in steps_at(told, moment).items():
            assert rank == ranks.get(team), (viewer, moment, team)
        for team, course in courses.items():
            past = [one.rank for one in course if one.at <= moment]
            assert (past[-1] if past else None) == ranks.get(team), (viewer, moment, team)
        if drawn.rng.random() < 0.05:  # a whole board of the service
            assert service_ranks(drawn, viewer, moment) == ranks, (viewer, moment)
    return sum(len(team["steps"]) for team in told["teams"])


def sight_of(session: Any, drawn: Drawn, viewer: str) -> Sight:
    arena = drawn.contest.arena
    token = {VISITOR: None, ORGANIZER: arena.organizer}.get(viewer, arena.tokens.get(viewer))
    principal = accounts.authenticate(session, token) if token else None
    return visibility.boards(session, principal, arena.slug)


def ranks_of(drawn: Drawn, viewer: str) -> dict[str, list[HistoryRank]]:
    with transaction() as session:
        sight = sight_of(session, drawn, viewer)
        teams = session.execute(select(Team.name, Team.id)).all()
        return {name: board_timeline.followed(session, sight, team)[1] for name, team in teams}


def service_ranks(drawn: Drawn, viewer: str, moment: datetime) -> dict[str, int]:
    """What the board would have said that is compared with that moment."""
    with transaction() as session:
        sight = sight_of(session, drawn, viewer)
        long_ago = datetime(2000, 1, 1, tzinfo=UTC)
        session.execute(update(Competition).values(created_at=long_ago))
        session.expire_all()
        found = anonymization.ranks_before(session, replace(sight, view=compared(sight, moment)))
        session.rollback()
        return found


def compared(sight: Sight, moment: datetime) -> visibility.View:
    return replace(sight.view, compared_with=moment)


@pytest.mark.parametrize(
    ("seed", "rule", "feedback"),
    [
        (6, "rank_sum", "daily"),
        pytest.param(1, "score", "immediate", marks=pytest.mark.full),
        pytest.param(2, "score", "hidden", marks=pytest.mark.full),
        *(pytest.param(seed, *COMBINATIONS[seed % 6], marks=pytest.mark.full) for seed in range(40, 58)),
    ],
)
def test_at_each_moment_the_history_is_the_board_of_then(
    client: TestClient, seed: int, rule: str, feedback: str
) -> None:
    drawn = Drawn(client, seed, rule=rule, feedback=feedback)
    viewers = (VISITOR, ORGANIZER, "red")
    for _ in range(10):
        drawn.submit()
    drawn.rescore(drawn.now - hours(55))
    assert check(drawn, VISITOR) > 0 or seed % 4 == 1
    drawn.publish()
    drawn.open_attacks()
    for _ in range(9):
        drawn.guess()
    drawn.rescore(drawn.now - hours(10))
    for viewer in viewers:
        check(drawn, viewer)
    drawn.bar(team=drawn.pick(drawn.facts.teams))
    check(drawn, VISITOR)
    drawn.close()
    closed_at = drawn.now - hours(0.05)
    with transaction() as session:
        session.execute(update(Competition).values(closed_at=closed_at, revealed_at=None))
    drawn.facts.revealed = False
    for viewer in viewers:
        check(drawn, viewer, closed_at)
    with transaction() as session:
        session.execute(update(Competition).values(revealed_at=closed_at))
    drawn.facts.revealed = True
    for viewer in viewers:
        check(drawn, viewer, closed_at)


BOARD, HISTORY = "/competitions/small/boards/anonymization", "/competitions/small/boards/history"


def earlier(days: float) -> None:
    """Let everything so far have been so many days ago."""
    past = timedelta(days=days)
    with transaction() as session:
        for table, columns in TIMES.items():
            moved = {name: getattr(table, name) - past for name in columns}
            session.execute(update(table).values(moved))


def sends(arena: Arena, team: str, *, seed: int, worse: float = 1.0) -> None:
    """A release whose incomes are so many times too large."""
    table = arena.table.assign(income=arena.table["income"] * worse)
    anonymized, secret = noisy_release(seed, table)
    assert arena.submit(team, anonymized=anonymized, secret=secret).status_code == 202
    score_everything()


def test_ranks_are_compared_with_those_of_a_day_before(arena: Arena) -> None:
    sends(arena, "red", seed=3, worse=1.5)
    sends(arena, "blue", seed=4, worse=2.0)
    assert arena.board()["compared_with"] is None
    earlier(2)
    assert arena.board()["compared_with"] is not None
    assert [row["rank_before"] for row in arena.board()["rows"]] == [1, 2]
    sends(arena, "blue", seed=5)
    sends(arena, "green", seed=6, worse=2.0)
    rows = arena.board()["rows"]
    assert {row["team"]: row["rank_before"] for row in rows} == {"red": 1, "blue": 2, "green": None}
    assert {row["team"]: row["rank"] for row in rows} == {"blue": 1, "red": 2, "green": 3}
    html = page(arena, "/competitions/small/boards/anonymization").text
    for words in ("1 rank up within a day", "1 rank down within a day", "New in the ranking within a day"):
        assert html.count(f'aria-label="{words}"') == 1


def test_nothing_is_told_of_boards_that_were_shown_by_another_rule(arena: Arena) -> None:
    sends(arena, "red", seed=3, worse=2.0)
    earlier(1)
    sends(arena, "red", seed=4)
    earlier(1)
    told = arena.get(HISTORY, token=arena.team("blue")).json()
    assert len(told["teams"][0]["steps"]) == 2
    revised = arena.get("/competitions/small/competition.toml").text
    revised = with_tables(revised, "publication", "[publication]\ndigits = 1\n")
    assert arena.put("/competitions/small/competition.toml", content=revised).status_code == 200
    for token in (None, arena.team("blue")):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = arena.client.get(f"{API}{HISTORY}", headers=headers)
        (step,) = answer.json()["teams"][0]["steps"]
        assert datetime.now(UTC) - datetime.fromisoformat(step["at"]) < timedelta(minutes=5)
        assert step["utility"] == round(step["utility"], 1)
        assert arena.client.get(f"{API}{BOARD}", headers=headers).json()["compared_with"] is None
    assert len(arena.get(HISTORY).json()["teams"][0]["steps"]) == 2  # organizers


def test_who_does_not_see_the_board_does_not_see_how_it_came_about(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more='[publication]\nboard = "teams"'))
    arena.submit("red", seed=3)
    score_everything()
    assert arena.client.get(f"{API}{HISTORY}").json()["code"] == "board_not_open"
    answer = arena.get(HISTORY, token=arena.team("red"))
    assert [team["own"] for team in answer.json()["teams"]] == [True]
    unchanged = {"Authorization": f"Bearer {arena.team('red')}", "If-None-Match": answer.headers["etag"]}
    assert arena.client.get(f"{API}{HISTORY}", headers=unchanged).status_code == 304
