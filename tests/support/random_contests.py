"""Contests with random results, recorded in the database and in ``BoardFacts``."""

import csv
import io
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import replace_tables
from app.competitions import competitions
from app.core import spreadsheet
from app.core.db.models import Evaluation, Guess, Rescore, Round, State, Submission, Target, Team
from app.core.db.transaction import transaction
from app.jobs import leases
from tests.support import board_facts
from tests.support.arena import API, ROWS
from tests.support.board_facts import (
    FORMULA_TOML,
    ORGANIZER,
    VISITOR,
    ZONE,
    BoardFacts,
    EvaluationFact,
    GuessFact,
    PastFacts,
    SubmissionFact,
    make_hours,
)
from tests.support.contest import Contest, build_outcome, run_clock
from tests.support.database_rows import execute, load_all, load_one
from tests.support.job_claims import FAILURE, claim_evaluation, claim_guess, record_guess
from tests.support.standings import rebuild_standings, record_verdict

TEAMS = ("red", "=1+1", '緑の"組", ok', "Ａｂ", "idle")
TRACK = TRACKS["microdata"]
ONE_SECOND = timedelta(seconds=1)
VALUE_CHOICES = (0.0, 0.25, 0.5)
"""Few values, so that ties are frequent."""
NOISE_CHOICES = (0.0, 0.0, 0.75)
"""Added to a measure, in units of its rounding, and to U and E, in units of 5e-10."""
END_STATES = ("SCORED", "SCORED", "SCORED", "REJECTED", "ERROR", "CANCELLED")
BOARDS = ("anonymization", "reidentification", "matrix")
WEIGHT_CHOICES = (board_facts.WEIGHTED_MEASURES, ("mean_mae",), ("cross_count", "information_loss"))
FREEZE_HOURS = (None, -80.0, -20.0, 1.0)
"""Hours from now: no freeze, during the submissions, during the guesses, in the future."""


class RandomContest:
    """A random contest: every event is applied to the service and to the facts."""

    def __init__(self, client: TestClient, seed: int, *, rule: str, feedback: str) -> None:
        self.rng = np.random.default_rng(seed)
        self.now = datetime.now(UTC)
        self.guesses_by_id: dict[UUID, GuessFact] = {}
        freeze = FREEZE_HOURS[seed % len(FREEZE_HOURS)]
        frozen_from = None if freeze is None else self.now + make_hours(freeze)
        finals = int(self.rng.integers(1, 3))
        ranking = FORMULA_TOML if rule == "formula" else f'[ranking]\nrule = "{rule}"\n'
        extra_toml = f'{ranking}finals = {finals}\n[publication]\nfeedback = "{feedback}"'
        extra_toml += f"\nfrozen_from = {frozen_from.isoformat()}" if frozen_from else ""
        self.contest = Contest.create(client, extra_toml=extra_toml)
        self.contest.move_phases(anonymization=(-110, 1), reidentification=(2, 3))
        self.facts = BoardFacts(
            list(TEAMS), rule, feedback, finals, frozen_from, ROWS, tuple(TRACK.attackers)
        )
        for team in TEAMS:
            self.contest.arena.get_team_token(team)
        # All events of the contest happen after the teams have joined.
        execute(update(Team).values(created_at=Team.created_at - make_hours(1000)))

    def pick(self, choices: Any) -> Any:
        return pick(self.rng, choices)

    def submit(self) -> None:
        team = self.pick(self.facts.teams[:-1])
        identifier = self.contest.submit(team, score=False)
        received_at = self.now - make_hours(int(self.rng.integers(60, 100, endpoint=True)) // 10 * 10)
        evaluation = build_evaluation(
            self.rng,
            received_at,
            received_at + make_hours(self.pick((0.01, 0.01, 9.0, 19.0))),
            self.pick(END_STATES),
        )
        submission = SubmissionFact(
            id=identifier, team=team, received_at=received_at, evaluations=[evaluation]
        )
        marked_finals = [
            marked_submission
            for marked_submission in self.facts.submissions
            if marked_submission.team == team and marked_submission.is_marked_final
        ]
        if self.rng.random() < 0.3 and len(marked_finals) < self.facts.finals:
            submission.is_marked_final = True
            path = f"/submissions/{identifier}/final"
            token = self.contest.arena.get_team_token(team)
            assert self.contest.arena.put(path, token=token, json={"final": True}).status_code == 200
        self.facts.submissions.append(submission)
        finish_scoring(submission)

    def rescore(self, applied_at: datetime, *, changes_guesses: bool = True) -> None:
        """Score everything again with other weights and apply the results at ``applied_at``."""
        weighted_measures = self.pick(WEIGHT_CHOICES)
        text = self.contest.arena.get(f"{self.contest.path}/competition.toml").text
        weights = "".join(f"[measures.{name}]\nweight = 1.0\n" for name in weighted_measures)
        text = replace_tables(replace_tables(text, "measures", weights), "scales", "")
        response = self.contest.arena.post(f"{self.contest.path}/rescores", content=text)
        assert response.status_code == 202, response.text
        identifier = UUID(response.json()["id"])
        for submission in self.facts.submissions:
            if submission.state != "CANCELLED":
                state = (
                    self.pick(END_STATES[:4]) if submission.state != "ERROR" else self.pick(END_STATES[:5])
                )
                submission.evaluations.append(
                    build_evaluation(self.rng, applied_at, applied_at - make_hours(0.5), state)
                )
                finish_scoring(submission, rescore=identifier)
        for guess_id, guess in self.guesses_by_id.items():
            self.judge_again(guess_id, guess, identifier, applied_at, is_changed=changes_guesses)
        apply_response = self.contest.post_as_organizer(f"/rescores/{identifier}/apply")
        assert apply_response.status_code == 200, apply_response.text
        execute(update(Rescore).where(Rescore.id == identifier).values(applied_at=applied_at))
        for guess_id, guess in self.guesses_by_id.items():
            execute(update(Guess).where(Guess.id == guess_id).values(finished_at=guess.ended_at))
        self.facts.weighted_measures = weighted_measures

    def judge_again(
        self, guess_id: UUID, guess: GuessFact, rescore: UUID, applied_at: datetime, *, is_changed: bool
    ) -> None:
        """Record the result of a rejudgement, which the guess has from ``applied_at`` on."""
        if guess.state == "QUEUED":
            guess.ended_at = max(applied_at, guess.received_at + make_hours(0.01))
        if is_changed or guess.state == "QUEUED":
            guess.state, guess.correct = "SCORED", int(self.pick((0, 10, 20, 30)))
        with transaction() as session:
            claim = claim_guess(session, guess_id, rescore=rescore)
            if guess.state == "SCORED":
                record_guess(session, claim, outcome=build_outcome(guess.correct))
            else:
                leases.fail(session, claim.kind, claim.job_id, claim.attempt, FAILURE)

    def submit_guess(self) -> None:
        targets = [submission for submission in self.facts.submissions if self.facts.is_target(submission)]
        if not targets:
            return
        victim = self.pick(targets)
        team = self.pick([team_name for team_name in self.facts.teams if team_name != victim.team])
        if team in self.facts.disqualified_teams:
            return
        target = self.contest.find_target(victim.id)["id"]
        response = self.contest.submit_guess(team, target, self.contest.build_guess(victim.id, 1))
        if response.status_code == 429:
            return
        assert response.status_code == 202, response.text
        age = int(self.rng.integers(0, 8)) * 5 + 1
        received_at = self.now - make_hours(age)
        guess = GuessFact(
            team=team,
            victim=victim,
            received_at=received_at,
            ended_at=received_at + make_hours(min(self.pick((0.01, 0.9, 12.0)), age - 0.1)),
            state=self.pick(("SCORED", "SCORED", "SCORED", "ERROR", "QUEUED")),
            correct=int(self.pick((0, 10, 20, 30))),
        )
        self.facts.guesses.append(guess)
        self.guesses_by_id[UUID(response.json()["id"])] = guess
        finish_judging(UUID(response.json()["id"]), guess)

    def set_disqualified(
        self,
        *,
        team: str | None = None,
        submission: SubmissionFact | None = None,
        is_disqualified: bool = True,
    ) -> None:
        """Disqualify or reinstate a team or a submission, as organizers do."""
        action = "disqualify" if is_disqualified else "reinstate"
        if team is not None:
            identifier = load_one(select(Team.id).where(Team.name == team))
            path = f"{self.contest.path}/teams/{identifier}/{action}"
            (self.facts.disqualified_teams.add if is_disqualified else self.facts.disqualified_teams.discard)(
                team
            )
        else:
            assert submission is not None
            path, submission.is_disqualified = f"/submissions/{submission.id}/{action}", is_disqualified
        assert self.contest.post_as_organizer(path).status_code == 200

    def publish(self) -> None:
        """Pass the first deadline and set the publication to forty hours ago."""
        self.contest.move_phases(anonymization=(-110, -50), reidentification=(1, 5))
        run_clock()
        self.facts.published_at = self.now - make_hours(40)
        with transaction() as session:
            session.execute(update(Round).values(published_at=self.facts.published_at))
            target_names = {
                str(target.submission_id): target.name for target in session.scalars(select(Target))
            }
        expected_finals = {submission.id for submission in self.facts.choose_finals()}
        assert set(target_names) == expected_finals
        for submission in self.facts.submissions:
            submission.target_name = target_names.get(submission.id)

    def open_attacks(self) -> None:
        self.contest.move_phases(reidentification=(-39, 5))
        run_clock()  # The database refuses guesses until the clock has recorded the window.

    def close(self) -> None:
        queued_ids = load_all(select(Guess.id).where(Guess.state == State.QUEUED))
        for identifier in queued_ids:
            finish_judging(identifier, None)
        for guess in self.facts.guesses:
            guess.state = "ERROR" if guess.state == "QUEUED" else guess.state
        self.contest.move_phases(reidentification=(-39, -0.1))
        run_clock()
        self.facts.is_closed = self.facts.is_revealed = True

    def check_boards(self, client: TestClient | None = None) -> dict[tuple[str, str], bytes]:
        """Compare every board for every viewer with the facts. Return the bytes of its JSON and CSV."""
        rebuild_standings()
        contents = {}
        for board, viewer in product(BOARDS, (VISITOR, ORGANIZER, *self.facts.teams)):
            response = self.get_board(client, board, viewer)
            compare_board(board, response.json(), self.facts, viewer)
            csv_response = self.get_board(client, f"{board}.csv", viewer)
            compare_csv(board, response.json(), csv_response.text)
            contents[board, viewer] = response.content + csv_response.content
            assert response.headers["etag"] != csv_response.headers["etag"]
        return contents

    def check_histories(self) -> None:
        for viewer in (VISITOR, ORGANIZER, "red"):
            history = self.get_board(None, "history", viewer).json()
            for moment in self.list_moments(history):
                compare_past(history, PastFacts(**vars(self.facts), moment=moment), viewer)

    def list_moments(self, history: dict[str, Any]) -> list[datetime]:
        """Return every second at which the board may have changed, and the second after it."""
        evaluations = [
            evaluation for submission in self.facts.submissions for evaluation in submission.evaluations
        ]
        midnight = self.now.astimezone(ZONE).replace(hour=0, minute=0, second=0, microsecond=0)
        times = [
            *(evaluation.effective_from for evaluation in evaluations),
            *(evaluation.ended_at for evaluation in evaluations),
            *(guess.ended_at for guess in self.facts.guesses),
            *(midnight - make_hours(24 * day) + ONE_SECOND for day in range(6)),
            *(datetime.fromisoformat(step["at"]) for team in history["teams"] for step in team["steps"]),
            *filter(None, (self.facts.frozen_from, self.facts.published_at)),
        ]
        seconds = {time.replace(microsecond=0) + ONE_SECOND * number for time in times for number in (0, 1)}
        return sorted(second for second in seconds if second < self.now)

    def get_board(self, client: TestClient | None, board: str, viewer: str) -> Any:
        arena = self.contest.arena
        token = {VISITOR: None, ORGANIZER: arena.organizer_token}.get(viewer, arena.team_tokens.get(viewer))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        response = (client or arena.client).get(f"{API}{self.contest.path}/boards/{board}", headers=headers)
        assert response.status_code == 200
        return response


def finish_scoring(submission: SubmissionFact, *, rescore: UUID | None = None) -> None:
    """Record the made-up verdict and times of a submission's latest evaluation."""
    identifier, evaluation_fact = UUID(submission.id), submission.latest
    with transaction() as session:
        session.execute(
            update(Submission).where(Submission.id == identifier).values(received_at=submission.received_at)
        )
        query = select(Evaluation).where(Evaluation.submission_id == identifier)
        evaluation = session.scalars(query.where(Evaluation.rescore_id.is_not_distinct_from(rescore))).one()
        if evaluation_fact.state == "CANCELLED":
            leases.finish(session, evaluation, State.CANCELLED)
        else:
            claim = claim_evaluation(session, evaluation.id)
            if evaluation_fact.state == "ERROR":
                leases.fail(session, Evaluation, claim.evaluation_id, claim.attempt, FAILURE)
            else:
                record_verdict(session, claim, build_verdict(evaluation_fact))
        evaluation.created_at, evaluation.finished_at = submission.received_at, evaluation_fact.ended_at


def pick(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def build_evaluation(
    rng: np.random.Generator, effective_from: datetime, ended_at: datetime, state: str
) -> EvaluationFact:
    return EvaluationFact(
        effective_from=effective_from,
        ended_at=ended_at,
        state=state,
        measures={
            name: pick(rng, VALUE_CHOICES) + pick(rng, NOISE_CHOICES) * get_rounding(name)
            for name in TRACK.measures
        },
        attackers={name: pick(rng, VALUE_CHOICES) for name in TRACK.attackers},
        utility=pick(rng, VALUE_CHOICES) + pick(rng, NOISE_CHOICES) * 5e-10,
        security=pick(rng, VALUE_CHOICES) + pick(rng, NOISE_CHOICES) * 5e-10,
    )


def get_rounding(measure: str) -> float:
    return board_facts.MEASURE_ROUNDING.get(measure, 1e-9)


def build_verdict(evaluation: EvaluationFact) -> dict[str, Any]:
    return {
        "verdict": "accepted" if evaluation.state == "SCORED" else "rejected",
        "violations": [],
        "measures": {
            name: {"value": value, "version": 1, "rounding": get_rounding(name)}
            for name, value in evaluation.measures.items()
        },
        "attackers": {
            name: {"rate": rate, "correct": rate * ROWS, "version": 1, "trials": ROWS, "baseline": 0.1}
            for name, rate in evaluation.attackers.items()
        },
        "utility": evaluation.utility,
        "security": evaluation.security,
        "excessive": {
            "distance": "gower",
            "mean": 0.1,
            "max": 0.2,
            "threshold": 0.2,
            "histogram": {"counts": [ROWS], "end": 0.2},
        },
        "overall": (evaluation.utility + evaluation.security) / 2,
    }


def finish_judging(identifier: UUID, guess: GuessFact | None) -> None:
    """Record the made-up outcome of a guess; without one the guess fails."""
    with transaction() as session:
        if guess is not None:
            times = {"received_at": guess.received_at, "created_at": guess.received_at}
            session.execute(update(Guess).where(Guess.id == identifier).values(times))
        if guess is not None and guess.state == "QUEUED":
            return
        claim = claim_guess(session, identifier)
        if guess is not None and guess.state == "SCORED":
            record_guess(session, claim, outcome=build_outcome(guess.correct))
            session.get_one(Guess, identifier).finished_at = guess.ended_at
        else:
            leases.fail(session, Guess, identifier, claim.attempt, FAILURE)


def compare_board(board: str, content: dict[str, Any], facts: BoardFacts, viewer: str) -> None:
    if board == "matrix":
        expected = board_facts.build_matrix(facts, viewer)
        assert content["targets"] == expected["targets"], viewer
        assert content["rows"] == expected["rows"], viewer
        return
    rows = content["rows"]
    if board == "anonymization":
        for row in rows:
            row["received_at"] = row["received_at"] and datetime.fromisoformat(row["received_at"])
            assert (row.pop("rank_before"), UUID(row.pop("team_id")).version) == (None, 4)
        assert content["finals"] == facts.shows_finals(viewer)
        assert rows == board_facts.build_anonymization_rows(facts, viewer), viewer
    else:
        board_teams = {board_row["team"] for board_row in board_facts.build_anonymization_rows(facts, viewer)}
        for row in rows:
            assert (row.pop("team_id") is not None) == (row["team"] in board_teams), viewer
        assert rows == board_facts.build_reidentification_rows(facts, viewer), viewer


def compare_past(history: dict[str, Any], facts: PastFacts, viewer: str) -> None:
    """Compare the last steps of each team with its row on the board of that moment."""
    rows = {
        row["team"]: row
        for row in board_facts.build_anonymization_rows(facts, viewer)
        if row["overall"] is not None
    }
    names = ("overall", "utility", "security", "score")
    scores = {}
    for team in history["teams"]:
        steps = [step for step in team["steps"] if datetime.fromisoformat(step["at"]) <= facts.moment]
        if steps and steps[-1]["overall"] is not None:
            scores[team["team"]] = [steps[-1][name] for name in names]
        if steps and datetime.fromisoformat(steps[-1]["at"]) == facts.moment:
            row = rows.get(team["team"])
            assert steps[-1]["rank"] == (row and row["rank"]), (viewer, facts.moment, team["team"])
    assert scores == {team: [row[name] for name in names] for team, row in rows.items()}, (
        viewer,
        facts.moment,
    )


def compare_csv(board: str, content: dict[str, Any], text: str) -> None:
    lines = list(csv.DictReader(io.StringIO(text)))
    rows = content["rows"]
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        expected = dict(row)
        if board == "matrix":
            cells = expected.pop("cells")
            names = [f"{column['target']} ({column['team']})" for column in content["targets"]]
            expected |= {name: cell and cell["rate"] for name, cell in zip(names, cells, strict=True)}
        expected |= expected.pop("measures", {}) | expected.pop("attackers", {})
        for name, cell in line.items():
            assert cell == format_cell(expected.get(name)), name
        assert set(expected) - set(line) <= {"own", "on_front", "team_id", "rank_before"}


def format_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return (
            spreadsheet.escape_formula(value).replace("Z", "+00:00")
            if value.endswith("Z")
            else spreadsheet.escape_formula(value)
        )
    return repr(value)


@pytest.fixture(autouse=True)
def unrecorded_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the record of scoring versions, because made-up verdicts do not name them all."""
    monkeypatch.setattr(competitions, "pin_scoring_versions", lambda _: None)
    monkeypatch.setattr(competitions, "collect_current_versions", lambda _: {})


COMBINATIONS = list(product(("score", "rank_sum", "formula"), ("hidden", "daily", "immediate")))
