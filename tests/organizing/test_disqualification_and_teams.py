"""Disqualification, quotas, invites, co-organizers and baselines on the organizers' pages."""

import re
from html import unescape

import pytest

from app.core.db.models import AuditEntry
from app.core.db.transaction import transaction
from tests.support.accounts import sign_up
from tests.support.arena import API, Arena
from tests.support.database_rows import load_team_id
from tests.support.organizer_pages import ORGANIZE_PATH, get_page_text, submit_release
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.translations import translate
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def list_reasons(action: str) -> list[str | None]:
    with transaction() as session:
        entries = session.query(AuditEntry).filter_by(action=action).order_by(AuditEntry.number)
        return [(entry.after or {}).get("reason") for entry in entries]


def test_submission_can_be_disqualified_and_reinstated(arena: Arena) -> None:
    red = submit_release(arena, "red")
    score_everything()
    path = f"{ORGANIZE_PATH}/submissions/{red}"
    form_page = get_page_text(arena, f"/submissions/{red}")
    assert translate("run_disqualify_note") in form_page
    assert "Apart from the team, only organizers can read it, in the audit log." in form_page
    response = post_form(arena, path + "/disqualify", {"reason": " copied  from\nblue "}, organizer=True)
    assert response.headers["location"] == path + "?done=disqualified"
    assert arena.get_board()["rows"] == []
    assert list_reasons("submission.disqualify") == ["copied from blue"]
    html = get_page_text(arena, f"/submissions/{red}")
    assert translate("run_reinstate_note") in html
    assert "copied from blue" in html
    send_form(arena, path + "/reinstate", {"reason": "a mistake"}, organizer=True)
    assert len(arena.get_board()["rows"]) == 1
    assert "copied from blue" in get_page_text(arena, "/audit")
    for reason in ("copied from blue", "a mistake"):  # one is withdrawn, the other is only logged
        assert reason not in get_page(arena, f"/submissions/{red}", team="red").text


REASON = "copied <b>&amp;</b> “from” blue, 写しです"
ASK_WHY = translate("Ask the organizers why.")


def test_reason_for_a_team_is_visible_only_to_its_members(arena: Arena) -> None:
    red, blue = submit_release(arena, "red"), submit_release(arena, "blue", seed=2)
    score_everything()
    competition, team_path = "/competitions/small", f"{ORGANIZE_PATH}/teams/{load_team_id('red')}"
    send_form(arena, f"{team_path}/disqualify", {"reason": REASON}, organizer=True)
    for path in (competition, f"{competition}/submissions", f"/submissions/{red}"):
        html = get_page(arena, path, team="red").text
        assert f"Their reason: “{REASON}”." in unescape(html)
        assert "<b>&amp;" not in html
        assert ASK_WHY not in html
    assert arena.get(f"{competition}/team", team="red").json()["disqualification_reason"] == REASON
    teams = arena.get(f"{competition}/teams").json()
    reasons = {row["name"]: row["disqualification_reason"] for row in teams}
    assert reasons == {"red": REASON, "blue": None}
    for path in (competition, f"{competition}/boards/anonymization", f"/submissions/{blue}"):
        for team in ("blue", None):
            assert "copied" not in get_page(arena, path, team=team).text
    assert "copied" not in str(arena.get_board())
    send_form(arena, f"{team_path}/reinstate", {"reason": "cleared"}, organizer=True)
    own_after = arena.get(f"{competition}/team", team="red").json()
    assert (own_after["disqualified_at"], own_after["disqualification_reason"]) == (None, None)
    assert "cleared" not in get_page(arena, competition, team="red").text


def test_open_invites_can_be_listed_and_withdrawn(arena: Arena) -> None:
    (key,) = re.findall(r'name="key" value="([0-9a-f-]+)"', get_page_text(arena, "/teams"))
    path, fields = f"{ORGANIZE_PATH}/teams/invites", {"uses": "3", "key": key}
    (code,) = re.findall(r"/sign-up\?invite=([\w-]+)<", post_form(arena, path, fields, organizer=True).text)
    repeated_response = post_form(arena, path, fields, organizer=True)
    assert_refused(repeated_response, 409, "This invite has been made already: it is among the open ones")
    assert code not in repeated_response.text
    html = get_page_text(arena, "/teams")
    assert html.count("Teams left: 3") == 1
    assert key[:8] in get_page_text(arena, "/audit")
    assert '<pre tabindex="0">teams: 3\n</pre>' in get_page_text(arena, "/audit")
    withdrawal = post_form(arena, f"{path}/{key}/withdraw", organizer=True)
    assert withdrawal.headers["location"].endswith("?done=invite_withdrawn")
    assert translate("Open invites") not in get_page_text(arena, "/teams")
    assert sign_up(arena.client, code).json()["code"] == "invalid_invite"
    assert post_form(arena, f"{path}/{key}/withdraw", organizer=True).status_code == 404


def test_password_link_is_shown_once(arena: Arena) -> None:
    arena.get_team_token("red")
    html = get_page_text(arena, f"/teams/{load_team_id('red')}")
    (action,) = re.findall(r'action="([^"]+/password-link)"', html)
    response = post_form(arena, action, organizer=True)
    (link,) = re.findall(r'<p class="once"[^>]*>([^<]+)</p>', response.text)
    code = unescape(link).partition("/password?code=")[2]
    assert code not in get_page_text(arena, f"/teams/{load_team_id('red')}") + get_page_text(arena, "/audit")
    body = {"code": code, "password": "battery staple"}
    assert arena.client.post(f"{API}/password", json=body).status_code in {200, 204}


def test_baseline_can_be_added_and_removed(arena: Arena) -> None:
    path, fields = f"{ORGANIZE_PATH}/baselines", {"method": "add_noise", "name": "A little noise"}
    send_form(arena, path, fields, organizer=True)
    score_everything()
    (row,) = arena.get_board()["rows"]
    assert (row["team"], row["baseline"], row["rank"]) == ("A little noise", True, None)
    taken = "This competition has a team of that name: choose another."
    assert_refused(post_form(arena, path, fields, organizer=True), 409, taken)
    unknown = post_form(arena, path, fields | {"method": "magic"}, organizer=True)
    assert_refused(unknown, 422, "Methods: ")
    (submission_id,) = re.findall(r'href="/submissions/([0-9a-f-]+)"', get_page_text(arena, "/submissions"))
    html = get_page_text(arena, f"/submissions/{submission_id}")
    assert "This is the release of a baseline: it has no team and is no target." in html
    assert translate("run_disqualify") not in html
    (removal,) = re.findall(r'action="([^"]+/remove)"', get_page_text(arena, "/baselines"))
    send_form(arena, removal, organizer=True)
    assert arena.get_board()["rows"] == []
    assert translate("No baseline is on the board yet.") in get_page_text(arena, "/baselines")
