"""The re-identification board of PWS Cup 2015 (P1 Table 8)."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from app.boards.facts import CompetingTeam
from app.boards.models import AttackStanding
from app.boards.reidentification import build_rows, mask_row
from app.competitions.visibility import BoardScope, Viewer
from app.core.db.models import Series

ROWS = 8333
TABLE_8 = (
    (51_628, 21, 29.5),
    (44_852, 23, 23.4),
    (40_204, 17, 28.4),
    (38_811, 22, 21.2),
    (34_947, 8, 52.4),
    (34_059, 12, 34.1),
    (31_110, 22, 17.0),
    (23_420, 21, 13.4),
    (13_584, 8, 20.4),
    (8_344, 11, 9.1),
    (1_943, 1, 23.3),
)
"""Records identified, targets, and rate in percent of ranks 1 to 11. The scan of rank 5 shows 51.4."""
TABLE_8_TRIALS = [174993, 191659, 141661, 183326, 66664, 99996, 183326, 174993, 66664, 91663, 8333]

MONTH = datetime(2015, 10, 1, tzinfo=UTC)


def build_standing(identified: int, targets: int) -> AttackStanding:
    tried = ROWS * targets
    return AttackStanding(
        targets=targets,
        rate=identified / tried,
        identified=identified,
        tried=tried,
        first_guess_at=MONTH,
        score=float(identified),
    )


def test_scores_by_functions_are_rounded_for_others_before_the_reveal() -> None:
    own_id, other_id = UUID(int=1), UUID(int=2)
    scope = BoardScope(
        viewer=Viewer(own_id),
        before=MONTH,
        series=Series.ALL_GUESSES,
        guesses_before=MONTH,
        finals_only=True,
        owners_known=True,
        digits=2,
        hides_formula_values=False,
    )
    attacks = {team_id: build_standing(1, 1) for team_id in (own_id, other_id)}
    for attack in attacks.values():
        attack.score, attack.parts = 1000.5036272885637, "1000 + 0.5036272885637"
    teams = [CompetingTeam(own_id, "own"), CompetingTeam(other_id, "other")]
    rows = build_rows(teams, attacks, own_id, by_formula=True)
    for shown_scope in (scope, replace(scope, digits=None)):
        masked = {row.team: mask_row(row, shown_scope, [own_id, other_id], by_function=True) for row in rows}
        assert (masked["own"].score, masked["own"].parts) == (1000.5036272885637, "1000 + 0.5036272885637")
        is_exact = shown_scope.digits is None
        assert masked["other"].score == (1000.5036272885637 if is_exact else 1001.0)
        assert (masked["other"].parts is not None) == is_exact


def test_teams_are_ranked_by_records_identified_not_by_rate() -> None:
    teams = [CompetingTeam(UUID(int=rank), f"rank {rank}") for rank in range(len(TABLE_8), 0, -1)]
    attacks = {
        UUID(int=rank): build_standing(identified, targets)
        for rank, (identified, targets, _) in enumerate(TABLE_8, start=1)
    }
    rows = build_rows(teams, attacks, None, by_formula=False)
    assert [(row.rank, row.team) for row in rows] == [(rank, f"rank {rank}") for rank in range(1, 12)]
    assert [row.tried for row in rows] == TABLE_8_TRIALS
    assert [round(100 * (row.rate or 0), 1) for row in rows] == [percent for *_, percent in TABLE_8]
