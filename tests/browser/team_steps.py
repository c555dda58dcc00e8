"""Steps of a team in the browser: joining, releases, finals and attacks."""

import io
from pathlib import Path

import pandas as pd
from playwright.sync_api import Locator, Route, expect

from anoncup.excessive.wrong_secret import RANDOM_LIKE_REMARK
from anoncup.messages import Message
from app.core.locale.language import load_translator
from app.core.pages.notation import format_number, format_score
from app.core.pages.sentences import translate_sentence
from tests.browser.browser_user import BrowserUser
from tests.browser.contest_data import ROWS, PreparedRelease
from tests.support.arena import PASSWORD


def join(member: BrowserUser, link: str, team: str) -> None:
    member.visit(link)
    member.fill_in({"Name of your team": team, "Your name": f"member of {team}", "Password": PASSWORD})
    member.press("button", "Create the account and the team")
    member.expect_text("done_joined")


def send_release(member: BrowserUser, anonymized: bytes, secret: bytes, comment: str = "") -> None:
    """Send a release; the answer appears beside the form on the same page."""
    member.choose_file("file_anonymized", anonymized)
    member.choose_file("file_secret", secret)
    member.fill_in({"Comment": comment})
    member.activate(member.find_control("button", "Send"))


def check_refusal_of_text_for_a_number(member: BrowserUser, release: PreparedRelease, slug: str) -> None:
    """Check that the fault is shown with row and column before sending, and that no attempt is used."""
    send_release(member, replace_cell(release.anonymized_file, row=7, column=2), release.secret_file)
    problem = member.page.locator("#anonymized-problems")
    words = load_translator(member.profile.language)
    message = Message(
        "{column}, row {row}: {what}", column="income", row=7, what=Message("not a decimal number")
    )
    expect(problem).to_contain_text(translate_sentence(message, words))
    expect(problem.locator("li")).to_have_count(1)
    expect(member.page.locator("#secret-problems")).to_be_empty()
    caps = member.page.locator("#caps").get_by_role("listitem")
    expect(caps.filter(has_text=member.translate("used_attempts_total"))).to_contain_text("0 /")
    expect(caps.filter(has_text=member.translate("used_valid_total"))).to_contain_text("0 /")
    member.expect_text(
        "Your team has not submitted yet. Choose your files above and send them; a release is scored in a few moments."
    )
    assert member.read_api(f"/competitions/{slug}/submissions") == []
    member.check_page()


def replace_cell(table: bytes, *, row: int, column: int) -> bytes:
    lines = [line.split(b",") for line in table.split(b"\n")]
    lines[row][column] = b"plenty"
    return b"\n".join(b",".join(line) for line in lines)


def find_entry(member: BrowserUser, comment: str) -> Locator:
    """Find the team's submission with this comment."""
    region = member.page.get_by_role("region", name=member.translate("What your team has sent"))
    return region.locator(".entry").filter(has_text=comment)


def send_and_wait(member: BrowserUser, release: PreparedRelease, comment: str, *, state: str) -> None:
    member.page.evaluate("window.stayed = true")
    send_release(member, release.anonymized_file, release.secret_file, comment)
    wait_for_state(member, comment, state=state)


def wait_for_state(member: BrowserUser, comment: str, *, state: str) -> None:
    """Wait until the submission has the state, without a reload of the page."""
    tag = find_entry(member, comment).locator(".tag").first
    expect(tag).to_be_in_viewport()
    expect(tag).to_have_text(member.translate(f"state_{state}"))
    assert member.page.evaluate("window.stayed")
    member.check_page()


def check_acceptance(member: BrowserUser, release: PreparedRelease, comment: str, file: str) -> None:
    """Check that the release is accepted with the scores of a local evaluation."""
    send_and_wait(member, release, comment, state="SCORED")
    verdict = release.compute_verdict(file)
    expected = [format_score(verdict.overall), format_score(verdict.utility), format_score(verdict.security)]
    expect(find_entry(member, comment).locator("dd")).to_have_text(expected)


def check_rejection_as_excessive(
    member: BrowserUser, release: PreparedRelease, comment: str, file: str
) -> None:
    """Send a release despite the warning that its secret may belong to another file."""
    member.page.evaluate("window.stayed = true")
    checks: list[Route] = []
    # The check is answered after the click.
    member.page.route("**/submissions/check", lambda route: checks.append(route))  # noqa: PLW0108 - no bound method of a list
    send_release(member, release.anonymized_file, release.secret_file, comment)
    checks[-1].continue_()
    member.page.unroute("**/submissions/check")
    member.expect_text("Nothing has been sent yet. Read the warning; press the button again to send.")
    words = load_translator(member.profile.language)
    expect(member.page.locator("main")).to_contain_text(translate_sentence(RANDOM_LIKE_REMARK.message, words))
    member.activate(member.find_control("button", "Send"))
    wait_for_state(member, comment, state="REJECTED")
    line = find_entry(member, comment)
    member.activate(line.get_by_text(member.translate("Why"), exact=True))
    (violation,) = release.compute_verdict(file).violations
    expect(line.get_by_text(translate_sentence(violation.message, words))).to_be_visible()
    member.check_page()
    expect(member.find_control("button", "Choose as final", within=line)).to_have_count(0)


def choose_final(member: BrowserUser, comment: str) -> None:
    member.press("button", "Choose as final", within=find_entry(member, comment))
    member.expect_text("done_final_marked")
    expect(find_entry(member, comment)).to_contain_text("★ " + member.translate("Final"))
    expect(member.find_control("button", "Unmark", within=find_entry(member, comment))).to_be_visible()


def check_scores(member: BrowserUser, comment: str, release: PreparedRelease, file: str) -> None:
    """Check the number of every measure and attacker on the submission's page."""
    member.follow(find_entry(member, comment).get_by_role("link").first)
    verdict = release.compute_verdict(file)
    for name, measure in verdict.measures.items():
        values = [
            cell.split(" ")[0] for cell in read_cells(member, "Measures", name)
        ]  # the cell also says which direction is better
        assert format_number(measure.value) in values, name
    for name, attacker in verdict.attackers.items():
        assert format_score(attacker.rate.value) in read_cells(member, "Attackers", name), name
    member.open_tab("submissions")


def read_cells(member: BrowserUser, title: str, name: str) -> list[str]:
    """Return the cells of a measure or an attacker."""
    table = (
        member.page.get_by_role("region", name=member.translate(title), exact=True).get_by_role("table").first
    )
    code = member.page.get_by_text(name, exact=True)
    return table.get_by_role("row").filter(has=code).get_by_role("cell").all_inner_texts()


def download_rival_target(member: BrowserUser, release: PreparedRelease, folder: Path) -> None:
    """Check that the target of the only rival equals its release."""
    tab = member.page.get_by_role("link", name=member.translate("Targets"), exact=True)
    member.wait_for(tab.first)
    member.expect_text("upload_over")
    member.open_tab("targets")
    with member.page.expect_download() as download:
        member.activate(find_rival_row(member).get_by_role("link", name="anonymized.csv"))
    download.value.save_as(folder / "target.csv")
    content = io.BytesIO((folder / "target.csv").read_bytes())
    column_types = {"sex": str, "age": str}
    assert pd.read_csv(content, dtype=column_types, keep_default_na=False).equals(release.table)


def find_rival_row(member: BrowserUser) -> Locator:
    """Find the row of another team's target."""
    rows = member.page.get_by_role("row").filter(has=member.page.get_by_role("link", name="anonymized.csv"))
    return rows.filter(has_not_text=member.translate("Yours"))


def send_guess(member: BrowserUser, content: bytes, *, answered: int, right: str) -> None:
    """Send a guess on the target's page; the result appears without a reload."""
    member.follow(find_rival_row(member).locator("a.target"))
    member.choose_file("Guess file", content)
    member.press("button", "Send a guess")
    member.expect_text("done_guess_submitted")
    newest = member.page.locator("#guesses tbody tr").first
    expect(newest).to_contain_text(member.translate("Scored"))
    row_cells = newest.get_by_role("cell")
    expect(row_cells.nth(1)).to_have_text(f"{answered} / {ROWS}")
    expect(row_cells.nth(2)).to_have_text(right)
    member.check_page()
    member.press("link", "All targets")
