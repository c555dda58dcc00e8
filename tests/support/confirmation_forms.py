"""Forms that ask for the password again."""

from tests.support.contest import Contest
from tests.support.step_up import SAID, Form, state
from tests.web.reader import page, send
from tests.web.spoken import refused as refused_in_words


def refusals(contest: Contest, form: Form, *, field: str) -> list[tuple[str, str]]:
    """The form has the field and does nothing without the password; what each refusal is to say, its page."""
    where, path, fields = form
    shown = page(contest.arena, where, organizer=True).text
    assert field in shown.split(f'action="{path}"')[1].split("</form>")[0]
    before, found = state(), []
    for password, status, language in (("", 403, "en"), ("wrong", 422, "ja")):
        sent = fields | {"password": password}
        answer = send(contest.arena, path, sent, organizer=True, language=language)
        assert (answer.status_code, state()) == (status, before)
        assert 'value="wrong"' not in answer.text
        found.append((refused_in_words(SAID[status], language), answer.text))
    assert send(contest.arena, path, fields, organizer=True).status_code in {200, 201, 303}
    assert state() != before
    return found
