"""The upload form in a real browser: checked before it is sent, answered on the page, followed live."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Page, Route, expect

from app.http.authentication import COOKIE
from tests.support.arena import ROWS, Arena, competition_file
from tests.support.browser_files import csv
from tests.support.contest import Contest, judge_everything
from tests.support.uploads import GOOD_SECRET, GOOD_TABLE, score_everything
from tests.web.browser.looking import WITHIN_MS
from tests.web.spoken import said, sentence

pytestmark = pytest.mark.full


def opened(browser: Browser, site: str, arena: Arena) -> Page:
    context = browser.new_context(locale="en")
    context.add_cookies([{"name": COOKIE, "value": arena.session(arena.team("red")), "url": site}])
    page = context.new_page()
    page.set_default_timeout(WITHIN_MS)
    page.goto(f"{site}/competitions/{arena.slug}/submissions?lang=en")
    return page


def sent_by(arena: Arena, team: str = "red") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = arena.get(
        f"/competitions/{arena.slug}/submissions", token=arena.team(team)
    ).json()
    return found


def attempts_of(arena: Arena) -> int:
    quota = arena.get(f"/competitions/{arena.slug}/quota", token=arena.team("red")).json()
    return next(int(cap["used"]) for cap in quota["caps"] if cap["name"] == "attempts_total")


def test_a_release_is_checked_sent_and_followed_on_one_page(
    browser: Browser, site: str, arena: Arena
) -> None:
    page = opened(browser, site, arena)
    send = page.get_by_role("button", name="Send", exact=True)
    page.set_input_files("#anonymized", csv(b'sex,age,income,rent\nf,"20",much,1\nm,30,1,\n'))
    expect(page.locator("#anonymized-problems li")).to_have_text(
        [
            "Income, row 1: not a decimal number. (much, line 2 of the file, counting the header line)",
            "Rent, row 2: a number is missing. (line 3 of the file, counting the header line)",
        ],
        ignore_case=True,
    )
    page.set_input_files("#secret", csv(GOOD_SECRET))
    send.click()
    expect(page.locator("#refused")).to_contain_text("2 faults were found. Nothing was sent.")
    expect(page.locator("#refused")).to_be_focused()
    expect(page.locator("#refused")).to_be_in_viewport()
    expect(page.locator("#upload .said")).to_have_text(said("Correct the marked files first."))
    page.set_input_files("#anonymized", csv(GOOD_TABLE))
    expect(page.locator("#anonymized-problems")).to_be_empty()
    expect(page.locator("#refused")).to_be_empty()
    expect(page.locator("#checked")).to_contain_text("No fault was found in 40 rows.")
    page.set_input_files("#secret", csv(GOOD_SECRET.rsplit(b"\n", 2)[0] + b"\n"))
    expect(page.locator("#secret-problems")).to_contain_text(
        "39 lines after original_row, but the release has 40"
    )
    assert (sent_by(arena), attempts_of(arena)) == ([], 0)

    page.set_input_files("#secret", csv(GOOD_SECRET))
    send.click()
    receipt = page.locator("#taken-receipt")
    expect(receipt).to_be_visible()
    (found,) = sent_by(arena)
    expect(receipt).to_contain_text(found["commitment"])
    row = page.locator(f"#s-{found['id']}")
    expect(row).to_contain_text("Queued")
    expect(row).to_be_in_viewport()
    score_everything()
    expect(row).to_contain_text("Accepted")
    expect(page.locator("[data-live]")).to_have_count(0)
    expect(page.locator("#caps .number").first).to_contain_text("1 / ")
    expect(page.locator("#course-over-time svg").first).to_be_visible()

    page.set_input_files("#anonymized", csv(GOOD_TABLE))
    page.set_input_files("#secret", csv(GOOD_SECRET))
    send.click()
    expect(page.locator("#checked")).to_contain_text("has already sent this release once")
    expect(send).to_be_focused()
    assert len(sent_by(arena)) == 1
    send.click()
    expect(page.locator(".entry")).to_have_count(2)
    page.context.close()


def test_what_broke_off_is_told_at_the_button_and_sent_again_under_the_same_key(
    browser: Browser, site: str, arena: Arena
) -> None:
    page = opened(browser, site, arena)
    page.set_viewport_size({"width": 390, "height": 844})
    sent: list[str] = []

    def cut(route: Route) -> None:
        sent.append(route.request.url)
        if len(sent) == 1:
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/submissions?key=*", cut)
    page.set_input_files("#anonymized", csv(GOOD_TABLE))
    page.set_input_files("#secret", csv(GOOD_SECRET))
    page.get_by_role("button", name="Send", exact=True).click()
    told = page.locator("#refused")
    expect(told).to_have_text(said("The connection broke. Try again: nothing is accepted twice."))
    expect(told).to_be_in_viewport()
    again = page.get_by_role("button", name=said("Try again"))
    expect(again).to_be_in_viewport()
    expect(again).to_be_focused()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_hidden()
    again.click()
    expect(page.locator("#taken-receipt")).to_be_visible()
    expect(again).to_be_hidden()
    assert sent[0] == sent[1]
    assert len(sent_by(arena)) == 1
    page.context.close()


def test_files_that_cannot_be_checked_are_sent_all_the_same(
    browser: Browser, site: str, arena: Arena
) -> None:
    page = opened(browser, site, arena)
    page.route("**/submissions/check", lambda route: route.abort("connectionreset"))
    page.set_input_files("#anonymized", csv(GOOD_TABLE))
    page.set_input_files("#secret", csv(GOOD_SECRET))
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("#taken-receipt")).to_be_visible()
    page.context.close()


def refused(browser: Browser, site: str, arena: Arena, table: bytes = GOOD_TABLE) -> Page:
    """Send a release that the check does not see, on a phone; the refusal must be seen, focused and announced."""
    page = opened(browser, site, arena)
    page.set_viewport_size({"width": 390, "height": 844})
    page.route("**/submissions/check", lambda route: route.abort("connectionreset"))
    page.set_input_files("#anonymized", csv(table))
    page.set_input_files("#secret", csv(GOOD_SECRET))
    page.get_by_role("button", name="Send", exact=True).click()
    told = page.locator("#refused")
    expect(told).not_to_be_empty()
    expect(told).to_be_focused()
    expect(told).to_be_in_viewport()
    expect(told).to_have_attribute("role", "alert")
    return page


def test_every_refusal_is_told_beside_the_button(browser: Browser, site: str, client: TestClient) -> None:
    limits = "[limits]\nattempts_total = 2\nfile_mb = 1"
    arena = Arena.opened(client, file=competition_file("small", more=limits))
    page = refused(browser, site, arena, GOOD_TABLE.replace(b"income", b"wages", 1))
    expect(page.locator("#refused")).to_contain_text(said("problem_malformed_upload"))
    expect(page.locator("#anonymized-problems")).to_contain_text("wages")
    page.context.close()
    page = refused(browser, site, arena, b"x" * (2**20 + 1))
    expect(page.locator("#refused")).to_contain_text("larger than 1 MB")
    page.context.close()
    page = refused(browser, site, arena)
    expect(page.locator("#refused")).to_contain_text(said("problem_quota_used_up"))
    page.context.close()


def test_what_a_server_in_between_answers_is_told_beside_the_button(
    browser: Browser, site: str, arena: Arena
) -> None:
    page = opened(browser, site, arena)
    page.route("**/submissions?key=*", lambda route: route.fulfill(status=413, body="too large"))
    page.set_input_files("#anonymized", csv(GOOD_TABLE))
    page.set_input_files("#secret", csv(GOOD_SECRET))
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("#refused")).to_contain_text("(413)")
    expect(page.locator("#refused")).to_be_focused()
    page.context.close()


def test_what_a_teammate_sends_appears_by_itself(browser: Browser, site: str, arena: Arena) -> None:
    page = opened(browser, site, arena)
    expect(page.locator(".entry")).to_have_count(0)
    arena.submit("red")
    expect(page.locator(".entry")).to_have_count(1)
    expect(page.locator("#caps .number").first).to_contain_text("1 / ")
    page.context.close()


def test_the_columns_of_a_table_stay_in_their_box(browser: Browser, site: str, arena: Arena) -> None:
    page = opened(browser, site, arena)
    page.set_viewport_size({"width": 390, "height": 800})
    for summary in page.locator("#upload summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()


def test_a_guess_is_checked_before_it_is_sent_and_its_result_is_told_on_top(
    browser: Browser, site: str, client: TestClient
) -> None:
    contest = Contest.opened(client, more='[publication]\nfeedback = "immediate"')
    submission = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    context = browser.new_context(locale="en")
    arena = contest.arena
    context.add_cookies([{"name": COOKIE, "value": arena.session(arena.team("blue")), "url": site}])
    page = context.new_page()
    page.set_default_timeout(WITHIN_MS)
    page.goto(f"{site}/targets/{contest.target_of(submission)['id']}?lang=en")
    send = page.get_by_role("button", name=said("Send a guess"))
    refused, checked = page.locator("#guess-refused"), page.locator("#guess-checked")
    page.set_input_files("#guess", csv(b"original_row\n" + b"1\n" * 3))
    expect(refused).to_contain_text("3 lines after original_row; 40 are needed")
    send.click()
    expect(page.locator("#guessing .said")).to_have_text(said("Correct the marked files first."))
    expect(refused).to_be_focused()
    page.set_input_files("#guess", csv(b"original_row\n" + b"0\n" * ROWS))
    expect(checked).to_contain_text(sentence("no line is answered, so the guess finds nobody"))
    expect(refused).to_be_empty()
    page.set_input_files("#guess", csv(contest.right_on(submission, 7)))
    expect(checked).to_contain_text("7 rows are answered.")
    send.click()
    last = page.locator("#last-guess")
    expect(last).to_contain_text(said("is being scored; the result appears here."))
    judge_everything()
    expect(last).to_contain_text("7 of 40 rows are right")
    context.close()
