"""The data step with unknown tables: headers are repaired, columns left out and roles checked."""

import re

import pytest

from anoncup.competition.drafts import create_draft
from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.transactions.example import load_tc400
from app.db.transaction import transaction
from app.services.contests import competitions
from app.services.originals import original_import
from app.storage import get_store, staging
from tests.support.arena import Arena
from tests.support.contest import load_competition, load_round
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.setup_pages import begin_setup, load_rules, new_organizer, parse_form, upload_original
from tests.support.translations import translate

pytestmark = pytest.mark.full

__all__ = ["new_organizer"]

DATA_PAGE = "/competitions/fresh/organize/data"
NAMES_PATH = "/competitions/fresh/organize/original/{}.csv/names"
PEOPLE_ROWS = "".join(f"R-{n:03},{'fm'[n % 2]},{n % 7},{500 + 3 * n % 61},{n}.5\n" for n in range(80))
"""An identifier, two quasi-identifiers, an amount and an amount with unique values."""
HEADER = "id,sex,size,rent,weight\n"


def save_names(arena: Arena, fields: dict[str, str], *, file: str = "original") -> None:
    """Send the form that repairs a header; it must be accepted."""
    send_form(arena, NAMES_PATH.format(file), fields, organizer=True)


def read_stored_file(slug: str = "fresh", name: str = "original") -> bytes:
    return get_store().get(load_round(slug).original[name])


def test_file_without_a_header_is_reported_and_gets_names(new_organizer: Arena) -> None:
    refusal = upload_original(begin_setup(new_organizer), PEOPLE_ROWS.encode())
    assert refusal.status_code == 422
    assert translate("The first line looks like data, not like names of columns.") in refusal.text
    assert 'role="alert"' not in refusal.text  # no errors about cells
    assert load_round("fresh").original == {}
    fields = parse_form(refusal.text, "/names")
    assert [fields[f"name_{index}"] for index in range(5)] == [f"column_{index}" for index in range(1, 6)]
    assert (fields["first"], fields["leave_0"]) == ("data", "yes")
    named_fields = fields | {f"name_{index}": name for index, name in enumerate(HEADER.strip().split(","))}
    path, twice = NAMES_PATH.format("original"), named_fields | {"name_1": "size"}
    duplicate_response = post_form(new_organizer, path, twice, organizer=True)
    assert duplicate_response.status_code == 422
    assert 'value="weight"' in duplicate_response.text  # the input is kept
    save_names(new_organizer, named_fields)
    assert load_rules("fresh").columns == Columns(("sex", "size"), ("rent", "weight"))
    assert staging.load(fields["held"]) is None  # it contained the ids that were left out
    lines = read_stored_file().decode().splitlines()
    assert lines[0] == "sex,size,rent,weight"
    assert lines[1:] == [line.partition(",")[2] for line in PEOPLE_ROWS.splitlines()]


def test_column_name_with_a_line_break_is_a_blank_on_all_pages(new_organizer: Arena) -> None:
    rows = "".join(f"{20 + n % 7},{'男女'[n % 2]},{500 + 3 * n % 61}\r\n" for n in range(80))
    content = f'"年齢\n（歳）",性別,年収\r\n{rows}'.encode()
    assert upload_original(begin_setup(new_organizer), content).status_code == 303
    assert read_stored_file() == content
    html = get_page(new_organizer, DATA_PAGE, organizer=True).text
    fields = parse_form(html, 'id="roles"')
    assert post_form(new_organizer, DATA_PAGE, fields, organizer=True).status_code == 303
    assert load_rules("fresh").columns == Columns(("年齢 （歳）", "性別"), ("年収",))
    assert "年齢 （歳）" in html
    assert "年齢\n（歳）" not in html


def test_kept_identifier_is_warned_about_with_counts(new_organizer: Arena) -> None:
    refusal = upload_original(begin_setup(new_organizer), (HEADER + PEOPLE_ROWS).encode())
    warning = "“id” has 80 different values in 80 rows: it identifies everybody."
    assert warning in refusal.text
    fields = parse_form(refusal.text, "/names")
    assert fields.pop("leave_0") == "yes"
    save_names(new_organizer, fields)
    assert read_stored_file() == (HEADER + PEOPLE_ROWS).encode()
    html = get_page(new_organizer, DATA_PAGE, organizer=True).text
    assert warning in html.partition('id="look"')[2]
    roles = parse_form(html, 'id="roles"')
    assert roles["role_4"] == "sensitive"  # unique amounts are no quasi-identifier
    response = post_form(new_organizer, DATA_PAGE, roles | {"role_0": "left_out"}, organizer=True)
    assert response.status_code == 303
    assert read_stored_file().decode().splitlines()[0] == "sex,size,rent,weight"
    assert load_rules("fresh").columns == Columns(("sex", "size"), ("rent", "weight"))


def test_roles_can_be_checked_before_they_are_saved(arena: Arena) -> None:
    path, file_before = "/competitions/small/organize/data", load_competition().file
    roles = parse_form(get_page(arena, path, organizer=True).text, 'id="roles"')

    def check_roles(**changes: str) -> str:
        response = post_form(arena, f"{path}/check", roles | changes, organizer=True)
        assert (response.status_code, load_competition().file) == (200, file_before)
        return str(response.text)

    html = check_roles(role_2="quasi_identifier", fewest="3")
    profile, table = html.partition('id="look"')[2], arena.table.astype(str)
    classes = table.groupby(["sex", "age", "income"]).size()
    figures = re.findall(r"<dd>([^<]*)</dd>", profile)
    assert figures[:2] == ["3", f"{len(classes):,}"]
    assert figures[3] == f"{classes[classes < 3].sum():,}"
    for name in ("sex", "age", "income"):
        sizes = table[name].value_counts()
        count_text = f"“{name}” ({(sizes < 3).sum():,} in {sizes[sizes < 3].sum():,} row"
        if len(sizes) < 0.9 * len(table):
            assert (count_text in profile) is bool((sizes < 3).any())
    assert f"{(classes == 1).sum():,} / {len(table):,}" in profile
    assert 'value="quasi_identifier" selected' in html.split('name="role_2"')[1].split("</select>")[0]
    assert "“sex” does not hold numbers only: it cannot be sensitive." in check_roles(role_0="sensitive")
    all_sensitive = {name: "sensitive" for name in roles if name.startswith("role_")}
    problem = translate("Every column needs a role, and each role needs at least one column.")
    assert problem in check_roles(**all_sensitive).partition('id="look"')[2]


def test_sparse_cross_table_uses_fewer_columns(new_organizer: Arena) -> None:
    rows = "".join(f"{n % 9},{n % 11},{n % 13},{n % 2},{n * 7 % 101}\n" for n in range(120))
    assert upload_original(begin_setup(new_organizer), f"a,b,c,d,amount\n{rows}".encode()).status_code == 303
    assert load_rules("fresh").measure_settings("cross_count").parameters == {"columns": ("a", "b", "d")}
    profile = get_page(new_organizer, DATA_PAGE, organizer=True).text.partition('id="look"')[2]
    assert "The cross-table of your 3 columns has 198 cells, 39.3% of them empty" in profile
    assert "Gap of the cross-tabulated means, Gap of the cross-tabulated counts" in profile
    assert (load_rules("fresh").weight("cor_mae"), load_rules("fresh").weight("cross_mean")) == (0.0, 1.0)
    file = load_competition("fresh").file.replace(
        'columns = ["a", "b", "d"]', 'columns = ["a", "b", "c", "d"]'
    )
    assert new_organizer.put("/competitions/fresh/competition.toml", content=file).status_code == 200
    profile = get_page(new_organizer, DATA_PAGE, organizer=True).text.partition('id="look"')[2]
    assert "The cross-table of your 4 columns has 2,574 cells, 95.3% of them empty" in profile
    assert translate("Such a table says little: choose fewer columns for it, or coarser values.") in profile


def test_expected_headers_are_shown_before_the_upload(new_organizer: Arena) -> None:
    html = get_page(begin_setup(new_organizer, "2016"), DATA_PAGE, organizer=True).text
    for file in TRACKS["transactions"].original_files:
        header = file.header(load_rules("fresh"))
        assert header is not None
        for line in (header, *file.example_lines(load_rules("fresh"))):
            assert ",".join(line) in html


@pytest.mark.parametrize("start", ["2016", "2017", "membership"])
def test_example_rows_match_the_header_of_their_file(start: str) -> None:
    competition = parse_competition(create_draft(start))
    for file in TRACKS[competition.track].original_files:
        example = file.example_lines(competition)
        if example:
            assert len(example) == 3
            assert example[0] == file.header(competition)
            assert {len(line) for line in example} == {len(example[0])}


def test_purchase_files_get_the_required_names_whatever_their_header(new_organizer: Arena) -> None:
    begin_setup(new_organizer, "2016")
    files = TRACKS["transactions"].files_of(load_tc400())
    for name, table in files.items():
        headless = table.partition(b"\n")[2]
        refusal = upload_original(new_organizer, headless, file=f"{name}.csv")
        assert refusal.status_code == 422
        assert translate("The first line looks like data, not like names of columns.") in refusal.text
        save_names(new_organizer, parse_form(refusal.text, "/names"), file=name)
        assert read_stored_file(name=name) == table
    misspelled = "Customer ID, ＳＥＸ,Birthday,country\u200b\n".encode("utf-8-sig")
    customers = files["customers"]
    content = misspelled + customers.partition(b"\n")[2]
    refusal = upload_original(new_organizer, content, file="customers.csv")
    assert "capitals, blanks, full-width characters" in refusal.text
    save_names(new_organizer, parse_form(refusal.text, "/names"), file="customers")
    assert read_stored_file(name="customers") == customers
    headless = customers.partition(b"\n")[2]
    response = new_organizer.put("/competitions/fresh/original/customers.csv", content=headless)
    assert response.status_code == 422
    assert [error["code"] for error in response.json()["errors"]] == ["no_header"]


def test_only_files_staged_for_the_same_competition_and_name_are_used(
    new_organizer: Arena, arena: Arena
) -> None:
    begin_setup(new_organizer)
    with transaction() as session:
        fresh, small = (competitions.find(session, None, slug) for slug in ("fresh", "small"))
        session.expunge_all()
    staged_digest = original_import.stage(small, "original", b"1,2\n3,4\n")
    assert original_import.load_staged(small, "original", staged_digest) == b"1,2\n3,4\n"
    stored, outside = small.round.original["original"], "../" * 20
    for digest in (staged_digest, stored, "0" * 64, "", outside, staged_digest.upper()):
        fields = {"held": digest, "first": "data", "name_0": "a", "name_1": "b"}
        response = post_form(new_organizer, NAMES_PATH.format("original"), fields, organizer=True)
        assert response.status_code == 409
    assert fresh.round.original == load_round("fresh").original == {}


def test_table_of_amounts_has_no_unique_quasi_identifier(new_organizer: Arena) -> None:
    table = begin_setup(new_organizer).table[["income", "rent"]].copy()
    table.insert(0, "weight", [1000.5 + 3 * index for index in range(len(table))])
    table["rooms"] = [index % 25 for index in range(len(table))]
    assert upload_original(new_organizer, write_csv(table)).status_code == 303
    assert load_rules("fresh").columns == Columns(("rooms",), ("weight", "income", "rent"))
    assert load_rules("fresh").weight("cross_count") == 0.0  # permuting a single column changes no count


RECEIPTS = "receipt,member,bought,sku,price,pieces\n7,M1,2023-01-04,A,2.5,1\n7,M1,2023-01-04,B,1.0,2\n8,M2,2023-02-01,A,2.5,3\n"
"""Receipts with columns in another order, under other names and without a time."""
EXPECTED_PURCHASES = (
    "M1,7,2023-01-04,12:00,A,2.5,1\nM1,7,2023-01-04,12:00,B,1.0,2\nM2,8,2023-02-01,12:00,A,2.5,3\n"
)


def test_reordered_and_missing_columns_are_mapped(new_organizer: Arena) -> None:
    begin_setup(new_organizer, "2016")
    customers = "country,no,gender\nFR,M1,f\nDE,M2,m\n"
    for name, table_text, sources in (
        ("customers", customers, {"source_0": "1", "source_1": "2", "source_2": "", "source_3": "0"}),
        ("transactions", RECEIPTS, dict(zip([f"source_{n}" for n in range(7)], "102 345", strict=True))),
    ):
        refusal = upload_original(new_organizer, table_text.encode(), file=f"{name}.csv")
        assert refusal.status_code == 422
        fields = parse_form(refusal.text, "/names")
        fields |= {field: value.strip() for field, value in sources.items()}
        if name == "transactions":
            invalid_response = post_form(new_organizer, NAMES_PATH.format(name), fields, organizer=True)
            assert invalid_response.status_code == 422  # without a time
            assert 'value="5" selected' in invalid_response.text
            fields |= {"same_3": "12:00"}
        save_names(new_organizer, fields, file=name)
    assert read_stored_file(name="customers") == b"customer_id,sex,birthday,country\nM1,f,,FR\nM2,m,,DE\n"
    assert read_stored_file(name="transactions").decode().partition("\n")[2] == EXPECTED_PURCHASES


def test_table_with_semicolons_and_decimal_commas_is_converted(new_organizer: Arena) -> None:
    rows = "".join(f"{'wm'[n % 2]};{20 + n % 9};{n}.{n:03},5\r\n" for n in range(10, 60))
    table = ("\ufeffsex;age;Umsatz (€)\r\n" + rows).encode()
    refusal = upload_original(begin_setup(new_organizer), table)
    assert (refusal.status_code, 'role="alert"' in refusal.text) == (422, False)
    assert translate("Its cells are separated by semicolons: the service writes commas.") in refusal.text
    assert "<code>10.010,5</code> → <code>10010.5</code>" in refusal.text
    save_names(new_organizer, parse_form(refusal.text, "/names"))
    lines = read_stored_file().decode().splitlines()
    assert lines[0] == "sex,age,Umsatz (€)"
    assert lines[1:] == [f"{'wm'[n % 2]},{20 + n % 9},{n}{n:03}.5" for n in range(10, 60)]
    columns = load_rules("fresh").columns
    assert columns is not None
    assert "Umsatz (€)" in columns.sensitive


def test_free_text_with_line_breaks_can_be_left_out(new_organizer: Arena) -> None:
    rows = "".join(f'{"fm"[n % 2]},{n % 7},{n}.5,"one\ntwo"\n' for n in range(40))
    refusal = upload_original(begin_setup(new_organizer), f"sex,size,rent,comment\n{rows}".encode())
    assert refusal.text.count("a line break or control character") == 3
    assert translate("More problems, not listed: {more}.", more=37) in refusal.text
    fields = parse_form(refusal.text, "/names")
    assert fields["leave_3"] == "yes"
    save_names(new_organizer, fields)
    assert read_stored_file().decode().splitlines()[0] == "sex,size,rent"


def test_nearly_unique_birth_date_and_missing_rows_are_reported(new_organizer: Arena) -> None:
    rows = "".join(f"{1930 + n // 2}-01-{10 + n % 60},{'fm'[n % 2]},{n}\n" for n in [*range(58), 1, 1])
    refusal = upload_original(begin_setup(new_organizer), f"born,sex,rent\n{rows}".encode())
    assert "“born” has 58 different values in 60 rows: it identifies nearly everybody." in refusal.text
    assert "leave_0" not in parse_form(refusal.text, "/names")
    assert_refused(upload_original(new_organizer, b"sex,size,rent\n"), 422, "The table has no rows")


def test_numeric_columns_with_words_are_reported(new_organizer: Arena) -> None:
    missing = ["NA", "N/A", "", "."]
    cells = [missing[n // 10 % 4] if n % 10 == 0 else str(1000 + n) for n in range(100)]
    table = "".join(f"{'fm'[n % 2]},{cell},{n}.5,{n % 3 or 'NA'}\n" for n, cell in enumerate(cells))
    html = upload_original(begin_setup(new_organizer), f"sex,income,rent,answer\n{table}".encode()).text
    fields = parse_form(html, "/names")
    assert (fields.pop("fill_1"), "fill_3" in fields) == ("yes", False)
    save_names(new_organizer, fields)
    assert read_stored_file() == f"sex,income,rent,answer\n{table}".encode()
    profile = get_page(new_organizer, DATA_PAGE, organizer=True).text.partition('id="look"')[2]
    rows = sum(not cell.isdigit() for cell in cells)
    warnings = re.findall(
        r"“(\w+)” could be sensitive: all values are numbers, except (.*?) in (\d+) rows", profile
    )
    assert warnings == [("income", "NA, N/A, (empty), .", str(rows))]
    assert translate("No problem was found with these roles.") not in profile


def test_income_with_empty_cells_becomes_sensitive_with_zeros(new_organizer: Arena) -> None:
    rows = "".join(f"{'fm'[n % 2]},{n % 9},{'' if n % 4 else 1000 + 7 * n},{n % 5}\n" for n in range(200))
    response = upload_original(begin_setup(new_organizer), f"sex,size,py010n,kids\n{rows}".encode())
    assert (response.status_code, 'role="alert"' in response.text) == (422, False)
    assert translate("Some numbers are missing.") in response.text
    assert "150" in response.text
    fields = parse_form(response.text, "/names")
    assert fields["fill_2"] == "yes"
    save_names(new_organizer, fields)
    lines = read_stored_file().decode().splitlines()
    assert lines[1:3] == ["f,0,1000,0", "m,1,0,1"]
    assert load_rules("fresh").columns == Columns(("sex", "size", "kids"), ("py010n",))


def test_household_number_can_be_left_out_or_kept_with_a_warning(new_organizer: Arena) -> None:
    rows = "".join(f"{n // 3 + 7},{n % 9},{n * 7919 % 1009}.5\n" for n in range(600))
    html = upload_original(begin_setup(new_organizer), f"db,size,wages\n{rows}".encode()).text
    warning = "“db” numbers small groups such as households: 200 different values in 600 rows."
    assert warning in html
    fields = parse_form(html, "/names")
    assert fields.pop("leave_0") == "yes"
    save_names(new_organizer, fields)
    assert load_rules("fresh").columns == Columns(("db", "size"), ("wages",))
    assert warning in get_page(new_organizer, DATA_PAGE, organizer=True).text.partition('id="look"')[2]
