"""The three pages of the set-up in a browser: faults, and the preview of the rules page while typing."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.page_inspector import DESKTOP, PHONE, inspect_pages
from tests.support.arena import Arena
from tests.support.setup_pages import begin_setup, new_organizer

__all__ = ["new_organizer"]

pytestmark = pytest.mark.full

COLUMNS = ["person_id", "born", "性別", "郵便番号", *(f"amount_{number}" for number in range(56))]
ROWS = [
    [
        *(f"P{n:03}", f"{1930 + n}-01-02", "男女"[n % 2], f"0{n % 7}"),
        *(f'"{(n * 37 % 101 + k) * 1000:,}"' for k in range(56)),
    ]
    for n in range(60)
]
TABLE = "\n".join(",".join(row) for row in [COLUMNS, *ROWS]).encode("cp932")
"""A table of 60 columns in Shift_JIS."""


@pytest.mark.parametrize(
    ("language", "size"), [("en", DESKTOP), ("ja", PHONE), ("ja", DESKTOP), ("en", PHONE)]
)
def test_setup_pages_have_no_faults(
    browser: Browser, site: str, new_organizer: Arena, language: str, size: dict[str, int]
) -> None:
    session = begin_setup(new_organizer).get_session(new_organizer.organizer_token)
    with inspect_pages(browser, site, session=session, language=language, size=size) as inspector:
        page = inspector.page
        inspector.check_page("/organize/new")
        inspector.check_page("/competitions/fresh/organize/data")
        page.locator("input[type=file]").set_input_files(
            {"name": "t.csv", "mimeType": "text/csv", "buffer": TABLE}
        )
        page.locator("form[enctype] button").click()
        expect(page.locator("#encoding")).to_have_value("cp932")
        page.locator("select[name=role_1]").select_option("quasi_identifiers:4")
        assert inspector.collect_faults() == []
        page.locator("button[value=save]").click()
        expect(page.locator("#roles select")).to_have_count(59)
        assert inspector.collect_faults() == []
        inspector.check_page("/competitions/fresh/organize/publish")
        inspector.go("/competitions/fresh/organize/file")
        expect(page.locator("#preview #measures")).to_be_visible()
        expect(page).to_have_title(re.compile("^(The competition file|設定ファイル)"))
        assert inspector.collect_faults() == []
        page.locator("#text").fill("no TOML")
        expect(page.locator("#preview").get_by_role("alert")).to_be_visible()
        assert inspector.collect_faults() == []
