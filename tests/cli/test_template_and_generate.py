"""The commands ``template`` and ``generate``: competition files and example data."""

from pathlib import Path

import numpy as np
import pandas as pd

from anoncup.competition.templates import template
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_secret
from tests.support.release_files import build_path, compute_scores
from tests.support.shell_commands import run_program


def test_template_is_printed_unchanged(tmp_path: Path) -> None:
    result = run_program("template", "2015", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == template(2015)
    assert list(tmp_path.iterdir()) == []


def test_example_data_is_written_to_a_folder(tmp_path: Path) -> None:
    result = run_program("generate", "made", "--rows", "5", "--track", "microdata", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "wrote original.csv into made\n")
    content = (tmp_path / "made" / "original.csv").read_text()
    assert content == run_program("generate", "--rows", "5", cwd=tmp_path).stdout
    (tmp_path / "cup.toml").write_text(template("membership"), "utf-8")
    result = run_program("generate", "members", "--rows", "6", "--competition", "cup.toml", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "wrote candidates.csv and background.csv into members\n")
    unknown = run_program("generate", "--track", "transactions", cwd=tmp_path)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "tracks with generated data: microdata" in unknown.stderr


def test_generated_table_fits_the_2015_template(tmp_path: Path) -> None:
    result = run_program("generate", "--rows", "60", "--seed", "3", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert run_program("generate", "--rows", "60", "--seed", "3", cwd=tmp_path).stdout == result.stdout
    build_path(tmp_path, "original").write_text(result.stdout)
    build_path(tmp_path, "competition").write_text(
        run_program("template", "2015", cwd=tmp_path).stdout, "utf-8"
    )
    table = pd.read_csv(build_path(tmp_path, "original"), dtype=str, keep_default_na=False)
    order = np.arange(59, -1, -1)
    build_path(tmp_path, "anonymized").write_bytes(write_csv(table.iloc[order]))
    build_path(tmp_path, "secret").write_bytes(write_secret(order))
    content = compute_scores(tmp_path)
    assert (content["verdict"], content["warnings"], content["utility"]) == ("accepted", [], 0.0)
    assert content["attackers"]["euc2"]["rate"] > 0.9
