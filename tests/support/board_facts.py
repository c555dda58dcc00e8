"""Second implementation of the boards: slow, plain Python over a list of facts."""

import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import replace_tables
from app.core.db.models import Competition
from app.core.db.transaction import transaction
from tests.support.contest import Contest

ORGANIZER = "(organizer)"
VISITOR = "(visitor)"
ZONE = ZoneInfo("Asia/Tokyo")
WEIGHTED_MEASURES = ("mean_mae", "cross_count", "information_loss")
MEASURE_ROUNDING = {"mean_mae": 1e-3}
"""In data units. The other measures round at 1e-9."""


@dataclass
class EvaluationFact:
    """One finished evaluation of a submission; ``effective_from`` is when it became the current one."""

    effective_from: datetime
    ended_at: datetime
    state: str
    measures: dict[str, float]
    attackers: dict[str, float]
    utility: float
    security: float


@dataclass
class SubmissionFact:
    """A submission. ``evaluations`` are in the order in which they became current."""

    id: str
    team: str
    received_at: datetime
    evaluations: list[EvaluationFact]
    is_marked_final: bool = False
    is_disqualified: bool = False
    target_name: str | None = None

    @property
    def latest(self) -> EvaluationFact:
        return self.evaluations[-1]

    @property
    def state(self) -> str:
        return self.latest.state

    def find_visible(self, moment: datetime) -> EvaluationFact | None:
        """Return the current evaluation if the submission had a verdict before the moment.

        A rescore replaces the evaluation at all moments.
        """
        has_verdict = any(
            evaluation.state in ("SCORED", "REJECTED")
            and (evaluation.effective_from if number else evaluation.ended_at) < moment
            for number, evaluation in enumerate(self.evaluations)
        )
        return self.latest if has_verdict else None


@dataclass
class GuessFact:
    """A guess with its present result."""

    team: str
    victim: SubmissionFact
    received_at: datetime
    ended_at: datetime
    state: str
    correct: int


ATTACKERS = TRACKS["microdata"].attackers
FORMULA_TOML = """[ranking]
order = "descending"
defence = "min(1 - utility, 1 - security) - strongest() / 3 - euc1 / 7"
"""
PUBLISHED_DIGITS = {"overall": 4, "utility": 2, "security": 2}


@dataclass
class BoardFacts:
    """The present state of a contest; ``teams`` are in order of creation."""

    teams: list[str]
    rule: str
    feedback: str
    finals: int
    frozen_from: datetime | None
    rows: int
    attackers: tuple[str, ...]
    submissions: list[SubmissionFact] = field(default_factory=list)
    guesses: list[GuessFact] = field(default_factory=list)
    disqualified_teams: set[str] = field(default_factory=set)
    published_at: datetime | None = None
    is_closed: bool = False
    is_revealed: bool = False
    weighted_measures: tuple[str, ...] = WEIGHTED_MEASURES

    def get_visibility_end(self, viewer: str) -> datetime:
        """Return the time from which on events are hidden from the viewer."""
        frozen_from = self.frozen_from
        if frozen_from is None or frozen_from > datetime.now(UTC) or self.is_closed or viewer == ORGANIZER:
            return datetime.now(UTC)
        return frozen_from

    def shows_finals(self, viewer: str) -> bool:
        return self.published_at is not None and self.published_at < self.get_visibility_end(viewer)

    def round_scores(self, viewer: str, row: dict[str, Any]) -> dict[str, Any]:
        """Round a row's scores as everybody but the organizers sees them before the reveal."""
        if self.is_revealed or viewer == ORGANIZER or row["overall"] is None:
            return row
        rounded_scores = {name: round(row[name], digits) for name, digits in PUBLISHED_DIGITS.items()}
        shows_score = self.rule == "formula" and row["score"] is not None
        rounded_scores["score"] = round(float(f"{row['score']:.4g}"), 4) if shows_score else None
        return row | rounded_scores | {"rival_risk": None, "measures": {}, "attackers": {}}

    def round_row_for_viewer(self, viewer: str, row: dict[str, Any]) -> dict[str, Any]:
        return row if row["own"] else self.round_scores(viewer, row)

    def list_visible_guesses(self, viewer: str) -> list[GuessFact]:
        return [
            guess for guess in self.guesses if self.can_see(viewer, guess) and self.is_counted(viewer, guess)
        ]

    def can_see(self, viewer: str, guess: GuessFact) -> bool:
        if guess.received_at >= self.get_visibility_end(viewer):
            return False
        if viewer == ORGANIZER or self.is_closed or self.feedback == "immediate":
            return True
        moment = min(datetime.now(ZONE), self.get_visibility_end(viewer)).astimezone(ZONE)
        midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return self.feedback == "daily" and guess.received_at < midnight

    def is_counted(self, viewer: str, guess: GuessFact) -> bool:
        is_judged = guess.state == "SCORED" and guess.ended_at < self.get_visibility_end(viewer)
        return (
            is_judged and guess.team not in self.disqualified_teams and self.is_target(guess.victim, viewer)
        )

    def is_target(self, submission: SubmissionFact, viewer: str = ORGANIZER) -> bool:
        is_disqualified = submission.is_disqualified or submission.team in self.disqualified_teams
        evaluation = submission.find_visible(self.get_visibility_end(viewer))
        return (
            submission.target_name is not None
            and evaluation is not None
            and evaluation.state == "SCORED"
            and not is_disqualified
        )

    def choose_finals(self) -> list[SubmissionFact]:
        finals = []
        for team in self.teams:
            valid_submissions = [
                submission
                for submission in self.submissions
                if submission.team == team and submission.state == "SCORED"
            ]
            marked_finals = [submission for submission in valid_submissions if submission.is_marked_final]
            eligible_submissions = [
                submission for submission in valid_submissions if not submission.is_disqualified
            ]
            best = sorted(
                marked_finals or eligible_submissions,
                key=lambda final: (drop_noise(self.compute_loss(final)), final.received_at, final.id),
            )
            finals += best[: self.finals]
        return finals

    def compute_loss(self, final: SubmissionFact) -> float:
        """Return the value by which a final is chosen, before anybody has attacked it."""
        if self.rule == "formula":
            return -compute_formula(self, ORGANIZER, final, final.latest, final.latest.security)
        return final.latest.utility + final.latest.security


@dataclass
class PastFacts(BoardFacts):
    """The facts as the history shows them now for an earlier moment."""

    moment: datetime = field(kw_only=True)

    def get_visibility_end(self, viewer: str) -> datetime:
        return min(self.moment, super().get_visibility_end(viewer))


def build_anonymization_rows(facts: BoardFacts, viewer: str) -> list[dict[str, Any]]:
    rows = []
    for team in facts.teams:
        row = build_anonymization_row(facts, viewer, team)
        if row is not None:
            rows.append(row)
    scored_rows = [row for row in rows if row["overall"] is not None]
    for row in scored_rows:
        if facts.rule == "rank_sum":
            compared_values = [*facts.weighted_measures, "security"]
            row["score"] = float(sum(compute_rank(row, scored_rows, name) for name in compared_values))
            row["loss"] = row["score"]
    for row in scored_rows:
        row["rank"] = compute_rank(row, scored_rows, "loss")
        row["on_front"] = not any(
            dominates(facts.round_scores(viewer, rival), facts.round_scores(viewer, row))
            for rival in scored_rows
        )
    scored_rows.sort(key=lambda row: (row["rank"], row["at"], row["id"]))
    unscored_rows = sorted(
        (row for row in rows if row["overall"] is None),
        key=lambda unscored_row: (unscored_row["at"], unscored_row["id"]),
    )
    return [drop_sort_keys(facts.round_row_for_viewer(viewer, row)) for row in (*scored_rows, *unscored_rows)]


def build_anonymization_row(facts: BoardFacts, viewer: str, team: str) -> dict[str, Any] | None:
    if team in facts.disqualified_teams:
        return None
    submissions = [
        submission
        for submission in facts.submissions
        if submission.team == team and not submission.is_disqualified
    ]
    evaluations = {
        submission.id: submission.find_visible(facts.get_visibility_end(viewer)) for submission in submissions
    }
    finished_evaluations = {
        name: evaluation
        for name, evaluation in evaluations.items()
        if evaluation and evaluation.state in ("SCORED", "REJECTED")
    }
    visible_submissions = [submission for submission in submissions if submission.id in finished_evaluations]
    if not visible_submissions:
        return None
    row: dict[str, Any] = {
        "rank": None,
        "team": team,
        "own": viewer == team,
        "baseline": False,
        "entries": len(visible_submissions),
    }
    row |= dict.fromkeys(("overall", "utility", "security", "rival_risk", "score", "received_at"))
    row |= {"on_front": False, "baseline": False, "measures": {}, "attackers": {}}
    eligible_submissions = [
        submission
        for submission in visible_submissions
        if finished_evaluations[submission.id].state == "SCORED"
    ]
    if facts.shows_finals(viewer):
        eligible_submissions = [
            submission for submission in eligible_submissions if submission.target_name is not None
        ]
    if not eligible_submissions:
        earliest = min(visible_submissions, key=lambda submission: (submission.received_at, submission.id))
        return row | {"at": earliest.received_at, "id": earliest.id}
    rivals = {
        submission.id: find_rival_risk(facts, viewer, submission) for submission in eligible_submissions
    }
    losses = {
        submission.id: max(finished_evaluations[submission.id].security, rivals[submission.id] or 0.0)
        for submission in eligible_submissions
    }
    overall = {
        submission.id: (finished_evaluations[submission.id].utility + losses[submission.id]) / 2
        for submission in eligible_submissions
    }
    scores = {
        submission.id: compute_formula(
            facts, viewer, submission, finished_evaluations[submission.id], losses[submission.id]
        )
        for submission in eligible_submissions
    }
    sorting_losses = {name: -score for name, score in scores.items()} if facts.rule == "formula" else overall
    best = min(
        eligible_submissions,
        key=lambda submission: (
            drop_noise(sorting_losses[submission.id]),
            submission.received_at,
            submission.id,
        ),
    )
    return row | {
        "at": best.received_at,
        "id": best.id,
        "utility": finished_evaluations[best.id].utility,
        "security": losses[best.id],
        "overall": overall[best.id],
        "rival_risk": rivals[best.id],
        "score": scores[best.id] if facts.rule == "formula" else None,
        "loss": sorting_losses[best.id],
        "received_at": best.received_at.astimezone(UTC),
        "measures": finished_evaluations[best.id].measures,
        "attackers": finished_evaluations[best.id].attackers,
    }


def find_rival_risk(facts: BoardFacts, viewer: str, submission: SubmissionFact) -> float | None:
    hits = [guess.correct for guess in facts.list_visible_guesses(viewer) if guess.victim is submission]
    return max(hits) / facts.rows if hits else None


def compute_formula(
    facts: BoardFacts, viewer: str, submission: SubmissionFact, evaluation: EvaluationFact, security: float
) -> float:
    """Return the value of ``FORMULA_TOML`` for a submission."""
    strongest = max(
        *(risk for name, risk in evaluation.attackers.items() if ATTACKERS[name].counts_by_default),
        find_rival_risk(facts, viewer, submission) or 0.0,
    )
    return min(1 - evaluation.utility, 1 - security) - strongest / 3 - evaluation.attackers["euc1"] / 7


def drop_noise(loss: float) -> float:
    """Round a loss. Random losses that are no ties differ by far more."""
    return round(loss, 6)


def compute_rank(row: dict[str, Any], rows: list[dict[str, Any]], name: str) -> int:
    """Return the rank where values below the measure's rounding are 0, and differences up to 1e-9 are ties.

    Other random values differ far more, so that there are no chains of ties.
    """

    def read_value(row: dict[str, Any]) -> float:
        value = float(row["measures"][name] if name in WEIGHTED_MEASURES else row[name])
        return 0.0 if abs(value) < MEASURE_ROUNDING.get(name, 1e-9) else value

    return 1 + sum(read_value(row) - read_value(rival) > 1e-9 for rival in rows)


def dominates(rival: dict[str, Any], row: dict[str, Any]) -> bool:
    row_scores, rival_scores = ((scores["utility"], scores["security"]) for scores in (row, rival))
    return (
        rival_scores != row_scores and rival_scores[0] <= row_scores[0] and rival_scores[1] <= row_scores[1]
    )


def drop_sort_keys(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("at", "id", "loss")}


def build_reidentification_rows(facts: BoardFacts, viewer: str) -> list[dict[str, Any]]:
    rows = []
    for team in facts.teams:
        if team in facts.disqualified_teams:
            continue
        row: dict[str, Any] = {"rank": None, "team": team, "own": viewer == team, "first": None}
        row |= dict.fromkeys(("identified", "tried", "rate", "targets"))
        team_guesses = [guess for guess in facts.list_visible_guesses(viewer) if guess.team == team]
        if team_guesses:
            victims = {guess.victim.id for guess in team_guesses}
            hits = [
                max(guess.correct for guess in team_guesses if guess.victim.id == victim_id)
                for victim_id in victims
            ]
            trial_count = facts.rows * len(victims)
            row |= {"identified": sum(hits), "tried": trial_count, "targets": len(victims)}
            row |= {
                "rate": sum(hits) / trial_count,
                "first": min(guess.received_at for guess in team_guesses),
            }
        rows.append(row)
    attackers = [row for row in rows if row["identified"] is not None]
    for row in attackers:
        row["rank"] = 1 + sum(rival["identified"] > row["identified"] for rival in attackers)
    attackers.sort(key=lambda row: (-row["identified"], row["first"], facts.teams.index(row["team"])))
    sorted_rows = attackers + [row for row in rows if row["identified"] is None]
    return [{name: value for name, value in row.items() if name != "first"} for row in sorted_rows]


def build_matrix(facts: BoardFacts, viewer: str) -> dict[str, Any]:
    targets = [submission for submission in facts.submissions if facts.is_target(submission, viewer)]
    shown_targets = sorted(targets, key=lambda submission: str(submission.target_name))
    if not facts.shows_finals(viewer):
        shown_targets = []
    columns = [
        {
            "target": submission.target_name,
            "rows": facts.rows,
            "own": submission.team == viewer,
            "team": submission.team,
        }
        for submission in shown_targets
    ]
    guesses = facts.list_visible_guesses(viewer)
    attackers = sorted({guess.team for guess in guesses}, key=normalize_name)
    rows = [
        {
            "attacker": team,
            "built_in": False,
            "own": team == viewer,
            "cells": [
                build_cell(
                    facts,
                    [
                        team_guess
                        for team_guess in guesses
                        if team_guess.team == team and team_guess.victim is shown_target
                    ],
                )
                for shown_target in shown_targets
            ],
        }
        for team in attackers
    ]
    names = facts.attackers if viewer == ORGANIZER or facts.is_revealed else ()
    return {
        "targets": columns,
        "rows": [*rows, *(build_attacker_row(facts, name, shown_targets) for name in names)],
    }


def build_cell(facts: BoardFacts, guesses: list[GuessFact]) -> dict[str, Any] | None:
    if not guesses:
        return None
    best = max(guess.correct for guess in guesses)
    return {"correct": best, "rate": best / facts.rows, "trials": len(guesses)}


def build_attacker_row(facts: BoardFacts, name: str, targets: list[SubmissionFact]) -> dict[str, Any]:
    cells = [
        {
            "correct": submission.latest.attackers[name] * facts.rows,
            "rate": submission.latest.attackers[name],
            "trials": 1,
        }
        for submission in targets
    ]
    return {"attacker": name, "built_in": True, "own": False, "cells": cells}


def normalize_name(team: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", team).casefold())


def make_hours(number: float) -> timedelta:
    return timedelta(hours=number)


def create_contest(client: TestClient, *, rule: str = "score", feedback: str = "immediate") -> Contest:
    extra_toml = f'[ranking]\nrule = "{rule}"\n[publication]\nfeedback = "{feedback}"'
    return Contest.create(client, extra_toml=extra_toml)


def freeze_boards(contest: Contest, *, feedback: str = "immediate", start: datetime | None = None) -> None:
    """Freeze the boards from this moment on (default: now)."""
    moment = start or datetime.now(UTC)
    publication = f'[publication]\nfeedback = "{feedback}"\nfrozen_from = {moment.isoformat()}\n'
    publication += "reveal_notice_hours = 0\n"
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == contest.arena.slug)).one()
        row.file = replace_tables(row.file, "publication", publication)
