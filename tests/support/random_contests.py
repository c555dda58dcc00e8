"""Contests with arbitrary results, written into the tables."""

import csv
import io
from datetime import UTC, datetime
from itertools import product
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import with_tables
from app.db.models import Competition, Evaluation, Guess, Rescore, State, Submission, Target, Team
from app.db.transaction import transaction
from app.services.attacks import guesses
from app.services.boards import spreadsheet
from app.services.contests import competitions
from app.services.jobs import leases
from app.services.organizing import rejudgings
from app.services.submissions import evaluations
from tests.support import board_facts
from tests.support.arena import API, ROWS
from tests.support.board_facts import ORGANIZER, VISITOR, Facts, Guessed, Judged, Sent, hours
from tests.support.claimed_jobs import FAULT, claim_evaluation, claim_guess
from tests.support.contest import Contest, linked, turn

TEAMS = ("red", "=1+1", '緑の"組", ok', "Ａｂ", "idle")
TRACK = TRACKS["microdata"]
GRID = (0.0, 0.25, 0.5)
"""Few values: ties everywhere."""
NOISE = (0.0, 0.0, 0.75)
"""How much of what is rounding is added to a measure."""
ENDS = ("SCORED", "SCORED", "SCORED", "REJECTED", "ERROR", "CANCELLED")
BOARDS = ("anonymization", "reidentification", "matrix")
WEIGHTS = (board_facts.WEIGHING, ("mean_mae",), ("cross_count", "information_loss"))
FREEZES = (None, -80.0, -20.0, 1.0)
"""Hours from now: never, among the submissions, among the guesses, in the future."""


class Drawn:
    """A contest drawn at random: what happens is done to the service and noted in the facts."""

    def __init__(self, client: TestClient, seed: int, *, rule: str, feedback: str) -> None:
        self.rng = np.random.default_rng(seed)
        self.now = datetime.now(UTC)
        freeze = FREEZES[seed % len(FREEZES)]
        frozen = None if freeze is None else self.now + hours(freeze)
        finals = int(self.rng.integers(1, 3))
        more = f'[ranking]\nrule = "{rule}"\nfinals = {finals}\n[publication]\nfeedback = "{feedback}"'
        more += f"\nfrozen_from = {frozen.isoformat()}" if frozen else ""
        self.contest = Contest.opened(client, more=more)
        self.contest.move(anonymization=(-110, 1), reidentification=(2, 3))
        self.facts = Facts(list(TEAMS), rule, feedback, finals, frozen, ROWS, tuple(TRACK.attackers))
        for team in TEAMS:
            self.contest.arena.team(team)

    def pick(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def submit(self) -> None:
        team = self.pick(self.facts.teams[:-1])
        identifier = self.contest.submit(team, scored=False)
        at = self.now - hours(int(self.rng.integers(60, 100, endpoint=True)) // 10 * 10)
        judged = self.judged(at, at + hours(self.pick((0.01, 0.01, 9.0, 19.0))), self.pick(ENDS))
        sent = Sent(id=identifier, team=team, at=at, judged=[judged])
        mine = [each for each in self.facts.sent if each.team == team and each.marked]
        if self.rng.random() < 0.3 and len(mine) < self.facts.finals:
            sent.marked = True
            path = f"/submissions/{identifier}/final"
            token = self.contest.arena.team(team)
            assert self.contest.arena.put(path, token=token, json={"final": True}).status_code == 200
        self.facts.sent.append(sent)
        end_scoring(sent)

    def judged(self, since: datetime, ended: datetime, state: str) -> Judged:
        return Judged(
            since=since,
            ended=ended,
            state=state,
            measures={name: self.pick(GRID) + self.pick(NOISE) * rounding(name) for name in TRACK.measures},
            attackers={name: self.pick(GRID) for name in TRACK.attackers},
            utility=self.pick(GRID),
            security=self.pick(GRID),
        )

    def rescore(self, at: datetime) -> None:
        """Have everything scored by other rules, which are put in force; then let that have been then."""
        weighing = self.pick(WEIGHTS)
        text = self.contest.arena.get(f"{self.contest.path}/competition.toml").text
        weights = "".join(f"[measures.{name}]\nweight = 1.0\n" for name in weighing)
        text = with_tables(with_tables(text, "measures", weights), "scales", "")
        begun = self.contest.arena.post(f"{self.contest.path}/rescores", content=text)
        assert begun.status_code == 202, begun.text
        identifier = UUID(begun.json()["id"])
        for sent in self.facts.sent:
            if sent.state != "CANCELLED":
                state = self.pick(ENDS[:4]) if sent.state != "ERROR" else self.pick(ENDS[:5])
                sent.judged.append(self.judged(at, at - hours(0.5), state))
                end_scoring(sent, rescore=identifier)
        applied = self.contest.organize(f"/rescores/{identifier}/apply")
        assert applied.status_code == 200, applied.text
        with transaction() as session:
            session.execute(update(Rescore).where(Rescore.id == identifier).values(applied_at=at))
        self.facts.weighing.append((at, weighing))

    def guess(self) -> None:
        targets = [sent for sent in self.facts.sent if self.facts.is_target(sent)]
        if not targets:
            return
        victim = self.pick(targets)
        team = self.pick([one for one in self.facts.teams if one != victim.team])
        if team in self.facts.barred:
            return
        target = self.contest.target_of(victim.id)["id"]
        answer = self.contest.guess(team, target, self.contest.right_on(victim.id, 1))
        if answer.status_code == 429:
            return
        assert answer.status_code == 202, answer.text
        at = self.now - hours(int(self.rng.integers(0, 8)) * 5 + 1)
        guess = Guessed(
            team=team,
            victim=victim,
            at=at,
            ended=at + hours(self.pick((0.01, 0.9, 12.0))),
            state=self.pick(("SCORED", "SCORED", "SCORED", "ERROR", "QUEUED")),
            correct=int(self.pick((0, 10, 20, 30))),
        )
        self.facts.guessed.append(guess)
        end_judging(UUID(answer.json()["id"]), guess)

    def bar(self, *, team: str | None = None, sent: Sent | None = None, out: bool = True) -> None:
        """Disqualify or reinstate, as organizers do."""
        word = "disqualify" if out else "reinstate"
        if team is not None:
            with transaction() as session:
                identifier = session.scalars(select(Team.id).where(Team.name == team)).one()
            path = f"{self.contest.path}/teams/{identifier}/{word}"
            (self.facts.barred.add if out else self.facts.barred.discard)(team)
        else:
            assert sent is not None
            path, sent.barred = f"/submissions/{sent.id}/{word}", out
        assert self.contest.organize(path).status_code == 200

    def publish(self) -> None:
        """Past the first deadline; then it is made to have happened forty hours ago."""
        self.contest.move(anonymization=(-110, -50), reidentification=(1, 5))
        turn()
        self.facts.published_at = self.now - hours(40)
        with transaction() as session:
            session.execute(update(Competition).values(published_at=self.facts.published_at))
            named = {str(target.submission_id): target.name for target in session.scalars(select(Target))}
        expected = {sent.id for sent in self.facts.chosen_finals()}
        assert set(named) == expected
        for sent in self.facts.sent:
            sent.target = named.get(sent.id)

    def open_attacks(self) -> None:
        self.contest.move(reidentification=(-39, 5))
        turn()  # until the clock has noted the window, the database refuses guesses

    def close(self) -> None:
        with transaction() as session:
            waiting = session.scalars(select(Guess.id).where(Guess.state == State.QUEUED)).all()
        for identifier in waiting:
            end_judging(identifier, None)
        for guess in self.facts.guessed:
            guess.state = "ERROR" if guess.state == "QUEUED" else guess.state
        self.contest.move(reidentification=(-39, -0.1))
        turn()
        self.facts.closed = self.facts.revealed = True

    def check(self, client: TestClient | None = None) -> dict[tuple[str, str], bytes]:
        """Every board for every audience, as JSON and as CSV; the JSON's bytes."""
        found = {}
        for which, viewer in product(BOARDS, (VISITOR, ORGANIZER, *self.facts.teams)):
            answer = self.get(client, which, viewer)
            compare(which, answer.json(), self.facts, viewer)
            as_csv = self.get(client, f"{which}.csv", viewer)
            same_as_json(which, answer.json(), as_csv.text)
            found[which, viewer] = answer.content + as_csv.content
            assert answer.headers["etag"] != as_csv.headers["etag"]
        return found

    def get(self, client: TestClient | None, which: str, viewer: str) -> Any:
        arena = self.contest.arena
        token = {VISITOR: None, ORGANIZER: arena.organizer}.get(viewer, arena.tokens.get(viewer))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = (client or arena.client).get(f"{API}{self.contest.path}/boards/{which}", headers=headers)
        assert answer.status_code == 200
        return answer


def end_scoring(sent: Sent, *, rescore: UUID | None = None) -> None:
    """Give the latest scoring of a submission its hand-made verdict and its time."""
    identifier, judged = UUID(sent.id), sent.now
    with transaction() as session:
        session.execute(update(Submission).where(Submission.id == identifier).values(received_at=sent.at))
        query = select(Evaluation).where(Evaluation.submission_id == identifier)
        found = session.scalars(query.where(Evaluation.rescore_id.is_not_distinct_from(rescore))).one()
        if judged.state == "CANCELLED":
            leases.finish(session, found, State.CANCELLED)
        else:
            claimed = claim_evaluation(session, found.id)
            if judged.state == "ERROR":
                leases.fail(session, Evaluation, claimed.evaluation_id, claimed.attempt, FAULT)
            else:
                evaluations.record(session, claimed, verdict=verdict(judged), scorer="by hand")
        found.created_at, found.finished_at = sent.at, judged.ended


def rounding(measure: str) -> float:
    return board_facts.ROUNDING.get(measure, 1e-9)


def verdict(sent: Judged) -> dict[str, Any]:
    return {
        "verdict": "accepted" if sent.state == "SCORED" else "rejected",
        "violations": [],
        "measures": {
            name: {"value": value, "version": 1, "rounding": rounding(name)}
            for name, value in sent.measures.items()
        },
        "attackers": {
            name: {"rate": rate, "correct": rate * ROWS, "version": 1, "trials": ROWS, "baseline": 0.1}
            for name, rate in sent.attackers.items()
        },
        "utility": sent.utility,
        "security": sent.security,
        "excessive": {
            "distance": "gower",
            "mean": 0.1,
            "max": 0.2,
            "threshold": 0.2,
            "histogram": {"counts": [ROWS], "end": 0.2},
        },
        "overall": (sent.utility + sent.security) / 2,
    }


def end_judging(identifier: UUID, guess: Guessed | None) -> None:
    """Give a guess its hand-made end; without one it fails."""
    with transaction() as session:
        if guess is not None:
            times = {"received_at": guess.at, "created_at": guess.at}
            session.execute(update(Guess).where(Guess.id == identifier).values(times))
        if guess is not None and guess.state == "QUEUED":
            return
        claimed = claim_guess(session, identifier)
        if guess is not None and guess.state == "SCORED":
            guesses.record(session, claimed, outcome=linked(guess.correct))
            session.get_one(Guess, identifier).finished_at = guess.ended
        else:
            leases.fail(session, Guess, identifier, claimed.attempt, FAULT)


def compare(which: str, found: dict[str, Any], facts: Facts, viewer: str) -> None:
    if which == "matrix":
        expected = board_facts.matrix(facts, viewer)
        assert found["targets"] == expected["targets"], viewer
        assert found["rows"] == expected["rows"], viewer
        return
    rows = found["rows"]
    if which == "anonymization":
        for row in rows:
            row["received_at"] = row["received_at"] and datetime.fromisoformat(row["received_at"])
            assert (row.pop("rank_before"), UUID(row.pop("team_id")).version) == (None, 4)
        assert found["finals"] == facts.shows_finals(viewer)
        assert rows == board_facts.anonymization(facts, viewer), viewer
    else:
        standing = {one["team"] for one in board_facts.anonymization(facts, viewer)}
        for row in rows:
            assert (row.pop("team_id") is not None) == (row["team"] in standing), viewer
        assert rows == board_facts.reidentification(facts, viewer), viewer


def same_as_json(which: str, found: dict[str, Any], text: str) -> None:
    lines = list(csv.DictReader(io.StringIO(text)))
    rows = found["rows"]
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        flat = dict(row)
        if which == "matrix":
            cells = flat.pop("cells")
            names = [f"{column['target']} ({column['team']})" for column in found["targets"]]
            flat |= {name: cell and cell["rate"] for name, cell in zip(names, cells, strict=True)}
        flat |= flat.pop("measures", {}) | flat.pop("attackers", {})
        for name, cell in line.items():
            assert cell == spelled(flat.get(name)), name
        assert set(flat) - set(line) <= {"own", "on_front", "team_id", "rank_before"}


def spelled(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return (
            spreadsheet.harmless(value).replace("Z", "+00:00")
            if value.endswith("Z")
            else spreadsheet.harmless(value)
        )
    return repr(value)


@pytest.fixture(autouse=True)
def nothing_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts that are made up name little of what counts, and E is none of their rates."""
    monkeypatch.setattr(competitions, "fix_what_counts", lambda _: None)
    monkeypatch.setattr(rejudgings, "what_counts", lambda _: {})


COMBINATIONS = list(product(("score", "rank_sum"), ("hidden", "daily", "immediate")))
