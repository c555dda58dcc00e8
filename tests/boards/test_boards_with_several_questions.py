"""Boards of contests with several questions, which count no individuals, with numbers computed by hand."""

import csv
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.evaluation.verdict_numbers import extract_numbers
from anoncup.plugins import TRACKS
from anoncup.schemas import Cell
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import Attacker
from app.boards.matrix import build_built_in_cell
from app.core.db.models import Guess, State, Submission, Target, Team
from app.core.db.transaction import transaction
from app.core.pages.notation import format_hundredths
from tests.support.database_rows import load_one
from tests.support.membership_contest import create_contest
from tests.support.translations import translate
from tests.support.visitor_pages import extract_text, get_board_page

pytestmark = pytest.mark.full

BOARDS = ("anonymization", "reidentification", "matrix")
COUNT_LABELS = ("Individuals identified", "of individuals", "Share of individuals found")


METHODS = {"red": "copy", "blue": "copy", "緑": "copy", "barred": "copy"}
BASELINES = {"membership": 0.0, "attribute": 0.5, "gone": 0.0}
GUESSES = (
    ("blue", "red", "membership", 0.1, State.SCORED),
    ("blue", "red", "membership", 0.3, State.SCORED),
    ("blue", "red", "attribute", 0.75, State.SCORED),
    ("blue", "緑", "membership", 0.2, State.SCORED),
    ("緑", "red", "membership", 0.3, State.SCORED),
    ("緑", "red", "attribute", 0.5, State.SCORED),
    ("緑", "blue", "membership", 0.2, State.SCORED),
    ("緑", "red", "gone", 1.0, State.SCORED),
    ("緑", "red", "membership", 1.0, State.QUEUED),
    ("緑", "barred", "membership", 1.0, State.SCORED),
    ("barred", "red", "membership", 1.0, State.SCORED),
)
"""Attacker, team of the target, question, value and state. Only the first seven count."""
SHOWN = {"membership": 0.3, "attribute": 0.5, "who": None}
"""The best risks that blue found in red's release, by the question in the address; without one, all count."""


def insert_guesses(submissions: Mapping[str, str]) -> None:
    """Insert the guesses as a worker records them."""
    with transaction() as session:
        targets = {str(target.submission_id): target for target in session.scalars(select(Target))}
        teams = dict(iter(session.execute(select(Team.name, Team.id))))
        user_id = session.scalars(select(Submission.user_id).limit(1)).one()
        for number, (team, victim, question, value, state) in enumerate(GUESSES):
            outcome = Outcome(value, BASELINES[question])
            judged = {"risk": outcome.risk, "outcome": {"value": value, "baseline": BASELINES[question]}}
            received_at = datetime.now(UTC) - timedelta(minutes=60 - number)
            target = targets[submissions[victim]]
            columns: dict[str, Any] = {
                "round_id": target.round_id,
                "target_id": target.id,
                "team_id": teams[team],
            }
            columns |= {"received_at": received_at, "created_at": received_at, "finished_at": received_at}
            columns |= {"question": question, "state": state, "user_id": user_id}
            columns |= {"file": "0" * 64, "answered": 1, "guesses_left": 0, "attempt": 1}
            session.add(Guess(**columns, **(judged if state == State.SCORED else {})))


@pytest.mark.parametrize(
    ("security", "on_red", "expected_rates"),
    [
        (
            "largest",
            0.5,
            {"blue": {"red": 0.5, "緑": 0.2}, "緑": {"red": 0.3, "blue": 0.2}},
        ),
        ("mean", 0.4, {"blue": {"red": 0.4, "緑": 0.1}, "緑": {"red": 0.15, "blue": 0.1}}),
    ],
)
def test_boards_combine_the_best_guesses_of_each_question(
    client: TestClient,
    monkeypatch: pytest.MonkeyPatch,
    security: Any,
    on_red: float,
    expected_rates: dict[str, dict[str, float]],
) -> None:
    created = create_contest(client, METHODS)
    monkeypatch.setitem(TRACKS, "membership", replace(TRACKS["membership"], security=security))
    contest = created.contest
    contest.open_attacks()
    insert_guesses(created.submissions)
    barred = load_one(select(Team.id).where(Team.name == "barred"))
    assert contest.post_as_organizer(f"{contest.path}/teams/{barred}/disqualify").status_code == 200
    boards = {name: contest.get_board(name, organizer=True) for name in BOARDS}
    tables = {name: contest.get_board_response(f"{name}.csv").content for name in BOARDS[1:]}
    lines = {name: table.decode("utf-8-sig").splitlines() for name, table in tables.items()}
    html = get_board_page(contest.arena, "reidentification")
    matrices = {name: get_board_page(contest.arena, "matrix", f"?question={name}") for name in SHOWN}
    rows = {row["team"]: row for row in boards["reidentification"]["rows"]}
    assert {team: (row["rank"], row["targets"], row.get("by_question")) for team, row in rows.items()} == {
        "blue": (1, 2, {"membership": pytest.approx(0.25), "attribute": pytest.approx(0.25)}),
        "緑": (2, 2, {"membership": pytest.approx(0.25), "attribute": 0.0}),
        "red": (None, None, None),
    }
    targets = [target["team"] for target in boards["matrix"]["targets"]]
    cells = {
        row["attacker"]: dict(zip(targets, row["cells"], strict=True))
        for row in boards["matrix"]["rows"]
        if not row["built_in"]
    }
    assert cells.keys() == expected_rates.keys()
    for team, expected in expected_rates.items():
        rates = {target: cell["rate"] for target, cell in cells[team].items() if cell}
        assert rates == pytest.approx(expected)
        assert rows[team]["score"] == pytest.approx(sum(expected.values()))
        assert rows[team]["rate"] == pytest.approx(sum(expected.values()) / 2)
    assert (cells["blue"]["red"]["trials"], cells["blue"]["red"]["correct"]) == (3, None)
    assert cells["blue"]["緑"]["by_question"] == {"membership": 0.2, "attribute": 0.0}
    leader = next(csv.DictReader(lines["reidentification"]))
    assert [leader["team"], leader["membership"], leader["attribute"]] == ["blue", "0.25", "0.25"]
    (red,) = (target["target"] for target in boards["matrix"]["targets"] if target["team"] == "red")
    line = next(line for line in csv.DictReader(lines["matrix"]) if line["attacker"] == "blue")
    assert [line[f"{red} (red){part}"] for part in ("", " membership", " attribute")] == [
        str(on_red),
        "0.3",
        "0.5",
    ]
    for name, page in matrices.items():
        assert format_hundredths(SHOWN[name] or on_red) in extract_text(page.partition("<tbody")[2])
        assert (f'<option value="{name}" selected>' in page) is (SHOWN[name] is not None)
    for page in (html, *matrices.values()):  # no result reads "x of y"
        assert not any(translate(label) in extract_text(page) for label in COUNT_LABELS)
    rivals = {row["team"]: row["rival_risk"] for row in boards["anonymization"]["rows"]}
    assert rivals["red"] == pytest.approx(on_red)


def test_built_in_attackers_cell_shows_its_gain_over_chance() -> None:
    rates: dict[str, dict[str, Any]] = {
        "seen": {"rate": 1.0, "risks": {"member": 0.0, "first": 1.0}},
        "everybody": {"rate": 0.75, "baseline": 0.5, "risk": 0.5},
        "foremost": {"rate": 1.0, "baseline": 0.25, "risk": 1.0},
    }
    stored_numbers = extract_numbers(
        {"utility": 0.0, "security": 1.0, "violations": [], "measures": {}}
        | {"attackers": {name: rate | {"version": 1} for name, rate in rates.items()}}
    )
    questions: dict[str, str | tuple[str, ...]] = {
        "seen": ("member", "first"),
        "everybody": "member",
        "foremost": "first",
    }
    attackers = {name: Attacker(name, 1, len, question=asked) for name, asked in questions.items()}
    cells = {
        name: build_built_in_cell(attacker, stored_numbers, ("member", "first"))
        for name, attacker in attackers.items()
    }
    shown_cells = {name: (cell.correct, cell.rate, cell.by_question) for name, cell in cells.items() if cell}
    assert shown_cells == {
        "seen": (None, 1.0, {"member": 0.0, "first": 1.0}),
        "everybody": (None, 0.5, {"member": 0.5}),
        "foremost": (None, 1.0, {"first": 1.0}),
    }
    (single_question_cell,) = (build_built_in_cell(attackers["everybody"], stored_numbers, ("member",)),)
    assert single_question_cell == Cell(correct=None, rate=0.5, trials=1)
    assert build_built_in_cell(attackers["foremost"], stored_numbers, ("member",)) is None
