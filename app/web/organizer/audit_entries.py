"""Turn audit log entries into readable changes with old and new values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.db.models import AuditEntry
from app.locale.language import Translator
from app.web.site import notation

_SHA256 = re.compile(r"[0-9a-f]{64}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WINDOW_EDGES = ("start", "end")
_LABEL_PREFIXES = {"cap": "cap_", "changed": "file_part_", "method": "method_"}
"""Recorded fields whose values are internal names, with the prefix of the labels that translate them."""


@dataclass(frozen=True, slots=True)
class AuditChange:
    """A changed value with its path of keys. A text is None if the value did not exist."""

    path: tuple[str, ...]
    old_text: str | None
    new_text: str | None


@dataclass(frozen=True, slots=True)
class DescribedEntry:
    """An audit entry with its changes.

    ``kind`` is the type of the subject if ``subject`` is only an identifier, else "". ``link`` is the page of
    the subject.
    """

    entry: AuditEntry
    changes: tuple[AuditChange, ...]
    kind: str
    subject: str
    link: str | None


def describe_entries(
    entries: Sequence[AuditEntry], t: Translator, *, path: str, zone: str
) -> list[DescribedEntry]:
    """Describe audit entries in the reader's language. ``path`` is the path of the competition's pages."""
    return [
        DescribedEntry(
            entry,
            _list_changes(entry, t, zone),
            _label_subject_kind(entry, t),
            entry.subject[:8] if _UUID.fullmatch(entry.subject) else entry.subject,
            _build_link(entry, path),
        )
        for entry in entries
    ]


def _list_changes(entry: AuditEntry, t: Translator, zone: str) -> tuple[AuditChange, ...]:
    if entry.action == "rescore.apply":
        return tuple(_iter_rescore_changes(entry.after or {}, t))
    old_texts, new_texts = (dict(flatten(values or {}, t, zone)) for values in (entry.before, entry.after))
    names = [*old_texts, *(name for name in new_texts if name not in old_texts)]
    return tuple(
        AuditChange(name, old_texts.get(name), new_texts.get(name))
        for name in names
        if old_texts.get(name) != new_texts.get(name)
    )


def _iter_rescore_changes(old_and_new_by_id: Mapping[str, Any], t: Translator) -> Iterator[AuditChange]:
    """Yield the submissions whose state or overall score was changed by a rescore."""
    for submission_id, (old_result, new_result) in old_and_new_by_id.items():
        if old_result != new_result:
            yield AuditChange(
                (submission_id[:8],), _format_verdict(old_result, t), _format_verdict(new_result, t)
            )


def _format_verdict(state_and_overall: Sequence[Any], t: Translator) -> str:
    state, overall = state_and_overall
    state_label = t.label(f"state_{state}", state)
    return (
        state_label
        if overall is None
        else f"{state_label} {t.localize_numbers(notation.format_score(overall))}"
    )


def flatten(values: Mapping[str, Any], t: Translator, zone: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every single recorded value as text, with its path of keys."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from (((name, *path), text) for path, text in flatten(value, t, zone))
        elif _is_window(value):
            yield from (
                ((name, edge), format_value(edge_value, zone, t))
                for edge, edge_value in zip(_WINDOW_EDGES, value, strict=True)
            )
        elif name in _LABEL_PREFIXES:
            if value:  # An edit of comments or of the order changes the file, but no part of it.
                yield (name,), _label_names(value, _LABEL_PREFIXES[name], t)
        else:
            yield (name,), format_value(value, zone, t)


def _label_names(value: Any, prefix: str, t: Translator) -> str:
    """Translate one internal name or a list of them."""
    names = value if isinstance(value, list) else [value]
    return ", ".join(t.label(f"{prefix}{name}", str(name)) for name in names)


def _is_window(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_parse_datetime(moment) for moment in value)


def _parse_datetime(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def format_value(value: Any, zone: str, t: Translator) -> str:
    """Format a recorded value. Times are in the competition's time zone; digests are cut to 12 characters."""
    if isinstance(value, list):
        return ", ".join(format_value(element, zone, t) for element in value)
    if isinstance(value, bool | float):
        answer = t("Yes") if value else t("No")
        return answer if isinstance(value, bool) else t.localize_numbers(str(value))
    if isinstance(value, str) and _SHA256.fullmatch(value):
        return f"{value[:12]}…"
    moment = _parse_datetime(value) if isinstance(value, str) and len(value) > len("2027-01-01") else None
    if moment is None or moment.tzinfo is None:
        return str(value)
    try:
        return notation.format_clock_time(moment, zone)
    except OverflowError:  # a team name may look like a date outside the supported range
        return str(value)


def _label_subject_kind(entry: AuditEntry, t: Translator) -> str:
    """Return the type of the subject if it is an identifier, else an empty string."""
    kind = entry.action.partition(".")[0]
    return t.label(f"subject_{kind}", "") if _UUID.fullmatch(entry.subject) else ""


def _build_link(entry: AuditEntry, path: str) -> str | None:
    if not _UUID.fullmatch(entry.subject):
        return None
    kind = entry.action.partition(".")[0]
    page_by_kind = {"submission": "submissions", "rescore": "rescores", "threshold": "threshold"}
    return f"{path}/organize/{page_by_kind[kind]}/{entry.subject}" if kind in page_by_kind else None
