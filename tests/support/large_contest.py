"""A crowded contest, written straight into the tables: the verdict of a real scoring, with other numbers."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from sqlalchemy import insert, inspect, select, update
from sqlalchemy.orm import Session, joinedload

from app.db.models import (
    Base,
    Competition,
    Evaluation,
    Guess,
    Rescore,
    Secret,
    State,
    Submission,
    Target,
    Team,
)
from app.db.transaction import transaction
from app.services.accounts.names import columns
from app.storage import digest_of
from tests.support.arena import ROWS
from tests.support.contest import Contest, linked

NAMES = ("Team {}", "匿名化研究会その{}", 'The "Quoted", with {} commas', "=SUM({})", "長い名前" * 15 + "{}")
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Size:
    """``each``: submissions of a team; ``guesses``: of each of ``attackers`` teams on each target.

    The first team is "the first", which has a member; the others are rows only.
    """

    teams: int = 50
    each: int = 10
    targets: int = 60
    attackers: int = 30
    guesses: int = 3


def fill(contest: Contest, size: Size, *, seed: int = 0) -> None:
    """Put teams and scored submissions into a contest whose first phase is open; then, if there are to be
    targets, into its second phase with judged guesses."""
    rng = np.random.default_rng(seed)
    model = UUID(contest.submit("the first"))
    with transaction() as session:
        loaded = joinedload(Submission.evaluation), joinedload(Submission.secret)
        first = session.get_one(Submission, model, options=loaded)
        sent = submitted(session, first, size, rng)
        if size.targets:
            guessed(session, first, sent, size, rng)
    if size.targets:
        contest.move(anonymization=(-30, -2), reidentification=(-1, 1))


def submitted(session: Session, first: Submission, size: Size, rng: np.random.Generator) -> list[UUID]:
    """The identifiers of the new submissions, team by team."""
    teams = [first.team_id, *founded(session, first.competition_id, size.teams - 1)]
    owners = [team for team in teams for _ in range(size.each)]
    sent = [uuid4() for _ in owners]
    times = [first.received_at - SECOND * int(rng.integers(1, 80_000)) for _ in sent]
    scored, secret = columns_of(first.evaluation), columns_of(first.secret)
    copied = columns_of(first) | {"idempotency_key": None, "fingerprint": None}
    rows: list[tuple[type[Base], list[dict[str, Any]]]] = [(Submission, []), (Secret, []), (Evaluation, [])]
    for one, team, at in zip(sent, owners, times, strict=True):
        when = {"created_at": at, "started_at": at, "finished_at": at + SECOND}
        verdict = varied(scored["verdict"], rng)
        rows[0][1].append(copied | {"id": one, "team_id": team, "received_at": at})
        rows[1][1].append(secret | {"submission_id": one})
        rows[2][1].append(scored | when | {"id": uuid4(), "submission_id": one, "verdict": verdict})
    for table, lines in rows:
        session.execute(insert(table), lines)
    return sent


def founded(session: Session, competition_id: UUID, number: int) -> list[UUID]:
    """So many teams, no two alike and some with awkward names."""
    teams = {uuid4(): NAMES[one % len(NAMES)].format(one) for one in range(number)}
    known = {"competition_id": competition_id, "baseline": False}
    rows = [known | {"id": one, "name": name, **columns(name)} for one, name in teams.items()]
    session.execute(insert(Team), rows)
    return list(teams)


def guessed(
    session: Session, first: Submission, sent: list[UUID], size: Size, rng: np.random.Generator
) -> None:
    """Targets, published two hours ago, and the judged guesses on them."""
    known = {"competition_id": first.competition_id}
    past = first.received_at - 2 * HOUR
    session.execute(
        update(Competition)
        .where(Competition.id == first.competition_id)
        .values(frozen_at=past, published_at=past)
    )
    chosen = sent[:: max(1, len(sent) // size.targets)][: size.targets]
    written = {"rows": first.rows, "sizes": first.sizes, "files": first.files}
    targets = [
        known | written | {"id": uuid4(), "submission_id": one, "name": f"T{number:03}"}
        for number, one in enumerate(chosen, 1)
    ]
    session.execute(insert(Target), targets)
    owners = select(Submission.team_id).where(Submission.competition_id == first.competition_id).distinct()
    others = sorted(session.scalars(owners.where(Submission.team_id != first.team_id)))
    teams = [first.team_id, *others]
    trials = [(team, one["id"]) for team in teams[: size.attackers] for one in targets] * size.guesses
    at = [first.received_at - SECOND * int(rng.integers(1, 7_000)) for _ in trials]
    ended = {"state": State.SCORED, "attempt": 1, "user_id": first.user_id}
    ended |= {
        "question": "link",
        "file": next(iter(first.files.values())),
        "answered": ROWS,
        "guesses_left": 0,
    }
    right = [int(rng.integers(0, ROWS + 1)) for _ in trials]
    session.execute(
        insert(Guess),
        [
            known
            | ended
            | {"id": uuid4(), "team_id": team, "target_id": target, "received_at": when}
            | {
                "created_at": when,
                "finished_at": when + SECOND,
                "correct": correct,
                "outcome": linked(correct),
                "risk": correct / ROWS,
            }
            for (team, target), when, correct in zip(trials, at, right, strict=True)
        ],
    )


def columns_of(row: Base) -> dict[str, Any]:
    return {column.key: getattr(row, column.key) for column in inspect(type(row)).column_attrs}


def varied(verdict: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The same verdict with other numbers, every digit of them in use."""
    made: dict[str, Any] = json.loads(json.dumps(verdict))
    for measure in made["measures"].values():
        measure["value"] = float(rng.random() * (1.0 + abs(measure["value"])))
    for attacker in made["attackers"].values():
        attacker["correct"] = int(rng.integers(0, ROWS + 1))
        attacker["rate"] = attacker["correct"] / ROWS
    made["utility"] = float(rng.random())
    made["security"] = max(attacker["rate"] for attacker in made["attackers"].values())
    made["overall"] = (made["utility"] + made["security"]) / 2
    return made


def rescored(contest: Contest, *, seed: int = 1) -> str:
    """The identifier of an open re-score set that has scored everything with other numbers."""
    rng = np.random.default_rng(seed)
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == contest.arena.slug)).one()
        first = session.scalars(select(Submission).where(Submission.competition_id == row.id).limit(1)).one()
        plain = {"competition_id": row.id, "user_id": first.user_id, "file": row.file}
        made = Rescore(**plain, scales=row.scales, replaces=digest_of(row.file.encode()))
        session.add(made)
        session.flush()
        query = select(Evaluation).join(Evaluation.submission).where(Submission.competition_id == row.id)
        lines = [columns_of(one) for one in session.scalars(query)]
        again = {"rescore_id": made.id, "current": False}
        session.execute(
            insert(Evaluation),
            [
                one | again | {"id": uuid4(), "verdict": varied(one["verdict"], rng)}
                for one in lines
                if one["verdict"] is not None
            ],
        )
        return str(made.id)
