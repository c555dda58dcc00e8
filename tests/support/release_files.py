"""Files of a small contest and a release."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support.shell_commands import run

FILES = ("competition", "original", "anonymized", "secret")
COMPETITION = """
format = 1
slug = "local"
title = { en = "Local cup", ja = "手元の杯" }
track = "microdata"
timezone = "Asia/Tokyo"
[columns]
quasi_identifiers = ["sex", "年齢[/b]"]
sensitive = ["income", "rent"]
[measures.mean_mae]
weight = 1.0
[measures.information_loss]
weight = 2.0
[excessive]
threshold = 0.2
# the end
"""
ORIGINAL = """sex,年齢[/b],income,rent
f,20,100,10
m,30,200,20
f,20,150,30
m,40,0,0.1
m,30,250,25
f,,300,5
"""
RELEASE = """sex,年齢[/b],income,rent
m,30,200,20
f,20,110,10
m,40,0,0.1
f,,300,5
m,30,250,25
f,20,150,30
"""
SECRET = "original_row\n2\n1\n4\n6\n5\n3\n"


def place(folder: Path, name: str) -> Path:
    return folder / ("competition.toml" if name == "competition" else f"{name}.csv")


def options(folder: Path, *names: str) -> list[str | Path]:
    return [word for name in names for word in (f"--{name}", place(folder, name).name)]


def score(folder: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    return run("score", *options(folder, *FILES), *more, cwd=folder)


def scored(folder: Path) -> Any:
    return json.loads(score(folder, "--json").stdout)
