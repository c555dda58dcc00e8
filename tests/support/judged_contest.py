"""A contest of a track with several questions and random judged guesses."""

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
from tests.support.contest import Contest, build_two_phase_toml
from tests.support.database_rows import load_one
from tests.support.several_questions_track import QUESTIONS_TOML, SEVERAL_QUESTIONS_TRACK
from tests.support.track_package import install_track

TEAMS = ("red", "blue", "緑", "barred", "idle")
QUESTIONS = ("link", "value")
BASELINES = {"link": 0.0, "value": 0.5, "gone": 0.0}
GUESS_VALUES = (0.1, 0.2, 0.3, 0.5, 0.6, 0.75, 1.0)
"""Few values, so that ties are frequent. 0.1 + 0.2 and 0.3 test rounding."""
STATES = (State.SCORED, State.SCORED, State.SCORED, State.ERROR, State.QUEUED)
MIDNIGHT = datetime.now(ZoneInfo("Asia/Tokyo")).replace(hour=0, minute=0, second=0, microsecond=0)


def compute_mean_of_largest(risks: Mapping[str, Sequence[float]]) -> float:
    """Return the mean of each question's largest risk. Requires all questions, each in descending order."""
    assert tuple(risks) == QUESTIONS
    assert all(
        list(question_risks) == sorted(question_risks, reverse=True) for question_risks in risks.values()
    )
    return sum(question_risks[0] if question_risks else 0.0 for question_risks in risks.values()) / len(risks)


@dataclass
class RandomGuess:
    """A guess on the target of the submission ``victim``."""

    team: str
    victim: str
    question: str
    value: float
    state: State
    received_at: datetime

    @property
    def risk(self) -> float:
        baseline = BASELINES[self.question]
        return 0.0 if self.value <= baseline else (self.value - baseline) / (1 - baseline)


@dataclass
class JudgedContest:
    """The contest and its facts. ``team_by_submission`` lists only submissions whose targets count."""

    contest: Contest
    team_by_submission: dict[str, str]
    guesses: list[RandomGuess]

    def list_visible_guesses(self, *, organizer: bool) -> list[RandomGuess]:
        return [
            guess
            for guess in self.guesses
            if guess.state == State.SCORED
            and guess.team != "barred"
            and guess.victim in self.team_by_submission
            and guess.question in QUESTIONS
            and (organizer or guess.received_at < MIDNIGHT)
        ]

    def map_target_names(self) -> dict[str, str]:
        """Return the submissions by the name of their target, in the order of the names."""
        with transaction() as session:
            rows = session.execute(select(Target.name, Target.submission_id).order_by(Target.name))
            return {
                name: str(submission)
                for name, submission in rows
                if str(submission) in self.team_by_submission
            }


@pytest.fixture(
    params=[SEVERAL_QUESTIONS_TRACK.rival_risk, compute_mean_of_largest], ids=["largest", "mean_of_largest"]
)
def judged_contest(
    request: pytest.FixtureRequest, client: TestClient, tmp_path: Path
) -> Iterator[JudgedContest]:
    """A contest with an idle team, a disqualified team and a disqualified submission of blue."""
    with install_track(
        replace(SEVERAL_QUESTIONS_TRACK, rival_risk=request.param),
        "tests.support.several_questions_track",
        tmp_path,
    ):
        extra_toml = f'{QUESTIONS_TOML}\n[publication]\nfeedback = "daily"\n'
        file = build_two_phase_toml(extra_toml=extra_toml).replace('track = "microdata"', 'track = "riddles"')
        contest = Contest(Arena.create(client, file=file))
        submissions = {contest.submit(team): team for team in ("red", "blue", "blue", "緑", "barred")}
        contest.arena.get_team_token("idle")
        contest.open_attacks()
        disqualified_id = next(submission_id for submission_id, team in submissions.items() if team == "blue")
        guesses = generate_guesses(submissions, np.random.default_rng(7))
        insert_guesses(contest, guesses)
        assert contest.post_as_organizer(f"/submissions/{disqualified_id}/disqualify").status_code == 200
        barred_team_id = load_one(select(Team.id).where(Team.name == "barred"))
        assert (
            contest.post_as_organizer(f"{contest.path}/teams/{barred_team_id}/disqualify").status_code == 200
        )
        team_by_submission = {
            submission_id: team
            for submission_id, team in submissions.items()
            if submission_id != disqualified_id and team != "barred"
        }
        yield JudgedContest(contest, team_by_submission, guesses)


def generate_guesses(submissions: Mapping[str, str], rng: np.random.Generator) -> list[RandomGuess]:
    """Return up to four guesses per team, target of another team and question, even one that is not asked."""

    def pick(choices: Sequence[Any]) -> Any:
        return choices[int(rng.integers(len(choices)))]

    return [
        RandomGuess(
            team,
            victim,
            question,
            pick(GUESS_VALUES),
            pick(STATES),
            MIDNIGHT + timedelta(hours=pick((-30, -6, 1, 2))),
        )
        for (victim, owner), team, question in product(submissions.items(), TEAMS[:-1], BASELINES)
        if team != owner and not (team == "緑" and question == "value")
        for _ in range(int(rng.integers(0, 5)))
    ]


def insert_guesses(contest: Contest, guesses: Sequence[RandomGuess]) -> None:
    """Insert the guesses as a worker records them."""
    with transaction() as session:
        targets = {str(guess.submission_id): guess for guess in session.scalars(select(Target))}
        teams = dict(iter(session.execute(select(Team.name, Team.id))))
        user_id = session.scalars(select(Submission.user_id).limit(1)).one()
        for guess in guesses:
            is_judged = guess.state == State.SCORED
            outcome = {"value": guess.value, "baseline": BASELINES[guess.question], "details": {}}
            session.add(
                Guess(
                    round_id=targets[guess.victim].round_id,
                    target_id=targets[guess.victim].id,
                    team_id=teams[guess.team],
                    user_id=user_id,
                    received_at=guess.received_at,
                    created_at=guess.received_at,
                    finished_at=guess.received_at + timedelta(seconds=1)
                    if guess.state != State.QUEUED
                    else None,
                    question=guess.question,
                    file="0" * 64,
                    answered=1,
                    guesses_left=0,
                    state=guess.state,
                    attempt=1,
                    outcome=outcome if is_judged else None,
                    risk=guess.risk if is_judged else None,
                )
            )


def find_best_risks(guesses: Sequence[RandomGuess], team: str, victim: str) -> dict[str, float]:
    """Return the largest risk of each answered question."""
    risks: dict[str, float] = {}
    for guess in guesses:
        if (guess.team, guess.victim) == (team, victim):
            risks[guess.question] = max(risks.get(guess.question, 0.0), guess.risk)
    return risks


def combine_risks(risks: Sequence[Mapping[str, float]]) -> Fraction:
    """Combine each team's best risks by the rule in force, with exact fractions."""
    largest = {
        name: max((Fraction(team_risks.get(name, 0.0)) for team_risks in risks), default=Fraction(0))
        for name in QUESTIONS
    }
    if TRACKS["riddles"].rival_risk is SEVERAL_QUESTIONS_TRACK.rival_risk:
        return max(largest.values())
    return sum(largest.values(), Fraction(0)) / len(QUESTIONS)
