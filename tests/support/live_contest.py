"""A contest of random events, each caused as people, workers and the clock cause it; no times are moved."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import replace_tables
from app.competitions import competitions
from app.core.db.models import Evaluation, Rejudgement, State, Submission, Target, Team
from app.core.db.transaction import transaction
from app.jobs import leases
from tests.support.arena import ROWS
from tests.support.board_facts import MEASURE_ROUNDING
from tests.support.contest import Contest, build_outcome, run_clock
from tests.support.database_rows import load_all, load_one, load_team_id
from tests.support.job_claims import FAILURE, claim_evaluation, claim_guess, record_guess
from tests.support.organizer_uploads import add_baseline
from tests.support.rescores import begin_rescore, build_reweighted_file, end_rescore
from tests.support.standings import record_verdict

TRACK = TRACKS["microdata"]
TEAMS = ("red", "=1+1", "緑")
CORRECT_COUNTS = (0, 10, 20, 30)
_T = TypeVar("_T")


class LiveContest:
    """``adjustments`` are those not yet withdrawn, ``disqualified`` the paths of teams and submissions."""

    def __init__(self, client: TestClient, seed: int, extra_toml: str) -> None:
        self.rng = np.random.default_rng(seed)
        self.contest = Contest.create(client, extra_toml=extra_toml)
        self.arena, self.path = self.contest.arena, self.contest.path
        self.adjustments: list[str] = []
        self.disqualified: list[str] = []
        self.baselines: list[str] = []

    def pick(self, *choices: _T) -> _T:
        return pick(self.rng, choices)

    def post(self, path: str, **content: Any) -> Response:
        response = self.arena.post(path, **content)
        assert response.status_code < 300, response.text
        return response

    def list_events(self, *, attacks: bool) -> tuple[Callable[[], None], ...]:
        """Return what may happen in the first phase, or in the second."""
        if attacks:
            return self.guess, self.guess, self.guess, self.retry, *self._list_common_events()
        return self.submit, self.submit, self.submit, self.retry, *self._list_common_events()

    def _list_common_events(self) -> tuple[Callable[[], None], ...]:
        return (
            self.disqualify_or_reinstate,
            self.disqualify_or_reinstate,
            self.adjust,
            self.withdraw_adjustment,
            self.rescore,
            self.add_or_remove_baseline,
            self.join,
            self.change_file,
        )

    def list_teams(self, *, other_than: str = "") -> list[str]:
        """Return the teams that may send something; each joins with its first submission."""
        disqualified = load_all(select(Team.name).where(Team.disqualified_at.is_not(None)))
        return [name for name in TEAMS if name not in (*disqualified, other_than)]

    def submit(self) -> None:
        teams = self.list_teams()
        if not teams:
            return
        identifier = self.contest.submit(self.pick(*teams), score=False)
        state = self.pick("SCORED", "SCORED", "SCORED", "REJECTED", "ERROR", "CANCELLED")
        if state == "CANCELLED":
            team = load_one(
                select(Team.name).join(Submission).where(Submission.id == UUID(identifier)),
            )
            self.post(f"/submissions/{identifier}/cancel", team=team)
        self.score_queued(state)

    def score_queued(self, *states: str) -> None:
        for evaluation_id in load_all(
            select(Evaluation.id).where(Evaluation.state == State.QUEUED).order_by(Evaluation.created_at)
        ):
            with transaction() as session:
                self.score(session, evaluation_id, self.pick(*states))

    def score(self, session: Any, evaluation_id: UUID, state: str = "SCORED") -> None:
        claim = claim_evaluation(session, evaluation_id)
        if state == "ERROR":
            leases.fail(session, claim.lease, FAILURE)
        else:
            record_verdict(session, claim, build_verdict(self.rng, state))

    def retry(self) -> None:
        failed = Evaluation.current & (Evaluation.state == State.ERROR)
        oldest = select(Evaluation.submission_id).where(failed).order_by(Evaluation.created_at).limit(1)
        for identifier in load_all(oldest):
            if f"/submissions/{identifier}" not in self.disqualified:
                self.arena.post(f"/submissions/{identifier}/rescore")
                self.score_queued("SCORED", "REJECTED")

    def disqualify_or_reinstate(self) -> None:
        if self.disqualified and self.rng.random() < 0.6:
            self.post(f"{self.disqualified.pop()}/reinstate")
            return
        submissions = load_all(
            select(Submission.id).where(Submission.disqualified_at.is_(None)).order_by(Submission.received_at)
        )
        teams = load_all(
            select(Team.id).where(~Team.baseline, Team.disqualified_at.is_(None)).order_by(Team.name)
        )
        paths = [
            *(f"{self.path}/teams/{team_id}" for team_id in teams),
            *(f"/submissions/{submission_id}" for submission_id in submissions),
        ]
        if paths:
            path = self.pick(*paths)
            if self.arena.post(f"{path}/disqualify").status_code == 200:
                self.disqualified.append(path)

    def adjust(self) -> None:
        team_id = str(load_team_id(self.pick(*self.arena.team_tokens))) if self.arena.team_tokens else None
        if team_id:
            body = {"team_id": team_id, "points": self.pick(-0.5, 0.25), "reason": "late"}
            self.adjustments.append(self.post(f"{self.path}/adjustments", json=body).json()["id"])

    def withdraw_adjustment(self) -> None:
        if self.adjustments:
            self.post(f"/adjustments/{self.adjustments.pop()}/withdraw")

    def rescore(self) -> None:
        """Apply other rules, under which every submission and guess gets another result."""
        identifier = begin_rescore(self.contest, build_reweighted_file(self.contest))
        self.score_queued("SCORED", "SCORED", "REJECTED")
        for guess_id in load_all(select(Rejudgement.guess_id).where(Rejudgement.state == State.QUEUED)):
            with transaction() as session:
                claim = claim_guess(session, guess_id, rescore=UUID(identifier))
                record_guess(session, claim, outcome=build_outcome(self.pick(*CORRECT_COUNTS)))
        response = end_rescore(self.contest, identifier, "apply")
        assert response.status_code == 200, response.text

    def add_or_remove_baseline(self) -> None:
        if self.baselines:
            path = f"{self.path}/baselines/{self.baselines.pop()}"
            assert self.arena.call("DELETE", path).status_code == 204
            return
        response = add_baseline(self.contest)
        assert response.status_code == 202, response.text
        self.baselines.append(response.json()["team_id"])
        self.score_queued("SCORED")

    def join(self) -> None:
        self.arena.get_team_token(f"team {len(self.arena.team_tokens)}")

    def change_file(self) -> None:
        """Move midnight, show guesses at another time, and freeze the boards or not."""
        path = f"{self.path}/competition.toml"
        file = self.arena.get(path).text
        zones = ["Asia/Tokyo", "America/New_York"]
        for old, new in (zones, zones[::-1]):
            if old in file:
                file = file.replace(old, new)
                break
        feedback = self.pick("hidden", "daily", "immediate")
        publication = f'[publication]\nfeedback = "{feedback}"\n'
        if self.rng.random() < 0.3:
            publication += f"frozen_from = {datetime.now(UTC).isoformat()}\n"
        file = replace_tables(file, "publication", publication)
        response = self.arena.put(path, content=file)
        assert response.status_code == 200, response.text

    def guess(self) -> None:
        """Send a guess on another team's target, and judge it."""
        targets = load_all(select(Target).order_by(Target.name))
        if not targets:
            return
        target = self.pick(*targets)
        owner = load_one(select(Team.name).join(Submission).where(Submission.id == target.submission_id))
        teams = self.list_teams(other_than=owner)
        if not teams:
            return
        team = self.pick(*teams)
        content = self.contest.build_guess(str(target.submission_id), 1)
        response = self.contest.submit_guess(team, str(target.id), content)
        if response.status_code == 202:
            with transaction() as session:
                self.judge(session, UUID(response.json()["id"]), self.pick("SCORED", "SCORED", "ERROR"))

    def judge(self, session: Any, guess_id: UUID, state: str = "SCORED") -> None:
        claim = claim_guess(session, guess_id)
        if state == "ERROR":
            leases.fail(session, claim.lease, FAILURE)
        else:
            record_guess(session, claim, outcome=build_outcome(self.pick(*CORRECT_COUNTS)))

    def close(self) -> None:
        self.contest.move_phases(reidentification=(-1, -0.5))
        run_clock()


def pick(rng: np.random.Generator, choices: Sequence[_T]) -> _T:
    return choices[int(rng.integers(len(choices)))]


def build_verdict(rng: np.random.Generator, state: str) -> dict[str, Any]:
    """Return a made-up verdict with few values, so that ties are frequent, and noise below their rounding."""

    def build_value(rounding: float) -> float:
        return pick(rng, (0.0, 0.25, 0.5)) + pick(rng, (0.0, 0.0, 0.75)) * rounding

    utility, security = build_value(5e-10), build_value(5e-10)
    measures = {name: MEASURE_ROUNDING.get(name, 1e-9) for name in TRACK.measures}
    rates = {name: pick(rng, (0.0, 0.25, 0.5)) for name in TRACK.attackers}
    return {
        "verdict": "accepted" if state == "SCORED" else "rejected",
        "violations": [],
        "measures": {
            name: {"value": build_value(rounding), "version": 1, "rounding": rounding}
            for name, rounding in measures.items()
        },
        "attackers": {
            name: {"rate": rate, "correct": rate * ROWS, "version": 1, "trials": ROWS, "baseline": 0.1}
            for name, rate in rates.items()
        },
        "utility": utility,
        "security": security,
        "excessive": {
            "distance": "gower",
            "mean": 0.1,
            "max": 0.2,
            "threshold": 0.2,
            "histogram": {"counts": [ROWS], "end": 0.2},
        },
        "overall": (utility + security) / 2,
    }


@pytest.fixture(autouse=True)
def unrecorded_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the record of scoring versions, because made-up verdicts do not name them all."""
    monkeypatch.setattr(competitions, "pin_scoring_versions", lambda _: None)
    monkeypatch.setattr(competitions, "collect_current_versions", lambda _: {})
