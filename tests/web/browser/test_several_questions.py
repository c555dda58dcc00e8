"""A target with several questions in a real browser: each form handles the guesses of its question."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from tests.support.browser import build_csv_payload
from tests.support.contest import judge_everything
from tests.support.service_processes import run_web_server
from tests.support.several_questions_contest import build_claims, create_contest
from tests.support.several_questions_track import SEVERAL_QUESTIONS_TRACK
from tests.support.track_package import install_track
from tests.support.translations import translate
from tests.web.browser.page_inspector import DESKTOP, PHONE, inspect_pages

pytestmark = pytest.mark.full


@pytest.mark.full
def test_each_form_checks_and_sends_guesses_of_its_question(
    client: TestClient, browser: Browser, tmp_path: Path
) -> None:
    (packages := tmp_path / "packages").mkdir()
    with (
        install_track(SEVERAL_QUESTIONS_TRACK, "tests.support.several_questions_track", packages),
        run_web_server(tmp_path / "web") as url,
    ):
        contest, red = create_contest(client)
        session = contest.arena.get_session(contest.arena.get_team_token("blue"))
        path = f"/targets/{contest.find_target(red)['id']}"
        with inspect_pages(browser, url, session=session) as inspector:
            inspector.go(path)
            page = inspector.page
            page.set_input_files("#guess-link", build_csv_payload(b"original_row\n1\n"))
            expect(page.locator("#guess-link-refused")).to_contain_text(
                "1 line after original_row; 40 are needed"
            )
            expect(page.locator("#guess-value-refused")).to_be_empty()
            for question, title, content in (
                ("value", "value", build_claims(contest, red, 30)),
                ("link", translate("question_link"), contest.build_guess(red, 7)),
            ):
                page.set_input_files(f"#guess-{question}", build_csv_payload(content))
                page.locator(f"#guessing-{question} button").first.click()
                expect(page.locator("#last-guess")).to_contain_text(title)
                judge_everything()
            expect(page.locator("#last-guess")).to_contain_text("7 of 40 rows are right")
            expect(page.locator("#guesses tbody tr")).to_have_count(2)
        for language, size in (("en", DESKTOP), ("ja", PHONE)):
            for page_path in (path, f"{contest.path}/targets", f"{contest.path}/rules"):
                with inspect_pages(browser, url, session=session, language=language, size=size) as inspector:
                    assert inspector.go(page_path) == 200
                    assert inspector.collect_faults() == []
