"""Boards of contests that ask several questions, a second time: plain Python over a list of guesses."""

import json
from datetime import timedelta
from fractions import Fraction
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.evaluation.evaluate import evaluate
from anoncup.schemas import Cell
from anoncup.tracks.outcomes import Outcome
from app.services.boards.best_guesses import Attacks
from app.services.boards.matrix import built_in_cell
from app.services.boards.reidentification import ranked
from app.services.boards.verdicts import numbers
from tests.support import small_track
from tests.support.outcomes import MIDNIGHT, QUESTIONS, TEAMS, Played, best, played, together
from tests.support.small_track import SMALL

__all__ = ["played"]

pytestmark = pytest.mark.full


def test_the_boards_are_what_plain_loops_over_the_guesses_say(played: Played) -> None:
    for organizer in (True, False):
        check_ranks(played, organizer=organizer)
        check_cells(played, organizer=organizer)
    check_rivals(played)


def check_ranks(played: Played, *, organizer: bool) -> None:
    """By what was found in each target, added up; of equal ones who began earlier."""
    found = played.seen(organizer=organizer)
    board = played.contest.board("reidentification", organizer=organizer)
    assert (board["counted"], board["questions"]) == (False, list(QUESTIONS))
    rows = {row["team"]: row for row in board["rows"]}
    assert set(rows) == set(TEAMS) - {"barred"}
    scores: dict[str, Fraction] = {}
    for team, row in rows.items():
        tried = [risks for victim in played.victims if (risks := best(found, team, victim))]
        assert (row["identified"], row["tried"]) == (None, None)
        if not tried:
            assert (row["rank"], row["targets"], row.get("score")) == (None, None, None)
            continue
        scores[team] = sum((together([risks]) for risks in tried), Fraction(0))
        assert row["score"] == pytest.approx(float(scores[team]), abs=1e-12)
        assert row["rate"] == pytest.approx(float(scores[team] / len(tried)), abs=1e-12)
        assert row["targets"] == len(tried)
        for name in QUESTIONS:
            mean = sum(Fraction(risks.get(name, 0.0)) for risks in tried) / len(tried)
            assert row["by_question"][name] == pytest.approx(float(mean), abs=1e-12)
    for team, score in scores.items():
        better = sum(other - score > Fraction(1, 10**9) for other in scores.values())
        assert rows[team]["rank"] == 1 + better
    first = {team: min(one.at for one in found if one.team == team) for team in scores}
    order = sorted(scores, key=lambda team: (rows[team]["rank"], first[team]))
    assert [row["team"] for row in board["rows"]][: len(order)] == order


def check_cells(played: Played, *, organizer: bool) -> None:
    found = played.seen(organizer=organizer)
    board = played.contest.board("matrix", organizer=organizer)
    names = played.names()
    assert [one["target"] for one in board["targets"]] == list(names)
    rows = {row["attacker"]: row["cells"] for row in board["rows"] if not row["built_in"]}
    assert set(rows) == {one.team for one in found}
    for team, cells in rows.items():
        for victim, cell in zip(names.values(), cells, strict=True):
            risks = best(found, team, victim)
            if not risks:
                assert cell is None
                continue
            assert cell["rate"] == pytest.approx(float(together([risks])), abs=1e-12)
            assert (cell["correct"], cell["by_question"]) == (None, risks)
            assert cell["trials"] == sum((one.team, one.victim) == (team, victim) for one in found)


def check_rivals(played: Played) -> None:
    found = played.seen(organizer=True)
    rows = {row["team"]: row for row in played.contest.board(organizer=True)["rows"]}
    for victim, owner in played.victims.items():
        risks = [best(found, team, victim) for team in TEAMS if team != owner]
        built_in = played.contest.arena.submission(victim, owner)["result"]["security"]
        expected = float(together(risks))
        assert rows[owner]["rivals"] == pytest.approx(expected, abs=1e-12)
        assert rows[owner]["security"] == max(built_in, rows[owner]["rivals"])
    assert max(row["rivals"] for row in rows.values() if row["rank"]) > 0


@given(st.integers(1, 10_000).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows))))
def test_the_risk_of_a_count_is_its_share_to_the_last_bit(made: tuple[int, int]) -> None:
    correct, rows = made
    assert Outcome(correct / rows, correct=correct, trials=rows).risk == correct / rows


def test_of_built_in_attackers_too_a_cell_is_what_they_find_beyond_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of four numbers, 10 and 20 and 30 are members; what stands in the list is 10 only."""
    small_track.install(monkeypatch)
    rules = parse_competition(small_track.text())
    found = evaluate(
        rules, SMALL.prepare((10.0, 20.0, 30.0, 40.0), rules), (10.0,), (True, True, True, False)
    )
    read = numbers(schemas.read(json.loads(json.dumps(found.to_json()))))
    cells = {name: built_in_cell(each, read, ("member", "first")) for name, each in SMALL.attackers.items()}
    plain = {name: (cell.correct, cell.rate, cell.by_question) for name, cell in cells.items() if cell}
    assert plain == {
        "seen": (None, 1.0, {"member": 0.0, "first": 1.0}),
        "everybody": (None, 0.5, {"member": 0.5}),
        "foremost": (None, 1.0, {"first": 1.0}),
    }
    (only,) = (built_in_cell(SMALL.attackers["everybody"], read, ("member",)),)
    assert only == Cell(correct=None, rate=0.5, trials=1)
    assert built_in_cell(SMALL.attackers["foremost"], read, ("member",)) is None


def test_sums_that_differ_by_rounding_only_share_a_rank_and_who_began_earlier_is_first() -> None:
    late, early = (MIDNIGHT + timedelta(hours=hours) for hours in (2, 1))
    found = {
        UUID(int=place): Attacks(score / 2, 2, since, score=score, by_question={})
        for place, (score, since) in enumerate(((0.3, late), (0.1 + 0.2, early), (0.3 + 1e-6, late)))
    }
    rows = ranked([(team, str(team.int)) for team in found], found, None)
    assert [(row.team, row.rank, row.score) for row in rows] == [
        ("2", 1, 0.3 + 1e-6),
        ("1", 2, 0.1 + 0.2),
        ("0", 2, 0.3),
    ]
