"""The wheel: the library without the service, with only its declared dependencies."""

import json
from importlib.metadata import distribution, version
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest
from packaging.requirements import Requirement

from anoncup.cli.exit_status import SCORING_PACKAGES
from tests.support.library_environment import ROOT, find_dependencies, python, run_python, wheel

__all__ = ["python", "wheel"]

NOTEBOOK = ROOT / "examples" / "papers.ipynb"
TABLE_FILE = "original.csv"
MAX_LIGHT_SIZE = 30 * 1024**2


def test_wheel_contains_only_the_library(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    info = f"anoncup-{version('anoncup')}.dist-info"
    assert {name.split("/")[0] for name in names} == {"anoncup", info}
    assert {"anoncup/py.typed", "anoncup/tracks/microdata/locale/ja/LC_MESSAGES/microdata.po"} <= names
    assert {name for name in names if "/licenses/" in name} == {
        f"{info}/licenses/LICENSE",
        f"{info}/licenses/NOTICE",
    }


def test_library_needs_no_server_database_or_web_framework() -> None:
    dependencies = {name.lower() for name in find_dependencies("anoncup", "score")}
    assert not dependencies & {
        "alembic",
        "celery",
        "fastapi",
        "jinja2",
        "psycopg",
        "redis",
        "sqlalchemy",
        "uvicorn",
    }
    assert len(dependencies) < 40


def test_extra_has_exactly_the_packages_that_score() -> None:
    declared = {Requirement(line) for line in distribution("anoncup").requires or ()}
    names = {
        entry.name.replace("-", "_")
        for entry in declared
        if entry.marker and entry.marker.evaluate({"extra": "score"})
    }
    assert names == SCORING_PACKAGES


def test_commands_for_a_service_take_less_than_30_mb(wheel: Path) -> None:
    size = sum(entry.file_size for entry in ZipFile(wheel).infolist())
    for name in find_dependencies("anoncup") - {"anoncup"}:
        files = [str(file.locate()) for file in distribution(name).files or () if file.suffix != ".pyc"]
        size += sum(Path(file).stat().st_size for file in files)
    assert size < MAX_LIGHT_SIZE


@pytest.mark.full
def test_commands_anonymize_attack_and_score_without_the_service(python: Path, tmp_path: Path) -> None:
    def anoncup(*words: str) -> str:
        return run_python(python, "-m", "anoncup.cli", *words, folder=tmp_path)

    assert "Running a service" not in anoncup("--help")
    (tmp_path / "competition.toml").write_text(anoncup("template", "2015"))
    (tmp_path / TABLE_FILE).write_text(anoncup("generate", "--rows", "30"))
    contest = ("--competition", "competition.toml", "--original", TABLE_FILE)
    anoncup("anonymize", *contest, "--method", "microaggregate", "--into", "mine")
    release = ("--anonymized", "mine/anonymized.csv", "--secret", "mine/secret.csv")
    assert json.loads(anoncup("score", *contest, *release, "--json"))
    assert anoncup("attack", *contest, *release, "--into", "guesses")


@pytest.mark.full
def test_notebook_runs_without_the_service(python: Path, tmp_path: Path) -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert run_python(python, "-c", code, folder=tmp_path)
