"""Canaries in the second phase: the secrets of targets, up to the reveal and after it, and right guesses."""

import io
import logging
import zipfile
from collections.abc import Iterator
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from anoncup.tracks.linkage.permutation import secret_csv
from app.config import Settings
from app.db import engine
from app.storage import digest_of
from tests.security.table import TABLE
from tests.support.arena import ROWS, numbers
from tests.support.contest import Contest, judge_everything, turn
from tests.support.secret_search import cells_of_the_database, files_below, needles, seen

pytestmark = pytest.mark.full

AUDIENCES = ("visitor", "red", "blue", "organizer")
ROUTES = [
    route
    for route in TABLE
    if route.startswith("GET ")
    and ("{slug}" in route or "{submission_id}" in route or "{target_id}" in route)
]
"""All that tell anything of this contest."""
FEW = 5
"""Rows on which guesses are right: fewer than a canary's run."""


class Watched:
    """A contest with two targets, whose every answer is looked through."""

    def __init__(self, client: TestClient, *, more: str = "") -> None:
        self.contest = Contest.opened(client, more=more)
        # Releases of its own: what other tests revealed stays in the store.
        self.contest.seeds = 1_000_000 + 10 * next(numbers)
        self.sent = [self.contest.submit(team) for team in ("red", "blue")]
        self.canaries = set[bytes]()
        for source in self.contest.secrets.values():
            self.canaries |= needles(secret_csv(source))

    def answers(self) -> Iterator[tuple[str, bytes]]:
        """Every GET route for every audience, and what zips contain."""
        arena = self.contest.arena
        team = arena.get(f"{self.contest.path}/teams").json()[0]
        people = {"team_id": team["id"], "user_id": team["members"][0]["user_id"]}
        listed = arena.get(f"{self.contest.path}/targets")
        targets = [one["id"] for one in listed.json()] if listed.status_code == 200 else []
        for route in ROUTES:
            for audience in AUDIENCES:
                for number, submission in enumerate(self.sent if "_id}" in route else self.sent[:1]):
                    target = targets[number] if targets else UUID(int=0)
                    path = self.place(route, submission, str(target), people)
                    token = {"visitor": None, "organizer": arena.organizer}.get(
                        audience, arena.tokens.get(audience)
                    )
                    headers = {"Authorization": f"Bearer {token}"} if token else {}
                    answer = arena.client.get(path, headers=headers, follow_redirects=False)
                    assert answer.status_code < 500, path
                    yield f"{audience} {path}", answer.content + repr(answer.headers.multi_items()).encode()
                    if path.endswith(".zip") and answer.status_code == 200:
                        yield f"{audience} {path}", unpacked(answer.content)

    def place(self, route: str, submission: str, target: str, people: dict[str, str]) -> str:
        return route.removeprefix("GET ").format_map(
            {
                "slug": self.contest.arena.slug,
                "submission_id": submission,
                "target_id": target,
                "file": "original.csv" if "original" in route else "anonymized.csv",
                "name": "reidentification",
                "act": "extend",
                "rescore_id": UUID(int=0),
                "report_id": UUID(int=0),
            }
            | people
        )

    def leaks(self) -> set[str]:
        """The answers that hold a canary."""
        return {where for where, content in self.answers() if seen(content, self.canaries)}


def unpacked(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return b"\n".join(name.encode() + b"\n" + packed.read(name) for name in packed.namelist())


def kept(settings: Settings, canaries: set[bytes]) -> set[str]:
    """The columns and the blobs that hold a canary."""
    columns = {place for place, content in cells_of_the_database() if seen(content, canaries)}
    blobs = {path.name for path, content in files_below(settings.data) if seen(content, canaries)}
    return columns | blobs


def test_no_answer_log_line_column_or_file_holds_a_targets_secret_before_the_reveal(
    client: TestClient,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    watched = Watched(client, more='[publication]\nfeedback = "immediate"')
    contest = watched.contest
    contest.between()
    assert watched.leaks() == set()
    contest.attack()
    contest.guessed("blue", watched.sent[0], FEW)
    contest.guessed("red", watched.sent[1], FEW)
    for content in (b"wrong", contest.right_on(watched.sent[0], FEW)[:-2]):
        assert contest.guess("blue", contest.target_of(watched.sent[0])["id"], content).status_code == 422
    assert watched.leaks() == set()
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    monkeypatch.setattr("workers.lifecycle.get_settings", lambda: keyless)
    contest.close()
    assert contest.state() == "closed"
    assert watched.leaks() == set()
    assert kept(settings, watched.canaries) == set()
    captured = capfd.readouterr()
    logged = captured.out + captured.err + caplog.text
    assert "turning_failed" in logged
    assert not seen(logged.encode(), watched.canaries)


def test_after_the_reveal_only_what_reveals_holds_the_secrets(client: TestClient, settings: Settings) -> None:
    watched = Watched(client)
    contest = watched.contest
    contest.attack()
    contest.close()
    found = watched.leaks()
    targets = {one["id"] for one in contest.arena.get(f"{contest.path}/targets").json()}
    expected = {f"{one} /api/v1/targets/{target}/secret" for one in AUDIENCES for target in targets}
    assert found == expected
    digests = {digest_of(secret_csv(source)) for source in contest.secrets.values()}
    assert kept(settings, watched.canaries) == digests


@pytest.mark.full
def test_what_was_opened_for_the_reveal_and_no_further_is_shown_to_nobody(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that dies between opening the secrets and revealing them."""
    watched = Watched(client)
    contest = watched.contest
    contest.attack()

    def dying(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.services.attacks.contest_lifecycle.reveal", dying)
    with pytest.raises(KeyboardInterrupt):
        contest.close()
    assert watched.leaks() == set()
    monkeypatch.undo()
    turn()
    assert any(seen(content, watched.canaries) for _, content in watched.answers())


@pytest.mark.full
def test_a_guess_that_is_the_secret_is_shown_to_organizers_alone_and_stands_in_no_column_or_log(
    client: TestClient, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    watched = Watched(client)
    contest = watched.contest
    contest.attack()
    target = contest.target_of(watched.sent[0])["id"]
    receipt = contest.guess("blue", target, contest.right_on(watched.sent[0], ROWS))
    judge_everything()
    assert not seen(receipt.content, watched.canaries)
    answers = list(watched.answers())
    leaks = {where for where, content in answers if seen(content, watched.canaries)}
    assert leaks == {f"organizer /api/v1{contest.path}/export.zip"}
    assert {place for place, content in cells_of_the_database() if seen(content, watched.canaries)} == set()
    captured = capfd.readouterr()
    assert not seen((captured.out + captured.err + caplog.text).encode(), watched.canaries)
    digest = digest_of(contest.right_on(watched.sent[0], ROWS))
    for where, content in answers:
        assert where.startswith("organizer") or digest.encode() not in content, where


def test_a_targets_secret_in_the_wrong_box_judges_nothing_and_is_not_repeated(client: TestClient) -> None:
    """Boxes swapped between two submissions: neither guess is judged, and no answer says what is in them."""
    watched = Watched(client)
    contest = watched.contest
    contest.attack()
    contest.guess("blue", contest.target_of(watched.sent[0])["id"], contest.right_on(watched.sent[0], FEW))
    with engine.get_engine().begin() as connection:
        connection.execute(
            text(
                "UPDATE secrets SET sealed = other.sealed FROM secrets AS other "
                "WHERE other.submission_id <> secrets.submission_id"
            )
        )
    judge_everything()
    (mine,) = contest.arena.get(f"{contest.path}/guesses", token=contest.arena.team("blue")).json()
    assert (mine["status"], mine["correct"]) == ("QUEUED", None)
    assert mine["failure"] == "a sealed secret belongs to another submission"
    assert (mine["failure_code"], mine["failure_values"]) == ("secret_unreadable", {})
    assert watched.leaks() == set()
