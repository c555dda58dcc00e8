"""The matrix of attackers and targets: the best trial of each attacker on each target."""

from collections.abc import Callable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import names
from app.db.models import Competition, Team
from app.scoring.registry import Attacker
from app.scoring.rules import Rules
from app.scoring.tracks import TRACKS
from app.services.boards import in_force, trials, verdicts
from app.services.boards.comparable import comparable
from app.services.boards.spreadsheet import csv_text
from app.services.boards.trials import Attacked, Trials
from app.services.boards.verdicts import Numbers
from app.services.contest.visibility import Sight, View
from app.wire import Cell, Matrix, MatrixRow, MatrixTarget


def board(session: Session, sight: Sight) -> Matrix:
    """The matrix as it may be seen: built-in attackers once it is known whose target is whose."""
    contest, view = sight.contest, sight.view
    rules = in_force.rules(session, contest, view.as_of)
    columns = trials.attacked(session, contest.row, view) if view.finals_only else []
    rows = teams_rows(session, contest.row, view, rules, columns)
    if view.digits is None:
        found = verdicts.numbers_of(session, [one.finished.ending for one in columns])
        numbers = comparable(found, rules.scored_by)
        asked = tuple(contest.track.asked(rules))
        rows += [
            built_in_row(each, [numbers.get(one.finished.evaluation_id) for one in columns], asked)
            for each in contest.track.attackers.values()
        ]
    return Matrix(
        competition=contest.slug,
        title=dict(contest.rules.title),
        hidden=view.guesses_before is None,
        counted=contest.track.counts(rules),
        questions=tuple(contest.track.asked(rules)),
        targets=tuple(column(one, view) for one in columns),
        rows=tuple(rows),
    )


def column(target: Attacked, view: View) -> MatrixTarget:
    own = target.finished.team_id == view.audience.team_id
    team = target.finished.team if own or view.owners_known else None
    return MatrixTarget(target=target.name, rows=target.rows, own=own, team=team)


def teams_rows(
    session: Session, row: Competition, view: View, rules: Rules, columns: Sequence[Attacked]
) -> list[MatrixRow]:
    """The teams with a visible guess, by name."""
    found = trials.by_team_and_target(session, row, view, rules, columns)
    teams = session.execute(select(Team.id, Team.name).where(Team.id.in_(found)))
    cell = counted if TRACKS[rules.track].counts(rules) else found_by(rules)
    return [
        MatrixRow(
            attacker=name,
            built_in=False,
            own=team_id == view.audience.team_id,
            cells=tuple(
                cell(found[team_id][target.id], target) if target.id in found[team_id] else None
                for target in columns
            ),
        )
        for team_id, name in sorted(teams, key=lambda team: (names.folded(team.name), team.name))
    ]


def counted(tried: Trials, target: Attacked) -> Cell:
    """Individuals."""
    (best,) = tried.values()
    return Cell(correct=best.correct, rate=best.correct / target.rows, trials=best.trials)


def found_by(rules: Rules) -> Callable[[Trials, Attacked], Cell]:
    """What is beyond chance, with each question if there are several."""
    value, several = trials.together(rules), len(TRACKS[rules.track].asked(rules)) > 1

    def cell(tried: Trials, target: Attacked) -> Cell:  # noqa: ARG001
        return Cell(
            correct=None,
            rate=value(trials.alone(tried)),
            trials=sum(best.trials for best in tried.values()),
            by_question={name: best.risk for name, best in tried.items()} if several else None,
        )

    return cell


def built_in_row(attacker: Attacker, columns: Sequence[Numbers | None], asked: Sequence[str]) -> MatrixRow:
    cells = tuple(built_in_cell(attacker, numbers, asked) for numbers in columns)
    return MatrixRow(attacker=attacker.name, built_in=True, own=False, cells=cells)


def built_in_cell(attacker: Attacker, numbers: Numbers | None, asked: Sequence[str]) -> Cell | None:
    """What E takes of it, with each question that it answers if several are asked."""
    if numbers is None or attacker.name not in numbers.attackers:
        return None
    risk = numbers.attackers[attacker.name]
    risks = numbers.risks.get(attacker.name) or dict.fromkeys(set(attacker.questions) & set(asked), risk)
    return Cell(
        correct=numbers.correct.get(attacker.name),
        rate=risk,
        trials=1,
        by_question=dict(risks) if len(asked) > 1 else None,
    )


def as_csv(matrix: Matrix) -> str:
    """Rates; a column per target and, where several questions are asked, one for each of these beside it."""
    asked = matrix.several
    head = [
        name for one in matrix.targets for name in (one.target, *(f"{one.target} {each}" for each in asked))
    ]
    rows = (
        [
            row.attacker,
            str(row.built_in).lower(),
            *(rate for cell in row.cells for rate in rates(cell, asked)),
        ]
        for row in matrix.rows
    )
    return csv_text(["attacker", "built_in", *head], rows)


def rates(cell: Cell | None, asked: Sequence[str]) -> list[float | None]:
    if cell is None:
        return [None] * (1 + len(asked))
    return [cell.rate, *((cell.by_question or {}).get(name) for name in asked)]
