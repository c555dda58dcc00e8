"""A rehearsal. Tests move its phases by rewriting its file and run the worker's task that makes its moves.

Its teams send to a web server of its own process (the fixture ``rehearsal_service``).
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Phase
from anoncup.rules.timetable import replace_phases
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.microdata.example import generate_households
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.tables import TransactionTables
from app.db.models import Clarification, Competition, Round
from app.db.transaction import transaction
from app.services.accounts import tokens
from app.services.contests.contest import Contest as StoredContest
from app.services.contests.contest import get_timetable
from app.services.organizing import rehearsal_moves, rehearsals
from app.services.organizing.rehearsal_moves import Move
from tests.support.arena import Arena
from tests.support.contest import judge_everything, run_clock
from tests.support.database_rows import load_all, load_one
from tests.support.uploads import score_everything
from workers import advise

INDIVIDUALS = 60


@dataclass
class RehearsedContest:
    """The rehearsal of an arena's competition."""

    arena: Arena
    slug: str

    @classmethod
    def begin(cls, arena: Arena) -> "RehearsedContest":
        with transaction() as session:
            principal = tokens.authenticate(session, arena.organizer_token)
            return cls(arena, rehearsals.begin(session, principal, arena.slug).address)

    @classmethod
    def create_for_year(cls, client: TestClient, year: int) -> "RehearsedContest":
        """Begin a rehearsal of that year's cup on generated data."""
        text = template(year)
        arena = Arena.create(client)
        arena.post("/competitions", content=text)
        slug = f"cup-{year}"
        for name, content in (build_household_files() if year == 2015 else build_shop_files()).items():
            response = arena.put(f"/competitions/{slug}/original/{name}.csv", content=content)
            assert response.status_code == 200, response.text
        return cls.begin(Arena(client, arena.organizer_token, slug, arena.table))

    def load_competition(self) -> Competition:
        return self.load_round().competition

    def load_round(self) -> Round:
        return load_one(select(Round).join(Competition).where(Competition.slug == self.slug))

    def advance_time(self, minutes: float) -> None:
        """Move the phases into the past by this many minutes."""
        with transaction() as session:
            row = session.scalars(select(Round).join(Competition).where(Competition.slug == self.slug)).one()
            moved_phases = [move_earlier(phase, minutes) for phase in get_timetable(row).phases]
            row.competition.file = replace_phases(row.file, moved_phases)

    def play_moves(self) -> None:
        """Make all moves that are due, as a worker of reports does."""
        made_before = -1
        while (made := self.count_made()) > made_before:
            advise.advise()
            made_before = made

    def count_made(self) -> int:
        """Return the number of moves that have been made or given up."""
        moves = [move for phase in ("anonymization", "reidentification") for move in self.list_moves(phase)]
        return sum(move.sent_at is not None for move in moves) + len(self.list_questions())

    def list_moves(self, phase: str) -> list[Move]:
        """Return the moves of a phase in the order in which they are due."""
        stored_contest = StoredContest(self.load_round())
        with transaction() as session:
            return rehearsal_moves.load_moves(session, stored_contest, phase)

    def count_sent(self, phase: str = "anonymization") -> int:
        return sum(move.sent_at is not None for move in self.list_moves(phase))

    def list_questions(self) -> list[str]:
        """Return what the sample teams have asked the organizers."""
        query = select(Clarification.question).join(
            Competition, Competition.id == Clarification.competition_id
        )
        return load_all(query.where(Competition.slug == self.slug))

    def get_progress(self) -> dict[str, Any]:
        response = self.arena.get(f"/competitions/{self.arena.slug}/rehearsal")
        assert response.status_code == 200, response.text
        progress: dict[str, Any] = response.json()
        return progress

    def run_first_phase(self) -> None:
        """Play the first phase: every release is submitted and scored."""
        self.advance_time(16)
        self.play_moves()
        score_everything()

    def run_second_phase(self) -> None:
        """Play the second phase: every guess is submitted and judged."""
        self.advance_time(10)
        run_clock()
        self.advance_time(4 + 16)
        self.play_moves()
        judge_everything()

    def reveal(self) -> None:
        self.advance_time(11)
        run_clock()


def build_household_files() -> dict[str, bytes]:
    return {"original": write_csv(generate_households(INDIVIDUALS))}


def build_shop_files() -> dict[str, bytes]:
    """Return the files of the first ``INDIVIDUALS`` customers of TC400."""
    tables = load_tc400()
    customers = tables.customers.head(INDIVIDUALS)
    purchases = tables.transactions[tables.transactions.iloc[:, 0].isin(customers.iloc[:, 0])]
    return TRACKS["transactions"].files_of(TransactionTables(customers, purchases.reset_index(drop=True)))


def move_earlier(phase: Phase, minutes: float) -> Phase:
    shift = timedelta(minutes=minutes)
    return replace(phase, start=phase.start - shift, end=phase.end - shift)
