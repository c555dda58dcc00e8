"""Organizers set a competition up on pages: from nothing to one that opens."""

import re

import pytest

from anoncup.competition.drafts import STARTS, draft, with_columns_of
from anoncup.competition.parser import parse_competition
from anoncup.competition.writer import with_attackers, with_measures, with_publication
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.rules.toml_text import value_text
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.microdata.column_roles import suggested
from anoncup.tracks.transactions.example import tc400
from app.db.transaction import transaction
from app.http.middleware import FILES
from app.services.contests import competitions
from tests.support.arena import Arena
from tests.support.setup_pages import BASICS, ORGANIZE, PUBLICATION, beginner, rules, stored, upload
from tests.web.reader import page, send, words_of
from tests.web.spoken import said

__all__ = ["beginner"]

pytestmark = pytest.mark.full


def test_an_organizer_comes_from_nothing_to_a_competition_that_is_set_up(beginner: Arena) -> None:
    made = send(beginner, "/organize/new", BASICS, organizer=True)
    assert (made.status_code, made.headers["location"]) == (
        303,
        "/competitions/fresh/organize/data?done=created",
    )
    assert upload(beginner, table_csv(beginner.table)).status_code == 303
    assert rules("fresh").columns == Columns(("sex", "age"), ("income", "rent"))
    rule = {"approach": "II", "rule": "average", "distance": "gower", "threshold": "0.2"}
    assert send(beginner, "/competitions/fresh/organize/threshold", rule, organizer=True).status_code == 303
    beginner.post("/competitions/fresh/invites", json={})
    shown = page(beginner, "/competitions/fresh/organize/data", organizer=True).text
    assert "missing" not in words_of(shown)
    assert "Everything is set" in shown
    found = rules("fresh")
    assert [phase.start.isoformat() for phase in found.phases] == [
        "2031-01-10T09:00:00+09:00",
        "2031-01-25T09:00:00+09:00",
    ]
    assert dict(found.title) == {"en": "Fresh cup", "ja": "新しい“杯”"}
    assert stored("fresh").original_rows == len(beginner.table)


def test_to_start_from_ones_own_table_is_offered_at_once(beginner: Arena) -> None:
    first = page(beginner, "/organize/new", organizer=True).text.partition("<details")[0]
    assert said("choose_start_microdata") in first
    assert 'value="microdata"' in first


@pytest.mark.parametrize(
    ("field", "typed", "said"),
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
def test_what_is_wrong_stands_beside_its_field_and_the_rest_is_kept(
    beginner: Arena, field: str, typed: str, said: str
) -> None:
    answer = send(beginner, "/organize/new", BASICS | {field: typed}, organizer=True)
    assert answer.status_code == 422
    assert re.search(rf'id="{field}-error">[^<]*{said}', answer.text)
    assert "Fresh cup" in answer.text or field == "title_en"
    assert "<option selected>Asia/Tokyo</option>" in answer.text or field == "zone"
    assert beginner.client.get("/api/v1/competitions").json() == []


def test_an_address_that_is_taken_is_said_beside_it_in_the_readers_language(beginner: Arena) -> None:
    send(beginner, "/organize/new", BASICS, organizer=True)
    again = send(beginner, "/organize/new", BASICS, organizer=True, language="ja")
    assert again.status_code == 422
    assert "このアドレスのコンテストはすでにあります" in again.text


def test_what_is_wrong_is_summed_up_at_the_top_with_the_way_to_each_field(beginner: Arena) -> None:
    fields = BASICS | {"title_en": "", "title_ja": "", "anonymization_end": ""}
    shown = send(beginner, "/organize/new", fields, organizer=True).text
    top = shown.partition('role="alert"')[2].partition("</div>")[0]
    assert re.findall(r'<a href="#(\w+)">', top) == ["title_en", "anonymization_end"]
    for field in ("title_en", "anonymization_end"):
        assert f'id="{field}"' in shown
    assert shown.count(f"({said('one of the two')})") == 2


def test_a_step_that_stayed_as_it_began_says_so(arena: Arena) -> None:
    def state(step: str) -> str:
        shown = page(arena, f"{ORGANIZE}/publication", organizer=True).text
        return str(re.findall(rf'<li class="(\w+)"><a href="{ORGANIZE}/{step}"', shown)[0])

    assert state("publication") == "default"
    assert send(arena, f"{ORGANIZE}/publication", PUBLICATION, organizer=True).status_code == 303
    assert state("publication") == "done"
    with transaction() as session:
        row = competitions.find(session, None, "small").row
        row.file = with_measures(row.file, parse_competition(draft("microdata")).measures)
    assert state("measures") == "default"


def test_a_competition_may_have_one_phase_and_a_title_in_one_language(beginner: Arena) -> None:
    fields = BASICS | {"title_en": "", "reidentification_start": "", "reidentification_end": ""}
    assert send(beginner, "/organize/new", fields, organizer=True).status_code == 303
    assert [phase.name for phase in rules("fresh").phases] == ["anonymization"]


def test_titles_clock_and_phases_may_change_and_times_that_were_not_touched_stay(arena: Arena) -> None:
    before = rules()
    shown = page(arena, f"{ORGANIZE}/basics", organizer=True).text
    fields = dict(re.findall(r'name="(\w+)" type="[\w-]+" value="([^"]*)"', shown))
    answer = send(
        arena, f"{ORGANIZE}/basics", fields | {"title_en": "Other", "zone": "Asia/Tokyo"}, organizer=True
    )
    assert answer.status_code == 303
    assert rules().phases == before.phases  # to the microsecond
    assert rules().title["en"] == "Other"


def test_columns_of_a_strange_table_get_roles_which_the_organizer_then_changes(beginner: Arena) -> None:
    send(beginner, "/organize/new", BASICS | {"start": "2015"}, organizer=True)
    assert upload(beginner, table_csv(beginner.table)).status_code == 303
    page_of = page(beginner, "/competitions/fresh/organize/data", organizer=True).text
    assert "40" in words_of(page_of)
    of = stored("fresh").original["original"]
    roles = {"role_0": "quasi_identifier", "role_1": "quasi_identifier", "role_2": "sensitive"}
    path = "/competitions/fresh/organize/data"
    alone = roles | {"of": of, "role_3": "quasi_identifier"}
    assert rules("fresh").weight("cor_mae") == 1.0
    answer = send(beginner, path, alone, organizer=True)
    # a column that is alone correlates with no other: a measure of it would say nothing
    assert answer.headers["location"] == f"{path}?done=weights_taken"
    assert rules("fresh").weight("cor_mae") == 0.0
    assert rules("fresh").columns == Columns(("sex", "age", "rent"), ("income",))
    assert stored("fresh").original_rows == 40  # the data stayed
    wrong = send(
        beginner, path, roles | {"of": of, "role_0": "sensitive", "role_3": "sensitive"}, organizer=True
    )
    assert wrong.status_code == 422
    assert 'value="sensitive" selected' in wrong.text.split('name="role_0"')[1].split("</select>")[0]
    assert send(beginner, path, roles | {"of": of}, organizer=True).status_code == 422
    assert (
        send(beginner, path, roles | {"of": "0" * 64, "role_3": "sensitive"}, organizer=True).status_code
        == 409
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,a\n1,2\n", "列「a」が 2 回あります"),
        (b"a\n1\n", "2 列以上が必要です"),
        (b"a,b\nx,y\n", "数値だけの列がない"),
        (b"", "ファイルが選ばれていない"),
        (b"a,b\n1\n", "1 行目の列数は 1 です"),
    ],
)
def test_a_table_that_cannot_be_an_original_is_refused_in_words(
    arena: Arena, content: bytes, said: str
) -> None:
    before = stored()
    answer = upload(arena, content, language="ja")
    assert answer.status_code == 422
    assert "このファイルは使えません" in answer.text
    assert said in answer.text
    assert (stored().file, stored().original) == (before.file, before.original)


def test_roles_are_suggested_from_the_values_and_known_ones_are_kept() -> None:
    rows = "".join(f"p{place % 3},{place % 7},{place},{place * 2}\n" for place in range(60))
    content = ("city,size,rent,income\n" + rows).encode()
    nothing = Columns(("x",), ("y",))
    assert suggested(content, nothing) == Columns(("city", "size"), ("rent", "income"))
    known = Columns(("rent", "size"), ("z",))
    assert suggested(content, known) == Columns(("city", "size", "rent"), ("income",))
    assert suggested(b"a,b\n1,2\n", nothing) == Columns(("b",), ("a",))


@pytest.mark.parametrize("name", ["age", "Alter (Jahre)", "birth_year", "ZIP code", "年齢（歳）", "plain"])
def test_ages_years_and_codes_are_what_others_know_be_they_numbers(name: str) -> None:
    cell = "{:04}" if name == "plain" else "{}"  # leading zeros tell a code whatever its name
    rows = "".join(f"{cell.format(n)},{n * 2}\n" for n in range(60))
    found = suggested(f"{name},income\n{rows}".encode(), Columns(("x",), ("y",)))
    assert found == Columns((name,), ("income",))
    alone = suggested(f"sex,{name}\n{'f,' + cell.format(7)}\n".encode(), Columns(("x",), ("y",)))
    assert alone == Columns(("sex",), (name,))  # something has to be


@pytest.mark.parametrize("name", ["wage", "average rent", "package", "codeine", "解雇年"])
def test_amounts_whose_names_only_look_like_it_stay_amounts(name: str) -> None:
    rows = "".join(f"{'fm'[n % 2]},{n * 2}\n" for n in range(60))
    assert suggested(f"sex,{name}\n{rows}".encode(), Columns(("x",), ("y",))).sensitive == (name,)


def test_both_files_of_the_transactions_track_go_up_one_after_the_other(beginner: Arena) -> None:
    send(beginner, "/organize/new", BASICS | {"start": "2016"}, organizer=True)
    files = TRACKS["transactions"].files_of(tc400())
    early = upload(beginner, files["transactions"], file="transactions.csv")
    assert early.status_code == 409
    for name, content in files.items():
        assert upload(beginner, content, file=f"{name}.csv").status_code == 303
    shown = page(beginner, "/competitions/fresh/organize/data", organizer=True)
    assert "400" in words_of(shown.text)
    assert stored("fresh").original_rows == 400
    assert upload(beginner, b"x", file="secret.csv").status_code == 404


def test_large_files_may_be_sent_to_the_page_of_the_data() -> None:
    assert FILES.search("/competitions/x/organize/original/original.csv")
    assert FILES.search("/competitions/x/organize/truth/hidden.csv")
    assert not FILES.search("/competitions/x/organize/measures")


def test_weights_parameters_and_attackers_are_written_into_the_file(arena: Arena) -> None:
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
    assert send(arena, f"{ORGANIZE}/measures", fields, organizer=True).status_code == 303
    found = rules()
    assert {name: one.weight for name, one in found.measures.items()} == {"mean_mae": 2.0, "cross_count": 0.0}
    assert found.measures["cross_count"].parameters == {"columns": ("age",)}
    assert found.attackers["euc1"].parameters == {"give_up": "own_row"}
    assert found.attackers["id_sa"].counts is False
    assert found.attackers["id_sa"].parameters == {"column": "rent"}
    assert found.attackers["euc2_assignment"].parameters == {"dense_limit": 500}
    assert found.limits.min_rows_kept == 0.75
    assert found.limits.valid_per_day == 10
    shown = page(arena, f"{ORGANIZE}/measures", organizer=True, language="ja").text
    assert "平均値の誤差" in shown


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("weight_mean_mae", "-1"),
        ("weight_mean_mae", "nan"),
        ("weight_mean_mae", "1e999"),
        ("min_rows_kept", "2"),
    ],
)
def test_a_weight_that_is_no_weight_is_said_and_kept(arena: Arena, field: str, typed: str) -> None:
    before = stored().file
    fields = {
        "weight_rfm": "1",
        "weight_cross_count": "7.25",
        "min_rows_kept": "0.5",
    } | {field: typed}
    answer = send(arena, f"{ORGANIZE}/measures", fields, organizer=True)
    assert answer.status_code == 422
    assert 'class="error"' in answer.text
    assert 'value="7.25"' in answer.text
    assert stored().file == before


def test_a_competition_without_weights_is_refused(arena: Arena) -> None:
    answer = send(arena, f"{ORGANIZE}/measures", {"min_rows_kept": "0.5"}, organizer=True)
    assert answer.status_code == 422
    assert "nothing could be ranked" in answer.text


def test_publication_is_saved_and_shown_as_it_was_chosen(arena: Arena) -> None:
    assert send(arena, f"{ORGANIZE}/publication", PUBLICATION, organizer=True).status_code == 303
    found = rules()
    assert (found.publication.board, found.publication.feedback) == ("teams", "daily")
    assert found.publication.shuffle_targets is True
    assert (found.publication.digits, found.publication.owners) == (1, "hidden")
    assert found.publication.reveal_notice_hours == 36
    assert found.publication.frozen_from.isoformat() == "2031-01-20T09:00:00+09:00"
    assert (found.ranking.rule, found.ranking.finals) == ("rank_sum", 3)
    assert (found.limits.valid_total, found.limits.file_mb, found.limits.min_rows_kept) == (50, 8, 0.5)
    shown = page(arena, f"{ORGANIZE}/publication", organizer=True).text
    assert 'value="2031-01-20T09:00"' in shown
    assert "about 20 exact scores" in shown


@pytest.mark.parametrize("typed", ["0", "-1", "1.5", "١٢", "9" * 30, ""])
def test_a_quota_that_is_no_count_is_refused_with_all_else_kept(arena: Arena, typed: str) -> None:
    answer = send(arena, f"{ORGANIZE}/publication", PUBLICATION | {"valid_total": typed}, organizer=True)
    assert answer.status_code == 422
    assert 'id="valid_total-error"' in answer.text
    assert re.search(r'value="daily" checked', answer.text)


def test_once_somebody_has_submitted_the_data_stand_and_new_rules_are_a_set(arena: Arena) -> None:
    arena.submit("red")
    shown = page(arena, f"{ORGANIZE}/data", organizer=True).text
    assert 'type="file"' not in shown
    assert upload(arena, table_csv(arena.table.iloc[:30])).status_code == 409
    fields = {"weight_mean_mae": "5", "min_rows_kept": "0.5"}
    before = stored().file
    answer = send(arena, f"{ORGANIZE}/measures", fields, organizer=True)
    assert answer.headers["location"].startswith(f"{ORGANIZE}/rescores")
    (made,) = arena.get("/competitions/small/rescores").json()
    assert (made["total"], stored().file == before) == (1, True)
    held = page(arena, f"{ORGANIZE}/publication", organizer=True).text
    assert (
        f'{said("A re-score set is open. When it is applied, its file takes the place of this one: until then, or until it is cancelled, nothing else can be saved here. Phases can still be moved, and teams granted quota.")} <a href="{ORGANIZE}/rescores/{made["id"]}">'
        in held
    )
    again = send(arena, f"{ORGANIZE}/measures", fields, organizer=True, language="ja")
    assert again.status_code == 409
    assert "進行中の再採点があります" in again.text
    assert send(arena, f"{ORGANIZE}/publication", PUBLICATION, organizer=True).status_code == 409
    arena.post(f"/rescores/{made['id']}/cancel")
    assert send(arena, f"{ORGANIZE}/publication", PUBLICATION, organizer=True).status_code == 303
    assert rules().publication.board == "teams"


def test_settings_that_are_written_are_read_back_as_they_were() -> None:
    for start in STARTS:
        text = draft(start)
        found = parse_competition(text)
        again = with_measures(text, found.measures)
        again = with_attackers(again, TRACKS[found.track], found.attackers)
        again = with_publication(again, found.publication, found.ranking, found.limits)
        read = parse_competition(again)
        weighed = {name: one for name, one in found.measures.items() if one.weight or one.parameters}
        assert dict(read.measures) == weighed
        assert (read.publication, read.ranking, read.limits) == (
            found.publication,
            found.ranking,
            found.limits,
        )


def test_names_of_columns_are_spelled_so_that_toml_reads_them() -> None:
    names = ('say "b"', "back\\slash", "日本語", "tab\tand\x7f", "#")
    found = parse_competition(with_columns_of(draft("microdata"), Columns(names[:3], names[3:])))
    assert found.columns == Columns(names[:3], names[3:])
    with pytest.raises(TypeError):
        value_text(None)
