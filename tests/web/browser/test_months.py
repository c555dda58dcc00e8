"""A contest by month in a real browser: files are checked before they are sent, and every page holds."""

import pytest
from playwright.sync_api import Browser, expect

from app.scoring.tracks.monthly.files import QUESTIONS
from tests.api.test_monthly_contest import (
    METHODS,
    contest,
    guess_with,
    guessed,
    released,
    scored,
)
from tests.contest import Contest, judge_everything
from tests.trying import left_out
from tests.web.browser.looking import DESK, PHONE, Looker, looking
from tests.web.browser.test_upload import csv

__all__ = ["contest"]

RELEASE, SECRET = released("red")
HEAD, *LINES = RELEASE.decode().splitlines()
NAMED, *NAMES = SECRET.decode().splitlines()


def written(head: str, lines: list[str]) -> bytes:
    return "\n".join([head, *lines, ""]).encode()


def renamed(line: str, name: str) -> str:
    return ",".join([name, *line.split(",")[1:]])


FIRST = LINES[0].split(",")[0]
OTHER = next(
    place for place, line in enumerate(LINES) if line.split(",")[2][:7] != LINES[0].split(",")[2][:7]
)
GONE = "DEL,,,,,,"
RELEASES = {
    "customer, row 1: not a pseudonym of A-Z, a-z, 0-9, _ and -. (line 2": [
        renamed(LINES[0], "p 1"),
        *LINES[1:],
    ],
    "Row 2 is deleted; all cells after DEL must be empty": [LINES[0], renamed(LINES[1], "DEL"), *LINES[2:]],
    f"Row {OTHER + 1}: the pseudonym stands above in another month": [
        renamed(line, FIRST) if place == OTHER else line for place, line in enumerate(LINES)
    ],
    f"{len(LINES) // 2 + 1} rows are deleted; at most {len(LINES) // 2} may be": [
        GONE if 2 * place <= len(LINES) + 1 else line for place, line in enumerate(LINES)
    ],
}
SECRETS = {
    "The first line must be customer and the months": (NAMED.replace("customer", "client"), NAMES),
    "5 lines below the header line; 6 are needed": (NAMED, NAMES[1:]),
    "Row 2 names a customer of a row above": (NAMED, [NAMES[0], NAMES[0], *NAMES[2:]]),
    "row 3: not a pseudonym of A-Z, a-z, 0-9, _ and -. (line 4": (
        NAMED,
        [*NAMES[:2], NAMES[2] + "é", *NAMES[3:]],
    ),
    "Row 1 has 2 cells": (NAMED, [",".join(NAMES[0].split(",")[:2]), *NAMES[1:]]),
}


def test_a_release_and_its_secret_are_checked_and_sent(contest: Contest, browser: Browser, site: str) -> None:
    session = contest.arena.session(contest.arena.team("red"))
    with looking(browser, site, session=session) as looker:
        looker.go(f"{contest.path}/submissions")
        page = looker.page
        for said, lines in RELEASES.items():
            page.set_input_files("#transactions", csv(written(HEAD, lines)))
            expect(page.locator("#transactions-problems")).to_contain_text(said)
        for said, (head, names) in SECRETS.items():
            page.set_input_files("#secret", csv(written(head, names)))
            expect(page.locator("#secret-problems")).to_contain_text(said)
        several = [renamed(LINES[0], "p 1"), renamed(LINES[1], "DEL"), renamed(LINES[2], "DEL"), *LINES[3:]]
        page.set_input_files("#transactions", csv(written(HEAD, several)))
        expect(page.locator("#transactions-problems li")).to_have_count(3)
        names = [NAMES[0], NAMES[0], NAMES[2] + "é", NAMES[3] + "é", *NAMES[4:], NAMES[4]]
        page.set_input_files("#secret", csv(written(NAMED, names)))
        expect(page.locator("#secret-problems li")).to_have_count(5)
        page.set_input_files("#transactions", csv(RELEASE))
        expect(page.locator("#transactions-checked")).to_contain_text(f"{len(LINES):,} rows, 7 columns")
        page.set_input_files("#secret", csv(SECRET))
        expect(page.locator("#secret-checked")).to_contain_text("6 rows, 6 of them answered")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#taken-receipt")).to_be_visible()


@left_out
@pytest.mark.parametrize(("language", "size"), [("en", DESK), ("ja", PHONE)])
def test_every_page_holds(
    contest: Contest, browser: Browser, site: str, language: str, size: dict[str, int]
) -> None:
    arena, path = contest.arena, contest.path
    sent = {team: scored(contest, team) for team in METHODS}

    def faults(who: str, *pages: str) -> dict[str, list[str]]:
        session = arena.session(arena.organizer if who == "organizer" else arena.team(who))
        with looking(browser, site, session=session, language=language, size=size) as looker:
            found = {page: seen(looker, page) for page in pages}
        return {page: wrong for page, wrong in found.items() if wrong}

    own = [path, f"{path}/rules", f"{path}/submissions", f"/submissions/{sent['red']}"]
    assert faults("red", *own, f"{path}/boards/anonymization") == {}
    desk = [f"{path}/organize{page}" for page in ("", "/measures", "/data", "/baselines", "/publication")]
    assert faults("organizer", *desk) == {}
    contest.attack()
    target = contest.target_of(sent["red"])["id"]
    for count, question in enumerate(QUESTIONS):
        guessed(contest, "blue", target, question, guess_with(SECRET, count))
    judge_everything()
    boards = [f"{path}/boards/{name}" for name in ("anonymization", "reidentification", "matrix")]
    assert faults("blue", f"{path}/targets", f"/targets/{target}", *boards) == {}


def seen(looker: Looker, page: str) -> list[str]:
    status = looker.go(page)
    return ([f"status {status}"] if status != 200 else []) + looker.faults()
