"""Columns and questions of a contest of members are set up on the pages, from a table of its organizer's own."""

import re

import pytest

from anoncup.tracks.membership.schema import Categorical, Numeric
from app.locale.language import LANGUAGES
from tests.support.arena import Arena
from tests.support.setup_data_pages import begun, form_of
from tests.support.setup_pages import beginner, rules, stored, upload
from tests.web.reader import page, send
from tests.web.spoken import said

pytestmark = pytest.mark.full

__all__ = ["beginner"]

ORGANIZE = "/competitions/fresh/organize"
ROWS = "".join(f"{20 + n % 50},{'mf'[n % 2]},{n * 1.5 - 20},{n % 3}\n" for n in range(80))
TABLE = f"age,sex,level,class\n{ROWS}".encode()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_columns_of_an_own_table_become_those_of_the_contest(beginner: Arena, language: str) -> None:
    refused = upload(begun(beginner, "membership"), TABLE, file="candidates.csv", language=language)
    assert (refused.status_code, stored("fresh").original) == (422, {})
    assert said("Take these columns for the contest", language) in refused.text
    assert 'role="alert"' not in refused.text  # one finding, not one for each column
    before = rules("fresh").settings
    fields = form_of(refused.text, "/names")
    assert [fields[f"name_{place}"] for place in range(4)] == ["age", "sex", "level", "class"]
    path = f"{ORGANIZE}/original/candidates.csv/names"
    assert send(beginner, path, fields | {"fit": "yes"}, organizer=True).status_code == 303
    assert rules("fresh").settings.schema.columns == (
        Numeric("age", 20.0, 69.0),
        Categorical("sex", ("f", "m")),
        Numeric("level", -20.0, 98.5),
        Categorical("class", ("0", "1", "2")),
    )
    assert stored("fresh").original_rows == 80
    after = rules("fresh").settings
    assert (after.shared, after.fewest_rows, after.most_rows) == (
        before.shared,
        before.fewest_rows,
        before.most_rows,
    )


def test_a_hidden_column_is_asked_for_by_a_form(beginner: Arena) -> None:
    begun(beginner, "membership")
    shown = page(beginner, f"{ORGANIZE}/measures", organizer=True).text
    fields = form_of(shown, "/organize/measures")
    assert "asks_attribute" not in fields
    assert send(beginner, f"{ORGANIZE}/measures", fields, organizer=True).status_code == 303
    assert rules("fresh").questions == {"membership": {"value": "tpr"}}  # nothing was chosen otherwise
    asked = {
        "asks_attribute": "yes",
        "question_attribute_hidden": "disease",
        "question_membership_value": "advantage",
    }
    assert send(beginner, f"{ORGANIZE}/measures", fields | asked, organizer=True).status_code == 303
    assert rules("fresh").questions == {
        "membership": {"value": "advantage"},
        "attribute": {"hidden": "disease"},
    }
    needs = page(beginner, f"{ORGANIZE}/data", organizer=True).text
    assert "<code>disease</code>" not in needs.partition("background.csv")[0]
    assert re.search(r"<code>hidden\.csv</code>", needs)
    # an own table keeps the hidden column as the file states it
    refused = upload(beginner, TABLE, file="candidates.csv")
    named = form_of(refused.text, "/names")
    path = f"{ORGANIZE}/original/candidates.csv/names"
    assert send(beginner, path, named | {"fit": "yes"}, organizer=True).status_code == 303
    assert rules("fresh").settings.schema.names == ("age", "sex", "level", "class", "disease")
    shown = page(beginner, f"{ORGANIZE}/measures", organizer=True).text
    assert form_of(shown, "/organize/measures")["question_attribute_hidden"] == "disease"


def test_a_column_of_names_can_be_none_of_a_contest_of_members(beginner: Arena) -> None:
    rows = "".join(f"p{n},{n % 7}\n" for n in range(1_002))
    refused = upload(begun(beginner, "membership"), f"name,size\n{rows}".encode(), file="candidates.csv")
    fields = form_of(refused.text, "/names") | {"fit": "yes"}
    assert fields.pop("leave_0") == "yes"  # who is who does not belong into it
    path = f"{ORGANIZE}/original/candidates.csv/names"
    again = send(beginner, path, fields, organizer=True)
    assert (again.status_code, "1,002 different texts" in again.text) == (422, True)
    assert send(beginner, path, fields | {"leave_0": "yes"}, organizer=True).status_code == 303
    assert rules("fresh").settings.schema.columns == (Categorical("size", tuple("0123456")),)
