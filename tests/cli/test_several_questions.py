"""Commands for guesses in a competition with several questions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from anoncup.tracks.membership.tables import write_scores
from tests.support.command_line import CommandRunner
from tests.support.contest import judge_everything
from tests.support.membership_contest import GUESSES, create_contest

pytestmark = pytest.mark.full


def test_guess_must_name_its_question(
    anoncup: CommandRunner, client: TestClient, sign_in_as: Callable[[str], None], folder: Path
) -> None:
    created = create_contest(client)
    created.contest.open_attacks()
    sign_in_as(created.arena.get_team_token("blue"))
    name = created.contest.find_target(created.submissions["red"])["name"]
    (folder / "diseases.csv").write_bytes(GUESSES["attribute"])
    (folder / "scores.csv").write_bytes(write_scores(created.get_members("red").is_member.astype(float)))
    guess = anoncup("guess", f"small/{name}", "--file", "diseases.csv", "--question", "attribute", "--json")
    assert (guess.status, guess.json["question"]) == (0, "attribute")
    assert "question" not in anoncup("guesses", "small").stdout
    assert anoncup("guess", f"small/{name}", "--file", "scores.csv").status == 0
    unknown = anoncup("guess", f"small/{name}", "--file", "scores.csv", "--question", "who")
    assert unknown.status == 2
    assert "the questions asked here are membership, attribute" in unknown.stderr
    judge_everything()
    rates = {entry["question"]: entry["rate"] for entry in anoncup("guesses", "small", "--json").json}
    assert rates == {"attribute": 0.0, "membership": 1.0}
    assert "question" in anoncup("guesses", "small").stdout
    assert "membership: 2, attribute: 2" in anoncup("targets", "small").stdout
    board_text = anoncup("board", "small", "--which", "reidentification").stdout
    head, line = (
        next(entry.split() for entry in board_text.splitlines() if word in entry) for word in ("rank", "blue")
    )
    assert head == ["rank", "team", "score", "mean", "targets", "membership", "attribute"]
    assert line == ["1", "blue", "*", "1", "1", "1", "1", "0"]
