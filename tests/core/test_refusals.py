"""A form is refused with the status and the sentence of the API, and keeps what was typed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from tests.support.accounts import create_invite, create_person
from tests.support.arena import API, PASSWORD, ROWS, build_competition_toml
from tests.support.contest import Contest, set_berlin_windows
from tests.support.database_rows import load_team_id
from tests.support.page_requests import extract_text, get_page, post_form, send_form
from tests.support.rescores import begin_rescore, build_strict_file
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

Call = tuple[str, str, dict[str, Any]]
COMPETITION = "/competitions/small"
DESK = f"{COMPETITION}/organize"


def normalize(text: str) -> str:
    """Return the text as pages and the API both have it: they group digits differently."""
    return re.sub(r"(?<=\d),(?=\d)", "", text).casefold()


@dataclass(frozen=True)
class Refusal:
    """A form with what is typed, and the same request of the API."""

    form: str
    fields: dict[str, str]
    call: Call
    viewer: dict[str, Any] = field(default_factory=lambda: {"organizer": True})
    files: dict[str, tuple[str, bytes]] | None = None

    def send_call(self, contest: Contest) -> Response:
        method, path, content = self.call
        if self.viewer:
            return contest.arena.call(method, path, team=self.viewer.get("team"), **content)
        response: Response = contest.arena.client.request(method, API + path, **content)
        return response

    def check(self, contest: Contest) -> None:
        answer = self.send_call(contest)
        assert answer.status_code >= 400, self
        page = post_form(contest.arena, self.form, self.fields, files=self.files, **self.viewer)
        assert page.status_code == answer.status_code, (self, answer.text, extract_text(page)[-3000:])
        text = normalize(extract_text(page))
        problem = answer.json()
        sentences = {item["message"] for item in problem.get("errors", ())} or {problem["detail"]}
        assert all(normalize(sentence) in text for sentence in sentences), (self, sentences)
        typed = [text for name, text in self.fields.items() if name != "password" and text.isalpha()]
        assert all(text in page.text for text in typed), self
        assert PASSWORD not in page.text


def iter_account_refusals(contest: Contest) -> Iterator[Refusal]:
    invite = create_invite(contest.arena)
    for team, name, password in (
        ("red", "Rei", PASSWORD),
        ("", "Rei", PASSWORD),
        ("green", "", PASSWORD),
        ("\u2800", "Rei", PASSWORD),
        ("green", "Rei", "short"),
    ):
        typed = {"team": team, "name": name, "password": password}
        call: Call = "POST", "/signup", {"json": typed | {"invite": invite, "team": team or None}}
        yield Refusal(f"/sign-up?invite={invite}", typed, call, viewer={})
    name = contest.arena.get("/me", team="red").json()["name"]
    code = contest.arena.post("/users/password-links", json={"name": name}).json()["code"]
    for typed_code, password in ((code, "short"), ("wrong", PASSWORD)):
        call = "POST", "/password", {"json": {"code": typed_code, "password": password}}
        yield Refusal(f"/password?code={typed_code}", {"password": password}, call, viewer={})


def iter_team_refusals(contest: Contest) -> Iterator[Refusal]:
    red, own = {"team": "red"}, contest.arena.get("/me", team="red").json()["user_id"]
    contest.submit("red", score=False)
    call: Call = "DELETE", f"{COMPETITION}/team/members/{own}", {}
    yield Refusal(f"{COMPETITION}/team/members/{own}", {}, call, red)
    call = "POST", f"{COMPETITION}/clarifications", {"json": {"question": " "}}
    yield Refusal(f"{COMPETITION}/clarifications", {"question": " "}, call, red)
    call = "PUT", f"{COMPETITION}/team/method", {"json": {"method_description": "a\x00b"}}
    yield Refusal(f"{COMPETITION}/team/method", {"method_description": "a\x00b"}, call, red)


def iter_submission_refusals(contest: Contest) -> Iterator[Refusal]:
    red, submissions = {"team": "red"}, [contest.submit("red") for _ in range(3)]
    for submission in submissions[:2]:
        contest.arena.put(f"/submissions/{submission}/final", team="red", json={"final": True})
    rejected = contest.arena.submit_excessive("red").json()["id"]
    score_everything()
    for submission in (submissions[2], rejected):
        call: Call = "PUT", f"/submissions/{submission}/final", {"json": {"final": True}}
        yield Refusal(f"/submissions/{submission}/final", {"final": "true"}, call, red)
    path = f"/submissions/{submissions[0]}"
    yield Refusal(f"{path}/cancel", {}, ("POST", f"{path}/cancel", {}), red)
    yield Refusal(f"{DESK}{path}/rescore", {}, ("POST", f"{path}/rescore", {}))
    for reason in ("x" * 501, "a bell\x07"):
        call = "POST", f"{path}/disqualify", {"json": {"reason": reason}}
        yield Refusal(f"{DESK}{path}/disqualify", {"reason": reason}, call)
    contest.arena.post(f"{path}/disqualify")
    call = "POST", f"{path}/disqualify", {"json": {"reason": "again"}}
    yield Refusal(f"{DESK}{path}/disqualify", {"reason": "again"}, call)


def iter_organizer_refusals(contest: Contest) -> Iterator[Refusal]:
    create_person("Ken")
    own = contest.arena.get("/me").json()
    for name in (own["name"], "Ken", "Nobody"):
        call: Call = "POST", f"{COMPETITION}/organizers", {"json": {"name": name}}
        yield Refusal(f"{DESK}/teams/organizers", {"name": name}, call)
    call = "DELETE", f"{COMPETITION}/organizers/{own['user_id']}", {}
    yield Refusal(f"{DESK}/teams/organizers/{own['user_id']}/remove", {}, call)
    team = load_team_id("red")
    body = {"team_id": str(team), "points": 0, "reason": "late"}
    call = "POST", f"{COMPETITION}/adjustments", {"json": body}
    yield Refusal(f"{DESK}/teams/{team}/adjustments", {"points": "0", "reason": "late"}, call)
    for phase, action in (("reidentification", "pause"), ("anonymization", "resume"), ("nowhere", "pause")):
        path = f"/phases/{phase}/{action}"
        yield Refusal(DESK + path, {}, ("POST", COMPETITION + path, {}))


def iter_rule_refusals(contest: Contest) -> Iterator[Refusal]:
    file = build_competition_toml()
    for text in (f"colour = 1\n{file}", "not = toml = at all"):
        call: Call = "PUT", f"{COMPETITION}/competition.toml", {"content": text}
        yield Refusal(f"{DESK}/file", {"text": text, "do": "save"}, call)
    contest.submit("red", score=False)
    identifier = begin_rescore(contest, build_strict_file(contest))
    path = f"/rescores/{identifier}"
    yield Refusal(f"{DESK}{path}/apply", {}, ("POST", f"{path}/apply", {}))
    strict = build_strict_file(contest)
    call = "POST", f"{COMPETITION}/rescores", {"content": strict}
    yield Refusal(f"{DESK}/rescores", {"file": strict}, call)
    contest.post_as_organizer(f"{path}/cancel")
    yield Refusal(f"{DESK}{path}/apply", {}, ("POST", f"{path}/apply", {}))


def iter_guess_refusals(contest: Contest) -> Iterator[Refusal]:
    red, blue = contest.publish_targets("red", "blue")
    targets = {team: contest.find_target(item)["id"] for team, item in (("red", red), ("blue", blue))}
    right = contest.build_guess(red, 3)

    def build_refusal(target: str, content: bytes) -> Refusal:
        files, path = {"guess": ("guess.csv", content)}, f"/targets/{target}/guesses"
        return Refusal(path, {}, ("POST", path, {"files": files}), {"team": "blue"}, files)

    yield build_refusal(targets["blue"], right)
    for content in (b"", b"row\n" + b"1\n" * ROWS, b"original_row\n1\n", b"original_row\n\xff\n"):
        yield build_refusal(targets["red"], content)
    yield build_refusal(targets["red"], b"original_row\nx\n" + b"1\n" * (ROWS - 1))
    for rows in (1, 2, 3):
        assert contest.submit_guess("blue", targets["red"], contest.build_guess(red, rows)).status_code == 202
    yield build_refusal(targets["red"], right)
    contest.close_attacks()
    yield build_refusal(targets["red"], right)


@pytest.mark.parametrize(
    "iter_refusals",
    [
        iter_account_refusals,
        iter_team_refusals,
        iter_submission_refusals,
        iter_organizer_refusals,
        iter_rule_refusals,
        iter_guess_refusals,
    ],
    ids=lambda builder: builder.__name__,
)
def test_refusal_on_a_page_is_that_of_the_api(client: TestClient, iter_refusals: Any) -> None:
    contest = Contest.create(client)
    contest.arena.get_team_token("red")
    for refusal in iter_refusals(contest):
        refusal.check(contest)


UNREADABLE_FIELDS: tuple[tuple[str, dict[str, str], int], ...] = (
    *(("/teams/invites", {"uses": uses}, 422) for uses in ("0", "1001", "two")),
    ("/phases/anonymization/explode", {}, 404),
    ("/phases/anonymization/extend", {"end": "soon"}, 422),
    ("/phases/anonymization/extend", {"end": "2031-03-30T02:30"}, 422),
)
"""Fields that only a form has, since the API takes numbers and times with an offset; 02:30 is skipped in Berlin."""


def test_unreadable_fields_of_forms_are_refused(contest: Contest) -> None:
    contest.arena.get_team_token("red")
    set_berlin_windows()
    team = f"/teams/{load_team_id('red')}"
    submission = f"/submissions/{contest.submit('red')}"
    for path, fields, status in (
        *UNREADABLE_FIELDS,
        (f"{team}/grants", {"cap": "valid_total", "amount": "seven"}, 422),
        (f"{team}/adjustments", {"points": "much", "reason": "x"}, 422),
        (f"{submission}/disqualify", {"reason": " \n"}, 422),
    ):
        response = post_form(contest.arena, DESK + path, fields, organizer=True)
        assert response.status_code == status, (path, fields)
    send_form(contest.arena, f"{DESK}{team}/grants", {"cap": "valid_total", "amount": "7"}, organizer=True)
    caps = contest.arena.get(f"{COMPETITION}/quota", team="red").json()["caps"]
    assert next(cap["limit"] for cap in caps if cap["name"] == "valid_total") == 107
    assert ">107<" in get_page(contest.arena, f"{DESK}{team}", organizer=True).text
