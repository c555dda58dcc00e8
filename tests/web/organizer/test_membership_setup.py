"""Set-up of a membership contest from the organizer's own table: columns and questions."""

import re
from dataclasses import replace

import pytest

from anoncup.tracks.membership.schema import CategoricalColumn, NumericColumn
from anoncup.tracks.membership.settings import get_settings
from tests.support.arena import Arena
from tests.support.contest import load_round
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.setup_pages import begin_setup, load_rules, new_organizer, parse_form, upload_original
from tests.support.translations import translate

pytestmark = pytest.mark.full

__all__ = ["new_organizer"]

ORGANIZE_PATH = "/competitions/fresh/organize"
NAMES_PATH = f"{ORGANIZE_PATH}/original/candidates.csv/names"
ROWS = "".join(f"{20 + n % 50},{'mf'[n % 2]},{n * 1.5 - 20},{n % 3}\n" for n in range(80))
TABLE = f"age,sex,level,class\n{ROWS}".encode()


def test_columns_of_an_own_table_become_the_contest_columns(new_organizer: Arena) -> None:
    refusal = upload_original(begin_setup(new_organizer, "membership"), TABLE, file="candidates.csv")
    assert (refusal.status_code, load_round("fresh").original) == (422, {})
    assert translate("Take these columns for the contest") in refusal.text
    assert 'role="alert"' not in refusal.text  # one note, not one error for each column
    settings_before = get_settings(load_rules("fresh"))
    fields = parse_form(refusal.text, "/names")
    assert [fields[f"name_{index}"] for index in range(4)] == ["age", "sex", "level", "class"]
    send_form(new_organizer, NAMES_PATH, fields | {"fit": "yes"}, organizer=True)
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
    refusal = upload_original(new_organizer, TABLE, file="candidates.csv")
    named_fields = parse_form(refusal.text, "/names")
    send_form(new_organizer, NAMES_PATH, named_fields | {"fit": "yes"}, organizer=True)
    assert get_settings(load_rules("fresh")).schema.names == ("age", "sex", "level", "class", "disease")
    html = get_page(new_organizer, f"{ORGANIZE_PATH}/measures", organizer=True).text
    assert parse_form(html, "/organize/measures")["question_attribute_hidden"] == "disease"


def test_column_with_too_many_texts_is_refused(new_organizer: Arena) -> None:
    rows = "".join(f"p{n},{n % 7}\n" for n in range(1_002))
    refusal = upload_original(
        begin_setup(new_organizer, "membership"), f"name,size\n{rows}".encode(), file="candidates.csv"
    )
    fields = parse_form(refusal.text, "/names") | {"fit": "yes"}
    assert fields.pop("leave_0") == "yes"  # an identifier is left out by default
    response = post_form(new_organizer, NAMES_PATH, fields, organizer=True)
    assert_refused(response, 422, "1,002 different texts")
    send_form(new_organizer, NAMES_PATH, fields | {"leave_0": "yes"}, organizer=True)
    assert get_settings(load_rules("fresh")).schema.columns == (CategoricalColumn("size", tuple("0123456")),)
