"""The step of the data on tables that nobody has seen: headers put right, columns left out, live counts."""

import re

import pytest

from anoncup.competition.drafts import draft
from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.transactions.example import tc400
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.contests import competitions
from app.services.originals import original_import
from app.storage import staging, store
from tests.support.arena import Arena
from tests.support.setup_data_pages import begun, form_of
from tests.support.setup_pages import beginner, rules, stored, upload
from tests.web.reader import page, send
from tests.web.spoken import said

pytestmark = pytest.mark.full

__all__ = ["beginner"]

DATA = "/competitions/fresh/organize/data"
PEOPLE = "".join(f"R-{n:03},{'fm'[n % 2]},{n % 7},{500 + 3 * n % 61},{n}.5\n" for n in range(80))
"""An id, two quasi-identifiers, an amount, and an amount that nobody else has."""
HEADER = "id,sex,size,rent,weight\n"


def content(slug: str = "fresh", name: str = "original") -> bytes:
    return store().get(stored(slug).original[name])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_without_a_header_is_one_finding_and_gets_names(beginner: Arena, language: str) -> None:
    refused = upload(begun(beginner), PEOPLE.encode(), language=language)
    assert refused.status_code == 422
    assert said("The first line looks like data, not like names of columns.", language) in refused.text
    assert 'role="alert"' not in refused.text  # nothing is told of cells
    assert stored("fresh").original == {}
    fields = form_of(refused.text, "/names")
    assert [fields[f"name_{place}"] for place in range(5)] == [f"column_{place}" for place in range(1, 6)]
    assert (fields["first"], fields["leave_0"]) == ("data", "yes")
    named = fields | {f"name_{place}": name for place, name in enumerate(HEADER.strip().split(","))}
    twice = send(
        beginner,
        "/competitions/fresh/organize/original/original.csv/names",
        named | {"name_1": "size"},
        organizer=True,
        language=language,
    )
    assert (twice.status_code, 'value="weight"' in twice.text) == (422, True)  # what was typed is kept
    path = "/competitions/fresh/organize/original/original.csv/names"
    assert send(beginner, path, named, organizer=True).status_code == 303
    assert rules("fresh").columns == Columns(("sex", "size"), ("rent", "weight"))
    assert staging.kept(fields["held"]) is None  # with the ids that were left out
    lines = content().decode().splitlines()
    assert lines[0] == "sex,size,rent,weight"
    assert lines[1:] == [line.partition(",")[2] for line in PEOPLE.splitlines()]


def test_an_id_that_is_kept_all_the_same_is_warned_about_with_figures(beginner: Arena) -> None:
    offered = upload(begun(beginner), (HEADER + PEOPLE).encode())
    assert "“id” has 80 different values in 80 rows: it identifies everybody." in offered.text
    fields = form_of(offered.text, "/names")
    assert fields.pop("leave_0") == "yes"
    path = "/competitions/fresh/organize/original/original.csv/names"
    assert send(beginner, path, fields, organizer=True).status_code == 303
    assert content() == (HEADER + PEOPLE).encode()
    shown = page(beginner, DATA, organizer=True).text
    look = shown.partition('id="look"')[2]
    assert "“id” has 80 different values in 80 rows: it identifies everybody." in look
    roles = form_of(shown, 'id="roles"')
    assert roles["role_4"] == "sensitive"  # numbers that nobody else has are no quasi-identifier
    out = send(beginner, DATA, roles | {"role_0": "left_out"}, organizer=True)
    assert out.status_code == 303
    assert content().decode().splitlines()[0] == "sex,size,rent,weight"
    assert rules("fresh").columns == Columns(("sex", "size"), ("rent", "weight"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_roles_are_looked_at_before_they_are_saved(arena: Arena, language: str) -> None:
    path = "/competitions/small/organize/data"
    before = stored().file
    roles = form_of(page(arena, path, organizer=True).text, 'id="roles"')
    shown = send(
        arena,
        f"{path}/check",
        roles | {"role_2": "quasi_identifier", "fewest": "3"},
        organizer=True,
        language=language,
    )
    assert (shown.status_code, stored().file) == (200, before)
    look = shown.text.partition('id="look"')[2]
    table = arena.table.astype(str)
    classes = table.groupby(["sex", "age", "income"]).size()
    figures = re.findall(r"<dd>([^<]*)</dd>", look)
    assert figures[:2] == ["3", f"{len(classes):,}"]
    assert figures[3] == f"{classes[classes < 3].sum():,}"
    alone = int((classes == 1).sum())
    for name in ("sex", "age", "income"):
        sizes = table[name].value_counts()
        told = f"“{name}” ({(sizes < 3).sum():,} in {sizes[sizes < 3].sum():,} row"
        if language == "en" and len(sizes) < 0.9 * len(table):
            assert (told in look) is bool((sizes < 3).any())
    assert f"{alone:,} / {len(table):,}" in look
    assert 'value="quasi_identifier" selected' in shown.text.split('name="role_2"')[1].split("</select>")[0]
    worded = send(arena, f"{path}/check", roles | {"role_0": "sensitive"}, organizer=True, language=language)
    assert (
        said("“{name}” does not hold numbers only: it cannot be sensitive.", language, name="sex")
        in worded.text
    )
    none = {name: "sensitive" for name in roles if name.startswith("role_")}
    lacking = send(arena, f"{path}/check", roles | none, organizer=True, language=language)
    assert (
        said("Every column needs a role, and each role needs at least one column.", language)
        in lacking.text.partition('id="look"')[2]
    )


def test_a_cross_table_that_would_be_nearly_empty_takes_fewer_columns(beginner: Arena) -> None:
    rows = "".join(f"{n % 9},{n % 11},{n % 13},{n % 2},{n * 7 % 101}\n" for n in range(120))
    assert upload(begun(beginner), f"a,b,c,d,amount\n{rows}".encode()).status_code == 303
    assert rules("fresh").measure("cross_count").parameters == {"columns": ("a", "b", "d")}
    look = page(beginner, DATA, organizer=True).text.partition('id="look"')[2]
    assert "The cross-table of your 3 columns has 198 cells, 39.3% of them empty" in look
    assert "Gap of the cross-tabulated means, Gap of the cross-tabulated counts" in look
    assert (rules("fresh").weight("cor_mae"), rules("fresh").weight("cross_mean")) == (0.0, 1.0)
    file = stored("fresh").file.replace('columns = ["a", "b", "d"]', 'columns = ["a", "b", "c", "d"]')
    assert beginner.put("/competitions/fresh/competition.toml", content=file).status_code == 200
    look = page(beginner, DATA, organizer=True).text.partition('id="look"')[2]
    assert "The cross-table of your 4 columns has 2,574 cells, 95.3% of them empty" in look
    assert said("Such a table says little: choose fewer columns for it, or coarser values.") in look


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_each_file_must_be_is_told_before_it_is_sent(beginner: Arena, language: str) -> None:
    shown = page(begun(beginner, "2016"), DATA, organizer=True, language=language).text
    for file in TRACKS["transactions"].original:
        header = file.header(rules("fresh"))
        assert header is not None
        assert ",".join(header) in shown
        for line in file.example(rules("fresh")):
            assert ",".join(line) in shown


@pytest.mark.parametrize("start", ["2016", "2017", "membership"])
def test_examples_of_files_are_files_of_their_header(start: str) -> None:
    found = parse_competition(draft(start))
    for file in TRACKS[found.track].original:
        example = file.example(found)
        if example:
            assert len(example) == 3
            assert example[0] == file.header(found)
            assert {len(line) for line in example} == {len(example[0])}


def test_files_of_purchases_without_headers_get_those_that_they_must_have(beginner: Arena) -> None:
    begun(beginner, "2016")
    files = TRACKS["transactions"].files_of(tc400())
    for name, whole in files.items():
        bare = whole.partition(b"\n")[2]
        refused = upload(beginner, bare, file=f"{name}.csv")
        assert refused.status_code == 422
        assert said("The first line looks like data, not like names of columns.") in refused.text
        path = f"/competitions/fresh/organize/original/{name}.csv/names"
        assert send(beginner, path, form_of(refused.text, "/names"), organizer=True).status_code == 303
        assert content(name=name) == whole
    told = beginner.put("/competitions/fresh/original/customers.csv", content=bare)
    assert (told.status_code, [one["code"] for one in told.json()["errors"]]) == (422, ["no_header"])


def test_a_header_that_is_spelled_otherwise_is_offered_to_be_put_right(beginner: Arena) -> None:
    begun(beginner, "2016")
    customers = TRACKS["transactions"].files_of(tc400())["customers"]
    rest = customers.partition(b"\n")[2]
    odd = "Customer ID, ＳＥＸ,Birthday,country\u200b\n".encode("utf-8-sig") + rest
    refused = upload(beginner, odd, file="customers.csv")
    assert "capitals, blanks, full-width characters" in refused.text
    path = "/competitions/fresh/organize/original/customers.csv/names"
    assert send(beginner, path, form_of(refused.text, "/names"), organizer=True).status_code == 303
    assert content(name="customers") == customers


def test_only_what_is_kept_for_this_competition_and_file_comes_back(beginner: Arena, arena: Arena) -> None:
    begun(beginner)
    with transaction() as session:
        fresh, small = (competitions.find(session, None, slug) for slug in ("fresh", "small"))
        session.expunge_all()
    kept = original_import.hold(small, "original", b"1,2\n3,4\n")
    assert original_import.held(small, "original", kept) == b"1,2\n3,4\n"
    strange = [kept, small.row.original["original"], "0" * 64, "", "../" * 20, kept.upper()]
    path = "/competitions/fresh/organize/original/original.csv/names"
    for digest in strange:
        fields = {"held": digest, "first": "data", "name_0": "a", "name_1": "b"}
        assert send(beginner, path, fields, organizer=True).status_code == 409
    assert fresh.row.original == stored("fresh").original == {}


def test_a_table_of_amounts_alone_has_no_unique_quasi_identifier(beginner: Arena) -> None:
    table = begun(beginner).table[["income", "rent"]].copy()
    table.insert(0, "weight", [1000.5 + 3 * place for place in range(len(table))])
    table["rooms"] = [place % 25 for place in range(len(table))]
    assert upload(beginner, table_csv(table)).status_code == 303
    assert rules("fresh").columns == Columns(("rooms",), ("weight", "income", "rent"))
    assert rules("fresh").weight("cross_count") == 0.0  # one column counts the same in any order


SHOP = "receipt,member,bought,sku,price,pieces\n7,M1,2023-01-04,A,2.5,1\n7,M1,2023-01-04,B,1.0,2\n8,M2,2023-02-01,A,2.5,3\n"
"""Receipts in another order than they must have, under other names, and without a time."""
MADE = "M1,7,2023-01-04,12:00,A,2.5,1\nM1,7,2023-01-04,12:00,B,1.0,2\nM2,8,2023-02-01,12:00,A,2.5,3\n"


def test_columns_of_another_order_or_none_become_those_that_a_file_must_have(beginner: Arena) -> None:
    begun(beginner, "2016")
    customers = "country,no,gender\nFR,M1,f\nDE,M2,m\n"
    path = "/competitions/fresh/organize/original"
    for name, sent, chosen in (
        ("customers", customers, {"source_0": "1", "source_1": "2", "source_2": "", "source_3": "0"}),
        ("transactions", SHOP, dict(zip([f"source_{n}" for n in range(7)], "102 345", strict=True))),
    ):
        refused = upload(beginner, sent.encode(), file=f"{name}.csv")
        assert refused.status_code == 422
        fields = form_of(refused.text, "/names") | {one: value.strip() for one, value in chosen.items()}
        if name == "transactions":
            wrong = send(beginner, f"{path}/{name}.csv/names", fields, organizer=True)
            assert (wrong.status_code, 'value="5" selected' in wrong.text) == (422, True)  # no time is none
            fields |= {"same_3": "12:00"}
        assert send(beginner, f"{path}/{name}.csv/names", fields, organizer=True).status_code == 303
    assert content(name="customers") == b"customer_id,sex,birthday,country\nM1,f,,FR\nM2,m,,DE\n"
    assert content(name="transactions").decode().partition("\n")[2] == MADE


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_table_of_a_continental_spreadsheet_is_rewritten_once_it_is_said(
    beginner: Arena, language: str
) -> None:
    rows = "".join(f"{'wm'[n % 2]};{20 + n % 9};{n}.{n:03},5\r\n" for n in range(10, 60))
    sent = ("\ufeffsex;age;Umsatz (€)\r\n" + rows).encode()
    refused = upload(begun(beginner), sent, language=language)
    assert (refused.status_code, 'role="alert"' in refused.text) == (422, False)
    assert said("Its cells are separated by semicolons: the service writes commas.", language) in refused.text
    assert "<code>10.010,5</code> → <code>10010.5</code>" in refused.text
    path = "/competitions/fresh/organize/original/original.csv/names"
    assert send(beginner, path, form_of(refused.text, "/names"), organizer=True).status_code == 303
    lines = content().decode().splitlines()
    assert lines[0] == "sex,age,Umsatz (€)"
    assert lines[1:] == [f"{'wm'[n % 2]},{20 + n % 9},{n}{n:03}.5" for n in range(10, 60)]
    assert "Umsatz (€)" in rules("fresh").columns.sensitive


def test_free_text_with_line_breaks_is_said_briefly_and_offered_to_be_left_out(beginner: Arena) -> None:
    rows = "".join(f'{"fm"[n % 2]},{n % 7},{n}.5,"one\ntwo"\n' for n in range(40))
    refused = upload(begun(beginner), f"sex,size,rent,comment\n{rows}".encode())
    assert refused.text.count("a line break or control character") == 3
    assert said("More problems, not listed: {more}.", more=37) in refused.text
    fields = form_of(refused.text, "/names")
    assert fields["leave_3"] == "yes"
    path = "/competitions/fresh/organize/original/original.csv/names"
    assert send(beginner, path, fields, organizer=True).status_code == 303
    assert content().decode().splitlines()[0] == "sex,size,rent"


def test_a_date_of_birth_that_is_nearly_everybodys_own_is_warned_of_and_kept(beginner: Arena) -> None:
    rows = "".join(f"{1930 + n // 2}-01-{10 + n % 60},{'fm'[n % 2]},{n}\n" for n in [*range(58), 1, 1])
    refused = upload(begun(beginner), f"born,sex,rent\n{rows}".encode())
    assert "“born” has 58 different values in 60 rows: it identifies nearly everybody." in refused.text
    assert "leave_0" not in form_of(refused.text, "/names")


def test_a_header_alone_is_a_table_without_rows(beginner: Arena) -> None:
    refused = upload(begun(beginner), b"sex,size,rent\n")
    assert (refused.status_code, "The table has no rows" in refused.text) == (422, True)


def test_amounts_with_words_for_what_is_missing_are_told(beginner: Arena) -> None:
    missing = ["NA", "N/A", "", "."]
    cells = [missing[n // 10 % 4] if n % 10 == 0 else str(1000 + n) for n in range(100)]
    table = "".join(f"{'fm'[n % 2]},{cell},{n}.5,{n % 3 or 'NA'}\n" for n, cell in enumerate(cells))
    asked = upload(begun(beginner), f"sex,income,rent,answer\n{table}".encode()).text
    fields = form_of(asked, "/names")
    assert (fields.pop("fill_1"), "fill_3" in fields) == ("yes", False)
    path = "/competitions/fresh/organize/original/original.csv/names"
    assert send(beginner, path, fields, organizer=True).status_code == 303
    assert content() == f"sex,income,rent,answer\n{table}".encode()
    look = page(beginner, DATA, organizer=True).text.partition('id="look"')[2]
    rows = sum(not cell.isdigit() for cell in cells)
    told = re.findall(r"“(\w+)” could be sensitive: all values are numbers, except (.*?) in (\d+) rows", look)
    assert told == [("income", "NA, N/A, (empty), .", str(rows))]
    assert said("No problem was found with these roles.") not in look


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_income_with_empty_cells_becomes_sensitive_with_zeros_in_them(
    beginner: Arena, language: str
) -> None:
    rows = "".join(f"{'fm'[n % 2]},{n % 9},{'' if n % 4 else 1000 + 7 * n},{n % 5}\n" for n in range(200))
    asked = upload(begun(beginner), f"sex,size,py010n,kids\n{rows}".encode(), language=language)
    assert (asked.status_code, 'role="alert"' in asked.text) == (422, False)
    assert said("Some numbers are missing.", language) in asked.text
    assert "150" in asked.text
    fields = form_of(asked.text, "/names")
    assert fields["fill_2"] == "yes"
    path = "/competitions/fresh/organize/original/original.csv/names"
    assert send(beginner, path, fields, organizer=True, language=language).status_code == 303
    lines = content().decode().splitlines()
    assert lines[1:3] == ["f,0,1000,0", "m,1,0,1"]
    assert rules("fresh").columns == Columns(("sex", "size", "kids"), ("py010n",))


def test_a_number_of_a_household_is_offered_to_be_left_out_and_else_warned_of(beginner: Arena) -> None:
    rows = "".join(f"{n // 3 + 7},{n % 9},{n * 7919 % 1009}.5\n" for n in range(600))
    asked = upload(begun(beginner), f"db,size,wages\n{rows}".encode()).text
    words = "“db” numbers small groups such as households: 200 different values in 600 rows."
    assert words in asked
    fields = form_of(asked, "/names")
    assert fields.pop("leave_0") == "yes"
    path = "/competitions/fresh/organize/original/original.csv/names"
    assert send(beginner, path, fields, organizer=True).status_code == 303
    assert rules("fresh").columns == Columns(("db", "size"), ("wages",))
    assert words in page(beginner, DATA, organizer=True).text.partition('id="look"')[2]
