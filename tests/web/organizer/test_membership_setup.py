"""Set-up of a membership contest from the organizer's own table: columns and questions."""

import re
from dataclasses import replace

import pytest

from anoncup.tracks.membership.schema import CategoricalColumn, NumericColumn
from anoncup.tracks.membership.settings import get_settings
from tests.support.arena import Arena
from tests.support.contest import load_round
from tests.support.page_requests import assert_refused, get_page, send_form
from tests.support.setup_pages import begin_setup, import_original, load_rules, new_organizer, parse_form

pytestmark = pytest.mark.full

__all__ = ["new_organizer"]

ORGANIZE_PATH = "/competitions/fresh/organize"
ROWS = "".join(f"{20 + n % 50},{'mf'[n % 2]},{n * 1.5 - 20},{n % 3}\n" for n in range(80))
TABLE = f"age,sex,level,class\n{ROWS}".encode()


def test_columns_of_an_own_table_become_the_contest_columns(new_organizer: Arena) -> None:
    begin_setup(new_organizer, "membership")
    settings_before = get_settings(load_rules("fresh"))
    assert import_original(new_organizer, TABLE, file="candidates.csv").status_code == 303
    settings = get_settings(load_rules("fresh"))
    assert settings.schema.columns == (
        NumericColumn("age", 20.0, 69.0),
        CategoricalColumn("sex", ("f", "m")),
        NumericColumn("level", -20.0, 98.5),
        CategoricalColumn("class", ("0", "1", "2")),
    )
    assert load_round("fresh").original_rows == 80
    assert settings == replace(settings_before, schema=settings.schema)


def test_hidden_column_can_be_added_by_a_form(new_organizer: Arena) -> None:
    begin_setup(new_organizer, "membership")
    html = get_page(new_organizer, f"{ORGANIZE_PATH}/measures", organizer=True).text
    fields = parse_form(html, "/organize/measures")
    assert "asks_attribute" not in fields
    send_form(new_organizer, f"{ORGANIZE_PATH}/measures", fields, organizer=True)
    assert load_rules("fresh").questions == {"membership": {"value": "tpr"}}  # the form changed nothing
    question_fields = {
        "asks_attribute": "yes",
        "question_attribute_hidden": "disease",
        "question_membership_value": "advantage",
        "question_attribute_tolerance": "60",
    }
    send_form(new_organizer, f"{ORGANIZE_PATH}/measures", fields | question_fields, organizer=True)
    assert load_rules("fresh").questions == {
        "membership": {"value": "advantage"},
        "attribute": {"hidden": "disease", "tolerance": 60.0},
    }
    measures_html = get_page(new_organizer, f"{ORGANIZE_PATH}/measures", organizer=True).text
    assert parse_form(measures_html, "/organize/measures")["question_attribute_tolerance"] == "60"
    assert "60.0" not in get_page(new_organizer, "/competitions/fresh/rules", organizer=True).text
    data_html = get_page(new_organizer, f"{ORGANIZE_PATH}/data", organizer=True).text
    assert "<code>disease</code>" not in data_html.partition("background.csv")[0]
    assert re.search(r"<code>hidden\.csv</code>", data_html)
    # an own table leaves the hidden column as the competition file defines it
    assert import_original(new_organizer, TABLE, file="candidates.csv").status_code == 303
    assert get_settings(load_rules("fresh")).schema.names == ("age", "sex", "level", "class", "disease")
    html = get_page(new_organizer, f"{ORGANIZE_PATH}/measures", organizer=True).text
    assert parse_form(html, "/organize/measures")["question_attribute_hidden"] == "disease"


def test_column_with_too_many_texts_is_refused(new_organizer: Arena) -> None:
    rows = "".join(f"p{n},{n % 7}\n" for n in range(1_002))
    content = f"name,size\n{rows}".encode()
    begin_setup(new_organizer, "membership")
    response = import_original(new_organizer, content, file="candidates.csv", role_0="categorical")
    assert_refused(response, 422, "1,002 different texts")
    # an identifier is left out by default
    assert import_original(new_organizer, content, file="candidates.csv").status_code == 303
    assert get_settings(load_rules("fresh")).schema.columns == (CategoricalColumn("size", tuple("0123456")),)


def test_kinds_of_columns_can_be_chosen_and_other_cells_are_refused(new_organizer: Arena) -> None:
    begin_setup(new_organizer, "membership")
    response = import_original(
        new_organizer, TABLE, file="candidates.csv", role_3="numeric", role_1="numeric"
    )
    assert_refused(response, 422, "sex, row 1: not a decimal number")
    kinds = {"role_3": "numeric", "role_0": "categorical"}
    assert import_original(new_organizer, TABLE, file="candidates.csv", **kinds).status_code == 303
    schema = get_settings(load_rules("fresh")).schema
    assert schema.columns[3] == NumericColumn("class", 0.0, 2.0)
    assert [column.name for column in schema.categorical] == ["age", "sex"]
