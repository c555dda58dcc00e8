"""Canaries in the second phase: secrets of targets before and after the reveal, and correct guesses."""

import io
import logging
import zipfile
from collections.abc import Iterator
from itertools import product
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from anoncup.tracks.linkage.permutation import write_secret
from app.config import Settings
from app.core.db import engine
from app.core.storage import compute_digest
from tests.security.access_table import TABLE
from tests.support.arena import ROWS, serial_numbers
from tests.support.contest import Contest, judge_everything, run_clock
from tests.support.secret_search import build_needles, find_leaks, iterate_database_cells, iterate_files

pytestmark = pytest.mark.full

ROUTES = [
    route
    for route in TABLE
    if route.startswith("GET ")
    and ("{slug}" in route or "{submission_id}" in route or "{target_id}" in route)
]
"""All routes that show anything of this contest."""
CORRECT_ROWS = 5
"""Number of correct rows in a guess; it is smaller than a canary."""


class WatchedContest:
    """A contest with two targets, whose responses are searched for canaries."""

    def __init__(self, client: TestClient, *, more: str = "") -> None:
        self.contest = Contest.create(client, extra_toml=more)
        # New releases, because those that other tests revealed stay in the store.
        self.contest.last_seed = 1_000_000 + 10 * next(serial_numbers)
        self.submissions = [self.contest.submit(team) for team in ("red", "blue")]
        self.canaries = set[bytes]()
        for source in self.contest.secrets.values():
            self.canaries |= build_needles(write_secret(source))

    def read_responses(self) -> Iterator[tuple[str, bytes]]:
        """Yield the responses of every GET route to every audience, and the contents of archives."""
        arena = self.contest.arena
        tokens = {"visitor": None, **arena.team_tokens, "organizer": arena.organizer_token}
        for path, (audience, token) in product(sorted(self.list_paths()), tokens.items()):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            response = arena.client.get(path, headers=headers, follow_redirects=False)
            assert response.status_code < 500, path
            yield f"{audience} {path}", response.content + repr(response.headers.multi_items()).encode()
            if path.endswith(".zip") and response.status_code == 200:
                yield f"{audience} {path}", unpack(response.content)

    def list_paths(self) -> set[str]:
        """Return the paths of all routes for each submission and its target."""
        arena = self.contest.arena
        team = arena.get(f"{self.contest.path}/teams").json()[0]
        answer = arena.get(f"{self.contest.path}/targets")
        targets = [row["id"] for row in answer.json()] if answer.status_code == 200 else [UUID(int=0)] * 2
        values = {
            "slug": arena.slug,
            "team_id": team["id"],
            "user_id": team["members"][0]["user_id"],
            "name": "reidentification",
            "act": "extend",
            "rescore_id": UUID(int=0),
            "report_id": UUID(int=0),
        }
        return {
            route.removeprefix("GET ").format(
                submission_id=submission,
                target_id=target,
                file="original.csv" if "original" in route else "anonymized.csv",
                **values,
            )
            for route in ROUTES
            for submission, target in zip(self.submissions, targets, strict=True)
        }

    def find_leaks(self) -> set[str]:
        """Return the responses that contain a canary."""
        return {location for location, content in self.read_responses() if find_leaks(content, self.canaries)}


def unpack(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"\n".join(name.encode() + b"\n" + archive.read(name) for name in archive.namelist())


def find_stored_leaks(settings: Settings, canaries: set[bytes]) -> set[str]:
    """Return the columns and blobs that contain a canary."""
    columns = {location for location, content in iterate_database_cells() if find_leaks(content, canaries)}
    blobs = {path.name for path, content in iterate_files(settings.data) if find_leaks(content, canaries)}
    return columns | blobs


def test_target_secrets_are_nowhere_before_the_reveal(
    client: TestClient,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    watched_contest = WatchedContest(client, more='[publication]\nfeedback = "immediate"')
    contest = watched_contest.contest
    contest.start_pause()
    assert watched_contest.find_leaks() == set()
    contest.open_attacks()
    contest.submit_correct_guess("blue", watched_contest.submissions[0], CORRECT_ROWS)
    contest.submit_correct_guess("red", watched_contest.submissions[1], CORRECT_ROWS)
    for content in (b"wrong", contest.build_guess(watched_contest.submissions[0], CORRECT_ROWS)[:-2]):
        assert (
            contest.submit_guess(
                "blue", contest.find_target(watched_contest.submissions[0])["id"], content
            ).status_code
            == 422
        )
    assert watched_contest.find_leaks() == set()
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    monkeypatch.setattr("workers.lifecycle.get_settings", lambda: keyless)
    contest.close_attacks()
    assert contest.get_state() == "closed"
    assert watched_contest.find_leaks() == set()
    assert find_stored_leaks(settings, watched_contest.canaries) == set()
    captured = capfd.readouterr()
    log_text = captured.out + captured.err + caplog.text
    assert "turning_failed" in log_text
    assert not find_leaks(log_text.encode(), watched_contest.canaries)


def test_target_secrets_are_only_in_the_revealed_files(client: TestClient, settings: Settings) -> None:
    watched_contest = WatchedContest(client)
    contest = watched_contest.contest
    contest.open_attacks()
    contest.close_attacks()
    leaks = watched_contest.find_leaks()
    targets = {item["id"] for item in contest.arena.get(f"{contest.path}/targets").json()}
    audiences = ("visitor", "red", "blue", "organizer")
    expected = {f"{item} /api/v1/targets/{target}/secret" for item in audiences for target in targets}
    expected.add(f"organizer /api/v1{contest.path}/archive.zip")
    assert leaks == expected
    digests = {compute_digest(write_secret(source)) for source in contest.secrets.values()}
    assert find_stored_leaks(settings, watched_contest.canaries) == digests


@pytest.mark.full
def test_opened_secrets_are_hidden_until_the_reveal(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock dies between opening the secrets and revealing them."""
    watched_contest = WatchedContest(client)
    contest = watched_contest.contest
    contest.open_attacks()

    def die(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.lifecycle.contest_lifecycle.reveal", die)
    with pytest.raises(KeyboardInterrupt):
        contest.close_attacks()
    assert watched_contest.find_leaks() == set()
    monkeypatch.undo()
    run_clock()
    assert any(
        find_leaks(content, watched_contest.canaries) for _, content in watched_contest.read_responses()
    )


@pytest.mark.full
def test_correct_guess_is_shown_only_to_organizers(
    client: TestClient, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    watched_contest = WatchedContest(client)
    contest = watched_contest.contest
    contest.open_attacks()
    target = contest.find_target(watched_contest.submissions[0])["id"]
    receipt = contest.submit_guess("blue", target, contest.build_guess(watched_contest.submissions[0], ROWS))
    judge_everything()
    assert not find_leaks(receipt.content, watched_contest.canaries)
    responses = list(watched_contest.read_responses())
    leaks = {location for location, content in responses if find_leaks(content, watched_contest.canaries)}
    assert leaks == {f"organizer /api/v1{contest.path}/export.zip"}
    assert {
        cell_location
        for cell_location, content in iterate_database_cells()
        if find_leaks(content, watched_contest.canaries)
    } == set()
    captured = capfd.readouterr()
    assert not find_leaks((captured.out + captured.err + caplog.text).encode(), watched_contest.canaries)
    digest = compute_digest(contest.build_guess(watched_contest.submissions[0], ROWS))
    for location, content in responses:
        assert location.startswith("organizer") or digest.encode() not in content, location


def test_swapped_sealed_secrets_are_neither_used_nor_shown(client: TestClient) -> None:
    """Sealed secrets are swapped between two submissions: nothing is judged and no response repeats them."""
    watched_contest = WatchedContest(client)
    contest = watched_contest.contest
    contest.open_attacks()
    contest.submit_guess(
        "blue",
        contest.find_target(watched_contest.submissions[0])["id"],
        contest.build_guess(watched_contest.submissions[0], CORRECT_ROWS),
    )
    with engine.get_engine().begin() as connection:
        connection.execute(
            text(
                "UPDATE secrets SET sealed = other.sealed FROM secrets AS other "
                "WHERE other.submission_id <> secrets.submission_id"
            )
        )
    judge_everything()
    (own_guess,) = contest.arena.get(f"{contest.path}/guesses", team="blue").json()
    assert (own_guess["status"], own_guess["correct"]) == ("QUEUED", None)
    assert own_guess["failure"] == "a sealed secret belongs to another submission"
    assert (own_guess["failure_code"], own_guess["failure_values"]) == ("secret_unreadable", {})
    assert watched_contest.find_leaks() == set()
