"""Turn audit log entries into readable changes with old and new values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.db.models import AuditEntry
from app.locale.language import Translator
from app.web.site import notation

_DIGEST = re.compile(r"[0-9a-f]{64}")
_IDENTIFIER = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WINDOW_EDGES = ("start", "end")
_LABEL_PREFIXES = {"cap": "cap_", "changed": "file_part_"}
"""Label prefixes of recorded fields whose values are names with a translation."""


@dataclass(frozen=True, slots=True)
class AuditChange:
    """One changed value; None where it did not exist."""

    path: tuple[str, ...]
    old_text: str | None
    new_text: str | None


@dataclass(frozen=True, slots=True)
class DescribedEntry:
    """An audit entry with its changes.

    ``kind`` names the type of the subject if the subject is only an identifier; ``link`` is the page of the
    subject.
    """

    entry: AuditEntry
    changes: tuple[AuditChange, ...]
    kind: str
    subject: str
    link: str | None


def describe_entries(
    entries: Sequence[AuditEntry], t: Translator, *, path: str, zone: str
) -> list[DescribedEntry]:
    """Describe audit entries in the reader's language; ``path`` is the address of the competition's pages."""
    return [
        DescribedEntry(
            entry,
            _list_changes(entry, t, zone),
            _label_subject_kind(entry, t),
            _shorten_subject(entry),
            _build_link(entry, path),
        )
        for entry in entries
    ]


def _list_changes(entry: AuditEntry, t: Translator, zone: str) -> tuple[AuditChange, ...]:
    if entry.action == "rescore.apply":
        return tuple(_iter_rescore_changes(entry.after or {}, t))
    old, new = (dict(flatten(side or {}, t, zone)) for side in (entry.before, entry.after))
    names = [*old, *(name for name in new if name not in old)]
    return tuple(
        AuditChange(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)
    )


def _iter_rescore_changes(difference: Mapping[str, Any], t: Translator) -> Iterator[AuditChange]:
    """Yield the changed state and overall score of each submission in a rejudging."""
    for submission, (old, new) in difference.items():
        if old != new:
            yield AuditChange((submission[:8],), _format_verdict(old, t), _format_verdict(new, t))


def _format_verdict(stored: Sequence[Any], t: Translator) -> str:
    state, overall = stored
    name = t.label(f"state_{state}", state)
    return name if overall is None else f"{name} {t.localize_numbers(notation.format_score(overall))}"


def flatten(content: Mapping[str, Any], t: Translator, zone: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each recorded single value with its path of keys."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from (((name, *path), leaf) for path, leaf in flatten(value, t, zone))
        elif _is_window(value):
            yield from (
                ((name, edge), format_value(edge_value, zone, t))
                for edge, edge_value in zip(_WINDOW_EDGES, value, strict=True)
            )
        elif name in _LABEL_PREFIXES:
            yield (name,), _label_names(value, _LABEL_PREFIXES[name], t)
        else:
            yield (name,), format_value(value, zone, t)


def _label_names(value: Any, prefix: str, t: Translator) -> str:
    """Return the translated names of one or several internal names."""
    names = value if isinstance(value, list) else [value]
    return ", ".join(t.label(f"{prefix}{name}", str(name)) for name in names)


def _is_window(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_parse_datetime(item) for item in value)


def _parse_datetime(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def format_value(value: Any, zone: str, t: Translator) -> str:
    """Format a recorded value: times in the competition's time zone, digests cut to 12 characters."""
    if isinstance(value, list):
        return ", ".join(format_value(item, zone, t) for item in value)
    if isinstance(value, float):
        return t.localize_numbers(str(value))
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return f"{value[:12]}…"
    parsed = _parse_datetime(value) if isinstance(value, str) and len(value) > len("2027-01-01") else None
    if parsed is None or parsed.tzinfo is None:
        return str(value)
    try:
        return notation.format_clock_time(parsed, zone)
    except OverflowError:  # a team name may look like a date at the limits of the range
        return str(value)


def _shorten_subject(entry: AuditEntry) -> str:
    """Return the subject of an entry; identifiers are cut to 8 characters."""
    return entry.subject[:8] if _IDENTIFIER.fullmatch(entry.subject) else entry.subject


def _label_subject_kind(entry: AuditEntry, t: Translator) -> str:
    """Return the type of the subject if it is an identifier, else an empty string."""
    kind = entry.action.partition(".")[0]
    return t.label(f"subject_{kind}", "") if _IDENTIFIER.fullmatch(entry.subject) else ""


def _build_link(entry: AuditEntry, path: str) -> str | None:
    if not _IDENTIFIER.fullmatch(entry.subject):
        return None
    kind = entry.action.partition(".")[0]
    pages = {"submission": "submissions", "rescore": "rescores", "threshold": "threshold"}
    return f"{path}/organize/{pages[kind]}/{entry.subject}" if kind in pages else None
