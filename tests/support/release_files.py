"""Files of a small contest and a release, and the command that scores them."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support.shell_commands import run_program

INPUT_NAMES = ("competition", "original", "anonymized", "secret")
COMPETITION = """
format = 1
slug = "local"
title = { en = "Local cup", ja = "手元の杯" }
track = "microdata"
timezone = "Asia/Tokyo"
[columns]
quasi_identifiers = ["sex", "年数[/b]"]
sensitive = ["income", "rent"]
[measures.mean_mae]
weight = 1.0
[measures.information_loss]
weight = 2.0
[excessive]
threshold = 0.2
# the end
"""
ORIGINAL = """sex,年数[/b],income,rent
f,20,100,10
m,30,200,20
f,20,150,30
m,40,0,0.1
m,30,250,25
f,,300,5
"""
RELEASE = """sex,年数[/b],income,rent
m,30,200,20
f,20,110,10
m,40,0,0.1
f,,300,5
m,30,250,25
f,20,150,30
"""
SECRET = "original_row\n2\n1\n4\n6\n5\n3\n"


def build_path(folder: Path, name: str) -> Path:
    return folder / ("competition.toml" if name == "competition" else f"{name}.csv")


def build_options(folder: Path, *names: str) -> list[str | Path]:
    return [option for name in names for option in (f"--{name}", build_path(folder, name).name)]


def run_score(folder: Path, *extra_options: str) -> "subprocess.CompletedProcess[str]":
    return run_program("score", *build_options(folder, *INPUT_NAMES), *extra_options, cwd=folder)


def compute_scores(folder: Path) -> Any:
    return json.loads(run_score(folder, "--json").stdout)
