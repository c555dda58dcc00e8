"""The page of a team: its scores over time, and the attacks on its targets once these are known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import NotFound
from anoncup.rules.model import Rules
from app.boards import anonymization, history, matrix, reidentification
from app.boards import standing_pages as standings
from app.boards.board_view import build_board_view
from app.boards.standing_pages import RankChange
from app.competitions import visibility
from app.competitions.frame import load_frame
from app.competitions.visibility import BoardAccess
from app.core.db.models import Team
from app.core.db.transaction import transaction
from app.core.locale.language import Translator
from app.core.pages.language import adapt_to_track
from app.core.pages.pages import PageRoute, RequestedPage
from app.core.pages.sentences import join_names
from app.core.pages.vega import Chart
from app.submissions.score_chart import draw_scores

router = APIRouter(route_class=PageRoute)
_ONE_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class BestAttackers:
    """The attackers that share the highest rate on a target, and that rate."""

    attackers: tuple[str, ...]
    rate: float

    def summarize(self, t: Translator) -> str:
        """Name the first built-in attacker and the number of the others."""
        name, other_count = (
            t.label(f"attacker_{self.attackers[0]}", self.attackers[0]),
            len(self.attackers) - 1,
        )
        if not other_count:
            return name
        return t.ngettext(
            "{name} and {n} other attacker", "{name} and {n} other attackers", other_count, name=name
        )


@dataclass(frozen=True, slots=True)
class AttackedTarget:
    """A target of the team with its best attackers, or None if there are none or they are hidden."""

    target: str
    teams: BestAttackers | None
    built_in: BestAttackers | None


@dataclass(frozen=True, slots=True)
class TeamSummary:
    """The results of a team on all boards.

    ``board`` contains no rows of other teams. ``steps`` are the changes of the team's score, newest first.
    The last field is the team's row on the re-identification board.
    """

    board: schemas.Board
    row: schemas.BoardRow
    ranked_teams: int
    tied_ranks: frozenset[int]
    change: RankChange | None
    steps: Sequence[schemas.HistoryStep]
    targets: Sequence[AttackedTarget]
    counts_individuals: bool
    attackers_row: schemas.AttackersRow | None

    @property
    def has_scores(self) -> bool:
        """Whether the board shows values of a formula for the team."""
        return any(step.score is not None for step in self.steps)

    @property
    def has_reasons(self) -> bool:
        return any(step.why for step in self.steps)

    @property
    def is_brief(self) -> bool:
        """Whether all steps are within an hour, so that times need seconds."""
        return self.steps[0].at - self.steps[-1].at < _ONE_HOUR


@router.get("/competitions/{slug}/teams/{team_id}")
def show_team(page: RequestedPage, slug: str, team_id: UUID) -> HTMLResponse:
    with transaction() as session:
        access = visibility.authorize_boards(session, page.principal, slug)
        summary = _build_team_summary(session, access, team_id)
        frame = load_frame(session, page.principal, slug)
        is_closed = frame.contest.round.closed_at is not None
        method_description = session.get_one(Team, team_id).method_description if is_closed else None
    t = adapt_to_track(page.t, frame.contest.track.name)
    return page.render(
        "boards/team_page.html",
        listed=partial(join_names, t=t),
        frame=frame,
        view=build_board_view(frame),
        summary=summary,
        picture=_draw_steps(summary, frame.rules, t),
        row=summary.row,
        method_description=method_description,
    )


def _draw_steps(summary: TeamSummary, rules: Rules, t: Translator) -> Chart | None:
    """Draw the scores without their table, since the page has one with more columns."""
    values = [(step.at, step.score if summary.has_scores else step.overall) for step in summary.steps[::-1]]
    scores = [(at, value) for at, value in values if value is not None]
    titles = (
        t("Results over time"),
        t("Score") if summary.has_scores else t("Overall score (lower is better)"),
    )
    descending = summary.has_scores and rules.ranking.order == "descending"
    line = [value for _, value in scores]
    chart = draw_scores(scores, line, titles, t, zone=rules.timezone, descending=descending)
    return replace(chart, rows=()) if chart else None


def _build_team_summary(session: Session, access: BoardAccess, team_id: UUID) -> TeamSummary:
    board = anonymization.build_board(session, access)
    row = _find_row(board, team_id)
    team_history = history.build_history(session, access)
    attack_matrix = matrix.build_matrix(session, access, owner_team_id=team_id)
    attackers_board = reidentification.build_board(session, access)
    return TeamSummary(
        board=board.model_copy(update={"rows": (row,)}),
        row=row,
        ranked_teams=standings.count_ranked_teams(board),
        tied_ranks=standings.find_tied_ranks(board),
        change=standings.compute_rank_change(row, board),
        steps=next((team.steps[::-1] for team in team_history.teams if team.team_id == team_id), ()),
        targets=[_build_attacked_target(attack_matrix, index) for index in range(len(attack_matrix.targets))],
        counts_individuals=attack_matrix.counted,
        attackers_row=next(
            (
                attackers_row
                for attackers_row in attackers_board.rows
                if attackers_row.team == row.team and attackers_row.rank
            ),
            None,
        ),
    )


def _find_row(board: schemas.Board, team_id: UUID) -> schemas.BoardRow:
    """Return the row of a team.

    Teams that are not on the board have no page, so raise the same NotFound as for unknown ids.
    """
    matching_rows = (row for row in board.rows if row.team_id == team_id and not row.baseline)
    if (row := next(matching_rows, None)) is None:
        raise NotFound("there is nothing here")
    return row


def _build_attacked_target(attack_matrix: schemas.Matrix, index: int) -> AttackedTarget:
    return AttackedTarget(
        attack_matrix.targets[index].target,
        teams=_find_best_attackers(attack_matrix, index, built_in=False),
        built_in=_find_best_attackers(attack_matrix, index, built_in=True),
    )


def _find_best_attackers(
    attack_matrix: schemas.Matrix, index: int, *, built_in: bool
) -> BestAttackers | None:
    rows = [row for row in attack_matrix.rows if row.built_in == built_in]
    rates = [(cell.rate, row.attacker) for row in rows if (cell := row.cells[index])]
    if not rates:
        return None
    highest = max(rate for rate, _ in rates)
    return BestAttackers(tuple(name for rate, name in rates if rate == highest), highest)
