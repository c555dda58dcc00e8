"""The numbers of verdicts that boards use."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Uuid, any_, cast, literal, select, true
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import InstrumentedAttribute, Session

from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.messages import JsonObject
from app.core.db.models import RecordedVerdict


@dataclass(frozen=True, slots=True)
class VerdictNumbers:
    """Numbers of a verdict.

    ``attackers`` maps each attacker to the risk that enters E; ``risks`` maps attackers that answer several
    questions to their risk by question; ``correct`` maps attackers that count records to the (possibly
    expected) number they re-identified. ``rounding`` maps each measure to the largest value that is rounding
    noise. ``versions`` maps each part to its version, as in ``[scored_by]``.
    """

    utility: float
    security: float
    violations: tuple[str, ...] = ()
    measures: Mapping[str, float] = field(default_factory=dict)
    rounding: Mapping[str, float] = field(default_factory=dict)
    attackers: Mapping[str, float] = field(default_factory=dict)
    risks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    correct: Mapping[str, float] = field(default_factory=dict)
    versions: Versions = field(default_factory=dict)

    @property
    def overall(self) -> float:
        return compute_overall_loss(self.utility, self.security)

    def find_risk(self, attacker: str, question: str) -> float:
        """Return the risk that an attacker found with a question; NaN if it did not answer it."""
        by_question = self.risks.get(attacker, {question: self.attackers.get(attacker, math.nan)})
        return by_question.get(question, math.nan)


def load_numbers(session: Session, evaluation_ids: Iterable[UUID]) -> dict[UUID, VerdictNumbers]:
    """Return the numbers of each of these evaluations that ended with a verdict."""
    query = select(RecordedVerdict.evaluation_id, RecordedVerdict.content)
    rows = session.execute(query.where(is_any(RecordedVerdict.evaluation_id, evaluation_ids)))
    return {evaluation_id: extract_numbers(content) for evaluation_id, content in rows}


def is_any(column: InstrumentedAttribute[UUID], ids: Iterable[UUID]) -> ColumnElement[bool]:
    """Build the condition that a column has one of these values; IN would take a parameter for each."""
    return column == any_(literal(list(ids), ARRAY(Uuid)))


def extract_numbers(verdict: JsonObject) -> VerdictNumbers:
    """Return the numbers of a stored verdict, which was checked when it was recorded."""
    measures, attackers = verdict["measures"], verdict["attackers"]
    return VerdictNumbers(
        utility=verdict["utility"],
        security=verdict["security"],
        violations=tuple(violation["code"] for violation in verdict["violations"]),
        measures={name: result["value"] for name, result in measures.items()},
        rounding={name: result["rounding"] for name, result in measures.items()},
        attackers={name: result.get("risk", result["rate"]) for name, result in attackers.items()},
        risks={name: result["risks"] for name, result in attackers.items() if result.get("risks")},
        correct={
            name: correct
            for name, result in attackers.items()
            if (correct := result.get("correct")) is not None
        },
        versions={f"measures.{name}": str(result["version"]) for name, result in measures.items()}
        | {f"attackers.{name}": str(result["version"]) for name, result in attackers.items()},
    )


def has_same_versions(scored_by: Versions) -> ColumnElement[bool]:
    """Build the condition that a recorded verdict contains all parts that count, in these versions.

    It is always true if no versions are recorded. The database evaluates it on the stored JSON.
    """
    parts: dict[str, dict[str, Any]] = {"measures": {}, "attackers": {}}
    for name, version in scored_by.items():
        kind, _, part = name.partition(".")
        if kind in parts:
            parts[kind][part] = {"version": int(version)}
    return cast(RecordedVerdict.content, JSONB).contains(parts) if scored_by else true()


def drop_older_versions(numbers: Mapping[UUID, VerdictNumbers]) -> dict[UUID, VerdictNumbers]:
    """Return the numbers without the values of parts that others have in a newer version.

    Only parts that are reported and do not count can have several versions.
    """
    versions = {pair for verdict in numbers.values() for pair in verdict.versions.items()}
    newest = dict(sorted(versions, key=lambda pair: int(pair[1])))

    def select_newest(verdict: VerdictNumbers, kind: str) -> dict[str, float]:
        values: Mapping[str, float] = getattr(verdict, kind)
        folder = "measures" if kind == "measures" else "attackers"
        return {
            name: value
            for name, value in values.items()
            if (part := f"{folder}.{name}") not in newest or verdict.versions[part] == newest[part]
        }

    return {
        key: replace(
            verdict,
            measures=select_newest(verdict, "measures"),
            attackers=select_newest(verdict, "attackers"),
            correct=select_newest(verdict, "correct"),
        )
        for key, verdict in numbers.items()
    }
