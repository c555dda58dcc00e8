"""Steps of a team in the browser: joining, releases, finals and attacks."""

import io
from pathlib import Path

import pandas as pd
from playwright.sync_api import Locator, Route, expect

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


def check_rejection(member: BrowserUser, release: PreparedRelease, comment: str) -> None:
    """Send a release whose secret may belong to another file, after a warning, and read why it is rejected."""
    member.page.evaluate("window.stayed = true")
    checks: list[Route] = []
    # The check is answered after the click.
    member.page.route("**/submissions/check", lambda route: checks.append(route))  # noqa: PLW0108 - no bound method of a list
    send_release(member, release.anonymized_file, release.secret_file, comment)
    checks[-1].continue_()
    member.page.unroute("**/submissions/check")
    member.expect_text("Nothing has been sent yet. Read the warning; press the button again to send.")
    member.activate(member.find_control("button", "Send"))
    wait_for_state(member, comment, state="REJECTED")
    entry = find_entry(member, comment)
    member.activate(entry.get_by_text(member.translate("Why"), exact=True))
    member.check_page()
    expect(member.find_control("button", "Choose as final", within=entry)).to_have_count(0)


def choose_final(member: BrowserUser, comment: str) -> None:
    member.press("button", "Choose as final", within=find_entry(member, comment))
    member.expect_text("done_final_marked")
    expect(find_entry(member, comment)).to_contain_text("★ " + member.translate("Final"))
    expect(member.find_control("button", "Unmark", within=find_entry(member, comment))).to_be_visible()


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
