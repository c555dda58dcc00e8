"""A rehearsal to test with: its clock is moved through its own file, a worker's task makes its moves."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.rounds import with_phases
from anoncup.rules.settings import Phase
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.microdata.example import household_table
from anoncup.tracks.transactions.example import tc400
from anoncup.tracks.transactions.tables import TransactionTables
from app.db.models import Competition, RehearsalMove, State
from app.db.transaction import transaction
from app.services.accounts import accounts
from app.services.contests import guess_terms, phases, rehearsal_schedule
from app.services.organizing import rehearsals
from tests.support.arena import Arena
from tests.support.contest import judge_everything, turn
from tests.support.uploads import score_everything
from workers import advise, clock

INDIVIDUALS = 60


@dataclass
class Rehearsed:
    """The rehearsal of an arena's competition."""

    arena: Arena
    slug: str

    @classmethod
    def begun(cls, arena: Arena) -> "Rehearsed":
        with transaction() as session:
            principal = accounts.authenticate(session, arena.organizer)
            return cls(arena, rehearsals.begin(session, principal, arena.slug).slug)

    @classmethod
    def of_year(cls, client: TestClient, year: int) -> "Rehearsed":
        """Of that year's cup, on made-up data."""
        text = template(year)
        arena = Arena.opened(client)
        arena.post("/competitions", content=text)
        slug = f"cup-{year}"
        for name, content in (household() if year == 2015 else shop()).items():
            answer = arena.put(f"/competitions/{slug}/original/{name}.csv", content=content)
            assert answer.status_code == 200, answer.text
        return cls.begun(Arena(client, arena.organizer, slug, arena.table))

    def row(self) -> Competition:
        with transaction() as session:
            return session.scalars(select(Competition).where(Competition.slug == self.slug)).one()

    def shift(self, minutes: float) -> None:
        """Let so many minutes have passed."""
        with transaction() as session:
            row = session.scalars(select(Competition).where(Competition.slug == self.slug)).one()
            moved = [earlier(phase, minutes) for phase in phases.timetable_of(row).phases]
            row.file = with_phases(row.file, moved)
            rehearsal_schedule.follow(session, row)
        clock.step(guess_terms.note, row.id)

    def play(self) -> None:
        """All moves that are due, as a worker of reports makes them."""
        for _ in range(200):
            before = self.moves()
            advise.advise()
            if self.moves() == before:
                return

    def moves(self) -> list[tuple[Any, ...]]:
        """Phase, number, state and attempt of each move, in the order in which they are due."""
        with transaction() as session:
            mine = select(
                RehearsalMove.phase, RehearsalMove.number, RehearsalMove.state, RehearsalMove.attempt
            ).join(Competition, Competition.id == RehearsalMove.competition_id)
            ordered = mine.where(Competition.slug == self.slug).order_by(
                RehearsalMove.phase, RehearsalMove.share, RehearsalMove.id
            )
            return [tuple(one) for one in session.execute(ordered)]

    def states(self, phase: str) -> dict[State, int]:
        found: dict[State, int] = {}
        for one in self.moves():
            if one[0] == phase:
                found[one[2]] = found.get(one[2], 0) + 1
        return found

    def course(self) -> dict[str, Any]:
        answer = self.arena.get(f"/competitions/{self.arena.slug}/rehearsal")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def release(self) -> None:
        """The first phase to its end: every release is sent and scored."""
        self.shift(16)
        self.play()
        score_everything()

    def attack(self) -> None:
        """Through the first deadline, and every guess is sent and judged."""
        self.shift(10)
        turn()
        self.shift(4 + 16)
        self.play()
        judge_everything()

    def reveal(self) -> None:
        self.shift(11)
        turn()


def household() -> dict[str, bytes]:
    return {"original": table_csv(household_table(INDIVIDUALS))}


def shop() -> dict[str, bytes]:
    """The first of the customers that the project ships."""
    tables = tc400()
    customers = tables.customers.head(INDIVIDUALS)
    bought = tables.transactions[tables.transactions.iloc[:, 0].isin(customers.iloc[:, 0])]
    return TRACKS["transactions"].files_of(TransactionTables(customers, bought.reset_index(drop=True)))


def earlier(phase: Phase, minutes: float) -> Phase:
    by = timedelta(minutes=minutes)
    return replace(phase, start=phase.start - by, end=phase.end - by)
