"""Entries of the audit log as people read them: what was there before, and what after."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.db.models import AuditEntry
from app.locale.language import Words
from app.web.site import notation

DIGEST = re.compile(r"[0-9a-f]{64}")
IDENTIFIER = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
EDGES = ("start", "end")
NAMING = {"cap": "cap_", "changed": "file_part_"}
"""What is noted by a name that has a word of its own, with the beginning of its key."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing an act changed; None: it was not there."""

    path: tuple[str, ...]
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Act:
    """An entry with what it changed. ``kind``: what the subject is, where that is only an identifier;
    ``link``: the page of what it was done to."""

    entry: AuditEntry
    changes: tuple[Change, ...]
    kind: str
    subject: str
    link: str | None


def acts(entries: Sequence[AuditEntry], t: Words, *, path: str, zone: str) -> list[Act]:
    """``t``: the words of the reader's language; ``path``: of the competition's pages."""
    return [
        Act(each, changes_of(each, t, zone), kind_of(each, t), subject_of(each), link_of(each, path))
        for each in entries
    ]


def changes_of(entry: AuditEntry, t: Words, zone: str) -> tuple[Change, ...]:
    if entry.action == "rescore.apply":
        return tuple(rescored(entry.after or {}, t))
    before, after = (dict(leaves(side or {}, t, zone)) for side in (entry.before, entry.after))
    names = [*before, *(name for name in after if name not in before)]
    return tuple(
        Change(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    )


def rescored(difference: Mapping[str, Any], t: Words) -> Iterator[Change]:
    """State and overall of each submission that a re-score set changed."""
    for submission, (before, after) in difference.items():
        if before != after:
            yield Change((submission[:8],), verdict(before, t), verdict(after, t))


def verdict(noted: Sequence[Any], t: Words) -> str:
    state, overall = noted
    name = t.label(f"state_{state}", state)
    return name if overall is None else f"{name} {t.written(notation.score(overall))}"


def leaves(content: Mapping[str, Any], t: Words, zone: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """What was noted, down to single values, each with the way to it."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from (((name, *path), leaf) for path, leaf in leaves(value, t, zone))
        elif is_window(value):
            yield from (
                ((name, edge), value_text(one, zone, t)) for edge, one in zip(EDGES, value, strict=True)
            )
        elif name in NAMING:
            yield (name,), named(value, NAMING[name], t)
        else:
            yield (name,), value_text(value, zone, t)


def named(value: Any, prefix: str, t: Words) -> str:
    """One or many names of the service's own, in words."""
    names = value if isinstance(value, list) else [value]
    return ", ".join(t.label(f"{prefix}{name}", str(name)) for name in names)


def is_window(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(moment(one) for one in value)


def moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def value_text(value: Any, zone: str, t: Words) -> str:
    """A noted value in short: a time on the competition's clock, a digest by its beginning."""
    if isinstance(value, list):
        return ", ".join(value_text(each, zone, t) for each in value)
    if isinstance(value, float):
        return t.written(str(value))
    if isinstance(value, str) and DIGEST.fullmatch(value):
        return f"{value[:12]}…"
    found = moment(value) if isinstance(value, str) and len(value) > len("2027-01-01") else None
    if found is None or found.tzinfo is None:
        return str(value)
    try:
        return notation.clock_time(found, zone)
    except OverflowError:  # a team may have such a name
        return str(value)


def subject_of(entry: AuditEntry) -> str:
    """What it was done to, an identifier by its beginning."""
    return entry.subject[:8] if IDENTIFIER.fullmatch(entry.subject) else entry.subject


def kind_of(entry: AuditEntry, t: Words) -> str:
    """What an identifier stands for; nothing where the subject has a name."""
    kind = entry.action.partition(".")[0]
    return t.label(f"subject_{kind}", "") if IDENTIFIER.fullmatch(entry.subject) else ""


def link_of(entry: AuditEntry, path: str) -> str | None:
    if not IDENTIFIER.fullmatch(entry.subject):
        return None
    kind = entry.action.partition(".")[0]
    pages = {"submission": "submissions", "rescore": "rescores", "threshold": "threshold"}
    return f"{path}/organize/{pages[kind]}/{entry.subject}" if kind in pages else None
