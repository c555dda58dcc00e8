"""Second implementation of the boards: slow, plain Python over a list of facts."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select

from anoncup.plugins import TRACKS
from app.core.db.models import (
    Adjustment,
    Evaluation,
    Guess,
    RecordedVerdict,
    Rescore,
    Round,
    Submission,
    Target,
    Team,
)
from app.core.db.transaction import transaction
from tests.support.arena import ROWS

ORGANIZER = "(organizer)"
VISITOR = "(visitor)"
BOARDS = ("anonymization", "reidentification", "matrix")
ATTACKERS = TRACKS["microdata"].attackers
MEASURE_ROUNDING = {"mean_mae": 1e-3}
"""In data units. The other measures round at 1e-9."""
PUBLISHED_DIGITS = {"overall": 4, "utility": 2, "security": 2}
FORMULA_TOML = """[ranking]
order = "descending"
defence = "min(1 - utility, 1 - security) - strongest() / 3 - euc1 / 7 - penalty"
"""
RANKINGS = {
    "score": '[ranking]\nrule = "score"\nfinals = 2\n',
    "rank_sum": '[ranking]\nrule = "rank_sum"\n',
    "formula": FORMULA_TOML + 'attack = "mean_per_target - penalty + identified / 100"\n',
    "comparison": "[ranking]\ndefence = \"rank('security') + utility + penalty\"\n"
    "attack = \"identified - penalty + rank('mean_per_target') / 4\"\n",
}
"""Rankings of each kind, which the functions below compute as well."""

Row = dict[str, Any]


@dataclass
class SubmissionFact:
    """A submission with its present result; ``seen_from``: when it had a verdict for the first time."""

    id: str
    team: str
    received_at: datetime
    state: str
    measures: Mapping[str, float]
    attackers: Mapping[str, float]
    utility: float
    security: float
    seen_from: datetime | None
    is_baseline: bool = False
    is_marked_final: bool = False
    is_disqualified: bool = False
    target_name: str | None = None


@dataclass
class GuessFact:
    """A guess with its present result."""

    team: str
    victim: SubmissionFact
    received_at: datetime
    ended_at: datetime
    state: str
    correct: int


@dataclass
class BoardFacts:
    """The present state of a contest; ``teams`` are in order of creation.

    ``points`` are moments, teams and numbers of adjustments and, negated, of their withdrawals.
    """

    teams: list[str]
    rule: str
    feedback: str
    finals: int
    frozen_from: datetime | None
    rows: int
    attackers: tuple[str, ...]
    submissions: list[SubmissionFact] = field(default_factory=list)
    guesses: list[GuessFact] = field(default_factory=list)
    points: list[tuple[datetime, str, float]] = field(default_factory=list)
    disqualified_teams: set[str] = field(default_factory=set)
    published_at: datetime | None = None
    is_closed: bool = False
    is_revealed: bool = False
    weighted_measures: tuple[str, ...] = ()
    zone: str = "Asia/Tokyo"

    def get_visibility_end(self, viewer: str) -> datetime:
        """Return the time from which on events are hidden from the viewer."""
        frozen_from = self.frozen_from
        if frozen_from is None or frozen_from > datetime.now(UTC) or self.is_closed or viewer == ORGANIZER:
            return datetime.now(UTC)
        return frozen_from

    def shows_finals(self, viewer: str) -> bool:
        return self.published_at is not None and self.published_at < self.get_visibility_end(viewer)

    def find_penalty(self, viewer: str, team: str) -> float:
        end = self.get_visibility_end(viewer)
        return -sum(points for at, name, points in self.points if name == team and at < end)

    def round_scores(self, viewer: str, row: Row) -> Row:
        """Round a row's scores as everybody but the organizers sees them before the reveal."""
        if self.is_revealed or viewer == ORGANIZER or row["overall"] is None:
            return row
        rounded_scores: Row = {name: round(row[name], digits) for name, digits in PUBLISHED_DIGITS.items()}
        shows_score = self.rule == "formula" and row["score"] is not None
        rounded_scores["score"] = round(float(f"{row['score']:.4g}"), 4) if shows_score else None
        return row | rounded_scores | {"rival_risk": None, "measures": {}, "attackers": {}}

    def list_visible_guesses(self, viewer: str) -> list[GuessFact]:
        return [
            guess for guess in self.guesses if self.can_see(viewer, guess) and self.is_counted(viewer, guess)
        ]

    def can_see(self, viewer: str, guess: GuessFact) -> bool:
        end = self.get_visibility_end(viewer)
        if guess.received_at >= end:
            return False
        if viewer == ORGANIZER or self.is_closed or self.feedback == "immediate":
            return True
        midnight = end.astimezone(ZoneInfo(self.zone)).replace(hour=0, minute=0, second=0, microsecond=0)
        return self.feedback == "daily" and guess.received_at < midnight

    def is_counted(self, viewer: str, guess: GuessFact) -> bool:
        is_judged = guess.state == "SCORED" and guess.ended_at < self.get_visibility_end(viewer)
        return is_judged and guess.team not in self.disqualified_teams and self.is_target(guess.victim)

    def is_qualified(self, submission: SubmissionFact) -> bool:
        return not submission.is_disqualified and submission.team not in self.disqualified_teams

    def is_target(self, submission: SubmissionFact) -> bool:
        is_published = submission.target_name is not None
        return is_published and submission.state == "SCORED" and self.is_qualified(submission)

    def is_finished(self, viewer: str, submission: SubmissionFact) -> bool:
        is_seen = submission.seen_from is not None and submission.seen_from < self.get_visibility_end(viewer)
        return is_seen and submission.state in ("SCORED", "REJECTED") and self.is_qualified(submission)

    def choose_finals(self) -> list[SubmissionFact]:
        """Return the finals by the rule "score"."""
        finals = []
        for team in self.teams:
            valid = [fact for fact in self.submissions if fact.team == team and fact.state == "SCORED"]
            marked = [submission for submission in valid if submission.is_marked_final]
            eligible = marked or [submission for submission in valid if not submission.is_disqualified]
            finals += sorted(
                eligible,
                key=lambda final: (drop_noise(final.utility + final.security), final.received_at, final.id),
            )[: self.finals]
        return finals


def build_board(board: str, facts: BoardFacts, viewer: str) -> Any:
    """Return the rows of a board, or the targets and rows of the matrix."""
    builders: dict[str, Callable[[BoardFacts, str], Any]] = {
        "anonymization": build_anonymization_rows,
        "reidentification": build_reidentification_rows,
        "matrix": build_matrix,
    }
    return builders[board](facts, viewer)


def extract_board(board: str, content: Row) -> Any:
    """Return what ``build_board`` computes, without internal ids and the ranks of a day ago."""
    if board == "matrix":
        return {"targets": content["targets"], "rows": content["rows"]}
    rows = [{name: value for name, value in row.items() if name != "team_id"} for row in content["rows"]]
    for row in rows:
        if row.get("received_at"):
            row["received_at"] = datetime.fromisoformat(row["received_at"])
    return rows


def build_anonymization_rows(facts: BoardFacts, viewer: str) -> list[Row]:
    names = dict.fromkeys((*facts.teams, *(fact.team for fact in facts.submissions if fact.is_baseline)))
    rows = [row for team in names if (row := build_anonymization_row(facts, viewer, team))]
    competing_rows = [row for row in rows if row["overall"] is not None and not row["baseline"]]
    for row in competing_rows:
        if facts.rule in ("rank_sum", "comparison"):
            row["score"] = row["loss"] = compare_with_others(facts, viewer, row, competing_rows)
    for row in competing_rows:
        row["rank"] = compute_rank(row, competing_rows, "loss")
        row["on_front"] = not any(
            dominates(facts.round_scores(viewer, rival), facts.round_scores(viewer, row))
            for rival in competing_rows
        )
    for row in rows:
        if row["baseline"] and row["loss"] is not None:
            row["place"] = compute_rank(row, [other for other in rows if other["loss"] is not None], "loss")
    rows.sort(
        key=lambda row: (
            row["baseline"],
            row["loss"] is None,
            row["rank"] or row.get("place", 0),
            row["at"],
            row["id"],
        )
    )
    for row in rows:
        for name in ("at", "id", "loss", "place"):
            row.pop(name, None)
    return [row if row["own"] else facts.round_scores(viewer, row) for row in rows]


def compare_with_others(facts: BoardFacts, viewer: str, row: Row, rows: Sequence[Row]) -> float:
    if facts.rule == "rank_sum":
        names = [*facts.weighted_measures, "security"]
        return float(sum(compute_rank(row, rows, name) for name in names))
    rank = compute_rank(row, rows, "security")
    return float(rank + row["utility"] + facts.find_penalty(viewer, row["team"]))


def build_anonymization_row(facts: BoardFacts, viewer: str, team: str) -> Row | None:
    finished = [fact for fact in facts.submissions if fact.team == team and facts.is_finished(viewer, fact)]
    if not finished:
        return None
    is_baseline = finished[0].is_baseline
    row: Row = {"rank": None, "team": team, "own": viewer == team, "baseline": is_baseline}
    row |= {"entries": len(finished), "on_front": False, "measures": {}, "attackers": {}, "loss": None}
    row |= dict.fromkeys(("overall", "utility", "security", "rival_risk", "score", "received_at"))
    eligible = [fact for fact in finished if fact.state == "SCORED"]
    if facts.shows_finals(viewer) and not is_baseline:
        eligible = [submission for submission in eligible if submission.target_name is not None]
    if not eligible:
        earliest = min(finished, key=lambda fact: (fact.received_at, fact.id))
        return row | {"at": earliest.received_at, "id": earliest.id}
    rivals = {fact.id: find_rival_risk(facts, viewer, fact) for fact in eligible}
    security = {fact.id: max(fact.security, rivals[fact.id] or 0.0) for fact in eligible}
    overall = {fact.id: (fact.utility + security[fact.id]) / 2 for fact in eligible}
    scores = {
        fact.id: compute_formula(facts, viewer, fact, security[fact.id], rivals[fact.id] or 0.0)
        for fact in eligible
    }
    losses = {name: -score for name, score in scores.items()} if facts.rule == "formula" else overall
    best = min(eligible, key=lambda fact: (drop_noise(losses[fact.id]), fact.received_at, fact.id))
    hides_loss = is_baseline and facts.rule in ("rank_sum", "comparison")
    return row | {
        "at": best.received_at,
        "id": best.id,
        "utility": best.utility,
        "security": security[best.id],
        "overall": overall[best.id],
        "rival_risk": rivals[best.id],
        "score": scores[best.id] if facts.rule == "formula" else None,
        "loss": None if hides_loss else losses[best.id],
        "received_at": best.received_at.astimezone(UTC),
        "measures": best.measures,
        "attackers": best.attackers,
    }


def find_rival_risk(facts: BoardFacts, viewer: str, submission: SubmissionFact) -> float | None:
    hits = [guess.correct for guess in facts.list_visible_guesses(viewer) if guess.victim is submission]
    return max(hits) / facts.rows if hits else None


def compute_formula(
    facts: BoardFacts, viewer: str, submission: SubmissionFact, security: float, rival_risk: float
) -> float:
    """Return the value of ``FORMULA_TOML`` for a submission."""
    risks = [risk for name, risk in submission.attackers.items() if ATTACKERS[name].counts_by_default]
    value = min(1 - submission.utility, 1 - security) - max(*risks, rival_risk) / 3
    return value - submission.attackers["euc1"] / 7 - facts.find_penalty(viewer, submission.team)


def drop_noise(loss: float) -> float:
    """Round a loss. Random losses that are no ties differ by far more."""
    return round(loss, 6)


def compute_rank(row: Row, rows: Sequence[Row], name: str) -> int:
    """Return the rank where values below the measure's rounding are 0, and differences up to 1e-9 are ties.

    Other random values differ far more, so that there are no chains of ties.
    """

    def read_value(row: Row) -> float:
        value = float(row[name] if name in row else row["measures"][name])
        return 0.0 if abs(value) < MEASURE_ROUNDING.get(name, 1e-9) else value

    return 1 + sum(read_value(row) - read_value(rival) > 1e-9 for rival in rows)


def dominates(rival: Row, row: Row) -> bool:
    row_scores, rival_scores = ((scores["utility"], scores["security"]) for scores in (row, rival))
    return (
        rival_scores != row_scores and rival_scores[0] <= row_scores[0] and rival_scores[1] <= row_scores[1]
    )


def build_reidentification_rows(facts: BoardFacts, viewer: str) -> list[Row]:
    rows = [
        build_attacks_row(facts, viewer, team) for team in facts.teams if team not in facts.disqualified_teams
    ]
    attackers = [row for row in rows if row["identified"] is not None]
    for row in attackers:
        penalty, mean = facts.find_penalty(viewer, row["team"]), row["mean_per_target"]
        by_formula = {
            "formula": mean - penalty + row["identified"] / 100,
            "comparison": row["identified"] - penalty + compute_rank(row, attackers, "mean_per_target") / 4,
        }
        row["loss"] = -(by_formula[facts.rule] if facts.rule in by_formula else row["identified"])
        if facts.rule in by_formula:
            row["score"] = by_formula[facts.rule]
    for row in attackers:
        row["rank"] = compute_rank(row, attackers, "loss")
    rows.sort(
        key=lambda row: (row["rank"] is None, row["rank"], row["first"], facts.teams.index(row["team"]))
    )
    hidden = ("first", "loss", "mean_per_target")
    return [{name: value for name, value in row.items() if name not in hidden} for row in rows]


def build_attacks_row(facts: BoardFacts, viewer: str, team: str) -> Row:
    row: Row = {"rank": None, "team": team, "own": viewer == team, "first": None}
    row |= dict.fromkeys(("identified", "tried", "rate", "targets"))
    guesses = [guess for guess in facts.list_visible_guesses(viewer) if guess.team == team]
    if not guesses:
        return row
    others = [fact for fact in facts.submissions if facts.is_target(fact) and fact.team != team]
    best = {
        fact.id: max(guess.correct for guess in guesses if guess.victim is fact)
        for fact in others
        if any(guess.victim is fact for guess in guesses)
    }
    identified, tried = sum(best.values()), facts.rows * len(best)
    row |= {"identified": identified, "tried": tried, "targets": len(best), "rate": identified / tried}
    return row | {
        "first": min(guess.received_at for guess in guesses),
        "mean_per_target": sum(correct / facts.rows for correct in best.values()) / len(others),
    }


def build_matrix(facts: BoardFacts, viewer: str) -> Row:
    targets = [fact for fact in facts.submissions if facts.is_target(fact)]
    targets = sorted(targets if facts.shows_finals(viewer) else [], key=lambda fact: str(fact.target_name))
    columns = [
        {"target": fact.target_name, "rows": facts.rows, "own": fact.team == viewer, "team": fact.team}
        for fact in targets
    ]
    guesses = facts.list_visible_guesses(viewer)
    rows = [
        {
            "attacker": team,
            "built_in": False,
            "own": team == viewer,
            "cells": [
                build_cell(facts, [guess for guess in guesses if guess.team == team and guess.victim is fact])
                for fact in targets
            ],
        }
        for team in sorted({guess.team for guess in guesses}, key=normalize_name)
    ]
    names = facts.attackers if viewer == ORGANIZER or facts.is_revealed else ()
    return {
        "targets": columns,
        "rows": [*rows, *(build_attacker_row(facts, name, targets) for name in names)],
    }


def build_cell(facts: BoardFacts, guesses: Sequence[GuessFact]) -> Row | None:
    if not guesses:
        return None
    best = max(guess.correct for guess in guesses)
    return {"correct": best, "rate": best / facts.rows, "trials": len(guesses)}


def build_attacker_row(facts: BoardFacts, name: str, targets: Sequence[SubmissionFact]) -> Row:
    cells = [
        {"correct": fact.attackers[name] * facts.rows, "rate": fact.attackers[name], "trials": 1}
        for fact in targets
    ]
    return {"attacker": name, "built_in": True, "own": False, "cells": cells}


def normalize_name(team: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", team).casefold())


def read_facts(ranking: str) -> BoardFacts:
    """Return the facts of the only contest, which ``ranking`` ranks, read plainly from all of its rows."""
    with transaction() as session:
        round_ = session.scalars(select(Round)).one()
        teams = {team.id: team for team in session.scalars(select(Team).order_by(Team.created_at, Team.id))}
        rules = round_.rules
        facts = BoardFacts(
            [team.name for team in teams.values() if not team.baseline],
            ranking,
            rules.publication.feedback,
            rules.ranking.finals,
            rules.publication.frozen_from,
            ROWS,
            tuple(ATTACKERS),
            disqualified_teams={
                team.name for team in teams.values() if team.disqualified_at and not team.baseline
            },
            published_at=round_.published_at,
            is_closed=round_.closed_at is not None,
            is_revealed=round_.revealed_at is not None,
            weighted_measures=tuple(rules.weights),
            zone=rules.timezone,
        )
        applied = {rescore.id: rescore.applied_at for rescore in session.scalars(select(Rescore))}
        verdicts = {
            verdict.evaluation_id: verdict.content for verdict in session.scalars(select(RecordedVerdict))
        }
        target_names = {target.submission_id: target.name for target in session.scalars(select(Target))}
        evaluations = session.scalars(select(Evaluation)).all()
        by_target: dict[Any, SubmissionFact] = {}
        for submission in session.scalars(select(Submission)):
            own = [row for row in evaluations if row.submission_id == submission.id]
            (current,) = (row for row in own if row.current)
            moments = [
                row.finished_at if row.rescore_id is None else applied[row.rescore_id]
                for row in own
                if row.state in ("SCORED", "REJECTED")
            ]
            team = teams[submission.team_id]
            is_removed = team.baseline and team.disqualified_at is not None
            fact = by_target[submission.id] = build_submission(
                verdicts.get(current.id),
                id=str(submission.id),
                team=team.name,
                received_at=submission.received_at,
                state=str(current.state),
                seen_from=min((moment for moment in moments if moment), default=None),
                is_baseline=team.baseline,
                is_disqualified=is_removed or submission.disqualified_at is not None,
                target_name=target_names.get(submission.id),
            )
            facts.submissions.append(fact)
        targets = {target.id: by_target[target.submission_id] for target in session.scalars(select(Target))}
        for guess in session.scalars(select(Guess)):
            ended_at = guess.finished_at or datetime.now(UTC)
            facts.guesses.append(
                GuessFact(
                    teams[guess.team_id].name,
                    targets[guess.target_id],
                    guess.received_at,
                    ended_at,
                    str(guess.state),
                    guess.correct or 0,
                )
            )
        for adjustment in session.scalars(select(Adjustment)):
            name = teams[adjustment.team_id].name
            facts.points.append((adjustment.created_at, name, adjustment.points))
            if adjustment.withdrawn_at is not None:
                facts.points.append((adjustment.withdrawn_at, name, -adjustment.points))
    return facts


def build_submission(verdict: Row | None, **fields: Any) -> SubmissionFact:
    """Build a submission with the numbers of its verdict, if it has one."""
    measures, attackers = (verdict[name] if verdict else {} for name in ("measures", "attackers"))
    return SubmissionFact(
        **fields,
        measures={name: result["value"] for name, result in measures.items()},
        attackers={name: result["rate"] for name, result in attackers.items()},
        utility=verdict["utility"] if verdict else 0.0,
        security=verdict["security"] if verdict else 0.0,
    )
