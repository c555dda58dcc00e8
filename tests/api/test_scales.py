"""Every weighted measure needs a positive scale."""

import pytest
from sqlalchemy import select

from anoncup.tables.csv_text import write_csv
from app.db.models import Competition
from app.db.transaction import transaction
from tests.support.arena import Arena, build_competition_toml, build_original_table
from tests.support.organizer_uploads import upload_competition_file, upload_original

pytestmark = pytest.mark.full


def test_weighted_measure_without_a_scale_is_refused(arena: Arena) -> None:
    """Without a scale, every loss, however small, would score 1."""
    constant_table = build_original_table().assign(sex="f", age="20")
    competition_before = arena.get("/competitions/small").json()
    response = upload_original(arena, write_csv(constant_table))
    assert response.status_code == 422
    assert (response.json()["code"], response.json()["values"]["name"]) == ("scale_zero", "cross_count")
    assert arena.get("/competitions/small").json() == competition_before
    weightless = build_competition_toml().replace(
        "[measures.cross_count]\nweight = 1.0", "[measures.cross_count]"
    )
    assert upload_competition_file(arena, weightless).status_code == 200
    assert upload_original(arena, write_csv(constant_table)).status_code == 200


def test_scale_that_is_too_small_is_refused(arena: Arena) -> None:
    response = upload_competition_file(arena, build_competition_toml(extra_toml="[scales]\nmean_mae = 1e-9"))
    assert (response.status_code, response.json()["code"]) == (422, "scale_zero")


def test_competition_with_a_zero_scale_can_be_edited(arena: Arena) -> None:
    """A newer version of a measure may compute a scale of zero."""
    file = build_competition_toml(extra_toml="[scales]\ncross_count = 0.0")
    with transaction() as session:
        row = session.scalars(select(Competition)).one()
        row.scales, row.file = row.scales | {"cross_count": 0.0}, file
    assert arena.submit("red").status_code == 202
    assert upload_competition_file(arena, file.replace("Small cup", "Old cup")).status_code == 200
