"""The ranking functions that a competition file names: their check, and their call."""

from packaging.utils import canonicalize_name

from anoncup.errors import InvalidCompetition
from anoncup.plugins import INSTALLED
from anoncup.rules.model import Rules
from anoncup.tracks.ranking_board import Ranked, RankingBoard, RankingFunction, check_ranked


def check_functions(rules: Rules) -> None:
    """Raise InvalidCompetition if a ranking function is not installed or its package is not required."""
    required_packages = {canonicalize_name(name) for name in rules.requires}
    for key in ("function", "attack_function"):
        name: str | None = getattr(rules.ranking, key)
        if name is None:
            continue
        package = name.partition(":")[0]
        if canonicalize_name(package) not in required_packages:
            raise InvalidCompetition(
                "{key}: the package {name} is missing in [requires]",
                code="package_not_required",
                key=f"ranking.{key}",
                name=package,
            )
        find_function(name, key=f"ranking.{key}")


def find_function(name: str, *, key: str = "ranking") -> RankingFunction:
    """Return the ranking function PACKAGE:NAME; raise InvalidCompetition, with the key, if there is none."""
    package, _, function_name = name.partition(":")
    provider = INSTALLED.find_provider(f"ranking_functions.{function_name}")
    if provider is None or provider.name != canonicalize_name(package):
        raise InvalidCompetition(
            "{key}: the package {package} has no ranking function {name}",
            code="unknown_ranking_function",
            key=key,
            package=package,
            name=function_name,
        )
    return INSTALLED.ranking_functions[function_name]


def rank_board(name: str, board: RankingBoard) -> tuple[Ranked, ...]:
    """Return the teams of a board as the ranking function PACKAGE:NAME ranks them, in the board's order.

    It runs where the package is installed. Raises InvalidResult, which names the package, if the function
    returns anything else than a score for each team, and whatever the function itself raises.
    """
    ranked = find_function(name).rank(board)
    return check_ranked(board, ranked, package=name.partition(":")[0])
