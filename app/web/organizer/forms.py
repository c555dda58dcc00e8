"""What a form of many fields sends, read field by field with what is wrong beside each."""

import math
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from fastapi import Depends, Request
from starlette.datastructures import UploadFile

from app.http.authentication import SignedIn
from app.http.uploads import admission

MOST_FIELDS = 10_000
TEXT_BYTES = 2 << 20
LOCAL = "%Y-%m-%dT%H:%M"
"""What a browser's field of a date and a time holds."""


@dataclass(frozen=True, slots=True)
class Sent:
    """``wrong``: of a field, the word that says what is wrong with it."""

    texts: Mapping[str, list[str]]
    files: Mapping[str, bytes] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return next(iter(self.texts.get(name, ())), "").strip()

    def secret(self, name: str) -> str:
        """Of a password every character counts."""
        return next(iter(self.texts.get(name, ())), "")

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(self.texts.get(name, ()))

    def flag(self, name: str) -> bool:
        return bool(self.texts.get(name))

    def typed(self) -> dict[str, str]:
        """Every field as it was typed, for the form that asks again."""
        return {name: values[0] for name, values in self.texts.items() if values}

    def whole(self, name: str, *, least: int = 1, most: int = 1_000_000) -> int:
        text = self.text(name)
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not least <= number <= most:
            self.wrong[name] = "wrong_whole"
        return number

    def amount(self, name: str, *, most: float = math.inf, default: float = math.nan) -> float:
        """A number, 0 or more; NaN, and something wrong, if it is none."""
        text = self.text(name)
        if not text and not math.isnan(default):
            return default
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number <= most or math.isinf(number):
            self.wrong[name] = "wrong_share" if most == 1 else "wrong_amount"
        return number

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        text = self.text(name)
        if text not in allowed:
            self.wrong[name] = "wrong_choice"
        return text

    def moment(self, name: str, zone: ZoneInfo, before: datetime | None = None) -> datetime | None:
        """A time on the clock of ``zone``; one that reads as ``before`` is that very moment."""
        text = self.text(name)
        if not text:
            return None
        if before is not None and text == local(before, zone):
            return before
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            found = None
        if found is None or not 1971 <= found.year < 9998:
            self.wrong[name] = "wrong_moment"
            return None
        if found.tzinfo is None and is_skipped(found, zone):
            self.wrong[name] = "wrong_moment_skipped"
        return found if found.tzinfo else found.replace(tzinfo=zone)


async def sent_form(request: Request, _: SignedIn) -> AsyncIterator[Sent]:
    """The form, once it is known who sends it, and there is room to parse its files."""
    texts: dict[str, list[str]] = {}
    files: dict[str, bytes] = {}
    async with request.form(max_files=2, max_fields=MOST_FIELDS, max_part_size=TEXT_BYTES) as form:
        for name, part in form.multi_items():
            if isinstance(part, UploadFile):
                files[name] = await part.read()
            else:
                texts.setdefault(name, []).append(part)
    found = Sent(texts, {name: content for name, content in files.items() if content})
    if not found.files:
        yield found
        return
    async with admission(request).parsing(sum(map(len, found.files.values()))):
        yield found


Form = Annotated[Sent, Depends(sent_form, scope="function")]


def local(moment: datetime | None, zone: ZoneInfo) -> str:
    """A moment as a browser's field shows it."""
    return "" if moment is None else moment.astimezone(zone).strftime(LOCAL)


def is_skipped(shown: datetime, zone: ZoneInfo) -> bool:
    """Whether the zone's clocks never show it, since they are put forward past it."""
    return shown.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) != shown


@cache
def zones() -> dict[str, tuple[str, ...]]:
    """The zones that people live in, by region."""
    found: dict[str, list[str]] = {}
    for name in sorted(available_timezones()):
        region, _, place = name.partition("/")
        if place and region not in {"Etc", "SystemV"}:
            found.setdefault(region, []).append(name)
    return {"UTC": ("UTC",), **{region: tuple(names) for region, names in found.items()}}


def zone_named(name: str) -> ZoneInfo | None:
    known = name == "UTC" or name in zones().get(name.partition("/")[0], ())
    return ZoneInfo(name) if known else None
