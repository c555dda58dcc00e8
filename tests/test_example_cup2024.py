"""The example of the attack ranking of 2024: built, installed next to anoncup, listed and tested."""

import html
import shutil
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from fastapi.testclient import TestClient

from anoncup.competition import parser, ranking_functions, required_packages, scoring_versions
from anoncup.competition.templates import template
from anoncup.plugins import BUILT_IN, discover_plugins
from anoncup.rules.toml_text import replace_tables
from app.core.pages import language
from tests.support.arena import Arena
from tests.support.environments import EXAMPLE_CUP_2024, PackageEnvironment, build_wheel, environment
from tests.support.markdown_blocks import list_code_blocks
from tests.support.package_catalogues import open_package_folder
from tests.support.page_requests import get_page

pytestmark = pytest.mark.full
PATH = "/competitions/small"
__all__ = ["environment"]

PARSE = """
import sys
from pathlib import Path
from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import collect_scoring_versions
rules = parse_competition(Path("competition.toml").read_text())
print(collect_scoring_versions(rules)["ranking_functions.five_best_defenders"])
"""


def read_tables() -> str:
    """Return the tables of a competition file in the README."""
    readme = EXAMPLE_CUP_2024 / "README.md"
    (tables,) = [block.text for block in list_code_blocks(readme) if block.language == "toml"]
    return tables


def test_installed_package_is_listed_keeps_its_laws_and_ranks_attacks(
    environment: PackageEnvironment, tmp_path: Path
) -> None:
    example = Path(shutil.copytree(EXAMPLE_CUP_2024, tmp_path / "cup2024"))
    environment.install(example, tmp_path / "wheels")
    (package,) = environment.run_anoncup("plugins", cwd=tmp_path)
    assert (package["name"], package["broken"]) == ("anoncup-cup2024", None)
    assert package["parts"] == [
        "ranking_functions.five_best_defenders",
        "ranking_functions.ten_best_defenders",
    ]
    completed = environment.run("-m", "pytest", "-q", str(example / "tests"), cwd=tmp_path)
    assert completed.returncode == 0, completed.stdout
    file = replace_tables(template(2015), "ranking", "") + read_tables()
    (tmp_path / "competition.toml").write_text(file, "utf-8")
    completed = environment.run("-c", PARSE, cwd=tmp_path)
    assert (completed.stdout, completed.returncode) == ("1\n", 0), completed.stderr


@pytest.fixture
def package(tmp_path: Path) -> Iterator[None]:
    """Install the wheel of the package for this process and its children."""
    folder = tmp_path / "packages"
    with ZipFile(build_wheel(EXAMPLE_CUP_2024, tmp_path / "wheels")) as wheel:
        wheel.extractall(folder)
    with open_package_folder(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        installed = discover_plugins(BUILT_IN)
        for module in (parser, ranking_functions, required_packages, scoring_versions, language):
            patch.setattr(module, "INSTALLED", installed)
        yield


def read_page(arena: Arena, path: str, *, organizer: bool = False) -> str:
    return html.unescape(get_page(arena, f"{PATH}/{path}", organizer=organizer).text)


@pytest.mark.usefixtures("package")
def test_rules_page_describes_the_function_in_both_languages(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml=read_tables())
    text = read_page(arena, "rules")
    assert "Five best defenders <code>anoncup-cup2024:five_best_defenders</code> The sum of" in text
    assert "防御上位 5 チーム <code>anoncup-cup2024:five_best_defenders</code>" in read_page(
        arena, "rules?lang=ja"
    )
