"""Releases whose answer the service allocates: teams send none, and the allocated one is sealed."""

from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from anoncup.errors import InvalidUpload
from anoncup.plugins import BUILT_IN, TRACKS
from anoncup.tracks.files import FileSpec
from anoncup.tracks.model import Allocation
from app.db.transaction import transaction
from app.http.multipart import MultipartForm
from app.http.uploads import accept_submission
from app.services.submissions import uploads
from app.storage import get_store
from tests.support.arena import Arena, build_competition_toml, build_noisy_release
from tests.support.page_requests import get_page
from tests.support.phase_changes import get_principal

pytestmark = pytest.mark.full

UNSHUFFLED_TARGETS = "[publication]\nshuffle_targets = false\n"


@pytest.fixture
def arena(client: TestClient) -> Arena:
    return Arena.create(client, file=build_competition_toml(extra_toml=UNSHUFFLED_TARGETS))


def allocate_answers(patch: pytest.MonkeyPatch) -> None:
    allocation = Allocation((FileSpec("secret"),), per_team=True, make_files=lambda *_: {})
    patch.setitem(TRACKS, "microdata", replace(BUILT_IN["microdata"], allocation=allocation))


def test_allocated_answer_replaces_an_uploaded_secret(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    principal = get_principal(arena, "red")
    with transaction() as session:
        entrance = uploads.begin_upload(session, principal, arena.slug, key=None)
    table, secret = build_noisy_release(1, arena.table)
    upload_with_secret = uploads.store_release(
        entrance, files={"anonymized": table}, secret=secret, comment=""
    )
    assert entrance.file_names == ("anonymized", "secret")
    allocate_answers(monkeypatch)
    own_entrance = replace(entrance, own_files={"secret": get_store().save(secret)})
    assert own_entrance.file_names == ("anonymized",)
    allocated_upload = uploads.store_release(
        own_entrance, files={"anonymized": table}, secret=None, comment=""
    )
    assert (allocated_upload.secret, allocated_upload.files, allocated_upload.sizes) == (
        upload_with_secret.secret,
        upload_with_secret.files,
        upload_with_secret.sizes,
    )
    assert (
        allocated_upload.fingerprint
        == uploads.compute_fingerprint({"anonymized": table})
        != upload_with_secret.fingerprint
    )


@pytest.mark.parametrize("texts", [{}, {"secret": "original_row"}])
def test_unrequested_secret_is_refused(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, texts: dict[str, str]
) -> None:
    principal = get_principal(arena, "red")
    with transaction() as session:
        entrance = uploads.begin_upload(session, principal, arena.slug, key=None)
    allocate_answers(monkeypatch)
    files = {} if texts else {"secret": None}
    with pytest.raises(InvalidUpload) as excinfo:
        accept_submission(principal, entrance, MultipartForm(files, texts))  # type: ignore[arg-type]  # the content is not read
    (problem,) = excinfo.value.problems
    assert (problem.file, problem.code, problem.value) == ("secret", "answer_is_drawn", None)


def test_upload_form_does_not_ask_for_a_secret(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/competitions/{arena.slug}/submissions"
    assert 'id="secret"' in get_page(arena, path, team="red").text
    allocate_answers(monkeypatch)
    html = get_page(arena, path, team="red").text
    assert 'id="anonymized"' in html
    assert 'id="secret"' not in html
    assert "Nothing secret is sent" in html
