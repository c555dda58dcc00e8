"""Whether a verdict was given by the versions that count; asked of the database, which reads it there."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, cast, true
from sqlalchemy.dialects.postgresql import JSONB

from app.db.models import Evaluation


def same_versions(scored_by: Mapping[str, str]) -> ColumnElement[bool]:
    """Whether an evaluation's verdict has all that counts in these versions; any has where none are known."""
    parts: dict[str, dict[str, Any]] = {"measures": {}, "attackers": {}}
    for name, version in scored_by.items():
        kind, _, part = name.partition(".")
        if kind in parts:
            parts[kind][part] = {"version": int(version)}
    return cast(Evaluation.verdict, JSONB).contains(parts) if scored_by else true()
