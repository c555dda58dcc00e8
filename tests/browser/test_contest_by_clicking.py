"""A whole contest played in browsers, large and small, against the real processes."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import write_csv
from app.config import Settings
from app.core.db.transaction import transaction
from app.core.identity import users
from tests.browser import organizer_steps, team_steps
from tests.browser.browser_user import ENGLISH_DESKTOP, JAPANESE_PHONE, BrowserUser, open_browser_user
from tests.browser.contest_data import make_excessive_release, make_swapped_release, make_table
from tests.browser.organizer_steps import open_competition
from tests.support.arena import PASSWORD
from tests.support.secret_search import build_needles, find_leaks
from tests.support.service_processes import (
    move_phases,
    run_web_server,
    run_worker,
)

pytestmark = pytest.mark.full

PUBLICATION = """
[publication]
feedback = "immediate"
reveal_notice_hours = 0
[ranking]
finals = 2
"""
SLUG, ORGANIZER, RED, BLUE = "clicked", "主催者 O'Neil", "赤い“組”, <b>one</b>", '=blue & "co"'
RED_FOUR_SWAPS = make_swapped_release(4, 1)
RED_SEVEN_SWAPS = make_swapped_release(7, 2)
BLUE_EIGHT_SWAPS = make_swapped_release(8, 3)
EXCESSIVE_RELEASE = make_excessive_release()
COMMENTS = {RED: ("four pairs", "seven pairs", "all of them"), BLUE: ("eight of ours",)}


@dataclass(frozen=True, slots=True)
class Participants:
    """The users of a contest, each with a separate browser; the visitor never signs in."""

    organizer: BrowserUser
    red: BrowserUser
    blue: BrowserUser
    visitor: BrowserUser

    @property
    def everyone(self) -> tuple[BrowserUser, ...]:
        return self.organizer, self.red, self.blue, self.visitor


@contextmanager
def open_browsers(browser: Browser, url: str) -> Iterator[Participants]:
    """Open a phone in Japanese for the organizer and blue, a desktop in English for red and the visitor."""
    with transaction() as session:
        users.create_user(session, name=ORGANIZER, password=PASSWORD, role=Role.ORGANIZER)
    with ExitStack() as stack:
        yield Participants(
            *(
                stack.enter_context(open_browser_user(browser, url, profile))
                for profile in (JAPANESE_PHONE, ENGLISH_DESKTOP) * 2
            )
        )


def set_up_competition(organizer: BrowserUser) -> str:
    """Set up the competition and return the link of its invite."""
    organizer_steps.sign_in(organizer, ORGANIZER)
    organizer_steps.create_competition(organizer, SLUG)
    organizer_steps.upload_data(organizer, write_csv(make_table()))
    organizer_steps.mark_sensitive(organizer, "debts")
    organizer_steps.set_rules(organizer, PUBLICATION, mean_mae=2.0)
    organizer_steps.use_recommended_threshold(organizer, "sex", bits=20)
    link = organizer_steps.create_invite(organizer, 2)
    organizer_steps.check_setup_is_complete(organizer)
    return link


def send_releases(participants: Participants) -> None:
    """Send all releases; red chooses its final, blue leaves the choice to the service."""
    red, blue = participants.red, participants.blue
    red.visit(f"/competitions/{SLUG}/submissions")
    four_swaps, seven_swaps, cheat = COMMENTS[RED]
    team_steps.check_rejection(red, EXCESSIVE_RELEASE, cheat)
    team_steps.send_and_wait(red, RED_FOUR_SWAPS, four_swaps, state="SCORED")
    team_steps.send_and_wait(red, RED_SEVEN_SWAPS, seven_swaps, state="SCORED")
    team_steps.choose_final(red, four_swaps)
    red.follow(team_steps.find_entry(red, four_swaps).get_by_role("link").first)
    red.open_tab("submissions")
    blue.visit(f"/competitions/{SLUG}/submissions")
    team_steps.send_and_wait(blue, BLUE_EIGHT_SWAPS, COMMENTS[BLUE][0], state="SCORED")
    organizer_steps.extend_phase(participants.organizer)


def attack_targets(participants: Participants, folder: Path) -> None:
    """Send guesses on both targets; red answers six rows, blue all rows."""
    team_steps.download_rival_target(participants.red, BLUE_EIGHT_SWAPS, folder)
    team_steps.download_rival_target(participants.blue, RED_FOUR_SWAPS, folder)
    team_steps.send_guess(participants.red, BLUE_EIGHT_SWAPS.make_guess(6), answered=6, right="6")
    team_steps.send_guess(participants.blue, RED_FOUR_SWAPS.make_guess(55, 5), answered=60, right="55")
    open_competition(participants.visitor)
    participants.visitor.open_tab("boards")
    open_board(participants.visitor, "reidentification")
    expect(participants.visitor.page.locator("table.ranks tbody tr")).to_have_count(2)


def check_results(participants: Participants) -> None:
    """Read the boards after the reveal; ``tests/core/test_numbers.py`` compares their numbers with the API."""
    visitor = participants.visitor
    open_competition(visitor)
    state = visitor.page.locator(".under_top").get_by_text(visitor.translate("phase_closed"), exact=True)
    visitor.wait_for(state)
    visitor.expect_text("Final result")
    visitor.press("link", "The whole board")
    points = visitor.page.locator("#scatter .mark-symbol.role-mark path[aria-label]")
    expect(points).to_have_count(2)
    for board, table in (("reidentification", "table.ranks"), ("matrix", "#matrix")):
        open_board(visitor, board)
        for team in (RED, BLUE):
            expect(visitor.page.locator(f"{table} tbody tr").filter(has_text=team)).to_have_count(1)
    participants.red.page.reload()
    participants.red.expect_text(
        "The competition is over. Each target’s page has its secret and the salt that proves its commitment."
    )


def open_board(visitor: BrowserUser, name: str) -> None:
    navigation = visitor.page.get_by_role("navigation", name=visitor.translate("Kinds of boards"))
    visitor.press("link", f"board_{name}", within=navigation)


def check_nothing_leaked(participants: Participants) -> None:
    """Check that no page contained a secret, a password or another team's comments."""
    canaries = {PASSWORD.encode()}.union(
        *(
            build_needles(release.secret_file)
            for release in (RED_FOUR_SWAPS, RED_SEVEN_SWAPS, BLUE_EIGHT_SWAPS, EXCESSIVE_RELEASE)
        )
    )
    for person in participants.everyone:
        assert not [leaks for page in person.visited_pages if (leaks := find_leaks(page.encode(), canaries))]
    for readers, team in (
        ((participants.blue, participants.visitor), RED),
        ((participants.red, participants.visitor), BLUE),
    ):
        text = "".join(page for reader in readers for page in reader.visited_pages)
        assert not [comment for comment in COMMENTS[team] if comment in text]


@pytest.mark.full
def test_contest_can_be_played_in_browsers(settings: Settings, browser: Browser, tmp_path: Path) -> None:
    worker_process = run_worker(tmp_path, "scores", "guesses", "reports")
    with (
        run_web_server(tmp_path) as url,
        worker_process,
        open_browsers(browser, url) as participants,
    ):
        link = set_up_competition(participants.organizer)
        team_steps.join(participants.red, link, RED)
        team_steps.join(participants.blue, link, BLUE)
        move_phases(anonymization=(-1, 24), reidentification=(48, 72))
        send_releases(participants)
        move_phases(anonymization=(-1, 0), reidentification=(0, 24))
        attack_targets(participants, tmp_path)
        move_phases(anonymization=(-1, -0.5), reidentification=(-0.5, 0))
        check_results(participants)
        check_nothing_leaked(participants)
