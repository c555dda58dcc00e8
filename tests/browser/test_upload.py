"""The upload form in a real browser: checks before sending, answers on the page, live progress."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Page, Route, expect

from app.core.identity.session_cookie import COOKIE
from tests.browser.page_inspector import TIMEOUT_MS
from tests.support.arena import ROWS, Arena
from tests.support.browser import build_csv_payload
from tests.support.contest import Contest, judge_everything
from tests.support.translations import translate, translate_message
from tests.support.uploads import VALID_SECRET, VALID_TABLE, score_everything

pytestmark = pytest.mark.full


def open_page(browser: Browser, site: str, arena: Arena, path: str, team: str = "red") -> Page:
    context = browser.new_context(locale="en")
    session = arena.get_session(arena.get_team_token(team))
    context.add_cookies([{"name": COOKIE, "value": session, "url": site}])
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.goto(f"{site}{path}?lang=en")
    return page


def open_upload_page(browser: Browser, site: str, arena: Arena) -> Page:
    return open_page(browser, site, arena, f"/competitions/{arena.slug}/submissions")


def choose_files(page: Page, table: bytes = VALID_TABLE, secret: bytes = VALID_SECRET) -> None:
    page.set_input_files("#anonymized", build_csv_payload(table))
    page.set_input_files("#secret", build_csv_payload(secret))


def list_submissions(arena: Arena, team: str = "red") -> list[dict[str, Any]]:
    submissions: list[dict[str, Any]] = arena.get(f"/competitions/{arena.slug}/submissions", team=team).json()
    return submissions


def count_attempts(arena: Arena) -> int:
    quota = arena.get(f"/competitions/{arena.slug}/quota", team="red").json()
    return next(int(cap["used"]) for cap in quota["caps"] if cap["name"] == "attempts_total")


def test_release_is_checked_sent_and_followed_on_one_page(browser: Browser, site: str, arena: Arena) -> None:
    page = open_upload_page(browser, site, arena)
    send = page.get_by_role("button", name="Send", exact=True)
    page.set_input_files("#anonymized", build_csv_payload(b'sex,age,income,rent\nf,"20",much,1\nm,30,1,\n'))
    expect(page.locator("#anonymized-problems li")).to_have_text(
        [
            "Income, row 1: not a decimal number. (much, line 2 of the file, counting the header line)",
            "Rent, row 2: a number is missing. (line 3 of the file, counting the header line)",
        ],
        ignore_case=True,
    )
    page.set_input_files("#secret", build_csv_payload(VALID_SECRET))
    send.click()
    expect(page.locator("#refused")).to_contain_text("2 faults were found. Nothing was sent.")
    expect(page.locator("#refused")).to_be_focused()
    expect(page.locator("#refused")).to_be_in_viewport()
    expect(page.locator("#upload .said")).to_have_text(translate("Correct the marked files first."))
    page.set_input_files("#anonymized", build_csv_payload(VALID_TABLE))
    expect(page.locator("#anonymized-problems")).to_be_empty()
    expect(page.locator("#refused")).to_be_empty()
    expect(page.locator("#checked")).to_contain_text("No fault was found in 40 rows.")
    page.set_input_files("#secret", build_csv_payload(VALID_SECRET.rsplit(b"\n", 2)[0] + b"\n"))
    expect(page.locator("#secret-problems")).to_contain_text("This file has 39 rows, the release has 40")
    assert (list_submissions(arena), count_attempts(arena)) == ([], 0)

    held_checks: list[Route] = []

    def hold_check(route: Route) -> None:
        held_checks.append(route)

    page.route("**/submissions/check", hold_check)
    with page.expect_request("**/submissions/check"):
        page.set_input_files("#secret", build_csv_payload(VALID_SECRET))
    expect(page.locator("#secret-problems")).to_be_empty()  # while the new check runs
    send.click()
    held_checks.pop().continue_()
    page.unroute("**/submissions/check")
    receipt = page.locator("#taken-receipt")
    expect(receipt).to_be_visible()
    (submission,) = list_submissions(arena)
    expect(receipt).to_contain_text(submission["commitment"])
    row = page.locator(f"#s-{submission['id']}")
    expect(row).to_contain_text("Queued")
    expect(row).to_be_in_viewport()
    score_everything()
    expect(row).to_contain_text("Accepted")
    expect(page.locator("[hx-get]")).to_have_count(0)
    expect(page.locator("#caps .number").first).to_contain_text("1 / ")

    page.set_input_files("#anonymized", build_csv_payload(VALID_TABLE))
    page.route("**/submissions/check", hold_check)
    with page.expect_request("**/submissions/check"):
        page.set_input_files("#secret", build_csv_payload(VALID_SECRET))
    send.click()  # before the check has answered, so that its warning must stop the upload
    held_checks[-1].continue_()
    expect(page.locator("#checked")).to_contain_text("has already sent this release once")
    expect(send).to_be_focused()
    assert len(list_submissions(arena)) == 1
    send.click()
    expect(page.locator(".entry")).to_have_count(2)
    page.context.close()


def test_interrupted_upload_can_be_retried_with_the_same_key(
    browser: Browser, site: str, arena: Arena
) -> None:
    page = open_upload_page(browser, site, arena)
    page.set_viewport_size({"width": 390, "height": 844})
    requested_urls: list[str] = []

    def cut_first_request(route: Route) -> None:
        requested_urls.append(route.request.url)
        if len(requested_urls) == 1:
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/submissions?key=*", cut_first_request)
    choose_files(page)
    page.get_by_role("button", name="Send", exact=True).click()
    refusal = page.locator("#refused")
    expect(refusal).to_have_text(translate("The connection broke. Try again: nothing is accepted twice."))
    expect(refusal).to_be_in_viewport()
    retry_button = page.get_by_role("button", name=translate("Try again"))
    expect(retry_button).to_be_in_viewport()
    expect(retry_button).to_be_focused()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_hidden()
    retry_button.click()
    expect(page.locator("#taken-receipt")).to_be_visible()
    expect(retry_button).to_be_hidden()
    assert requested_urls[0] == requested_urls[1]
    assert len(list_submissions(arena)) == 1
    page.context.close()


def submit_refused_release(browser: Browser, site: str, arena: Arena, table: bytes = VALID_TABLE) -> Page:
    """Send a release past the check on a phone; the refusal must be visible, focused and announced."""
    page = open_upload_page(browser, site, arena)
    page.set_viewport_size({"width": 390, "height": 844})
    page.route("**/submissions/check", lambda route: route.abort("connectionreset"))
    choose_files(page, table)
    page.get_by_role("button", name="Send", exact=True).click()
    refusal = page.locator("#refused")
    expect(refusal).not_to_be_empty()
    expect(refusal).to_be_focused()
    expect(refusal).to_be_in_viewport()
    expect(refusal).to_have_attribute("role", "alert")
    return page


def test_refusals_are_shown_beside_the_button(browser: Browser, site: str, client: TestClient) -> None:
    limits = "[limits]\nattempts_total = 2\nfile_mb = 1"
    arena = Arena.create(client, extra_toml=limits)
    page = submit_refused_release(browser, site, arena, VALID_TABLE.replace(b"income", b"wages", 1))
    expect(page.locator("#refused")).to_contain_text(translate("problem_malformed_upload"))
    expect(page.locator("#anonymized-problems")).to_contain_text("wages")
    page.context.close()
    page = submit_refused_release(browser, site, arena, b"x" * (2**20 + 1))
    expect(page.locator("#refused")).to_contain_text("larger than 1 MB")
    page.context.close()
    page = submit_refused_release(browser, site, arena)
    expect(page.locator("#refused")).to_contain_text("Your team has reached its limit of ")
    page.context.close()


def test_files_that_cannot_be_checked_can_be_sent_and_proxy_errors_are_shown(
    browser: Browser, site: str, arena: Arena
) -> None:
    page = open_upload_page(browser, site, arena)
    page.route("**/submissions/check", lambda route: route.abort("connectionreset"))
    page.route("**/submissions?key=*", lambda route: route.fulfill(status=413, body="too large"))
    choose_files(page)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("#refused")).to_contain_text("(413)")
    expect(page.locator("#refused")).to_be_focused()
    page.unroute("**/submissions?key=*")
    choose_files(page)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("#taken-receipt")).to_be_visible()
    page.context.close()


def test_submission_of_a_teammate_appears_without_reloading(
    browser: Browser, site: str, arena: Arena
) -> None:
    page = open_upload_page(browser, site, arena)
    expect(page.locator(".entry")).to_have_count(0)
    arena.submit("red")
    expect(page.locator(".entry")).to_have_count(1)
    expect(page.locator("#caps .number").first).to_contain_text("1 / ")
    page.set_viewport_size({"width": 390, "height": 800})
    for summary in page.locator("#upload summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390  # a wide table does not widen it
    page.context.close()


def test_guess_is_checked_before_sending_and_its_result_shown(
    browser: Browser, site: str, client: TestClient
) -> None:
    contest = Contest.create(client, extra_toml='[publication]\nfeedback = "immediate"')
    submission, _ = contest.publish_targets("red", "blue")
    path = f"/targets/{contest.find_target(submission)['id']}"
    page = open_page(browser, site, contest.arena, path, "blue")
    send = page.get_by_role("button", name=translate("Send a guess"))
    refusal, checked = page.locator("#guess-refused"), page.locator("#guess-checked")
    page.set_input_files("#guess", build_csv_payload(b"original_row\n" + b"1\n" * 3))
    expect(refusal).to_contain_text("This file has 3 rows, the target has 40")
    send.click()
    expect(page.locator("#guessing .said")).to_have_text(translate("Correct the marked files first."))
    expect(refusal).to_be_focused()
    page.set_input_files("#guess", build_csv_payload(b"original_row\n" + b"0\n" * ROWS))
    expect(checked).to_contain_text(translate_message("no line is answered, so the guess finds nobody"))
    expect(refusal).to_be_empty()
    page.set_input_files("#guess", build_csv_payload(contest.build_guess(submission, 7)))
    expect(checked).to_contain_text("7 rows are answered.")
    send.click()
    last = page.locator("#last-guess")
    expect(last).to_contain_text(translate("is being scored; the result appears here."))
    judge_everything()
    expect(last).to_contain_text("7 of 40 rows are right")
    page.context.close()
