"""A large contest, inserted into the tables with varied copies of one real verdict."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from sqlalchemy import insert, inspect, select, update
from sqlalchemy.orm import Session, joinedload

from app.boards import standing_updates
from app.core.db.models import (
    Base,
    Evaluation,
    Guess,
    RecordedVerdict,
    Round,
    Secret,
    State,
    Submission,
    Target,
    Team,
)
from app.core.db.transaction import transaction
from app.core.identity.names import build_key
from tests.support.arena import ROWS
from tests.support.contest import Contest, build_outcome

TEAM_NAMES = (
    "Team {}",
    "匿名化研究会その{}",
    'The "Quoted", with {} commas',
    "=SUM({})",
    "長い名前" * 15 + "{}",
)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ContestSize:
    """The size of a contest. Each of ``attackers`` teams makes ``guesses_per_target`` guesses on each target.

    The first team is "the first", which has a member; the others are rows only.
    """

    teams: int = 50
    submissions_per_team: int = 10
    targets: int = 60
    attackers: int = 30
    guesses_per_target: int = 3


def fill(contest: Contest, size: ContestSize, *, seed: int = 0) -> None:
    """Add teams and scored submissions to a contest whose first phase is open.

    With ``targets``, also move it into its second phase and add judged guesses.
    """
    rng = np.random.default_rng(seed)
    sample_id = UUID(contest.submit("the first"))
    with transaction() as session:
        columns = Submission.evaluation, Submission.team
        sample = session.get_one(Submission, sample_id, options=list(map(joinedload, columns)))
        submission_ids = insert_submissions(session, sample, size, rng)
        if size.targets:
            insert_guesses(session, sample, submission_ids, size, rng)
        standing_updates.refresh(session, sample.round_id)
    if size.targets:
        contest.move_phases(anonymization=(-30, -2), reidentification=(-1, 1))


def insert_submissions(
    session: Session, sample: Submission, size: ContestSize, rng: np.random.Generator
) -> list[UUID]:
    """Insert the submissions. Return their identifiers, team by team."""
    teams = [sample.team_id, *insert_teams(session, sample.team.competition_id, size.teams - 1)]
    owners = [team for team in teams for _ in range(size.submissions_per_team)]
    submission_ids = [uuid4() for _ in owners]
    times = [sample.received_at - SECOND * int(rng.integers(1, 80_000)) for _ in submission_ids]
    evaluation = read_columns(sample.evaluation)
    secret = read_columns(session.get_one(Secret, sample.id))
    submission = read_columns(sample) | {"idempotency_key": None, "fingerprint": None}
    tables: tuple[type[Base], ...] = (Submission, Secret, Evaluation, RecordedVerdict)
    rows: list[tuple[type[Base], list[dict[str, Any]]]] = [(table, []) for table in tables]
    for submission_id, team, received_at in zip(submission_ids, owners, times, strict=True):
        evaluation_times = {
            "created_at": received_at,
            "started_at": received_at,
            "finished_at": received_at + SECOND,
        }
        evaluation_id = uuid4()
        rows[0][1].append(submission | {"id": submission_id, "team_id": team, "received_at": received_at})
        rows[1][1].append(secret | {"submission_id": submission_id})
        rows[2][1].append(
            evaluation | evaluation_times | {"id": evaluation_id, "submission_id": submission_id}
        )
        rows[3][1].append(vary_verdict(evaluation, evaluation_id, rng))
    for table, values in rows:
        session.execute(insert(table), values)
    return submission_ids


def insert_teams(session: Session, competition_id: UUID, count: int) -> list[UUID]:
    """Insert ``count`` teams with distinct names, some of them awkward. Return their identifiers."""
    teams = {uuid4(): TEAM_NAMES[number % len(TEAM_NAMES)].format(number) for number in range(count)}
    shared_columns = {"competition_id": competition_id, "baseline": False}
    rows = [
        shared_columns | {"id": number, "name": name, "name_key": build_key(name)}
        for number, name in teams.items()
    ]
    session.execute(insert(Team), rows)
    return list(teams)


def insert_guesses(
    session: Session,
    sample: Submission,
    submission_ids: list[UUID],
    size: ContestSize,
    rng: np.random.Generator,
) -> None:
    """Insert targets, published two hours ago, and judged guesses on them."""
    shared_columns = {"round_id": sample.round_id}
    published_at = sample.received_at - 2 * HOUR
    session.execute(
        update(Round)
        .where(Round.id == sample.round_id)
        .values(frozen_at=published_at, published_at=published_at)
    )
    target_submissions = submission_ids[:: max(1, len(submission_ids) // size.targets)][: size.targets]
    files = {"rows": sample.rows, "sizes": sample.sizes, "files": sample.files}
    targets = [
        shared_columns | files | {"id": uuid4(), "submission_id": target_row, "name": f"T{number:03}"}
        for number, target_row in enumerate(target_submissions, 1)
    ]
    session.execute(insert(Target), targets)
    owners = select(Submission.team_id).where(Submission.round_id == sample.round_id).distinct()
    other_teams = sorted(session.scalars(owners.where(Submission.team_id != sample.team_id)))
    teams = [sample.team_id, *other_teams]
    trials = [
        (team, target_row["id"]) for team in teams[: size.attackers] for target_row in targets
    ] * size.guesses_per_target
    times = [sample.received_at - SECOND * int(rng.integers(1, 7_000)) for _ in trials]
    guess_columns = {"state": State.SCORED, "attempt": 1, "user_id": sample.user_id}
    guess_columns |= {
        "question": "link",
        "file": next(iter(sample.files.values())),
        "answered": ROWS,
        "guesses_left": 0,
    }
    correct_counts = [int(rng.integers(0, ROWS + 1)) for _ in trials]
    session.execute(
        insert(Guess),
        [
            shared_columns
            | guess_columns
            | {"id": uuid4(), "team_id": team, "target_id": target, "received_at": received_at}
            | {
                "created_at": received_at,
                "finished_at": received_at + SECOND,
                "correct": correct,
                "outcome": build_outcome(correct),
                "risk": correct / ROWS,
            }
            for (team, target), received_at, correct in zip(trials, times, correct_counts, strict=True)
        ],
    )


def read_columns(row: Base) -> dict[str, Any]:
    return {column.key: getattr(row, column.key) for column in inspect(type(row)).column_attrs}


def vary_verdict(evaluation: dict[str, Any], new_id: UUID, rng: np.random.Generator) -> dict[str, Any]:
    """Return the columns of a verdict with random numbers of full precision."""
    varied_verdict: dict[str, Any] = json.loads(json.dumps(evaluation["verdict"]))
    for measure in varied_verdict["measures"].values():
        measure["value"] = float(rng.random() * (1.0 + abs(measure["value"])))
    for attacker in varied_verdict["attackers"].values():
        attacker["correct"] = int(rng.integers(0, ROWS + 1))
        attacker["rate"] = attacker["correct"] / ROWS
    varied_verdict["utility"] = float(rng.random())
    varied_verdict["security"] = max(attacker["rate"] for attacker in varied_verdict["attackers"].values())
    varied_verdict["overall"] = (varied_verdict["utility"] + varied_verdict["security"]) / 2
    return {"evaluation_id": new_id, "scorer": evaluation["scorer"], "content": varied_verdict}
