"""Laws of the stored standings, in contests of random events."""

import csv
import io
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from app.boards import anonymization, history, standing_updates
from app.boards.facts import EarlierScore
from app.boards.load_facts import iter_public_scores, load_facts
from app.boards.models import AttackStanding
from app.competitions import visibility
from app.core.db.models import Adjustment, Evaluation, Guess, Round, Series, State, Target
from app.core.db.transaction import read_clock, transaction
from app.submissions import evaluations
from tests.support.arena import load_principal
from tests.support.board_facts import (
    BOARDS,
    ORGANIZER,
    RANKINGS,
    VISITOR,
    build_board,
    extract_board,
    read_facts,
)
from tests.support.database_rows import load_all, load_one
from tests.support.job_claims import claim_evaluation
from tests.support.live_contest import LiveContest, build_verdict, unrecorded_versions
from tests.support.standings import TIMES, load_standings, move_times_back, rebuild_standings
from tests.support.two_rounds import create_two_rounds
from tests.support.wait import poll_until

__all__ = ["unrecorded_versions"]  # a fixture of every test here

VIEWERS: dict[str, dict[str, Any]] = {VISITOR: {}, "red": {"team": "red"}, ORGANIZER: {"organizer": True}}
LATER_TIMES = (
    Round.published_at,
    Guess.received_at,
    Guess.created_at,
    Guess.finished_at,
    Adjustment.created_at,
    Adjustment.withdrawn_at,
)
SCORES = ("overall", "utility", "security", "score")


def require_rebuilt_standings(event: object) -> None:
    """Compare the rows with those of standings that are computed again."""
    stored = load_standings()
    rebuild_standings()
    assert load_standings() == stored, event


def require_recounted_boards(live: LiveContest, ranking: str) -> None:
    """Compare each board of each audience with a plain recount of all rows, and its CSV with its JSON."""
    facts = read_facts(ranking)
    for board, (viewer, reader) in product(BOARDS, VIEWERS.items()):
        content = live.contest.get_board(board, **reader)
        assert extract_board(board, content) == build_board(board, facts, viewer), (board, viewer)
        compare_csv(board, content, live.contest.get_board_response(f"{board}.csv", **reader).content)


def compare_csv(board: str, content: dict[str, Any], table: bytes) -> None:
    lines = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    for line, row in zip(lines, content["rows"], strict=True):
        expected = dict(row)
        if board == "matrix":
            names = [f"{column['target']} ({column['team']})" for column in content["targets"]]
            rates = [cell and cell["rate"] for cell in expected.pop("cells")]
            expected |= dict(zip(names, rates, strict=True))
        expected |= expected.pop("measures", {}) | expected.pop("attackers", {})
        for name, cell in line.items():
            assert cell == format_cell(expected.get(name)), name
        assert set(expected) - set(line) <= {"own", "on_front", "team_id"}


def format_cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case str():
            text = re.sub("Z$", "+00:00", value)
            return f"'{text}" if text.startswith("=") else text
    return repr(value)


def require_same_history(live: LiveContest) -> int:
    """Compare the history at each of its moments with the board before that moment, and with its CSV.

    Return how many steps all readers together saw; a frozen board may have none.
    """
    steps_seen = 0
    for token in (None, live.arena.organizer_token, *live.arena.team_tokens.values()):
        with transaction() as session:
            principal = load_principal(session, token) if token else None
            access = visibility.authorize_boards(session, principal, live.arena.slug)
            timeline = history.build_history(session, access)
            for moment in {step.at for team in timeline.teams for step in team.steps}:
                past = replace(access, scope=replace(access.scope, before=moment))
                rows = {row.team: row for row in anonymization.build_board(session, past).rows}
                for team in timeline.teams:
                    steps = [step for step in team.steps if step.at <= moment]
                    shown = [getattr(steps[-1], name) if steps else None for name in SCORES]
                    row = rows.get(team.team)
                    assert shown == [row and getattr(row, name) for name in SCORES], (team.team, moment)
                    if steps and steps[-1].at == moment:
                        assert steps[-1].rank == (row and row.rank), (team.team, moment)
            lines = history.render_csv(timeline).splitlines()
            assert len(lines) == 1 + sum(len(team.steps) for team in timeline.teams)
            steps_seen += len(lines) - 1
    return steps_seen


@pytest.mark.parametrize(
    ("ranking", "seed"),
    [
        ("comparison", 1),
        *(pytest.param(ranking, seed, marks=pytest.mark.full) for ranking in RANKINGS for seed in (2, 3)),
    ],
)
def test_stored_standings_are_those_that_would_be_computed_now(
    client: TestClient, ranking: str, seed: int
) -> None:
    """They are also those of a plain recount, for every audience."""
    live = LiveContest(client, seed, RANKINGS[ranking])
    live.arena.get_team_token("red")  # one of the readers
    for attacks in (False, True):
        if attacks:
            live.contest.open_attacks()
            require_rebuilt_standings("publication")
        events = live.list_events(attacks=attacks)
        for event in (*events, *live.rng.permutation(events)):  # type: ignore[arg-type]
            event()
            require_rebuilt_standings(event)
            require_recounted_boards(live, ranking)
        require_same_history(live)
    move_times_back(timedelta(days=2), *TIMES, *LATER_TIMES)  # boards that show guesses a day later
    require_recounted_boards(live, ranking)
    live.close()
    require_rebuilt_standings("close")
    require_recounted_boards(live, ranking)
    assert require_same_history(live)


def test_a_verdict_reads_the_best_release_of_each_other_team(client: TestClient) -> None:
    live = LiveContest(client, 1, RANKINGS["comparison"])
    for team in ("red", "blue", "red", "blue", "red"):
        live.contest.submit(team, score=False)
    live.score_queued("SCORED")
    with transaction() as session:
        facts = load_facts(session, session.scalars(select(Round)).one(), read_clock(session))
    assert sorted(facts.omitted.values()) == [1, 2]
    assert len({release.team_id for release in facts.releases}) == len(facts.releases) == 2


@pytest.fixture(params=["score", pytest.param("comparison", marks=pytest.mark.full)])
def live(client: TestClient, request: pytest.FixtureRequest) -> LiveContest:
    return LiveContest(client, 1, RANKINGS[request.param] + '[publication]\nfeedback = "immediate"\n')


@pytest.mark.full
def test_transactions_may_commit_in_another_order_than_their_moments(live: LiveContest) -> None:
    for team in ("red", "blue", "red"):
        live.contest.submit(team, score=False)
    first, *later = load_all(select(Evaluation.id).order_by(Evaluation.created_at))
    with transaction() as session:
        verdict = build_verdict(live.rng, "SCORED")
        claim = claim_evaluation(session, first)
        evaluation = evaluations.record_verdict(session, claim, verdict=verdict, scorer="by hand")
        assert evaluation is not None
        for evaluation_id in later:
            with transaction() as other_session:
                live.score(other_session, evaluation_id)
        standing_updates.refresh_evaluation(session, evaluation)
    require_rebuilt_standings("verdicts")


@pytest.mark.full
def test_a_refresh_waits_for_another_one_of_the_round(live: LiveContest) -> None:
    """It would miss what the other one takes into account."""
    (red, _) = live.contest.publish_targets("red", "blue")
    target = str(load_one(select(Target.id).where(Target.submission_id == UUID(red))))
    for _ in range(2):
        live.contest.submit_guess("blue", target, live.contest.build_guess(red, 1))
    first, second = load_all(select(Guess.id).where(Guess.state == State.QUEUED))
    run_overlapping(partial(live.judge, guess_id=first), partial(live.judge, guess_id=second))
    require_rebuilt_standings("guesses")
    (row,) = (row for row in live.contest.get_board("matrix")["rows"] if not row["built_in"])
    assert [cell["trials"] for cell in row["cells"] if cell] == [2]


@pytest.mark.full
def test_refreshes_of_two_rounds_wait_for_each_other(client: TestClient) -> None:
    """A change of all rounds and one of the last would otherwise take their locks in different orders."""
    create_two_rounds(client)
    first, second = load_all(select(Round.id).order_by(Round.position))
    run_overlapping(
        partial(standing_updates.refresh, round_id=first), partial(standing_updates.refresh, round_id=second)
    )


def run_overlapping(first: Callable[[Session], None], second: Callable[[Session], None]) -> None:
    """Let the second change begin while the transaction of the first is open, and require that it waits."""

    def run_second() -> None:
        with transaction() as session:
            second(session)

    thread = threading.Thread(target=run_second)
    waiting = select(text("1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))
    with transaction() as session:
        first(session)
        session.flush()
        thread.start()
        assert poll_until(lambda: bool(load_all(waiting)))
    thread.join()


@pytest.mark.full
def test_later_rounds_read_hidden_scores_from_the_close_on(client: TestClient) -> None:
    live = LiveContest(client, 1, '[publication]\nfeedback = "hidden"\n')

    def read_public_scores() -> list[EarlierScore]:
        with transaction() as session:
            (round_,) = session.scalars(select(Round))
            return list(iter_public_scores(session, round_, AttackStanding))

    live.contest.publish_targets("red", "blue")
    for _ in range(4):
        live.guess()
    attacks = load_all(select(AttackStanding).where(AttackStanding.series == Series.ALL_GUESSES))
    scores = {attack.score: attack.team_id for attack in attacks}
    assert scores
    assert read_public_scores() == []
    live.close()
    assert {score.score: score.team_id for score in read_public_scores()} == scores
