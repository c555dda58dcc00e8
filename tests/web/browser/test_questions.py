"""A target of several questions in a real browser: each form checks, sends and shows its own."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from tests.e2e.stack import web
from tests.support.browser_files import csv
from tests.support.contest import judge_everything
from tests.support.several_questions_contest import claims, played
from tests.support.several_questions_track import RIDDLES
from tests.support.track_package import installed
from tests.web.browser.looking import DESK, PHONE, looking
from tests.web.spoken import said

pytestmark = pytest.mark.full


@pytest.mark.full
def test_each_form_checks_and_sends_the_guess_of_its_question(
    client: TestClient, browser: Browser, tmp_path: Path
) -> None:
    (packages := tmp_path / "packages").mkdir()
    with installed(RIDDLES, "tests.support.several_questions_track", packages), web(tmp_path / "web") as url:
        contest, red = played(client)
        session = contest.arena.session(contest.arena.team("blue"))
        path = f"/targets/{contest.target_of(red)['id']}"
        with looking(browser, url, session=session) as person:
            person.go(path)
            page = person.page
            page.set_input_files("#guess-link", csv(b"original_row\n1\n"))
            expect(page.locator("#guess-link-refused")).to_contain_text(
                "1 line after original_row; 40 are needed"
            )
            expect(page.locator("#guess-value-refused")).to_be_empty()
            for question, title, content in (
                ("value", "value", claims(contest, red, 30)),
                ("link", said("question_link"), contest.right_on(red, 7)),
            ):
                page.set_input_files(f"#guess-{question}", csv(content))
                page.locator(f"#guessing-{question} button").first.click()
                expect(page.locator("#last-guess")).to_contain_text(title)
                judge_everything()
            expect(page.locator("#last-guess")).to_contain_text("7 of 40 rows are right")
            expect(page.locator("#guesses tbody tr")).to_have_count(2)
        for language, size in (("en", DESK), ("ja", PHONE)):
            for place in (path, f"{contest.path}/targets", f"{contest.path}/rules"):
                with looking(browser, url, session=session, language=language, size=size) as person:
                    assert person.go(place) == 200
                    assert person.faults() == []
