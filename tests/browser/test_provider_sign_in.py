"""Sign-up, confirmation and sign-in with a provider of another origin, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.config import Settings
from tests.browser.page_inspector import PageInspector, inspect_pages
from tests.support.provider_sign_in import CLIENT_SECRET, RunningProvider, run_provider
from tests.support.service_processes import create_invite, open_small_contest, run_web_server

pytestmark = pytest.mark.full


def authorize(page: Page, provider: RunningProvider) -> None:
    """Sign in at the provider, which the page is being sent to."""
    page.wait_for_url(f"{provider.url}/**")
    page.locator("input[name=sub]").fill("hanako")
    page.get_by_role("button", name="Authorize", exact=True).click()


def sign_in(inspector: PageInspector, provider: RunningProvider, address: str) -> None:
    inspector.page.get_by_role("button", name="Sign in with Lab <ID>").click()
    authorize(inspector.page, provider)
    inspector.page.wait_for_url(address)
    inspector.reported_faults.clear()  # of the provider's page
    assert inspector.collect_faults() == []


def test_person_without_password_signs_up_confirms_and_signs_in(
    browser: Browser, settings: Settings, tmp_path: Path
) -> None:
    with (
        run_provider(tmp_path) as provider,
        run_web_server(tmp_path, provider.build_settings()) as url,
        inspect_pages(browser, url) as inspector,
    ):
        page, contest = inspector.page, open_small_contest(url)
        inspector.check_page(f"/sign-up?invite={create_invite(url, contest.slug)}")
        sign_in(inspector, provider, f"{url}/sign-up?provider=lab&invite=*")
        expect(page.locator("main")).to_contain_text("You sign in with Lab <ID>, without a password.")
        page.get_by_label("Name of your team").fill("青 team")
        page.get_by_label("Your name", exact=True).fill("Hanako")
        page.get_by_role("button", name="Create the account and the team").click()
        page.wait_for_url(f"{url}/competitions/**")
        inspector.check_page(f"/competitions/{contest.slug}/team")
        with page.expect_popup() as popup:
            page.get_by_role("button", name="Sign in again").click()
        authorize(popup.value, provider)
        popup.value.wait_for_url(f"{url}/account?done=confirmed")
        popup.value.close()
        page.get_by_role("button", name="Make a link").click()
        page.get_by_role("button", name="Copy", exact=True).click()
        expect(page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
        assert inspector.collect_faults() == []
        inspector.check_page("/account")
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url(f"{url}/")
        inspector.check_page("/sign-in?to=/account")
        sign_in(inspector, provider, f"{url}/account")
        expect(page.get_by_role("heading", name="Hanako", exact=True)).to_be_visible()
        assert CLIENT_SECRET not in "".join(path.read_text() for path in tmp_path.glob("web-*.log"))
        assert CLIENT_SECRET not in page.content()
