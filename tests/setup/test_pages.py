"""Set-up of a competition on the organizers' pages, from its creation to its opening."""

import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from httpx2 import Response

from anoncup.competition import drafts
from anoncup.competition.drafts import DRAFT_SOURCES, change_columns, create_draft
from anoncup.competition.parser import parse_competition, parse_rounds
from anoncup.competition.templates import DESCRIPTION_EXAMPLE, TEMPLATES, THRESHOLD_NOTE
from anoncup.competition.writer import set_weights
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.rules.toml_text import parse_toml, replace_tables
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.microdata.column_roles import suggest_roles
from app.competitions import competitions
from app.setup import pages as setup
from tests.support.arena import Arena
from tests.support.contest import load_competition, load_round
from tests.support.organizer_pages import extract_hidden_fields
from tests.support.page_requests import assert_refused, extract_words, get_page, post_form
from tests.support.setup_pages import BASIC_FIELDS, ORGANIZE_PATH, import_original, load_rules, new_organizer

__all__ = ["new_organizer"]

pytestmark = pytest.mark.full


TWO_ROUNDS = (
    replace_tables(create_draft("microdata"), "phases", "").replace("format = 1", "format = 2")
    + """
[[rounds]]
name = "first"
phases = [
  { name = "anonymization", start = 2027-01-01T09:00:00+09:00, end = 2027-01-03T09:00:00+09:00 },
  { name = "reidentification", start = 2027-01-03T09:00:00+09:00, end = 2027-01-04T18:00:00+09:00 },
]
[[rounds]]
name = "second"
data = "previous"
phases = [{ name = "anonymization", start = 2027-06-30T09:00:00+09:00, end = 2027-07-01T09:00:00+09:00 }]
"""
)
"""A template whose second round begins 180 days after the first."""


def test_organizer_sets_up_a_competition_from_scratch(new_organizer: Arena) -> None:
    response = post_form(new_organizer, "/organize/new", BASIC_FIELDS, organizer=True)
    assert (response.status_code, response.headers["location"]) == (
        303,
        "/competitions/fresh/organize/data?done=created",
    )
    assert import_original(new_organizer, write_csv(new_organizer.table)).status_code == 303
    assert load_rules("fresh").columns == Columns(("sex", "age"), ("income", "rent"))
    file = replace_tables(load_competition("fresh").file, "excessive", "[excessive]\nthreshold = 0.2\n")
    assert new_organizer.put("/competitions/fresh/competition.toml", content=file).status_code == 200
    new_organizer.post("/competitions/fresh/invites", json={})
    html = get_page(new_organizer, "/competitions/fresh/organize", organizer=True).text
    duties = html.partition('class="todo"')[2].partition("</ul>")[0]
    # no clock runs, and no team has joined
    assert re.findall(r'/organize/(\w+)">', duties) == ["health", "publish", "teams"]
    competition = load_rules("fresh")
    assert [phase.start.isoformat() for phase in competition.phases] == [
        "2031-01-10T09:00:00+09:00",
        "2031-01-25T09:00:00+09:00",
    ]
    assert dict(competition.title) == {"en": "Fresh cup", "ja": "新しい“杯”"}
    assert load_round("fresh").original_rows == len(new_organizer.table)


INVALID_BASICS = (
    ("slug", "Not A Slug", "1 to 63 small letters"),
    ("start", "2099", "Choose one of these"),
    ("zone", "Mars/Olympus", "Choose a time zone"),
    ("zone", "../../etc/passwd", "Choose a time zone"),
    ("title_en", "x" * 201, "At most 200"),
    ("anonymization_start", "", "This time is missing"),
    ("anonymization_end", "2031-01-09T09:00", "after the start"),
    ("reidentification_start", "2031-01-23T09:00", "when the anonymization phase has ended"),
    ("reidentification_end", "soon", "Enter a date and a time"),
)


def test_error_is_shown_at_its_field_and_input_is_kept(new_organizer: Arena) -> None:
    for field, typed, message in INVALID_BASICS:
        response = post_form(new_organizer, "/organize/new", BASIC_FIELDS | {field: typed}, organizer=True)
        assert response.status_code == 422
        assert re.search(rf'id="{field}-error">[^<]*{message}', response.text)
        assert "Fresh cup" in response.text or field == "title_en"
        assert "<option selected>Asia/Tokyo</option>" in response.text or field == "zone"
    assert new_organizer.client.get("/api/v1/competitions").json() == []


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "Europe/Berlin"])
def test_rounds_of_a_template_keep_their_distances(
    new_organizer: Arena, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, zone: str
) -> None:
    file = tmp_path / "twice.toml"
    file.write_text(TWO_ROUNDS)
    monkeypatch.setitem(TEMPLATES, "twice", file)
    for module in (drafts, setup):
        monkeypatch.setattr(module, "DRAFT_SOURCES", (*DRAFT_SOURCES, "twice"))
    html = get_page(new_organizer, "/organize/new", organizer=True).text
    assert "A template with rounds keeps the lengths of its phases" in html
    fields = BASIC_FIELDS | {"start": "twice", "zone": zone}
    response = post_form(new_organizer, "/organize/new", fields, organizer=True)
    assert response.status_code == 303, response.text
    text = new_organizer.get("/competitions/fresh/competition.toml").text
    windows = {
        name: [
            tuple(
                time.astimezone(ZoneInfo(zone)).replace(tzinfo=None).isoformat(" ", "minutes")
                for time in phase
            )
            for phase in ((phase.start, phase.end) for phase in rules.phases)
        ]
        for name, rules in parse_rounds(text).items()
    }
    assert windows == {
        "first": [("2031-01-10 09:00", "2031-01-12 09:00"), ("2031-01-12 09:00", "2031-01-13 18:00")],
        "second": [("2031-07-09 09:00", "2031-07-10 09:00")],
    }


def test_empty_address_is_derived_from_the_title(new_organizer: Arena) -> None:
    def create(**titles: str) -> Response:
        return post_form(new_organizer, "/organize/new", BASIC_FIELDS | {"slug": ""} | titles, organizer=True)

    location = create(title_en="Café cup, 2031!").headers["location"]
    assert location.startswith("/competitions/cafe-cup-2031/")
    assert create(title_en="").headers["location"].startswith("/competitions/cup-20310110/")
    repeated_response = create(title_en="")
    assert (repeated_response.status_code, 'id="slug-error"' in repeated_response.text) == (422, True)
    alert = create(title_en="", title_ja="").text.partition('role="alert"')[2].partition("</div>")[0]
    assert re.findall(r'<a href="#(\w+)">', alert) == ["title_en"]  # a missing title is reported once


@pytest.mark.parametrize(
    ("typed", "exists"), [("01:59", True), ("02:00", False), ("02:59", False), ("03:00", True)]
)
def test_time_skipped_by_the_time_zone_is_refused(new_organizer: Arena, typed: str, exists: bool) -> None:
    fields = {"zone": "Europe/Berlin", "anonymization_end": f"2031-03-30T{typed}"}
    fields |= {"reidentification_start": "2031-04-02T09:00", "reidentification_end": "2031-04-30T09:00"}
    response = post_form(new_organizer, "/organize/new", BASIC_FIELDS | fields, organizer=True)
    assert response.status_code == (303 if exists else 422)
    assert ("put forward past it" in response.text) is not exists


@pytest.mark.parametrize("start", DRAFT_SOURCES)
def test_drafts_are_competitions_without_a_threshold(start: str) -> None:
    text = create_draft(start)
    competitions.read_hostable_file(text)
    assert parse_competition(text).threshold is None
    assert "#" not in text.removesuffix(DESCRIPTION_EXAMPLE).removesuffix(THRESHOLD_NOTE)
    description = DESCRIPTION_EXAMPLE.replace("# ", "").partition("[description]")[2]
    assert parse_toml(description).keys() == {"terms", "en", "ja"}


@pytest.mark.parametrize(("track", "year"), [("microdata", "2015"), ("transactions", "2016")])
def test_own_table_draft_has_the_settings_of_the_template_and_counts_every_attacker(
    track: str, year: str
) -> None:
    draft, example = (parse_toml(create_draft(source)) for source in (track, year))
    for table in ("excessive", "ranking", "publication", "limits", "phases"):
        assert draft[table] == example[table]
    attackers = {name: {"counts": True} for name, part in TRACKS[track].attackers.items() if part.may_count}
    weights = {name: {"weight": 1.0} for name, part in TRACKS[track].measures.items() if part.weighs}
    assert (draft["attackers"], draft["measures"]) == (attackers, weights)


def test_columns_of_a_template_are_replaced_with_suggested_roles(new_organizer: Arena) -> None:
    post_form(new_organizer, "/organize/new", BASIC_FIELDS | {"start": "2015"}, organizer=True)
    assert import_original(new_organizer, write_csv(new_organizer.table)).status_code == 303
    path = "/competitions/fresh/organize/data"
    assert "40" in extract_words(get_page(new_organizer, path, organizer=True).text)
    digest = load_round("fresh").original["original"]
    quasi = "quasi_identifiers"
    roles = {"role_0": quasi, "role_1": quasi, "role_2": "sensitive", "of": digest}
    assert load_rules("fresh").weight("cor_mae") == 1.0
    response = post_form(new_organizer, path, roles | {"role_3": quasi}, organizer=True)
    # a single column correlates with no other, so cor_mae would be meaningless
    assert response.headers["location"] == f"{path}?done=weights_taken"
    assert load_rules("fresh").weight("cor_mae") == 0.0
    assert load_rules("fresh").columns == Columns(("sex", "age", "rent"), ("income",))
    assert load_round("fresh").original_rows == 40  # the data were kept
    text_column = roles | {"role_0": "sensitive", "role_3": "sensitive"}
    invalid_response = post_form(new_organizer, path, text_column, organizer=True)
    assert invalid_response.status_code == 422
    first_role = invalid_response.text.split('name="role_0"')[1].split("</select>")[0]
    assert 'value="sensitive" selected' in first_role
    other_data = roles | {"of": "0" * 64, "role_3": "sensitive"}
    for fields in (roles, other_data):
        assert post_form(new_organizer, path, fields, organizer=True).status_code == 409


def suggest(content: str, columns: Columns | None = None) -> Columns:
    """Suggest roles for a table, of which the contest may have some columns."""
    file = create_draft("microdata")
    rules = parse_competition(change_columns(file, columns) if columns else file)
    roles = suggest_roles(content.encode(), rules)
    return Columns(
        *(tuple(name for name in roles if roles[name] == role) for role in ("quasi_identifiers", "sensitive"))
    )


def test_roles_are_suggested_and_known_ones_kept() -> None:
    rows = "".join(f"p{index % 3},{index % 7},{index * 7 % 61},{index * 2 % 97}\n" for index in range(60))
    content = "city,size,rent,income\n" + rows
    assert suggest(content) == Columns(("city", "size"), ("rent", "income"))
    assert suggest(content, Columns(("rent", "size"), ("z",))) == Columns(
        ("city", "size", "rent"), ("income",)
    )
    assert suggest("a,b\n1,2\n") == Columns(("b",), ("a",))


@pytest.mark.parametrize("name", ["age", "Alter (Jahre)", "birth_year", "ZIP code", "年齢（歳）", "plain"])
def test_numeric_codes_are_suggested_as_quasi_identifiers(name: str) -> None:
    cell = "{:04}" if name == "plain" else "{}"  # leading zeros mark a code whatever its name
    rows = "".join(f"{cell.format(n * 7 % 53)},{n * 7 % 61}\n" for n in range(60))
    assert suggest(f"{name},income\n{rows}") == Columns((name,), ("income",))
    single_row = suggest(f"sex,{name}\nf,{cell.format(7)}\n")
    assert single_row == Columns(("sex",), (name,))  # at least one column must be sensitive


@pytest.mark.parametrize("name", ["wage", "average rent", "package", "codeine", "解雇年"])
def test_similarly_named_amounts_are_suggested_as_sensitive(name: str) -> None:
    rows = "".join(f"{'fm'[n % 2]},{n * 7 % 61}\n" for n in range(60))
    assert suggest(f"sex,{name}\n{rows}").sensitive == (name,)


def test_submissions_fix_the_data_and_new_rules_start_a_rescore(arena: Arena) -> None:
    arena.submit("red")
    assert 'type="file"' not in get_page(arena, f"{ORGANIZE_PATH}/data", organizer=True).text
    assert import_original(arena, write_csv(arena.table.iloc[:30])).status_code == 409
    path, data = f"{ORGANIZE_PATH}/file", f"{ORGANIZE_PATH}/data"
    file_before = load_competition().file
    text = set_weights(file_before, {"mean_mae": 5.0})
    compared = post_form(arena, path, {"text": text, "do": "compare"}, organizer=True)
    fields = {"text": text, "do": "save"} | extract_hidden_fields(compared.text)
    response = post_form(arena, path, fields, organizer=True)
    assert response.headers["location"].startswith(f"{ORGANIZE_PATH}/rescores")
    (rescore,) = arena.get("/competitions/small/rescores").json()
    assert (rescore["total"], load_competition().file == file_before) == (1, True)
    locked_html = get_page(arena, data, organizer=True).text
    note = locked_html.partition("A re-score set is open. When it is applied, its file takes the place")[2]
    assert f'<a href="{ORGANIZE_PATH}/rescores/{rescore["id"]}">' in note
    repeated_response = post_form(arena, path, fields, organizer=True, language="ja")
    assert_refused(repeated_response, 409, "進行中の再採点があります")
    arena.post(f"/rescores/{rescore['id']}/cancel")
    assert post_form(arena, path, fields, organizer=True).status_code == 303


def test_column_names_are_escaped_in_toml() -> None:
    names = ('say "b"', "back\\slash", "日本語", "tab\tand\x7f", "#")
    competition = parse_competition(change_columns(create_draft("microdata"), Columns(names[:3], names[3:])))
    assert competition.columns == Columns(names[:3], names[3:])
