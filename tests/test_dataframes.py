"""The functions for notebooks give the numbers of ``evaluate``, from tables, arrays and files."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import anoncup
from anoncup import TRACKS, schemas
from anoncup.dataframes import Score, build_advised_threshold, read_text_table
from anoncup.errors import InvalidCompetition, InvalidInput, InvalidUpload
from anoncup.evaluation.threshold_report import AdvisorReport
from anoncup.rules.settings import Excessive
from anoncup.tables.csv_text import write_csv
from tests.support.arena import build_competition_toml
from tests.support.competition_texts import MINIMAL
from tests.support.shell_commands import run_program

ROWS = 40


@pytest.fixture
def original() -> pd.DataFrame:
    return read_text_table(write_csv(anoncup.generate_households(ROWS)))


@pytest.fixture
def competition() -> str:
    return anoncup.template(2015)


def anonymize(original: Any, competition: str) -> Any:
    return anoncup.anonymize(original, "add_noise", competition=competition, strength=0.2, seed=3)


GROUPS = "sex", "region"


def build_units_tables(unit: float, other_unit: float) -> tuple[pd.DataFrame, pd.DataFrame, float]:
    """Return X, Y and ``cross_mean`` of hours, which Y moves by 3.9; assets have another unit."""
    rng = np.random.default_rng(5)
    cells = [(sex, region) for sex in "fm" for region in "nesw"] * 12
    hours = rng.integers(4, 70, len(cells))
    table = pd.DataFrame(cells, columns=GROUPS).assign(
        assets=rng.integers(1, 4_000, len(cells)) * other_unit, hours=hours * unit
    )
    return table, table.assign(hours=hours * unit + 3.9 * unit), 3.9 * unit


def compute_null_cross_mean(table: pd.DataFrame, target: str) -> float:
    """Return the mean of ``cross_mean`` over the five null releases, cell by cell."""
    differences = []
    for seed in range(5):
        rng = np.random.Generator(np.random.PCG64(seed))
        permuted = pd.DataFrame({name: table[name].to_numpy()[rng.permutation(len(table))] for name in table})
        for sex in "fm":
            for region in "nesw":
                means = [
                    rows.loc[(rows["sex"] == sex) & (rows["region"] == region), target].mean()
                    for rows in (table, permuted)
                ]
                differences.append(abs(means[0] - (0.0 if np.isnan(means[1]) else means[1])))
    return float(np.mean(differences))


def build_wide_tables(columns: int, values: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return X with many quasi-identifiers, and Y in which each of them is permuted by itself."""
    rng, rows = np.random.default_rng(6), 60
    names = [f"q{number}" for number in range(columns)]
    table = pd.DataFrame({name: rng.permutation(np.arange(rows) % values) for name in names})
    permuted = pd.DataFrame({name: rng.permutation(table[name]) for name in names})
    income = rng.integers(100, 1_000, rows)
    return table.assign(income=income), permuted.assign(income=income)


def build_file(table: pd.DataFrame, sensitive: list[str], **weights: float) -> str:
    """Return a competition file with these sensitive columns and weights; all other columns are discrete."""
    measures = "".join(f"[measures.{name}]\nweight = {weight}\n" for name, weight in weights.items())
    return re.sub(
        r"(?s)quasi_identifiers.*(?=\[excessive\])",
        lambda _: (
            f"quasi_identifiers = {json.dumps([*table.columns.drop(sensitive)])}\n"
            f"sensitive = {json.dumps(sensitive)}\n{measures}"
        ),
        build_competition_toml(),
    )


@pytest.mark.parametrize(("unit", "other_unit"), [(1.0, 1e6), (1e-6, 1e9), (1e-25, 1e-3), (1e20, 1.0)])
def test_losses_count_however_large_other_columns_are(unit: float, other_unit: float) -> None:
    table, released, expected = build_units_tables(unit, other_unit)
    file = build_file(table, ["assets", "hours"], cross_mean=1.0)
    file = file.replace("[measures.cross_mean]", '[measures.cross_mean]\ntarget = ["hours"]')
    result = anoncup.score(table, released, np.arange(len(table)), competition=file)
    assert result.verdict.measures["cross_mean"].value == pytest.approx(expected)
    scale = compute_null_cross_mean(table, "hours")
    assert result.utility == pytest.approx(expected / scale)
    unchanged = anoncup.score(table, table[::-1], np.arange(len(table))[::-1], competition=file)
    assert unchanged.utility == 0.0


@pytest.mark.parametrize(("columns", "values"), [(16, 9), (40, 12)])
def test_counts_are_exact_however_many_cells_divide_them(columns: int, values: int) -> None:
    table, released = build_wide_tables(columns, values)
    file = build_file(table, ["income"], cross_count=1.0, information_loss=1.0)
    result = anoncup.score(table, released, np.arange(len(table)), competition=file)
    counts = [frame.drop(columns="income").value_counts() for frame in (table, released)]
    expected = counts[0].sub(counts[1], fill_value=0).abs().sum() / values**columns
    assert result.verdict.measures["cross_count"].value == pytest.approx(expected, rel=1e-9)
    assert result.utility == 0.5


@pytest.mark.parametrize(
    ("changes", "measure"),
    [
        ({"q0": "a", "q1": "b"}, "cross_count"),
        ({"income": 1e-3}, "cor_mae"),
        ({"income": 5}, "information_loss"),
        ({"income": 1e9 + 1e-3}, "mean_mae"),
    ],
)
def test_measure_without_a_scale_is_refused_as_by_a_service(changes: Any, measure: str) -> None:
    table = build_wide_tables(2, 3)[0].assign(**changes)
    file = build_file(table, ["income"], **{measure: 1.0})
    with pytest.raises(InvalidCompetition, match=f"{measure} has no scale") as excinfo:
        anoncup.score(table, table, np.arange(len(table)), competition=file)
    assert excinfo.value.code == "scale_zero"


def test_files_and_arrays_give_the_same_score(
    original: pd.DataFrame, competition: str, tmp_path: Path
) -> None:
    made = anonymize(original, competition)
    expected = anoncup.score(original, made.tables["anonymized"], made.secret, competition=competition)
    for name, content in {
        "competition.toml": competition.encode(),
        "original.csv": write_csv(original),
        "released.csv": made.files["anonymized"],
        "secret.csv": made.secret_file,
    }.items():
        (tmp_path / name).write_bytes(content)
    paths = [tmp_path / f"{name}.csv" for name in ("original", "released", "secret")]
    from_files = anoncup.score(*paths, competition=tmp_path / "competition.toml")
    rows = made.secret["original_row"].astype(int).to_numpy() - 1
    rules = anoncup.parse_competition(competition)
    from_array = anoncup.score(original, made.tables, rows, competition=rules)
    assert from_files.verdict == from_array.verdict == expected.verdict


def test_guess_for_an_unchanged_release_is_right(original: pd.DataFrame, competition: str) -> None:
    made = anoncup.anonymize(original, "add_noise", competition=competition, strength=0.0)
    (guess,) = anoncup.guess(original, made.tables, "euc1", competition=competition).values()
    assert (guess["original_row"] == made.secret["original_row"]).all()


def test_secrets_are_random_unless_a_seed_is_given(original: pd.DataFrame, competition: str) -> None:
    secrets = [
        tuple(
            anoncup.anonymize(original, "microaggregate", competition=competition, seed=seed).secret[
                "original_row"
            ]
        )
        for seed in (None, None, 1, 1)
    ]
    assert len(set(secrets)) == 3
    assert secrets[2] == secrets[3]


def test_comparison_lists_the_best_first(original: pd.DataFrame, competition: str) -> None:
    made = {
        name: anoncup.anonymize(original, "add_noise", competition=competition, strength=strength)
        for name, strength in (("weak", 0.05), ("strong", 3.0))
    }
    releases = {name: (entry.tables, entry.secret) for name, entry in made.items()}
    table = anoncup.compare(original, releases, competition=competition).table
    scores = {
        name: anoncup.score(original, *release, competition=competition).overall
        for name, release in releases.items()
    }
    assert list(table.index) == sorted(scores, key=scores.__getitem__)
    assert table["overall"].to_dict() == scores
    assert table["overall"].is_monotonic_increasing


@pytest.mark.parametrize("name", [name for name, track in TRACKS.items() if track.examples.make_data])
def test_releases_of_every_track_are_scored(name: str) -> None:
    """The numbers are those of ``evaluate`` for what the sample method made, without files in between."""
    track = TRACKS[name]
    competition = anoncup.template(next(iter(track.examples.templates), name))
    rules = anoncup.parse_competition(competition)
    assert track.examples.make_data is not None
    files = track.examples.make_data(rules, ROWS, 1)
    original = {file: read_text_table(content) for file, content in files.items()}
    method = track.examples.method
    made = anoncup.anonymize(original, method, competition=rules, seed=5)
    result = anoncup.score(original, made.tables, made.secret, competition=rules)
    parsed, _ = track.parse_original(files, rules)
    rng = np.random.default_rng(5)
    release, answer = track.anonymize(track.methods[method], parsed, rules, rng, {})
    verdict = anoncup.evaluate(rules, parsed, *track.shuffle(release, answer, rng=rng))
    assert result.verdict.to_json() == verdict.to_json()
    assert (result.utility, result.security, result.overall) == (
        verdict.utility,
        verdict.security,
        verdict.overall,
    )
    rates = anoncup.attack(original, made.tables, made.secret, competition=rules)
    assert dict(rates.table["rate"]) == {name: entry.rate.value for name, entry in verdict.attackers.items()}


def test_tracks_with_several_files_take_tables_by_name() -> None:
    competition = anoncup.template(2016)
    tables = anoncup.TRACKS["transactions"].files_of(anoncup.load_tc400())
    original = {name: read_text_table(content) for name, content in tables.items()}
    made = anoncup.anonymize(original, "delete_records", competition=competition)
    result = anoncup.attack(original, made.tables, made.secret, competition=competition)
    assert len(result.table)
    with pytest.raises(InvalidInput, match="by their names: customers, transactions"):
        anoncup.attack(original["customers"], made.tables, made.secret, competition=competition)


def test_results_print_as_tables(original: pd.DataFrame, competition: str) -> None:
    made = anonymize(original, competition)
    assert repr(made) == f"AnonymizedTables: anonymized ({ROWS} rows)"
    result = anoncup.score(original, made.tables, made.secret, competition=competition)
    assert str(result).startswith(f"{result.verdict.verdict}")
    assert f"overall {result.overall:.6f}" in repr(result)
    assert "mean_mae" in result._repr_html_()
    assert result.table.loc[("measure", "mean_mae"), "value"] == result.verdict.measures["mean_mae"].value
    assert result.table.loc[("attacker", "euc1"), "value"] == result.verdict.attackers["euc1"].rate.value
    assert result.is_accepted == (not result.verdict.violations)
    rates = anoncup.attack(original, made.tables, made.secret, competition=competition)
    assert "euc1" in repr(rates)


def test_registries_print_as_tables_with_a_description_of_every_part() -> None:
    lines = repr(anoncup.UTILITIES).splitlines()
    assert lines[0].split() == ["name", "takes", "description"]
    assert re.match("cross_mean +columns, target +Return U2, the mean difference of cell means", lines[2])
    row = "<td>microdata</td><td>original.csv</td><td>a release is anonymized.csv; questions: link</td>"
    assert row in TRACKS._repr_html_()
    for track in TRACKS.values():
        for parts in (track.measures, track.attackers, track.methods):
            assert all(part.summary[1] for part in parts.values()), repr(parts)
            assert "`" not in repr(parts)


def test_template_of_a_track_is_its_first_one() -> None:
    assert anoncup.template("microdata") == anoncup.template("2015") == anoncup.template(2015)
    with pytest.raises(InvalidInput, match="templates: 2015, "):
        anoncup.template("2014")


@pytest.mark.full
def test_advice_equals_that_of_the_command(original: pd.DataFrame, competition: str, tmp_path: Path) -> None:
    result = anoncup.advise(original, competition=competition, groups=("SetaiKubun",), draws=20)
    (tmp_path / "competition.toml").write_text(competition, "utf-8")
    (tmp_path / "original.csv").write_bytes(write_csv(original))
    contest = ("--competition", "competition.toml", "--original", "original.csv")
    options = ("--groups", "SetaiKubun", "--draws", "20", "--json")
    advice = json.loads(run_program("threshold", *contest, *options, cwd=tmp_path).stdout)
    report = AdvisorReport(result.advice, result.contest)
    assert schemas.parse_advice(report.to_json()).model_dump(mode="json") == advice
    assert result.threshold == advice["threshold"]


def test_advice_lists_a_contest_and_says_first_who_should_not_lead(
    original: pd.DataFrame, competition: str
) -> None:
    result = anoncup.advise(original, competition=competition, groups=("SetaiKubun",), draws=0)
    assert list(result.table["overall"]) == [entry.overall for entry in result.contest.releases]
    assert set(result.table.index) == {*anoncup.METHODS, "unchanged"}
    assert str(result).startswith("a cheat leads: ")
    assert f"recommended threshold: {result.threshold:g}" in str(result)
    contest = replace(result.contest, warnings=(), recommended_warnings=result.contest.warnings)
    other = build_advised_threshold(AdvisorReport(result.advice, contest))
    assert ". with it, a cheat leads: " in str(other.heading)


def test_advice_names_groups_and_distances(original: pd.DataFrame, competition: str) -> None:
    with pytest.raises(InvalidInput, match=r"group columns are .*SetaiKubun"):
        anoncup.advise(original, competition=competition, groups=["nothing"])
    with pytest.raises(InvalidInput, match=r"distances of the microdata track: .*gower"):
        anoncup.advise(original, competition=competition, distance="miles")
    with pytest.raises(InvalidInput, match="bits must be at least 1, and draws at least 0"):
        anoncup.advise(original, competition=competition, draws=-1)


def test_errors_name_row_and_choices(original: pd.DataFrame, competition: str) -> None:
    made = anonymize(original, competition)
    with pytest.raises(InvalidUpload) as upload_error:
        anoncup.score(original, made.tables, np.zeros(ROWS, int), competition=competition)
    assert upload_error.value.problems[0].row == 2
    with pytest.raises(InvalidInput, match=r"methods: .*add_noise"):
        anoncup.anonymize(original, "nothing", competition=competition)
    with pytest.raises(InvalidInput, match=r"parameters: strength$"):
        anoncup.anonymize(original, "add_noise", competition=competition, strenght=1)
    with pytest.raises(InvalidInput, match=r"attackers: .*euc1"):
        anoncup.guess(original, made.tables, "nobody", competition=competition)


FEW_COLUMNS = anoncup.parse_competition(
    MINIMAL.replace('["a", "b"]', '["day", "q"]').replace('["x", "y"]', '["s"]')
)


def build_table(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"day": ["1", "2"], "q": ["a", "b"], "s": [1, 2]} | columns)


def test_comparison_lists_rejected_releases_last() -> None:
    rules = replace(FEW_COLUMNS, excessive=Excessive(threshold=0.05))
    releases = {"cheat": (build_table(), [1, 0]), "honest": (build_table(), [0, 1])}
    table = anoncup.compare(build_table(), releases, competition=rules).table
    assert list(table.index) == ["honest", "cheat"]
    assert table["overall"]["cheat"] < table["overall"]["honest"]


def score_table(table: Any) -> Score:
    return anoncup.score(build_table(), table, np.arange(2), competition=FEW_COLUMNS)


def test_warnings_of_reading_are_returned_and_printed(tmp_path: Path) -> None:
    path = tmp_path / "original.csv"
    path.write_bytes("day,q,s\n1,男性,1\n2,女性,2\n".encode("cp932"))
    released, secret = build_table(day=["1.0", "2"], q=["男性", "女性"]), np.arange(2)
    result = anoncup.score(path, released, secret, competition=FEW_COLUMNS)
    assert [remark.code for remark in result.warnings][:2] == ["read_as_cp932", "respelled"]
    assert "warning: day: some cells are spelled differently" in str(result)
    assert "&#x27;1.0&#x27;" in result._repr_html_()
    rates = anoncup.attack(path, released, secret, competition=FEW_COLUMNS)
    comparison = anoncup.compare(path, {"mine": (released, secret)}, competition=FEW_COLUMNS)
    assert rates.warnings == result.warnings[:-1]
    codes = [remark.code for remark in comparison.warnings]
    assert codes == [remark.code for remark in result.warnings]
    assert str(comparison.warnings[1].message) == f"mine: {result.warnings[1].message}"
    assert repr(rates).count("warning:") == str(comparison).count("warning:") - 1 == len(rates.warnings)
    assert (result.utility, result.warnings[-1].code) == (0.0, "no_weights")


@pytest.mark.parametrize("kind", ["datetime64[ns]", "object", "category"])
def test_each_date_is_written_by_itself(kind: str) -> None:
    """One time of day does not change how the other dates of a column are written."""
    days = pd.to_datetime(pd.Series(["2026-05-09 12:00", "2026-05-10 00:00"])).astype(kind)  # type: ignore[call-overload]
    original = build_table(day=["2026-05-10", "2026-05-09"])
    rates = anoncup.attack(original, build_table(day=days, q=["b", "a"]), [1, 0], competition=FEW_COLUMNS)
    assert rates.table["rate"]["id_rand"] == 0.5
    texts = build_table(day=["2026-05-09 12:00:00", "2026-05-10"], q=["b", "a"])
    assert anoncup.attack(original, texts, [1, 0], competition=FEW_COLUMNS).table.equals(rates.table)


def test_durations_are_written_one_by_one() -> None:
    days = pd.Series(pd.to_timedelta(["1 days", "2 days"]))
    mixed = pd.Series(pd.to_timedelta(["1 days", "2 days 02:00:00"]))
    rates = anoncup.attack(build_table(day=days), build_table(day=mixed), [0, 1], competition=FEW_COLUMNS)
    assert rates.table["rate"]["id_rand"] == 0.5


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_missing_texts_are_refused(missing: object, kind: str) -> None:
    cells = pd.Series(["a", missing], dtype=kind)
    for tables in ((build_table(q=cells), build_table()), (build_table(), build_table(q=cells))):
        with pytest.raises(InvalidInput, match=r"q, row 2: a missing value.*keep_default_na=False"):
            anoncup.score(*tables, [0, 1], competition=FEW_COLUMNS)
    assert score_table(build_table(q=["a", ""])).is_accepted


def test_missing_numbers_and_dates_are_empty_cells() -> None:
    for cells in (pd.Series([1.0, np.nan]), pd.Series([pd.Timestamp("2026-05-09"), pd.NaT])):
        rates = anoncup.attack(
            build_table(day=cells), build_table(day=cells), [0, 1], competition=FEW_COLUMNS
        )
        assert rates.table["rate"]["id_rand"] == 1


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("day", "x"), ("q", "x")])),
        pa.table({"day": ["1"]}),
        np.zeros((2, 3)),
        {"anonymized": {"day": ["1"]}},
        [["1", "a", 1]],
    ],
)
def test_other_kinds_of_tables_are_refused(table: Any) -> None:
    with pytest.raises(InvalidInput, match="anonymized must be a pandas DataFrame with one level"):
        score_table(table)
    original = {"original": table["anonymized"]} if isinstance(table, dict) else table
    with pytest.raises(InvalidInput, match="original must be a pandas DataFrame"):
        anoncup.score(original, build_table(), [0, 1], competition=FEW_COLUMNS)


@pytest.mark.parametrize(
    ("original", "released"),
    [({"x": None}, None), ({}, None), (None, {"released": None}), (None, {"anonymized": None, "x": None})],
)
def test_tables_of_other_names_are_refused(
    original: dict[str, None] | None, released: dict[str, None] | None
) -> None:
    """Each table of a dictionary is a valid one; only the names differ."""
    original_table, released_table = (
        build_table() if names is None else dict.fromkeys(names, build_table())
        for names in (original, released)
    )
    expected = "original" if original is not None else "anonymized"
    with pytest.raises(InvalidInput, match=f"give the tables by their names: {expected}$"):
        anoncup.score(original_table, released_table, [0, 1], competition=FEW_COLUMNS)


@pytest.mark.parametrize(("secret", "value"), [([1, 2], 2), ([-1, 0], -1)])
def test_array_for_the_secret_that_is_not_counted_from_0_is_refused(secret: list[int], value: int) -> None:
    with pytest.raises(InvalidInput, match=f"from 0, here to 1; it contains {value}"):
        anoncup.score(build_table(), build_table(), secret, competition=FEW_COLUMNS)


@pytest.mark.parametrize(
    "secret",
    [np.zeros((2, 2), int), [0.0, 1.0], {"original_row": [1, 2]}, ["1", "2"], [[0], [1, 2]]],
)
def test_other_kinds_of_secrets_are_refused(secret: Any) -> None:
    with pytest.raises(InvalidInput, match="secret"):
        anoncup.score(build_table(), build_table(), secret, competition=FEW_COLUMNS)
