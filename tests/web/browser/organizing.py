"""What an organizer does on the pages before a contest begins, and while it runs."""

from datetime import datetime, timedelta

from playwright.sync_api import expect

from tests.support.arena import PASSWORD
from tests.web.browser.person import Person


def signs_in(organizer: Person, name: str) -> None:
    organizer.opens("/")
    organizer.press("link", "Sign in")
    organizer.types({"Name": name, "Password": PASSWORD})
    organizer.press("button", "Sign in")


def creates(organizer: Person, slug: str) -> None:
    """An own table, the dates as they are proposed."""
    organizer.press("link", "Create a competition")
    organizer.touch(organizer.control("radio", "choose_start_microdata"))
    organizer.types({"Address": slug, "Title in English": "Clicked cup", "Title in Japanese": "クリック杯"})
    organizer.press("button", "Create the competition")
    organizer.sees("done_created")


def unfolds(organizer: Person) -> None:
    """All that is folded away, for those who want other than what is recommended."""
    for more in organizer.page.locator("main details:not([open]) > summary").all()[::-1]:
        more.click()


def uploads_data(organizer: Person, table: bytes) -> None:
    organizer.chooses_file("CSV file with a header line", table)
    organizer.press("button", "Upload")
    organizer.sees("done_setup_saved")


def makes_sensitive(organizer: Person, column: str) -> None:
    """Correct the role that was suggested for a column; what it makes of the table is told at once."""
    named = organizer.word("Role") + organizer.word(": ") + column
    chosen = organizer.page.get_by_role("combobox", name=named, exact=True)
    counted = organizer.page.locator("#look dd").first
    before = int(counted.inner_text())
    chosen.select_option(label=organizer.word("role_sensitive"))
    expect(counted).to_have_text(str(before - 1))
    organizer.press("button", "Save the roles")
    organizer.sees("done_setup_saved")
    expect(chosen).to_have_value("sensitive")


def goes_to_step(organizer: Person, name: str) -> None:
    steps = organizer.page.get_by_role("navigation", name=organizer.word("Steps"))
    organizer.follow(steps.get_by_role("link", name=organizer.word(f"setting_{name}")))


def weighs(organizer: Person, **weights: str) -> None:
    goes_to_step(organizer, "measures")
    for name, weight in weights.items():
        entry = organizer.page.get_by_role("listitem").filter(has_text=organizer.word(f"measure_{name}"))
        organizer.field("Weight", within=entry).fill(weight)
    organizer.press("button", "Save")
    organizer.sees("done_setup_saved")


def takes_advice(organizer: Person, *columns: str, bits: int) -> None:
    """Ask which threshold stops cheats that keep these columns, and use it."""
    goes_to_step(organizer, "threshold")
    unfolds(organizer)
    kept = organizer.page.get_by_role("group", name=organizer.word("What a cheat may keep"))
    for box in kept.get_by_role("checkbox").all():
        box.set_checked(box.get_attribute("value") in columns)
    organizer.types({"Certainty (bits)": str(bits), "Permutations to simulate": "200"})
    organizer.leave_by(organizer.control("button", "Ask for a report"))
    organizer.sees("Recommended threshold")
    organizer.finds_no_fault()
    recommended = organizer.page.locator(".recommended strong").inner_text()
    organizer.press("button", "Use this threshold")
    organizer.sees("done_setup_saved")
    expect(organizer.page.locator(".figures dd").first).to_have_text(recommended)


def publishes(organizer: Person, *, feedback: str, finals: int) -> None:
    goes_to_step(organizer, "publication")
    unfolds(organizer)
    organizer.touch(organizer.control("radio", f"choose_feedback_{feedback}"))
    organizer.types({"Finals per team": str(finals), "Hours of notice before an early reveal": "0"})
    organizer.press("button", "Save")
    organizer.sees("done_setup_saved")


def invites(organizer: Person, teams: int) -> str:
    """The link, which is shown once."""
    goes_to_step(organizer, "teams")
    organizer.types({"Number of teams": str(teams)})
    organizer.press("button", "Make an invite")
    organizer.sees("Invite for new teams: {n}", n=teams)
    organizer.touch(organizer.control("button", "Copy"))
    expect(organizer.control("button", "Copied")).to_be_visible()
    return organizer.page.locator(".once").inner_text()


def finds_nothing_left_to_do(organizer: Person) -> None:
    goes_home(organizer)
    organizer.tab("organize")
    organizer.press("link", "Original data")
    organizer.sees("Everything is set. The competition opens by itself when its first phase starts.")


def goes_home(person: Person) -> None:
    """To the only competition by way of the front page."""
    person.opens("/")
    person.follow(person.page.locator(".listing").get_by_role("link").first)


def lets_the_phase_last_longer(organizer: Person) -> None:
    """By a day, after a look at what it does; the second phase moves along."""
    organizer.press("link", "Phases")
    end = organizer.field("New end").first
    later = datetime.fromisoformat(end.input_value()) + timedelta(days=1)
    end.fill(later.strftime("%Y-%m-%dT%H:%M"))
    organizer.follow(organizer.control("button", "Preview the effects").first)
    organizer.sees("This is a preview. Nothing has been changed yet.")
    organizer.press("button", "run_confirm_extend")
    organizer.sees("done_extended")
    expect(organizer.field("New end").first).to_have_value(later.strftime("%Y-%m-%dT%H:%M"))
