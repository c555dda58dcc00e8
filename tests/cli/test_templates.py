"""What there is to start from: competition files by name, and data that are made up."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anoncup.competition.templates import TEMPLATES, template
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import secret_csv
from tests.support.release_files import place, scored
from tests.support.shell_commands import run


def test_the_template_is_printed_as_it_is(tmp_path: Path) -> None:
    done = run("template", "2015", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == template(2015)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["abc", "1999"])
def test_a_template_that_there_is_not_is_told_which_there_are(tmp_path: Path, name: str) -> None:
    done = run("template", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"templates: {', '.join(TEMPLATES)}" in " ".join(done.stderr.split())


def test_example_data_go_into_a_folder_of_a_track_that_has_some(tmp_path: Path) -> None:
    done = run("generate", "made", "--rows", "5", "--track", "microdata", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "wrote original.csv into made\n")
    written = (tmp_path / "made" / "original.csv").read_text()
    assert written == run("generate", "--rows", "5", cwd=tmp_path).stdout
    unknown = run("generate", "--track", "transactions", cwd=tmp_path)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "tracks with generated data: microdata" in unknown.stderr


def test_a_generated_table_goes_through_the_template_of_2015(tmp_path: Path) -> None:
    made = run("generate", "--rows", "60", "--seed", "3", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert run("generate", "--rows", "60", "--seed", "3", cwd=tmp_path).stdout == made.stdout
    place(tmp_path, "original").write_text(made.stdout)
    place(tmp_path, "competition").write_text(run("template", "2015", cwd=tmp_path).stdout, "utf-8")
    table = pd.read_csv(place(tmp_path, "original"), dtype=str, keep_default_na=False)
    order = np.arange(59, -1, -1)
    place(tmp_path, "anonymized").write_bytes(table_csv(table.iloc[order]))
    place(tmp_path, "secret").write_bytes(secret_csv(order))
    content = scored(tmp_path)
    assert (content["verdict"], content["warnings"], content["utility"]) == ("accepted", [], 0.0)
    assert content["attackers"]["euc2"]["rate"] > 0.9
