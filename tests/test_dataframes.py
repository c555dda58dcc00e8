"""The functions for notebooks give the numbers of ``evaluate``, from tables, arrays and files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anoncup
from anoncup import TRACKS, schemas
from anoncup.errors import InvalidInput, InvalidUpload
from anoncup.result_tables import read_text_table
from anoncup.tables.csv_text import write_csv
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


def evaluate(original: pd.DataFrame, competition: str, files: Any, secret: bytes) -> anoncup.Verdict:
    """Score with the functions of the track instead."""
    rules = anoncup.parse_competition(competition)
    track = anoncup.TRACKS[rules.track]
    parsed, _ = track.parse_original({"original": write_csv(original)}, rules)
    release, _ = track.parse_release(files, parsed, rules, {})
    answer = track.answer_spec.read(secret, track.build_context(rules, parsed, release))
    return anoncup.evaluate(rules, parsed, release, answer)


def test_score_equals_the_verdict(original: pd.DataFrame, competition: str) -> None:
    made = anonymize(original, competition)
    result = anoncup.score(original, made.tables["anonymized"], made.secret, competition=competition)
    verdict = evaluate(original, competition, made.files, made.secret_file)
    assert result.verdict.to_json() == verdict.to_json()
    assert (result.utility, result.security, result.overall) == (
        verdict.utility,
        verdict.security,
        verdict.overall,
    )
    assert result.table.loc[("measure", "mean_mae"), "value"] == verdict.measures["mean_mae"].value
    assert result.table.loc[("attacker", "euc1"), "value"] == verdict.attackers["euc1"].rate.rate


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


def test_attack_has_the_rates_of_the_verdict(original: pd.DataFrame, competition: str) -> None:
    made = anonymize(original, competition)
    result = anoncup.attack(original, made.tables, made.secret, competition=competition)
    verdict = evaluate(original, competition, made.files, made.secret_file)
    assert result.rates == {name: entry.rate for name, entry in verdict.attackers.items()}
    assert list(result.table["rate"]) == [entry.rate.rate for entry in verdict.attackers.values()]


def test_guess_for_an_unchanged_release_is_right(original: pd.DataFrame, competition: str) -> None:
    made = anoncup.anonymize(original, "add_noise", competition=competition, strength=0.0)
    (guess,) = anoncup.guess(original, made.tables, "euc1", competition=competition).values()
    assert (guess["original_row"] == made.secret["original_row"]).all()


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
    assert (result.utility, result.security) == (verdict.utility, verdict.security)
    rates = anoncup.attack(original, made.tables, made.secret, competition=rules)
    assert rates.rates == {name: entry.rate for name, entry in verdict.attackers.items()}


def test_tracks_with_several_files_take_tables_by_name() -> None:
    competition = anoncup.template(2016)
    tables = anoncup.TRACKS["transactions"].files_of(anoncup.load_tc400())
    original = {name: read_text_table(content) for name, content in tables.items()}
    made = anoncup.anonymize(original, "delete_records", competition=competition)
    result = anoncup.attack(original, made.tables, made.secret, competition=competition)
    assert result.rates
    with pytest.raises(InvalidInput, match="by their names: customers, transactions"):
        anoncup.attack(original["customers"], made.tables, made.secret, competition=competition)


def test_results_print_as_tables(original: pd.DataFrame, competition: str) -> None:
    made = anonymize(original, competition)
    assert repr(made) == f"AnonymizedTables: anonymized ({ROWS} rows)"
    result = anoncup.score(original, made.tables, made.secret, competition=competition)
    assert str(result).startswith(f"{result.verdict.verdict}")
    assert f"overall {result.overall:.6f}" in repr(result)
    assert "mean_mae" in result._repr_html_()
    assert result.is_accepted == (not result.verdict.violations)
    rates = anoncup.attack(original, made.tables, made.secret, competition=competition)
    assert "euc1" in repr(rates)


def test_results_are_drawn_with_matplotlib(original: pd.DataFrame, competition: str) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    made = anonymize(original, competition)
    result = anoncup.score(original, made.tables, made.secret, competition=competition)
    rates = anoncup.attack(original, made.tables, made.secret, competition=competition)
    for drawn, count in ((result, len(result.table)), (rates, 2 * len(rates.table))):
        assert len(drawn.plot().patches) == count
    pyplot.close("all")


@pytest.mark.full
def test_advice_equals_that_of_the_command(original: pd.DataFrame, competition: str, tmp_path: Path) -> None:
    result = anoncup.advise(original, competition=competition, groups=("SetaiKubun",), draws=20)
    (tmp_path / "competition.toml").write_text(competition, "utf-8")
    (tmp_path / "original.csv").write_bytes(write_csv(original))
    contest = ("--competition", "competition.toml", "--original", "original.csv")
    options = ("--groups", "SetaiKubun", "--draws", "20", "--json")
    advice = json.loads(run_program("threshold", *contest, *options, cwd=tmp_path).stdout)
    assert schemas.parse_advice(result.advice.to_json()).model_dump(mode="json") == advice
    assert result.threshold == advice["evidence"]["threshold"]


def test_advice_has_the_errors_at_each_threshold(original: pd.DataFrame, competition: str) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    result = anoncup.advise(original, competition=competition, groups=("SetaiKubun",), draws=20)
    honest = result.table["honest rejected"]
    assert honest.iloc[0] > honest.iloc[-1] == 0
    assert result.table["mixtures pass"].iloc[-1] == 1
    assert honest.is_monotonic_decreasing
    assert result.table["shift passes"].is_monotonic_increasing
    assert str(result).startswith(f"recommended threshold: {result.threshold:g}; guaranteed")
    assert len(result.plot().lines) == len(result.table.columns) + 1
    pyplot.close("all")


def test_advice_names_groups_and_distances(original: pd.DataFrame, competition: str) -> None:
    with pytest.raises(InvalidInput, match=r"group columns are .*SetaiKubun"):
        anoncup.advise(original, competition=competition, groups=["nothing"])
    with pytest.raises(InvalidInput, match=r"distances of the microdata track: .*gower"):
        anoncup.advise(original, competition=competition, distance="miles")


def test_errors_name_row_and_choices(original: pd.DataFrame, competition: str) -> None:
    made = anonymize(original, competition)
    with pytest.raises(InvalidUpload) as upload_error:
        anoncup.score(original, made.tables, np.zeros(ROWS, int), competition=competition)
    assert upload_error.value.problems[0].row == 2
    with pytest.raises(InvalidInput, match=r"methods: .*add_noise"):
        anoncup.anonymize(original, "nothing", competition=competition)
    with pytest.raises(InvalidInput, match=r"attackers: .*euc1"):
        anoncup.guess(original, made.tables, "nobody", competition=competition)
