"""Boards of contests that ask several questions, a second time: plain Python over a list of guesses."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.schemas import Cell
from anoncup.tracks.outcomes import Outcome
from app.db.models import Guess, State, Submission, Target, Team
from app.db.transaction import transaction
from app.services.boards.best_guesses import Attacks
from app.services.boards.matrix import built_in_cell
from app.services.boards.reidentification import ranked
from app.services.boards.verdicts import numbers
from tests.support import small_track
from tests.support.arena import Arena
from tests.support.contest import Contest, two_phase_file
from tests.support.several_questions_track import ASKED, RIDDLES
from tests.support.small_track import SMALL
from tests.support.track_package import installed

pytestmark = pytest.mark.full

TEAMS = ("red", "blue", "緑", "barred", "idle")
QUESTIONS = ("link", "value")
CHANCE = {"link": 0.0, "value": 0.5, "gone": 0.0}
VALUES = (0.1, 0.2, 0.3, 0.5, 0.6, 0.75, 1.0)
"""Few: ties everywhere, 0.1 + 0.2 against 0.3 among them."""
STATES = (State.SCORED, State.SCORED, State.SCORED, State.ERROR, State.QUEUED)
MIDNIGHT = datetime.now(ZoneInfo("Asia/Tokyo")).replace(hour=0, minute=0, second=0, microsecond=0)


def mean_of_largest(found: Mapping[str, Sequence[float]]) -> float:
    """As in contests by month; it needs all questions, and each from the largest on."""
    assert tuple(found) == QUESTIONS
    assert all(list(each) == sorted(each, reverse=True) for each in found.values())
    return sum(each[0] if each else 0.0 for each in found.values()) / len(found)


@dataclass
class Made:
    """A guess; ``victim``: the submission behind its target."""

    team: str
    victim: str
    question: str
    value: float
    state: State
    at: datetime

    @property
    def risk(self) -> float:
        chance = CHANCE[self.question]
        return 0.0 if self.value <= chance else (self.value - chance) / (1 - chance)


@dataclass
class Played:
    """``victims``: by submission its team, of those whose targets count."""

    contest: Contest
    victims: dict[str, str]
    made: list[Made]

    def seen(self, *, organizer: bool) -> list[Made]:
        return [
            one
            for one in self.made
            if one.state == State.SCORED
            and one.team != "barred"
            and one.victim in self.victims
            and one.question in QUESTIONS
            and (organizer or one.at < MIDNIGHT)
        ]

    def names(self) -> dict[str, str]:
        """The submissions by their target's name, in its order."""
        with transaction() as session:
            found = session.execute(select(Target.name, Target.submission_id).order_by(Target.name))
            return {name: str(submission) for name, submission in found if str(submission) in self.victims}


@pytest.fixture(params=[RIDDLES.rivals, mean_of_largest], ids=["largest", "mean_of_largest"])
def played(request: pytest.FixtureRequest, client: TestClient, tmp_path: Path) -> Iterator[Played]:
    """Every team but one that is idle has submitted; one is barred, and one of blue's targets withdrawn."""
    with installed(replace(RIDDLES, rivals=request.param), "tests.support.several_questions_track", tmp_path):
        more = f'{ASKED}\n[publication]\nfeedback = "daily"\n'
        file = two_phase_file(more=more).replace('track = "microdata"', 'track = "riddles"')
        contest = Contest(Arena.opened(client, file=file))
        sent = {contest.submit(team): team for team in ("red", "blue", "blue", "緑", "barred")}
        contest.arena.team("idle")
        contest.attack()
        withdrawn = next(one for one, team in sent.items() if team == "blue")
        made = drawn(sent, np.random.default_rng(7))
        store(contest, made)
        assert contest.organize(f"/submissions/{withdrawn}/disqualify").status_code == 200
        with transaction() as session:
            barred = session.scalars(select(Team.id).where(Team.name == "barred")).one()
        assert contest.organize(f"{contest.path}/teams/{barred}/disqualify").status_code == 200
        victims = {one: team for one, team in sent.items() if one != withdrawn and team != "barred"}
        yield Played(contest, victims, made)


def drawn(sent: Mapping[str, str], rng: np.random.Generator) -> list[Made]:
    """Of every team on every target of others up to four guesses to each question, and to one not asked."""

    def pick(choices: Sequence[Any]) -> Any:
        return choices[int(rng.integers(len(choices)))]

    return [
        Made(
            team,
            victim,
            question,
            pick(VALUES),
            pick(STATES),
            MIDNIGHT + timedelta(hours=pick((-30, -6, 1, 2))),
        )
        for (victim, owner), team, question in product(sent.items(), TEAMS[:-1], CHANCE)
        if team != owner and not (team == "緑" and question == "value")
        for _ in range(int(rng.integers(0, 5)))
    ]


def store(contest: Contest, made: Sequence[Made]) -> None:
    """As judged by a worker."""
    with transaction() as session:
        targets = {str(one.submission_id): one for one in session.scalars(select(Target))}
        teams = dict(iter(session.execute(select(Team.name, Team.id))))
        someone = session.scalars(select(Submission.user_id).limit(1)).one()
        for one in made:
            judged = one.state == State.SCORED
            outcome = {"value": one.value, "baseline": CHANCE[one.question], "details": {}}
            session.add(
                Guess(
                    competition_id=targets[one.victim].competition_id,
                    target_id=targets[one.victim].id,
                    team_id=teams[one.team],
                    user_id=someone,
                    received_at=one.at,
                    created_at=one.at,
                    finished_at=one.at + timedelta(seconds=1) if one.state != State.QUEUED else None,
                    question=one.question,
                    file="0" * 64,
                    answered=1,
                    guesses_left=0,
                    state=one.state,
                    attempt=1,
                    outcome=outcome if judged else None,
                    risk=one.risk if judged else None,
                )
            )


def best(found: Sequence[Made], team: str, victim: str) -> dict[str, float]:
    """The largest risk by question, of those that were answered."""
    risks: dict[str, float] = {}
    for one in found:
        if (one.team, one.victim) == (team, victim):
            risks[one.question] = max(risks.get(one.question, 0.0), one.risk)
    return risks


def together(risks: Sequence[Mapping[str, float]]) -> Fraction:
    """Of each team's best: by both rules with loops and fractions of their own."""
    largest = {
        name: max((Fraction(one.get(name, 0.0)) for one in risks), default=Fraction(0)) for name in QUESTIONS
    }
    if TRACKS["riddles"].rivals is RIDDLES.rivals:
        return max(largest.values())
    return sum(largest.values(), Fraction(0)) / len(QUESTIONS)


def test_the_boards_are_what_plain_loops_over_the_guesses_say(played: Played) -> None:
    for organizer in (True, False):
        check_ranks(played, organizer=organizer)
        check_cells(played, organizer=organizer)
    check_rivals(played)


def check_ranks(played: Played, *, organizer: bool) -> None:
    """By what was found in each target, added up; of equal ones who began earlier."""
    found = played.seen(organizer=organizer)
    board = played.contest.board("reidentification", organizer=organizer)
    assert (board["counted"], board["questions"]) == (False, list(QUESTIONS))
    rows = {row["team"]: row for row in board["rows"]}
    assert set(rows) == set(TEAMS) - {"barred"}
    scores: dict[str, Fraction] = {}
    for team, row in rows.items():
        tried = [risks for victim in played.victims if (risks := best(found, team, victim))]
        assert (row["identified"], row["tried"]) == (None, None)
        if not tried:
            assert (row["rank"], row["targets"], row.get("score")) == (None, None, None)
            continue
        scores[team] = sum((together([risks]) for risks in tried), Fraction(0))
        assert row["score"] == pytest.approx(float(scores[team]), abs=1e-12)
        assert row["rate"] == pytest.approx(float(scores[team] / len(tried)), abs=1e-12)
        assert row["targets"] == len(tried)
        for name in QUESTIONS:
            mean = sum(Fraction(risks.get(name, 0.0)) for risks in tried) / len(tried)
            assert row["by_question"][name] == pytest.approx(float(mean), abs=1e-12)
    for team, score in scores.items():
        better = sum(other - score > Fraction(1, 10**9) for other in scores.values())
        assert rows[team]["rank"] == 1 + better
    first = {team: min(one.at for one in found if one.team == team) for team in scores}
    order = sorted(scores, key=lambda team: (rows[team]["rank"], first[team]))
    assert [row["team"] for row in board["rows"]][: len(order)] == order


def check_cells(played: Played, *, organizer: bool) -> None:
    found = played.seen(organizer=organizer)
    board = played.contest.board("matrix", organizer=organizer)
    names = played.names()
    assert [one["target"] for one in board["targets"]] == list(names)
    rows = {row["attacker"]: row["cells"] for row in board["rows"] if not row["built_in"]}
    assert set(rows) == {one.team for one in found}
    for team, cells in rows.items():
        for victim, cell in zip(names.values(), cells, strict=True):
            risks = best(found, team, victim)
            if not risks:
                assert cell is None
                continue
            assert cell["rate"] == pytest.approx(float(together([risks])), abs=1e-12)
            assert (cell["correct"], cell["by_question"]) == (None, risks)
            assert cell["trials"] == sum((one.team, one.victim) == (team, victim) for one in found)


def check_rivals(played: Played) -> None:
    found = played.seen(organizer=True)
    rows = {row["team"]: row for row in played.contest.board(organizer=True)["rows"]}
    for victim, owner in played.victims.items():
        risks = [best(found, team, victim) for team in TEAMS if team != owner]
        built_in = played.contest.arena.submission(victim, owner)["result"]["security"]
        expected = float(together(risks))
        assert rows[owner]["rivals"] == pytest.approx(expected, abs=1e-12)
        assert rows[owner]["security"] == max(built_in, rows[owner]["rivals"])
    assert max(row["rivals"] for row in rows.values() if row["rank"]) > 0


@given(st.integers(1, 10_000).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows))))
def test_the_risk_of_a_count_is_its_share_to_the_last_bit(made: tuple[int, int]) -> None:
    correct, rows = made
    assert Outcome(correct / rows, correct=correct, trials=rows).risk == correct / rows


def test_of_built_in_attackers_too_a_cell_is_what_they_find_beyond_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of four numbers, 10 and 20 and 30 are members; what stands in the list is 10 only."""
    small_track.install(monkeypatch)
    rules = parse_competition(small_track.text())
    found = evaluate(
        rules, SMALL.prepare((10.0, 20.0, 30.0, 40.0), rules), (10.0,), (True, True, True, False)
    )
    read = numbers(schemas.read(json.loads(json.dumps(found.to_json()))))
    cells = {name: built_in_cell(each, read, ("member", "first")) for name, each in SMALL.attackers.items()}
    plain = {name: (cell.correct, cell.rate, cell.by_question) for name, cell in cells.items() if cell}
    assert plain == {
        "seen": (None, 1.0, {"member": 0.0, "first": 1.0}),
        "everybody": (None, 0.5, {"member": 0.5}),
        "foremost": (None, 1.0, {"first": 1.0}),
    }
    (only,) = (built_in_cell(SMALL.attackers["everybody"], read, ("member",)),)
    assert only == Cell(correct=None, rate=0.5, trials=1)
    assert built_in_cell(SMALL.attackers["foremost"], read, ("member",)) is None


def test_sums_that_differ_by_rounding_only_share_a_rank_and_who_began_earlier_is_first() -> None:
    late, early = (MIDNIGHT + timedelta(hours=hours) for hours in (2, 1))
    found = {
        UUID(int=place): Attacks(score / 2, 2, since, score=score, by_question={})
        for place, (score, since) in enumerate(((0.3, late), (0.1 + 0.2, early), (0.3 + 1e-6, late)))
    }
    rows = ranked([(team, str(team.int)) for team in found], found, None)
    assert [(row.team, row.rank, row.score) for row in rows] == [
        ("2", 1, 0.3 + 1e-6),
        ("1", 2, 0.1 + 0.2),
        ("0", 2, 0.3),
    ]
