"""The recorded verdicts whose numbers boards use."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Uuid, any_, cast, literal, select, true
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import InstrumentedAttribute, Session

from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.verdict_numbers import VerdictNumbers, extract_numbers
from app.core.db.models import RecordedVerdict


def load_numbers(session: Session, evaluation_ids: Iterable[UUID]) -> dict[UUID, VerdictNumbers]:
    """Return the numbers of each of these evaluations that ended with a verdict."""
    query = select(RecordedVerdict.evaluation_id, RecordedVerdict.content)
    rows = session.execute(query.where(is_any(RecordedVerdict.evaluation_id, evaluation_ids)))
    return {evaluation_id: extract_numbers(content) for evaluation_id, content in rows}


def is_any(column: InstrumentedAttribute[UUID], ids: Iterable[UUID]) -> ColumnElement[bool]:
    """Build the condition that a column has one of these values; IN would take a parameter for each."""
    return column == any_(literal(list(ids), ARRAY(Uuid)))


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
