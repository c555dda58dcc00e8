"""Releases that tell their own answer: sealed in the store, opened for the scoring child, given to nobody."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient

from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from app.config import Settings
from app.crypto import sealing
from app.db.models import Evaluation, State, Submission
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from app.storage import digest_of, store
from tests.support.arena import API, noisy_release
from tests.support.contest import Contest
from tests.support.secret_search import cells_of_the_database, files_below
from tests.support.stored_files import file_of
from workers.child_manager import content_of
from workers.jobs import Request

pytestmark = pytest.mark.full


@pytest.fixture
def sealing_track(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the processes that hold keys or take uploads; the scoring child knows nothing of it."""
    monkeypatch.setitem(TRACKS, "microdata", replace(TRACKS["microdata"], seals_release=True))


@pytest.fixture
def contest(client: TestClient, sealing_track: None) -> Contest:
    return Contest.opened(client)


def rows_of(table: bytes) -> set[bytes]:
    """Runs of three rows, which no other table has in this order."""
    lines = table.splitlines()[1:]
    return {b"\n".join(lines[place : place + 3]) for place in range(0, len(lines) - 2, 3)}


def released(contest: Contest) -> bytes:
    return noisy_release(contest.seeds, contest.arena.table)[0]


def stored_files(submission: str) -> dict[str, str]:
    with transaction() as session:
        return dict(session.get_one(Submission, UUID(submission)).files)


def as_kept(contest: Contest, submission: str) -> bytes:
    return store().get(stored_files(submission)["anonymized"])


def test_a_release_is_scored_and_published_as_if_nothing_were_sealed(client: TestClient) -> None:
    found = []
    for sealed in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(TRACKS, "microdata", replace(TRACKS["microdata"], seals_release=sealed))
            contest = Contest.opened(client, slug=f"sealed-{sealed}".lower())
            submission = contest.submit("red")
            with transaction() as session:
                (verdict,) = (
                    one.verdict for one in session.query(Evaluation).filter_by(submission_id=UUID(submission))
                )
            row = contest.arena.submission(submission, "red")
            contest.attack()
            (target,) = contest.targets("blue")
            path = f"/targets/{target['id']}/data/anonymized.csv"
            published = contest.arena.get(path, token=contest.arena.team("blue")).content
            found.append((verdict, row["sha256"], row["status"], target["files"], published))
    assert found[0] == found[1]
    assert found[1][1] == {"anonymized.csv": digest_of(noisy_release(1, contest.arena.table)[0])}
    assert found[1][2] == State.SCORED


def test_nothing_that_is_kept_holds_a_sealed_release(contest: Contest, settings: Settings) -> None:
    contest.seeds = 7_000_000
    submission = contest.submit("red")
    canaries = rows_of(released(contest))
    assert len(canaries) > 10
    kept = dict(files_below(settings.data))
    assert file_of(settings.data, stored_files(submission)["anonymized"]) in kept
    for where, content in [*kept.items(), *cells_of_the_database()]:
        assert not any(canary in content for canary in canaries), where


def test_nobody_gets_a_sealed_release_back(contest: Contest) -> None:
    submission = contest.submit("red")
    arena = contest.arena
    for token in (arena.team("red"), arena.organizer):
        answer = arena.get(f"/submissions/{submission}/data/anonymized.csv", token=token)
        assert (answer.status_code, answer.json()["code"]) == (404, "release_sealed")
    cookie = {"Cookie": f"{COOKIE}={arena.session(arena.team('red'))}"}
    page = arena.client.get(f"/submissions/{submission}", headers=cookie)
    assert (page.status_code, "/data/" in page.text) == (200, False)
    assert "nobody can download it" in page.text
    packed = arena.get(f"/competitions/{arena.slug}/export.zip")
    assert packed.status_code == 200, packed.text
    with zipfile.ZipFile(io.BytesIO(packed.content)) as export:
        contents = {name: export.read(name) for name in export.namelist()}
    assert not [name for name in contents if "submissions/" in name]
    (listed,) = [content for name, content in contents.items() if name.endswith("submissions.csv")]
    assert digest_of(released(contest)).encode() in listed
    for content in contents.values():
        assert not any(canary in content for canary in rows_of(released(contest)))


def test_only_the_workers_keys_open_a_sealed_file_and_for_its_submission_alone(
    contest: Contest, settings: Settings, tmp_path: Path
) -> None:
    submission = contest.submit("red")
    content, keys = as_kept(contest, submission), settings.opening_keys_dir
    assert sealing.open_file(keys, submission_id=UUID(submission), content=content) == released(contest)
    damaged = content[:-1] + bytes([content[-1] ^ 1])
    strange = b"../private\n" + content.partition(b"\n")[2]
    for folder, whose, what in (
        (None, submission, content),
        (tmp_path, submission, content),
        (keys, str(uuid4()), content),
        (keys, submission, damaged),
        (keys, submission, released(contest)),
        (keys, submission, strange),
    ):
        with pytest.raises(Unavailable):
            sealing.open_file(folder, submission_id=UUID(whose), content=what)


def test_a_worker_opens_for_its_child_what_the_release_names_and_nothing_else(
    contest: Contest, settings: Settings
) -> None:
    submission = contest.submit("red")
    files, plain = stored_files(submission), store().put(b"a,b\n1,2\n")
    work = Request("", {"original": plain}, files, secret="", sealed_for=submission)
    assert content_of(files["anonymized"], work, settings) == released(contest)
    assert content_of(plain, work, settings) == b"a,b\n1,2\n"
    unsealed = Request("", {}, files, secret="")
    assert content_of(files["anonymized"], unsealed, settings) == as_kept(contest, submission)


def test_without_the_key_a_sealed_release_waits_for_a_worker_that_has_it(
    contest: Contest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest.submit("red")
    contest.move(anonymization=(-3, -2), reidentification=(-1, 1))
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    with monkeypatch.context() as patch:
        patch.setattr("workers.lifecycle.get_settings", lambda: keyless)
        contest.attack()
        answer = contest.arena.client.get(f"{API}/competitions/{contest.arena.slug}/manifest")
        assert answer.json()["code"] == "no_targets_yet"
    contest.attack()
    assert len(contest.targets("blue")) == 1
