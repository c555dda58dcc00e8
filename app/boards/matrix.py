"""Attack matrix: the best result of each attacker on each target."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.schemas import Cell, Matrix, MatrixRow, MatrixTarget
from anoncup.tracks.parts import AnyAttacker
from app.boards import best_guesses, load_facts, verdicts
from app.boards.best_guesses import BestByQuestion
from app.boards.facts import BoardTarget
from app.boards.verdicts import VerdictNumbers
from app.competitions.contest import Contest
from app.competitions.visibility import BoardAccess, BoardScope


def build_matrix(session: Session, access: BoardAccess, *, owner_team_id: UUID | None = None) -> Matrix:
    """Build the matrix as this viewer may see it.

    Built-in attackers are included only where exact values are shown. ``owner_team_id`` limits the columns to
    the targets of one team; there are none while the teams of the targets are hidden.
    """
    contest, scope = access.contest, access.scope
    targets = load_targets(session, access)
    if owner_team_id is not None:
        targets = [
            target for target in targets if target.team_id == owner_team_id and _is_team_shown(target, scope)
        ]
    rows = list_team_rows(session, access, targets)
    if scope.digits is None:
        rows += _list_built_in_rows(session, contest, targets)
    return Matrix(
        competition=contest.address,
        title=dict(contest.rules.title),
        hidden=scope.guesses_before is None,
        counted=contest.track.asks_identity(contest.rules),
        questions=_list_questions(contest),
        targets=tuple(_build_column(target, scope) for target in targets),
        rows=tuple(rows),
    )


def load_targets(session: Session, access: BoardAccess) -> list[BoardTarget]:
    """Return the targets that count, sorted by name; none on a board before their publication."""
    return load_facts.load_targets(session, access.contest.round) if access.scope.finals_only else []


def _list_questions(contest: Contest) -> tuple[str, ...]:
    return tuple(contest.track.select_questions(contest.rules))


def _build_column(target: BoardTarget, scope: BoardScope) -> MatrixTarget:
    team = target.team if _is_team_shown(target, scope) else None
    return MatrixTarget(
        target=target.name, rows=target.individual_count, own=_is_own(target, scope), team=team
    )


def _is_team_shown(target: BoardTarget, scope: BoardScope) -> bool:
    return _is_own(target, scope) or scope.owners_known


def _is_own(target: BoardTarget, scope: BoardScope) -> bool:
    return target.team_id == scope.viewer.team_id


def list_team_rows(session: Session, access: BoardAccess, targets: Sequence[BoardTarget]) -> list[MatrixRow]:
    """Return one row for each team with a visible guess, sorted by name."""
    rules, viewer = access.contest.rules, access.scope.viewer
    best_by_team = best_guesses.load_best(session, rules, targets, access.scope)
    counts_individuals = TRACKS[rules.track].asks_identity(rules)
    return [
        MatrixRow(
            attacker=name,
            built_in=False,
            own=team_id == viewer.team_id,
            cells=tuple(
                (_count_cell(target, best) if counts_individuals else _combine_cell(rules, best))
                if (best := best_by_team[team_id].get(target.id))
                else None
                for target in targets
            ),
        )
        for team_id, name in best_guesses.list_teams_by_name(session, best_by_team)
    ]


def _count_cell(target: BoardTarget, best_by_question: BestByQuestion) -> Cell:
    """Return the number of individuals of a target that a team identified."""
    (best,) = best_by_question.values()
    return Cell(correct=best.correct, rate=best.correct / target.individual_count, trials=best.trials)


def _combine_cell(rules: Rules, best_by_question: BestByQuestion) -> Cell:
    """Return the risk that a team found in a target.

    If there are several questions, an unanswered one counts as 0, as on the re-identification board.
    """
    track = TRACKS[rules.track]
    questions = track.select_questions(rules)
    risks = {name: best.risk for name, best in best_by_question.items()}
    return Cell(
        correct=None,
        rate=track.combine_risks(risks, rules),
        trials=sum(best.trials for best in best_by_question.values()),
        by_question={name: risks.get(name, 0.0) for name in questions} if len(questions) > 1 else None,
    )


def _list_built_in_rows(
    session: Session, contest: Contest, targets: Sequence[BoardTarget]
) -> list[MatrixRow]:
    numbers = verdicts.drop_older_versions(
        verdicts.load_numbers(session, [target.evaluation_id for target in targets])
    )
    questions = _list_questions(contest)
    return [
        MatrixRow(
            attacker=attacker.name,
            built_in=True,
            own=False,
            cells=tuple(
                build_built_in_cell(attacker, numbers.get(target.evaluation_id), questions)
                for target in targets
            ),
        )
        for attacker in contest.track.attackers.values()
    ]


def build_built_in_cell(
    attacker: AnyAttacker, numbers: VerdictNumbers | None, questions: Sequence[str]
) -> Cell | None:
    """Return the risk that enters E, by question if several are asked.

    None if there are no numbers of the attacker or it answers none of the questions.
    """
    answered = [name for name in attacker.questions if name in questions]
    if numbers is None or attacker.name not in numbers.attackers or not answered:
        return None
    risk, correct = numbers.attackers[attacker.name], numbers.correct.get(attacker.name)
    if len(questions) == 1:
        return Cell(correct=correct, rate=risk, trials=1)
    risks = numbers.risks.get(attacker.name) or dict.fromkeys(answered, risk)
    return Cell(correct=correct, rate=risk, trials=1, by_question=dict(risks))
