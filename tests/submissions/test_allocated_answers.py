"""Releases whose answer the service allocates: teams send none, and the allocated one is sealed."""

from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from anoncup.errors import InvalidUpload
from anoncup.plugins import BUILT_IN, TRACKS
from anoncup.runner.jobs import ParsedRelease, ReadReleaseJob
from anoncup.tracks.capabilities import Allocation
from anoncup.tracks.files import FileSpec
from app.core.processes import parsing
from app.core.storage import get_store
from tests.support.arena import Arena, build_competition_toml, build_noisy_release
from tests.support.phase_changes import begin_upload

pytestmark = pytest.mark.full

UNSHUFFLED_TARGETS = "[publication]\nshuffle_targets = false\n"


@pytest.fixture
def arena(client: TestClient) -> Arena:
    return Arena.create(client, file=build_competition_toml(extra_toml=UNSHUFFLED_TARGETS))


def allocate_answers(patch: pytest.MonkeyPatch) -> None:
    allocation: Allocation[Any] = Allocation((FileSpec("secret"),), per_team=True, make_files=lambda *_: {})
    patch.setitem(TRACKS, "microdata", replace(BUILT_IN["microdata"], allocation=allocation))


def test_unshuffled_release_is_stored_as_it_was_sent(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compromised parser could replace the releases of other teams."""
    table, secret = build_noisy_release(1, arena.table)
    _, upload = begin_upload(arena, "red")

    def read_and_add_files(job: ReadReleaseJob, track: str) -> ParsedRelease:
        return replace(read_honestly(job, track), files={"anonymized": b"forged"})

    read_honestly = parsing.read_upload
    monkeypatch.setattr(parsing, "read_upload", read_and_add_files)
    upload.parse({"anonymized": table, "secret": secret}, {})
    assert upload.files == {"anonymized": get_store().save(table)}


@pytest.mark.parametrize("part", ["file", "text"])
def test_unrequested_secret_is_refused(arena: Arena, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    allocate_answers(monkeypatch)
    _, upload = begin_upload(arena, "red")
    files, texts = ({"secret": b""}, {}) if part == "file" else ({}, {"secret": "original_row"})
    with pytest.raises(InvalidUpload) as excinfo:
        upload.parse(files, texts)
    (problem,) = excinfo.value.problems
    assert (problem.file, problem.code, problem.value) == ("secret", "answer_is_drawn", None)
