"""The board cache: a board is rendered again only when it would change."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from anoncup.rules.toml_text import replace_tables
from anoncup.schemas import TokenKind
from anoncup.schemas.roles import Role
from app.db import engine
from app.db.models import Competition, Member, Round, Team, Token, User
from app.db.now import read_clock
from app.db.snapshot import Snapshot, read_snapshot
from app.db.transaction import transaction
from app.http.board_cache import BoardCache, SingleFlight, load_principal
from app.http.session_cookie import COOKIE
from app.main import create_app
from app.services.accounts.tokens import Credential, authenticate, hash_token
from app.services.boards import total
from app.services.contests.contest import Contest
from app.services.contests.visibility import BoardAccess, Viewer, compute_scope, floor_to_hour
from tests.support.arena import API, Arena
from tests.support.database_rows import execute
from tests.support.query_counter import log_queries
from tests.support.two_rounds import build_contest, build_round, create_two_rounds
from tests.support.uploads import score_everything

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("without_autovacuum")]

BOARDS = ("anonymization", "anonymization.csv", "reidentification", "matrix")
TOTALS = ("total", "total.csv", "attack-total", "attack-total.csv")


@pytest.fixture
def scored_arena(arena: Arena) -> Arena:
    arena.submit("red")
    score_everything()
    return arena


def get_board(arena: Arena, name: str = "anonymization", etag: str = "", **credentials: str) -> Response:
    """Get a board; ``credentials`` are headers that identify the viewer."""
    path = f"{API}/competitions/{arena.slug}/boards/{name}"
    response: Response = arena.client.get(path, headers={"If-None-Match": etag, **credentials})
    return response


def build_token_headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def build_session_headers(session: str) -> dict[str, str]:
    return {"Cookie": f"{COOKIE}={session}"}


def count_statements(arena: Arena, name: str, etag: str = "", **credentials: str) -> tuple[int, int]:
    """Return the status of the response and the number of database queries."""
    with log_queries() as queries:
        status = get_board(arena, name, etag, **credentials).status_code
    return status, len(queries.statements)


@pytest.mark.parametrize("name", BOARDS)
def test_unchanged_board_needs_no_query(scored_arena: Arena, name: str) -> None:
    etag = get_board(scored_arena, name).headers["etag"]
    assert count_statements(scored_arena, name, etag) == (304, 1)
    assert count_statements(scored_arena, name) == (200, 1)


def list_own_flags(response: Response) -> list[bool]:
    return [row["own"] for row in response.json()["rows"]]


def test_token_revoked_elsewhere_opens_no_cached_board(scored_arena: Arena) -> None:
    token = scored_arena.get_team_token("red")
    session = scored_arena.get_session(token)
    tags = [
        get_board(scored_arena, **credentials).headers["etag"]
        for credentials in (build_token_headers(token), build_session_headers(session))
    ]
    with TestClient(create_app(), base_url="http://localhost") as other_client:
        response = other_client.delete(f"{API}/tokens/current", headers=build_token_headers(token))
    assert response.status_code == 204
    assert get_board(scored_arena, etag=tags[0], **build_token_headers(token)).status_code == 401
    assert get_board(scored_arena, etag=tags[1], **build_session_headers(session)).status_code == 304
    with transaction() as writer:
        writer.execute(update(Token).values(revoked_at=func.clock_timestamp()))
    board_after = get_board(scored_arena, etag=tags[1], **build_session_headers(session))
    assert (board_after.status_code, list_own_flags(board_after)) == (200, [False])


def test_cached_token_is_valid_until_it_expires(scored_arena: Arena) -> None:
    credential = Credential(hash_token(scored_arena.get_team_token("red")), TokenKind.API)
    with transaction() as session:
        now = read_snapshot(session)
    owner, tick = load_principal(credential), timedelta(microseconds=1)
    assert owner.authenticated is not None
    end = owner.authenticated.expires_at
    assert [
        owner.is_current(Snapshot(now.version, instant)) for instant in (now.read_at, end - tick, end)
    ] == [
        True,
        True,
        False,
    ]


def test_changes_of_role_and_membership_apply_at_once(arena: Arena) -> None:
    """This holds even when token and board are cached."""
    token = arena.get_team_token("red")
    arena.submit("red")
    score_everything()
    assert list_own_flags(get_board(arena, **build_token_headers(token))) == [True]
    with transaction() as session:
        user_id = authenticate(session, token).user_id
        session.execute(delete(Member).where(Member.user_id == user_id))
    assert list_own_flags(get_board(arena, **build_token_headers(token))) == [False]
    with transaction() as session:
        session.execute(update(Competition).values(file=build_organizers_only_file(session)))
    assert get_board(arena, **build_token_headers(token)).status_code == 403
    for role, status in ((Role.ADMINISTRATOR, 200), (Role.PARTICIPANT, 403)):
        execute(update(User).where(User.id == user_id).values(role=role))
        assert get_board(arena, **build_token_headers(token)).status_code == status


def build_organizers_only_file(session: Session) -> str:
    file = session.scalars(select(Competition.file)).one()
    return replace_tables(file, "publication", '[publication]\nboard = "organizers"')


def test_commit_appears_at_once_on_a_cached_board(scored_arena: Arena) -> None:
    """This holds even for a change that was written but not committed when the board was rendered."""
    with engine.get_session_factory().begin() as writer:
        writer.execute(update(Team).where(Team.name == "red").values(name="crimson"))
        board_before = get_board(scored_arena)
        assert get_board(scored_arena, etag=board_before.headers["etag"]).status_code == 304
        assert "crimson" not in board_before.text
    board_after = get_board(scored_arena, etag=board_before.headers["etag"])
    assert (board_after.status_code, "crimson" in board_after.text) == (200, True)


def test_commit_during_rendering_invalidates_the_board(scored_arena: Arena) -> None:
    rendered = []

    def render(session: Session, _: BoardAccess) -> str:
        rendered.append(session.scalars(select(Team.name)).one())
        if len(rendered) == 1:
            with engine.get_session_factory().begin() as writer:
                writer.execute(update(Team).values(name="crimson"))
        return rendered[-1]

    async def request_boards() -> list[bytes]:
        cache = BoardCache()
        boards = [await cache.get_rendered_board(None, scored_arena.slug, render) for _ in range(3)]
        return [board.body for board in boards if board]

    assert asyncio.run(request_boards()) == [b"red", b"crimson", b"crimson"]
    assert rendered == ["red", "crimson"]


def test_cached_board_is_valid_until_time_changes_it(scored_arena: Arena) -> None:
    with transaction() as session:
        # Within an hour, ranks are compared with the same moment of the day before.
        now, row = floor_to_hour(read_clock(session)), session.scalars(select(Round)).one()
    freeze = now + timedelta(hours=1)
    later_moments = [now + timedelta(minutes=minutes) for minutes in (0, 59, 61, 60 * 24)]

    def compute_validity(publication: str, viewer: Viewer) -> list[bool]:
        row.competition.file = replace_tables(row.file, "publication", f"[publication]\n{publication}")
        contest = Contest(row)
        access = BoardAccess(contest, compute_scope(contest, viewer, now))
        return [access.is_same_at(moment) for moment in later_moments]

    frozen = f'feedback = "immediate"\nfrozen_from = {freeze.isoformat()}'
    assert compute_validity(frozen, Viewer()) == [True, True, False, False]
    assert compute_validity(frozen, Viewer(is_organizer=True)) == [True, True, False, False]
    assert compute_validity('feedback = "hidden"', Viewer()) == [True, True, False, False]
    daily = compute_validity('feedback = "daily"', Viewer())
    assert (daily[0], daily[-1]) == (True, False)


READERS: tuple[dict[str, Any], ...] = ({}, {"team": "red"}, {"organizer": True})


def build_reader_headers(arena: Arena, reader: dict[str, Any]) -> dict[str, str]:
    if "team" in reader:
        return build_token_headers(arena.get_team_token(reader["team"]))
    return build_token_headers(arena.organizer_token) if reader else {}


@pytest.fixture
def final_arena(client: TestClient) -> Arena:
    """The final of a competition with two rounds, in the first of which a team has a score."""
    rounds = create_two_rounds(client)
    rounds["preliminary"].submit("red")
    return rounds["final"].arena


@pytest.mark.parametrize("reader", READERS)
def test_unchanged_total_needs_no_query(final_arena: Arena, reader: dict[str, Any]) -> None:
    credentials = build_reader_headers(final_arena, reader)
    for name in TOTALS:
        etag = get_board(final_arena, name, **credentials).headers["etag"]
        assert count_statements(final_arena, name, etag, **credentials) == (304, 1)
        assert count_statements(final_arena, name, **credentials) == (200, 1)


@pytest.mark.parametrize("reader", READERS)
def test_change_of_another_round_appears_at_once_on_a_cached_total(
    final_arena: Arena, reader: dict[str, Any]
) -> None:
    credentials = build_reader_headers(final_arena, reader)
    etags = {name: get_board(final_arena, name, **credentials).headers["etag"] for name in TOTALS}
    preliminary = build_contest(final_arena, "preliminary")
    preliminary.submit("blue")
    for name in ("total", "total.csv"):
        board = get_board(final_arena, name, etags[name], **credentials)
        assert (board.status_code, "blue" in board.text) == (200, True)


def test_cached_total_is_valid_until_time_changes_a_round(client: TestClient) -> None:
    freeze = datetime.now(UTC) + timedelta(minutes=1)
    final = build_round("final", begins=7) + f"[rounds.publication]\nfrozen_from = {freeze.isoformat()}\n"
    create_two_rounds(client, final=final)
    cache = BoardCache()
    asyncio.run(cache.get_rendered_board(None, "small.preliminary", total.build_release_total))
    (view,) = cache.views.entries.values()
    with transaction() as session:
        version = read_snapshot(session).version
    assert view.is_current(Snapshot(version, freeze - timedelta(seconds=50)))
    assert not view.is_current(Snapshot(version, freeze))


def test_requests_during_a_running_call_share_the_next_one() -> None:
    """The running call may have missed changes that the new callers already know."""
    started, resume, calls = threading.Event(), threading.Event(), []

    def work() -> int:
        calls.append(1)
        number = len(calls)
        started.set()
        assert resume.wait(60)
        return number

    async def run_requests() -> list[int]:
        single_flight = SingleFlight()
        first = asyncio.create_task(single_flight.run("a", work))
        await asyncio.to_thread(started.wait, 60)
        later_tasks = [asyncio.create_task(single_flight.run("a", work)) for _ in range(5)]
        await asyncio.sleep(0)
        resume.set()
        return await asyncio.gather(first, *later_tasks)

    assert asyncio.run(run_requests()) == [1, 2, 2, 2, 2, 2]
