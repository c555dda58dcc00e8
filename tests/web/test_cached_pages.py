"""Cached pages of boards equal pages that are built without a cache, for each reader."""

import html
import re
from itertools import product

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from app.db.models import Round, Team
from app.db.transaction import transaction
from app.http.board_cache import BoardCache, Cache, SingleFlight
from app.http.session_cookie import COOKIE
from tests.support.query_counter import log_queries
from tests.support.random_contests import RandomContest, unrecorded_versions

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("without_autovacuum")]

__all__ = ["unrecorded_versions"]  # an autouse fixture
BOARDS = ("anonymization", "reidentification", "history", "matrix")
PAGES = ("", *(f"/boards/{board}" for board in BOARDS))
READERS = ("visitor", "red", "organizer")


class ContestReaders:
    """Readers of a random contest.

    Their sessions are opened once, because opening a session invalidates the cache.
    """

    def __init__(self, random_contest: RandomContest) -> None:
        arena = random_contest.contest.arena
        self.random_contest, self.client, self.boards = random_contest, arena.client, BoardCache()
        tokens = {"red": arena.get_team_token("red"), "organizer": arena.organizer_token}
        self.sessions = {name: arena.get_session(token) for name, token in tokens.items()}
        with transaction() as session:
            self.team_id = session.scalars(select(Team.id).where(Team.name == "red")).one()

    @property
    def paths(self) -> list[str]:
        return [f"/competitions/small{suffix}" for suffix in (*PAGES, f"/teams/{self.team_id}")]

    def get(self, path: str, reader: str) -> tuple[int, str]:
        """Return the status and the page without the time at which it was built and the countdown."""
        session = self.sessions.get(reader)
        self.client.cookies.clear()
        response = self.client.get(path, headers={"Cookie": f"{COOKIE}={session}"} if session else {})
        content = response.text.partition("<h1")[2]
        return response.status_code, re.sub(r'(?s)<p[^>]*(as_of|class="clock").*?</p>', "", content)

    def get_with_cache(self, boards: BoardCache, path: str, reader: str) -> tuple[int, str]:
        """Return the status and the page with the given cache."""
        self.client.app.state.board_cache = boards  # type: ignore[attr-defined]
        return self.get(path, reader)

    def check(self) -> None:
        requests = list(product(self.paths, READERS))
        expected = {request: self.get_with_cache(BoardCache(), *request) for request in requests}
        self.random_contest.rng.shuffle(requests)
        for path, reader in requests * 2:
            assert self.get_with_cache(self.boards, path, reader) == expected[path, reader], (path, reader)


@pytest.mark.parametrize(
    ("seed", "rule", "feedback"),
    [(6, "score", "daily"), (1, "rank_sum", "immediate"), (2, "score", "hidden")],
)
def test_cached_pages_equal_fresh_pages(client: TestClient, seed: int, rule: str, feedback: str) -> None:
    random_contest = RandomContest(client, seed, rule=rule, feedback=feedback)
    readers = ContestReaders(random_contest)
    for _ in range(6):
        random_contest.submit()
    random_contest.publish()
    random_contest.open_attacks()
    for _ in range(4):
        random_contest.submit_guess()
    readers.check()
    random_contest.set_disqualified(team="red")
    readers.check()
    random_contest.set_disqualified(team="red", is_disqualified=False)
    random_contest.close()
    with transaction() as session:
        session.execute(update(Round).values(revealed_at=func.clock_timestamp()))
    readers.check()


def test_cached_page_reads_no_evaluations(client: TestClient) -> None:
    random_contest = RandomContest(client, 0, rule="score", feedback="immediate")
    for _ in range(4):
        random_contest.submit()
    readers = ContestReaders(random_contest)
    path = "/competitions/small/boards/history"
    board = random_contest.contest.get_board()
    random_contest.contest.get_board("history")
    with log_queries() as counter:  # the board that the API has computed
        status, page = readers.get("/competitions/small/boards/anonymization", "visitor")
    assert (status, board["rows"][0]["team"] in html.unescape(page)) == (200, True)
    assert not any("evaluations" in statement for statement in counter.statements)
    for reader in ("visitor", "red"):
        for _ in range(2):
            with log_queries() as counter:
                assert readers.get(path, reader)[0] == 200
        assert not any("evaluations" in statement for statement in counter.statements)
    with log_queries() as counter:
        readers.get(path, "visitor")
    assert len(counter.statements) <= 4


class SizedView:
    def __init__(self, size: int) -> None:
        self.size = size

    def is_current(self, _: object) -> bool:
        return True


def test_least_recently_used_views_are_evicted_first() -> None:
    cache: Cache[SizedView] = Cache(10, SingleFlight())
    for name, size in (("a", 4), ("b", 4), ("a", 5), ("c", 3)):
        cache.insert(name, SizedView(size))
    assert (list(cache.entries), cache.size) == (["a", "c"], 8)
    cache.insert("d", SizedView(11))
    assert (list(cache.entries), cache.size) == ([], 0)
