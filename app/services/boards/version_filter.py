"""Selection of numbers that are comparable: all parts that count have the versions in ``[scored_by]``."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, cast, true
from sqlalchemy.dialects.postgresql import JSONB

from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.ranking import compute_overall_loss, compute_security
from app.db.models import Evaluation
from app.services.boards.verdicts import VerdictNumbers


def select_comparable(
    numbers: Mapping[UUID, VerdictNumbers], scored_by: Versions
) -> dict[UUID, VerdictNumbers]:
    """Return the comparable numbers, with E computed from the attackers that count.

    Parts that are only reported are limited to their newest version. Without ``scored_by`` all numbers are
    returned unchanged.
    """
    if not scored_by:
        return dict(numbers)
    eligible = {
        key: eligible_numbers
        for key, candidate in numbers.items()
        if (eligible_numbers := compute_eligible_numbers(candidate, scored_by)) is not None
    }
    newest_versions = _find_newest_versions(candidate.versions for candidate in eligible.values())
    return {key: _drop_other_versions(candidate, newest_versions) for key, candidate in eligible.items()}


def compute_eligible_numbers(numbers: VerdictNumbers, scored_by: Versions) -> VerdictNumbers | None:
    """Return the numbers with E from the attackers that count.

    The result is None if a part that counts is missing or has another version. E is computed again because
    verdicts of contests that began before ``[scored_by]`` existed may include other attackers.
    """
    if any(numbers.versions.get(name) != version for name, version in _list_verdict_versions(scored_by)):
        return None
    risks = numbers.attackers.items()
    eligible_security = compute_security(risk for name, risk in risks if f"attackers.{name}" in scored_by)
    if eligible_security == numbers.security:
        return numbers
    return replace(
        numbers, security=eligible_security, overall=compute_overall_loss(numbers.utility, eligible_security)
    )


def _list_verdict_versions(scored_by: Versions) -> list[tuple[str, str]]:
    """Return the parts whose versions verdicts record: measures and attackers."""
    unversioned = ("distances.", "packages.", "ranking_functions.")
    return [(name, version) for name, version in scored_by.items() if not name.startswith(unversioned)]


def _find_newest_versions(all_versions: Iterable[Versions]) -> Versions:
    """Return the newest version of each part. Parts that count have only one version."""
    newest_by_part: dict[str, str] = {}
    for versions in {id(part_versions): part_versions for part_versions in all_versions}.values():
        for name, version in versions.items():
            if name not in newest_by_part or int(version) > int(newest_by_part[name]):
                newest_by_part[name] = version
    return newest_by_part


def _drop_other_versions(numbers: VerdictNumbers, newest_versions: Versions) -> VerdictNumbers:
    """Drop the values that older versions of parts computed. Only reported parts can have older versions."""
    dropped = {name for name, version in numbers.versions.items() if newest_versions[name] != version}
    if not dropped:
        return numbers
    return replace(
        numbers,
        measures=_drop_parts(dropped, "measures", numbers.measures),
        attackers=_drop_parts(dropped, "attackers", numbers.attackers),
        correct=_drop_parts(dropped, "attackers", numbers.correct),
    )


def _drop_parts(dropped: set[str], kind: str, values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if f"{kind}.{name}" not in dropped}


def has_same_versions(scored_by: Mapping[str, str]) -> ColumnElement[bool]:
    """Build the condition that a verdict contains all parts that count, in these versions.

    It is always true if no versions are recorded. The database evaluates it on the stored JSON.
    """
    parts: dict[str, dict[str, Any]] = {"measures": {}, "attackers": {}}
    for name, version in scored_by.items():
        kind, _, part = name.partition(".")
        if kind in parts:
            parts[kind][part] = {"version": int(version)}
    return cast(Evaluation.verdict, JSONB).contains(parts) if scored_by else true()
