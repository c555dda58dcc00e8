"""Check the laws, an example by hand, and the defenders of the published table of 2024."""

import pytest
from anoncup_cup2024 import PLUGIN
from anoncup_cup2024.best_defenders import list_best_defenders, rank_attacks, score_defence

from anoncup.testing.rankings import check_ranking
from anoncup.testing.words import check_words
from anoncup.tracks.ranking_board import BoardAttack, BoardSubmission, RankingBoard

PRELIMINARY_2024 = """
1  164.5  77.5  87
2  165.61 80.61 85
3  142.38 56.38 86
4  149.38 57.38 92
5  159.79 77.79 82
6  156.45 69.45 87
7  159.31 79.31 80
9  13.46  86.46 9
10 141.31 57.31 84
11 149.61 61.61 88
12 158.47 68.47 90
14 0      57.7  11
15 145.14 58.14 87
16 147.47 58.47 89
17 136.51 61.51 75
18 164.71 89.71 75
20 182.99 97.99 85
21 147.98 61.98 86
22 142.09 58.09 84
"""
"""Team, total, utility, and anonymity against the sample attack, as printed on the page of PWS Cup 2024."""


def make_submission(team, received, utility, anonymity):
    """Return a release with utility and anonymity in percent."""
    losses = 1 - utility / 100, 1 - anonymity / 100
    return BoardSubmission(f"release {team}", team, received, *losses, overall=sum(losses) / 2)


@pytest.mark.parametrize("name", PLUGIN.ranking_functions)
@pytest.mark.parametrize("questions", [("link",), ("identity", "reconstruction")])
def test_functions_keep_the_laws(name, questions):
    check_ranking(PLUGIN.ranking_functions[name], questions=questions)


def test_everything_has_a_name_in_every_language():
    check_words(PLUGIN)


def test_defenders_are_those_of_the_published_table():
    rows = [line.split() for line in PRELIMINARY_2024.strip().splitlines()]
    releases = [
        make_submission(team, received, float(utility), float(anonymity))
        for received, (team, _, utility, anonymity) in enumerate(rows)
    ]
    for release, (_, total, _, _) in zip(releases, rows, strict=True):
        assert score_defence(release) == pytest.approx(float(total), abs=0.005)
    board = RankingBoard(tuple(release.team for release in releases), tuple(releases))
    assert [release.team for release in list_best_defenders(board, 5)] == ["20", "2", "18", "1", "5"]


def test_own_release_counts_with_what_another_team_found():
    """Red and blue are the two best defenders. A percentage is the mean over the two questions."""
    board = RankingBoard(
        teams=("red", "blue", "green", "idle"),
        submissions=tuple(
            make_submission(team, received, utility, 80)
            for received, (team, utility) in enumerate([("red", 90), ("blue", 80), ("green", 70)])
        ),
        attacks=(
            BoardAttack("release red", "identity", "blue", 0.2),
            BoardAttack("release red", "reconstruction", "blue", 0.1),
            BoardAttack("release red", "identity", "green", 0.4),
            BoardAttack("release blue", "identity", "red", 0.1),
            BoardAttack("release blue", "identity", "sort", 1.0, is_built_in=True),
            BoardAttack("release green", "identity", "red", 1.0),
        ),
    )
    ranking = {entry.team: entry for entry in rank_attacks(board, count=2)}
    assert {team: entry.score for team, entry in ranking.items()} == {
        "red": pytest.approx(20 + 5),  # found by green in red, and by red in blue
        "blue": pytest.approx(15 + 5),  # found by blue in red, and by red in blue
        "green": pytest.approx(20),
        "idle": None,
    }
    assert [ranking[team].text for team in ("red", "blue", "green")] == ["(20) + 5", "15 + (5)", "20 + 0"]
