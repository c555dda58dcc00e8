"""Re-identification board: ranks teams by their attacks on the releases of others, as in PWS Cup 2015."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.formulas.ranks import compute_ranks, sort_for_board
from anoncup.schemas import AttackersBoard, AttackersRow
from app.boards import load_facts
from app.boards.facts import CompetingTeam
from app.boards.load_facts import load_newest
from app.boards.models import AttackStanding, Standing
from app.competitions.visibility import BoardAccess, BoardScope
from app.core.spreadsheet import render_board_csv


def build_board(session: Session, access: BoardAccess) -> AttackersBoard:
    """Build the board as this viewer may see it."""
    round_, scope = access.round, access.scope
    newest = load_newest(session, AttackStanding, round_, scope.series, before=scope.before)
    teams = load_facts.list_competing_teams(session, round_.id)
    ranking = round_.rules.ranking
    by_function = ranking.attack_function is not None
    by_formula = ranking.attack is not None or by_function
    rows = build_rows(
        teams, {row.team_id: row for row in newest}, scope.viewer.team_id, by_formula=by_formula
    )
    releases = load_newest(session, Standing, round_, scope.series, before=scope.before)
    teams_with_page = {release.team_id for release in releases}
    return AttackersBoard(
        competition=round_.address,
        title=dict(round_.rules.title),
        hidden=scope.guesses_before is None,
        counted=round_.track.asks_identity(round_.rules),
        by_formula=by_formula,
        questions=tuple(round_.track.select_questions(round_.rules)),
        rows=tuple(mask_row(row, scope, teams_with_page, by_function=by_function) for row in rows),
    )


def mask_row(
    row: AttackersRow, scope: BoardScope, teams_with_page: Collection[UUID], *, by_function: bool
) -> AttackersRow:
    """Return a row without a link to a page that does not exist, and without what is hidden of a score.

    Teams on the anonymization board have a page. A function of a package may compute scores from numbers that
    others see rounded only.
    """
    is_exact = row.team_id is not None and scope.can_see_details(row.team_id)
    return row.model_copy(
        update={
            "team_id": row.team_id if row.team_id in teams_with_page else None,
            "score": row.score if is_exact or not by_function else scope.round_score(row.score),
            "parts": row.parts if is_exact else None,
        }
    )


def build_rows(
    teams: Sequence[CompetingTeam],
    attacks: Mapping[UUID, AttackStanding],
    viewer_team_id: UUID | None,
    *,
    by_formula: bool,
) -> list[AttackersRow]:
    """Return the rows sorted by descending score; teams without attacks come last.

    Ties are ordered by the first guess. ``teams`` are in order of creation.
    """
    attacking = sorted(
        (team for team in teams if team.id in attacks), key=lambda team: attacks[team.id].first_guess_at
    )
    sorted_teams = [*attacking, *(team for team in teams if team.id not in attacks)]
    standings = [attacks.get(team.id, AttackStanding()) for team in sorted_teams]  # which has no numbers
    losses = [None if standing.score is None else -standing.score for standing in standings]
    ranks = compute_ranks(losses)
    rows = [
        AttackersRow.from_row(
            standing,
            rank=rank,
            team=team.name,
            team_id=team.id,
            own=viewer_team_id == team.id,
            # Without a formula, the score of a board that counts individuals is their number.
            score=standing.score if by_formula or standing.identified is None else None,
        )
        for team, standing, rank in zip(sorted_teams, standings, ranks, strict=True)
    ]
    return [rows[index] for index in sort_for_board(losses)]


def render_csv(board: AttackersBoard) -> bytes:
    question_columns = ["by_question"] if board.distinct_questions else []
    parts_columns = ["parts"] if board.has_parts else []
    return render_board_csv(
        [*board.columns, *parts_columns, *question_columns],
        board.rows,
        {"by_question": board.distinct_questions},
    )
