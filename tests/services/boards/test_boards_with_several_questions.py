"""Boards of contests with several questions against plain Python over the list of guesses."""

import json
from datetime import timedelta
from fractions import Fraction
from statistics import fmean
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.evaluation.evaluate import evaluate
from anoncup.schemas import Cell
from anoncup.tracks.outcomes import Outcome
from app.services.boards.best_guesses import AttackTotals
from app.services.boards.matrix import build_built_in_cell
from app.services.boards.reidentification import build_rows
from app.services.boards.verdicts import extract_numbers
from tests.support import small_track
from tests.support.judged_contest import (
    MIDNIGHT,
    QUESTIONS,
    TEAMS,
    JudgedContest,
    combine_risks,
    find_best_risks,
    judged_contest,
)
from tests.support.small_track import SMALL_TRACK

__all__ = ["judged_contest"]

pytestmark = pytest.mark.full


def test_boards_equal_plain_loops_over_the_guesses(judged_contest: JudgedContest) -> None:
    for organizer in (True, False):
        check_ranks(judged_contest, organizer=organizer)
        check_cells(judged_contest, organizer=organizer)
    check_rival_risks(judged_contest)


def check_ranks(judged_contest: JudgedContest, *, organizer: bool) -> None:
    """Check that teams are ranked by their summed scores and that ties go to the team that began earlier."""
    guesses = judged_contest.list_visible_guesses(organizer=organizer)
    board = judged_contest.contest.get_board("reidentification", organizer=organizer)
    assert (board["counted"], board["questions"]) == (False, list(QUESTIONS))
    rows = {row["team"]: row for row in board["rows"]}
    assert set(rows) == set(TEAMS) - {"barred"}
    scores: dict[str, Fraction] = {}
    for team, row in rows.items():
        target_risks = [
            risks
            for victim in judged_contest.team_by_submission
            if (risks := find_best_risks(guesses, team, victim))
        ]
        assert (row["identified"], row["tried"]) == (None, None)
        if not target_risks:
            assert (row["rank"], row["targets"], row.get("score")) == (None, None, None)
            continue
        scores[team] = sum((combine_risks([risks]) for risks in target_risks), Fraction(0))
        assert row["score"] == pytest.approx(float(scores[team]), abs=1e-12)
        assert row["rate"] == pytest.approx(float(scores[team] / len(target_risks)), abs=1e-12)
        assert row["targets"] == len(target_risks)
        for name in QUESTIONS:
            mean = sum(Fraction(risks.get(name, 0.0)) for risks in target_risks) / len(target_risks)
            assert row["by_question"][name] == pytest.approx(float(mean), abs=1e-12)
    for team, score in scores.items():
        better = sum(rival_score - score > Fraction(1, 10**9) for rival_score in scores.values())
        assert rows[team]["rank"] == 1 + better
    first_times = {team: min(guess.received_at for guess in guesses if guess.team == team) for team in scores}
    order = sorted(scores, key=lambda team: (rows[team]["rank"], first_times[team]))
    assert [row["team"] for row in board["rows"]][: len(order)] == order


def check_cells(judged_contest: JudgedContest, *, organizer: bool) -> None:
    guesses = judged_contest.list_visible_guesses(organizer=organizer)
    board = judged_contest.contest.get_board("matrix", organizer=organizer)
    names = judged_contest.map_target_names()
    assert [entry["target"] for entry in board["targets"]] == list(names)
    rows = {row["attacker"]: row["cells"] for row in board["rows"] if not row["built_in"]}
    attackers_board = judged_contest.contest.get_board("reidentification", organizer=organizer)
    attackers_rows = {row["team"]: row for row in attackers_board["rows"]}
    assert set(rows) == {entry.team for entry in guesses}
    for team, cells in rows.items():
        for victim, cell in zip(names.values(), cells, strict=True):
            risks = find_best_risks(guesses, team, victim)
            if not risks:
                assert cell is None
                continue
            assert cell["rate"] == pytest.approx(float(combine_risks([risks])), abs=1e-12)
            assert (cell["correct"], cell["by_question"]) == (None, dict.fromkeys(QUESTIONS, 0.0) | risks)
            assert cell["trials"] == sum((entry.team, entry.victim) == (team, victim) for entry in guesses)
        attacked_cells = [cell for cell in cells if cell]
        assert attackers_rows[team]["targets"] == len(attacked_cells)
        for name, mean in attackers_rows[team]["by_question"].items():
            assert fmean(cell["by_question"][name] for cell in attacked_cells) == pytest.approx(
                mean, abs=1e-12
            )


def check_rival_risks(judged_contest: JudgedContest) -> None:
    guesses = judged_contest.list_visible_guesses(organizer=True)
    rows = {row["team"]: row for row in judged_contest.contest.get_board(organizer=True)["rows"]}
    for victim, owner in judged_contest.team_by_submission.items():
        risks = [find_best_risks(guesses, team, victim) for team in TEAMS if team != owner]
        built_in_risk = judged_contest.contest.arena.get_submission(victim, owner)["result"]["security"]
        expected = float(combine_risks(risks))
        assert rows[owner]["rivals"] == pytest.approx(expected, abs=1e-12)
        assert rows[owner]["security"] == max(built_in_risk, rows[owner]["rivals"])
    assert max(row["rivals"] for row in rows.values() if row["rank"]) > 0


@given(st.integers(1, 10_000).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows))))
def test_risk_of_a_count_is_exactly_its_share(case: tuple[int, int]) -> None:
    correct, rows = case
    assert Outcome(correct / rows, correct=correct, trials=rows).risk == correct / rows


def test_built_in_attackers_cell_shows_its_gain_over_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of four candidates, 10, 20 and 30 are members; the release contains 10 only."""
    small_track.install(monkeypatch)
    rules = parse_competition(small_track.build_competition_toml())
    verdict = evaluate(
        rules, small_track.NumberOriginal((10.0, 20.0, 30.0, 40.0)), (10.0,), (True, True, True, False)
    )
    stored_numbers = extract_numbers(schemas.parse_verdict(json.loads(json.dumps(verdict.to_json()))))
    cells = {
        name: build_built_in_cell(attacker, stored_numbers, ("member", "first"))
        for name, attacker in SMALL_TRACK.attackers.items()
    }
    shown_cells = {name: (cell.correct, cell.rate, cell.by_question) for name, cell in cells.items() if cell}
    assert shown_cells == {
        "seen": (None, 1.0, {"member": 0.0, "first": 1.0}),
        "everybody": (None, 0.5, {"member": 0.5}),
        "foremost": (None, 1.0, {"first": 1.0}),
    }
    (single_question_cell,) = (
        build_built_in_cell(SMALL_TRACK.attackers["everybody"], stored_numbers, ("member",)),
    )
    assert single_question_cell == Cell(correct=None, rate=0.5, trials=1)
    assert build_built_in_cell(SMALL_TRACK.attackers["foremost"], stored_numbers, ("member",)) is None


def test_scores_equal_up_to_rounding_share_a_rank() -> None:
    late_time, early_time = (MIDNIGHT + timedelta(hours=hours) for hours in (2, 1))
    attacks = {
        UUID(int=index): AttackTotals(score / 2, 2, first_guess_at, score=score, by_question={})
        for index, (score, first_guess_at) in enumerate(
            ((0.3, late_time), (0.1 + 0.2, early_time), (0.3 + 1e-6, late_time))
        )
    }
    rows = build_rows([(team, str(team.int)) for team in attacks], attacks, None)
    assert [(row.team, row.rank, row.score) for row in rows] == [
        ("2", 1, 0.3 + 1e-6),
        ("1", 2, 0.1 + 0.2),
        ("0", 2, 0.3),
    ]
