"""A measure that weighs has a scale, or the contest is not set up."""

import pytest
from sqlalchemy import select

from anoncup.tables.csv_text import table_csv
from app.db.models import Competition
from app.db.transaction import transaction
from tests.support.arena import Arena, competition_file, original_table
from tests.support.competition_uploads import put_file, put_original

pytestmark = pytest.mark.full


def test_a_measure_that_weighs_and_that_nothing_moves_is_refused_by_name(arena: Arena) -> None:
    """Of it every loss, however small, would score 1."""
    still = original_table().assign(sex="f", age="20")
    before = arena.get("/competitions/small").json()
    answer = put_original(arena, table_csv(still))
    assert answer.status_code == 422
    assert (answer.json()["code"], answer.json()["values"]["name"]) == ("scale_zero", "cross_count")
    assert arena.get("/competitions/small").json() == before
    weightless = competition_file().replace("[measures.cross_count]\nweight = 1.0", "[measures.cross_count]")
    assert put_file(arena, weightless).status_code == 200
    assert put_original(arena, table_csv(still)).status_code == 200


def test_a_scale_that_is_too_small_for_the_cells_is_none(arena: Arena) -> None:
    answer = put_file(arena, competition_file(more="[scales]\nmean_mae = 1e-9"))
    assert (answer.status_code, answer.json()["code"]) == (422, "scale_zero")


def test_what_was_scored_by_a_scale_of_nothing_goes_on(arena: Arena) -> None:
    """A later version of a measure may find no scale; the contest can still be edited."""
    file = competition_file(more="[scales]\ncross_count = 0.0")
    with transaction() as session:
        row = session.scalars(select(Competition)).one()
        row.scales, row.file = row.scales | {"cross_count": 0.0}, file
    assert arena.submit("red").status_code == 202
    assert put_file(arena, file.replace("Small cup", "Old cup")).status_code == 200
