"""Set-up of a competition on the organizers' pages, from its creation to its opening."""

import re
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from anoncup.competition import drafts
from anoncup.competition.drafts import DRAFT_SOURCES, change_columns, create_draft
from anoncup.competition.parser import parse_competition, parse_rounds
from anoncup.competition.templates import TEMPLATES
from anoncup.competition.writer import replace_attackers, replace_measures, replace_publication_rules
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.rules.toml_text import format_value
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.microdata.column_roles import suggest_roles
from anoncup.tracks.transactions.example import load_tc400
from app.db.transaction import transaction
from app.http.body_limits import UPLOAD_PATH_PATTERN
from app.services.contests import competitions
from app.web.organizer import setup
from tests.support.arena import Arena
from tests.support.contest import load_competition, load_round
from tests.support.page_requests import extract_words, get_page, post_form, send_form
from tests.support.setup_pages import (
    BASIC_FIELDS,
    ORGANIZE_PATH,
    PUBLICATION_FIELDS,
    load_rules,
    new_organizer,
    parse_form,
    upload_original,
)
from tests.support.translations import translate

__all__ = ["new_organizer"]

pytestmark = pytest.mark.full


TWO_ROUNDS = (
    create_draft("microdata").replace("format = 1", "format = 2")
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
    assert upload_original(new_organizer, write_csv(new_organizer.table)).status_code == 303
    assert load_rules("fresh").columns == Columns(("sex", "age"), ("income", "rent"))
    rule = {"approach": "II", "rule": "average", "distance": "gower", "threshold": "0.2"}
    send_form(new_organizer, "/competitions/fresh/organize/threshold", rule, organizer=True)
    new_organizer.post("/competitions/fresh/invites", json={})
    html = get_page(new_organizer, "/competitions/fresh/organize/data", organizer=True).text
    assert "missing" not in extract_words(html)
    assert "Everything is set" in html
    competition = load_rules("fresh")
    assert [phase.start.isoformat() for phase in competition.phases] == [
        "2031-01-10T09:00:00+09:00",
        "2031-01-25T09:00:00+09:00",
    ]
    assert dict(competition.title) == {"en": "Fresh cup", "ja": "新しい“杯”"}
    assert load_round("fresh").original_rows == len(new_organizer.table)


def test_own_table_is_the_first_choice(new_organizer: Arena) -> None:
    visible_html = get_page(new_organizer, "/organize/new", organizer=True).text.partition("<details")[0]
    assert translate("choose_start_microdata") in visible_html
    assert 'value="microdata"' in visible_html


def test_suggested_phases_begin_at_nine_in_the_suggested_zone_a_week_from_its_today(
    new_organizer: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FixedClock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "FixedClock":
            """Return a moment at which Tokyo already has the next day."""
            return cls(2031, 1, 2, 20, 30, tzinfo=UTC).astimezone(tz)

    monkeypatch.setattr(setup, "datetime", FixedClock)
    html = get_page(new_organizer, "/organize/new", organizer=True).text
    fields = parse_form(html, 'class="setup"')
    assert {name: value for name, value in fields.items() if name.endswith(("_start", "_end"))} == {
        "anonymization_start": "2031-01-10T09:00",
        "anonymization_end": "2031-01-24T09:00",
        "reidentification_start": "2031-01-25T09:00",
        "reidentification_end": "2031-02-08T09:00",
    }
    assert "selected>Asia/Tokyo</option>" in html


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("slug", "Not A Slug", "1 to 63 small letters"),
        ("start", "2099", "Choose one of these"),
        ("zone", "Mars/Olympus", "Choose a time zone"),
        ("zone", "../../etc/passwd", "Choose a time zone"),
        ("title_en", "x" * 201, "At most 200"),
        ("anonymization_start", "", "This time is missing"),
        ("anonymization_end", "2031-01-09T09:00", "after the start"),
        ("reidentification_start", "2031-01-23T09:00", "when the anonymization phase has ended"),
        ("reidentification_end", "soon", "Enter a date and a time"),
    ],
)
def test_error_is_shown_at_its_field_and_input_is_kept(
    new_organizer: Arena, field: str, typed: str, message: str
) -> None:
    response = post_form(new_organizer, "/organize/new", BASIC_FIELDS | {field: typed}, organizer=True)
    assert response.status_code == 422
    assert re.search(rf'id="{field}-error">[^<]*{message}', response.text)
    assert "Fresh cup" in response.text or field == "title_en"
    assert "<option selected>Asia/Tokyo</option>" in response.text or field == "zone"
    assert new_organizer.client.get("/api/v1/competitions").json() == []


def test_taken_address_is_reported_in_the_readers_language(new_organizer: Arena) -> None:
    post_form(new_organizer, "/organize/new", BASIC_FIELDS, organizer=True)
    response = post_form(new_organizer, "/organize/new", BASIC_FIELDS, organizer=True, language="ja")
    assert response.status_code == 422
    assert "このアドレスのコンテストはすでにあります" in response.text


def test_errors_are_summarized_with_links_to_their_fields(new_organizer: Arena) -> None:
    fields = BASIC_FIELDS | {"title_en": "", "title_ja": "", "anonymization_end": ""}
    html = post_form(new_organizer, "/organize/new", fields, organizer=True).text
    alert = html.partition('role="alert"')[2].partition("</div>")[0]
    assert re.findall(r'<a href="#(\w+)">', alert) == ["title_en", "anonymization_end"]
    for field in ("title_en", "anonymization_end"):
        assert f'id="{field}"' in html
    assert html.count(f"({translate('one of the two')})") == 2


def test_untouched_step_is_marked_as_default(arena: Arena) -> None:
    def read_state(step: str) -> str:
        html = get_page(arena, f"{ORGANIZE_PATH}/publication", organizer=True).text
        return str(re.findall(rf'<li class="(\w+)"><a href="{ORGANIZE_PATH}/{step}"', html)[0])

    assert read_state("publication") == "default"
    send_form(arena, f"{ORGANIZE_PATH}/publication", PUBLICATION_FIELDS, organizer=True)
    assert read_state("publication") == "done"
    with transaction() as session:
        row = competitions.find(session, None, "small").competition
        row.file = replace_measures(row.file, parse_competition(create_draft("microdata")).measures)
    assert read_state("measures") == "default"


def test_competition_may_have_one_phase_and_one_title(new_organizer: Arena) -> None:
    fields = BASIC_FIELDS | {"title_en": "", "reidentification_start": "", "reidentification_end": ""}
    send_form(new_organizer, "/organize/new", fields, organizer=True)
    assert [phase.name for phase in load_rules("fresh").phases] == ["anonymization"]


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
        "first": [
            ("2031-01-10 09:00", "2031-01-12 09:00"),
            ("2031-01-12 09:00", "2031-01-13 18:00"),
        ],
        "second": [("2031-07-09 09:00", "2031-07-10 09:00")],
    }


def test_phases_keep_their_times_when_title_or_zone_change(arena: Arena) -> None:
    rules_before = load_rules()
    html = get_page(arena, f"{ORGANIZE_PATH}/basics", organizer=True).text
    fields = dict(re.findall(r'name="(\w+)" type="[\w-]+" value="([^"]*)"', html))
    response = post_form(
        arena, f"{ORGANIZE_PATH}/basics", fields | {"title_en": "Other", "zone": "Asia/Tokyo"}, organizer=True
    )
    assert response.status_code == 303
    assert load_rules().phases == rules_before.phases  # to the microsecond
    assert load_rules().title["en"] == "Other"


def test_unknown_columns_get_suggested_roles(new_organizer: Arena) -> None:
    post_form(new_organizer, "/organize/new", BASIC_FIELDS | {"start": "2015"}, organizer=True)
    assert upload_original(new_organizer, write_csv(new_organizer.table)).status_code == 303
    html = get_page(new_organizer, "/competitions/fresh/organize/data", organizer=True).text
    assert "40" in extract_words(html)
    digest = load_round("fresh").original["original"]
    roles = {"role_0": "quasi_identifier", "role_1": "quasi_identifier", "role_2": "sensitive"}
    path = "/competitions/fresh/organize/data"
    lone_column_roles = roles | {"of": digest, "role_3": "quasi_identifier"}
    assert load_rules("fresh").weight("cor_mae") == 1.0
    response = post_form(new_organizer, path, lone_column_roles, organizer=True)
    # a single column correlates with no other, so cor_mae would be meaningless
    assert response.headers["location"] == f"{path}?done=weights_taken"
    assert load_rules("fresh").weight("cor_mae") == 0.0
    assert load_rules("fresh").columns == Columns(("sex", "age", "rent"), ("income",))
    assert load_round("fresh").original_rows == 40  # the data were kept
    invalid_response = post_form(
        new_organizer,
        path,
        roles | {"of": digest, "role_0": "sensitive", "role_3": "sensitive"},
        organizer=True,
    )
    assert invalid_response.status_code == 422
    assert (
        'value="sensitive" selected' in invalid_response.text.split('name="role_0"')[1].split("</select>")[0]
    )
    assert post_form(new_organizer, path, roles | {"of": digest}, organizer=True).status_code == 422
    assert (
        post_form(
            new_organizer, path, roles | {"of": "0" * 64, "role_3": "sensitive"}, organizer=True
        ).status_code
        == 409
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,a\n1,2\n", "列「a」が 2 回あります"),
        (b"a\n1\n", "2 列以上が必要です"),
        (b"a,b\nx,y\n", "数値だけの列がない"),
        (b"", "ファイルが選ばれていない"),
        (b"a,b\n1\n", "1 行目の列数は 1 です"),
    ],
)
def test_unusable_table_is_refused_with_a_message(arena: Arena, content: bytes, message: str) -> None:
    row_before = load_round()
    response = upload_original(arena, content, language="ja")
    assert response.status_code == 422
    assert "このファイルは使えません" in response.text
    assert message in response.text
    assert (load_competition().file, load_round().original) == (row_before.file, row_before.original)


def test_roles_are_suggested_and_known_ones_kept() -> None:
    rows = "".join(f"p{index % 3},{index % 7},{index},{index * 2}\n" for index in range(60))
    content = ("city,size,rent,income\n" + rows).encode()
    no_columns = Columns(("x",), ("y",))
    assert suggest_roles(content, no_columns) == Columns(("city", "size"), ("rent", "income"))
    known_columns = Columns(("rent", "size"), ("z",))
    assert suggest_roles(content, known_columns) == Columns(("city", "size", "rent"), ("income",))
    assert suggest_roles(b"a,b\n1,2\n", no_columns) == Columns(("b",), ("a",))


@pytest.mark.parametrize("name", ["age", "Alter (Jahre)", "birth_year", "ZIP code", "年齢（歳）", "plain"])
def test_numeric_codes_are_suggested_as_quasi_identifiers(name: str) -> None:
    cell = "{:04}" if name == "plain" else "{}"  # leading zeros mark a code whatever its name
    rows = "".join(f"{cell.format(n)},{n * 2}\n" for n in range(60))
    columns = suggest_roles(f"{name},income\n{rows}".encode(), Columns(("x",), ("y",)))
    assert columns == Columns((name,), ("income",))
    single_row = suggest_roles(f"sex,{name}\n{'f,' + cell.format(7)}\n".encode(), Columns(("x",), ("y",)))
    assert single_row == Columns(("sex",), (name,))  # at least one column must be sensitive


@pytest.mark.parametrize("name", ["wage", "average rent", "package", "codeine", "解雇年"])
def test_similarly_named_amounts_are_suggested_as_sensitive(name: str) -> None:
    rows = "".join(f"{'fm'[n % 2]},{n * 2}\n" for n in range(60))
    assert suggest_roles(f"sex,{name}\n{rows}".encode(), Columns(("x",), ("y",))).sensitive == (name,)


def test_transactions_files_are_uploaded_one_after_the_other(new_organizer: Arena) -> None:
    post_form(new_organizer, "/organize/new", BASIC_FIELDS | {"start": "2016"}, organizer=True)
    files = TRACKS["transactions"].files_of(load_tc400())
    early_response = upload_original(new_organizer, files["transactions"], file="transactions.csv")
    assert early_response.status_code == 409
    for name, content in files.items():
        assert upload_original(new_organizer, content, file=f"{name}.csv").status_code == 303
    response = get_page(new_organizer, "/competitions/fresh/organize/data", organizer=True)
    assert "400" in extract_words(response.text)
    assert load_round("fresh").original_rows == 400
    assert upload_original(new_organizer, b"x", file="secret.csv").status_code == 404


def test_data_page_accepts_large_files() -> None:
    assert UPLOAD_PATH_PATTERN.search("/competitions/x/organize/original/original.csv")
    assert UPLOAD_PATH_PATTERN.search("/competitions/x/organize/truth/hidden.csv")
    assert not UPLOAD_PATH_PATTERN.search("/competitions/x/organize/measures")


def test_weights_parameters_and_attackers_are_saved_in_the_file(arena: Arena) -> None:
    fields = {
        "weight_mean_mae": "2",
        "weight_cross_count": "",
        "measure_cross_count_columns": "age",
        "counts_euc1": "yes",
        "attacker_euc1_give_up": "own_row",
        "attacker_id_sa_column": "rent",
        "attacker_euc2_assignment_dense_limit": "500",
        "min_rows_kept": "0.75",
    }
    send_form(arena, f"{ORGANIZE_PATH}/measures", fields, organizer=True)
    competition = load_rules()
    assert {name: settings.weight for name, settings in competition.measures.items()} == {
        "mean_mae": 2.0,
        "cross_count": 0.0,
    }
    assert competition.measures["cross_count"].parameters == {"columns": ("age",)}
    assert competition.attackers["euc1"].parameters == {"give_up": "own_row"}
    assert competition.attackers["id_sa"].counts is False
    assert competition.attackers["id_sa"].parameters == {"column": "rent"}
    assert competition.attackers["euc2_assignment"].parameters == {"dense_limit": 500}
    assert competition.limits.min_rows_kept == 0.75
    assert competition.limits.valid_per_day == 10
    html = get_page(arena, f"{ORGANIZE_PATH}/measures", organizer=True, language="ja").text
    assert "平均値の誤差" in html


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("weight_mean_mae", "-1"),
        ("weight_mean_mae", "nan"),
        ("weight_mean_mae", "1e999"),
        ("min_rows_kept", "2"),
    ],
)
def test_invalid_weight_is_refused_and_kept_in_the_form(arena: Arena, field: str, typed: str) -> None:
    file_before = load_competition().file
    fields = {
        "weight_rfm": "1",
        "weight_cross_count": "7.25",
        "min_rows_kept": "0.5",
    } | {field: typed}
    response = post_form(arena, f"{ORGANIZE_PATH}/measures", fields, organizer=True)
    assert response.status_code == 422
    assert 'class="error"' in response.text
    assert 'value="7.25"' in response.text
    assert load_competition().file == file_before


def test_competition_without_weights_is_refused(arena: Arena) -> None:
    response = post_form(arena, f"{ORGANIZE_PATH}/measures", {"min_rows_kept": "0.5"}, organizer=True)
    assert response.status_code == 422
    assert "nothing could be ranked" in response.text


def test_publication_settings_are_saved_and_shown(arena: Arena) -> None:
    send_form(arena, f"{ORGANIZE_PATH}/publication", PUBLICATION_FIELDS, organizer=True)
    competition = load_rules()
    assert (competition.publication.board, competition.publication.feedback) == ("teams", "daily")
    assert competition.publication.shuffle_targets is True
    assert (competition.publication.digits, competition.publication.owners) == (1, "hidden")
    assert competition.publication.reveal_notice_hours == 36
    assert str(competition.publication.frozen_from) == "2031-01-20 09:00:00+09:00"
    assert (competition.ranking.rule, competition.ranking.finals) == ("rank_sum", 3)
    assert (competition.limits.valid_total, competition.limits.file_mb, competition.limits.min_rows_kept) == (
        50,
        8,
        0.5,
    )
    html = get_page(arena, f"{ORGANIZE_PATH}/publication", organizer=True).text
    assert 'value="2031-01-20T09:00"' in html
    assert "about 20 exact scores" in html


@pytest.mark.parametrize("typed", ["0", "-1", "1.5", "١٢", "9" * 30, ""])
def test_invalid_quota_is_refused_and_other_input_kept(arena: Arena, typed: str) -> None:
    response = post_form(
        arena, f"{ORGANIZE_PATH}/publication", PUBLICATION_FIELDS | {"valid_total": typed}, organizer=True
    )
    assert response.status_code == 422
    assert 'id="valid_total-error"' in response.text
    assert re.search(r'value="daily" checked', response.text)


def test_submissions_fix_the_data_and_new_rules_start_a_rescore(arena: Arena) -> None:
    arena.submit("red")
    html = get_page(arena, f"{ORGANIZE_PATH}/data", organizer=True).text
    assert 'type="file"' not in html
    assert upload_original(arena, write_csv(arena.table.iloc[:30])).status_code == 409
    fields = {"weight_mean_mae": "5", "min_rows_kept": "0.5"}
    file_before = load_competition().file
    response = post_form(arena, f"{ORGANIZE_PATH}/measures", fields, organizer=True)
    assert response.headers["location"].startswith(f"{ORGANIZE_PATH}/rescores")
    (rescore,) = arena.get("/competitions/small/rescores").json()
    assert (rescore["total"], load_competition().file == file_before) == (1, True)
    locked_html = get_page(arena, f"{ORGANIZE_PATH}/publication", organizer=True).text
    assert (
        f'{translate("A re-score set is open. When it is applied, its file takes the place of this one: until then, or until it is cancelled, nothing else can be saved here. Phases can still be moved, and teams granted quota.")} <a href="{ORGANIZE_PATH}/rescores/{rescore["id"]}">'
        in locked_html
    )
    repeated_response = post_form(arena, f"{ORGANIZE_PATH}/measures", fields, organizer=True, language="ja")
    assert repeated_response.status_code == 409
    assert "進行中の再採点があります" in repeated_response.text
    assert (
        post_form(arena, f"{ORGANIZE_PATH}/publication", PUBLICATION_FIELDS, organizer=True).status_code
        == 409
    )
    arena.post(f"/rescores/{rescore['id']}/cancel")
    send_form(arena, f"{ORGANIZE_PATH}/publication", PUBLICATION_FIELDS, organizer=True)
    assert load_rules().publication.board == "teams"


def test_settings_round_trip_through_the_file() -> None:
    for start in DRAFT_SOURCES:
        text = create_draft(start)
        competition = parse_competition(text)
        rewritten_text = replace_measures(text, competition.measures)
        rewritten_text = replace_attackers(rewritten_text, TRACKS[competition.track], competition.attackers)
        rewritten_text = replace_publication_rules(
            rewritten_text, competition.publication, competition.ranking, competition.limits
        )
        reparsed = parse_competition(rewritten_text)
        expected_measures = {
            name: settings
            for name, settings in competition.measures.items()
            if settings.weight or settings.parameters
        }
        assert dict(reparsed.measures) == expected_measures
        assert (reparsed.publication, reparsed.ranking, reparsed.limits) == (
            competition.publication,
            competition.ranking,
            competition.limits,
        )


def test_column_names_are_escaped_in_toml() -> None:
    names = ('say "b"', "back\\slash", "日本語", "tab\tand\x7f", "#")
    competition = parse_competition(change_columns(create_draft("microdata"), Columns(names[:3], names[3:])))
    assert competition.columns == Columns(names[:3], names[3:])
    with pytest.raises(TypeError):
        format_value(None)
