"""Steps of an organizer in the browser, before and during a contest."""

from datetime import datetime, timedelta

from playwright.sync_api import expect

from anoncup.competition import rules_text
from tests.browser.browser_user import BrowserUser
from tests.support.arena import PASSWORD
from tests.support.contest import load_competition


def sign_in(organizer: BrowserUser, name: str) -> None:
    organizer.visit("/")
    organizer.press("link", "Sign in")
    organizer.fill_in({"Name": name, "Password": PASSWORD})
    organizer.press("button", "Sign in")


def create_competition(organizer: BrowserUser, slug: str) -> None:
    """Create a competition with the organizer's own table and the proposed dates."""
    organizer.press("link", "Create a competition")
    organizer.activate(organizer.find_control("radio", "choose_start_microdata"))
    organizer.fill_in({"Address": slug, "Title in English": "Clicked cup", "Title in Japanese": "クリック杯"})
    organizer.press("button", "Create the competition")
    organizer.expect_text("done_created")


def unfold_details(organizer: BrowserUser) -> None:
    """Open all collapsed sections, which hold settings other than the recommended ones."""
    for summary in organizer.page.locator("main details:not([open]) > summary").all()[::-1]:
        summary.click()


def upload_data(organizer: BrowserUser, table: bytes) -> None:
    organizer.choose_file("CSV file, or the like", table)
    organizer.press("button", "Upload")
    organizer.press("button", "Save the data")
    organizer.expect_text("done_setup_saved")


def mark_sensitive(organizer: BrowserUser, column: str) -> None:
    """Correct the suggested role of a column."""
    label = organizer.translate("Role") + organizer.translate(": ") + column
    role_select = organizer.page.get_by_role("combobox", name=label, exact=True)
    role_select.select_option(label=organizer.translate("role_sensitive"))
    organizer.press("button", "Save the roles")
    organizer.expect_text("done_setup_saved")
    expect(role_select).to_have_value("sensitive")


def open_page(organizer: BrowserUser, name: str) -> None:
    pages = organizer.page.get_by_role("navigation", name=organizer.translate("Organize"))
    organizer.follow(pages.get_by_role("link", name=organizer.translate(f"nav_{name}"), exact=True))


def set_rules(organizer: BrowserUser, tables: str, **weights: float) -> None:
    """Set weights and add tables in the competition file, beside a preview of the rules page."""
    open_page(organizer, "file")
    editor, preview = organizer.find_field("The file"), organizer.page.locator("#preview")
    expect(preview.locator("#measures")).to_be_visible()
    editor.fill(rules_text.set_weights(load_competition("clicked").file, weights) + tables)
    expect(preview.locator("#measures")).to_be_visible()
    organizer.press("button", "Show the difference")
    organizer.press("button", "Save this file")
    organizer.expect_text("done_setup_saved")


def use_recommended_threshold(organizer: BrowserUser, *columns: str, bits: int) -> None:
    """Request the threshold that stops cheats who keep these columns, and use it."""
    open_page(organizer, "threshold")
    unfold_details(organizer)
    kept_columns = organizer.page.get_by_role("group", name=organizer.translate("What a cheat may keep"))
    for checkbox in kept_columns.get_by_role("checkbox").all():
        checkbox.set_checked(checkbox.get_attribute("value") in columns)
    organizer.fill_in({"Certainty (bits)": str(bits), "Permutations to simulate": "200"})
    organizer.navigate_by(organizer.find_control("button", "Ask for a report"))
    organizer.expect_text("Recommended threshold")
    organizer.check_page()
    recommended = organizer.page.locator(".recommended strong").inner_text()
    organizer.press("button", "Use this threshold")
    organizer.expect_text("done_setup_saved")
    expect(organizer.page.locator(".figures dd").first).to_have_text(recommended)


def create_invite(organizer: BrowserUser, teams: int) -> str:
    """Return the link of a new invite, which is shown only once."""
    open_page(organizer, "teams")
    organizer.fill_in({"Number of teams": str(teams)})
    organizer.press("button", "Make an invite")
    organizer.expect_text("Invite for new teams: {n}", n=teams)
    organizer.activate(organizer.find_control("button", "Copy"))
    expect(organizer.find_control("button", "Copied")).to_be_visible()
    return organizer.page.locator(".once").inner_text()


def check_setup_is_complete(organizer: BrowserUser) -> None:
    open_competition(organizer)
    organizer.open_tab("organize")
    duties = [organizer.page.locator(f".todo a[href$='/{page}']") for page in ("data", "threshold")]
    for duty in duties:
        expect(duty).to_have_count(0)


def open_competition(user: BrowserUser) -> None:
    """Open the only competition from the front page."""
    user.visit("/")
    user.follow(user.page.locator(".listing").get_by_role("link").first)


def extend_phase(organizer: BrowserUser) -> None:
    """Extend the first phase by a day; the second phase moves along."""
    organizer.press("link", "Phases")
    end = organizer.find_field("New end").first
    new_end = datetime.fromisoformat(end.input_value()) + timedelta(days=1)
    end.fill(new_end.strftime("%Y-%m-%dT%H:%M"))
    move = f"{organizer.translate('run_confirm_extend')}…"
    organizer.follow(organizer.page.get_by_role("button", name=move).first)
    organizer.expect_text("Later phases move by the same time.")
    organizer.press("button", "run_confirm_extend")
    organizer.expect_text("done_extended")
    expect(organizer.find_field("New end").first).to_have_value(new_end.strftime("%Y-%m-%dT%H:%M"))
