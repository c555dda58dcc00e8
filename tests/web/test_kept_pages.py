"""Pages of what is kept say what they would say if nothing were, to everybody what is theirs."""

import re
from itertools import product

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from app.db.models import Competition, Team
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from app.http.board_cache import Boards, Kept, Shared
from tests.support.query_counter import asked
from tests.support.random_contests import Drawn, nothing_written_down

pytestmark = pytest.mark.full

__all__ = ["nothing_written_down"]  # a fixture of every test here
BOARDS = ("boards/replay", "boards/matrix")
READERS = ("visitor", "red", "organizer")


class Reading:
    """Everybody who reads a drawn contest; their sessions are opened once: each ends what is kept."""

    def __init__(self, drawn: Drawn) -> None:
        arena = drawn.contest.arena
        self.drawn, self.client, self.boards = drawn, arena.client, Boards()
        tokens = {"red": arena.team("red"), "organizer": arena.organizer}
        self.sessions = {name: arena.session(token) for name, token in tokens.items()}
        with transaction() as session:
            self.team = session.scalars(select(Team.id).where(Team.name == "red")).one()

    @property
    def paths(self) -> list[str]:
        return [f"/competitions/small/{one}" for one in (*BOARDS, f"teams/{self.team}")]

    def get(self, path: str, reader: str) -> tuple[int, str]:
        """The status and what the page says, but for the moment at which it was made."""
        known = self.sessions.get(reader)
        self.client.cookies.clear()
        answer = self.client.get(path, headers={"Cookie": f"{COOKIE}={known}"} if known else {})
        return answer.status_code, re.sub(r"(?s)<p[^>]*as_of.*?</p>", "", answer.text.partition("<h1")[2])

    def by(self, boards: Boards, path: str, reader: str) -> tuple[int, str]:
        """What it is where these are kept."""
        self.client.app.state.boards = boards  # type: ignore[attr-defined]
        return self.get(path, reader)

    def check(self) -> None:
        every = list(product(self.paths, READERS))
        expected = {each: self.by(Boards(), *each) for each in every}
        self.drawn.rng.shuffle(every)
        for path, reader in every * 2:
            assert self.by(self.boards, path, reader) == expected[path, reader], (path, reader)


@pytest.mark.parametrize(
    ("seed", "rule", "feedback"),
    [
        (6, "score", "daily"),
        pytest.param(1, "rank_sum", "immediate", marks=pytest.mark.full),
        pytest.param(2, "score", "hidden", marks=pytest.mark.full),
    ],
)
def test_pages_of_what_is_kept_are_those_that_would_be_made_now(
    client: TestClient, seed: int, rule: str, feedback: str
) -> None:
    drawn = Drawn(client, seed, rule=rule, feedback=feedback)
    reading = Reading(drawn)
    for _ in range(6):
        drawn.submit()
    drawn.publish()
    drawn.open_attacks()
    for _ in range(4):
        drawn.guess()
    reading.check()
    drawn.bar(team="red")
    reading.check()
    drawn.bar(team="red", out=False)
    drawn.close()
    with transaction() as session:
        session.execute(update(Competition).values(revealed_at=func.clock_timestamp()))
    reading.check()


def test_a_page_that_is_kept_reads_no_submissions_and_shares_the_history_with_programs(
    client: TestClient,
) -> None:
    drawn = Drawn(client, 0, rule="score", feedback="immediate")
    for _ in range(4):
        drawn.submit()
    reading = Reading(drawn)
    path = "/competitions/small/boards/replay"
    assert drawn.contest.arena.client.get("/api/v1/competitions/small/boards/history").status_code == 200
    for reader in ("visitor", "red"):
        for _ in range(2):
            with asked() as noted:
                assert reading.get(path, reader)[0] == 200
        assert not any("evaluations" in one for one in noted.statements)
    with asked() as noted:
        reading.get(path, "visitor")
    assert len(noted.statements) <= 4


class Sized:
    def __init__(self, size: int) -> None:
        self.size = size

    def stands(self, _: object) -> bool:
        return True


def test_of_too_many_bytes_what_nobody_wanted_for_longest_goes() -> None:
    kept: Kept[Sized] = Kept(10, Shared())
    for name, size in (("a", 4), ("b", 4), ("a", 5), ("c", 3)):
        kept.put(name, Sized(size))
    assert (list(kept.found), kept.size) == (["a", "c"], 8)
    kept.put("d", Sized(11))
    assert (list(kept.found), kept.size) == ([], 0)
