"""The anonymization board: every team's best release, by utility and by what attackers found out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC

from sqlalchemy.orm import Session

from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.ranking import pareto_front, rank_sums, ranked_values, ranks, standing
from anoncup.rules.model import Rules
from anoncup.schemas import Board, BoardRow
from app.db.models import Competition, Evaluation
from app.services.boards import effective_evaluations, entries
from app.services.boards.entries import Entry
from app.services.boards.spreadsheet import board_csv
from app.services.contests import visibility
from app.services.contests.contest import read_file
from app.services.contests.visibility import Sight, View


def board(session: Session, sight: Sight) -> Board:
    """The board as it may be seen."""
    contest, view = sight.contest, sight.view
    found = entries.entries(session, contest, view)
    rules = effective_evaluations.rules(session, contest, view.as_of)
    before = ranks_before(session, sight)
    rows = ranked(rules, found, view)
    return Board(
        competition=contest.slug,
        title=dict(contest.rules.title),
        frozen_from=contest.rules.publication.frozen_from,
        finals=view.finals_only,
        digits=view.digits,
        compared_with=view.compared_with if before else None,
        measures=tuple(contest.track.measures),
        attackers=tuple(contest.track.attackers),
        rows=tuple(row.model_copy(update={"rank_before": before.get(row.team)}) for row in rows),
    )


def ranks_before(session: Session, sight: Sight) -> dict[str, int]:
    """The ranks on the board with which this one is compared; none if this audience saw none."""
    contest, then = sight.contest, sight.view.compared_with
    if then is None or then <= contest.row.created_at:
        return {}
    since = visibility.alike_since(session, contest, sight.view.audience)
    if since is not None and then <= since:
        return {}
    view = visibility.view_then(contest, sight.view.audience, then)
    rows = ranked(
        effective_evaluations.rules(session, contest, view.as_of),
        entries.entries(session, contest, view),
        view,
    )
    return {row.team: row.rank for row in rows if row.rank is not None}


def ranks_by(
    session: Session,
    row: Competition,
    file: str,
    judged: Sequence[Evaluation],
    *,
    scored_by: Versions,
) -> dict[str, int]:
    """The rank of each team, as organizers see it, if the rules were ``file`` and ``judged``, in the order of
    receipt, the evaluations that count."""
    everything = visibility.everything(row)
    rules = read_file(file)
    listed = entries.proposed(session, row, everything, rules, judged, scored_by=scored_by)
    board = ranked(rules, listed, everything)
    return {line.team: line.rank for line in board if line.rank is not None}


def ranked(rules: Rules, found: Sequence[Entry], view: View) -> list[BoardRow]:
    """The rows in the order of the board: by rank; equal ranks, and those without, in the order given.

    Baselines stand below, the best first. Ranks compare exact scores, the front what is shown of them.
    """
    everything = entries.best_of_teams(found)
    chosen = [entry for entry in everything if not entry.finished.baseline]
    by_sum = rules.ranking.rule == "rank_sum"
    if by_sum:  # equal sums stand in the order of receipt, whatever their overall
        chosen.sort(key=lambda entry: entry.finished.place)
    sums = rank_sums([compared(rules, entry) for entry in chosen], rounding=rounding(chosen))
    scores = sums if by_sum else [entry.overall for entry in chosen]
    places, front = ranks(scores), pareto_front([losses(entry, view) for entry in chosen])
    sent = Counter(entry.finished.team_id for entry in found)
    rows = [
        board_row(
            chosen[i],
            rank=places[i],
            rank_sum=sums[i] if by_sum else None,
            on_front=front[i],
            entries=sent[chosen[i].finished.team_id],
            own=view.audience.team_id == chosen[i].finished.team_id,
        )
        for i in standing(scores)
    ] + [baseline_row(entry) for entry in everything if entry.finished.baseline]
    return [view.row(row, own=row.own) for row in rows]


def baseline_row(entry: Entry) -> BoardRow:
    return board_row(entry, rank=None, rank_sum=None, on_front=False, entries=1, own=False)


def compared(rules: Rules, entry: Entry) -> Mapping[str, float] | None:
    """The values of an accepted submission that ``rank_sum`` compares."""
    if entry.numbers is None or entry.security is None:
        return None
    return ranked_values(entry.numbers.measures, entry.security, rules.weights)


def rounding(chosen: Sequence[Entry]) -> dict[str, float]:
    """By measure, below which a value is none: that of the original, so any verdict on it knows for all."""
    known = (entry.numbers.rounding for entry in chosen if entry.numbers)
    return {name: tiny for one in known for name, tiny in one.items()}


def losses(entry: Entry, view: View) -> tuple[float, float] | None:
    if entry.utility is None or entry.security is None:
        return None
    return view.losses(entry.utility, entry.security)


def board_row(
    entry: Entry, *, rank: int | None, rank_sum: float | None, on_front: bool, entries: int, own: bool
) -> BoardRow:
    received = entry.finished.received_at.astimezone(UTC)
    return BoardRow(
        rank=rank,
        team=entry.finished.team,
        team_id=entry.finished.team_id,
        own=own,
        baseline=entry.finished.baseline,
        entries=entries,
        overall=entry.overall,
        utility=entry.utility,
        security=entry.security,
        rivals=entry.rivals,
        rank_sum=rank_sum,
        on_front=on_front,
        received_at=received if entry.numbers else None,
        measures=dict(entry.numbers.measures) if entry.numbers else {},
        attackers=dict(entry.numbers.attackers) if entry.numbers else {},
    )


def as_csv(board: Board) -> str:
    return board_csv(
        BoardRow.columns(), board.rows, {"measures": board.measures, "attackers": board.attackers}
    )
