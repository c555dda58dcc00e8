"""An e-mail address is stored and confirmed, and a forgotten password replaced, in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from app.config import Settings, get_settings
from tests.browser.browser_user import ENGLISH_DESKTOP, JAPANESE_PHONE, BrowserProfile, open_browser_user
from tests.support.mail_server import PUBLIC_URL, MailServer, run_mail_server
from tests.support.service_processes import create_invite, open_small_contest, run_web_server
from workers import deliver

pytestmark = pytest.mark.full

ADDRESS, PASSWORD = "hanako@example.org", "correct horse"


def take_link(server: MailServer) -> str:
    """Send what is due, and return the path of the link in the mail."""
    assert deliver.send_due_mail() == 1
    (path,) = re.findall(rf"{PUBLIC_URL}(/\S+code=\S+)", server.take_text())
    return str(path)


@pytest.mark.parametrize("profile", [ENGLISH_DESKTOP, JAPANESE_PHONE], ids=["en", "ja"])
def test_person_stores_an_address_and_replaces_a_forgotten_password(
    browser: Browser,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    profile: BrowserProfile,
) -> None:
    monkeypatch.setenv("ANONCUP_SECURE_COOKIES", "false")
    with run_mail_server() as server:
        server.configure(monkeypatch, tmp_path)
        with run_web_server(tmp_path) as url, open_browser_user(browser, url, profile) as user:
            contest = open_small_contest(url)
            user.visit(f"/sign-up?invite={create_invite(url, contest.slug)}")
            names = {"Name of your team": "青 team", "Your name": "Hanako", "Password": PASSWORD}
            user.fill_in(names)
            user.press("button", "Create the account and the team")
            user.visit("/account")
            form = user.page.locator("form[action='/account/email']")
            user.find_field("E-mail address", within=form).fill(ADDRESS)
            user.find_field("Your password", within=form).fill(PASSWORD)
            user.press("button", "Store the address")
            user.expect_text("done_email_stored")
            user.visit(take_link(server))
            user.press("button", "Confirm the address")
            user.expect_text("done_email_confirmed")
            user.visit("/account")
            user.press("button", "Stop mail about competitions")
            user.expect_text("done_email_unsubscribed")
            user.press("button", "Sign out")
            user.visit("/sign-in")
            user.press("link", "Ask for a link")
            user.fill_in({"E-mail address": ADDRESS})
            user.press("button", "Send the link")
            user.expect_text("done_password_mail")
            user.visit(take_link(server))
            user.fill_in({"New password": "battery staple"})
            user.press("button", "Set the password")
            user.expect_text("done_password_set")
    monkeypatch.undo()
    get_settings.cache_clear()
