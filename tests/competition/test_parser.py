"""Competition files: valid settings, defaults and refusals."""

import re
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from anoncup.competition.parser import CompetitionFile, parse_competition
from anoncup.competition.templates import template
from anoncup.errors import InvalidCompetition
from anoncup.rules.model import Rules
from anoncup.rules.settings import (
    AttackerSettings,
    Columns,
    Description,
    Excessive,
    Limits,
    MeasureSettings,
    Phase,
    Publication,
    Ranking,
)
from tests.support.competition_texts import EXAMPLE, MINIMAL, add_phases, expect_refusal, expect_refusal_code

JAPAN = timezone(timedelta(hours=9))
U1_TO_U6 = ("mean_mae", "cross_mean", "cross_count", "cor_mae", "information_loss", "row_difference")


def test_2015_template_has_the_contests_settings() -> None:
    rules = parse_competition(template(2015))
    assert rules.columns is not None
    assert (len(rules.columns.quasi_identifiers), len(rules.columns.sensitive)) == (13, 12)
    first_six = rules.columns.quasi_identifiers[:6]
    weights = {name: settings.weight for name, settings in rules.measures.items()}
    assert weights == dict.fromkeys(U1_TO_U6, 1.0)
    assert rules.measures["cross_mean"].parameters == {"columns": first_six, "target": ("Youto037",)}
    assert rules.measures["cross_count"].parameters == {"columns": first_six}
    assert rules.columns.sensitive.index("Youto037") == 15 - 14
    assert rules.columns.sensitive.index("Youto117") == 21 - 14
    assert {name: settings.parameters for name, settings in rules.attackers.items()} == {
        "id_sa": {"column": "Youto037"},
        "sa_rank": {"column": "Youto117"},
        "sa_nearest": {"column": "Youto117"},
        "euc1": {"give_up": "abstain"},
    }
    assert [phase.name for phase in rules.phases] == ["anonymization", "reidentification"]
    assert rules.scales == {}
    assert rules.limits == Limits()


def test_2016_template_has_the_papers_settings() -> None:
    rules = parse_competition(template(2016))
    weighted_measures = {name for name, settings in rules.measures.items() if settings.weight}
    assert weighted_measures == {"cmae_price", "cmae_spend", "rfm"}
    assert rules.excessive == Excessive("jaccard_quantity", threshold=0.64)
    assert rules.columns is None


@pytest.mark.parametrize(
    ("addition", "expected_code"),
    [
        ("[columns]\nquasi_identifiers = ['a']\nsensitive = ['b']", "unknown_key"),
        ("[measures.mean_mae]", "unknown_measure"),
        ("[attackers.euc2]", "unknown_attacker"),
        ("[attackers.jaccard]\ncolumn = 'goods'", "unknown_key"),
        ("[attackers.jaccard_assignment]\ndense_limit = 0", "wrong_value"),
    ],
)
def test_transactions_file_accepts_only_parts_of_its_track(addition: str, expected_code: str) -> None:
    with pytest.raises(InvalidCompetition) as excinfo:
        parse_competition(template(2016).replace("[ranking]", addition + "\n[ranking]"))
    assert excinfo.value.code == expected_code


def test_random_in_cluster_cannot_be_counted() -> None:
    with pytest.raises(InvalidCompetition) as excinfo:
        parse_competition(template(2016).replace("counts = false", "counts = true"))
    assert excinfo.value.code == "attacker_never_counts"


def test_example_is_parsed_completely() -> None:
    zone = ZoneInfo("Asia/Tokyo")
    assert parse_competition(EXAMPLE) == Rules(
        slug="demo",
        title={"en": "Demo cup", "ja": "デモ杯"},
        track="microdata",
        timezone="Asia/Tokyo",
        columns=Columns(("SetaiJinin", "Kouzou"), ("Youto037", "Youto117")),
        measures={
            "mean_mae": MeasureSettings(1.0),
            "cross_mean": MeasureSettings(1.0, {"columns": ("SetaiJinin",), "target": ("Youto037",)}),
        },
        attackers={
            "id_sa": AttackerSettings(True, {"column": "Youto037"}),
            "euc1": AttackerSettings(True, {"give_up": "abstain", "quasi_identifiers": ("Kouzou",)}),
        },
        scales={"mean_mae": 12345.6},
        excessive=Excessive("gower", "II", "average", 0.2),
        ranking=Ranking("score", 2),
        publication=Publication(
            "public", datetime(2027, 2, 6, 9, tzinfo=JAPAN), "hidden", False, reveal_notice_hours=48
        ),
        limits=Limits(0.5, 10, 100, 50, 500, 3, 64),
        phases=(
            Phase(
                "anonymization", datetime(2027, 1, 10, 9, tzinfo=zone), datetime(2027, 1, 24, 9, tzinfo=zone)
            ),
        ),
    )


def test_omitted_settings_have_defaults() -> None:
    assert parse_competition(MINIMAL) == Rules(
        slug="demo",
        title={"en": "Demo cup"},
        track="microdata",
        timezone="Asia/Tokyo",
        columns=Columns(("a", "b"), ("x", "y")),
    )


def test_times_without_offset_are_in_the_competitions_time_zone() -> None:
    text = add_phases(("anonymization", "2027-01-10T09:00:00", "2027-07-10 09:00:00"))
    assert parse_competition(text).phases[0].start == datetime(2027, 1, 10, 0, tzinfo=UTC)
    elsewhere = parse_competition(text.replace("Asia/Tokyo", "Europe/Berlin")).phases[0]
    assert elsewhere.start == datetime(2027, 1, 10, 8, tzinfo=UTC)
    assert elsewhere.end == datetime(2027, 7, 10, 7, tzinfo=UTC)
    publication = parse_competition(MINIMAL + "[publication]\nfrozen_from = 2027-02-06T09:00:00").publication
    assert publication.frozen_from == datetime(2027, 2, 6, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "time", "utc_time"),
    [
        ("Europe/Berlin", "2027-03-28T02:00:00", None),
        ("Europe/Berlin", "2027-03-28T02:59:59.9", None),
        ("Europe/Berlin", "2027-03-28T03:00:00", "2027-03-28T01:00:00Z"),
        ("America/New_York", "2027-03-14 02:30:00", None),
        ("Australia/Lord_Howe", "2027-10-03T02:15:00", None),  # by half an hour
        ("Pacific/Apia", "2011-12-30T12:00:00", None),  # by a day
        ("Europe/Berlin", "2027-10-31T02:30:00", "2027-10-31T00:30:00Z"),  # exists twice
        ("Australia/Lord_Howe", "2027-04-04T01:45:00", "2027-04-03T14:45:00Z"),
    ],
)
def test_time_that_does_not_exist_is_refused_and_the_first_of_two_counts(
    zone: str, time: str, utc_time: str | None
) -> None:
    minimal = MINIMAL.replace("Asia/Tokyo", zone)
    window = f'[[phases]]\nname = "anonymization"\nstart = 2001-01-01T00:00:00\nend = {time}\n'
    for text, key in ((window, "phases[0].end"), (f"[publication]\nfrozen_from = {time}", "frozen_from")):
        if utc_time is None:
            assert re.search(
                rf"{re.escape(key)} must be a time that exists in {zone}", str(expect_refusal(minimal + text))
            )
        else:
            rules = parse_competition(minimal + text)
            moment = rules.phases[0].end if rules.phases else rules.publication.frozen_from
            assert moment == datetime.fromisoformat(utc_time)


def test_times_keep_their_offset() -> None:
    text = add_phases(("anonymization", "2027-01-10T09:00:00Z", "2027-01-10T09:00:01-05:00"))
    phase = parse_competition(text).phases[0]
    assert phase.start == datetime(2027, 1, 10, 9, tzinfo=UTC)
    assert phase.end == datetime(2027, 1, 10, 14, 0, 1, tzinfo=UTC)


def test_phase_may_start_when_the_previous_ends() -> None:
    first, second, third = (f"2027-01-0{day}T00:00:00Z" for day in (1, 2, 3))
    windows = ("anonymization", first, second), ("reidentification", second, third)
    phases = parse_competition(add_phases(*windows)).phases
    assert phases[0].end == phases[1].start
    assert len(parse_competition(add_phases(windows[1])).phases) == 1


@pytest.mark.parametrize(
    "key", ["format", "slug", "title", "track", "timezone", "quasi_identifiers", "sensitive"]
)
def test_missing_required_keys_are_named(key: str) -> None:
    problem = expect_refusal(re.sub(rf"(?m)^{key} = .*$", "", MINIMAL))
    assert problem.code == "missing_key"
    assert key in str(problem)


INVALID_ROOT_VALUES = [
    ("format", ["0", "2", "1.0", '"1"', "true", "[1]"]),
    ("slug", ['""', "1", '"a\\n"', '"Demo"', '"-demo"', '"demo-"', '"de mo"', '"デモ"', f'"{"a" * 64}"']),
    ("title", ['""', '" "', "{ en = 1 }", '{ en = "" }', f'"{"x" * 201}"', '"\\u0000"', '{ ja = "a\\nb" }']),
    ("track", ['""', '"Microdata"', "1", "[]", "{}"]),
    ("timezone", ['""', '"JST+9x"', '"Asia"', '"../etc/passwd"', '"/etc/passwd"', '"Asia\\u0000"', "9"]),
    ("timezone", ['"zone.tab"', '"tzdata.zi"', '"Asia/Tokyo "', "true"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in INVALID_ROOT_VALUES for value in values]
)
def test_invalid_top_level_values_are_refused(key: str, value: str) -> None:
    problem = expect_refusal(re.sub(rf"(?m)^{key} = .*$", lambda _: f"{key} = {value}", MINIMAL))
    assert problem.code == "wrong_value"
    assert str(problem).startswith(key)


NOT_A_NUMBER = ["-1", "-0.1", "nan", "inf", "-inf", '"1"', "true", "[1]", "2027-01-01", "1" + "0" * 400]
NOT_A_SHARE = [*NOT_A_NUMBER, "1.01", "2"]
NOT_A_COUNT = [*NOT_A_NUMBER, "0", "1.0", "1_000_001"]
NOT_A_FLAG = ["0", "1", '"true"', "[]", "{}"]
NOT_A_TIME = [
    "2027-02-06", "09:00:00", '"2027-02-06T09:00:00"', "1", "0001-01-01T00:00:00+09:00",
    "9999-12-31T23:59:59-09:00",
]  # fmt: skip
NOT_COLUMN_NAMES = ["[]", '"a"', "[1]", '["a", "a"]', '[["a"]]', "{}", "1"]
INVALID_TABLE_VALUES = [
    ("measures.mean_mae", "weight", NOT_A_NUMBER),
    ("measures.cross_mean", "columns", NOT_COLUMN_NAMES),
    ("measures.cross_mean", "target", NOT_COLUMN_NAMES),
    ("attackers.id_sa", "column", ["1", '["x"]', "true"]),
    ("attackers.id_sa", "counts", NOT_A_FLAG),
    ("attackers.euc1", "give_up", ['"never"', "1", '["abstain"]']),
    ("attackers.euc1", "quasi_identifiers", NOT_COLUMN_NAMES),
    ("description", "en", ['""', '" "', "1", f'"{"x" * 5001}"', '"\\u0000"', '"\\r"']),
    ("description", "ja", ["[]", "true"]),
    ("description", "terms", [*NOT_A_FLAG, "true"]),
    ("scales", "mean_mae", NOT_A_NUMBER),
    ("excessive", "distance", ['"Gower"', "1"]),
    ("excessive", "approach", ['"III"', "2"]),
    ("excessive", "rule", ['"mean"', "true"]),
    ("excessive", "threshold", NOT_A_NUMBER),
    ("ranking", "rule", ['"best"', "1"]),
    ("ranking", "finals", NOT_A_COUNT),
    ("publication", "board", ['"private"', "1"]),
    ("publication", "feedback", ['"weekly"', "false"]),
    ("publication", "frozen_from", NOT_A_TIME),
    ("publication", "shuffle_targets", NOT_A_FLAG),
    ("publication", "reveal_notice_hours", ["-1", "8761", "1.0", "true", '"1"', "[1]"]),
    ("limits", "min_rows_kept", NOT_A_SHARE),
    *((("limits", name, NOT_A_COUNT)) for name in Limits.__dataclass_fields__ if name != "min_rows_kept"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [(table, key, value) for table, key, values in INVALID_TABLE_VALUES for value in values],
)
def test_invalid_table_values_are_refused_with_their_key(table: str, key: str, value: str) -> None:
    problem = expect_refusal(MINIMAL + f"[{table}]\n{key} = {value}\n")
    assert problem.code == "wrong_value"
    assert str(problem).startswith(f"{table}.{key} must be")


@pytest.mark.parametrize("value", NOT_COLUMN_NAMES)
@pytest.mark.parametrize("key", ["quasi_identifiers", "sensitive"])
def test_column_roles_must_be_lists_of_distinct_names(key: str, value: str) -> None:
    text = re.sub(rf"(?m)^{key} = .*$", lambda _: f"{key} = {value}", MINIMAL)
    assert expect_refusal_code(text) == "wrong_value"


@pytest.mark.parametrize("value", NOT_A_TIME)
@pytest.mark.parametrize("key", ["start", "end"])
def test_phase_start_and_end_must_be_times(key: str, value: str) -> None:
    window = {"start": "2027-01-01T00:00:00Z", "end": "2027-01-02T00:00:00Z"} | {key: value}
    problem = expect_refusal(add_phases(("anonymization", window["start"], window["end"])))
    assert problem.code == "wrong_value"
    assert str(problem).startswith(f"phases[0].{key}")


@pytest.mark.parametrize(
    ("addition", "expected_code"),
    [
        ("[surprise]", "unknown_key"),
        ("[description]\nfr = 'Bonjour'", "unknown_key"),
        ("[excessive]\nlimit = 1", "unknown_key"),
        ("[ranking]\nfinal = 1", "unknown_key"),
        ("[publication]\nboards = 1", "unknown_key"),
        ("[limits]\nfile_gb = 1", "unknown_key"),
        ("[measures.mean_mae]\ncolumns = ['a']", "unknown_key"),
        ("[attackers.id_sa]\nweight = 1", "unknown_key"),
        ("[attackers.mean_mae]", "unknown_attacker"),
        ("[measures.id_sa]", "unknown_measure"),
        ("[scales]\nmean = 1.0", "unknown_measure"),
        ("[measures.k_min]\nweight = 1.0", "measure_without_weight"),
        ("[measures.cross_mean]\ncolumns = ['z']", "unknown_column"),
        ("[measures.cross_mean]\ncolumns = ['x']", "unknown_column"),
        ("[measures.cross_mean]\ntarget = ['a']", "unknown_column"),
        ("[attackers.id_sa]\ncolumn = 'a'", "unknown_column"),
        ("[attackers.euc1]\nquasi_identifiers = ['a', 'x']", "unknown_column"),
        ("[measures]\nmean_mae = 1", "wrong_type"),
        ("[attackers]\nid_sa = []", "wrong_type"),
        ("[[limits]]", "wrong_type"),
        ("[phases]", "wrong_value"),
        ("[[phases]]\nname = 'anonymization'", "missing_key"),
    ],
)
def test_unknown_keys_and_wrong_types_are_refused(addition: str, expected_code: str) -> None:
    assert expect_refusal_code(MINIMAL + addition) == expected_code


@pytest.mark.parametrize(
    "key",
    [
        "columns",
        "description",
        "measures",
        "attackers",
        "scales",
        "excessive",
        "ranking",
        "publication",
        "limits",
    ],
)
def test_value_in_place_of_a_table_is_refused(key: str) -> None:
    top, below = MINIMAL.split("[columns]")
    text = top if key == "columns" else f"{top}[columns]{below}"
    assert expect_refusal_code(f"{key} = 1\n" + text) == "wrong_type"


def test_column_in_both_roles_is_refused() -> None:
    assert expect_refusal_code(MINIMAL.replace('["x", "y"]', '["x", "a"]')) == "column_in_both_roles"


@pytest.mark.parametrize(
    "windows",
    [
        [("anonymization", "01", "03"), ("reidentification", "02", "04")],
        [("anonymization", "01", "05"), ("reidentification", "02", "03")],
        [("anonymization", "03", "04"), ("reidentification", "01", "02")],
        [("reidentification", "01", "02"), ("anonymization", "03", "04")],
        [("anonymization", "01", "02"), ("anonymization", "03", "04")],
        [("anonymization", "02", "02")],
        [("anonymization", "03", "02")],
        [("final", "01", "02")],
    ],
)
def test_phases_out_of_order_are_refused(windows: list[tuple[str, str, str]]) -> None:
    day = "2027-01-{}T00:00:00Z".format
    dated_windows = [(name, day(start), day(end)) for name, start, end in windows]
    assert expect_refusal_code(add_phases(*dated_windows)) == "wrong_value"


def test_description_has_lines_in_each_language_and_may_have_terms() -> None:
    text = MINIMAL + '[description]\nterms = true\nen = """\n# Prizes\n\tA book."""\nja = "# 賞"\n'
    rules = parse_competition(text)
    assert rules.description == Description({"en": "# Prizes\n\tA book.", "ja": "# 賞"}, terms=True)
    assert parse_competition(MINIMAL).description == Description()


@pytest.mark.parametrize(("setting", "hours"), [("", 24), ("0", 0), ("8760", 8760)])
def test_default_reveal_notice_is_one_day(setting: str, hours: int) -> None:
    text = MINIMAL + (f"[publication]\nreveal_notice_hours = {setting}\n" if setting else "")
    assert parse_competition(text).publication.reveal_notice_hours == hours
    assert CompetitionFile(text).timetables[""].reveal_notice == timedelta(hours=hours)
