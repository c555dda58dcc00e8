"""Set-up of a membership contest from the organizer's own table: columns and questions."""

from dataclasses import replace

import pytest

from anoncup.tracks.membership.settings import CategoricalColumn, NumericColumn, get_settings
from tests.support.arena import Arena
from tests.support.contest import load_competition, load_round
from tests.support.page_requests import assert_refused, get_page, post_form
from tests.support.setup_pages import begin_setup, import_original, load_rules, new_organizer

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
    fields = {"text": load_competition("fresh").file.replace("69", "68"), "do": "compare"}
    compared = post_form(new_organizer, f"{ORGANIZE_PATH}/file", fields, organizer=True)
    assert "saving deletes the data" in compared.text


def test_own_table_keeps_the_hidden_column(new_organizer: Arena) -> None:
    begin_setup(new_organizer, "membership")
    file = load_competition("fresh").file + '\n[questions.attribute]\nhidden = "disease"\ntolerance = 60.0\n'
    assert new_organizer.put("/competitions/fresh/competition.toml", content=file).status_code == 200
    data_html = get_page(new_organizer, f"{ORGANIZE_PATH}/data", organizer=True).text
    assert "<code>disease</code>" not in data_html.partition("background.csv")[0]
    assert "<code>hidden.csv</code>" in data_html
    assert import_original(new_organizer, TABLE, file="candidates.csv").status_code == 303
    assert get_settings(load_rules("fresh")).schema.names == ("age", "sex", "level", "class", "disease")
    assert load_rules("fresh").questions["attribute"] == {"hidden": "disease", "tolerance": 60.0}


def test_column_with_too_many_texts_is_refused(new_organizer: Arena) -> None:
    rows = "".join(f"p{n},{n % 7}\n" for n in range(1_002))
    content = f"name,size\n{rows}".encode()
    begin_setup(new_organizer, "membership")
    response = import_original(new_organizer, content, file="candidates.csv", role_0="categorical")
    assert_refused(response, 422, "1,002 different texts")
    # an identifier is left out by default
    assert import_original(new_organizer, content, file="candidates.csv").status_code == 303
    assert get_settings(load_rules("fresh")).schema.columns == (CategoricalColumn("size", tuple("0123456")),)
