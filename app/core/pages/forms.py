"""Parse large forms field by field and collect an error code for each invalid field."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from fastapi import Depends, Request
from starlette.datastructures import UploadFile

from anoncup.rules.local_times import fix_offset
from app.core.http.admission import get_admission
from app.core.identity.authentication import CurrentPrincipal

_MAX_FIELDS = 10_000
_MAX_TEXT_BYTES = 2 << 20
_LOCAL_TIME_FORMAT = "%Y-%m-%dT%H:%M"
"""Format of the value of an HTML ``datetime-local`` field."""


@dataclass(frozen=True, slots=True)
class ParsedForm:
    """The fields and files of a form; ``errors`` maps field names to error codes."""

    texts: Mapping[str, list[str]]
    files: Mapping[str, bytes] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return next(iter(self.texts.get(name, ())), "").strip()

    def secret(self, name: str) -> str:
        """Return a password as typed, with leading and trailing spaces."""
        return next(iter(self.texts.get(name, ())), "")

    def values(self, name: str) -> tuple[str, ...]:
        return tuple(self.texts.get(name, ()))

    def is_checked(self, name: str) -> bool:
        return bool(self.texts.get(name))

    def raw_values(self) -> dict[str, str]:
        """Return the fields as typed, to fill in the form again."""
        return {name: values[0] for name, values in self.texts.items() if values}

    def parse_count(self, name: str, *, minimum: int = 1, maximum: int = 1_000_000) -> int:
        text = self.text(name)
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not minimum <= number <= maximum:
            self.errors[name] = "wrong_whole"
        return number

    def parse_choice(self, name: str, allowed: tuple[str, ...]) -> str:
        text = self.text(name)
        if text not in allowed:
            self.errors[name] = "wrong_choice"
        return text

    def parse_datetime(self, name: str, zone: ZoneInfo) -> datetime | None:
        """Parse a local time in ``zone``; return None for an empty or invalid field.

        An invalid time, or one that the zone's clocks skip, records an error.
        """
        text = self.text(name)
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = None
        if moment is None or not 1971 <= moment.year < 9998:
            self.errors[name] = "wrong_moment"
            return None
        if (moment := fix_offset(moment, zone)) is None:
            self.errors[name] = "wrong_moment_skipped"
        return moment


async def _read_form(request: Request, _: CurrentPrincipal) -> AsyncIterator[ParsedForm]:
    """Parse the form after authentication, and reserve memory for its files while it is in use."""
    texts: dict[str, list[str]] = {}
    files: dict[str, bytes] = {}
    async with request.form(max_files=2, max_fields=_MAX_FIELDS, max_part_size=_MAX_TEXT_BYTES) as form:
        for name, part in form.multi_items():
            if isinstance(part, UploadFile):
                files[name] = await part.read()
            else:
                texts.setdefault(name, []).append(part)
    parsed_form = ParsedForm(texts, {name: content for name, content in files.items() if content})
    if not parsed_form.files:
        yield parsed_form
        return
    async with get_admission(request).reserve_memory(sum(map(len, parsed_form.files.values()))):
        yield parsed_form


FormBody = Annotated[ParsedForm, Depends(_read_form, scope="function")]


def format_local_time(moment: datetime | None, zone: ZoneInfo) -> str:
    """Format a moment as the value of a ``datetime-local`` field."""
    return "" if moment is None else moment.astimezone(zone).strftime(_LOCAL_TIME_FORMAT)


@cache
def group_zones_by_region() -> dict[str, tuple[str, ...]]:
    """Return the names of geographic time zones by region."""
    names_by_region: dict[str, list[str]] = {}
    for name in sorted(available_timezones()):
        region, _, city = name.partition("/")
        if city and region not in {"Etc", "SystemV"}:
            names_by_region.setdefault(region, []).append(name)
    return {"UTC": ("UTC",), **{region: tuple(names) for region, names in names_by_region.items()}}


def find_zone(name: str) -> ZoneInfo | None:
    is_listed = name == "UTC" or name in group_zones_by_region().get(name.partition("/")[0], ())
    return ZoneInfo(name) if is_listed else None
