"""People accept the terms of a competition when they join, and the service records the time."""

from datetime import datetime

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from app.core.db.models import Member
from tests.support.accounts import (
    count_rows,
    create_invite,
    list_uses_left,
    read_database_time,
    read_refusal,
    sign_in_new_person,
    sign_up,
)
from tests.support.arena import PASSWORD, Arena
from tests.support.database_rows import load_all
from tests.support.page_requests import assert_refused, get_page, post_form

pytestmark = pytest.mark.full

TERMS = '[description]\nterms = true\nen = "Do not look for **real** people."\n'
CONSENT = {"accept_terms": "true"}


def list_consents() -> list[datetime | None]:
    return load_all(select(Member.terms_accepted_at))


def test_sign_up_and_join_need_consent_to_the_terms(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml=TERMS)
    code, token = create_invite(arena, uses=2), sign_in_new_person(client, "Ada")
    body = {"invite": code, "team": "red"}
    for refusal in (sign_up(client, code), arena.post("/join", token=token, json=body)):
        assert read_refusal(refusal) == (422, "terms_not_accepted")
    assert (count_rows(Member), list_uses_left()) == (0, [2])
    begin = read_database_time()
    assert sign_up(client, code, accept_terms=True).status_code == 201
    assert arena.post("/join", token=token, json=body | {"accept_terms": True}).status_code == 201
    assert [begin < moment < read_database_time() for moment in list_consents() if moment] == [True, True]


def test_pages_show_the_terms_and_need_consent(client: TestClient) -> None:
    other_arena, arena = Arena.create(client, slug="other"), Arena.create(client, extra_toml=TERMS)
    sign_up_path, join_path = (f"/{page}?invite={create_invite(arena)}" for page in ("sign-up", "join"))
    account = {"team": "roses", "name": "Rei", "password": PASSWORD}
    for path, fields, team in ((sign_up_path, account, None), (join_path, {"team": "red"}, "red")):
        form = get_page(other_arena, path, team=team, language="ja").text
        assert "Do not look for <strong>real</strong> people." in form
        assert "参加条件を読み、同意します。" in form
        refusal = post_form(other_arena, path, fields, team=team)
        assert_refused(refusal, 422, "consent to the terms")
        assert post_form(other_arena, path, fields | CONSENT, team=team).status_code == 303
    taken = post_form(other_arena, f"/sign-up?invite={create_invite(arena)}", account | CONSENT)
    assert 'value="true" required checked' in taken.text


def test_nothing_is_asked_or_recorded_without_terms(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml=TERMS.replace("true", "false"))
    assert "accept_terms" not in get_page(arena, f"/sign-up?invite={create_invite(arena)}").text
    sign_up(client, create_invite(arena), accept_terms=True)
    assert list_consents() == [None]
