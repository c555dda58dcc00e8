"""A contest on a track without distances and counts: scoring and pages in both languages."""

import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.support import small_track
from tests.support.arena import Arena
from tests.support.page_requests import get_page, post_form
from tests.support.small_track_pages import submit_and_score
from tests.support.track_package import install_track
from tests.support.translations import translate
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

LANGUAGES = ("en", "ja")


@pytest.fixture(scope="module")
def installed_track(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with install_track(
        small_track.SMALL_TRACK, "tests.support.small_track", tmp_path_factory.mktemp("packages")
    ):
        yield


@pytest.fixture
def small(client: TestClient, installed_track: None) -> Arena:
    return Arena.create(
        client,
        file=small_track.build_competition_toml(),
        original={"numbers": small_track.build_original_file()},
    )


def test_submission_is_scored_and_ranked_by_risk(small: Arena) -> None:
    identifier = submit_and_score(small, "red")
    submission = small.get_submission(identifier, "red")
    assert submission["status"] == "SCORED"
    result = submission["result"]
    assert result["excessive"] is None
    assert result["violations"] == []
    # All members are released unchanged and no other number is, so the attacker "seen" identifies all.
    assert result["attackers"]["seen"]["rate"] == 1.0
    assert result["attackers"]["everybody"]["risk"] == 0.0
    assert "correct" not in result["attackers"]["everybody"]
    assert result["measures"]["left_out"]["value"] == 0.0
    assert result["utility"] == pytest.approx(
        result["measures"]["shift"]["value"] / small_track.compute_shift_scale()
    )
    (row,) = small.get("/competitions/small/boards/anonymization").json()["rows"]
    assert (row["security"], row["attackers"]["everybody"]) == (1.0, 0.0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_submission_page_has_no_distances_or_counts(small: Arena, language: str) -> None:
    identifier = submit_and_score(small, "red")
    response = get_page(small, f"/submissions/{identifier}", team="red", language=language)
    assert response.status_code == 200
    assert translate("Excessive anonymization", language) not in response.text
    assert translate("Adds to U", language) not in response.text
    assert translate("The risk is what {names} found out.", language).split("{")[0] in response.text
    assert "None" not in response.text
    rows = re.findall(
        r'<th scope="row" class="title">(\w+)</th>((?:<td class="number">[^<]*</td>)+)', response.text
    )
    cells_by_attacker = {name: re.findall(r">([^<]*)</td>", cells) for name, cells in rows}
    assert cells_by_attacker == {"seen": ["1.0000", "1.0000", "–"], "everybody": ["–", "–", "1.0000"]}


def test_new_weights_are_re_evaluated_without_a_threshold(small: Arena) -> None:
    identifier = submit_and_score(small, "red")
    fields = {"by": "rules", "weight_left_out": "1", "weight_shift": "0"}
    start_response = post_form(small, "/competitions/small/organize/rescores", fields, organizer=True)
    assert start_response.status_code == 303, start_response.text
    score_everything()
    compare_response = get_page(small, start_response.headers["location"], organizer=True)
    assert compare_response.status_code == 200
    apply_response = post_form(
        small, f"{start_response.headers['location'].partition('?')[0]}/apply", organizer=True
    )
    assert apply_response.status_code == 303, apply_response.text
    assert small.get_submission(identifier, "red")["result"]["utility"] == 0.0
