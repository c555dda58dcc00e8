"""What organizers rule on submissions and teams, and whom they let in."""

import re
from html import unescape
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from anoncup.schemas.roles import Role
from app.db.models import AuditEntry, Competition, Evaluation, State, Submission, Team, User
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.accounts import accounts
from tests.support.arena import API, PASSWORD, Arena
from tests.support.contest import Contest
from tests.support.disqualification_pages import DESK, sent
from tests.support.organizer_pages import failed, read
from tests.support.uploads import score_everything
from tests.web.reader import page, send
from tests.web.spoken import said, sentence

pytestmark = pytest.mark.full

LONG = "チーム「長い名前」" * 8 + " & <b>“quotes”</b>"


def team_id(name: str) -> UUID:
    with transaction() as session:
        return session.query(Team).filter_by(name=name).one().id


def reasons(action: str) -> list[str | None]:
    with transaction() as session:
        found = session.query(AuditEntry).filter_by(action=action).order_by(AuditEntry.number)
        return [(entry.after or {}).get("reason") for entry in found]


def test_the_list_of_submissions_is_filtered_by_team_state_and_comment(arena: Arena) -> None:
    red, blue = sent(arena, "red"), sent(arena, "blue", seed=2)
    failed(red)
    with transaction() as session:
        session.get_one(Submission, UUID(blue)).comment = "50% noise_"
    for query, found in (
        ("", {red, blue}),
        ("?state=ERROR", {red}),
        (f"?team={team_id('blue')}", {blue}),
        ("?said=50%25", {blue}),
        ("?said=5%250", set()),  # no wildcard
        ("?said=noise_", {blue}),
        ("?state=SCORED&said=nothing", set()),
        ("?team=nonsense&state=NONE&said=%00", {red, blue}),
        ("?of=teams", {red, blue}),
        ("?of=baselines", set()),
    ):
        shown = read(arena, "/submissions" + query)
        assert set(re.findall(r'href="/submissions/([0-9a-f-]+)"', shown)) == found, query
    assert said("No submission matches.") in read(arena, "/submissions?said=nothing")


def test_many_submissions_come_in_pages_that_keep_the_filter(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.organizer.submissions.PAGE", 2)
    listed = [sent(arena, "red", seed=seed) for seed in range(5)]
    query, seen = f"?team={team_id('red')}&state=QUEUED", []
    while query:
        shown = read(arena, "/submissions" + query)
        seen += re.findall(r'href="/submissions/([0-9a-f-]+)"', shown)
        following = re.search(r'rel="next" href="([^"]+)"', shown)
        query = following.group(1) if following else ""
    assert seen == listed[::-1]


def test_a_submission_is_disqualified_with_a_reason_and_reinstated(arena: Arena) -> None:
    red = sent(arena, "red")
    score_everything()
    path = f"{DESK}/submissions/{red}"
    preview = read(arena, f"/submissions/{red}/disqualify")
    assert (
        said("ruling_board_anonymization") + " " + said("The row disappears (rank {n} now).", n=1) in preview
    )
    assert said("Its members read on their pages that it is disqualified, when, and your reason.") in preview
    assert (
        said(
            "The team sees this text as you write it. Apart from the team, only organizers can read it, in the audit log."
        )
        in preview
    )
    assert len(arena.board()["rows"]) == 1  # nothing has happened
    answer = send(arena, path + "/disqualify", {"reason": " copied  from\nblue "}, organizer=True)
    assert answer.headers["location"] == path + "?done=disqualified"
    assert arena.board()["rows"] == []
    assert reasons("submission.disqualify") == ["copied from blue"]
    assert said("run_reinstate_note") in read(arena, f"/submissions/{red}")
    assert "copied from blue" in read(arena, f"/submissions/{red}")
    again = send(arena, path + "/disqualify", {"reason": "again"}, organizer=True, language="ja")
    assert (again.status_code, sentence("it is disqualified already", "ja") in again.text) == (409, True)
    assert said("A row comes back, with rank {n}.", n=1) in read(arena, f"/submissions/{red}/reinstate")
    assert read(arena, f"/submissions/{red}/disqualify", status=409)
    assert send(arena, path + "/reinstate", {"reason": "a mistake"}, organizer=True).status_code == 303
    assert len(arena.board()["rows"]) == 1
    assert "copied from blue" in read(arena, "/audit")
    for mistaken in ("copied from blue", "a mistake"):  # the first is taken back, the second is for the log
        assert mistaken not in page(arena, f"/submissions/{red}", team="red").text


REASON = "copied <b>&amp;</b> “from” blue, 写しです"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_reason_for_a_team_is_read_by_its_members_and_by_nobody_else(arena: Arena, language: str) -> None:
    red, blue = sent(arena, "red"), sent(arena, "blue", seed=2)
    score_everything()
    barred = team_id("red")
    answer = send(arena, f"{DESK}/teams/{barred}/disqualify", {"reason": REASON}, organizer=True)
    assert answer.status_code == 303
    told = said("Their reason: “{reason}”.", language, reason=REASON)
    for path in ("/competitions/small", "/competitions/small/submissions", f"/submissions/{red}"):
        shown = page(arena, path, team="red", language=language).text
        assert told in unescape(shown)
        assert "<b>&amp;" not in shown
        assert said("Ask the organizers why.", language) not in shown
    own = arena.get("/competitions/small/team", token=arena.team("red")).json()
    assert own["disqualified_for"] == REASON
    entrants = arena.get("/competitions/small/teams").json()
    assert {one["name"]: one["disqualified_for"] for one in entrants} == {"red": REASON, "blue": None}
    for path in ("/competitions/small", "/competitions/small/boards/anonymization", f"/submissions/{blue}"):
        for team in ("blue", None):
            assert "copied" not in page(arena, path, team=team, language=language).text
    assert "copied" not in str(arena.board())
    send(arena, f"{DESK}/teams/{barred}/reinstate", {"reason": "cleared"}, organizer=True)
    again = arena.get("/competitions/small/team", token=arena.team("red")).json()
    assert (again["disqualified_at"], again["disqualified_for"]) == (None, None)
    assert "cleared" not in page(arena, "/competitions/small", team="red").text


def test_the_reason_for_a_submission_is_read_on_its_page_in_the_list_and_by_programs(arena: Arena) -> None:
    red = sent(arena, "red")
    score_everything()
    answer = arena.post(f"/submissions/{red}/disqualify", json={"reason": f"  {REASON}\n "})
    assert answer.json()["disqualified_for"] == REASON
    assert arena.submission(red, "red")["disqualified_for"] == REASON
    (listed,) = arena.get("/competitions/small/submissions", token=arena.team("red")).json()
    assert listed["disqualified_for"] == REASON
    told = said("Their reason: “{reason}”.", reason=REASON)
    for path in (f"/submissions/{red}", "/competitions/small/submissions", f"/submissions/{red}/row"):
        assert told in unescape(page(arena, path, team="red").text)
    assert page(arena, f"/submissions/{red}", team="blue").status_code == 404
    too_long = arena.post(f"/submissions/{red}/reinstate", json={"reason": "x" * 501})
    assert (too_long.status_code, too_long.json()["code"]) == (422, "invalid_reason")


def test_without_a_reason_the_team_is_led_to_the_organizers(arena: Arena) -> None:
    red = sent(arena, "red")
    score_everything()
    assert arena.post(f"/submissions/{red}/disqualify").json()["disqualified_for"] is None
    shown = page(arena, f"/submissions/{red}", team="red").text
    assert said("Ask the organizers why.") in shown
    assert said("Ask the organizers why.") not in page(arena, f"/submissions/{red}", organizer=True).text


def test_a_reason_that_cannot_be_kept_is_refused_and_what_was_typed_stays(arena: Arena) -> None:
    red = sent(arena, "red")
    for reason, problem in (
        ("x" * 501, "A reason is text of at most 500 characters."),
        (
            "half \ud800".encode("utf-8", "replace").decode() + "\x07",
            "A reason is text of at most 500 characters.",
        ),
        (" \n", "Give a reason."),
    ):
        answer = send(arena, f"{DESK}/submissions/{red}/disqualify", {"reason": reason}, organizer=True)
        assert answer.status_code == 422
        assert problem in answer.text
    with transaction() as session:
        assert session.get_one(Submission, UUID(red)).disqualified_at is None


def test_a_submission_that_failed_is_scored_again_by_clicking(arena: Arena) -> None:
    red = sent(arena, "red")
    failed(red)
    shown = read(arena, f"/submissions/{red}")
    assert "The disk was full." in shown
    assert send(arena, f"{DESK}/submissions/{red}/score-again", organizer=True).status_code == 303
    score_everything()
    with transaction() as session:
        states = session.query(Evaluation.state).filter_by(submission_id=UUID(red), current=True).all()
    assert [state for (state,) in states] == [State.SCORED]
    answer = send(arena, f"{DESK}/submissions/{red}/score-again", organizer=True)
    assert (
        answer.status_code,
        "Only a submission that ended in ERROR can be scored again on its own." in answer.text,
    ) == (409, True)


def test_what_belongs_to_another_competition_does_not_exist_here(client: TestClient, arena: Arena) -> None:
    other = Arena.opened(client, slug="elsewhere")
    strange = sent(other, "green")
    assert page(arena, f"{DESK}/submissions/{strange}", organizer=True).status_code == 404
    with transaction() as session:  # not even for one who organizes both
        row = session.query(Competition).filter_by(slug="elsewhere").one()
        other_path = f"/competitions/{row.slug}/organize/teams/{team_id('green')}"
    assert page(arena, other_path, organizer=True).status_code == 403
    assert page(arena, f"{DESK}/teams/{team_id('green')}", organizer=True).status_code == 404
    answer = send(arena, f"{DESK}/submissions/{strange}/disqualify", {"reason": "x"}, organizer=True)
    assert answer.status_code == 404
    assert page(arena, f"{DESK}/submissions/{strange}/disqualify", organizer=True).status_code == 404


def test_a_team_is_disqualified_and_reinstated_with_all_it_had(arena: Arena) -> None:
    sent(arena, LONG)
    score_everything()
    path = f"{DESK}/teams/{team_id(LONG)}"
    assert send(arena, path + "/disqualify", {"reason": "two accounts"}, organizer=True).status_code == 303
    assert arena.board()["rows"] == []
    shown = page(arena, path, organizer=True).text
    assert "<b>“quotes”" not in shown
    assert said("run_reinstate_team_note") in shown
    assert send(arena, path + "/reinstate", {"reason": "cousins"}, organizer=True).status_code == 303
    assert len(arena.board()["rows"]) == 1


def test_a_ruling_says_beforehand_whose_targets_and_guesses_it_takes(client: TestClient) -> None:
    contest = Contest.opened(client)
    red, blue = contest.submit("red"), contest.submit("blue")
    contest.attack()
    for attacker, victim, rows in (("blue", red, 3), ("red", blue, 2), ("green", blue, 1)):
        contest.guessed(attacker, victim, rows)
    shown = read(contest.arena, f"/teams/{team_id('blue')}/disqualify")
    assert said("Targets that are withdrawn: {n}.", n=1) in shown
    assert said("Guesses on them that stop counting: {n}, of {teams} teams.", n=2, teams=2) in shown
    assert said("The team’s own guesses stop counting: {n}.", n=1) in shown
    assert (
        said("ruling_board_reidentification") + " " + said("The row disappears (rank {n} now).", n=1) in shown
    )


def test_quota_is_granted_and_counts(arena: Arena) -> None:
    arena.team("red")
    path = f"{DESK}/teams/{team_id('red')}"
    fields = {"cap": "valid_total", "amount": "7", "reason": "a lost day"}
    assert send(arena, path + "/grants", fields, organizer=True).headers["location"] == path + "?done=granted"
    assert ">107<" in page(arena, path, organizer=True).text
    assert reasons("quota.grant") == ["a lost day"]
    for amount in ("0", "1001", "seven", "-1", ""):
        answer = send(arena, path + "/grants", fields | {"amount": amount}, organizer=True)
        why = "Grant 1 to 1,000 more." if amount.isdecimal() else "Enter a whole number."
        assert (answer.status_code, why in answer.text) == (422, True)
        assert f'value="{amount or 1}"' in answer.text


def test_an_invite_is_shown_once_and_founds_as_many_teams_as_it_says(arena: Arena) -> None:
    answer = send(arena, f"{DESK}/teams/invites", {"uses": "2"}, organizer=True)
    (link,) = re.findall(r'<p class="once"[^>]*>([^<]+)</p>', answer.text)
    code = link.partition("/sign-up?invite=")[2]
    assert link.startswith("http://localhost/")
    statuses = [
        arena.client.post(
            f"{API}/signup",
            json={"invite": code, "team": f"t{n}", "name": f"p{n}", "password": PASSWORD},
        ).status_code
        for n in range(3)
    ]
    assert statuses == [201, 201, 422]
    assert code not in read(arena, "/teams") + read(arena, "/audit")
    for uses in ("0", "1001", "two"):
        refused = send(arena, f"{DESK}/teams/invites", {"uses": uses}, organizer=True)
        why = "An invite is for 1 to 1,000 teams." if uses.isdecimal() else "Enter a whole number."
        assert (refused.status_code, why in refused.text) == (422, True)


def test_open_invites_are_listed_and_withdrawn_and_a_form_sent_twice_makes_one(arena: Arena) -> None:
    (key,) = re.findall(r'name="key" value="([0-9a-f-]+)"', read(arena, "/teams"))
    made = send(arena, f"{DESK}/teams/invites", {"uses": "3", "key": key}, organizer=True)
    (code,) = re.findall(r"/sign-up\?invite=([\w-]+)<", made.text)
    again = send(arena, f"{DESK}/teams/invites", {"uses": "3", "key": key}, organizer=True)
    assert (again.status_code, code in again.text) == (409, False)
    assert (
        "This invite has been made already: it is among the open ones, and its link cannot be shown again."
        in unescape(again.text)
    )
    shown = read(arena, "/teams")
    assert shown.count(said("Teams left: {n}", n=3)) == 1
    assert re.search(r"\(organizer \d+\) · " + said("Until"), shown)
    assert key[:8] in read(arena, "/audit")
    path = f"{DESK}/teams/invites/{key}/withdraw"
    assert send(arena, path, organizer=True).headers["location"].endswith("?done=invite_withdrawn")
    assert said("Open invites") not in read(arena, "/teams")
    body = {"invite": code, "team": "late", "name": "late comer", "password": PASSWORD}
    assert arena.client.post(f"{API}/signup", json=body).json()["code"] == "invalid_invite"
    assert send(arena, path, organizer=True).status_code == 404
    assert page(arena, f"{DESK}/teams/invites", organizer=True).status_code == 303


def test_a_password_link_is_shown_once_and_works(arena: Arena) -> None:
    arena.team("red")
    shown = read(arena, f"/teams/{team_id('red')}")
    (action,) = re.findall(r'action="([^"]+/password-link)"', shown)
    answer = send(arena, action, organizer=True)
    (link,) = re.findall(r'<p class="once"[^>]*>([^<]+)</p>', answer.text)
    code = unescape(link).partition("/password?code=")[2]
    assert code not in read(arena, f"/teams/{team_id('red')}") + read(arena, "/audit")
    body = {"code": code, "password": "battery staple"}
    assert arena.client.post(f"{API}/password", json=body).status_code in {200, 204}


def test_organizers_are_added_and_removed_but_the_last(arena: Arena) -> None:
    with transaction() as session:
        for name, role in (("Ayumi", Role.ORGANIZER), ("Ken", Role.PARTICIPANT)):
            accounts.create_user(session, name=name, password=PASSWORD, role=role)
    path = f"{DESK}/teams/organizers"
    assert send(arena, path, {"name": "Ayumi"}, organizer=True).status_code == 303
    for name, key in (
        ("Ayumi", "this person organizes the competition already"),
        ("Ken", "this person has no organizer's account; an administrator makes one"),
        ("Nobody", "there is nobody of that name"),
    ):
        answer = send(arena, path, {"name": name}, organizer=True, language="ja")
        assert answer.status_code >= 400
        assert sentence(key, "ja") in answer.text
        assert f'value="{name}"' in answer.text
    removals = re.findall(r'action="([^"]+/remove)"', read(arena, "/teams"))
    assert len(removals) == 2
    with transaction() as session:
        ayumi = session.query(User).filter_by(name="Ayumi").one().id
    removal = next(one for one in removals if str(ayumi) in one)
    assert send(arena, removal, organizer=True).status_code == 303
    assert "/remove" not in read(arena, "/teams")
    other = next(one for one in removals if one != removal)
    last = send(arena, other, organizer=True)
    assert (last.status_code, "The last organizer cannot be removed." in last.text) == (409, True)


def test_a_baseline_of_a_sample_method_comes_to_the_board_and_goes(arena: Arena) -> None:
    path = f"{DESK}/baselines"
    answer = send(arena, path, {"method": "add_noise", "name": "A little noise"}, organizer=True)
    assert answer.status_code == 303, answer.text
    score_everything()
    (row,) = arena.board()["rows"]
    assert (row["team"], row["baseline"], row["rank"]) == ("A little noise", True, None)
    for fields, key in (
        (
            {"method": "add_noise", "name": "A little noise"},
            "This competition has a team of that name, or of one that looks like it: choose another.",
        ),
        ({"method": "magic", "name": "x"}, "Methods: "),
    ):
        refused = send(arena, path, fields, organizer=True)
        assert (refused.status_code >= 400, key in unescape(refused.text)) == (True, True)
    (one,) = re.findall(r'href="/submissions/([0-9a-f-]+)"', read(arena, "/submissions?of=baselines"))
    assert said("No submission matches.") in read(arena, "/submissions?of=teams")
    shown = read(arena, f"/submissions/{one}")
    assert (
        said("This is the release of a baseline: it has no team and is no target. Remove it on the page")
        in shown,
        said("run_disqualify") in shown,
    ) == (True, False)
    assert read(arena, f"/submissions/{one}/disqualify", status=404)
    (removal,) = re.findall(r'action="([^"]+/remove)"', read(arena, "/baselines"))
    assert send(arena, removal, organizer=True).status_code == 303
    assert arena.board()["rows"] == []
    assert said("No baseline is on the board yet.") in read(arena, "/baselines")


@pytest.mark.parametrize("method", ["k_anonymize", "unify_columns", "swap_within_classes", "shift"])
def test_every_kind_of_method_makes_a_release_that_is_taken_in(arena: Arena, method: str) -> None:
    assert send(arena, f"{DESK}/baselines", {"method": method}, organizer=True).status_code == 303
