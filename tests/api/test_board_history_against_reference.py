"""The history of the anonymization board, compared with boards that are recomputed for each moment."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from anoncup.rules.toml_text import replace_tables
from app.db.models import Competition, Round
from app.db.transaction import transaction
from app.services.accounts import tokens
from app.services.boards import anonymization, source
from app.services.contests import visibility
from app.services.contests.visibility import BoardAccess
from tests.support import board_facts
from tests.support.arena import API, Arena, build_noisy_release
from tests.support.board_facts import (
    ORGANIZER,
    TIME_COLUMNS,
    VISITOR,
    ZONE,
    BoardFacts,
    make_hours,
)
from tests.support.database_rows import execute
from tests.support.page_requests import get_page
from tests.support.random_contests import COMBINATIONS, RandomContest, unrecorded_versions
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

__all__ = ["unrecorded_versions"]  # a fixture of every test here
ONE_SECOND = timedelta(seconds=1)
SCORES = ("overall", "utility", "security", "score")


@dataclass
class PastFacts(BoardFacts):
    """Facts of the contest at an earlier moment."""

    moment: datetime = board_facts.END_OF_TIME

    def get_visibility_end(self, viewer: str) -> datetime:
        frozen = self.frozen_from
        if frozen is None or frozen > self.moment or self.is_closed or viewer == ORGANIZER:
            return self.moment
        return frozen


def facts_at(facts: BoardFacts, moment: datetime, closed_at: datetime | None) -> PastFacts:
    """Return the facts at a moment. After the reveal, earlier moments count as open too."""
    closed = facts.is_revealed or (closed_at is not None and closed_at <= moment)
    return PastFacts(**vars(replace(facts, is_closed=closed)), moment=moment)


def list_moments(facts: BoardFacts, history: dict[str, Any]) -> list[datetime]:
    """Return every second at which the board may have changed, and the second after it."""
    times = [
        time
        for submission in facts.submissions
        for evaluation in submission.evaluations
        for time in (evaluation.effective_from, evaluation.ended_at)
    ]
    times += [time for guess in facts.guesses for time in (guess.received_at, guess.ended_at)]
    times += [effective_from for effective_from, _ in facts.weight_periods[1:]]
    times += [time for time in (facts.frozen_from, facts.published_at) if time is not None]
    start = datetime.now(ZONE).replace(hour=0, minute=0, second=0, microsecond=0)
    times += [(start - make_hours(24 * day)).astimezone(UTC) for day in range(6)]
    times += [datetime.fromisoformat(step["at"]) for team in history["teams"] for step in team["steps"]]
    now = datetime.now(UTC)
    rounded = {time.replace(microsecond=0) + ONE_SECOND * offset for time in times for offset in (0, 1)}
    return sorted(time for time in rounded if time < now - 2 * ONE_SECOND)


def scores_at(history: dict[str, Any], moment: datetime) -> dict[str, tuple[float, ...]]:
    """Return the scores of each ranked team at the moment, taken from the history."""
    scores = {}
    for team in history["teams"]:
        past_steps = [step for step in team["steps"] if datetime.fromisoformat(step["at"]) <= moment]
        if past_steps and past_steps[-1]["overall"] is not None:
            scores[team["team"]] = tuple(past_steps[-1][name] for name in SCORES)
    return scores


def rank_steps_at(history: dict[str, Any], moment: datetime) -> dict[str, int | None]:
    """Return the ranks of the teams that have a step at the moment."""
    return {
        team["team"]: step["rank"]
        for team in history["teams"]
        for step in team["steps"]
        if datetime.fromisoformat(step["at"]) == moment
    }


def check_history(contest: RandomContest, viewer: str, closed_at: datetime | None = None) -> int:
    """Compare the history with recomputed boards at every moment and return the number of steps."""
    history = contest.get_board(None, "history", viewer).json()
    for moment in list_moments(contest.facts, history):
        lines = board_facts.build_anonymization_rows(facts_at(contest.facts, moment, closed_at), viewer)
        ranked = [line for line in lines if line["overall"] is not None]
        expected = {line["team"]: tuple(line[name] for name in SCORES) for line in ranked}
        assert scores_at(history, moment) == expected, (viewer, moment)
        ranks = {line["team"]: line["rank"] for line in ranked}
        for team, rank in rank_steps_at(history, moment).items():
            assert rank == ranks.get(team), (viewer, moment, team)
        if contest.rng.random() < 0.05:  # slow: computes a whole board of the service
            assert compute_service_ranks(contest, viewer, moment) == ranks, (viewer, moment)
    return sum(len(team["steps"]) for team in history["teams"])


def load_access(session: Any, contest: RandomContest, viewer: str) -> BoardAccess:
    arena = contest.contest.arena
    token = {VISITOR: None, ORGANIZER: arena.organizer_token}.get(viewer, arena.team_tokens.get(viewer))
    principal = tokens.authenticate(session, token) if token else None
    return visibility.authorize_boards(session, principal, arena.slug)


def compute_service_ranks(contest: RandomContest, viewer: str, moment: datetime) -> dict[str, int]:
    """Return the ranks of the moment that the board is compared with."""
    with transaction() as session:
        access = load_access(session, contest, viewer)
        long_ago = datetime(2000, 1, 1, tzinfo=UTC)
        session.execute(update(Competition).values(created_at=long_ago))
        session.expire_all()
        ranks = anonymization.load_previous_ranks(
            session,
            replace(access, scope=compare_with(access, moment)),
            source.read_rows(session, access.contest),
        )
        session.rollback()
        return ranks


def compare_with(access: BoardAccess, moment: datetime) -> visibility.BoardScope:
    return replace(access.scope, compared_with=moment)


@pytest.mark.parametrize(
    ("seed", "rule", "feedback"),
    [
        (6, "rank_sum", "daily"),
        (7, "formula", "immediate"),
        (1, "score", "immediate"),
        (2, "score", "hidden"),
        *((seed, *COMBINATIONS[seed % 9]) for seed in (41, 42, 43, 46, 48)),
    ],
)
def test_history_matches_the_board_of_each_moment(
    client: TestClient, seed: int, rule: str, feedback: str
) -> None:
    contest = RandomContest(client, seed, rule=rule, feedback=feedback)
    viewers = (VISITOR, ORGANIZER, "red")
    for _ in range(10):
        contest.submit()
    contest.rescore(contest.now - make_hours(55))
    assert check_history(contest, VISITOR) > 0 or seed % 4 == 1
    contest.publish()
    contest.open_attacks()
    for _ in range(9):
        contest.submit_guess()
    contest.rescore(contest.now - make_hours(10), changes_guesses=False)
    for viewer in viewers:
        check_history(contest, viewer)
    contest.set_disqualified(team=contest.pick(contest.facts.teams))
    check_history(contest, VISITOR)
    contest.close()
    closed_at = contest.now - make_hours(0.05)
    execute(update(Round).values(closed_at=closed_at, revealed_at=None))
    contest.facts.is_revealed = False
    for viewer in viewers:
        check_history(contest, viewer, closed_at)
    execute(update(Round).values(revealed_at=closed_at))
    contest.facts.is_revealed = True
    for viewer in viewers:
        check_history(contest, viewer, closed_at)


BOARD, HISTORY = "/competitions/small/boards/anonymization", "/competitions/small/boards/history"


def move_times_back(days: float) -> None:
    """Move all recorded times back by this many days."""
    age = timedelta(days=days)
    with transaction() as session:
        for table, columns in TIME_COLUMNS.items():
            values = {name: getattr(table, name) - age for name in columns}
            session.execute(update(table).values(values))


def submit_release(arena: Arena, team: str, *, seed: int, income_factor: float = 1.0) -> None:
    """Submit and score a release whose incomes are multiplied by ``income_factor``."""
    table = arena.table.assign(income=arena.table["income"] * income_factor)
    anonymized, secret = build_noisy_release(seed, table)
    assert arena.submit(team, anonymized=anonymized, secret=secret).status_code == 202
    score_everything()


def test_rank_changes_refer_to_the_board_of_a_day_before(arena: Arena) -> None:
    submit_release(arena, "red", seed=3, income_factor=1.5)
    submit_release(arena, "blue", seed=4, income_factor=2.0)
    assert arena.get_board()["compared_with"] is None
    move_times_back(2)
    assert arena.get_board()["compared_with"] is not None
    assert [row["rank_before"] for row in arena.get_board()["rows"]] == [1, 2]
    submit_release(arena, "blue", seed=5)
    submit_release(arena, "green", seed=6, income_factor=2.0)
    rows = arena.get_board()["rows"]
    assert {row["team"]: row["rank_before"] for row in rows} == {"red": 1, "blue": 2, "green": None}
    assert {row["team"]: row["rank"] for row in rows} == {"blue": 1, "red": 2, "green": 3}
    html = get_page(arena, "/competitions/small/boards/anonymization").text
    for label in ("1 rank up within a day", "1 rank down within a day", "New in the ranking within a day"):
        assert html.count(f'aria-label="{label}"') == 1


def test_history_hides_boards_published_under_earlier_rules(arena: Arena) -> None:
    submit_release(arena, "red", seed=3, income_factor=2.0)
    move_times_back(1)
    submit_release(arena, "red", seed=4)
    move_times_back(1)
    history = arena.get(HISTORY, team="blue").json()
    assert len(history["teams"][0]["steps"]) == 2
    file = arena.get("/competitions/small/competition.toml").text
    file = replace_tables(file, "publication", "[publication]\ndigits = 1\n")
    assert arena.put("/competitions/small/competition.toml", content=file).status_code == 200
    for token in (None, arena.get_team_token("blue")):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        response = arena.client.get(f"{API}{HISTORY}", headers=headers)
        (step,) = response.json()["teams"][0]["steps"]
        assert datetime.now(UTC) - datetime.fromisoformat(step["at"]) < timedelta(minutes=5)
        assert step["utility"] == round(step["utility"], 1)
        assert arena.client.get(f"{API}{BOARD}", headers=headers).json()["compared_with"] is None
    assert len(arena.get(HISTORY).json()["teams"][0]["steps"]) == 2  # organizers see all steps
