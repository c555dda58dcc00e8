"""Nobody but its organizers can tell that a rehearsal exists: on every route it is as if it did not."""

import functools
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from app.db.models import Clarification, Competition, Rescore, Submission, Target, ThresholdReport
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from app.services.accounts import accounts
from app.services.contests import competitions
from app.services.organizing import rehearsals
from tests.security.stage import CONTENT, Stage
from tests.security.table import TABLE
from tests.support.arena import API, PASSWORD, competition_file
from tests.support.rehearsal import Rehearsed

pytestmark = pytest.mark.full

STRANGERS = ("visitor", "other organizer")
BY_SLUG = [route for route in TABLE if "{slug}" in route]
UNKNOWN = "x"
"""In place of the last character of the rehearsal's name: a competition that there is not."""


def rehearsed(stage: Stage) -> str:
    """The name of a rehearsal of the stage's competition."""
    with transaction() as session:
        principal = accounts.authenticate(session, str(stage.token("organizer")))
        return rehearsals.begin(session, principal, stage.arena.slug).slug


def asked(
    stage: Stage,
    route: str,
    audience: str,
    places: dict[str, Any],
    content: Any,
    *,
    known: dict[str, tuple[str | None, str | None]] | None = None,
) -> Response:
    """``known``: the token and the session of each audience, where many requests are made."""
    token, cookie = (known or {}).get(audience) or (stage.token(audience), stage.session(audience))
    method, path = route.split(" ")
    # Compressed, an answer is as long as the name that stands in it lets it be.
    headers = {"Accept-Encoding": "identity"}
    headers |= {"Sec-Fetch-Site": "same-origin", "X-Confirm-Password": quote(PASSWORD)}
    if path.startswith(API) and token:
        headers["Authorization"] = f"Bearer {token}"
    elif not path.startswith(API) and cookie:
        headers["Cookie"] = f"{COOKIE}={cookie}"
    answer: Response = stage.arena.client.request(
        method, path.format(**places), headers=headers, follow_redirects=False, **content
    )
    stage.arena.client.cookies.clear()
    return answer


def told(answer: Response, slug: str) -> tuple[Any, ...]:
    """All that an answer says, but for the name that was asked for and what differs each time."""
    headers = {name: value for name, value in answer.headers.items() if name not in {"x-request-id", "etag"}}
    said = repr((answer.status_code, headers, answer.text))
    return tuple(said.replace(slug, "SLUG").splitlines())


def test_on_every_route_a_rehearsal_is_to_strangers_as_a_competition_that_there_is_not(
    client: TestClient,
) -> None:
    stage = Stage.opened(client)
    slug = rehearsed(stage)
    unknown = slug[:-1] + UNKNOWN
    known = {audience: (stage.token(audience), stage.session(audience)) for audience in STRANGERS}
    seen = {}
    for route in BY_SLUG:
        content = CONTENT[route](stage) if route in CONTENT else {}
        places = stage.places(route)
        for audience in STRANGERS:
            there, not_there = (
                told(asked(stage, route, audience, places | {"slug": name}, content, known=known), name)
                for name in (slug, unknown)
            )
            seen[route, audience] = there == not_there
    assert [place for place, same in seen.items() if not same] == []
    assert len(seen) > 200


BY_ID = ("submission_id", "target_id", "report_id", "rescore_id", "announcement_id", "clarification_id")
ALONE = [route for route in TABLE if "{slug}" not in route and any(f"{{{one}}}" in route for one in BY_ID)]


def held(stage: Stage, cup: Rehearsed) -> dict[str, str]:
    """One of each thing that a rehearsal may have."""
    told = stage.arena.post(f"/competitions/{cup.slug}/announcements", json={"text": {"en": "Hello"}})
    assert told.status_code == 201, told.text
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == cup.slug)).one()
        sent = session.scalars(select(Submission).where(Submission.competition_id == row.id)).first()
        target = session.scalars(select(Target.id).where(Target.competition_id == row.id)).first()
        assert sent is not None
        asked = {"competition_id": row.id, "team_id": sent.team_id, "user_id": sent.user_id}
        question = Clarification(question="How many rows?", **asked)
        rescore = Rescore(competition_id=row.id, user_id=sent.user_id, file=row.file, scales={}, replaces="")
        report = ThresholdReport(
            competition_id=row.id, user_id=sent.user_id, file=row.file, original=row.original, question={}
        )
        session.add_all([question, rescore, report])
        session.flush()
        made = {"submission_id": sent.id, "target_id": target}
        made |= {"clarification_id": question.id, "rescore_id": rescore.id, "report_id": report.id}
    return {name: str(one) for name, one in made.items()} | {"announcement_id": told.json()["id"]}


def test_what_is_of_a_rehearsal_is_to_strangers_as_what_there_is_not_even_when_it_is_revealed(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsals, "MOST_TEAMS", 2)
    monkeypatch.setattr(rehearsals, "GUESSES", 1)
    stage = Stage.opened(client)
    cup = Rehearsed.begun(stage.second.arena)
    stage = replace(stage, arena=stage.second.arena)
    cup.release()
    cup.attack()
    cup.reveal()
    ids = held(stage, cup)
    seen = {}
    for route in ALONE:
        content = CONTENT[route](stage) if route in CONTENT else {}
        for audience in STRANGERS:
            answers = []
            for names in (ids, dict.fromkeys(ids, str(uuid4()))):
                answer = asked(stage, route, audience, stage.places(route) | names, content)
                answers.append(functools.reduce(told_without, names.values(), repr(told(answer, cup.slug))))
            seen[route, audience] = answers[0] == answers[1]
    assert [place for place, same in seen.items() if not same] == []
    assert len(seen) > 40


def told_without(text: str, name: str) -> str:
    return text.replace(name, "ID")


LISTS = ("GET /", f"GET {API}/competitions", f"GET {API}/me", "GET /account", "GET /competitions")


def test_no_list_has_a_rehearsal(client: TestClient) -> None:
    stage = Stage.opened(client)
    slug = rehearsed(stage)
    for route in LISTS:
        for audience in (*STRANGERS, "organizer", "administrator"):
            answer = asked(stage, route, audience, {}, {})
            assert slug not in answer.text
            assert "Rehearsal" not in answer.text


@pytest.mark.parametrize("audience", ["organizer", "administrator"])
def test_its_organizers_find_it_until_it_is_ended(client: TestClient, audience: str) -> None:
    stage = Stage.opened(client)
    slug = rehearsed(stage)
    routes = (
        "GET /competitions/{slug}",
        "GET /competitions/{slug}/organize",
        f"GET {API}/competitions/{{slug}}",
    )
    found = [asked(stage, route, audience, {"slug": slug}, {}).status_code for route in routes]
    assert found == [200, 200, 200]
    with transaction() as session:
        principal = accounts.authenticate(session, str(stage.token("organizer"))).who_confirmed()
        rehearsals.end(session, principal, stage.arena.slug)
    assert [asked(stage, route, audience, {"slug": slug}, {}).status_code for route in routes] == [404] * 3


def test_who_comes_to_organize_the_competition_organizes_its_rehearsal_and_who_leaves_it_does_not(
    client: TestClient,
) -> None:
    stage = Stage.opened(client)
    slug = rehearsed(stage)
    path = f"/competitions/{stage.arena.slug}/organizers"
    with transaction() as session:
        name = accounts.authenticate(session, str(stage.token("other organizer"))).name
    route = f"GET {API}/competitions/{{slug}}"
    assert asked(stage, route, "other organizer", {"slug": slug}, {}).status_code == 404
    added = stage.arena.post(path, json={"name": name}).json()
    assert asked(stage, route, "other organizer", {"slug": slug}, {}).status_code == 200
    removed = f"DELETE {API}/competitions/{{slug}}/organizers/{{user_id}}"
    asked(stage, removed, "organizer", {"slug": stage.arena.slug, "user_id": added["user_id"]}, {})
    assert asked(stage, route, "other organizer", {"slug": slug}, {}).status_code == 404


def test_no_competition_can_take_the_name_of_a_rehearsal_whether_there_is_one_or_not(
    client: TestClient,
) -> None:
    stage = Stage.opened(client)
    slug = rehearsed(stage)
    for name in (slug, f"{slug}-2", "never-heard-of-rehearsal"):
        answer = stage.arena.post("/competitions", content=competition_file(name))
        assert (answer.status_code, answer.json()["code"]) == (409, "slug_reserved")
    with transaction() as session:
        assert all(row.slug != slug for row in competitions.listed(session))
