"""A whole contest played on its pages, by people at browsers, against the real processes."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from anoncup.competition.drafts import with_columns_of
from anoncup.rules.settings import Columns
from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import table_csv
from app.config import Settings
from app.db.transaction import transaction
from app.services.accounts import accounts
from tests.e2e.stack import invite_code, move, open_contest, web, worker
from tests.support.arena import PASSWORD, competition_file
from tests.support.contest import competition_row
from tests.support.secret_search import needles, seen
from tests.web.browser import organizing, reading_boards, taking_part
from tests.web.browser.clicked_data import SECRETS, excessive, exchanged, the_table
from tests.web.browser.person import ENGLISH_DESK, JAPANESE_PHONE, Look, Person, somebody
from tests.web.browser.reading_boards import Result

pytestmark = pytest.mark.full

LOOKS = {"a desk in English": ENGLISH_DESK, "a phone in Japanese": JAPANESE_PHONE}
SLUG, ORGANIZER, RED, BLUE = "clicked", "主催者 O'Neil", "赤い“組”, <b>one</b>", '=blue & "co"'
FEW, MANY, BLUES, CHEAT = exchanged(4, 1), exchanged(9, 2), exchanged(8, 3), excessive()
COMMENTS = {RED: ("four pairs", "nine pairs", "all of them"), BLUE: ("eight of ours",)}


@dataclass(frozen=True, slots=True)
class Cast:
    """Everybody has a browser of their own; the visitor never signs in."""

    organizer: Person
    red: Person
    blue: Person
    visitor: Person

    @property
    def all(self) -> tuple[Person, ...]:
        return self.organizer, self.red, self.blue, self.visitor


@contextmanager
def cast(browser: Browser, url: str, look: Look) -> Iterator[Cast]:
    with transaction() as session:
        accounts.create_user(session, name=ORGANIZER, password=PASSWORD, role=Role.ORGANIZER)
    with ExitStack() as stack:
        yield Cast(*(stack.enter_context(somebody(browser, url, look)) for _ in range(4)))


def it_is_set_up(organizer: Person, feedback: str) -> str:
    """The link of the invite."""
    organizing.signs_in(organizer, ORGANIZER)
    organizing.creates(organizer, SLUG)
    organizing.uploads_data(organizer, table_csv(the_table()))
    organizing.makes_sensitive(organizer, "debts")
    organizing.weighs(organizer, mean_mae="2")
    organizing.takes_advice(organizer, "sex", bits=20)
    organizing.publishes(organizer, feedback=feedback, finals=2)
    link = organizing.invites(organizer, 2)
    organizing.finds_nothing_left_to_do(organizer)
    return link


def releases_are_sent(cast: Cast, file: str) -> None:
    """Red may choose its final; blue leaves it to the service."""
    cast.red.opens(f"/competitions/{SLUG}/submissions")
    taking_part.is_refused_a_word_for_a_number(cast.red, FEW, SLUG)
    few, many, cheat = COMMENTS[RED]
    taking_part.is_rejected_for_excess(cast.red, CHEAT, cheat, file)
    taking_part.is_accepted(cast.red, FEW, few, file)
    taking_part.is_accepted(cast.red, MANY, many, file)
    taking_part.chooses_final(cast.red, few)
    taking_part.reads_how_it_was_scored(cast.red, few, FEW, file)
    cast.blue.opens(f"/competitions/{SLUG}/submissions")
    taking_part.is_accepted(cast.blue, BLUES, COMMENTS[BLUE][0], file)
    organizing.lets_the_phase_last_longer(cast.organizer)


def targets_are_attacked(cast: Cast, feedback: str, folder: Path) -> None:
    """Red answers for six rows, blue for all."""
    taking_part.downloads_the_rivals_target(cast.red, BLUES, folder)
    taking_part.downloads_the_rivals_target(cast.blue, FEW, folder)
    six, most = ("6", "55") if feedback == "immediate" else (cast.red.word("hidden"),) * 2
    taking_part.guesses(cast.red, BLUES.guess(6), answered=6, right=six)
    taking_part.guesses(cast.blue, FEW.guess(55, 5), answered=60, right=most)
    reading_boards.reads_attacks_while_they_go_on(cast.visitor, feedback)


def results_are_read(cast: Cast, file: str) -> None:
    results = {RED: Result(FEW, lost=55, found=6), BLUE: Result(BLUES, lost=6, found=55)}
    reading_boards.finds_it_closed(cast.visitor)
    reading_boards.reads_who_won(cast.visitor, SLUG, results, file)
    reading_boards.reads_who_attacked_best(cast.visitor, SLUG, results)
    reading_boards.reads_who_found_whom(cast.visitor, SLUG, results)
    cast.red.page.reload()
    cast.red.sees(
        "The competition is over. Each target’s page has its secret and the salt that proves its commitment."
    )


def nothing_was_told(cast: Cast) -> None:
    """No page gave away a secret or a password, nor a team's own words to others."""
    canaries = {PASSWORD.encode()}.union(*(needles(each.secret) for each in (FEW, MANY, BLUES, CHEAT)))
    for person in cast.all:
        assert not [found for page in person.read if (found := seen(page.encode(), canaries))]
    for readers, team in (((cast.blue, cast.visitor), RED), ((cast.red, cast.visitor), BLUE)):
        told = "".join(page for reader in readers for page in reader.read)
        assert not [comment for comment in COMMENTS[team] if comment in told]


@pytest.mark.full
@pytest.mark.parametrize(
    ("look", "feedback"), [(ENGLISH_DESK, "immediate"), (JAPANESE_PHONE, "hidden")], ids=LOOKS.keys()
)
def test_a_whole_contest_is_played_by_clicking(
    settings: Settings, browser: Browser, tmp_path: Path, look: Look, feedback: str
) -> None:
    working = worker(tmp_path, "scores", "guesses", "reports")
    with web(tmp_path) as url, working, cast(browser, url, look) as people:
        link = it_is_set_up(people.organizer, feedback)
        taking_part.joins(people.red, link, RED)
        taking_part.joins(people.blue, link, BLUE)
        move(anonymization=(-1, 24), reidentification=(48, 72))
        file = competition_row(SLUG).file
        releases_are_sent(people, file)
        move(anonymization=(-1, 0), reidentification=(0, 24))
        targets_are_attacked(people, feedback, tmp_path)
        move(anonymization=(-1, -0.5), reidentification=(-0.5, 0))
        results_are_read(people, file)
        nothing_was_told(people)


def test_a_team_joins_and_has_its_release_accepted_on_a_phone_in_japanese(
    settings: Settings, browser: Browser, tmp_path: Path
) -> None:
    columns = Columns(("sex", "age"), tuple(SECRETS))
    file, original = with_columns_of(competition_file(SLUG), columns), {"original": table_csv(the_table())}
    with web(tmp_path) as url, worker(tmp_path), somebody(browser, url, JAPANESE_PHONE) as member:
        open_contest(url, file=file, original=original, slug=SLUG)
        taking_part.joins(member, f"/sign-up?invite={invite_code(url, SLUG)}", BLUE)
        taking_part.is_refused_a_word_for_a_number(member, BLUES, SLUG)
        taking_part.is_accepted(member, BLUES, "eight pairs", file)
        assert not seen("".join(member.read).encode(), needles(BLUES.secret))
