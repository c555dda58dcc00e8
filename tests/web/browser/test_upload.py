"""The upload form in a real browser: checked before it is sent, answered on the page, followed live."""

from playwright.sync_api import Browser, FilePayload, Page, expect

from app.http.dependencies import COOKIE
from app.web import words
from tests.api.test_submissions import GOOD_SECRET, GOOD_TABLE, score_everything
from tests.arena import Arena


def csv(content: bytes) -> FilePayload:
    return {"name": "file.csv", "mimeType": "text/csv", "buffer": content}


def opened(browser: Browser, site: str, arena: Arena) -> Page:
    context = browser.new_context(locale="en")
    context.add_cookies([{"name": COOKIE, "value": arena.team("red"), "url": site}])
    page = context.new_page()
    page.goto(f"{site}/competitions/{arena.slug}/submissions?lang=en")
    return page


def test_a_release_is_checked_sent_and_followed_on_one_page(
    browser: Browser, site: str, arena: Arena
) -> None:
    page = opened(browser, site, arena)
    page.set_input_files("#anonymized", csv(GOOD_TABLE.replace(b"income", b"wages", 1)))
    expect(page.locator("#anonymized-problems")).to_contain_text("column 3 is “wages”; it must be “income”")
    page.set_input_files("#anonymized", csv(GOOD_TABLE))
    expect(page.locator("#anonymized-checked")).to_contain_text("40 rows, 4 columns")
    page.set_input_files("#secret", csv(GOOD_SECRET.rsplit(b"\n", 2)[0] + b"\n"))
    expect(page.locator("#secret-problems")).to_contain_text("39 lines below the header; 40 are needed")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#upload .said")).to_have_text(words.WORDS["send_fix"]["en"])
    assert arena.get(f"/competitions/{arena.slug}/submissions", token=arena.team("red")).json() == []

    page.set_input_files("#secret", csv(GOOD_SECRET))
    page.get_by_role("button", name="Send").click()
    receipt = page.locator("#taken-receipt")
    expect(receipt).to_be_visible()
    (found,) = arena.get(f"/competitions/{arena.slug}/submissions", token=arena.team("red")).json()
    expect(receipt).to_contain_text(found["commitment"])
    row = page.locator(f"#s-{found['id']}")
    expect(row).to_contain_text("Queued")
    score_everything()
    expect(row).to_contain_text("Accepted")
    expect(page.locator("[data-live]")).to_have_count(0)
    page.context.close()
