"""A contest of a track with several questions that has been judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.plugins import TRACKS
from app.db.models import Guess, State, Submission, Target, Team
from app.db.transaction import transaction
from tests.support.arena import Arena
from tests.support.contest import Contest, two_phase_file
from tests.support.several_questions_track import ASKED, RIDDLES
from tests.support.track_package import installed

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
