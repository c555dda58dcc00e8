"""A board is made again when it would be another one, and only then."""

import asyncio
import threading
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from anoncup.rules.toml_text import with_tables
from anoncup.schemas.roles import Role
from app.db import engine
from app.db.models import Competition, Member, Team, Token, TokenKind, User
from app.db.now import clock
from app.db.snapshot import Seen, seen
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from app.http.board_cache import Boards, Shared, owned
from app.main import create_app
from app.services.accounts.accounts import Shown, authenticate, digest
from app.services.contests.contest import Contest
from app.services.contests.visibility import Audience, Sight, hour_of, view_at
from tests.support.arena import API, Arena
from tests.support.query_counter import asked
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

BOARDS = ("anonymization", "anonymization.csv", "reidentification", "matrix")


@pytest.fixture
def played(arena: Arena) -> Arena:
    arena.submit("red")
    score_everything()
    return arena


def board(arena: Arena, name: str = "anonymization", tag: str = "", **shown: str) -> Response:
    """``shown``: by headers, who asks."""
    path = f"{API}/competitions/{arena.slug}/boards/{name}"
    answer: Response = arena.client.get(path, headers={"If-None-Match": tag, **shown})
    return answer


def by_token(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def by_session(session: str) -> dict[str, str]:
    return {"Cookie": f"{COOKIE}={session}"}


def statements(arena: Arena, name: str, tag: str = "", **shown: str) -> tuple[int, int]:
    """The status of the answer, and how much it asked of the database."""
    with asked() as noted:
        status = board(arena, name, tag, **shown).status_code
    return status, len(noted.statements)


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_that_stands_as_it_stood_reads_no_table(played: Arena, name: str) -> None:
    tag = board(played, name).headers["etag"]
    assert statements(played, name, tag) == (304, 1)
    assert statements(played, name) == (200, 1)


@pytest.mark.parametrize("name", BOARDS)
def test_nor_does_one_for_a_team_by_token_or_by_session(played: Arena, name: str) -> None:
    token = played.team("red")
    for shown in (by_token(token), by_session(played.session(token))):
        tag = board(played, name, **shown).headers["etag"]
        assert statements(played, name, tag, **shown) == (304, 1)


def own_rows(answer: Response) -> list[bool]:
    return [row["own"] for row in answer.json()["rows"]]


def test_a_token_that_another_process_ends_opens_no_board_that_is_kept(played: Arena) -> None:
    token = played.team("red")
    session = played.session(token)
    tags = [board(played, **shown).headers["etag"] for shown in (by_token(token), by_session(session))]
    with TestClient(create_app(), base_url="http://localhost") as elsewhere:
        ended = elsewhere.delete(f"{API}/tokens/current", headers=by_token(token))
    assert ended.status_code == 204
    assert board(played, tag=tags[0], **by_token(token)).status_code == 401
    assert board(played, tag=tags[1], **by_session(session)).status_code == 304
    with transaction() as writing:
        writing.execute(update(Token).values(revoked_at=func.clock_timestamp()))
    after = board(played, tag=tags[1], **by_session(session))
    assert (after.status_code, own_rows(after)) == (200, [False])


def test_a_token_that_runs_out_opens_no_board_that_is_kept(played: Arena) -> None:
    shown = by_token(played.team("red"))
    tag = board(played, **shown).headers["etag"]
    with transaction() as session:
        session.execute(update(Token).values(expires_at=func.clock_timestamp()))
    assert board(played, tag=tag, **shown).status_code == 401


def test_a_token_is_known_until_the_clock_alone_ends_it(played: Arena) -> None:
    shown = Shown(digest(played.team("red")), TokenKind.API)
    with transaction() as session:
        now = seen(session)
    owner, moment = owned(shown), timedelta(microseconds=1)
    assert owner.opened is not None
    end = owner.opened.expires_at
    assert [owner.stands(Seen(now.rows, at)) for at in (now.at, end - moment, end)] == [True, True, False]


def test_a_role_and_a_membership_count_at_once(arena: Arena) -> None:
    """For those whose token is known and whose board is kept."""
    token = arena.team("red")
    arena.submit("red")
    score_everything()
    assert own_rows(board(arena, **by_token(token))) == [True]
    with transaction() as session:
        person = authenticate(session, token).user_id
        session.execute(delete(Member).where(Member.user_id == person))
    assert own_rows(board(arena, **by_token(token))) == [False]
    with transaction() as session:
        session.execute(update(Competition).values(file=for_organizers(session)))
    assert board(arena, **by_token(token)).status_code == 403
    for role, status in ((Role.ADMINISTRATOR, 200), (Role.PARTICIPANT, 403)):
        with transaction() as session:
            session.execute(update(User).where(User.id == person).values(role=role))
        assert board(arena, **by_token(token)).status_code == status


def for_organizers(session: Session) -> str:
    file = session.scalars(select(Competition.file)).one()
    return with_tables(file, "publication", '[publication]\nboard = "organizers"')


def test_what_is_committed_while_a_board_is_kept_shows_at_once(played: Arena) -> None:
    """Also what had been written, but not committed, when the board was made."""
    with engine.session_factory().begin() as writing:
        writing.execute(update(Team).where(Team.name == "red").values(name="crimson"))
        before = board(played)
        assert board(played, tag=before.headers["etag"]).status_code == 304
        assert "crimson" not in before.text
    after = board(played, tag=before.headers["etag"])
    assert (after.status_code, "crimson" in after.text) == (200, True)


def test_a_board_during_whose_making_something_is_committed_is_made_again(played: Arena) -> None:
    made = []

    def write(session: Session, _: Sight) -> str:
        made.append(session.scalars(select(Team.name)).one())
        if len(made) == 1:
            with engine.session_factory().begin() as writing:
                writing.execute(update(Team).values(name="crimson"))
        return made[-1]

    async def play() -> list[bytes]:
        boards = Boards()
        return [(await boards.text(None, played.slug, write)).body for _ in range(3)]

    assert asyncio.run(play()) == [b"red", b"crimson", b"crimson"]
    assert made == ["red", "crimson"]


def test_what_is_taken_back_leaves_the_board_as_it_was(played: Arena) -> None:
    tag = board(played).headers["etag"]
    with engine.session_factory()() as writing:
        writing.execute(update(Team).values(name="crimson"))
        writing.rollback()
    assert board(played, tag=tag).status_code == 304


def test_a_board_lasts_until_the_clock_alone_would_change_it(played: Arena) -> None:
    with transaction() as session:
        # Within an hour ranks are compared with those of one moment of the day before.
        now, row = hour_of(clock(session)), session.scalars(select(Competition)).one()
    freeze = now + timedelta(hours=1)
    later = [now + timedelta(minutes=one) for one in (0, 59, 61, 60 * 24)]

    def lasting(publication: str, viewer: Audience) -> list[bool]:
        row.file = with_tables(row.file, "publication", f"[publication]\n{publication}")
        contest = Contest(row)
        sight = Sight(contest, view_at(contest, viewer, now))
        return [sight.lasts_until(moment) for moment in later]

    frozen = f'feedback = "immediate"\nfrozen_from = {freeze.isoformat()}'
    assert lasting(frozen, Audience()) == [True, True, False, False]
    assert lasting(frozen, Audience(organizer=True)) == [True, True, False, False]
    assert lasting('feedback = "hidden"', Audience()) == [True, True, False, False]
    daily = lasting('feedback = "daily"', Audience())
    assert (daily[0], daily[-1]) == (True, False)


def test_whoever_comes_while_work_is_under_way_shares_the_next() -> None:
    """What has begun may have missed what they know of."""
    begun, go_on, times = threading.Event(), threading.Event(), []

    def work() -> int:
        times.append(1)
        number = len(times)
        begun.set()
        assert go_on.wait(60)
        return number

    async def play() -> list[int]:
        shared = Shared()
        first = asyncio.create_task(shared.done("a", work))
        await asyncio.to_thread(begun.wait, 60)
        later = [asyncio.create_task(shared.done("a", work)) for _ in range(5)]
        await asyncio.sleep(0)
        go_on.set()
        return await asyncio.gather(first, *later)

    assert asyncio.run(play()) == [1, 2, 2, 2, 2, 2]
