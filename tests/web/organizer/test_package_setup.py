"""Starts and parameters of packages are labelled by their catalogues on the set-up pages."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from anoncup.competition.drafts import DRAFT_SOURCES
from app.web.organizer import setup
from tests.support.arena import Arena
from tests.support.package_catalogues import format_catalogue, install_catalogue, open_package_folder
from tests.support.page_requests import get_page

pytestmark = pytest.mark.full

TEXTS = {
    "choose_start_bets": "A cup of bets",
    "track_riddles": "Riddles",
    "parameter_coin": "Its coin",
    "value_gold": "Of gold",
}


@pytest.fixture(autouse=True)
def package(tmp_path: Path) -> Iterator[None]:
    with open_package_folder(tmp_path) as folder:
        install_catalogue(folder, "bets", "en", format_catalogue(TEXTS))
        yield


def test_package_start_is_labelled_by_catalogue_track_or_name(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "DRAFT_SOURCES", (*DRAFT_SOURCES, "bets", "riddles", "riddles_2"))
    html = get_page(arena, "/organize/new", organizer=True).text
    labels = re.findall(r'<label for="start-(\w+)">([^<]*)</label>', html)
    assert [name for name, _ in labels[:-3]] == list(DRAFT_SOURCES)
    assert labels[-3:] == [("bets", "A cup of bets"), ("riddles", "Riddles"), ("riddles_2", "riddles_2")]
