"""The upload form in a real browser: checked before it is sent, answered on the page, followed live."""

import io
import zipfile

from fastapi.testclient import TestClient
from playwright.sync_api import Browser, FilePayload, Page, Route, expect

from app.http.dependencies import COOKIE
from app.messages import Message
from tests.api.test_submissions import GOOD_SECRET, GOOD_TABLE, score_everything
from tests.arena import ROWS, Arena
from tests.contest import Contest, judge_everything
from tests.web.browser.looking import WITHIN_MS
from tests.web.spoken import said, sentence


def csv(content: bytes) -> FilePayload:
    return {"name": "file.csv", "mimeType": "text/csv", "buffer": content}


def opened(browser: Browser, site: str, arena: Arena) -> Page:
    context = browser.new_context(locale="en")
    context.add_cookies([{"name": COOKIE, "value": arena.session(arena.team("red")), "url": site}])
    page = context.new_page()
    page.set_default_timeout(WITHIN_MS)
    page.goto(f"{site}/competitions/{arena.slug}/submissions?lang=en")
    return page


def test_a_release_is_checked_sent_and_followed_on_one_page(
    browser: Browser, site: str, arena: Arena
) -> None:
    page = opened(browser, site, arena)
    page.set_input_files("#anonymized", csv(GOOD_TABLE.replace(b"income", b"wages", 1)))
    expect(page.locator("#anonymized-problems")).to_contain_text("Column 3 is “wages”; it must be “income”")
    page.set_input_files("#anonymized", csv(b'sex,age,income,rent\nf,"20",much,1\nm,30,1,\n'))
    expect(page.locator("#anonymized-problems li")).to_have_text(
        [
            "income, row 1: not a decimal number. (line 2 of the file, counting the header line: much)",
            "rent, row 2: a number is missing. (line 3 of the file, counting the header line)",
        ]
    )
    page.set_input_files("#anonymized", csv(GOOD_TABLE))
    expect(page.locator("#anonymized-checked")).to_contain_text("40 rows, 4 columns")
    page.set_input_files("#secret", csv(GOOD_SECRET.rsplit(b"\n", 2)[0] + b"\n"))
    expect(page.locator("#secret-problems")).to_contain_text("39 lines below the header line; 40 are needed")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#upload .said")).to_have_text(said("Correct the marked files first."))
    assert arena.get(f"/competitions/{arena.slug}/submissions", token=arena.team("red")).json() == []

    page.set_input_files("#secret", csv(GOOD_SECRET))
    page.get_by_role("button", name="Send").click()
    receipt = page.locator("#taken-receipt")
    expect(receipt).to_be_visible()
    (found,) = arena.get(f"/competitions/{arena.slug}/submissions", token=arena.team("red")).json()
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
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator(".twice")).to_contain_text("Your team sent this very release before")
    assert len(arena.get(f"/competitions/{arena.slug}/submissions", token=arena.team("red")).json()) == 1
    page.get_by_role("button", name=said("Send again anyway")).click()
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
    told = page.locator("#upload .said")
    expect(told).to_have_text(said("The connection broke. Try again: nothing is taken in twice."))
    expect(told).to_be_in_viewport()
    again = page.get_by_role("button", name=said("Try again"))
    expect(again).to_be_in_viewport()
    expect(again).to_be_focused()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_hidden()
    again.click()
    expect(page.locator("#taken-receipt")).to_be_visible()
    expect(again).to_be_hidden()
    assert sent[0] == sent[1]
    assert len(arena.get(f"/competitions/{arena.slug}/submissions", token=arena.team("red")).json()) == 1
    page.context.close()


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as written:
        written.writestr("mine.csv", GOOD_TABLE)
    return content.getvalue()


WITHOUT_HEADER = GOOD_TABLE.split(b"\n", 1)[1]
MISTAKES: dict[str, dict[bytes, str | Message]] = {
    "anonymized": {
        b",sex,age,income,rent\n0,f,20,1,1\n": "the first column holds row labels: write the file without them, in pandas by to_csv(…, index=False)",
        zipped(): "this is a ZIP archive: unpack it and choose the CSV file in it",
        WITHOUT_HEADER: Message(
            "the first line names none of the columns: it must be {names}", names="sex,age,income,rent"
        ),
        b"PK\x03\x04\x14\x00": "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file",
        GOOD_SECRET: "This looks like the other file of the release: were the two exchanged?",
    },
    "secret": {
        GOOD_SECRET.replace(
            b"original_row", b",original_row"
        ): "the first column holds row labels: write the file without them, in pandas by to_csv(…, index=False)",
        GOOD_SECRET.replace(b"original_row", b"row;original_row"): Message(
            "the file has {found} columns; it must have one", found=2
        ),
        GOOD_TABLE: "This looks like the other file of the release: were the two exchanged?",
        b"original_row\n"
        + b"".join(
            b"%d\n" % row for row in range(40)
        ): "Rows seem to be counted from 0; they count from 1, so add 1 to each number.",
    },
}


def test_common_mistakes_are_told_before_anything_is_sent(browser: Browser, site: str, arena: Arena) -> None:
    page = opened(browser, site, arena)
    for name, cases in MISTAKES.items():
        for content, word in cases.items():
            page.set_input_files(f"#{name}", csv(content))
            expect(page.locator(f"#{name}-problems")).to_have_text(sentence(word))
    page.set_input_files("#anonymized", csv(b"sex,years,rent,town\nf,20,1,2\n"))
    expect(page.locator("#anonymized-problems")).to_contain_text("Missing columns: age, income")
    expect(page.locator("#anonymized-problems")).to_contain_text("Not among the columns: years, town")
    few = b"\n".join(GOOD_TABLE.split(b"\n")[:11]) + b"\n"
    page.set_input_files("#anonymized", csv(few))
    expect(page.locator("#anonymized-problems")).to_contain_text("10 rows; fewer than 20 will be rejected")
    expect(page.locator("#anonymized-checked")).to_have_text("10 rows, 4 columns")
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
    wrong = {
        b"guess\n" + b"1\n" * ROWS: said("The first line must be original_row."),
        b"original_row\n" + b"1\n" * 3: "3 lines below the header line; 40 are needed.",
        b"original_row\n" + b"1\n" * (ROWS - 1) + b"99\n": said(
            "Row {row} is outside {found} to {expected}.", row=40, found=0, expected=40
        )
        + " (line 41 of the file, counting the header line: 99)",
        b"PK\x03\x04": sentence(
            "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file"
        ),
    }
    for content, told in wrong.items():
        page.set_input_files("#guess", csv(content))
        expect(page.locator("#guess-problems")).to_have_text(told)
        send.click()
        expect(page.locator("#guessing .said")).to_have_text(said("Correct the marked files first."))
    hardly_meant = {
        b"original_row\n" + b"0\n" * ROWS: "Every row is left open: this finds nobody.",
        b"original_row\n" + b"".join(b"%d\n" % row for row in range(ROWS)): (
            "Rows seem to be counted from 0; they count from 1, and 0 leaves a row open."
        ),
    }
    for content, told in hardly_meant.items():
        page.set_input_files("#guess", csv(content))
        expect(page.locator("#guess-problems .warning")).to_have_text(said(told))
        expect(page.locator("#guess-checked")).to_contain_text("40 rows, ")
    page.set_input_files("#guess", csv(b"original_row\n" + b"x\n" * 9 + b"99\n" + b"0\n" * (ROWS - 10)))
    expect(page.locator("#guess-problems li")).to_have_count(7)  # five alike, another one, and how many more
    expect(page.locator("#guess-problems li").last).to_have_text("More problems, not listed: 4.")
    page.set_input_files("#guess", csv(contest.right_on(submission, 7)))
    expect(page.locator("#guess-checked")).to_contain_text("40 rows, ")
    send.click()
    last = page.locator("#last-guess")
    expect(last).to_contain_text(said("is being scored; the result appears here."))
    judge_everything()
    expect(last).to_contain_text("7 of 40 rows are right")
    context.close()
