"""What a feature adds to the application and to pages of others, which therefore need not name it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from sqlalchemy.orm import Session

from app.core.identity.principal import Principal


@dataclass(frozen=True, slots=True)
class OverviewPart:
    """A part of a competition's overview. ``load`` returns what the template shows to this person."""

    template: str
    load: Callable[[Session, Principal | None, str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Duty:
    """Something that organizers should do soon, on this page, while ``count`` finds any in a competition."""

    code: str
    page: str
    count: Callable[[Session, UUID], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Feature:
    """``tags`` are the sections of the API's reference, ``organizer_pages`` the entries of the menu."""

    api: tuple[APIRouter, ...] = ()
    pages: tuple[APIRouter, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    organizer_pages: tuple[str, ...] = ()
    overview: OverviewPart | None = None
    duty: Duty | None = None
