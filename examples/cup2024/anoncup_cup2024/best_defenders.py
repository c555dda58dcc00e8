"""The sum of what a team found in the best defenders, who are ranked by the rule of 2024."""

from collections.abc import Mapping, Sequence

from anoncup.tracks.ranking_board import BoardSubmission, Ranked, RankingBoard


def rank_attacks(board: RankingBoard, *, count: int) -> Sequence[Ranked]:
    """Score each team by the percentages that it found in the ``count`` best defenders; highest is best.

    A team among them has no such percentage of its own release. The largest that another team found there
    takes its place. A team that sent no guess has no score.
    """
    percentages = find_percentages(board)
    defenders = list_best_defenders(board, count)
    attackers = {attack.attacker for attack in board.attacks if not attack.is_built_in}
    return [
        _rank_team(team, defenders, percentages) if team in attackers else Ranked(team, None)
        for team in board.teams
    ]


def score_defence(submission: BoardSubmission) -> float:
    """Return the sum of anonymity and utility, both in [0, 100], less twice what either lacks to 50."""
    anonymity, utility = 100 * (1 - submission.security), 100 * (1 - submission.utility)
    return max(0.0, anonymity + utility - 2 * max(0.0, 50 - anonymity) - 2 * max(0.0, 50 - utility))


def list_best_defenders(board: RankingBoard, count: int) -> list[BoardSubmission]:
    """Return the best target of each of the ``count`` best defenders; of equal ones, the first received."""
    targets = [entry for entry in board.submissions if entry.is_target and entry.team in board.teams]
    targets.sort(key=lambda entry: (-score_defence(entry), entry.received))
    best_by_team: dict[str, BoardSubmission] = {}
    for target in targets:
        best_by_team.setdefault(target.team, target)
    return list(best_by_team.values())[:count]


def find_percentages(board: RankingBoard) -> dict[str, dict[str, float]]:
    """Return what each team found in each release: the mean over the questions, in percent."""
    questions = {attack.question for attack in board.attacks}
    percentages: dict[str, dict[str, float]] = {}
    for attack in board.attacks:
        if not attack.is_built_in:
            by_team = percentages.setdefault(attack.submission, {})
            by_team[attack.attacker] = by_team.get(attack.attacker, 0.0) + 100 * attack.risk / len(questions)
    return percentages


def _rank_team(
    team: str, defenders: Sequence[BoardSubmission], percentages: Mapping[str, Mapping[str, float]]
) -> Ranked:
    parts, texts = list[float](), list[str]()
    for defender in defenders:
        by_team = percentages.get(defender.id, {})
        is_own = defender.team == team
        parts.append(max(by_team.values(), default=0.0) if is_own else by_team.get(team, 0.0))
        texts.append(f"({parts[-1]:.4g})" if is_own else f"{parts[-1]:.4g}")
    return Ranked(team, sum(parts), " + ".join(texts))
