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

UNSHUFFLED = "[publication]\nshuffle_targets = false\n"


@pytest.fixture
def arena(client: TestClient) -> Arena:
    return Arena.create(client, file=build_competition_toml(extra_toml=UNSHUFFLED))


def allocate_answers(patch: pytest.MonkeyPatch) -> None:
    allocation = Allocation((FileSpec("secret"),), per_team=True, make_files=lambda *_: {})
    patch.setitem(TRACKS, "microdata", replace(BUILT_IN["microdata"], allocation=allocation))


def test_an_allocated_answer_takes_the_place_of_a_secret(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = get_principal(arena, "red")
    with transaction() as session:
        entrance = uploads.enter(session, person, arena.slug, key=None)
    table, secret = build_noisy_release(1, arena.table)
    sent_upload = uploads.read_upload(entrance, files={"anonymized": table}, secret=secret, comment="")
    assert entrance.names == ("anonymized", "secret")
    allocate_answers(monkeypatch)
    own_entrance = replace(entrance, own_files={"secret": get_store().save(secret)})
    assert own_entrance.names == ("anonymized",)
    allocated_upload = uploads.read_upload(own_entrance, files={"anonymized": table}, secret=None, comment="")
    assert (allocated_upload.secret, allocated_upload.files, allocated_upload.sizes) == (
        sent_upload.secret,
        sent_upload.files,
        sent_upload.sizes,
    )
    assert (
        allocated_upload.fingerprint
        == uploads.compute_fingerprint({"anonymized": table})
        != sent_upload.fingerprint
    )


@pytest.mark.parametrize("texts", [{}, {"secret": "original_row"}])
def test_a_secret_that_nobody_asked_for_is_refused(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, texts: dict[str, str]
) -> None:
    person = get_principal(arena, "red")
    with transaction() as session:
        entrance = uploads.enter(session, person, arena.slug, key=None)
    allocate_answers(monkeypatch)
    files = {} if texts else {"secret": None}
    with pytest.raises(InvalidUpload) as excinfo:
        accept_submission(person, entrance, MultipartForm(files, texts))  # type: ignore[arg-type]  # its content is not looked at
    (problem,) = excinfo.value.problems
    assert (problem.file, problem.code, problem.value) == ("secret", "answer_is_drawn", None)


def test_the_form_asks_for_no_secret(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/competitions/{arena.slug}/submissions"
    assert 'id="secret"' in get_page(arena, path, team="red").text
    allocate_answers(monkeypatch)
    html = get_page(arena, path, team="red").text
    assert 'id="anonymized"' in html
    assert 'id="secret"' not in html
    assert "Nothing secret is sent" in html
