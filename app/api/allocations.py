"""What the service draws for teams, and what organizers give it for that."""

from fastapi import APIRouter, Response

from anoncup import schemas
from anoncup.tracks.seeds import commitment
from app.api.competitions import A_TABLE, Csv, described
from app.api.documentation import examples
from app.api.documentation.bodies import raw, taking
from app.api.documentation.responses import ORGANIZER, TEAM, refusing
from app.config import get_settings
from app.db.transaction import transaction
from app.http.authentication import MaybeSignedIn, SignedIn
from app.services.contests import competitions
from app.services.originals import allocations, organizer_data
from app.storage import store

router = APIRouter(prefix="/competitions", tags=["draws"])


@router.get(
    "/{slug}/own", responses=refusing(TEAM, "nothing_drawn not_drawn_yet drawing_over no_allocation_left")
)
def get_own(slug: str, principal: SignedIn) -> schemas.Own:
    """What the service has drawn for your team, and for nobody else: not for organizers either."""
    with transaction() as session:
        found = allocations.of_team(session, principal, slug)
    return schemas.Own(files=named(found.files), drawn_at=found.made_at)


@router.get(
    "/{slug}/own/{file}",
    response_class=Response,
    responses=raw("text/csv", examples.TABLE)
    | refusing(TEAM, "nothing_drawn not_drawn_yet drawing_over no_allocation_left"),
)
def get_own_file(slug: str, file: str, principal: SignedIn) -> Response:
    """One of your team's own files."""
    with transaction() as session:
        digest = allocations.file_of_team(session, principal, slug, file)
    return Response(store().get(digest), media_type="text/csv")


@router.put(
    "/{slug}/truth/{file}",
    openapi_extra=taking("text/csv", A_TABLE, examples.TABLE),
    responses=refusing(
        ORGANIZER, "drawn_already no_original changed_meanwhile malformed_upload sealing_unavailable busy"
    ),
)
def put_truth(slug: str, file: str, principal: SignedIn, content: Csv) -> schemas.Competition:
    """Give a file that you hold, sealed to the workers: nobody gets it back, you neither.

    Until the first team has its own files, another one may take its place.
    """
    with transaction() as session:
        contest = competitions.for_organizer(session, principal, slug)
    one = organizer_data.given(contest, organizer_data.name_of(contest, file), content)
    with transaction() as session:
        contest = organizer_data.hold(
            session, principal, slug, one, sealing_key=get_settings().sealing_key_file
        )
        return described(session, contest)


@router.get("/{slug}/draws", responses=refusing("nothing_drawn not_revealed_yet"))
def get_draws(slug: str, principal: MaybeSignedIn) -> schemas.Draws:
    """The seed and all that was drawn by it, once the competition has closed: anybody can draw again."""
    with transaction() as session:
        found = allocations.revealed(session, principal, slug)
    listed = [schemas.Draw(team=one.team, attempt=one.attempt, files=named(one.files)) for one in found.draws]
    return schemas.Draws(seed=found.seed.hex(), commitment=commitment(found.seed), draws=listed)


def named(files: dict[str, str]) -> dict[str, str]:
    """SHA-256 of each file by its file name."""
    return {f"{name}.csv": digest for name, digest in files.items()}
