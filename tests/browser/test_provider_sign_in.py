"""Sign-up, confirmation and sign-in with a provider of another origin, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.config import Settings
from tests.browser.browser_user import JAPANESE_PHONE, BrowserUser, open_browser_user
from tests.support.provider_sign_in import CLIENT_SECRET, RunningProvider, run_provider
from tests.support.service_processes import create_invite, open_small_contest, run_web_server

pytestmark = pytest.mark.full


def authorize(page: Page, provider: RunningProvider) -> None:
    """Sign in at the provider, which the page is being sent to."""
    page.wait_for_url(f"{provider.url}/**")
    page.locator("input[name=sub]").fill("hanako")
    page.get_by_role("button", name="Authorize", exact=True).click()


def sign_in(user: BrowserUser, provider: RunningProvider, address: str) -> None:
    user.activate(user.find_control("button", "Sign in with {provider}"))
    authorize(user.page, provider)
    user.page.wait_for_url(address)
    user.inspector.reported_faults.clear()  # of the provider's page
    user.check_page()


class ProviderUser(BrowserUser):
    """A user to whom the provider is shown by its name."""

    def translate(self, key: str, **values: object) -> str:
        return super().translate(key, **{"provider": "Lab <ID>", **values})


def test_person_without_password_signs_up_confirms_and_signs_in(
    browser: Browser, settings: Settings, tmp_path: Path
) -> None:
    with (
        run_provider(tmp_path) as provider,
        run_web_server(tmp_path, provider.build_settings()) as url,
        open_browser_user(browser, url, JAPANESE_PHONE) as opened,
    ):
        user = ProviderUser(opened.inspector, JAPANESE_PHONE)
        contest = open_small_contest(url)
        user.visit(f"/sign-up?invite={create_invite(url, contest.slug)}")
        sign_in(user, provider, f"{url}/sign-up?provider=lab&invite=*")
        user.expect_text("You sign in with {provider}, without a password.")
        user.fill_in({"Name of your team": "青 team", "Your name": "Hanako"})
        user.press("button", "Create the account and the team")
        user.expect_text("done_joined")
        user.visit(f"/competitions/{contest.slug}/team")
        with user.page.expect_popup() as popup:
            user.activate(user.find_control("button", "Sign in again"))
        authorize(popup.value, provider)
        popup.value.wait_for_url(f"{url}/account?done=confirmed")
        popup.value.close()
        user.press("button", "Make a link")
        user.expect_text("Copy it now. It cannot be shown again.")
        user.visit("/account")
        user.press("button", "Sign out")
        user.visit("/sign-in?to=/account")
        sign_in(user, provider, f"{url}/account")
        expect(user.page.get_by_role("heading", name="Hanako", exact=True)).to_be_visible()
        assert CLIENT_SECRET not in "".join(path.read_text() for path in tmp_path.glob("web-*.log"))
        assert CLIENT_SECRET not in "".join(user.visited_pages)
