"""The page for the original data: how a file is read, which columns are taken, and what is refused."""

import pytest

from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.tracks.transactions.example import load_tc400
from app.core.storage import get_store, staging
from app.originals import original_import
from tests.support.arena import Arena
from tests.support.contest import load_round
from tests.support.page_requests import assert_refused, extract_text, get_page, post_form
from tests.support.setup_pages import (
    begin_setup,
    import_original,
    load_rules,
    new_organizer,
    parse_form,
    upload_original,
)
from tests.support.translations import translate

pytestmark = pytest.mark.full

__all__ = ["new_organizer"]

DATA_PAGE = "/competitions/fresh/organize/data"
IMPORT_PATH = "/competitions/fresh/organize/original/{}.csv/import"
PEOPLE_ROWS = "".join(f"R-{n:03},{'fm'[n % 2]},{n % 7},{500 + 3 * n % 61},{n}.5\n" for n in range(80))
"""An identifier, two quasi-identifiers, an amount and an amount with unique values."""
HEADER = "id,sex,size,rent,weight\n"


def read_stored_file(slug: str = "fresh", name: str = "original") -> bytes:
    return get_store().get(load_round(slug).original[name])


def test_upload_stores_nothing_until_the_shown_table_is_saved(new_organizer: Arena) -> None:
    response = upload_original(begin_setup(new_organizer), (HEADER + PEOPLE_ROWS).encode())
    assert response.status_code == 200
    assert load_round("fresh").original == {}
    fields = parse_form(response.text, 'id="import"')
    assert [fields[f"role_{index}"] for index in range(5)] == [
        "",
        "quasi_identifiers",
        "quasi_identifiers",
        "sensitive",
        "sensitive",
    ]
    assert translate("identifying_unique") in response.text
    assert "No data yet" not in response.text
    path = IMPORT_PATH.format("original")
    assert post_form(new_organizer, path, fields | {"do": "save"}, organizer=True).status_code == 303
    assert staging.load(fields["held"]) is None  # it contained the ids that were left out
    assert load_rules("fresh").columns == Columns(("sex", "size"), ("rent", "weight"))
    lines = read_stored_file().decode().splitlines()
    assert lines == ["sex,size,rent,weight", *(line.partition(",")[2] for line in PEOPLE_ROWS.splitlines())]


def test_guesses_can_be_changed_and_the_table_is_shown_again_before_it_is_saved(new_organizer: Arena) -> None:
    page = upload_original(begin_setup(new_organizer), PEOPLE_ROWS.encode())
    fields = parse_form(page.text, 'id="import"')
    assert "header" not in fields  # the first line is a row of data
    assert "column_1" in page.text
    changed = fields | {"header": "yes", "do": "save"}
    refused = post_form(new_organizer, IMPORT_PATH.format("original"), changed, organizer=True)
    assert refused.status_code == 409
    assert load_round("fresh").original == {}
    assert "column_1" not in refused.text
    assert "R-000" in refused.text
    assert import_original(new_organizer, PEOPLE_ROWS.encode()).status_code == 303
    assert read_stored_file().decode().splitlines()[0] == "column_2,column_3,column_4,column_5"
    assert len(read_stored_file().splitlines()) == 81


FORMATS = {
    "UTF-8 with BOM": ("utf-8-sig", ",", "{:,}"),
    "Shift_JIS with tabs": ("cp932", "\t", "{:,}"),
    "UTF-16 with tabs": ("utf-16", "\t", "{:,}"),
    "EUC-JP": ("euc_jp", ";", "{:,}"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_japanese_tables_are_read_in_every_encoding(new_organizer: Arena, name: str) -> None:
    encoding, separator, number = FORMATS[name]
    rows = [["郵便番号", "性別", "年収（円）"]]
    rows += [[f"0{n % 9:02}", "男女"[n % 2], f'"{number.format(3_810_000 + 997 * n)}"'] for n in range(60)]
    content = "".join(separator.join(row) + "\r\n" for row in rows).encode(encoding)
    assert import_original(begin_setup(new_organizer), content).status_code == 303
    lines = read_stored_file().decode().splitlines()
    assert lines[:2] == ["郵便番号,性別,年収（円）", "000,男,3810000"]
    assert load_rules("fresh").columns == Columns(("郵便番号", "性別"), ("年収（円）",))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((f"{name},x\n{name},1\n", "utf_8") for name in ("ä", "Côté", "£", "°C", "á,é,í", "名", "髙")),
        *((text, "cp932") for text in ("給与,x\n1,2\n", "﨑,地域\n﨑,東京\n", "性別,年収\n男,1\n女,2\n")),
    ],
)
def test_encoding_is_recognized_by_few_letters(text: str, encoding: str) -> None:
    assert original_import.guess_format("original", text.encode(encoding)).encoding == encoding


def test_semicolons_and_decimal_commas_are_converted(new_organizer: Arena) -> None:
    rows = "".join(f"{'wm'[n % 2]};{20 + n % 9};{n}.{n:03},5\r\n" for n in range(10, 60))
    table = ("sex;age;Umsatz (€)\r\n" + rows).encode("cp1252")
    assert import_original(begin_setup(new_organizer), table).status_code == 303
    lines = read_stored_file().decode().splitlines()
    assert lines[0] == "sex,age,Umsatz (€)"
    assert lines[1:] == [f"{'wm'[n % 2]},{20 + n % 9},{n}{n:03}.5" for n in range(10, 60)]


REFUSED_TABLES = {
    "header only": (b"a,b\n", "no rows"),
    "blank lines": (b"\n\n", "no header line"),
    "ragged rows": (b"a,b\n1,2\n3\n4,5,6\n", "Row 2 has 1 cell instead of 2"),
    "many columns": (b"," * 200_000, "The table has 200,001 columns; at most 1,000 are read"),
    "duplicate names": (b"a,a\n1,2\n", "The header names 'a' twice"),
    "NUL": (b"a,b\n1,\x002\n", "NUL characters"),
    "unclosed quote": (b'a,b\n1,"x\n2,3\n', "a quotation mark is opened and never closed"),
    "bytes": (bytes(range(256)) * 8, "has another encoding"),
    "spreadsheet": (b"PK\x03\x04" + bytes(40), "this is a spreadsheet"),
    "a long line": (b"a" * 200_000, "cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED_TABLES)
def test_unreadable_table_is_refused_with_its_place(new_organizer: Arena, name: str) -> None:
    content, message = REFUSED_TABLES[name]
    response = upload_original(begin_setup(new_organizer), content)
    assert response.status_code == 422
    assert message.casefold() in extract_text(response).casefold()
    assert load_round("fresh").original == {}


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("1e400", "rent, row 3: not in the range of numbers"),
        ('"one\ntwo"', "rent, row 3: a line break or control character"),
        ("", "rent, row 3: a number is missing"),
    ],
)
def test_wrong_cells_are_refused_with_row_and_column_and_the_choice_is_kept(
    new_organizer: Arena, cell: str, message: str
) -> None:
    rows = [f"{n % 4},{'fm'[n % 2]},{500 + n}" for n in range(60)]
    rows[2] = f"1,f,{cell}"
    content = "size,sex,rent\n" + "\n".join(rows)
    response = import_original(
        begin_setup(new_organizer),
        content.encode(),
        role_2="sensitive",
        role_0="",
        role_1="quasi_identifiers",
    )
    assert_refused(response, 422, message)
    fields = parse_form(response.text, 'id="import"')
    assert [fields[f"role_{index}"] for index in range(3)] == ["", "quasi_identifiers", "sensitive"]
    assert load_round("fresh").original == {}


def test_empty_amounts_become_0_only_on_request(new_organizer: Arena) -> None:
    rows = "".join(f"{'fm'[n % 2]},{n % 9},{'NA' if n % 4 else 1000 + 7 * n},{n % 5}\n" for n in range(200))
    content = f"sex,size,py010n,kids\n{rows}".encode()
    fields = parse_form(upload_original(begin_setup(new_organizer), content).text, 'id="import"')
    assert (fields["missing"], "zeros" in fields, fields["role_2"]) == ("NA", False, "quasi_identifiers")
    path = IMPORT_PATH.format("original")
    page = post_form(new_organizer, path, fields | {"zeros": "yes", "do": "read"}, organizer=True)
    fields = parse_form(page.text, 'id="import"')
    assert fields["role_2"] == "sensitive"
    assert post_form(new_organizer, path, fields | {"do": "save"}, organizer=True).status_code == 303
    assert read_stored_file().decode().splitlines()[1:3] == ["f,0,1000,0", "m,1,0,1"]


def test_purchase_files_get_the_required_names_whatever_their_header(new_organizer: Arena) -> None:
    begin_setup(new_organizer, "2016")
    files = TRACKS["transactions"].files_of(load_tc400())
    for name, table in files.items():
        assert import_original(new_organizer, table, file=f"{name}.csv").status_code == 303
        assert read_stored_file(name=name) == table
    lines = files["customers"].partition(b"\n")[2]
    for header in ("Customer ID, ＳＥＸ,Birthday,country\u200b\n".encode("utf-8-sig"), b""):
        assert import_original(new_organizer, header + lines, file="customers.csv").status_code == 303
        assert read_stored_file(name="customers") == files["customers"]


RECEIPTS = "receipt,member,bought,hour,sku,price,pieces\n7,M1,2023-01-04,09:30,A,2.5,1\n8,M2,2023-02-01,10:00,A,2.5,3\n"
"""Receipts with columns in another order and under other names."""


def test_columns_are_assigned_to_required_names(new_organizer: Arena) -> None:
    begin_setup(new_organizer, "2016")
    customers = b"country,no,gender,born\nFR,M1,f,\nDE,M2,m,\n"
    refused = import_original(new_organizer, customers, file="customers.csv")
    assert_refused(refused, 422, "No column is 'customer_id'")
    roles = {"role_1": "customer_id", "role_2": "sex", "role_3": "birthday"}
    twice = import_original(new_organizer, customers, file="customers.csv", **roles | {"role_0": "sex"})
    assert_refused(twice, 422, "Two columns are 'sex'")
    assert import_original(new_organizer, customers, file="customers.csv", **roles).status_code == 303
    names = ["receipt_id", "customer_id", "date", "time", "goods", "unit_price", "quantity"]
    roles = {f"role_{index}": name for index, name in enumerate(names)}
    response = import_original(new_organizer, RECEIPTS.encode(), file="transactions.csv", **roles)
    assert response.status_code == 303
    assert read_stored_file(name="customers") == b"customer_id,sex,birthday,country\nM1,f,,FR\nM2,m,,DE\n"
    assert read_stored_file(name="transactions").decode().splitlines()[1] == "M1,7,2023-01-04,09:30,A,2.5,1"


def test_stored_columns_can_get_other_roles_or_be_left_out(new_organizer: Arena) -> None:
    content = (HEADER + PEOPLE_ROWS).encode()
    begin_setup(new_organizer)
    assert import_original(new_organizer, content, role_0="quasi_identifiers").status_code == 303
    html = get_page(new_organizer, DATA_PAGE, organizer=True).text
    assert translate("identifying_unique") in html
    roles = parse_form(html, 'id="roles"')
    response = post_form(
        new_organizer, DATA_PAGE, roles | {"role_0": "", "role_2": "sensitive"}, organizer=True
    )
    assert response.status_code == 303
    assert read_stored_file().decode().splitlines()[0] == "sex,size,rent,weight"
    assert load_rules("fresh").columns == Columns(("sex",), ("size", "rent", "weight"))
    assert post_form(new_organizer, DATA_PAGE, roles, organizer=True).status_code == 409  # replaced data


def test_only_files_staged_for_the_same_competition_and_name_are_used(
    new_organizer: Arena, arena: Arena
) -> None:
    begin_setup(new_organizer)
    fresh, small = load_round("fresh"), load_round("small")
    staged_digest = original_import.stage(small, "original", b"1,2\n3,4\n")
    assert original_import.load_staged(small, "original", staged_digest) == b"1,2\n3,4\n"
    stored, outside = small.original["original"], "../" * 20
    for digest in (staged_digest, stored, "0" * 64, "", outside, staged_digest.upper()):
        fields = {"held": digest, "do": "save", "role_0": "quasi_identifiers", "role_1": "sensitive"}
        response = post_form(new_organizer, IMPORT_PATH.format("original"), fields, organizer=True)
        assert response.status_code == 409
    assert fresh.original == load_round("fresh").original == {}


def test_only_the_year_of_a_birth_date_can_be_taken(new_organizer: Arena) -> None:
    begin_setup(new_organizer)
    rows = "".join(f"{1930 + n}-0{1 + n % 9}-11,{'fm'[n % 2]},{500 + 3 * n % 61}\n" for n in range(60))
    content = f"born,sex,rent\n{rows}".encode()
    page = upload_original(new_organizer, content).text
    assert parse_form(page, 'id="import"')["role_0"] == ""
    assert page.count('value="quasi_identifiers:4"') == 1
    assert "Quasi-identifier, first 4 characters" in page
    response = import_original(new_organizer, content, role_0="quasi_identifiers:4")
    assert response.status_code == 303
    assert load_rules("fresh").columns == Columns(("born", "sex"), ("rent",))
    assert read_stored_file().decode().splitlines()[:2] == ["born,sex,rent", "1930,f,500"]
