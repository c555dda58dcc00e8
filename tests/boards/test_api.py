"""The anonymization board as JSON and CSV, for each audience."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.schemas.fields import Role
from tests.support.accounts import sign_in_new_person
from tests.support.arena import API, Arena
from tests.support.contest import set_submission_times
from tests.support.uploads import score_everything


def get_board_json(arena: Arena, *, token: str | None = None, **headers: str) -> Response:
    return request_board(arena, "anonymization", token=token, headers=headers)


def get_board_csv(arena: Arena, *, token: str | None = None) -> Response:
    return request_board(arena, "anonymization.csv", token=token, headers={})


def request_board(arena: Arena, name: str, *, token: str | None, headers: dict[str, str]) -> Response:
    if token:
        headers = headers | {"Authorization": f"Bearer {token}"}
    response: Response = arena.client.get(f"{API}/competitions/{arena.slug}/boards/{name}", headers=headers)
    return response


def read_rows(response: Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    rows: list[dict[str, Any]] = response.json()["rows"]
    return rows


@pytest.fixture
def scored_arena(arena: Arena) -> Arena:
    """An arena of three teams: two ranked, one of these with two entries, and one rejected."""
    for team, seed in (("red", 1), ("red", 2), ("=blue", 3)):
        assert arena.submit(team, seed=seed).status_code == 202
    arena.submit_excessive("green")
    score_everything()
    return arena


@pytest.mark.parametrize("fetch", [get_board_json, get_board_csv], ids=["json", "csv"])
def test_unchanged_board_is_not_sent_again(scored_arena: Arena, fetch: Callable[..., Response]) -> None:
    name = "anonymization" if fetch is get_board_json else "anonymization.csv"
    first = fetch(scored_arena)
    etag = first.headers["etag"]
    for known_tag in (etag, etag.removeprefix("W/"), f"W/{etag.removeprefix('W/')}", f'"other", {etag}'):
        cached = request_board(scored_arena, name, token=None, headers={"If-None-Match": known_tag})
        assert (cached.status_code, cached.content, cached.headers["etag"]) == (304, b"", etag)
    other_etag_response = request_board(scored_arena, name, token=None, headers={"If-None-Match": '"other"'})
    assert (other_etag_response.status_code, other_etag_response.content) == (200, first.content)
    assert "private" in first.headers["cache-control"]
    assert {"Authorization", "Cookie"} <= set(first.headers["vary"].replace(" ", "").split(","))
    scored_arena.submit("red", seed=9)
    score_everything()
    changed_response = request_board(scored_arena, name, token=None, headers={"If-None-Match": etag})
    assert (changed_response.status_code, changed_response.headers["etag"] != etag) == (200, True)


STATUSES_BY_AUDIENCE = {
    # publication.board: visitor, team, other competition's team, organizer, other organizer, administrator
    "public": (200, 200, 200, 200, 200, 200),
    "teams": (403, 200, 403, 200, 403, 200),
    "organizers": (403, 403, 403, 200, 403, 200),
}


@pytest.mark.parametrize("setting", STATUSES_BY_AUDIENCE)
def test_board_is_open_to_the_audience_of_the_competition(client: TestClient, setting: str) -> None:
    other_arena = Arena.create(client, slug="elsewhere")
    arena = Arena.create(client, extra_toml=f'[publication]\nboard = "{setting}"')
    arena.submit("red")
    score_everything()
    tokens = (
        None,
        arena.get_team_token("red"),
        other_arena.get_team_token("blue"),
        arena.organizer_token,
        other_arena.organizer_token,
        sign_in_new_person(client, "Root", Role.ADMINISTRATOR),
    )
    responses = [(get_board_json(arena, token=token), get_board_csv(arena, token=token)) for token in tokens]
    assert tuple(response.status_code for response, _ in responses) == STATUSES_BY_AUDIENCE[setting]
    assert tuple(response.status_code for _, response in responses) == STATUSES_BY_AUDIENCE[setting]
    for response in (response for pair in responses for response in pair if response.status_code == 403):
        assert response.json()["code"] == "board_not_open"
        assert "red" not in response.text
        assert "etag" not in response.headers


@pytest.mark.full
def test_submission_scored_exactly_at_the_freeze_is_hidden(client: TestClient) -> None:
    now = datetime.now(UTC)
    arena = Arena.create(client, extra_toml=f"[publication]\nfrozen_from = {now.isoformat()}")
    identifier = arena.submit("red").json()["id"]
    score_everything()
    for finished_at, visible in ((now, 0), (now - timedelta(microseconds=1), 1)):
        set_submission_times(identifier, now - timedelta(hours=1), finished_at=finished_at)
        assert len(read_rows(get_board_json(arena))) == visible
