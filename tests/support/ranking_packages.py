"""Packages with ranking functions, installed for this process, in this interpreter or in one of their own."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anoncup.environments import DESCRIPTION_FILE, FOLDER_VARIABLE
from anoncup.plugins import BUILT_IN, INSTALLED, discover_plugins
from anoncup.tracks.ranking_board import RankingFunction
from app.core.processes import runners
from tests.support.environments import create_environment
from tests.support.track_package import install_package

PACKAGE = "bestof"
FUNCTIONS = ("releases", "attacks")
_PLUGIN_CODE = """
from anoncup.tracks.plugin import Plugin
from anoncup.tracks.ranking_board import Ranked, RankingFunction

{code}

PLUGIN = Plugin(
    api=0,
    ranking_functions={{
        name: RankingFunction(name, 1, function)
        for name, function in (("releases", rank_releases), ("attacks", rank_attacks))
    }},
)
"""
BEST_DEFENDERS_CODE = '''
def rank_releases(board):
    """Rank by 100 - 50 E, the release with the lowest E of each team."""
    best = {}
    for submission in sorted(board.submissions, key=lambda submission: submission.security):
        best.setdefault(submission.team, submission)
    return [
        Ranked(team, 100 - 50 * best[team].security, "100 - 50 E", best[team].id)
        if team in best
        else Ranked(team, None)
        for team in board.teams
    ]


def rank_attacks(board):
    """Add up the individuals found at the two best defenders; the own cell is what others found there."""
    cells = {}
    owners = {submission.id: submission.team for submission in board.submissions}
    for attack in board.attacks:
        if not attack.is_built_in:
            cells[attack.attacker, owners[attack.submission]] = attack.correct
    finds = {team: [cells.get((other, team), 0) for other in board.teams] for team in set(owners.values())}
    defenders = sorted(finds, key=lambda team: (max(finds[team]), sum(finds[team])))[:2]
    earlier = board.earlier_rounds.get("preliminary", {})

    def list_parts(team):
        found = [max(finds[team]) if team == other else cells.get((team, other), 0) for other in defenders]
        return [*found, *([earlier[team]] if team in earlier else [])]

    return [
        Ranked(team, sum(list_parts(team)), " + ".join(f"{part:g}" for part in sorted(list_parts(team))))
        for team in board.teams
    ]
'''


def build_ranking_toml(functions: tuple[str, ...] = FUNCTIONS) -> str:
    """Return the tables of a competition whose releases, attacks or both are ranked by the package."""
    keys = {"releases": "function", "attacks": "attack_function"}
    lines = [f'{keys[name]} = "{PACKAGE}:{name}"' for name in functions]
    order = ['order = "descending"'] if "releases" in functions else []
    return "\n".join(["[ranking]", *lines, *order, "[requires]", f'{PACKAGE} = ">=1"', ""])


@contextmanager
def install_ranking_package(folder: Path, code: str, *, has_own_interpreter: bool) -> Iterator[Path]:
    """Install the package for this process and its children; yield the file of its code."""
    environments = folder / "packages"
    site_packages = folder / "site-packages"
    site_packages.mkdir(exist_ok=True)
    if has_own_interpreter:
        environment = create_environment(environments / PACKAGE)
        (site_packages,) = environment.folder.glob("lib/python*/site-packages")
    install_package(site_packages, PACKAGE, _PLUGIN_CODE.format(code=code), version="1.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(environments))
        if has_own_interpreter:
            _describe(environments / PACKAGE)
        else:
            patch.setenv("PYTHONPATH", str(site_packages))
            patch.syspath_prepend(site_packages)
        with _replace_installed(patch):
            yield site_packages / f"{PACKAGE}.py"


def replace_code(file: Path, code: str) -> None:
    file.write_text(_PLUGIN_CODE.format(code=code))


def _describe(environment: Path) -> None:
    """Write the description of an environment, as ``anoncup packages add`` does."""
    program = (
        "import json, sys; from pathlib import Path; from anoncup.plugins import describe_interpreter;"
        "Path(sys.argv[1]).write_text(json.dumps(describe_interpreter()))"
    )
    command = [str(environment / "bin/python"), "-P", "-c", program, str(environment / DESCRIPTION_FILE)]
    subprocess.run(command, check=True, env={FOLDER_VARIABLE: str(environment / "no-packages")})


@contextmanager
def _replace_installed(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process know the package, as it would after a restart, which also ends its children."""
    runners.end_all()
    discovered = discover_plugins(BUILT_IN)
    earlier = {name: getattr(INSTALLED, name) for name in ("packages", "ranking_functions")}
    functions: dict[str, RankingFunction] = dict(discovered.ranking_functions)
    assert set(FUNCTIONS) <= set(functions), discovered.packages
    for name, value in {"packages": discovered.packages, "ranking_functions": functions}.items():
        object.__setattr__(INSTALLED, name, value)
    try:
        yield
    finally:
        runners.end_all()
        for name, value in earlier.items():
            object.__setattr__(INSTALLED, name, value)
