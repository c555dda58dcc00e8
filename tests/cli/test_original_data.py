"""Original data of organizers: the commands read what the page reads, and make the same of it."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from anoncup.competition import drafts
from anoncup.competition.drafts import DRAFT_SOURCES, create_draft, create_named_draft
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import TEMPLATES
from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.rules.settings import Columns
from anoncup.tracks.transactions.example import load_tc400
from app.core.storage import get_store
from tests.support import shop_contest
from tests.support.arena import Arena
from tests.support.command_line import CommandRunner
from tests.support.contest import load_round
from tests.support.setup_pages import begin_setup, import_original, load_rules, new_organizer

pytestmark = pytest.mark.full

__all__ = ["new_organizer"]

SignIn = Callable[[str], None]
HEADER = ["会員番号", "性別", "年齢", "郵便番号", "年収（円）", "Umsatz"]
COLUMNS = Columns(("性別", "年齢", "郵便番号"), ("年収（円）", "Umsatz"))


def build_rows(count: int) -> list[list[str]]:
    random = Random(1)
    return [
        [
            f"R-{n:04}",
            "男女"[n % 2],
            str(20 + n % 9),
            f"0{n % 9:02}",
            f"{3_810_000 + 997 * n:,}",
            f"{random.randrange(10**6) / 100:,.2f}",
        ]
        for n in range(count)
    ]


def build_csv(
    rows: list[list[str]], encoding: str = "utf-8", separator: str = ",", newline: str = "\n"
) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=newline).writerows([HEADER, *rows])
    return text.getvalue().encode(encoding)


def write_decimal_commas(rows: list[list[str]]) -> list[list[str]]:
    return [[cell.translate(str.maketrans(",.", ".,")) for cell in row] for row in rows]


ROWS = build_rows(60)
HOSTILE_TABLES = {
    "UTF-8 with BOM": build_csv(ROWS, "utf-8-sig"),
    "CP932": build_csv(ROWS, "cp932", newline="\r\n"),
    "semicolons and decimal commas": build_csv(write_decimal_commas(ROWS), separator=";"),
    "UTF-16 with tabs": build_csv(ROWS, "utf-16", "\t"),
    "missing values": build_csv(
        [[*row[:2], row[2] if n % 5 else "NA", *row[3:]] for n, row in enumerate(ROWS)]
    ),
}


def read_stored_file(slug: str, name: str = "original") -> bytes:
    return get_store().get(load_round(slug).original[name])


@pytest.fixture
def organizer(new_organizer: Arena, sign_in_as: SignIn) -> Arena:
    """An organizer without a competition, signed in to the pages and the commands."""
    sign_in_as(new_organizer.organizer_token)
    return new_organizer


@pytest.mark.parametrize("name", HOSTILE_TABLES)
def test_file_of_the_command_takes_the_data_as_the_page_does(
    anoncup: CommandRunner, organizer: Arena, folder: Path, name: str
) -> None:
    (folder / "Survey 2026.csv").write_bytes(HOSTILE_TABLES[name])
    suggested = anoncup("template", "microdata", "--from", "Survey 2026.csv")
    assert suggested.status == 0
    assert "columns_left_out: original.csv: columns were left out: 会員番号 (unique)" in suggested.stderr
    (folder / "c.toml").write_text(suggested.stdout, "utf-8")
    assert suggested.stdout.count("# [description]") == suggested.stdout.count("# しきい値は") == 1
    applied = anoncup("organize", "apply", "c.toml", "--original", "Survey 2026.csv")
    assert applied.status == 0, applied.stderr
    assert "columns_left_out: original.csv: columns were left out: 会員番号\n" in applied.stdout
    assert "no marks between thousands now in 年収（円）, Umsatz" in applied.stdout
    assert import_original(begin_setup(organizer), HOSTILE_TABLES[name]).status_code == 303
    rules, page_rules = load_rules("survey-2026"), load_rules("fresh")
    assert rules.columns == page_rules.columns == COLUMNS
    assert (rules.measures, rules.attackers) == (page_rules.measures, page_rules.attackers)
    assert dict(rules.title) == {"en": "Survey 2026"}
    assert read_stored_file("survey-2026") == read_stored_file("fresh")
    again = anoncup("organize", "apply", "c.toml", "--original", "Survey 2026.csv")
    assert again.stdout.startswith("nothing changed\n")


@pytest.mark.parametrize(("name", "language"), [("住民調査", "ja"), ("かな 2", "ja"), ("Größe", "en")])
def test_title_from_the_name_of_a_file_has_its_language(name: str, language: str) -> None:
    assert dict(parse_competition(create_named_draft("2015", name)).title) == {language: name}


def test_dates_that_are_left_out_may_be_shortened_by_hand(anoncup: CommandRunner, folder: Path) -> None:
    rows = [f"{1940 + n % 60}-{1 + n % 12:02}-{1 + n % 28:02},{n % 7},{n * n}" for n in range(60)]
    (folder / "X.csv").write_text("\n".join(["birthday,sex,income", *rows, ""]))
    result = anoncup("template", "microdata", "--from", "X.csv")
    assert (
        "columns_can_be_cut: original.csv: birthday could stay with the first 4 characters" in result.stderr
    )


def test_commands_on_local_files_read_what_the_service_cleans(anoncup: CommandRunner, folder: Path) -> None:
    (folder / "X.csv").write_bytes(HOSTILE_TABLES["semicolons and decimal commas"])
    (folder / "c.toml").write_text(anoncup("template", "2015", "--from", "X.csv").stdout, "utf-8")
    result = anoncup("threshold", "--competition", "c.toml", "--original", "X.csv", "--draws", "0")
    assert (result.status, "format_guessed: " in result.stderr) == (0, True)
    assert "recommended threshold" in result.stdout


def test_draft_gives_no_weight_to_measures_of_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    package = Package("extra", "1.0", "extra:PLUGIN", ("microdata.measures.cor_mae",))
    monkeypatch.setattr(drafts, "INSTALLED", InstalledParts({}, (package,)))
    weights = parse_competition(create_draft("microdata")).weights
    assert ("cor_mae" in weights, "mean_mae" in weights) == (False, True)


@pytest.mark.parametrize(
    "source", [name for name in DRAFT_SOURCES if parse_competition(create_draft(name)).columns]
)
def test_wide_table_and_a_table_of_one_row_get_the_roles_of_the_page(
    anoncup: CommandRunner, organizer: Arena, folder: Path, source: str
) -> None:
    names = [f"q{n}" for n in range(30)] + [f"amount{n}" for n in range(30)]
    lines = [",".join(str(n * m % 7 if m <= 30 else n * m) for m in range(1, 61)) for n in range(1, 41)]
    content = "\n".join([",".join(names), *lines, ""]).encode()
    (folder / "X.csv").write_bytes(content)
    suggested = parse_competition(anoncup("template", source, "--from", "X.csv").stdout)
    assert import_original(begin_setup(organizer, source), content).status_code == 303
    assert suggested.columns == load_rules("fresh").columns == Columns(tuple(names[:30]), tuple(names[30:]))


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"", "X.csv: no_header: "),
        (b"a,b\n", "X.csv: no_rows: "),
        (b"a,a\n1,2\n", "X.csv: header: the header names 'a' twice (line 1)"),
        (b"a,b\n1,2\n3\n", "X.csv, row 2: ragged_row: "),
        (
            b"a,b\n\xff\xfe\x81,1\n\x80\xff,2\n",
            "X.csv: encoding: the file has another encoding than utf_8: choose the one it was saved in, ",
        ),
        (b"PK\x03\x04" + bytes(40), "X.csv: encoding: this is a spreadsheet"),
        (b"a,b\nx,y\nz,w\n", "at least one column for each role is needed"),
    ],
)
def test_unreadable_table_is_refused_with_its_place(
    anoncup: CommandRunner, folder: Path, content: bytes, place: str
) -> None:
    (folder / "X.csv").write_bytes(content)
    result = anoncup("template", "microdata", "--from", "X.csv")
    assert (result.status, result.stdout) == (2, "")
    assert place in result.stderr


def test_tracks_with_several_files_take_them_in_their_order(anoncup: CommandRunner, folder: Path) -> None:
    for name, content in TRACKS["transactions"].files_of(load_tc400()).items():
        (folder / f"{name}.csv").write_bytes(content)
    (folder / "other.csv").write_bytes(b"a,b\n1,2\n")
    files = ("--from", "customers.csv", "--from", "transactions.csv")
    suggested = anoncup("template", "transactions", *files)
    assert (suggested.status, suggested.stderr) == (0, "")
    assert (
        parse_competition(suggested.stdout).weights == parse_competition(create_draft("transactions")).weights
    )
    missing = anoncup("template", "2016", *files[:2])
    assert (missing.status, "needs 2 --from: customers, transactions" in missing.stderr) == (2, True)
    wrong = anoncup("template", "2016", "--from", "other.csv", *files[2:])
    assert (wrong.status, "other.csv: header: no column is 'customer_id' (line 1)" in wrong.stderr) == (
        2,
        True,
    )


def test_applied_purchases_are_cleaned_file_by_file(
    anoncup: CommandRunner, organizer: Arena, folder: Path
) -> None:
    (folder / "c.toml").write_text(anoncup("template", "transactions").stdout, "utf-8")
    (folder / "c.csv").write_bytes(
        shop_contest.CUSTOMERS.replace("customer_id", "Customer ID").encode("cp932")
    )
    (folder / "t.csv").write_text(shop_contest.TRANSACTIONS.replace(",", "\t"), "utf-8")
    arguments = ("organize", "apply", "c.toml", "--original", "c.csv", "--original", "t.csv")
    result = anoncup(*arguments)
    assert (result.status, result.stderr) == (0, "")
    assert "columns have other names now: Customer ID → customer_id" in result.stdout
    assert read_stored_file("cup-2016", "transactions").decode() == shop_contest.TRANSACTIONS
    assert anoncup(*arguments).stdout.startswith("nothing changed\n")


@pytest.mark.parametrize("name", [*TEMPLATES, *(name for name in TRACKS if TRACKS[name].examples.templates)])
def test_templates_are_named_by_year_or_track(anoncup: CommandRunner, name: str) -> None:
    assert parse_competition(anoncup("template", name).stdout).track in {name, *TRACKS}
