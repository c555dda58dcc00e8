"""Competitions: the public description, and what their organizers do."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, Request, Response, status
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app import wire
from app.contest import Contest
from app.db.models import Competition
from app.errors import CompetitionUnavailable, NotFound
from app.http.confirming import Confirming
from app.http.dependencies import SignedIn
from app.http.intake import admission
from app.messages import told
from app.scoring import toml_text
from app.services import competitions, invites, phases, revisions, witnesses
from app.services.leases import clock
from app.services.phases import Standing
from app.storage import store
from app.transaction import transaction

router = APIRouter(prefix="/competitions", tags=["competitions"])

Toml = Annotated[bytes, Body(media_type="application/toml", description="competition.toml")]


async def file_sent(request: Request, _: SignedIn) -> AsyncIterator[bytes]:
    """A large body, read after the sender is known, and there to be parsed when there is room for that."""
    content = await request.body()
    async with admission(request).parsing(len(content)):
        yield content


Csv = Annotated[bytes, Depends(file_sent, scope="function")]
CSV_SCHEMA = {
    "requestBody": {
        "required": True,
        "content": {
            "text/csv": {
                "schema": {
                    "type": "string",
                    "contentMediaType": "application/octet-stream",
                    "description": "the table with its header line",
                }
            }
        },
    }
}


class PhaseOut(BaseModel):
    name: str
    start: datetime
    end: datetime


class CompetitionOut(BaseModel):
    slug: str
    title: dict[str, str]
    track: str
    timezone: str
    state: Annotated[
        phases.State,
        Field(description="settling: a deadline has passed, what came in time is being scored or prepared"),
    ]
    paused: Annotated[bool, Field(description="the open phase takes nothing in for now")]
    phases: list[PhaseOut]
    reveal_at: Annotated[
        datetime | None,
        Field(
            description="when the secrets are revealed: the last end, or, where that moved nearer, once its"
            " notice has run; null without a second phase, and until the clock has witnessed the end"
        ),
    ]
    original_rows: Annotated[int | None, Field(description="individuals; null until the data are complete")]
    original_sha256: Annotated[dict[str, str], Field(description="of each file that is there")]
    original_files: list[str]


class UnavailableOut(BaseModel):
    """A competition whose file this version of the service cannot read: what is known without it."""

    slug: str
    title: dict[str, str]
    track: None = None
    timezone: None = None
    state: Literal["unavailable"] = "unavailable"
    paused: bool = False
    phases: list[PhaseOut] = []
    reveal_at: None = None
    original_rows: int | None
    original_sha256: dict[str, str]
    original_files: list[str]
    code: Literal["competition_unavailable"] = "competition_unavailable"
    detail: Annotated[str, Field(description="why, in a sentence")]


class OriginalOut(CompetitionOut):
    remarks: list[dict[str, Any]]


class InviteIn(BaseModel):
    uses: Annotated[int, Field(ge=1, le=1000)] = 1


def described(session: Session, contest: Contest) -> CompetitionOut:
    """The competition as it stands now."""
    reveal = witnesses.expected(session, [contest.row]).get(contest.id)
    return description(contest, phases.standing(session, contest.row), reveal)


def description(contest: Contest, now: Standing, reveal: datetime | None) -> CompetitionOut:
    row, rules = contest.row, contest.rules
    return CompetitionOut(
        slug=row.slug,
        title=dict(rules.title),
        track=rules.track,
        timezone=rules.timezone,
        state=now.state,
        paused=now.paused,
        phases=[PhaseOut(name=one.name, start=one.start, end=one.end) for one in rules.phases],
        reveal_at=reveal,
        original_rows=row.original_rows,
        original_sha256={f"{name}.csv": digest for name, digest in row.original.items()},
        original_files=[f"{name}.csv" for name in contest.track.original_files],
    )


def entry(row: Competition, now: datetime, reveal: datetime | None) -> CompetitionOut | UnavailableOut:
    try:
        return description(Contest(row), phases.standing_at(row, now), reveal)
    except CompetitionUnavailable as problem:
        return UnavailableOut(
            slug=row.slug,
            title=dict(competitions.title_of(row)),
            original_rows=row.original_rows,
            original_sha256={f"{name}.csv": digest for name, digest in row.original.items()},
            original_files=[f"{name}.csv" for name in row.original],
            detail=str(problem),
        )


@router.get("")
def list_competitions() -> list[CompetitionOut | UnavailableOut]:
    """All competitions of this service, oldest first; one that cannot be read says so by itself."""
    with transaction() as session:
        now = clock(session)
        rows = competitions.listed(session)
        reveals = witnesses.expected(session, rows)
        return [entry(row, now, reveals.get(row.id)) for row in rows]


@router.post("", status_code=status.HTTP_201_CREATED)
def create_competition(principal: SignedIn, file: Toml) -> CompetitionOut:
    """A new competition from its file. You become its organizer."""
    with transaction() as session:
        contest = competitions.create(session, principal, toml_text.text_of(file))
        return described(session, contest)


@router.get("/{slug}")
def get_competition(slug: str) -> CompetitionOut:
    """One competition with its phases."""
    with transaction() as session:
        return described(session, competitions.find(session, slug))


@router.get("/{slug}/competition.toml", response_class=Response)
def get_competition_file(slug: str) -> Response:
    """The competition's file, scales included: what the local `anoncup score` reads."""
    with transaction() as session:
        text = competitions.published_file(competitions.find(session, slug).row)
    return Response(text, media_type="application/toml")


@router.put("/{slug}/competition.toml")
def replace_competition_file(slug: str, principal: Confirming, file: Toml) -> CompetitionOut:
    """Exchange the file. Once somebody has submitted, what is measured stands; an end that moves nearer needs
    the password; so do, from then on, a `[publication]` that shows more, and more guesses_per_target."""
    with transaction() as session:
        contest = competitions.for_organizer(session, principal, slug)
    revision = revisions.revision_of_file(contest, toml_text.text_of(file))
    with transaction() as session:
        contest = revisions.revise(session, principal, slug, revision)
        return described(session, contest)


@router.get("/{slug}/original/{file}", response_class=Response)
def get_original(slug: str, file: str) -> Response:
    """The original data, as the organizer uploaded them."""
    with transaction() as session:
        contest = competitions.find(session, slug)
    name = revisions.part_of_original(contest, file)
    if contest.row.original_rows is None:
        raise NotFound("the competition has no original data yet", code="no_original")
    return Response(store().get(contest.row.original[name]), media_type="text/csv")


@router.put("/{slug}/original/{file}", openapi_extra=CSV_SCHEMA)
def put_original(slug: str, file: str, principal: SignedIn, content: Csv) -> OriginalOut:
    """Upload a file of the original; once all are there, the scales of the utility scores are computed.

    The first file comes first: a new one drops the others.
    """
    with transaction() as session:
        contest = competitions.for_organizer(session, principal, slug)
    name = revisions.part_of_original(contest, file)
    revision = revisions.revision_of_original(contest, name, content)
    with transaction() as session:
        contest = revisions.revise(session, principal, slug, revision)
        found = described(session, contest)
    remarks = [told(remark.code, remark.message) for remark in revision.remarks]
    return OriginalOut(**found.model_dump(), remarks=remarks)


@router.post("/{slug}/invites", status_code=status.HTTP_201_CREATED)
def create_invite(slug: str, principal: Confirming, body: InviteIn) -> wire.Invite:
    """A code with which teams sign up. Once the anonymization phase has ended, it needs the password."""
    with transaction() as session:
        return wire.Invite(code=invites.for_teams(session, principal, slug, uses=body.uses), uses=body.uses)
