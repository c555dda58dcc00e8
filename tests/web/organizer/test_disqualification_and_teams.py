"""Disqualification, quotas, invites, co-organizers and baselines on the organizers' pages."""

import re
from html import unescape
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from anoncup.schemas.roles import Role
from app.db.models import AuditEntry, Evaluation, State, Submission, User
from app.db.transaction import transaction
from tests.support.accounts import create_person, sign_up
from tests.support.arena import API, Arena
from tests.support.contest import Contest
from tests.support.database_rows import load_team_id
from tests.support.disqualification_pages import ORGANIZE_PATH, submit_release
from tests.support.organizer_pages import fail_evaluation, get_page_text
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.translations import translate, translate_message
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

LONG_NAME = "チーム「長い名前」" * 8 + " & <b>“quotes”</b>"


def list_reasons(action: str) -> list[str | None]:
    with transaction() as session:
        entries = session.query(AuditEntry).filter_by(action=action).order_by(AuditEntry.number)
        return [(entry.after or {}).get("reason") for entry in entries]


def test_submissions_can_be_filtered_by_team_state_and_comment(arena: Arena) -> None:
    red, blue = submit_release(arena, "red"), submit_release(arena, "blue", seed=2)
    fail_evaluation(red)
    with transaction() as session:
        session.get_one(Submission, UUID(blue)).comment = "50% noise_"
    for query, expected in (
        ("", {red, blue}),
        ("?state=ERROR", {red}),
        (f"?team={load_team_id('blue')}", {blue}),
        ("?said=50%25", {blue}),
        ("?said=5%250", set()),  # no wildcard
        ("?said=noise_", {blue}),
        ("?state=SCORED&said=nothing", set()),
        ("?team=nonsense&state=NONE&said=%00", {red, blue}),
        ("?of=teams", {red, blue}),
        ("?of=baselines", set()),
    ):
        html = get_page_text(arena, "/submissions" + query)
        assert set(re.findall(r'href="/submissions/([0-9a-f-]+)"', html)) == expected, query
    assert translate("No submission matches.") in get_page_text(arena, "/submissions?said=nothing")


def test_pagination_keeps_the_filter(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.organizer.submissions.PAGE_SIZE", 2)
    submitted = [submit_release(arena, "red", seed=seed) for seed in range(5)]
    query, page_ids = f"?team={load_team_id('red')}&state=QUEUED", []
    while query:
        html = get_page_text(arena, "/submissions" + query)
        page_ids += re.findall(r'href="/submissions/([0-9a-f-]+)"', html)
        next_link = re.search(r'rel="next" href="([^"]+)"', html)
        query = next_link.group(1) if next_link else ""
    assert page_ids == submitted[::-1]


def test_submission_can_be_disqualified_and_reinstated(arena: Arena) -> None:
    red = submit_release(arena, "red")
    score_everything()
    path = f"{ORGANIZE_PATH}/submissions/{red}"
    confirmation = get_page_text(arena, f"/submissions/{red}/disqualify")
    assert translate("run_disqualify_note") in confirmation
    assert "Apart from the team, only organizers can read it, in the audit log." in confirmation
    assert len(arena.get_board()["rows"]) == 1  # nothing has happened
    response = post_form(arena, path + "/disqualify", {"reason": " copied  from\nblue "}, organizer=True)
    assert response.headers["location"] == path + "?done=disqualified"
    assert arena.get_board()["rows"] == []
    assert list_reasons("submission.disqualify") == ["copied from blue"]
    html = get_page_text(arena, f"/submissions/{red}")
    assert translate("run_reinstate_note") in html
    assert "copied from blue" in html
    repeated = post_form(arena, path + "/disqualify", {"reason": "again"}, organizer=True, language="ja")
    assert_refused(repeated, 409, translate_message("it is disqualified already", "ja"))
    assert translate("run_reinstate_note") in get_page_text(arena, f"/submissions/{red}/reinstate")
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


def test_reason_for_a_submission_is_shown_on_pages_and_in_the_api(arena: Arena) -> None:
    red = submit_release(arena, "red")
    score_everything()
    response = arena.post(f"/submissions/{red}/disqualify", json={"reason": f"  {REASON}\n "})
    assert response.json()["disqualification_reason"] == REASON
    assert arena.get_submission(red, "red")["disqualification_reason"] == REASON
    (submission,) = arena.get("/competitions/small/submissions", team="red").json()
    assert submission["disqualification_reason"] == REASON
    for path in (f"/submissions/{red}", "/competitions/small/submissions", f"/submissions/{red}/row"):
        assert f"Their reason: “{REASON}”." in unescape(get_page(arena, path, team="red").text)
    assert get_page(arena, f"/submissions/{red}", team="blue").status_code == 404
    too_long = arena.post(f"/submissions/{red}/reinstate", json={"reason": "x" * 501})
    assert (too_long.status_code, too_long.json()["code"]) == (422, "invalid_reason")


def test_without_a_reason_the_team_is_referred_to_the_organizers(arena: Arena) -> None:
    red = submit_release(arena, "red")
    score_everything()
    assert arena.post(f"/submissions/{red}/disqualify").json()["disqualification_reason"] is None
    assert ASK_WHY in get_page(arena, f"/submissions/{red}", team="red").text
    assert ASK_WHY not in get_page(arena, f"/submissions/{red}", organizer=True).text


def test_invalid_reason_is_refused(arena: Arena) -> None:
    red = submit_release(arena, "red")
    too_long = "A reason is text of at most 500 characters."
    for reason, problem in (("x" * 501, too_long), ("a bell\x07", too_long), (" \n", "Give a reason.")):
        path = f"{ORGANIZE_PATH}/submissions/{red}/disqualify"
        assert_refused(post_form(arena, path, {"reason": reason}, organizer=True), 422, problem)
    with transaction() as session:
        assert session.get_one(Submission, UUID(red)).disqualified_at is None


def test_failed_submission_can_be_re_evaluated_on_its_page(arena: Arena) -> None:
    red = submit_release(arena, "red")
    fail_evaluation(red)
    html = get_page_text(arena, f"/submissions/{red}")
    assert "The disk was full." in html
    send_form(arena, f"{ORGANIZE_PATH}/submissions/{red}/rescore", organizer=True)
    score_everything()
    with transaction() as session:
        states = session.query(Evaluation.state).filter_by(submission_id=UUID(red), current=True).all()
    assert [state for (state,) in states] == [State.SCORED]
    response = post_form(arena, f"{ORGANIZE_PATH}/submissions/{red}/rescore", organizer=True)
    assert_refused(response, 409, "Only a submission that ended in ERROR can be scored again on its own.")


def test_objects_of_another_competition_are_not_found(client: TestClient, arena: Arena) -> None:
    foreign_id, team_id = (
        submit_release(Arena.create(client, slug="elsewhere"), "green"),
        load_team_id("green"),
    )
    foreign_submission = f"{ORGANIZE_PATH}/submissions/{foreign_id}"
    pages = (foreign_submission, f"{foreign_submission}/disqualify", f"{ORGANIZE_PATH}/teams/{team_id}")
    assert [get_page(arena, path, organizer=True).status_code for path in pages] == [404] * 3
    response = post_form(arena, f"{foreign_submission}/disqualify", {"reason": "x"}, organizer=True)
    assert response.status_code == 404
    other_path = f"/competitions/elsewhere/organize/teams/{team_id}"
    assert get_page(arena, other_path, organizer=True).status_code == 403


def test_reinstated_team_regains_everything(arena: Arena) -> None:
    submit_release(arena, LONG_NAME)
    score_everything()
    path = f"{ORGANIZE_PATH}/teams/{load_team_id(LONG_NAME)}"
    send_form(arena, path + "/disqualify", {"reason": "two accounts"}, organizer=True)
    assert arena.get_board()["rows"] == []
    html = get_page(arena, path, organizer=True).text
    assert "<b>“quotes”" not in html
    assert translate("run_reinstate_team_note") in html
    send_form(arena, path + "/reinstate", {"reason": "cousins"}, organizer=True)
    assert len(arena.get_board()["rows"]) == 1


def test_disqualified_team_loses_its_target(contest: Contest) -> None:
    contest.publish_targets("red", "blue")
    path = f"{ORGANIZE_PATH}/teams/{load_team_id('blue')}/disqualify"
    assert translate("run_disqualify_team_note") in get_page(contest.arena, path, organizer=True).text
    send_form(contest.arena, path, {"reason": "copied"}, organizer=True)
    assert "<dt>Targets</dt><dd>1</dd>" in get_page(contest.arena, ORGANIZE_PATH, organizer=True).text
    assert len(contest.get_board("matrix", organizer=True)["targets"]) == 1


def test_granted_quota_is_added(arena: Arena) -> None:
    arena.get_team_token("red")
    path = f"{ORGANIZE_PATH}/teams/{load_team_id('red')}"
    fields = {"cap": "valid_total", "amount": "7", "reason": "a lost day"}
    response = send_form(arena, path + "/grants", fields, organizer=True)
    assert response.headers["location"] == path + "?done=granted"
    assert ">107<" in get_page(arena, path, organizer=True).text
    assert list_reasons("quota.grant") == ["a lost day"]
    for amount in ("0", "1001", "seven", "-1", ""):
        response = post_form(arena, path + "/grants", fields | {"amount": amount}, organizer=True)
        problem = "Grant 1 to 1,000 more." if amount.isdecimal() else "Enter a whole number."
        assert_refused(response, 422, problem)
        assert f'value="{amount or 1}"' in response.text


def test_invite_is_shown_once_and_creates_the_allowed_teams(arena: Arena) -> None:
    response = post_form(arena, f"{ORGANIZE_PATH}/teams/invites", {"uses": "2"}, organizer=True)
    (link,) = re.findall(r'<p class="once"[^>]*>([^<]+)</p>', response.text)
    code = link.partition("/sign-up?invite=")[2]
    assert link.startswith("http://localhost/")
    assert [sign_up(arena.client, code).status_code for _ in range(3)] == [201, 201, 422]
    assert code not in get_page_text(arena, "/teams") + get_page_text(arena, "/audit")
    for uses in ("0", "1001", "two"):
        refusal = post_form(arena, f"{ORGANIZE_PATH}/teams/invites", {"uses": uses}, organizer=True)
        problem = "An invite is for 1 to 1,000 teams." if uses.isdecimal() else "Enter a whole number."
        assert_refused(refusal, 422, problem)


def test_open_invites_can_be_listed_and_withdrawn(arena: Arena) -> None:
    (key,) = re.findall(r'name="key" value="([0-9a-f-]+)"', get_page_text(arena, "/teams"))
    path, fields = f"{ORGANIZE_PATH}/teams/invites", {"uses": "3", "key": key}
    (code,) = re.findall(r"/sign-up\?invite=([\w-]+)<", post_form(arena, path, fields, organizer=True).text)
    repeated_response = post_form(arena, path, fields, organizer=True)
    assert_refused(repeated_response, 409, "This invite has been made already: it is among the open ones")
    assert code not in repeated_response.text
    html = get_page_text(arena, "/teams")
    assert html.count("Teams left: 3") == 1
    assert re.search(r"\(organizer \d+\) · Until", html)
    assert key[:8] in get_page_text(arena, "/audit")
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


def test_organizers_can_be_added_and_removed_except_the_last(arena: Arena) -> None:
    create_person("Ayumi", Role.ORGANIZER)
    create_person("Ken")
    path = f"{ORGANIZE_PATH}/teams/organizers"
    send_form(arena, path, {"name": "Ayumi"}, organizer=True)
    for name, problem in (
        ("Ayumi", "this person organizes the competition already"),
        ("Ken", "this person has no organizer's account; an administrator makes one"),
        ("Nobody", "there is nobody of that name"),
    ):
        response = post_form(arena, path, {"name": name}, organizer=True, language="ja")
        assert response.status_code >= 400
        assert translate_message(problem, "ja") in response.text
        assert f'value="{name}"' in response.text
    removals = re.findall(r'action="([^"]+/remove)"', get_page_text(arena, "/teams"))
    assert len(removals) == 2
    with transaction() as session:
        ayumi = session.query(User).filter_by(name="Ayumi").one().id
    removal = next(action for action in removals if str(ayumi) in action)
    send_form(arena, removal, organizer=True)
    assert "/remove" not in get_page_text(arena, "/teams")
    last_removal = next(action for action in removals if action != removal)
    last_response = post_form(arena, last_removal, organizer=True)
    assert_refused(last_response, 409, "The last organizer cannot be removed.")


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
    baselines_html = get_page_text(arena, "/submissions?of=baselines")
    (submission_id,) = re.findall(r'href="/submissions/([0-9a-f-]+)"', baselines_html)
    assert translate("No submission matches.") in get_page_text(arena, "/submissions?of=teams")
    html = get_page_text(arena, f"/submissions/{submission_id}")
    assert "This is the release of a baseline: it has no team and is no target." in html
    assert translate("run_disqualify") not in html
    assert get_page_text(arena, f"/submissions/{submission_id}/disqualify", status=404)
    (removal,) = re.findall(r'action="([^"]+/remove)"', get_page_text(arena, "/baselines"))
    send_form(arena, removal, organizer=True)
    assert arena.get_board()["rows"] == []
    assert translate("No baseline is on the board yet.") in get_page_text(arena, "/baselines")


def test_sample_methods_make_accepted_baselines(arena: Arena) -> None:
    for method in ("k_anonymize", "unify_columns", "swap_within_classes", "shift"):
        send_form(arena, f"{ORGANIZE_PATH}/baselines", {"method": method}, organizer=True)
