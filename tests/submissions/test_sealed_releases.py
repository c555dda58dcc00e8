"""Releases that contain their own answer are sealed in the store and opened for the scoring child only."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from anoncup.tracks.model import TargetFiles
from app.config import Settings
from app.core import sealing
from app.core.db.models import Submission
from app.core.db.transaction import transaction
from app.core.storage import compute_digest, get_store
from tests.support.arena import API, build_noisy_release
from tests.support.contest import Contest
from tests.support.page_requests import get_page
from tests.support.secret_search import iterate_database_cells, iterate_files
from tests.support.stored_files import build_blob_path

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("sealing_track")]


@pytest.fixture(autouse=True)
def sealing_track(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the track seal releases in this process; the scoring child knows nothing of it."""
    monkeypatch.setitem(
        TRACKS, "microdata", replace(TRACKS["microdata"], target_files=TargetFiles(seals_release=True))
    )


def list_row_runs(table: bytes) -> set[bytes]:
    """Return runs of three rows, which no other table has in this order."""
    lines = table.splitlines()[1:]
    return {b"\n".join(lines[start : start + 3]) for start in range(0, len(lines) - 2, 3)}


def build_current_release(contest: Contest) -> bytes:
    return build_noisy_release(contest.last_seed, contest.arena.table)[0]


def load_stored_files(submission: str) -> dict[str, str]:
    with transaction() as session:
        return dict(session.get_one(Submission, UUID(submission)).files)


def read_stored_release(contest: Contest, submission: str) -> bytes:
    return get_store().get(load_stored_files(submission)["anonymized"])


def test_stored_data_contains_no_sealed_release(contest: Contest, settings: Settings) -> None:
    contest.last_seed = 7_000_000
    submission = contest.submit("red")
    canaries = list_row_runs(build_current_release(contest))
    assert len(canaries) > 10
    files = dict(iterate_files(settings.data))
    assert build_blob_path(settings.data, load_stored_files(submission)["anonymized"]) in files
    for location, content in [*files.items(), *iterate_database_cells()]:
        assert not any(canary in content for canary in canaries), location


def test_sealed_release_cannot_be_downloaded(contest: Contest) -> None:
    submission = contest.submit("red")
    arena = contest.arena
    for token in (arena.get_team_token("red"), arena.organizer_token):
        response = arena.get(f"/submissions/{submission}/data/anonymized.csv", token=token)
        assert (response.status_code, response.json()["code"]) == (404, "release_sealed")
    page = get_page(arena, f"/submissions/{submission}", team="red")
    assert (page.status_code, "/data/" in page.text) == (200, False)
    assert "nobody can download it" in page.text
    archive_response = arena.get(f"/competitions/{arena.slug}/export.zip")
    assert archive_response.status_code == 200, archive_response.text
    with zipfile.ZipFile(io.BytesIO(archive_response.content)) as export:
        contents = {name: export.read(name) for name in export.namelist()}
    assert not [name for name in contents if "submissions/" in name]
    (submissions_csv,) = [content for name, content in contents.items() if name.endswith("submissions.csv")]
    assert compute_digest(build_current_release(contest)).encode() in submissions_csv
    for content in contents.values():
        assert not any(canary in content for canary in list_row_runs(build_current_release(contest)))


def test_sealed_file_opens_only_with_worker_keys_for_its_submission(
    contest: Contest, settings: Settings, tmp_path: Path
) -> None:
    submission = contest.submit("red")
    content, keys = read_stored_release(contest, submission), settings.opening_keys_dir
    assert sealing.open_file(keys, bound_to=UUID(submission), content=content) == build_current_release(
        contest
    )
    damaged = content[:-1] + bytes([content[-1] ^ 1])
    unknown_key_content = b"../private\n" + content.partition(b"\n")[2]
    for folder, other_submission, other_content in (
        (None, submission, content),
        (tmp_path, submission, content),
        (keys, str(uuid4()), content),
        (keys, submission, damaged),
        (keys, submission, build_current_release(contest)),
        (keys, submission, unknown_key_content),
    ):
        with pytest.raises(Unavailable):
            sealing.open_file(folder, bound_to=UUID(other_submission), content=other_content)


def test_sealed_release_waits_for_a_worker_with_the_key(
    contest: Contest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest.submit("red")
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 1))
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    with monkeypatch.context() as patch:
        patch.setattr("workers.lifecycle.get_settings", lambda: keyless)
        contest.open_attacks()
        response = contest.arena.client.get(f"{API}/competitions/{contest.arena.slug}/manifest")
        assert response.json()["code"] == "no_targets_yet"
    contest.open_attacks()
    assert len(contest.list_targets("blue")) == 1
