"""Competitions: the public description, and what their organizers do."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Request, Response, status
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import CompetitionUnavailable, NotFound
from anoncup.rules import toml_text
from anoncup.schemas.fields import example
from app.api.documentation import examples
from app.api.documentation.bodies import Json, raw, taking
from app.api.documentation.responses import COMPETITION_FILE, ORGANIZER, REVISION, refusing
from app.db.models import Competition
from app.db.now import clock
from app.db.transaction import transaction
from app.http.authentication import MaybeSignedIn, SignedIn
from app.http.step_up import Confirming
from app.http.uploads import admission
from app.services.contests import competitions, observed_deadlines, phases, revisions, sealed_inputs
from app.services.contests.contest import Contest
from app.services.contests.phases import Standing
from app.services.originals import allocations
from app.services.teams import invites
from app.storage import store

router = APIRouter(prefix="/competitions", tags=["competitions"])

Toml = Annotated[
    bytes, Body(media_type="application/toml", description="competition.toml", examples=[examples.TOML])
]


async def file_sent(request: Request, _: SignedIn) -> AsyncIterator[bytes]:
    """A large body, read after the sender is known, and there to be parsed when there is room for that."""
    content = await request.body()
    async with admission(request).parsing(len(content)):
        yield content


Csv = Annotated[bytes, Depends(file_sent, scope="function")]
A_TABLE: Json = {
    "type": "string",
    "contentMediaType": "application/octet-stream",
    "description": "the table with its header line",
}


class InviteIn(BaseModel):
    uses: Annotated[int, Field(ge=1, le=1000), example(20)] = 1


def described(session: Session, contest: Contest) -> schemas.Competition:
    """The competition as it stands now."""
    reveal = observed_deadlines.expected(session, [contest.row]).get(contest.id)
    found = description(contest, phases.standing(session, contest.row), reveal)
    return found.model_copy(update=committed(session, contest.row)) if contest.row.drawing else found


def committed(session: Session, row: Competition) -> dict[str, object]:
    """To what the service and the organizers have committed themselves."""
    truth = sealed_inputs.commitments(session, row.id)
    return {
        "seed_commitment": sealed_inputs.commitment_of(session, row.id),
        "truth_commitments": {f"{name}.csv": one for name, one in truth.items()},
    }


def description(contest: Contest, now: Standing, reveal: datetime | None) -> schemas.Competition:
    row, rules = contest.row, contest.rules
    return schemas.Competition(
        slug=row.slug,
        title=dict(rules.title),
        track=rules.track,
        timezone=rules.timezone,
        state=now.state,
        paused=now.paused,
        phases=[schemas.Phase(name=one.name, start=one.start, end=one.end) for one in rules.phases],
        reveal_at=reveal,
        original_rows=row.original_rows,
        original_sha256={f"{name}.csv": digest for name, digest in row.given.items()},
        original_files=[f"{name}.csv" for name in contest.track.original_files],
        own_files=[f"{name}.csv" for name in allocations.own_files(row)],
        seed_commitment=None,
        truth_files=[f"{name}.csv" for name in row.drawing.get("truth", ())],
        truth_commitments={},
    )


def entry(row: Competition, now: datetime, reveal: datetime | None) -> schemas.Listed:
    try:
        return description(Contest(row), phases.standing_at(row, now), reveal)
    except CompetitionUnavailable as problem:
        return schemas.UnavailableCompetition(
            slug=row.slug,
            title=dict(competitions.title_of(row)),
            original_rows=row.original_rows,
            original_sha256={f"{name}.csv": digest for name, digest in row.original.items()},
            original_files=[f"{name}.csv" for name in row.original],
            detail=str(problem),
        )


@router.get("")
def list_competitions() -> list[schemas.Listed]:
    """All competitions of this service, oldest first; one that cannot be read says so by itself."""
    with transaction() as session:
        now = clock(session)
        rows = competitions.listed(session)
        reveals = observed_deadlines.expected(session, rows)
        return [entry(row, now, reveals.get(row.id)) for row in rows]


@router.post(
    "", status_code=status.HTTP_201_CREATED, responses=refusing(ORGANIZER, "slug_taken slug_reserved")
)
def create_competition(principal: SignedIn, file: Toml) -> schemas.Competition:
    """A new competition from its file. You become its organizer."""
    with transaction() as session:
        contest = competitions.create(session, principal, toml_text.text_of(file))
        return described(session, contest)


@router.get("/{slug}")
def get_competition(slug: str, principal: MaybeSignedIn) -> schemas.Competition:
    """One competition with its phases."""
    with transaction() as session:
        return described(session, competitions.find(session, principal, slug))


@router.get(
    "/{slug}/competition.toml", response_class=Response, responses=raw("application/toml", examples.TOML)
)
def get_competition_file(slug: str, principal: MaybeSignedIn) -> Response:
    """The competition's file, scales included: what the local `anoncup score` reads."""
    with transaction() as session:
        text = competitions.published_file(competitions.find(session, principal, slug).row)
    return Response(text, media_type="application/toml")


@router.put("/{slug}/competition.toml", responses=refusing(ORGANIZER, REVISION))
def replace_competition_file(slug: str, principal: Confirming, file: Toml) -> schemas.Competition:
    """Exchange the file. Once somebody has submitted, what is measured stands; an end that moves nearer needs
    the password; so do, from then on, a `[publication]` that shows more, and more guesses_per_target."""
    with transaction() as session:
        contest = competitions.for_organizer(session, principal, slug)
    revision = revisions.revision_of_file(contest, toml_text.text_of(file))
    with transaction() as session:
        contest = revisions.revise(session, principal, slug, revision)
        return described(session, contest)


@router.get(
    "/{slug}/original/{file}",
    response_class=Response,
    responses=raw("text/csv", examples.TABLE) | refusing("no_original"),
)
def get_original(slug: str, file: str, principal: MaybeSignedIn) -> Response:
    """The original data, as the organizer uploaded them."""
    with transaction() as session:
        contest = competitions.find(session, principal, slug)
    name = revisions.part_of_original(contest, file)
    if contest.row.original_rows is None:
        raise NotFound("the competition has no original data yet", code="no_original")
    if name not in contest.row.given:
        raise NotFound("{name}.csv is not there", code="no_such_file", name=name)
    return Response(store().get(contest.row.given[name]), media_type="text/csv")


@router.put(
    "/{slug}/original/{file}",
    openapi_extra=taking("text/csv", A_TABLE, examples.TABLE),
    responses=refusing(ORGANIZER, REVISION, "first_file_missing", COMPETITION_FILE, "busy"),
)
def put_original(slug: str, file: str, principal: SignedIn, content: Csv) -> schemas.Original:
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
    remarks = [schemas.Said.of(remark.code, remark.message) for remark in revision.remarks]
    return schemas.Original(**found.model_dump(), remarks=remarks)


@router.post(
    "/{slug}/invites", status_code=status.HTTP_201_CREATED, responses=refusing(ORGANIZER, "is_rehearsal")
)
def create_invite(slug: str, principal: Confirming, body: InviteIn) -> schemas.Invite:
    """A code with which teams sign up. Once the anonymization phase has ended, it needs the password."""
    with transaction() as session:
        return schemas.Invite(
            code=invites.for_teams(session, principal, slug, uses=body.uses), uses=body.uses
        )
