"""Routes of the files that the service allocates to teams, and of the organizers' sealed data for that."""

from fastapi import APIRouter, Response

from anoncup import schemas
from anoncup.errors import NotFound
from anoncup.tracks.seeds import commit_to_seed
from app.core.db.transaction import transaction
from app.core.http.bodies import key_by_file_name
from app.core.http.openapi import CsvResponse
from app.core.identity.authentication import CurrentPrincipal, OptionalPrincipal
from app.core.storage import get_store
from app.originals import allocated_files

router = APIRouter(prefix="/competitions", tags=["allocations"])


@router.get("/{slug}/own")
def get_own(slug: str, principal: CurrentPrincipal) -> schemas.OwnFiles:
    """List the files that the service has allocated to your team. Not even organizers can see them."""
    with transaction() as session:
        allocation = allocated_files.find_own(session, principal, slug)
    return schemas.OwnFiles(files=key_by_file_name(allocation.files), allocated_at=allocation.created_at)


@router.get("/{slug}/own/{file}", response_class=CsvResponse)
def get_own_file(slug: str, file: str, principal: CurrentPrincipal) -> Response:
    """Return one of your team's own files."""
    with transaction() as session:
        files = key_by_file_name(allocated_files.find_own(session, principal, slug).files)
    if file not in files:
        raise NotFound("your team's own files are {names}", code="no_such_file", names=tuple(files))
    return CsvResponse(get_store().get(files[file]))


@router.get("/{slug}/allocations")
def get_allocations(slug: str, principal: OptionalPrincipal) -> schemas.AllocationReveal:
    """Return the seed and all allocations, once the competition has closed."""
    with transaction() as session:
        seed, allocations = allocated_files.load_revealed(session, principal, slug)
    team_allocations = [
        schemas.TeamAllocation(team=draw.team, attempt=draw.attempt, files=key_by_file_name(draw.files))
        for draw in allocations
    ]
    return schemas.AllocationReveal(
        seed=seed.hex(), commitment=commit_to_seed(seed), allocations=team_allocations
    )
