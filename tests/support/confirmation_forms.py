"""Checks of forms that require step-up authentication."""

from tests.support.contest import Contest
from tests.support.page_requests import get_page, post_form
from tests.support.step_up import PROBLEM_MESSAGES, PasswordForm, read_state
from tests.support.translations import translate_problem as refused_in_words


def collect_refusals(contest: Contest, form: PasswordForm, *, field: str) -> list[tuple[str, str]]:
    """Assert that a form does nothing without the password. Return each expected message with its page."""
    page_path, path, fields = form
    html = get_page(contest.arena, page_path, organizer=True).text
    assert field in html.split(f'action="{path}"')[1].split("</form>")[0]
    state_before, refusals = read_state(), []
    for password, status, language in (("", 403, "en"), ("wrong", 422, "ja")):
        values = fields | {"password": password}
        response = post_form(contest.arena, path, values, organizer=True, language=language)
        assert (response.status_code, read_state()) == (status, state_before)
        assert 'value="wrong"' not in response.text
        refusals.append((refused_in_words(PROBLEM_MESSAGES[status], language), response.text))
    assert post_form(contest.arena, path, fields, organizer=True).status_code in {200, 201, 303}
    assert read_state() != state_before
    return refusals
