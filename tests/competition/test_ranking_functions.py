"""Ranking functions of packages in competition files."""

from collections.abc import Sequence

import pytest

from anoncup.cli.terminal import show_formula_score
from anoncup.competition import scoring_versions
from anoncup.competition.parser import CompetitionFile, parse_competition, parse_rounds
from anoncup.competition.ranking_formulas import compares_teams
from anoncup.competition.ranking_functions import rank_board
from anoncup.competition.templates import template
from anoncup.competition.writer import replace_scored_by
from anoncup.errors import InvalidCompetition, InvalidResult
from anoncup.rules.toml_text import replace_tables
from anoncup.tracks.ranking_board import Ranked, RankingBoard
from tests.support.ranking_functions import REQUIRES, install_function


def rank(board: RankingBoard) -> Sequence[Ranked]:
    """Return a score for the first two teams."""
    return [Ranked(team, 1.0) for team in board.teams[:2]]


@pytest.fixture(autouse=True)
def function(monkeypatch: pytest.MonkeyPatch) -> None:
    install_function(monkeypatch, rank)


def build_file(ranking: str, requires: str = REQUIRES) -> str:
    return replace_tables(template(2015), "ranking", f"[ranking]\n{ranking}") + f"\n{requires}\n"


def test_function_ranks_in_place_of_a_rule_and_counts_with_its_version() -> None:
    text = build_file('function = "cup-2024:best"\norder = "descending"')
    rules = parse_competition(text)
    ranking = rules.ranking
    assert (ranking.rule, ranking.function, ranking.order) == ("function", "cup-2024:best", "descending")
    assert compares_teams(rules)
    (timetable,) = CompetitionFile(text).timetables.values()
    assert timetable.ranking == ranking
    versions = scoring_versions.collect_scoring_versions(rules)
    assert (versions["ranking_functions.best"], versions["packages.cup-2024"]) == ("3", "1.2")
    assert parse_competition(replace_scored_by(text, versions)).scored_by == versions
    with pytest.raises(InvalidCompetition, match=r"ranking_functions\.best counts in version 2"):
        parse_competition(replace_scored_by(text, versions | {"ranking_functions.best": "2"}))
    unversioned = {name: version for name, version in versions.items() if "functions" not in name}
    with pytest.raises(InvalidCompetition, match=r"whether ranking_functions\.best counts differs"):
        parse_competition(replace_scored_by(text, unversioned))


def test_command_says_that_the_score_needs_other_teams(capsys: pytest.CaptureFixture[str]) -> None:
    show_formula_score(parse_competition(build_file('function = "cup-2024:best"')), {"score": None})
    assert "(by the function cup-2024:best: needs the releases of the other teams)" in capsys.readouterr().out


def test_attacks_may_have_a_function_while_releases_have_a_formula() -> None:
    text = build_file('defence = "utility"\norder = "descending"\nattack_function = "cup-2024:best"')
    rules = parse_competition(text)
    assert (rules.ranking.rule, rules.ranking.attack_function) == ("formula", "cup-2024:best")
    assert not compares_teams(rules)
    assert scoring_versions.collect_scoring_versions(rules)["ranking_functions.best"] == "3"


@pytest.mark.parametrize(
    ("ranking", "requires", "code", "key"),
    [
        ('function = "cup-2024:best"', "", "package_not_required", "ranking.function"),
        ('function = "cup-2024:worst"', REQUIRES, "unknown_ranking_function", "ranking.function"),
        (
            'attack_function = "other:best"',
            f'{REQUIRES}\nother = ">=0"',
            "unknown_ranking_function",
            "ranking.attack_function",
        ),
        ('function = "best"', REQUIRES, "wrong_value", "ranking.function"),
        ("function = 3", REQUIRES, "wrong_value", "ranking.function"),
        ('rule = "score"\nfunction = "cup-2024:best"', REQUIRES, "wrong_value", "ranking.rule"),
        ('defence = "utility"\nfunction = "cup-2024:best"', REQUIRES, "wrong_value", "ranking.defence"),
        ('utility = "utility"\nfunction = "cup-2024:best"', REQUIRES, "wrong_value", "ranking.utility"),
        ('attack = "penalty"\nattack_function = "cup-2024:best"', REQUIRES, "wrong_value", "ranking.attack"),
        ('order = "descending"\nattack_function = "cup-2024:best"', REQUIRES, "wrong_value", "ranking.order"),
    ],
)
def test_wrong_functions_are_refused_with_their_place(
    ranking: str, requires: str, code: str, key: str
) -> None:
    with pytest.raises(InvalidCompetition) as raised:
        parse_competition(build_file(ranking, requires))
    assert (raised.value.code, raised.value.message.values["key"]) == (code, key)


def test_function_of_a_round_is_refused_at_the_place_of_the_round() -> None:
    text = replace_tables(build_file("finals = 1"), "phases", "").replace("format = 1", "format = 2")
    rounds = '[[rounds]]\nname = "only"\n[rounds.ranking]\nfunction = "cup-2024:{}"\n'
    assert parse_rounds(text + rounds.format("best"))["only"].ranking.function == "cup-2024:best"
    with pytest.raises(
        InvalidCompetition, match=r"^rounds\[0\]\.ranking\.function: the package cup-2024 has"
    ):
        parse_rounds(text + rounds.format("worst"))


def test_ranked_board_is_checked() -> None:
    assert rank_board("cup-2024:best", RankingBoard(("a", "b"))) == (Ranked("a", 1.0), Ranked("b", 1.0))
    with pytest.raises(InvalidResult, match="package cup-2024 returned 2 instead of each team"):
        rank_board("cup-2024:best", RankingBoard(("a", "b", "c")))
